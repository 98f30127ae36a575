"""
The page of an audit of many pages: the sentence for the boss first, then what to do, then the list.

Text of the site is escaped by `html_document`. The list of pages is limited; those with findings
come first, and the page says what is left out. CSV and JSON have all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from robotrules.client.auditing.findings import LEVELS
from robotrules.client.auditing.page_audit import IndexingAnswer, PageAudit, PageOutcome
from robotrules.client.auditing.site_results import FindingGroup, SiteAudit
from robotrules.html_document import Child, Html, document, element, section, text
from robotrules.html_document.charts import share_bar
from robotrules.html_document.tables import TableColumn, pill, table, tiles
from robotrules.operations.site_audit.sentences import (
    OUTCOME_WORDS,
    count_places,
    crawler_name,
    describe_group,
    example_lines,
    headline,
    robots_words,
)

__all__ = ["MAX_ROWS", "site_audit_page"]

# Rows of the list of pages, and of the tables of sites and sitemaps.
MAX_ROWS = 1000
MAX_SITES = 100
LONGEST_URL = 160
LOOKS = {
    PageOutcome.INDEXABLE: "yes",
    PageOutcome.NOINDEX: "some",
    PageOutcome.BLOCKED: "no",
    PageOutcome.FAILED: "error",
    PageOutcome.MISSING: "error",
}
LEVEL_LOOKS = {"error": "error", "warning": "warning", "info": ""}
STYLE = """
.findings { list-style: none; margin: 0; padding: 0; }
.findings h3 { margin: 0 0 .3rem; font-weight: 600; }
.findings p, .findings ul { margin: .2rem 0 0; }
.findings ul { padding-left: 1.2rem; }
.outcomes td:nth-child(2) { white-space: nowrap; }
"""


def site_audit_page(result: SiteAudit, title: str) -> str:
    """Return the page of an audit; *title* names the site."""
    return document(
        f"What crawlers may index: {title}",
        tiles(_tiles(result)),
        section(
            "What becomes of the pages",
            *(_outcomes(result, number) for number in range(len(result.crawlers))),
        ),
        section(
            "What to do",
            _findings(result.groups(), result.crawlers),
            intro="Errors first, then warnings; information needs no action.",
        ),
        _sites(result),
        _pages(result),
        subtitle=" · ".join(_facts(result)),
        headline=headline(result),
        footer="The rules of a robots.txt are requests to crawlers and do not protect a page. "
        "Crawlers decide what they index.",
        style=STYLE,
    )


def _facts(result: SiteAudit) -> Iterator[str]:
    yield datetime.fromtimestamp(result.ended, UTC).strftime("%Y-%m-%d %H:%M UTC")
    yield f"for {' and '.join(map(crawler_name, result.crawlers))}"
    yield f"fetched as {result.user_agent}"


def _tiles(result: SiteAudit) -> Iterator[tuple[Child, Child]]:
    counts = result.outcomes()
    unseen = result.count_unseen_noindex()[PageOutcome.BLOCKED]
    lost = counts[PageOutcome.MISSING] + counts[PageOutcome.FAILED]
    yield len(result.pages), "pages"
    yield counts[PageOutcome.INDEXABLE], "may be indexed"
    yield counts[PageOutcome.NOINDEX], "say noindex"
    which = f", {unseen:,} of them with a noindex that is not seen" if unseen else ""
    yield counts[PageOutcome.BLOCKED], f"blocked by robots.txt{which}"
    yield counts[PageOutcome.REDIRECTED], "redirect"
    yield lost, "missing or not readable"
    if unknown := counts[PageOutcome.UNKNOWN]:
        yield unknown, "unknown"


def _outcomes(result: SiteAudit, number: int) -> Html:
    total, name = len(result.pages), crawler_name(result.crawlers[number])
    rows = (
        (words, [share_bar(count, total, 10), " ", _share(count, total)], count)
        for outcome, words in OUTCOME_WORDS.items()
        if (count := result.outcomes(number)[outcome])
    )
    return element(
        "div",
        element("h3", f"For {name}") if len(result.crawlers) > 1 else None,
        table(
            f"Pages by what {name} gets",
            ["Result", "Share", TableColumn("Pages", "number")],
            rows,
        ),
        class_="outcomes",
    )


def _share(part: int, whole: int) -> str:
    share = part / whole
    return "<1%" if share < 0.005 else f"{share:.0%}"


def _findings(groups: list[FindingGroup], crawlers: Sequence[str]) -> Html:
    if not groups:
        return element("p", "Nothing was found.")
    return element("ul", [_finding(group, crawlers) for group in groups], class_="findings")


def _finding(group: FindingGroup, crawlers: Sequence[str]) -> Html:
    more = group.places - len(group.examples)
    return element(
        "li",
        element(
            "h3",
            pill(group.level, LEVEL_LOOKS[group.level]),
            f" {count_places(group)}: ",
            text(describe_group(group, crawlers)),
        ),
        element(
            "ul",
            [
                element("li", element("code", text(one, 2 * LONGEST_URL)))
                for one in example_lines(group)
            ],
            element("li", f"and {more:,} more", class_="faint") if more else None,
        ),
        element("p", element("code", group.code), class_="faint"),
        class_="card",
    )


def _sites(result: SiteAudit) -> Html | None:
    rows = []
    for site in result.sites[:MAX_SITES]:
        troubles = sum(bool(one.trouble) for one in site.sitemaps)
        known = "none" if not site.sitemaps else f"{len(site.sitemaps):,} files"
        if site.sitemaps and not site.sitemaps_complete:
            known += ", not read completely"
        if troubles:
            known += f", {troubles:,} with problems"
        rows.append(
            (
                element("code", text(site.origin)),
                robots_words(site.robots).removeprefix("robots.txt "),
                known,
                site.sitemap_urls,
            )
        )
    if not rows:
        return None
    left = len(result.sites) - len(rows)
    return section(
        "Sites and sitemaps",
        table(
            "Sites with their robots.txt and sitemaps",
            ["Site", "robots.txt", "Sitemaps", TableColumn("Listed URLs", "number")],
            rows,
        ),
        intro=f"{left:,} more sites are not shown." if left else None,
    )


def _pages(result: SiteAudit) -> Html:
    ranks = {level: rank for rank, level in enumerate((*LEVELS, ""))}
    pages = sorted(result.pages, key=lambda page: ranks[page.level])[:MAX_ROWS]
    left = len(result.pages) - len(pages)
    intro = "Pages with errors first, then those with warnings."
    if left:
        intro += f" {left:,} more pages are not shown; the CSV and JSON output have all of them."
    heads: list[TableColumn | str] = [TableColumn("URL", "wide")]
    many = len(result.crawlers) > 1
    heads += [name if many else "Result" for name in result.crawlers]
    heads += [
        "Status",
        "noindex",
        TableColumn("Canonical", "wide"),
        "In sitemap",
        "Findings",
    ]
    return section(
        "Pages",
        table("Audited pages", heads, (_row(page) for page in pages)),
        intro=intro,
    )


def _row(page: PageAudit) -> list[Child]:
    leads = None
    if page.final_url != page.url:
        leads = element("div", "to ", text(page.final_url, LONGEST_URL), class_="faint")
    elsewhere = [url for url in page.canonicals if url != page.url]
    listed = {True: "yes", False: "no", None: "unknown"}[page.in_sitemap]
    codes = dict.fromkeys(one.code for one in page.findings)
    return [
        element("span", element("code", text(page.url, LONGEST_URL)), leads),
        *(_result(page, answer) for answer in page.answers),
        _status(page),
        [element("div", text(one, 80)) for one in page.answer.noindex],
        [element("div", element("code", text(url, LONGEST_URL))) for url in elsewhere]
        if elsewhere
        else ("itself" if page.canonicals else None),
        listed,
        [element("div", code) for code in codes],
    ]


def _status(page: PageAudit) -> str | None:
    if page.status is None or page.first_status == page.status:
        return None if page.status is None else str(page.status)
    return f"{page.first_status}, then {page.status}"


def _result(page: PageAudit, answer: IndexingAnswer) -> list[Child]:
    words = {
        PageOutcome.INDEXABLE: "indexable",
        PageOutcome.NOINDEX: "noindex",
        PageOutcome.BLOCKED: "blocked",
        PageOutcome.REDIRECTED: "redirects",
        PageOutcome.MISSING: "missing",
        PageOutcome.FAILED: "not readable",
        PageOutcome.UNKNOWN: "unknown",
    }[answer.outcome]
    # Reasons are visible without a tooltip.
    why = page.failure if answer.allowed else answer.reason
    reason = element("div", text(why, 80), class_="faint") if why else None
    return [pill(words, LOOKS.get(answer.outcome, "")), reason]
