"""
Exact answers about the rules of one set: who decides what, and who decides nothing.

Every answer is about all URLs there are, and not about samples (`_engine/pure_search.py` says how).
Each question may see *budget* states; a rule that is not decided within them is reported as that.
It does not know files, groups or crawlers: `files` does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from robotrules.analysis.neighbours import Neighbours
from robotrules.analysis.solver import IMPLICIT, MAX_STATES, Side, Solver, Sought, vetted
from robotrules.analysis.values import (
    DeadRuleFinding,
    MinimizedRules,
    RedundantRuleFinding,
    RuleFindings,
    Undecided,
    Witness,
)
from robotrules.errors import WrongWitnessError
from robotrules.profile import Profile
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.robotstxt.values import Rule

# A cover of more rules than this is given as it was found.
MOST_COVERS = 16


def is_empty(
    pattern: str | bytes, profile: str | Profile = "default", *, budget: int = MAX_STATES
) -> bool | Undecided:
    """Tell whether no URL at all matches a path pattern, such as `/a/../b`."""
    found = _seek_all([pattern], profile, budget)
    return found if isinstance(found, Undecided) else found is None


def overlaps(
    a: str | bytes, b: str | bytes, profile: str | Profile = "default", *, budget: int = MAX_STATES
) -> Witness | Undecided | None:
    """Return a shortest URL that both path patterns match; None if there is none."""
    return _seek_all([a, b], profile, budget)


def includes(
    a: str | bytes, b: str | bytes, profile: str | Profile = "default", *, budget: int = MAX_STATES
) -> bool | Undecided:
    """Tell whether every URL that path pattern *b* matches is matched by *a* too."""
    solver = Solver(RuleSet.from_patterns([a, b], profile), budget=budget)
    of_a, of_b = (solver.sides[0].of(rule) for rule in (0, 1))
    if not of_b:
        return True
    found = solver.seek(([at << 1 for at in of_a], True), ([at << 1 | 1 for at in of_b], False))
    return found.path is None if found.decided else Undecided(solver.states)


def _seek_all(
    patterns: Sequence[str | bytes], profile: str | Profile, budget: int
) -> Witness | Undecided | None:
    """Return a shortest URL that all of some patterns match."""
    rules = RuleSet.from_patterns(patterns, profile)
    solver = Solver(rules, budget=budget)
    entries = [solver.sides[0].of(rule) for rule in range(len(rules))]
    if not all(entries):
        return None  # a pattern that cannot be used matches nothing
    found = solver.seek(*(([at << 1 | 1 for at in of], False) for of in entries))
    if not found.decided:
        return Undecided(solver.states)
    if found.path is None:
        return None
    witness = vetted(found.path, [])
    matching = {rule for rule, _ in rules.matches(witness.url)[1]}
    if matching != set(range(len(rules))):
        raise WrongWitnessError(f"{witness} is said to match {patterns}: please report this")
    return witness


def witness(
    rules: RuleSet, rule: Rule | int, *, budget: int = MAX_STATES
) -> Witness | Undecided | None:
    """Return a shortest URL that a rule of the set decides; None: it is dead."""
    solver = Solver(rules, budget=budget)
    (side,) = solver.sides
    number = _number_of(rule, side.written)
    found = solver.seek(side.decided_by(side.of(number)))
    if not found.decided:
        return Undecided(solver.states)
    if found.path is None:
        return None
    entry = side.entries[solver.decider(side, found.path)]
    return vetted(found.path, [(rules, entry.allow, side.written[number])])


def dead_rules(
    rules: RuleSet, *, among: Collection[int] | None = None, budget: int = MAX_STATES
) -> RuleFindings:
    """
    Return the rules that decide no URL, each with the rules that decide in its place.

    *among* names the rules to ask about by their positions; without it they are all.
    """
    solver = Solver(rules, budget=budget)
    (side,) = solver.sides
    beside = Neighbours(solver, side.entries)
    earlier, repeats = _earlier(side), _Repeats(solver, side)
    written = side.written
    dead: list[DeadRuleFinding] = []
    undecided: list[Rule] = []
    for number in _asked(among, written):
        rule, own = written[number], side.of(number)
        if number in earlier:
            needed = repeats.covers(own, earlier[number])
            dead.append(DeadRuleFinding(rule, tuple(written[other] for other in needed)))
            continue
        found = beside.alive(own) if own else Sought(True, None, 0, [[]])
        if not found.decided:
            undecided.append(rule)
        elif found.path is None:
            needed = covers(solver, side, own, found.heard[0])
            dead.append(DeadRuleFinding(rule, tuple(written[other] for other in needed)))
        else:
            vetted(found.path, [(rules, side.entries[own[0]].allow, rule)])
    return RuleFindings(tuple(dead), tuple(undecided), solver.states)


class _Repeats:
    """What decides in the place of rules that repeat others, asked once for each pattern."""

    def __init__(self, solver: Solver, side: Side) -> None:
        self._ground, self._side = solver, side
        self._none: dict[bytes, bool] = {}

    def covers(self, own: list[int], twin: int) -> tuple[int, ...]:
        """Return the rule that is repeated; nothing if no real path matches the pattern anyway."""
        form = self._side.entries[own[0]].form
        if form not in self._none:
            self._none[form] = not covers(self._ground, self._side, own, self._side.of(twin))
        return () if self._none[form] else (twin,)


def _earlier(side: Side) -> dict[int, int]:
    """Return of each rule that one before it in precedence repeats, the number of that one."""
    first: dict[bytes, int] = {}
    found: dict[int, int] = {}
    for entry in side.entries.values():
        before = first.setdefault(entry.form, entry.rule)
        # A rule for an index page has two patterns, and is dead if it decides by neither.
        if before not in (entry.rule, IMPLICIT) and len(side.of(entry.rule)) == 1:
            found[entry.rule] = before
    return found


def redundant_rules(
    rules: RuleSet, *, among: Collection[int] | None = None, budget: int = MAX_STATES
) -> RuleFindings:
    """
    Return the rules each of which could be taken out without changing the verdict on any URL.

    Each alone: of two that say the same both are redundant, and one has to stay. `minimize()` takes
    out as many as can go together. *among* names the rules to ask about by their positions; without
    it they are all.
    """
    solver = Solver(rules, budget=budget)
    (side,) = solver.sides
    beside, earlier = Neighbours(solver, side.entries), _earlier(side)
    repeats = _Repeats(solver, side)
    redundant: list[RedundantRuleFinding] = []
    undecided: list[Rule] = []
    for number in _asked(among, side.written):
        rule, own = side.written[number], side.of(number)
        twin = beside.twin(own) if own else None
        if twin is not None:
            # Any of them could go. The first decides where no other rule does; the others never do.
            dead = number in earlier or _is_dead(beside, own)
            instead = repeats.covers(own, twin) if dead else (twin,)
            redundant.append(RedundantRuleFinding(rule, _named(side, instead), dead))
            continue
        found = _change_without(beside, own)
        if not found.decided:
            undecided.append(rule)
        elif found.path is None:
            redundant.append(_redundant(solver, side, beside, number, found))
    return RuleFindings(tuple(redundant), tuple(undecided), solver.states)


def minimize(rules: RuleSet, *, budget: int = MAX_STATES) -> MinimizedRules:
    """
    Return as few of the rules as were found to give every URL the verdict that all of them give.

    Rules are taken out one after another, the most specific first, until none can go alone. That
    there is no smaller set is not claimed.
    """
    solver = Solver(rules, budget=budget)
    (side,) = solver.sides
    beside, written = Neighbours(solver, side.entries), side.written
    removed: list[RedundantRuleFinding] = []
    # What shows that a rule has to stay; as long as it does, nobody has to ask again.
    shown: dict[int, bytes] = {}
    undecided: set[int] = set()
    order = list(dict.fromkeys(entry.rule for entry in side.entries.values()))
    used = set(order)
    unused = [n for n in range(len(rules)) if n not in used]
    left = dict.fromkeys(unused + [number for number in order if number != IMPLICIT])
    # Of rules that say the very same, all but the first go, and nothing has to be asked.
    for number in reversed(list(left)):
        own = side.of(number)
        if own and (twin := beside.twin(own)) is not None:
            removed.append(RedundantRuleFinding(written[number], _named(side, (twin,)), True))
            del left[number]
            beside.drop(own)
    again = True
    while again:
        again = False
        for number in list(left):
            own = side.of(number)
            if number in shown and beside.still_changes(own, shown[number]):
                continue
            found = _change_without(beside, own)
            if found.path is not None:
                shown[number] = found.path
                undecided.discard(number)  # with fewer rules it was decided
            elif not found.decided:
                undecided.add(number)
            else:
                removed.append(_redundant(solver, side, beside, number, found))
                del left[number]
                beside.drop(own)
                again = True
                undecided.discard(number)
    kept = tuple(written[number] for number in sorted(left))
    return MinimizedRules(
        kept, tuple(removed), tuple(written[n] for n in sorted(undecided)), solver.states
    )


def _change_without(beside: Neighbours, own: list[int]) -> Sought:
    """Seek a path whose verdict would change if a rule were not there."""
    if not own:
        return Sought(True, None, 0, [[], []])
    return beside.change_without(own, shortest=False)


def _redundant(
    solver: Solver, side: Side, beside: Neighbours, number: int, found: Sought
) -> RedundantRuleFinding:
    written = side.written
    own = side.of(number)
    alive = beside.alive(own) if own else found
    if alive.decided and alive.path is None:
        needed = covers(solver, side, own, alive.heard[0]) if own else ()
        return RedundantRuleFinding(
            written[number], tuple(written[other] for other in needed), True
        )
    instead = dict.fromkeys(side.entries[at].rule for at in found.heard[1])
    instead.pop(IMPLICIT, None)
    return RedundantRuleFinding(
        written[number], tuple(written[other] for other in sorted(instead)), False
    )


def _named(side: Side, numbers: Iterable[int]) -> tuple[Rule, ...]:
    """Return rules by their numbers; the one that allows `/robots.txt` is written nowhere."""
    return tuple(side.written[number] for number in numbers if number != IMPLICIT)


def _is_dead(beside: Neighbours, own: list[int]) -> bool:
    """Tell whether some entries are proved to decide no URL."""
    alive = beside.alive(own)
    return alive.decided and alive.path is None


def covers(solver: Solver, side: Side, own: list[int], heard: list[int]) -> tuple[int, ...]:
    """Return rules enough to match all that some entries match, none of them to spare."""
    needed = list(dict.fromkeys(side.entries[at].rule for at in heard))
    for rule in list(needed) if len(needed) <= MOST_COVERS else ():
        rest = [other for other in needed if other != rule]
        clauses = [at << 1 for other in rest for at in side.of(other)] + [at << 1 | 1 for at in own]
        found = solver.seek((sorted(clauses), False))
        if found.decided and found.path is None:
            needed = rest
    return tuple(sorted(rule for rule in needed if rule != IMPLICIT))


def _asked(among: Collection[int] | None, written: tuple[Rule, ...]) -> Iterable[int]:
    """Return the positions that a question is about, in the order of the file."""
    if among is None:
        return range(len(written))
    return sorted({_number_of(number, written) for number in among})


def _number_of(rule: Rule | int, written: tuple[Rule, ...]) -> int:
    """Return the position of a rule in its set."""
    if isinstance(rule, Rule) and rule in written:
        return written.index(rule)
    if isinstance(rule, int) and 0 <= rule < len(written):
        return rule
    raise ValueError(
        f"{rule!r} is not of these {len(written)} rules: pass one of rules.rules, or its position"
    )
