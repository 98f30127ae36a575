"""
Places: convert octet offsets to lines and columns as other programs count them.

Lines are counted from 1, and end with CR, LF or CRLF (RFC 9309 §2.2). Columns count from 1, in
characters or UTF-16 code units; an octet that is not UTF-8 counts as one, a byte order mark as
none. The columns of a line are computed once, however many notes it has.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from typing import NamedTuple

_LINE_END = re.compile(rb"\r\n?|\n")
_BOM = b"\xef\xbb\xbf"


class Place(NamedTuple):
    """Line and column of an octet."""

    line: int
    column: int


class Places:
    """Converts the offsets of one body."""

    __slots__ = ("_body", "_columns", "_ends", "_starts", "_utf16")

    def __init__(self, body: bytes, *, utf16: bool = False) -> None:
        """*utf16*: columns are UTF-16 code units instead of characters."""
        self._body = body
        self._utf16 = utf16
        self._starts, self._ends = [0], []
        for match in _LINE_END.finditer(body):
            self._ends.append(match.start())
            self._starts.append(match.end())
        self._ends.append(len(body))
        self._columns: dict[int, array[int] | None] = {}

    def at(self, offset: int) -> Place:
        """Return the place of an octet; an octet of a line end is at the end of its line."""
        number = max(bisect_right(self._starts, offset) - 1, 0)
        start, end = self._starts[number], self._ends[number]
        within = max(min(offset, end), start) - start
        if number not in self._columns:
            self._columns[number] = self._count_units(self._body[start:end], number == 0)
        columns = self._columns[number]
        return Place(number + 1, 1 + (within if columns is None else columns[within]))

    def text(self, line: int) -> bytes:
        """Return a line without its line end."""
        return self._body[self._starts[line - 1] : self._ends[line - 1]]

    def span(self, line: int) -> tuple[int, int]:
        """Return where a line starts and ends."""
        return self._starts[line - 1], self._ends[line - 1]

    def _count_units(self, text: bytes, first: bool) -> array[int] | None:
        """Return the number of units before each octet of a line; None: one per octet."""
        if text.isascii():
            return None
        counts = array("L", [0]) * (len(text) + 1)
        at = units = 0
        if first and text.startswith(_BOM):
            at, text = len(_BOM), text[len(_BOM) :]
        for character in text.decode("utf-8", "surrogateescape"):
            octets = _count_octets(ord(character))
            counts[at : at + octets] = array("L", [units]) * octets
            at += octets
            units += 2 if octets == 4 and self._utf16 else 1
        counts[at] = units
        return counts


def _count_octets(code: int) -> int:
    """Return the octets of a character; an octet that was not UTF-8 is now a lone surrogate."""
    if code < 0x80 or 0xD800 <= code <= 0xDFFF:
        return 1
    return 2 if code < 0x800 else 3 if code < 0x10000 else 4
