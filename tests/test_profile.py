"""Profiles: named sets of departures, immutable, within the limits of the RFC."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import robotrules
from robotrules import DEFAULT, GOOGLE, STRICT, Extension, Profile, ProfileError, RobotsTxt, Role
from robotrules.profile import (
    GOOGLE_SPELLINGS,
    LEAST_MAX_BYTES,
    MORE_SPELLINGS,
    PROFILES,
    USER_AGENT_PURPOSE,
    find_profile,
)

SWITCHES = tuple(name for name in dir(STRICT) if getattr(STRICT, name) is False)


def test_three_profiles_have_names() -> None:
    """The profiles are `default`, `strict` and `google` (AMB-00)."""
    assert PROFILES == {"default": DEFAULT, "strict": STRICT, "google": GOOGLE}
    for name, profile in PROFILES.items():
        assert find_profile(name) is profile
        assert find_profile(profile) is profile


def test_strict_has_no_departures() -> None:
    """Every switch is off in STRICT, and only the spellings of the RFC are accepted."""
    assert STRICT.switches() == ()
    assert STRICT.spellings == ()
    assert len(SWITCHES) == 23


def test_departures_of_default_and_google() -> None:
    """The other profiles have exactly these departures."""
    assert sorted(DEFAULT.switches()) == [
        "any_product_token",
        "decode_utf16",
        "keep_invalid_utf8",
        "keep_spaces",
        "literal_tokens",
        "missing_colon",
        "separate_lines",
        "star_with_text",
    ]
    assert sorted(set(SWITCHES) - set(GOOGLE.switches())) == [
        "comma_user_agents",
        "decode_utf16",
        "first_star_group_only",
        "literal_tokens",
    ]
    assert DEFAULT.spellings == GOOGLE.spellings == GOOGLE_SPELLINGS
    assert set(GOOGLE_SPELLINGS) < set(MORE_SPELLINGS)


def test_limits() -> None:
    """No profile reads less than 500 KiB; google has a higher limit, and one for lines (AMB-17)."""
    assert LEAST_MAX_BYTES == 512_000
    assert (DEFAULT.max_bytes, DEFAULT.max_line) == (STRICT.max_bytes, STRICT.max_line)
    assert (DEFAULT.max_bytes, DEFAULT.max_line) == (512_000, None)
    assert (GOOGLE.max_bytes, GOOGLE.max_line) == (16 << 20, 16_663)


@pytest.mark.parametrize(
    "changes",
    [
        {"max_bytes": 511_999},
        {"max_bytes": 0},
        {"max_bytes": (1 << 30) + 1},
        {"max_line": 0},
        {"max_line": -1},
        {"strictness": 1},
        {"extensions": (Extension(""),)},
        {"extensions": (Extension("a:b"),)},
        {"extensions": (Extension("a#b"),)},
        {"extensions": (Extension(" a"),)},
        {"extensions": (Extension("a", spellings=("b ",)),)},
    ],
)
def test_invalid_fields(changes: dict[str, Any]) -> None:
    """A limit below the MUST of §2.5, an unknown field and an impossible record name raise."""
    with pytest.raises(ProfileError):
        DEFAULT.replace(**changes)


@pytest.mark.parametrize(
    "changes", [{"max_bytes": 512_000}, {"max_bytes": 1 << 30}, {"max_line": 1}]
)
def test_limits_at_their_bounds(changes: dict[str, Any]) -> None:
    """The bounds themselves are valid."""
    assert DEFAULT.replace(**changes) is not DEFAULT


@pytest.mark.parametrize("name", ["loose", "", "DEFAULT", None, 1, [], b"default"])
def test_an_unknown_profile_names_the_known_ones(name: Any) -> None:
    """The error for an unknown profile lists the known profiles."""
    with pytest.raises(ProfileError, match="default, strict, google"):
        find_profile(name)
    with pytest.raises(ProfileError, match="default, strict, google"):
        robotrules.parse("", name)


def test_a_profile_is_immutable() -> None:
    """No field of a profile can be set, deleted or added; `replace` makes another."""
    for name in ("name", "max_bytes", "keep_spaces", "other"):
        with pytest.raises((AttributeError, TypeError)):
            setattr(DEFAULT, name, 1)
    with pytest.raises((AttributeError, TypeError)):
        del DEFAULT.name
    other = DEFAULT.replace(comma_user_agents=True, name="mine")
    assert (other.name, other.comma_user_agents) == ("mine", True)
    assert (DEFAULT.name, DEFAULT.comma_user_agents) == ("default", False)


def test_a_profile_is_made_by_names_only() -> None:
    """Fields are passed by name, and `name` is required."""
    assert Profile(name="mine") == STRICT.replace(name="mine")
    with pytest.raises(TypeError):
        Profile("mine")  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Profile()  # type: ignore[call-arg, unused-ignore]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"keep_spaces": 1}, "use True or False"),
        ({"merge_tokens": None}, "use True or False"),
        ({"extensions": (Extension("x", role="START"),)}, "use Role.START"),  # type: ignore[arg-type]
    ],
)
def test_a_field_of_another_type_is_an_error(changes: dict[str, Any], message: str) -> None:
    """A switch is a bool and a role is a Role; the error states what to use."""
    with pytest.raises(ProfileError, match=message):
        DEFAULT.replace(**changes)


def test_tables_may_be_lists() -> None:
    """Tables given as lists are stored as tuples, so that a profile is hashable."""
    pairs = [("alow", "allow")]
    assert hash(DEFAULT.replace(spellings=pairs)) == hash(DEFAULT.replace(spellings=tuple(pairs)))


def test_a_profile_is_a_value(engine: ModuleType) -> None:
    """Profiles compare by value, also after use, and survive pickle and copy."""
    used = DEFAULT.replace(comma_user_agents=True, extensions=(Extension("x"),))
    used.settings(engine)
    fresh = DEFAULT.replace(comma_user_agents=True, extensions=(Extension("x"),))
    assert used == fresh
    assert hash(used) == hash(fresh)
    assert used != DEFAULT
    for again in (pickle.loads(pickle.dumps(used)), copy.copy(used), copy.deepcopy(used)):
        assert again == used
        assert isinstance(again, Profile)
        robotrules.parse("x: 1", again, engine=engine)
    assert "settings" not in repr(used).lower()


def test_settings_are_cached_for_each_engine(engine: ModuleType) -> None:
    """A profile caches its settings for each engine."""
    profile = DEFAULT.replace(comma_user_agents=True)
    assert profile.settings(engine) is profile.settings(engine)
    assert isinstance(profile.settings(engine), engine.Settings)


@pytest.mark.parametrize("switch", SWITCHES)
def test_every_switch_alone(engine: ModuleType, switch: str) -> None:
    """Every switch can be turned on alone, is then listed, and is known to both engines."""
    profile = STRICT.replace(**{switch: True})
    assert profile.switches() == (switch,)
    assert robotrules.parse("User-agent: *\nDisallow: /", profile, engine=engine).groups


def test_an_unknown_switch(native: ModuleType) -> None:
    """The native engine raises an error for an unknown switch or role."""
    with pytest.raises(ValueError, match="no switch"):
        native.Settings(["lenient"], [], 512_000, None)
    with pytest.raises(ValueError, match="no role"):
        native.Settings([], [(b"a", b"a", "FIRST", True)], 512_000, None)


class TestSpellings:
    """The table of a profile defines which spellings mean which record (AMB-14)."""

    @pytest.mark.parametrize(("spelling", "key"), MORE_SPELLINGS)
    def test_every_spelling(self, read: Callable[..., RobotsTxt], spelling: str, key: str) -> None:
        """A spelling in the table is read as its record, with the note `typo`."""
        profile = DEFAULT.replace(spellings=MORE_SPELLINGS)
        robots = read(f"{spelling.upper()}: x", profile)
        assert [record.key for record in robots.records] == [key]
        assert "typo" in [note.code for note in robots.notes]
        strict = read(f"{spelling}: x", "strict")
        assert [record.key for record in strict.records] == [spelling]
        assert "typo" not in [note.code for note in strict.notes]

    def test_an_extension_has_spellings_too(self, read: Callable[..., RobotsTxt]) -> None:
        """The spellings of an extension mean its key, case-insensitively."""
        profile = DEFAULT.with_extensions(Extension("Purpose", ("Porpoise",), Role.START))
        robots = read("porpoise: x\nDisallow: /", profile)
        assert [(record.key, record.role) for record in robots.records] == [
            ("purpose", Role.START),
            ("disallow", Role.RULE),
        ]
        assert [note.code for note in robots.notes] == ["typo"]

    def test_the_first_meaning_of_a_name_counts(self, read: Callable[..., RobotsTxt]) -> None:
        """An extension cannot redefine a record of the RFC."""
        profile = DEFAULT.with_extensions(Extension("Disallow", ("allow",), Role.OTHER))
        robots = read("User-agent: *\nDisallow: /\nAllow: /a", profile)
        assert [record.role for record in robots.records] == [Role.START, Role.RULE, Role.RULE]
        assert not robots.check("/x", "a")

    def test_extensions_add_up(self) -> None:
        """`with_extensions` keeps the existing extensions."""
        profile = STRICT.with_extensions(Extension("a")).with_extensions(Extension("b"))
        assert [extension.key for extension in profile.extensions] == ["a", "b"]
        assert STRICT.extensions == GOOGLE.extensions == ()
        assert DEFAULT.extensions == (USER_AGENT_PURPOSE,)


def test_defaults_of_an_extension() -> None:
    """By default an extension is an OTHER record with group scope."""
    extension = Extension("x")
    assert (extension.spellings, extension.role, extension.scope) == ((), Role.OTHER, "group")
    with pytest.raises(AttributeError):
        extension.key = "y"  # type: ignore[misc]


def test_a_spelling_has_the_role_of_its_record() -> None:
    """A spelling has the same effect on grouping as the canonical name."""
    profile = DEFAULT.replace(spellings=(("Forbid", "Disallow"),))
    robots = robotrules.parse("User-agent: a\nForbid: /x\nUser-agent: b", profile)
    assert not robots.check("/x", "a")
    assert robots.check("/x", "b")
