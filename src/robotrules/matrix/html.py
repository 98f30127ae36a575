"""
The matrix as a self-contained HTML page: no other file, no script, no font, no network.

A real table with headings, for screen readers too: a shape and a text repeat what a colour shows.
Each mark has the number of the line that decides, and the lines are listed below the table, so that
reasons are visible without a pointer and on paper. The module does not evaluate rules. Reports use
its parts in pages of their own.

Sections: the page · the table · reasons.
"""

from __future__ import annotations

from collections.abc import Iterable

from robotrules.html_document import Html, document, element, fragment, text
from robotrules.html_document.tables import TableColumn, table
from robotrules.matrix.html_style import STYLE, SYMBOLS
from robotrules.matrix.text import (
    BADGES,
    FOOTNOTE,
    LEGEND,
    MAX_LENGTH,
    TITLE,
    badges,
    describe_cell,
    describe_crawler,
    footnotes,
    format_counts,
    group_label,
    headline,
    may_not_obey,
    to_plain_text,
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

__all__ = ["SYMBOLS", "legend", "mark", "matrix_table", "page", "reasons", "summary_pill"]

_END = Html("\n")
_CLASSES = {summary: summary.replace(" ", "-") for summary in SUMMARIES}
# Deciding lines that are listed. A matrix has at most ten columns by default, and a hundred.
MAX_REASONS = 200


# --- The page -------------------------------------------------------------------------------------


def page(matrix: Matrix, *, date: str | None = None) -> str:
    """Return the page; *date* is shown if given, because the matrix uses no clock."""
    whose = matrix.url
    name = element("strong", text(whose, MAX_LENGTH)) if whose else "a robots.txt"
    return document(
        f"{TITLE}: {to_plain_text(whose)}" if whose else TITLE,
        element(
            "ul", [_count(band) for band in matrix.bands if band.name != OTHERS], class_="counts"
        )
        if any(band.name != OTHERS for band in matrix.bands)
        else None,
        legend(matrix),
        matrix_table(matrix),
        reasons(matrix),
        heading=TITLE,
        subtitle=fragment("What ", name, " asks of crawlers", f", {date}" if date else None),
        headline=headline(matrix),
        footer=footer(matrix),
        style=STYLE,
        before=SYMBOLS,
    )


def footer(matrix: Matrix) -> Html:
    """Return what a reader of a matrix has to know."""
    return fragment(
        element("p", element("strong", FOOTNOTE)),
        element("p", " ".join(footnotes(matrix))),
        element(
            "p",
            "Each mark is the verdict on exactly that path. ",
            element("em", "All URLs"),
            " is about every URL of the site.",
        ),
    )


def _count(band: PurposeBand) -> Html:
    words = format_counts(band.counts)
    parts = [
        element("i", class_=_CLASSES[summary], style=f"flex:{count}")
        for summary, count in band.counts.items()
        if count
    ]
    return element(
        "li",
        element("b", band.title),
        element("span", parts, class_="bar", aria_hidden="true"),
        element("small", len(band.rows), element("span", f" crawlers: {words}", class_="unseen")),
        title=f"{band.title}: {words}",
    )


def legend(matrix: Matrix) -> Html:
    """Return the meaning of the marks and words of a matrix."""
    undecided = bool(matrix.counts[NOT_DECIDED])
    return element(
        "ul",
        element("li", mark(True), " allowed"),
        element("li", mark(False), " disallowed"),
        [
            element("li", summary_pill(summary), f" {words}")
            for summary, words in LEGEND.items()
            if summary != NOT_DECIDED or undecided
        ],
        [
            element("li", _badge(badge), f" {meaning}")
            for badge, meaning in used_badges(matrix).items()
        ],
        class_="legend",
        aria_label="Legend",
    )


# --- The table ------------------------------------------------------------------------------------


def matrix_table(matrix: Matrix, label: str = "The matrix") -> Html:
    """Return the table in a box that scrolls; *label* is its name for screen readers."""
    heads = [
        element("th", "Crawler", scope="col", class_="who"),
        element("th", "All URLs", scope="col", class_="all"),
        *(_column_heading(column.path, column.line) for column in matrix.columns),
        element("th", "Group", scope="col", class_="group"),
    ]
    return element(
        "div",
        element(
            "table",
            element("caption", "Crawlers by purpose against paths of the site", class_="unseen"),
            _END,
            element("thead", element("tr", heads)),
            _END,
            [_band(band, len(heads)) for band in matrix.bands],
        ),
        class_="scroll matrix",
        tabindex=0,
        role="region",
        aria_label=label,
    )


def _column_heading(path: str, line: int | None) -> Html:
    # A single rotated slash would look like a backslash.
    look = "path short" if len(path) < 3 else "path"
    why = f"{to_plain_text(path)}, for the rule of line {line}" if line else to_plain_text(path)
    return element("th", element("span", text(path, 40)), scope="col", class_=look, title=why)


def _band(band: PurposeBand, span: int) -> Html:
    heading = element(
        "th",
        element("span", band.title),
        " ",
        element("small", band.sentence),
        scope="rowgroup",
        colspan=span,
    )
    lines = [fragment(_row(row), _END) for row in band.rows]
    return fragment(element("tbody", element("tr", heading, class_="band"), _END, lines), _END)


def _row(row: MatrixRow) -> Html:
    known = row.known
    return element(
        "tr",
        element(
            "th",
            element(
                "span",
                text(row.name, 60),
                # An `aria-label` is not read where the element has no role.
                element("sup", "†", element("span", "may not obey", class_="unseen"))
                if may_not_obey(row)
                else None,
            ),
            element("small", known.operator) if known else None,
            [_badge(badge) for badge in badges(row)],
            scope="row",
            class_="who",
            title=to_plain_text(describe_crawler(row), 400),
        ),
        element("td", summary_pill(row.summary), class_="all", title=SUMMARIES[row.summary]),
        [_cell(row, cell) for cell in row.cells],
        element(
            "td",
            text(group_label(row), 30),
            [" ", element("small", str(row.lines[0]))] if row.lines else None,
            class_="group",
            title=to_plain_text(row.group),
        ),
    )


def _cell(row: MatrixRow, cell: Cell) -> Html:
    line = cell.verdict.line
    word = "allowed" if cell.allowed else "disallowed"
    return element(
        "td",
        mark(cell.allowed),
        element("span", f"{word}, line " if line else word, class_="unseen"),
        element("small", str(line)) if line else None,
        title=to_plain_text(describe_cell(row, cell), 300),
    )


def mark(allowed: bool) -> Html:
    """Return a tick or a cross; a page that has one includes `SYMBOLS`."""
    look = "yes" if allowed else "no"
    return element(
        "svg", element("use", href=f"#{look}"), class_=f"mark {look}", aria_hidden="true"
    )


def summary_pill(summary: str) -> Html:
    """Return a summary, such as `nothing`, with its colour."""
    return element("span", summary, class_=f"pill {_CLASSES[summary]}")


def _badge(badge: str) -> Html:
    return element("em", badge, class_="badge", title=BADGES[badge])


# --- Reasons --------------------------------------------------------------------------------------


def reasons(matrix: Matrix, where: str = "") -> Html:
    """Return the rules whose line numbers are beside the marks; *where* ends the table's name."""
    found: dict[int, tuple[str, dict[str, None]]] = {}
    for row in matrix.rows:
        for cell in row.cells:
            rule = cell.verdict.rule
            if rule is not None:
                found.setdefault(rule.line, (str(rule), {}))[1][cell.path] = None
    unmatched = any(cell.verdict.rule is None for row in matrix.rows for cell in row.cells)
    left_out = len(found) - MAX_REASONS
    words = (
        "The number beside a mark is the line of the rule that decides.",
        " Where there is none, no rule matches, so the path is allowed." if unmatched else None,
        f" {left_out:,} more lines are not listed." if left_out > 0 else None,
    )
    lines = sorted(found.items())[:MAX_REASONS]
    return element(
        "div",
        element("p", words),
        table(
            f"The rules that decide{where}",
            [TableColumn("Line", "number"), "Rule", TableColumn("Decides", "wide")],
            [(str(line), _code([rule]), _code(paths)) for line, (rule, paths) in lines],
        )
        if lines
        else None,
        class_="reasons",
    )


def _code(values: Iterable[str]) -> Html:
    return fragment([[element("code", text(value, MAX_LENGTH)), " "] for value in values])
