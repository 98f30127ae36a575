"""
Ground: rule sets as the engine's automata, and the questions that are put to them.

Every question becomes ladders (see `_engine/pure_search.py`): *this rule decides*, *these rules say
otherwise*. What the engine finds is never believed: each path is put to `RuleSet.check()`, which
knows nothing of automata, before anybody sees it. It does not know what the answers are for.
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

# States that one question may see. What real files need is some hundreds; this many take a second
# in the native engine and some hundred MB at the very most.
MAX_STATES = 100_000
# So many questions may use up their budget, fewer if the budget is large; after them nothing is
# decided any more, so that a hostile file costs seconds and not hours. A rule that a question looks
# at costs a part of a state.
QUESTIONS, FEWEST_QUESTIONS = 50, 5
MOST_STATES = 500_000
RULES_FOR_A_STATE = 16
# So few rules are all tried, before an index of them is made.
FEW = 64
IMPLICIT, NOBODY = -2, -1
DecisionList = tuple[list[int], bool]


class Sought(NamedTuple):
    """What the engine found: a path, or that there is none, or neither within the budget."""

    decided: bool
    path: bytes | None
    states: int
    heard: list[list[int]]
    """Of each decision list the entries that said no to what was found on the way."""


class PatternEntry(NamedTuple):
    """A pattern of a rule as it stands in the order of precedence."""

    rule: int
    """Its position in the set; -2: `/robots.txt` itself."""
    form: bytes
    allow: bool


class Index:
    """Entries by how their patterns begin, so that those that cannot meet are not looked at."""

    def __init__(self, entries: Iterable[tuple[int, PatternEntry]]) -> None:
        # Dicts for sets, because an order that changes with the process changes answers.
        self._by_first: dict[bytes, dict[int, None]] = {}
        self._alike: dict[tuple[bytes, bool], dict[int, None]] = {}
        for at, entry in entries:
            self._by_first.setdefault(first_of(entry), {})[at] = None
            self._alike.setdefault((entry.form, entry.allow), {})[at] = None
        self._firsts = sorted(self._by_first)
        self._sizes = sorted(set(map(len, self._firsts)))
        # Where all patterns begin alike, one question after the other has the same answer.
        self._last: tuple[bytes, list[int]] | None = None

    def drop(self, at: int, entry: PatternEntry) -> None:
        """Do without an entry from now on."""
        self._last = None
        self._by_first[first_of(entry)].pop(at, None)
        self._alike[entry.form, entry.allow].pop(at, None)

    def alike(self, form: bytes, allow: bool) -> Iterator[int]:
        """Yield the entries that say the very same, in the order of precedence."""
        yield from self._alike.get((form, allow), ())

    def matching(self, path: bytes) -> list[int]:
        """Return the entries that may match a path, in the order of precedence."""
        return self._of(path[:size] for size in self._sizes if size <= len(path))

    def near(self, first: bytes) -> list[int]:
        """Return those that may match where something does that begins like this."""
        if self._last is None or self._last[0] != first:
            self._last = first, self._near(first)
        return self._last[1].copy()

    def _near(self, first: bytes) -> list[int]:
        begins = {first[:size] for size in self._sizes if size <= len(first)}
        at = bisect_right(self._firsts, first)
        while at < len(self._firsts) and self._firsts[at].startswith(first):
            begins.add(self._firsts[at])
            at += 1
        return self._of(begins)

    def _of(self, begins: Iterable[bytes]) -> list[int]:
        found = [of for begin in begins if (of := self._by_first.get(begin))]
        # Each is in the order of precedence, for entries come in it.
        return list(found[0]) if len(found) == 1 else sorted(at for of in found for at in of)


def first_of(entry: PatternEntry) -> bytes:
    """Return the literal beginning of an entry's pattern."""
    first, star, _ = entry.form.partition(b"*")
    return first if star else first.removesuffix(b"$")


_STARS = re.compile(rb"\*+")


def language_of(form: bytes) -> tuple[bytes, bool]:
    """Return what a pattern matches, but for how it is written: stars that say nothing left out."""
    anchored = form.endswith(b"$")
    stars = form[:-1] if anchored else form
    if b"*" not in stars:
        return stars, anchored
    stars = _STARS.sub(b"*", stars)
    return (stars[:-1], False) if stars.endswith(b"*") else (stars, anchored)


class Side:
    """The entries of one rule set, by their positions on the ground."""

    # Questions are put for each rule, so a decision list of a thousand clauses must cost little:
    # those that say no, or what the rules say, are made once and copied.

    def __init__(
        self,
        rules: RuleSet,
        entries: dict[int, PatternEntry],
        written: tuple[Rule, ...] | None = None,
    ) -> None:
        self.rules = rules
        self.entries = entries
        """In the order of precedence, which is that of their positions."""
        self._written = written
        self._order = list(entries)
        self._noes = [at << 1 for at in entries]
        self._saying: dict[bool, list[int]] = {}
        self._of: dict[int, list[int]] = {}
        for at, entry in entries.items():
            self._of.setdefault(entry.rule, []).append(at)

    @cached_property
    def written(self) -> tuple[Rule, ...]:
        """The rules as values; made once and only if asked for: a file may have thousands."""
        return self.rules.rules if self._written is None else self._written

    @cached_property
    def languages(self) -> dict[int, tuple[bytes, bool]]:
        """What each entry matches, but for how it is written (`language_of`)."""
        return {at: language_of(entry.form) for at, entry in self.entries.items()}

    def of(self, rule: int) -> list[int]:
        """Return the entries of a rule; two, where an index page stands for its directory."""
        return self._of.get(rule, [])

    def rule(self, at: int) -> Rule | None:
        """Return the rule of an entry; None for `/robots.txt` itself."""
        number = self.entries[at].rule
        return None if number == IMPLICIT else self.written[number]

    def decided_by(self, wanted: Sequence[int]) -> DecisionList:
        """Return a decision list that says yes where one of these entries decides."""
        if not wanted:
            return [], False
        clauses = self._noes[: bisect_right(self._order, max(wanted))]
        for at in wanted:
            clauses[bisect_left(self._order, at)] = at << 1 | 1
        return clauses, False

    def saying(self, allow: bool, but: Iterable[int] = ()) -> DecisionList:
        """
        Return a decision list that says yes where the verdict is *allow*.

        Except where one of the entries *but* decides; -1 among them: nor where none does.
        """
        if allow not in self._saying:
            self._saying[allow] = [
                at << 1 | (entry.allow == allow) for at, entry in self.entries.items()
            ]
        clauses, default = self._saying[allow].copy(), allow
        for at in but:
            if at == NOBODY:
                default = False
            else:
                clauses[bisect_left(self._order, at)] = at << 1
        return clauses, default

    def among(self, entries: Iterable[int]) -> Side:
        """Return what is left with these entries alone."""
        chosen = set(entries)
        left = {at: entry for at, entry in self.entries.items() if at in chosen}
        return Side(self.rules, left, self._written)

    @cached_property
    def index(self) -> Index:
        """The entries by how their patterns begin."""
        return Index(self.entries.items())

    def matching(self, path: bytes, without: Sequence[int] = ()) -> list[int]:
        """Return the entries that may match a path, some left out, in the order of precedence."""
        few = len(self._order) <= FEW
        found = self._order.copy() if few else self.index.matching(path)
        for at in reversed(without):
            place = bisect_left(found, at)
            if found[place : place + 1] == [at]:
                del found[place]
        return found


def vet_sets(sets: Sequence[object], budget: object) -> None:
    """Refuse what is no rule set, rule sets that cannot be compared, and what is no budget."""
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
    vetted_budget(budget)


def vetted_budget(budget: object) -> int:
    """Return a budget, or refuse what is none."""
    if not isinstance(budget, int) or budget < 1:
        raise ValueError(f"budget is {budget!r}: pass how many states a question may see")
    return budget


def most_states(budget: int) -> int:
    """Return how many states all questions together may see, each of which may see *budget*."""
    return max(min(budget * QUESTIONS, MOST_STATES), budget * FEWEST_QUESTIONS)


class Solver:
    """One or two rule sets under one profile, compiled together."""

    def __init__(self, *sets: RuleSet, budget: int = MAX_STATES, most: int | None = None) -> None:
        """*most* bounds the states of all questions together."""
        vet_sets(sets, budget)
        profile = sets[0].profile
        self.budget = budget
        self.states = 0
        """How many states were seen, by all questions together."""
        self._rules_seen = 0
        self._most = most_states(budget) if most is None else most
        written = [pattern for rules in sets for pattern in get_written_patterns(rules)]
        engine = get_engine(sets[0])
        self._languages = engine.Languages(profile.settings(engine), written)
        found = self._languages.entries()
        self.sides = []
        first = 0
        for rules in sets:
            end = first + len(rules)
            entries = {
                at: PatternEntry(rule if rule == IMPLICIT else rule - first, form, bool(says))
                for at, (rule, form, says) in enumerate(found)
                if rule == IMPLICIT or first <= rule < end
            }
            self.sides.append(Side(rules, entries))
            first = end

    def seek(self, *decision_lists: DecisionList) -> Sought:
        """Return what the engine finds; nothing is decided once all questions took too much."""
        return self._sought(decision_lists, None, True)

    def seek_any(self, *decision_lists: DecisionList) -> Sought:
        """Return the same with any path, which need not be a shortest one, and costs less."""
        return self._sought(decision_lists, None, False)

    def seek_shorter(self, octets: int, *decision_lists: DecisionList) -> Sought:
        """Return the same with a path of less than so many octets, or none."""
        return self._sought(decision_lists, octets, True)

    def _sought(
        self, decision_lists: Sequence[DecisionList], shorter_than: int | None, shortest: bool
    ) -> Sought:
        self.spend(sum(len(clauses) for clauses, _ in decision_lists))
        if self.is_spent:
            return self.not_decided(len(decision_lists))
        budget = min(self.budget, self._left)
        found = Sought(
            *self._languages.find_witness(decision_lists, budget, shorter_than, shortest)
        )
        self.states += found.states
        return found

    @property
    def _left(self) -> int:
        return self._most - self.states - self._rules_seen // RULES_FOR_A_STATE

    @property
    def is_spent(self) -> bool:
        """Whether all questions together took what they may: then nothing more is decided."""
        return self._left < 1

    def spend(self, rules: int) -> None:
        """Count rules that a question looks at."""
        self._rules_seen += rules

    def not_decided(self, decision_lists: int = 1) -> Sought:
        """Return the answer to a question that is not put any more."""
        return Sought(False, None, 0, [[] for _ in range(decision_lists)])

    def decider(self, side: Side, path: bytes, without: Sequence[int] = ()) -> int:
        """Return the entry that decides a path, some left out; -1: none does."""
        found = side.matching(path, without)
        self.spend(len(found))
        at: int = self._languages.first_match(found, path)
        return at


def vetted(path: bytes, claims: Sequence[tuple[RuleSet, bool, Rule | None]]) -> Witness:
    """Return a path as a witness, after the matcher confirmed what is claimed of it."""
    witness = Witness(path.decode("utf-8", "surrogateescape"))
    for rules, allowed, rule in claims:
        verdict = rules.check(witness.url)
        engine = get_engine(rules)
        normal = engine.normal_form(witness.url, False, rules.profile.settings(engine))
        if verdict.allowed != allowed or verdict.rule != rule or normal != path:
            raise WrongWitnessError(
                f"{witness.url} should be {'allowed' if allowed else 'disallowed'} by {rule}, and "
                f"is {verdict} as {normal!r}: please report this with the file"
            )
    return witness
