"""
The search for a witness: a shortest path that several decision lists accept, or the proof of none.

A decision list has clauses in order of precedence, each with a pattern that accepts or rejects; the
first clause that matches a path decides, else the default. A witness is a path that all given
decision lists accept. Verdicts, deciding rules and differences of verdicts are all expressed by
decision lists.

The search is a counterexample-guided refinement. A rejecting clause is ignored until it rejects a
path that was found; then the search runs again with the clause. The relaxed decision lists accept
at least what the given ones do, so that a path that all given lists accept is a shortest one, and
if the relaxed search finds nothing there is nothing.

A decision list that can accept in many ways is split into branches, one for each accepting clause
and one for the default: the clause matches, and no rejecting clause above it does. Together they
would have as many states as there are sets of clauses. For a shortest path the branches are starts
of the same product search. If any path is permitted they are searched in order of precedence, until
one has a path, or the rejecting clauses above leave none.

It corresponds to `languages.rs` and `search.rs` of the native engine. It does not use verdicts or
files, and does not expand states: `pure_product_search.py` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from robotrules._engine.pure_path_dfa import PathDfa
from robotrules._engine.pure_pattern_dfa import PatternDfa
from robotrules._engine.pure_product_search import NO_LIMIT, DecisionList, ProductSearch
from robotrules._engine.pure_rules import Patterns, has_units, to_compared, to_readable
from robotrules._engine.pure_settings import Settings

WitnessResult = tuple[bool, bytes | None, int, list[list[int]]]


class Languages:
    """Compiled patterns, in order of precedence."""

    def __init__(self, settings: Settings, patterns: Sequence[tuple[bytes, bool]]) -> None:
        # /robots.txt is always allowed (AMB-45): the same as a rule above all others.
        rules = Patterns(patterns, settings)
        found = list(rules.entries())
        self._entries = [(rule, pattern.form, outcome) for pattern, rule, outcome in found]
        self._dfas = [PatternDfa(pattern) for pattern, _, _ in found]
        self._path_dfa = PathDfa(rules.as_given, has_units(settings))
        self._settings = settings

    def entries(self) -> list[tuple[int, bytes, int]]:
        """
        Return number of the rule, normal form of the pattern, and outcome of the rule.

        In order of precedence, without patterns that can never match. The number is -2 for
        `/robots.txt` itself. The outcome is coded as in `Matcher.decide()`.
        """
        return self._entries

    def find_witness(
        self,
        decision_lists: Sequence[DecisionList],
        max_states: int,
        shorter_than: int | None = None,
        shortest: bool = True,
    ) -> WitnessResult:
        """
        Search for a shortest path that all *decision_lists* accept.

        A clause is the position of an entry, shifted left by one, plus 1 to accept. Only paths of
        less than *shorter_than* octets are returned; with *shortest* False, any of them. Returns
        whether the search finished within *max_states* states; the path, if there is one; the
        number of states; and the entries of each decision list that rejected a path during the
        search.
        """
        constraints = [
            _Constraint(clauses, default, self._dfas) for clauses, default in decision_lists
        ]
        prefixes = [
            self._dfas[required].prefix
            for constraint in constraints
            for required in constraint.required()
        ]
        for constraint in constraints:
            constraint.drop_unreachable(prefixes)
        limit = NO_LIMIT if shorter_than is None else min(shorter_than, NO_LIMIT)
        search = _WitnessSearch(self._dfas, self._path_dfa, max_states, limit, shortest)
        path = search.find_refined(constraints) if shortest else search.find_any(constraints)
        if path is not None:
            path = to_readable(path, self._settings)
        return (
            not search.exhausted,
            path,
            search.states_seen,
            [constraint.rejecting() for constraint in constraints],
        )

    def first_match(self, entries: Sequence[int], path: bytes) -> int:
        """Return the first of some entries that matches a path in normal form, or -1."""
        form = to_compared(path, self._settings)
        return next((at for at in entries if self._dfas[at].matches(form)), -1)


class _Constraint:
    """A decision list that must accept, or a branch of it, and its active rejecting clauses."""

    def __init__(
        self,
        clauses: Sequence[int],
        default: bool,
        dfas: Sequence[PatternDfa],
        rejecting: set[int] | None = None,
    ) -> None:
        self._clauses, self._default, self._dfas = list(clauses), default, dfas
        self._active: set[int] = set()
        # The rejecting clauses that were activated, over all branches of the decision list.
        self._rejecting = set() if rejecting is None else rejecting

    def required(self) -> list[int]:
        """Return the only accepting pattern, if every accepted path must match it."""
        accepting = [clause >> 1 for clause in self._clauses if clause & 1]
        return accepting if len(accepting) == 1 and not self._default else []

    def drop_unreachable(self, prefixes: list[bytes]) -> None:
        """Remove clauses that cannot match a path that starts with all required prefixes."""

        def is_reachable(prefix: bytes) -> bool:
            return all(prefix.startswith(other) or other.startswith(prefix) for other in prefixes)

        self._clauses = [
            clause for clause in self._clauses if is_reachable(self._dfas[clause >> 1].prefix)
        ]

    def rejecting(self) -> list[int]:
        """Return the entries that rejected a path, in order of precedence."""
        return list(
            dict.fromkeys(clause >> 1 for clause in self._clauses if clause in self._rejecting)
        )

    def relaxation(self) -> DecisionList:
        """Return a decision list that accepts at least what this one does."""
        clauses = [clause for clause in self._clauses if clause & 1 or clause in self._active]
        while self._default and clauses and clauses[-1] & 1:
            clauses.pop()
        return clauses, self._default

    def rejects(self, path: bytes) -> bool:
        """Tell whether this constraint rejects a path; activate the rejecting clause."""
        for clause in self._clauses:
            if self._dfas[clause >> 1].matches(path):
                if not clause & 1:
                    self._active.add(clause)
                    self._rejecting.add(clause)
                return not clause & 1
        return not self._default

    def branches(self) -> list[int]:
        """
        Return the branches, by positions of clauses; after the last clause is the default.

        Accepting clauses above a branch do not restrict it. An accepting clause directly above an
        accepting default is part of the default's branch.
        """
        clauses = self._clauses.copy()
        while self._default and clauses and clauses[-1] & 1:
            clauses.pop()
        branches = [at for at, clause in enumerate(clauses) if clause & 1]
        return [*branches, len(self._clauses)] if self._default else branches

    def branch(self, at: int) -> _Constraint:
        """Return the constraint of one branch."""
        clauses = [clause for clause in self._clauses[:at] if not clause & 1] + self._clauses[
            at : at + 1
        ]
        return _Constraint(clauses, at == len(self._clauses), self._dfas, self._rejecting)

    def rejections_above(self, at: int) -> _Constraint:
        """Return the constraint that no rejecting clause above a branch matches."""
        clauses = [clause for clause in self._clauses[:at] if not clause & 1]
        return _Constraint(clauses, True, self._dfas, self._rejecting)

    def with_active_of(self, other: _Constraint) -> _Constraint:
        """Return this constraint, with the active clauses of another one added."""
        self._active |= other._active
        return self

    def copy(self) -> _Constraint:
        """Return a copy with separate active clauses."""
        return _Constraint(
            self._clauses, self._default, self._dfas, self._rejecting
        ).with_active_of(self)


class _WitnessSearch:
    """The search for a witness, and its statistics."""

    def __init__(
        self,
        dfas: Sequence[PatternDfa],
        path_dfa: PathDfa,
        max_states: int,
        limit: int,
        shortest: bool,
    ) -> None:
        self._dfas, self._path_dfa = dfas, path_dfa
        self._max_states, self._limit, self._shortest = max_states, limit, shortest
        self.states_seen, self.exhausted = 0, False

    def find_refined(self, constraints: Sequence[_Constraint]) -> bytes | None:
        """Return a path that all constraints accept, by refinement."""
        while True:
            relaxation = [constraint.relaxation() for constraint in constraints]
            product = ProductSearch(self._dfas, self._path_dfa, list(_split_branches(relaxation)))
            path = product.run(self._max_states - self.states_seen, self._limit, self._shortest)
            self.states_seen += product.states_seen
            self.exhausted = product.exhausted
            # Every constraint is checked, so that each activates its rejecting clause.
            if path is None or not [
                constraint for constraint in constraints if constraint.rejects(path)
            ]:
                return path

    def find_any(self, constraints: Sequence[_Constraint]) -> bytes | None:
        """Return any path that all constraints accept; search the branches of one in turn."""
        counts = [len(constraint.branches()) for constraint in constraints]
        if max(counts, default=0) < 2:
            return self.find_refined(constraints)
        split = counts.index(max(counts))
        constraint = constraints[split]
        trial = [other.copy() for other in constraints]
        trial[split] = constraint.rejections_above(0)
        path = self.find_refined(trial)
        if path is None or not constraint.rejects(path):
            return path
        for at in constraint.branches():
            trial[split] = constraint.rejections_above(at).with_active_of(trial[split])
            if trial[split].rejects(path):
                path = self.find_refined(trial)
                if path is None:
                    return None  # no path is left for this branch, nor for those below
            following = [other.copy() for other in trial]
            following[split] = constraint.branch(at).with_active_of(trial[split])
            found = self.find_refined(following)
            if found is not None or self.exhausted:
                return found
        return None


def _split_branches(decision_lists: list[DecisionList]) -> Iterator[list[DecisionList]]:
    """Split the decision list with the most branches: yield the decision lists of each branch."""
    counts = [
        sum(clause & 1 for clause in clauses) + default for clauses, default in decision_lists
    ]
    if max(counts, default=0) < 2:
        yield decision_lists
        return
    split = counts.index(max(counts))
    clauses, default = decision_lists[split]
    rejections: list[int] = []
    for clause in clauses:
        if clause & 1:
            yield [
                *decision_lists[:split],
                ([*rejections, clause], False),
                *decision_lists[split + 1 :],
            ]
        else:
            rejections.append(clause)
    if default:
        yield [*decision_lists[:split], (rejections, True), *decision_lists[split + 1 :]]
