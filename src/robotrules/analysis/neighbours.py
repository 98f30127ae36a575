"""
Neighbours: of the rules of a set, those that a question about one rule has to look at.

Patterns whose literal beginnings part cannot match the same URL, so a question about one rule needs
the rules near it and no others: a file of 42,000 plain rules costs 42,000 small questions. Rules
that say the very same are found without any question. It does not know what is asked.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from itertools import islice

from robotrules.analysis.solver import (
    DecisionList,
    Index,
    PatternEntry,
    Side,
    Solver,
    Sought,
    first_of,
)

# Rules with the same pattern that are compared whole; of rules that say the same, one will do.
MOST_TWINS = 8


class Neighbours:
    """Rules that are obeyed together; some may go, and each is asked about beside those near it."""

    def __init__(self, solver: Solver, entries: Mapping[int, PatternEntry]) -> None:
        self.solver, self.entries = solver, entries
        self._index = Index(entries.items())
        self._of: dict[int, list[int]] = {}
        for at, entry in entries.items():
            self._of.setdefault(entry.rule, []).append(at)

    def side(self, entries: Iterable[int]) -> Side:
        """Return some of the rules that are left, to be asked about."""
        every = self.solver.sides[0]
        chosen = {at: self.entries[at] for at in entries}
        self.solver.spend(len(chosen))
        return Side(every.rules, chosen, every.written)

    # As `Side` has them, from the entries that are near: a question costs no more than those.

    def _near(self, own: list[int]) -> list[int]:
        """Return the entries that may match where a rule does, its own among them."""
        first = min((first_of(self.entries[at]) for at in own), key=len)
        return self._index.near(first)

    @staticmethod
    def _decided_by(near: list[int], own: list[int]) -> DecisionList:
        last = bisect_right(near, own[-1])
        return [at << 1 | (at in own) for at in near[:last]], False

    def _otherwise(self, near: list[int], own: list[int]) -> DecisionList:
        said, entries = not self.entries[own[0]].allow, self.entries
        beneath = near[bisect_left(near, own[0]) :]
        return [at << 1 | (entries[at].allow == said) for at in beneath if at not in own], said

    def alive(self, own: list[int]) -> Sought:
        """Seek a path that a rule decides."""
        if self.solver.is_spent:
            return self.solver.not_decided()
        return self.solver.seek(self._decided_by(self._near(own), own))

    def change_without(self, own: list[int], *, shortest: bool = True) -> Sought:
        """Seek a path whose verdict would change if a rule were not there."""
        if self.solver.is_spent:
            return self.solver.not_decided(2)
        near = self._near(own)
        asked = self._decided_by(near, own), self._otherwise(near, own)
        return self.solver.seek(*asked) if shortest else self.solver.seek_any(*asked)

    def still_changes(self, own: list[int], path: bytes) -> bool:
        """Tell whether a path that once showed that a rule has to stay shows it now."""
        if self.solver.is_spent:
            return True  # it did, and a rule of which that is not known stays
        side = self.side(self._index.matching(path))
        # One that cannot match there is not among them, and is not to be left out.
        return changes_without(self.solver, side, [at for at in own if at in side.entries], path)

    def twin(self, own: list[int]) -> int | None:
        """
        Return the number of the first other rule that says the very same; None: none does.

        It may be IMPLICIT, the rule about `/robots.txt` that no file has to write.
        """
        mine = self.entries[own[0]]
        wanted = {(self.entries[at].form, self.entries[at].allow) for at in own}
        for at in islice(self._index.alike(mine.form, mine.allow), MOST_TWINS):
            other = self.entries[at].rule
            said = {(self.entries[one].form, self.entries[one].allow) for one in self._of[other]}
            if other != mine.rule and wanted <= said:
                return other
        return None

    def drop(self, own: list[int]) -> None:
        """Do without a rule from now on."""
        for at in own:
            self._index.drop(at, self.entries[at])


def changes_without(solver: Solver, side: Side, own: list[int], path: bytes) -> bool:
    """Tell whether the verdict on a path changes if a rule is taken out, given by its entries."""
    before = solver.decider(side, path)
    if before not in own:
        return False
    after = solver.decider(side, path, without=own)
    return (side.entries[after].allow if after >= 0 else True) != side.entries[before].allow
