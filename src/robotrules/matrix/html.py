"""
The matrix as one HTML page that needs nothing else: no file, no script, no font, no network.

A real table with headings for readers of all kinds: what colour says is said by a shape and by text
too. It follows the reader's wish for light or dark, folds on a small screen, and prints. What comes
from a robots.txt is escaped, and a policy in the page keeps even a mistake there from doing
anything. It does not know what a verdict is.
"""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.matrix.html_style import STYLE, SYMBOLS
from robotrules.matrix.values import (
    NOT_DECIDED,
    OTHERS,
    SUMMARIES,
    Cell,
    Matrix,
    MatrixRow,
    PurposeBand,
)
from robotrules.matrix.words import (
    BADGES,
    FOOTNOTE,
    LEGEND,
    TITLE,
    about,
    badges,
    badges_of,
    cell_words,
    counted,
    group_words,
    headline,
    markup,
    may_not_obey,
    notes,
)

_CLASSES = {summary: summary.replace(" ", "-") for summary in SUMMARIES}


def page(matrix: Matrix, *, date: str | None = None) -> str:
    """Return the page; *date* is shown if somebody passes one, for the matrix knows no clock."""
    return "\n".join(_Page(matrix, date).lines()) + "\n"


class _Page:
    """A matrix as lines of HTML."""

    def __init__(self, matrix: Matrix, date: str | None) -> None:
        self._matrix = matrix
        self._date = date

    def lines(self) -> Iterator[str]:
        """Yield the lines of the page."""
        whose = self._matrix.url
        title = f"{TITLE}: {markup(whose)}" if whose else TITLE
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
        name = f"<strong>{markup(matrix.url)}</strong>" if matrix.url else "a robots.txt"
        day = f", {markup(self._date)}" if self._date else ""
        yield f'<p class="whose">What {name} asks of crawlers{day}</p>'
        yield f'<p class="headline">{markup(headline(matrix))}</p>'
        yield '<ul class="counts">'
        for band in matrix.bands:
            if band.name != OTHERS:  # who knows how many they are
                yield self._count(band)
        yield "</ul>"
        yield '<ul class="legend" aria-label="Legend">'
        yield f"<li>{_mark('yes')} allowed</li>"
        yield f"<li>{_mark('no')} disallowed</li>"
        undecided = bool(matrix.counts[NOT_DECIDED])
        for summary, words in LEGEND.items():
            if summary != NOT_DECIDED or undecided:
                yield f"<li>{_pill(summary)} {words}</li>"
        for badge, words in badges_of(matrix).items():
            yield f"<li>{_badge(badge)} {words}</li>"
        yield "</ul>"
        yield "</header>"

    def _count(self, band: PurposeBand) -> str:
        total = len(band.rows)
        parts = [
            f'<i class="{_CLASSES[summary]}" style="flex:{count}"></i>'
            for summary, count in band.counts.items()
            if count
        ]
        words = markup(counted(band.counts))
        return (
            f'<li title="{markup(band.title)}: {words}"><b>{markup(band.title)}</b>'
            f'<span class="bar" aria-hidden="true">{"".join(parts)}</span>'
            f'<small>{total}<span class="unseen"> asked: {words}</span></small></li>'
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
            path = markup(column.path, 40)
            # A lone slash that lies on its side would look like a backslash.
            look = "path short" if len(column.path) < 3 else "path"
            yield f'<th scope="col" class="{look}" title="{markup(why)}"><span>{path}</span></th>'
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
            f"<span>{markup(band.title)}</span> <small>{markup(band.sentence)}</small></th></tr>"
        )
        for asked in band.rows:
            yield self._asked(asked)
        yield "</tbody>"

    def _asked(self, asked: MatrixRow) -> str:
        known = asked.known
        name = markup(asked.name, 60)
        if may_not_obey(asked):
            name += '<sup aria-label="may not obey">†</sup>'
        beside = f"<small>{markup(known.operator)}</small>" if known else ""
        beside += "".join(map(_badge, badges(asked)))
        cells = "".join(self._cell(asked, cell) for cell in asked.cells)
        lines = f" <small>{asked.lines[0]}</small>" if asked.lines else ""
        every = markup(SUMMARIES[asked.summary])
        return (
            f'<tr><th scope="row" class="who" title="{markup(about(asked), 400)}">'
            f"<span>{name}</span>{beside}</th>"
            f'<td class="all" title="{every}">{_pill(asked.summary)}</td>'
            f"{cells}"
            f'<td class="group" title="{markup(asked.group)}">{markup(group_words(asked), 30)}'
            f"{lines}</td></tr>"
        )

    def _cell(self, asked: MatrixRow, cell: Cell) -> str:
        word, look = ("allowed", "yes") if cell.allowed else ("disallowed", "no")
        title = markup(cell_words(asked, cell), 300)
        return f'<td title="{title}">{_mark(look)}<span class="unseen">{word}</span></td>'

    def _footer(self) -> Iterator[str]:
        yield "<footer>"
        yield f"<p><strong>{FOOTNOTE}</strong></p>"
        yield f"<p>{' '.join(map(markup, notes(self._matrix)))}</p>"
        yield (
            "<p>Each mark is the verdict on that very path, and has its reason under the pointer; "
            "<em>All URLs</em> is about every URL there is. Made by robotrules.</p>"
        )
        yield "</footer>"


def _mark(look: str) -> str:
    return f'<svg class="mark {look}" aria-hidden="true"><use href="#{look}"/></svg>'


def _badge(badge: str) -> str:
    return f'<em class="badge" title="{BADGES[badge]}">{badge}</em>'


def _pill(summary: str) -> str:
    return f'<span class="pill {_CLASSES[summary]}">{summary}</span>'
