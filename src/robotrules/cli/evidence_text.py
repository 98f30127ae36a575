"""
Evidence as text: a page for one moment, and lines for a history.

It puts a testimony into words, and makes every control character of what a stranger wrote a plain
one. It decides nothing, and reads no store.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from robotrules.access import AccessState
from robotrules.cache import format_timestamp
from robotrules.cli.access_text import answer_words, hop_lines
from robotrules.cli.streams import Output
from robotrules.cli.text import Excerpt, Paint, between, cells, plural, shortened
from robotrules.client.historical_verdict import (
    HistoricalVerdict,
    Period,
    describe_provenance,
    format_time,
)
from robotrules.octets import visible

if TYPE_CHECKING:
    from robotrules.cache import FetchRecord

LONGEST = 200
# On a terminal what is longer than this moves the columns after it.
WIDEST = 50
# Digits of a SHA-256 that a person compares; JSON and pipes have all.
DIGITS = 12
FOUND = {
    AccessState.SUCCESS: ("file", "start"),
    AccessState.UNAVAILABLE: ("no file", "allowed"),
    AccessState.UNREACHABLE: ("unreachable", "disallowed"),
}


class TestimonyPage:
    """A testimony as lines of text."""

    # Not a test, whatever its name begins with.
    __test__ = False

    def __init__(self, testimony: HistoricalVerdict, output: Output) -> None:
        self._said = testimony
        self._paint: Paint = output.paint
        self._room = max(output.width - 10, 40)

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        said, verdict = self._said, self._said.verdict
        word = "unknown" if verdict is None else "allowed" if verdict else "disallowed"
        yield f"{self._paint('faint' if verdict is None else word, word)}  {visible(said.url)}"
        yield ""
        yield self._fact("At", format_time(said.at))
        if verdict is not None:
            rule = verdict.rule
            words = verdict.reason.sentence if rule is None else f"line {rule.line}: {rule}"
            yield self._fact("Because", shortened(visible(words), LONGEST))
        purposes = "".join(f", purpose {visible(purpose)}" for purpose in said.purposes)
        yield self._fact(
            "Crawler", f"{visible(said.product_token)}{purposes}, profile {said.access}"
        )
        if said.fetch_record is not None:
            yield from self._visit(said.fetch_record)
        if said.until is not None:
            yield self._fact("Held", f"until {format_time(said.until)}")
        yield from self._rule()
        if said.notes:
            yield ""
            yield self._paint("heading", "Notes")
            for note in said.notes:
                style = self._paint(note.level, note.level)
                yield from textwrap.wrap(
                    f"{style} {note.code}: {visible(note.message)}",
                    self._room + 8,
                    initial_indent="  ",
                    subsequent_indent="    ",
                    break_long_words=False,
                    break_on_hyphens=False,
                )

    def _fact(self, name: str, words: str) -> str:
        return f"{self._paint('heading', name)}{' ' * (10 - len(name))}{words}"

    def _visit(self, visit: FetchRecord) -> Iterator[str]:
        """Yield the facts of the visit in force."""
        agent = shortened(visible(visit.user_agent), LONGEST)
        yield self._fact("Asked", f"{format_time(visit.at)} by {visible(visit.agent)}")
        if agent and agent != visit.agent:
            yield self._fact("", f"as {agent}")
        by = f", answered by {visible(visit.address)}" if visit.address else ""
        for line in hop_lines(visit.hops):
            yield self._fact("", line)
        url = shortened(visible(visit.url), LONGEST)
        yield self._fact("From", f"{url}{by}")
        given = visit.provenance
        yield self._fact(
            "Source", "own fetch" if given is None else visible(describe_provenance(given))
        )
        renewed = ", unchanged since the visit before" if visit.revalidated else ""
        yield self._fact("Answer", f"{answer_words(visit)}{renewed}")
        if visit.digest is not None:
            cut = "" if visit.complete else ", cut at the limit"
            yield self._fact("File", f"{plural(visit.size, 'octet')}{cut}, SHA-256 {visit.digest}")

    def _rule(self) -> Iterator[str]:
        """Yield the line of the file that decides, and where it stands."""
        said = self._said
        rule = None if said.verdict is None else said.verdict.rule
        if rule is None or said.robots is None:
            return
        yield ""
        yield self._paint("heading", "The rule that decides")
        line = said.robots.lines[rule.line - 1]
        columns = between(rule.column, rule.column + rule.end - rule.start - 1, "column")
        excerpt = Excerpt(line.text, rule.start - line.start, rule.end - line.start, self._room)
        style = "allowed" if rule.allow else "disallowed"
        words = f"{plural(rule.octets, 'octet')}, {columns}"
        yield from excerpt.lines(f"{rule.line:6}", words, self._paint, style)


class OriginSummary(NamedTuple):
    """How much is known of an origin."""

    visits: int
    first: float
    last: float = 0.0
    imported: int = 0
    """How many of the visits were imported."""

    def with_visit(self, visit: FetchRecord) -> OriginSummary:
        """Return it with one more visit, the latest."""
        imported = self.imported + (visit.provenance is not None)
        return OriginSummary(self.visits + 1, self.first, visit.at, imported)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        times = {"first": format_timestamp(self.first), "last": format_timestamp(self.last)}
        return {"fetches": self.visits, "imported": self.imported, **times}


def origin_lines(found: Mapping[str, OriginSummary], output: Output) -> Iterator[str]:
    """Yield a line for each origin: columns for a person, tabs for a program."""
    widest = max((cells(visible(origin)) for origin in found), default=0)
    for origin, known in found.items():
        name, visits = visible(origin), plural(known.visits, "visit")
        imported = f"{known.imported:,} imported"
        row: tuple[str, ...] = (
            name,
            visits,
            format_time(known.first),
            format_time(known.last),
            imported,
        )
        if output.terminal:
            row = row if known.imported else row[:-1]
            gap = " " * max(min(widest, WIDEST) - cells(name), 0)
            row = f"{name}{gap}", f"{visits:12}", *row[2:]
        yield ("  " if output.terminal else "\t").join(row)


class PeriodLines:
    """A history as lines: columns for a person, tabs for a program."""

    def __init__(self, periods: Sequence[Period], output: Output) -> None:
        self._periods = periods
        self._output = output

    def lines(self) -> Iterator[str]:
        """Yield a line for each period."""
        rows = [self._row(period) for period in self._periods]
        if not self._output.terminal:
            yield from ("\t".join(row) for row in rows)
            return
        widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
        for row, period in zip(rows, self._periods, strict=True):
            gaps = [" " * (width - cells(text)) for text, width in zip(row, widths, strict=True)]
            padded = [text + gap for text, gap in zip(row, gaps, strict=True)]
            style = FOUND[period.last.state][1]
            padded[3] = self._output.paint(style, padded[3])
            yield "  ".join(padded).rstrip()

    def _row(self, period: Period) -> tuple[str, ...]:
        first, last = period.first, period.last
        if last.digest is None:
            found, size = shortened(answer_words(last), LONGEST), ""
        else:
            found = last.digest[:DIGITS] if self._output.terminal else last.digest
            size = plural(last.size, "octet")
        visits = plural(period.fetches, "visit")
        word = FOUND[last.state][0]
        given = first.provenance
        source = "own" if given is None else f"import {given.digest[:DIGITS]}"
        if given is not None and given.archive:
            source += f" {visible(given.archive)}"
        agent = visible(first.agent)
        return format_time(first.at), format_time(last.at), visits, word, agent, found, size, source
