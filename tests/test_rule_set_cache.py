"""RobotsTxt: the cache of compiled rule sets."""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest

from robotrules import RobotsTxt
from robotrules.robotstxt import REMEMBERED
from robotrules.robotstxt.ruleset import RuleSet
from tests.file_samples import GROUPS

Read = Callable[..., RobotsTxt]


class TestRuleSetCache:
    """Rule sets are compiled once and shared; the cache is bounded."""

    def test_the_same_rule_set_comes_back(self, read: Read) -> None:
        """The same token, in any form, gets the cached rule set."""
        robots = read(GROUPS)
        assert robots.rules_for("a") is robots.rules_for("a")
        assert robots.rules_for(["x", "a"]) is robots.rules_for(("x", "a"))

    def test_a_name_is_looked_up_once(self, read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
        """Groups are selected on the first query for a name, whatever the method."""
        queried: list[str] = []
        original = RobotsTxt._rules_for_new_token

        def record_token(self: RobotsTxt, token: str) -> RuleSet:
            queried.append(token)
            return original(self, token)

        monkeypatch.setattr(RobotsTxt, "_rules_for_new_token", record_token)
        robots = read(GROUPS)
        for _ in range(3):
            robots.check("/one", "a")
            robots.rules_for("a")
            robots.rules_for("b")
            robots.explain("/star", "x")
            robots.check("/star", "x")
        assert queried == ["a", "b"]

    def test_crawlers_of_the_same_groups_share(self, read: Read) -> None:
        """Crawlers that obey the same groups share the compiled rules."""
        robots = read(GROUPS)
        assert robots.rules_for("x") is robots.rules_for("y") is robots.rules_for("*")
        assert robots.rules_for("a") is robots.rules_for("A")
        assert robots.rules_for("a") is not robots.rules_for("b")

    def test_the_order_of_queries_does_not_matter(self, read: Read) -> None:
        """Each crawler gets its own rules, in any order, with one name or several."""
        for names in (["a", "b", "x"], ["x", "b", "a"], ["b", "x", "a"]):
            robots = read(GROUPS)
            for _ in range(3):
                for name in names:
                    queried = "".join([name])  # equal, but possibly another object
                    fresh = read(GROUPS)
                    for url in ("/one", "/two", "/star", "/robots.txt"):
                        expected = fresh.check(url, name)
                        assert robots.check(url, queried) == expected
                        assert robots.check(url, [queried]) == expected
                        assert robots.check(url=url, product_token=queried, purposes=()) == expected
                        assert robots.check(url, queried, ["no-such-purpose"]) == expected

    def test_the_cache_is_bounded(self, read: Read) -> None:
        """Thousands of names do not keep thousands of rule sets, and verdicts stay correct."""
        robots = read(GROUPS)
        for number in range(3 * REMEMBERED):
            name = "".join(chr(ord("d") + int(digit)) for digit in str(number))
            assert not robots.check("/star", name)
            assert len(robots._by_name) <= REMEMBERED
            assert len(robots._by_groups) <= REMEMBERED
        assert not robots.check("/one", "a")

    def test_a_file_and_its_rule_sets_form_no_cycle(self, read: Read) -> None:
        """A file is freed with its last reference, without the garbage collector."""

        def alive() -> int:
            return sum(isinstance(thing, RobotsTxt) for thing in gc.get_objects())

        gc.collect()
        gc.disable()
        try:
            before = alive()
            robots = read(GROUPS)
            robots.check("/one", "a")
            rules = robots.rules_for("a")
            del robots
            assert alive() == before
            assert not rules.allows("/one")
        finally:
            gc.enable()
