"""
What access logs say about crawlers: a `LogReport` of plain values, for text, JSON, CSV and pages.

Visitors are counted and never listed: a report has no address. A URL is truncated, and the values
of its query are replaced by `…`, because they may be secrets. Names and URLs of a log are texts of
strangers: `as_dict()` has them with control characters escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

__all__ = [
    "AgeCounts",
    "CrawlerTraffic",
    "DayTraffic",
    "DelayFacts",
    "IdentityCounts",
    "LogFileFacts",
    "LogReport",
    "MissingUrls",
    "RequestedUrl",
    "UnreadLine",
    "ViolatedRule",
]


class UnreadLine(NamedTuple):
    """A line that does not fit the format of its file."""

    line: int
    text: str
    """Its beginning."""


class LogFileFacts(NamedTuple):
    """What was read of a file."""

    name: str
    form: str
    """The format, such as `combined`."""
    has_agent: bool
    """Whether it has User-Agent headers."""
    requests: int
    """Lines that were read as requests."""
    unread: int
    """Lines that do not fit the format, or have no valid time."""
    examples: tuple[UnreadLine, ...]
    """The first of these."""
    error: str
    """Why the rest was not read; empty if all was."""


class DayTraffic(NamedTuple):
    """The requests of one day."""

    day: str
    """Such as `2026-10-31`, as the log writes it."""
    requests: int
    octets: int
    statuses: tuple[int, ...]
    """The number of responses with a status of 1xx, 2xx, 3xx, 4xx, 5xx, and others."""
    violations: int
    """Requests for URLs that robots.txt asks the crawler not to fetch."""


class RequestedUrl(NamedTuple):
    """A URL and how often it was requested."""

    url: str
    """Truncated, without the values of its query."""
    requests: int


class ViolatedRule(NamedTuple):
    """A rule, and the requests of a crawler that it asks not to make."""

    rule: str
    """As written, such as `Disallow: /private/`; or the reason, if no rule decides."""
    line: int | None
    source: str
    """The file, commit or fetch that the rule is from."""
    requests: int
    served: int
    """How many of these got a response with a status below 400."""
    first: str
    """The time of the first of these requests, and of the last, in UTC."""
    last: str
    urls: tuple[RequestedUrl, ...]
    """The most frequent URLs."""
    url_counts_exact: bool
    """False if there were so many URLs that their counts are lower bounds."""
    identities: IdentityCounts | None
    """Who made these requests; None if that was not checked."""

    @property
    def not_listed(self) -> int:
        """The number of requests for URLs that are not in `urls`."""
        return self.requests - sum(one.requests for one in self.urls)


class AgeCounts(NamedTuple):
    """
    How old the crawler's robots.txt was when it requested what it was asked not to.

    The age is the time since its last successful request for /robots.txt in the same log. RFC 9309
    §2.4: a crawler should not use a copy for more than 24 hours.
    """

    up_to_hour: int
    up_to_day: int
    older: int
    unknown: int
    """It had not requested /robots.txt before, in this log."""
    oldest: float | None
    """The largest age in seconds."""


class IdentityCounts(NamedTuple):
    """The violations of a crawler by who made them."""

    verified: int
    not_verified: int
    impostor: int
    """Made by others under its name."""


class DelayFacts(NamedTuple):
    """The seconds between requests of a crawler, from all its addresses."""

    asked: float | None
    """Its Crawl-delay; None if the file has none for it."""
    line: int | None
    sooner: int
    """Requests that certainly came sooner than asked."""
    gaps: int
    """The number of intervals."""
    median: float | None
    """The median interval, to the precision of a class of intervals."""


class MissingUrls(NamedTuple):
    """What a crawler may fetch and never did."""

    allowed: int
    """The number of URLs or sections that it may fetch."""
    never: int
    """How many of these it never requested."""
    examples: tuple[str, ...]
    """The first of them."""


class CrawlerTraffic(NamedTuple):
    """
    The requests of one crawler, by the name in its User-Agent header.

    If address ranges were given for it, those from elsewhere have a row of their own.
    """

    name: str
    impostor_of: str
    """The name that these requests claim, if the addresses prove that it is false; or empty."""
    is_known: bool
    """Whether it is in the registry of well-known crawlers."""
    operator: str
    purposes: tuple[str, ...]
    obeys: str
    """Whether its operator says that it obeys robots.txt: yes, partly, no, not said."""
    requests: int
    octets: int
    statuses: tuple[int, ...]
    """As in `DayTraffic`."""
    addresses: int
    """The number of addresses that it came from."""
    addresses_exact: bool
    """False if there were more than are counted."""
    days: tuple[DayTraffic, ...]
    robots_requests: int
    """Requests for /robots.txt."""
    violations: int
    in_transition: int
    """
    Requests that the rules ask not to make, but an older file allowed, which it may use for a day.

    They are not counted as violations (RFC 9309 §2.4).
    """
    rules: tuple[ViolatedRule, ...]
    """The rules that it did not obey, the most frequent first."""
    ages: AgeCounts
    identities: IdentityCounts | None
    """None if there are no violations, or its identity was not checked."""
    delay: DelayFacts
    missing: MissingUrls | None
    """None if that cannot be told."""

    @property
    def own_violations(self) -> int:
        """Violations, without those that are proven to be of impostors."""
        return self.violations - (self.identities.impostor if self.identities else 0)

    @property
    def row_violations(self) -> int:
        """Violations for a table: of a crawler without its impostors, of a row of impostors all."""
        return self.violations if self.impostor_of else self.own_violations

    @property
    def not_listed(self) -> int:
        """The number of violations of rules that are not in `rules`."""
        return self.violations - sum(one.requests for one in self.rules)

    def limited(self, top: int) -> CrawlerTraffic:
        """Return it with at most so many rules, and URLs of each."""
        rules = tuple(one._replace(urls=one.urls[:top]) for one in self.rules[:top])
        return self._replace(rules=rules)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return _plain(self)  # type: ignore[no-any-return]


class LogReport(NamedTuple):
    """What access logs say about crawlers."""

    site: str
    """The origin or host, for headings; may be empty."""
    rules: str
    """Which rules the requests are judged by, in words; empty if by none."""
    first: str
    """The time of the first request of a crawler, and of the last, in UTC; empty if none."""
    last: str
    requests: int
    """All requests of the chosen time and host, also of crawlers that were not chosen."""
    people: int
    """Requests of everyone who does not name a crawler."""
    crawlers: tuple[CrawlerTraffic, ...]
    """Well-known crawlers, and others that say that they are one; the most active first."""
    rest: int
    """Requests of further crawlers, which were too many to tell apart."""
    left_out: int
    """Requests outside of the chosen time or host, and of crawlers that were not chosen."""
    hosts: tuple[str, ...]
    """The hosts that the log names."""
    missing_of: str
    """What `CrawlerTraffic.missing` counts: `URLs`, `sections`, or nothing."""
    files: tuple[LogFileFacts, ...]
    notes: tuple[str, ...]
    """What limits the numbers, in sentences."""

    @property
    def known(self) -> tuple[CrawlerTraffic, ...]:
        """The well-known crawlers."""
        return tuple(one for one in self.crawlers if one.is_known)

    @property
    def violators(self) -> tuple[CrawlerTraffic, ...]:
        """Who fetched what it was asked not to, impostors too, the most frequent first."""
        found = [one for one in self.crawlers if one.violations]
        return tuple(sorted(found, key=lambda one: (-one.violations, one.name)))

    @property
    def violations(self) -> int:
        """The number of requests that robots.txt asks not to make, also of impostors."""
        return sum(one.violations for one in self.crawlers)

    @property
    def own_violations(self) -> dict[str, int]:
        """These by crawler, the most frequent first, without proven impostors."""
        return _totals((one.impostor_of or one.name, one.own_violations) for one in self.crawlers)

    @property
    def impostor_violations(self) -> dict[str, int]:
        """These of proven impostors, by the crawler whose name they claim."""
        return _totals(
            (one.impostor_of or one.name, one.violations - one.own_violations)
            for one in self.crawlers
        )

    @property
    def impostor_requests(self) -> dict[str, int]:
        """All requests from outside of the given address ranges, by the name that they claim."""
        return _totals((one.impostor_of, one.requests) for one in self.crawlers if one.impostor_of)

    @property
    def crawler_requests(self) -> int:
        """The number of requests of all crawlers, without rows of impostors."""
        return sum(one.requests for one in self.crawlers if not one.impostor_of) + self.rest

    @property
    def has_uncounted_impostors(self) -> bool:
        """Whether a row of a crawler has violations of impostors, found by host names."""
        return any(one.violations != one.row_violations for one in self.crawlers)

    @property
    def has_transition(self) -> bool:
        """Whether there are requests for what an older file allowed."""
        return any(one.in_transition for one in self.crawlers)

    @property
    def others(self) -> tuple[CrawlerTraffic, ...]:
        """Others that say that they are a crawler."""
        return tuple(one for one in self.crawlers if not one.is_known and not one.impostor_of)

    def limited(self, top: int) -> LogReport:
        """Return it with at most so many rules of each crawler, and URLs of each rule."""
        return self._replace(crawlers=tuple(one.limited(top) for one in self.crawlers))

    @property
    def unread(self) -> int:
        """The number of lines that could not be read."""
        return sum(one.unread for one in self.files)

    @property
    def days(self) -> tuple[str, ...]:
        """All days with requests of crawlers, in order."""
        return tuple(sorted({day.day for one in self.crawlers for day in one.days}))

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        derived = {
            "violations": self.violations,
            "crawler_requests": self.crawler_requests,
            "impostor_requests": sum(self.impostor_requests.values()),
        }
        return {"schema": SCHEMA_VERSION, **_plain(self), **derived}


# Incremented when a key changes its meaning or is removed.
SCHEMA_VERSION = 1
# The keys of JSON that are not the names of attributes.
_KEYS = {"octets": "bytes", "form": "format"}
STATUS_CLASSES = ("1xx", "2xx", "3xx", "4xx", "5xx", "other")


def _totals(counts: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Return the sums by name, the largest first, without zeros."""
    totals: dict[str, int] = {}
    for name, count in counts:
        totals[name] = totals.get(name, 0) + count
    found = sorted(totals.items(), key=lambda one: (-one[1], one[0]))
    return {name: count for name, count in found if count}


def _plain(value: object) -> Any:
    """Return nested named tuples as dictionaries."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {
            _KEYS.get(name, name): (
                dict(zip(STATUS_CLASSES, one, strict=True)) if name == "statuses" else _plain(one)
            )
            for name, one in value._asdict().items()
        }
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(one) for one in value]
    return value
