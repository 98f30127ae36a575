"""
The octet strings that are paths, as an automaton.

A path starts with `/`, and what may follow depends on the normal form of URLs (§2.2.2). It does not
know patterns: `pure_walk.py` walks both together.
"""

from __future__ import annotations

from robotrules._engine.pure_pattern_dfa import MARK
from robotrules._engine.pure_rules import MARKED, UNRESERVED

# Octets that stand for all that nobody asks about, in the order in which they are taken.
FILLERS = (
    b"xyzabcdefghijklmnopqrstuvw0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_~./?=&%"
    + b"!'()*+,:;@$"
    + bytes(range(1, 256))
)
HEX = b"0123456789ABCDEF"


class Universe:
    """
    Where a path may be, and what may follow there; the first state is behind the first `/`.

    In the normal form a path has escapes in upper case, of octets that need them; no dot segment
    before the `?`; and only the delimiters of the part it is in (AMB-33). The digits of an escape
    are those that are compared (AMB-43). Compared as given, a path has any octet but NUL and `#`.
    """

    START = 0

    def __init__(self, as_given: bool, units: bool) -> None:
        self._states: dict[tuple[str, ...], int] = {}
        # Of each state: octets that lead to the same one, by the state; how many octets are missing
        # until a path may end; whether a `?` was read.
        self.classes: list[list[tuple[bytes, int]]] = []
        self.to_go: list[int] = []
        self.queried: list[bool] = []
        self._as_given = as_given
        self._digits = HEX.translate(MARKED) if units else HEX
        self._number(("segment", "path"))

    def _number(self, state: tuple[str, ...]) -> int:
        if state not in self._states:
            number = self._states[state] = len(self.classes)
            missing = {"dot": 1, "dots": 1, "percent": 2, "digit": 1}
            self.classes.append([])
            self.to_go.append(missing.get(state[0], 0))
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
        if self._as_given:
            if octet == ord("#"):
                return None
            return ("inside", "query" if octet == MARK or part == "query" else "path")
        if place == "percent":
            first = self._digits.find(octet)
            return ("digit", _second_digits(first), part) if first >= 0 else None
        if place == "digit":
            second = self._digits.find(octet)
            fits = second >= 0 and chr(HEX[second]) in state[1]
            return ("inside", part) if fits else None
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
    digits = enumerate(HEX.decode())
    return "".join(digit for second, digit in digits if first * 16 + second not in UNRESERVED)
