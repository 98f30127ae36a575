"""
Two rule sets compared: proved the same, or every region of URLs on which they differ.

Where verdicts differ, the deciding rules do, and one of the two is in one set only: a rule that
both sets have is as specific in both, and would beat in one what it beats in the other. So only
rules that were added or taken out are asked about, each for the URLs it decides. It does not know
files or crawlers: `files` does.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from robotrules.analysis.solver import (
    IMPLICIT,
    MAX_STATES,
    NOBODY,
    DecisionList,
    Side,
    Solver,
    first_of,
    vet_sets,
    vetted,
)
from robotrules.analysis.values import Difference, Equivalence, Region, UnchangedRegion, Witness
from robotrules.errors import WrongWitnessError
from robotrules.robotstxt.internals import get_written_patterns
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.robotstxt.values import Rule

# Regions that are told apart; a file that changes altogether has as many as it has rules.
MOST_REGIONS = 3_000


def equivalent(old: RuleSet, new: RuleSet, *, budget: int = MAX_STATES) -> Equivalence:
    """Tell whether two rule sets give every URL the same verdict, or a shortest URL where not."""
    vet_sets([old, new], budget)
    if says_the_same(old, new):
        return Equivalence(True, None, None, None, 0)
    solver = Solver(old, new, budget=budget)
    best: bytes | None = None
    decided = True
    for direction in _directions(solver):
        # Short patterns first: what they find is short, and nothing longer is sought after it.
        for at in reversed(direction.only):
            asked = direction.ask(at)
            found = solver.seek_shorter(len(best), *asked) if best else solver.seek(*asked)
            decided = decided and found.decided
            best = found.path or best
    if best is None:
        return Equivalence(True if decided else None, None, None, None, solver.states)
    witness = _vetted(solver, best)
    return Equivalence(
        False, witness, old.check(witness.url), new.check(witness.url), solver.states
    )


def difference(
    old: RuleSet, new: RuleSet, *, most: int = MOST_REGIONS, budget: int = MAX_STATES
) -> Difference:
    """Return all URLs on which two rule sets differ, in regions; the shortest witness first."""
    vet_sets([old, new], budget)
    if says_the_same(old, new):
        return Difference((), True, 0)
    solver = Solver(old, new, budget=budget)
    regions: list[Region] = []
    complete = True
    for direction in _directions(solver):
        for at in direction.only:
            passed: set[int] = set()
            if solver.is_spent:
                complete = False
                break
            while len(regions) < most:
                found = solver.seek_any(*direction.ask(at, passed))
                complete = complete and found.decided
                if found.path is None:
                    break
                against = solver.decider(direction.other, found.path)
                passed.add(against)
                # Which region there is costs little; a shortest URL is sought in it alone.
                shown = solver.seek(*direction.between(at, against))
                complete = complete and shown.decided
                path = shown.path or found.path
                regions.append(_region(solver, path, direction, at, against))
            else:
                complete = False
    regions.sort(key=lambda region: _order(region.witness.path.encode("utf-8", "surrogateescape")))
    return Difference(tuple(regions), complete, solver.states)


def says_the_same(old: RuleSet, new: RuleSet) -> bool:
    """Tell whether two rule sets have the same patterns, whatever their order and their number."""
    return set(get_written_patterns(old)) == set(get_written_patterns(new))


def exceptions(
    old: RuleSet, new: RuleSet, region: Region, *, most: int = 5, budget: int = MAX_STATES
) -> tuple[UnchangedRegion, ...]:
    """
    Return parts of a region's patterns in which nothing changes: the region is without them.

    At most *most*, those with the shortest URLs first. What changes in another way there, another
    region says.
    """
    solver = Solver(old, new, budget=budget)
    around = [_matching(solver, pattern) for pattern in region.patterns]
    own = (region.old.rule, region.new.rule)
    found: dict[str, UnchangedRegion] = {}
    for allow in (True, False):
        passed: list[set[int]] = [set(), set()]
        while len(found) < most:
            same = [side.saying(allow, but) for side, but in zip(solver.sides, passed, strict=True)]
            sought = solver.seek(*around, *same)
            if sought.path is None:
                break
            # What is not the region's own rule makes the exception; of two the longer.
            deciders = [solver.decider(side, sought.path) for side in solver.sides]
            others = [
                (len(side.entries[at].form), number)
                for number, (side, at) in enumerate(zip(solver.sides, deciders, strict=True))
                if at != NOBODY and side.rule(at) != own[number]
            ]
            if not others:
                break
            number = max(others)[1]
            side, at = solver.sides[number], deciders[number]
            passed[number].add(at)
            if side.rule(at) is not None:
                witness = vetted(sought.path, [])
                verdicts = [one.check(witness.url) for one in (old, new)]
                found.setdefault(
                    _pattern(side, at), UnchangedRegion(_pattern(side, at), witness, *verdicts)
                )
    return tuple(sorted(found.values(), key=lambda one: _order(one.witness.path.encode())))


def _matching(solver: Solver, pattern: str) -> DecisionList:
    """Ask for what a pattern of a region matches."""
    for side in solver.sides:
        for at in side.entries:
            if _pattern(side, at) == pattern:
                return [at << 1 | 1], False
    raise ValueError(f"{pattern!r} is no pattern of these rules: pass the rules of the region")


def _order(path: bytes) -> tuple[int, bytes]:
    return len(path), path


class _Direction:
    """One side's own rules, as the other side sees them."""

    # A file that changes altogether asks for each of its rules, so a decision list has the rules
    # that may match where the rule in question does, and no others.

    def __init__(self, solver: Solver, mine: Side, other: Side, before: Sequence[int] = ()) -> None:
        """*before* are entries of the other side whose regions are known already."""
        self.mine, self.other = mine, other
        self.only = _only_in(mine, other)
        """The entries that the other side does not have."""
        self._ground, self._before = solver, frozenset(before)
        self._near = mine.index, other.index
        # Entries that match the same URLs, however they are written. The first of them here, for
        # each of the other side; and the first of them there, for each of this side.
        here = {language: at for at, language in reversed(mine.languages.items())}
        there = {language: at for at, language in reversed(other.languages.items())}
        unknown = max(mine.entries, default=0) + 1
        self._same_here = {
            at: here.get(language, unknown) for at, language in other.languages.items()
        }
        self._twins = {at: there.get(language) for at, language in mine.languages.items()}

    def ask(self, at: int, passed: Collection[int] = ()) -> list[DecisionList]:
        """Ask for what an entry decides, and the other side says the opposite of."""
        said, twin = not self.mine.entries[at].allow, self._twins[at]
        found = []
        for number in self._others(at):
            # What matches the same as the entry does always match there: nothing beneath it counts.
            if twin is not None and number > twin:
                break
            # What matches the same as something above the entry does not match there.
            if self._same_here[number] >= at:
                says = self.other.entries[number].allow == said
                known = number in self._before or number in passed
                found.append(number << 1 | (says and not known))
        return [self._decided_by(at), (found, said and NOBODY not in passed)]

    def between(self, at: int, against: int) -> list[DecisionList]:
        """Ask for what an entry decides here and another one there."""
        others = self._others(at)
        if against == NOBODY:
            return [self._decided_by(at), ([number << 1 for number in others], True)]
        clauses = [number << 1 for number in others if number < against]
        return [self._decided_by(at), ([*clauses, against << 1 | 1], False)]

    def _decided_by(self, at: int) -> DecisionList:
        near = self._close(0, at)
        return [*(number << 1 for number in near if number < at), at << 1 | 1], False

    def _others(self, at: int) -> list[int]:
        return self._close(1, at)

    def _close(self, side: int, at: int) -> list[int]:
        """Return the entries of a side that may match where an entry does."""
        if self._ground.is_spent:
            return []  # nothing is asked any more
        found = self._near[side].near(first_of(self.mine.entries[at]))
        self._ground.spend(len(found))
        return found


def _directions(solver: Solver) -> tuple[_Direction, _Direction]:
    old, new = solver.sides
    first = _Direction(solver, old, new)
    # Pairs of rules neither of which the other side has are found in the first direction.
    return first, _Direction(solver, new, old, first.only)


def _only_in(mine: Side, other: Side) -> list[int]:
    """Return the entries of one side that the other does not have."""
    known = {(entry.form, entry.allow) for entry in other.entries.values()}
    found: dict[tuple[bytes, bool], int] = {}
    for at, entry in mine.entries.items():
        if (entry.form, entry.allow) not in known:
            found.setdefault((entry.form, entry.allow), at)  # a second one decides nothing
    return list(found.values())


def _region(solver: Solver, path: bytes, direction: _Direction, at: int, against: int) -> Region:
    mine, other = direction.mine, direction.other
    witness = _vetted(solver, path)
    sides = [side.rules.check(witness.url) for side in solver.sides]
    patterns = [_pattern(mine, at)]
    if against != NOBODY and other.entries[against].rule != IMPLICIT:
        patterns.append(_pattern(other, against))
        # Of two patterns one of which includes the other, the narrower says it all.
        if _includes(solver, at, against):
            patterns.pop()
        elif _includes(solver, against, at):
            patterns.pop(0)
    return Region(tuple(dict.fromkeys(patterns)), witness, *sides)


def _pattern(side: Side, at: int) -> str:
    return side.entries[at].form.decode("utf-8", "backslashreplace")


def _includes(solver: Solver, inner: int, outer: int) -> bool:
    """Tell whether it is proved that all that one entry matches the other does."""
    found = solver.seek_any(([inner << 1 | 1], False), ([outer << 1], True))
    return found.decided and found.path is None


def _vetted(solver: Solver, path: bytes) -> Witness:
    """Return a path as a witness after the matcher agreed with the automata on both sides."""
    claims: list[tuple[RuleSet, bool, Rule | None]] = []
    for side in solver.sides:
        at = solver.decider(side, path)
        if at == NOBODY:
            claims.append((side.rules, True, None))
        else:
            claims.append((side.rules, side.entries[at].allow, side.rule(at)))
    if claims[0][1] == claims[1][1]:
        raise WrongWitnessError(f"{path!r} was said to tell two rule sets apart, and does not")
    return vetted(path, claims)
