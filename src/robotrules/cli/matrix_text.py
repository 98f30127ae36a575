"""
A matrix as text on a screen: bands of crawlers, a mark for each path, and what the marks mean.

Marks stand below paths where there is room, and below letters with a key where there is none. A
pipe has no width: it gets what fits on most screens, and no path is cut. Where the encoding has no
marks there are words. What a stranger wrote has no control characters left. It does not know what a
verdict is.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from string import ascii_lowercase

from robotrules.cli.streams import Output
from robotrules.cli.text import Paint, cells, shortened
from robotrules.matrix.text import FOOTNOTE, TITLE, footnotes, group_label, headline, may_not_obey
from robotrules.matrix.values import Cell, Matrix, MatrixRow, PurposeBand
from robotrules.octets import visible

# How wide names and headings may be; what is longer is cut.
LONGEST_NAME = 30
LONGEST_PATH = 16
SUMMARY = len("not decided")
GAP = "  "
MARKS = {True: "✓", False: "✗"}
DAGGER = "†"
WORDS = {True: "allowed", False: "disallowed"}
# A pipe has no width, and what is pasted from one is read in so many columns.
WIDTH = 100
_STYLES = {"everything": "allowed", "nothing": "disallowed", "some": "warning"}


class MatrixPage:
    """A matrix as lines of text."""

    def __init__(self, matrix: Matrix, output: Output) -> None:
        self._matrix = matrix
        self._paint: Paint = output.paint
        self._terminal = output.terminal
        self._room = output.width if output.terminal else WIDTH
        self._marks = _marks()
        self._in_words = self._marks != MARKS
        self._dagger = "+" if self._in_words else DAGGER
        names = [cells(self._named(asked)) for asked in matrix.rows]
        self._name = min(max([*names, 7]), LONGEST_NAME)
        self._group = max(cells(_group(asked)) for asked in matrix.rows)
        self._headings, self._gap = self._chosen_headings()

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        whose = f": {visible(self._matrix.url)}" if self._matrix.url else ""
        yield self._paint("heading", shortened(f"{TITLE}{whose}", max(self._room, 40)))
        yield headline(self._matrix)
        yield ""
        yield from self._key()
        yield self._heading()
        for band in self._matrix.bands:
            yield from self._band(band)
        yield ""
        yield from self._notes()

    # --- Headings ---------------------------------------------------------------------------------

    def _chosen_headings(self) -> tuple[list[str], str]:
        """Return what stands above the marks, paths or letters, and what parts the columns."""
        paths = [visible(column.path) for column in self._matrix.columns]
        short = [shortened(path, LONGEST_PATH) if self._terminal else path for path in paths]
        letters = [_letter(at) for at in range(len(paths))]
        if self._taken(short, GAP) <= self._room:
            return short, GAP
        gap = GAP if self._taken(letters, GAP) <= self._room else " "
        if self._taken(letters, gap) > self._room:
            self._group = 0  # what a screen has no room for, JSON has
        return letters, gap

    def _taken(self, headings: list[str], gap: str) -> int:
        """Return how wide lines are with these headings."""
        columns = sum(self._wide(heading) + len(gap) for heading in headings)
        return len(GAP) + self._name + len(GAP) + SUMMARY + columns + len(GAP) + self._group

    def _key(self) -> Iterator[str]:
        if not self._headings or self._headings[0] != "a":
            return
        for letter, column in zip(self._headings, self._matrix.columns, strict=True):
            path = visible(column.path)
            if self._terminal:
                path = shortened(path, max(self._room - 6, 10))
            yield f"{GAP}{self._paint('start', letter)}{GAP}{path}"
        yield ""

    def _heading(self) -> str:
        names = [_padded(heading, self._wide(heading)) for heading in self._headings]
        summary = _padded("all URLs", SUMMARY)
        name = _padded("crawler", self._name)
        return self._paint("faint", self._joined(name, summary, names, "group"))

    def _joined(self, name: str, summary: str, marks: list[str], group: str) -> str:
        """Return a line of the table."""
        line = f"{GAP}{name}{GAP}{summary}{self._gap}{self._gap.join(marks)}"
        return f"{line}{GAP}{group}".rstrip() if self._group else line.rstrip()

    def _wide(self, heading: str) -> int:
        """Return how wide a column is."""
        return max(map(cells, (heading, *self._marks.values())))

    # --- Lines ------------------------------------------------------------------------------------

    def _band(self, band: PurposeBand) -> Iterator[str]:
        yield self._paint("heading", band.title)
        for asked in band.rows:
            name = _padded(shortened(self._named(asked), LONGEST_NAME), self._name)
            style = _STYLES.get(asked.summary, "faint")
            summary = self._paint(style, _padded(asked.summary, SUMMARY))
            marks = [self._cell(at, cell) for at, cell in enumerate(asked.cells)]
            yield self._joined(name, summary, marks, self._paint("faint", _group(asked)))

    def _named(self, asked: MatrixRow) -> str:
        return visible(asked.name) + (f" {self._dagger}" if may_not_obey(asked) else "")

    def _cell(self, at: int, cell: Cell) -> str:
        wide = self._wide(self._headings[at])
        return self._paint(WORDS[cell.allowed], _padded(self._marks[cell.allowed], wide))

    def _notes(self) -> Iterator[str]:
        marks = ((WORDS[yes], mark) for yes, mark in self._marks.items())
        colon = ":" if self._in_words else ""
        told = [f"{self._paint(word, mark)}{colon} {word}" for word, mark in marks]
        yield GAP.join(told)
        for words in (*footnotes(self._matrix), FOOTNOTE):
            words = words.replace(DAGGER, self._dagger)
            for line in textwrap.wrap(words, min(self._room, 100)):
                yield self._paint("faint", line)


def _group(asked: MatrixRow) -> str:
    line = f" line {asked.lines[0]}" if asked.lines else ""
    return shortened(visible(group_label(asked)), LONGEST_NAME) + line


def _letter(at: int) -> str:
    """Return a, b … z, aa, ab …"""
    first, last = divmod(at, len(ascii_lowercase))
    return (ascii_lowercase[first - 1] if first else "") + ascii_lowercase[last]


def _padded(text: str, wide: int) -> str:
    return text + " " * max(wide - cells(text), 0)


def _marks() -> dict[bool, str]:
    """Return a tick and a cross, or words where the encoding has neither."""
    try:
        "".join((*MARKS.values(), DAGGER)).encode(sys.stdout.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return {True: "yes", False: "no"}
    return MARKS
