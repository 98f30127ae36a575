"""
The results of `robotrules.analysis` agree with exhaustive tests of small path spaces.

Random rule sets under each profile are compare with all paths of a small space
(`path_spaces.py`). A result that claims existence has a URL, which is checked; a result that claims
the opposite must not have a counterexample in the space. Properties without a space are at the end.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from robotrules import RuleSet, analysis
from robotrules._engine import pure
from robotrules.analysis import Equivalence, Region, Undecided, Witness
from tests.property.path_spaces import (
    Decisions,
    PathSpace,
    Rule,
    decide_all,
    draw_rule_sets,
    get_space,
)

ROOT = Path(__file__).parents[2]
PROFILES = ("default", "strict", "google")
# Rule sets for each profile: in the quick run of each engine, and in the slow run.
QUICK = {"native": 240, "pure": 30}
FULL = 10_000


def compare(profile: str, first: int, count: int, engine: ModuleType) -> Counter[str]:
    """Analyse *count* random pairs of rule sets, check the results, and count them."""
    found: Counter[str] = Counter()
    for number in range(first, first + count):
        space = get_space(number, profile)
        old, new = draw_rule_sets(space, f"robotrules {profile} {number}")
        try:
            decisions = [decide_all(space, space.read(rules)) for rules in (old, new)]
            _check_rule_set(space, old, engine, decisions[0], found)
            _check_pair(space, old, new, engine, decisions, found)
        except AssertionError as wrong:
            wrong.add_note(f"number {number}, profile {profile}: {old} and {new}")
            raise
        found["sets"] += 1
    return found


# --- One rule set ---------------------------------------------------------------------------------


def _check_rule_set(
    space: PathSpace,
    written: list[Rule],
    engine: ModuleType,
    decided: Decisions,
    found: Counter[str],
) -> None:
    rules = space.read(written, engine)
    dead = _check_witnesses(space, written, rules, decided)
    redundant = _check_redundant(space, written, rules, decided, dead, engine)
    kept = _check_minimise(space, written, rules, decided, redundant, engine)
    found["dead"] += len(dead)
    found["alive"] += len(written) - len(dead)
    found["redundant"] += len(redundant)
    found["smaller"] += len(kept) < len(written)


def _check_witnesses(
    space: PathSpace, written: list[Rule], rules: RuleSet, decided: Decisions
) -> set[int]:
    """A rule is dead, or has a shortest witness; the exhaustive test agrees."""
    answer = analysis.dead_rules(rules)
    assert not answer.undecided
    covers = {one.rule.line - 2: [rule.line - 2 for rule in one.covers] for one in answer.rules}
    for number in range(len(written)):
        own = decided.by_rule.get(number, [])
        shown = analysis.witness(rules, number)
        assert not isinstance(shown, Undecided)
        if shown is None:
            assert number in covers
            assert not own
            continue
        assert number not in covers
        assert rules.check(shown.url).line == number + 2
        _check_shortest(space, rules, shown, own)
    for number, others in covers.items():
        _check_covers(space, written, number, others)
    return set(covers)


def _check_shortest(space: PathSpace, rules: RuleSet, shown: Witness, those: Sequence[int]) -> None:
    """A witness is a normalised path, and no path of the space that qualifies is shorter."""
    octets = shown.path.encode("utf-8", "surrogateescape")
    assert rules.find_matches(shown.url)[0] == octets, shown
    if shown.path in space.at:
        assert space.at[shown.path] in those
    if those:
        assert len(octets) <= space.octets[those[0]], (shown, space.paths[those[0]])


def _check_covers(space: PathSpace, written: list[Rule], number: int, others: list[int]) -> None:
    """The covers of a dead rule decide all paths that it matches; each cover is needed."""
    some = sorted([number, *others])
    place = some.index(number)
    few = space.read([written[at] for at in some])
    asked = [space.urls[at] for at in space.matched(written[number])]
    decided = few.decide_many(asked)  # type: ignore[attr-defined]
    assert all(answer >> 2 != place for answer in decided if answer >= 0)
    assert analysis.witness(few, place) is None
    for other in others:
        rest = [at for at in some if at != other]
        alone = space.read([written[at] for at in rest])
        assert analysis.witness(alone, rest.index(number)) is not None


def _check_redundant(
    space: PathSpace,
    written: list[Rule],
    rules: RuleSet,
    decided: Decisions,
    dead: set[int],
    engine: ModuleType,
) -> set[int]:
    """A rule is redundant if and only if no verdict changes without it; dead rules are."""
    answer = analysis.redundant_rules(rules)
    assert not answer.undecided
    named = {one.rule.line - 2: one for one in answer.rules}
    assert dead <= set(named)
    for number in range(len(written)):
        rest = written[:number] + written[number + 1 :]
        without = space.read(rest, engine)
        own = decided.by_rule.get(number, [])
        asked = [space.urls[at] for at in own]
        changes = without.allows_many(asked) != [decided.allowed[at] for at in own]
        if number not in named:
            if not changes:  # the change is not in this space, so it needs a witness
                _check_difference(rules, without, analysis.equivalent(rules, without))
            continue
        assert not changes
        assert named[number].dead is (number in dead)
        if not named[number].dead:
            # The replacing rules give the same verdicts against all opposing rules.
            instead = {rule.line - 2 for rule in named[number].instead}
            expected = decided.allowed[own[0]] if own else None
            few = [
                rule
                for at, rule in enumerate(written)
                if at in instead or (at != number and _allows(rule) != _allows(written[number]))
            ]
            assert set(space.read(few).allows_many(asked)) <= {expected}
    return set(named)


def _allows(rule: Rule) -> bool:
    return rule[1] or not rule[0]


def _check_minimise(
    space: PathSpace,
    written: list[Rule],
    rules: RuleSet,
    decided: Decisions,
    redundant: set[int],
    engine: ModuleType,
) -> list[Rule]:
    """The rules that `minimise` keeps are equivalent and irreducible; dead rules are removed."""
    answer = analysis.minimize(rules)
    assert not answer.undecided
    lines = [rule.line for rule in answer.kept]
    gone = [one.rule.line for one in answer.removed]
    assert lines == sorted(lines)
    assert sorted(lines + gone) == list(range(2, len(written) + 2))
    assert {line - 2 for line in gone} <= redundant or len(gone) > 1
    assert bool(gone) is bool(redundant)
    kept = [written[line - 2] for line in lines]
    fewer = space.read(kept, engine)
    if gone:
        assert fewer.allows_many(space.urls) == decided.allowed
        assert analysis.equivalent(fewer, rules).equal is True
        assert analysis.redundant_rules(fewer).rules == ()
        assert analysis.minimize(fewer).removed == ()
    return kept


def _check_difference(old: RuleSet, new: RuleSet, answer: Equivalence) -> None:
    """A witness against equivalence has the two verdicts that are claimed."""
    assert answer.equal is False
    assert answer.witness is not None
    assert answer.old == old.check(answer.witness.url)
    assert answer.new == new.check(answer.witness.url)
    assert answer.old.allowed != answer.new.allowed


# --- Two rule sets --------------------------------------------------------------------------------


def _check_pair(
    space: PathSpace,
    old: list[Rule],
    new: list[Rule],
    engine: ModuleType,
    decisions: Sequence[Decisions],
    found: Counter[str],
) -> None:
    """The exhaustive test finds no change outside the regions, and none in equivalent sets."""
    sides = [space.read(rules, engine) for rules in (old, new)]
    changed = [
        n for n, allowed in enumerate(decisions[0].allowed) if allowed != decisions[1].allowed[n]
    ]
    same = analysis.equivalent(*sides)
    what = analysis.difference(*sides)
    assert what.complete
    assert what.equal is same.equal
    back = analysis.equivalent(sides[1], sides[0])
    assert back.equal is same.equal
    assert analysis.equivalent(sides[0], sides[0]).equal is True
    found["equal" if same.equal else "different"] += 1
    found["equal, not as written"] += bool(same.equal) and sorted(old) != sorted(new)
    if same.equal:
        assert changed == []
        assert same.witness is None
        return
    _check_difference(sides[0], sides[1], same)
    assert same.witness is not None
    assert back.witness is not None
    assert len(back.witness.path) == len(same.witness.path)
    _check_shortest(space, sides[0], same.witness, changed)
    assert len(what.regions[0].witness.path) == len(same.witness.path)
    found["regions"] += len(what.regions)
    _check_regions(space, sides, decisions, changed, what.regions)


def _check_regions(
    space: PathSpace,
    sides: Sequence[RuleSet],
    decisions: Sequence[Decisions],
    changed: Sequence[int],
    regions: Sequence[Region],
) -> None:
    """Every changed path is in a region of its two deciding rules, and no region has others."""
    left = set(changed)
    deciders = {at: (decisions[0].deciders[at], decisions[1].deciders[at]) for at in changed}
    seen: set[tuple[int | None, int | None, tuple[str, ...]]] = set()
    for region in regions:
        pair = _decider(region.old.line), _decider(region.new.line)
        assert (*pair, region.patterns) not in seen
        seen.add((*pair, region.patterns))
        url = region.witness.url
        assert (region.old, region.new) == (sides[0].check(url), sides[1].check(url))
        assert region.old.allowed != region.new.allowed
        around = frozenset.intersection(*(space.matched((p, False)) for p in region.patterns))
        own = [at for at in changed if at in around and deciders[at] == pair]
        _check_shortest(space, sides[0], region.witness, own)
        left.difference_update(own)
        _check_exceptions(space, sides, decisions, region, around)
    assert not left, [space.paths[at] for at in left]


def _decider(line: int | None) -> int | None:
    return None if line is None else line - 2


def _check_exceptions(
    space: PathSpace,
    sides: Sequence[RuleSet],
    decisions: Sequence[Decisions],
    region: Region,
    around: frozenset[int],
) -> None:
    """Paths that the patterns of a region match and that do not change are in an exception."""
    answer = analysis.exceptions(sides[0], sides[1], region, limit=1_000)
    excepted = {at for one in answer for at in space.matched((one.pattern, False))}
    for at in around:
        if decisions[0].allowed[at] == decisions[1].allowed[at]:
            assert at in excepted, (region, space.paths[at])
    for one in answer:
        assert one.old == sides[0].check(one.witness.url)
        assert one.new == sides[1].check(one.witness.url)
        assert one.old.allowed == one.new.allowed
        for pattern in (*region.patterns, one.pattern):
            alone = space.read([(pattern, False)])
            assert alone.tied_rules(one.witness.url) == (0,), (region, one)


@pytest.mark.parametrize("profile", PROFILES)
def test_agrees_with_exhaustive_test_allows(engine: ModuleType, profile: str) -> None:
    """Some hundred rule sets, on each engine."""
    count = QUICK["pure" if engine is pure else "native"]
    found = compare(profile, 0, count, engine)
    assert found["sets"] == count
    # Both outcomes of each analysis occur.
    for name in ("dead", "alive", "redundant", "smaller", "equal", "different", "regions"):
        assert found[name] >= count // 10, found


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
def test_ten_thousand_rule_sets(
    native: ModuleType, profile: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same for 10,000 rule sets under each profile, and no disagreement."""
    found = compare(profile, 1_000_000, FULL, native)
    with capsys.disabled():
        print(f"\n{profile}: {', '.join(f'{n:,} {what}' for what, n in sorted(found.items()))}")
    assert found["sets"] == 10_000
    for name in ("dead", "alive", "redundant", "smaller", "equal", "different", "regions"):
        assert found[name] >= 1_000, found
    assert found["equal, not as written"] >= 300


# --- The same results everywhere ------------------------------------------------------------------


def analyse_all(profile: str, count: int, engine: ModuleType | None = None) -> list[Any]:
    """Return all results for some pairs of rule sets as plain values, with states."""
    found: list[Any] = []
    for number in range(count):
        space = get_space(number, profile)
        old, new = (space.read(rules, engine) for rules in draw_rule_sets(space, f"same {number}"))
        what = analysis.difference(old, new)
        found += [
            analysis.dead_rules(old).as_dict(),
            analysis.redundant_rules(old).as_dict(),
            analysis.minimize(old).as_dict(),
            analysis.equivalent(old, new).as_dict(),
            what.as_dict(),
            [[e.as_dict() for e in analysis.exceptions(old, new, one)] for one in what.regions],
        ]
    return found


@pytest.mark.parametrize("profile", PROFILES)
def test_engines_agree(native: ModuleType, profile: str) -> None:
    """Results, witnesses and the number of explored states are the same on both engines."""
    assert analyse_all(profile, 60, native) == analyse_all(profile, 60, pure)


DIGEST = """
import hashlib, json
from tests.property.test_analysis import PROFILES, analyse_all
text = json.dumps([analyse_all(profile, 12) for profile in PROFILES])
print(hashlib.sha256(text.encode()).hexdigest())
"""


def test_results_do_not_depend_on_the_process() -> None:
    """Neither the hash seed nor the engine changes a result."""
    text = json.dumps([analyse_all(profile, 12) for profile in PROFILES])
    expected = hashlib.sha256(text.encode()).hexdigest()
    for seed, without in (("1", "0"), ("77", "0"), ("4711", "1")):
        environment = os.environ | {
            "PYTHONHASHSEED": seed,
            "ROBOTRULES_NO_EXTENSIONS": without,
            "ROBOTRULES_REQUIRE_EXTENSIONS": "0",
        }
        run = subprocess.run(
            [sys.executable, "-c", DIGEST],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=environment,
            check=True,
        )
        assert run.stdout.strip() == expected, (seed, without)
