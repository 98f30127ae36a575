"""
The matrix of several hosts as an SVG picture: a word and marks for each crawler and host.

Columns that do not fit on a picture are left out, which it says. The module does not evaluate
rules.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from robotrules.matrix.hosts import HostCell, HostGrid, HostMatrix
from robotrules.matrix.svg import MARGIN, MAX_ROWS, STYLE, draw_mark, draw_pill, draw_text
from robotrules.matrix.text import (
    FOOTNOTE,
    TITLE,
    describe_cell,
    footnotes,
    may_not_obey,
    to_markup,
    to_plain_text,
)

__all__ = ["hosts_picture"]

NAME = 240
PILL = 92
MARK = 26
LINE = 28
HEADINGS = 126
MAX_COLUMNS = 12
MAX_NAME_LENGTH = 32


def hosts_picture(matrix: HostMatrix, *, title: str | None = None, date: str | None = None) -> str:
    """Return the picture; *date* is shown if given."""
    return "\n".join(_Picture(matrix, title, date).lines()) + "\n"


class _Picture:
    """A matrix of hosts as lines of SVG."""

    def __init__(self, matrix: HostMatrix, title: str | None, date: str | None) -> None:
        self._matrix = matrix
        self._title, self._date = title, date
        grid = matrix.grid()
        self._grid = HostGrid(
            grid.hosts_in_lines,
            grid.columns[:MAX_COLUMNS],
            tuple(row._replace(cells=row.cells[:MAX_COLUMNS]) for row in grid.rows[:MAX_ROWS]),
        )
        self._more = (
            len(grid.columns) - len(self._grid.columns),
            len(grid.rows) - len(self._grid.rows),
        )
        self._column = PILL + MARK * len(matrix.paths) + 18
        wide = MARGIN + NAME + self._column * len(self._grid.columns) + 60
        self._width = max(wide + MARGIN, 760)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the picture."""
        body = list(self._body())
        height = self._height
        title = f"{TITLE}: {to_markup(self._title)}" if self._title else TITLE
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self._width}" height="{height}" '
            f'viewBox="0 0 {self._width} {height}" role="img" aria-labelledby="title what">'
        )
        yield f'<title id="title">{title}</title>'
        yield f'<desc id="what">{to_markup(self._matrix.headline, 500)} {FOOTNOTE}</desc>'
        yield f"<style>{STYLE.strip()}</style>"
        yield f'<rect class="paper" width="{self._width}" height="{height}" rx="14"/>'
        yield from body
        yield "</svg>"

    def _body(self) -> Iterator[str]:
        matrix, grid = self._matrix, self._grid
        words = f"What {matrix.count_hosts(len(matrix.hosts))} ask of crawlers"
        yield draw_text(MARGIN, 54, TITLE, 26, "ink", weight=700)
        subtitle = ", ".join(filter(None, [self._title, words, self._date]))
        yield draw_text(MARGIN, 80, to_plain_text(subtitle, 100), 14, "faint")
        y = 103
        room = (self._width - 2 * MARGIN) // 7
        paths = " ".join(to_plain_text(path, 40) for path in matrix.paths)
        about = f"The word is about all URLs, the marks about: {paths}"
        for line in [*textwrap.wrap(matrix.headline, room), *textwrap.wrap(about, room)]:
            yield draw_text(MARGIN, y, line, 14, "ink")
            y += 20
        y += HEADINGS
        for number, name in enumerate(grid.columns):
            x = MARGIN + NAME + self._column * number + 20
            yield (
                f'<text class="ink" font-size="12" font-weight="600" '
                f'transform="translate({x},{y - 8}) rotate(-38)">{to_markup(name, 26)}</text>'
            )
        y += 6
        for row in grid.rows:
            middle = y + LINE // 2
            dagger = "†" if row.crawler and may_not_obey(row.crawler) else ""
            name = to_plain_text(row.name, MAX_NAME_LENGTH)
            yield draw_text(MARGIN, middle + 5, name + dagger, 13, "ink", weight=600)
            for number, cell in enumerate(row.cells):
                yield from self._cell(MARGIN + NAME + self._column * number, middle, cell)
            y += LINE
        y += 26
        for sentence in self._foot():
            for line in textwrap.wrap(sentence, (self._width - 2 * MARGIN) // 6):
                yield draw_text(MARGIN, y, line, 12, "faint")
                y += 18
        self._height = y + 14

    def _cell(self, x: int, middle: int, cell: HostCell) -> Iterator[str]:
        row = cell.row
        if row is None:
            yield draw_text(x, middle + 4, "not known", 12, "faint")
            return
        yield draw_pill(x, middle, row.summary)
        for number, one in enumerate(row.cells):
            tooltip = f"{cell.host}: {describe_cell(row, one)}"
            left = x + PILL + 12 + MARK * number
            yield draw_mark(left, middle, "y" if one.allowed else "n", 20, tooltip)

    def _foot(self) -> Iterator[str]:
        yield FOOTNOTE
        for count, what in zip(self._more, ("column", "line"), strict=True):
            if count:
                noun, verb = (what, "is") if count == 1 else (f"{what}s", "are")
                yield f"{count:,} more {noun} {verb} not drawn."
        for host in self._matrix.hosts[:MAX_COLUMNS]:
            if host.problem:
                yield f"{to_plain_text(host.name, 80)}: {to_plain_text(host.problem, 200)}."
        first = next((host.matrix for host in self._matrix.hosts if host.matrix), None)
        if first:
            yield " ".join(footnotes(first)) + " Made by robotrules."
