"""
`robotrules check`: verdicts on URLs, one a line, a million of them if need be.

With a robots.txt at hand, a few lines over `RuleSet.check_many`; without one, over a client that
fetches those of the URLs' origins, several at once, and answers as they arrive. URLs go through in
chunks, so memory does not grow with their number; files of them are read by `url_files`. How a
verdict looks is the business of `check_text`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, nullcontext
from typing import TYPE_CHECKING

import click

from robotrules.cli.check_text import JSONLines, Lines, TextLines
from robotrules.cli.client import Opening, client_options
from robotrules.cli.options import (
    GivenCrawler,
    KnownHint,
    given_crawler,
    given_purposes,
    given_robots,
    given_urls,
    json_option,
    parsing_profile,
    purpose_option,
    robots_options,
    say_notes,
)
from robotrules.cli.progress import Progress
from robotrules.cli.streams import STDIN, Chunk, CliError, Output, say
from robotrules.cli.text import is_terminal, plural
from robotrules.cli.url_files import UrlFile, refuse_empty, say_hint
from robotrules.cli.url_forms import LOG_ORIGIN, UrlFileFormat
from robotrules.octets import visible

if TYPE_CHECKING:
    from robotrules.cli.origin_lookup import AnswerStream, OriginAnswers


@click.command()
@click.argument("urls", nargs=-1, metavar="[URL]...")
@robots_options
@purpose_option
@click.option(
    "--urls",
    "file",
    metavar="FILE",
    help="Read URLs from FILE too: a list, an access log, JSON lines, CSV or a sitemap, gzipped or "
    "not; '-' is stdin.",
)
@click.option(
    "--ordered",
    is_flag=True,
    help="Keep the order of --urls: an answer waits for those before it. By default answers come "
    "as origins arrive.",
)
@json_option("Print one JSON object a line, for each URL.")
@click.option(
    "-q", "--quiet", is_flag=True, help="Print nothing; stop at the first disallowed URL."
)
@client_options()
def check(
    urls: tuple[str, ...],
    robots: str | None,
    product_tokens: tuple[str, ...],
    literal: bool,
    profile: str,
    purposes: tuple[str, ...],
    file: str | None,
    ordered: bool,
    as_json: bool,
    quiet: bool,
    opening: Opening,
) -> int:
    """
    Tell whether robots.txt allows URLs.

    Fetches the robots.txt of each URL's origin, once a day at most, or reads the one that --robots
    names for all of them; then a URL may be just a path that starts with '/'. Each URL gets one
    line: the verdict, the URL and what decided; in a pipe, tabs are between them. A well-known
    crawler chooses groups as its operator documents it, which is said. The exit code is 0 if all
    are allowed, 1 if any is disallowed, 2 for usage or I/O.

    \b
    Examples:
      robotrules check https://example.com/a --as ExampleBot
      robotrules check --urls urls.txt --as ExampleBot --json
      robotrules check http://localhost:8000/a --as ExampleBot --allow-private localhost
      robotrules check /a /b?q=1 --as ExampleBot-News --as ExampleBot --robots robots.txt
      robotrules check /a --as ExampleBot --purpose EXAMPLE-PURPOSE-1 --robots robots.txt
      robotrules check --urls access.log.gz --as ExampleBot --robots robots.txt --json
    """
    if robots == STDIN and file == STDIN:
        raise CliError(
            "--robots and --urls cannot both be stdin: pass one of them as a file, as in "
            "--robots robots.txt --urls -"
        )
    if not urls and file is None:
        raise CliError(_no_urls())
    parsing = parsing_profile(profile, fetches=robots is None)
    # A few URLs that somebody typed are answered as they stand there.
    in_order = ordered or file is None
    run = _Run(product_tokens, literal, purposes, parsing, file, as_json, quiet, in_order)
    if robots is None:
        return run.fetching(urls, opening, profile)
    if not quiet:
        opening.hint_unused()
    return run.over_file(urls, robots)


class _Run:
    """One run of the command, however the robots.txt is got."""

    def __init__(
        self,
        product_tokens: tuple[str, ...],
        literal: bool,
        purposes: tuple[str, ...],
        profile: str,
        file: str | None,
        as_json: bool,
        quiet: bool,
        ordered: bool,
    ) -> None:
        self._given = product_tokens, literal, purposes
        self._profile = profile
        self._file = file
        self._as_json = as_json
        self._quiet = quiet
        self._ordered = ordered

    def over_file(self, urls: tuple[str, ...], robots: str) -> int:
        """Answer from a file for all URLs."""
        parsed = given_robots(robots, self._profile)
        crawler, purposes = self._who()
        rules = parsed.rules_for(crawler.names, purposes)
        first = given_urls(urls, self._profile, hints=not self._quiet)
        with self._opened() as given:
            chunks = _chunks(first, given)
            if self._quiet:
                if not all(all(rules.allows_many(chunk.urls)) for chunk in chunks):
                    return 1
                return self._ended(None, None, given)
            KnownHint(crawler, purposes).read(parsed)
            say_notes(parsed.notes, robots)
            lines = self._lines(first, crawler, purposes, fetched=False)
            with self._progress(lines, given) as progress:
                for chunk in chunks:
                    lines.add(chunk.urls, rules.check_many(chunk.urls))
                    progress.add(len(chunk.urls), chunk.octets)
        return self._ended(lines, progress, given)

    def fetching(self, urls: tuple[str, ...], opening: Opening, access: str) -> int:
        """Answer from the robots.txt files of the URLs' origins."""
        # Who has a file at hand does not wait for what fetches.
        from robotrules.cli.origin_lookup import Looker, refuse_paths

        crawler, purposes = self._who()
        refuse_paths(urls)
        first = given_urls(urls, self._profile, hints=not self._quiet)
        with ExitStack() as opened:
            given = opened.enter_context(self._opened())
            client = opened.enter_context(opening.client(access))
            looker = opened.enter_context(
                Looker(client, fresh=opening.fresh, profile=self._profile)
            )
            stream = looker.stream(crawler.names, purposes, ordered=self._ordered)
            chunks = _chunks(first, given, whole=True)
            if self._quiet:
                if not all(all(part.verdicts) for part in _answers(stream, chunks)):
                    looker.stop()
                    return 1
                return self._ended(None, None, given)
            hint = KnownHint(crawler, purposes)
            lines = self._lines(first, crawler, purposes, fetched=True)
            with self._progress(lines, given) as progress:
                counted = _Counted(progress)
                for part in _answers(stream, counted.read(chunks)):
                    _read_helds(part, hint)
                    lines.add_fetched(*part)
                    counted.answered(len(part.urls))
        return self._ended(lines, progress, given)

    def _opened(self) -> UrlFile | nullcontext[None]:
        """Open the file of URLs, if there is one."""
        if self._file is None:
            return nullcontext()
        return UrlFile(self._file, any_scheme=True, as_it_comes=True)

    def _who(self) -> tuple[GivenCrawler, tuple[str, ...]]:
        tokens, literal, purposes = self._given
        return (
            given_crawler(
                tokens, self._profile, literal=literal, hints=not self._quiet, says_known=False
            ),
            given_purposes(purposes, self._profile),
        )

    def _lines(
        self,
        first: list[bytes],
        crawler: GivenCrawler,
        purposes: tuple[str, ...],
        *,
        fetched: bool,
    ) -> Lines:
        output = Output()
        if self._as_json:
            return JSONLines(output, crawler, purposes, fetched=fetched)
        return TextLines(output, [] if self._file else first)

    @staticmethod
    def _progress(lines: Lines, given: UrlFile | None) -> Progress:
        # Where the lines themselves appear on the terminal, they are the progress.
        shown = given and is_terminal(sys.stderr) and not lines.on_terminal
        return Progress(sys.stderr if shown else None, given.size if given else None, "URL")

    @staticmethod
    def _ended(lines: Lines | None, progress: Progress | None, given: UrlFile | None) -> int:
        """Say what came of it, and return the exit code."""
        if given is not None:
            if not given.urls:
                refuse_empty(given)
            if lines is not None and progress is not None:
                _summarise(progress, lines.disallowed, given)
            say_hint(given)
            if not _is_whole(given):
                return 2
        return int(lines is not None and lines.disallowed > 0)


def _answers(stream: AnswerStream, chunks: Iterator[Chunk]) -> Iterator[OriginAnswers]:
    """Yield the answers to all chunks."""
    for chunk in chunks:
        yield from stream.add(chunk.urls)
    yield from stream.rest()


def _read_helds(part: OriginAnswers, hint: KnownHint) -> None:
    """Show a hint the files of some answers, until it has said what it is for."""
    if hint.is_waiting:
        # URLs of one origin come together, and share what is held of it.
        for held in {id(held): held for held in part.helds if held}.values():
            hint.read(held.robots)


class _Counted:
    """Counts the octets of a file as its URLs are answered, which is later than they are read."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._octets = self._urls = self._done = self._told = 0

    def read(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        """Yield chunks, and count what is read."""
        for chunk in chunks:
            self._octets += chunk.octets
            self._urls += len(chunk.urls)
            yield chunk

    def answered(self, urls: int) -> None:
        """Show how far the answers are."""
        self._done += urls
        done = self._octets * self._done // max(self._urls, 1)
        self._progress.add(urls, max(done - self._told, 0))
        self._told = max(done, self._told)


def _no_urls() -> str:
    if sys.stdin is not None and not is_terminal(sys.stdin):
        return "no URL was given: to read them from stdin, one a line, add --urls -"
    return "no URL was given: pass URLs, or --urls FILE with one a line"


def _chunks(first: list[bytes], given: UrlFile | None, *, whole: bool = False) -> Iterator[Chunk]:
    """Yield the URLs of the command line, then those of the file; *whole*: a site is needed."""
    if first:
        yield Chunk(first, 0)
    if given is None:
        return
    for chunk in given.chunks():
        if whole and given.form in (UrlFileFormat.LOG, UrlFileFormat.JSON, UrlFileFormat.CSV):
            # A path `//a` of a log is written with the site that logs have none of.
            urls = [url.removeprefix(LOG_ORIGIN) if _is_path(url) else url for url in chunk.urls]
            chunk = chunk._replace(urls=urls)
        yield chunk


def _is_path(url: bytes) -> bool:
    return url.startswith(LOG_ORIGIN + b"//")


def _is_whole(given: UrlFile) -> bool:
    """Say what of a file was not answered; tell whether all of it was that should have been."""
    if given.trouble:
        say(f"{given.where} was not read to its end: {given.trouble}", label="error", style="error")
    skipped = given.skipped
    if skipped.lines:
        line, octets = skipped.examples[0]
        several = "s hold" if skipped.lines > 1 else " holds"
        say(
            f"{skipped.lines:,} line{several} no URL and got no verdict; the first is line {line}: "
            f"'{visible(octets)}'",
            label="warning",
            style="warning",
        )
    # In a list every line should be one; a log has lines that are none.
    return not given.trouble and not (skipped.lines and given.form is UrlFileFormat.LIST)


def _summarise(progress: Progress, disallowed: int, given: UrlFile) -> None:
    allowed = progress.count - disallowed
    what = "" if given.form is UrlFileFormat.LIST else f" ({given.form})"
    say(
        f"{plural(progress.count, given.form.noun)}{what}: {allowed:,} allowed, {disallowed:,} "
        f"disallowed, in {progress.seconds:.1f} s"
    )
