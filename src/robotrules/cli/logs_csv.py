"""A log report as CSV: a record for each crawler and day, or another table."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.cli.csv_cells import csv_line
from robotrules.operations.logs.summary import STATUS_CLASSES, LogReport

Records = Iterator[tuple[str | int | None, ...]]


def csv_text(report: LogReport, table: str) -> str:
    """Return a table of `TABLES` as CSV with a header."""
    return "".join(map(csv_line, TABLES[table](report)))


def _days(report: LogReport) -> Records:
    yield ("day", "crawler", "known", "requests", "bytes", *STATUS_CLASSES, "violations")
    for crawler in report.crawlers:
        for one in crawler.days:
            known = "yes" if crawler.is_known else "no"
            counts = (one.requests, one.octets, *one.statuses, one.violations)
            yield (one.day, crawler.name, known, *counts)


def _crawlers(report: LogReport) -> Records:
    yield (
        *("crawler", "known", "operator", "purposes", "obeys", "requests", "bytes"),
        *STATUS_CLASSES,
        *("addresses", "robots_requests", "violations", "verified", "not_verified", "impostor"),
        *("age_up_to_hour", "age_up_to_day", "age_older", "age_unknown"),
        *("crawl_delay", "sooner", "never_fetched", "may_fetch"),
    )
    for one in report.crawlers:
        who, missing, delay, ages = one.identities, one.missing, one.delay, one.ages
        cells: list[str | int | None] = [one.name, "yes" if one.is_known else "no", one.operator]
        cells += [" ".join(one.purposes), one.obeys, one.requests, one.octets, *one.statuses]
        cells += [one.addresses, one.robots_requests, one.violations]
        cells += [who.verified, who.not_verified, who.impostor] if who else [None] * 3
        cells += [ages.up_to_hour, ages.up_to_day, ages.older, ages.unknown]
        cells += [None if delay.asked is None else f"{delay.asked:g}", delay.sooner]
        cells += [missing.never, missing.allowed] if missing else [None] * 2
        yield tuple(cells)


def _violations(report: LogReport) -> Records:
    yield (
        *("crawler", "rule", "line", "source", "rule_requests", "served", "first", "last"),
        *("url", "url_requests"),
    )
    for crawler in report.violators:
        for rule in crawler.rules:
            start = (crawler.name, rule.rule, rule.line, rule.source, rule.requests)
            for url in rule.urls:
                yield (*start, rule.served, rule.first, rule.last, url.url, url.requests)


def _missing(report: LogReport) -> Records:
    yield ("crawler", "never_fetched", "may_fetch", "example")
    for crawler in report.crawlers:
        missing = crawler.missing
        if missing:
            for example in missing.examples or ("",):
                yield (crawler.name, missing.never, missing.allowed, example)


TABLES = {"days": _days, "crawlers": _crawlers, "violations": _violations, "missing": _missing}
