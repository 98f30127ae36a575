"""
The history of a robots.txt: what each version changed for the main crawlers.

Versions come from the fetch records of a store, or from a git repository. Each change says what
crawlers may fetch since then, not only which lines differ; times in which the file could not be
fetched are changes too. Nothing is fetched, and nothing is written.

Sections: values · changes · from a store · from git.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from robotrules.access import AccessState
from robotrules.cache import Store
from robotrules.client.evidence import Evidence, Period
from robotrules.errors import StoreError
from robotrules.octets import visible
from robotrules.operations.git_history import file_versions
from robotrules.operations.site_report.facts import CrawlerAccess, main_access
from robotrules.robotstxt import RobotsTxt, parse

__all__ = ["SiteChange", "changes_from_git", "changes_from_store"]

# The latest changes that are compared and shown.
MAX_CHANGES = 30
# A smaller limit than that of the matrix, for each version.
MAX_STATES = 5_000
# Crawlers that are named in an effect.
MOST_NAMES = 6
LONGEST_WORDS = 200


# --- Values ---------------------------------------------------------------------------------------


class SiteChange(NamedTuple):
    """A version of a robots.txt, or a time in which there was none, and what it changed."""

    at: float
    """Since when, in seconds since 1970."""
    title: str
    """What happened: `the file changed`."""
    source: str
    """How it is known: `seen by robotrules in 3 fetches`, `commit 3f2a…: subject`."""
    lines: str = ""
    """The number of lines that were added and removed, in words."""
    effects: tuple[str, ...] = ()
    """What changed for the main crawlers, in words."""

    @property
    def day(self) -> str:
        """The time for people, in UTC."""
        try:
            return datetime.fromtimestamp(self.at, UTC).strftime("%Y-%m-%d %H:%M")
        except (OverflowError, ValueError, OSError):
            return "a time out of range"

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {**self._asdict(), "day": self.day, "effects": list(self.effects)}


class _Version(NamedTuple):
    """A state of the file at a time."""

    at: float
    source: str
    robots: RobotsTxt | None
    """None: unreachable, or its content is not known."""
    title: str = ""
    """What it is, if it is not a file with rules."""


# --- Changes --------------------------------------------------------------------------------------


def _changes(versions: Sequence[_Version]) -> tuple[SiteChange, ...]:
    """Return the changes between versions in order, the latest first."""
    found: list[SiteChange] = []
    access: dict[str, CrawlerAccess] | None = None
    before: RobotsTxt | None = None
    for version in versions:
        if version.robots is None:
            found.append(SiteChange(version.at, version.title, version.source))
            continue
        now = main_access(version.robots, MAX_STATES)
        is_first = access is None
        title = version.title or ("first known version" if is_first else "the file changed")
        lines = _count_lines(before, version.robots) if before is not None else ""
        effects = () if access is None else _effects(access, now)
        found.append(SiteChange(version.at, title, version.source, lines, effects))
        access, before = now, version.robots
    return tuple(found[::-1])


def _count_lines(old: RobotsTxt, new: RobotsTxt) -> str:
    was, now = (Counter(robots.body.splitlines()) for robots in (old, new))
    added, removed = (now - was).total(), (was - now).total()
    if not added and not removed:
        return "the same lines in another order" if old.body != new.body else "no line changed"
    return f"{added:,} {'line' if added == 1 else 'lines'} added, {removed:,} removed"


def _effects(old: dict[str, CrawlerAccess], new: dict[str, CrawlerAccess]) -> tuple[str, ...]:
    """Return how the access of crawlers changed, with crawlers that changed alike together."""
    by_change: dict[str, list[str]] = {}
    for name, now in new.items():
        was = old.get(name)
        if was is None:
            continue
        if was.summary != now.summary:
            by_change.setdefault(f"from {was.summary} to {now.summary}", []).append(name)
        elif was.home != now.home:
            word = "allowed" if now.home else "blocked"
            by_change.setdefault(f"the home page is now {word}", []).append(name)
    if not by_change:
        return ("for the main crawlers, all URLs and the home page: no change",)
    return tuple(f"{_names(names)}: {change}" for change, names in by_change.items())


def _names(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


# --- From a store ---------------------------------------------------------------------------------


def changes_from_store(
    store: Store, origin: str, profile: str = "default"
) -> tuple[tuple[SiteChange, ...], str]:
    """
    Return the changes that fetches of an origin saw, and what is left out, in words.

    Of several crawlers, the one that fetched most often is used: sites answer crawlers differently.
    Raises `StoreError` if the store cannot be read.
    """
    evidence = Evidence(store, profile)
    periods = evidence.periods(f"{origin}/", source="own")
    if not periods:
        return (), "The store has no fetch of this host."
    fetches: Counter[str] = Counter()
    for period in periods:
        fetches[period.first.agent] += period.fetches
    [(agent, _)] = fetches.most_common(1)
    own = [period for period in periods if period.first.agent == agent]
    words = f"As fetched by {visible(agent)}."
    if len(own) > MAX_CHANGES:
        words += f" {len(own) - MAX_CHANGES:,} earlier changes are not shown."
    versions = [_stored_version(store, period, profile) for period in own[-MAX_CHANGES:]]
    return _changes(versions), words


def _stored_version(store: Store, period: Period, profile: str) -> _Version:
    record = period.first
    times = "one fetch" if period.fetches == 1 else f"{period.fetches:,} fetches"
    source = f"seen in {times}"
    if record.state is AccessState.UNREACHABLE:
        why = record.detail or (record.failure_reason.sentence if record.failure_reason else "")
        return _Version(record.at, source, None, visible(f"unreachable: {why}"[:LONGEST_WORDS]))
    if record.state is AccessState.UNAVAILABLE or record.digest is None:
        title = f"no robots.txt (status {record.status})"
        return _Version(record.at, source, parse(b"", profile), title)
    try:
        body = store.body(record.digest)
    except StoreError:
        body = None
    if body is None:
        return _Version(record.at, source, None, "a file whose content was not stored")
    return _Version(record.at, source, parse(body, profile, complete=record.complete))


# --- From git -------------------------------------------------------------------------------------


def changes_from_git(
    path: str | os.PathLike[str], revisions: str = "HEAD", profile: str = "default"
) -> tuple[tuple[SiteChange, ...], str]:
    """
    Return the changes that commits made to a file, and what is left out, in words.

    Raises `GitError` if there is no history.
    """
    versions = file_versions(path, revisions)
    words = "Times are those of commits; when a commit was deployed is not known."
    if len(versions) > MAX_CHANGES:
        words += f" {len(versions) - MAX_CHANGES:,} earlier commits are not shown."
    found = [
        _Version(
            version.at,
            visible(f"commit {version.short}: {version.subject}"[:LONGEST_WORDS]),
            parse(version.octets or b"", profile),
            "the file was deleted" if version.octets is None else "",
        )
        for version in versions[-MAX_CHANGES:]
    ]
    return _changes(found), words
