"""
Words about access: how a robots.txt was got, how long it holds, and why there is none.

One place for the sentences, so that all commands say the same. It does not decide or fetch
anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from robotrules import Reason, Verdict
from robotrules.access import AccessState, FailureReason, Hop
from robotrules.cache import FreshnessReason, format_timestamp
from robotrules.cli import client
from robotrules.cli.text import plural, shortened
from robotrules.octets import visible

if TYPE_CHECKING:
    from robotrules.cache import FetchRecord
    from robotrules.client.origin_state import OriginState
    from robotrules.client.pages import FetchResult

# What a person reads of a URL or of a sentence of the network's; JSON has all of it.
LONGEST = 200
MOST_HOPS = 6
# Where no file decides, what came of access does.
NO_FILE = (Reason.UNAVAILABLE, Reason.UNREACHABLE, Reason.RESTRICTED)


def moment_words(at: float) -> str:
    """Return a moment for people: `18:42 UTC`, with its date if that is not today's."""
    try:
        found, today = (datetime.fromtimestamp(one, UTC) for one in (at, client.now()))
    except (OverflowError, ValueError, OSError):
        return "no moment that a calendar has"
    day = "" if found.date() == today.date() else f"{found:%Y-%m-%d} "
    return f"{day}{found:%H:%M} UTC"


def answer_words(visit: FetchRecord) -> str:
    """Return what an answer was, or why there was none: `status 503`, `no answer in time`."""
    if visit.failure_reason is None or visit.failure_reason is FailureReason.STATUS:
        return f"status {visit.status}{', unchanged' if visit.revalidated else ''}"
    return _trouble_words(visit.failure_reason, visit.detail)


def _trouble_words(trouble: FailureReason, detail: str) -> str:
    if trouble is FailureReason.REFUSED:
        # The rest is the cure, which is another one on the command line.
        detail = detail.partition("; ")[0]
    detail = shortened(visible(detail), LONGEST)
    beside = f": {detail}" if detail and detail != trouble.sentence else ""
    return f"{trouble.sentence}{beside}"


def page_words(page: FetchResult) -> str:
    """Return what the answer for a page was, or why there was none."""
    if page.failure_reason is not None:
        return _trouble_words(page.failure_reason, page.detail)
    cut = "" if page.complete else ", cut at the limit"
    return f"status {page.status}, {plural(len(page.body), 'octet')}{cut}"


def state_words(held: OriginState) -> str:
    """Return what is known of the file of an origin, in one clause, and when it is asked again."""
    visit = held.fetch_record
    if held.reason is FreshnessReason.GAVE_UP:
        since = moment_words(held.entry.failing_since)
        words = f"the robots.txt has been unreachable since {since}, which counts as none"
        return words if held.entry.last_success is None else f"{words}, or as the last one"
    if held.state is AccessState.UNREACHABLE or visit is None:
        last = held.entry.last_failure or visit
        why = f" ({answer_words(last)})" if last else ""
        return f"the robots.txt is unreachable{why}{_next_try(held)}"
    if held.state is AccessState.UNAVAILABLE:
        if visit.status in (404, 410):
            return f"there is no robots.txt ({answer_words(visit)})"
        return f"the robots.txt is unavailable ({answer_words(visit)}), which counts as none"
    again = f"; {words}" if (words := again_words(held)) else ""
    return f"the robots.txt holds until {moment_words(held.until)}{again}"


def _next_try(held: OriginState) -> str:
    """Return when an origin is asked again; empty where asking again would change nothing."""
    last = held.entry.last_failure or held.fetch_record
    if last is not None and last.failure_reason is FailureReason.REFUSED:
        return ""
    return f"; next try {moment_words(held.until)}"


def failure_of(held: OriginState) -> FetchRecord | None:
    """Return the failure that came after the copy that still holds; None: there is none."""
    return held.entry.last_failure if held.reason is FreshnessReason.FRESH else None


def again_words(held: OriginState) -> str:
    """Return that the server failed after the copy that holds; empty: it did not."""
    failed = failure_of(held)
    return f"asked again {moment_words(failed.at)}: {answer_words(failed)}" if failed else ""


def reason_words(verdict: Verdict, held: OriginState | None) -> str:
    """Return why a verdict is what it is, where no rule decided: with what came of access."""
    if held is None or verdict.reason not in NO_FILE:
        return verdict.reason.sentence
    return state_words(held)


def copy_words(held: OriginState) -> str:
    """Return what to add where an old file decides because there is no new one; empty: nothing."""
    if held.reason is not FreshnessReason.STALE_COPY or held.entry.last_success is None:
        return ""
    at = moment_words(held.entry.last_success.at)
    return f"of a copy fetched {at}: the robots.txt is unreachable"


def because_words(words: str, verdict: Verdict, held: OriginState | None) -> str:
    """Return why a verdict is what it is; *words* say so where a rule or a group decides."""
    if held is None:
        return words
    if verdict.rule is None:
        words = reason_words(verdict, held) if verdict.reason in NO_FILE else words
    copy = copy_words(held)
    return f"{words}, {copy}" if copy else words


def access_values(held: OriginState | None) -> dict[str, Any]:
    """Return how a robots.txt was got, in a few plain values for JSON."""
    visit, failed = (held.fetch_record, held.entry.last_failure) if held else (None, None)
    return {
        "origin": held.origin if held else None,
        "state": str(held.state) if held else None,
        "status": visit.status if visit else None,
        "failure_reason": str(visit.failure_reason) if visit and visit.failure_reason else None,
        "source": str(held.source) if held else None,
        "fetched_at": format_timestamp(visit.at) if visit else None,
        "until": format_timestamp(held.until) if held else None,
        "failed_at": format_timestamp(failed.at) if failed else None,
        "failure": answer_words(failed) if failed else None,
    }


def hop_lines(hops: tuple[Hop, ...]) -> Iterator[str]:
    """Yield a line for each redirect."""
    for hop in hops[:MOST_HOPS]:
        url, location = (shortened(visible(one), LONGEST) for one in (hop.url, hop.location))
        yield f"{url} redirects with status {hop.status} to {location or 'nowhere'}"
    if len(hops) > MOST_HOPS:
        yield f"and {len(hops) - MOST_HOPS} more redirects"


SOURCES = {"fetched": "just now", "store": "from the store", "memory": "a moment ago"}


def access_lines(held: OriginState) -> Iterator[str]:
    """Yield how a robots.txt was got: from where, when, until when, what went wrong."""
    visit = held.fetch_record
    # After so long it counts as not there, and is asked for all the same (RFC 9309 §2.3.1.4).
    failing = held.state is AccessState.UNREACHABLE or held.reason is FreshnessReason.GAVE_UP
    if visit is not None:
        yield from hop_lines(visit.hops)
        url = shortened(visible(visit.url), LONGEST)
        size = f", {plural(visit.size, 'octet')}" if visit.digest is not None else ""
        cut = "" if visit.complete else ", cut at the limit"
        yield f"{url}: {answer_words(visit)}{size}{cut}"
        done = "asked" if visit.state is AccessState.UNREACHABLE else "fetched"
        beside = f"{done} {moment_words(visit.at)}"
        # Of a copy that is older than the last answer nobody knows where it was kept.
        if held.entry.last_failure is None or held.entry.last_failure is visit:
            beside += f" ({SOURCES[str(held.source)]})"
        if not failing:
            beside += f", holds until {moment_words(held.until)}"
        yield beside
    if words := again_words(held):
        yield f"{words}; the copy holds all the same"
    if failing:
        since = moment_words(held.entry.failing_since)
        tries = plural(held.entry.failures, "failure")
        yield f"unreachable since {since}, {tries}{_next_try(held)}"
    if words := copy_words(held):
        yield f"rules are those {words}"
    if held.store_error:
        yield f"the store is not in use: {shortened(visible(held.store_error), LONGEST)}"
