"""
A log report as an HTML page, or as sections of the page of a report.

Every number of a chart is in a table too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from robotrules.html_document import Child, Html, document, element, section
from robotrules.html_document.charts import MOST_SERIES, Series, column_chart, share_bar
from robotrules.html_document.tables import TableColumn, pill, table, tiles
from robotrules.operations.logs.sentences import (
    all_days,
    base_names,
    describe_crawler_traffic,
    format_size,
    group_versions,
    headline,
    rule_place,
    share_of,
    transition_words,
    violator_title,
)
from robotrules.operations.logs.summary import (
    STATUS_CLASSES,
    CrawlerTraffic,
    LogReport,
    ViolatedRule,
)

__all__ = ["log_page", "log_sections"]

MOST_ROWS, MOST_VIOLATORS, MOST_RULES, MOST_URLS = 60, 25, 5, 10
# Days in the table; a chart adds up neighbours.
MOST_DAYS = 400
NUMBER = "number"
_STATUS_NAMES = (
    *("information (1xx)", "served (2xx)", "redirected (3xx)", "refused (4xx)"),
    *("failed (5xx)", "other"),
)


def log_page(report: LogReport, title: str = "", top: int | None = None) -> str:
    """Return a page about a report; *top* limits rules and their URLs in tables."""
    place = f" of {report.site}" if report.site else ""
    return document(
        title or f"Crawlers in the access log{place}",
        log_sections(report, top),
        subtitle=_subtitle(report),
        headline=headline(report),
        footer=element(
            "p",
            "A crawler is recognized by its User-Agent, which anyone can send. robots.txt is a "
            "request to crawlers, and not a form of access authorization.",
        ),
    )


def log_sections(report: LogReport, top: int | None = None) -> list[Html]:
    """Return the sections of a page about a report: charts, crawlers, violations, missing URLs."""
    if not report.crawlers:
        return [section("Crawlers", element("p", headline(report)), *_notes(report))]
    return list(_sections(report, top))


def _sections(report: LogReport, top: int | None) -> Iterator[Html]:
    yield section("At a glance", _tiles(report))
    yield section(
        "Requests of crawlers by day",
        element("div", _requests_chart(report), class_="card"),
        intro="The most active crawlers, and all others together.",
    )
    yield section("Crawlers", _crawler_table(report), *_more(report.crawlers, MOST_ROWS))
    if report.rules:
        yield section("Not obeyed", *_violations(report, top), intro=_violations_intro(report))
    missing = list(_missing_rows(report))
    if missing:
        what = "URLs of the list" if report.missing_of == "URLs" else "sections of the site"
        yield section(
            "Never fetched, although allowed",
            table(
                "What crawlers never fetched",
                (
                    "crawler",
                    TableColumn("never fetched", NUMBER),
                    TableColumn("may fetch", NUMBER),
                    TableColumn("examples", "wide"),
                ),
                missing,
            ),
            intro=f"Among the {what} that a crawler may fetch, those that it did not request in "
            "this log.",
        )
    yield section(
        "Responses by day",
        element("div", _status_chart(report), class_="card"),
        _day_table(report),
        intro="Status of the responses to crawlers.",
    )
    yield section("About these numbers", *_notes(report))


def _subtitle(report: LogReport) -> str:
    names = base_names(report)
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    rules = f"; judged by {report.rules}" if report.rules else ""
    first, last = (at[:16].replace("T", " ") for at in (report.first, report.last))
    period = f", {first} to {last} UTC" if first else ""
    return f"{shown}{period}{rules}"


def _tiles(report: LogReport) -> Html:
    facts: list[tuple[Child, Child]] = [
        (report.requests, "requests in the log"),
        (
            share_of(report.crawler_requests, report.requests),
            f"of crawlers: {report.crawler_requests:,}",
        ),
        (len(report.known), "well-known crawlers"),
        (len(report.others), "others that say they are one"),
    ]
    if claimed := report.impostor_requests:
        facts.append((sum(claimed.values()), f"requests that only claimed to be {_names(claimed)}"))
    if report.rules:
        own, by_impostors = report.own_violations, report.impostor_violations
        facts.append((sum(own.values()), "requests of crawlers that robots.txt asks not to make"))
        facts.append((len(own), "crawlers that made them"))
        if by_impostors:
            facts.append((sum(by_impostors.values()), "such requests of impostors"))
    return tiles(facts)


def _names(counts: dict[str, int]) -> str:
    names = list(counts)
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


# --- Charts ---------------------------------------------------------------------------------------


def _requests_chart(report: LogReport) -> Html:
    days = all_days(report)
    most = MOST_SERIES - 1
    series = [_by_day(one.name, [one], days) for one in report.crawlers[:most]]
    if rest := report.crawlers[most:]:
        series.append(_by_day(f"{len(rest)} others", rest, days))
    return column_chart("Requests of crawlers by day", days, series)


def _by_day(name: str, crawlers: Iterable[CrawlerTraffic], days: Sequence[str]) -> Series:
    totals = dict.fromkeys(days, 0)
    for crawler in crawlers:
        for day in crawler.days:
            totals[day.day] += day.requests
    return Series(name, list(totals.values()))


def _status_chart(report: LogReport) -> Html:
    days = all_days(report)
    totals = {day: [0] * len(STATUS_CLASSES) for day in days}
    for crawler in report.crawlers:
        for one in crawler.days:
            counts = totals[one.day]
            for number, count in enumerate(one.statuses):
                counts[number] += count
    # Informational responses are rare, and are shown with the others.
    series = [
        Series(_STATUS_NAMES[number], [totals[day][number] for day in days])
        for number in range(1, 5)
    ]
    series.append(Series("other", [totals[day][0] + totals[day][5] for day in days]))
    return column_chart(
        "Responses to crawlers by day", days, [one for one in series if any(one.values)]
    )


def _violations_chart(report: LogReport) -> Html:
    days = all_days(report)
    most = MOST_SERIES - 1
    series = []
    for crawler in report.violators[:most]:
        by_day = {day.day: day.violations for day in crawler.days}
        series.append(Series(crawler.name, [by_day.get(day, 0) for day in days]))
    if rest := report.violators[most:]:
        totals = dict.fromkeys(days, 0)
        for crawler in rest:
            for one in crawler.days:
                totals[one.day] += one.violations
        series.append(Series(f"{len(rest)} others", list(totals.values())))
    return column_chart("Requests that robots.txt asks not to make, by day", days, series)


# --- Tables ---------------------------------------------------------------------------------------


def _crawler_table(report: LogReport) -> Html:
    # On a phone the first columns are seen without scrolling.
    judged = [TableColumn("not obeyed", NUMBER)] if report.rules else []
    # Columns that most reports do not need.
    by_impostors, in_transition = report.has_uncounted_impostors, report.has_transition
    judged += [TableColumn("by impostors", NUMBER)] if by_impostors else []
    heads: list[TableColumn | str] = [
        "crawler",
        TableColumn("requests", NUMBER),
        *judged,
        "purpose",
        TableColumn("bytes", NUMBER),
        TableColumn("share of crawlers"),
        *(TableColumn(one, NUMBER) for one in ("2xx", "3xx", "4xx", "5xx")),
        *(TableColumn(one, NUMBER) for one in ("addresses", "/robots.txt")),
        *([TableColumn("in transition", NUMBER)] if in_transition else []),
    ]
    total = report.crawler_requests + sum(report.impostor_requests.values())
    rows = []
    for one in report.crawlers[:MOST_ROWS]:
        operator = element("small", _operator(one))
        violations = pill(f"{one.row_violations:,}", "no") if one.row_violations else "0"
        cells: list[Child] = [
            [one.name, element("br"), operator],
            one.requests,
            *([violations] if report.rules else []),
            *([one.violations - one.row_violations] if by_impostors else []),
            ", ".join(one.purposes[:2]),
            format_size(one.octets),
            [share_bar(one.requests, total, 5), " ", share_of(one.requests, total)],
            *one.statuses[1:5],
            f"{one.addresses:,}" + ("" if one.addresses_exact else "+"),
            one.robots_requests,
            *([one.in_transition] if in_transition else []),
        ]
        rows.append(cells)
    return table("Crawlers by requests", heads, rows)


def _operator(crawler: CrawlerTraffic) -> str:
    if crawler.impostor_of:
        return "from other addresses"
    return crawler.operator or "not in the registry"


def _day_table(report: LogReport) -> Html:
    heads: list[TableColumn | str] = [
        "day",
        *(TableColumn(one, NUMBER) for one in ("requests", "bytes", *STATUS_CLASSES[1:5])),
        *([TableColumn("not obeyed", NUMBER)] if report.rules else []),
    ]
    totals: dict[str, list[int]] = {}
    for crawler in report.crawlers:
        for one in crawler.days:
            counts = totals.setdefault(one.day, [0] * 7)
            values = (one.requests, one.octets, *one.statuses[1:5], one.violations)
            for number, value in enumerate(values):
                counts[number] += value
    rows: list[list[Child]] = []
    for day in sorted(totals, reverse=True)[:MOST_DAYS]:
        requests, octets, *statuses, violations = totals[day]
        last = [violations] if report.rules else []
        rows.append([day, requests, format_size(octets), *statuses, *last])
    return table("Requests of crawlers by day", heads, rows)


def _violations_intro(report: LogReport) -> str:
    if not report.violations:
        return (
            f"Judged by {report.rules}. No crawler fetched what it is asked not to fetch."
            f" {transition_words(report)}"
        ).strip()
    return (
        f"Judged by {report.rules}. Query values are left out, because they may be secrets. "
        "Whether a request came from the crawler itself is known only where it is verified. "
        f"{transition_words(report)}"
    ).strip()


def _violations(report: LogReport, top: int | None) -> Iterator[Html]:
    if not report.violations:
        return
    yield element("div", _violations_chart(report), class_="card")
    for crawler in report.violators[:MOST_VIOLATORS]:
        name, words = violator_title(crawler)
        if crawler.row_violations == crawler.violations:
            words = f"{crawler.violations:,} of {crawler.requests:,} requests"
        rows = [
            _rule_row(one, len(versions) if one is versions[0] else 0, total, top or MOST_URLS)
            for versions in group_versions(crawler.rules)[: top or MOST_RULES]
            for total in [sum(one.requests for one in versions)]
            for one in versions
        ]
        yield element(
            "div",
            element(
                "h3",
                name,
                " ",
                pill(words, "no"),
            ),
            element("ul", [element("li", one) for one in describe_crawler_traffic(crawler)]),
            table(
                f"Rules that {name} did not obey",
                (
                    TableColumn("rule", "wide"),
                    TableColumn("requests", NUMBER),
                    TableColumn("served", NUMBER),
                    TableColumn("days", NUMBER),
                    TableColumn("most frequent URLs", "wide"),
                ),
                rows,
            ),
            class_="card",
        )
    yield from _more(report.violators, MOST_VIOLATORS)


def _rule_row(rule: ViolatedRule, versions: int, total: int, most: int) -> list[Child]:
    """Return a row; that of the first of several *versions* has the total of all."""
    urls = [
        element("div", element("code", one.url), f" {one.requests:,}") for one in rule.urls[:most]
    ]
    first, last = rule.first[:10], rule.last[:10]
    place = rule_place(rule)
    if versions > 1:
        place += f"; {total:,} requests in {versions} versions"
    return [
        [element("code", rule.rule[:300]), element("br"), element("small", place)],
        rule.requests,
        rule.served,
        first if first == last else [first, element("br"), last],
        urls,
    ]


def _missing_rows(report: LogReport) -> Iterator[list[Child]]:
    for crawler in report.crawlers[:MOST_ROWS]:
        missing = crawler.missing
        if missing and missing.never:
            examples = [[element("code", one), " "] for one in missing.examples]
            yield [crawler.name, missing.never, missing.allowed, examples]


def _more(crawlers: Sequence[CrawlerTraffic], shown: int) -> Iterator[Html]:
    if len(crawlers) > shown:
        rest = len(crawlers) - shown
        yield element(
            "p", f"{rest:,} more crawlers are in the JSON and CSV output.", class_="faint"
        )


def _notes(report: LogReport) -> Iterator[Html]:
    rows: list[list[Child]] = [
        [
            name,
            one.form,
            one.requests,
            one.unread,
            one.error or "; ".join(f"line {line}: {text}" for line, text in one.examples),
        ]
        for one, name in zip(report.files[:MOST_ROWS], base_names(report), strict=False)
    ]
    yield table(
        "Files",
        (
            TableColumn("file", "wide"),
            "format",
            TableColumn("requests", NUMBER),
            TableColumn("lines not read", NUMBER),
            TableColumn("remarks", "wide"),
        ),
        rows,
    )
    if report.notes:
        yield element("ul", [element("li", one) for one in report.notes])
