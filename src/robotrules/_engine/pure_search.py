"""
Which paths do some patterns match and others not: a shortest one, or the proof that there is none.

A question is a list of decision lists. A decision list has patterns in the order of precedence,
each with a yes or a no; a path gets the word of the first that matches, and the default word if
none does. What is sought is a shortest path to which all decision lists say yes. Verdicts, deciding
rules and differences of verdicts are all questions of this form.

Patterns that say no are looked at only when a path was found that they object to; the found path is
then sought again with them. As what is walked always allows more than the question does, a path
that all agree on is a shortest one, and where nothing is found there is nothing.

A decision list that has many ways to a yes is walked one way at a time: one pattern has to match,
and none that says no above it may. Together they would be in as many states as there are sets of
them. For a shortest path each way is a start of the same walk. Where any path will do they are
tried one after the other from above, until one leads to a path, or what says no above leaves
nothing.

It does not know rules, verdicts or files, nor how a path is walked: `pure_walk.py` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from robotrules._engine.pure_path_dfa import Universe
from robotrules._engine.pure_pattern_dfa import Machine
from robotrules._engine.pure_product_search import NO_LIMIT, DecisionList, Walk
from robotrules._engine.pure_rules import Patterns, compared, has_units, uncompared
from robotrules._engine.pure_settings import Settings

Sought = tuple[bool, bytes | None, int, list[list[int]]]


class Languages:
    """Patterns that are asked about together, in the order of precedence."""

    def __init__(self, settings: Settings, patterns: Sequence[tuple[bytes, bool]]) -> None:
        # Under /robots.txt no rule is consulted (AMB-45): as if one stood above all others.
        rules = Patterns(patterns, settings)
        found = list(rules.entries())
        self._entries = [(rule, pattern.form, says) for pattern, rule, says in found]
        self._machines = [Machine(pattern) for pattern, _, _ in found]
        self._universe = Universe(rules.as_given, has_units(settings))
        self._settings = settings

    def entries(self) -> list[tuple[int, bytes, int]]:
        """
        Return number of the rule, normal form of the pattern, and what it says.

        In the order of precedence; the number is -2 for `/robots.txt` itself. What it says is as in
        `Matcher.decide()`. Patterns that cannot match at all are left out.
        """
        return self._entries

    def seek(
        self,
        decision_lists: Sequence[DecisionList],
        budget: int,
        shorter_than: int | None = None,
        shortest: bool = True,
    ) -> Sought:
        """
        Seek a shortest path to which all *decision lists* say yes.

        A clause is the position of an entry, shifted left by one, plus 1 for yes. Only paths of
        less than *shorter_than* octets count; where *shortest* is False any of them will do.
        Returns whether it was decided within *budget* states; the path, if there is one; how many
        states were seen; and the entries of each decision list that said no to what was found on
        the way.
        """
        questions = [
            _Question(clauses, default, self._machines) for clauses, default in decision_lists
        ]
        wanted = [self._machines[only].first for q in questions for only in q.only()]
        for question in questions:
            question.leave_out(wanted)
        limit = NO_LIMIT if shorter_than is None else min(shorter_than, NO_LIMIT)
        search = _Search(self._machines, self._universe, budget, limit, shortest)
        path = search.agreed(questions) if shortest else search.first(questions)
        if path is not None:
            path = uncompared(path, self._settings)
        return not search.exhausted, path, search.seen, [q.told() for q in questions]

    def decider(self, entries: Sequence[int], path: bytes) -> int:
        """Return the first of some entries that matches a path in normal form; -1 if none does."""
        form = compared(path, self._settings)
        return next((at for at in entries if self._machines[at].matches(form)), -1)


class _Question:
    """A decision list, or a part of one, and which of its patterns that say no were looked at."""

    def __init__(
        self,
        clauses: Sequence[int],
        default: bool,
        machines: Sequence[Machine],
        told: set[int] | None = None,
    ) -> None:
        self._clauses, self._default, self._machines = list(clauses), default, machines
        self._heard: set[int] = set()
        # What was heard by all questions about one decision list.
        self._told = set() if told is None else told

    def only(self) -> list[int]:
        """Return the pattern that has to match, if there is just one."""
        positive = [clause >> 1 for clause in self._clauses if clause & 1]
        return positive if len(positive) == 1 and not self._default else []

    def leave_out(self, wanted: list[bytes]) -> None:
        """Leave out what cannot match where all that has to match does."""

        def fits(first: bytes) -> bool:
            return all(first.startswith(other) or other.startswith(first) for other in wanted)

        self._clauses = [
            clause for clause in self._clauses if fits(self._machines[clause >> 1].first)
        ]

    def told(self) -> list[int]:
        """Return the entries that said no, by precedence."""
        return list(dict.fromkeys(clause >> 1 for clause in self._clauses if clause in self._told))

    def relaxed(self) -> DecisionList:
        """Return a decision list that says yes at least where this one does."""
        clauses = [clause for clause in self._clauses if clause & 1 or clause in self._heard]
        while self._default and clauses and clauses[-1] & 1:
            clauses.pop()
        return clauses, self._default

    def objects(self, path: bytes) -> bool:
        """Tell whether this decision list says no, and hear what says it from now on."""
        for clause in self._clauses:
            if self._machines[clause >> 1].matches(path):
                if not clause & 1:
                    self._heard.add(clause)
                    self._told.add(clause)
                return not clause & 1
        return not self._default

    def ways(self) -> list[int]:
        """
        Return the ways to a yes, by positions of clauses; past the last is the default.

        That another yes stands above a way does no harm. Above the default one does not count
        unless a pattern below it says no.
        """
        clauses = self._clauses.copy()
        while self._default and clauses and clauses[-1] & 1:
            clauses.pop()
        ways = [at for at, clause in enumerate(clauses) if clause & 1]
        return [*ways, len(self._clauses)] if self._default else ways

    def way(self, at: int) -> _Question:
        """Return the question for one way."""
        clauses = [clause for clause in self._clauses[:at] if not clause & 1] + self._clauses[
            at : at + 1
        ]
        return _Question(clauses, at == len(self._clauses), self._machines, self._told)

    def above(self, at: int) -> _Question:
        """Return the question whether nothing above a way says no."""
        clauses = [clause for clause in self._clauses[:at] if not clause & 1]
        return _Question(clauses, True, self._machines, self._told)

    def hearing(self, other: _Question) -> _Question:
        """Return this question, which hears what another did too."""
        self._heard |= other._heard
        return self

    def copy(self) -> _Question:
        """Return the same question, for walks that nobody else has to hear of."""
        return _Question(self._clauses, self._default, self._machines, self._told).hearing(self)


class _Search:
    """The walks for one question, and what they have seen."""

    def __init__(
        self,
        machines: Sequence[Machine],
        universe: Universe,
        budget: int,
        limit: int,
        shortest: bool,
    ) -> None:
        self._machines, self._universe = machines, universe
        self._budget, self._limit, self._shortest = budget, limit, shortest
        self.seen, self.exhausted = 0, False

    def agreed(self, questions: Sequence[_Question]) -> bytes | None:
        """Return a path that all agree on."""
        while True:
            relaxed = [question.relaxed() for question in questions]
            walk = Walk(self._machines, self._universe, list(_starts(relaxed)))
            path = walk.run(self._budget - self.seen, self._limit, self._shortest)
            self.seen += walk.seen
            self.exhausted = walk.exhausted
            # All of them are asked, so that each hears what it has to hear.
            if path is None or not [q for q in questions if q.objects(path)]:
                return path

    def first(self, questions: Sequence[_Question]) -> bytes | None:
        """Return the first path that all agree on, the ways of one decision list tried in turn."""
        counts = [len(question.ways()) for question in questions]
        if max(counts, default=0) < 2:
            return self.agreed(questions)
        split = counts.index(max(counts))
        question = questions[split]
        trial = [one.copy() for one in questions]
        trial[split] = question.above(0)
        path = self.agreed(trial)
        if path is None or not question.objects(path):
            return path
        for at in question.ways():
            trial[split] = question.above(at).hearing(trial[split])
            if trial[split].objects(path):
                path = self.agreed(trial)
                if path is None:
                    return None  # nothing is left for this way, nor for those below
            following = [one.copy() for one in trial]
            following[split] = question.way(at).hearing(trial[split])
            found = self.agreed(following)
            if found is not None or self.exhausted:
                return found
        return None


def _starts(decision_lists: list[DecisionList]) -> Iterator[list[DecisionList]]:
    """Yield decision lists for each way to a yes on the one that has most of them."""
    counts = [
        sum(clause & 1 for clause in clauses) + default for clauses, default in decision_lists
    ]
    if max(counts, default=0) < 2:
        yield decision_lists
        return
    split = counts.index(max(counts))
    clauses, default = decision_lists[split]
    noes: list[int] = []
    for clause in clauses:
        if clause & 1:
            yield [*decision_lists[:split], ([*noes, clause], False), *decision_lists[split + 1 :]]
        else:
            noes.append(clause)
    if default:
        yield [*decision_lists[:split], (noes, True), *decision_lists[split + 1 :]]
