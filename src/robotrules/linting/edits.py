"""
Edits: apply the edits of notes to octets, without overlaps.

This module proves nothing about the meaning of an edit; `fixing` does.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence

from robotrules.linting.note import Edit, LintNote


def apply_edits(body: bytes, notes: Iterable[LintNote]) -> bytes:
    """Return octets after the edits of notes, which must not overlap."""
    edits = sorted(dict.fromkeys(edit for note in notes if note.fix for edit in note.fix.edits))
    parts, at = [], 0
    for edit in edits:
        parts += [body[at : edit.start], edit.octets]
        at = edit.end
    return b"".join([*parts, body[at:]])


def select_disjoint(notes: Iterable[LintNote], before: Sequence[LintNote] = ()) -> list[LintNote]:
    """Return the notes whose edits overlap neither earlier ones nor those of *before*."""
    # Sorted and free of overlaps, so only the neighbours of another edit can overlap it.
    taken = sorted({edit for note in before if note.fix for edit in note.fix.edits})
    selected = []
    for note in notes:
        edits: Sequence[Edit] = note.fix.edits if note.fix else ()
        if len(edits) > 1:
            edits = sorted(set(edits))
        if any(map(_overlap, edits, edits[1:])) or any(_is_taken(edit, taken) for edit in edits):
            continue
        selected.append(note)
        for edit in edits:
            insort(taken, edit)
    return selected


def _is_taken(edit: Edit, taken: Sequence[Edit]) -> bool:
    """Return whether an edit overlaps one of several sorted ones; an equal edit does not."""
    at = bisect_left(taken, edit)
    if taken[at : at + 1] == [edit]:
        return False
    return any(_overlap(edit, other) for other in taken[max(at - 1, 0) : at + 1])


def _overlap(one: Edit, other: Edit) -> bool:
    return (one.start < other.end and other.start < one.end) or one.start == other.start
