"""
Exact answers about the rules of one set: what each rule decides, and which rules decide nothing.

Every answer holds for all URLs; nothing is sampled (see `_engine/pure_search.py`). Each query may
use *max_states* states; a rule that is not decided within them is reported as undecided. The module
does not use files, groups or crawlers: `files` does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from robotrules.analysis.redundancy import RedundancyChecker
from robotrules.analysis.solver import (
    IMPLICIT,
    MAX_STATES,
    SearchResult,
    Side,
    Solver,
    to_witness,
    verify_witness,
)
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

# A cover of more rules than this is not minimised.
MAX_COVERS = 16


def is_empty(
    pattern: str | bytes, profile: str | Profile = "default", *, max_states: int = MAX_STATES
) -> bool | Undecided:
    """Return whether no URL matches a path pattern, such as `/a/../b`."""
    found = _find_common_witness([pattern], profile, max_states)
    return found if isinstance(found, Undecided) else found is None


def overlaps(
    a: str | bytes,
    b: str | bytes,
    profile: str | Profile = "default",
    *,
    max_states: int = MAX_STATES,
) -> Witness | Undecided | None:
    """Return a shortest URL that both path patterns match; None if there is none."""
    return _find_common_witness([a, b], profile, max_states)


def includes(
    a: str | bytes,
    b: str | bytes,
    profile: str | Profile = "default",
    *,
    max_states: int = MAX_STATES,
) -> bool | Undecided:
    """Return whether path pattern *a* matches every URL that *b* matches."""
    solver = Solver(RuleSet.from_patterns([a, b], profile), max_states=max_states)
    of_a, of_b = (solver.sides[0].entries_of(rule) for rule in (0, 1))
    if not of_b:
        return True
    accept_b = [at << 1 | 1 for at in of_b], False
    found = solver.find_witness(([at << 1 for at in of_a], True), accept_b)
    return found.path is None if found.decided else Undecided(solver.states)


def _find_common_witness(
    patterns: Sequence[str | bytes], profile: str | Profile, max_states: int
) -> Witness | Undecided | None:
    """Return a shortest URL that all of the patterns match."""
    rules = RuleSet.from_patterns(patterns, profile)
    solver = Solver(rules, max_states=max_states)
    entries = [solver.sides[0].entries_of(rule) for rule in range(len(rules))]
    if not all(entries):
        return None  # an unusable pattern matches nothing
    found = solver.find_witness(*(([at << 1 | 1 for at in of], False) for of in entries))
    if not found.decided:
        return Undecided(solver.states)
    if found.path is None:
        return None
    witness = to_witness(found.path)
    matching = {rule for rule, _ in rules.matches(witness.url)[1]}
    if matching != set(range(len(rules))):
        raise WrongWitnessError(f"{witness} does not match all of {patterns}: please report this")
    return witness


def witness(
    rules: RuleSet, rule: Rule | int, *, max_states: int = MAX_STATES
) -> Witness | Undecided | None:
    """Return a shortest URL that a rule of the set decides; None: it is dead."""
    solver = Solver(rules, max_states=max_states)
    (side,) = solver.sides
    number = _number_of(rule, side.written)
    found = solver.find_witness(side.decided_by(side.entries_of(number)))
    if not found.decided:
        return Undecided(solver.states)
    if found.path is None:
        return None
    entry = side.entries[solver.find_decider(side, found.path)]
    return verify_witness(found.path, [(rules, entry.allow, side.written[number])])


def dead_rules(
    rules: RuleSet, *, among: Collection[int] | None = None, max_states: int = MAX_STATES
) -> RuleFindings:
    """
    Return the rules that decide no URL, each with the rules that decide in its place.

    *among* selects the rules to check by their positions; by default, all.
    """
    solver = Solver(rules, max_states=max_states)
    (side,) = solver.sides
    checker = RedundancyChecker(solver, side.entries)
    repeated, repeats = _find_repeats(side), _RepeatCovers(solver, side)
    written = side.written
    dead: list[DeadRuleFinding] = []
    undecided: list[Rule] = []
    for number in _selected_positions(among, written):
        rule, own = written[number], side.entries_of(number)
        if number in repeated:
            needed = repeats.covers(own, repeated[number])
            dead.append(DeadRuleFinding(rule, tuple(written[other] for other in needed)))
            continue
        found = checker.find_decided_path(own) if own else SearchResult(True, None, 0, [[]])
        if not found.decided:
            undecided.append(rule)
        elif found.path is None:
            needed = find_covers(solver, side, own, found.rejecting[0])
            dead.append(DeadRuleFinding(rule, tuple(written[other] for other in needed)))
        else:
            verify_witness(found.path, [(rules, side.entries[own[0]].allow, rule)])
    return RuleFindings(tuple(dead), tuple(undecided), solver.states)


class _RepeatCovers:
    """The covers of rules that repeat another rule, computed once for each pattern."""

    def __init__(self, solver: Solver, side: Side) -> None:
        self._solver, self._side = solver, side
        self._matches_nothing: dict[bytes, bool] = {}

    def covers(self, own: list[int], repeated: int) -> tuple[int, ...]:
        """Return the repeated rule; nothing if no path matches the pattern."""
        form = self._side.entries[own[0]].form
        if form not in self._matches_nothing:
            entries = self._side.entries_of(repeated)
            self._matches_nothing[form] = not find_covers(self._solver, self._side, own, entries)
        return () if self._matches_nothing[form] else (repeated,)


def _find_repeats(side: Side) -> dict[int, int]:
    """Return, for each rule that repeats one of higher precedence, the number of that one."""
    first: dict[bytes, int] = {}
    found: dict[int, int] = {}
    for entry in side.entries.values():
        before = first.setdefault(entry.form, entry.rule)
        # A rule for an index page has two patterns, and is dead if neither decides.
        if before not in (entry.rule, IMPLICIT) and len(side.entries_of(entry.rule)) == 1:
            found[entry.rule] = before
    return found


def redundant_rules(
    rules: RuleSet, *, among: Collection[int] | None = None, max_states: int = MAX_STATES
) -> RuleFindings:
    """
    Return the rules that can be removed without changing the verdict on any URL.

    Each rule is checked alone: of two equal rules both are redundant, and one has to stay.
    `minimize()` removes as many as possible together. *among* selects the rules to check by their
    positions; by default, all.
    """
    solver = Solver(rules, max_states=max_states)
    (side,) = solver.sides
    checker, repeated = RedundancyChecker(solver, side.entries), _find_repeats(side)
    repeats = _RepeatCovers(solver, side)
    redundant: list[RedundantRuleFinding] = []
    undecided: list[Rule] = []
    for number in _selected_positions(among, side.written):
        rule, own = side.written[number], side.entries_of(number)
        duplicate = checker.find_duplicate(own) if own else None
        if duplicate is not None:
            # Any of them can be removed. Only the first one may decide a URL.
            dead = number in repeated or _is_dead(checker, own)
            instead = repeats.covers(own, duplicate) if dead else (duplicate,)
            redundant.append(RedundantRuleFinding(rule, _rules_at(side, instead), dead))
            continue
        found = _find_changed_path(checker, own)
        if not found.decided:
            undecided.append(rule)
        elif found.path is None:
            redundant.append(_redundant(solver, side, checker, number, found))
    return RuleFindings(tuple(redundant), tuple(undecided), solver.states)


def minimize(rules: RuleSet, *, max_states: int = MAX_STATES) -> MinimizedRules:
    """
    Return a small subset of the rules that gives every URL the same verdict.

    Rules are removed one at a time, the most specific first, until none can be removed alone. The
    result is not claimed to be the smallest.
    """
    solver = Solver(rules, max_states=max_states)
    (side,) = solver.sides
    checker, written = RedundancyChecker(solver, side.entries), side.written
    removed: list[RedundantRuleFinding] = []
    # For each rule a path whose verdict changes without it: while that holds, no query is needed.
    needed_for: dict[int, bytes] = {}
    undecided: set[int] = set()
    order = list(dict.fromkeys(entry.rule for entry in side.entries.values()))
    used = set(order)
    unused = [n for n in range(len(rules)) if n not in used]
    left = dict.fromkeys(unused + [number for number in order if number != IMPLICIT])
    # Of duplicates, all but the first are removed without a query.
    for number in reversed(list(left)):
        own = side.entries_of(number)
        if own and (duplicate := checker.find_duplicate(own)) is not None:
            instead = _rules_at(side, (duplicate,))
            removed.append(RedundantRuleFinding(written[number], instead, True))
            del left[number]
            checker.drop(own)
    again = True
    while again:
        again = False
        for number in list(left):
            own = side.entries_of(number)
            if number in needed_for and checker.still_changes(own, needed_for[number]):
                continue
            found = _find_changed_path(checker, own)
            if found.path is not None:
                needed_for[number] = found.path
                undecided.discard(number)  # decidable with fewer rules
            elif not found.decided:
                undecided.add(number)
            else:
                removed.append(_redundant(solver, side, checker, number, found))
                del left[number]
                checker.drop(own)
                again = True
                undecided.discard(number)
    kept = tuple(written[number] for number in sorted(left))
    return MinimizedRules(
        kept, tuple(removed), tuple(written[n] for n in sorted(undecided)), solver.states
    )


def _find_changed_path(checker: RedundancyChecker, own: list[int]) -> SearchResult:
    """Search for a path whose verdict would change without a rule."""
    if not own:
        return SearchResult(True, None, 0, [[], []])
    return checker.find_changed_path(own, shortest=False)


def _redundant(
    solver: Solver, side: Side, checker: RedundancyChecker, number: int, found: SearchResult
) -> RedundantRuleFinding:
    written = side.written
    own = side.entries_of(number)
    decided_path = checker.find_decided_path(own) if own else found
    if decided_path.decided and decided_path.path is None:
        needed = find_covers(solver, side, own, decided_path.rejecting[0]) if own else ()
        return RedundantRuleFinding(
            written[number], tuple(written[other] for other in needed), True
        )
    instead = dict.fromkeys(side.entries[at].rule for at in found.rejecting[1])
    instead.pop(IMPLICIT, None)
    return RedundantRuleFinding(
        written[number], tuple(written[other] for other in sorted(instead)), False
    )


def _rules_at(side: Side, numbers: Iterable[int]) -> tuple[Rule, ...]:
    """Return rules by their numbers, without the implicit rule that allows `/robots.txt`."""
    return tuple(side.written[number] for number in numbers if number != IMPLICIT)


def _is_dead(checker: RedundancyChecker, own: list[int]) -> bool:
    """Return whether it is proved that the entries decide no URL."""
    found = checker.find_decided_path(own)
    return found.decided and found.path is None


def find_covers(
    solver: Solver, side: Side, own: list[int], rejecting: list[int]
) -> tuple[int, ...]:
    """Return a minimal set of rules that together match all that some entries match."""
    needed = list(dict.fromkeys(side.entries[at].rule for at in rejecting))
    for rule in list(needed) if len(needed) <= MAX_COVERS else ():
        rest = [other for other in needed if other != rule]
        clauses = [at << 1 for other in rest for at in side.entries_of(other)]
        clauses += [at << 1 | 1 for at in own]
        found = solver.find_witness((sorted(clauses), False))
        if found.decided and found.path is None:
            needed = rest
    return tuple(sorted(rule for rule in needed if rule != IMPLICIT))


def _selected_positions(among: Collection[int] | None, written: tuple[Rule, ...]) -> Iterable[int]:
    """Return the positions of the selected rules, in the order of the file."""
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
        f"{rule!r} is not one of these {len(written)} rules: pass one of rules.rules, or its "
        "position"
    )
