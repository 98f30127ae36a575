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
    """What is no profile is told with those that are."""

    with pytest.raises(ProfileError, match="use default, strict, google, stale"):
        find_access_profile(wrong)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("retried", (503,), "retried has 503: it is for statuses from 400 to 499"),
        (
            "max_redirects",
            4,
            "max_redirects is 4: RFC 9309 §2.3.1.2 asks for at least five; use 5 to 100",
        ),
        ("cautious", 1, "cautious is a switch: use True or False"),
        ("shortest", -1, "shortest is -1: use seconds, 0 or more"),
        (
            "longest",
            86_401,
            "shortest is 300 and longest 86401: use 1 <= shortest <= longest <= 86400 "
            "(RFC 9309 §2.4: no longer than 24 hours)",
        ),
        ("first_retry", 0, "use 1 <= first_retry <= longest_retry, in seconds"),
        (
            "broken_redirect",
            "allow",
            "broken_redirect is 'allow': use unreachable or unavailable",
        ),
        (
            "shiny",
            1,
            "an access profile has no field 'shiny'; it has name, retried, deny_on_401_403, "
            "max_redirects, cautious, broken_redirect, validators, shortest, longest, stop, "
            "without_copy, patience, after_patience, first_retry, longest_retry",
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
        ("max_redirect", 5, "has no field 'max_redirect'"),
        ("retried", (503,), "from 400 to 499"),
        ("retried", (399,), "from 400 to 499"),
        ("retried", (500,), "from 400 to 499"),
        ("retried", (404.0,), "from 400 to 499"),
        ("max_redirects", 4, "at least five"),
        ("max_redirects", 101, "use 5 to 100"),
        ("max_redirects", 5.0, "use 5 to 100"),
        ("cautious", 1, "cautious is a switch"),
        ("deny_on_401_403", "no", "deny_on_401_403 is a switch"),
        ("validators", None, "validators is a switch"),
        ("shortest", 0, "1 <= shortest"),
        ("shortest", -1, "seconds, 0 or more"),
        ("shortest", "5", "seconds, 0 or more"),
        ("shortest", True, "seconds, 0 or more"),
        ("shortest", float("nan"), "seconds, 0 or more"),
        ("shortest", 86_400.5, "longest <= 86400"),
        ("longest", 86_401, "no longer than 24 hours"),
        ("longest", 299, "1 <= shortest <= longest"),
        ("stop", -1, "stop is -1"),
        ("patience", None, "patience is None"),
        ("first_retry", 0, "1 <= first_retry"),
        ("first_retry", 3_601, "first_retry <= longest_retry"),
        ("longest_retry", 59, "first_retry <= longest_retry"),
        ("broken_redirect", "allow", "use unreachable or unavailable"),
        ("without_copy", "maybe", "use disallow or allow"),
        ("after_patience", "allow", "use unavailable or cached"),
    ],
)
def test_settings_that_are_refused(field: str, value: Any, words: str) -> None:
    """What breaks the RFC, or makes no sense, is refused with the cure."""

    with pytest.raises(ProfileError, match=words.replace("(", r"\(")):
        DEFAULT.replace(**{field: value})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("retried", ()),
        ("retried", (400, 499)),
        ("max_redirects", 100),
        ("shortest", 1),
        ("longest", 300),
        ("stop", inf),
        ("stop", 0),
        ("patience", 0),
        ("patience", inf),
        ("first_retry", 1),
        ("longest_retry", inf),
        ("without_copy", "allow"),
        ("after_patience", "cached"),
    ],
)
def test_settings_at_their_bounds(field: str, value: Any) -> None:
    """What the bounds allow is allowed."""

    assert getattr(DEFAULT.replace(**{field: value}), field) == value


def test_profile_is_a_value() -> None:
    """A profile compares, hashes and travels between processes."""

    profile = DEFAULT.replace(name="mine", retried=[503 - 80, 404])

    assert profile.retried == (404, 423)
    assert profile == AccessProfile(name="mine", retried=(423, 404))
    assert pickle.loads(pickle.dumps(profile)) == profile
    assert isinstance(pickle.loads(pickle.dumps(profile)), AccessProfile)
    assert len({profile, DEFAULT, DEFAULT.replace(name="default")}) == 2
