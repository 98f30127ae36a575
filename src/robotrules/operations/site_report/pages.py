"""
The page of a report: one self-contained HTML file for one or many hosts.

The sentence comes first, then numbers, who may fetch what, notes by importance, sitemaps, history
and logs. Reasons are on the page and not in tooltips, so that it can be printed. The size is
bounded: what is left out is said. The module decides nothing.

Sections: the page · the overview of many hosts · the parts of a host.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from robotrules.html_document import Child, Html, document, element, fragment, text
from robotrules.html_document.tables import TableColumn, pill, table, tiles
from robotrules.matrix.html import (
    SYMBOLS,
    legend,
    matrix_table,
    reasons,
    summary_pill,
)
from robotrules.matrix.html_style import STYLE as MATRIX_STYLE
from robotrules.matrix.text import FOOTNOTE, footnotes
from robotrules.matrix.values import NOT_DECIDED, NOTHING, Matrix, PurposeBand
from robotrules.operations.site_report import SiteReport
from robotrules.operations.site_report.comparison import compare_sites
from robotrules.operations.site_report.comparison_html import comparison_section
from robotrules.operations.site_report.facts import (
    CrawlerAccess,
    HostFacts,
    NoteGroup,
    PurposeFacts,
)
from robotrules.operations.site_report.sentences import hosts_noun, purpose_clause, sentence
from robotrules.operations.site_report.sitemap_coverage import BlockedUrls, SitemapCoverage
from robotrules.registries.crawlers import KNOWN_CRAWLERS

__all__ = ["FULL_HOSTS", "MOST_HOSTS", "report_page"]

# Hosts that have a section each; the overview has all of them.
MOST_HOSTS = 500
# With more hosts than this, sections have no matrix and fewer notes.
FULL_HOSTS = 10
# Checks whose notes are shown, in a full section and in a short one.
MOST_CHECKS, FEW_CHECKS = 40, 5
# Sitemap files and changes that are listed.
MOST_FILES = 20
# Crawlers that are named; more are a number.
MOST_NAMES, FEW_NAMES = 40, 8
LONGEST_URL = 200

_LEVEL_LOOKS = {"error": "error", "warning": "warning", "info": ""}
_STYLE = """
h4 { margin: 1rem 0 .3rem; font-size: .95rem; }
.compared { display: flex; gap: .4rem; align-items: center; margin-top: .2rem; min-width: 9rem; }
.compared code { overflow-wrap: anywhere; }
.compared svg { flex: none; }
.contents ul {
  display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; list-style: none; margin: .8rem 0 1rem;
  padding: 0;
}
.contents a { overflow-wrap: anywhere; }
.host { margin-top: 2.6rem; padding-top: .2rem; border-top: 2px solid var(--line); }
.host > h2 { margin-top: 1rem; overflow-wrap: anywhere; }
.host > .said { font-size: 1.05rem; margin: 0 0 .4rem; max-width: 52rem; }
.note h3, .note h4 { margin: 0 0 .3rem; font-size: 1rem; font-weight: 600; }
.note .pill { margin-right: .5rem; font-weight: 600; }
.note p { margin: .35rem 0; max-width: 56rem; }
.note pre {
  margin: .5rem 0; padding: .5rem .7rem; background: var(--ground); border-radius: 8px;
  white-space: pre-wrap; overflow-wrap: anywhere; font: .82rem/1.5 var(--mono);
}
.note .line { color: var(--faint); user-select: none; }
td .pill.everything, td .pill.nothing, td .pill.some, td .pill.not-decided { min-width: 0; }
.names { font-size: .87rem; color: var(--faint); }
.effects { margin: 0; padding-left: 1.1rem; }
th .names { font-weight: 400; }
td.said, th.said { min-width: 17rem; max-width: 34rem; }
.purposes .scroll { max-height: none; }
@media print {
  .host { break-before: page; border: 0; }
  .note { break-inside: avoid; }
  td.said, th.said { min-width: 0; }
}
"""


class Anchor(NamedTuple):
    """A section that the contents list links to."""

    id: str
    title: str


# --- The page -------------------------------------------------------------------------------------


def report_page(report: SiteReport) -> str:
    """Return the page of a report."""
    hosts = report.hosts
    parts: list[Child] = []
    anchors: list[Anchor] = []
    noun = hosts_noun(hosts)
    if len(hosts) == 1:
        parts += _host_parts(report, hosts[0], "h2", full=True, anchors=anchors)
        subtitle = fragment(_subtitle(hosts[0]), f" · {report.date}" if report.date else None)
    else:
        subtitle = fragment(f"{len(hosts):,} {noun}s", f" · {report.date}" if report.date else None)
        if (compared := compare_sites(hosts, report.crawlers, report.purposes)) is not None:
            parts.append(comparison_section(compared, noun))
            anchors.append(Anchor("comparison", "Comparison"))
        parts.append(_overview(report, noun))
        anchors.append(Anchor("overview", f"All {noun}s"))
    if report.logs:
        parts.append(element("div", report.logs, id="logs"))
        anchors.append(Anchor("logs", "Crawlers in the access log"))
    if len(hosts) > 1:
        full = len(hosts) <= FULL_HOSTS
        parts += [
            _host_section(report, number, host, full=full)
            for number, host in enumerate(hosts[:MOST_HOSTS], 1)
        ]
        if len(hosts) <= FULL_HOSTS:
            anchors += [Anchor(f"host-{number}", host.name) for number, host in enumerate(hosts, 1)]
    return document(
        report.title,
        _contents(anchors),
        _tiles(hosts[0]) if len(hosts) == 1 else None,
        *parts,
        subtitle=subtitle,
        headline=text(report.sentence, 1000),
        footer=_footer(report),
        style=MATRIX_STYLE + _STYLE,
        before=SYMBOLS,
    )


def _contents(anchors: Sequence[Anchor]) -> Html | None:
    """Return links to the sections; None if there are few."""
    if len(anchors) < 2:
        return None
    links = [
        element("li", element("a", text(anchor.title, 80), href=f"#{anchor.id}"))
        for anchor in anchors
    ]
    return element("nav", element("ul", links), class_="contents", aria_label="Contents")


def _subtitle(host: HostFacts) -> Html:
    robots = host.source.robots
    size = f" · {len(robots.body):,} bytes" if robots is not None and host.source.is_file else None
    status = [" · ", text(host.source.status)] if host.source.status else None
    return fragment(element("strong", text(host.name)), status, size)


def _footer(report: SiteReport) -> Html:
    words = [
        f"Known crawlers are those of the list of {KNOWN_CRAWLERS.checked}; crawlers that are not "
        "in it obey the group for everyone else.",
        "A crawler is blocked if it may not fetch any URL of the site but /robots.txt.",
    ]
    matrix = next((host.matrix for host in report.hosts if host.matrix), None)
    beside = [one for one in footnotes(matrix) if one.startswith("†")] if matrix else []
    return fragment(
        element("p", element("strong", FOOTNOTE)),
        element("p", " ".join([*words, *beside, f"Profile {report.profile}."])),
    )


# --- The overview of many hosts -------------------------------------------------------------------


def _overview(report: SiteReport, noun: str) -> Html:
    hosts = report.hosts
    has_sitemaps = any(host.sitemaps for host in hosts)
    columns: list[TableColumn | str] = [
        noun.capitalize(),
        "AI training",
        "Search engines that may read the home page",
        TableColumn("Errors", "number"),
        TableColumn("Warnings", "number"),
        *(
            [TableColumn("Sitemap URLs blocked for a main search engine", "number")]
            if has_sitemaps
            else []
        ),
        TableColumn("In a sentence", "said"),
    ]
    rows = []
    for number, host in enumerate(hosts, 1):
        name = text(host.name)
        link = element("a", name, href=f"#host-{number}") if number <= MOST_HOSTS else name
        sitemaps = [_blocked_for_search(host)] if has_sitemaps else []
        rows.append(
            [
                link,
                _training_pill(host),
                _readers(host.purpose("search")),
                host.count_notes("error") if host.is_known else None,
                host.count_notes("warning") if host.is_known else None,
                *sitemaps,
                text(report.sentence_of(host), 600),
            ]
        )
    left_out = len(hosts) - MOST_HOSTS
    return element(
        "section",
        element("h2", f"All {noun}s"),
        table(f"All {noun}s", columns, rows, stacked=True),
        element("p", f"{left_out:,} {noun}s have no section of their own.", class_="intro")
        if left_out > 0
        else None,
        id="overview",
    )


def _training_pill(host: HostFacts) -> Html:
    if not host.is_known:
        return pill("not known")
    facts = host.purpose("ai-training")
    how = facts.blocked if facts else NOT_DECIDED
    looks = {
        "all": ("blocked", "no"),
        "some": ("partly blocked", "some"),
        "none": ("allowed", "yes"),
    }
    return pill(*looks.get(how, (NOT_DECIDED, "")))


def _readers(facts: PurposeFacts | None) -> str:
    if facts is None:
        return ""
    some = facts.main or facts.crawlers
    return f"{sum(one.home for one in some)} of {len(some)}"


def _blocked_for_search(host: HostFacts) -> int | str | None:
    facts = host.purpose("search")
    if host.sitemaps is None or facts is None:
        return None
    if not host.sitemaps.files:
        return "no sitemap"
    if not host.sitemaps.is_known:
        return "not known"
    return host.sitemaps.blocked_for({one.name for one in facts.main})


def _host_section(report: SiteReport, number: int, host: HostFacts, *, full: bool) -> Html:
    return element(
        "section",
        element("h2", text(host.name)),
        element("p", text(report.sentence_of(host), 600), class_="said"),
        element("p", _subtitle(host), class_="intro") if host.is_known else None,
        _host_parts(report, host, "h3", full=full),
        class_="host",
        id=f"host-{number}",
    )


# --- The parts of a host --------------------------------------------------------------------------


def _tiles(host: HostFacts) -> Html | None:
    """Return the numbers that a reader looks for first."""
    if not host.is_known:
        return None
    found: list[tuple[Child, Child]] = []
    if facts := host.purpose("ai-training"):
        found.append(
            (
                f"{facts.count(NOTHING)} of {len(facts.crawlers)}",
                "known AI-training crawlers blocked",
            )
        )
    if facts := host.purpose("search"):
        found.append((_readers(facts), "main search engines may read the home page"))
    for level, noun in (("error", "errors"), ("warning", "warnings")):
        count = host.count_notes(level)
        found.append((count, f"{noun[:-1] if count == 1 else noun} in the robots.txt"))
    if host.sitemaps is not None and host.sitemaps.files:
        words = "sitemap URLs blocked for a main search engine: no sitemap could be read"
        if host.sitemaps.is_known:
            words = f"of {host.sitemaps.checked:,} sitemap URLs blocked for a main search engine"
            if host.sitemaps.unread:
                words += "; not all sitemaps were read completely"
        found.append((_blocked_for_search(host), words))
    return tiles(found)


def _host_parts(
    report: SiteReport,
    host: HostFacts,
    heading: str,
    *,
    full: bool,
    anchors: list[Anchor] | None = None,
) -> list[Child]:
    """
    Return the sections of a host; *heading* is the element of their headings.

    *anchors* gets those of the sections; None: they have none.
    """

    def part(title: str, *children: Child, intro: Child = None) -> Html:
        """Return a section with a heading."""
        anchor = None if anchors is None else Anchor(title.lower().replace(" ", "-"), title)
        if anchors is not None and anchor is not None:
            anchors.append(anchor)
        return element(
            "section",
            element(heading, title),
            None if intro is None else element("p", intro, class_="intro"),
            *children,
            id=anchor.id if anchor else None,
        )

    parts: list[Child] = []
    # Names of tables are unique on a page.
    where = f": {host.name}" if heading == "h3" else ""
    if not host.is_known:
        words = (
            "While a robots.txt cannot be fetched because of a server or network error, crawlers "
            "that follow RFC 9309 fetch nothing from the site. Nothing else is known about this "
            "host."
        )
        parts.append(part("What this means", element("p", words, class_="intro")))
    else:
        parts.append(part("By purpose", _purpose_table(host, where)))
        if host.matrix is not None and full:
            parts.append(
                part(
                    "Who may fetch what",
                    legend(host.matrix),
                    matrix_table(host.matrix, f"The matrix{where}"),
                    reasons(host.matrix, where),
                    intro=_counted_twice(host.matrix),
                )
            )
        parts.append(_notes_part(host, heading, part, full=full))
        if host.sitemaps is not None:
            parts.append(_sitemaps_part(host.sitemaps, part, where))
    # One version is no history; on the page of one host, it says so.
    if (heading == "h2" and host.history is not None) or len(host.history or ()) > 1:
        parts.append(_history_part(host, part, where))
    return parts


def _counted_twice(matrix: Matrix) -> str | None:
    """Return which crawlers count for AI training and stand under another purpose."""
    names = [
        row.name
        for row in matrix.rows
        if row.known is not None
        and row.known.status == "active"
        and "ai-training" in row.known.purposes[1:]
    ]
    if not names:
        return None
    verb, where = ("collects", "its") if len(names) == 1 else ("collect", "their")
    return (
        f"A crawler stands under its main purpose. {' and '.join(names)} also {verb} for AI "
        f"training, and {'counts' if len(names) == 1 else 'count'} there too in the sentences and "
        f"numbers; below, {'it stands' if len(names) == 1 else 'they stand'} under {where} main "
        "purpose."
    )


def _purpose_table(host: HostFacts, where: str) -> Html:
    columns: list[TableColumn | str] = [
        "Purpose",
        TableColumn("In a sentence", "said"),
        "Main crawlers",
        "Other known ones",
    ]
    rows = []
    for facts in host.purposes:
        main = facts.main
        others = [one for one in facts.crawlers if not one.is_main]
        rows.append(
            [
                PurposeBand(facts.purpose, ()).title,
                sentence(purpose_clause(facts)),
                _access_list(main),
                _access_list(others, FEW_NAMES),
            ]
        )
    return element(
        "div",
        table(f"What crawlers may fetch, by purpose{where}", columns, rows, stacked=True),
        class_="purposes",
    )


def _access_list(crawlers: Sequence[CrawlerAccess], most: int = MOST_NAMES) -> Html:
    """Return crawlers with the same access together, by name; by number, if they are many."""
    by_summary: dict[str, list[str]] = {}
    for one in crawlers:
        by_summary.setdefault(one.summary, []).append(one.name)
    return fragment(
        [
            element(
                "div",
                summary_pill(summary),
                " ",
                element(
                    "span",
                    ", ".join(names) if len(names) <= most else f"{len(names)} crawlers",
                    class_="names",
                ),
            )
            for summary, names in by_summary.items()
        ]
    )


def _notes_part(host: HostFacts, heading: str, part: Callable[..., Html], *, full: bool) -> Html:
    groups = [group for group in host.notes if full or group.level != "info"]
    most = MOST_CHECKS if full else FEW_CHECKS
    if not host.source.is_file and not groups:
        return fragment()
    if not groups:
        return part("Notes", element("p", "Lint has no notes on this file.", class_="intro"))
    left_out = len(groups) - most
    more = f"Notes of {left_out:,} more checks are not shown; robotrules lint shows them."
    return part(
        "Notes",
        [_note_card(group, "h3" if heading == "h2" else "h4") for group in groups[:most]],
        element("p", more, class_="intro") if left_out > 0 else None,
        intro="By importance. An error means that something is ignored or does not work, a warning "
        "that it works, but probably not as intended.",
    )


def _note_card(group: NoteGroup, heading: str) -> Html:
    times = "once" if group.total == 1 else f"{group.total:,} times"
    quoted = [
        element("div", element("span", f"{number}  ", class_="line"), quote)
        for number, quote in group.lines
    ]
    more = group.total - len(group.lines)
    advice: list[Child] = []
    if group.fix:
        advice.append(f"{group.fix}. ")
    if group.instead:
        advice.append(_marked_code(group.instead))
    return element(
        "div",
        element(heading, pill(group.level, _LEVEL_LOOKS[group.level]), text(group.message, 500)),
        element("p", f"{group.code} {group.slug}, {times}.", class_="faint"),
        element("pre", quoted) if quoted else None,
        element("p", f"and {more:,} more", class_="faint") if more > 0 and group.lines else None,
        element("p", element("b", "Why it matters: "), _marked_code(group.why))
        if group.why
        else None,
        element("p", element("b", "What to do: "), advice) if advice else None,
        fragment(
            element("p", element("b", "How it should look, in an example:")),
            element("pre", [element("div", line or " ") for line in group.sample.splitlines()]),
        )
        if group.sample and not advice
        else None,
        class_="card note",
    )


def _marked_code(words: str) -> Html:
    """Return text in which names between backticks are code."""
    pieces = re.split(r"`([^`]+)`", words)
    return fragment(
        [
            element("code", piece) if position % 2 else piece
            for position, piece in enumerate(pieces)
            if piece
        ]
    )


def _sitemaps_part(found: SitemapCoverage, part: Callable[..., Html], where: str) -> Html:
    if not found.files:
        words = "The robots.txt names no sitemap, so no URL was checked."
        return part("Sitemaps", element("p", words, class_="intro"))
    words = f"{found.checked:,} different URLs of this host were checked."
    if not found.is_known:
        words = "Not known: no sitemap could be read. The table below says why."
    elif found.unread:
        words += " Not all sitemaps were read completely; the table of files below says why."
    if found.elsewhere:
        words += f" {found.elsewhere:,} are of other hosts, to which other rules apply."
    if found.left_out:
        words += f" {found.left_out:,} more were not checked."
    files = [
        (text(file.name, LONGEST_URL), file.urls, text(file.problem) if file.problem else "read")
        for file in found.files[:MOST_FILES]
    ]
    more = len(found.files) - MOST_FILES
    blocked = [group for group in found.groups if group.blocked]
    return part(
        "Sitemaps",
        table(
            f"URLs of sitemaps that crawlers may not fetch{where}",
            [
                "Crawlers",
                TableColumn("Blocked", "number"),
                TableColumn("Share", "number"),
                TableColumn("Examples, and the rule that blocks them", "wide"),
            ],
            [_blocked_row(group, found.checked) for group in blocked],
            stacked=True,
        )
        if blocked
        else _nothing_blocked(found),
        element("p", f"Not blocked for: {', '.join(_free(found.groups))}.", class_="intro")
        if blocked and _free(found.groups)
        else None,
        table(f"The sitemap files{where}", ["File", TableColumn("URLs", "number"), "State"], files),
        element("p", f"{more:,} more files are not listed.", class_="intro") if more > 0 else None,
        intro=words,
    )


def _nothing_blocked(found: SitemapCoverage) -> Html | None:
    """Return that no URL is blocked, as far as that is known."""
    if not found.is_known or not found.checked:
        return None
    words = "No URL of the sitemaps is blocked for a main crawler."
    if found.unread:
        words = "None of the URLs that were read is blocked for a main crawler."
    return element("p", words)


def _free(groups: Iterable[BlockedUrls]) -> list[str]:
    return [name for group in groups if not group.blocked for name in group.crawlers]


def _blocked_row(group: BlockedUrls, checked: int) -> list[Child]:
    examples = [
        element(
            "div",
            element("code", text(url, LONGEST_URL)),
            " ",
            element("small", text(rule, LONGEST_URL)),
        )
        for url, rule in group.examples
    ]
    share = 100 * group.blocked / checked
    return [
        element("span", ", ".join(group.crawlers), class_="names"),
        group.blocked,
        f"{share:.0f} %" if share >= 1 else "< 1 %",
        examples,
    ]


def _history_part(host: HostFacts, part: Callable[..., Html], where: str) -> Html:
    rows = [
        [
            change.day,
            [text(change.title), element("div", element("small", text(change.lines)))],
            element(
                "ul", [element("li", text(effect)) for effect in change.effects], class_="effects"
            )
            if change.effects
            else None,
            text(change.source),
        ]
        for change in host.history or ()
    ]
    columns: list[TableColumn | str] = [
        "Since (UTC)",
        "What happened",
        TableColumn("Main crawlers: all URLs, home page", "wide"),
        "Known from",
    ]
    return part(
        "History",
        table(f"Changes of the robots.txt{where}", columns, rows, stacked=True) if rows else None,
        intro=host.history_words or None,
    )
