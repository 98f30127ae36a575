"""
The search for paths: both engines find the same, and what they find is right.

Ladders are made at random, and not only those that rules make. What is found is put to patterns one
by one, and compared with all paths of a few octets, by matching alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from random import Random
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from robotrules import DEFAULT, GOOGLE, STRICT, Profile
from robotrules._engine import pure
from robotrules._engine.pure_rules import Pattern, path

PROFILES = (
    DEFAULT,
    STRICT,
    GOOGLE,
    # Switches that stand together in the profiles, each alone.
    DEFAULT.replace(name="as-given", url_as_given=True),
    DEFAULT.replace(name="minimal", minimal_encoding=True),
    DEFAULT.replace(name="split", split_escapes=True),
)
# What paths are made of, and patterns too.
PLAIN, ODD = "ab/?=.", ("a", "b", *"/?=.*%2FA&", "*3", "*F", "%3D", "*2F")
QUICK, MANY = 150, 4_000


class Trial(NamedTuple):
    """Patterns as written, ladders over them, and how far to go."""

    patterns: list[tuple[bytes, bool]]
    ladders: list[tuple[list[int], bool]]
    budget: int
    shorter_than: int | None
    shortest: bool


@cache
def paths_of(profile: Profile) -> list[bytes]:
    """Return all paths of up to six octets, the shorter ones first."""
    settings = profile.settings(pure)
    spelled = (
        b"/" + "".join(octets).encode()
        for size in range(6)
        for octets in product(PLAIN, repeat=size)
    )
    return [one for one in spelled if path(b"https://example.com" + one, settings) == one]


def trials(seed: int, count: int, engine: ModuleType, profile: Profile) -> Iterator[Trial]:
    """Yield questions; some with too little room for an answer."""
    random = Random(seed)
    for _ in range(count):
        patterns = [
            (
                (
                    random.choice("///*")
                    + "".join(random.choice(ODD) for _ in range(random.randint(0, 6)))
                    + random.choice(("", "", "$"))
                ).encode(),
                random.random() < 0.5,
            )
            for _ in range(random.randint(1, 6))
        ]
        entries = len(engine.Languages(profile.settings(engine), patterns).entries())
        ladders = [
            (
                [
                    random.randrange(entries) << 1 | random.randint(0, 1)
                    for _ in range(random.randint(0, 5) if entries else 0)
                ],
                random.random() < 0.4,
            )
            for _ in range(random.randint(1, 3))
        ]
        yield Trial(
            patterns,
            ladders,
            random.choice((100_000, 100_000, 50, 5)),
            random.choice((None, None, None, 3, 6)),
            random.random() < 0.7,
        )


def patterns_of(languages: Any, trial: Trial, profile: Profile) -> list[Pattern]:
    """Return the pattern of each entry, made of what was written."""
    settings, found = profile.settings(pure), []
    for rule, form, _ in languages.entries():
        value = trial.patterns[rule][0] if rule >= 0 else b"/robots.txt$"
        pattern = Pattern(value, settings)
        if pattern.form != form:  # the directory of an index page (AMB-47)
            pattern = Pattern(value.rpartition(b"/")[0] + b"/$", settings)
        assert pattern.form == form
        found.append(pattern)
    return found


def says_yes(trial: Trial, patterns: list[Pattern], one: bytes) -> bool:
    """Tell whether all ladders say yes to a path, by matching alone."""
    for rungs, foot in trial.ladders:
        first = next((rung for rung in rungs if patterns[rung >> 1].matches(one)), None)
        if not (foot if first is None else first & 1):
            return False
    return True


def is_right(trial: Trial, engine: ModuleType, profile: Profile) -> None:
    """Check an answer against every short path there is."""
    languages = engine.Languages(profile.settings(engine), trial.patterns)
    patterns = patterns_of(languages, trial, profile)
    decided, found, states, heard = languages.seek(*trial[1:])
    assert states <= max(trial.budget, 1)
    for of, (rungs, _) in zip(heard, trial.ladders, strict=True):
        assert set(of) <= {rung >> 1 for rung in rungs if not rung & 1}
    if not decided:
        assert found is None
        return
    limit = trial.shorter_than or 1 << 31
    short = next(
        (p for p in paths_of(profile) if len(p) < limit and says_yes(trial, patterns, p)), None
    )
    if found is None:
        assert short is None, "there is one"
        return
    assert says_yes(trial, patterns, found)
    assert len(found) < limit
    assert path(b"https://example.com" + found, profile.settings(pure)) == found, "not a real path"
    if trial.shortest and short is not None:
        assert len(found) <= len(short)
    if short is None:
        assert len(found) > 6 or not set(found) <= set(PLAIN.encode()), "it was not tried"


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
class TestSeek:
    """MUST: a path is found if and only if there is one, and no shorter one is."""

    def test_what_is_found_is_right(self, engine: ModuleType, profile: Profile) -> None:
        """A sample for each profile, on each engine."""
        for trial in trials(1, QUICK, engine, profile):
            is_right(trial, engine, profile)

    def test_engines_agree(self, native: ModuleType, profile: Profile) -> None:
        """Path, states and reasons are the same: a budget runs out at the same moment."""
        for trial in trials(2, QUICK, native, profile):
            found = []
            for engine in (native, pure):
                languages = engine.Languages(profile.settings(engine), trial.patterns)
                found.append((languages.entries(), languages.seek(*trial[1:])))
            assert found[0] == found[1], trial

    @pytest.mark.slow
    def test_many(self, native: ModuleType, profile: Profile) -> None:
        """The same with the native engine, for long."""
        for trial in trials(3, MANY, native, profile):
            is_right(trial, native, profile)


def test_the_first_that_matches_decides(engine: ModuleType) -> None:
    """`decider` takes entries in the order they are given in."""
    languages = engine.Languages(DEFAULT.settings(engine), [(b"/a", True), (b"/a/b", False)])
    assert [form for _, form, _ in languages.entries()] == [b"/robots.txt$", b"/a/b", b"/a"]
    assert languages.decider([1, 2], b"/a/b") == 1
    assert languages.decider([2, 1], b"/a/b") == 2
    assert languages.decider([0, 1], b"/a") == -1


def test_a_rung_of_no_entry_is_misuse(engine: ModuleType) -> None:
    """Nothing is guessed of a pattern that is not there."""
    languages = engine.Languages(DEFAULT.settings(engine), [(b"/a", True)])
    with pytest.raises(IndexError):
        languages.seek([([7 << 1], True)], 10)
