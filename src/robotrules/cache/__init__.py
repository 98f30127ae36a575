"""
Cache: how long a fetched file is valid, and what applies while fetching fails (RFC 9309 §2.4).

A `FetchRecord` is one attempt to fetch a robots.txt and its outcome. An `Entry` is what a client
knows about one origin: the last usable record, and the failures since. `freshness(entry, now)`
returns the policy in effect, its expiry, and whether to refresh first; `updated_entry(entry,
record)` returns the next entry. Both are pure functions, and the only place of the 24 hours, the
five minutes and the 30 days (AMB-58 to AMB-60). Times are seconds since 1970, UTC. The package has
no clock, stores nothing and fetches nothing.
"""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256
from itertools import chain
from math import inf

from robotrules.access import (
    AccessProfile,
    AccessResult,
    AccessState,
    CachedCopy,
    FailureReason,
    classify_failed_redirect,
    classify_status,
)
from robotrules.access.profile import DAY
from robotrules.cache.store import Store
from robotrules.cache.values import (
    EffectivePolicy,
    Entry,
    FetchRecord,
    Freshness,
    FreshnessReason,
    Provenance,
    format_timestamp,
)
from robotrules.http.caching import ResponseFreshness as HttpFreshness
from robotrules.http.caching import response_freshness as http_freshness
from robotrules.http.dates import parse_http_date
from robotrules.http.fields import Fields
from robotrules.http.validators import drop_invalid_validators

__all__ = [
    "MAX_CLOCK_SKEW",
    "MAX_RETRY_AFTER",
    "REFRESH_AHEAD",
    "EffectivePolicy",
    "Entry",
    "FetchRecord",
    "Freshness",
    "FreshnessReason",
    "Provenance",
    "Store",
    "body_digest",
    "format_timestamp",
    "freshness",
    "is_truncated",
    "make_cached_copy",
    "make_fetch_record",
    "parse_retry_after",
    "updated_entry",
]

# Clocks may be set back a little; records further in the future than this are not trusted.
MAX_CLOCK_SKEW = 60.0
# Retry-After is honoured up to a day: a longer one would remove a site from the crawl (AMB-50).
MAX_RETRY_AFTER = 86_400.0
# Header fields are stored up to this size; real ones have about two thousand bytes.
MAX_FIELD_BYTES = 16 * 1024
_CACHING_FIELDS = frozenset(
    ("age", "cache-control", "content-type", "date", "etag", "expires", "last-modified")
)
# With stale-while-revalidate, refresh after this part of the maximum lifetime.
REFRESH_AHEAD = 0.9


# --- The policy in effect -------------------------------------------------------------------------


def freshness(
    entry: Entry | None, now: float, profile: AccessProfile, *, stale_while_revalidate: bool = False
) -> Freshness:
    """
    Return the policy in effect at *now*.

    *stale_while_revalidate* (RFC 5861): the caller refreshes in the background. A file is then used
    past its own lifetime, but never past the maximum, which is the RFC's day (§2.4), and not if it
    says `no-cache`, `no-store` or `must-revalidate`.
    """
    good = entry.last_success if entry else None
    if good is not None and not _is_usable(good, profile):
        good = None
    bad = entry.last_failure if entry else None
    if any(fetch_record and fetch_record.at > now + MAX_CLOCK_SKEW for fetch_record in (good, bad)):
        # The clock was set back, so the age is unknown.
        return Freshness(EffectivePolicy.NOTHING, now, True, False, FreshnessReason.CLOCK_SET_BACK)
    if good is not None:
        fresh = _while_fresh(good, bad, now, profile, stale_while_revalidate)
        if fresh:
            return fresh
    if bad is None or entry is None:
        reason = FreshnessReason.STALE if good else FreshnessReason.NEVER_FETCHED
        return Freshness(EffectivePolicy.NOTHING, now, True, False, reason)
    return _while_unreachable(entry, bad, good, now, profile, stale_while_revalidate)


def _while_fresh(
    good: FetchRecord, bad: FetchRecord | None, now: float, profile: AccessProfile, background: bool
) -> Freshness | None:
    """Return the policy of the last usable record; None: it has expired."""
    latest = good.at + profile.max_ttl
    end, refresh_at = min(good.until, latest), inf
    if background and _may_serve_stale(good):
        refresh_at = min(good.until, good.at + REFRESH_AHEAD * profile.max_ttl)
        end = latest
        if bad is not None:
            refresh_at = max(refresh_at, bad.until)
    if now >= end:
        return None
    refresh = now >= refresh_at
    until = now if refresh else min(end, refresh_at)
    return Freshness(_policy_of(good, profile), until, False, refresh, FreshnessReason.FRESH)


def _may_serve_stale(good: FetchRecord) -> bool:
    """Return whether a response may be used while it is revalidated (RFC 9111 §5.2.2.2, .4)."""
    directives = http_freshness(good.fields)
    strict = any(b"must-revalidate" in line.lower() for line in good.fields.get("cache-control"))
    return not (strict or directives.must_validate or not directives.may_store)


def _while_unreachable(
    entry: Entry,
    bad: FetchRecord,
    good: FetchRecord | None,
    now: float,
    profile: AccessProfile,
    background: bool,
) -> Freshness:
    """Return the policy after a failure, without a fresh file (AMB-58, AMB-59)."""
    since = min(entry.failing_since, now)
    if now - since >= profile.give_up_after:
        policy, end, reason = _policy_after_giving_up(good, profile), inf, FreshnessReason.GAVE_UP
    elif now - since >= profile.stale_after:
        policy, end, reason = (
            _policy_of_copy(good, profile),
            since + profile.give_up_after,
            FreshnessReason.STALE_COPY,
        )
    else:
        end = since + min(profile.stale_after, profile.give_up_after)
        policy, reason = EffectivePolicy.DISALLOW, FreshnessReason.UNREACHABLE
    is_due = now >= bad.until
    until = now if is_due else min(bad.until, end)
    # Before URLs are allowed because of failures long ago, the origin is fetched.
    background = background and policy is EffectivePolicy.DISALLOW
    return Freshness(policy, until, is_due and not background, is_due and background, reason)


def _is_usable(good: FetchRecord, profile: AccessProfile) -> bool:
    """Return whether a record is usable under this profile; another profile may have made it."""
    if good.failure_reason is FailureReason.STATUS and good.status is not None:
        return classify_status(good.status, profile) is not AccessState.UNREACHABLE
    return (
        good.failure_reason is None
        or classify_failed_redirect(good.failure_reason, profile) is not AccessState.UNREACHABLE
    )


def _policy_of(good: FetchRecord, profile: AccessProfile) -> EffectivePolicy:
    if good.state is AccessState.SUCCESS:
        return EffectivePolicy.RULES
    restricted = profile.deny_on_401_403 and good.status in (401, 403)
    return EffectivePolicy.DISALLOW if restricted else EffectivePolicy.ALLOW


def _policy_of_copy(good: FetchRecord | None, profile: AccessProfile) -> EffectivePolicy:
    if good is not None:
        return _policy_of(good, profile)
    return EffectivePolicy.ALLOW if profile.without_copy == "allow" else EffectivePolicy.DISALLOW


def _policy_after_giving_up(good: FetchRecord | None, profile: AccessProfile) -> EffectivePolicy:
    if good is not None and profile.on_give_up == "cached":
        return _policy_of(good, profile)
    return EffectivePolicy.ALLOW


# --- Fetch records and entries --------------------------------------------------------------------


def make_fetch_record(
    result: AccessResult,
    entry: Entry | None,
    *,
    at: float,
    agent: str,
    user_agent: str,
    profile: AccessProfile,
) -> FetchRecord:
    """Return the record of a fetch that ended with *result*; *entry* is the state before it."""
    may_store = True
    if result.state is AccessState.UNREACHABLE:
        until = at + _retry_delay(
            result, entry.failures if entry and entry.last_failure else 0, at, profile
        )
    else:
        response = http_freshness(result.fields, received=datetime.fromtimestamp(at, UTC))
        until, may_store = at + _lifetime(response, profile), response.may_store
    succeeded = result.state is AccessState.SUCCESS
    return FetchRecord(
        origin=result.origin,
        agent=agent,
        user_agent=user_agent,
        at=at,
        state=result.state,
        status=result.status,
        failure_reason=result.failure_reason,
        detail=result.detail,
        url=result.url,
        hops=result.hops,
        fields=_limit_fields(drop_invalid_validators(result.fields, at)),
        digest=body_digest(result.body) if succeeded else None,
        size=len(result.body),
        complete=result.complete,
        revalidated=result.revalidated,
        until=until,
        may_store=may_store,
        address=result.address,
    )


def _limit_fields(fields: Fields) -> Fields:
    """Return the fields to store: all of them, unless they are too large."""
    if sum(map(len, chain.from_iterable(fields.lines))) <= MAX_FIELD_BYTES:
        return fields
    kept, room = [], MAX_FIELD_BYTES
    # Fields about freshness and validators come first.
    for name, value in sorted(fields.lines, key=lambda line: line[0] not in _CACHING_FIELDS):
        room -= len(name) + len(value)
        if room < 0:
            break
        kept.append((name, value))
    return Fields(tuple(kept), fields.apart)


def updated_entry(entry: Entry | None, fetch_record: FetchRecord) -> Entry:
    """Return the entry after a fetch (AMB-59)."""
    if fetch_record.usable or entry is None:
        if fetch_record.usable:
            return Entry(fetch_record.origin, fetch_record.agent, fetch_record)
        return Entry(
            fetch_record.origin, fetch_record.agent, None, fetch_record, fetch_record.at, 1
        )
    good = entry.last_success
    if good is not None and good.at > fetch_record.at + MAX_CLOCK_SKEW:
        # The clock was set back: the copy has an unknown age, and may be a day old.
        good = good._replace(at=fetch_record.at - DAY, until=fetch_record.at)
    since = min(entry.failing_since, fetch_record.at) if entry.last_failure else fetch_record.at
    return Entry(entry.origin, entry.agent, good, fetch_record, since, entry.failures + 1)


def make_cached_copy(entry: Entry | None, body: bytes | None, limit: int = 0) -> CachedCopy | None:
    """
    Return the part of an entry that a 304 can revalidate; None if there is none.

    A file that another client truncated below *limit* bytes is not what this client would read.
    """
    good = entry.last_success if entry else None
    if (
        good is None
        or good.state is not AccessState.SUCCESS
        or body is None
        or is_truncated(good, limit)
    ):
        return None
    return CachedCopy(good.url, body, good.fields, good.complete, good.at)


def is_truncated(good: FetchRecord | None, limit: int) -> bool:
    """Return whether a record holds fewer than *limit* bytes of a longer file."""
    return good is not None and not good.complete and good.size < limit


def body_digest(body: bytes) -> str:
    """Return the SHA-256 of a body, its key in stores."""
    return sha256(body).hexdigest()


def _lifetime(response: HttpFreshness, profile: AccessProfile) -> float:
    """Return the TTL of a usable record: its explicit lifetime within the bounds (AMB-60)."""
    if response.must_validate or not response.may_store:
        return profile.min_ttl
    if response.reason not in ("max-age", "expires") or response.lifetime is None:
        return profile.max_ttl
    return min(max(response.lifetime - response.age, profile.min_ttl), profile.max_ttl)


def _retry_delay(result: AccessResult, failures: int, at: float, profile: AccessProfile) -> float:
    """Return the seconds to the next attempt: exponential backoff, or a longer Retry-After."""
    backoff = min(profile.initial_backoff * 2.0 ** min(failures, 32), profile.max_backoff)
    retry_after = parse_retry_after(result.fields, at)
    return backoff if retry_after is None else max(backoff, retry_after)


def parse_retry_after(fields: Fields, at: float) -> float | None:
    """Return the seconds of a Retry-After, at most a day (RFC 9110 §10.2.3)."""
    for line in fields.get("retry-after")[:1]:
        text = line.decode("latin-1")
        if text.isascii() and text.isdigit():
            return min(float(text), MAX_RETRY_AFTER)
        if date := parse_http_date(text):
            return min(max(date.timestamp() - at, 0.0), MAX_RETRY_AFTER)
    return None
