"""
`robotrules logs`: what crawlers did, by access logs, and which rules they did not obey.

A wrapper around `robotrules.operations.logs.read_logs`. `logs_output`, `logs_text` and `logs_csv`
write the report.

Sections: the command · the logs · the rules.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, timedelta, timezone, tzinfo
from typing import TYPE_CHECKING, NamedTuple

import click

from robotrules.cli.atomic_write import refuse_overwriting
from robotrules.cli.client import ClientOptions, library_errors, with_client_options
from robotrules.cli.console import STDIN, CliError, quoted, report
from robotrules.cli.datetimes import parse_datetime
from robotrules.cli.identity_options import (
    identity_checker,
    range_paths,
    with_identity_options,
)
from robotrules.cli.input_files import open_octets, read_error, read_robots, refuse_binary, size_of
from robotrules.cli.logs_output import (
    MOST_TOP,
    OUTPUT_FORMATS,
    TABLES,
    host_in_logs,
    output_targets,
    report_notes,
    report_problems,
    write_report,
)
from robotrules.cli.options import (
    crawler_purpose_option,
    fetching_profile_option,
    json_option,
    parsing_profile,
)
from robotrules.cli.progress import Progress
from robotrules.cli.text import is_terminal, plural
from robotrules.http.origins import origin_of
from robotrules.octets import visible
from robotrules.registries.crawlers import KNOWN_CRAWLERS, KnownCrawler
from robotrules.url_lists import BLOCK

if TYPE_CHECKING:
    from robotrules.operations.crawler_identity import IdentityChecker
    from robotrules.operations.logs import LogInput, LogReport
    from robotrules.operations.rule_history import RuleHistory

# --- The command ----------------------------------------------------------------------------------


@click.command()
@click.argument("logs", nargs=-1, metavar="LOG...")
@click.option("--robots", metavar="FILE", help="Judge all requests by this robots.txt.")
@click.option(
    "--git",
    "git_file",
    metavar="FILE",
    help="Judge each request by the version of this robots.txt that was committed last at its "
    "time, in its git repository.",
)
@click.option(
    "--origin",
    metavar="URL",
    help="The site, such as https://example.com. Without --robots and --git, its robots.txt is "
    "fetched now. If the log names hosts, only requests for the host of the site count.",
)
@click.option(
    "--evidence",
    is_flag=True,
    help="Judge each request by what was fetched from --origin at its time, in --store.",
)
@click.option(
    "--as",
    "product_tokens",
    metavar="TOKEN",
    multiple=True,
    help="Show this crawler only, such as GPTBot. Repeat it for several.",
)
@crawler_purpose_option("Show well-known crawlers with this purpose")
@click.option("--since", metavar="TIME", help="Only requests from this time or day on.")
@click.option("--until", metavar="TIME", help="Only requests before this time or day.")
@click.option(
    "--timezone",
    "zone",
    metavar="ZONE",
    default="UTC",
    show_default=True,
    help="The zone of times without one, in the log and in --since and --until, such as +02:00 "
    "or Europe/Berlin.",
)
@click.option(
    "--log-format",
    metavar="NAME|TEMPLATE",
    default="",
    help="combined, common, vhost, json, w3c or alb; or the log_format of nginx, the LogFormat of "
    "Apache, or a #Fields line. By default the format is detected.",
)
@click.option(
    "--urls",
    "url_file",
    metavar="FILE",
    help="Report which URLs of FILE a crawler may fetch and never did: a sitemap, a list or CSV.",
)
@with_identity_options
@click.option(
    "--top",
    type=click.IntRange(1, MOST_TOP),
    metavar="N",
    help="The number of crawlers, rules and URLs in lists. Defaults to a few in text and pages, "
    "10 in JSON, and in CSV all that are kept: up to 10,000 URLs of a rule.",
)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(OUTPUT_FORMATS),
    help="The output format. Defaults to the extension of -o, or text.",
)
@click.option(
    "--table",
    type=click.Choice(TABLES),
    help="The table of --format csv: a record per crawler and day, per crawler, per URL that was "
    "fetched although disallowed, or of what was never fetched.  [default: days]",
)
@click.option(
    "-o",
    "--output",
    "outputs",
    metavar="FILE",
    multiple=True,
    help="Write to FILE; '-' is stdout. Repeat it for several formats, by their extensions.",
)
@click.option("--title", metavar="TEXT", help="The title of the page, for HTML.")
@fetching_profile_option
@json_option("Print one JSON object, described in docs/cli/logs.md.")
@with_client_options()
def logs(
    logs: tuple[str, ...],
    robots: str | None,
    git_file: str | None,
    origin: str | None,
    evidence: bool,
    product_tokens: tuple[str, ...],
    purposes: tuple[str, ...],
    since: str | None,
    until: str | None,
    zone: str,
    log_format: str,
    url_file: str | None,
    range_files: tuple[str, ...],
    verify: bool,
    top: int | None,
    output_format: str | None,
    table: str | None,
    outputs: tuple[str, ...],
    title: str | None,
    profile: str,
    as_json: bool,
    client_options: ClientOptions,
) -> int:
    """
    Show what crawlers did, by access logs, and which of your rules they did not obey.

    LOG is an access log, optionally gzipped, or '-' for stdin. By crawler and day: requests,
    bytes and status; what it fetched although robots.txt asks it not to, with the line that says
    so, and how old its copy of robots.txt was then; what it never fetched although it may. People
    are only counted. Pass the rules with --robots, --git, --evidence or --origin; without them,
    requests are counted and not judged. A name in a log is a claim: --ranges and --verify tell
    crawlers from impostors. The exit code is 0, 1 if a crawler did not obey, and 2 for a usage or
    I/O error.

    \b
    Examples:
      robotrules logs access.log --robots robots.txt
      robotrules logs /var/log/nginx/access.log* --git ~/site/robots.txt --since 2026-10-01
      zcat logs/*.gz | robotrules logs - --origin https://example.com -o october.html
      robotrules logs access.log --robots robots.txt --purpose ai-training --verify
      robotrules logs access.log --robots robots.txt --table violations
      robotrules logs access.log --git robots.txt --ranges Googlebot=googlebot.json -o a.html
      robotrules logs access.log --log-format '%h %l %u %t "%r" %>s %b "%{User-Agent}i"'
    """
    if not logs:
        raise CliError(
            "missing LOG: pass access logs, such as /var/log/nginx/access.log, or - for stdin"
        )
    if as_json and output_format not in (None, "json"):
        raise click.UsageError(f"--json and --format {output_format} cannot be combined")
    targets = output_targets(outputs, "json" if as_json else output_format, table, title)
    inputs = [*logs, *filter(None, (robots, git_file, url_file)), *range_paths(range_files)]
    for target in targets:
        if target.file is not None:
            refuse_overwriting(target.file, inputs, "-o")
    if [*logs, robots, url_file].count(STDIN) > 1:
        raise CliError("only one input can be stdin: pass the others as files")
    times_zone = _zone(zone)
    start = parse_datetime(since, "--since", times_zone) if since else None
    end = parse_datetime(until, "--until", times_zone) if until else None
    if start is not None and end is not None and start >= end:
        raise CliError("--since is not before --until: no request is in between")
    found = _read(
        _Question(
            logs=logs,
            rules=_rules(robots, git_file, origin, evidence, profile, client_options),
            origin=_origin(origin),
            wanted=_wanted(product_tokens, purposes),
            since=start,
            until=end,
            zone=times_zone,
            log_format=log_format,
            url_file=url_file,
            identity=identity_checker(range_files, verify),
        )
    )
    report_problems(found, log_format)
    for target in targets:
        write_report(found, target, top)
    report_notes(found)
    if all(one.error for one in found.files) or not any(one.requests for one in found.files):
        return 2
    return int(found.violations > 0)


# --- The logs -------------------------------------------------------------------------------------


class _Rules(NamedTuple):
    history: RuleHistory | None
    name: str


class _Question(NamedTuple):
    logs: Sequence[str]
    rules: _Rules
    origin: str
    wanted: Callable[[str, KnownCrawler | None], bool] | None
    since: float | None
    until: float | None
    zone: tzinfo
    log_format: str
    url_file: str | None
    identity: IdentityChecker | None


def _read(asked: _Question) -> LogReport:
    from robotrules.operations.logs import LogFormatError, read_logs

    with ExitStack() as opened:
        urls = _listed_urls(asked.url_file, opened) if asked.url_file else None
        inputs, size = _inputs(asked.logs)
        bar = sys.stderr if is_terminal(sys.stderr) else None
        progress = opened.enter_context(Progress(bar, size, "request"))
        try:
            return read_logs(
                inputs,
                asked.rules.history,
                log_format=asked.log_format,
                identity=asked.identity,
                urls=urls,
                wanted=asked.wanted,
                since=asked.since,
                until=asked.until,
                host=host_in_logs(asked.origin),
                zone=asked.zone,
                site=asked.origin,
                rules_name=asked.rules.name,
                # Each format shows a part of this.
                top=MOST_TOP,
                progress=progress.add,
            )
        except LogFormatError as error:
            raise CliError(str(error)) from None
        except OSError as error:
            if error.filename is None:
                raise
            raise read_error(os.fsdecode(error.filename), "a log", error) from None


def _inputs(names: Sequence[str]) -> tuple[list[str | LogInput], int | None]:
    """Return the logs, and their size in bytes if it is known; all of them can be opened."""
    from robotrules.operations.logs import LogInput

    inputs: list[str | LogInput] = []
    total: int | None = 0
    for name in dict.fromkeys(names):
        stream = open_octets(name, "a log")
        size = size_of(stream)
        total = None if total is None or size is None else total + size
        if name == STDIN:
            if is_terminal(sys.stdin):
                raise CliError("stdin is a terminal: pass a log, or pipe one in")
            inputs.append(LogInput("stdin", _stdin_blocks(stream)))
        else:
            stream.close()
            inputs.append(name)
    return inputs, total


def _stdin_blocks(stream: object) -> Iterator[bytes]:
    read = getattr(stream, "read1", None) or stream.read  # type: ignore[attr-defined]
    while True:
        try:
            block: bytes = read(BLOCK)
        except OSError as error:
            raise read_error(STDIN, "a log", error) from None
        if not block:
            return
        yield block


def _listed_urls(name: str, opened: ExitStack) -> Iterator[bytes]:
    from robotrules.cli.url_files import UrlFile, report_hint

    file = opened.enter_context(UrlFile(name))
    for chunk in file.chunks():
        yield from chunk.urls
    if file.error:
        raise CliError(f"{file.where} was not read completely: {file.error}")
    report_hint(file)


# --- The rules ------------------------------------------------------------------------------------


def _rules(
    robots: str | None,
    git_file: str | None,
    origin: str | None,
    evidence: bool,
    profile: str,
    client_options: ClientOptions,
) -> _Rules:
    """Return the rules of the one option that names them; none without any."""
    given = [
        name
        for name, value in (("--robots", robots), ("--git", git_file), ("--evidence", evidence))
        if value
    ]
    if len(given) > 1:
        raise click.UsageError(f"{' and '.join(given)} cannot be combined")
    if evidence and origin is None:
        raise CliError("missing --origin: pass the site whose fetches are meant")
    if robots is not None or git_file is not None:
        client_options.hint_unused()
    from robotrules.operations.rule_history import RuleHistory, RulesAt

    reading = parsing_profile(profile, fetches=not robots and not git_file)
    if robots is not None:
        parsed, octets = read_robots(robots, reading)
        refuse_binary(octets, robots)
        name = "stdin" if robots == STDIN else visible(os.fsencode(os.path.basename(robots)))
        return _Rules(RuleHistory((), RulesAt(parsed, None, None, name)), f"{name}, as it is now")
    if git_file is not None:
        return _git_rules(git_file, reading)
    if origin is None:
        return _Rules(None, "")
    if evidence:
        return _evidence_rules(_origin(origin), profile, client_options)
    from robotrules.cli.origin_lookup import fetched_robots

    fetched = fetched_robots([origin], profile, client_options)
    name = f"robots.txt of {visible(_origin(origin))}"
    return _Rules(RuleHistory((), RulesAt(fetched, None, None, name)), f"today's {name}")


def _git_rules(file: str, profile: str) -> _Rules:
    from robotrules.operations.git_history import GitError
    from robotrules.operations.rule_history import rules_from_git

    try:
        history = rules_from_git(file, profile=profile)
    except GitError as error:
        raise CliError(f"--git {quoted(file)}: {error}") from None
    name = visible(os.fsencode(os.path.basename(file)))
    return _Rules(history, f"{plural(len(history), 'version')} of {name} in git")


def _evidence_rules(origin: str, profile: str, client_options: ClientOptions) -> _Rules:
    from robotrules.cli.client import open_store_option
    from robotrules.client.evidence import Evidence
    from robotrules.operations.rule_history import rules_from_evidence

    store = open_store_option(client_options.where)
    # Files are read from it when requests of their time are judged.
    click.get_current_context().call_on_close(store.close)
    with library_errors():
        history = rules_from_evidence(Evidence(store, profile), origin)
    if not len(history):
        raise CliError(
            f"the store has no fetch of {visible(origin)}: run robotrules prefetch from time to "
            "time, or pass --robots or --git"
        )
    return _Rules(history, f"{plural(len(history), 'version')} fetched from {visible(origin)}")


def _origin(text: str | None) -> str:
    if text is None:
        return ""
    with library_errors():
        found = origin_of(text)
    if found is None:
        raise CliError(
            f"--origin {quoted(text)} is not an origin: pass one such as https://example.com"
        )
    return found


def _wanted(
    tokens: Sequence[str], purposes: Sequence[str]
) -> Callable[[str, KnownCrawler | None], bool] | None:
    """Return a function that tells whether a crawler was chosen; None if all are."""
    if not tokens and not purposes:
        return None
    names = {token.strip().lower() for token in tokens}
    for token in tokens:
        closest = None if token in KNOWN_CRAWLERS else KNOWN_CRAWLERS.closest(token)
        if closest:
            report(
                f"{quoted(token)} is not a well-known crawler: did you mean "
                f"{closest.product_token}?",
                label="hint",
                style="warning",
            )

    def chosen(name: str, known: KnownCrawler | None) -> bool:
        """Tell whether a crawler was chosen."""
        by_purpose = known is not None and not set(purposes).isdisjoint(known.purposes)
        return name.lower() in names or by_purpose

    return chosen


def _zone(text: str) -> tzinfo:
    """Return the zone of `--timezone`: an offset, or a name of the IANA database."""
    import re

    typed = text.strip()
    if typed.upper() in ("UTC", "Z", "GMT"):
        return UTC
    if found := re.fullmatch(r"([+-])([01][0-9]|2[0-3]):?([0-5][0-9])", typed):
        offset = timedelta(hours=int(found[2]), minutes=int(found[3]))
        return timezone(offset if found[1] == "+" else -offset)
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(typed)
    except (KeyError, ValueError, OSError):
        raise CliError(
            f"--timezone {quoted(text)} is not known: pass an offset such as +02:00, or a name "
            "such as Europe/Berlin"
        ) from None
