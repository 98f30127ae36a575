"""
App-Directives (draft-nottingham-plan-b): the directives of a file for an application and a URL.

Sections are those of the draft. Where it is damaged or silent, the test names the decision (AMB-nn)
that `docs/app-directives.md` describes for the draft's author.
"""

from __future__ import annotations

import json
import pickle
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotrules
from robotrules import DEFAULT, GroupMatch, Note, ProductTokenError, RobotsTxt, Role
from robotrules._engine import pure
from robotrules.extensions import app_directives as module
from robotrules.extensions import scoped
from robotrules.extensions.app_directives import (
    EXTENSIONS,
    AppDirectives,
    Registration,
    app_directives,
    directives_for,
)
from robotrules.extensions.codes import CODES
from robotrules.registries import Application, DirectiveEntry, Registries, Registry
from tests.conftest import find_engine

Read = Callable[..., RobotsTxt]

URL = "https://example.com/any"


def entry(name: str, value_type: str, status: str = "active") -> DirectiveEntry:
    """Return an entry for an app directive of examplesearch."""
    where = "https://search.example/docs"
    return DirectiveEntry("examplesearch", name, value_type, "for tests", where, status)


REGISTRIES = Registries(
    applications=Registry(
        Application,
        [
            Application("examplesearch", "ExampleSearch", "Example Inc."),
            Application("someothersearch", "SomeOtherSearch", "Other Inc."),
            Application("tokenless", None, "Nobody"),
        ],
    ),
    directives=Registry(
        DirectiveEntry,
        [
            entry("widgets", "Boolean"),
            entry("teaser", "Integer"),
            entry("ratio", "Decimal"),
            entry("old", "Boolean", "deprecated"),
        ],
    ),
)


def star(*lines: str) -> str:
    """Return a file with one `*` group."""
    return "\n".join(["User-Agent: *", "Allow: /", *lines, ""])


def told(
    robots: RobotsTxt, url: str = URL, application: str = "examplesearch", **more: Any
) -> dict[str, Any]:
    """Return names and values of the directives of a file for an application."""
    found = app_directives(robots, url, application, registries=REGISTRIES, **more)
    return {one.name: one.value for one in found.directives}


def codes(found: AppDirectives | Iterable[Note]) -> list[str]:
    """Return the codes of notes."""
    notes: Iterable[Note] = found.notes if isinstance(found, AppDirectives) else found
    return [one.code for one in notes]


# --- §2 The record --------------------------------------------------------------------------------


class TestRecord:
    """`App-Directives: [path] List`, a rule among others of its group (§2)."""

    def test_the_example_of_the_introduction(self, read: Read) -> None:
        """ExampleSearch must not use its Widgets feature (§1)."""
        robots = read(star("App-Directives: examplesearch;widgets=?0"))
        assert told(robots) == {"widgets": False}

    @pytest.mark.parametrize(
        "key", ["App-Directives", "App-Directive", "APP-DIRECTIVE", " app-directives "]
    )
    def test_both_names(self, read: Read, key: str) -> None:
        """Singular and plural are equivalent, whatever the case (APP-2-03, AMB-101)."""
        assert told(read(star(f"{key}: examplesearch;widgets=?0"))) == {"widgets": False}

    def test_both_names_declared(self, read: Read) -> None:
        """A profile that declares both reads the same, and calls neither a misspelling."""
        robots = read(
            star("App-Directive: examplesearch;a", "App-Directives: examplesearch;b"),
            DEFAULT.with_extensions(*EXTENSIONS),
        )
        assert told(robots) == {"a": True, "b": True}
        assert robots.notes == ()

    def test_zero_or_more_in_a_group(self, read: Read) -> None:
        """A group holds any number of them (APP-2-01)."""
        robots = read(star("App-Directives: examplesearch;a", "App-Directives: examplesearch;b=2"))
        assert told(robots) == {"a": True, "b": 2}
        assert told(read(star())) == {}

    @pytest.mark.parametrize("gap", [" ", "\t", "  \t "])
    def test_a_path(self, read: Read, gap: str) -> None:
        """Space or tab part the path from the List (APP-2-02, APP-2-05)."""
        robots = read(star(f"App-Directives: /a/{gap}examplesearch;widgets=?0"))
        assert told(robots, "/a/x") == {"widgets": False}
        assert told(robots, "/b") == {}

    def test_without_a_path(self, read: Read) -> None:
        """The record covers every path (APP-2-04)."""
        robots = read(star("App-Directives: examplesearch;widgets=?0"))
        for url in ("/", "/a/b?c", "https://example.com", "/robots.txt"):
            assert told(robots, url) == {"widgets": False}

    def test_a_star_starts_no_path(self, read: Read) -> None:
        """Only `/` does: `*x` is the start of a Token, and a space after it an error (AMB-103)."""
        robots = read(star("App-Directives: *.pdf examplesearch;a", "App-Directives: *;b"))
        assert told(robots, "/x.pdf") == {}
        assert told(robots, "/x.pdf", "*") == {"b": True}

    def test_typed_values(self, read: Read) -> None:
        """Parameters are app directives, typed by Structured Fields (APP-2-07)."""
        robots = read(
            star('App-Directives: x;a=?0;b=5;c="s";d=tok;e=:AQ==:;f=@0;g=%"%c3%bc";h=0.5')
        )
        found = app_directives(robots, URL, "x").directives
        assert [(one.name, one.type) for one in found] == [
            *(("a", "Boolean"), ("b", "Integer"), ("c", "String"), ("d", "Token")),
            *(("e", "Byte Sequence"), ("f", "Date"), ("g", "Display String"), ("h", "Decimal")),
        ]
        values = [one.value for one in found]
        assert values[:3] == [False, 5, "s"]
        assert str(values[3]) == "tok"
        assert values[4:6] == [b"\x01", datetime(1970, 1, 1, tzinfo=UTC)]
        assert [one.as_dict()["value"] for one in found] == [
            *(False, 5, "s", "tok", "AQ==", 0, "ü", 0.5),
        ]
        assert [str(one) for one in found][:2] == ["a=?0", "b=5"]

    @pytest.mark.parametrize("member", ['"examplesearch"', "5", "(examplesearch)", "?1", "@0"])
    def test_a_member_that_is_not_a_token(self, read: Read, member: str) -> None:
        """It does not name an application and is ignored; its neighbours are not (APP-2-06)."""
        robots = read(star(f"App-Directives: {member};a, examplesearch;b"))
        found = app_directives(robots, URL, "examplesearch", registries=REGISTRIES)
        assert [one.name for one in found.directives] == ["b"]
        assert "not-an-application" in codes(found)

    def test_a_broken_line_is_dropped_alone(self, read: Read) -> None:
        """The next line is not affected (APP-2-09, AMB-105)."""
        for lines in permutations(
            ["App-Directives: examplesearch;widgets=?0", "App-Directives: Bad;="]
        ):
            robots = read(star(*lines))
            found = app_directives(robots, URL, "examplesearch", registries=REGISTRIES)
            assert found.get("widgets") is False
            (broken,) = (one for one in found.notes if one.code == "bad-structure")
            assert robots.body[broken.start : broken.end] == b"="

    def test_a_broken_line_does_not_win_the_longest_match(self, read: Read) -> None:
        """An invalid line is not a rule, so a shorter one counts."""
        robots = read(
            star("App-Directives: examplesearch;a", "App-Directives: /x/ examplesearch;A")
        )
        assert told(robots, "/x/y") == {"a": True}

    def test_it_uses_the_groups_of_its_document(self, read: Read) -> None:
        """A user-agent line after it opens a group for it, but not for verdicts (AMB-29)."""
        robots = read("User-agent: a\nApp-Directives: x;y\nUser-agent: b\nDisallow: /p\n")
        assert not robots.check("/p", "a")
        assert not robots.check("/p", "b")
        assert told(robots, application="x", product_token="a") == {"y": True}
        assert told(robots, application="x", product_token="b") == {}
        assert all(extension.role is Role.OTHER for extension in EXTENSIONS)
        # The record is the one of the file, with its group there.
        found = app_directives(robots, URL, "x", product_token="a")
        assert found.directives[0].record == robots.records[1]

    def test_each_group_has_its_own(self, read: Read) -> None:
        """Groups of App-Directives alone do not run together, whichever of its names is used."""
        robots = read(
            "User-agent: ExampleSearch\nApp-Directives: x;a\n"
            "User-agent: *\nApp-Directive: x;b\n"
            "User-agent: c\nContent-Usage: train-ai=n\nUser-agent: d\nApp-Directives: x;c\n"
        )
        assert told(robots, application="x", product_token="ExampleSearch") == {"a": True}
        assert told(robots, application="x", product_token="other") == {"b": True}
        # Content-Usage is a rule of another document: neither splits the groups of the other.
        for name in ("c", "d"):
            assert told(robots, application="x", product_token=name) == {"c": True}
        beside = [app_directives(robots, URL, "x", product_token=name) for name in ("c", "d")]
        assert [one.overrides for one in beside] == [("x;c",), ()]

    def test_notes_use_its_groups(self, read: Read) -> None:
        """Its document decides whether a record is in a `*` group."""
        robots = read("User-agent: a\nApp-Directives: x;y\nUser-agent: *\nDisallow: /p\n")
        assert "named-group-directives" in {found.code for found in module.notes(robots)}
        robots = read("User-agent: a\nUser-agent: *\nApp-Directives: x;y\nDisallow: /p\n")
        assert "named-group-directives" not in {found.code for found in module.notes(robots)}

    def test_a_comment_inside_a_value(self, read: Read) -> None:
        """A `#` ends the value, in a String too: there is a note (AMB-16)."""
        robots = read(star('App-Directives: x;colour="#fff"', "App-Directives: x;a=b#c"))
        found = app_directives(robots, URL, "x")
        assert {one.name: str(one.value) for one in found.directives} == {"a": "b"}
        assert codes(found).count("comment-in-value") == 2
        assert codes(found).count("bad-structure") == 1
        escaped = read(star('App-Directives: x;colour=%"%23fff"'))
        assert str(app_directives(escaped, URL, "x").get("colour")) == "#fff"
        spaced = read(star('App-Directives: x;a="b # c"', "App-Directives: x;d # a comment"))
        assert codes(app_directives(spaced, URL, "x")) == [
            *("comment-in-value", "bad-structure", "unregistered-application"),
        ]


class TestCombining:
    """Lines with the same path are combined like field lines (§2, RFC 9651 §4.2)."""

    def test_the_example(self, read: Read) -> None:
        """Two lines, or one with a comma: the same (APP-2-08)."""
        two = read(
            star(
                "App-Directives: examplesearch;widgets=?0",
                "App-Directives: someothersearch;foo=bar",
            )
        )
        one = read(star("App-Directives: examplesearch;widgets=?0,someothersearch;foo=bar"))
        for application in ("examplesearch", "someothersearch"):
            assert told(two, application=application) == told(one, application=application)

    def test_an_application_twice(self, read: Read) -> None:
        """Parameters are merged in order, a later value replaces an earlier one (AMB-105)."""
        robots = read(star("App-Directives: x;a=1;b=1, x;b=2;c=2", "App-Directives: x;c=3;a=1"))
        found = app_directives(robots, URL, "x")
        assert {one.name: one.value for one in found.directives} == {"a": 1, "b": 2, "c": 3}
        assert {one.name: one.record.line for one in found.directives} == {"a": 4, "b": 3, "c": 4}
        assert codes(found).count("overridden-directive") == 1  # line 3, noted once

    def test_a_type_is_part_of_a_value(self, read: Read) -> None:
        """`1` and `1.0`, or `a` and `"a"`, differ: the later replaces, with a note."""
        for values in (("1", "1.0"), ("a", '"a"'), ("1", "?1")):
            robots = read(star(*(f"App-Directives: x;a={value}" for value in values)))
            found = app_directives(robots, URL, "x")
            assert [str(one) for one in found.directives] == [f"a={values[1]}"]
            assert "overridden-directive" in codes(found)

    def test_paths_in_another_spelling(self, read: Read) -> None:
        """Paths that are compared alike are the same path (AMB-105)."""
        robots = read(star("App-Directives: /%61 x;a", "App-Directives: /a x;b"))
        assert told(robots, "/a", "x") == {"a": True, "b": True}

    def test_patterns_that_tie(self, read: Read) -> None:
        """Different patterns of as many octets are combined in the order of the file (AMB-105)."""
        robots = read(star("App-Directives: /*b x;a=1;b", "App-Directives: /ab x;a=2"))
        assert told(robots, "/ab", "x") == {"a": 2, "b": True}
        assert told(robots, "/xb", "x") == {"a": 1, "b": True}

    def test_merged_groups(self, read: Read) -> None:
        """Lines of groups that are merged are combined as those of one group (APP-2.1-03)."""
        robots = read(
            "User-Agent: ExampleSearch\nAllow: /\nApp-Directives: examplesearch;a\n"
            "User-Agent: other\nAllow: /\nApp-Directives: examplesearch;x\n"
            "User-Agent: examplesearch\nAllow: /\nApp-Directives: examplesearch;b\n"
        )
        assert told(robots) == {"a": True, "b": True}


# --- §2.1 Applying --------------------------------------------------------------------------------


class TestApplying:
    """Which of them an application applies (§2.1)."""

    def test_only_for_the_named_application(self, read: Read) -> None:
        """They apply only to the application they name (APP-2.1-01); case counts (AMB-107)."""
        robots = read(star("App-Directives: examplesearch;widgets=?0"))
        for other in ("othersearch", "ExampleSearch", "examplesearc", "examplesearch2"):
            assert told(robots, application=other) == {}

    def test_no_effect_on_crawling(self, read: Read) -> None:
        """Verdicts are the same without the line (APP-2.1-02)."""
        for line in ("App-Directives: x;y", "App-Directives: /p x;y", "App-Directives: ,"):
            robots = read(f"User-agent: *\n{line}\n")
            assert robots.check("/p", "a")
            assert robots.rules_for("a") == read("User-agent: *\n").rules_for("a")

    def test_the_group_of_the_product_token(self, read: Read) -> None:
        """The registered one, compared without case; then `*` is not read (APP-2.1-03)."""
        robots = read(
            star("App-Directives: examplesearch;a")
            + "User-Agent: EXAMPLESEARCH/2\nAllow: /\nApp-Directives: examplesearch;b\n"
        )
        found = app_directives(robots, URL, "examplesearch", registries=REGISTRIES)
        assert [one.name for one in found.directives] == ["b"]
        assert (found.product_token, found.matched_by) == ("ExampleSearch", GroupMatch.TOKEN)

    def test_a_group_without_directives_is_still_the_group(self, read: Read) -> None:
        """An application with a separate group never reads `*`, also without directives."""
        robots = read(
            star("App-Directives: examplesearch;a") + "User-Agent: ExampleSearch\nDisallow: /x\n"
        )
        assert told(robots) == {}
        assert codes(module.notes(robots, REGISTRIES)) == [
            "unregistered-directive",
            "unseen-directives",
        ]

    def test_else_the_star(self, read: Read) -> None:
        """Without such a group the merged `*` groups count (APP-2.1-04)."""
        robots = read(
            star("App-Directives: examplesearch;a") + star("App-Directives: examplesearch;b")
        )
        found = app_directives(robots, URL, "examplesearch", registries=REGISTRIES)
        assert [one.name for one in found.directives] == ["a", "b"]
        assert (found.product_token, found.matched_by) == ("ExampleSearch", GroupMatch.STAR)

    def test_no_group_at_all(self, read: Read) -> None:
        """Without `*` there are no directives for it."""
        robots = read(
            "App-Directives: examplesearch;a\nUser-Agent: b\nApp-Directives: examplesearch;b\n"
        )
        found = app_directives(robots, URL, "examplesearch", registries=REGISTRIES)
        assert (found.directives, found.matched_by) == ((), GroupMatch.NONE)

    @pytest.mark.parametrize("application", ["tokenless", "unregistered"])
    def test_without_a_product_token(self, read: Read, application: str) -> None:
        """An application without one uses `*`, even where a group has its name (AMB-106)."""
        robots = read(
            star(f"App-Directives: {application};a")
            + f"User-Agent: {application}\nAllow: /\nApp-Directives: {application};b\n"
        )
        assert told(robots, application=application) == {"a": True}
        assert told(robots, application=application, product_token=application) == {"b": True}

    def test_a_product_token_that_is_given(self, read: Read) -> None:
        """It counts instead of the registered one; several are in the order of preference."""
        robots = read(
            "User-Agent: b\nAllow: /\nApp-Directives: examplesearch;b\n"
            "User-Agent: ExampleSearch\nAllow: /\nApp-Directives: examplesearch;own\n"
        )
        assert told(robots, product_token="b") == {"b": True}
        assert told(robots, product_token=["a", "b"]) == {"b": True}
        found = app_directives(robots, URL, "examplesearch", product_token=["a", "b"])
        assert (found.product_token, found.matched_by) == ("a, b", GroupMatch.TOKEN)

    def test_another_crawlers_group(self, read: Read) -> None:
        """SomeOtherSearch in the group of ExampleSearch has no effect (APP-1.3-02)."""
        robots = read(
            "User-Agent: ExampleSearch/1.0\nAllow: /\nApp-Directives: someothersearch;foo=bar\n"
        )
        assert told(robots, application="someothersearch") == {}
        assert codes(module.notes(robots, REGISTRIES)) == [
            *("named-group-directives", "unregistered-directive", "unseen-directives"),
        ]

    def test_the_longest_path(self, read: Read) -> None:
        """It decides, matched as allow and disallow are (APP-2.1-05)."""
        robots = read(
            star("App-Directives: examplesearch;w=?1", "App-Directives: /a/ examplesearch;w=?0")
        )
        assert told(robots, "/a/x") == {"w": False}
        assert told(robots, "/b") == {"w": True}

    def test_no_inheritance(self, read: Read) -> None:
        """A shorter path is not added; the name of the application alone is empty (AMB-104)."""
        robots = read(
            star("App-Directives: x;a", "App-Directives: /b/ x;c", "App-Directives: /b/d/ x")
        )
        assert told(robots, "/b/", "x") == {"c": True}
        assert told(robots, "/b/d/", "x") == {}

    def test_an_absent_path_is_shorter_than_a_slash(self, read: Read) -> None:
        """Both cover every path; the absent one has no octets."""
        robots = read(star("App-Directives: / x;b", "App-Directives: x;a"))
        assert told(robots, "/", "x") == {"b": True}

    def test_a_disallowed_url(self, read: Read) -> None:
        """Directives do not affect crawling, and crawling does not affect them (§2.1)."""
        robots = read(star("Disallow: /x", "App-Directives: x;a"))
        assert not robots.check("/x", "b")
        assert told(robots, "/x", "x") == {"a": True}

    def test_groups_of_purposes(self, read: Read) -> None:
        """An application has no purpose, so no group is chosen by one."""
        robots = read("User-Agent-Purpose: EXAMPLE-PURPOSE-1\nApp-Directives: x;a\n")
        assert told(robots, application="x") == {}

    def test_a_star_is_not_a_wildcard(self, read: Read) -> None:
        """`*` is a Token, and names an application of that name."""
        robots = read(star("App-Directives: *;train=?0"))
        assert told(robots) == {}
        assert told(robots, application="*") == {"train": False}

    def test_among_the_lines_that_name_the_application(self, read: Read) -> None:
        """A longer path for another application is not a match (APP-2.1-09, AMB-104)."""
        robots = read(star("App-Directives: examplesearch;w=?0", "App-Directives: /a/ other;z"))
        assert told(robots, "/a/x") == {"w": False}

    def test_octets_of_the_encoded_path(self, read: Read) -> None:
        """`/ツ` counts 10 octets (APP-2.1-06)."""
        robots = read(star("App-Directives: /ツ x;a", "App-Directives: /*345678901 x;b"))
        assert told(robots, "/ツ345678901", "x") == {"b": True}
        assert told(robots, "/%E3%83%8434567890", "x") == {"a": True}

    def test_escapes(self, read: Read) -> None:
        """Space and tab in a path are `%20` and `%09` (APP-2.1-07); wildcards are wildcards."""
        robots = read(star("App-Directives: /a%20b%09 x;a", "App-Directives: /*.pdf$ x;b"))
        assert told(robots, "/a b\t", "x") == {"a": True}
        assert told(robots, "/a%20b%09c", "x") == {"a": True}
        assert told(robots, "/c.pdf", "x") == {"b": True}

    def test_order_has_no_meaning(self, read: Read) -> None:
        """Rules may be in any order, and interleaved (APP-2.1-08)."""
        lines = ["Allow: /a", "Disallow: /b", "App-Directives: x;a", "App-Directive: /a x;b"]
        answers = set()
        for some in permutations(lines):
            robots = read("\n".join(["User-Agent: *", *some]))
            answers.add((str(told(robots, "/a", "x")), str(told(robots, "/b", "x"))))
        assert answers == {("{'b': True}", "{'a': True}")}

    def test_order_of_two_values(self, read: Read) -> None:
        """It has, where two lines give a directive two values: §2 and §2.1 disagree (AMB-105)."""
        lines = ["App-Directives: x;a=1", "App-Directives: x;a=2"]
        assert told(read(star(*lines)), application="x") == {"a": 2}
        assert told(read(star(*reversed(lines))), application="x") == {"a": 1}


# --- §3 Registries --------------------------------------------------------------------------------


class TestRegistration:
    """The registration of an app directive (§1.1, §3)."""

    def statuses(self, robots: RobotsTxt) -> dict[str, Registration]:
        found = app_directives(robots, URL, "examplesearch", registries=REGISTRIES)
        return {one.name: one.status for one in found.directives}

    def test_statuses(self, read: Read) -> None:
        """Registered, deprecated and unregistered ones apply, with their status (APP-1.1-01)."""
        robots = read(star("App-Directives: examplesearch;widgets;old;new"))
        assert self.statuses(robots) == {
            "widgets": Registration.REGISTERED,
            "old": Registration.DEPRECATED,
            "new": Registration.UNREGISTERED,
        }
        found = app_directives(robots, URL, "examplesearch", registries=REGISTRIES)
        assert codes(found) == ["deprecated-directive", "unregistered-directive"]

    def test_no_registrations(self, read: Read) -> None:
        """Unregistered names are returned (APP-1.1-01)."""
        found = app_directives(read(star("App-Directives: foo;bar=1")), URL, "foo")
        assert (found.get("bar"), found.product_token) == (1, "*")
        assert [one.status for one in found.directives] == [Registration.UNREGISTERED]
        assert codes(found) == ["unregistered-application"]

    @pytest.mark.parametrize(
        ("name", "value"), [("widgets", "5"), ("ratio", "1"), ("teaser", "1.0")]
    )
    def test_another_type(self, read: Read, name: str, value: str) -> None:
        """It is not applied, and returned separately; an Integer is not a Decimal (APP-3.2-02)."""
        robots = read(star(f"App-Directives: examplesearch;{name}={value}"))
        found = app_directives(robots, URL, "examplesearch", registries=REGISTRIES)
        assert found.directives == ()
        assert [str(one) for one in found.not_applied] == [f"{name}={value}"]
        assert found.not_applied[0].status is Registration.TYPE_MISMATCH
        assert found.get(name) is None
        assert codes(found) == ["type-mismatch"]

    def test_another_type_does_not_replace_a_value(self, read: Read) -> None:
        """A value that cannot be applied does not hide valid ones, before or after it."""
        lines = [
            "App-Directives: examplesearch;widgets=?0",
            "App-Directives: examplesearch;widgets=5",
        ]
        for some in (lines, lines[::-1]):
            robots = read(star(*some))
            found = app_directives(robots, URL, "examplesearch", registries=REGISTRIES)
            assert found.get("widgets") is False
            assert len(found.not_applied) == 1
            assert "overridden-directive" not in codes(found)

    def test_registries_do_not_choose_paths(self, read: Read) -> None:
        """A line whose values do not apply is still the longest match, as for simpler readers."""
        robots = read(
            star(
                "App-Directives: examplesearch;widgets",
                "App-Directives: /a examplesearch;widgets=5",
            )
        )
        assert told(robots, "/a") == {}

    def test_case(self, read: Read) -> None:
        """Identifiers are Tokens, whose case counts (AMB-107)."""
        robots = read(star("App-Directives: ExampleSearch;widgets"))
        found = app_directives(robots, URL, "ExampleSearch", registries=REGISTRIES)
        assert [one.status for one in found.directives] == [Registration.UNREGISTERED]


# --- §1.2 AI preferences --------------------------------------------------------------------------


class TestBesideContentUsage:
    """An override is shown and never computed (§1.2, AMB-108)."""

    BODY = star(
        "Content-Usage: train-ai=n", "App-Directives: ex;train=?1", "App-Directives: /b other;a"
    )

    def test_both_are_shown(self, read: Read) -> None:
        """The answer has the Content-Usage record and the overriding directives (APP-1.2-01)."""
        found = app_directives(read(self.BODY), URL, "ex")
        assert found.overrides == ("ex;train",)
        assert [record.text for record in found.content_usage] == ["train-ai=n"]
        assert found.as_dict()["overrides"] == ["ex;train"]
        assert found.as_dict()["content_usage"] == [{"value": "train-ai=n", "line": 3}]

    def test_other_applications_do_not_override(self, read: Read) -> None:
        """A directive that does not apply cannot override."""
        robots = read(self.BODY)
        assert app_directives(robots, URL, "third").overrides == ()
        assert app_directives(robots, "/a", "other").overrides == ()
        assert app_directives(robots, "/b", "other").overrides == ("other;a",)

    def test_without_content_usage(self, read: Read) -> None:
        """Without a Content-Usage record in the same groups, both lists are empty."""
        robots = read(
            star("App-Directives: ex;train") + "User-agent: b\nContent-Usage: train-ai=n\n"
        )
        found = app_directives(robots, URL, "ex")
        assert (found.overrides, found.content_usage) == ((), ())


# --- The set and the answer -----------------------------------------------------------------------


class TestSet:
    """Compiled once for an application, used for many URLs."""

    BODY = star(
        "App-Directives: examplesearch;a",
        "App-Directives: /a examplesearch;b",
        "App-Directives: /*b examplesearch;c=1",
        "App-Directives: /xb examplesearch;c=2",
        "App-Directives: nobody",
    )

    def test_a_batch(self, read: Read) -> None:
        """`at_many` answers as `at` does, and shares answers."""
        found = directives_for(read(self.BODY), "examplesearch", registries=REGISTRIES)
        urls = ["/", "/a", "/xb", "/yb", "/robots.txt", "/a"]
        answers = found.for_urls(urls)
        assert answers == [found.for_url(url) for url in urls]
        assert answers[1] is answers[5]
        assert answers[2].get("c") == 2

    def test_properties_of_a_set(self, read: Read) -> None:
        """It has its application, and the number of records that name it."""
        found = directives_for(read(self.BODY), "examplesearch", registries=REGISTRIES)
        assert (found.application, found.product_token) == ("examplesearch", "ExampleSearch")
        assert found.matched_by is GroupMatch.STAR
        assert len(found) == 4
        assert repr(found) == "<DirectiveSet: 4 records for examplesearch>"
        empty = directives_for(read(""), "examplesearch")
        assert len(empty) == 0
        assert bool(empty)

    def test_notes_of_all_its_records(self, read: Read) -> None:
        """A set has the notes of every record that names its application, in order."""
        found = directives_for(read(self.BODY), "examplesearch", registries=REGISTRIES)
        assert [(one.code, one.line) for one in found.notes] == [
            ("unregistered-directive", line) for line in (3, 4, 5, 6)
        ]

    def test_an_answer_has_the_notes_that_concern_it(self, read: Read) -> None:
        """Those of the records that count, and those of records that could not be read."""
        robots = read(
            star(
                "App-Directives: examplesearch;a",
                "App-Directives: /b examplesearch;b",
                "App-Directives: /c other;c",
                "App-Directives: /d examplesearch;",
                "App-Directives: /b other;e=a#b",
            )
        )
        found = app_directives(robots, "/b", "examplesearch", registries=REGISTRIES)
        assert [(one.code, one.line) for one in found.notes] == [
            ("unregistered-directive", 4),
            ("bad-structure", 6),
        ]

    def test_answers_that_are_remembered_are_bounded(
        self, read: Read, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A file that is made to have many answers fills no memory, and they stay right."""
        monkeypatch.setattr(scoped, "REMEMBERED", 2)
        found = directives_for(read(self.BODY), "examplesearch", registries=REGISTRIES)
        urls = ["/", "/a", "/xb", "/yb"] * 2
        assert [one.directives for one in found.for_urls(urls[:4])] * 2 == [
            found.for_url(url).directives for url in urls
        ]
        assert len(found._scoped._by_ties) <= 2

    def test_a_set_can_be_pickled(self) -> None:
        """Sets go to other processes."""
        found = directives_for(robotrules.parse(self.BODY), "examplesearch")
        again = pickle.loads(pickle.dumps(found))
        assert again.for_url("/xb") == found.for_url("/xb")

    def test_provenance(self, read: Read) -> None:
        """Each directive has its record, with line, path and span."""
        robots = read(star("App-Directives: x;a", "App-Directives: /b\tx;b=1"))
        (one,) = app_directives(robots, "/b", "x").directives
        assert one.record in robots.records
        assert (one.record.line, one.path) == (4, "/b")
        start, end = one.as_dict()["start"], one.as_dict()["end"]
        assert robots.body[start:end] == b"/b\tx;b=1"
        assert app_directives(robots, "/", "x").directives[0].path is None

    def test_as_json(self, read: Read) -> None:
        """An answer is plain values, and complete."""
        robots = read(star("App-Directives: examplesearch;widgets;teaser=?0"))
        found = app_directives(robots, URL, "examplesearch", registries=REGISTRIES)
        answer = found.as_dict()
        assert json.loads(json.dumps(answer)) == answer
        assert set(answer) == {*found._fields, "notes", "overrides"} - {"own_notes", "unread"}
        assert answer["matched_by"] == "star"
        assert [one["status"] for one in answer["directives"]] == ["registered"]
        assert [one["status"] for one in answer["not_applied"]] == ["type-mismatch"]

    def test_get(self, read: Read) -> None:
        """A value, or the default of the caller."""
        found = app_directives(read(star("App-Directives: x;a=?0")), URL, "x")
        assert found.get("a", True) is False
        assert found.get("b") is None
        assert found.get("b", True) is True


class TestMisuse:
    """The caller's mistakes raise an error with a fix."""

    @pytest.mark.parametrize(
        "application", ["", "a b", "1a", '"a"', "a,b", "a;b", "ü", " a", "(a)"]
    )
    def test_no_application(self, application: str) -> None:
        """An identifier is a Token."""
        with pytest.raises(ValueError, match="pass a Token"):
            directives_for(robotrules.parse(""), application)

    def test_types(self) -> None:
        """A parsed file and a str."""
        with pytest.raises(TypeError, match=r"robotrules\.parse\(body\)"):
            directives_for("User-agent: *", "x")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="'examplesearch'"):
            directives_for(robotrules.parse(""), b"x")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"\[url\]"):
            directives_for(robotrules.parse(""), "x").for_urls("/a")

    def test_product_tokens(self) -> None:
        """As everywhere: not empty, and in profile strict in the grammar."""
        with pytest.raises(ProductTokenError):
            directives_for(robotrules.parse(""), "x", product_token="")
        with pytest.raises(ProductTokenError):
            directives_for(robotrules.parse("", "strict"), "x", product_token="x1")


# --- Notes on a file ------------------------------------------------------------------------------

EARNS = {
    "bad-structure": "User-agent: *\nApp-Directives: x;Y",
    "too-large": "User-agent: *\nApp-Directives: x" + ",x" * 1024,
    "unusable-path": "User-agent: *\nApp-Directives: /\x01 x;y",
    "not-an-application": 'User-agent: *\nApp-Directives: "x";y',
    "no-application": "User-agent: *\nApp-Directives:",
    "comment-in-value": "User-agent: *\nApp-Directives: x;y=a#b",
    "type-mismatch": "User-agent: *\nApp-Directives: examplesearch;widgets=5",
    "unregistered-application": "User-agent: *\nApp-Directives: x;y",
    "unregistered-directive": "User-agent: *\nApp-Directives: examplesearch;y",
    "deprecated-directive": "User-agent: *\nApp-Directives: examplesearch;old",
    "named-group-directives": "User-agent: a\nApp-Directive: x;y",
    "unseen-directives": "User-agent: *\nAllow: /\nApp-Directives: examplesearch;widgets\n"
    "User-agent: ExampleSearch\nDisallow: /x",
    "record-outside-group": "App-Directives: x;y\nUser-agent: *",
}


class TestNotes:
    """For a linter: every record of a file, for any application."""

    @pytest.mark.parametrize("code", EARNS)
    def test_every_note_is_earned(self, read: Read, code: str) -> None:
        """A minimal input earns it, with a span inside the file on its line."""
        robots = read(EARNS[code])
        found = {one.code: one for one in module.notes(robots, REGISTRIES)}
        assert code in found
        for one in found.values():
            line = next(line for line in robots.lines if line.number == one.line)
            assert line.start <= one.start <= one.end <= line.end
            assert (one.level, one.message) == CODES[one.code]

    def test_a_clean_file_has_none(self, read: Read) -> None:
        """Registered, in a `*` group, and seen."""
        robots = read(star("App-Directives: examplesearch;widgets=?0 # comment", "Disallow: /x"))
        assert list(module.notes(robots, REGISTRIES)) == []

    def test_a_group_for_the_star_and_others(self, read: Read) -> None:
        """A group that is for `*` among others is one where all can see it."""
        robots = read("User-agent: a\nUser-agent: *\nApp-Directives: examplesearch;widgets\n")
        assert list(module.notes(robots, REGISTRIES)) == []

    def test_each_is_noted_once(self, read: Read) -> None:
        """However many members have it."""
        robots = read(
            star("App-Directives: a;b, c;d, 1, 2, examplesearch;old;y;z, examplesearch;x")
        )
        assert codes(module.notes(robots, REGISTRIES)) == [
            *("not-an-application", "unregistered-application"),
            *("deprecated-directive", "unregistered-directive"),
        ]

    def test_directives_outside_the_own_group(self, read: Read) -> None:
        """Records for an application outside its named group are noted as unseen."""
        line = "App-Directives: examplesearch;widgets"
        robots = read(star(line, line) + f"User-agent: ExampleSearch\nAllow: /\n{line}\n")
        found = [(one.code, one.line) for one in module.notes(robots, REGISTRIES)]
        assert found == [
            *(("unseen-directives", 3), ("unseen-directives", 4)),
            ("named-group-directives", 7),
        ]

    def test_other_records_have_none(self, read: Read) -> None:
        """It looks at no other record."""
        assert list(module.notes(read("App-Directivs: x;Y\nContent-Usage: A\n"))) == []


# --- Properties -----------------------------------------------------------------------------------

NAMES = st.sampled_from(["x", "y", "examplesearch"])
PARAMETERS = st.lists(st.sampled_from([";a", ";a=?0", ";a=1", ";b", ';b="s"', ";c=t"]), max_size=3)
MEMBERS = st.tuples(NAMES, PARAMETERS.map("".join)).map("".join)
LINES = st.lists(st.lists(MEMBERS, min_size=1, max_size=3).map(", ".join), max_size=5)
PATHS = st.sampled_from(["", "/ ", "/a ", "/*a ", "/%61 ", "/a$ ", "/a/b\t"])
SCOPED = st.lists(st.tuples(PATHS, MEMBERS).map("".join), max_size=6)
URLS = st.sampled_from(["/", "/a", "/a/b", "/ba", "/robots.txt", "/%61/b/c"])


def plainly(robots: RobotsTxt, url: str, application: str) -> list[tuple[Any, ...]]:
    """Return an answer without the places it comes from."""
    found = app_directives(robots, url, application)
    return sorted((one.name, one.type, str(one)) for one in found.directives)


class TestProperties:
    """What holds for every file."""

    @given(LINES, URLS, NAMES)
    def test_lines_equal_their_list(self, lines: list[str], url: str, name: str) -> None:
        """Valid lines with one path mean the same as the joined List (§2, RFC 9651 §4.2)."""
        several = robotrules.parse(star(*(f"App-Directives: /a {line}" for line in lines)))
        joined = star(f"App-Directives: /a {', '.join(lines)}") if lines else star()
        assert plainly(several, url, name) == plainly(robotrules.parse(joined), url, name)

    @given(SCOPED, URLS, NAMES, st.randoms(use_true_random=False))
    def test_order_without_conflict(
        self, lines: list[str], url: str, name: str, random: Any
    ) -> None:
        """Without overrides, the order of the lines has no meaning (§2.1)."""
        records = [f"App-Directives: {line}" for line in lines]
        robots = robotrules.parse(star(*records))
        if "overridden-directive" in codes(app_directives(robots, url, name)):
            return
        random.shuffle(records)
        assert plainly(robotrules.parse(star(*records)), url, name) == plainly(robots, url, name)

    @given(SCOPED, st.lists(URLS), NAMES)
    def test_engines_and_batches_agree(self, lines: list[str], urls: list[str], name: str) -> None:
        """Both engines give one answer, and a batch is single questions."""
        body = star(*(f"App-Directives: {line}" for line in lines))
        answers = []
        for engine in (pure, find_engine("native")):
            found = directives_for(robotrules.parse(body, engine=engine), name)
            answers.append(found.for_urls(urls))
            assert answers[-1] == [found.for_url(url) for url in urls]
        assert answers[0] == answers[1]

    @given(SCOPED, st.lists(st.binary(max_size=20)), URLS, NAMES)
    def test_an_invalid_line_does_not_hide_others(
        self, lines: list[str], junk: list[bytes], url: str, name: str
    ) -> None:
        """Invalid lines do not change the meaning of the others."""
        good = [f"App-Directives: {line}".encode() for line in lines]
        bad = [b"App-Directives: ;" + line.translate(None, b"\r\n") for line in junk]
        mixed = [line for pair in zip(bad, good, strict=False) for line in pair]
        mixed += good[len(bad) :] + bad[len(good) :]
        head = b"User-Agent: *\nAllow: /\n"
        robots = robotrules.parse(head + b"\n".join(good))
        noisy = robotrules.parse(head + b"\n".join(mixed))
        assert plainly(noisy, url, name) == plainly(robots, url, name)

    @given(st.lists(st.binary(max_size=30), max_size=6), URLS)
    def test_any_octets(self, values: list[bytes], url: str) -> None:
        """Every file has an answer and notes whose spans are inside."""
        robots = robotrules.parse(
            b"User-Agent: *\n" + b"\n".join(b"App-Directives: " + value for value in values)
        )
        found = app_directives(robots, url, "x")
        json.dumps(found.as_dict())
        for one in (*found.notes, *module.notes(robots)):
            assert 0 <= one.start <= one.end <= len(robots.body)


class TestHostile:
    """A file of 500 KiB that means harm costs seconds, not minutes."""

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "line",
        [
            ",".join(["a"] * 1024),
            ",".join(f"a{number:x}" for number in range(1024)),
            "a" + "".join(f";k{number}" for number in range(256)),
            "/" + "*a" * 500 + " a;b",
            "/* a;b",
            "(" * 1000,
        ],
        ids=["one-application", "many-applications", "parameters", "wildcards", "ties", "broken"],
    )
    def test_it_ends(self, line: str) -> None:
        """Reading, asking and notes are linear in the file."""
        record = f"App-Directives: {line}\n"
        robots = robotrules.parse("User-agent: *\n" + record * (500_000 // len(record)))
        begun = time.process_time()
        found = directives_for(robots, "a")
        found.for_url("/" + "a" * 1000)
        assert len(list(module.notes(robots))) > 0
        assert time.process_time() - begun < 30
