"""
The matrix as a self-contained HTML page: no other file, no script, no font, no network.

A real table with headings, for screen readers too: a shape and a text repeat what a colour shows.
The page follows the reader's preference for light or dark, adapts to small screens, and prints.
Text of a robots.txt is escaped, and a content security policy limits the effect of a mistake. The
module does not evaluate rules.
"""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.matrix.html_style import STYLE, SYMBOLS
from robotrules.matrix.text import (
    BADGES,
    FOOTNOTE,
    LEGEND,
    TITLE,
    badges,
    describe_cell,
    describe_crawler,
    footnotes,
    format_counts,
    group_label,
    headline,
    may_not_obey,
    to_markup,
    used_badges,
)
from robotrules.matrix.values import (
    NOT_DECIDED,
    OTHERS,
    SUMMARIES,
    Cell,
    Matrix,
    MatrixRow,
    PurposeBand,
)

_CLASSES = {summary: summary.replace(" ", "-") for summary in SUMMARIES}


def page(matrix: Matrix, *, date: str | None = None) -> str:
    """Return the page; *date* is shown if given, because the matrix uses no clock."""
    return "\n".join(_Page(matrix, date).lines()) + "\n"


class _Page:
    """A matrix as lines of HTML."""

    def __init__(self, matrix: Matrix, date: str | None) -> None:
        self._matrix = matrix
        self._date = date

    def lines(self) -> Iterator[str]:
        """Yield the lines of the page."""
        whose = self._matrix.url
        title = f"{TITLE}: {to_markup(whose)}" if whose else TITLE
        yield "<!DOCTYPE html>"
        yield '<html lang="en">'
        yield "<head>"
        yield '<meta charset="utf-8">'
        yield (
            '<meta http-equiv="Content-Security-Policy" '
            "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        )
        yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
        yield '<meta name="color-scheme" content="light dark">'
        yield f"<title>{title}</title>"
        yield f"<style>\n{STYLE.strip()}\n</style>"
        yield "</head>"
        yield "<body>"
        yield SYMBOLS.strip()
        yield "<main>"
        yield from self._header()
        yield from self._table()
        yield from self._footer()
        yield "</main>"
        yield "</body>"
        yield "</html>"

    def _header(self) -> Iterator[str]:
        matrix = self._matrix
        yield "<header>"
        yield f"<h1>{TITLE}</h1>"
        name = f"<strong>{to_markup(matrix.url)}</strong>" if matrix.url else "a robots.txt"
        day = f", {to_markup(self._date)}" if self._date else ""
        yield f'<p class="whose">What {name} asks of crawlers{day}</p>'
        yield f'<p class="headline">{to_markup(headline(matrix))}</p>'
        yield '<ul class="counts">'
        for band in matrix.bands:
            if band.name != OTHERS:  # their number is unknown
                yield self._count(band)
        yield "</ul>"
        yield '<ul class="legend" aria-label="Legend">'
        yield f"<li>{_mark('yes')} allowed</li>"
        yield f"<li>{_mark('no')} disallowed</li>"
        undecided = bool(matrix.counts[NOT_DECIDED])
        for summary, words in LEGEND.items():
            if summary != NOT_DECIDED or undecided:
                yield f"<li>{_pill(summary)} {words}</li>"
        for badge, meaning in used_badges(matrix).items():
            yield f"<li>{_badge(badge)} {meaning}</li>"
        yield "</ul>"
        yield "</header>"

    def _count(self, band: PurposeBand) -> str:
        total = len(band.rows)
        parts = [
            f'<i class="{_CLASSES[summary]}" style="flex:{count}"></i>'
            for summary, count in band.counts.items()
            if count
        ]
        text = to_markup(format_counts(band.counts))
        return (
            f'<li title="{to_markup(band.title)}: {text}"><b>{to_markup(band.title)}</b>'
            f'<span class="bar" aria-hidden="true">{"".join(parts)}</span>'
            f'<small>{total}<span class="unseen"> crawlers: {text}</span></small></li>'
        )

    # --- The table --------------------------------------------------------------------------------

    def _table(self) -> Iterator[str]:
        columns = self._matrix.columns
        yield '<div class="scroll" tabindex="0" role="region" aria-label="The matrix">'
        yield "<table>"
        yield '<caption class="unseen">Crawlers by purpose against paths of the site</caption>'
        yield "<thead><tr>"
        yield '<th scope="col" class="who">Crawler</th>'
        yield '<th scope="col" class="all">All URLs</th>'
        for column in columns:
            why = (
                f"{column.path}, for the rule of line {column.line}" if column.line else column.path
            )
            path = to_markup(column.path, 40)
            # A single rotated slash would look like a backslash.
            look = "path short" if len(column.path) < 3 else "path"
            title = to_markup(why)
            yield f'<th scope="col" class="{look}" title="{title}"><span>{path}</span></th>'
        yield '<th scope="col" class="group">Group</th>'
        yield "</tr></thead>"
        for number, band in enumerate(self._matrix.bands):
            yield from self._band(number, band)
        yield "</table>"
        yield "</div>"

    def _band(self, number: int, band: PurposeBand) -> Iterator[str]:
        span = len(self._matrix.columns) + 3
        yield "<tbody>"
        yield (
            f'<tr class="band"><th scope="rowgroup" colspan="{span}" id="band-{number}">'
            f"<span>{to_markup(band.title)}</span> "
            f"<small>{to_markup(band.sentence)}</small></th></tr>"
        )
        for row in band.rows:
            yield self._row(row)
        yield "</tbody>"

    def _row(self, row: MatrixRow) -> str:
        known = row.known
        name = to_markup(row.name, 60)
        if may_not_obey(row):
            name += '<sup aria-label="may not obey">†</sup>'
        suffix = f"<small>{to_markup(known.operator)}</small>" if known else ""
        suffix += "".join(map(_badge, badges(row)))
        cells = "".join(self._cell(row, cell) for cell in row.cells)
        lines = f" <small>{row.lines[0]}</small>" if row.lines else ""
        summary = to_markup(SUMMARIES[row.summary])
        return (
            f'<tr><th scope="row" class="who" title="{to_markup(describe_crawler(row), 400)}">'
            f"<span>{name}</span>{suffix}</th>"
            f'<td class="all" title="{summary}">{_pill(row.summary)}</td>'
            f"{cells}"
            f'<td class="group" title="{to_markup(row.group)}">{to_markup(group_label(row), 30)}'
            f"{lines}</td></tr>"
        )

    def _cell(self, row: MatrixRow, cell: Cell) -> str:
        word, look = ("allowed", "yes") if cell.allowed else ("disallowed", "no")
        title = to_markup(describe_cell(row, cell), 300)
        return f'<td title="{title}">{_mark(look)}<span class="unseen">{word}</span></td>'

    def _footer(self) -> Iterator[str]:
        yield "<footer>"
        yield f"<p><strong>{FOOTNOTE}</strong></p>"
        yield f"<p>{' '.join(map(to_markup, footnotes(self._matrix)))}</p>"
        yield (
            "<p>Each mark is the verdict on exactly that path; point at it to see the reason. "
            "<em>All URLs</em> is about every URL of the site. Made by robotrules.</p>"
        )
        yield "</footer>"


def _mark(look: str) -> str:
    return f'<svg class="mark {look}" aria-hidden="true"><use href="#{look}"/></svg>'


def _badge(badge: str) -> str:
    return f'<em class="badge" title="{BADGES[badge]}">{badge}</em>'


def _pill(summary: str) -> str:
    return f'<span class="pill {_CLASSES[summary]}">{summary}</span>'
