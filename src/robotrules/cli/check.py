"""
`robotrules check`: verdicts on URLs, one a line, a million of them if need be.

A few lines over `RuleSet.check_many`. URLs go through in chunks, so memory does not grow with
their number. It does not fetch: the robots.txt is a file or stdin.
"""

from __future__ import annotations

import json
import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from json.encoder import encode_basestring_ascii as json_string
from typing import BinaryIO

import click

from robotrules import Verdict
from robotrules.cli.options import (
    given_purposes,
    given_robots,
    given_tokens,
    given_urls,
    json_option,
    purpose_option,
    robots_options,
    say_notes,
    single_or_many,
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
from robotrules.cli.text import cells, is_terminal, plural, shortened, visible

# What one write holds, more or less. A path pattern can be as long as a file, and many URLs can
# have it in their line.
WRITE = 1024 * 1024
# On a terminal a rule longer than this is cut; a pipe gets all of it.
LONGEST_RULE = 200
# Octets that show as they are.
PLAIN = bytes(range(0x20, 0x7F))
WIDEST_URL = 60


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
def check(
    urls: tuple[str, ...],
    robots: str | None,
    product_tokens: tuple[str, ...],
    profile: str,
    purposes: tuple[str, ...],
    file: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """
    Tell whether the rules of a robots.txt allow URLs.

    A URL is absolute, or just a path that starts with '/'. Each gets one line: the verdict, the URL
    and what decided; in a pipe, tabs are between them. The exit code is 0 if all are allowed, 1 if
    any is disallowed, 2 for usage or I/O.

    \b
    Examples:
      robotrules check https://example.com/a --as ExampleBot --robots robots.txt
      robotrules check /a /b?q=1 --as ExampleBot-News --as ExampleBot --robots robots.txt
      robotrules check /a --as ExampleBot --purpose EXAMPLE-PURPOSE-1 --robots robots.txt
      curl -s https://example.com/robots.txt | robotrules check /a --as ExampleBot --robots -
      zcat urls.gz | robotrules check --urls - --as ExampleBot --robots robots.txt --json
    """
    if robots == STDIN and file == STDIN:
        raise Trouble(
            "--robots and --urls cannot both be stdin: pass one of them as a file, as in "
            "--robots robots.txt --urls -"
        )
    if not urls and file is None:
        raise Trouble(_no_urls())
    parsed = given_robots(robots, profile)
    tokens = given_tokens(product_tokens, profile, hints=not quiet)
    rules = parsed.rules_for(single_or_many(tokens), given_purposes(purposes, profile))
    first = given_urls(urls, profile, hints=not quiet)
    with _opened(file) as stream:
        chunks = _chunks(first, stream, file or "")
        if quiet:
            return int(not all(all(rules.allows_many(chunk.urls)) for chunk in chunks))
        say_notes(parsed.notes, robots or "")
        output = Output()
        lines = (
            JSONLines(output, tokens, purposes)
            if as_json
            else TextLines(output, [] if file else first)
        )
        # Where the lines themselves appear on the terminal, they are the progress.
        bar = sys.stderr if stream and is_terminal(sys.stderr) and not output.terminal else None
        size = size_of(stream) if stream else None
        with Progress(bar, size, "URLs") as progress:
            for chunk in chunks:
                lines.add(chunk.urls, rules.check_many(chunk.urls))
                progress.add(len(chunk.urls), chunk.octets)
    if stream and is_terminal(sys.stderr):
        _summarise(progress, lines.disallowed)
    return int(lines.disallowed > 0)


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


class Lines(ABC):
    """Writes a line for each URL. Verdicts are few, so what follows from one is made once."""

    def __init__(self, output: Output) -> None:
        self.disallowed = 0
        self._output = output
        # By identity: rule sets share verdicts, and comparing two means reading both rules. The
        # verdicts are kept, so that an identity stays theirs.
        self._verdicts: dict[int, Verdict] = {}
        self._ends: dict[int, tuple[str, str]] = {}

    @abstractmethod
    def ends(self, verdict: Verdict) -> tuple[str, str]:
        """Return what stands before and after the URL in its line."""

    @abstractmethod
    def texts(self, urls: Sequence[bytes]) -> Iterable[str]:
        """Return URLs as they stand in their lines."""

    def add(self, urls: Sequence[bytes], verdicts: Sequence[Verdict]) -> None:
        """Write the lines of a chunk, and hand them over."""
        counts = Counter(map(id, verdicts))
        if counts.keys() - self._verdicts.keys():
            self._meet(verdicts)
        self.disallowed += sum(counts[key] for key in counts if not self._verdicts[key])
        ends = self._ends
        longest = max((len(ends[key][1]) for key in counts), default=1)
        step = max(WRITE // longest, 1)
        for start in range(0, len(urls), step):
            some = slice(start, start + step)
            found = map(ends.__getitem__, map(id, verdicts[some]))
            pairs = zip(self.texts(urls[some]), found, strict=True)
            self._output.write("".join([f"{head}{url}{tail}" for url, (head, tail) in pairs]))
        self._output.flush()

    def _meet(self, verdicts: Sequence[Verdict]) -> None:
        """Make what follows from verdicts that were not seen before."""
        for key, verdict in zip(map(id, verdicts), verdicts, strict=True):
            if key not in self._verdicts:
                self._verdicts[key], self._ends[key] = verdict, self.ends(verdict)


class TextLines(Lines):
    """Columns for a person, or with tabs between them for a program."""

    def __init__(self, output: Output, known: Sequence[bytes]) -> None:
        """*known* URLs are all there will be: with them, columns can be aligned."""
        super().__init__(output)
        widest = max((cells(visible(url)) for url in known), default=0)
        self._width = min(widest, WIDEST_URL) if output.terminal else 0

    def texts(self, urls: Sequence[bytes]) -> Iterable[str]:
        """Return URLs with nothing in them that moves a cursor or adds a column."""
        if self._width:
            return map(self._aligned, map(visible, urls))
        # Together first: one look at a chunk costs a third of one at each URL.
        if not b"".join(urls).translate(None, PLAIN):
            return b"\n".join(urls).decode("ascii").split("\n")
        return map(visible, urls)

    def _aligned(self, url: str) -> str:
        return url + " " * (self._width - cells(url))

    def ends(self, verdict: Verdict) -> tuple[str, str]:
        """Return the verdict, and what decided."""
        word = "allowed" if verdict else "disallowed"
        why = verdict.reason.sentence
        if verdict.rule is not None:
            why = f"line {verdict.rule.line}: {visible(str(verdict.rule))}"
        paint = self._output.paint
        if not self._output.terminal:
            return f"{paint(word, word)}\t", f"\t{why}\n"
        why = paint("faint", shortened(why, LONGEST_RULE))
        return f"{paint(word, word)}{' ' * (12 - len(word))}", f"  {why}\n"


class JSONLines(Lines):
    """One JSON object a line; always ASCII."""

    def __init__(
        self, output: Output, tokens: tuple[str, ...], purposes: tuple[str, ...] = ()
    ) -> None:
        super().__init__(output)
        # As an explanation has it.
        self._product_token = ", ".join(tokens)
        self._purposes = list(purposes)

    def texts(self, urls: Sequence[bytes]) -> Iterable[str]:
        """Return URLs as JSON strings."""
        return [json_string(url.decode("utf-8", "backslashreplace")) for url in urls]

    def ends(self, verdict: Verdict) -> tuple[str, str]:
        """Return the object without its URL."""
        rest = {
            "allowed": verdict.allowed,
            "reason": str(verdict.reason),
            "line": verdict.line,
            "pattern": verdict.rule.pattern if verdict.rule else None,
            "profile": verdict.profile,
            "product_token": self._product_token,
            "purposes": self._purposes,
        }
        return '{"url": ', f", {json.dumps(rest)[1:]}\n"
