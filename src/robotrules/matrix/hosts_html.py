"""
The matrix of several hosts as a self-contained HTML page.

It looks like the page of one host. Line numbers are beside the marks, and the rules are listed
below the table, for each host. The module does not evaluate rules.
"""

from __future__ import annotations

from itertools import groupby

from robotrules.html_document import Html, document, element, fragment, text
from robotrules.html_document.tables import TableColumn, table
from robotrules.matrix.hosts import HostCell, HostGrid, HostGridRow, HostMatrix
from robotrules.matrix.html import SYMBOLS, legend, mark, summary_pill
from robotrules.matrix.html_style import STYLE
from robotrules.matrix.text import (
    FOOTNOTE,
    MAX_LENGTH,
    TITLE,
    describe_cell,
    footnotes,
    may_not_obey,
    to_plain_text,
)
from robotrules.matrix.values import PurposeBand

__all__ = ["hosts_page"]

# Rules that are listed, and headings that are not turned.
MAX_RULES = 500
FEW_COLUMNS = 5

_STYLE = """
.hosts td { white-space: nowrap; }
.hosts .marks { display: inline-flex; gap: .3rem; margin-left: .4rem; vertical-align: middle; }
.hosts .marks > span { display: inline-block; text-align: center; }
.hosts thead .wide { white-space: normal; overflow-wrap: anywhere; min-width: 8rem; }
.hosts .path > span { max-height: 11rem; }
.hosts .path { height: 11rem; width: auto; }
"""


def hosts_page(matrix: HostMatrix, *, title: str | None = None, date: str | None = None) -> str:
    """Return the page; *date* is shown if given, because the matrix uses no clock."""
    grid = matrix.grid()
    first = next((host.matrix for host in matrix.hosts if host.matrix), None)
    problems = [host for host in matrix.hosts if host.problem]
    count = matrix.count_hosts(len(matrix.hosts))
    words = f"What {count} ask of crawlers"
    return document(
        f"{TITLE}: {to_plain_text(title)}" if title else f"{TITLE}: {count}",
        legend(first) if first else None,
        _paths(matrix),
        _table(grid, matrix.noun),
        _rules(matrix),
        table(
            "Hosts without a file",
            [matrix.noun.capitalize(), TableColumn("Why", "wide")],
            [(text(host.name), text(host.problem)) for host in problems],
        )
        if problems
        else None,
        heading=TITLE,
        subtitle=", ".join(filter(None, [title, words, date])),
        headline=text(matrix.headline, 500),
        footer=fragment(
            element("p", element("strong", FOOTNOTE)),
            element("p", " ".join(footnotes(first))) if first else None,
        ),
        style=STYLE + _STYLE,
        before=SYMBOLS,
    )


def _paths(matrix: HostMatrix) -> Html:
    names = [[element("code", text(path, MAX_LENGTH)), " "] for path in matrix.paths]
    noun = "The mark is" if len(matrix.paths) == 1 else "The marks are, in this order,"
    return element(
        "p", f"The word is about all URLs. {noun} the verdict on ", names, class_="intro"
    )


def _table(grid: HostGrid, noun: str) -> Html:
    look = "wide" if len(grid.columns) <= FEW_COLUMNS else "path"
    heads = [
        element("th", element("span", text(name, 60)), scope="col", class_=look)
        for name in grid.columns
    ]
    corner = element(
        "th", noun.capitalize() if grid.hosts_in_lines else "Crawler", scope="col", class_="who"
    )
    return element(
        "div",
        element(
            "table",
            element("caption", f"Crawlers against {noun}s", class_="unseen"),
            element("thead", element("tr", corner, heads)),
            [_band(rows, len(grid.columns) + 1) for rows in _bands(grid)],
        ),
        class_="scroll matrix hosts",
        tabindex=0,
        role="region",
        aria_label="The matrix",
    )


def _bands(grid: HostGrid) -> list[list[HostGridRow]]:
    """Return the lines by purpose; all together if they are hosts."""
    grouped = groupby(grid.rows, lambda row: row.crawler.band if row.crawler else "")
    return [list(rows) for _, rows in grouped]


def _band(rows: list[HostGridRow], span: int) -> Html:
    crawler = rows[0].crawler
    heading = None
    if crawler is not None:
        title = element("span", PurposeBand(crawler.band, ()).title)
        cell = element("th", title, scope="rowgroup", colspan=span)
        heading = element("tr", cell, class_="band")
    return element("tbody", heading, [_row(row) for row in rows])


def _row(row: HostGridRow) -> Html:
    known = row.crawler.known if row.crawler else None
    dagger = row.crawler is not None and may_not_obey(row.crawler)
    heading = element(
        "th",
        element(
            "span",
            text(row.name, 60),
            element("sup", "†", element("span", "may not obey", class_="unseen"))
            if dagger
            else None,
        ),
        element("small", known.operator) if known else None,
        scope="row",
        class_="who",
    )
    return fragment(element("tr", heading, [_cell(cell) for cell in row.cells]), Html("\n"))


def _cell(cell: HostCell) -> Html:
    row = cell.row
    if row is None:
        return element("td", element("span", "not known", class_="pill"))
    marks = [
        element(
            "span",
            mark(one.allowed),
            element("span", "allowed" if one.allowed else "disallowed", class_="unseen"),
            element("small", str(one.verdict.line)) if one.verdict.line else None,
            title=to_plain_text(f"{cell.host}: {describe_cell(row, one)}", 300),
        )
        for one in cell.cells
    ]
    return element("td", summary_pill(row.summary), element("span", marks, class_="marks"))


def _rules(matrix: HostMatrix) -> Html | None:
    """Return the rules whose line numbers are beside the marks."""
    found: dict[tuple[str, int], str] = {}
    for host in matrix.hosts:
        for row in host.matrix.rows if host.matrix else ():
            for cell in row.cells:
                if (rule := cell.verdict.rule) is not None:
                    found[host.name, rule.line] = str(rule)
    if not found:
        return None
    left_out = len(found) - MAX_RULES
    more = f" {left_out:,} more are not listed." if left_out > 0 else ""
    return element(
        "div",
        element("p", f"The number at a mark is the line of the rule that decides.{more}"),
        table(
            "The rules that decide",
            [matrix.noun.capitalize(), TableColumn("Line", "number"), "Rule"],
            [
                (text(host), str(line), element("code", text(rule, MAX_LENGTH)))
                for (host, line), rule in sorted(found.items())[:MAX_RULES]
            ],
        ),
        class_="reasons",
    )
