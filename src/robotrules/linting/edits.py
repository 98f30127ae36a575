"""
Edits: the edits of notes applied to octets, each at its place and none over another.

It does not know what a fix is for, and proves nothing.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence

from robotrules.linting.note import Edit, LintNote


def edited(body: bytes, notes: Iterable[LintNote]) -> bytes:
    """Return octets after the edits of notes, which do not overlap."""
    edits = sorted(dict.fromkeys(edit for note in notes if note.fix for edit in note.fix.edits))
    parts, at = [], 0
    for edit in edits:
        parts += [body[at : edit.start], edit.octets]
        at = edit.end
    return b"".join([*parts, body[at:]])


def apart(notes: Iterable[LintNote], before: Sequence[LintNote] = ()) -> list[LintNote]:
    """Return the notes whose edits overlap no earlier ones, nor those of *before*."""
    # Sorted, and none overlaps another one: only neighbours can overlap one more.
    taken = sorted({edit for note in before if note.fix for edit in note.fix.edits})
    found = []
    for note in notes:
        edits: Sequence[Edit] = note.fix.edits if note.fix else ()
        if len(edits) > 1:
            edits = sorted(set(edits))
        if any(map(_overlap, edits, edits[1:])) or any(_is_taken(one, taken) for one in edits):
            continue
        found.append(note)
        for edit in edits:
            insort(taken, edit)
    return found


def _is_taken(edit: Edit, taken: Sequence[Edit]) -> bool:
    """Tell whether an edit overlaps one of some that are sorted; the same twice is once."""
    at = bisect_left(taken, edit)
    if taken[at : at + 1] == [edit]:
        return False
    return any(_overlap(edit, other) for other in taken[max(at - 1, 0) : at + 1])


def _overlap(one: Edit, other: Edit) -> bool:
    return (one.start < other.end and other.start < one.end) or one.start == other.start
