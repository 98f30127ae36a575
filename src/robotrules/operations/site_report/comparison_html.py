"""The comparison of a few sites as a section of a page: a table of purposes, then differences."""

from __future__ import annotations

from collections.abc import Sequence

from robotrules.html_document import Html, element, fragment, text
from robotrules.html_document.tables import TableColumn, pill, table
from robotrules.matrix.html import mark, summary_pill
from robotrules.matrix.values import SUMMARIES, PurposeBand
from robotrules.operations.site_report.comparison import (
    CrawlerDifference,
    PurposeComparison,
    SiteComparison,
)
from robotrules.operations.site_report.facts import PurposeFacts

__all__ = ["comparison_section"]

# Groups of crawlers with a line each, and paths of one of them.
MOST_GROUPS, MOST_PATHS = 20, 12
LONGEST_PATH = 60


def comparison_section(found: SiteComparison, noun: str) -> Html:
    """Return the section; *noun* is `file` or `host`."""
    columns: list[TableColumn | str] = [
        "Purpose",
        *(text(name, 60) for name in found.names),
        "Difference",
    ]
    return element(
        "section",
        element("h2", "Comparison"),
        element(
            "p",
            "How many known crawlers of each purpose may fetch nothing, some URLs or everything. "
            "A difference is one between these words, or between verdicts on the home page, for "
            "one of the crawlers.",
            class_="intro",
        ),
        table(f"The {noun}s by purpose", columns, map(_purpose_row, found.purposes), stacked=True),
        _differences(found, noun) if found.paths else None,
        id="comparison",
    )


def _purpose_row(row: PurposeComparison) -> list[Html | str]:
    return [
        PurposeBand(row.purpose, ()).title,
        *map(_counts, row.sites),
        pill("differs", "some") if row.differs else "",
    ]


def _counts(facts: PurposeFacts | None) -> Html:
    """Return how many crawlers have each summary."""
    if facts is None:
        return pill("not known")
    return fragment(
        [
            fragment(element("span", summary_pill(summary), f" {count:,}"), " ")
            for summary in SUMMARIES
            if (count := facts.count(summary))
        ]
    )


def _differences(found: SiteComparison, noun: str) -> Html:
    paths = ", ".join(found.paths)
    advice = f"For all differences of two {noun}s, proved, with examples: robotrules diff."
    words = f"Compared were the summary of all URLs and the verdicts on these paths: {paths}. "
    if not found.differences:
        words += f"Every crawler that was compared gets the same from each {noun}. "
        return fragment(element("h3", "Differences"), element("p", text(words + advice)))
    if found.alike:
        are = "crawler gets" if found.alike == 1 else "crawlers get"
        words += f"{found.alike:,} other {are} the same from each {noun}. "
    columns: list[TableColumn | str] = [
        TableColumn("Crawlers", "said"),
        *(text(name, 60) for name in found.known),
    ]
    left_out = len(found.differences) - MOST_GROUPS
    return fragment(
        element("h3", "Differences"),
        element("p", text(words + advice), class_="intro"),
        table(
            f"Crawlers that the {noun}s treat differently",
            columns,
            map(_difference_row, found.differences[:MOST_GROUPS]),
            stacked=True,
        ),
        element("p", f"{left_out:,} more differences are not shown.", class_="intro")
        if left_out > 0
        else None,
    )


def _difference_row(row: CrawlerDifference) -> Sequence[Html]:
    names = element("span", text(", ".join(row.crawlers), 600), class_="names")
    return [names, *(_site_cell(row, at) for at in range(len(row.summaries)))]


def _site_cell(row: CrawlerDifference, at: int) -> Html:
    """Return the summary of a site, and its verdicts on the paths that differ."""
    more = len(row.paths) - MOST_PATHS
    return fragment(
        summary_pill(row.summaries[at]),
        [
            element(
                "div",
                mark(allowed[at]),
                element("span", "allowed" if allowed[at] else "disallowed", class_="unseen"),
                " ",
                element("code", text(path, LONGEST_PATH)),
                class_="compared",
            )
            for path, allowed in row.paths[:MOST_PATHS]
        ],
        element("div", f"and {more:,} more") if more > 0 else None,
    )
