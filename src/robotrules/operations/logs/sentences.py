"""The facts of a log report as sentences, for the terminal and for pages."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta

from robotrules.operations.logs.summary import (
    CrawlerTraffic,
    IdentityCounts,
    LogReport,
    ViolatedRule,
)

__all__ = [
    "all_days",
    "base_names",
    "describe_crawler_traffic",
    "format_size",
    "group_versions",
    "headline",
    "identity_words",
    "rule_place",
    "share_of",
    "transition_words",
    "violator_title",
]

MOST_NAMES = 3
# More days are not filled up: a chart would be wider than its columns.
MOST_FILLED = 1500
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)
_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")
_AGES = ("up to an hour {:,}", "up to a day {:,}", "older {:,}", "not requested before {:,}")


def headline(report: LogReport) -> str:
    """Return the sentences that a reader in a hurry takes away."""
    if not report.crawlers:
        return _no_crawlers(report)
    known = report.known
    total = sum(one.requests for one in known)
    opening = (
        f"{_period(report)}, {_count(len(known), 'well-known crawler')} made "
        f"{_count(total, 'request')} ({share_of(total, report.requests)} of all)."
    )
    others = len(report.others)
    if others:
        opening += (
            f" {_count(others, 'other')} said to be {'a crawler' if others == 1 else 'crawlers'}."
        )
    if claimed := report.impostor_requests:
        opening += (
            f" {_count(sum(claimed.values()), 'further request')} only claimed to be "
            f"{_counted_names(claimed)}."
        )
    if not report.rules:
        return opening
    return f"{opening} {_violations_sentence(report)}"


def _no_crawlers(report: LogReport) -> str:
    if report.requests:
        what = "chosen crawler" if report.left_out else "crawler"
        return f"{_count(report.requests, 'request')}, and no {what} made any of them."
    if report.left_out:
        return f"{_count(report.left_out, 'request')}, and none at the chosen time and host."
    return "No request was found in the log."


def _violations_sentence(report: LogReport) -> str:
    found, claimed = report.own_violations, report.impostor_violations
    # Requests that a crawler made itself, as far as is known; others used its name.
    crawlers = len(report.known) + len(report.others)
    one = len(found) == 1
    if found:
        subject = "It" if crawlers == 1 else f"{len(found)} of them"
        if report.impostor_requests and crawlers > 1:
            subject = f"{len(found)} of the crawlers"
        sentence = (
            f"{subject} fetched URLs that robots.txt asks {'it' if one else 'them'} not to fetch: "
            f"{_counted_names(found, always=True)}"
        )
    elif crawlers > 1:
        who = "the crawlers" if report.impostor_requests else "them"
        sentence = f"None of {who} fetched a URL that robots.txt asks it not to fetch"
    elif crawlers:
        sentence = "It fetched no URL that robots.txt asks it not to fetch"
    else:
        sentence = "No crawler is known to have fetched a URL that robots.txt asks it not to fetch"
    if claimed:
        total = sum(claimed.values())
        sentence += (
            f"; {total:,} {'more such' if found else 'such'} "
            f"{'request' if total == 1 else 'requests'} only claimed to be "
            f"{_counted_names(claimed)}"
        )
    return f"{sentence}."


def _counted_names(counts: Mapping[str, int], *, always: bool = False) -> str:
    """Return some names with their numbers, and how many are left out; one name alone has none."""
    names = [
        f"{name} ({count:,})" if always or len(counts) > 1 else name
        for name, count in counts.items()
    ]
    if len(names) > MOST_NAMES:
        return f"{', '.join(names[:MOST_NAMES])} and {len(names) - MOST_NAMES} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _period(report: LogReport) -> str:
    """Return the days of a report: a month, a day, or from one day to another."""
    days = [day for day in report.days if day[:1].isdigit()]
    if not days:
        return "In this log"
    first, last = days[0], days[-1]
    if first == last:
        return f"On {first}"
    year, month = int(first[:4]), int(first[5:7])
    if first == f"{first[:7]}-01" and last == f"{first[:7]}-{monthrange(year, month)[1]:02}":
        return f"In {_MONTHS[month - 1]} {year}"
    return f"From {first} to {last}"


def all_days(report: LogReport) -> list[str]:
    """Return the days from the first to the last, also those without requests."""
    days = list(report.days)
    dates = [date.fromisoformat(day) for day in days if day[:1].isdigit()]
    if not dates or (dates[-1] - dates[0]).days >= MOST_FILLED:
        return days
    span = (dates[-1] - dates[0]).days
    filled = [(dates[0] + timedelta(days=number)).isoformat() for number in range(span + 1)]
    return [*filled, *(day for day in days if not day[:1].isdigit())]


def describe_crawler_traffic(crawler: CrawlerTraffic) -> Iterator[str]:
    """Yield what is worth saying about a crawler that was asked not to fetch something."""
    who, claimed = crawler.identities, crawler.impostor_of
    if claimed:
        yield f"these addresses are not in the published ranges of {claimed}"
    if crawler.own_violations or claimed:
        ages = (
            crawler.ages.up_to_hour,
            crawler.ages.up_to_day,
            crawler.ages.older,
            crawler.ages.unknown,
        )
        if not crawler.robots_requests and ages[3] == crawler.violations:
            they = "they" if claimed else "it"
            yield f"{they} never requested /robots.txt in this log"
        else:
            parts = [text.format(count) for text, count in zip(_AGES, ages, strict=True) if count]
            yield f"age of its robots.txt, by its requests in this log: {', '.join(parts)}"
    if who is not None and (who.verified or not claimed):
        yield f"who made these requests: {identity_words(who)}"
    if claimed:
        return
    if crawler.in_transition:
        yield (
            f"{_count(crawler.in_transition, 'further request')} for what an older robots.txt "
            "allowed, which a crawler may use for a day (RFC 9309 §2.4)"
        )
    if crawler.obeys == "no":
        yield "its operator says that it does not obey robots.txt"
    elif crawler.obeys == "partly":
        yield "its operator says that it does not always obey robots.txt"
    delay = crawler.delay
    if delay.asked is not None and delay.sooner:
        yield (
            f"Crawl-delay: {delay.asked:g} (line {delay.line}): {delay.sooner:,} of "
            f"{_count(delay.gaps, 'interval')} between requests were shorter"
        )


def violator_title(crawler: CrawlerTraffic) -> tuple[str, str]:
    """Return whose requests were not obedient, and how many; not the name of a crawler alone."""
    own, by_impostors = crawler.own_violations, crawler.violations - crawler.own_violations
    if crawler.impostor_of or not by_impostors:
        return crawler.name, _count(crawler.violations, "request")
    if not own:
        return f"impostors of {crawler.name}", _count(by_impostors, "request")
    return crawler.name, f"{_count(own, 'request')}, and {by_impostors:,} of impostors"


def transition_words(report: LogReport) -> str:
    """Return which requests are not counted because a crawler may use an older file for a day."""
    counts = {one.name: one.in_transition for one in report.crawlers if one.in_transition}
    if not counts:
        return ""
    counts = dict(sorted(counts.items(), key=lambda one: -one[1]))
    total = sum(counts.values())
    return (
        f"{_count(total, 'further request')} {'is' if total == 1 else 'are'} not counted as not "
        "obeyed, because an older robots.txt allowed them, which a crawler may use for a day: "
        f"{_counted_names(counts, always=True)}."
    )


def identity_words(who: IdentityCounts) -> str:
    """Return who made requests, such as `verified 3, impostor 1`."""
    counts = {"verified": who.verified, "impostor": who.impostor, "not verified": who.not_verified}
    return ", ".join(f"{name} {count:,}" for name, count in counts.items() if count)


def group_versions(rules: Sequence[ViolatedRule]) -> list[list[ViolatedRule]]:
    """Return rules by their text, which may be in several versions; the most frequent first."""
    groups: dict[str, list[ViolatedRule]] = {}
    for one in rules:
        groups.setdefault(one.rule, []).append(one)
    return sorted(groups.values(), key=lambda group: -sum(one.requests for one in group))


def base_names(report: LogReport) -> list[str]:
    """Return the names of the logs for a page: without folders, if that tells them apart."""
    names = [one.name for one in report.files]
    short = [name.replace("\\", "/").rpartition("/")[2] or name for name in names]
    return short if len(set(short)) == len(set(names)) else names


def rule_place(rule: ViolatedRule) -> str:
    """Return where a rule is: its line, and the file or commit."""
    line = f"line {rule.line}" if rule.line is not None else ""
    return " of ".join(filter(None, (line, rule.source)))


def share_of(part: int, whole: int) -> str:
    """Return a share in percent, such as `12 %`."""
    if not whole or not part:
        return "0 %"
    percent = 100 * part / whole
    return (
        f"{percent:.0f} %" if percent >= 9.5 else f"{percent:.1f} %" if percent >= 0.1 else "<0.1 %"
    )


def format_size(octets: int) -> str:
    """Return a number of bytes, such as `1.2 GB`."""
    size = float(octets)
    for unit in _UNITS:
        if size < 999.5 or unit == _UNITS[-1]:
            break
        size /= 1000
    return f"{size:,.0f} {unit}" if unit == "bytes" or size >= 9.95 else f"{size:.1f} {unit}"


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
