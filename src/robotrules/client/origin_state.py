"""
Held: what a client has of one origin at a moment, and what that says about its URLs.

It is made from an entry of the cache, the parsed file and the moment; then it answers. Where no
rules decide, the verdict says what does: there is no file, or nobody knows (RFC 9309 §2.3.1.3,
§2.3.1.4). It fetches nothing and has no clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
from robotrules.profile import Profile
from robotrules.robotstxt import RobotsTxt, Tokens, parse
from robotrules.robotstxt.ruleset import URL
from robotrules.robotstxt.verdict import Explanation, GroupMatch, Reason, Verdict


class StateSource(StrEnum):
    """Where a client has something from."""

    FETCHED = "fetched"
    """The origin was asked just now."""
    STORE = "store"
    """The store had it, from this process or another."""
    MEMORY = "memory"
    """This process had it."""


class OriginState(NamedTuple):
    """What a client has of one origin."""

    origin: str
    entry: Entry
    robots: RobotsTxt
    """The file; where no rules decide, one that says the same."""
    policy: EffectivePolicy
    until: float
    """Until when that is so, in seconds since 1970."""
    reason: FreshnessReason
    source: StateSource
    store_error: str | None = None
    """What is wrong with the store; None: nothing."""

    @property
    def fetch_record(self) -> FetchRecord | None:
        """The visit that decides: the last one, or the one whose copy is used."""
        entry = self.entry
        if self.policy is EffectivePolicy.DISALLOW and self.reason is not FreshnessReason.FRESH:
            return entry.last_failure or entry.last_success
        return entry.last_success or entry.last_failure

    @property
    def state(self) -> AccessState:
        """What came of asking for the file: the last usable answer, unless it is unreachable."""
        if self.reason is FreshnessReason.FRESH and self.entry.last_success:
            return self.entry.last_success.state
        # After so long it counts as not there (§2.3.1.4).
        gone = self.reason is FreshnessReason.GAVE_UP and self.policy is EffectivePolicy.ALLOW
        return AccessState.UNAVAILABLE if gone else AccessState.UNREACHABLE

    def check(self, url: URL, product_token: Tokens, purposes: Sequence[str] = ()) -> Verdict:
        """Return the verdict on a URL of this origin."""
        verdict = self.robots.check(url, product_token, purposes)
        return verdict if self.policy is EffectivePolicy.RULES else self._said(verdict)

    def check_many(
        self, urls: Iterable[URL], product_token: Tokens, purposes: Sequence[str] = ()
    ) -> list[Verdict]:
        """Return the verdicts on URLs of this origin with one crossing into the engine."""
        verdicts = self.robots.rules_for(product_token, purposes).check_many(urls)
        if self.policy is EffectivePolicy.RULES:
            return verdicts
        made: dict[int, Verdict] = {}
        for verdict in verdicts:  # a rule set shares its verdicts, so there are two at most
            if id(verdict) not in made:
                made[id(verdict)] = self._said(verdict)
        return [made[id(verdict)] for verdict in verdicts]

    def explain(self, url: URL, product_token: Tokens, purposes: Sequence[str] = ()) -> Explanation:
        """Return how the verdict is reached, with how the file was got."""
        found = self.robots.explain(url, product_token, purposes)
        if self.policy is EffectivePolicy.RULES:
            return found._replace(access=self)
        # The file that says the same was written by nobody: its lines explain nothing.
        return found._replace(
            verdict=self._said(found.verdict),
            matched_tokens=(),
            matched_by=GroupMatch.NONE,
            groups=(),
            matches=(),
            notes=(),
            matched_purposes=(),
            access=self,
        )

    def _said(self, verdict: Verdict) -> Verdict:
        """Return the verdict with the reason why no rules decide."""
        if verdict.reason is Reason.IMPLICIT:
            return verdict
        name = verdict.profile
        if self.policy is EffectivePolicy.ALLOW:
            return Verdict(True, Reason.UNAVAILABLE, None, name)
        # What disallows is an answer, and not that there is none.
        restricted = (
            self.reason is not FreshnessReason.UNREACHABLE and self.entry.last_success is not None
        )
        return Verdict(False, Reason.RESTRICTED if restricted else Reason.UNREACHABLE, None, name)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON, without the file."""
        visit = self.fetch_record
        return {
            "origin": self.origin,
            "state": str(self.state),
            "policy": str(self.policy),
            "reason": str(self.reason),
            "until": format_timestamp(self.until),
            "source": str(self.source),
            "fetch_record": visit.as_dict() if visit else None,
            "failing_since": format_timestamp(self.entry.failing_since)
            if self.entry.last_failure
            else None,
            "failures": self.entry.failures,
            "store_error": self.store_error,
        }


def held(
    entry: Entry,
    fresh: Freshness,
    body: RobotsTxt | None,
    *,
    profile: Profile,
    source: StateSource,
    store_error: str | None = None,
) -> OriginState:
    """Return what an entry and its file say; *body* is needed where rules decide."""
    if fresh.policy is EffectivePolicy.RULES and body is not None:
        robots = body
    elif fresh.policy is EffectivePolicy.ALLOW:
        robots = parse(b"", profile)
    else:
        robots = parse(DISALLOW_ALL, profile)
    return OriginState(
        *(entry.origin, entry, robots, fresh.policy, fresh.until, fresh.reason, source, store_error)
    )
