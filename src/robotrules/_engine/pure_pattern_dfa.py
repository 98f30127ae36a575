"""
One path pattern as a deterministic automaton over octets as they are compared (RFC 9309 §2.2.3).

A pattern is a literal beginning and pieces that float behind it, each found as early as it can be:
that is never worse than later, so one position is enough to know, and a failure function says where
to go on after an octet that does not fit. A piece that is spelled one way in the path and another
way in the query (AMB-33) is looked for in the spelling of the part it starts in; one that holds the
`?` itself crosses over. States are small numbers; only those that are reached cost anything but
room for the failure function.

It does not know which octet strings are paths, or any other pattern: `pure_search.py` does.
"""

from __future__ import annotations

from robotrules._engine.pure_rules import Pattern

# Where a pattern can never match any more, and where it has matched whatever follows.
DEAD, MATCHED = -1, -2
MARK = ord("?")


def failure(piece: bytes) -> list[int]:
    """
    Return how much of *piece* is still matched after an octet that does not fit, by position.

    Where the octet that follows would be the same, and fit no better, it says what comes next: so
    no chain of failures is longer than a logarithm, whatever the piece.
    """
    fall, at = [0] * (len(piece) + 1), 0
    for position in range(1, len(piece)):
        # The last octets before this position, `at` of them, are the first ones.
        fits = piece[position] == piece[at]
        fall[position] = fall[at] if fits else at
        while at and piece[position] != piece[at]:
            at = fall[at]
        at += piece[position] == piece[at]
    fall[len(piece)] = at
    return fall


class Piece:
    """
    What stands between two wildcards, as it is looked for.

    Its states, counted from `base`: 0..m octets matched of the spelling in the path, which serves
    for both parts where there is one spelling only; then 0..n of the one in the query; then those
    behind a `?` of its own, each of which also knows how much of the other spelling is matched.
    """

    def __init__(self, in_path: bytes, in_query: bytes, base: int, rest: int) -> None:
        self.in_path, self.in_query, self.base, self.rest = in_path, in_query, base, rest
        self.two = in_path != in_query
        self.fall = failure(in_path)
        self.size = len(in_path) + 1
        if self.two:
            self.query = self.size
            self.query_fall = failure(in_query)
            self.cross = self.query + len(in_query) + 1
            self.mark = in_path.find(b"?")
            self.size = self.cross
            if self.mark >= 0:
                self.size += len(in_path) - self.mark
                # At the same place: how much of the query's spelling what was read ends with.
                self.beside = [0]
                for octet in in_path[self.mark + 1 :]:
                    at = advance(in_query, self.query_fall, self.beside[-1], octet)
                    self.beside.append(at)
        self.least = min(len(in_path), len(in_query))

    def start(self, queried: bool) -> int:
        return self.query if self.two and queried else 0

    def is_full(self, at: int) -> bool:
        """Tell whether the piece has just been found."""
        if not self.two or at < self.query:
            return at == len(self.in_path)
        return at == self.cross - 1 or at - self.cross == len(self.in_path) - self.mark - 1

    def to_go(self, at: int) -> int:
        """Return the least number of octets that are missing."""
        if not self.two:
            return len(self.in_path) - at
        if at < self.query:
            return min(len(self.in_path) - at, 1 + len(self.in_query))
        if at < self.cross:
            return len(self.in_query) - (at - self.query)
        behind = at - self.cross
        here = len(self.in_path) - self.mark - 1 - behind
        return min(here, len(self.in_query) - self.beside[behind])

    def step(self, at: int, octet: int, queried: bool) -> int:
        if not self.two:
            return advance(self.in_path, self.fall, at, octet)
        if at < self.query:
            if octet != MARK or queried:
                return advance(self.in_path, self.fall, at, octet)
            while at != self.mark and at:
                at = self.fall[at]
            return self.cross if at == self.mark else self.query
        if at < self.cross:
            here = advance(self.in_query, self.query_fall, at - self.query, octet)
            return self.query + here
        behind = at - self.cross
        follows = self.in_path[self.mark + 1 + behind : self.mark + 2 + behind]
        if follows and follows[0] == octet:
            return at + 1
        here = advance(self.in_query, self.query_fall, self.beside[behind], octet)
        return self.query + here

    def symbols(self, at: int) -> set[int]:
        """Return the octets after which not all is as after an octet that occurs nowhere."""
        if not self.two or at < self.query:
            found = chain(self.in_path, self.fall, at)
            return found | {MARK} if self.two else found
        if at < self.cross:
            return chain(self.in_query, self.query_fall, at - self.query)
        behind = at - self.cross
        follows = set(self.in_path[self.mark + 1 + behind : self.mark + 2 + behind])
        return follows | chain(self.in_query, self.query_fall, self.beside[behind])


def advance(piece: bytes, fall: list[int], at: int, octet: int) -> int:
    """Return how much of *piece* is matched after one more octet."""
    if at == len(piece):
        at = fall[at]
    while at and piece[at] != octet:
        at = fall[at]
    return at + 1 if piece[at] == octet else 0


def chain(piece: bytes, fall: list[int], at: int) -> set[int]:
    """Return the octets that match at a position or at one that a failure leads to."""
    found = set()
    if at == len(piece):
        at = fall[at]
    while True:
        found.add(piece[at])
        if not at:
            return found
        at = fall[at]


class Machine:
    """A pattern's automaton. A state below `len(first)` is so much of the literal beginning."""

    def __init__(self, pattern: Pattern) -> None:
        self.matches = pattern.fits
        self.first = pattern.first
        pieces = list(pattern.pieces)
        # `*$` at the end, or a piece of nothing, asks for nothing.
        self.anchored = pattern.anchored and not (pieces and not pieces[-1][0])
        pieces = [piece for piece in pieces if piece[0]]
        self.pieces: list[Piece] = []
        base = len(self.first) + 1
        rest = sum(min(map(len, piece)) for piece in pieces)
        self.after_first = rest
        for in_path, in_query in pieces:
            rest -= min(len(in_path), len(in_query))
            self.pieces.append(Piece(in_path, in_query, base, rest))
            base += self.pieces[-1].size
        self._piece_of = [
            number for number, piece in enumerate(self.pieces) for _ in range(piece.size)
        ]
        self._symbols: dict[int, frozenset[int]] = {}

    def _entered(self, number: int, queried: bool) -> int:
        """Return the state before a piece, or behind the last."""
        if number < len(self.pieces):
            piece = self.pieces[number]
            return piece.base + piece.start(queried)
        return MATCHED

    def start(self) -> int:
        """Return the state behind the first `/`, with which every path starts."""
        if self.first or (self.anchored and not self.pieces):
            return self.step(0, ord("/"), False)
        return self.step(self._entered(0, False), ord("/"), False) if self.pieces else MATCHED

    def step(self, state: int, octet: int, queried: bool) -> int:
        """Return the next state; *queried* tells whether a `?` was read before this octet."""
        first = self.first
        if state <= len(first):
            if state == len(first) or first[state] != octet:
                return DEAD
            state += 1
            if state < len(first) or (self.anchored and not self.pieces):
                return state
            return self._entered(0, queried or octet == MARK)
        number = self._piece_of[state - len(first) - 1]
        piece = self.pieces[number]
        at = piece.step(state - piece.base, octet, queried)
        if piece.is_full(at) and not (self.anchored and number + 1 == len(self.pieces)):
            return self._entered(number + 1, queried or octet == MARK)
        return piece.base + at

    def accepts(self, state: int) -> bool:
        """Tell whether a path that ends here matches, of a state that is not MATCHED."""
        if not self.anchored:
            return False
        if state <= len(self.first):
            return state == len(self.first) and not self.pieces
        number = self._piece_of[state - len(self.first) - 1]
        piece = self.pieces[number]
        return number + 1 == len(self.pieces) and piece.is_full(state - piece.base)

    def to_go(self, state: int) -> int:
        """Return a number of octets that a match is at least away."""
        if state <= len(self.first):
            return len(self.first) - state + self.after_first
        piece = self.pieces[self._piece_of[state - len(self.first) - 1]]
        return piece.to_go(state - piece.base) + piece.rest

    def symbols(self, state: int) -> frozenset[int]:
        """Return the octets that lead elsewhere than an octet no pattern has."""
        found = self._symbols.get(state)
        if found is None:
            if state <= len(self.first):
                found = frozenset(self.first[state : state + 1])
            else:
                piece = self.pieces[self._piece_of[state - len(self.first) - 1]]
                found = frozenset(piece.symbols(state - piece.base))
            self._symbols[state] = found
        return found
