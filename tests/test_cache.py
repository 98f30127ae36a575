"""
Cache: what decides at a moment (RFC 9309 §2.4; AMB-58 to AMB-60).

`conformance/vectors/cache/` has whole timelines. Here is the pure function for itself, with clocks
that jump, entries that other profiles wrote, and refresh in the background.
"""

from __future__ import annotations

from typing import Any

import pytest

from robotrules.access import ACCESS_PROFILES, AccessResult, AccessState, FailureReason
from robotrules.cache import (
    MAX_CLOCK_SKEW,
    REFRESH_AHEAD,
    EffectivePolicy,
    Entry,
    Freshness,
    FreshnessReason,
)
from tests.cache_samples import (
    DAY,
    DEFAULT,
    GOOGLE,
    HOUR,
    ORIGIN,
    STALE,
    START,
    at,
    entry_of,
    result,
)

# --- What decides ---------------------------------------------------------------------------------


def test_nothing_is_known() -> None:
    """On first contact a request is sent."""

    assert at(None, 5) == Freshness(
        EffectivePolicy.NOTHING, 5, True, False, FreshnessReason.NEVER_FETCHED
    )
    empty = Entry(ORIGIN, "ExampleBot")
    assert at(empty, 5) == Freshness(
        EffectivePolicy.NOTHING, 5, True, False, FreshnessReason.NEVER_FETCHED
    )


def test_a_file() -> None:
    """Its rules decide to the end of its lifetime."""

    entry = entry_of((0, result()))

    assert at(entry, 0) == Freshness(
        EffectivePolicy.RULES, DAY, False, False, FreshnessReason.FRESH
    )
    assert at(entry, DAY - 0.001) == Freshness(
        EffectivePolicy.RULES, DAY, False, False, FreshnessReason.FRESH
    )
    assert at(entry, DAY) == Freshness(
        EffectivePolicy.NOTHING, DAY, True, False, FreshnessReason.STALE
    )


def test_no_file() -> None:
    """That there is none decides as long."""

    entry = entry_of((0, result(404, ("Cache-Control", "max-age=600"))))

    assert at(entry, 599) == Freshness(
        EffectivePolicy.ALLOW, 600, False, False, FreshnessReason.FRESH
    )
    assert at(entry, 600).must_refresh


def test_restricted() -> None:
    """With deny_on_401_403 a 403 disallows, whoever recorded it; without it allows."""

    deny = DEFAULT.replace(deny_on_401_403=True)

    for profile in (DEFAULT, deny):
        entry = entry_of((0, result(403)), profile=profile)
        assert at(entry, 1, deny) == Freshness(
            EffectivePolicy.DISALLOW, DAY, False, False, FreshnessReason.FRESH
        )
        assert at(entry, 1).policy is EffectivePolicy.ALLOW
    assert at(entry_of((0, result(404))), 1, deny).policy is EffectivePolicy.ALLOW


@pytest.mark.parametrize(
    ("status", "decides"), [(401, "disallow"), (402, "allow"), (403, "disallow"), (404, "allow")]
)
def test_restricted_statuses(status: int, decides: str) -> None:
    """With deny_on_401_403 these two mean complete disallow (AMB-51)."""

    entry = entry_of((0, result(status)))

    assert at(entry, 1, DEFAULT.replace(deny_on_401_403=True)).policy == decides
    assert at(entry, 1).policy is EffectivePolicy.ALLOW


def test_a_failure() -> None:
    """Complete disallow until the next attempt is due; then a request is sent first."""

    entry = entry_of((0, result(503)))

    assert at(entry, 1) == Freshness(
        EffectivePolicy.DISALLOW, 60, False, False, FreshnessReason.UNREACHABLE
    )
    assert at(entry, 60) == Freshness(
        EffectivePolicy.DISALLOW, 60, True, False, FreshnessReason.UNREACHABLE
    )


def test_next_change_comes_first() -> None:
    """What holds ends at whatever comes first: the next attempt, the copy, or the 30 days."""

    entry = entry_of((0, result()), (DAY, result(503, ("Retry-After", "86400"))))

    assert at(entry, DAY + 5).until == 2 * DAY
    assert at(entry, DAY + 5, GOOGLE).until == DAY + 12 * HOUR
    assert at(entry, DAY + 12 * HOUR - 1, GOOGLE).reason == "unreachable"
    assert at(entry, DAY + 12 * HOUR, GOOGLE).reason == "stale-copy"
    assert at(entry, DAY + 13 * HOUR, GOOGLE) == Freshness(
        EffectivePolicy.RULES, 2 * DAY, False, False, FreshnessReason.STALE_COPY
    )
    short = DEFAULT.replace(give_up_after=HOUR)
    assert at(entry, DAY + 5, short).until == DAY + HOUR
    assert at(entry, DAY + HOUR, short) == Freshness(
        EffectivePolicy.ALLOW, 2 * DAY, False, False, FreshnessReason.GAVE_UP
    )


def test_patience_before_the_stop() -> None:
    """Where patience ends before the stop does, nothing is a copy."""

    entry = entry_of((0, result(503, ("Retry-After", "86400"))))
    profile = DEFAULT.replace(stale_after=2 * HOUR, give_up_after=HOUR)

    assert at(entry, HOUR - 1, profile).until == HOUR
    assert at(entry, HOUR, profile).reason == "gave-up"


@pytest.mark.parametrize(
    ("profile", "copy", "decides"),
    [
        (STALE, 200, EffectivePolicy.RULES),
        (STALE, 404, EffectivePolicy.ALLOW),
        (STALE, None, EffectivePolicy.DISALLOW),
        (STALE.replace(deny_on_401_403=True), 403, EffectivePolicy.DISALLOW),
        (STALE.replace(without_copy="allow"), None, EffectivePolicy.ALLOW),
    ],
)
def test_copy(profile: Any, copy: int | None, decides: EffectivePolicy) -> None:
    """While unreachable, the copy is that of the last usable answer."""

    fetch_records = [(0.0, result(copy))] if copy else []
    entry = entry_of(*fetch_records, (DAY, result(503)))

    assert at(entry, DAY + 1, profile) == Freshness(
        decides, DAY + 60, False, False, FreshnessReason.STALE_COPY
    )


@pytest.mark.parametrize(
    ("after", "copy", "decides"),
    [
        ("unavailable", 200, EffectivePolicy.ALLOW),
        ("unavailable", None, EffectivePolicy.ALLOW),
        ("cached", 200, EffectivePolicy.RULES),
        ("cached", 404, EffectivePolicy.ALLOW),
        ("cached", None, EffectivePolicy.ALLOW),
    ],
)
def test_after_patience(after: str, copy: int | None, decides: EffectivePolicy) -> None:
    """After 30 days the file counts as unavailable, or the copy goes on."""

    fetch_records = [(0.0, result(copy))] if copy else []
    entry = entry_of(*fetch_records, (DAY, result(503)), (31 * DAY - 1, result(503)))
    profile = DEFAULT.replace(on_give_up=after)

    assert at(entry, 31 * DAY - 0.5, profile).policy is EffectivePolicy.DISALLOW
    found = at(entry, 31 * DAY, profile)
    assert (found.policy, found.reason, found.must_refresh) == (decides, "gave-up", False)


# --- Entries that another profile wrote -----------------------------------------------------------


def test_lifetime_of_another_profile() -> None:
    """A lifetime that was longer when it was written is cut to this profile's."""

    entry = entry_of((0, result()))

    assert at(entry, 0, DEFAULT.replace(max_ttl=600)).until == 600
    assert at(entry, 600, DEFAULT.replace(max_ttl=600)).must_refresh


def test_status_of_another_profile() -> None:
    """A 429 that counted as no file is nothing to a profile that takes it as unreachable."""

    lost = result(429, state=AccessState.UNAVAILABLE)
    entry = entry_of((0, lost), profile=ACCESS_PROFILES["strict"])

    assert at(entry, 1, ACCESS_PROFILES["strict"]).policy is EffectivePolicy.ALLOW
    assert at(entry, 1) == Freshness(
        EffectivePolicy.NOTHING, 1, True, False, FreshnessReason.NEVER_FETCHED
    )


@pytest.mark.parametrize("trouble", [FailureReason.LOOP, FailureReason.REDIRECTS])
def test_lost_redirects_of_another_profile(trouble: FailureReason) -> None:
    """Nor are redirects without a file to a cautious one."""

    entry = entry_of((0, result(404, failure_reason=trouble)._replace(status=302)))

    assert at(entry, 1).policy is EffectivePolicy.ALLOW
    assert at(entry, 1, DEFAULT.replace(redirect_failure_unreachable=True)).must_refresh


def test_broken_redirect_of_another_profile() -> None:
    """A broken redirect that google recorded as no file is nothing to the others (AMB-54)."""

    google = ACCESS_PROFILES["google"]
    lost = result(404, failure_reason=FailureReason.LOCATION)._replace(status=301)
    entry = entry_of((0, lost), profile=google)

    assert at(entry, 1, google).policy is EffectivePolicy.ALLOW
    for name in ("default", "strict", "stale"):
        assert at(entry, 1, ACCESS_PROFILES[name]).must_refresh
    later = entry_of((0, lost), (DAY, result(503)), profile=google)
    assert at(later, DAY + 1).policy is EffectivePolicy.DISALLOW
    assert at(later, DAY + 1, STALE).policy is EffectivePolicy.DISALLOW


def test_copy_of_another_profile() -> None:
    """What is no answer here is no copy here."""

    lost = result(429, state=AccessState.UNAVAILABLE)
    entry = entry_of((0, lost), (DAY, result(503)), profile=ACCESS_PROFILES["strict"])

    assert at(entry, DAY + 1, STALE).policy is EffectivePolicy.DISALLOW


# --- In the background ----------------------------------------------------------------------------


def test_stale_file_is_used_meanwhile() -> None:
    """Past its own lifetime a file is used while it is fetched again, to the end of the day."""

    entry = entry_of((0, result(200, ("Cache-Control", "max-age=600"))))
    later: dict[str, Any] = {"stale_while_revalidate": True}

    assert at(entry, 599, **later) == Freshness(
        EffectivePolicy.RULES, 600, False, False, FreshnessReason.FRESH
    )
    assert at(entry, 600, **later) == Freshness(
        EffectivePolicy.RULES, 600, False, True, FreshnessReason.FRESH
    )
    assert at(entry, DAY - 1, **later) == Freshness(
        EffectivePolicy.RULES, DAY - 1, False, True, FreshnessReason.FRESH
    )
    assert at(entry, DAY, **later) == Freshness(
        EffectivePolicy.NOTHING, DAY, True, False, FreshnessReason.STALE
    )


def test_refresh_before_the_day_is_over() -> None:
    """A file that holds for a day is fetched again a little before."""

    entry = entry_of((0, result()))

    assert not at(entry, REFRESH_AHEAD * DAY - 1, stale_while_revalidate=True).may_refresh
    assert at(entry, REFRESH_AHEAD * DAY, stale_while_revalidate=True).may_refresh
    assert not at(entry, REFRESH_AHEAD * DAY).may_refresh


def test_failure_in_the_background() -> None:
    """A failed refresh waits for its retry time; the file is used to the end of its day."""

    failed = (80_000.0, result(503))
    entry = entry_of((0, result()), failed)
    later: dict[str, Any] = {"stale_while_revalidate": True}

    assert at(entry, 80_001, **later) == Freshness(
        EffectivePolicy.RULES, 80_060, False, False, FreshnessReason.FRESH
    )
    assert at(entry, 80_060, **later) == Freshness(
        EffectivePolicy.RULES, 80_060, False, True, FreshnessReason.FRESH
    )
    assert at(entry, DAY, **later) == Freshness(
        EffectivePolicy.DISALLOW, DAY, False, True, FreshnessReason.UNREACHABLE
    )
    entry = entry_of((0, result()), failed, (DAY - 10, result(503)))
    assert at(entry, DAY - 5, **later).until == DAY
    assert at(entry, DAY, **later) == Freshness(
        EffectivePolicy.DISALLOW, DAY + 110, False, False, FreshnessReason.UNREACHABLE
    )


def test_failure_while_fresh() -> None:
    """Without it, a fresh file decides whatever failed since."""

    entry = entry_of((0, result()), (5, result(503)))

    assert at(entry, 6) == Freshness(
        EffectivePolicy.RULES, DAY, False, False, FreshnessReason.FRESH
    )


@pytest.mark.parametrize(
    ("value", "grows"),
    [
        ("max-age=600", True),
        ("max-age=600, must-revalidate", False),
        ("max-age=600, Must-Revalidate", False),
        ("max-age=600, no-cache", False),
        ("no-store", False),
    ],
)
def test_what_may_grow_old(value: str, grows: bool) -> None:
    """In the background a file is used past its lifetime, unless it forbids that."""

    entry = entry_of((0, result(200, ("Cache-Control", value))))
    found = at(entry, 601, stale_while_revalidate=True)

    assert (found.must_refresh, found.may_refresh) == (not grows, grows)
    assert found.policy is (EffectivePolicy.RULES if grows else EffectivePolicy.NOTHING)


# --- Clocks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("found", [result(), result(503)])
def test_clock_that_was_set_back(found: AccessResult) -> None:
    """A fetch in the future has unknown age, so a request is sent; a minute is tolerated."""

    entry = entry_of((1_000, found))

    assert at(entry, 1_000 - MAX_CLOCK_SKEW - 1) == Freshness(
        EffectivePolicy.NOTHING,
        1_000 - MAX_CLOCK_SKEW - 1,
        True,
        False,
        FreshnessReason.CLOCK_SET_BACK,
    )
    assert at(entry, 1_000 - MAX_CLOCK_SKEW).reason in ("fresh", "unreachable")


def test_failure_after_the_clock_was_set_back() -> None:
    """A file from the future is kept as a copy that is not fresh, because its age is unknown."""

    entry = entry_of((10 * DAY, result()), (0, result(503)))

    assert entry.last_success is not None
    assert (entry.last_success.at, entry.last_success.until) == (START - DAY, START)
    assert at(entry, 1).policy is EffectivePolicy.DISALLOW
    assert at(entry, 1, stale_while_revalidate=True).policy is EffectivePolicy.DISALLOW
    assert at(entry, 1, STALE).policy is EffectivePolicy.RULES
    near = entry_of((MAX_CLOCK_SKEW, result()), (0, result(503)))
    assert near.last_success is not None
    assert near.last_success.at == START + MAX_CLOCK_SKEW


def test_since_is_never_in_the_future() -> None:
    """Failures that began in the future began now."""

    entry = entry_of((50, result(503)))

    assert at(entry, 0, DEFAULT.replace(give_up_after=0.0)).reason == "gave-up"
    assert at(entry, 0, GOOGLE).until == 110
    entry = entry_of((50, result(503)), (0, result(503)))
    assert entry.failing_since == START
