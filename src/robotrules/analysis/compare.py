"""
Comparison of two rule sets: proved equal, or every region of URLs on which they differ.

If the verdicts on a URL differ, the deciding rules differ, and one of the two is in one set only: a
rule that is in both sets has the same precedence in both. So only added and removed rules are
queried, each for the URLs it decides. The module does not use files or crawlers: `files` does.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from robotrules.analysis.solver import (
    IMPLICIT,
    MAX_STATES,
    NO_ENTRY,
    DecisionList,
    Side,
    Solver,
    check_sets,
    literal_prefix,
    to_witness,
    verify_witness,
)
from robotrules.analysis.values import Difference, Equivalence, Region, UnchangedRegion, Witness
from robotrules.errors import WrongWitnessError
from robotrules.robotstxt.internals import get_written_patterns
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.robotstxt.values import Rule

# The default number of regions; two unrelated files have about as many as they have rules.
MAX_REGIONS = 3_000


def equivalent(old: RuleSet, new: RuleSet, *, max_states: int = MAX_STATES) -> Equivalence:
    """Return whether two rule sets give every URL the same verdict, else a shortest URL."""
    check_sets([old, new], max_states)
    if have_same_rules(old, new):
        return Equivalence(True, None, None, None, 0)
    solver = Solver(old, new, max_states=max_states)
    best: bytes | None = None
    decided = True
    for direction in _directions(solver):
        # Short patterns first: their witnesses are short, and bound the searches that follow.
        for at in reversed(direction.only):
            lists = direction.differing(at)
            if best:
                found = solver.find_shorter_witness(len(best), *lists)
            else:
                found = solver.find_witness(*lists)
            decided = decided and found.decided
            best = found.path or best
    if best is None:
        return Equivalence(True if decided else None, None, None, None, solver.states)
    witness = _verify_difference(solver, best)
    return Equivalence(
        False, witness, old.check(witness.url), new.check(witness.url), solver.states
    )


def difference(
    old: RuleSet, new: RuleSet, *, max_regions: int = MAX_REGIONS, max_states: int = MAX_STATES
) -> Difference:
    """Return all URLs on which two rule sets differ, as regions; shortest witness first."""
    check_sets([old, new], max_states)
    if have_same_rules(old, new):
        return Difference((), True, 0)
    solver = Solver(old, new, max_states=max_states)
    regions: list[Region] = []
    complete = True
    for direction in _directions(solver):
        for at in direction.only:
            excluded: set[int] = set()
            if solver.is_exhausted:
                complete = False
                break
            while len(regions) < max_regions:
                found = solver.find_any_witness(*direction.differing(at, excluded))
                complete = complete and found.decided
                if found.path is None:
                    break
                opposing = solver.find_decider(direction.other, found.path)
                excluded.add(opposing)
                # Any path identifies the region cheaply; a shortest one is searched in it alone.
                shortest = solver.find_witness(*direction.decided_by_pair(at, opposing))
                complete = complete and shortest.decided
                path = shortest.path or found.path
                regions.append(_region(solver, path, direction, at, opposing))
            else:
                complete = False
    regions.sort(key=lambda region: _order(region.witness.path.encode("utf-8", "surrogateescape")))
    return Difference(tuple(regions), complete, solver.states)


def have_same_rules(old: RuleSet, new: RuleSet) -> bool:
    """Return whether two rule sets have the same set of patterns, in any order."""
    return set(get_written_patterns(old)) == set(get_written_patterns(new))


def exceptions(
    old: RuleSet, new: RuleSet, region: Region, *, limit: int = 5, max_states: int = MAX_STATES
) -> tuple[UnchangedRegion, ...]:
    """
    Return parts of a region's patterns where the verdict does not change.

    At most *limit* of them, those with the shortest URLs first. Parts where the verdict changes by
    other rules belong to other regions.
    """
    return ExceptionFinder(old, new, max_states=max_states).find(region, limit=limit)


class ExceptionFinder:
    """Finds the exceptions in many regions of two rule sets, which are compiled once."""

    def __init__(self, old: RuleSet, new: RuleSet, *, max_states: int = MAX_STATES) -> None:
        """*max_states* limits the states of each query, and of all for one region by a factor."""
        self._sets = old, new
        self._solver = Solver(old, new, max_states=max_states)

    def find(self, region: Region, *, limit: int = 5) -> tuple[UnchangedRegion, ...]:
        """Return the exceptions in a region, as `exceptions()` does."""
        solver = self._solver
        solver.restart()
        within = [_matching(solver, pattern) for pattern in region.patterns]
        own_rules = (region.old.rule, region.new.rule)
        found: dict[str, UnchangedRegion] = {}
        for allow in (True, False):
            excluded: list[set[int]] = [set(), set()]
            while len(found) < limit:
                same = [
                    side.with_verdict(allow, but)
                    for side, but in zip(solver.sides, excluded, strict=True)
                ]
                result = solver.find_witness(*within, *same)
                if result.path is None:
                    break
                # The exception is a rule other than the region's own; of two, the longer pattern.
                deciders = [solver.find_decider(side, result.path) for side in solver.sides]
                others = [
                    (len(side.entries[at].form), number)
                    for number, (side, at) in enumerate(zip(solver.sides, deciders, strict=True))
                    if at != NO_ENTRY and side.rule(at) != own_rules[number]
                ]
                if not others:
                    break
                number = max(others)[1]
                side, at = solver.sides[number], deciders[number]
                excluded[number].add(at)
                if side.rule(at) is not None:
                    witness = to_witness(result.path)
                    verdicts = [rules.check(witness.url) for rules in self._sets]
                    found.setdefault(
                        _pattern(side, at), UnchangedRegion(_pattern(side, at), witness, *verdicts)
                    )
        return tuple(sorted(found.values(), key=lambda part: _order(part.witness.path.encode())))


def _matching(solver: Solver, pattern: str) -> DecisionList:
    """Return a decision list that accepts what a pattern of a region matches."""
    for side in solver.sides:
        for at in side.entries:
            if _pattern(side, at) == pattern:
                return [at << 1 | 1], False
    raise ValueError(f"{pattern!r} is not a pattern of these rules: pass the rules of the region")


def _order(path: bytes) -> tuple[int, bytes]:
    return len(path), path


class _Direction:
    """The rules of one side that the other side does not have, with decision lists about them."""

    # Two files without a common rule need a query for each rule. So a decision list contains only
    # rules that may match where the queried rule does.

    def __init__(self, solver: Solver, mine: Side, other: Side, before: Sequence[int] = ()) -> None:
        """*before* lists entries of the other side whose regions are known already."""
        self.mine, self.other = mine, other
        self.only = _only_in(mine, other)
        """The entries that the other side does not have."""
        self._solver, self._before = solver, frozenset(before)
        self._indexes = mine.index, other.index
        # Entries with the same language, however they are written: for each entry of the other
        # side the first such entry here, and for each entry of this side the first one there.
        here = {language: at for at, language in reversed(mine.languages.items())}
        there = {language: at for at, language in reversed(other.languages.items())}
        unknown = max(mine.entries, default=0) + 1
        self._same_here = {
            at: here.get(language, unknown) for at, language in other.languages.items()
        }
        self._duplicates = {at: there.get(language) for at, language in mine.languages.items()}

    def differing(self, at: int, excluded: Collection[int] = ()) -> list[DecisionList]:
        """Return lists that accept what an entry decides and the other side decides otherwise."""
        opposite, duplicate = not self.mine.entries[at].allow, self._duplicates[at]
        clauses = []
        for number in self._others(at):
            # An entry with the same language always matches here: no entry after it decides.
            if duplicate is not None and number > duplicate:
                break
            # An entry with the language of an entry of higher precedence never matches here.
            if self._same_here[number] >= at:
                accepts = self.other.entries[number].allow == opposite
                known = number in self._before or number in excluded
                clauses.append(number << 1 | (accepts and not known))
        return [self._decided_by(at), (clauses, opposite and NO_ENTRY not in excluded)]

    def decided_by_pair(self, at: int, opposing: int) -> list[DecisionList]:
        """Return lists that accept what one entry decides here and another one there."""
        others = self._others(at)
        if opposing == NO_ENTRY:
            return [self._decided_by(at), ([number << 1 for number in others], True)]
        clauses = [number << 1 for number in others if number < opposing]
        return [self._decided_by(at), ([*clauses, opposing << 1 | 1], False)]

    def _decided_by(self, at: int) -> DecisionList:
        overlapping = self._overlapping(0, at)
        return [*(number << 1 for number in overlapping if number < at), at << 1 | 1], False

    def _others(self, at: int) -> list[int]:
        return self._overlapping(1, at)

    def _overlapping(self, side: int, at: int) -> list[int]:
        """Return the entries of a side that may match where an entry does."""
        if self._solver.is_exhausted:
            return []  # no query runs any more
        found = self._indexes[side].find_overlapping(literal_prefix(self.mine.entries[at]))
        self._solver.count_rules(len(found))
        return found


def _directions(solver: Solver) -> tuple[_Direction, _Direction]:
    old, new = solver.sides
    first = _Direction(solver, old, new)
    # The first direction finds the pairs of rules of which neither is in the other set.
    return first, _Direction(solver, new, old, first.only)


def _only_in(mine: Side, other: Side) -> list[int]:
    """Return the entries of one side that the other does not have."""
    known = {(entry.form, entry.allow) for entry in other.entries.values()}
    found: dict[tuple[bytes, bool], int] = {}
    for at, entry in mine.entries.items():
        if (entry.form, entry.allow) not in known:
            found.setdefault((entry.form, entry.allow), at)  # a repeated entry decides nothing
    return list(found.values())


def _region(solver: Solver, path: bytes, direction: _Direction, at: int, opposing: int) -> Region:
    mine, other = direction.mine, direction.other
    witness = _verify_difference(solver, path)
    sides = [side.rules.check(witness.url) for side in solver.sides]
    patterns = [_pattern(mine, at)]
    if opposing != NO_ENTRY and other.entries[opposing].rule != IMPLICIT:
        patterns.append(_pattern(other, opposing))
        # If one pattern includes the other, the narrower one describes the region.
        if _includes(solver, at, opposing):
            patterns.pop()
        elif _includes(solver, opposing, at):
            patterns.pop(0)
    return Region(tuple(dict.fromkeys(patterns)), witness, *sides)


def _pattern(side: Side, at: int) -> str:
    return side.entries[at].form.decode("utf-8", "backslashreplace")


def _includes(solver: Solver, inner: int, outer: int) -> bool:
    """Return whether it is proved that the outer entry matches all that the inner one does."""
    found = solver.find_any_witness(([inner << 1 | 1], False), ([outer << 1], True))
    return found.decided and found.path is None


def _verify_difference(solver: Solver, path: bytes) -> Witness:
    """Return a path as a witness, after the matcher confirmed the verdicts of both sides."""
    claims: list[tuple[RuleSet, bool, Rule | None]] = []
    for side in solver.sides:
        at = solver.find_decider(side, path)
        if at == NO_ENTRY:
            claims.append((side.rules, True, None))
        else:
            claims.append((side.rules, side.entries[at].allow, side.rule(at)))
    if claims[0][1] == claims[1][1]:
        raise WrongWitnessError(f"{path!r} does not get different verdicts: please report this")
    return verify_witness(path, claims)
