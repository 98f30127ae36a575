"""Queries about one rule set: deciding, dead and redundant rules, and the values returned."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from robotrules import GOOGLE, ProfileError, RobotsTxt, RuleSet, analysis, parse
from robotrules.analysis import (
    DeadRuleFinding,
    MinimizedRules,
    RedundantRuleFinding,
    Undecided,
    Witness,
    solver,
)
from robotrules.errors import WrongWitnessError

Read = Callable[..., RobotsTxt]
# Where this many rules overlap in every way, no small budget decides.
TANGLE = "".join(f"Allow: /*{a}*{b}*\n" for a in "abcdefg" for b in "hijklmn")


def rules_of(read: Read, *lines: str, profile: str = "default") -> RuleSet:
    """Compile lines of one group; the first is line 2."""
    return read("User-agent: *\n" + "\n".join(lines), profile).rules_for("a")


def lines_of(found: tuple[Any, ...]) -> list[int]:
    """Return the lines of the rules of an answer."""
    return [one.rule.line for one in found]


# --- Patterns alone -------------------------------------------------------------------------------


class TestPatterns:
    """`is_empty`, `overlaps`, `includes`: path patterns without any rule set."""

    @pytest.mark.parametrize(
        ("pattern", "empty"),
        [
            ("/", False),
            ("*", False),
            ("/a/../b", True),  # a URL has no dot segments left
            ("/a/./b", True),
            ("/./", True),
            ("/.", False),  # as in /.well-known
            ("/.$", True),
            ("/..a", False),
            ("/*/../", False),  # as in /?%2F..%2F
            ("/a?/../", False),  # behind the `?` dots are data
            ("/*?/../", False),
            ("/%61", False),
            ("/%", False),
            ("shop", True),  # starts with neither `/` nor `*`
            ("", True),
            (b"/\xff", False),
            ("/robots.txt$", False),
        ],
    )
    def test_is_empty(self, pattern: str | bytes, empty: bool) -> None:
        """No URL matches what the normal form of URLs cannot have."""
        assert analysis.is_empty(pattern) is empty

    def test_is_empty_by_profile(self) -> None:
        """Profile google takes URLs as they are given, and an empty rule matches all."""
        assert analysis.is_empty("/a/../b", "google") is False
        assert analysis.is_empty("", "google") is False
        assert analysis.is_empty("", GOOGLE) is False
        assert analysis.is_empty("/a/../b", "strict") is True

    @pytest.mark.parametrize(
        ("a", "b", "path"),
        [
            ("/a", "/a/b", "/a/b"),
            ("/a*z$", "/ab*", "/abz"),
            ("/*.gif$", "/*.png$", None),
            ("/*.gif$", "/*.png", "/.png.gif"),
            ("/a$", "/b$", None),
            ("/a$", "/a", "/a"),
            ("/*?", "/*=", "/?="),
            ("/é", "/%C3%A9t%C3%A9", "/%C3%A9t%C3%A9"),
            ("/a", "shop", None),
            ("*aab", "*aba", "/aaba"),
        ],
    )
    def test_overlaps(self, a: str, b: str, path: str | None) -> None:
        """A shortest URL that both match, or none; the order does not matter."""
        for found in (analysis.overlaps(a, b), analysis.overlaps(b, a)):
            assert not isinstance(found, Undecided)
            assert (found and len(found.path)) == (path and len(path))
        assert analysis.overlaps(a, b) == (Witness(path) if path else None)

    @pytest.mark.parametrize(
        ("a", "b", "whole"),
        [
            ("/a", "/a/b", True),
            ("/a/b", "/a", False),
            ("/", "/*.gif$", True),
            ("/*", "/", True),
            ("*", "/", True),
            ("/*a", "/*aa", True),
            ("/a*", "/a", True),
            ("/a$", "/a", False),
            ("/a", "/a$", True),
            ("/*b", "/a*b", True),
            ("/a*b", "/*b", False),
            ("/x", "shop", True),  # a pattern without URLs is in every other
            ("shop", "/x", False),
            ("/%41", "/A", True),
            ("/*/$", "/*//$", True),
        ],
    )
    def test_includes(self, a: str, b: str, whole: bool) -> None:
        """Whether all that the second matches the first does."""
        assert analysis.includes(a, b) is whole

    def test_an_index_page_is_two_patterns(self) -> None:
        """Profile google: an Allow rule for an index page matches its directory too (AMB-47)."""
        assert analysis.includes("/a/index.html", "/a/$", "google") is True
        assert analysis.includes("/a/$", "/a/index.html", "google") is False
        assert analysis.overlaps("/a/index.html", "/a/$", "google") == Witness("/a/")
        assert analysis.overlaps("/a/index.html", "/a/$") is None

    def test_undecided(self) -> None:
        """A used-up budget gives no answer, and raises if used as one."""
        for answer in (
            analysis.is_empty("/*abc*def", max_states=3),
            analysis.overlaps("/*abc*def", "/*ghi", max_states=3),
            analysis.includes("/*abc*def", "/*def", max_states=3),
        ):
            assert isinstance(answer, Undecided)
            with pytest.raises(TypeError, match=r"neither true nor false.*max_states="):
                bool(answer)

    @pytest.mark.parametrize("ask", [analysis.is_empty, lambda p, *r: analysis.overlaps(p, "/")])
    def test_misuse(self, ask: Callable[..., Any]) -> None:
        """Invalid patterns are refused, with how to fix it."""
        with pytest.raises(TypeError, match="a path pattern is str or bytes"):
            ask(7)
        with pytest.raises(ProfileError, match="no profile 'gogle'"):
            analysis.is_empty("/", "gogle")

    @pytest.mark.parametrize("max_states", [0, -1, 1.5, "1000", None])
    def test_budgets(self, max_states: Any) -> None:
        """A budget is a number of states."""
        with pytest.raises(ValueError, match="pass how many states a query may use"):
            analysis.is_empty("/", max_states=max_states)

    def test_a_witness_that_does_not_hold(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A path that the matcher contradicts is never returned."""
        lie = solver.SearchResult(True, b"/elsewhere", 1, [[], []])
        monkeypatch.setattr(solver.Solver, "find_witness", lambda *_: lie)
        with pytest.raises(WrongWitnessError, match="please report this"):
            analysis.overlaps("/a", "/b")


# --- Which rule decides ---------------------------------------------------------------------------


class TestWitness:
    """`witness`: a shortest URL that a rule of a set decides."""

    def test_shortest(self, read: Read) -> None:
        """None shorter would do, and `check` names the rule."""
        rules = rules_of(read, "Disallow: /shop", "Allow: /shop/*.html$", "Disallow: /*?")
        for number, path in enumerate(("/shop", "/shop/.html", "/?")):
            found = analysis.witness(rules, number)
            assert found == Witness(path)
            assert rules.check(found.url).rule == rules.rules[number]
            assert analysis.witness(rules, rules.rules[number]) == found

    def test_around_others(self, read: Read) -> None:
        """Where more specific rules decide the short ones, the witness goes around them."""
        rules = rules_of(read, "Disallow: /", "Allow: /$", "Allow: /x", "Allow: /y", "Allow: /z")
        found = analysis.witness(rules, 0)
        assert isinstance(found, Witness)
        assert len(found.path) == 2
        assert not rules.check(found.url)

    def test_dead(self, read: Read) -> None:
        """None: no URL at all is decided by it."""
        rules = rules_of(read, "Disallow: /a", "Allow: /a")
        assert analysis.witness(rules, 0) is None
        assert analysis.witness(rules, 1) == Witness("/a")

    def test_robots_txt(self, read: Read) -> None:
        """No rule decides `/robots.txt`; in profile google one does (AMB-45)."""
        rules = rules_of(read, "Disallow: /robots.txt$")
        assert analysis.witness(rules, 0) is None
        rules = rules_of(read, "Disallow: /robots.txt")
        assert analysis.witness(rules, 0) == Witness("/robots.txtx")
        rules = rules_of(read, "Disallow: /robots.txt$", profile="google")
        assert analysis.witness(rules, 0) == Witness("/robots.txt")

    def test_index_page(self, read: Read) -> None:
        """Profile google: the directory is the shorter URL that an index page's rule decides."""
        rules = rules_of(read, "Disallow: /", "Allow: /a/index.html", profile="google")
        assert analysis.witness(rules, 1) == Witness("/a/")
        rules = rules_of(read, "Disallow: /a/$x*", "Allow: /a/index.html", profile="google")
        assert analysis.witness(rules, 1) == Witness("/a/")

    def test_empty_rules(self, read: Read) -> None:
        """Profile google: an empty rule decides what no other rule matches (AMB-42)."""
        rules = rules_of(read, "Disallow:", "Disallow: /a", profile="google")
        assert analysis.witness(rules, 0) == Witness("/")
        assert analysis.witness(rules_of(read, "Disallow:", "Disallow: /a"), 0) is None

    def test_undecided(self, read: Read) -> None:
        """A budget that is too small for the question."""
        rules = rules_of(read, "Disallow: /*", TANGLE)
        found = analysis.witness(rules, 1, max_states=2)
        assert isinstance(found, Undecided)
        assert str(found) == "not decided within 2 states"
        assert found.as_dict() == {"undecided": True, "states": 2}

    @pytest.mark.parametrize("rule", [2, -1, "Disallow: /", None])
    def test_not_of_these(self, read: Read, rule: Any) -> None:
        """A rule of another set, or no rule, is refused."""
        rules = rules_of(read, "Disallow: /a", "Disallow: /b")
        with pytest.raises(ValueError, match=r"not one of these 2 rules: pass one of rules\.rules"):
            analysis.witness(rules, rule)
        with pytest.raises(ValueError, match="not one of these 2 rules"):
            analysis.witness(rules, rules_of(read, "Disallow: /c").rules[0])

    def test_not_rules(self) -> None:
        """A file is not a rule set, and the error states what to pass."""
        with pytest.raises(TypeError, match=r"not RobotsTxt: pass robots\.rules_for\(token\)"):
            analysis.witness(parse(""), 0)  # type: ignore[arg-type]


class TestDeadRules:
    """`dead_rules`: rules that decide no URL, and those that cover them."""

    def test_covered_by_one(self, read: Read) -> None:
        """Allow wins a tie, the longer pattern wins anyway, the first of two alike."""
        rules = rules_of(
            read,
            "Disallow: /a",
            "Allow: /a",
            "Disallow: /*b",
            "Disallow: /*b*",
            "Allow: /c",
            "Allow: /c",
        )
        found = analysis.dead_rules(rules)
        assert [(one.rule.line, [rule.line for rule in one.covers]) for one in found.rules] == [
            (2, [3]),
            (4, [5]),
            (7, [6]),
        ]
        assert found.undecided == ()
        assert not any(one.matches_nothing for one in found.rules)

    SEVERAL = ("Disallow: */a$", "Allow: /a*$", "Allow: /*/a$", "Disallow: /*", "Allow: /*x")

    def test_covered_by_several(self, read: Read) -> None:
        """Several rules may cover together what none covers alone; the cover is minimal."""
        (one,) = analysis.dead_rules(rules_of(read, *self.SEVERAL)).rules
        assert (one.rule.line, [rule.line for rule in one.covers]) == (2, [3, 4])
        for without in (1, 2):
            rest = [line for number, line in enumerate(self.SEVERAL) if number != without]
            assert analysis.dead_rules(rules_of(read, *rest)).rules == ()

    def test_many_covers(self, read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
        """More covers than can be tried one by one are given as they were found."""
        monkeypatch.setattr("robotrules.analysis.rules.MAX_COVERS", 1)
        (one,) = analysis.dead_rules(rules_of(read, *self.SEVERAL)).rules
        assert {3, 4} <= {rule.line for rule in one.covers}

    def test_matches_nothing(self, read: Read) -> None:
        """A pattern without URLs needs no cover."""
        rules = rules_of(read, "Disallow: /a/../b", "Disallow: shop", "Disallow:", "Allow: /x")
        found = analysis.dead_rules(rules)
        assert lines_of(found.rules) == [2, 3, 4]
        assert all(one.matches_nothing for one in found.rules)

    def test_robots_txt_alone(self, read: Read) -> None:
        """A rule that only matches `/robots.txt` never decides, and no rule covers it."""
        (one,) = analysis.dead_rules(rules_of(read, "Disallow: /robots.txt$")).rules
        assert one.covers == ()
        assert analysis.dead_rules(rules_of(read, "Disallow: /robots.txt")).rules == ()
        rules = rules_of(read, "Disallow: /robots.txt", "Allow: /robots.txt*x*", "Allow: /robots.*")
        assert analysis.dead_rules(rules).rules == ()

    def test_an_index_page_covers_with_both(self, read: Read) -> None:
        """Profile google: one rule covers another with its page and with its directory."""
        rules = rules_of(read, "Allow: /index.html*$", "Allow: /index.html", profile="google")
        (one,) = analysis.dead_rules(rules).rules
        assert (one.rule.line, [rule.line for rule in one.covers]) == (3, [2])
        rules = rules_of(
            read, "Allow: */*$", "Allow: /index.html*$", "Allow: /index.html", profile="google"
        )
        (one,) = analysis.dead_rules(rules).rules
        assert one.rule.line == 4
        assert len(one.covers) == 1

    def test_an_index_page_is_alive_by_its_directory(self, read: Read) -> None:
        """Profile google: where the page is another's, the directory may still be its own."""
        rules = rules_of(
            read, "Allow: /index.html", "Disallow: /index.html*", "Disallow: /", profile="google"
        )
        assert analysis.dead_rules(rules).rules == ()
        assert analysis.witness(rules, 0) == Witness("/")

    def test_undecided(self, read: Read) -> None:
        """Rules that the budget is too small for are named, never guessed."""
        rules = rules_of(read, "Disallow: /*", TANGLE)
        found = analysis.dead_rules(rules, max_states=2)
        assert found.rules == ()
        assert set(rules.rules[1:]) <= set(found.undecided)
        assert found.as_dict()["undecided"][-1]["line"] == rules.rules[-1].line

    def test_none(self, read: Read) -> None:
        """A file without rules has no dead ones."""
        assert analysis.dead_rules(read("").rules_for("a")).rules == ()

    def test_vetted(self, read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
        """A path that the matcher contradicts raises an error."""
        rules = rules_of(read, "Disallow: /a", "Disallow: /b")
        lie = solver.SearchResult(True, b"/b", 1, [[]])
        monkeypatch.setattr(solver.Solver, "find_witness", lambda *_: lie)
        with pytest.raises(WrongWitnessError, match="should be disallowed by Disallow: /a"):
            analysis.dead_rules(rules)


# --- What can go ----------------------------------------------------------------------------------


class TestRedundantRules:
    """`redundant_rules`: each alone could go and no verdict would change."""

    def test_implied_by_others(self, read: Read) -> None:
        """A broader rule has the same verdict."""
        rules = rules_of(read, "Disallow: /a", "Disallow: /a/b", "Allow: /c")
        found = analysis.redundant_rules(rules)
        assert [(one.rule.line, one.dead) for one in found.rules] == [(3, False), (4, False)]
        assert [rule.line for rule in found.rules[0].instead] == [2]
        assert found.rules[1].instead == ()  # what no rule decides is allowed

    def test_needed(self, read: Read) -> None:
        """An exception between them makes both needed."""
        rules = rules_of(read, "Disallow: /a", "Allow: /a/b", "Disallow: /a/b/c")
        assert analysis.redundant_rules(rules).rules == ()

    def test_dead(self, read: Read) -> None:
        """A dead rule is redundant, and its covers are named."""
        rules = rules_of(read, "Disallow: /a", "Allow: /a", "Disallow: /")
        (one,) = analysis.redundant_rules(rules).rules
        assert (one.rule.line, one.dead) == (2, True)
        assert [rule.line for rule in one.instead] == [3]

    def test_unusable(self, read: Read) -> None:
        """So is one that can never match."""
        (one,) = analysis.redundant_rules(rules_of(read, "Disallow: shop", "Disallow: /")).rules
        assert (one.rule.line, one.dead, one.instead) == (2, True, ())

    def test_two_of_a_kind(self, read: Read) -> None:
        """Of two equivalent rules either is redundant, not both."""
        rules = rules_of(read, "Disallow: /*.gif$", "Disallow: /*gif$", "Disallow: *.gif$")
        assert lines_of(analysis.redundant_rules(rules).rules) == [2, 4]
        assert lines_of(analysis.minimize(rules).removed) == [2, 4]
        rules = rules_of(read, "Disallow: /a", "Disallow: /a*")
        assert lines_of(analysis.redundant_rules(rules).rules) == [2, 3]
        assert len(analysis.minimize(rules).removed) == 1

    def test_empty_rules(self, read: Read) -> None:
        """Profile google: an empty rule decides many URLs, but changes no verdict."""
        rules = rules_of(read, "Disallow:", "Disallow: /a", profile="google")
        (one,) = analysis.redundant_rules(rules).rules
        assert (one.rule.line, one.dead, one.instead) == (2, False, ())

    def test_index_pages(self, read: Read) -> None:
        """Profile google: a rule stays if either its page or its directory needs it."""
        rules = rules_of(
            read, "Disallow: /", "Allow: /a/index.html", "Allow: /a/i", profile="google"
        )
        assert analysis.redundant_rules(rules).rules == ()
        rules = rules_of(
            read, "Disallow: /", "Allow: /a/index.html", "Allow: /a/", profile="google"
        )
        assert lines_of(analysis.redundant_rules(rules).rules) == [3]

    def test_undecided(self, read: Read) -> None:
        """Rules that the budget is too small for are named."""
        rules = rules_of(read, "Disallow: /*", TANGLE)
        found = analysis.redundant_rules(rules, max_states=2)
        assert found.rules == ()
        assert set(rules.rules[1:]) <= set(found.undecided)

    def test_rules_that_repeat_others(self, read: Read) -> None:
        """Dead if they never decide, alone or not; the allowed `/robots.txt` has no line."""
        body = "User-agent: *\nDisallow: /a\nDisallow: /a\nAllow: /*a\nAllow: /***\nDisallow: /a"
        found = analysis.redundant_rules(read(body).rules_for("a")).rules
        assert [(one.rule.line, one.dead) for one in found][:2] == [(2, True), (3, True)]
        body = "User-agent: *\nAllow: /robots.txt$\nAllow: /robots.txt$\nDisallow: /"
        rules = read(body).rules_for("a")
        assert [(one.dead, one.instead) for one in analysis.redundant_rules(rules).rules] == [
            (True, ()),
            (True, ()),
        ]
        assert [one.covers for one in analysis.dead_rules(rules).rules] == [(), ()]
        assert [one.line for one in analysis.minimize(rules).kept] == [4]


class TestMinimise:
    """`minimise`: as few rules as were found, with the same verdict on every URL."""

    def test_a_common_list(self, read: Read) -> None:
        """Rules implied by a broader one are removed; exceptions and the order are kept."""
        rules = rules_of(
            read,
            "Allow: /",
            "Disallow: /private",
            "Disallow: /private/",
            "Disallow: /private/*",
            "Allow: /private/press",
            "Disallow: /*.pdf$",
            "Disallow: /docs/*.pdf$",
            "Disallow: nothing",
        )
        found = analysis.minimize(rules)
        assert [rule.line for rule in found.kept] == [3, 6, 7]
        assert sorted(lines_of(found.removed)) == [2, 4, 5, 8, 9]
        assert found.undecided == ()
        fewer = read("User-agent: *\n" + "\n".join(map(str, found.kept))).rules_for("a")
        assert analysis.equivalent(rules, fewer).equal is True
        assert analysis.minimize(fewer).removed == ()

    def test_what_each_names_stood(self, read: Read) -> None:
        """A rule that was removed before is not named as a reason."""
        rules = rules_of(read, *(f"Disallow: /{'a' * n}" for n in range(1, 9)))
        found = analysis.minimize(rules)
        assert [rule.line for rule in found.kept] == [2]
        gone: set[int] = set()
        for one in found.removed:
            gone.add(one.rule.line)
            assert not gone & {rule.line for rule in one.instead}

    def test_one_makes_room_for_another(self, read: Read) -> None:
        """A rule may become redundant after another was removed."""
        rules = rules_of(read, "Disallow: /a", "Allow: /ab", "Disallow: /*b*", "Disallow: /ab*")
        found = analysis.minimize(rules)
        assert analysis.redundant_rules(rules).rules
        left = read("User-agent: *\n" + "\n".join(map(str, found.kept))).rules_for("a")
        assert analysis.redundant_rules(left).rules == ()
        assert analysis.equivalent(left, rules).equal is True

    def test_only_allow(self, read: Read) -> None:
        """Without a disallow no rule is needed."""
        found = analysis.minimize(rules_of(read, "Allow: /a", "Allow: /", "Disallow:"))
        assert found.kept == ()
        assert len(found.removed) == 3

    def test_undecided(self, read: Read) -> None:
        """An undecided rule stays, and is named."""
        rules = rules_of(read, "Disallow: /*", TANGLE, "Disallow: shop")
        found = analysis.minimize(rules, max_states=2)
        assert lines_of(found.removed) == [rules.rules[-1].line]
        assert found.kept == rules.rules[:-1]
        assert set(rules.rules[1:-1]) <= set(found.undecided) <= set(found.kept)

    def test_decided_later(self, read: Read) -> None:
        """A rule that was decided once another had gone is not called undecided any more."""
        rules = rules_of(read, "Disallow: /*", "Disallow: /$")
        for max_states in range(3, 12):
            found = analysis.minimize(rules, max_states=max_states)
            assert [rule.line for rule in found.kept] == [2]
            assert found.undecided == ()

    def test_the_last_states(self, read: Read) -> None:
        """All questions together may see so many states; the rest is undecided, and quick."""
        rules = rules_of(read, "Disallow: /*x", TANGLE)
        found = analysis.redundant_rules(rules, max_states=10)
        assert found.states <= 10 * solver.MAX_QUERIES
        assert found.undecided


# --- Values ---------------------------------------------------------------------------------------


class TestValues:
    """Answers convert to JSON, and have a truth value."""

    def test_json(self, read: Read, engine: ModuleType) -> None:
        """Every value is plain after `as_dict()`."""
        rules = rules_of(read, "Disallow: /a", "Allow: /a", "Disallow: /a/b", "Disallow: shop")
        other = rules_of(read, "Disallow: /b")
        answers: list[Any] = [
            analysis.dead_rules(rules),
            analysis.redundant_rules(rules),
            analysis.minimize(rules),
            analysis.equivalent(rules, other),
            analysis.equivalent(rules, rules),
            analysis.difference(rules, other),
            Witness("/a"),
            Undecided(7),
        ]
        for answer in answers:
            assert json.loads(json.dumps(answer.as_dict())) == answer.as_dict()
        dead = analysis.dead_rules(rules).as_dict()["rules"]
        assert [one["rule"]["line"] for one in dead] == [2, 5]
        assert [one["line"] for one in dead[0]["covers"]] == [3]
        gone = analysis.minimize(rules).as_dict()
        assert [one["line"] for one in gone["kept"]] == [4]
        assert sorted((one["rule"]["line"], one["dead"]) for one in gone["removed"]) == [
            (2, True),
            (3, False),
            (5, True),
        ]

    def test_witness(self) -> None:
        """A witness is a path, and a URL at an example's origin."""
        found = Witness("/a?b")
        assert str(found) == "/a?b"
        assert found.url == "https://example.com/a?b"
        assert found.as_dict() == {"path": "/a?b", "url": "https://example.com/a?b"}

    def test_immutable(self, read: Read) -> None:
        """Answers are values."""
        rules = rules_of(read, "Disallow: /a", "Disallow: /a/b", "Allow: /a$", "Disallow: /a$")
        found = analysis.minimize(rules)
        before = (found, rules.rules, hash(rules), rules.allows("/a/b"))
        values: list[Any] = [
            found,
            *found.removed,
            *analysis.dead_rules(rules).rules,
            rules.rules[0],
        ]
        assert {type(value) for value in values} >= {
            MinimizedRules,
            RedundantRuleFinding,
            DeadRuleFinding,
        }
        for value in values:
            for name in (*value._fields, "anything"):
                with pytest.raises(AttributeError):
                    setattr(value, name, None)
            with pytest.raises(TypeError):
                value[0] = None
        assert found._replace(kept=()) != found
        assert (analysis.minimize(rules), rules.rules, hash(rules), rules.allows("/a/b")) == before
