"""Tag profiles: their names, their bounds, and what is refused."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import robotrules
from robotrules import tags, usage_rules
from robotrules.tags import DEFAULT, TagProfile


def test_profiles_by_name_and_value() -> None:
    """A name, a tag profile, or a profile of robots.txt, which selects the one of its name."""
    assert tags.find_tag_profile("google") is tags.GOOGLE
    assert tags.find_tag_profile(robotrules.GOOGLE) is tags.GOOGLE
    assert tags.find_tag_profile(robotrules.DEFAULT.replace(name="mine")) is tags.DEFAULT
    assert tags.find_tag_profile(tags.BING) is tags.BING
    assert pickle.loads(pickle.dumps(tags.GOOGLE)) == tags.GOOGLE
    for wrong in ("altavista", None, 5):
        with pytest.raises(robotrules.ProfileError) as told:
            tags.find_tag_profile(wrong)  # type: ignore[arg-type]
        assert str(told.value) == (
            f"unknown tag profile {wrong!r}: use default, strict, google, bing, apple, yandex, "
            "or a TagProfile made with robotrules.tags.DEFAULT.replace(...)"
        )


LEAST = "use at least 8,192 octets (draft-illyes-repext §3.1.1)"
FIELDS = (
    "name, max_field_bytes, max_html_bytes, lower_keys, recover_malformed, skip_empty_lines, "
    "legacy_words, space_separates, scope_both, x_robots_tag_only, prefer_robots_tag, body_metas, "
    "robot_name, permitting_wins, nocache_over_noarchive, none_means, without_effect, names"
)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"max_field_bytes": 4096}, f"max_field_bytes is 4,096: {LEAST}"),
        ({"max_html_bytes": 8191}, f"max_html_bytes is 8,191: {LEAST}"),
        (
            {"max_html_bytes": 67_108_865},
            "max_html_bytes is 67,108,865: use at most 67,108,864 (64 MiB)",
        ),
        ({"max_field_bytes": True}, "max_field_bytes must be a number of octets, not True"),
        ({"max_field_bytes": 9000.0}, "max_field_bytes must be a number of octets, not 9000.0"),
        ({"recover_malformed": 1}, "recover_malformed is a switch: use True or False, not 1"),
        ({"colour": "red"}, f"a tag profile has no field 'colour'; it has {FIELDS}"),
        ({"name": ""}, "the name of a tag profile must be text, not ''"),
        ({"name": 5}, "the name of a tag profile must be text, not 5"),
        ({"none_means": "noindex"}, "none_means must be a list of str, not 'noindex'"),
        ({"none_means": None}, "none_means must be a list of str, not None"),
        ({"names": b"googlebot"}, "names must be a list of str, not b'googlebot'"),
        ({"names": 5}, "names must be a list of str, not 5"),
        ({"without_effect": ["noai", 5]}, "without_effect must be a list of str, not ['noai', 5]"),
    ],
)
def test_invalid_profiles(changes: dict[str, Any], words: str) -> None:
    """The limit is at least 8 KiB (RTG-3.1.1-14), and invalid values raise an error."""
    for change in (DEFAULT.replace, DEFAULT._replace):
        with pytest.raises(robotrules.ProfileError) as told:
            change(**changes)
        assert str(told.value) == words


def test_settings_at_their_bounds() -> None:
    """What the bounds allow is allowed."""
    for name in ("max_field_bytes", "max_html_bytes"):
        for octets in (8192, 67_108_864):
            assert getattr(DEFAULT.replace(**{name: octets}), name) == octets


def test_a_profile_is_immutable() -> None:
    """No field can be set."""
    with pytest.raises(AttributeError):
        DEFAULT.recover_malformed = False  # type: ignore[misc]
    assert isinstance(DEFAULT, TagProfile)


def test_a_profile_takes_lists_of_words() -> None:
    """They become hashable values; anything else than a list of words raises an error."""
    profile = DEFAULT.replace(none_means=["noindex"], without_effect={"noai"}, names=["googlebot"])
    assert usage_rules(headers={"Robots-Tag": "*;none;noai"}, profile=profile).rules == {
        "noindex": True
    }
    assert (profile.none_means, profile.names) == (("noindex",), frozenset({"googlebot"}))
    assert profile.replace(names=None).names is None
    with pytest.raises(robotrules.ProfileError) as told:
        TagProfile()
    assert str(told.value) == "a tag profile needs a name: TagProfile(name=...)"


def test_switches_that_are_on() -> None:
    """By name, in the order of the fields."""
    assert tags.STRICT.switches() == ()
    assert tags.DEFAULT.switches() == (
        *("lower_keys", "recover_malformed", "skip_empty_lines", "legacy_words", "space_separates"),
    )
