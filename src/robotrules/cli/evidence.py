"""
`robotrules evidence`: what the rules said at a moment of the past, from what the store keeps.

A few lines over `Evidence.at`, and beside it the history of an origin, archives out and in, and the
octets of a file. It fetches nothing.
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
from robotrules.cli.client import open_given_store, store_option, told
from robotrules.cli.datetimes import given_moment
from robotrules.cli.evidence_text import OriginSummary, PeriodLines, TestimonyPage, origin_lines
from robotrules.cli.options import (
    KnownHint,
    fetching_profile_option,
    given_crawler,
    given_purposes,
    json_option,
    literal_option,
    purpose_option,
    token_option,
)
from robotrules.cli.progress import Progress
from robotrules.cli.streams import STDIN, CliError, Output, open_octets, quoted, say, size_of
from robotrules.cli.text import is_terminal, plural
from robotrules.http.origins import origin_of
from robotrules.octets import to_text, visible
from robotrules.profile import PROFILES

if TYPE_CHECKING:
    from robotrules.cache import Store
    from robotrules.client.evidence import Evidence

USAGE_OR_IO = 2
# Of what an archive has, what should have become a visit and could not be read.
UNREADABLE = ("damaged", "bad-digest", "bad-visit", "bad-date", "alone")


@click.command()
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option(
    "--at",
    metavar="MOMENT",
    help="When: ISO 8601 with a zone, such as 2026-05-01T12:00Z; a date alone is its start in UTC. "
    "Without it, now.",
)
@token_option
@literal_option
@purpose_option
@click.option(
    "--fetched-by",
    "agent",
    metavar="TOKEN",
    help="Count the visits of this crawler alone. Without it all count, and it is said where they "
    "found different files.",
)
@click.option(
    "--source",
    "chosen_source",
    metavar="SOURCE",
    help="Count visits of one source alone: own, imported, or the SHA-256 of an imported archive. "
    "Without it own visits go first, and imported ones answer where there is none.",
)
@click.option(
    "--list",
    "listed",
    is_flag=True,
    help="Show what was found over time; without a URL, of which origins there is evidence.",
)
@click.option(
    "--export",
    "target",
    metavar="FILE",
    help="Write the visits, of all origins or of those of the URLs, as a WARC archive, compressed "
    "if the name ends with .gz; '-' is stdout.",
)
@click.option(
    "--import",
    "source",
    metavar="FILE",
    help="Read a WARC archive into the store, one of ours or of others; '-' is stdin.",
)
@click.option("--after", metavar="MOMENT", help="With --list and --export: visits from then on.")
@click.option("--before", metavar="MOMENT", help="With --list and --export: visits up to then.")
@click.option(
    "--body",
    "digest",
    metavar="SHA256",
    help="Print the octets of a file; the first digits will do.",
)
@store_option
@fetching_profile_option
@json_option("Print JSON: one object, or with --list one a line.")
def evidence(
    urls: tuple[str, ...],
    at: str | None,
    product_tokens: tuple[str, ...],
    literal: bool,
    purposes: tuple[str, ...],
    agent: str | None,
    chosen_source: str | None,
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
    Show what the rules said at a moment, and how that is known.

    Every visit to a robots.txt is kept with what was found, when, from where, and until when it
    held. So the verdict of then can be given now, offline, with the rule that decided. The exit
    code is 0 if the URL was allowed, 1 if it was disallowed, and 2 if nothing is known, or for
    usage or I/O; of --import it is 1 if parts of the archive could not be read.

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
        raise CliError(f"{' and '.join(chosen)} are two questions: ask one at a time")
    mode = chosen[0] if chosen else "--at"
    _refuse_unused(mode, urls, after, before, product_tokens)
    if chosen_source is not None and mode in ("--import", "--body"):
        raise CliError(f"--source and {mode} cannot be combined")
    span = [
        None if text is None else given_moment(text, name)
        for name, text in (("--after", after), ("--before", before))
    ]
    if source is not None:
        return _import(source, where, as_json)
    with existing_store(where) as store, told():
        if digest is not None:
            return _body(store, _given_digest(digest), as_json)
        if target is not None:
            return _export(store, target, urls, span, chosen_source, as_json)
        from robotrules.client import evidence as library

        if listed and not urls:
            return _list_origins(store, agent, span, chosen_source, as_json)
        if listed:
            history = library.Evidence(store, profile)
            return _list(history, urls[0], agent, span, chosen_source, as_json)
        name = profile if profile in PROFILES else "default"
        crawler = given_crawler(product_tokens, name, literal=literal, says_known=False)
        testimony = library.Evidence(store, profile).at(
            os.fsencode(urls[0]).strip(),
            client.now() if at is None else given_moment(at, "--at"),
            crawler.names,
            given_purposes(purposes, name),
            agent=agent,
            source=chosen_source,
        )
    # The names of a well-known crawler are those of the registry, and `known` has them.
    testimony = testimony._replace(product_token=crawler.name)
    hint = KnownHint(crawler, purposes)
    if testimony.robots is not None:
        hint.read(testimony.robots)
    output = Output()
    if as_json:
        output.json({**testimony.as_dict(), "known": crawler.known_dict})
    else:
        output.lines(list(TestimonyPage(testimony, output).lines()))
    output.flush()
    if testimony.allowed is not None:
        return int(not testimony.allowed)
    if as_json:
        say(next(visible(note.message) for note in testimony.notes if note.level == "error"))
    return USAGE_OR_IO


def _refuse_unused(
    mode: str,
    urls: tuple[str, ...],
    after: str | None,
    before: str | None,
    tokens: tuple[str, ...],
) -> None:
    """End the command where arguments are missing, or given and of no use."""
    if mode == "--list" and not urls:
        return
    if mode in ("--at", "--list") and len(urls) != 1:
        if not urls and mode == "--at" and not tokens:
            words = (
                "nothing was asked: pass a URL with --at and --as, or --list, --export, --import"
            )
            raise CliError(f"{words} or --body")
        raise CliError(f"{mode} is about one URL: pass one, such as https://example.com/a")
    if mode in ("--import", "--body") and urls:
        raise CliError(f"{mode} takes no URL: leave out {quoted(urls[0])}")
    if mode not in ("--list", "--export") and (after is not None or before is not None):
        raise CliError("--after and --before go with --list and --export: leave them out")
    for url in urls:
        with told():
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
    """Show what was found over time."""
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
        say(f"no visit to {visible(origin_of(url.strip()) or '')} is known")
    return 0 if periods else USAGE_OR_IO


def _list_origins(
    store: Store,
    agent: str | None,
    span: list[float | None],
    source: str | None,
    as_json: bool,
) -> int:
    """Show of which origins there are visits."""
    from robotrules.client.source_filter import make_source_filter

    after, before = span
    found: dict[str, OriginSummary] = {}
    for visit in filter(
        make_source_filter(source), store.fetch_records(after=after, before=before)
    ):
        if agent is None or visit.agent.lower() == agent.strip().lower():
            found[visit.origin] = found.get(visit.origin, OriginSummary(0, visit.at)).with_visit(
                visit
            )
    output = Output()
    if as_json:
        for origin, known in found.items():
            output.json({"origin": origin, **known.as_dict()})
    else:
        output.lines(list(origin_lines(found, output)))
    output.flush()
    if not found:
        say("no visit is known")
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
        raise CliError("an archive would be written to this terminal: name a file, or pipe it on")
    if to_stdout and as_json:
        raise CliError("--json and the archive cannot both be stdout: name a file")
    output = Output()
    bar = sys.stderr if is_terminal(sys.stderr) else None
    with Progress(bar, None, "visit") as progress:
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
                f"{quoted(target)} is there already, and evidence is not written over: name another"
            ) from None
        except BrokenPipeError:
            raise
        except OSError as error:
            _refuse_target(target, error)
    if not count and not to_stdout:
        # Else it would be in the way of the next try, for evidence is not written over.
        with suppress(OSError):
            os.unlink(target)
    if not count:
        raise CliError("no visit is known that could be written: robotrules evidence --list shows")
    if as_json:
        output.json({"file": target, "fetch_records": count})
    output.flush()
    if not as_json:
        say(f"{plural(count, 'visit')} written to {'stdout' if to_stdout else quoted(target)}")
    return 0


def _refuse_target(target: str, error: OSError) -> NoReturn:
    from robotrules.errors import StoreError

    if isinstance(error, StoreError):
        raise error
    why = error.strerror or type(error).__name__
    raise CliError(f"cannot write {quoted(target)}: {why}; name another file")


def _import(source: str, where: str | None, as_json: bool) -> int:
    """Read an archive into the store, which is made if it is not there."""
    from robotrules.client.warc import SKIP_REASONS, import_warc

    if source == STDIN and is_terminal(sys.stdin):
        raise CliError("an archive would be read from this terminal: pass a file, or pipe it in")
    stream = open_octets(source, "an archive")
    output = Output()
    try:
        store = open_given_store(where)
        try:
            bar = sys.stderr if is_terminal(sys.stderr) else None
            with Progress(bar, size_of(stream), "visit") as progress, told():
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
        raise CliError(f"{quoted(source)} has no record that can be read: pass a WARC file")
    code = int(any(reason in done.skipped for reason in UNREADABLE))
    if as_json:
        output.json({"file": source, **done.as_dict()})
        output.flush()
        return code
    say(f"{plural(done.added, 'visit')} added as imported, {done.known:,} known already")
    for reason, count in done.skipped.items():
        say(f"skipped {count:,}: {SKIP_REASONS[reason]}")
    return code


# --- Files ----------------------------------------------------------------------------------------


def _given_digest(text: str) -> str:
    digest = text.strip().lower().removeprefix("sha256:")
    if not re.fullmatch(r"[0-9a-f]{8,64}", digest):
        raise CliError(
            f"{quoted(text)} is no SHA-256: pass its 64 digits, or the first of them, as "
            "robotrules evidence URL --list shows them"
        )
    return digest


def _body(store: Store, digest: str, as_json: bool) -> int:
    """Print a file: its octets for a program, and what can be shown of them for a person."""
    if len(digest) < 64:
        found = {
            visit.digest
            for visit in store.fetch_records()
            if (visit.digest or "").startswith(digest)
        }
        if len(found) > 1:
            raise CliError(f"{len(found):,} files have a SHA-256 that starts so: pass more digits")
        digest = next(iter(found), None) or digest
    octets = store.body(digest)
    if octets is None:
        raise CliError(f"the store has no file with the SHA-256 {digest}")
    output = Output()
    if as_json:
        output.json({"sha256": digest, "octets": len(octets), "text": to_text(octets)})
    elif output.terminal:
        output.lines([visible(line) for line in octets.removesuffix(b"\n").split(b"\n")])
    else:
        sys.stdout.buffer.write(octets)
    output.flush()
    return 0
