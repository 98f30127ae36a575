"""
Places: octets of a body ↔ lines and columns as editors count them.

Ours are octet spans. An editor counts lines from 0 and, in a line, units of an encoding that both
sides agree on: UTF-16 unless the client prefers another (LSP 3.17, Position). Lines are the same on
both sides: CR, LF and CRLF end one, and nothing else does (RFC 9309 §2.2).

It does not know what the octets say.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from lsprotocol.types import Position, Range

__all__ = ["PositionMap", "octets_of_text", "text_of_octets"]

_LINE_END = re.compile(rb"\r\n?|\n")
# Octets of one unit, and the codec that has them.
_UNITS = {"utf-16": (2, "utf-16-le"), "utf-32": (4, "utf-32-le")}


def octets_of_text(text: str) -> bytes:
    """
    Return a text as UTF-8; half a surrogate pair, which no file can hold, becomes U+FFFD.

    Both have one unit of UTF-16, so no other place moves.
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def text_of_octets(octets: bytes) -> str:
    """Return octets as a text that an editor can hold."""
    return octets.decode("utf-8", "replace")


class PositionMap:
    """The places of one body. Made once for a text; each question costs at most one line."""

    __slots__ = ("_ascii", "_encoding", "_ends", "_octets", "_starts")

    def __init__(self, octets: bytes, encoding: str = "utf-16") -> None:
        """*encoding* is what columns count: `utf-8`, `utf-16` or `utf-32`."""
        if encoding != "utf-8" and encoding not in _UNITS:
            raise ValueError(f"{encoding!r} is no position encoding: use utf-8, utf-16 or utf-32")
        self._octets = octets
        self._encoding = encoding
        self._ascii = octets.isascii()
        self._starts = [0]
        self._ends: list[int] = []
        for found in _LINE_END.finditer(octets):
            self._ends.append(found.start())
            self._starts.append(found.end())
        self._ends.append(len(octets))

    def __len__(self) -> int:
        """Return how many lines there are; what follows the last line end is one."""
        return len(self._starts)

    def line_of(self, offset: int) -> int:
        """Return the number of the line, from 0, that an octet is in."""
        return max(bisect_right(self._starts, offset) - 1, 0)

    def span_of(self, line: int) -> tuple[int, int]:
        """Return where a line, from 0, starts and ends; its line end is no part of it."""
        line = min(max(line, 0), len(self._starts) - 1)
        return self._starts[line], self._ends[line]

    def position(self, offset: int) -> Position:
        """Return the position of an octet; inside of a line end, the end of the line."""
        line = self.line_of(offset)
        start, end = self.span_of(line)
        return Position(line, self._units(self._octets[start : max(min(offset, end), start)]))

    def range(self, start: int, end: int) -> Range:
        """Return the range of a span."""
        return Range(self.position(start), self.position(max(start, end)))

    def offset(self, position: Position) -> int:
        """
        Return the octet at a position.

        Past the end of a line it is that end, past the last line the end of the file (LSP 3.17).
        A position inside of a character is where the character starts.
        """
        if position.line >= len(self._starts):
            return len(self._octets)
        start, end = self.span_of(position.line)
        units = position.character
        if self._ascii:
            return min(start + units, end)
        line = self._octets[start:end]
        if self._encoding == "utf-8":
            return start + len(line[:units].decode("utf-8", "ignore").encode())
        width, codec = _UNITS[self._encoding]
        before = line.decode("utf-8", "replace").encode(codec)[: units * width]
        return start + len(before.decode(codec, "ignore").encode())

    def _units(self, octets: bytes) -> int:
        """Return how many columns octets take; a character that is cut takes none."""
        if self._ascii:
            return len(octets)
        text = octets.decode("utf-8", "ignore")
        if self._encoding == "utf-8":
            return len(text.encode())
        width, codec = _UNITS[self._encoding]
        return len(text.encode(codec)) // width
