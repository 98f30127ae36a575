"""Two rule sets: proved the same, or every region in which they differ."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from robotrules import DEFAULT, Reason, RobotsTxt, RuleSet, analysis
from robotrules.analysis import Difference, Equivalence, Region, Undecided, Witness, solver
from robotrules.errors import ProfileMismatchError, WrongWitnessError

Read = Callable[..., RobotsTxt]
TANGLE = [f"Allow: /*{a}*{b}*" for a in "abcdefg" for b in "hijklmn"]


def rules_of(read: Read, *lines: str, profile: Any = "default") -> RuleSet:
    """Compile lines of one group; the first is line 2."""
    return read("User-agent: *\n" + "\n".join(lines), profile).rules_for("a")


def told(found: Difference) -> list[tuple[str, str, int | None, int | None]]:
    """Return of each region its patterns, its witness, and both deciding lines."""
    return [(str(one), str(one.witness), one.old.line, one.new.line) for one in found.regions]


SAME = {
    "another order": (["Disallow: /a", "Allow: /a/b"], ["Allow: /a/b", "Disallow: /a"]),
    "another spelling": (["Disallow: /%7Ea"], ["Disallow: /~a"]),
    "a star at the end": (["Disallow: /a"], ["Disallow: /a*"]),
    "stars together": (["Disallow: /a*b"], ["Disallow: /a***b"]),
    "a star and the end": (["Disallow: /a"], ["Disallow: /a*$"]),
    "a star for a slash": (["Disallow: /"], ["Disallow: *"]),
    "rules that say nothing": (["Disallow: /a"], ["Disallow: /a", "Disallow:", "Allow: /b"]),
    "nothing, and nothing": ([], ["Allow: /"]),
    "a rule said twice": (["Disallow: /a"], ["Disallow: /a", "Disallow: /a"]),
    "a part of a rule": (["Disallow: /a"], ["Disallow: /a", "Disallow: /a/b", "Disallow: /a$"]),
    "dead, whatever it says": (["Allow: /a"], ["Allow: /a", "Disallow: /a"]),
    "all cases of a rule": (
        ["Disallow: /a"],
        ["Disallow: /a$", "Disallow: /a", "Allow: /b/../c", "Allow: /b"],
    ),
}
DIFFERENT = {
    "a longer allow": (["Disallow: /a"], ["Disallow: /a", "Allow: /a/"], "/a/"),
    "only the page": (["Disallow: /a"], ["Disallow: /a$"], "/ax"),
    "a tie": (["Disallow: /a*"], ["Disallow: /a*", "Allow: /*b"], "/ab"),
    "a slash": (["Disallow: /a"], ["Disallow: /a/"], "/a"),
    "case": (["Disallow: /A"], ["Disallow: /a"], "/A"),
    "an escape that is data": (["Disallow: /a%2Fb"], ["Disallow: /a/b"], "/a/b"),
    "everything": (["Disallow: /"], [], "/"),
}


class TestEquivalent:
    """`equivalent`: a proof, or a shortest URL against it."""

    @pytest.mark.parametrize("name", SAME)
    def test_the_same(self, read: Read, name: str) -> None:
        """Texts differ, and no URL does."""
        old, new = (rules_of(read, *lines) for lines in SAME[name])
        for found in (analysis.equivalent(old, new), analysis.equivalent(new, old)):
            assert found
            assert found[:4] == (True, None, None, None)
        assert analysis.difference(old, new).equal is True

    @pytest.mark.parametrize("name", DIFFERENT)
    def test_different(self, read: Read, name: str) -> None:
        """A witness, with the verdicts of both."""
        old, new = (rules_of(read, *lines) for lines in DIFFERENT[name][:2])
        found = analysis.equivalent(old, new)
        assert not found
        assert found.equal is False
        assert found.witness == Witness(DIFFERENT[name][2])
        assert found.old == old.check(found.witness.url)
        assert found.new == new.check(found.witness.url)
        back = analysis.equivalent(new, old)
        assert back.witness is not None
        assert len(back.witness.path) == len(found.witness.path)

    def test_shortest_of_all(self, read: Read) -> None:
        """Of many differences the shortest is shown."""
        old = rules_of(read, "Disallow: /long/way", "Disallow: /b", "Disallow: /middle")
        found = analysis.equivalent(old, rules_of(read))
        assert found.witness == Witness("/b")

    def test_robots_txt(self, read: Read) -> None:
        """A rule for `/robots.txt` alone has no effect, except in profile google (AMB-45)."""
        lines = ("Disallow: /robots.txt$",)
        assert analysis.equivalent(rules_of(read, *lines), rules_of(read)).equal is True
        found = analysis.equivalent(
            rules_of(read, *lines, profile="google"), rules_of(read, profile="google")
        )
        assert found.witness == Witness("/robots.txt")
        found = analysis.equivalent(rules_of(read, "Disallow: /robots."), rules_of(read))
        assert found.witness == Witness("/robots.")

    def test_index_page(self, read: Read) -> None:
        """Profile google: an index page's rule is its page and its directory."""
        sides = [
            ["Disallow: /a", "Allow: /a/index.html"],
            ["Disallow: /a", "Allow: /a/index.html", "Allow: /a/$"],
        ]
        old, new = (rules_of(read, *lines, profile="google") for lines in sides)
        assert analysis.equivalent(old, new).equal is True
        old, new = (rules_of(read, *lines) for lines in sides)
        assert analysis.equivalent(old, new).witness == Witness("/a/")

    def test_empty_rules(self, read: Read) -> None:
        """Profile google: an empty rule means the same as no rule (AMB-42)."""
        for line in ("Disallow:", "Allow:"):
            old, new = (rules_of(read, *lines, profile="google") for lines in ([line], []))
            assert analysis.equivalent(old, new).equal is True

    def test_every_rule_written_otherwise(self, read: Read) -> None:
        """Twins match the same, so they are not walked together with all others: few states do."""
        lines = [f"Disallow: /*{a}{b}" for a in "abcde" for b in "fghij"]
        lines += [f"Allow: /*{a}{b}*{c}" for a in "abcde" for b in "fghij" for c in "kl"]
        old = rules_of(read, *lines)
        new = rules_of(read, *(line.replace("*", "**") for line in lines[::-1]))
        assert analysis.equivalent(old, new, max_states=100).equal is True
        assert analysis.difference(old, new, max_states=100).equal is True

    def test_undecided(self, read: Read) -> None:
        """Not proved and not disproved within the budget."""
        old, new = rules_of(read, "Disallow: /*abc*def", *TANGLE), rules_of(read, *TANGLE)
        found = analysis.equivalent(old, new, max_states=2)
        assert found.equal is None
        assert found.witness is None
        with pytest.raises(TypeError, match="not decided within"):
            bool(found)
        assert found.as_dict()["equal"] is None
        assert analysis.equivalent(old, new).equal is False

    def test_other_profiles(self, read: Read) -> None:
        """Rules of two profiles compare URLs differently, so they are not compared."""
        with pytest.raises(ProfileMismatchError, match=r"'default' and 'google'.*same profile"):
            analysis.equivalent(rules_of(read), rules_of(read, profile="google"))
        changed = DEFAULT.replace(match_robots_txt=True)
        with pytest.raises(ProfileMismatchError):
            analysis.difference(rules_of(read), rules_of(read, profile=changed))

    def test_not_rules(self, read: Read) -> None:
        """Text is not a rule set, and the error states what to pass."""
        with pytest.raises(TypeError, match=r"rules are a RuleSet, not str: pass robots\.rules"):
            analysis.equivalent(rules_of(read), "Disallow: /")  # type: ignore[arg-type]

    def test_vetted(self, read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
        """A path with equal verdicts is never returned as a witness."""
        old, new = rules_of(read, "Disallow: /a"), rules_of(read)
        lie = solver.SearchResult(True, b"/b", 1, [[], []])
        monkeypatch.setattr(solver.Solver, "find_witness", lambda *_: lie)
        with pytest.raises(WrongWitnessError, match="does not get different verdicts"):
            analysis.equivalent(old, new)

    def test_witness_check(self, read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
        """If the automata and `check` disagree, an error is raised."""
        old, new = rules_of(read, "Disallow: /a"), rules_of(read)
        deciders = iter((1, -1))
        monkeypatch.setattr(solver.Solver, "find_decider", lambda *_: next(deciders))
        monkeypatch.setattr(
            solver.Solver, "find_witness", lambda *_: solver.SearchResult(True, b"/b", 1, [[], []])
        )
        with pytest.raises(WrongWitnessError, match="please report this with the file"):
            analysis.equivalent(old, new)


class TestDifference:
    """`difference`: all URLs that change, in regions with the same two deciders each."""

    def test_regions(self, read: Read) -> None:
        """Each pair of deciding rules is a region; the shortest witness first."""
        old = rules_of(read, "Disallow: /shop/", "Disallow: /img")
        new = rules_of(read, "Disallow: /shop", "Allow: /shop/sale/", "Disallow: /img")
        found = analysis.difference(old, new)
        assert told(found) == [
            ("/shop", "/shop", None, 2),
            ("/shop/sale/", "/shop/sale/", 2, 3),
        ]
        assert found.complete
        assert found.equal is False
        assert found.regions[0].old.reason is Reason.NO_MATCH

    def test_of_both_sides(self, read: Read) -> None:
        """Removed and added rules: pairs of both are found once."""
        old, new = rules_of(read, "Disallow: /a*"), rules_of(read, "Allow: /*b", "Disallow: /c")
        found = analysis.difference(old, new)
        assert told(found) == [
            ("/a*", "/a", 2, None),
            ("/c", "/c", None, 3),
            ("/a* and /*b", "/ab", 2, 2),
        ]

    def test_the_narrower_pattern(self, read: Read) -> None:
        """Of two patterns one of which includes the other, the narrower is shown."""
        old, new = rules_of(read, "Disallow: /a/b"), rules_of(read, "Allow: /a/b/c", "Allow: /a")
        found = analysis.difference(old, new)
        assert told(found) == [("/a/b", "/a/b", 2, 3), ("/a/b/c", "/a/b/c", 2, 2)]
        found = analysis.difference(new, old)
        assert told(found) == [("/a/b", "/a/b", 3, 2), ("/a/b/c", "/a/b/c", 2, 2)]
        old, new = rules_of(read, "Disallow: /a"), rules_of(read, "Allow: /a*")
        assert told(analysis.difference(old, new)) == [("/a", "/a", 2, 2)]

    def test_a_rule_flipped(self, read: Read) -> None:
        """The same pattern on both sides is named once."""
        old, new = rules_of(read, "Disallow: /a"), rules_of(read, "Allow: /a")
        assert told(analysis.difference(old, new)) == [("/a", "/a", 2, 2)]

    def test_empty_rule(self, read: Read) -> None:
        """Profile google: the empty rule decides where no other does."""
        old, new = (
            rules_of(read, *lines, profile="google") for lines in (["Disallow: /a"], ["Disallow:"])
        )
        assert told(analysis.difference(old, new)) == [("/a", "/a", 2, 2)]

    def test_index_page(self, read: Read) -> None:
        """Profile google: a page and its directory are two regions of one rule."""
        old, new = (
            rules_of(read, "Disallow: /a", *more, profile="google")
            for more in ([], ["Allow: /a/index.html"])
        )
        assert told(analysis.difference(old, new)) == [
            ("/a/$", "/a/", 2, 3),
            ("/a/index.html", "/a/index.html", 2, 3),
        ]

    def test_duplicates(self, read: Read) -> None:
        """A rule written twice is one region."""
        old, new = rules_of(read, "Disallow: /a", "Disallow: /%61"), rules_of(read)
        assert told(analysis.difference(old, new)) == [("/a", "/a", 2, None)]

    def test_at_most(self, read: Read) -> None:
        """With a lower limit than there are regions, the answer is not complete."""
        old, new = rules_of(read, *(f"Disallow: /{n}" for n in "abcde")), rules_of(read)
        whole = analysis.difference(old, new)
        assert (len(whole.regions), whole.complete) == (5, True)
        some = analysis.difference(old, new, max_regions=3)
        assert (len(some.regions), some.complete, some.equal) == (3, False, False)
        none = analysis.difference(old, new, max_regions=0)
        assert (none.regions, none.complete, none.equal) == ((), False, None)

    def test_undecided(self, read: Read) -> None:
        """An answer beyond the state limit is not complete, and not equal."""
        old, new = rules_of(read, "Disallow: /*abc*def", *TANGLE), rules_of(read, *TANGLE)
        found = analysis.difference(old, new, max_states=2)
        assert (found.regions, found.complete, found.equal) == ((), False, None)

    def test_json(self, read: Read) -> None:
        """Plain values with patterns, witness, and both verdicts."""
        old, new = rules_of(read, "Disallow: /a"), rules_of(read)
        found = analysis.difference(old, new).as_dict()
        assert json.loads(json.dumps(found)) == found
        (region,) = found["regions"]
        assert region["patterns"] == ["/a"]
        assert region["witness"]["path"] == "/a"
        assert (region["old"]["allowed"], region["new"]["allowed"]) == (False, True)
        assert (found["equal"], found["complete"]) == (False, True)


class TestExceptions:
    """`exceptions`: parts of a region's patterns without a change."""

    def test_a_longer_rule(self, read: Read) -> None:
        """A rule that both have and that is more specific keeps its URLs."""
        old = rules_of(read, "Disallow: /a", "Allow: /a/b", "Disallow: /a/b/c")
        new = rules_of(read, "Allow: /a/b", "Disallow: /a/b/c")
        (region,) = analysis.difference(old, new).regions
        found = analysis.exceptions(old, new, region)
        assert [(one.pattern, one.witness.path) for one in found] == [
            ("/a/b", "/a/b"),
            ("/a/b/c", "/a/b/c"),
        ]
        for one in found:
            assert one.old.allowed == one.new.allowed
            assert json.loads(json.dumps(one.as_dict())) == one.as_dict()

    def test_at_most(self, read: Read) -> None:
        """No more than the limit."""
        others = [f"Allow: /a/{n}" for n in "bcdefgh"]
        old, new = rules_of(read, "Disallow: /a", *others), rules_of(read, *others)
        (region,) = analysis.difference(old, new).regions
        assert len(analysis.exceptions(old, new, region)) == 5
        assert len(analysis.exceptions(old, new, region, limit=2)) == 2
        assert len(analysis.exceptions(old, new, region, limit=50)) == 7

    def test_none(self, read: Read) -> None:
        """If all of the pattern changes there is none; `/robots.txt` is not listed."""
        old, new = rules_of(read, "Disallow: /"), rules_of(read)
        (region,) = analysis.difference(old, new).regions
        assert analysis.exceptions(old, new, region) == ()

    def test_a_new_rule_with_the_same_verdict(self, read: Read) -> None:
        """A rule on one side makes an exception as well."""
        old, new = rules_of(read, "Disallow: /a"), rules_of(read, "Disallow: /a/b")
        (region,) = analysis.difference(old, new).regions
        (one,) = analysis.exceptions(old, new, region)
        assert (one.pattern, one.old.line, one.new.line) == ("/a/b", 2, 2)

    def test_another_files_region(self, read: Read) -> None:
        """A region of other rules is refused."""
        old, new = rules_of(read, "Disallow: /a"), rules_of(read)
        (region,) = analysis.difference(old, new).regions
        with pytest.raises(ValueError, match="'/a' is not a pattern of these rules"):
            analysis.exceptions(new, new, region)

    def test_undecided(self, read: Read) -> None:
        """Within a budget that is too small none is found."""
        old, new = rules_of(read, "Disallow: /*a", *TANGLE), rules_of(read, *TANGLE)
        (region, *_) = analysis.difference(old, new).regions
        assert analysis.exceptions(old, new, region, max_states=1) == ()
        assert analysis.exceptions(old, new, region) != ()


def test_values(read: Read) -> None:
    """Regions read as their patterns; answers are values."""
    old, new = rules_of(read, "Disallow: /a*"), rules_of(read, "Allow: /*b")
    found = analysis.difference(old, new)
    assert found == analysis.difference(old, new)
    assert all(isinstance(one, Region) for one in found.regions)
    assert isinstance(analysis.equivalent(old, new), Equivalence)
    assert str(Undecided(1_000)) == "not decided within 1,000 states"
