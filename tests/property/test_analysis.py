"""
Exact answers are exact: what `robotrules.analysis` says of all URLs, against trying all of a world.

Random rule sets under each profile; for each, everything that can be tried in a small world
(`worlds.py`) is tried, and must agree. What is claimed to exist comes with a URL, and that URL is
put to `check()`; what is claimed not to exist must not be in the world. The laws that need no world
stand below.
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
from tests.property.worlds import Rule, Trial, World, drawn, tried, world_of

ROOT = Path(__file__).parents[2]
PROFILES = ("default", "strict", "google")
# Rule sets for each profile: in the quick run of each engine, and in the slow one.
QUICK = {"native": 240, "pure": 30}
FULL = 10_000


def compared(profile: str, first: int, count: int, engine: ModuleType) -> Counter[str]:
    """Put *count* random pairs of rule sets to everything there is, and count what was found."""
    found: Counter[str] = Counter()
    for number in range(first, first + count):
        world = world_of(number, profile)
        old, new = drawn(world, f"robotrules {profile} {number}")
        try:
            trials = [tried(world, world.read(rules)) for rules in (old, new)]
            _one_set(world, old, engine, trials[0], found)
            _pair(world, old, new, engine, trials, found)
        except AssertionError as wrong:
            wrong.add_note(f"number {number}, profile {profile}: {old} and {new}")
            raise
        found["sets"] += 1
    return found


# --- One rule set ---------------------------------------------------------------------------------


def _one_set(
    world: World, written: list[Rule], engine: ModuleType, trial: Trial, found: Counter[str]
) -> None:
    rules = world.read(written, engine)
    dead = _deciding(world, written, rules, trial)
    redundant = _redundant(world, written, rules, trial, dead, engine)
    kept = _minimised(world, written, rules, trial, redundant, engine)
    found["dead"] += len(dead)
    found["alive"] += len(written) - len(dead)
    found["redundant"] += len(redundant)
    found["smaller"] += len(kept) < len(written)


def _deciding(world: World, written: list[Rule], rules: RuleSet, trial: Trial) -> set[int]:
    """A rule is dead, or has a shortest witness; trying all paths finds no other answer."""
    answer = analysis.dead_rules(rules)
    assert not answer.undecided
    covers = {one.rule.line - 2: [rule.line - 2 for rule in one.covers] for one in answer.rules}
    for number in range(len(written)):
        own = trial.by_rule.get(number, [])
        shown = analysis.witness(rules, number)
        assert not isinstance(shown, Undecided)
        if shown is None:
            assert number in covers
            assert not own
            continue
        assert number not in covers
        assert rules.check(shown.url).line == number + 2
        _shortest(world, rules, shown, own)
    for number, others in covers.items():
        _covered(world, written, number, others)
    return set(covers)


def _shortest(world: World, rules: RuleSet, shown: Witness, those: Sequence[int]) -> None:
    """A witness is a real path, and no path of the world that would do is shorter."""
    octets = shown.path.encode("utf-8", "surrogateescape")
    assert rules.find_matches(shown.url)[0] == octets, shown
    if shown.path in world.at:
        assert world.at[shown.path] in those
    if those:
        assert len(octets) <= world.octets[those[0]], (shown, world.paths[those[0]])


def _covered(world: World, written: list[Rule], number: int, others: list[int]) -> None:
    """What a dead rule matches, its covers decide; none of them is to spare."""
    some = sorted([number, *others])
    place = some.index(number)
    few = world.read([written[at] for at in some])
    asked = [world.urls[at] for at in world.matched(written[number])]
    decided = few.decide_many(asked)  # type: ignore[attr-defined]
    assert all(answer >> 2 != place for answer in decided if answer >= 0)
    assert analysis.witness(few, place) is None
    for other in others:
        rest = [at for at in some if at != other]
        alone = world.read([written[at] for at in rest])
        assert analysis.witness(alone, rest.index(number)) is not None


def _redundant(
    world: World,
    written: list[Rule],
    rules: RuleSet,
    trial: Trial,
    dead: set[int],
    engine: ModuleType,
) -> set[int]:
    """A rule is redundant exactly where nothing changes without it; dead ones are among them."""
    answer = analysis.redundant_rules(rules)
    assert not answer.undecided
    named = {one.rule.line - 2: one for one in answer.rules}
    assert dead <= set(named)
    for number in range(len(written)):
        rest = written[:number] + written[number + 1 :]
        without = world.read(rest, engine)
        own = trial.by_rule.get(number, [])
        asked = [world.urls[at] for at in own]
        changes = without.allows_many(asked) != [trial.allowed[at] for at in own]
        if number not in named:
            if not changes:  # what changes is not in this world, so it has to be shown
                _differing(rules, without, analysis.equivalent(rules, without))
            continue
        assert not changes
        assert named[number].dead is (number in dead)
        if not named[number].dead:
            # Those instead of it say the same, against all who say otherwise.
            instead = {rule.line - 2 for rule in named[number].instead}
            says = trial.allowed[own[0]] if own else None
            few = [
                rule
                for at, rule in enumerate(written)
                if at in instead or (at != number and _says(rule) != _says(written[number]))
            ]
            assert set(world.read(few).allows_many(asked)) <= {says}
    return set(named)


def _says(rule: Rule) -> bool:
    return rule[1] or not rule[0]


def _minimised(
    world: World,
    written: list[Rule],
    rules: RuleSet,
    trial: Trial,
    redundant: set[int],
    engine: ModuleType,
) -> list[Rule]:
    """What `minimise` keeps says the same; nothing of it can go; dead rules are never kept."""
    answer = analysis.minimize(rules)
    assert not answer.undecided
    lines = [rule.line for rule in answer.kept]
    gone = [one.rule.line for one in answer.removed]
    assert lines == sorted(lines)
    assert sorted(lines + gone) == list(range(2, len(written) + 2))
    assert {line - 2 for line in gone} <= redundant or len(gone) > 1
    assert bool(gone) is bool(redundant)
    kept = [written[line - 2] for line in lines]
    fewer = world.read(kept, engine)
    if gone:
        assert fewer.allows_many(world.urls) == trial.allowed
        assert analysis.equivalent(fewer, rules).equal is True
        assert analysis.redundant_rules(fewer).rules == ()
        assert analysis.minimize(fewer).removed == ()
    return kept


def _differing(old: RuleSet, new: RuleSet, answer: Equivalence) -> None:
    """A witness against equivalence is one: both verdicts are as claimed."""
    assert answer.equal is False
    assert answer.witness is not None
    assert answer.old == old.check(answer.witness.url)
    assert answer.new == new.check(answer.witness.url)
    assert answer.old.allowed != answer.new.allowed


# --- Two rule sets --------------------------------------------------------------------------------


def _pair(
    world: World,
    old: list[Rule],
    new: list[Rule],
    engine: ModuleType,
    trials: Sequence[Trial],
    found: Counter[str],
) -> None:
    """Trying all paths finds no change outside the regions, and none where equality is proved."""
    sides = [world.read(rules, engine) for rules in (old, new)]
    changed = [n for n, allowed in enumerate(trials[0].allowed) if allowed != trials[1].allowed[n]]
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
    _differing(sides[0], sides[1], same)
    assert same.witness is not None
    assert back.witness is not None
    assert len(back.witness.path) == len(same.witness.path)
    _shortest(world, sides[0], same.witness, changed)
    assert len(what.regions[0].witness.path) == len(same.witness.path)
    found["regions"] += len(what.regions)
    _regions(world, sides, trials, changed, what.regions)


def _regions(
    world: World,
    sides: Sequence[RuleSet],
    trials: Sequence[Trial],
    changed: Sequence[int],
    regions: Sequence[Region],
) -> None:
    """Every changed path is in a region of its two deciders, and no region has another."""
    left = set(changed)
    deciders = {at: (trials[0].deciders[at], trials[1].deciders[at]) for at in changed}
    told: set[tuple[int | None, int | None, tuple[str, ...]]] = set()
    for region in regions:
        pair = _decider(region.old.line), _decider(region.new.line)
        assert (*pair, region.patterns) not in told
        told.add((*pair, region.patterns))
        url = region.witness.url
        assert (region.old, region.new) == (sides[0].check(url), sides[1].check(url))
        assert region.old.allowed != region.new.allowed
        around = frozenset.intersection(*(world.matched((p, False)) for p in region.patterns))
        own = [at for at in changed if at in around and deciders[at] == pair]
        _shortest(world, sides[0], region.witness, own)
        left.difference_update(own)
        _exceptions(world, sides, trials, region, around)
    assert not left, [world.paths[at] for at in left]


def _decider(line: int | None) -> int | None:
    return None if line is None else line - 2


def _exceptions(
    world: World,
    sides: Sequence[RuleSet],
    trials: Sequence[Trial],
    region: Region,
    around: frozenset[int],
) -> None:
    """Where the patterns of a region match and nothing changes, an exception says so."""
    answer = analysis.exceptions(sides[0], sides[1], region, most=1_000)
    excepted = {at for one in answer for at in world.matched((one.pattern, False))}
    for at in around:
        if trials[0].allowed[at] == trials[1].allowed[at]:
            assert at in excepted, (region, world.paths[at])
    for one in answer:
        assert one.old == sides[0].check(one.witness.url)
        assert one.new == sides[1].check(one.witness.url)
        assert one.old.allowed == one.new.allowed
        for pattern in (*region.patterns, one.pattern):
            alone = world.read([(pattern, False)])
            assert alone.tied_rules(one.witness.url) == (0,), (region, one)


@pytest.mark.parametrize("profile", PROFILES)
def test_as_trying_everything_says(engine: ModuleType, profile: str) -> None:
    """Some hundred rule sets, on each engine."""
    count = QUICK["pure" if engine is pure else "native"]
    found = compared(profile, 0, count, engine)
    assert found["sets"] == count
    # Both sides of each question are asked.
    for name in ("dead", "alive", "redundant", "smaller", "equal", "different", "regions"):
        assert found[name] >= count // 10, found


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
def test_ten_thousand_rule_sets(
    native: ModuleType, profile: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same for 10,000 rule sets under each profile, and no disagreement."""
    found = compared(profile, 1_000_000, FULL, native)
    with capsys.disabled():
        print(f"\n{profile}: {', '.join(f'{n:,} {what}' for what, n in sorted(found.items()))}")
    assert found["sets"] == 10_000
    for name in ("dead", "alive", "redundant", "smaller", "equal", "different", "regions"):
        assert found[name] >= 1_000, found
    assert found["equal, not as written"] >= 300


# --- The same answers everywhere ------------------------------------------------------------------


def everything(profile: str, count: int, engine: ModuleType | None = None) -> list[Any]:
    """Return all answers about some pairs of rule sets as plain values, states included."""
    found: list[Any] = []
    for number in range(count):
        world = world_of(number, profile)
        old, new = (world.read(rules, engine) for rules in drawn(world, f"same {number}"))
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
def test_both_engines_say_the_same(native: ModuleType, profile: str) -> None:
    """Answers, witnesses and the number of states seen are those of the other engine."""
    assert everything(profile, 60, native) == everything(profile, 60, pure)


DIGEST = """
import hashlib, json
from tests.property.test_analysis import PROFILES, everything
text = json.dumps([everything(profile, 12) for profile in PROFILES])
print(hashlib.sha256(text.encode()).hexdigest())
"""


def test_every_process_says_the_same() -> None:
    """Neither the seed of hashes nor the engine moves an answer."""
    said = json.dumps([everything(profile, 12) for profile in PROFILES])
    expected = hashlib.sha256(said.encode()).hexdigest()
    for seed, without in (("1", "0"), ("77", "0"), ("4711", "1")):
        surroundings = os.environ | {
            "PYTHONHASHSEED": seed,
            "ROBOTRULES_NO_EXTENSIONS": without,
            "ROBOTRULES_REQUIRE_EXTENSIONS": "0",
        }
        run = subprocess.run(
            [sys.executable, "-c", DIGEST],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=surroundings,
            check=True,
        )
        assert run.stdout.strip() == expected, (seed, without)
