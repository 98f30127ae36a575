"""
Positions: byte offsets into a body ↔ LSP positions.

The parser uses byte offsets. LSP counts lines from 0 and, within a line, code units of an encoding
that client and server negotiate: UTF-16 unless the client prefers another (LSP 3.17, Position).
Both split lines alike: CR, LF and CRLF end a line, and nothing else does (RFC 9309 §2.2).
An editor has a file with invalid UTF-8 as text in which each invalid sequence is U+FFFD, so that is
how such a sequence is counted.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

from lsprotocol.types import Position, Range

__all__ = ["PositionMap", "decode_text", "encode_text"]

_LINE_END = re.compile(rb"\r\n?|\n")
# One character in UTF-8, or an invalid sequence that decoders replace with one U+FFFD: the longest
# start of a character, or else a byte (Unicode 15 §3.9, "U+FFFD Substitution of Maximal Subparts").
_CHARACTER = re.compile(
    rb"[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]?"
    rb"|(?:\xe0[\xa0-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]|\xed[\x80-\x9f])[\x80-\xbf]?"
    rb"|(?:\xf0[\x90-\xbf]|[\xf1-\xf3][\x80-\xbf]|\xf4[\x80-\x8f])(?:[\x80-\xbf][\x80-\xbf]?)?"
    rb"|.",
    re.DOTALL,
)
# For each encoding: bytes per code unit, and the codec.
_UNITS = {"utf-16": (2, "utf-16-le"), "utf-32": (4, "utf-32-le")}


def encode_text(text: str) -> bytes:
    """
    Return *text* as UTF-8; a lone surrogate, which UTF-8 cannot encode, becomes U+FFFD.

    Both are one UTF-16 code unit, so all other positions stay the same.
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def decode_text(octets: bytes) -> str:
    """Return *octets* as text for an editor; invalid UTF-8 becomes U+FFFD."""
    return octets.decode("utf-8", "replace")


class PositionMap:
    """Maps offsets and positions of one body. A lookup scans at most one line."""

    __slots__ = ("_ascii", "_encoding", "_ends", "_octets", "_starts", "_valid")

    def __init__(self, octets: bytes, encoding: str = "utf-16") -> None:
        """*encoding* is the position encoding: `utf-8`, `utf-16` or `utf-32`."""
        if encoding != "utf-8" and encoding not in _UNITS:
            raise ValueError(
                f"{encoding!r} is not a position encoding: use utf-8, utf-16 or utf-32"
            )
        self._octets = octets
        self._encoding = encoding
        self._ascii = octets.isascii()
        self._valid = self._ascii or _is_valid(octets)
        if b"\r" in octets:
            line_ends = [line_end.span() for line_end in _LINE_END.finditer(octets)]
            self._starts = [0, *(end for _, end in line_ends)]
            self._ends = [*(start for start, _ in line_ends), len(octets)]
        else:  # most files, and faster
            lengths = [len(line) + 1 for line in octets.split(b"\n")]
            self._starts = [0, *accumulate(lengths[:-1])]
            self._ends = [start - 1 for start in self._starts[1:]] + [len(octets)]

    def __len__(self) -> int:
        """Return the number of lines, including the one after the last line end."""
        return len(self._starts)

    def line_at(self, offset: int) -> int:
        """Return the number, from 0, of the line that contains *offset*."""
        return max(bisect_right(self._starts, offset) - 1, 0)

    def line_span(self, line: int) -> tuple[int, int]:
        """Return the start and end offsets of a line, counted from 0, without its line end."""
        line = min(max(line, 0), len(self._starts) - 1)
        return self._starts[line], self._ends[line]

    def to_position(self, offset: int) -> Position:
        """Return the position of *offset*; inside a line end, the end of the line."""
        return Position(*self.locate(offset))

    def locate(self, offset: int) -> tuple[int, int]:
        """Return line and code units of the position of *offset*, which is faster for many."""
        line = self.line_at(offset)
        start, end = self._starts[line], self._ends[line]
        offset = max(min(offset, end), start)
        if self._ascii:
            return line, offset - start
        if not self._valid:
            offset = self._character_start(offset)
        return line, self._count_units(self._octets[start:offset])

    def to_range(self, start: int, end: int) -> Range:
        """Return the range of a span of offsets."""
        return Range(self.to_position(start), self.to_position(max(start, end)))

    def to_offset(self, position: Position) -> int:
        """
        Return the offset of *position*.

        Past the end of a line, it is the end of the line; past the last line, the end of the file
        (LSP 3.17). Inside a character, it is the start of the character.
        """
        if position.line >= len(self._starts):
            return len(self._octets)
        start, end = self.line_span(position.line)
        units = position.character
        if self._ascii:
            return min(start + units, end)
        line = self._octets[start:end]
        if not self._valid:
            return start + self._find_unit(line, units)
        if self._encoding == "utf-8":
            return start + len(line[:units].decode("utf-8", "ignore").encode())
        width, codec = _UNITS[self._encoding]
        before = line.decode("utf-8", "replace").encode(codec)[: units * width]
        return start + len(before.decode(codec, "ignore").encode())

    def _count_units(self, octets: bytes) -> int:
        """Return the number of code units in *octets*; an incomplete character counts as 0."""
        if self._ascii:
            return len(octets)
        text = octets.decode("utf-8", "ignore" if self._valid else "replace")
        if self._encoding == "utf-8":
            return len(text.encode())
        width, codec = _UNITS[self._encoding]
        return len(text.encode(codec)) // width

    def _character_start(self, offset: int) -> int:
        """Return where the character or invalid sequence around *offset* starts."""
        for start in range(max(offset - 3, 0), offset):
            # Only these bytes start a sequence of more than one byte, and they continue none.
            if self._octets[start] >= 0xC2:
                found = _CHARACTER.match(self._octets, start)
                if found and found.end() > offset:
                    return start
        return offset

    def _find_unit(self, line: bytes, units: int) -> int:
        """Return the offset of a code unit in a line with invalid UTF-8."""
        at = 0
        for character in _CHARACTER.finditer(line):
            units -= self._count_units(character[0])
            if units < 0:
                break
            at = character.end()
        return at


def _is_valid(octets: bytes) -> bool:
    try:
        octets.decode()
    except UnicodeDecodeError:
        return False
    return True
