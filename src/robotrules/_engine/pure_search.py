"""
Which paths do some patterns match and others not: a shortest one, or the proof that there is none.

A question is a list of ladders. A ladder has patterns in the order of precedence, each with a yes
or a no; a path gets the word of the first that matches, and the word at the foot if none does. What
is sought is a shortest path to which all ladders say yes. Verdicts, deciding rules and differences
of verdicts are all questions of this form.

The automata of the patterns are walked together, A* over their product, with what has matched and
what no longer can taken out of the state. Octets that no pattern of a state asks about are one
octet. Only real paths are walked: those that the URL's normal form can give (`Universe`). Patterns
that say no are looked at only when a path was found that they object to; the found path is then
sought again with them. As what is walked always allows more than the question does, a path that all
agree on is a shortest one, and where nothing is found there is nothing.

It does not know rules, verdicts or files. The native engine walks in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from robotrules._engine.pure_machine import DEAD, MARK, MATCHED, Machine
from robotrules._engine.pure_rules import UNRESERVED, Patterns
from robotrules._engine.pure_settings import Settings

# Octets that stand for all that nobody asks about, in the order in which they are taken.
FILLERS = (
    b"xyzabcdefghijklmnopqrstuvw0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_~./?=&%"
    + b"!'()*+,:;@$"
    + bytes(range(1, 256))
)
HEX = b"0123456789ABCDEF"

Ladder = tuple[Sequence[int], bool]
Sought = tuple[bool, bytes | None, int, list[list[int]]]
# A ladder as far as it has been climbed: the word so far, and the rungs that may still change it
# with the states of their patterns. None: it says yes, whatever follows.
Climb = tuple[bool, tuple[tuple[int, int], ...]] | None
# Where in the universe, and how far each ladder has been climbed.
State = tuple[int, tuple[Climb, ...]]


# --- Real paths -----------------------------------------------------------------------------------


class Universe:
    """
    The octet strings that are paths, as an automaton.

    In the normal form a path has escapes in upper case, of octets that need them; no dot segment
    before the `?`; and only the delimiters of the part it is in (§2.2.2, AMB-33). Compared as
    given, a path has any octet but NUL and `#`.
    """

    START = 0

    def __init__(self, settings: Settings) -> None:
        self._states: dict[tuple[str, ...], int] = {}
        # Of each state: octets that lead to the same one, by the state; whether a path may end
        # here; how many octets are missing if not; whether a `?` was read.
        self.classes: list[list[tuple[bytes, int]]] = []
        self.ends: list[bool] = []
        self.to_go: list[int] = []
        self.queried: list[bool] = []
        self._as_given = "url_as_given" in settings.switches
        self._number(("start",))

    def _number(self, state: tuple[str, ...]) -> int:
        if state not in self._states:
            number = self._states[state] = len(self.classes)
            missing = {"start": 1, "dot": 1, "dots": 1, "percent": 2, "digit": 1}.get(state[0], 0)
            self.classes.append([])
            self.ends.append(missing == 0)
            self.to_go.append(missing)
            self.queried.append("query" in state)
            by_next: dict[int, bytearray] = {}
            for octet in dict.fromkeys(FILLERS):
                following = self._next(state, octet)
                if following is not None:
                    by_next.setdefault(self._number(following), bytearray()).append(octet)
            # What is walked last is found first: plain octets last of all.
            self.classes[number] = [(bytes(found), to) for to, found in by_next.items()][::-1]
        return self._states[state]

    def _next(self, state: tuple[str, ...], octet: int) -> tuple[str, ...] | None:
        """Return the state after an octet; None if no path has it there."""
        place, part = state[0], state[-1]
        if place == "start":
            return ("segment", "path") if octet == ord("/") else None
        if self._as_given:
            if octet == ord("#"):
                return None
            return ("inside", "query" if octet == MARK or part == "query" else "path")
        if place == "percent":
            return ("digit", _second_digits(octet), part) if octet in HEX else None
        if place == "digit":
            return ("inside", part) if chr(octet) in state[1] else None
        if octet == ord("%"):
            return ("percent", part)
        if part == "query":
            return ("inside", part) if octet in UNRESERVED or octet in b"=&" else None
        if octet in b"/?":
            if place in ("dot", "dots"):
                return None  # the segment would have been removed
            return ("segment", part) if octet == ord("/") else ("inside", "query")
        if octet == ord(".") and place in ("segment", "dot"):
            return ("dot" if place == "segment" else "dots", part)
        return ("inside", part) if octet in UNRESERVED else None


def _second_digits(first: int) -> str:
    """Return the digits that make an escape of an octet that needs one."""
    digits = HEX.decode()
    return "".join(d for d in digits if int(chr(first) + d, 16) not in UNRESERVED)


# --- The search -----------------------------------------------------------------------------------


class Languages:
    """Patterns that are asked about together, in the order of precedence."""

    def __init__(self, settings: Settings, patterns: Sequence[tuple[bytes, bool]]) -> None:
        # Under /robots.txt no rule is consulted (AMB-45): as if one stood above all others.
        found = list(Patterns(patterns, settings).entries())
        self._entries = [(rule, pattern.form, says) for pattern, rule, says in found]
        self._machines = [Machine(pattern) for pattern, _, _ in found]
        self._universe = Universe(settings)

    def entries(self) -> list[tuple[int, bytes, int]]:
        """
        Return number of the rule, normal form of the pattern, and what it says.

        In the order of precedence; the number is -2 for `/robots.txt` itself. What it says is as in
        `Matcher.decide()`. Patterns that cannot match at all are left out.
        """
        return self._entries

    def seek(self, ladders: Sequence[Ladder], budget: int) -> Sought:
        """
        Seek a shortest path to which all *ladders* say yes.

        A rung is the position of an entry, shifted left by one, plus 1 for yes. Returns whether it
        was decided within *budget* states; the path, if there is one; how many states were seen;
        and the entries of each ladder that said no to what was found on the way.
        """
        questions = [_Question(rungs, foot, self._machines) for rungs, foot in ladders]
        wanted = [self._machines[only].first for q in questions for only in q.only()]
        for question in questions:
            question.leave_out(wanted)
        spent = 0
        while True:
            walk = _Walk(self._machines, self._universe, [q.relaxed() for q in questions])
            path = walk.run(budget - spent)
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


class _Walk:
    """One walk through the product of the automata of some ladders."""

    def __init__(
        self, machines: Sequence[Machine], universe: Universe, ladders: Sequence[Ladder]
    ) -> None:
        self._machines, self._universe, self._ladders = machines, universe, ladders
        self.seen, self.exhausted = 0, False

    def run(self, budget: int) -> bytes | None:
        """Return a shortest path to which all ladders say yes; None if there is none, or no more
        than *budget* states may be seen."""
        climbs: list[Climb] = []
        for rungs, foot in self._ladders:
            climb = self._settle(foot, [(r, self._machines[r >> 1].start()) for r in rungs])
            if climb is False:
                return None
            climbs.append(climb)
        start = (Universe.START, tuple(climbs))
        numbers = {start: 0}
        states, parents, lengths = [start], [(0, 0)], [0]
        # States by what their paths come to at least; of equals the one found last.
        queue: dict[int, list[int]] = {self._to_go(start): [0]}
        least, done = self._to_go(start), set()
        self.seen = 1
        while queue:
            while least not in queue:
                least += 1
            waiting = queue[least]
            number = waiting.pop()
            if not waiting:
                del queue[least]
            if number in done:
                continue
            done.add(number)
            if self._is_found(states[number]):
                return _path(parents, number)
            length = lengths[number] + 1
            for octet, state in self._successors(states[number]):
                known = numbers.get(state)
                if known is None:
                    if self.seen >= budget:
                        self.exhausted = True
                        return None
                    known = numbers[state] = len(states)
                    self.seen += 1
                    states.append(state)
                    parents.append((number, octet))
                    lengths.append(length)
                elif length < lengths[known]:
                    parents[known], lengths[known] = (number, octet), length
                else:
                    continue
                queue.setdefault(length + self._to_go(state), []).append(known)
        return None

    def _settle(self, word: bool, rungs: list[tuple[int, int]]) -> Climb | Literal[False]:
        """Return a ladder with what cannot change its word taken out; False: it says no."""
        kept = []
        for rung, state in rungs:
            if state == MATCHED:
                word = bool(rung & 1)
                break
            if state != DEAD:
                kept.append((rung, state))
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
                for rung, at in climb[1]:
                    asked |= self._machines[rung >> 1].symbols(at)
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
            word, rungs = climb
            stepped = [(r, self._machines[r >> 1].step(at, octet, queried)) for r, at in rungs]
            settled = self._settle(word, stepped)
            if settled is False:
                return None
            found.append(settled)
        return tuple(found)

    def _is_found(self, state: State) -> bool:
        place, climbs = state
        return self._universe.ends[place] and all(self._says(climb) for climb in climbs)

    def _says(self, climb: Climb) -> bool:
        """Tell what a ladder says to the path that ends here."""
        if climb is None:
            return True
        word, rungs = climb
        for rung, at in rungs:
            if self._machines[rung >> 1].accepts(at):
                return bool(rung & 1)
        return word

    def _to_go(self, state: State) -> int:
        """Return a number of octets that what is sought is at least away."""
        place, climbs = state
        most = self._universe.to_go[place]
        for climb in climbs:
            if climb and not climb[0]:
                near = min(self._machines[r >> 1].to_go(at) for r, at in climb[1] if r & 1)
                most = max(most, near)
        return most


def _path(parents: list[tuple[int, int]], number: int) -> bytes:
    octets = bytearray()
    while number:
        number, octet = parents[number]
        octets.append(octet)
    return bytes(reversed(octets))
