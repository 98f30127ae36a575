"""
`robotrules pattern`: describe what a path pattern matches, with example URLs.

A wrapper around `analysis.describe`: a sentence, the parts of the pattern, URLs that match, near
misses with reasons, and notes. For a given URL: whether it matches, and which part matches where.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator, Sequence

import click

from robotrules.analysis.describe import Description, MatchedSpan, Trace, describe, trace
from robotrules.cli.console import CliError, Output, report
from robotrules.cli.options import json_option, parse_urls, profile_option
from robotrules.cli.text import Paint, format_range, plural, truncate
from robotrules.octets import visible

# How much of long values is shown; JSON has all of it.
MOST_PARTS = 12
LONGEST = 76
LONGEST_NAME = 60
LONGEST_PART = 30


@click.command()
@click.argument("patterns", nargs=-1, metavar="PATTERN...")
@click.option(
    "--url",
    "urls",
    metavar="URL",
    multiple=True,
    help="Test whether this URL matches, and show where each part of the pattern matches. Repeat "
    "it for several.",
)
@profile_option
@json_option("Print one JSON object for each pattern.")
def pattern(patterns: tuple[str, ...], urls: tuple[str, ...], profile: str, as_json: bool) -> int:
    """
    Describe what a path pattern matches.

    A path pattern is the value of an Allow or Disallow rule. Shows each part of the pattern, URLs
    that match, a shortest one first, near misses with reasons, and common mistakes. All example
    URLs are verified. Quote the pattern, because shells expand '*' and '$'. The exit code is 0;
    with --url it is 1 if a URL does not match.

    \b
    Examples:
      robotrules pattern '/*/print$'
      robotrules pattern '/private' '/private/' '/private$'
      robotrules pattern '/*?sort=' --url 'https://example.com/shop?id=1&sort=price'
      robotrules pattern '/a b' --profile strict --json
    """
    if not patterns:
        raise CliError("missing path pattern: pass one in quotes, such as '/*/print$'")
    _hint_at_files(patterns)
    octets = parse_urls(urls, profile)
    output = Output()
    all_match = True
    for number, written in enumerate(map(os.fsencode, patterns)):
        description = describe(written, profile)
        traces = [trace(written, url, profile) for url in octets]
        all_match = all_match and all(found.matches for found in traces)
        if as_json:
            asked = {"urls": [found.as_dict() for found in traces]} if traces else {}
            output.json(description.as_dict() | asked)
            continue
        lines = list(_Page(description, traces, output).lines())
        output.lines(["", *lines] if number else lines)
    output.flush()
    return int(not all_match)


def _hint_at_files(patterns: Sequence[str]) -> None:
    """Report a hint if a shell seems to have expanded a pattern without quotes."""
    if len(patterns) > 1 and all("*" not in name and os.path.lexists(name) for name in patterns):
        report(
            "all of these are existing files: if the shell expanded a pattern with '*', quote it",
            label="hint",
            style="warning",
        )


class _Page:
    """A pattern as lines of text."""

    def __init__(self, description: Description, traces: list[Trace], output: Output) -> None:
        self._description = description
        self._traces = traces
        self._paint: Paint = output.paint
        self._width = max(min(output.width, 100), 40)

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        found = self._description
        name = truncate(visible(found.pattern), LONGEST_NAME) or "(empty)"
        facts = f"{plural(found.octets, 'byte')}, profile {found.profile}"
        yield f"{self._paint('heading', name)}  {self._paint('faint', facts)}"
        yield ""
        yield from self._wrapped(visible(found.sentence), "")
        if self._traces:
            for answer in self._traces:
                yield ""
                yield from self._answer(answer)
        else:
            yield from self._listed("Parts", self._parts())
            matches = [(url.url, "") for url in found.matches]
            if matches and found.shortest and len(matches) > 1:
                matches[0] = (matches[0][0], "a shortest match")
            yield from self._listed("Matches", matches)
            misses = [(miss.url, miss.reason) for miss in found.misses]
            yield from self._listed("Near misses", misses)
        if found.notes and (found.empty or not self._traces):
            yield from self._heading("Notes")
            for note in found.notes:
                yield from self._wrapped(visible(note.message), "  ")

    def _parts(self) -> list[tuple[str, str]]:
        parts = self._description.parts
        shown = [(truncate(part.text, LONGEST_PART), part.asks) for part in parts[:MOST_PARTS]]
        return [*shown, ("…", "and so on")] if len(parts) > MOST_PARTS else shown

    def _heading(self, words: str) -> Iterator[str]:
        yield ""
        yield self._paint("heading", words)

    def _listed(self, heading: str, pairs: list[tuple[str, str]]) -> Iterator[str]:
        """Yield a heading and pairs in two columns."""
        if not pairs:
            return
        yield from self._heading(heading)
        left = [truncate(visible(name), LONGEST) for name, _ in pairs]
        room = max(map(len, left))
        for name, (_, words) in zip(left, pairs, strict=True):
            yield f"  {name:{room}}  {self._paint('faint', visible(words))}".rstrip()

    def _wrapped(self, words: str, indent: str) -> Iterator[str]:
        """Yield the lines of a sentence; URLs are not broken."""
        yield from textwrap.wrap(
            words,
            self._width,
            initial_indent=indent,
            subsequent_indent=indent * 2,
            break_long_words=False,
            break_on_hyphens=False,
        )

    # --- A given URL ------------------------------------------------------------------------------

    def _answer(self, answer: Trace) -> Iterator[str]:
        word, style = ("matches", "start") if answer.matches else ("no match", "warning")
        yield f"{self._paint(style, word)}  {truncate(visible(answer.url), LONGEST)}"
        if answer.reason:
            yield from self._wrapped(visible(answer.reason), "  ")
        path, steps = answer.path, answer.steps[:MOST_PARTS]
        if path.isascii() and path.isprintable() and len(path) + LONGEST_PART < self._width:
            yield f"  {path}"
            for step in steps:
                yield f"  {self._marks(step, len(path) + 1)}  {self._text(step)}".rstrip()
        else:
            yield f"  compared as {truncate(visible(path), LONGEST)}"
            for step in steps:
                where = format_range(step.start + 1, step.end, "octet")
                yield f"  {where if step.end > step.start else 'nothing':16}  {self._text(step)}"
        if rest := len(answer.steps) - len(steps):
            yield f"  … {rest:,} more; --json has all of them"

    def _marks(self, step: MatchedSpan, room: int) -> str:
        """Return a line that points at what a piece took; a star has its own sign."""
        sign = "~" if set(step.text) == {"*"} else "^"
        marks = "^" if step.text == "$" else sign * (step.end - step.start)
        rest = " " * (room - step.start - len(marks))
        return " " * step.start + self._paint("start", marks) + rest

    def _text(self, step: MatchedSpan) -> str:
        return truncate(visible(step.text), LONGEST_PART)
