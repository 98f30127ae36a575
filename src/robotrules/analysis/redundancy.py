"""
Queries about one rule among the rules that are obeyed with it: dead, redundant or duplicate.

Patterns whose literal prefixes differ cannot match the same URL, so a query about one rule needs
only the rules that may overlap it: a file of 42,000 plain rules needs 42,000 small queries.
Duplicates are found without a query. The module does not use files: `removable_rules` does.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from itertools import islice

from robotrules.analysis.solver import (
    DecisionList,
    PatternEntry,
    PrefixIndex,
    SearchResult,
    Side,
    Solver,
    literal_prefix,
)

# Of the rules with the same pattern, so many are compared.
MAX_DUPLICATES = 8


class RedundancyChecker:
    """Rules that are obeyed together, checked one at a time; rules can be dropped."""

    def __init__(self, solver: Solver, entries: Mapping[int, PatternEntry]) -> None:
        self.solver, self.entries = solver, entries
        self._index = PrefixIndex(entries.items())
        self._of: dict[int, list[int]] = {}
        for at, entry in entries.items():
            self._of.setdefault(entry.rule, []).append(at)

    def side(self, entries: Iterable[int]) -> Side:
        """Return a side with some of the rules."""
        every = self.solver.sides[0]
        chosen = {at: self.entries[at] for at in entries}
        self.solver.count_rules(len(chosen))
        return Side(every.rules, chosen, every.written)

    # Like the methods of `Side`, but over the overlapping entries only.

    def _find_overlapping(self, own: list[int]) -> list[int]:
        """Return the entries that may match where a rule does, including its own."""
        first = min((literal_prefix(self.entries[at]) for at in own), key=len)
        return self._index.find_overlapping(first)

    @staticmethod
    def _decided_by(overlapping: list[int], own: list[int]) -> DecisionList:
        last = bisect_right(overlapping, own[-1])
        return [at << 1 | (at in own) for at in overlapping[:last]], False

    def _decided_otherwise(self, overlapping: list[int], own: list[int]) -> DecisionList:
        opposite, entries = not self.entries[own[0]].allow, self.entries
        lower = overlapping[bisect_left(overlapping, own[0]) :]
        clauses = [at << 1 | (entries[at].allow == opposite) for at in lower if at not in own]
        return clauses, opposite

    def find_decided_path(self, own: list[int]) -> SearchResult:
        """Search for a path that a rule decides; none: the rule is dead."""
        if self.solver.is_exhausted:
            return self.solver.undecided_result()
        return self.solver.find_witness(self._decided_by(self._find_overlapping(own), own))

    def find_changed_path(self, own: list[int], *, shortest: bool = True) -> SearchResult:
        """Search for a path whose verdict changes without a rule; none: it is redundant."""
        if self.solver.is_exhausted:
            return self.solver.undecided_result(2)
        overlapping = self._find_overlapping(own)
        lists = self._decided_by(overlapping, own), self._decided_otherwise(overlapping, own)
        if shortest:
            return self.solver.find_witness(*lists)
        return self.solver.find_any_witness(*lists)

    def still_changes(self, own: list[int], path: bytes) -> bool:
        """Return whether the verdict on a path, which once needed a rule, still does."""
        if self.solver.is_exhausted:
            return True  # a rule that is not proved redundant stays
        side = self.side(self._index.find_candidates(path))
        # Entries that cannot match the path are not in the side.
        return changes_without(self.solver, side, [at for at in own if at in side.entries], path)

    def find_duplicate(self, own: list[int]) -> int | None:
        """
        Return the number of the first other rule with the same patterns and verdict, or None.

        It may be IMPLICIT, the rule that allows `/robots.txt` in every file.
        """
        mine = self.entries[own[0]]
        wanted = {(self.entries[at].form, self.entries[at].allow) for at in own}
        for at in islice(self._index.equal_entries(mine.form, mine.allow), MAX_DUPLICATES):
            other = self.entries[at].rule
            patterns = {(self.entries[at].form, self.entries[at].allow) for at in self._of[other]}
            if other != mine.rule and wanted <= patterns:
                return other
        return None

    def drop(self, own: list[int]) -> None:
        """Remove a rule."""
        for at in own:
            self._index.drop(at, self.entries[at])


def changes_without(solver: Solver, side: Side, own: list[int], path: bytes) -> bool:
    """Return whether the verdict on a path changes without a rule, given by its entries."""
    before = solver.find_decider(side, path)
    if before not in own:
        return False
    after = solver.find_decider(side, path, without=own)
    return (side.entries[after].allow if after >= 0 else True) != side.entries[before].allow
