"""
What the analysis looks at grows with a file, and not with its square; then a budget ends it.

Counted are the rules that questions look at and the states that they see, so that no clock decides.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from robotrules import analysis, parse
from robotrules.analysis import solver
from robotrules.analysis.compare import difference
from robotrules.analysis.files import compare
from robotrules.analysis.rules import dead_rules, minimize, redundant_rules
from robotrules.analysis.solver import PatternEntry, PrefixIndex, Solver, total_state_limit
from robotrules.robotstxt.ruleset import RuleSet

SMALL, LARGE = 200, 800
SHAPES: dict[str, Callable[[int], str]] = {
    "identical": lambda n: "/a",
    "identical wildcards": lambda n: "/*a*b",
    "plain": lambda n: f"/p{n}",
    "beneath one": lambda n: f"/p{n}" if n else "/",
}


def rules_of(shape: str, count: int) -> RuleSet:
    """Return a rule set of one shape."""
    lines = (f"Disallow: {SHAPES[shape](n)}" for n in range(count))
    return parse("User-agent: *\n" + "\n".join(lines)).rules_for("x")


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return how many rules each question looks at, as it is counted."""
    counted: list[int] = []
    count_rules = Solver.count_rules

    def count(self: Solver, rules: int) -> None:
        counted.append(rules)
        count_rules(self, rules)

    monkeypatch.setattr(Solver, "count_rules", count)
    return counted


ASKED: dict[str, Callable[[RuleSet], object]] = {
    "dead_rules": dead_rules,
    "redundant_rules": redundant_rules,
    "minimise": minimize,
    "difference": lambda rules: difference(rules, parse(b"").rules_for("x")),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("question", ASKED)
def test_four_times_the_rules_cost_about_four_times_as_much(
    shape: str, question: str, looked_at: list[int]
) -> None:
    """It was sixteen times as much."""
    cost = []
    for size in (SMALL, LARGE):
        looked_at.clear()
        ASKED[question](rules_of(shape, size))
        cost.append(sum(looked_at))
    assert cost[1] <= 6 * max(cost[0], SMALL)


@pytest.mark.parametrize("shape", ["identical", "identical wildcards"])
def test_of_identical_rules_one_stays(shape: str) -> None:
    """Without any query."""
    found = minimize(rules_of(shape, 500))
    assert [rule.line for rule in found.kept] == [2]
    assert (len(found.removed), found.undecided) == (499, ())
    assert len(dead_rules(rules_of(shape, 500)).rules) == 499


def test_a_file_that_cannot_be_decided_soon_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules all of which may meet cost their square: the budget of all questions ends that."""
    monkeypatch.setattr(solver, "MAX_TOTAL_STATES", 500)
    lines = "\n".join(f"Disallow: /*a{n % 7}*b{n}*c" for n in range(400))
    rules = parse(f"User-agent: *\n{lines}").rules_for("x")
    assert total_state_limit(100) == 500
    found = dead_rules(rules, max_states=100)
    assert found.undecided
    smaller = minimize(rules, max_states=100)
    assert smaller.undecided
    assert len(smaller.kept) == 400
    told = difference(rules, parse(b"").rules_for("x"), max_states=100)
    assert told.complete is False


def test_many_groups_share_one_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """All other crawlers are undecided, and the files are not equal."""
    monkeypatch.setattr("robotrules.analysis.files.STATES_PER_CLASS", 10_000)
    names = [f"b{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(100)]
    old = parse("".join(f"User-agent: {name}\nDisallow: /x*a\n" for name in names))
    new = parse("".join(f"User-agent: {name}\nDisallow: /x**a\n" for name in names))
    found = compare(old, new)
    assert found.equal is None
    decided = [change.difference.complete for change in found.changes]
    assert (decided[0], decided[-1]) == (True, False)
    assert analysis.compare(old, old).equal is True


def test_equivalent_files_are_not_searched(looked_at: list[int]) -> None:
    """In any order, and with any repetition."""
    old = parse("User-agent: *\nDisallow: /*a\nAllow: /b\nDisallow: /*a\n")
    new = parse("User-agent: *\nAllow: /b\nDisallow: /*a\n")
    assert compare(old, new).equal is True
    assert looked_at == []


def test_rules_that_begin_alike_share_their_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which rules are near is found once for all of them, and again after one went."""
    searched: list[bytes] = []
    search = PrefixIndex._find_overlapping

    def count(self: PrefixIndex, first: bytes) -> list[int]:
        searched.append(first)
        return search(self, first)

    monkeypatch.setattr(PrefixIndex, "_find_overlapping", count)
    rules = parse("User-agent: *\n" + "".join(f"Disallow: /*a{n}b\n" for n in range(50)))
    assert not dead_rules(rules.rules_for("x")).rules
    assert len(searched) <= 2
    index = PrefixIndex(enumerate(PatternEntry(n, b"/a*", True) for n in range(3)))
    assert index.find_overlapping(b"/a") == [0, 1, 2]
    index.drop(1, PatternEntry(1, b"/a*", True))
    assert index.find_overlapping(b"/a") == [0, 2]
