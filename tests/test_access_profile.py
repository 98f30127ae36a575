"""Access profiles: their names, their bounds, and what is refused (RFC 9309 §2.3.1, §2.4)."""

from __future__ import annotations

import pickle
from math import inf
from typing import Any

import pytest

import robotrules
from robotrules import ProfileError
from robotrules.access import ACCESS_PROFILES, AccessProfile, find_access_profile, find_profiles

DEFAULT = ACCESS_PROFILES["default"]


def test_named_profiles() -> None:
    """Four readings, by the names of the other profiles and one more."""

    assert list(ACCESS_PROFILES) == ["default", "strict", "google", "stale"]
    assert find_access_profile("stale") is ACCESS_PROFILES["stale"]
    assert find_access_profile(DEFAULT) is DEFAULT
    assert find_access_profile(robotrules.GOOGLE) is ACCESS_PROFILES["google"]
    mine = robotrules.DEFAULT.replace(name="mine")
    assert find_access_profile(mine) is DEFAULT


def test_one_name_for_both() -> None:
    """A name picks the profile to parse with and the one to fetch with."""

    assert find_profiles("google") == (robotrules.GOOGLE, ACCESS_PROFILES["google"])
    assert find_profiles("stale") == (robotrules.DEFAULT, ACCESS_PROFILES["stale"])
    assert find_profiles(robotrules.STRICT) == (robotrules.STRICT, ACCESS_PROFILES["strict"])
    with pytest.raises(ProfileError):
        find_profiles("bing")


@pytest.mark.parametrize("wrong", [None, 5, ["default"], "Default"])
def test_unknown_profile(wrong: Any) -> None:
    """An invalid profile raises an error that lists the valid ones."""

    with pytest.raises(ProfileError, match="use default, strict, google, stale"):
        find_access_profile(wrong)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("unreachable_4xx", (503,), "unreachable_4xx contains 503: use statuses from 400 to 499"),
        (
            "max_redirects",
            4,
            "max_redirects is 4: use 5 to 100 (RFC 9309 §2.3.1.2 requires at least five)",
        ),
        (
            "redirect_failure_unreachable",
            1,
            "redirect_failure_unreachable is 1: use True or False",
        ),
        ("min_ttl", -1, "min_ttl is -1: use seconds, 0 or more"),
        (
            "max_ttl",
            86_401,
            "min_ttl is 300 and max_ttl 86401: use 1 <= min_ttl <= max_ttl <= 86400 "
            "(RFC 9309 §2.4: at most 24 hours)",
        ),
        (
            "initial_backoff",
            0,
            "initial_backoff is 0 and max_backoff 3600: use 1 <= initial_backoff <= "
            "max_backoff, in seconds",
        ),
        (
            "broken_redirect",
            "allow",
            "broken_redirect is 'allow': use unreachable or unavailable",
        ),
        (
            "shiny",
            1,
            "unknown access profile field 'shiny': use name, unreachable_4xx, deny_on_401_403, "
            "max_redirects, redirect_failure_unreachable, broken_redirect, validators, "
            "min_ttl, max_ttl, stale_after, "
            "without_copy, give_up_after, on_give_up, initial_backoff, max_backoff",
        ),
    ],
)
def test_words_of_a_refusal(field: str, value: Any, words: str) -> None:
    """The whole sentence: what, and what to use instead."""

    with pytest.raises(ProfileError) as refused:
        DEFAULT.replace(**{field: value})
    assert str(refused.value) == words


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("max_redirect", 5, "unknown access profile field 'max_redirect'"),
        ("unreachable_4xx", (503,), "from 400 to 499"),
        ("unreachable_4xx", (399,), "from 400 to 499"),
        ("unreachable_4xx", (500,), "from 400 to 499"),
        ("unreachable_4xx", (404.0,), "from 400 to 499"),
        ("max_redirects", 4, "at least five"),
        ("max_redirects", 101, "use 5 to 100"),
        ("max_redirects", 5.0, "use 5 to 100"),
        (
            "redirect_failure_unreachable",
            1,
            "redirect_failure_unreachable is .*: use True or False",
        ),
        ("deny_on_401_403", "no", "deny_on_401_403 is .*: use True or False"),
        ("validators", None, "validators is .*: use True or False"),
        ("min_ttl", 0, "1 <= min_ttl"),
        ("min_ttl", -1, "seconds, 0 or more"),
        ("min_ttl", "5", "seconds, 0 or more"),
        ("min_ttl", True, "seconds, 0 or more"),
        ("min_ttl", float("nan"), "seconds, 0 or more"),
        ("min_ttl", 86_400.5, "max_ttl <= 86400"),
        ("max_ttl", 86_401, "at most 24 hours"),
        ("max_ttl", 299, "1 <= min_ttl <= max_ttl"),
        ("stale_after", -1, "stale_after is -1"),
        ("give_up_after", None, "give_up_after is None"),
        ("initial_backoff", 0, "1 <= initial_backoff"),
        ("initial_backoff", 3_601, "initial_backoff <= max_backoff"),
        ("max_backoff", 59, "initial_backoff <= max_backoff"),
        ("broken_redirect", "allow", "use unreachable or unavailable"),
        ("without_copy", "maybe", "use disallow or allow"),
        ("on_give_up", "allow", "use unavailable or cached"),
    ],
)
def test_settings_that_are_refused(field: str, value: Any, words: str) -> None:
    """A setting that violates the RFC, or makes no sense, raises with the fix."""

    with pytest.raises(ProfileError, match=words.replace("(", r"\(")):
        DEFAULT.replace(**{field: value})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("unreachable_4xx", ()),
        ("unreachable_4xx", (400, 499)),
        ("max_redirects", 100),
        ("min_ttl", 1),
        ("max_ttl", 300),
        ("stale_after", inf),
        ("stale_after", 0),
        ("give_up_after", 0),
        ("give_up_after", inf),
        ("initial_backoff", 1),
        ("max_backoff", inf),
        ("without_copy", "allow"),
        ("on_give_up", "cached"),
    ],
)
def test_settings_at_their_bounds(field: str, value: Any) -> None:
    """What the bounds allow is allowed."""

    assert getattr(DEFAULT.replace(**{field: value}), field) == value


def test_profile_is_a_value() -> None:
    """A profile compares, hashes and travels between processes."""

    profile = DEFAULT.replace(name="mine", unreachable_4xx=[503 - 80, 404])

    assert profile.unreachable_4xx == (404, 423)
    assert profile == AccessProfile(name="mine", unreachable_4xx=(423, 404))
    assert pickle.loads(pickle.dumps(profile)) == profile
    assert isinstance(pickle.loads(pickle.dumps(profile)), AccessProfile)
    assert len({profile, DEFAULT, DEFAULT.replace(name="default")}) == 2
