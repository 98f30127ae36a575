"""Facts about a file by the public readers of robotrules: what `bulk.facts()` has to return."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any

import robotrules
from robotrules import Profile, RobotsTxt, RuleSet, _engine, analysis
from robotrules.extensions.app_directives import named_applications
from robotrules.extensions.content_signal import content_signals
from robotrules.extensions.content_usage import preferences_for
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from robotrules.robotstxt.tokens import CrawlerNames


@contextmanager
def using(engine: ModuleType) -> Iterator[None]:
    """Use an engine for everything in the block."""
    before = _engine.engine
    _engine.engine = engine
    try:
        yield
    finally:
        _engine.engine = before


def names_of(token: str) -> CrawlerNames:
    """Return the names of a crawler, from the registry if it is there."""
    known = KNOWN_CRAWLERS.get(token)
    return known.names if known else CrawlerNames((token,))


def expected_row(
    body: bytes, profile: str | Profile, crawlers: Iterable[str], complete: bool = True
) -> dict[str, Any]:
    """Return the columns of a file, from `size` on, by the public readers."""
    robots = robotrules.parse(body, profile, complete=complete)
    keys = Counter(record.key for record in robots.records)
    notes = Counter(note.code for note in robots.notes)
    starts = [record for group in robots.groups for record in group.starts]
    agents = [record.value for record in starts if record.key == "user-agent"]
    purposes = [record.value for record in starts if record.key == "user-agent-purpose"]
    star = robots.crawl_delay("*")
    usage = preferences_for(robots, "*").stated_for_url("/").values
    return {
        "size": len(body),
        "truncated": not complete or "truncated" in notes,
        "lines": len(robots.lines),
        "records": len(robots.records),
        "groups": len(robots.groups),
        "allow_rules": keys["allow"],
        "disallow_rules": keys["disallow"],
        "other_records": sum(
            not record.is_rule and record.key != "user-agent" for record in robots.records
        ),
        "user_agents": _texts(agents),
        "sitemaps": [sitemap.url for sitemap in robots.sitemaps],
        "crawl_delay": star.seconds if star else None,
        "crawl_delays": _delays(robots),
        "purposes": _texts(purposes),
        "content_usage": [(key, str(one)) for key, one in usage if str(one) != "unknown"],
        "content_signal": list(content_signals(robots, "/", "*").values().items()),
        "app_directives": keys["app-directives"] + keys["app-directive"],
        "applications": list(named_applications(robots)),
        "notes": sorted(notes.items()),
        "named_crawlers": [
            token
            for token in crawlers
            if token in robots.select_groups(CrawlerNames((token,))).matched_tokens
        ],
    }


def _texts(values: Iterable[bytes]) -> list[str]:
    return [value.decode("utf-8", "backslashreplace") for value in dict.fromkeys(values)]


def _delays(robots: RobotsTxt) -> list[dict[str, Any]]:
    """Return each user-agent value with the largest delay of the groups that have it."""
    delays: dict[bytes, float] = {}
    for group in robots.groups:
        values = [record.value for record in group.records if record.key == "crawl-delay"]
        lines = b"".join(b"Crawl-delay: " + value + b"\n" for value in values)
        alone = robotrules.parse(b"User-agent: *\n" + lines).crawl_delay("*")
        if alone:
            for record in group.starts:
                if record.key == "user-agent":
                    delays[record.value] = max(delays.get(record.value, 0.0), alone.seconds)
    return [
        {"user_agent": value.decode("utf-8", "backslashreplace"), "seconds": seconds}
        for value, seconds in delays.items()
    ]


# --- Coverage -------------------------------------------------------------------------------------


@cache
def _standards(profile: str | Profile, outcome: str) -> tuple[RuleSet, ...]:
    """Return rules that allow everything, or nothing, whatever they say about `/robots.txt`."""
    files = {
        "all": (b"User-agent: *\nDisallow:", b"User-agent: *\nDisallow: /robots.txt$"),
        "none": (
            b"User-agent: *\nDisallow: /",
            b"User-agent: *\nDisallow: /\nAllow: /robots.txt$",
        ),
    }
    return tuple(robotrules.parse(body, profile).rules_for("*") for body in files[outcome])


def coverage_by_analysis(rules: RuleSet, profile: str | Profile) -> str | None:
    """Return all, some or none, by the exact comparison of rule sets; None: not decided."""
    for outcome in ("all", "none"):
        for standard in _standards(profile, outcome):
            result = analysis.equivalent(rules, standard)
            if result.equal is None:
                return None
            if result.equal:
                return outcome
    return "some"
