"""
A path pattern as a deterministic finite automaton (DFA) over octets (RFC 9309 §2.2.3).

A pattern is a literal prefix and pieces. Each piece is placed at its leftmost match, which is never
worse than a later one, so that one position is the whole state; the KMP failure function gives the
next position after a mismatch. A piece with different normal forms in the path and in the query
(AMB-33) is searched in the form of the part it starts in; a piece that holds the `?` starts in the
path and ends in the query.

It corresponds to `kmp.rs` and `pattern_dfa.rs` of the native engine. A step costs the logarithm of
a piece in the worst case. It does not restrict octet strings to paths: `pure_path_dfa.py` does.
"""

from __future__ import annotations

from robotrules._engine.pure_rules import Pattern

# The state that never matches, and the state that matches whatever follows.
DEAD, MATCHED = -1, -2
QUERY_MARK = ord("?")


def failure_function(piece: bytes) -> list[int]:
    """
    Return the KMP failure function: the octets of *piece* still matched after a mismatch.

    Positions where the same octet would mismatch again are skipped, so that a chain of failures has
    at most logarithmic length.
    """
    failure, at = [0] * (len(piece) + 1), 0
    for position in range(1, len(piece)):
        # The last `at` octets before this position equal the first `at` octets.
        fits = piece[position] == piece[at]
        failure[position] = failure[at] if fits else at
        while at and piece[position] != piece[at]:
            at = failure[at]
        at += piece[position] == piece[at]
    failure[len(piece)] = at
    return failure


class Piece:
    """
    A literal between two wildcards.

    Its states, relative to `base`: 0..m matched octets of the form in the path, which serves both
    parts if the forms are equal; then 0..n matched octets of the form in the query; then the states
    after its `?`, each of which implies how many octets of the query form are matched.
    """

    def __init__(self, in_path: bytes, in_query: bytes, base: int, rest: int) -> None:
        self.in_path, self.in_query, self.base, self.rest = in_path, in_query, base, rest
        self.has_two_forms = in_path != in_query
        self.failure = failure_function(in_path)
        self.size = len(in_path) + 1
        if self.has_two_forms:
            self.query = self.size
            self.query_failure = failure_function(in_query)
            self.cross = self.query + len(in_query) + 1
            self.mark = in_path.find(b"?")
            self.size = self.cross
            if self.mark >= 0:
                self.size += len(in_path) - self.mark
                # For each state after the `?`: how many octets of the query form are matched.
                self.query_matched = [0]
                for octet in in_path[self.mark + 1 :]:
                    at = advance(in_query, self.query_failure, self.query_matched[-1], octet)
                    self.query_matched.append(at)
        self.least = min(len(in_path), len(in_query))

    def start(self, in_query: bool) -> int:
        return self.query if self.has_two_forms and in_query else 0

    def is_complete(self, at: int) -> bool:
        """Tell whether the piece is completely matched."""
        if not self.has_two_forms or at < self.query:
            return at == len(self.in_path)
        return at == self.cross - 1 or at - self.cross == len(self.in_path) - self.mark - 1

    def min_remaining(self, at: int) -> int:
        """Return the least number of octets up to a match."""
        if not self.has_two_forms:
            return len(self.in_path) - at
        if at < self.query:
            return min(len(self.in_path) - at, 1 + len(self.in_query))
        if at < self.cross:
            return len(self.in_query) - (at - self.query)
        after_mark = at - self.cross
        here = len(self.in_path) - self.mark - 1 - after_mark
        return min(here, len(self.in_query) - self.query_matched[after_mark])

    def step(self, at: int, octet: int, in_query: bool) -> int:
        if not self.has_two_forms:
            return advance(self.in_path, self.failure, at, octet)
        if at < self.query:
            if octet != QUERY_MARK or in_query:
                return advance(self.in_path, self.failure, at, octet)
            while at != self.mark and at:
                at = self.failure[at]
            return self.cross if at == self.mark else self.query
        if at < self.cross:
            here = advance(self.in_query, self.query_failure, at - self.query, octet)
            return self.query + here
        after_mark = at - self.cross
        next_octet = self.in_path[self.mark + 1 + after_mark : self.mark + 2 + after_mark]
        if next_octet and next_octet[0] == octet:
            return at + 1
        here = advance(self.in_query, self.query_failure, self.query_matched[after_mark], octet)
        return self.query + here

    def distinguished(self, at: int) -> set[int]:
        """Return the octets whose next state differs from that of an octet in no pattern."""
        if not self.has_two_forms or at < self.query:
            found = matching_octets(self.in_path, self.failure, at)
            return found | {QUERY_MARK} if self.has_two_forms else found
        if at < self.cross:
            return matching_octets(self.in_query, self.query_failure, at - self.query)
        after_mark = at - self.cross
        next_octet = set(self.in_path[self.mark + 1 + after_mark : self.mark + 2 + after_mark])
        return next_octet | matching_octets(
            self.in_query, self.query_failure, self.query_matched[after_mark]
        )


def advance(piece: bytes, failure: list[int], at: int, octet: int) -> int:
    """Return how many octets of *piece* are matched after one more octet."""
    if at == len(piece):
        at = failure[at]
    while at and piece[at] != octet:
        at = failure[at]
    return at + 1 if piece[at] == octet else 0


def matching_octets(piece: bytes, failure: list[int], at: int) -> set[int]:
    """Return the octets that match at a position, or at one that its failures lead to."""
    found = set()
    if at == len(piece):
        at = failure[at]
    while True:
        found.add(piece[at])
        if not at:
            return found
        at = failure[at]


class PatternDfa:
    """The DFA of a pattern. A state up to `len(prefix)` counts the octets of the prefix."""

    def __init__(self, pattern: Pattern) -> None:
        self.matches = pattern.matches_compared
        self.prefix = pattern.prefix
        pieces = list(pattern.pieces)
        # `*$` at the end, or an empty piece, matches anything.
        self.anchored = pattern.anchored and not (pieces and not pieces[-1][0])
        pieces = [piece for piece in pieces if piece[0]]
        self.pieces: list[Piece] = []
        base = len(self.prefix) + 1
        rest = sum(min(map(len, piece)) for piece in pieces)
        self.pieces_length = rest
        for in_path, in_query in pieces:
            rest -= min(len(in_path), len(in_query))
            self.pieces.append(Piece(in_path, in_query, base, rest))
            base += self.pieces[-1].size
        self._piece_of = [
            number for number, piece in enumerate(self.pieces) for _ in range(piece.size)
        ]
        self._distinguished: dict[int, frozenset[int]] = {}

    def _piece_entry(self, number: int, in_query: bool) -> int:
        """Return the first state of a piece; MATCHED after the last piece."""
        if number < len(self.pieces):
            piece = self.pieces[number]
            return piece.base + piece.start(in_query)
        return MATCHED

    def start(self) -> int:
        """Return the state after the first `/`, with which every path starts."""
        if self.prefix or (self.anchored and not self.pieces):
            return self.step(0, ord("/"), False)
        return self.step(self._piece_entry(0, False), ord("/"), False) if self.pieces else MATCHED

    def step(self, state: int, octet: int, in_query: bool) -> int:
        """Return the next state; *in_query*: a `?` was read before this octet."""
        prefix = self.prefix
        if state <= len(prefix):
            if state == len(prefix) or prefix[state] != octet:
                return DEAD
            state += 1
            if state < len(prefix) or (self.anchored and not self.pieces):
                return state
            return self._piece_entry(0, in_query or octet == QUERY_MARK)
        number = self._piece_of[state - len(prefix) - 1]
        piece = self.pieces[number]
        at = piece.step(state - piece.base, octet, in_query)
        if piece.is_complete(at) and not (self.anchored and number + 1 == len(self.pieces)):
            return self._piece_entry(number + 1, in_query or octet == QUERY_MARK)
        return piece.base + at

    def accepts(self, state: int) -> bool:
        """Tell whether a path that ends in this state, which is not MATCHED, matches."""
        if not self.anchored:
            return False
        if state <= len(self.prefix):
            return state == len(self.prefix) and not self.pieces
        number = self._piece_of[state - len(self.prefix) - 1]
        piece = self.pieces[number]
        return number + 1 == len(self.pieces) and piece.is_complete(state - piece.base)

    def min_remaining(self, state: int) -> int:
        """Return a lower bound for the number of octets up to a match."""
        if state <= len(self.prefix):
            return len(self.prefix) - state + self.pieces_length
        piece = self.pieces[self._piece_of[state - len(self.prefix) - 1]]
        return piece.min_remaining(state - piece.base) + piece.rest

    def distinguished(self, state: int) -> frozenset[int]:
        """Return the octets whose next state differs from that of an octet in no pattern."""
        found = self._distinguished.get(state)
        if found is None:
            if state <= len(self.prefix):
                found = frozenset(self.prefix[state : state + 1])
            else:
                piece = self.pieces[self._piece_of[state - len(self.prefix) - 1]]
                found = frozenset(piece.distinguished(state - piece.base))
            self._distinguished[state] = found
        return found
