"""
Crawl-delay: how many seconds a site would like between two requests (REC-crawl-delay-01 to -03).

Group scope. Nobody ever defined it and crawlers differ; what is decided here is AMB-118: a decimal
number of seconds, the first good value of a group, the largest of groups that are merged. It never
touches a verdict, however large it is. It does not wait and does not know when the last request
was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from math import isfinite
from typing import Any, NamedTuple

from robotrules.extensions import vet
from robotrules.extensions.codes import note
from robotrules.profile import Extension, Role
from robotrules.robotstxt import RobotsTxt, Tokens
from robotrules.robotstxt.values import Group, Note, Record

EXTENSION = Extension("Crawl-delay", (), Role.OTHER, "group", "Bing, Yandex until 2018 (AMB-118)")

# No sign, no exponent, no `inf`, no digits but ASCII's. Each value matches in one way only, so a
# long one costs no more than its length.
_SECONDS = re.compile(rb"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")


class CrawlDelay(NamedTuple):
    """The delay that one crawler is asked for."""

    seconds: float
    record: Record
    """The record that counts."""
    records: tuple[Record, ...]
    """Every Crawl-delay of the groups looked at, good or not, in the order of the file."""
    star: bool
    """Whether the crawler has groups of its own and the value is the `*` groups'."""

    @property
    def line(self) -> int:
        """The line of the record that counts."""
        return self.record.line

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        written = [{"value": record.text, "line": record.line} for record in self.records]
        return {
            "seconds": self.seconds,
            "line": self.line,
            "star": self.star,
            "records": written,
        }


def crawl_delay(
    robots: RobotsTxt, product_token: Tokens, purposes: Sequence[str] = (), *, star: bool = False
) -> CrawlDelay | None:
    """
    Return the delay asked of *product_token*, or None.

    The groups are those whose rules it obeys. *star* takes the value of the `*` groups where
    they have none, as Bing does; otherwise a crawler with a group of its own never sees it.
    """
    vet(robots)
    found = _longest(robots.select_groups(product_token, purposes).groups, star=False)
    if found is None and star:
        found = _longest(robots.select_groups("*").groups, star=True)
    return found


def notes(robots: RobotsTxt, registries: object = None) -> Iterator[Note]:
    """Yield what is odd about the delays of a file."""
    counted: set[int] = set()
    for record in robots.records:
        if record.key != "crawl-delay":
            continue
        if record.group is None:
            yield note("record-outside-group", record)
        if _seconds(record) is None:
            yield note("bad-crawl-delay", record)
        elif record.group in counted:
            yield note("second-value", record)
        elif record.group is not None:
            counted.add(record.group)


def _longest(groups: Iterable[Group], *, star: bool) -> CrawlDelay | None:
    """Return the largest of the first good values of some groups: the politest (AMB-118)."""
    best: tuple[float, Record] | None = None
    records: list[Record] = []
    for group in groups:
        first: tuple[float, Record] | None = None
        for record in group.records:
            if record.key != "crawl-delay":
                continue
            records.append(record)
            seconds = _seconds(record)
            if first is None and seconds is not None:
                first = seconds, record
        if first and (best is None or first[0] > best[0]):
            best = first
    return CrawlDelay(*best, tuple(records), star) if best else None


def _seconds(record: Record) -> float | None:
    if not _SECONDS.fullmatch(record.value):
        return None
    seconds = float(record.value)
    # Enough digits are more than any number: then nobody can wait that long.
    return seconds if isfinite(seconds) else None
