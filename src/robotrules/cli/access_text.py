"""
How a robots.txt was fetched, how long it is valid, and why there is none, as text.

All commands share these sentences. Nothing is fetched or decided here.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from robotrules import Reason, Verdict
from robotrules.access import AccessState, FailureReason, Hop
from robotrules.cache import FreshnessReason
from robotrules.cli import client
from robotrules.cli.text import plural, truncate
from robotrules.json_results.access import LONGEST, describe_failure, describe_response
from robotrules.octets import visible

if TYPE_CHECKING:
    from robotrules.cache import FetchRecord
    from robotrules.client.origin_state import OriginState
    from robotrules.client.pages import FetchResult

MOST_HOPS = 6
# Reasons for which access decides, not a file.
NO_FILE = (Reason.UNAVAILABLE, Reason.UNREACHABLE, Reason.RESTRICTED)


def format_time(at: float) -> str:
    """Return a time as text: `18:42 UTC`, with the date if it is not today."""
    try:
        found, today = (datetime.fromtimestamp(time, UTC) for time in (at, client.now()))
    except (OverflowError, ValueError, OSError):
        return "a time out of range"
    day = "" if found.date() == today.date() else f"{found:%Y-%m-%d} "
    return f"{day}{found:%H:%M} UTC"


def format_day(at: float) -> str:
    """Return a time with its date: `2026-05-01 18:42 UTC`."""
    try:
        return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, ValueError, OSError):
        return "at a time out of range"


def describe_page(page: FetchResult) -> str:
    """Return the response for a page, or why there was none."""
    if page.failure_reason is not None:
        return describe_failure(page.failure_reason, page.detail)
    cut = "" if page.complete else ", truncated"
    return f"status {page.status}, {plural(len(page.body), 'byte')}{cut}"


def describe_state(origin_state: OriginState) -> str:
    """Return the state of an origin's robots.txt in one clause, and when it is retried."""
    record = origin_state.fetch_record
    if origin_state.reason is FreshnessReason.GAVE_UP:
        since = format_time(origin_state.entry.failing_since)
        words = f"the robots.txt has been unreachable since {since}, which counts as no robots.txt"
        if origin_state.entry.last_success is None:
            return words
        return f"{words}, or as the last copy"
    if origin_state.state is AccessState.UNREACHABLE or record is None:
        last = origin_state.entry.last_failure or record
        why = f" ({describe_response(last)})" if last else ""
        return f"the robots.txt is unreachable{why}{_next_try(origin_state)}"
    if origin_state.state is AccessState.UNAVAILABLE:
        if record.status in (404, 410):
            return f"there is no robots.txt ({describe_response(record)})"
        why = describe_response(record)
        return f"the robots.txt is unavailable ({why}), which counts as no robots.txt"
    again = f"; {words}" if (words := describe_failed_refresh(origin_state)) else ""
    return f"the robots.txt is valid until {format_time(origin_state.until)}{again}"


def _next_try(origin_state: OriginState) -> str:
    """Return when the next attempt is due; empty if another attempt cannot help."""
    last = origin_state.entry.last_failure or origin_state.fetch_record
    if last is not None and last.failure_reason is FailureReason.REFUSED:
        return ""
    return f"; next attempt {format_time(origin_state.until)}"


def failure_of(origin_state: OriginState) -> FetchRecord | None:
    """Return the failure that followed the copy that is still fresh; None if there is none."""
    return origin_state.entry.last_failure if origin_state.reason is FreshnessReason.FRESH else None


def describe_failed_refresh(origin_state: OriginState) -> str:
    """Return when and how a refresh failed while a copy is fresh; empty if none failed."""
    failed = failure_of(origin_state)
    return f"refresh failed {format_time(failed.at)}: {describe_response(failed)}" if failed else ""


def describe_reason(verdict: Verdict, origin_state: OriginState | None) -> str:
    """Return the reason of a verdict that no rule decided, with the result of access."""
    if origin_state is None or verdict.reason not in NO_FILE:
        return verdict.reason.sentence
    return describe_state(origin_state)


def describe_stale_copy(origin_state: OriginState) -> str:
    """Return a note that a stale copy decides; empty if none does."""
    if (
        origin_state.reason is not FreshnessReason.STALE_COPY
        or origin_state.entry.last_success is None
    ):
        return ""
    at = format_time(origin_state.entry.last_success.at)
    return f"from a copy fetched {at}: the robots.txt is unreachable"


def describe_decision(words: str, verdict: Verdict, origin_state: OriginState | None) -> str:
    """Return the reason of a verdict; *words* is the reason if a rule or group decides."""
    if origin_state is None:
        return words
    if verdict.rule is None:
        words = describe_reason(verdict, origin_state) if verdict.reason in NO_FILE else words
    copy = describe_stale_copy(origin_state)
    return f"{words}, {copy}" if copy else words


def hop_lines(hops: tuple[Hop, ...]) -> Iterator[str]:
    """Yield a line for each redirect."""
    for hop in hops[:MOST_HOPS]:
        url, location = (truncate(visible(one), LONGEST) for one in (hop.url, hop.location))
        yield f"{url} redirects with status {hop.status} to {location or '(empty)'}"
    if len(hops) > MOST_HOPS:
        yield f"and {len(hops) - MOST_HOPS} more redirects"


SOURCES = {"fetched": "just now", "store": "from the store", "memory": "from memory"}


def access_lines(origin_state: OriginState) -> Iterator[str]:
    """Yield how a robots.txt was fetched: URL, time, validity and failures."""
    record = origin_state.fetch_record
    # After this time it counts as unavailable, but is still requested (RFC 9309 §2.3.1.4).
    failing = (
        origin_state.state is AccessState.UNREACHABLE
        or origin_state.reason is FreshnessReason.GAVE_UP
    )
    if record is not None:
        yield from hop_lines(record.hops)
        url = truncate(visible(record.url), LONGEST)
        size = f", {plural(record.size, 'byte')}" if record.digest is not None else ""
        cut = "" if record.complete else ", truncated"
        yield f"{url}: {describe_response(record)}{size}{cut}"
        done = "requested" if record.state is AccessState.UNREACHABLE else "fetched"
        beside = f"{done} {format_time(record.at)}"
        # The source of a copy that is older than the last response is unknown.
        if origin_state.entry.last_failure is None or origin_state.entry.last_failure is record:
            beside += f" ({SOURCES[str(origin_state.source)]})"
        if not failing:
            beside += f", valid until {format_time(origin_state.until)}"
        yield beside
    if words := describe_failed_refresh(origin_state):
        yield f"{words}; the copy is still valid"
    if failing:
        since = format_time(origin_state.entry.failing_since)
        tries = plural(origin_state.entry.failures, "failure")
        yield f"unreachable since {since}, {tries}{_next_try(origin_state)}"
    if words := describe_stale_copy(origin_state):
        yield f"the rules are {words}"
    if origin_state.store_error:
        yield f"store unavailable: {truncate(visible(origin_state.store_error), LONGEST)}"
