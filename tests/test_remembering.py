"""RobotsTxt: what a file remembers of crawlers that asked, and for how long."""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest

from robotrules import RobotsTxt
from robotrules.robotstxt import REMEMBERED
from robotrules.robotstxt.ruleset import RuleSet
from tests.file_samples import GROUPS

Read = Callable[..., RobotsTxt]


class TestRemembering:
    """Rule sets are compiled once, shared, and not kept without end."""

    def test_the_same_rule_set_comes_back(self, read: Read) -> None:
        """The same token, in any of its forms, gets what was compiled before."""
        robots = read(GROUPS)
        assert robots.rules_for("a") is robots.rules_for("a")
        assert robots.rules_for(["x", "a"]) is robots.rules_for(("x", "a"))

    def test_a_name_is_looked_up_once(self, read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
        """Groups are chosen when a crawler asks first, in whatever way; later it is known."""
        asked: list[str] = []
        usual = RobotsTxt._rules_for_new_token

        def introduced(self: RobotsTxt, token: str) -> RuleSet:
            asked.append(token)
            return usual(self, token)

        monkeypatch.setattr(RobotsTxt, "_rules_for_new_token", introduced)
        robots = read(GROUPS)
        for _ in range(3):
            robots.check("/one", "a")
            robots.rules_for("a")
            robots.rules_for("b")
            robots.explain("/star", "x")
            robots.check("/star", "x")
        assert asked == ["a", "b"]

    def test_crawlers_of_the_same_groups_share(self, read: Read) -> None:
        """Crawlers that obey the same groups share what is compiled."""
        robots = read(GROUPS)
        assert robots.rules_for("x") is robots.rules_for("y") is robots.rules_for("*")
        assert robots.rules_for("a") is robots.rules_for("A")
        assert robots.rules_for("a") is not robots.rules_for("b")

    def test_who_asked_first_does_not_matter(self, read: Read) -> None:
        """Each crawler is answered by its own rules, first or later, by one name or by several."""
        for names in (["a", "b", "x"], ["x", "b", "a"], ["b", "x", "a"]):
            robots = read(GROUPS)
            for _ in range(3):
                for name in names:
                    asked = "".join([name])  # equal, and perhaps another object
                    fresh = read(GROUPS)
                    for url in ("/one", "/two", "/star", "/robots.txt"):
                        expected = fresh.check(url, name)
                        assert robots.check(url, asked) == expected
                        assert robots.check(url, [asked]) == expected
                        assert robots.check(url=url, product_token=asked, purposes=()) == expected
                        assert robots.check(url, asked, ["no-such-purpose"]) == expected

    def test_memory_is_bounded(self, read: Read) -> None:
        """Thousands of names do not keep thousands of rule sets, and answers stay right."""
        robots = read(GROUPS)
        for number in range(3 * REMEMBERED):
            name = "".join(chr(ord("d") + int(digit)) for digit in str(number))
            assert not robots.check("/star", name)
            assert len(robots._by_name) <= REMEMBERED
            assert len(robots._by_groups) <= REMEMBERED
        assert not robots.check("/one", "a")

    def test_a_file_and_its_rule_sets_form_no_cycle(self, read: Read) -> None:
        """A file goes when its last name goes, without help from the collector."""

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
