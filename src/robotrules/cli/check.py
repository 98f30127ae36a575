"""
`robotrules check`: verdicts on URLs, one a line, a million of them if need be.

With a robots.txt at hand, a few lines over `RuleSet.check_many`; without one, over a client that
fetches those of the URLs' origins, several at once. URLs go through in chunks, so memory does not
grow with their number. How a verdict looks is the business of `check_text`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import BinaryIO

import click

from robotrules.cli.check_text import JSONLines, Lines, TextLines
from robotrules.cli.client import Opening, client_options
from robotrules.cli.options import (
    GivenCrawler,
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
from robotrules.cli.streams import (
    STDIN,
    Chunk,
    Output,
    Trouble,
    open_octets,
    say,
    size_of,
    url_chunks,
)
from robotrules.cli.text import is_terminal, plural


@click.command()
@click.argument("urls", nargs=-1, metavar="[URL]...")
@robots_options
@purpose_option
@click.option(
    "--urls", "file", metavar="FILE", help="Read URLs from FILE too, one a line; '-' is stdin."
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
      zcat urls.gz | robotrules check --urls - --as ExampleBot --robots robots.txt --json
    """
    if robots == STDIN and file == STDIN:
        raise Trouble(
            "--robots and --urls cannot both be stdin: pass one of them as a file, as in "
            "--robots robots.txt --urls -"
        )
    if not urls and file is None:
        raise Trouble(_no_urls())
    parsing = parsing_profile(profile, fetches=robots is None)
    run = _Run(product_tokens, literal, purposes, parsing, file, as_json, quiet)
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
    ) -> None:
        self._given = product_tokens, literal, purposes
        self._profile = profile
        self._file = file
        self._as_json = as_json
        self._quiet = quiet

    def over_file(self, urls: tuple[str, ...], robots: str) -> int:
        """Answer from a file for all URLs."""
        parsed = given_robots(robots, self._profile)
        crawler, purposes = self._who()
        rules = parsed.rules_for(crawler.names, purposes)
        first = given_urls(urls, self._profile, hints=not self._quiet)
        with _opened(self._file) as stream:
            chunks = _chunks(first, stream, self._file or "")
            if self._quiet:
                return int(not all(all(rules.allows_many(chunk.urls)) for chunk in chunks))
            say_notes(parsed.notes, robots)
            lines = self._lines(first, crawler, purposes, fetched=False)
            with self._progress(lines, stream) as progress:
                for chunk in chunks:
                    lines.add(chunk.urls, rules.check_many(chunk.urls))
                    progress.add(len(chunk.urls), chunk.octets)
        return self._ended(lines, progress, stream)

    def fetching(self, urls: tuple[str, ...], opening: Opening, access: str) -> int:
        """Answer from the robots.txt files of the URLs' origins."""
        # Who has a file at hand does not wait for what fetches.
        from robotrules.cli.fetching import Looker, refuse_paths

        crawler, purposes = self._who()
        refuse_paths(urls)
        first = given_urls(urls, self._profile, hints=not self._quiet)
        with ExitStack() as opened:
            stream = opened.enter_context(_opened(self._file))
            client = opened.enter_context(opening.client(access))
            looker = opened.enter_context(
                Looker(client, fresh=opening.fresh, profile=self._profile)
            )
            chunks = _chunks(first, stream, self._file or "")
            asked = crawler.names, purposes
            if self._quiet:
                parts = (part for chunk in chunks for part in looker.answers(chunk.urls, *asked))
                return int(not all(all(part.verdicts) for part in parts))
            lines = self._lines(first, crawler, purposes, fetched=True)
            with self._progress(lines, stream) as progress:
                for chunk in chunks:
                    counted = _Counted(progress, chunk.octets)
                    for part in looker.answers(chunk.urls, *asked, counted.answered):
                        lines.add_fetched(*part)
                        progress.add(len(part.urls), 0)
                    counted.answered(chunk.octets)
        return self._ended(lines, progress, stream)

    def _who(self) -> tuple[GivenCrawler, tuple[str, ...]]:
        tokens, literal, purposes = self._given
        return (
            given_crawler(tokens, self._profile, literal=literal, hints=not self._quiet),
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
    def _progress(lines: Lines, stream: BinaryIO | None) -> Progress:
        # Where the lines themselves appear on the terminal, they are the progress.
        shown = stream and is_terminal(sys.stderr) and not lines.on_terminal
        return Progress(sys.stderr if shown else None, size_of(stream) if stream else None, "URL")

    @staticmethod
    def _ended(lines: Lines, progress: Progress, stream: BinaryIO | None) -> int:
        if stream and is_terminal(sys.stderr):
            _summarise(progress, lines.disallowed)
        return int(lines.disallowed > 0)


class _Counted:
    """Counts the octets of a chunk as origins answer, and no more than it has."""

    def __init__(self, progress: Progress, octets: int) -> None:
        self._progress = progress
        self._left = octets

    def answered(self, octets: int) -> None:
        """Count octets that are done."""
        done = min(octets, self._left)
        self._left -= done
        self._progress.add(0, done)


def _no_urls() -> str:
    if sys.stdin is not None and not is_terminal(sys.stdin):
        return "no URL was given: to read them from stdin, one a line, add --urls -"
    return "no URL was given: pass URLs, or --urls FILE with one a line"


@contextmanager
def _opened(file: str | None) -> Iterator[BinaryIO | None]:
    """Open the file of URLs, if there is one."""
    if file is None:
        yield None
        return
    stream = open_octets(file, "URLs")
    if file == STDIN:
        if is_terminal(sys.stdin):
            say("reading URLs from the terminal, one a line; Ctrl-D ends", label="hint")
        yield stream
        return
    with stream:
        yield stream


def _chunks(first: list[bytes], stream: BinaryIO | None, name: str) -> Iterator[Chunk]:
    """Yield the URLs of the command line, then those of the file."""
    if first:
        yield Chunk(first, 0)
    if stream is not None:
        yield from url_chunks(stream, name)


def _summarise(progress: Progress, disallowed: int) -> None:
    allowed = progress.count - disallowed
    say(
        f"{plural(progress.count, 'URL')}: {allowed:,} allowed, {disallowed:,} disallowed, "
        f"in {progress.seconds:.1f} s"
    )
