"""
The search for a path that decision lists allow: both engines agree, and the result is right.

The decision lists are random, and not only those that rules can produce. A path that is found is
matched with the patterns one by one, and compared with all paths of a few octets.
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
# The parts of paths, and of patterns.
PATH_PARTS, PATTERN_PARTS = "ab/?=.", ("a", "b", *"/?=.*%2FA&", "*3", "*F", "%3D", "*2F")
QUICK, MANY = 150, 2_000


class Query(NamedTuple):
    """Patterns as written, decision lists over them, and limits of the search."""

    patterns: list[tuple[bytes, bool]]
    decision_lists: list[tuple[list[int], bool]]
    max_states: int
    shorter_than: int | None
    shortest: bool


@cache
def short_paths(profile: Profile) -> list[bytes]:
    """Return all paths of up to six octets, the shorter ones first."""
    settings = profile.settings(pure)
    spelled = (
        b"/" + "".join(octets).encode()
        for size in range(6)
        for octets in product(PATH_PARTS, repeat=size)
    )
    return [text for text in spelled if path(b"https://example.com" + text, settings) == text]


def draw_queries(seed: int, count: int, engine: ModuleType, profile: Profile) -> Iterator[Query]:
    """Yield queries, some with a budget that is too small."""
    random = Random(seed)
    for _ in range(count):
        patterns = [
            (
                (
                    random.choice("///*")
                    + "".join(random.choice(PATTERN_PARTS) for _ in range(random.randint(0, 6)))
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
        yield Query(
            patterns,
            decision_lists,
            random.choice((100_000, 100_000, 50, 5)),
            random.choice((None, None, None, 3, 6)),
            random.random() < 0.7,
        )


def read_patterns(languages: Any, query: Query, profile: Profile) -> list[Pattern]:
    """Return the pattern of each entry, from the written patterns."""
    settings, found = profile.settings(pure), []
    for rule, form, _ in languages.entries():
        value = query.patterns[rule][0] if rule >= 0 else b"/robots.txt$"
        pattern = Pattern(value, settings)
        if pattern.form != form:  # the directory of an index page (AMB-47)
            pattern = Pattern(value.rpartition(b"/")[0] + b"/$", settings)
        assert pattern.form == form
        found.append(pattern)
    return found


def is_accepted(query: Query, patterns: list[Pattern], candidate: bytes) -> bool:
    """Return whether all decision lists accept a path, by matching alone."""
    for clauses, default in query.decision_lists:
        matching = (clause for clause in clauses if patterns[clause >> 1].matches(candidate))
        first = next(matching, None)
        if not (default if first is None else first & 1):
            return False
    return True


def check_answer(query: Query, engine: ModuleType, profile: Profile) -> None:
    """Check an answer against all short paths."""
    languages = engine.Languages(profile.settings(engine), query.patterns)
    patterns = read_patterns(languages, query, profile)
    decided, found, states, used = languages.find_witness(*query[1:])
    assert states <= max(query.max_states, 1)
    for entries, (clauses, _) in zip(used, query.decision_lists, strict=True):
        assert set(entries) <= {clause >> 1 for clause in clauses if not clause & 1}
    if not decided:
        assert found is None
        return
    limit = query.shorter_than or 1 << 31
    short = next(
        (p for p in short_paths(profile) if len(p) < limit and is_accepted(query, patterns, p)),
        None,
    )
    if found is None:
        assert short is None, "there is a path"
        return
    assert is_accepted(query, patterns, found)
    assert len(found) < limit
    assert path(b"https://example.com" + found, profile.settings(pure)) == found, (
        "not a normalised path"
    )
    if query.shortest and short is not None:
        assert len(found) <= len(short)
    if short is None:
        assert len(found) > 6 or not set(found) <= set(PATH_PARTS.encode()), (
            "a short path was not enumerated"
        )


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
class TestSeek:
    """MUST: a path is found if and only if there is one, and it is a shortest one."""

    def test_result_is_right(self, engine: ModuleType, profile: Profile) -> None:
        """A sample for each profile, on each engine."""
        for query in draw_queries(1, QUICK, engine, profile):
            check_answer(query, engine, profile)

    def test_engines_agree(self, native: ModuleType, profile: Profile) -> None:
        """Path, states and reasons are the same: a budget runs out at the same state."""
        for query in draw_queries(2, QUICK, native, profile):
            found = []
            for engine in (native, pure):
                languages = engine.Languages(profile.settings(engine), query.patterns)
                found.append((languages.entries(), languages.find_witness(*query[1:])))
            assert found[0] == found[1], query

    @pytest.mark.slow
    def test_many(self, native: ModuleType, profile: Profile) -> None:
        """The same with the native engine and more queries."""
        for query in draw_queries(3, MANY, native, profile):
            check_answer(query, native, profile)


def test_first_match_decides(engine: ModuleType) -> None:
    """`decider` uses entries in the given order."""
    languages = engine.Languages(DEFAULT.settings(engine), [(b"/a", True), (b"/a/b", False)])
    assert [form for _, form, _ in languages.entries()] == [b"/robots.txt$", b"/a/b", b"/a"]
    assert languages.first_match([1, 2], b"/a/b") == 1
    assert languages.first_match([2, 1], b"/a/b") == 2
    assert languages.first_match([0, 1], b"/a") == -1


def test_clause_without_an_entry(engine: ModuleType) -> None:
    """A clause with an index that does not exist raises."""
    languages = engine.Languages(DEFAULT.settings(engine), [(b"/a", True)])
    with pytest.raises(IndexError):
        languages.find_witness([([7 << 1], True)], 10)
