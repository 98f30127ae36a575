"""A log report as CSV: a record for each crawler and day, or another table."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.cli.csv_cells import csv_line
from robotrules.operations.logs.summary import STATUS_CLASSES, IdentityCounts, LogReport

# Spreadsheets take CSV without a mark for Windows-1252: the words of this table are in ASCII.
OTHER_URLS, OTHER_RULES = "(other URLs)", "(other rules)"
IDENTITIES = ("verified", "not_verified", "impostor")
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
        *("crawler", "impostor_of", "known", "operator", "purposes", "obeys", "requests", "bytes"),
        *(*STATUS_CLASSES, "addresses", "robots_requests", "in_transition", "violations"),
        *(f"violations_{one}" for one in IDENTITIES),
        *("age_up_to_hour", "age_up_to_day", "age_older", "age_unknown"),
        *("crawl_delay", "sooner", "never_fetched", "may_fetch"),
    )
    for one in report.crawlers:
        missing, delay, ages = one.missing, one.delay, one.ages
        cells: list[str | int | None] = [one.name, one.impostor_of]
        cells += ["yes" if one.is_known else "no", one.operator, " ".join(one.purposes), one.obeys]
        cells += [one.requests, one.octets, *one.statuses, one.addresses, one.robots_requests]
        cells += [one.in_transition, one.violations, *_identities(one.identities)]
        cells += [ages.up_to_hour, ages.up_to_day, ages.older, ages.unknown]
        cells += [None if delay.asked is None else f"{delay.asked:g}", delay.sooner]
        cells += [missing.never, missing.allowed] if missing else [None] * 2
        yield tuple(cells)


def _identities(who: IdentityCounts | None) -> list[int | None]:
    return [who.verified, who.not_verified, who.impostor] if who else [None] * len(IDENTITIES)


def _violations(report: LogReport) -> Records:
    """
    Yield a record for each rule and URL.

    The sum of *url_requests* is the number of all: what has no URL of its own has a record too.
    """
    yield (
        *("crawler", "impostor_of", "rule", "line", "source", "rule_requests", "served"),
        *(f"rule_{one}" for one in IDENTITIES),
        *("first", "last", "url", "url_requests"),
    )
    for crawler in report.violators:
        who = crawler.name, crawler.impostor_of
        for rule in crawler.rules:
            counts = rule.requests, rule.served, *_identities(rule.identities)
            start = (*who, rule.rule, rule.line, rule.source, *counts, rule.first, rule.last)
            for url in rule.urls:
                yield (*start, url.url.replace("…", "..."), url.requests)
            if rule.not_listed:
                yield (*start, OTHER_URLS, rule.not_listed)
        if rest := crawler.not_listed:
            yield (*who, OTHER_RULES, None, "", rest, *[None] * 6, OTHER_URLS, rest)


def _missing(report: LogReport) -> Records:
    yield ("crawler", "never_fetched", "may_fetch", "example")
    for crawler in report.crawlers:
        missing = crawler.missing
        if missing:
            for example in missing.examples or ("",):
                example = example.replace("…", "...")
                yield (crawler.name, missing.never, missing.allowed, example)


TABLES = {"days": _days, "crawlers": _crawlers, "violations": _violations, "missing": _missing}
