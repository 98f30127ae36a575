"""
The counts of one crawler, in tables with limits.

Everything in a log comes from strangers. What is beyond a limit is counted together, or counts
become lower bounds, which the report says.

Sections: limits · tables · one crawler.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from robotrules.octets import visible
from robotrules.operations.logs.summary import AgeCounts, DelayFacts
from robotrules.registries.crawlers import KnownCrawler
from robotrules.robotstxt import Tokens
from robotrules.robotstxt.ruleset import RuleSet

__all__ = ["Allowance", "CrawlerTally", "JudgedRequest", "RuleTally", "TopUrls", "shown_url"]

# --- Limits ---------------------------------------------------------------------------------------

# Rules that a crawler did not obey, and their URLs: the most frequent are kept.
MOST_RULES, MOST_URLS, FEWEST_URLS = 200, 10_000, 8
LONGEST_URL = 300
# Seconds that separate classes of intervals between requests.
GAPS = (1, 2, 3, 5, 8, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1800, 3600, 21600, 86400)
# 1xx to 5xx, and others.
STATUSES = 6
HOUR, DAY = 3600.0, 86400.0
OTHER_RULES = "further rules"

_QUERY_VALUE = re.compile(rb"=[^&;]++")


class Allowance:
    """A number of entries that several tables share."""

    def __init__(self, entries: int) -> None:
        self.left = entries
        self.is_exhausted = False

    def take(self) -> bool:
        """Take one entry; False if there is none left."""
        if self.left > 0:
            self.left -= 1
            return True
        self.is_exhausted = True
        return False


# --- Tables ---------------------------------------------------------------------------------------


def shown_url(url: bytes) -> str:
    """Return a URL for people: truncated, and without the values of its query."""
    path, mark, query = url[: 4 * LONGEST_URL].partition(b"?")
    shown = visible(path)
    if mark:
        shown += "?" + visible(_QUERY_VALUE.sub(b"=\xe2\x80\xa6", query))
    return shown if len(shown) <= LONGEST_URL else shown[: LONGEST_URL - 1] + "…"


class TopUrls:
    """
    The most frequent URLs of many, in bounded memory.

    If there are more than fit, the rarer half is forgotten, and counts become lower bounds.
    """

    __slots__ = ("_allowance", "_counts", "exact")

    def __init__(self, allowance: Allowance) -> None:
        self._counts: dict[str, int] = {}
        self._allowance = allowance
        self.exact = True

    def add(self, url: str) -> None:
        """Count a URL."""
        counts = self._counts
        if url in counts:
            counts[url] += 1
            return
        if len(counts) >= MOST_URLS or (len(counts) >= FEWEST_URLS and not self._allowance.take()):
            self.exact = False
            kept = self.most(len(counts) // 2)
            self._allowance.left += max(len(counts) - max(len(kept), FEWEST_URLS) - 1, 0)
            self._counts = counts = dict(kept)
        counts[url] = 1

    def most(self, count: int) -> list[tuple[str, int]]:
        """Return the most frequent ones."""
        return sorted(self._counts.items(), key=lambda item: (-item[1], item[0]))[:count]


class RuleTally:
    """Requests that a rule asks a crawler not to make."""

    __slots__ = (
        *("_addresses_left", "addresses", "count", "first", "last", "line", "rule", "served"),
        *("source", "urls"),
    )

    def __init__(
        self,
        rule: str,
        line: int | None,
        source: str,
        allowance: Allowance,
        addresses: Allowance | None = None,
    ) -> None:
        """*allowance* is that of URLs; *addresses* that of addresses, None to count none."""
        self.rule, self.line, self.source = rule, line, source
        self.addresses: dict[bytes, int] = {}
        self._addresses_left = addresses
        self.count = self.served = 0
        self.first, self.last = float("inf"), float("-inf")
        self.urls = TopUrls(allowance)

    def add(self, request: JudgedRequest) -> None:
        """Count a request."""
        self.count += 1
        self.served += request.served
        self.first = min(self.first, request.at)
        self.last = max(self.last, request.at)
        self.urls.add(shown_url(request.url))
        left, address = self._addresses_left, request.address
        if left is not None and (address in self.addresses or left.take()):
            self.addresses[address] = self.addresses.get(address, 0) + 1


# --- One crawler ----------------------------------------------------------------------------------


class JudgedRequest(NamedTuple):
    """A request that is judged together with others of its crawler."""

    url: bytes
    at: float
    day: list[int]
    """The counts of its day."""
    served: bool
    """Whether the response has a status below 400."""
    address: bytes
    age: float | None
    """The seconds since the crawler requested /robots.txt before; None if it did not."""


class CrawlerTally:
    """
    The counts of one crawler.

    Of each day: requests, bytes, violations, and the classes of status.
    """

    def __init__(self, name: str, known: KnownCrawler | None, impostor_of: str = "") -> None:
        """*impostor_of* is the name that its requests claim, if they are proven to be of others."""
        self.name, self.known, self.impostor_of = name, known, impostor_of
        # Counts requests from outside of the ranges that were given for the crawler.
        self.impostors: CrawlerTally | None = None
        self.names: Tokens = known.names if known else name
        # Crawlers whose copy of robots.txt it uses: Googlebot-Image that of Googlebot.
        readers = known.names if known and not impostor_of else (name,)
        self.readers = [one.lower() for one in readers]
        self.days: dict[str, list[int]] = {}
        # With the number of violations.
        self.addresses: dict[bytes, int] = {}
        self.addresses_exact = True
        self.robots_requests = 0
        self.in_transition = 0
        self.rules: dict[tuple[int | None, str, str], RuleTally] = {}
        self.waiting: list[JudgedRequest] = []
        # The rules in force, and the delay that they ask for.
        self.rule_set: RuleSet | None = None
        self.delay: float | None = None
        self.delay_line: int | None = None
        self.ages = [0, 0, 0, 0]
        self.oldest: float | None = None
        self._last_at: float | None = None
        self._gaps = [0] * (len(GAPS) + 1)
        self._sooner = 0

    def add_gap(self, at: float) -> None:
        """Count the interval since the last request; none for lines out of order."""
        last = self._last_at
        if last is None:
            self._last_at = at
            return
        gap = 0.0
        if at > last:
            gap, self._last_at = at - last, at
        self._gaps[bisect_right(GAPS, gap)] += 1
        # Whole seconds are rounded down, so up to a second may be missing from the interval.
        if self.delay is not None and gap + (gap % 1 == 0) <= self.delay and gap < self.delay:
            self._sooner += 1

    def add_violation(self, request: JudgedRequest, tally: RuleTally) -> None:
        """Count a request that the rules ask not to make."""
        tally.add(request)
        request.day[2] += 1
        if request.address in self.addresses:
            self.addresses[request.address] += 1
        age = request.age
        if age is None:
            self.ages[3] += 1
            return
        self.ages[0 if age <= HOUR else 1 if age <= DAY else 2] += 1
        if self.oldest is None or age > self.oldest:
            self.oldest = age

    @property
    def requests(self) -> int:
        """The number of requests."""
        return sum(day[0] for day in self.days.values())

    @property
    def violations(self) -> int:
        """The number of requests that the rules ask not to make."""
        return sum(day[2] for day in self.days.values())

    def age_counts(self) -> AgeCounts:
        """Return how old its robots.txt was."""
        up_to_hour, up_to_day, older, unknown = self.ages
        return AgeCounts(up_to_hour, up_to_day, older, unknown, self.oldest)

    def delay_facts(self) -> DelayFacts:
        """Return what is known about the delay between requests."""
        total, half, median = sum(self._gaps), 0, None
        for number, count in enumerate(self._gaps):
            half += count
            if total and 2 * half >= total:
                # The lower end of the class: 0 stands for less than a second.
                median = float(GAPS[number - 1]) if number else 0.0
                break
        return DelayFacts(self.delay, self.delay_line, self._sooner, total, median)
