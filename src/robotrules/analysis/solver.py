"""
The solver: rule sets compiled to the engine's automata, and queries about them.

A query is a set of decision lists (see `_engine/pure_search.py`), such as *this rule decides* or
*the other rules give another verdict*; the engine searches for a path that all of them accept.
Every path is verified by `RuleSet.check()`, which does not use automata, before it is returned.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from robotrules.analysis.values import Witness
from robotrules.errors import ProfileMismatchError, WrongWitnessError
from robotrules.robotstxt.internals import get_engine, get_written_patterns
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.robotstxt.values import Rule

# The limit on the states of one query. Real files need some hundreds; this many take a second in
# the native engine, and a few hundred MB at most.
MAX_STATES = 100_000
# The limit on the states of all queries together: so many queries may reach their limit, fewer if
# the limit is large. After that nothing is decided, so that a hostile file costs seconds and not
# hours. Each rule that a query considers counts as a fraction of a state.
MAX_QUERIES, MIN_QUERIES = 50, 5
MAX_TOTAL_STATES = 500_000
RULES_PER_STATE = 16
# Up to this many rules are scanned without an index.
LINEAR_SCAN_LIMIT = 64
IMPLICIT, NO_ENTRY = -2, -1
DecisionList = tuple[list[int], bool]


class SearchResult(NamedTuple):
    """The result of a search: a path, the proof that there is none, or undecided."""

    decided: bool
    path: bytes | None
    states: int
    rejecting: list[list[int]]
    """For each decision list, the entries that rejected a path during the search."""


class PatternEntry(NamedTuple):
    """A pattern of a rule, at its position in the order of precedence."""

    rule: int
    """Its position in the set; -2: `/robots.txt` itself."""
    form: bytes
    allow: bool


class PrefixIndex:
    """Entries by the literal prefix of their patterns, to skip those that cannot overlap."""

    def __init__(self, entries: Iterable[tuple[int, PatternEntry]]) -> None:
        # Dicts instead of sets: the order must not depend on the process.
        self._by_first: dict[bytes, dict[int, None]] = {}
        self._alike: dict[tuple[bytes, bool], dict[int, None]] = {}
        for at, entry in entries:
            self._by_first.setdefault(literal_prefix(entry), {})[at] = None
            self._alike.setdefault((entry.form, entry.allow), {})[at] = None
        self._firsts = sorted(self._by_first)
        self._sizes = sorted(set(map(len, self._firsts)))
        # Patterns with the same prefix have the same result, so the last one is kept.
        self._last: tuple[bytes, list[int]] | None = None

    def drop(self, at: int, entry: PatternEntry) -> None:
        """Remove an entry."""
        self._last = None
        self._by_first[literal_prefix(entry)].pop(at, None)
        self._alike[entry.form, entry.allow].pop(at, None)

    def equal_entries(self, form: bytes, allow: bool) -> Iterator[int]:
        """Yield the entries with this pattern and verdict, in order of precedence."""
        yield from self._alike.get((form, allow), ())

    def find_candidates(self, path: bytes) -> list[int]:
        """Return the entries that may match a path, in order of precedence."""
        return self._entries_under(path[:size] for size in self._sizes if size <= len(path))

    def find_overlapping(self, first: bytes) -> list[int]:
        """Return the entries that may match a path with this prefix."""
        if self._last is None or self._last[0] != first:
            self._last = first, self._find_overlapping(first)
        return self._last[1].copy()

    def _find_overlapping(self, first: bytes) -> list[int]:
        begins = {first[:size] for size in self._sizes if size <= len(first)}
        at = bisect_right(self._firsts, first)
        while at < len(self._firsts) and self._firsts[at].startswith(first):
            begins.add(self._firsts[at])
            at += 1
        return self._entries_under(begins)

    def _entries_under(self, prefixes: Iterable[bytes]) -> list[int]:
        found = [entries for prefix in prefixes if (entries := self._by_first.get(prefix))]
        # Each dict is in order of precedence already.
        if len(found) == 1:
            return list(found[0])
        return sorted(at for entries in found for at in entries)


def literal_prefix(entry: PatternEntry) -> bytes:
    """Return the literal prefix of an entry's pattern."""
    first, star, _ = entry.form.partition(b"*")
    return first if star else first.removesuffix(b"$")


_STARS = re.compile(rb"\*+")


def canonical_language(form: bytes) -> tuple[bytes, bool]:
    """Return a pattern without redundant stars: equal results mean equal languages."""
    anchored = form.endswith(b"$")
    stars = form[:-1] if anchored else form
    if b"*" not in stars:
        return stars, anchored
    stars = _STARS.sub(b"*", stars)
    return (stars[:-1], False) if stars.endswith(b"*") else (stars, anchored)


class Side:
    """The entries of one of the solver's rule sets, by their positions in the solver."""

    # There is a query for each rule, so a decision list of a thousand clauses must be cheap: the
    # clauses that reject, and those of a verdict, are created once and copied.

    def __init__(
        self,
        rules: RuleSet,
        entries: dict[int, PatternEntry],
        written: tuple[Rule, ...] | None = None,
    ) -> None:
        self.rules = rules
        self.entries = entries
        """In order of precedence, which is the order of positions."""
        self._written = written
        self._order = list(entries)
        self._reject_all = [at << 1 for at in entries]
        self._verdict_clauses: dict[bool, list[int]] = {}
        self._of: dict[int, list[int]] = {}
        for at, entry in entries.items():
            self._of.setdefault(entry.rule, []).append(at)

    @cached_property
    def written(self) -> tuple[Rule, ...]:
        """The rules as values, created on first use: a file may have thousands."""
        return self.rules.rules if self._written is None else self._written

    @cached_property
    def languages(self) -> dict[int, tuple[bytes, bool]]:
        """The language of each entry (`canonical_language`)."""
        return {at: canonical_language(entry.form) for at, entry in self.entries.items()}

    def entries_of(self, rule: int) -> list[int]:
        """Return the entries of a rule; two, if it is for an index page and its directory."""
        return self._of.get(rule, [])

    def rule(self, at: int) -> Rule | None:
        """Return the rule of an entry; None for `/robots.txt` itself."""
        number = self.entries[at].rule
        return None if number == IMPLICIT else self.written[number]

    def decided_by(self, entries: Sequence[int]) -> DecisionList:
        """Return a decision list that accepts the paths that one of these entries decides."""
        if not entries:
            return [], False
        clauses = self._reject_all[: bisect_right(self._order, max(entries))]
        for at in entries:
            clauses[bisect_left(self._order, at)] = at << 1 | 1
        return clauses, False

    def with_verdict(self, allow: bool, but: Iterable[int] = ()) -> DecisionList:
        """
        Return a decision list that accepts the paths with the verdict *allow*.

        Paths that an entry of *but* decides are rejected; with NO_ENTRY in *but*, also those that
        no entry decides.
        """
        if allow not in self._verdict_clauses:
            self._verdict_clauses[allow] = [
                at << 1 | (entry.allow == allow) for at, entry in self.entries.items()
            ]
        clauses, default = self._verdict_clauses[allow].copy(), allow
        for at in but:
            if at == NO_ENTRY:
                default = False
            else:
                clauses[bisect_left(self._order, at)] = at << 1
        return clauses, default

    def among(self, entries: Iterable[int]) -> Side:
        """Return a side with these entries only."""
        chosen = set(entries)
        left = {at: entry for at, entry in self.entries.items() if at in chosen}
        return Side(self.rules, left, self._written)

    @cached_property
    def index(self) -> PrefixIndex:
        """The entries by literal prefix."""
        return PrefixIndex(self.entries.items())

    def find_candidates(self, path: bytes, without: Sequence[int] = ()) -> list[int]:
        """Return the entries that may match a path, except *without*, in order of precedence."""
        few = len(self._order) <= LINEAR_SCAN_LIMIT
        found = self._order.copy() if few else self.index.find_candidates(path)
        for at in reversed(without):
            place = bisect_left(found, at)
            if found[place : place + 1] == [at]:
                del found[place]
        return found


def check_sets(sets: Sequence[object], max_states: object) -> None:
    """Raise an exception for values that are not rule sets, or cannot be compared."""
    for rules in sets:
        if not isinstance(rules, RuleSet):
            name = type(rules).__name__
            raise TypeError(f"rules are a RuleSet, not {name}: pass robots.rules_for(token)")
    profiles = [rules.profile for rules in sets if isinstance(rules, RuleSet)]
    if any(profile != profiles[0] for profile in profiles):
        raise ProfileMismatchError(
            f"the rules were read with the profiles {profiles[0].name!r} and "
            f"{profiles[-1].name!r}, which compare URLs differently: parse both files with "
            "the same profile"
        )
    validate_max_states(max_states)


def validate_max_states(max_states: object) -> int:
    """Return the state limit, or raise `ValueError`."""
    if not isinstance(max_states, int) or max_states < 1:
        raise ValueError(f"max_states is {max_states!r}: pass how many states a query may use")
    return max_states


def total_state_limit(max_states: int) -> int:
    """Return the limit for all queries together, if each may use *max_states* states."""
    return max(min(max_states * MAX_QUERIES, MAX_TOTAL_STATES), max_states * MIN_QUERIES)


class Solver:
    """One or two rule sets under one profile, compiled together."""

    def __init__(
        self, *sets: RuleSet, max_states: int = MAX_STATES, max_total: int | None = None
    ) -> None:
        """*max_total* limits the states of all queries together."""
        check_sets(sets, max_states)
        profile = sets[0].profile
        self.max_states = max_states
        self.states = 0
        """The number of states that all queries used."""
        self._rules_seen = 0
        self._total_limit = total_state_limit(max_states) if max_total is None else max_total
        written = [pattern for rules in sets for pattern in get_written_patterns(rules)]
        engine = get_engine(sets[0])
        self._languages = engine.Languages(profile.settings(engine), written)
        found = self._languages.entries()
        self.sides = []
        first = 0
        for rules in sets:
            end = first + len(rules)
            entries = {
                at: PatternEntry(rule if rule == IMPLICIT else rule - first, form, bool(allow))
                for at, (rule, form, allow) in enumerate(found)
                if rule == IMPLICIT or first <= rule < end
            }
            self.sides.append(Side(rules, entries))
            first = end

    def restart(self) -> None:
        """Forget what queries used, so that the limit for all of them starts again."""
        self.states = self._rules_seen = 0

    def find_witness(self, *decision_lists: DecisionList) -> SearchResult:
        """Search for a shortest path that all decision lists accept; undecided past the limit."""
        return self._search(decision_lists, None, True)

    def find_any_witness(self, *decision_lists: DecisionList) -> SearchResult:
        """Search for any path that all decision lists accept, which costs less."""
        return self._search(decision_lists, None, False)

    def find_shorter_witness(self, octets: int, *decision_lists: DecisionList) -> SearchResult:
        """Search for a shortest path of less than *octets* octets that all lists accept."""
        return self._search(decision_lists, octets, True)

    def _search(
        self, decision_lists: Sequence[DecisionList], shorter_than: int | None, shortest: bool
    ) -> SearchResult:
        self.count_rules(sum(len(clauses) for clauses, _ in decision_lists))
        if self.is_exhausted:
            return self.undecided_result(len(decision_lists))
        max_states = min(self.max_states, self._left)
        found = SearchResult(
            *self._languages.find_witness(decision_lists, max_states, shorter_than, shortest)
        )
        self.states += found.states
        return found

    @property
    def _left(self) -> int:
        return self._total_limit - self.states - self._rules_seen // RULES_PER_STATE

    @property
    def is_exhausted(self) -> bool:
        """Whether the limit for all queries is reached: then nothing more is decided."""
        return self._left < 1

    def count_rules(self, rules: int) -> None:
        """Count rules that a query considers."""
        self._rules_seen += rules

    def undecided_result(self, decision_lists: int = 1) -> SearchResult:
        """Return the result of a query that is not run."""
        return SearchResult(False, None, 0, [[] for _ in range(decision_lists)])

    def find_decider(self, side: Side, path: bytes, without: Sequence[int] = ()) -> int:
        """Return the entry that decides a path, except *without*; -1: none does."""
        found = side.find_candidates(path, without)
        self.count_rules(len(found))
        at: int = self._languages.first_match(found, path)
        return at


def to_witness(path: bytes) -> Witness:
    """Return a path as a witness, without verification."""
    return Witness(path.decode("utf-8", "surrogateescape"))


def verify_witness(path: bytes, claims: Sequence[tuple[RuleSet, bool, Rule | None]]) -> Witness:
    """Return a path as a witness, after the matcher confirmed the claimed verdicts."""
    witness = to_witness(path)
    for rules, allowed, rule in claims:
        verdict = rules.check(witness.url)
        engine = get_engine(rules)
        normal = engine.normal_form(witness.url, False, rules.profile.settings(engine))
        if verdict.allowed != allowed or verdict.rule != rule or normal != path:
            raise WrongWitnessError(
                f"{witness.url} should be {'allowed' if allowed else 'disallowed'} by {rule}, but "
                f"is {verdict} as {normal!r}: please report this with the file"
            )
    return witness
