"""
Text edits: the LSP edits that turn a document into another version of it.

Edits cover as few lines as is cheap to compute, so that cursors and folds stay in place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

from lsprotocol.types import TextEdit

from robotrules.editing.document import OpenDocument
from robotrules.editing.positions import decode_text
from robotrules.linting.note import Edit

__all__ = ["diff_text_edits", "to_text_edits"]

# The line-by-line diff is quadratic in the worst case. Above this many lines, one edit replaces
# everything from the first line that differs to the last.
MAX_DIFF_LINES = 1_000
_LINE = re.compile(rb"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")


def to_text_edits(document: OpenDocument, edits: Iterable[Edit]) -> list[TextEdit]:
    """Return byte edits as LSP text edits, sorted, without duplicates."""
    return [
        TextEdit(document.positions.to_range(start, end), decode_text(octets))
        for start, end, octets in sorted(dict.fromkeys(edits))
    ]


def diff_text_edits(document: OpenDocument, body: bytes) -> list[TextEdit]:
    """Return text edits of whole lines that turn the parsed part of *document* into *body*."""
    return to_text_edits(document, _diff(document.robots.body, body))


def _diff(old: bytes, new: bytes) -> Iterable[Edit]:
    if old == new:
        return
    old_lines, new_lines = _LINE.findall(old), _LINE.findall(new)
    shorter = min(len(old_lines), len(new_lines))
    head = 0
    while head < shorter and old_lines[head] == new_lines[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old_lines[-1 - tail] == new_lines[-1 - tail]:
        tail += 1
    old_middle = old_lines[head : len(old_lines) - tail]
    new_middle = new_lines[head : len(new_lines) - tail]
    offset = sum(map(len, old_lines[:head]))
    if len(old_middle) + len(new_middle) > MAX_DIFF_LINES:
        yield Edit(offset, offset + sum(map(len, old_middle)), b"".join(new_middle))
        return
    starts = [offset]
    for line in old_middle:
        starts.append(starts[-1] + len(line))
    opcodes = SequenceMatcher(None, old_middle, new_middle, autojunk=False).get_opcodes()
    for tag, first, last, first_new, last_new in opcodes:
        if tag != "equal":
            yield Edit(starts[first], starts[last], b"".join(new_middle[first_new:last_new]))
