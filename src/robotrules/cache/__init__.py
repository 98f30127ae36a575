"""
Cache: how long what was fetched holds, and what goes when nothing can be fetched (RFC 9309 §2.4).

A `FetchRecord` is one attempt to get a robots.txt and what came of it; an `Entry` is what a client
has of one origin: the last usable one, and the failures since. `freshness(entry, now)` says what
decides now, until when, and whether to ask the origin first; `updated_entry(entry, visit)` is the next
entry. Both are pure functions: the 24 hours, the five minutes and the 30 days are here and nowhere
else (AMB-58 to AMB-60). Times are seconds since 1970, UTC. It has no clock, stores nothing and
fetches nothing.
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

# A clock may be set back a little; a visit further in the future than this is not believed.
MAX_CLOCK_SKEW = 60.0
# Retry-After is believed up to a day: a longer one would take a site out of the crawl (AMB-50).
MAX_RETRY_AFTER = 86_400.0
# Of the fields of an answer, what is kept; real ones have some two thousand octets.
MOST_FIELD_OCTETS = 16 * 1024
_OF_CACHING = frozenset(
    ("age", "cache-control", "content-type", "date", "etag", "expires", "last-modified")
)
# With refresh in the background, this part of the longest lifetime is used before asking again.
REFRESH_AHEAD = 0.9


# --- What decides now -----------------------------------------------------------------------------


def freshness(
    entry: Entry | None, now: float, profile: AccessProfile, *, stale_while_revalidate: bool = False
) -> Freshness:
    """
    Return what decides at *now*.

    *stale_while_revalidate*: the caller fetches while an answer is given. Then a file is used past its own
    lifetime, but never past the longest one, which is the RFC's day (§2.4); and not if it says
    `no-cache`, `no-store` or `must-revalidate`.
    """
    good = entry.last_success if entry else None
    if good is not None and not _is_usable(good, profile):
        good = None
    bad = entry.last_failure if entry else None
    if any(visit and visit.at > now + MAX_CLOCK_SKEW for visit in (good, bad)):
        # The clock was set back: nobody knows how old this is.
        return Freshness(EffectivePolicy.NOTHING, now, True, False, FreshnessReason.CLOCK_SET_BACK)
    if good is not None:
        found = _while_fresh(good, bad, now, profile, stale_while_revalidate)
        if found:
            return found
    if bad is None or entry is None:
        because = FreshnessReason.STALE if good else FreshnessReason.NEVER_FETCHED
        return Freshness(EffectivePolicy.NOTHING, now, True, False, because)
    return _while_unreachable(entry, bad, good, now, profile, stale_while_revalidate)


def _while_fresh(
    good: FetchRecord, bad: FetchRecord | None, now: float, profile: AccessProfile, background: bool
) -> Freshness | None:
    """Return what the last usable visit decides; None: it is too old."""
    longest = good.at + profile.max_ttl
    end, again = min(good.until, longest), inf
    if background and _may_grow_old(good):
        again = min(good.until, good.at + REFRESH_AHEAD * profile.max_ttl)
        end = longest
        if bad is not None:
            again = max(again, bad.until)
    if now >= end:
        return None
    refresh = now >= again
    until = now if refresh else min(end, again)
    return Freshness(_said(good, profile), until, False, refresh, FreshnessReason.FRESH)


def _may_grow_old(good: FetchRecord) -> bool:
    """Tell whether an answer may be used while it is asked for anew (RFC 9111 §5.2.2.2, .4)."""
    said = http_freshness(good.fields)
    strict = any(b"must-revalidate" in line.lower() for line in good.fields.get("cache-control"))
    return not (strict or said.must_validate or not said.may_store)


def _while_unreachable(
    entry: Entry,
    bad: FetchRecord,
    good: FetchRecord | None,
    now: float,
    profile: AccessProfile,
    later: bool,
) -> Freshness:
    """Return what decides after a failure, with no fresh file at hand (AMB-58, AMB-59)."""
    since = min(entry.failing_since, now)
    if now - since >= profile.give_up_after:
        decides, end, because = _at_last(good, profile), inf, FreshnessReason.GAVE_UP
    elif now - since >= profile.stale_after:
        decides, end, because = (
            _copy(good, profile),
            since + profile.give_up_after,
            FreshnessReason.STALE_COPY,
        )
    else:
        end = since + min(profile.stale_after, profile.give_up_after)
        decides, because = EffectivePolicy.DISALLOW, FreshnessReason.UNREACHABLE
    again = now >= bad.until
    until = now if again else min(bad.until, end)
    # To allow because of failures that were long ago, the origin is asked first.
    later = later and decides is EffectivePolicy.DISALLOW
    return Freshness(decides, until, again and not later, again and later, because)


def _is_usable(good: FetchRecord, profile: AccessProfile) -> bool:
    """Tell whether a visit says something under this profile; another may have recorded it."""
    if good.failure_reason is FailureReason.STATUS and good.status is not None:
        return classify_status(good.status, profile) is not AccessState.UNREACHABLE
    return (
        good.failure_reason is None
        or classify_failed_redirect(good.failure_reason, profile) is not AccessState.UNREACHABLE
    )


def _said(good: FetchRecord, profile: AccessProfile) -> EffectivePolicy:
    if good.state is AccessState.SUCCESS:
        return EffectivePolicy.RULES
    restricted = profile.deny_on_401_403 and good.status in (401, 403)
    return EffectivePolicy.DISALLOW if restricted else EffectivePolicy.ALLOW


def _copy(good: FetchRecord | None, profile: AccessProfile) -> EffectivePolicy:
    if good is not None:
        return _said(good, profile)
    return EffectivePolicy.ALLOW if profile.without_copy == "allow" else EffectivePolicy.DISALLOW


def _at_last(good: FetchRecord | None, profile: AccessProfile) -> EffectivePolicy:
    if good is not None and profile.on_give_up == "cached":
        return _said(good, profile)
    return EffectivePolicy.ALLOW


# --- What is remembered ---------------------------------------------------------------------------


def make_fetch_record(
    result: AccessResult,
    entry: Entry | None,
    *,
    at: float,
    agent: str,
    user_agent: str,
    profile: AccessProfile,
) -> FetchRecord:
    """Return the visit that ended with *result* at a moment; *entry* is what was known before."""
    may_store = True
    if result.state is AccessState.UNREACHABLE:
        until = at + _retry(
            result, entry.failures if entry and entry.last_failure else 0, at, profile
        )
    else:
        said = http_freshness(result.fields, received=datetime.fromtimestamp(at, UTC))
        until, may_store = at + _lifetime(said, profile), said.may_store
    found = result.state is AccessState.SUCCESS
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
        fields=_bounded(drop_invalid_validators(result.fields, at)),
        digest=body_digest(result.body) if found else None,
        size=len(result.body),
        complete=result.complete,
        revalidated=result.revalidated,
        until=until,
        may_store=may_store,
        address=result.address,
    )


def _bounded(fields: Fields) -> Fields:
    """Return the fields that are kept: all of them, unless they are many."""
    if sum(map(len, chain.from_iterable(fields.lines))) <= MOST_FIELD_OCTETS:
        return fields
    kept, room = [], MOST_FIELD_OCTETS
    # What says how long it holds and how to ask again comes first.
    for name, value in sorted(fields.lines, key=lambda line: line[0] not in _OF_CACHING):
        room -= len(name) + len(value)
        if room < 0:
            break
        kept.append((name, value))
    return Fields(tuple(kept), fields.apart)


def updated_entry(entry: Entry | None, fetch_record: FetchRecord) -> Entry:
    """Return what is known after a visit (AMB-59)."""
    if fetch_record.usable or entry is None:
        if fetch_record.usable:
            return Entry(fetch_record.origin, fetch_record.agent, fetch_record)
        return Entry(
            fetch_record.origin, fetch_record.agent, None, fetch_record, fetch_record.at, 1
        )
    good = entry.last_success
    if good is not None and good.at > fetch_record.at + MAX_CLOCK_SKEW:
        # The clock was set back: it is a copy of unknown age, and may be a day old.
        good = good._replace(at=fetch_record.at - DAY, until=fetch_record.at)
    since = min(entry.failing_since, fetch_record.at) if entry.last_failure else fetch_record.at
    return Entry(entry.origin, entry.agent, good, fetch_record, since, entry.failures + 1)


def make_cached_copy(entry: Entry | None, body: bytes | None, limit: int = 0) -> CachedCopy | None:
    """
    Return what of an entry a 304 could renew; None: nothing.

    What another client cut at fewer octets than *limit* is not the file that this one would read.
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
    """Tell whether a visit has less of a file than *limit* octets, and there is more."""
    return good is not None and not good.complete and good.size < limit


def body_digest(body: bytes) -> str:
    """Return what a body is kept by."""
    return sha256(body).hexdigest()


def _lifetime(said: HttpFreshness, profile: AccessProfile) -> float:
    """Return the seconds a usable visit holds: explicit freshness between bounds (AMB-60)."""
    if said.must_validate or not said.may_store:
        return profile.min_ttl
    if said.reason not in ("max-age", "expires") or said.lifetime is None:
        return profile.max_ttl
    return min(max(said.lifetime - said.age, profile.min_ttl), profile.max_ttl)


def _retry(result: AccessResult, failures: int, at: float, profile: AccessProfile) -> float:
    """Return the seconds to the next attempt: twice as many each time, or as Retry-After asks."""
    pause = min(profile.initial_backoff * 2.0 ** min(failures, 32), profile.max_backoff)
    asked = parse_retry_after(result.fields, at)
    return pause if asked is None else max(pause, asked)


def parse_retry_after(fields: Fields, at: float) -> float | None:
    """Return the seconds that a Retry-After asks for, a day at most (RFC 9110 §10.2.3)."""
    for line in fields.get("retry-after")[:1]:
        text = line.decode("latin-1")
        if text.isascii() and text.isdigit():
            return min(float(text), MAX_RETRY_AFTER)
        if date := parse_http_date(text):
            return min(max(date.timestamp() - at, 0.0), MAX_RETRY_AFTER)
    return None
