"""
Edits: what an editor has to change to get from a file to another form of it.

Few and small where that is cheap, so that cursors and folds stay where they are. It does not know
why a file should change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

from lsprotocol.types import TextEdit

from robotrules.linting.note import Edit
from robotrules.lsp.document import OpenDocument
from robotrules.lsp.positions import text_of_octets

__all__ = ["between", "of_octets"]

# Lines that are compared one by one. The comparison is quadratic at worst: what is longer changes
# in one piece, from the first line that differs to the last.
MOST_COMPARED = 1_000
_LINE = re.compile(rb"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")


def of_octets(document: OpenDocument, edits: Iterable[Edit]) -> list[TextEdit]:
    """Return edits of octets as edits of the text; the same twice is once."""
    return [
        TextEdit(document.places.range(start, end), text_of_octets(octets))
        for start, end, octets in sorted(dict.fromkeys(edits))
    ]


def between(document: OpenDocument, body: bytes) -> list[TextEdit]:
    """Return the edits that make the parsed part of a document into *body*; whole lines."""
    return of_octets(document, _changes(document.robots.body, body))


def _changes(old: bytes, new: bytes) -> Iterable[Edit]:
    if old == new:
        return
    was, now = _LINE.findall(old), _LINE.findall(new)
    head = 0
    while head < min(len(was), len(now)) and was[head] == now[head]:
        head += 1
    tail = 0
    while tail < min(len(was), len(now)) - head and was[-1 - tail] == now[-1 - tail]:
        tail += 1
    was_middle, now_middle = was[head : len(was) - tail], now[head : len(now) - tail]
    at = sum(map(len, was[:head]))
    if len(was_middle) + len(now_middle) > MOST_COMPARED:
        yield Edit(at, at + sum(map(len, was_middle)), b"".join(now_middle))
        return
    starts = [at]
    for line in was_middle:
        starts.append(starts[-1] + len(line))
    found = SequenceMatcher(None, was_middle, now_middle, autojunk=False).get_opcodes()
    for tag, first, last, first_new, last_new in found:
        if tag != "equal":
            yield Edit(starts[first], starts[last], b"".join(now_middle[first_new:last_new]))
