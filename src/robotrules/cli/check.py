"""
`robotrules check`: verdicts on URLs for one crawler or several, for any number of URLs.

With `--robots` a wrapper around `RuleSet.check_many`; otherwise the robots.txt files of the URLs'
origins are fetched concurrently and verdicts are printed as they arrive. URLs are processed in
chunks, so memory does not grow with their number; `url_files` reads files of URLs, and
`check_formats` chooses the output.

Sections: the command · verdicts · progress · messages.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

import click

from robotrules import Verdict
from robotrules.cli.check_formats import FORMATS, CheckOutput, choose_format
from robotrules.cli.check_output import CheckedUrls, VerdictWriter
from robotrules.cli.client import ClientOptions, with_client_options
from robotrules.cli.console import STDIN, CliError, quoted, report
from robotrules.cli.options import (
    CrawlerHint,
    crawlers_option,
    fetching_profile_option,
    json_option,
    literal_option,
    parse_crawlers,
    parse_purposes,
    parse_urls,
    parsing_profile,
    purpose_option,
    read_robots_option,
    report_notes,
    robots_option,
)
from robotrules.cli.progress import Progress
from robotrules.cli.text import is_terminal, listed, plural
from robotrules.cli.url_files import (
    MOST_SITEMAPS,
    UrlFiles,
    is_url,
    refuse_file_arguments,
    report_hint,
)
from robotrules.json_results.crawlers import CrawlerChoice
from robotrules.octets import visible
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.url_lists import Chunk
from robotrules.url_lists.line_formats import LOG_ORIGIN, UrlFileFormat

if TYPE_CHECKING:
    from robotrules.cli.origin_lookup import OriginVerdicts, StoredCopies, VerdictStream
    from robotrules.client.origin_state import OriginState
    from robotrules.client.sync import Client

# Crawlers that the summary on stderr names.
MOST_NAMED = 12


@click.command()
@click.argument("urls", nargs=-1, metavar="[URL]...")
@robots_option
@crawlers_option
@literal_option
@fetching_profile_option
@purpose_option
@click.option(
    "--urls",
    "files",
    metavar="FILE",
    multiple=True,
    help="Also read URLs from FILE: a list, an access log, JSON lines, CSV or a sitemap, "
    "optionally gzipped; '-' is stdin. A sitemap or sitemap index may be a URL. Repeat it for "
    "several.",
)
@click.option(
    "--column",
    metavar="NAME",
    help="The column or key with the URLs, for --urls in CSV or JSON lines; or the number of a "
    "column, counted from 1.",
)
@click.option(
    "--max-sitemaps",
    type=click.IntRange(1),
    metavar="N",
    default=MOST_SITEMAPS,
    show_default=True,
    help="Fetch at most N sitemaps, if --urls is the URL of a sitemap index.",
)
@click.option(
    "--ordered",
    is_flag=True,
    help="Print results in the order of --urls. By default they are printed as robots.txt files "
    "arrive.",
)
@click.option(
    "--format",
    "format_name",
    type=click.Choice(FORMATS),
    help="The output format; 'html' is a page with counts and examples. Defaults to the extension "
    "of -o, then to text.",
)
@click.option(
    "--wide",
    is_flag=True,
    help="For CSV: one row per URL, with columns for each crawler, instead of one row per URL and "
    "crawler.",
)
@click.option("-o", "--output", metavar="FILE", help="Write the results to FILE instead of stdout.")
@json_option("Print one JSON object per line, for each URL and crawler: as --format jsonl.")
@click.option(
    "-q", "--quiet", is_flag=True, help="Print nothing; stop at the first disallowed URL."
)
@with_client_options()
def check(
    urls: tuple[str, ...],
    robots: str | None,
    product_tokens: tuple[str, ...],
    literal: bool,
    profile: str,
    purposes: tuple[str, ...],
    files: tuple[str, ...],
    column: str | None,
    max_sitemaps: int,
    ordered: bool,
    format_name: str | None,
    wide: bool,
    output: str | None,
    as_json: bool,
    quiet: bool,
    client_options: ClientOptions,
) -> int:
    """
    Check whether robots.txt allows URLs.

    Fetches the robots.txt of each URL's origin, at most once a day, or uses the file of --robots
    for all URLs; a URL may then be a path that starts with '/'. Prints one line per URL and
    crawler: the verdict, the URL and the rule or reason that decides, separated by tabs in a pipe.
    Well-known crawlers select groups as their operators document it; a hint reports that. The exit
    code is 0 if all URLs are allowed, 1 if any is disallowed, 2 for a usage or I/O error.

    \b
    Examples:
      robotrules check https://example.com/a --as ExampleBot
      robotrules check --urls urls.txt --as ExampleBot --json
      robotrules check http://localhost:8000/a --as ExampleBot --allow-private localhost
      robotrules check /a /b?q=1 --as ExampleBot-News,ExampleBot --robots robots.txt
      robotrules check /a --as ExampleBot --purpose EXAMPLE-PURPOSE-1 --robots robots.txt
      robotrules check --urls access.log.gz --as GPTBot --as CCBot --robots robots.txt -o out.csv
      robotrules check --urls export.csv --column page --as Googlebot -o report.html
      robotrules check --urls https://example.com/sitemap.xml --as Googlebot --as GPTBot
    """
    if robots == STDIN and STDIN in files:
        raise CliError(
            "--robots and --urls cannot both be stdin: pass one of them as a file, as in "
            "--robots robots.txt --urls -"
        )
    if not urls and not files:
        raise CliError(_missing_urls())
    if column is not None and not files:
        raise click.UsageError("--column needs --urls FILE")
    refuse_file_arguments(urls, files)
    if files:
        _refuse_names(urls)
    kind = choose_format(format_name, output, as_json=as_json, wide=wide, quiet=quiet)
    parsing = parsing_profile(profile, fetches=robots is None)
    options = _Options(
        purposes=parse_purposes(purposes, parsing),
        profile=parsing,
        access=profile,
        files=files,
        column=column,
        max_sitemaps=max_sitemaps,
        quiet=quiet,
        # URLs of the command line are answered in order.
        ordered=ordered or not files,
        client=client_options,
    )
    crawlers = parse_crawlers(product_tokens, parsing, literal=literal, hints=not quiet)
    written = CheckOutput(
        kind,
        output,
        crawlers,
        options.purposes,
        robots,
        inputs=[*files, *([robots] if robots else [])],
    )
    return _Run(options, crawlers, written).check(urls, robots)


# --- Verdicts -------------------------------------------------------------------------------------


class _Options(NamedTuple):
    """What does not depend on the crawlers."""

    purposes: tuple[str, ...]
    profile: str
    access: str
    files: tuple[str, ...]
    column: str | None
    max_sitemaps: int
    quiet: bool
    ordered: bool
    client: ClientOptions


class _Run:
    """One run of the command, with a file or with fetching."""

    def __init__(
        self, options: _Options, crawlers: Sequence[CrawlerChoice], output: CheckOutput
    ) -> None:
        self._options = options
        self._crawlers = crawlers
        self._output = output

    def check(self, urls: tuple[str, ...], robots: str | None) -> int:
        """Check all URLs; return the exit code."""
        options = self._options
        fetches = robots is None or any(map(is_url, options.files))
        with ExitStack() as opened:
            client = None
            if fetches:
                if robots is None:
                    from robotrules.cli.origin_lookup import refuse_paths

                    refuse_paths(urls)
                client = opened.enter_context(options.client.client(options.access))
            elif not options.quiet:
                options.client.hint_unused()
            given = self._files(client)
            if robots is not None:
                return self._check_with_file(urls, robots, given)
            assert client is not None
            return self._check_with_fetching(urls, client, given)

    def _files(self, client: Client | None) -> UrlFiles:
        """Return the files of URLs; sitemaps are fetched with the client."""
        fetch = None
        if client is not None and any(map(is_url, self._options.files)):
            from robotrules.cli.sitemap_fetching import SitemapFetcher

            fetch = SitemapFetcher(client, self._options.max_sitemaps)
        return UrlFiles(self._options.files, column=self._options.column, fetch=fetch)

    def _check_with_file(self, urls: tuple[str, ...], robots: str, given: UrlFiles) -> int:
        """Check all URLs against one file."""
        parsed = read_robots_option(robots, self._options.profile)
        rules = [parsed.rules_for(who.names, self._options.purposes) for who in self._crawlers]
        first = parse_urls(urls, self._options.profile, hints=not self._options.quiet)
        chunks = _chunks(first, given)
        if self._options.quiet:
            different = list(dict.fromkeys(rules))
            if not all(all(one.allows_many(urls)) for urls, _ in chunks for one in different):
                return 1
            return self._ended_quietly(given)
        for who in self._crawlers:
            CrawlerHint(who, self._options.purposes).read(parsed)
        report_notes(parsed.notes, robots)

        def write(writer: VerdictWriter[object], progress: Progress) -> None:
            """Write the verdicts on all chunks."""
            for urls, octets in chunks:
                writer.add(CheckedUrls(urls, _check_for_all(rules, urls)))
                progress.add(len(urls), octets)

        return self._written(write, first, given)

    def _check_with_fetching(self, urls: tuple[str, ...], client: Client, given: UrlFiles) -> int:
        """Check URLs against the robots.txt files of their origins."""
        # Imported late: not needed with --robots, and slow to import.
        from robotrules.cli.origin_lookup import OriginLookup, StoredCopies

        options, crawlers = self._options, self._crawlers
        first = parse_urls(urls, options.profile, hints=not options.quiet)
        with OriginLookup(
            client, refresh=options.client.refresh, profile=options.profile
        ) as lookup:
            stream = lookup.stream(crawlers[0].names, options.purposes, ordered=options.ordered)
            chunks = _chunks(first, given, whole=True)
            if options.quiet:
                for part in _answers(stream, chunks):
                    if not all(all(one) for one in self._for_all(part)):
                        lookup.stop()
                        return 1
                return self._ended_quietly(given)
            hints = [CrawlerHint(who, options.purposes) for who in crawlers]
            stored = None if options.client.refresh else StoredCopies()

            def write(writer: VerdictWriter[object], progress: Progress) -> None:
                """Write the verdicts as they arrive."""
                counted = _AnswerProgress(progress)
                for part in _answers(stream, counted.read(chunks)):
                    for hint in hints:
                        _hint_from_states(part, hint)
                    if stored is not None:
                        stored.add(part.origin_states)
                    checked = CheckedUrls(part.urls, self._for_all(part), part.origin_states)
                    writer.add(checked)
                    counted.answered(len(part.urls))

            return self._written(write, first, given, stored)

    def _for_all(self, part: OriginVerdicts) -> list[Sequence[Verdict]]:
        """Return the verdicts of all crawlers; those of the first are there."""
        purposes = self._options.purposes
        others = [_check_states(part, who, purposes) for who in self._crawlers[1:]]
        return [part.verdicts, *others]

    def _written(
        self,
        write: Callable[[VerdictWriter[object], Progress], None],
        first: list[bytes],
        given: UrlFiles,
        stored: StoredCopies | None = None,
    ) -> int:
        """Write the results; report the summary and return the exit code."""
        with self._output.writer(() if self._options.files else first) as writer:
            # No bar if the results themselves appear on the terminal.
            shown = self._options.files and is_terminal(sys.stderr) and not writer.on_terminal
            with Progress(sys.stderr if shown else None, given.size, "URL") as progress:
                write(writer, progress)
            given.refuse_empty()
            copies = stored.sentence() if stored is not None else ""
            self._output.finish(writer, given, [copies] if copies else [])
        if given.read:
            _summarise(progress, writer, self._crawlers, given)
            if copies:
                report(copies, label="hint")
        for file in given.read:
            report_hint(file)
        whole = given.is_whole()
        return 2 if not whole else int(any(writer.disallowed))

    @staticmethod
    def _ended_quietly(given: UrlFiles) -> int:
        given.refuse_empty()
        for file in given.read:
            report_hint(file)
        return 0 if given.is_whole() else 2


def _check_for_all(rules: Sequence[RuleSet], urls: list[bytes]) -> list[list[Verdict]]:
    """Return the verdicts of each rule set; equal ones are asked once."""
    found: dict[RuleSet, list[Verdict]] = {}
    for one in rules:
        if one not in found:
            found[one] = one.check_many(urls)
    return [found[one] for one in rules]


def _check_states(
    part: OriginVerdicts, who: CrawlerChoice, purposes: Sequence[str]
) -> list[Verdict]:
    """Return the verdicts of another crawler by the same files; URLs without one keep theirs."""
    verdicts = list(part.verdicts)
    positions: dict[int, list[int]] = {}
    states: dict[int, OriginState] = {}
    for at, state in enumerate(part.origin_states):
        if state is not None:
            states[id(state)] = state
            positions.setdefault(id(state), []).append(at)
    for number, state in states.items():
        some = positions[number]
        urls = [part.urls[at] for at in some]
        for at, verdict in zip(some, state.check_many(urls, who.names, purposes), strict=True):
            verdicts[at] = verdict
    return verdicts


def _answers(stream: VerdictStream, chunks: Iterable[Chunk]) -> Iterator[OriginVerdicts]:
    """Yield the verdicts on all chunks."""
    for chunk in chunks:
        yield from stream.add(chunk.urls)
    yield from stream.rest()


def _hint_from_states(part: OriginVerdicts, hint: CrawlerHint) -> None:
    """Pass the files of some verdicts to a pending hint."""
    if hint.is_pending:
        # URLs of one origin share its state.
        for robots in {id(state): state.robots for state in part.origin_states if state}.values():
            hint.read(robots)


# --- Progress -------------------------------------------------------------------------------------


class _AnswerProgress:
    """Advances a progress bar as URLs are answered, not as they are read."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._octets = self._urls = self._done = self._shown = 0

    def read(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        """Yield chunks and count what is read."""
        for chunk in chunks:
            self._octets += chunk.octets
            self._urls += len(chunk.urls)
            yield chunk

    def answered(self, urls: int) -> None:
        """Update the bar after some verdicts."""
        self._done += urls
        done = self._octets * self._done // max(self._urls, 1)
        self._progress.add(urls, max(done - self._shown, 0))
        self._shown = max(done, self._shown)


def _chunks(first: list[bytes], given: UrlFiles, *, whole: bool = False) -> Iterator[Chunk]:
    """Yield URLs of the command line, then of the files; *whole*: they need a host."""
    if first:
        yield Chunk(first, 0)
    for file, chunk in given.chunks():
        if whole and file.form in (UrlFileFormat.LOG, UrlFileFormat.JSON, UrlFileFormat.CSV):
            # The reader prefixes a path `//a` of a log with a placeholder origin: remove it.
            urls = [url.removeprefix(LOG_ORIGIN) if _is_path(url) else url for url in chunk.urls]
            chunk = chunk._replace(urls=urls)
        yield chunk


def _is_path(url: bytes) -> bool:
    return url.startswith(LOG_ORIGIN + b"//")


# --- Messages -------------------------------------------------------------------------------------


def _missing_urls() -> str:
    if sys.stdin is not None and not is_terminal(sys.stdin):
        return "missing URL: to read URLs from stdin, one per line, add --urls -"
    return "missing URL: pass URLs, or --urls FILE with one per line"


def _refuse_names(urls: Sequence[str]) -> None:
    """With `--urls`, refuse what is neither a URL nor a path: probably the name of a file."""
    for url in urls:
        if "://" not in url and not url.startswith("/") and url != STDIN:
            raise CliError(
                f"{quoted(url)} is neither a URL nor a path that starts with '/': to read URLs "
                f"from a file of that name, add --urls {quoted(url)}"
            )


def _summarise(
    progress: Progress,
    writer: VerdictWriter[object],
    crawlers: Sequence[CrawlerChoice],
    given: UrlFiles,
) -> None:
    form = f" ({given.form})" if given.form else ""
    counted = f"{plural(writer.urls, given.noun)}{form}"
    if len(crawlers) == 1:
        [blocked] = writer.disallowed
        words = f"{counted}: {writer.urls - blocked:,} allowed, {blocked:,} disallowed"
    else:
        parts = [
            f"{visible(who.name)} {'may fetch ' if not number else ''}{writer.urls - blocked:,}"
            for number, (who, blocked) in enumerate(zip(crawlers, writer.disallowed, strict=True))
        ]
        words = f"{counted}: {listed(parts, MOST_NAMED)}"
    report(f"{words}, in {progress.seconds:.1f} s")
