"""
`robotrules pattern`: what a path pattern matches, in words, with URLs that show it.

A few lines over `analysis.words.describe` and `analysis.words.trace`: a sentence, the pieces, URLs
that match, near misses with the reason of each, and what is good to know. Of a URL that is given,
whether it matches and where each piece was found. It reads no file and fetches nothing.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator, Sequence

import click

from robotrules.analysis.describe import Description, MatchedSpan, Trace, describe, trace
from robotrules.cli.options import given_urls, json_option, profile_option
from robotrules.cli.streams import CliError, Output, say
from robotrules.cli.text import Paint, between, plural, shortened
from robotrules.octets import visible

# What a person reads of long things; JSON has all of it.
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
    help="Tell whether this URL matches, and where each piece of the pattern was found. Repeat it "
    "for several.",
)
@profile_option
@json_option("Print one JSON object for each pattern.")
def pattern(patterns: tuple[str, ...], urls: tuple[str, ...], profile: str, as_json: bool) -> int:
    """
    Say in words what a path pattern matches.

    A path pattern is the value of an Allow or Disallow rule. Shows what it asks for piece by piece,
    URLs that it matches, a shortest one first, near misses with the reason of each, and what people
    often get wrong. Every URL was checked. Put the pattern in quotes, for shells know '*' and '$'
    too. Without --url the exit code is 0; with it, 0 if all URLs match and 1 if one does not.

    \b
    Examples:
      robotrules pattern '/*/print$'
      robotrules pattern '/private' '/private/' '/private$'
      robotrules pattern '/*?sort=' --url 'https://example.com/shop?id=1&sort=price'
      robotrules pattern '/a b' --profile strict --json
    """
    if not patterns:
        raise CliError("no path pattern was given: pass one in quotes, such as '/*/print$'")
    _hint_at_files(patterns)
    octets = given_urls(urls, profile)
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
    """Say so if patterns look like what a shell made of a pattern without quotes."""
    if len(patterns) > 1 and all("*" not in name and os.path.lexists(name) for name in patterns):
        say(
            "all of these are files here: if the shell made them of a pattern with '*', put that "
            "in quotes",
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
        name = shortened(visible(found.pattern), LONGEST_NAME) or "(empty)"
        facts = f"{plural(found.octets, 'octet')}, profile {found.profile}"
        yield f"{self._paint('heading', name)}  {self._paint('faint', facts)}"
        yield ""
        yield from self._wrapped(visible(found.sentence), "")
        if self._traces:
            for answer in self._traces:
                yield ""
                yield from self._answer(answer)
        else:
            yield from self._listed("Pieces", self._parts())
            matches = [(url.url, "") for url in found.matches]
            if matches and found.shortest and len(matches) > 1:
                matches[0] = (matches[0][0], "none is shorter")
            yield from self._listed("Matches", matches)
            misses = [(miss.url, miss.reason) for miss in found.misses]
            yield from self._listed("Near misses", misses)
        if found.notes and (found.empty or not self._traces):
            yield from self._heading("Good to know")
            for note in found.notes:
                yield from self._wrapped(visible(note.message), "  ")

    def _parts(self) -> list[tuple[str, str]]:
        parts = self._description.parts
        shown = [(shortened(part.text, LONGEST_PART), part.asks) for part in parts[:MOST_PARTS]]
        return [*shown, ("…", "and so on")] if len(parts) > MOST_PARTS else shown

    def _heading(self, words: str) -> Iterator[str]:
        yield ""
        yield self._paint("heading", words)

    def _listed(self, heading: str, pairs: list[tuple[str, str]]) -> Iterator[str]:
        """Yield a heading and pairs in two columns."""
        if not pairs:
            return
        yield from self._heading(heading)
        left = [shortened(visible(name), LONGEST) for name, _ in pairs]
        room = max(map(len, left))
        for name, (_, words) in zip(left, pairs, strict=True):
            yield f"  {name:{room}}  {self._paint('faint', visible(words))}".rstrip()

    def _wrapped(self, words: str, indent: str) -> Iterator[str]:
        """Yield the lines of a sentence; URLs and pieces are not broken."""
        yield from textwrap.wrap(
            words,
            self._width,
            initial_indent=indent,
            subsequent_indent=indent * 2,
            break_long_words=False,
            break_on_hyphens=False,
        )

    # --- A URL that was asked about ---------------------------------------------------------------

    def _answer(self, answer: Trace) -> Iterator[str]:
        word, style = ("matches", "start") if answer.matches else ("no match", "warning")
        yield f"{self._paint(style, word)}  {shortened(visible(answer.url), LONGEST)}"
        if answer.reason:
            yield from self._wrapped(visible(answer.reason), "  ")
        path, steps = answer.path, answer.steps[:MOST_PARTS]
        if path.isascii() and path.isprintable() and len(path) + LONGEST_PART < self._width:
            yield f"  {path}"
            for step in steps:
                yield f"  {self._marks(step, len(path) + 1)}  {self._text(step)}".rstrip()
        else:
            yield f"  compared as {shortened(visible(path), LONGEST)}"
            for step in steps:
                where = between(step.start + 1, step.end, "octet")
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
        return shortened(visible(step.text), LONGEST_PART)
