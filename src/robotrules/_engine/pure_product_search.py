"""
One walk for a shortest path to which some decision lists say yes, or the proof that there is none.

The automata of the patterns are walked together, A* over their product. What has matched, and what
no longer can, is taken out of the state; octets that no pattern of a state asks about are one
octet; and only real paths are walked (`pure_universe.py`). A walk may have several starts, each
with decision lists of its own, and takes up only those that can lead to a shortest path.

It does not know why a decision list is as it is: `pure_search.py` does. The native engine walks in
the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from robotrules._engine.pure_path_dfa import Universe
from robotrules._engine.pure_pattern_dfa import DEAD, MATCHED, Machine

# Rungs in the order of precedence, each the number of a pattern shifted left by one, plus 1 for
# yes; and the default word, for a path that none of them matches.
DecisionList = tuple[Sequence[int], bool]
# A decision list as far as it has been climbed: the word so far, and the clauses that may still
# change it with the states of their patterns. None: it says yes, whatever follows.
Climb = tuple[bool, tuple[tuple[int, int], ...]] | None
# Where in the universe, and how far each decision list has been climbed.
State = tuple[int, tuple[Climb, ...]]
# More octets than any path has that is sought.
NO_LIMIT = 1 << 31


class Walk:
    """One walk through the product of the automata of some decision lists."""

    def __init__(
        self,
        machines: Sequence[Machine],
        universe: Universe,
        starts: Sequence[Sequence[DecisionList]],
    ) -> None:
        self._machines, self._universe, self._starts = machines, universe, starts
        self._limit, self._shortest = NO_LIMIT, True
        self.seen, self.exhausted = 0, False
        self._numbers: dict[State, int] = {}
        self._states: list[State] = []
        # Of each state: from which one, with which octet, and how many octets there are then.
        self._came: list[tuple[int, int, int]] = []
        # States by what their paths come to at least; of equals the one found last.
        self._queue: dict[int, list[int]] = {}

    def run(self, budget: int, shorter_than: int, shortest: bool) -> bytes | None:
        """
        Return a shortest path of less than *shorter_than* octets to which all decision lists say
        yes.

        Where *shortest* is False any of them will do, and costs less. None if there is none, or if
        more than *budget* states would have to be seen.
        """
        self._limit, self._shortest = shorter_than, shortest
        # Those that can be shortest last, as they are taken from there.
        starts = sorted(self._start_states(), key=lambda start: start[0])[::-1]
        done: set[int] = set()
        while True:
            least = min(self._queue, default=NO_LIMIT)
            if starts and starts[-1][0] < least:
                least, state = starts.pop()
                if not self._add(state, (0, ord("/"), 1), least, budget):
                    return None
                continue
            if not self._queue:
                return None
            number = self._queue[least].pop()
            if not self._queue[least]:
                del self._queue[least]
            if number in done:
                continue
            done.add(number)
            state = self._states[number]
            if self._is_found(state):
                return self._path(number)
            length = self._came[number][2] + 1
            for octet, following in self._successors(state):
                to_go = self._to_go(following, length)
                came = number, octet, length
                if to_go is not None and not self._add(following, came, length + to_go, budget):
                    return None

    def _add(self, state: State, came: tuple[int, int, int], comes_to: int, budget: int) -> bool:
        """Have a state looked at; False: the budget is spent."""
        number = self._numbers.get(state)
        if number is None:
            if self.seen >= budget:
                self.exhausted = True
                return False
            self.seen += 1
            number = self._numbers[state] = len(self._states)
            self._states.append(state)
            self._came.append(came)
        elif came[2] < self._came[number][2]:
            self._came[number] = came
        else:
            return True
        self._queue.setdefault(comes_to, []).append(number)
        return True

    def _start_states(self) -> Iterator[tuple[int, State]]:
        """Yield the state of each start, and what its paths come to at least."""
        for decision_lists in self._starts:
            climbs: list[Climb] = []
            for clauses, default in decision_lists:
                climb = self._settle(
                    default, [(r, self._machines[r >> 1].start()) for r in clauses]
                )
                if climb is False:
                    break
                climbs.append(climb)
            else:
                state = (Universe.START, tuple(climbs))
                to_go = self._to_go(state, 1)
                if to_go is not None:
                    yield 1 + to_go, state

    def _settle(self, word: bool, clauses: list[tuple[int, int]]) -> Climb | Literal[False]:
        """Return a decision list with what cannot change its word taken out; False: it says no."""
        kept = []
        for clause, state in clauses:
            if state == MATCHED:
                word = bool(clause & 1)
                break
            if state != DEAD:
                kept.append((clause, state))
        while kept and bool(kept[-1][0] & 1) == word:
            kept.pop()
        if not kept:
            return None if word else False
        return word, tuple(kept)

    def _successors(self, state: State) -> Iterator[tuple[int, State]]:
        place, climbs = state
        asked: set[int] = set()
        for climb in climbs:
            if climb:
                for clause, at in climb[1]:
                    asked |= self._machines[clause >> 1].symbols(at)
        queried = self._universe.queried[place]
        for octets, following in self._universe.classes[place]:
            others = next((octet for octet in octets if octet not in asked), None)
            for octet in [others, *(octet for octet in octets if octet in asked)]:
                if octet is not None:
                    found = self._climbed(climbs, octet, queried)
                    if found is not None:
                        yield octet, (following, found)

    def _climbed(
        self, climbs: tuple[Climb, ...], octet: int, queried: bool
    ) -> tuple[Climb, ...] | None:
        found: list[Climb] = []
        for climb in climbs:
            if climb is None:
                found.append(None)
                continue
            word, clauses = climb
            stepped = [(r, self._machines[r >> 1].step(at, octet, queried)) for r, at in clauses]
            settled = self._settle(word, stepped)
            if settled is False:
                return None
            found.append(settled)
        return tuple(found)

    def _is_found(self, state: State) -> bool:
        place, climbs = state
        return not self._universe.to_go[place] and all(map(self._says, climbs))

    def _says(self, climb: Climb) -> bool:
        """Tell what a decision list says to the path that ends here."""
        if climb is None:
            return True
        word, clauses = climb
        for clause, at in clauses:
            if self._machines[clause >> 1].accepts(at):
                return bool(clause & 1)
        return word

    def _to_go(self, state: State, length: int) -> int | None:
        """
        Return how many octets what is sought is away: at least, or probably, where any will do.

        None if a path would be too long.
        """
        place, climbs = state
        missing = self._universe.to_go[place]
        near = [
            min(self._machines[r >> 1].to_go(at) for r, at in climb[1] if r & 1)
            for climb in climbs
            if climb and not climb[0]
        ]
        least = max([missing, *near])
        if length + least >= self._limit:
            return None
        return least if self._shortest else max(missing, sum(near))

    def _path(self, number: int) -> bytes:
        octets = bytearray()
        while self._came[number][2] > 1:
            number, octet, _ = self._came[number]
            octets.append(octet)
        return b"/" + bytes(reversed(octets))
