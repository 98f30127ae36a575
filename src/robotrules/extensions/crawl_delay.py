"""
Crawl-delay: the seconds that a site requests between two requests (REC-crawl-delay-01 to -03).

Group scope. No specification defines it and crawlers differ; AMB-118 decides: a decimal number of
seconds, the first valid value of a group, the largest of merged groups. It does not change
verdicts, however large it is. It does not wait and keeps no state.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from math import isfinite
from typing import Any, NamedTuple

from robotrules.extensions import require_robots_txt
from robotrules.extensions.codes import note
from robotrules.profile import Extension, Role
from robotrules.robotstxt import RobotsTxt, Tokens
from robotrules.robotstxt.values import Group, Note, Record

EXTENSION = Extension("Crawl-delay", (), Role.OTHER, "group", "Bing, Yandex until 2018 (AMB-118)")

# No sign, no exponent, no `inf`, only ASCII digits. Each value matches in one way only, so matching
# takes linear time.
_SECONDS = re.compile(rb"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")


class CrawlDelay(NamedTuple):
    """The delay that is requested of one crawler."""

    seconds: float
    record: Record
    """The record that counts."""
    records: tuple[Record, ...]
    """Every Crawl-delay of the selected groups, valid or not, in the order of the file."""
    star: bool
    """Whether the crawler has a named group and the value comes from the `*` groups."""

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
    Return the delay requested of *product_token*, or None.

    The groups are those whose rules it obeys. With *star*, the value of the `*` groups counts if
    they have none, as for Bing; otherwise a crawler with a named group ignores it.
    """
    require_robots_txt(robots)
    delay = _find_longest(robots.select_groups(product_token, purposes).groups, star=False)
    if delay is None and star:
        delay = _find_longest(robots.select_groups("*").groups, star=True)
    return delay


def notes(robots: RobotsTxt, registries: object = None) -> Iterator[Note]:
    """Yield notes on the Crawl-delay records of a file."""
    counted: set[int] = set()
    for record in robots.records:
        if record.key != "crawl-delay":
            continue
        if record.group is None:
            yield note("record-outside-group", record)
        if _parse_seconds(record) is None:
            yield note("bad-crawl-delay", record)
        elif record.group in counted:
            yield note("second-value", record)
        elif record.group is not None:
            counted.add(record.group)


def _find_longest(groups: Iterable[Group], *, star: bool) -> CrawlDelay | None:
    """Return the largest of the first valid values of some groups (AMB-118)."""
    best: tuple[float, Record] | None = None
    records: list[Record] = []
    for group in groups:
        first: tuple[float, Record] | None = None
        for record in group.records:
            if record.key != "crawl-delay":
                continue
            records.append(record)
            seconds = _parse_seconds(record)
            if first is None and seconds is not None:
                first = seconds, record
        if first and (best is None or first[0] > best[0]):
            best = first
    return CrawlDelay(*best, tuple(records), star) if best else None


def _parse_seconds(record: Record) -> float | None:
    if not _SECONDS.fullmatch(record.value):
        return None
    seconds = float(record.value)
    # A value with hundreds of digits overflows to infinity.
    return seconds if isfinite(seconds) else None
