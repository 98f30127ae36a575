"""
HTML output of `robotrules check`: one page with counts and examples, for people.

The page has no line for each URL: it is as large for a million URLs as for a thousand. What it
leaves out is stated.

Sections: the writer · the page · sentences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from robotrules import Verdict
from robotrules.cli.check_output import VerdictWriter
from robotrules.cli.console import Output
from robotrules.cli.text import format_share, listed, plural
from robotrules.html_document import Child, Html, document, element, fragment, section, text
from robotrules.html_document.charts import share_bar
from robotrules.html_document.tables import TableColumn, table, tiles
from robotrules.json_results.crawlers import CrawlerChoice
from robotrules.json_results.url_counts import (
    DecidedColumn,
    GroupCount,
    RuleCount,
    UrlCounter,
    UrlSummary,
)
from robotrules.octets import visible

if TYPE_CHECKING:
    from robotrules.client.origin_state import OriginState

# What the page shows; JSON has more.
MOST_RULES = 50
MOST_SEGMENTS = 50
MOST_ORIGINS = 50
MOST_TILES = 12
MOST_NAMED = 4
LONGEST_URL = 200
_STYLE = """
.tiles + .card { margin-top: 1rem; }
.rule { min-width: 9rem; overflow-wrap: anywhere; }
.counts { white-space: nowrap; }
"""


class PageFacts(NamedTuple):
    """What the page says about its input."""

    sources: tuple[str, ...]
    """The names of the files of URLs."""
    robots: str | None
    """The file with the rules; None: those of each origin were fetched."""
    noun: str
    """What was counted: `URL` or `request`."""
    date: str
    remarks: tuple[str, ...] = ()
    """What was skipped, or not read."""


# --- The writer -----------------------------------------------------------------------------------


class CountedUrls(VerdictWriter[None]):
    """Counts verdicts, for a page."""

    def __init__(self, crawlers: Sequence[CrawlerChoice]) -> None:
        self._counts = UrlCounter([crawler.name for crawler in crawlers])
        super().__init__(crawlers, self._counts)

    def part(self, crawler: int, verdict: Verdict, origin_state: OriginState | None) -> None:
        """Return nothing: the decision is counted."""

    def _write(self, urls: Sequence[bytes], columns: Sequence[DecidedColumn]) -> None:
        pass

    def page(self, facts: PageFacts) -> str:
        """Return the page."""
        return _Page(self._counts.summary(), facts).html()


# --- The page -------------------------------------------------------------------------------------


class _Page:
    """The counts as HTML."""

    def __init__(self, summary: UrlSummary, facts: PageFacts) -> None:
        self._summary = summary
        self._facts = facts
        self._names = [one.name for one in summary.crawlers]

    def html(self) -> str:
        """Return the document."""
        facts = self._facts
        rules = facts.robots or "the robots.txt of each site, as fetched"
        return document(
            "Which URLs crawlers may fetch",
            self._tiles(),
            *(self._remark(words) for words in facts.remarks),
            self._crawlers(),
            self._rules(),
            self._segments(),
            self._origins() if len(self._summary.origins) > 1 else None,
            subtitle=[
                listed([*map(visible, facts.sources)], 3),
                " · rules: ",
                rules,
                f" · {facts.date}",
            ],
            headline=f"{headline(self._summary, facts.noun)}",
            footer=element(
                "p",
                "A robots.txt is a request to crawlers and not a form of access control: an access "
                "log shows whether a crawler obeys it.",
            ),
            style=_STYLE,
        )

    def _tiles(self) -> Html:
        summary = self._summary
        facts: list[tuple[Child, Child]] = [(summary.urls, f"{self._facts.noun}s checked")]
        for one in summary.crawlers[:MOST_TILES]:
            share = format_share(one.disallowed, summary.urls) or "0%"
            facts.append((share, f"blocked for {visible(one.name)}"))
        return tiles(facts)

    @staticmethod
    def _remark(words: str) -> Html:
        return element("p", element("strong", "Note: "), text(words), class_="card")

    def _crawlers(self) -> Html:
        whole = self._summary.urls
        rows = [
            (
                text(one.name),
                one.allowed,
                one.disallowed,
                fragment(
                    share_bar(one.disallowed, whole),
                    " ",
                    format_share(one.disallowed, whole) or "0%",
                ),
            )
            for one in self._summary.crawlers
        ]
        columns: list[TableColumn | str] = [
            "Crawler",
            TableColumn("May fetch", "number"),
            TableColumn("Blocked", "number"),
            "Share blocked",
        ]
        return section("By crawler", table(f"{self._facts.noun}s by crawler", columns, rows))

    def _rules(self) -> Html:
        summary = self._summary
        shown = summary.rules[:MOST_RULES]
        if not shown:
            return section("What blocks them", element("p", "Nothing is blocked.", class_="card"))
        left = len(summary.rules) - len(shown) + summary.more_rules
        columns: list[TableColumn | str] = [
            TableColumn("Rule", "rule"),
            TableColumn("Line", "number"),
            TableColumn("Blocked", "counts"),
            TableColumn("Such as", "wide"),
        ]
        if any(one.rule.origin for one in shown):
            columns.insert(0, TableColumn("Site", "wide"))
        rows = [self._rule_row(one, with_site=len(columns) == 5) for one in shown]
        return section(
            "What blocks them",
            table("Deciding rules", columns, rows, row_headings=False),
            self._left_out(left, "rule"),
            intro="The rules that decide, those that block most first, with up to three examples "
            "of each. A URL that several crawlers may not fetch counts for each.",
        )

    def _rule_row(self, one: RuleCount, *, with_site: bool) -> tuple[Child, ...]:
        counts = [
            element("div", f"{name}: {count:,}")
            for name, count in zip(self._names, one.disallowed, strict=True)
            if count
        ]
        examples = [element("div", element("code", text(url, LONGEST_URL))) for url in one.examples]
        rule = element("code", text(one.rule.text)) if one.rule.line else text(one.rule.text)
        site = (text(one.rule.origin or "no site", LONGEST_URL),) if with_site else ()
        return (*site, rule, "" if one.rule.line is None else str(one.rule.line), counts, examples)

    def _segments(self) -> Html:
        summary = self._summary
        shown = summary.segments[:MOST_SEGMENTS]
        left = len(summary.segments) - len(shown) + summary.more_segments
        return section(
            "By first path segment",
            self._groups("First path segment", shown, code=True),
            self._left_out(left, "segment"),
            intro=f"The parts of the site with most {self._facts.noun}s, and how many of these "
            "each crawler may not fetch.",
        )

    def _origins(self) -> Html:
        summary = self._summary
        shown = summary.origins[:MOST_ORIGINS]
        left = len(summary.origins) - len(shown) + summary.more_origins
        return section(
            "By site", self._groups("Site", shown, code=False), self._left_out(left, "site")
        )

    def _groups(self, heading: str, shown: Sequence[GroupCount], *, code: bool) -> Html:
        columns = [
            TableColumn(heading, "rule"),
            TableColumn(f"{self._facts.noun}s".capitalize().replace("Urls", "URLs"), "number"),
            *(TableColumn(f"Blocked for {visible(name)}", "number") for name in self._names),
        ]
        rows = [
            (
                element("code", text(one.name, LONGEST_URL))
                if code
                else text(one.name, LONGEST_URL),
                one.urls,
                *(_blocked(count, one.urls) for count in one.disallowed),
            )
            for one in shown
        ]
        return table(heading, columns, rows)

    def _left_out(self, count: int, noun: str) -> Html | None:
        """Say what a table does not show."""
        if not count and self._summary.exact:
            return None
        more = f"{'' if self._summary.exact else 'At least '}{plural(count, f'further {noun}')}"
        words = f"{more[:1].upper()}{more[1:]} {'is' if count == 1 else 'are'} not shown here."
        if not self._summary.exact:
            words += " There are too many to count each: counts in this table are lower bounds."
        return element("p", words, class_="faint")


def _blocked(count: int, whole: int) -> Child:
    if not count:
        return element("span", "0", class_="faint")
    return "all" if count == whole else count


# --- Sentences ------------------------------------------------------------------------------------


def headline(summary: UrlSummary, noun: str) -> str:
    """Return the summary as one sentence."""
    if not summary.urls:
        return f"There are no {noun}s."
    parts = list(_may_fetch(summary))
    more = len(parts) - MOST_NAMED
    if more > 0:
        parts = [*parts[:MOST_NAMED], f"and {plural(more, 'more crawler')} as listed below"]
    elif len(parts) > 1:
        parts[-1] = f"and {parts[-1]}"
    glue = " " if len(parts) == 2 else ", "
    return f"Of {plural(summary.urls, noun)}, {glue.join(parts)}."


def _may_fetch(summary: UrlSummary) -> Iterator[str]:
    for number, one in enumerate(summary.crawlers):
        count = "all" if not one.disallowed else f"{one.allowed:,}" if one.allowed else "none"
        yield f"{visible(one.name)} {'' if number else 'may fetch '}{count}"


def write_page(output: Output, counted: CountedUrls, facts: PageFacts) -> None:
    """Write the page of the URLs that were counted."""
    output.write(counted.page(facts))
    output.flush()
