"""
Which paths do some patterns match and others not: a shortest one, or the proof that there is none.

A question is a list of ladders. A ladder has patterns in the order of precedence, each with a yes
or a no; a path gets the word of the first that matches, and the word at the foot if none does. What
is sought is a shortest path to which all ladders say yes. Verdicts, deciding rules and differences
of verdicts are all questions of this form.

Patterns that say no are looked at only when a path was found that they object to; the found path is
then sought again with them. As what is walked always allows more than the question does, a path
that all agree on is a shortest one, and where nothing is found there is nothing. A ladder that has
many ways to a yes is walked one way at a time, each a start of the same walk: one pattern has to
match, and none that says no above it may. Together they would be in as many states as there are
sets of them.

It does not know rules, verdicts or files, nor how a path is walked: `pure_walk.py` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from robotrules._engine.pure_machine import Machine
from robotrules._engine.pure_rules import Patterns
from robotrules._engine.pure_settings import Settings
from robotrules._engine.pure_universe import Universe
from robotrules._engine.pure_walk import NO_LIMIT, Ladder, Walk

Sought = tuple[bool, bytes | None, int, list[list[int]]]


class Languages:
    """Patterns that are asked about together, in the order of precedence."""

    def __init__(self, settings: Settings, patterns: Sequence[tuple[bytes, bool]]) -> None:
        # Under /robots.txt no rule is consulted (AMB-45): as if one stood above all others.
        rules = Patterns(patterns, settings)
        found = list(rules.entries())
        self._entries = [(rule, pattern.form, says) for pattern, rule, says in found]
        self._machines = [Machine(pattern) for pattern, _, _ in found]
        self._universe = Universe(rules.as_given)

    def entries(self) -> list[tuple[int, bytes, int]]:
        """
        Return number of the rule, normal form of the pattern, and what it says.

        In the order of precedence; the number is -2 for `/robots.txt` itself. What it says is as in
        `Matcher.decide()`. Patterns that cannot match at all are left out.
        """
        return self._entries

    def seek(
        self,
        ladders: Sequence[Ladder],
        budget: int,
        shorter_than: int | None = None,
        shortest: bool = True,
    ) -> Sought:
        """
        Seek a shortest path to which all *ladders* say yes.

        A rung is the position of an entry, shifted left by one, plus 1 for yes. Only paths of less
        than *shorter_than* octets count; where *shortest* is False any of them will do. Returns
        whether it was decided within *budget* states; the path, if there is one; how many states
        were seen; and the entries of each ladder that said no to what was found on the way.
        """
        questions = [_Question(rungs, foot, self._machines) for rungs, foot in ladders]
        wanted = [self._machines[only].first for q in questions for only in q.only()]
        for question in questions:
            question.leave_out(wanted)
        limit = NO_LIMIT if shorter_than is None else min(shorter_than, NO_LIMIT)
        spent = 0
        while True:
            relaxed = [question.relaxed() for question in questions]
            walk = Walk(self._machines, self._universe, list(_starts(relaxed)))
            path = walk.run(budget - spent, limit, shortest)
            spent += walk.seen
            # All of them are asked, so that each hears what it has to hear.
            if path is None or not [q for q in questions if q.objects(path)]:
                return not walk.exhausted, path, spent, [q.heard() for q in questions]

    def decider(self, entries: Sequence[int], path: bytes) -> int:
        """Return the first of some entries that matches a path; -1 if none does."""
        return next((at for at in entries if self._machines[at].matches(path)), -1)


class _Question:
    """A ladder, and which of its patterns that say no are looked at so far."""

    def __init__(self, rungs: Sequence[int], foot: bool, machines: Sequence[Machine]) -> None:
        self._rungs, self._foot, self._machines = list(rungs), foot, machines
        self._heard: set[int] = set()
        self._to_the_foot = not foot

    def only(self) -> list[int]:
        """Return the pattern that has to match, if there is just one."""
        positive = [rung >> 1 for rung in self._rungs if rung & 1]
        return positive if len(positive) == 1 and not self._foot else []

    def leave_out(self, wanted: list[bytes]) -> None:
        """Leave out what cannot match where all that has to match does."""

        def fits(first: bytes) -> bool:
            return all(first.startswith(other) or other.startswith(first) for other in wanted)

        self._rungs = [rung for rung in self._rungs if fits(self._machines[rung >> 1].first)]

    def heard(self) -> list[int]:
        return [self._rungs[at] >> 1 for at in sorted(self._heard)]

    def relaxed(self) -> Ladder:
        """Return a ladder that says yes at least where this one does."""
        last = len(self._rungs) if self._to_the_foot else max(self._heard, default=-1) + 1
        rungs = [r for at, r in enumerate(self._rungs[:last]) if r & 1 or at in self._heard]
        return rungs, self._foot if self._to_the_foot else True

    def objects(self, path: bytes) -> bool:
        """Tell whether this ladder says no, and hear what says it from now on."""
        for at, rung in enumerate(self._rungs):
            if self._machines[rung >> 1].matches(path):
                if not rung & 1:
                    self._heard.add(at)
                return not rung & 1
        if not self._foot:
            self._to_the_foot = True
        return not self._foot


def _starts(ladders: list[Ladder]) -> Iterator[list[Ladder]]:
    """Yield ladders for each way to a yes on the one that has most of them."""
    counts = [sum(rung & 1 for rung in rungs) + foot for rungs, foot in ladders]
    if max(counts, default=0) < 2:
        yield ladders
        return
    split = counts.index(max(counts))
    rungs, foot = ladders[split]
    noes: list[int] = []
    for rung in rungs:
        if rung & 1:
            yield [*ladders[:split], ([*noes, rung], False), *ladders[split + 1 :]]
        else:
            noes.append(rung)
    if foot:
        yield [*ladders[:split], (noes, True), *ladders[split + 1 :]]
