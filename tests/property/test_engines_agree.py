"""The native engine equals the pure one, to the octet, under every profile."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from fuzz.generator import Case
from fuzz.targets.agree import snapshot
from hypothesis import given
from hypothesis import strategies as st

import robotrules
from robotrules import Profile
from robotrules._engine import pure
from tests.property.strategies import (
    bodies,
    cases,
    large_rules,
    patterns,
    profiles,
    tokens,
    urls,
    values,
)

pytestmark = pytest.mark.usefixtures("native")


class TestEnginesAgree:
    """Two engines, one contract: every vector and every property must hold on both (house, 3)."""

    @given(case=cases(), profile=profiles())
    def test_everything_about_a_file(
        self, native: ModuleType, case: Case, profile: Profile
    ) -> None:
        """Body, lines, records, groups, notes, choice, rules and answers are the same."""
        seen = [snapshot(case, engine, profile) for engine in (native, pure)]
        for name in seen[0]:
            assert seen[0][name] == seen[1][name], name

    @given(body=bodies, profile=profiles(), complete=st.booleans(), limit=st.integers(1, 80))
    def test_at_any_limit(
        self, native: ModuleType, body: bytes, profile: Profile, complete: bool, limit: int
    ) -> None:
        """What is read and noted at a size limit is the same, wherever the limit falls."""
        seen = []
        for engine in (native, pure):
            switches = [name for name in profile.switches() if name in ENGINE_SWITCHES]
            settings = engine.Settings(switches, profile._keys(), limit, profile.max_line)
            document = engine.parse(body, settings, complete)
            seen.append((document.lines(), list(map(tuple, document.records())), document.notes()))
        assert seen[0] == seen[1]

    @given(value=values | patterns | st.binary(max_size=40), profile=profiles())
    def test_forms(self, native: ModuleType, value: bytes, profile: Profile) -> None:
        """The normal form of any octets is the same, as a URL and as a pattern."""
        for pattern in (False, True):
            forms = [
                engine.normal_form(value, pattern, profile.settings(engine))
                for engine in (native, pure)
            ]
            assert forms[0] == forms[1]

    @given(text=st.text(st.characters(codec=None), max_size=20), profile=profiles())
    def test_text(self, native: ModuleType, text: str, profile: Profile) -> None:
        """Any str, lone surrogates included, stands for the same octets."""
        robots = [robotrules.parse(text, profile, engine=engine) for engine in (native, pure)]
        assert robots[0].body == robots[1].body
        forms = [
            engine.normal_form(text, False, profile.settings(engine)) for engine in (native, pure)
        ]
        assert forms[0] == forms[1]

    @given(value=patterns, url=st.data(), profile=profiles())
    def test_one_pattern(
        self, native: ModuleType, value: bytes, url: st.DataObject, profile: Profile
    ) -> None:
        """One pattern matches the same URLs, with the same octets."""
        asked = url.draw(urls(st.just(value)))
        seen = [
            engine.Matcher(profile.settings(engine), [(value, True)]).find_matches(asked)
            for engine in (native, pure)
        ]
        assert seen[0] == seen[1]

    @given(drawn=large_rules(), profile=profiles())
    def test_many_patterns(
        self, native: ModuleType, drawn: tuple[Any, Any], profile: Profile
    ) -> None:
        """Many patterns, scanned at first and indexed then, decide alike."""
        patterns, asked = drawn
        fast, plain = (
            engine.Matcher(profile.settings(engine), patterns) for engine in (native, pure)
        )
        expected = plain.decide_many(asked)
        assert [fast.decide(url) for url in asked] == expected
        assert fast.decide_many(asked * 6) == expected * 6
        assert fast.allows_many(asked) == plain.allows_many(asked)
        for url in asked[:3]:
            assert fast.find_matches(url) == plain.find_matches(url)
            assert fast.tied(url) == plain.tied(url)

    @given(case=cases(), profile=profiles())
    def test_the_first_question(self, native: ModuleType, case: Case, profile: Profile) -> None:
        """A rule set answers its first question without compiling, and as it answers later ones."""
        fast, plain = (
            engine.parse(case.body, profile.settings(engine), True) for engine in (native, pure)
        )
        chosen, _ = found = fast.choose(case.token)
        assert found == plain.choose(case.token)
        first, other = native.Matcher(fast, chosen), native.Matcher(fast, chosen)
        slow = pure.Matcher(plain, chosen)
        assert first.count_usable() == slow.count_usable()
        assert [first.decide(case.url) for _ in range(3)] == [slow.decide(case.url)] * 3
        assert [other.allows(case.url) for _ in range(3)] == [slow.allows(case.url)] * 3
        assert first.count_usable() == slow.count_usable()

    @given(body=bodies, token=tokens, profile=profiles())
    def test_choice(self, native: ModuleType, body: bytes, token: str, profile: Profile) -> None:
        """The groups of a crawler are the same, whatever its name."""
        octets = token.encode("utf-8", "surrogateescape")
        seen = [
            [
                engine.parse(body, profile.settings(engine), True).select(key, octets)
                for key in (b"user-agent", b"purpose", b"disallow")
            ]
            for engine in (native, pure)
        ]
        assert seen[0] == seen[1]


ENGINE_SWITCHES = {
    name
    for name in dir(robotrules.STRICT)
    if getattr(robotrules.STRICT, name) is False
    and name
    not in (
        "first_star_group_only",
        "merge_tokens",
        "any_product_token",
        "leading_name",
        "separate_lines",
    )
}
