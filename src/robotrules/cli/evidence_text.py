"""
Evidence as text: a page for a past verdict, and lines for a history.

Control characters of fetched content are escaped.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from robotrules.access import AccessState
from robotrules.cache import format_timestamp
from robotrules.cli.access_text import hop_lines
from robotrules.cli.console import Output
from robotrules.cli.text import Excerpt, Paint, cell_width, format_range, plural, truncate
from robotrules.client.historical_verdict import (
    HistoricalVerdict,
    Period,
    describe_provenance,
    format_time,
)
from robotrules.json_results.access import describe_response
from robotrules.octets import visible

if TYPE_CHECKING:
    from robotrules.cache import FetchRecord

LONGEST = 200
# On a terminal longer values move the following columns.
WIDEST = 50
# Digits of a SHA-256 on a terminal; JSON and pipes have all.
DIGITS = 12
FOUND = {
    AccessState.SUCCESS: ("file", "start"),
    AccessState.UNAVAILABLE: ("no file", "allowed"),
    AccessState.UNREACHABLE: ("unreachable", "disallowed"),
}


class HistoricalVerdictPage:
    """A past verdict as lines of text."""

    # Not a test, whatever its name begins with.
    __test__ = False

    def __init__(self, historical: HistoricalVerdict, output: Output) -> None:
        self._historical = historical
        self._paint: Paint = output.paint
        self._room = max(output.width - 10, 40)

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        historical, verdict = self._historical, self._historical.verdict
        word = "unknown" if verdict is None else "allowed" if verdict else "disallowed"
        style = "faint" if verdict is None else word
        yield f"{self._paint(style, word)}  {visible(historical.url)}"
        yield ""
        yield self._fact("At", format_time(historical.at))
        if verdict is not None:
            rule = verdict.rule
            words = verdict.reason.sentence if rule is None else f"line {rule.line}: {rule}"
            yield self._fact("Because", truncate(visible(words), LONGEST))
        purposes = "".join(f", purpose {visible(purpose)}" for purpose in historical.purposes)
        yield self._fact(
            "Crawler", f"{visible(historical.product_token)}{purposes}, profile {historical.access}"
        )
        if historical.fetch_record is not None:
            yield from self._fetch(historical.fetch_record)
        if historical.until is not None:
            yield self._fact("Valid", f"until {format_time(historical.until)}")
        yield from self._rule()
        if historical.notes:
            yield ""
            yield self._paint("heading", "Notes")
            for note in historical.notes:
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

    def _fetch(self, record: FetchRecord) -> Iterator[str]:
        """Yield the facts of the fetch in force."""
        agent = truncate(visible(record.user_agent), LONGEST)
        yield self._fact("Fetched", f"{format_time(record.at)} by {visible(record.agent)}")
        if agent and agent != record.agent:
            yield self._fact("", f"as {agent}")
        by = f", answered by {visible(record.address)}" if record.address else ""
        for line in hop_lines(record.hops):
            yield self._fact("", line)
        url = truncate(visible(record.url), LONGEST)
        yield self._fact("From", f"{url}{by}")
        given = record.provenance
        yield self._fact(
            "Source", "own fetch" if given is None else visible(describe_provenance(given))
        )
        renewed = ", unchanged since the previous fetch" if record.revalidated else ""
        yield self._fact("Answer", f"{describe_response(record)}{renewed}")
        if record.digest is not None:
            cut = "" if record.complete else ", truncated"
            yield self._fact("File", f"{plural(record.size, 'byte')}{cut}, SHA-256 {record.digest}")

    def _rule(self) -> Iterator[str]:
        """Yield the deciding line of the file."""
        historical = self._historical
        rule = None if historical.verdict is None else historical.verdict.rule
        if rule is None or historical.robots is None:
            return
        yield ""
        yield self._paint("heading", "Deciding rule")
        line = historical.robots.lines[rule.line - 1]
        columns = format_range(rule.column, rule.column + rule.end - rule.start - 1, "column")
        excerpt = Excerpt(line.text, rule.start - line.start, rule.end - line.start, self._room)
        style = "allowed" if rule.allow else "disallowed"
        words = f"{plural(rule.octets, 'byte')}, {columns}"
        yield from excerpt.lines(f"{rule.line:6}", words, self._paint, style)


class OriginSummary(NamedTuple):
    """The amount of evidence for an origin."""

    fetches: int
    first: float
    last: float = 0.0
    imported: int = 0
    """The number of imported fetches."""

    def with_fetch(self, record: FetchRecord) -> OriginSummary:
        """Return it with one more fetch, the latest."""
        imported = self.imported + (record.provenance is not None)
        return OriginSummary(self.fetches + 1, self.first, record.at, imported)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        times = {"first": format_timestamp(self.first), "last": format_timestamp(self.last)}
        return {"fetches": self.fetches, "imported": self.imported, **times}


def origin_lines(found: Mapping[str, OriginSummary], output: Output) -> Iterator[str]:
    """Yield a line for each origin: columns on a terminal, tabs in a pipe."""
    widest = max((cell_width(visible(origin)) for origin in found), default=0)
    for origin, known in found.items():
        name, records = visible(origin), plural(known.fetches, "fetch")
        imported = f"{known.imported:,} imported"
        row: tuple[str, ...] = (
            name,
            records,
            format_time(known.first),
            format_time(known.last),
            imported,
        )
        if output.terminal:
            row = row if known.imported else row[:-1]
            gap = " " * max(min(widest, WIDEST) - cell_width(name), 0)
            row = f"{name}{gap}", f"{records:12}", *row[2:]
        yield ("  " if output.terminal else "\t").join(row)


class PeriodLines:
    """A history as lines: columns on a terminal, tabs in a pipe."""

    def __init__(self, periods: Sequence[Period], output: Output) -> None:
        self._periods = periods
        self._output = output

    def lines(self) -> Iterator[str]:
        """Yield a line for each period."""
        rows = [self._row(period) for period in self._periods]
        if not self._output.terminal:
            yield from ("\t".join(row) for row in rows)
            return
        widths = [max(map(cell_width, column)) for column in zip(*rows, strict=True)]
        for row, period in zip(rows, self._periods, strict=True):
            gaps = [
                " " * (width - cell_width(text)) for text, width in zip(row, widths, strict=True)
            ]
            padded = [text + gap for text, gap in zip(row, gaps, strict=True)]
            style = FOUND[period.last.state][1]
            padded[3] = self._output.paint(style, padded[3])
            yield "  ".join(padded).rstrip()

    def _row(self, period: Period) -> tuple[str, ...]:
        first, last = period.first, period.last
        if last.digest is None:
            found, size = truncate(describe_response(last), LONGEST), ""
        else:
            found = last.digest[:DIGITS] if self._output.terminal else last.digest
            size = plural(last.size, "byte")
        records = plural(period.fetches, "fetch")
        word = FOUND[last.state][0]
        given = first.provenance
        source = "own" if given is None else f"import {given.digest[:DIGITS]}"
        if given is not None and given.archive:
            source += f" {visible(given.archive)}"
        agent = visible(first.agent)
        return (
            format_time(first.at),
            format_time(last.at),
            records,
            word,
            agent,
            found,
            size,
            source,
        )
