"""
Product search: A* over the product of DFAs for a shortest path that all decision lists accept.

A breadth-first search in which a lower bound for the remaining octets orders the frontier. The
product is that of the pattern DFAs and the path DFA (`pure_path_dfa.py`). Patterns that have
matched, or no longer can, are removed from a state; octets that no pattern of a state distinguishes
have one representative. A search may have several starts, each with its own decision lists, and
expands only those that can lead to a shortest path.

It corresponds to `product_search.rs` of the native engine, which expands states in the same order.
Time and memory are linear in the states, which *max_states* bounds. It does not choose the decision
lists: `pure_search.py` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from robotrules._engine.pure_path_dfa import PathDfa
from robotrules._engine.pure_pattern_dfa import DEAD, MATCHED, PatternDfa

# Clauses in order of precedence, each the number of a pattern shifted left by one, plus 1 to
# accept; and the default for a path that no clause matches.
DecisionList = tuple[Sequence[int], bool]
# The state of a decision list: its answer so far, and the clauses that can still change it, with
# the states of their patterns. None: it accepts, whatever follows.
ListState = tuple[bool, tuple[tuple[int, int], ...]] | None
# The state of the path DFA, and the states of all decision lists.
State = tuple[int, tuple[ListState, ...]]
# A path length that no search reaches.
NO_LIMIT = 1 << 31


class ProductSearch:
    """A product search, and its statistics."""

    def __init__(
        self,
        dfas: Sequence[PatternDfa],
        path_dfa: PathDfa,
        starts: Sequence[Sequence[DecisionList]],
    ) -> None:
        self._dfas, self._path_dfa, self._starts = dfas, path_dfa, starts
        self._limit, self._shortest = NO_LIMIT, True
        self.states_seen, self.exhausted = 0, False
        self._numbers: dict[State, int] = {}
        self._states: list[State] = []
        # How each state was reached: from which state, by which octet, and the length of the path.
        self._reached: list[tuple[int, int, int]] = []
        # States by the estimated length of their paths; of equals the last one first.
        self._queue: dict[int, list[int]] = {}

    def run(self, max_states: int, shorter_than: int, shortest: bool) -> bytes | None:
        """
        Return a shortest path of less than *shorter_than* octets that all decision lists accept.

        With *shortest* False it may return any such path, and costs less. None if there is none, or
        if the search reaches *max_states* states.
        """
        self._limit, self._shortest = shorter_than, shortest
        # The shortest estimate last: the search pops starts from the end.
        starts = sorted(self._start_states(), key=lambda start: start[0])[::-1]
        expanded: set[int] = set()
        while True:
            least = min(self._queue, default=NO_LIMIT)
            if starts and starts[-1][0] < least:
                least, state = starts.pop()
                if not self._add(state, (0, ord("/"), 1), least, max_states):
                    return None
                continue
            if not self._queue:
                return None
            number = self._queue[least].pop()
            if not self._queue[least]:
                del self._queue[least]
            if number in expanded:
                continue
            expanded.add(number)
            state = self._states[number]
            if self._is_result(state):
                return self._path(number)
            length = self._reached[number][2] + 1
            for octet, following in self._successors(state):
                remaining = self._estimate(following, length)
                step = number, octet, length
                if remaining is not None and not self._add(
                    following, step, length + remaining, max_states
                ):
                    return None

    def _add(
        self, state: State, step: tuple[int, int, int], estimate: int, max_states: int
    ) -> bool:
        """Add a state to the frontier; False if *max_states* is reached."""
        number = self._numbers.get(state)
        if number is None:
            if self.states_seen >= max_states:
                self.exhausted = True
                return False
            self.states_seen += 1
            number = self._numbers[state] = len(self._states)
            self._states.append(state)
            self._reached.append(step)
        elif step[2] < self._reached[number][2]:
            self._reached[number] = step
        else:
            return True
        self._queue.setdefault(estimate, []).append(number)
        return True

    def _start_states(self) -> Iterator[tuple[int, State]]:
        """Yield the state of each start, after the estimated length of its paths."""
        for decision_lists in self._starts:
            lists: list[ListState] = []
            for clauses, default in decision_lists:
                list_state = self._settle(
                    default, [(clause, self._dfas[clause >> 1].start()) for clause in clauses]
                )
                if list_state is False:
                    break
                lists.append(list_state)
            else:
                state = (PathDfa.START, tuple(lists))
                remaining = self._estimate(state, 1)
                if remaining is not None:
                    yield 1 + remaining, state

    def _settle(self, answer: bool, clauses: list[tuple[int, int]]) -> ListState | Literal[False]:
        """Return a list without clauses that cannot change its answer; False if it rejects."""
        kept = []
        for clause, state in clauses:
            if state == MATCHED:
                answer = bool(clause & 1)
                break
            if state != DEAD:
                kept.append((clause, state))
        while kept and bool(kept[-1][0] & 1) == answer:
            kept.pop()
        if not kept:
            return None if answer else False
        return answer, tuple(kept)

    def _successors(self, state: State) -> Iterator[tuple[int, State]]:
        place, lists = state
        distinguished: set[int] = set()
        for list_state in lists:
            if list_state:
                for clause, at in list_state[1]:
                    distinguished |= self._dfas[clause >> 1].distinguished(at)
        in_query = self._path_dfa.in_query[place]
        for octets, following in self._path_dfa.classes[place]:
            others = next((octet for octet in octets if octet not in distinguished), None)
            for octet in [others, *(octet for octet in octets if octet in distinguished)]:
                if octet is not None:
                    stepped = self._step_lists(lists, octet, in_query)
                    if stepped is not None:
                        yield octet, (following, stepped)

    def _step_lists(
        self, lists: tuple[ListState, ...], octet: int, in_query: bool
    ) -> tuple[ListState, ...] | None:
        stepped_lists: list[ListState] = []
        for list_state in lists:
            if list_state is None:
                stepped_lists.append(None)
                continue
            answer, clauses = list_state
            stepped = [
                (clause, self._dfas[clause >> 1].step(at, octet, in_query))
                for clause, at in clauses
            ]
            settled = self._settle(answer, stepped)
            if settled is False:
                return None
            stepped_lists.append(settled)
        return tuple(stepped_lists)

    def _is_result(self, state: State) -> bool:
        place, lists = state
        return not self._path_dfa.min_remaining[place] and all(map(self._accepts, lists))

    def _accepts(self, list_state: ListState) -> bool:
        """Tell whether a decision list accepts the path that ends in this state."""
        if list_state is None:
            return True
        answer, clauses = list_state
        for clause, at in clauses:
            if self._dfas[clause >> 1].accepts(at):
                return bool(clause & 1)
        return answer

    def _estimate(self, state: State, length: int) -> int | None:
        """
        Return the A* heuristic: a lower bound for the octets up to a result.

        If any path is permitted, a likely number instead. None if a path would be too long.
        """
        place, lists = state
        path_rest = self._path_dfa.min_remaining[place]
        to_accept = [
            min(
                self._dfas[clause >> 1].min_remaining(at)
                for clause, at in list_state[1]
                if clause & 1
            )
            for list_state in lists
            if list_state and not list_state[0]
        ]
        least = max([path_rest, *to_accept])
        if length + least >= self._limit:
            return None
        return least if self._shortest else max(path_rest, sum(to_accept))

    def _path(self, number: int) -> bytes:
        octets = bytearray()
        while self._reached[number][2] > 1:
            number, octet, _ = self._reached[number]
            octets.append(octet)
        return b"/" + bytes(reversed(octets))
