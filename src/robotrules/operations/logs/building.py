"""A `LogReport` from counts: identities are checked, URLs are truncated, times become text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from robotrules.octets import visible
from robotrules.operations.crawler_identity import Identity, IdentityChecker, IdentityResult
from robotrules.operations.logs.counting import (
    MOST_ADDRESSES,
    MOST_DAYS,
    MOST_OTHER_BOTS,
    MOST_URLS_IN_ALL,
    OTHER_DAYS,
    TrafficCounter,
)
from robotrules.operations.logs.coverage import MOST_LISTED
from robotrules.operations.logs.summary import (
    CrawlerTraffic,
    DayTraffic,
    IdentityCounts,
    LogFileFacts,
    LogReport,
    RequestedUrl,
    ViolatedRule,
)
from robotrules.operations.logs.tallies import DAY, MOST_URLS, CrawlerTally, RuleTally

__all__ = ["build_report"]

MOST_SHOWN_HOSTS = 20
# Addresses that are checked, those with the most violations first.
MOST_CHECKED = 10_000


def build_report(
    counter: TrafficCounter,
    files: Sequence[LogFileFacts],
    *,
    site: str,
    rules_name: str,
    top: int,
    who: IdentityChecker | None,
) -> LogReport:
    """Return the report of what was counted; *top* limits rules and URLs of each crawler."""
    tallies = [one for one in counter.tallies.values() if one.days]
    identities = _Identities(tallies, who) if who else None
    crawlers = [_traffic(one, counter, identities, top) for one in tallies]
    crawlers.sort(key=lambda one: (-one.requests, one.name))
    listed = "URLs" if counter.coverage.is_listed else "sections"
    return LogReport(
        site=visible(site),
        rules=visible(rules_name),
        first=_time(counter.first),
        last=_time(counter.last),
        requests=counter.requests,
        people=counter.people,
        crawlers=tuple(crawlers),
        rest=counter.rest,
        left_out=counter.left_out,
        hosts=tuple(visible(host) for host in sorted(counter.hosts)[:MOST_SHOWN_HOSTS]),
        missing_of=listed if any(one.missing for one in crawlers) else "",
        files=tuple(one._replace(name=visible(one.name)) for one in files),
        notes=tuple(_notes(counter, tallies, files) + _identity_notes(crawlers)),
    )


def _traffic(
    tally: CrawlerTally,
    counter: TrafficCounter,
    identities: _Identities | None,
    top: int,
) -> CrawlerTraffic:
    known = None if tally.impostor_of else tally.known
    days = sorted(tally.days.items())
    rules = sorted(tally.rules.values(), key=lambda one: (-one.count, one.line or 0, one.rule))
    return CrawlerTraffic(
        name=visible(tally.name),
        impostor_of=visible(tally.impostor_of),
        is_known=known is not None,
        operator=known.operator if known else "",
        purposes=known.purposes if known else (),
        obeys=known.obeys if known else "not said",
        requests=tally.requests,
        octets=sum(counts[1] for _, counts in days),
        statuses=tuple(map(sum, zip(*(counts[3:] for _, counts in days), strict=True))),
        addresses=len(tally.addresses),
        addresses_exact=tally.addresses_exact,
        days=tuple(
            DayTraffic(day, counts[0], counts[1], tuple(counts[3:]), counts[2])
            for day, counts in days
        ),
        robots_requests=tally.robots_requests,
        violations=tally.violations,
        in_transition=tally.in_transition,
        rules=tuple(_violated(one, tally, identities, top) for one in rules[:top]),
        ages=tally.age_counts(),
        identities=_counted(identities, tally, tally.addresses, tally.violations),
        delay=tally.delay_facts(),
        missing=counter.coverage.missing(tally.name, tally.rule_set) if known else None,
    )


def _violated(
    tally: RuleTally, crawler: CrawlerTally, identities: _Identities | None, top: int
) -> ViolatedRule:
    urls = tuple(RequestedUrl(url, count) for url, count in tally.urls.most(top))
    return ViolatedRule(
        rule=tally.rule,
        line=tally.line,
        source=visible(tally.source),
        requests=tally.count,
        served=tally.served,
        first=_time(tally.first),
        last=_time(tally.last),
        urls=urls,
        url_counts_exact=tally.urls.exact,
        identities=_counted(identities, crawler, tally.addresses, tally.count),
    )


class _Identities:
    """Who made the violations, by the addresses that made them."""

    def __init__(self, tallies: Sequence[CrawlerTally], who: IdentityChecker) -> None:
        asked = [
            (count, tally.known, address.decode("ascii", "replace"))
            for tally in tallies
            for address, count in tally.addresses.items()
            if count and tally.known
        ]
        asked.sort(key=lambda one: -one[0])
        self._results: dict[tuple[str, str], IdentityResult] = who.check_many(
            (known, address) for _, known, address in asked[:MOST_CHECKED]
        )

    def count(self, tally: CrawlerTally, made: dict[bytes, int], total: int) -> IdentityCounts:
        """Return who made so many violations, of which *made* has those by address."""
        # Of addresses that were too many to keep or check, this much is known.
        other = Identity.IMPOSTOR if tally.impostor_of else Identity.NOT_VERIFIED
        counts = Counter({other: total})
        if tally.known:
            token = tally.known.product_token
            for address, count in made.items():
                result = self._results.get((token, address.decode("ascii", "replace")))
                if result is not None and count:
                    counts[other] -= count
                    counts[result.identity] += count
        return IdentityCounts(
            counts[Identity.VERIFIED], counts[Identity.NOT_VERIFIED], counts[Identity.IMPOSTOR]
        )


def _counted(
    identities: _Identities | None, tally: CrawlerTally, made: dict[bytes, int], total: int
) -> IdentityCounts | None:
    return identities.count(tally, made, total) if identities and total else None


def _identity_notes(crawlers: Sequence[CrawlerTraffic]) -> list[str]:
    """Return which ranges the DNS contradicts."""
    return [
        f"{one.identities.verified:,} requests in the row '{one.name}' are of {one.impostor_of}, "
        "by its host names: the address ranges are out of date, download them again."
        for one in crawlers
        if one.impostor_of and one.identities and one.identities.verified
    ]


def _notes(
    counter: TrafficCounter, tallies: Sequence[CrawlerTally], files: Sequence[LogFileFacts]
) -> list[str]:
    """Return what limits the numbers, in sentences."""
    notes = []
    for file in files:
        if not file.has_agent:
            notes.append(
                f"{visible(file.name)} has no User-Agent, so no crawler can be recognized in it: "
                "log the field, as the format 'combined' does."
            )
    if counter.unjudged:
        made, are = ("request was", "is") if counter.unjudged == 1 else ("requests were", "are")
        notes.append(
            f"{counter.unjudged:,} {made} made when the rules were not known, and {are} not judged."
        )
    if counter.last_fetch is not None and counter.last > counter.last_fetch + DAY:
        notes.append(
            f"robots.txt was fetched last at {_time(counter.last_fetch)}: later requests are "
            "judged by what was found then, although it may have changed."
        )
    if counter.elsewhere:
        notes.append(
            f"{counter.elsewhere:,} requests have a URL of another host, as for a proxy, and are "
            "not judged."
            if counter.elsewhere > 1
            else "1 request has a URL of another host, as for a proxy, and is not judged."
        )
    if counter.rest:
        notes.append(
            f"More than {MOST_OTHER_BOTS} crawlers are not in the registry: {counter.rest:,} "
            "requests of the others are counted together and not judged."
        )
    if any(OTHER_DAYS in one.days for one in tallies):
        notes.append(
            f"There are more than {MOST_DAYS:,} pairs of a crawler and a day: the others are "
            f"counted as '{OTHER_DAYS}'."
        )
    if not all(one.addresses_exact for one in tallies):
        notes.append(f"Up to {MOST_ADDRESSES:,} addresses of a crawler are told apart.")
    if other := counter.coverage.elsewhere:
        notes.append(f"{other:,} URLs of the list are of other hosts, and are left out.")
    inexact = [
        (one.name, rule.rule)
        for one in tallies
        for rule in one.rules.values()
        if not rule.urls.exact
    ]
    if inexact:
        name, rule = inexact[0]
        more = f", and for {len(inexact) - 1:,} more" if len(inexact) > 1 else ""
        notes.append(
            f"More URLs were not obeyed than are kept ({MOST_URLS:,} of a rule, "
            f"{MOST_URLS_IN_ALL:,} of all): for '{rule[:100]}' ({visible(name)}){more}, the "
            "counts of single URLs are lower bounds and rare URLs are missing. Counts of requests "
            "are exact."
        )
    if not counter.coverage.is_whole:
        notes.append(f"Only the first {MOST_LISTED:,} URLs of the list are compared.")
    return notes


def _time(at: float) -> str:
    """Return a time in UTC; empty if there is none."""
    if abs(at) == float("inf"):
        return ""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
