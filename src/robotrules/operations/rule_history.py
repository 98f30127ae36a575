"""
Which rules were in force at a time: from one file, from its git history, or from own fetches.

    history = rules_from_git("robots.txt")
    rules = history.at(request_time)
    if rules.robots is not None:
        verdict = rules.robots.check(url, crawler.names)

Before the first version nothing is known, and then there is no file to check with: nobody is told
to have broken a rule that was not in force. Crawlers may use a copy for a day (RFC 9309 §2.4), so
`between()` returns all rules that a crawler may have acted on.

The time of a commit is when it entered the history, not when the file was deployed.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from robotrules.access import AccessState
from robotrules.cache import FetchRecord
from robotrules.client.evidence import Evidence, EvidenceNote
from robotrules.client.historical_verdict import format_time
from robotrules.client.past_states import reinterpret
from robotrules.octets import visible
from robotrules.operations.git_history import FileVersion, file_versions
from robotrules.profile import Profile
from robotrules.robotstxt import RobotsTxt, parse

__all__ = ["RuleHistory", "RulesAt", "fixed_rules", "rules_from_evidence", "rules_from_git"]

# Parsed files that are kept; requests of a log come in order, so few are in use.
KEPT_FILES = 64


class RulesAt(NamedTuple):
    """The rules in force at a time."""

    robots: RobotsTxt | None
    """The file; a file without rules if there was none. None: the rules are not known."""
    since: float | None
    """When they came into force; None if that is not known."""
    until: float | None
    """When others came into force; None if they are the last ones."""
    source: str
    """Where they come from, in words."""
    has_file: bool = True
    """Whether there was a file; without one, everything is allowed (RFC 9309 §2.3.1.3)."""
    changed_after: float | None = None
    """With fetches: when something else was found for the last time; it changed after that."""


class RuleChange(NamedTuple):
    """Rules that came into force at a time."""

    at: float
    source: str
    load: Callable[[], RobotsTxt | None]
    """Reads the file; None if the rules are not known."""
    has_file: bool = True
    changed_after: float | None = None


class RuleHistory:
    """Rules by time."""

    def __init__(
        self,
        changes: Iterable[RuleChange],
        before: RulesAt | None = None,
        *,
        last_fetch: float | None = None,
    ) -> None:
        """
        *changes* are in order; a time that is earlier than the one before counts as equal to it.

        *before* are the rules before the first change; by default they are not known. After
        *last_fetch*, a change was not looked for.
        """
        self.last_fetch = last_fetch
        self._changes: list[RuleChange] = []
        self._times: list[float] = []
        for change in changes:
            self._changes.append(change)
            self._times.append(max(change.at, self._times[-1]) if self._times else change.at)
        self._before = before
        self._rules = lru_cache(KEPT_FILES)(self._make_rules)

    def at(self, when: float) -> RulesAt:
        """Return the rules in force at a time, in seconds since 1970."""
        return self._rules(bisect_right(self._times, when))

    def between(self, start: float, end: float) -> list[RulesAt]:
        """Return all rules that were in force at some time from *start* to *end*, in order."""
        first, last = bisect_right(self._times, start), bisect_right(self._times, end)
        return [self._rules(number) for number in range(first, max(last, first) + 1)]

    def __iter__(self) -> Iterator[RulesAt]:
        """Yield all rules in order, without those before the first change."""
        for number in range(1, len(self._changes) + 1):
            yield self._rules(number)

    def after(self, number: int) -> RulesAt:
        """Return the rules after so many changes; 0 are those before the first."""
        if not 0 <= number <= len(self._changes):
            raise ValueError(f"number is {number!r}: there are {len(self._changes)} changes")
        return self._rules(number)

    def loaded(self) -> RuleHistory:
        """Return the history with all files read, for use after their store is closed."""
        kept = [self._rules(number) for number in range(1, len(self._changes) + 1)]
        changes = (
            change._replace(load=partial(_get_robots, rules))
            for change, rules in zip(self._changes, kept, strict=True)
        )
        return RuleHistory(changes, self._before, last_fetch=self.last_fetch)

    def __len__(self) -> int:
        return len(self._changes)

    def __repr__(self) -> str:
        return f"<RuleHistory: {len(self):,} changes>"

    def _make_rules(self, number: int) -> RulesAt:
        """Return the rules after so many changes."""
        until = self._times[number] if number < len(self._times) else None
        if number:
            change = self._changes[number - 1]
            since = self._times[number - 1]
            robots, has_file, changed_after = change.load(), change.has_file, change.changed_after
            return RulesAt(robots, since, until, change.source, has_file, changed_after)
        if self._before is not None:
            return self._before._replace(until=until)
        words = "not known"
        if until is not None:
            words = f"not known before {format_time(until)}"
        return RulesAt(None, None, until, words)


def _get_robots(rules: RulesAt) -> RobotsTxt | None:
    return rules.robots


def fixed_rules(robots: RobotsTxt, name: str) -> RuleHistory:
    """Return a history in which one file was always in force."""
    source = f"{visible(name)} (as it is now, at any time)"
    return RuleHistory((), RulesAt(robots, None, None, source))


# --- From git -------------------------------------------------------------------------------------


def rules_from_git(
    file: str | os.PathLike[str],
    revisions: str = "HEAD",
    profile: str | Profile = "default",
) -> RuleHistory:
    """
    Return the versions of a file in its git repository; raises `GitError`.

    A version is in force from the time of its commit on. Where the file was deleted, there was no
    robots.txt, and everything was allowed (RFC 9309 §2.3.1.3).
    """
    return rules_from_versions(file_versions(file, revisions), profile)


def rules_from_versions(
    versions: Sequence[FileVersion],
    profile: str | Profile = "default",
    render: Callable[[bytes], bytes | None] | None = None,
) -> RuleHistory:
    """
    Return the history of versions that were read already.

    *render* makes a robots.txt of a version, such as a policy; None if that is not possible.
    """
    return RuleHistory(_change_of(version, profile, render) for version in versions)


def _change_of(
    version: FileVersion,
    profile: str | Profile,
    render: Callable[[bytes], bytes | None] | None,
) -> RuleChange:
    day = format_time(version.at)[:10]
    octets = version.octets
    if octets is None:
        source = f"no robots.txt since commit {version.short} ({day})"
        return RuleChange(version.at, source, lambda: parse(b"", profile), has_file=False)

    def load() -> RobotsTxt | None:
        """Parse the version."""
        rendered = octets if render is None else render(octets)
        return None if rendered is None else parse(rendered, profile)

    source = f"robots.txt of commit {version.short} ({day})"
    if not version.commit:
        source = f"robots.txt in the folder, not committed ({day})"
    return RuleChange(version.at, source, load)


# --- From own fetches -----------------------------------------------------------------------------


def rules_from_evidence(
    evidence: Evidence, origin: str, *, agent: str | None = None, source: str | None = None
) -> RuleHistory:
    """
    Return what fetches of a store found at an origin, such as `https://example.com`.

    What was found is in force until a fetch finds something else. Own fetches are used; imported
    ones if there is no own fetch, or if *source* says so. *agent* is the product token they were
    made with, by default that of the last fetch. Without a file, everything was allowed (RFC 9309
    §2.3.1.3). While the file was unreachable, the last file stays: a crawler then uses its copy or
    is not allowed anything (§2.3.1.4), so it never may fetch what this file disallows. Before the
    first answer, and where the store lost a file, the rules are not known.
    """
    url = origin if origin.endswith("/") else f"{origin}/"
    records = list(evidence.fetch_records(url, agent=agent, source=source or "own"))
    if not records and source is None:
        records = list(evidence.fetch_records(url, agent=agent, source="imported"))
    if records and agent is None:
        last = records[-1].agent.lower()
        records = [record for record in records if record.agent.lower() == last]
    last_fetch = records[-1].at if records else None
    return RuleHistory(_fetched_changes(evidence, records), last_fetch=last_fetch)


def _fetched_changes(evidence: Evidence, records: Sequence[FetchRecord]) -> Iterable[RuleChange]:
    outcome: tuple[AccessState, str | None] | None = None
    last: RuleChange | None = None
    before: float | None = None
    for record in records:
        changed_after, before = before, record.at
        # As the access profile of the evidence classifies it (AMB-50).
        state = reinterpret(record, None, evidence.access).state
        found = state, record.digest if state is AccessState.SUCCESS else None
        if found == outcome:
            continue
        outcome = found
        at = format_time(record.at)
        if state is AccessState.UNREACHABLE:
            if last is None:
                words = f"unreachable since {at}, not fetched before"
                yield RuleChange(record.at, words, _nothing, changed_after=changed_after)
            else:
                words = f"{last.source}; unreachable since {at}"
                yield last._replace(at=record.at, source=words, changed_after=changed_after)
            continue
        is_file = state is AccessState.SUCCESS
        words = f"robots.txt fetched {at}" if is_file else f"no robots.txt, requested {at}"
        read = _reader(evidence, record if is_file else None)
        last = RuleChange(record.at, words, read, is_file, changed_after)
        yield last


def _reader(evidence: Evidence, record: FetchRecord | None) -> Callable[[], RobotsTxt | None]:
    """Return what reads the file of a fetch record; an empty one for None."""

    def read() -> RobotsTxt | None:
        """Read the file from the store."""
        if record is None:
            return parse(b"", evidence.profile)
        found = evidence.read_file(record)
        return None if isinstance(found, EvidenceNote) else found

    return read


def _nothing() -> None:
    return None
