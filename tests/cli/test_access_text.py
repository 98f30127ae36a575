"""Words about access: every state of a robots.txt has its own, and none moves a cursor."""

from __future__ import annotations

from math import inf
from typing import Any
from unittest import mock

import pytest

from robotrules import Reason, Verdict
from robotrules.access import AccessState, FailureReason, Hop
from robotrules.cache import EffectivePolicy, Entry, FetchRecord, Freshness, FreshnessReason
from robotrules.cli import client
from robotrules.cli.access_text import (
    access_lines,
    describe_decision,
    describe_page,
    describe_reason,
    describe_state,
    format_time,
    hop_lines,
)
from robotrules.client.origin_state import OriginState, StateSource, make_origin_state
from robotrules.client.pages import FetchResult
from robotrules.http.fields import NO_FIELDS
from robotrules.json_results.access import access_values, describe_response
from robotrules.profile import DEFAULT

NOON = 1_777_636_800.0  # 2026-05-01 12:00 UTC
DAY = 86_400.0
ORIGIN = "https://a.example"


@pytest.fixture(autouse=True)
def noon() -> Any:
    """It is noon."""
    with mock.patch.object(client, "now", return_value=NOON):
        yield


def visit(state: AccessState = AccessState.SUCCESS, **changes: Any) -> FetchRecord:
    """Return a fetch at noon."""
    made = FetchRecord(
        origin=ORIGIN,
        agent="robotrules",
        user_agent="robotrules/0",
        at=NOON,
        state=state,
        status=200,
        failure_reason=None,
        detail="",
        url=f"{ORIGIN}/robots.txt",
        hops=(),
        fields=NO_FIELDS,
        digest="0" * 64 if state is AccessState.SUCCESS else None,
        size=9,
        complete=True,
        revalidated=False,
        until=NOON + 60,
        may_store=True,
        address="192.0.2.1",
    )
    return made._replace(**changes)


GOOD = visit()
NONE = visit(AccessState.UNAVAILABLE, status=404, failure_reason=FailureReason.STATUS)
BAD = visit(AccessState.UNREACHABLE, status=503, failure_reason=FailureReason.STATUS)


def has(
    good: FetchRecord | None,
    bad: FetchRecord | None = None,
    decides: EffectivePolicy = EffectivePolicy.RULES,
    because: FreshnessReason = FreshnessReason.FRESH,
    trouble: str | None = None,
) -> OriginState:
    """Return the cache entry at noon."""
    entry = Entry(ORIGIN, "robotrules", good, bad, NOON - 9 * DAY if bad else 0.0, 3 if bad else 0)
    fresh = Freshness(decides, NOON + 60, False, False, because)
    return make_origin_state(
        entry, fresh, None, profile=DEFAULT, source=StateSource.STORE, store_error=trouble
    )


UNREACHABLE = has(None, BAD, EffectivePolicy.DISALLOW, FreshnessReason.UNREACHABLE)
COPY = has(GOOD._replace(at=NOON - DAY), BAD, EffectivePolicy.RULES, FreshnessReason.STALE_COPY)
PATIENCE = has(None, BAD, EffectivePolicy.ALLOW, FreshnessReason.GAVE_UP)


@pytest.mark.parametrize(
    ("at", "words"),
    [
        (NOON, "12:00 UTC"),
        (NOON + 11 * 3600, "23:00 UTC"),
        (NOON + 12 * 3600, "2026-05-02 00:00 UTC"),
        (NOON - DAY, "2026-04-30 12:00 UTC"),
        (inf, "a time out of range"),
        (1e18, "a time out of range"),
    ],
)
def test_moments(at: float, words: str) -> None:
    """The time, and the date unless it is today's."""
    assert format_time(at) == words


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (GOOD, "status 200"),
        (BAD, "status 503"),
        (GOOD._replace(status=304, revalidated=True), "status 304, unchanged"),
        (
            BAD._replace(failure_reason=FailureReason.TLS, detail="expired"),
            "no secure connection: expired",
        ),
        (BAD._replace(failure_reason=FailureReason.CUT, detail=""), "the response was cut short"),
        (
            BAD._replace(
                failure_reason=FailureReason.REFUSED,
                detail="x is 10.0.0.1; pass allow_private=['x']",
            ),
            "the address is private, and this client does not connect to it: x is 10.0.0.1",
        ),
        (
            BAD._replace(failure_reason=FailureReason.DNS, detail="\x1b[31m"),
            "the host has no address: \\x1b[31m",
        ),
    ],
)
def test_answers(one: FetchRecord, words: str) -> None:
    """The description of a response, or of why there was none."""
    assert describe_response(one) == words


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (has(GOOD), "the robots.txt is valid until 12:01 UTC"),
        (has(NONE, decides=EffectivePolicy.ALLOW), "there is no robots.txt (status 404)"),
        (
            has(NONE._replace(status=403), decides=EffectivePolicy.ALLOW),
            "the robots.txt is unavailable (status 403), which counts as no robots.txt",
        ),
        (UNREACHABLE, "the robots.txt is unreachable (status 503); next attempt 12:01 UTC"),
        (
            # Another try would change nothing.
            has(
                None,
                BAD._replace(failure_reason=FailureReason.REFUSED, detail="x is 10.0.0.1"),
                EffectivePolicy.DISALLOW,
                FreshnessReason.UNREACHABLE,
            ),
            "the robots.txt is unreachable (the address is private, and this client does not "
            "connect to it: x is 10.0.0.1)",
        ),
        (
            PATIENCE,
            "the robots.txt has been unreachable since 2026-04-22 12:00 UTC, which counts as no "
            "robots.txt",
        ),
        (
            has(None, None, EffectivePolicy.DISALLOW, FreshnessReason.UNREACHABLE),
            "the robots.txt is unreachable; next attempt 12:01 UTC",
        ),
    ],
)
def test_states(one: OriginState, words: str) -> None:
    """The state of a file, and the time of the next fetch."""
    assert describe_state(one) == words


def test_reasons() -> None:
    """Without a deciding rule, the result of the fetch is the reason."""
    unreachable = Verdict(False, Reason.UNREACHABLE, None, "default")
    assert describe_reason(unreachable, UNREACHABLE).startswith("the robots.txt is unreachable (")
    assert describe_reason(unreachable, None) == Reason.UNREACHABLE.sentence
    implicit = Verdict(True, Reason.IMPLICIT, None, "default")
    assert describe_reason(implicit, UNREACHABLE) == Reason.IMPLICIT.sentence
    assert describe_decision("x", implicit, None) == "x"
    assert describe_decision("x", implicit, UNREACHABLE) == "x"
    copied = describe_decision("line 2", implicit, COPY)
    assert copied == (
        "line 2, from a copy fetched 2026-04-30 12:00 UTC: the robots.txt is unreachable"
    )


def test_lines() -> None:
    """Source, time of the fetch, expiry, and errors."""
    hop = Hop(f"{ORIGIN}/robots.txt", 301, "/r")
    moved = has(GOOD._replace(hops=(hop,), url=f"{ORIGIN}/r", complete=False))
    assert list(access_lines(moved)) == [
        f"{ORIGIN}/robots.txt redirects with status 301 to /r",
        f"{ORIGIN}/r: status 200, 9 bytes, truncated",
        "fetched 12:00 UTC (from the store), valid until 12:01 UTC",
    ]
    assert list(access_lines(UNREACHABLE)) == [
        f"{ORIGIN}/robots.txt: status 503",
        "requested 12:00 UTC (from the store)",
        "unreachable since 2026-04-22 12:00 UTC, 3 failures; next attempt 12:01 UTC",
    ]
    assert "the rules are from a copy fetched 2026-04-30 12:00 UTC" in "\n".join(access_lines(COPY))
    [*_, last] = access_lines(has(GOOD, trouble="the disk is full\x1b"))
    assert last == "store unavailable: the disk is full\\x1b"


def test_a_failing_server_with_a_valid_copy() -> None:
    """The line shows the age of the copy, and reports the failure."""
    failed = BAD._replace(at=GOOD.at + 60)
    entry = Entry(
        ORIGIN,
        "robotrules",
        last_success=GOOD,
        last_failure=failed,
        failing_since=failed.at,
        failures=1,
    )
    fresh = Freshness(EffectivePolicy.RULES, GOOD.at + 120, False, False, FreshnessReason.FRESH)
    kept = make_origin_state(entry, fresh, None, profile=DEFAULT, source=StateSource.FETCHED)
    [_, second, third] = access_lines(kept)
    assert second == "fetched 12:00 UTC, valid until 12:02 UTC"
    assert third == "refresh failed 12:01 UTC: status 503; the copy is still valid"
    assert describe_state(kept).endswith("12:02 UTC; refresh failed 12:01 UTC: status 503")
    found = access_values(kept)
    assert (found["status"], found["failure"]) == (200, "status 503")
    assert found["failed_at"] == "2026-05-01T12:01:00.000+00:00"
    assert access_values(has(GOOD))["failure"] is None


def test_hops() -> None:
    """A long way is cut, and a Location may be missing."""
    [*first, last] = hop_lines((Hop("http://a/", 302, ""),) * 9)
    assert first == ["http://a/ redirects with status 302 to (empty)"] * 6
    assert last == "and 3 more redirects"


def test_values() -> None:
    """For JSON; without an origin there are none."""
    assert set(access_values(None).values()) == {None}
    found = access_values(UNREACHABLE)
    assert (found["state"], found["failure_reason"]) == ("unreachable", "status")
    assert found["until"] == "2026-05-01T12:01:00.000+00:00"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"status": 200, "body": b"abc"}, "status 200, 3 bytes"),
        ({"status": 200, "complete": False}, "status 200, 0 bytes, truncated"),
        (
            {"failure_reason": FailureReason.LOOP, "detail": FailureReason.LOOP.sentence},
            "a redirect loop",
        ),
        ({"failure_reason": FailureReason.TIMEOUT, "detail": "9 s"}, "no response in time: 9 s"),
    ],
)
def test_pages(changes: dict[str, Any], words: str) -> None:
    """The description of the response for a page."""
    allowed = Verdict(True, Reason.NO_MATCH, None, "default")
    assert describe_page(FetchResult(f"{ORIGIN}/a", allowed, None)._replace(**changes)) == words


@pytest.mark.parametrize("trouble", FailureReason)
def test_every_error_has_a_description(trouble: FailureReason) -> None:
    """Every kind of failure has a text."""
    assert describe_response(BAD._replace(failure_reason=trouble, detail=""))
