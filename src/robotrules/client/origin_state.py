"""
Origin state: the policy in effect for one origin at a time, and the verdicts it gives.

It is built from a cache entry, the parsed file and the time. If no rules apply, the verdict states
the reason: there is no file, or it could not be fetched (RFC 9309 §2.3.1.3, §2.3.1.4). It fetches
nothing and has no clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NamedTuple

from robotrules.access import AccessState
from robotrules.access.values import DISALLOW_ALL
from robotrules.cache import (
    EffectivePolicy,
    Entry,
    FetchRecord,
    Freshness,
    FreshnessReason,
    format_timestamp,
)
from robotrules.octets import visible
from robotrules.profile import Profile
from robotrules.robotstxt import RobotsTxt, Tokens, parse
from robotrules.robotstxt.ruleset import URL
from robotrules.robotstxt.verdict import Explanation, GroupMatch, Reason, Verdict

# Details contain text of servers, such as a Location.
MAX_DETAIL = 300


class StateSource(StrEnum):
    """Where a state comes from."""

    FETCHED = "fetched"
    """Fetched from the server just now."""
    STORE = "store"
    """Read from the store, written by this process or another."""
    MEMORY = "memory"
    """From the memory cache of this process."""


class OriginState(NamedTuple):
    """What a client knows about one origin."""

    origin: str
    entry: Entry
    robots: RobotsTxt
    """The file; if no rules apply, an equivalent file."""
    policy: EffectivePolicy
    until: float
    """Expiry of this state, in seconds since 1970."""
    reason: FreshnessReason
    source: StateSource
    store_error: str | None = None
    """Why the store is unavailable; None if it works."""

    @property
    def fetch_record(self) -> FetchRecord | None:
        """The fetch record that applies: the last one, or the one whose copy is used."""
        entry = self.entry
        if self.policy is EffectivePolicy.DISALLOW and self.reason is not FreshnessReason.FRESH:
            return entry.last_failure or entry.last_success
        return entry.last_success or entry.last_failure

    @property
    def state(self) -> AccessState:
        """The access state: that of the last usable response, or unreachable."""
        if self.reason is FreshnessReason.FRESH and self.entry.last_success:
            return self.entry.last_success.state
        # After `give_up_after` the file counts as unavailable (§2.3.1.4).
        gone = self.reason is FreshnessReason.GAVE_UP and self.policy is EffectivePolicy.ALLOW
        return AccessState.UNAVAILABLE if gone else AccessState.UNREACHABLE

    @property
    def failure_detail(self) -> str:
        """
        Why the robots.txt is unreachable, and until when that is remembered; empty if it is not.

        `status 503; last attempt 04:31:07 UTC, next attempt after 04:36:07 UTC`
        """
        failure = self.entry.last_failure
        if self.state is not AccessState.UNREACHABLE or failure is None:
            return ""
        detail = failure.detail or (failure.failure_reason and failure.failure_reason.sentence)
        last, following = _format_times(failure.at, -(-failure.until // 1))  # rounded up
        times = f"; last attempt {last}, next attempt after {following}"
        return visible(detail or "")[: MAX_DETAIL - len(times)] + times

    def check(self, url: URL, product_token: Tokens, purposes: Sequence[str] = ()) -> Verdict:
        """Return the verdict on a URL of this origin."""
        verdict = self.robots.check(url, product_token, purposes)
        return verdict if self.policy is EffectivePolicy.RULES else self._with_reason(verdict)

    def check_many(
        self, urls: Iterable[URL], product_token: Tokens, purposes: Sequence[str] = ()
    ) -> list[Verdict]:
        """Return the verdicts on URLs of this origin in one call to the engine."""
        verdicts = self.robots.rules_for(product_token, purposes).check_many(urls)
        if self.policy is EffectivePolicy.RULES:
            return verdicts
        converted: dict[int, Verdict] = {}
        for verdict in verdicts:  # a rule set shares its verdict objects, so there are at most two
            if id(verdict) not in converted:
                converted[id(verdict)] = self._with_reason(verdict)
        return [converted[id(verdict)] for verdict in verdicts]

    def explain(self, url: URL, product_token: Tokens, purposes: Sequence[str] = ()) -> Explanation:
        """Return how the verdict is reached, including how the file was fetched."""
        explanation = self.robots.explain(url, product_token, purposes)
        if self.policy is EffectivePolicy.RULES:
            return explanation._replace(access=self)
        # The equivalent file is generated, so its lines explain nothing.
        return explanation._replace(
            verdict=self._with_reason(explanation.verdict),
            matched_tokens=(),
            matched_by=GroupMatch.NONE,
            groups=(),
            matches=(),
            notes=(),
            matched_purposes=(),
            access=self,
        )

    def _with_reason(self, verdict: Verdict) -> Verdict:
        """Return the verdict with the reason why no rules apply."""
        if verdict.reason is Reason.IMPLICIT:
            return verdict
        reason = reason_without_rules(self.policy, self.reason, self.entry)
        return Verdict(reason is Reason.UNAVAILABLE, reason, None, verdict.profile)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON, without the file."""
        fetch_record = self.fetch_record
        return {
            "origin": self.origin,
            "state": str(self.state),
            "policy": str(self.policy),
            "reason": str(self.reason),
            "until": format_timestamp(self.until),
            "source": str(self.source),
            "fetch_record": fetch_record.as_dict() if fetch_record else None,
            "failing_since": format_timestamp(self.entry.failing_since)
            if self.entry.last_failure
            else None,
            "failures": self.entry.failures,
            "store_error": self.store_error,
        }


def _format_times(*times: float) -> list[str]:
    """Return the seconds of some times, with their dates if these differ."""
    try:
        moments = [datetime.fromtimestamp(at, UTC) for at in times]
    except (OverflowError, ValueError, OSError):
        return list(map(str, times))
    is_one_day = len({moment.date() for moment in moments}) == 1
    form = "%H:%M:%S UTC" if is_one_day else "%Y-%m-%d %H:%M:%S UTC"
    return [moment.strftime(form) for moment in moments]


def reason_without_rules(
    policy: EffectivePolicy, policy_reason: FreshnessReason, entry: Entry
) -> Reason:
    """Return the reason for verdicts where the policy in effect is not that of rules."""
    if policy is EffectivePolicy.ALLOW:
        return Reason.UNAVAILABLE
    # Disallowed by a response (401, 403), not by a missing one.
    restricted = policy_reason is not FreshnessReason.UNREACHABLE and entry.last_success is not None
    return Reason.RESTRICTED if restricted else Reason.UNREACHABLE


def make_origin_state(
    entry: Entry,
    fresh: Freshness,
    robots: RobotsTxt | None,
    *,
    profile: Profile,
    source: StateSource,
    store_error: str | None = None,
) -> OriginState:
    """Return the state that an entry yields; *robots* is its file, required if rules apply."""
    if fresh.policy is EffectivePolicy.RULES and robots is not None:
        pass
    elif fresh.policy is EffectivePolicy.ALLOW:
        robots = parse(b"", profile)
    else:
        robots = parse(DISALLOW_ALL, profile)
    return OriginState(
        *(entry.origin, entry, robots, fresh.policy, fresh.until, fresh.reason, source, store_error)
    )
