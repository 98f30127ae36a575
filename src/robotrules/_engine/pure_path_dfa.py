"""
The DFA of all paths: octet strings that are the path of some URL.

It corresponds to `path_dfa.rs` of the native engine, and is built once per `Languages`. It does not
use patterns: `pure_product_search.py` combines both DFAs.
"""

from __future__ import annotations

from robotrules._engine.pure_pattern_dfa import QUERY_MARK
from robotrules._engine.pure_rules import SET_DIGIT_BIT, UNRESERVED

# The preferred representatives of octets that no pattern distinguishes, in order of preference.
PREFERRED_OCTETS = (
    b"xyzabcdefghijklmnopqrstuvw0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_~./?=&%"
    + b"!'()*+,:;@$"
    + bytes(range(1, 256))
)
HEX = b"0123456789ABCDEF"


class PathDfa:
    """
    The DFA; its start state is after the first `/`.

    In normal form a path has escapes in upper case, only of octets that need them; no dot segment
    before the `?`; and only the delimiters of each part (AMB-33). The digits of an escape are those
    of the compared form (AMB-43). As given, a path has any octet except NUL and `#`.
    """

    START = 0

    def __init__(self, as_given: bool, units: bool) -> None:
        self._states: dict[tuple[str, ...], int] = {}
        # Of each state: its transitions, as octets and the state they lead to; the least number of
        # octets up to the end of a path; whether a `?` was read.
        self.classes: list[list[tuple[bytes, int]]] = []
        self.min_remaining: list[int] = []
        self.in_query: list[bool] = []
        self._as_given = as_given
        self._digits = HEX.translate(SET_DIGIT_BIT) if units else HEX
        self._number(("segment", "path"))

    def _number(self, state: tuple[str, ...]) -> int:
        if state not in self._states:
            number = self._states[state] = len(self.classes)
            remaining = {"dot": 1, "dots": 1, "percent": 2, "digit": 1}
            self.classes.append([])
            self.min_remaining.append(remaining.get(state[0], 0))
            self.in_query.append("query" in state)
            by_next: dict[int, bytearray] = {}
            for octet in dict.fromkeys(PREFERRED_OCTETS):
                following = self._next(state, octet)
                if following is not None:
                    by_next.setdefault(self._number(following), bytearray()).append(octet)
            # The search expands the last state first: plain octets come last.
            self.classes[number] = [(bytes(octets), to) for to, octets in by_next.items()][::-1]
        return self._states[state]

    def _next(self, state: tuple[str, ...], octet: int) -> tuple[str, ...] | None:
        """Return the state after an octet; None if no path has this octet here."""
        place, part = state[0], state[-1]
        if self._as_given:
            if octet == ord("#"):
                return None
            return ("inside", "query" if octet == QUERY_MARK or part == "query" else "path")
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
    """Return the second digits that make the escape of an octet that needs escaping."""
    digits = enumerate(HEX.decode())
    return "".join(digit for second, digit in digits if first * 16 + second not in UNRESERVED)
