"""
`robotrules report`: one page about the robots.txt of one or many sites, for people.

A wrapper around `robotrules.operations.site_report`: it reads and fetches, and writes the page.

Sections: the command · one host · output.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from robotrules.access import FailureReason
from robotrules.cli.atomic_write import refuse_overwriting, write_atomically
from robotrules.cli.client import ClientOptions, with_client_options
from robotrules.cli.console import STDIN, CliError, quoted
from robotrules.cli.console import report as say
from robotrules.cli.identity_options import (
    identity_checker,
    range_paths,
    with_identity_options,
)
from robotrules.cli.input_files import default_robots_file, open_octets, read_error
from robotrules.cli.options import (
    crawler_purpose_option,
    fetching_profile_option,
    json_option,
    parse_tokens,
    parsing_profile,
)
from robotrules.cli.progress import Progress
from robotrules.cli.site_sources import find_sites, read_origins, site_origin, take_sites
from robotrules.cli.text import is_terminal
from robotrules.errors import StoreError
from robotrules.http.origins import robots_url
from robotrules.linting import ServedResponse
from robotrules.matrix import MAX_GIVEN
from robotrules.octets import visible
from robotrules.operations.site_report import SiteReport
from robotrules.operations.site_report.facts import HostFacts, SiteSource, host_facts
from robotrules.operations.site_report.sitemap_coverage import SitemapUrls, sitemap_coverage
from robotrules.registries.crawlers import KNOWN_CRAWLERS

if TYPE_CHECKING:
    from robotrules.client.origin_state import OriginState
    from robotrules.client.sync import Client
    from robotrules.operations.crawler_identity import IdentityChecker
    from robotrules.operations.logs.summary import LogReport
    from robotrules.operations.rule_history import RuleHistory

# What sitemaps.org allows for one file, uncompressed.
LARGEST_SITEMAP = 50 * 1024 * 1024
# The part of a file by which a log is recognized.
LOG_SAMPLE = 64 * 1024


class _Options(NamedTuple):
    """What the page is to show of each host."""

    crawlers: tuple[str, ...]
    purposes: tuple[str, ...]
    paths: tuple[str, ...]
    profile: str
    git: str | None
    sitemaps: bool
    max_sitemaps: int
    sitemap_files: tuple[SitemapUrls, ...]
    history: bool


@click.command()
@click.argument("given", metavar="[FILE|URL|HOST]...", nargs=-1)
@click.option(
    "--origins",
    "origins_file",
    metavar="FILE",
    help="Also report on the origins in FILE, one per line; '-' is stdin.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write the page to FILE; '-' is stdout.",
)
@click.option("--title", metavar="TEXT", help="The title of the page.")
@click.option("--date", metavar="TEXT", help="A date to show on the page.")
@click.option(
    "--as",
    "product_tokens",
    metavar="TOKEN",
    multiple=True,
    help="Report on this crawler, by its product token, such as GPTBot; '*' is everyone else. "
    "Repeat it for several.",
)
@crawler_purpose_option(
    "Report on the crawlers with this purpose",
    " Defaults to ai-training and search for the first sentence, and to the main crawlers for the "
    "table.",
)
@click.option(
    "--path",
    "paths",
    metavar="PATH",
    multiple=True,
    help="A column of the table, such as /news/; without it some are made from the rules. Repeat "
    "it for several.",
)
@click.option(
    "--url",
    metavar="URL",
    help="The site on which the file is served, for checks that need it. For one FILE.",
)
@click.option(
    "--git",
    metavar="FILE",
    help="Add the history of FILE, a robots.txt in a git repository. For one site.",
)
@click.option(
    "--sitemap",
    "sitemap_files",
    metavar="FILE",
    multiple=True,
    help="Add which URLs of this sitemap file are blocked. Repeat it for several. For one site.",
)
@click.option(
    "--sitemaps",
    is_flag=True,
    help="Fetch the sitemaps that the robots.txt names, and add which of their URLs are blocked.",
)
@click.option(
    "--max-sitemaps",
    type=click.IntRange(1, 1000),
    metavar="N",
    default=5,
    show_default=True,
    help="The maximum number of sitemap files to fetch for each host.",
)
@click.option(
    "--logs",
    "log_files",
    metavar="FILE",
    multiple=True,
    help="Add what crawlers did in this access log. Repeat it for several. For one site.",
)
@click.option(
    "--log-format",
    metavar="NAME|TEMPLATE",
    default="",
    help="The format of the logs, as in robotrules logs. Defaults to what they look like.",
)
@with_identity_options
@click.option(
    "--no-history", is_flag=True, help="Leave out what earlier fetches in the store found."
)
@fetching_profile_option
@json_option("Print the facts of the page as one JSON object, described in docs/cli/report.md.")
@with_client_options()
def report(
    given: tuple[str, ...],
    origins_file: str | None,
    output: str | None,
    title: str | None,
    date: str | None,
    product_tokens: tuple[str, ...],
    purposes: tuple[str, ...],
    paths: tuple[str, ...],
    url: str | None,
    git: str | None,
    sitemap_files: tuple[str, ...],
    sitemaps: bool,
    max_sitemaps: int,
    log_files: tuple[str, ...],
    log_format: str,
    range_files: tuple[str, ...],
    verify: bool,
    no_history: bool,
    profile: str,
    as_json: bool,
    client_options: ClientOptions,
) -> int:
    """
    Write a page about the robots.txt of one or many sites, for people.

    FILE is a robots.txt, or '-' for stdin; for a URL or a host, the robots.txt of its origin is
    fetched; without any, robots.txt in this directory is used. The page begins with what crawlers
    may fetch, in a sentence; then come the table of crawlers and paths, the notes of lint by
    importance, what changed in earlier fetches, and which URLs of sitemaps are blocked. It is one
    HTML file that needs no other and no script; to get a PDF, print it. A host that cannot be
    fetched has a section that says so. The exit code is 0, and 2 for a usage or I/O error.

    \b
    Examples:
      robotrules report robots.txt -o report.html
      robotrules report https://example.com --sitemaps -o report.html
      robotrules report --origins hosts.txt --title 'Our sites' -o report.html
      robotrules report robots.txt --git robots.txt --json
      robotrules report robots.txt --git robots.txt --logs access.log --logs access.log.1.gz \
        --ranges Googlebot=googlebot.json -o report.html
    """
    _refuse_logs(given)
    if (range_files or verify) and not log_files:
        raise click.UsageError("--ranges and --verify are for --logs")
    sites = find_sites(_names(given, origins_file))
    inputs = [*given, *filter(None, [origins_file, git]), *sitemap_files, *log_files]
    inputs += range_paths(range_files)
    if output is None and not as_json:
        if is_terminal(sys.stdout):
            raise CliError("missing -o: pass the file to write, such as -o report.html")
        output = STDIN
    if as_json and output is not None:
        raise click.UsageError("--json and -o cannot be combined: redirect the JSON to a file")
    if output is not None:
        refuse_overwriting(output, inputs, "-o")
    if product_tokens and purposes:
        raise click.UsageError("--as and --purpose cannot be combined")
    if len(paths) > MAX_GIVEN:
        raise CliError(f"{len(paths)} paths are too many: pass at most {MAX_GIVEN}")
    if len(sites) > 1:
        for option, value in _for_one_site(url, git, sitemap_files, log_files):
            if value:
                more = ": repeat it for each log" if option == "--logs" else ""
                words = f"{option} is for one site, and there are {len(sites)}{more}"
                raise click.UsageError(words)
    fetches = any(site.origin for site in sites)
    reading = parsing_profile(profile, fetches=fetches)
    unknown = [token for token in product_tokens if token not in KNOWN_CRAWLERS and token != "*"]
    if unknown:
        parse_tokens(unknown, reading)
    if sitemaps and not fetches:
        raise click.UsageError("--sitemaps is for URLs; pass sitemap files with --sitemap FILE")
    options = _Options(
        product_tokens,
        purposes,
        tuple(_path(path) for path in paths),
        reading,
        git,
        sitemaps,
        max_sitemaps,
        tuple(map(_read_sitemap, sitemap_files)),
        not no_history and not client_options.no_store,
    )
    origin = site_origin(url)
    identity = identity_checker(range_files, verify)

    def take(
        source: SiteSource, client: Client | None, origin_state: OriginState | None
    ) -> HostFacts:
        """Return the facts about a site."""
        if origin is not None and source.origin is None:
            served = ServedResponse(url=robots_url(origin))
            source = source._replace(name=origin, origin=origin, served=served)
        return _facts(source, options, client, origin_state)

    log_reports: list[LogReport] = []

    def take_with_logs(
        source: SiteSource, client: Client | None, origin_state: OriginState | None
    ) -> HostFacts:
        """Return the facts about a site; read the logs with its rules."""
        facts = take(source, client, origin_state)
        if log_files:
            found = _read_logs(log_files, log_format, identity, facts.source, options, client)
            log_reports.append(found)
        return facts

    # The page has all notes.
    hosts = take_sites(sites, profile, client_options, take_with_logs, notes=False)
    made = SiteReport(
        visible(title) if title else _title(hosts),
        tuple(hosts),
        reading,
        visible(date) if date else None,
        purposes,
        product_tokens,
    )
    _write(_with_logs(made, log_reports), output)
    return 0


def _for_one_site(
    url: str | None, git: str | None, sitemaps: tuple[str, ...], logs: tuple[str, ...]
) -> Sequence[tuple[str, object]]:
    """Return the options that are about one site."""
    return ("--url", url), ("--git", git), ("--sitemap", sitemaps), ("--logs", logs)


def _names(given: Sequence[str], origins_file: str | None) -> list[str]:
    names = [*given, *(read_origins(origins_file) if origins_file is not None else ())]
    if not names and origins_file is not None:
        raise CliError(f"{quoted(origins_file)} has no origin: put one per line")
    return names or [default_robots_file(or_url=True)]


def _refuse_logs(names: Sequence[str]) -> None:
    """Refuse access logs that are given as robots.txt files, as `--logs access.log*` does."""
    logs = [name for name in names if name != STDIN and os.path.isfile(name) and _is_log(name)]
    if logs:
        options = " ".join(f"--logs {visible(os.fsencode(name))}" for name in logs[:3])
        raise CliError(
            f"{quoted(logs[0])} is an access log or compressed, and not a robots.txt: pass each "
            f"log with its own --logs, as in {options}"
        )


def _is_log(name: str) -> bool:
    from robotrules.operations.logs.formats import looks_like_log

    try:
        with open(name, "rb") as stream:
            octets = stream.read(LOG_SAMPLE)
    except OSError:
        return False
    return octets.startswith(b"\x1f\x8b") or looks_like_log(octets)


def _title(hosts: Sequence[HostFacts]) -> str:
    is_one = len(hosts) == 1 and hosts[0].source.origin is not None
    return f"robots.txt of {hosts[0].name}" if is_one else "robots.txt report"


def _path(path: str) -> str:
    if not path.startswith("/") and "://" not in path:
        raise CliError(
            f"{quoted(path)} is not a path: pass one that starts with '/', such as /{visible(path)}"
        )
    return os.fsencode(path).decode("utf-8", "backslashreplace")


# --- One host -------------------------------------------------------------------------------------


def _facts(
    source: SiteSource,
    options: _Options,
    client: Client | None,
    origin_state: OriginState | None,
) -> HostFacts:
    """Return the facts about a site, with history and sitemaps."""
    found = host_facts(
        source, crawlers=options.crawlers, purposes=options.purposes, paths=options.paths
    )
    found = _with_history(found, options, client)
    files = options.sitemap_files
    if client is not None and origin_state is not None and options.sitemaps:
        files = _fetched_sitemaps(client, origin_state, options.max_sitemaps)
    if source.robots is not None and (files or options.sitemaps):
        return found._replace(sitemaps=sitemap_coverage(source.robots, files, source.origin))
    return found


def _with_history(found: HostFacts, options: _Options, client: Client | None) -> HostFacts:
    # Imported late: slow to import, and often not needed.
    if options.git is not None:
        from robotrules.operations.git_history import GitError
        from robotrules.operations.site_report.history import changes_from_git

        try:
            changes, words = changes_from_git(options.git, profile=options.profile)
        except GitError as error:
            raise CliError(f"--git: {visible(str(error))}") from None
        return found._replace(history=changes, history_words=words)
    origin = found.source.origin
    if client is None or origin is None or not options.history:
        return found
    from robotrules.operations.site_report.history import changes_from_store

    try:
        changes, words = changes_from_store(client.store, origin, options.profile)
    except StoreError as error:
        words = f"The store could not be read: {visible(str(error))}"
        return found._replace(history=(), history_words=words)
    return found._replace(history=changes, history_words=words)


def _fetched_sitemaps(
    client: Client, origin_state: OriginState, most: int
) -> tuple[SitemapUrls, ...]:
    from robotrules.cli.origin_lookup import host_of
    from robotrules.client.auditing.sitemap_reader import read_sitemaps

    found = read_sitemaps(client, origin_state, max_files=most)
    files = []
    for one in found.files:
        problem = visible(one.trouble)
        if one.page.failure_reason is FailureReason.REFUSED:
            host = visible(host_of(one.page.url))
            problem = f"not requested: {host} has a private address (--allow-private {host})"
        if problem:
            say(
                f"the sitemap {visible(one.url)} was not read completely: {problem}",
                label="warning",
                style="warning",
            )
        files.append(SitemapUrls(one.url, one.urls, problem))
    if found.not_read:
        words = "not fetched: --max-sitemaps is reached"
        files.append(SitemapUrls(f"{found.not_read:,} more files", (), words))
    return tuple(files)


def _read_sitemap(name: str) -> SitemapUrls:
    """Read a sitemap file of this machine."""
    from robotrules.client.auditing.sitemap_files import SitemapForm, read_sitemap

    stream = open_octets(name, "the sitemap")
    try:
        octets = stream.read(LARGEST_SITEMAP + 1) or b""
    except OSError as error:
        raise read_error(name, "the sitemap", error) from None
    finally:
        if name != STDIN:
            stream.close()
    found = read_sitemap(octets, limit=LARGEST_SITEMAP)
    shown = "stdin" if name == STDIN else visible(os.fsencode(os.path.basename(name)))
    if found.form is SitemapForm.OTHER:
        raise CliError(
            f"{quoted(name)} is not a sitemap: {found.trouble}; pass an XML or text file"
        )
    if found.form is SitemapForm.INDEX:
        raise CliError(
            f"{quoted(name)} is a sitemap index, which lists sitemaps: pass the files that it lists"
        )
    cut = "" if found.complete else "only the beginning was read"
    return SitemapUrls(shown, found.urls, found.trouble or cut)


def _read_logs(
    logs: tuple[str, ...],
    log_format: str,
    identity: IdentityChecker | None,
    source: SiteSource,
    options: _Options,
    client: Client | None,
) -> LogReport:
    """Read access logs, with the rules that were in force at each request where they are known."""
    from robotrules.cli.logs_output import host_in_logs, report_problems
    from robotrules.operations.logs import LogFormatError, read_logs

    host = host_in_logs(source.origin or "")
    rules, name = _rules_in_force(source, options, client)
    size = sum(os.path.getsize(log) for log in logs if os.path.isfile(log)) or None
    bar = sys.stderr if is_terminal(sys.stderr) else None
    try:
        with Progress(bar, size, "request") as progress:
            found = read_logs(
                logs,
                rules,
                log_format=log_format,
                identity=identity,
                host=host,
                site=source.name,
                rules_name=name,
                progress=progress.add,
            )
    except LogFormatError as error:
        raise CliError(f"--logs: {visible(str(error))}") from None
    except OSError as error:
        raise read_error(error.filename or logs[0], "the access log", error) from None
    report_problems(found, log_format)
    if len(found.hosts) > 1 and not host:
        say(
            f"the log has several hosts ({', '.join(found.hosts[:3])} …), which are judged by the "
            "same rules: pass --url with the URL of the site",
            label="warning",
            style="warning",
        )
    return found


def _rules_in_force(
    source: SiteSource, options: _Options, client: Client | None
) -> tuple[RuleHistory | None, str]:
    """Return the rules by time, and what they are in words."""
    from robotrules.operations.rule_history import (
        fixed_rules,
        rules_from_evidence,
        rules_from_git,
    )

    if options.git is not None:
        return rules_from_git(options.git, profile=options.profile), "the versions in git"
    if client is not None and source.origin is not None and options.history:
        from robotrules.client.evidence import Evidence

        history = rules_from_evidence(Evidence(client.store, options.profile), source.origin)
        if len(history) > 1:
            return history, "the versions in the store"
    if source.robots is None:
        return None, ""
    return fixed_rules(source.robots, source.name), "today's robots.txt"


def _with_logs(made: SiteReport, reports: Sequence[LogReport]) -> SiteReport:
    if not reports:
        return made
    from robotrules.html_document import element, section, text
    from robotrules.operations.logs.pages import log_sections
    from robotrules.operations.logs.sentences import headline

    [found] = reports
    intro = section("Crawlers in the access log", element("p", text(headline(found), 1000)))
    return made._replace(logs=(intro, *log_sections(found)), log_values=found.as_dict())


# --- Output ---------------------------------------------------------------------------------------


def _write(made: SiteReport, output: str | None) -> None:
    if output is None:
        from robotrules.cli.console import Output

        out = Output()
        out.json(made.as_dict())
        out.flush()
        return
    from robotrules.operations.site_report.pages import report_page

    octets = report_page(made).encode("utf-8")
    if output == STDIN:
        sys.stdout.buffer.write(octets)
        sys.stdout.buffer.flush()
        return
    write_atomically(output, octets)
    say(f"{quoted(output)} written: {made.sentence}")
