"""
Timelines: which robots.txt was in force at an origin, from when on.

A `StatePeriod` of an origin has one answer for all times in it: the file or the reason without one,
the fetch that decided, and whether its result was still valid. `History.periods()` computes them
with the functions of evidence (`client.past_states`), so a corpus and `Evidence.at()` agree.
Redirects are followed to other origins of the corpus. A file that the corpus does not have is
missing: its content is never guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from math import inf, isfinite, nextafter
from operator import attrgetter
from typing import NamedTuple

from robotrules.access import (
    REDIRECTS,
    AccessProfile,
    AccessResult,
    AccessState,
    FailureReason,
    classify_failed_redirect,
    classify_status,
)
from robotrules.bulk.fetches import Fetches, FetchRow
from robotrules.cache import EffectivePolicy, FetchRecord, make_fetch_record
from robotrules.client.origin_state import OriginState, StateSource, reason_without_rules
from robotrules.client.past_states import Histories, PastState, find_states, replay, sort_states
from robotrules.http.fields import NO_FIELDS
from robotrules.http.origins import authority_end, origin_of, robots_url
from robotrules.robotstxt import parse
from robotrules.robotstxt.verdict import Reason

# What a URL can be checked with: these numbers, or that of a file.
MISSING_RULES, NO_ORIGIN_RULES = 2**32 - 2, 2**32 - 1
CONSTANTS = (Reason.UNAVAILABLE, Reason.UNREACHABLE, Reason.RESTRICTED)
"""Reasons for all URLs of an origin, by number."""
# The values of the column `access`.
ACCESS_NAMES = (*map(str, AccessState), "missing")
MISSING_ACCESS = len(ACCESS_NAMES) - 1
_ACCESS_NUMBERS = {state: number for number, state in enumerate(AccessState)}
# Marks the digest of a record that was made from a row, followed by the number of the row.
_ROW = "row "
_NO_FILE = parse(b"")


def file_rules(body: int, complete: bool) -> int:
    """Return the number of a file's rules; a truncated file has rules of its own."""
    return len(CONSTANTS) + 2 * body + (not complete)


def file_of_rules(rules: int) -> tuple[int, bool]:
    """Return the body that rules are of, and whether it is complete."""
    number = rules - len(CONSTANTS)
    return number // 2, not number % 2


class StatePeriod(NamedTuple):
    """A time from *start* on, until the next period begins."""

    start: float
    rules: int
    access: int
    fetched_at: float | None
    in_force: bool

    def answer(self) -> tuple[int, int, float | None, bool]:
        """Return everything but the start."""
        return self[1:]


class _Chosen(NamedTuple):
    """The state that decides at a time: a period, or the origin that it redirects to."""

    period: StatePeriod
    target: int | None = None


class StatusClasses:
    """What statuses mean under an access profile."""

    def __init__(self, access: AccessProfile) -> None:
        self._access = access

    def restricted(self, status: int | None) -> bool:
        """Tell whether a status denies access, and so disallows everything (AMB-51)."""
        return self._access.deny_on_401_403 and status in (401, 403)

    def classify(self, status: int | None) -> AccessState | None:
        """Return what a status means; None: a redirect or a 304, which other fetches decide."""
        if status is None:
            return AccessState.UNREACHABLE
        if status in REDIRECTS or status == 304:
            return None
        if 300 <= status < 400:
            return classify_failed_redirect(FailureReason.LOCATION, self._access)
        return classify_status(status, self._access)

    def constant(self, status: int | None, state: AccessState) -> int:
        """Return the number of the reason for a status without a file."""
        if state is AccessState.UNREACHABLE:
            return CONSTANTS.index(Reason.UNREACHABLE)
        restricted = self.restricted(status)
        return CONSTANTS.index(Reason.RESTRICTED if restricted else Reason.UNAVAILABLE)


class History:
    """The fetches of a corpus as periods, by origin."""

    def __init__(self, fetches: Fetches, access: AccessProfile) -> None:
        self._fetches, self._access = fetches, access
        self._statuses = StatusClasses(access)

    def periods(self, origin: int, tokens: Iterable[str] = ()) -> list[StatePeriod]:
        """Return the periods of an origin, the first beginning with its first fetch."""
        return self._periods(origin, tuple(tokens), ())

    def last(self, origin: int, tokens: Iterable[str] = ()) -> StatePeriod:
        """Return the state of an origin at the time of its last fetch."""
        return self._last(origin, tuple(tokens), ())

    # --- Periods ------------------------------------------------------------------------------

    def _periods(
        self, origin: int, tokens: tuple[str, ...], path: tuple[int, ...]
    ) -> list[StatePeriod]:
        rows = [row for row in self._fetches.rows(origin) if row.time is not None]
        if not rows:
            return []
        simple = self._simple_periods(rows)
        if simple is not None:
            return simple
        periods: list[StatePeriod] = []
        for start, end, chosen in self._replayed(origin, rows, tokens):
            followed = [chosen.period]
            if chosen.target is not None:
                followed = self._follow(chosen, start, end, tokens, (*path, origin))
            for period in followed:
                if not periods or periods[-1].answer() != period.answer():
                    periods.append(period)
        return periods

    def _simple_periods(self, rows: list[FetchRow]) -> list[StatePeriod] | None:
        """Return the periods of fetches that all had a usable result; None if one had not."""
        periods: list[StatePeriod] = []
        ends = [*(row.time for row in rows[1:]), inf]
        for row, end in zip(rows, ends, strict=True):
            state = self._statuses.classify(row.status)
            unusable = state in (None, AccessState.UNREACHABLE)
            if unusable or state is None or row.record is not None or row.time is None:
                return None
            period = self._period_of(row, state, row.time)
            expiry = row.time + self._access.max_ttl
            periods.append(period)
            if end is not None and expiry < end:
                periods.append(period._replace(start=expiry, in_force=False))
        return periods

    def _period_of(self, row: FetchRow, state: AccessState, start: float) -> StatePeriod:
        """Return the period of a fetch with a usable result, or of a single failed fetch."""
        access = _ACCESS_NUMBERS[state]
        if state is not AccessState.SUCCESS:
            return StatePeriod(
                start, self._statuses.constant(row.status, state), access, row.time, True
            )
        if row.body is None:
            return StatePeriod(start, MISSING_RULES, MISSING_ACCESS, row.time, True)
        return StatePeriod(start, file_rules(row.body, row.complete), access, row.time, True)

    def _replayed(
        self, origin: int, rows: list[FetchRow], tokens: tuple[str, ...]
    ) -> Iterator[tuple[float, float, _Chosen]]:
        """Yield the state from each time at which it may change, and until when."""
        histories: Histories = {}
        groups = [(at, list(group)) for at, group in groupby(enumerate(rows), _time_of)]
        for number, (at, group) in enumerate(groups):
            for row_number, row in group:
                record = self._make_record(origin, row_number, row, histories)
                replay(histories, record, self._access)
            end = groups[number + 1][0] if number + 1 < len(groups) else inf
            times = sorted({at, *(time for time in self._changes(histories) if at < time < end)})
            for start, until in zip(times, [*times[1:], end], strict=True):
                yield start, until, self._choose(histories, start, rows, tokens)

    def _changes(self, histories: Histories) -> Iterator[float]:
        """Yield the times at which the policy of an entry may change without a fetch."""
        access = self._access
        for entry, _ in histories.values():
            good, bad = entry.last_success, entry.last_failure
            if good is not None:
                yield min(good.until, good.at + access.max_ttl)
            if bad is not None:
                yield bad.until
                for delay in (access.stale_after, access.give_up_after):
                    # `freshness` compares a difference, which may be rounded differently.
                    change = entry.failing_since + delay
                    if isfinite(change):
                        yield from (nextafter(change, -inf), change, nextafter(change, inf))

    def _choose(
        self, histories: Histories, time: float, rows: list[FetchRow], tokens: tuple[str, ...]
    ) -> _Chosen:
        states = find_states(histories, time, self._access)
        sort_states(states, tokens)
        return self._interpret(states[-1], time, rows)

    def _interpret(self, past: PastState, time: float, rows: list[FetchRow]) -> _Chosen:
        """Return what a state of evidence means for URLs."""
        entry, fresh = past.entry, past.fresh
        state = OriginState(
            entry.origin,
            entry,
            _NO_FILE,
            fresh.policy,
            fresh.until,
            fresh.reason,
            StateSource.STORE,
        )
        decided_by = state.fetch_record
        fetched_at = decided_by.at if decided_by else None
        access = _ACCESS_NUMBERS[state.state]
        if fresh.policy is not EffectivePolicy.RULES or entry.last_success is None:
            reason = reason_without_rules(fresh.policy, fresh.reason, entry)
            rules = CONSTANTS.index(reason)
            return _Chosen(StatePeriod(time, rules, access, fetched_at, past.in_force))
        missing = StatePeriod(time, MISSING_RULES, MISSING_ACCESS, fetched_at, past.in_force)
        row = _find_row(entry.last_success, rows)
        if row is None:
            return _Chosen(missing)
        if row.body is None:
            return _Chosen(missing, self._find_target(row))
        rules = file_rules(row.body, row.complete)
        return _Chosen(StatePeriod(time, rules, access, fetched_at, past.in_force))

    def _make_record(
        self, origin: int, number: int, row: FetchRow, histories: Histories
    ) -> FetchRecord:
        """Return the fetch record of a row; one of a client is returned as it is."""
        if row.record is not None:
            digest = f"{_ROW}{number}" if row.record.digest is not None else None
            return row.record._replace(digest=digest)
        entry, _ = histories.get(("", "own"), (None, None))
        state, failure, digest = self._statuses.classify(row.status), None, f"{_ROW}{number}"
        revalidated = row.status == 304
        if state is None:
            state = AccessState.SUCCESS
            if revalidated and row.body is None:
                good = entry.last_success if entry else None
                digest = good.digest if good and good.digest else digest
        elif state is not AccessState.SUCCESS:
            failure = FailureReason.CONNECT if row.status is None else FailureReason.STATUS
            if row.status is not None and 300 <= row.status < 400:
                failure = FailureReason.LOCATION
        name = self._fetches.index.origin(origin)
        result = AccessResult(
            *(name, state, row.status, failure, "", robots_url(name), (), NO_FIELDS, b""),
            *(row.complete, revalidated, None, False),
        )
        record = make_fetch_record(
            result, entry, at=row.time or 0.0, agent="", user_agent="", profile=self._access
        )
        return record._replace(digest=digest if state is AccessState.SUCCESS else None)

    # --- The last state -----------------------------------------------------------------------

    def _last(self, origin: int, tokens: tuple[str, ...], path: tuple[int, ...]) -> StatePeriod:
        rows = list(self._fetches.rows(origin))
        timed = [row for row in rows if row.time is not None]
        # Without times, the last row counts.
        rows = timed or [rows[-1]._replace(time=0.0)]
        histories: Histories = {}
        for number, row in enumerate(rows):
            replay(histories, self._make_record(origin, number, row, histories), self._access)
        time = max(entry.last_fetch_at for entry, _ in histories.values())
        chosen = self._choose(histories, time, rows, tokens)
        if not timed:
            chosen = chosen._replace(period=chosen.period._replace(fetched_at=None))
        if chosen.target is None:
            return chosen.period
        return self._follow_last(chosen, tokens, (*path, origin))

    # --- Redirects (§2.3.1.2) -----------------------------------------------------------------

    def _find_target(self, row: FetchRow) -> int | None:
        """Return the origin whose robots.txt a redirect leads to, if the corpus has it."""
        location = row.location
        if row.status not in REDIRECTS or location is None or origin_of(location) is None:
            return None
        rest = location[authority_end(location) :].partition("#")[0]
        return self._fetches.find_origin(location, origin_of) if rest == "/robots.txt" else None

    def _may_follow(self, target: int, path: tuple[int, ...]) -> bool:
        return target not in path and len(path) <= self._access.max_redirects

    def _follow_last(
        self, chosen: _Chosen, tokens: tuple[str, ...], path: tuple[int, ...]
    ) -> StatePeriod:
        if chosen.target is None or not self._may_follow(chosen.target, path):
            return chosen.period
        return self._last(chosen.target, tokens, path)

    def _follow(
        self,
        chosen: _Chosen,
        start: float,
        end: float,
        tokens: tuple[str, ...],
        path: tuple[int, ...],
    ) -> list[StatePeriod]:
        """Return the periods of the target of a redirect that was valid from *start* to *end*."""
        if chosen.target is None or not self._may_follow(chosen.target, path):
            return [chosen.period]
        in_force, periods = chosen.period.in_force, [chosen.period]
        for period in self._periods(chosen.target, tokens, path):
            if period.start >= end:
                break
            followed = period._replace(
                start=max(period.start, start), in_force=in_force and period.in_force
            )
            if followed.start == periods[-1].start:
                periods.pop()
            periods.append(followed)
        return periods


def _time_of(numbered: tuple[int, FetchRow]) -> float:
    time: float = attrgetter("time")(numbered[1])
    return time


def _find_row(good: FetchRecord, rows: list[FetchRow]) -> FetchRow | None:
    """Return the row of the fetch whose file is in effect."""
    digest = good.digest or ""
    return rows[int(digest.removeprefix(_ROW))] if digest.startswith(_ROW) else None
