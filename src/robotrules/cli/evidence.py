"""
`robotrules evidence`: past verdicts, from the fetch records in the store.

A wrapper around `Evidence.at`; it also lists the history of an origin, exports and imports
archives, and prints stored files. Nothing is fetched.

Sections: the command · history · archives · files.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

import click

from robotrules.cli import client
from robotrules.cli.cache import existing_store
from robotrules.cli.client import library_errors, open_store_option, store_option
from robotrules.cli.console import STDIN, CliError, Output, quoted, report
from robotrules.cli.datetimes import parse_datetime
from robotrules.cli.evidence_text import (
    HistoricalVerdictPage,
    OriginSummary,
    PeriodLines,
    origin_lines,
)
from robotrules.cli.input_files import open_octets, size_of
from robotrules.cli.options import (
    CrawlerHint,
    fetching_profile_option,
    json_option,
    literal_option,
    parse_crawler,
    parse_purposes,
    purpose_option,
    token_option,
)
from robotrules.cli.progress import Progress
from robotrules.cli.text import is_terminal, plural
from robotrules.http.origins import origin_of
from robotrules.octets import to_text, visible
from robotrules.profile import PROFILES

if TYPE_CHECKING:
    from robotrules.cache import Store
    from robotrules.client.evidence import Evidence

USAGE_OR_IO = 2
# Reasons for skipping a record of an archive that mean it is damaged.
UNREADABLE = ("damaged", "bad-digest", "bad-visit", "bad-date", "alone")


@click.command()
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option(
    "--at",
    metavar="DATETIME",
    help="The time, in ISO 8601 with a zone, such as 2026-05-01T12:00Z; a date alone is its start "
    "in UTC. Defaults to now.",
)
@token_option
@literal_option
@purpose_option
@click.option(
    "--fetched-by",
    "agent",
    metavar="TOKEN",
    help="Use only fetches by this crawler. Defaults to all; a note reports if they found "
    "different files.",
)
@click.option(
    "--source",
    "make_source_filter",
    metavar="SOURCE",
    help="Use only fetches of one source: own, imported, or the SHA-256 of an imported archive. "
    "Defaults to own fetches, then imported ones.",
)
@click.option(
    "--list",
    "listed",
    is_flag=True,
    help="Show the history of an origin; without a URL, list the origins that have evidence.",
)
@click.option(
    "--export",
    "target",
    metavar="FILE",
    help="Write the fetches of all origins, or of the origins of the URLs, to a WARC archive, "
    "compressed if the name ends with .gz; '-' is stdout.",
)
@click.option(
    "--import",
    "source",
    metavar="FILE",
    help="Import a WARC archive into the store; '-' is stdin.",
)
@click.option(
    "--after", metavar="DATETIME", help="With --list and --export: only fetches from this time on."
)
@click.option(
    "--before", metavar="DATETIME", help="With --list and --export: only fetches before this time."
)
@click.option(
    "--body",
    "digest",
    metavar="SHA256",
    help="Print the stored file with this SHA-256; a prefix is enough.",
)
@store_option
@fetching_profile_option
@json_option("Print JSON: one object, or with --list one per line.")
def evidence(
    urls: tuple[str, ...],
    at: str | None,
    product_tokens: tuple[str, ...],
    literal: bool,
    purposes: tuple[str, ...],
    agent: str | None,
    make_source_filter: str | None,
    listed: bool,
    target: str | None,
    source: str | None,
    after: str | None,
    before: str | None,
    digest: str | None,
    where: str | None,
    profile: str,
    as_json: bool,
) -> int:
    """
    Show the verdict on a URL at a time in the past, with its evidence.

    The store keeps a record of every fetch of a robots.txt: the response, its time, its source, and
    how long it was valid. A past verdict and the deciding rule are computed from it, offline. The
    exit code is 0 if the URL was allowed, 1 if it was disallowed, 2 if there is no evidence, or for
    a usage or I/O error; with --import it is 1 if parts of the archive could not be read.

    \b
    Examples:
      robotrules evidence https://example.com/a --at 2026-05-01T12:00Z --as ExampleBot
      robotrules evidence --list
      robotrules evidence https://example.com --list
      robotrules evidence --export evidence.warc.gz
      robotrules evidence https://example.com --export one-site.warc --after 2026-01-01
      robotrules evidence --import evidence.warc.gz --store other.sqlite
      robotrules evidence --body f26c1148a87f > robots.txt
    """
    modes = {
        "--list": listed,
        "--export": target is not None,
        "--import": source is not None,
        "--body": digest is not None,
        "--at": at is not None,
    }
    chosen = [name for name, given in modes.items() if given]
    if len(chosen) > 1:
        raise CliError(f"{' and '.join(chosen)} cannot be combined")
    mode = chosen[0] if chosen else "--at"
    _refuse_unused(mode, urls, after, before, product_tokens)
    if make_source_filter is not None and mode in ("--import", "--body"):
        raise CliError(f"--source and {mode} cannot be combined")
    span = [
        None if text is None else parse_datetime(text, name)
        for name, text in (("--after", after), ("--before", before))
    ]
    if source is not None:
        return _import(source, where, as_json)
    with existing_store(where) as store, library_errors():
        if digest is not None:
            return _body(store, _parse_digest(digest), as_json)
        if target is not None:
            return _export(store, target, urls, span, make_source_filter, as_json)
        from robotrules.client import evidence as library

        if listed and not urls:
            return _list_origins(store, agent, span, make_source_filter, as_json)
        if listed:
            history = library.Evidence(store, profile)
            return _list(history, urls[0], agent, span, make_source_filter, as_json)
        name = profile if profile in PROFILES else "default"
        crawler = parse_crawler(product_tokens, name, literal=literal, hint_registry=False)
        verdict_then = library.Evidence(store, profile).at(
            os.fsencode(urls[0]).strip(),
            client.now() if at is None else parse_datetime(at, "--at"),
            crawler.names,
            parse_purposes(purposes, name),
            agent=agent,
            source=make_source_filter,
        )
    # The other names of a well-known crawler are in `known`.
    verdict_then = verdict_then._replace(product_token=crawler.name)
    hint = CrawlerHint(crawler, purposes)
    if verdict_then.robots is not None:
        hint.read(verdict_then.robots)
    output = Output()
    if as_json:
        output.json({**verdict_then.as_dict(), "known": crawler.known_dict})
    else:
        output.lines(list(HistoricalVerdictPage(verdict_then, output).lines()))
    output.flush()
    if verdict_then.allowed is not None:
        return int(not verdict_then.allowed)
    if as_json:
        report(next(visible(note.message) for note in verdict_then.notes if note.level == "error"))
    return USAGE_OR_IO


def _refuse_unused(
    mode: str,
    urls: tuple[str, ...],
    after: str | None,
    before: str | None,
    tokens: tuple[str, ...],
) -> None:
    """Refuse missing and unused arguments."""
    if mode == "--list" and not urls:
        return
    if mode in ("--at", "--list") and len(urls) != 1:
        if not urls and mode == "--at" and not tokens:
            words = "missing URL: pass a URL with --at and --as, or use --list, --export, --import"
            raise CliError(f"{words} or --body")
        raise CliError(f"{mode} takes exactly one URL, such as https://example.com/a")
    if mode in ("--import", "--body") and urls:
        raise CliError(f"{mode} takes no URL: remove {quoted(urls[0])}")
    if mode not in ("--list", "--export") and (after is not None or before is not None):
        raise CliError("--after and --before need --list or --export")
    for url in urls:
        with library_errors():
            if mode != "--at" and origin_of(url.strip()) is None:
                raise CliError(
                    f"{quoted(url)} has no origin: pass a URL such as https://example.com"
                )


# --- History --------------------------------------------------------------------------------------


def _list(
    evidence: Evidence,
    url: str,
    agent: str | None,
    span: list[float | None],
    source: str | None,
    as_json: bool,
) -> int:
    """Show the history of an origin."""
    after, before = span
    periods = evidence.periods(url.strip(), agent=agent, source=source, after=after, before=before)
    output = Output()
    if as_json:
        for period in periods:
            output.json(period.as_dict())
    else:
        output.lines(list(PeriodLines(periods, output).lines()))
    output.flush()
    if not periods:
        report(f"there is no evidence for {visible(origin_of(url.strip()) or '')}")
    return 0 if periods else USAGE_OR_IO


def _list_origins(
    store: Store,
    agent: str | None,
    span: list[float | None],
    source: str | None,
    as_json: bool,
) -> int:
    """List the origins that have evidence."""
    from robotrules.client.source_filter import make_source_filter

    after, before = span
    found: dict[str, OriginSummary] = {}
    for record in filter(
        make_source_filter(source), store.fetch_records(after=after, before=before)
    ):
        if agent is None or record.agent.lower() == agent.strip().lower():
            found[record.origin] = found.get(record.origin, OriginSummary(0, record.at)).with_fetch(
                record
            )
    output = Output()
    if as_json:
        for origin, known in found.items():
            output.json({"origin": origin, **known.as_dict()})
    else:
        output.lines(list(origin_lines(found, output)))
    output.flush()
    if not found:
        report("the store has no evidence")
    return 0 if found else USAGE_OR_IO


# --- Archives -------------------------------------------------------------------------------------


def _export(
    store: Store,
    target: str,
    urls: tuple[str, ...],
    span: list[float | None],
    source: str | None,
    as_json: bool,
) -> int:
    """Write an archive."""
    from robotrules.client.warc import export_warc

    to_stdout = target == STDIN
    if to_stdout and is_terminal(sys.stdout):
        raise CliError("stdout is a terminal: pass a file, or pipe the archive on")
    if to_stdout and as_json:
        raise CliError("--json and the archive cannot both go to stdout: pass a file")
    output = Output()
    bar = sys.stderr if is_terminal(sys.stderr) else None
    with Progress(bar, None, "fetch record") as progress:
        try:
            count = export_warc(
                store,
                sys.stdout.buffer if to_stdout else target,
                origin=[url.strip() for url in urls] or None,
                after=span[0],
                before=span[1],
                source=source,
                now=client.now(),
                progress=lambda _: progress.add(1, 0),
            )
        except FileExistsError:
            raise CliError(
                f"{quoted(target)} exists, and evidence is not overwritten: pass another file"
            ) from None
        except BrokenPipeError:
            raise
        except OSError as error:
            _refuse_target(target, error)
    if not count and not to_stdout:
        # An empty archive would block the next attempt, because files are not overwritten.
        with suppress(OSError):
            os.unlink(target)
    if not count:
        raise CliError("there is no evidence to export: see robotrules evidence --list")
    if as_json:
        output.json({"file": target, "fetch_records": count})
    output.flush()
    if not as_json:
        report(
            f"{plural(count, 'fetch record')} written to "
            f"{'stdout' if to_stdout else quoted(target)}"
        )
    return 0


def _refuse_target(target: str, error: OSError) -> NoReturn:
    from robotrules.errors import StoreError

    if isinstance(error, StoreError):
        raise error
    why = error.strerror or type(error).__name__
    raise CliError(f"cannot write {quoted(target)}: {why}; pass another file")


def _import(source: str, where: str | None, as_json: bool) -> int:
    """Import an archive into the store, which is created if it does not exist."""
    from robotrules.client.warc import SKIP_REASONS, import_warc

    if source == STDIN and is_terminal(sys.stdin):
        raise CliError("stdin is a terminal: pass a file, or pipe an archive in")
    stream = open_octets(source, "an archive")
    output = Output()
    try:
        store = open_store_option(where)
        try:
            bar = sys.stderr if is_terminal(sys.stderr) else None
            with Progress(bar, size_of(stream), "fetch record") as progress, library_errors():
                done = import_warc(
                    store,
                    stream,
                    name="stdin" if source == STDIN else source,
                    now=client.now(),
                    progress=lambda octets: progress.add(0, octets),
                )
        finally:
            store.close()
    finally:
        if source != STDIN:
            stream.close()
    if not (done.added or done.known) and set(done.skipped) == {"damaged"}:
        raise CliError(f"{quoted(source)} has no readable record: pass a WARC file")
    code = int(any(reason in done.skipped for reason in UNREADABLE))
    if as_json:
        output.json({"file": source, **done.as_dict()})
        output.flush()
        return code
    report(f"{plural(done.added, 'fetch record')} imported, {done.known:,} already known")
    for reason, count in done.skipped.items():
        report(f"skipped {count:,}: {SKIP_REASONS[reason]}")
    return code


# --- Files ----------------------------------------------------------------------------------------


def _parse_digest(text: str) -> str:
    digest = text.strip().lower().removeprefix("sha256:")
    if not re.fullmatch(r"[0-9a-f]{8,64}", digest):
        raise CliError(
            f"{quoted(text)} is not a SHA-256: pass 8 to 64 hexadecimal digits, as shown by "
            "robotrules evidence URL --list"
        )
    return digest


def _body(store: Store, digest: str, as_json: bool) -> int:
    """Print a file: its bytes in a pipe, with control characters escaped on a terminal."""
    if len(digest) < 64:
        found = {
            record.digest
            for record in store.fetch_records()
            if (record.digest or "").startswith(digest)
        }
        if len(found) > 1:
            raise CliError(
                f"{len(found):,} files have a SHA-256 with this prefix: pass more digits"
            )
        digest = next(iter(found), None) or digest
    octets = store.body(digest)
    if octets is None:
        raise CliError(f"the store has no file with the SHA-256 {digest}")
    output = Output()
    if as_json:
        output.json({"sha256": digest, "size": len(octets), "text": to_text(octets)})
    elif output.terminal:
        output.lines([visible(line) for line in octets.removesuffix(b"\n").split(b"\n")])
    else:
        sys.stdout.buffer.write(octets)
    output.flush()
    return 0
