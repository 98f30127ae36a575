"""
Past states: the policy in effect at a time of the past, replayed from fetch records.

Records are replayed in chronological order with `cache.updated_entry`; at any time between two of
them `cache.freshness` gives the policy. The fetches of each crawler are a history of their own, and
so are imported ones. `Evidence` asks for one URL and one time, `robotrules.bulk` for whole columns:
both use these functions, so they agree. The module reads no store and has no clock.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, nextafter
from operator import attrgetter
from typing import NamedTuple

from robotrules.access import (
    AccessProfile,
    AccessResult,
    FailureReason,
    classify_failed_redirect,
    classify_status,
    next_url,
)
from robotrules.cache import (
    EffectivePolicy,
    Entry,
    FetchRecord,
    Freshness,
    Provenance,
    freshness,
    make_fetch_record,
    updated_entry,
)
from robotrules.errors import MissingExtraError
from robotrules.http.validators import conditional_headers, confirms_stored, drop_invalid_validators

# Redirects that did not lead to a file; the access profile determines what they mean.
BROKEN_REDIRECTS = (FailureReason.REDIRECTS, FailureReason.LOOP, FailureReason.LOCATION)

# By crawler and source: the entry, and the record that puts its copy in doubt. Own and imported
# records are separate histories.
Histories = dict[tuple[str, str], tuple[Entry, FetchRecord | None]]


class PastState(NamedTuple):
    """The entry of one crawler at a time, and the policy in effect."""

    entry: Entry
    fresh: Freshness
    in_force: bool
    until: float
    doubt: FetchRecord | None

    @property
    def agent(self) -> str:
        """The crawler."""
        return self.entry.agent

    @property
    def provenance(self) -> Provenance | None:
        """The provenance of the last fetch record."""
        records = [self.entry.last_success, self.entry.last_failure]
        return max(filter(None, records), key=attrgetter("at")).provenance

    @property
    def imported(self) -> bool:
        """Whether its records were imported; own records are never mixed with them."""
        return self.provenance is not None

    def outcome(self) -> tuple[EffectivePolicy, str | None]:
        """Return the values that are compared between crawlers."""
        good = self.entry.last_success
        rules = self.fresh.policy is EffectivePolicy.RULES
        return self.fresh.policy, good.digest if good and rules else None


def replay(histories: Histories, fetch_record: FetchRecord, profile: AccessProfile) -> None:
    """Add a record to the histories; records come in chronological order."""
    history = fetch_record.agent, fetch_record.source
    before, doubt = histories.get(history, (None, None))
    record = reinterpret(fetch_record, before, profile)
    if record.usable:
        doubt = (doubt or _find_doubt(before, record)) if record.revalidated else None
    histories[history] = updated_entry(before, record), doubt


def find_states(histories: Histories, seconds: float, profile: AccessProfile) -> list[PastState]:
    """Return the state of each history at a time that is not before its last record."""
    return [_find_state(entry, seconds, doubt, profile) for entry, doubt in histories.values()]


def _find_state(
    entry: Entry, seconds: float, doubt: FetchRecord | None, profile: AccessProfile
) -> PastState:
    """Return the policy in effect at a time; if it had expired, the last one."""
    good, bad = entry.last_success, entry.last_failure
    ends = [min(good.until, good.at + profile.max_ttl)] if good else []
    until = max([*ends, bad.until] if bad else ends)
    fresh = freshness(entry, min(seconds, nextafter(until, -inf)), profile)
    in_force = seconds < until
    return PastState(entry, fresh, in_force, fresh.until if in_force else until, doubt)


def sort_states(states: list[PastState], product_tokens: Iterable[str]) -> None:
    """
    Sort states by precedence; the last one decides.

    Own fetches take precedence over archives, whose author chose the names and times. Then a valid
    state takes precedence over an expired one, and what the crawler itself fetched over what others
    fetched.
    """
    tokens = {name.lower() for name in product_tokens}
    states.sort(
        key=lambda state: (
            not state.imported,
            state.in_force,
            state.agent.lower() in tokens,
            state.entry.last_fetch_at,
        )
    )


def reinterpret(
    fetch_record: FetchRecord, before: Entry | None, profile: AccessProfile
) -> FetchRecord:
    """Return a record as this profile interprets it; another one made it (AMB-50, AMB-55)."""
    state = fetch_record.state
    if fetch_record.failure_reason is FailureReason.STATUS and fetch_record.status is not None:
        state = classify_status(fetch_record.status, profile)
    elif fetch_record.failure_reason in BROKEN_REDIRECTS and _is_broken_for_all(fetch_record):
        state = classify_failed_redirect(fetch_record.failure_reason, profile)
    if state is not fetch_record.state:
        result = AccessResult(
            origin=fetch_record.origin,
            state=state,
            status=fetch_record.status,
            failure_reason=fetch_record.failure_reason,
            detail=fetch_record.detail,
            url=fetch_record.url,
            hops=fetch_record.hops,
            fields=fetch_record.fields,
            body=b"",
            complete=fetch_record.complete,
            revalidated=fetch_record.revalidated,
            address=fetch_record.address,
        )
        agent, user_agent = fetch_record.agent, fetch_record.user_agent
        provenance = fetch_record.provenance
        fetch_record = make_fetch_record(
            result, before, at=fetch_record.at, agent=agent, user_agent=user_agent, profile=profile
        )._replace(provenance=provenance)
    # A record without a lifetime was in force at the time of the fetch.
    return fetch_record._replace(until=max(fetch_record.until, nextafter(fetch_record.at, inf)))


def _find_doubt(before: Entry | None, fetch_record: FetchRecord) -> FetchRecord | None:
    """
    Return the record if its 304 does not confirm the copy that it revalidated; else None.

    An earlier version sent conditions that any file meets (`If-None-Match: *`, a date in the
    future) and accepted a 304 with another ETag (RFC 9111 §4.3.4).
    """
    good = before.last_success if before else None
    if good is None or good.digest != fetch_record.digest:
        return None
    validators = drop_invalid_validators(good.fields, good.at)
    confirmed = bool(conditional_headers(validators)) and confirms_stored(
        validators, fetch_record.fields
    )
    return None if confirmed else fetch_record


def _is_broken_for_all(fetch_record: FetchRecord) -> bool:
    """Return whether the redirects of a fetch lead nowhere for any client that follows them."""
    if fetch_record.failure_reason is not FailureReason.LOCATION or not fetch_record.hops:
        return True
    try:
        return next_url(fetch_record.hops[-1]) is None
    except MissingExtraError:
        return False  # a name that neither that client nor this one can decode
