"""Simplification: each step, each line that must stay, and the resulting file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from random import Random
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import robotrules
from robotrules import DEFAULT, RobotsTxt, crawler, parse
from robotrules.analysis import compare
from robotrules.analysis.redundancy import RedundancyChecker
from robotrules.analysis.removable_rules import ProfileView, RemainingRules
from robotrules.analysis.simplification import CODES, Simplification, format_lines
from robotrules.analysis.simplify import simplify
from robotrules.analysis.solver import SearchResult
from robotrules.errors import WrongWitnessError
from robotrules.profile import PROFILES

Read = Callable[..., RobotsTxt]
MODULE = sys.modules["robotrules.analysis.simplify"]
ONE, TWO = "EXAMPLE-PURPOSE-1", "EXAMPLE-PURPOSE-2"
MARK = "\ufeff"
# Comments of 600,000 octets: more than profile default reads, and google reads them all.
LONG = ("#" * 99 + "\n") * 6_000


def star(*lines: str) -> str:
    """Return a file with lines for all crawlers."""
    return "\n".join(["User-agent: *", *lines, ""])


def simpler(read: Read, text: str | bytes, **options: Any) -> Simplification:
    """Simplify a text; whatever comes out means the same, and no step had to be taken back."""
    profile, unproved = options.pop("profile", "default"), options.pop("unproved", [])
    found = simplify(read(text, profile), **options)
    for name in found.profiles:
        old, new = (read(body, name) for body in (text, found.body))
        assert compare(old, new).equal is True
    assert [left.line for left in found.left if left.code == "not-proved"] == unproved
    return found


def left_of(read: Read, text: str, **options: Any) -> str:
    """Return what is left of a text."""
    return simpler(read, text, **options).body.decode()


def told(found: Simplification) -> list[tuple[str, int, tuple[int, ...]]]:
    """Return code, line and reason of each step."""
    return [(step.code, step.lines[0], step.reason_lines) for step in found.steps]


class TestRules:
    """A rule is removable if no verdict changes without it, for any crawler."""

    @pytest.mark.parametrize(
        ("rules", "steps", "sentence"),
        [
            (
                ["Disallow: /a", "Allow: /a"],
                [("dead-rule", 2, (3,))],
                "line 3 decides every URL it matches",
            ),
            (
                ["Allow: /b", "Disallow: /c"],
                [("redundant-rule", 2, ())],
                "without it no rule matches, and the URLs stay allowed",
            ),
            (
                ["Disallow: /a", "Disallow: /a/b"],
                [("redundant-rule", 3, (2,))],
                "without it line 2 gives the same result",
            ),
            (
                ["Disallow: /a", "disallow:/a"],
                [("repeated-rule", 3, (2,))],
                "line 2 is the same rule",
            ),
            (
                ["Disallow: /a", "Disallow:"],
                [("empty-rule", 3, ())],
                "an empty rule has no effect beside other rules",
            ),
            (
                ["Disallow: img/", "Disallow: /a"],
                [("unusable-rule", 2, ())],
                "no URL matches it, because a path pattern starts with '/' or '*'",
            ),
            (
                # What every crawler may always fetch has no line: no other line implies it.
                ["Disallow: /a", "Allow: /robots.txt$"],
                [("dead-rule", 3, ())],
                "it decides no URL",
            ),
        ],
    )
    def test_reasons(self, read: Read, rules: list[str], steps: list[Any], sentence: str) -> None:
        """Each step names the lines that make it unnecessary."""
        found = simpler(read, star(*rules))
        assert told(found) == steps
        assert found.steps[0].sentence == sentence
        assert found.rules_before - found.rules_after == len(steps)

    def test_a_witness_is_a_url_that_the_rule_decides(self, read: Read) -> None:
        """A rule that is alive has one; the matcher confirms it."""
        robots = read(star("Disallow: /a", "Disallow: /a/*b"))
        (step,) = simplify(robots).steps
        assert step.witness is not None
        assert step.witness.path == "/a/b"
        verdict = robots.check(step.witness.url, "AnyBot")
        assert verdict.rule is not None
        assert verdict.rule.line == step.lines[0]

    def test_reasons_name_what_stays(self, read: Read) -> None:
        """Of a chain of rules each names the one that is left in the end."""
        found = simpler(read, star("Disallow: /a/b/c", "Disallow: /a/b", "Disallow: /a"))
        assert told(found) == [("redundant-rule", 2, (4,)), ("redundant-rule", 3, (4,))]

    def test_of_the_same_the_first_stays(self, read: Read) -> None:
        """People read downwards."""
        found = simpler(read, star("Disallow: /a", "Disallow: /b", "Disallow: /a", "Disallow: /a"))
        assert told(found) == [("repeated-rule", 4, (2,)), ("repeated-rule", 5, (2,))]

    def test_octets_that_a_profile_cannot_use(self, read: Read) -> None:
        """The pattern starts as it should, so that is not the reason (AMB-11)."""
        text = star("Disallow: /a", "Disallow: /a b")
        (step,) = simpler(read, text, profile="strict", profiles=()).steps
        assert (step.code, step.sentence) == ("unusable-rule", "no URL matches it")

    def test_an_index_page_again(self, read: Read) -> None:
        """It is the same as before, with its directory."""
        text = star("Disallow: /", "Allow: /a/index.html", "Allow: /a/index.html")
        found = simpler(read, text, profile="google", profiles=())
        assert told(found) == [("repeated-rule", 4, (3,))]

    def test_a_reason_that_is_not_decided(self, read: Read) -> None:
        """Then there is no witness, and the rule is not called dead."""
        nothing = SearchResult(False, None, 0, [[]])
        with mock.patch.object(RemainingRules, "find_decided_path", return_value=nothing):
            (step,) = simpler(read, star("Disallow: /a", "Disallow: /a/b")).steps
        assert (step.code, step.reason_lines, step.witness) == ("redundant-rule", (2,), None)

    def test_an_invalid_witness(self, read: Read) -> None:
        """A path that the matcher contradicts is a bug."""
        view = ProfileView(read(star("Disallow: /a")), 100)
        assert view.verify_witness(b"/a", 2).path == "/a"
        with pytest.raises(WrongWitnessError, match="line 2"):
            view.verify_witness(b"/b", 2)

    def test_before_the_first_group(self, read: Read) -> None:
        """No crawler obeys a rule before the first group (§2.2.1)."""
        found = simpler(read, "Disallow: /x\n" + star("Disallow: /a"))
        assert told(found) == [("outside-group", 1, ())]
        assert found.steps[0].group is None

    def test_a_group_without_crawlers(self, read: Read) -> None:
        """All of it is removed: no crawler has an empty name (AMB-24)."""
        text = "User-agent:\nDisallow: /x\nDisallow: /y\n\n" + star("Disallow: /a")
        found = simpler(read, text)
        assert told(found) == [("repeated-group", 1, ()), ("nobodys-rule", 3, ())]
        assert found.body.decode() == star("Disallow: /a")

    def test_no_steps(self, read: Read) -> None:
        """The same file is returned, without a proof."""
        text = star("Disallow: /a", "Allow: /a/b")
        found = simpler(read, text)
        assert (found.steps, found.body, found.proof) == ((), text.encode(), None)
        assert found.also_equal == {"default": True, "strict": True, "google": True}

    def test_the_last_rule_of_a_group_stays(self, read: Read) -> None:
        """User-agent lines without rules would join the next group (§2.1)."""
        text = "User-agent: a\nAllow: /x\nAllow: /long\n\n" + star("Disallow: /b")
        found = simpler(read, text)
        assert told(found) == [("redundant-rule", 3, ())]
        assert found.body.decode() == "User-agent: a\nAllow: /x\n\n" + star("Disallow: /b")
        assert parse(found.body).check("/b", "a").allowed

    def test_an_empty_rule_is_removed_last(self, read: Read) -> None:
        """It states most clearly that all is allowed."""
        assert left_of(read, star("Disallow:", "Allow: /a")) == star("Disallow:")

    def test_a_rule_stays_for_one_crawler_of_many(self, read: Read) -> None:
        """Alone the rule is implied by line 2; with the group of `b` it decides."""
        text = (
            "User-agent: a\nUser-agent: b\nDisallow: /x\nDisallow: /x/y/z\n\n"
            "User-agent: b\nAllow: /x/y\n"
        )
        assert left_of(read, text) == text
        without = text.replace("User-agent: b\nAllow", "User-agent: c\nAllow")
        assert told(simpler(read, without))[0] == ("redundant-rule", 4, (3,))

    def test_a_rule_stays_for_crawlers_with_two_purposes(self, read: Read) -> None:
        """They obey the groups of both (AMB-95)."""
        text = (
            f"User-agent: x\nUser-agent-purpose: {ONE}\nDisallow: /x\nDisallow: /x/y/z\n\n"
            f"User-agent: y\nUser-agent-purpose: {TWO}\nAllow: /x/y\nDisallow: /z\n"
        )
        assert left_of(read, text, profiles=()) == text
        alone = text.replace(TWO, "")
        found = simpler(read, alone, profiles=())
        assert ("redundant-rule", 4, (3,)) in told(found)

    def test_an_index_page_matches_its_directory(self, read: Read) -> None:
        """In profile google the rule decides `/a/` too, against another rule (AMB-47)."""
        text = star("Disallow: /a/$", "Allow: /a/index.html")
        assert left_of(read, text, profiles=()) == star("Disallow: /a/$")
        found = simpler(read, text)
        assert found.steps == ()
        assert [(one.code, one.line, one.profile) for one in found.left] == [
            ("other-profile", 3, "google")
        ]


class TestGroups:
    """Groups are merged if no crawler is affected."""

    def test_a_user_agent_line_again(self, read: Read) -> None:
        """Case does not matter."""
        found = simpler(read, "User-agent: Foo\nUser-agent: *\nUser-agent: foo\nDisallow: /a\n")
        assert told(found) == [("repeated-user-agent", 3, (1,))]
        assert found.steps[0].sentence == "line 1 names it in the same group"

    def test_the_same_rules(self, read: Read) -> None:
        """Their user-agent lines go together; the order of rules does not matter."""
        text = (
            "User-agent: a\nDisallow: /x\nDisallow: /y\n\n"
            "User-agent: b\nUser-agent: c\nDisallow: /y\nDisallow: /x\n\n"
            "User-agent: d\nDisallow: /x\n"
        )
        found = simpler(read, text)
        assert told(found) == [("mergeable-groups", 5, (1,))]
        assert found.steps[0].lines == (5, 6, 7, 8)
        assert found.body.decode() == (
            "User-agent: a\nUser-agent: b\nUser-agent: c\nDisallow: /x\nDisallow: /y\n\n"
            "User-agent: d\nDisallow: /x\n"
        )
        assert (found.groups_before, found.groups_after) == (3, 2)

    def test_the_same_rules_after_others_went(self, read: Read) -> None:
        """The remaining groups are checked again."""
        text = "User-agent: a\nDisallow: /x\nDisallow: /x/y\n\nUser-agent: b\nDisallow: /x\n"
        assert left_of(read, text) == "User-agent: a\nUser-agent: b\nDisallow: /x\n"

    @pytest.mark.parametrize(
        ("of_a", "of_b", "merged"),
        [
            ("", "", True),
            ("Crawl-delay: 5\n", "Crawl-delay: 5\n", True),
            ("Crawl-delay: 5\n", "Crawl-delay: 7\n", False),
            ("Crawl-delay: 5\n", "", False),
            ("", "Content-Usage: train-ai=n\n", False),
            ("", "Anything: else\n", False),
            ("Anything: else\n", "Anything: else\n", True),
            ("", "Sitemap: https://example.com/s.xml\n", True),
        ],
    )
    def test_other_records_keep_groups_apart(
        self, read: Read, of_a: str, of_b: str, merged: bool
    ) -> None:
        """Unless both have the same, or they are of the file."""
        text = f"User-agent: a\nDisallow: /x\n{of_a}\nUser-agent: b\nDisallow: /x\n{of_b}"
        found = simpler(read, text)
        assert bool(found.steps) is merged
        before, after = (parse(body).records for body in (text, found.body))
        assert {r.value for r in after} == {r.value for r in before}

    def test_the_same_crawlers(self, read: Read) -> None:
        """Groups for the same crawlers are merged with comments; others may be between."""
        text = (
            "# first\nUser-agent: a\nDisallow: /x\nCrawl-delay: 1\n\n"
            "User-agent: *\nDisallow: /z\n\n"
            "# second\nUser-agent: A\n# why\nDisallow: /y\n"
        )
        found = simpler(read, text)
        assert told(found) == [("split-group", 10, (2,))]
        assert found.body.decode() == (
            "# first\nUser-agent: a\nDisallow: /x\n# second\n# why\nDisallow: /y\nCrawl-delay: 1\n"
            "\nUser-agent: *\nDisallow: /z\n"
        )

    def test_the_same_crawlers_with_separate_records(self, read: Read) -> None:
        """The largest delay of two groups counts, and the first of one (AMB-118)."""
        text = "User-agent: a\nDisallow: /x\nCrawl-delay: 1\n\n"
        text += "User-agent: a\nDisallow: /y\nCrawl-delay: 9\n"
        assert left_of(read, text) == text

    def test_a_group_that_others_repeat(self, read: Read) -> None:
        """Its crawlers have it from other groups, which name them too."""
        text = (
            "User-agent: a\nUser-agent: b\nDisallow: /x\n\nUser-agent: a\nDisallow: /x/y\n\n"
            "User-agent: b\nDisallow: /y\n"
        )
        found = simpler(read, text)
        assert told(found) == [("repeated-group", 5, (1,))]
        assert found.steps[0].sentence == (
            "the group of line 1 is for the same crawlers and has the same effect"
        )

    def test_a_group_that_allows_all_is_kept(self, read: Read) -> None:
        """The rule may be intended; and a file without a group looks like a mistake."""
        for text in (star("Disallow:"), star("User-agent: a", "Allow: /"), star("Disallow: img/")):
            assert left_of(read, text, groups=True) == text
            assert left_of(read, text) == text


class TestSameAsStar:
    """A group with the effect of that of `*` is removed on request."""

    TEXT = "User-agent: Foo\nDisallow: /a\nDisallow: /a/b\n\n" + star("Disallow: /a*")

    def test_it_is_shown_and_stays(self, read: Read) -> None:
        """Crawlers may have several names (AMB-30), and a comparison uses one at a time."""
        found = simpler(read, self.TEXT)
        assert [(step.code, step.lines) for step in found.optional] == [("same-as-star", (1, 2, 3))]
        assert found.optional[0].sentence == (
            "without it its crawlers obey the group of line 5, with the same effect"
        )
        assert parse(found.body).groups[0].user_agents == ("Foo",)

    def test_it_is_removed(self, read: Read) -> None:
        """And no choice is left."""
        found = simpler(read, self.TEXT, groups=True)
        assert found.body.decode() == star("Disallow: /a*")
        assert found.optional == ()

    def test_without_a_star(self, read: Read) -> None:
        """Where no group is for a crawler, all is allowed."""
        found = simpler(read, "User-agent: Foo\nAllow: /\n\nUser-agent: Bar\nDisallow: /\n")
        (step,) = found.optional
        assert step.sentence == "without it no group is for its crawlers, and all URLs stay allowed"

    def test_crawlers_with_several_names(self, read: Read) -> None:
        """A crawler that falls back to Googlebot's group gets the same verdicts."""
        text = (
            "User-agent: Googlebot\nDisallow: /x\n\nUser-agent: ExampleBot\nDisallow: /a\n"
            "Disallow: /a/b\n\n" + star("Disallow: /a*")
        )
        names = ["ExampleBot", "Googlebot"]
        found = simpler(read, text)
        assert len(found.optional) == 1
        for path in ("/a", "/x"):
            before, after = (read(body).check(path, names) for body in (text, found.body))
            assert before.allowed == after.allowed
        asked_for = simpler(read, text, groups=True)
        assert read(asked_for.body).check("/x", names).allowed is False

    @pytest.mark.parametrize(
        ("names", "others", "name", "instead"),
        [
            ("AdsBot-Google", "", "AdsBot-Google", ""),
            ("AdsBot-Google\nUser-agent: Foo", "", "AdsBot-Google", ""),
            ("Applebot", "User-agent: googlebot\nDisallow: /x\n\n", "Applebot", "Googlebot"),
            # They are not named: they obey Yandex's group, and not the `*` group.
            ("Yandex", "", "YandexCalendar", ""),
        ],
    )
    @pytest.mark.parametrize("groups", [True, False])
    def test_a_group_that_a_well_known_crawler_needs(
        self, read: Read, names: str, others: str, name: str, instead: str, groups: bool
    ) -> None:
        """By the registry it would not obey the star's group: the group is neither taken nor shown
        as one that could be."""
        text = f"{others}User-agent: {names}\nDisallow: /a\n\n" + star("Disallow: /a*")
        found = simpler(read, text, groups=groups)
        assert (found.optional, found.body.decode()) == ((), text)
        (left,) = (one for one in found.left if one.code == "well-known-crawler")
        assert left.crawler
        assert left.crawler.product_token == name
        assert left.instead == instead
        assert left.line == 1 + others.count("\n")
        where = f"the group of {instead}" if instead else "no group: it ignores groups for '*'"
        assert left.sentence == f"without it {name} obeys {where} ({left.crawler.source})"
        written = left.as_dict()
        assert written["crawler"]["product_token"] == name
        assert written["sentence"] == left.sentence

    def test_a_next_name_that_loses_its_group(self, read: Read) -> None:
        """Groups are removed in rounds: then Googlebot-News can only obey the star."""
        text = "".join(
            f"User-agent: {name}\nDisallow: /a{path}\n\n"
            for name, path in (("Googlebot-News", ""), ("Googlebot", "**"))
        )
        found = simpler(read, text + star("Disallow: /a*"), groups=True)
        assert found.body.decode() == star("Disallow: /a*")
        assert found.left == ()

    def test_a_group_that_becomes_one_with_another(self, read: Read) -> None:
        """The merged group names its crawlers, so it is not reported as retained."""
        found = simpler(read, "User-agent: AdsBot-Google\nDisallow: /a\n\n" + star("Disallow: /a"))
        assert [step.code for step in found.steps] == ["mergeable-groups"]
        assert found.left == ()
        known = crawler("AdsBot-Google")
        assert known
        assert not read(found.body).check("/a", known.names)

    @pytest.mark.parametrize(
        "text",
        [
            "User-agent: Foo\nDisallow: /a\n\n" + star("Disallow: /a*", "Crawl-delay: 5"),
            "User-agent: Foo\nDisallow: /a\nCrawl-delay: 5\n\n" + star("Disallow: /a*"),
            "User-agent: Foo\nDisallow: /a\n\n" + star("Disallow: /a*", "Disallow: /z*y"),
            # Samples would not show it: `/a/zzb` is needed.
            "User-agent: Foo\nDisallow: /a*\n\n" + star("Disallow: /a", "Allow: /a*zz*b$"),
        ],
    )
    def test_it_stays_where_anything_changes(self, read: Read, text: str) -> None:
        """Statements count like verdicts."""
        found = simpler(read, text, groups=True)
        assert [step.code for step in found.steps] == []

    def test_purposes(self, read: Read) -> None:
        """A crawler that is not named any more may be known by its purpose."""
        text = (
            "User-agent: Foo\nDisallow: /a*\n\n"
            f"User-agent: Bar\nUser-agent-purpose: {ONE}\nDisallow: /x\n\n" + star("Disallow: /a")
        )
        assert simpler(read, text, groups=True, profiles=()).steps == ()
        found = simpler(read, text.replace(ONE, ""), groups=True, profiles=())
        assert [step.code for step in found.steps] == ["same-as-star"]

    def test_several_of_which_some_can_go(self, read: Read) -> None:
        """One that cannot does not keep the others."""
        groups = [
            f"User-agent: {name}\nDisallow: /a*{rest}\n"
            for name, rest in zip(
                "bcdef", ["", "\nAllow: /a*y*z$", "*", "**", "\nAllow: /a*z*y$"], strict=True
            )
        ]
        found = simpler(read, "\n".join([*groups, star("Disallow: /a")]), groups=True)
        kept = [group.user_agents for group in parse(found.body).groups]
        assert kept == [("c",), ("f",), ("*",)]


class TestOtherProfiles:
    """Other profiles read a file otherwise; a step must not change what they read."""

    def test_octets_that_profiles_compare_otherwise(self, read: Read) -> None:
        """`+` and its escape are one to RFC 9309 and two to google/robotstxt (AMB-33)."""
        text = star("Disallow: /a+b", "Disallow: /a%2Bb")
        found = simpler(read, text)
        assert found.steps == ()
        assert {(one.code, one.profile) for one in found.left} == {("other-profile", "google")}
        alone = simpler(read, text, profiles=())
        assert told(alone) == [("repeated-rule", 3, (2,))]
        assert alone.also_equal == {"default": True, "strict": True, "google": False}

    def test_groups_that_one_profile_does_not_see(self, read: Read) -> None:
        """`Disalow` is not a rule in strict, so both names share the rules that follow."""
        text = (
            "User-agent: a\nDisalow: /y\n\nUser-agent: b\nDisallow: /x\n\n"
            "User-agent: c\nDisallow: /x\n"
        )
        found = simpler(read, text)
        assert told(found) == []
        assert told(simpler(read, text, profiles=["google"])) == [("mergeable-groups", 7, (4,))]

    def test_a_misspelled_user_agent_line(self, read: Read) -> None:
        """To strict the second one is the only one."""
        text = "Useragent: a\nUser-agent: a\nDisallow: /x\n"
        assert simpler(read, text).steps == ()
        assert told(simpler(read, text, profiles=())) == [("repeated-user-agent", 2, (1,))]

    def test_a_misspelled_rule_is_a_rule(self, read: Read) -> None:
        """It may go, though to strict it is another record."""
        found = simpler(read, star("Disallow: /a", "Disalow: /a/b"))
        assert told(found) == [("redundant-rule", 3, (2,))]

    def test_under_strict_it_is_another_record(self, read: Read) -> None:
        """Those never go."""
        text = star("Disallow: /a", "Disalow: /a/b")
        assert simpler(read, text, profile="strict").steps == ()

    def test_a_profile_of_ones_own(self, read: Read) -> None:
        """It is one more to please."""
        own = DEFAULT.replace(name="own", first_star_group_only=True)
        text = star("Disallow: /a", "") + star("Disallow: /b")
        assert [step.code for step in simpler(read, text).steps] == ["split-group"]
        assert simplify(read(text, own)).steps == ()
        assert simplify(read(text), profiles=[own]).steps == ()


class TestText:
    """Remaining lines keep their octets."""

    def test_comments(self, read: Read) -> None:
        """Comments are removed with the last of the rules below them."""
        text = (
            "# top\n\n# everyone\nUser-agent: *\n# both\nDisallow: /a/a\n"
            "Disallow: /a  # end of line\nDisallow: /a/b\n# gone\n# too\n"
            "Disallow: /a/c # with it\n# gone\nDisallow: /a/d\n\n"
            "# alone\n\nDisallow: /e\n#Disallow: /f\nDisallow: /a/f\n# last\n"
        )
        assert left_of(read, text) == (
            "# top\n\n# everyone\nUser-agent: *\n# both\nDisallow: /a  # end of line\n\n"
            "# alone\n\nDisallow: /e\n#Disallow: /f\n# last\n"
        )

    def test_comments_of_merged_groups(self, read: Read) -> None:
        """Comments above a group move with its user-agent lines."""
        text = (
            "# A\nUser-agent: a\nDisallow: /x\n\n# B\n# and more\nUser-agent: b # b\n"
            "# why\nDisallow: /x\n\n# end\n"
        )
        assert left_of(read, text) == (
            "# A\nUser-agent: a\n# B\n# and more\nUser-agent: b # b\nDisallow: /x\n\n# end\n"
        )

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    @pytest.mark.parametrize("mark", ["", MARK])
    def test_line_ends_and_mark(self, read: Read, end: str, mark: str) -> None:
        """Whatever they are."""
        text = mark + "USER-AGENT :  * \nDisallow:/a \n  Disallow:/a/b\n\n\n\nSitemap: x \n"
        left = mark + "USER-AGENT :  * \nDisallow:/a \n\n\n\nSitemap: x \n"
        assert left_of(read, text.replace("\n", end)) == left.replace("\n", end)

    def test_the_last_line_may_have_no_end(self, read: Read) -> None:
        """It gets one where it moves, and leaves none behind where it goes."""
        text = "User-agent: a\r\nDisallow: /x\r\n\r\nUser-agent: b\r\nDisallow: /x"
        assert left_of(read, text) == "User-agent: a\r\nUser-agent: b\r\nDisallow: /x\r\n"
        moving = "User-agent: a\r\nDisallow: /x\r\n\r\n{}User-agent: a\r\nDisallow: /y"
        assert left_of(read, moving.format("User-agent: b\r\nDisallow: /z\r\n")) == (
            "User-agent: a\r\nDisallow: /x\r\nDisallow: /y\r\n\r\nUser-agent: b\r\nDisallow: /z\r\n"
        )
        text = "User-agent: a\nDisallow: /x\n\nDisallow: /y\nUser-agent: a"
        assert left_of(read, text) == "User-agent: a\nDisallow: /x\n\nDisallow: /y\n"

    @pytest.mark.parametrize(
        ("text", "left"),
        [
            ("User-agent: *\nDisallow: /a/b\n\nDisallow: /a\n", "User-agent: *\nDisallow: /a\n"),
            (
                "User-agent: *\nDisallow: /a\n\nDisallow: /a/b\n\nDisallow: /c\n",
                "User-agent: *\nDisallow: /a\n\nDisallow: /c\n",
            ),
            (
                "User-agent: *\nDisallow: /a\n\n\nDisallow: /a/b\n",
                "User-agent: *\nDisallow: /a\n",
            ),
            (
                "Disallow: /a\n\nUser-agent: *\nDisallow: /a\n\n\nDisallow: /c\n",
                "User-agent: *\nDisallow: /a\n\n\nDisallow: /c\n",
            ),
        ],
    )
    def test_blank_lines_do_not_pile_up(self, read: Read, text: str, left: str) -> None:
        """No blank line follows a user-agent line: some parsers end the group there."""
        assert left_of(read, text) == left

    def test_line_ends_that_would_become_one(self, read: Read) -> None:
        """CR, a line that goes, and LF: the CR and the LF are not one line end."""
        text = "User-agent: *\rDisallow: /a\rDisallow: /a/b\n\nDisallow: /c\n"
        assert left_of(read, text) == "User-agent: *\rDisallow: /a\rDisallow: /c\n"


class TestProof:
    """Every step is proved."""

    HIDDEN = f"Disallow: /x\n{MARK}User-agent: *\nDisallow: /y\n" + star(
        "Disallow: /z", "Disallow: /z/z"
    )

    def test_a_step_that_uncovers_something(self, read: Read) -> None:
        """A byte order mark within a file hides a line; at its start it would not."""
        found = simpler(read, self.HIDDEN, unproved=[1])
        assert [(one.code, one.line) for one in found.left] == [("not-proved", 1)]
        assert found.body.decode().startswith(f"Disallow: /x\n{MARK}User-agent")
        assert told(found) == [("outside-group", 3, ()), ("redundant-rule", 6, (5,))]

    def test_too_many_steps_that_break_it(self, read: Read) -> None:
        """The steps proved so far are returned."""
        with mock.patch.object(MODULE, "MAX_TRIES", 1):
            found = simpler(read, self.HIDDEN, unproved=[1])
        assert [one.code for one in found.left] == ["not-proved"]
        assert ("outside-group", 1, ()) not in told(found)

    def test_a_proof_that_always_fails(self, read: Read) -> None:
        """The file stays as it is."""
        real = MODULE.compare

        def differs(*files: RobotsTxt, **options: Any) -> Any:
            found = real(*files, **options)
            return found if files[0].body == files[1].body else mock.Mock(equal=False)

        text = star("Disallow: /a", "Disallow: /a/b", "Disallow: /a/c")
        with mock.patch.object(MODULE, "compare", differs):
            found = simplify(read(text))
        assert (found.steps, found.body, found.proof) == ((), text.encode(), None)
        assert [one.line for one in found.left] == [3, 4]

    @pytest.mark.parametrize(
        "text",
        [
            star("Disallow: /a", "Disallow: /a/b"),
            "User-agent: a\nDisallow: /x\n\nUser-agent: b\nDisallow: /x\n",
        ],
    )
    def test_a_proof_that_is_not_decided(self, read: Read, text: str) -> None:
        """Neither is a guess."""
        with mock.patch.object(MODULE, "compare", return_value=mock.Mock(equal=None)):
            found = simplify(read(text))
        assert (found.steps, found.body) == ((), text.encode())
        assert len(found.undecided) == ("/a/b" in text)

    def test_other_records_that_would_get_lost(self, read: Read) -> None:
        """Only rules may be removed, even if other records are equivalent."""
        text = star("Disallow: /a", "Disallow: /a/b", "Odd: 1")
        with mock.patch.object(MODULE, "_keeps_records", return_value=False):
            assert simplify(read(text)).steps == ()

    @pytest.mark.parametrize("profile", ["default", "strict"])
    def test_a_rule_that_one_profile_leaves_undecided_stays(
        self, read: Read, profile: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Although the proof would succeed without it; others are removed, and no query repeats."""
        text = star("Disallow: /a", "Disallow: /a/b", "Disallow: /c", "Disallow: /c/d")
        asked: list[bytes] = []
        find_changed_path = RedundancyChecker.find_changed_path

        def undecided(
            self: RedundancyChecker, own: list[int], *, shortest: bool = True
        ) -> SearchResult:
            form = self.entries[own[0]].form
            if form == b"/a/b" and self.solver.sides[0].rules.profile.name == profile:
                asked.append(form)
                return self.solver.undecided_result(2)
            return find_changed_path(self, own, shortest=shortest)

        monkeypatch.setattr(RedundancyChecker, "find_changed_path", undecided)
        found = simplify(read(text))
        assert [step.text for step in found.steps] == ["Disallow: /c/d"]
        assert [str(rule) for rule in found.undecided] == ["Disallow: /a/b"]
        assert b"Disallow: /a/b" in found.body
        assert asked == [b"/a/b"]
        assert found.as_dict()["undecided"][0]["line"] == 3

    def test_undecided_rules_stay(self, read: Read) -> None:
        """And are listed."""
        tangle = [f"Allow: /*{a}*{b}*" for a in "abc" for b in "hij"]
        text = star("Disallow: /", *tangle, "Allow: /*a*h*b*i*")
        found = simpler(read, text, max_states=10)
        assert found.steps == ()
        assert found.undecided
        assert set(found.undecided) <= set(read(found.body).groups[0].rules)
        found = simpler(read, text)
        assert (len(found.steps), found.undecided) == (1, ())

    def test_the_proof_is_that_of_compare(self, read: Read) -> None:
        """Under each profile; the file's own is kept."""
        found = simpler(read, star("Disallow: /a", "Disallow: /a/b"), profile="google")
        assert found.proof is not None
        assert (found.proof.profile, found.proof.equal, found.profile) == ("google", True, "google")
        assert found.profiles == ("google", "default", "strict")


class TestLeftAlone:
    """Files that are not looked at, and why."""

    @pytest.mark.parametrize(
        ("body", "options", "words"),
        [
            (star("Disallow: /a").encode("utf-16"), {}, "it is UTF-16"),
            (star("Disallow: /a").encode(), {"complete": False}, "is truncated"),
            (b"User-agent: *\nDisallow: /a", {"complete": False}, "is truncated"),
        ],
    )
    def test_cut_or_not_utf8(
        self, read: Read, body: bytes, options: dict[str, Any], words: str
    ) -> None:
        """Truncated content would be read in a shorter file."""
        found = simplify(read(body, **options))
        assert words in found.refused
        assert (found.steps, found.also_equal) == ((), {})

    @pytest.mark.parametrize("profile", ["default", "google"])
    def test_over_long_files_are_taken_whole(self, read: Read, profile: str) -> None:
        """Content past the limit counts, so that a smaller file can include it."""
        filler = "".join(f"# {'x' * 96}{n:04}\n" for n in range(5_000)) + "Disallow: /b\n"
        text = star("Disallow: /a", "Disallow: /a/b") + filler + "Disallow: /b/c\n"
        robots = read(text, profile=profile)
        assert len(robots._received) > robotrules.DEFAULT.max_bytes
        found = simplify(robots)
        assert found.refused == ""
        assert [step.text for step in found.steps] == ["Disallow: /a/b", "Disallow: /b/c"]
        assert found.body.endswith(b"Disallow: /b\n")
        assert found.proof is not None
        assert (found.proof.equal, found.profile) == (True, profile)

    def test_a_profile_that_reads_it_all(self) -> None:
        """Only the requested profiles have to agree."""
        text = star("Disallow: /a", "Disallow: /a/b") + LONG
        found = simplify(parse(text, "google"), profiles=())
        assert (found.refused, len(found.steps)) == ("", 1)

    def test_too_many_purposes(self, read: Read) -> None:
        """There are too many sets of them to check all."""
        text = "".join(f"User-agent-purpose: P-{n}\n" for n in range(9)) + "Disallow: /\n"
        assert "too many crawlers or purposes" in simplify(read(text)).refused

    def test_too_many_rules(self, read: Read) -> None:
        """They are counted once for each kind of crawler."""
        text = (
            "User-agent: a\nUser-agent: b\nDisallow: /x\nDisallow: /y\n\nUser-agent: b\nAllow: /\n"
        )
        with mock.patch.object(MODULE, "MAX_RULES", 5):
            assert simplify(read(text)).refused == ""
        with mock.patch.object(MODULE, "MAX_RULES", 4):
            assert "more than 4 rules" in simplify(read(text)).refused

    def test_invalid_files(self) -> None:
        """Misuse raises an error that states what to pass."""
        with pytest.raises(TypeError, match=r"not bytes: pass robotrules\.parse\(body\)"):
            simplify(b"")  # type: ignore[arg-type]

    def test_an_empty_file(self, read: Read) -> None:
        """No line can be removed."""
        for text in ("", "\n", MARK, "# nothing"):
            assert left_of(read, text) == text


class TestValues:
    """The values of a result."""

    def test_json(self, read: Read) -> None:
        """All of it is plain, and complete."""
        text = star("Disallow: /a+b", "Disallow: /a%2Bb", "Disallow: /c", "Disallow: /c/d")
        found = simpler(
            read, "User-agent: Foo\nAllow: /\n\nUser-agent: Bar\nDisallow: /\n\n" + text
        )
        values = json.loads(json.dumps(found.as_dict()))
        assert values["schema"] == 1
        assert values["rules"] == {"before": 6, "after": 5}
        assert values["octets"]["before"] - values["octets"]["after"] == found.octets
        assert values["groups"] == {"before": 3, "after": 3}
        (step,) = values["steps"]
        assert step["sentence"] == "without it line 10 gives the same result"
        assert step["witness"]["path"] == "/c/d"
        assert {one["code"] for one in values["left"]} == {"other-profile"}
        assert values["equal"] == {"default": True, "strict": True, "google": True}
        assert values["refused"] is None

    def test_lines_in_sentences(self) -> None:
        """A long list is cut."""
        assert format_lines([3]) == "line 3"
        assert format_lines([3, 1000]) == "lines 3 and 1000"
        assert format_lines([1, 2, 3]) == "lines 1, 2 and 3"
        assert format_lines(range(1, 9)) == "lines 1, 2, 3 and 5 more"

    def test_progress(self, read: Read) -> None:
        """It never goes back, and ends with all."""
        told: list[tuple[int, int]] = []
        text = star(*(f"Disallow: /a{n}" for n in range(20)), "Disallow: /a1/x")
        simplify(read(text), progress=lambda done, count: told.append((done, count)))
        assert [done for done, _ in told] == sorted(done for done, _ in told)
        assert told[-1][0] == told[-1][1]

    def test_the_order_of_the_file(self, read: Read) -> None:
        """Whatever the order in which things were found."""
        text = "User-agent: a\nDisallow: /x/y\nDisallow: /x\n\n" + star("Disallow: /x", "Allow: /")
        lines = [step.lines[0] for step in simpler(read, text).steps]
        assert lines == sorted(lines)

    def test_it_is_the_same_in_every_process(self) -> None:
        """Neither the seed of hashes nor the engine moves a step: processes are compared."""
        text = made_file(Random(7))[0]
        program = (
            "import json, sys\n"
            "from robotrules import parse\n"
            "from robotrules.analysis import simplify\n"
            "found = simplify(parse(sys.argv[1]))\n"
            "print(json.dumps([found.as_dict(), found.body.decode('latin-1')]))\n"
        )
        told = set()
        for seed, pure in (("1", "0"), ("77", "0"), ("4711", "1")):
            surroundings = os.environ | {
                "PYTHONHASHSEED": seed,
                "ROBOTRULES_NO_EXTENSIONS": pure,
                "ROBOTRULES_REQUIRE_EXTENSIONS": "0",
            }
            run = subprocess.run(
                [sys.executable, "-c", program, text],
                capture_output=True,
                text=True,
                env=surroundings,
                check=True,
            )
            told.add(run.stdout)
        assert len(told) == 1
        found = simplify(robotrules.parse(text))
        assert json.loads(told.pop())[1] == found.body.decode("latin-1")
        assert found.steps


# --- Files that chance makes ----------------------------------------------------------------------

TOKENS = ("*", "*", "a", "b", "c", "A", "MJ12bot", "a/1", "b-x")
ASKING = ("*", "a", "b", "c", "MJ12bot", "MJ", "b-x", "nobody")
PURPOSES: tuple[tuple[str, ...], ...] = ((), (ONE,), (TWO,), (ONE, TWO))
PIECES = (*"ab/*?=&+$x", "ab", "%41", "%2F", "é", "index.html", ".gif", " ")
OTHERS = (
    *("Crawl-delay: 5", "Crawl-delay: 7", "Sitemap: https://example.com/s", "Noindex: /x"),
    *("Content-Usage: train-ai=n", "Content-Usage: /a train-ai=y", "Request-rate: 1/5"),
)


def made_pattern(random: Random) -> str:
    """Return a path pattern, good or not."""
    if random.random() < 0.1:
        return random.choice(["", "img/"])
    inner = "".join(random.choice(PIECES) for _ in range(random.randint(0, 4)))
    return random.choice(["/", "/", "*", "/*"]) + inner + random.choice(["", "", "$", "*"])


def made_lines(random: Random, patterns: list[str]) -> Iterator[str]:
    """Yield lines of groups that share names and rules."""
    if random.random() < 0.2:
        yield f"Disallow: {random.choice(patterns)}"
    for number in range(random.randint(1, 6)):
        if random.random() < 0.3:
            yield f"# group {number}"
        for _ in range(random.choice([1, 1, 1, 2, 3])):
            if random.random() < 0.12:
                yield f"User-Agent-Purpose: {random.choice([ONE, TWO])}"
            else:
                key = random.choice(["User-agent"] * 9 + ["Useragent"])
                yield f"{key}: {random.choice(TOKENS)}"
        for _ in range(random.randint(0, 5)):
            odd = random.random()
            if odd < 0.15:
                yield f"# rule {number}" if odd < 0.1 else ""
            if odd > 0.95:
                yield random.choice(OTHERS)
            key = random.choice(["Allow", "Disallow"] * 4 + ["Disalow"])
            yield f"{key}: {random.choice(patterns)}{random.choice(['', '', ' # why'])}"
        if random.random() < 0.7:
            yield ""


def made_file(random: Random) -> tuple[bytes, list[str]]:
    """Return a file, and URLs near its patterns."""
    patterns = [made_pattern(random) for _ in range(random.randint(1, 6))]
    usual = random.choice(["\n", "\n", "\r\n", "\r"])
    body = "".join(
        line + (usual if random.random() < 0.97 else random.choice(["\n", "\r\n", "\r"]))
        for line in made_lines(random, patterns)
    )
    if random.random() < 0.3:
        body = body.rstrip("\r\n")
    if random.random() < 0.1:
        body = MARK + body if random.random() < 0.7 else body.replace("User", MARK + "User", 1)
    urls = ["/", "/robots.txt", "/zzz"]
    for _ in range(50):
        path = random.choice(patterns).rstrip("$")
        while "*" in path:
            path = path.replace("*", random.choice(["", "a", "x/", "?", "b"]), 1)
        urls.append("/" + path.lstrip("/") + random.choice(["", "", "a", "/", "?b=", "x"]))
    return body.encode(), urls


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.sampled_from(list(PROFILES)), st.booleans(), st.booleans())
def test_verdicts_do_not_change(seed: int, profile: str, groups: bool, alone: bool) -> None:
    """
    The smaller file gives every crawler the verdicts of the file it came from.

    By the plain matcher on URLs near the patterns, and by proof; it has no line that was not there,
    and nothing can go from it.
    """
    body, urls = made_file(Random(seed))
    profiles = () if alone else tuple(PROFILES)
    found = simplify(parse(body, profile), profiles=profiles, groups=groups)
    assert found.undecided == ()
    assert (found.body == body) is not bool(found.steps)
    for name in found.profiles:
        old, new = parse(body, name), parse(found.body, name)
        assert compare(old, new).equal is True
        for token in ASKING:
            if name == "strict" and not (token == "*" or robotrules.is_product_token(token)):
                continue
            for purposes in PURPOSES if old.profile.reads_purposes() else [()]:
                rules = [robots.rules_for(token, purposes) for robots in (old, new)]
                assert rules[0].allows_many(urls) == rules[1].allows_many(urls)
        if not groups and name != "google":  # which merges the groups of several names
            both = [robots.rules_for(["a", "b"]).allows_many(urls) for robots in (old, new)]
            assert both[0] == both[1]
    lines = [
        sorted(line.text for line in parse(b).lines if line.text.strip())
        for b in (body, found.body)
    ]
    assert all(lines[0].count(line) >= lines[1].count(line) for line in lines[1])
    taken_back = any(left.code == "not-proved" for left in found.left)
    assert not taken_back or MARK.encode() in body[1:]  # it would be uncovered
    if not taken_back:
        again = simplify(parse(found.body, profile), profiles=profiles, groups=groups)
        assert again.steps == ()


def test_every_code_has_its_reasons() -> None:
    """And is tested here by its name."""
    with open(__file__, encoding="utf-8") as file:
        text = file.read()
    assert [code for code in CODES if f'"{code}"' not in text] == []
