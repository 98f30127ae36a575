"""
The search for witnesses: both engines find the same witnesses, and the witnesses are correct.

Decision lists are random, and not only those that rules produce. Witnesses are checked by matching
each pattern, and compared with all paths of a few octets.
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
    # Switches that the profiles combine, each alone.
    DEFAULT.replace(name="as-given", url_as_given=True),
    DEFAULT.replace(name="minimal", minimal_encoding=True),
    DEFAULT.replace(name="split", split_escapes=True),
)
# The octets of paths, and the parts of patterns.
PLAIN, ODD = "ab/?=.", ("a", "b", *"/?=.*%2FA&", "*3", "*F", "%3D", "*2F")
QUICK, MANY = 150, 4_000


class Trial(NamedTuple):
    """Patterns as written, decision lists over them, and the limits of the search."""

    patterns: list[tuple[bytes, bool]]
    decision_lists: list[tuple[list[int], bool]]
    max_states: int
    shorter_than: int | None
    shortest: bool


@cache
def paths_of(profile: Profile) -> list[bytes]:
    """Return all paths of up to six octets, shortest first."""
    settings = profile.settings(pure)
    spelled = (
        b"/" + "".join(octets).encode()
        for size in range(6)
        for octets in product(PLAIN, repeat=size)
    )
    return [one for one in spelled if path(b"https://example.com" + one, settings) == one]


def trials(seed: int, count: int, engine: ModuleType, profile: Profile) -> Iterator[Trial]:
    """Yield random searches; some with too few states to finish."""
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
        decision_lists = [
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
            decision_lists,
            random.choice((100_000, 100_000, 50, 5)),
            random.choice((None, None, None, 3, 6)),
            random.random() < 0.7,
        )


def patterns_of(languages: Any, trial: Trial, profile: Profile) -> list[Pattern]:
    """Return the pattern of each entry, from its text."""
    settings, found = profile.settings(pure), []
    for rule, form, _ in languages.entries():
        value = trial.patterns[rule][0] if rule >= 0 else b"/robots.txt$"
        pattern = Pattern(value, settings)
        if pattern.form != form:  # the directory of an index page (AMB-47)
            pattern = Pattern(value.rpartition(b"/")[0] + b"/$", settings)
        assert pattern.form == form
        found.append(pattern)
    return found


def all_accept(trial: Trial, patterns: list[Pattern], one: bytes) -> bool:
    """Tell whether all decision lists accept a path, by matching alone."""
    for clauses, default in trial.decision_lists:
        first = next((clause for clause in clauses if patterns[clause >> 1].matches(one)), None)
        if not (default if first is None else first & 1):
            return False
    return True


def is_right(trial: Trial, engine: ModuleType, profile: Profile) -> None:
    """Compare a result with every short path."""
    languages = engine.Languages(profile.settings(engine), trial.patterns)
    patterns = patterns_of(languages, trial, profile)
    decided, found, states, rejecting = languages.find_witness(*trial[1:])
    assert states <= max(trial.max_states, 1)
    for entries, (clauses, _) in zip(rejecting, trial.decision_lists, strict=True):
        assert set(entries) <= {clause >> 1 for clause in clauses if not clause & 1}
    if not decided:
        assert found is None
        return
    limit = trial.shorter_than or 1 << 31
    short = next(
        (p for p in paths_of(profile) if len(p) < limit and all_accept(trial, patterns, p)), None
    )
    if found is None:
        assert short is None, "there is one"
        return
    assert all_accept(trial, patterns, found)
    assert len(found) < limit
    assert path(b"https://example.com" + found, profile.settings(pure)) == found, "not a real path"
    if trial.shortest and short is not None:
        assert len(found) <= len(short)
    if short is None:
        assert len(found) > 6 or not set(found) <= set(PLAIN.encode()), "it was not tried"


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
class TestFindWitness:
    """MUST: a witness is found if and only if there is one, and there is no shorter one."""

    def test_witnesses_are_correct(self, engine: ModuleType, profile: Profile) -> None:
        """A sample for each profile, on each engine."""
        for trial in trials(1, QUICK, engine, profile):
            is_right(trial, engine, profile)

    def test_engines_agree(self, native: ModuleType, profile: Profile) -> None:
        """Path, states and rejecting entries are equal: both stop at the same state."""
        for trial in trials(2, QUICK, native, profile):
            found = []
            for engine in (native, pure):
                languages = engine.Languages(profile.settings(engine), trial.patterns)
                found.append((languages.entries(), languages.find_witness(*trial[1:])))
            assert found[0] == found[1], trial

    @pytest.mark.slow
    def test_many(self, native: ModuleType, profile: Profile) -> None:
        """The same with the native engine, for many trials."""
        for trial in trials(3, MANY, native, profile):
            is_right(trial, native, profile)


def test_first_match(engine: ModuleType) -> None:
    """`first_match` tries entries in the given order."""
    languages = engine.Languages(DEFAULT.settings(engine), [(b"/a", True), (b"/a/b", False)])
    assert [form for _, form, _ in languages.entries()] == [b"/robots.txt$", b"/a/b", b"/a"]
    assert languages.first_match([1, 2], b"/a/b") == 1
    assert languages.first_match([2, 1], b"/a/b") == 2
    assert languages.first_match([0, 1], b"/a") == -1


def test_a_clause_out_of_range_is_misuse(engine: ModuleType) -> None:
    """A position that is not an entry raises an exception."""
    languages = engine.Languages(DEFAULT.settings(engine), [(b"/a", True)])
    with pytest.raises(IndexError):
        languages.find_witness([([7 << 1], True)], 10)
