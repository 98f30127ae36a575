"""
The JSON of `robotrules diff`: what changes from one robots.txt to another.

The files are compared by meaning; `diff_sections` groups the result for people.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from robotrules.analysis import Crawler, FileDifference, compare
from robotrules.analysis.compare import ExceptionFinder
from robotrules.analysis.crawlers import as_documented
from robotrules.json_results.crawler_names import format_names
from robotrules.json_results.diff_sections import (
    EVERYONE_ELSE,
    EXCEPTION_MAX_STATES,
    DiffReport,
    build_report,
)
from robotrules.json_results.impact import Compared
from robotrules.profile import PROFILES
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.internals import reparse
from robotrules.robotstxt.tokens import is_compared_whole

# Regions of which JSON says where in them nothing changes.
MOST_REFRESHED = 50
# The most parts of a region that are listed as unchanged.
MOST_UNCHANGED = 6
# Crawlers that are named together in JSON.
MOST_NAMES = 8
# And in a list of URLs, which people filter by crawler.
MOST_NAMES_LISTED = 200


def list_crawlers(tokens: Sequence[str], purposes: Sequence[str]) -> list[Crawler]:
    """Return the crawlers that options name, each with the purposes; empty means all."""
    if not tokens:
        return [EVERYONE_ELSE._replace(purposes=tuple(purposes))] if purposes else []
    return [Crawler(token, tuple(purposes)) for token in dict.fromkeys(tokens)]


def compare_files(
    old: RobotsTxt,
    new: RobotsTxt,
    asked: Sequence[Crawler],
    *,
    literal: bool,
    max_regions: int,
    max_states: int,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[FileDifference, DiffReport]:
    """
    Return the comparison of two files, and its sections; *asked* are the crawlers, empty: all.

    Files that are proved equivalent are compared under the other profiles, too.
    """
    if not literal:
        asked = [as_documented(crawler, old, new) for crawler in asked]
    found = compare(
        old,
        new,
        only=asked,
        literal=literal,
        max_regions=max_regions,
        max_states=max_states,
        progress=progress,
    )
    parts = build_report(found, max_states, asked=bool(asked))
    parts = parts._replace(identical=old.body == new.body)
    if parts.proved and not parts.identical:
        parts = parts._replace(elsewhere=_elsewhere(old, new, asked, max_states, literal))
    return found, parts


def _elsewhere(
    old: RobotsTxt, new: RobotsTxt, asked: Sequence[Crawler], max_states: int, literal: bool
) -> tuple[tuple[str, bool | None], ...]:
    """Return whether equivalent files are equivalent under the other profiles, too."""
    found = []
    for profile in PROFILES.values():
        if profile != old.profile:
            read = [reparse(robots, profile) for robots in (old, new)]
            whom = [
                crawler if literal else as_documented(crawler, *read)
                for crawler in asked
                if is_compared_whole(crawler.product_token, profile) or crawler.known
            ]
            same: bool | None = True
            if whom or not asked:
                same = compare(*read, only=whom, literal=literal, max_states=max_states).equal
            found.append((profile.name, same))
    return tuple(found)


def list_compared(parts: DiffReport) -> list[Compared]:
    """Return the crawlers for which the impact on URLs is counted, with their rules."""
    return [
        Compared(
            format_names(part.crawlers, str, MOST_NAMES, parts.alone),
            *part.rules,
            format_names(part.crawlers, str, MOST_NAMES_LISTED, parts.alone),
        )
        for part in parts.impact_sections
    ]


def diff_values(
    found: FileDifference, parts: DiffReport, old: str | None = None, new: str | None = None
) -> dict[str, Any]:
    """
    Return the comparison as plain values, with the exceptions in each region.

    *old* and *new* are the names of the files; None if they have none.
    """
    values = {**found.as_dict(), "equal": parts.equal}
    regions = [
        (change, region, written)
        for change, of_change in zip(found.changes, values["changes"], strict=True)
        for region, written in zip(change.difference.regions, of_change["regions"], strict=True)
    ]
    finders: dict[int, ExceptionFinder] = {}
    for number, (change, region, written) in enumerate(regions):
        written["unchanged"] = written["unchanged_complete"] = None
        if number < MOST_REFRESHED:
            if id(change) not in finders:
                rules = change.old_rules, change.new_rules
                finders = {id(change): ExceptionFinder(*rules, max_states=EXCEPTION_MAX_STATES)}
            but = finders[id(change)].find(region, limit=MOST_UNCHANGED + 1)
            written["unchanged"] = [one.as_dict() for one in but[:MOST_UNCHANGED]]
            written["unchanged_complete"] = len(but) <= MOST_UNCHANGED
    schema = values.pop("schema")
    impact = parts.impact.as_dict() if parts.impact else None
    elsewhere = dict(parts.elsewhere) if parts.elsewhere else None
    others = {"other_profiles": elsewhere, "impact": impact}
    return {"schema": schema, "old": old, "new": new, **values, **others}
