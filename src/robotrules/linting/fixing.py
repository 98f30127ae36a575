"""
Fixing: the edits of notes applied to a file, and the proof that its meaning stays.

A fix that is not about verdicts changes none, whoever reads the file: before and after are compared
for every crawler and every URL (`analysis.compare`) under every profile, and a fix for which that
is not proved is left out. A fix that is about verdicts is applied on request only. It writes
nothing, and does not know which checks there are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from robotrules.analysis.files import compare
from robotrules.linting.note import Edit, LintNote
from robotrules.profile import PROFILES
from robotrules.robotstxt import RobotsTxt, parse

# Proofs that one pass may ask for: with more fixes than are in order, the rest waits.
MOST_PROOFS = 64
# A proof costs what the file costs: for so many octets in all, and at least so many proofs.
FEWEST_PROOFS, MOST_PROVED = 3, 4_000_000
# What a proof may cost: states for each question. Files of people need some hundreds.
BUDGET = 20_000


class Fixed(NamedTuple):
    """A file after some fixes."""

    body: bytes
    applied: tuple[LintNote, ...]
    left: tuple[LintNote, ...]
    """Notes with a fix that was not applied: it overlaps another, is about verdicts and nobody
    asked for that, or is not proved to keep the meaning."""
    refused: str
    """Why the file is left alone; empty: it is not."""


def fix(robots: RobotsTxt, notes: Iterable[LintNote], *, verdicts: bool = False) -> Fixed:
    """
    Return the file after the fixes of *notes*: once, so that lint may look again.

    *verdicts* also applies those that change verdicts. The others are proved to change none under
    any profile.
    """
    fixable = [note for note in notes if note.fix is not None]
    refused = _refusal(robots)
    if refused or not fixable:
        return Fixed(robots.body, (), tuple(fixable), refused if fixable else "")
    quiet = [note for note in fixable if note.fix and not note.fix.changes_verdicts]
    loud = [note for note in fixable if verdicts and note.fix and note.fix.changes_verdicts]
    taken = _apart(quiet, [])
    proved = _Proof(robots).proved(taken)
    applied = [*proved, *_apart(loud, proved)]
    done = set(map(id, applied))
    left = tuple(note for note in fixable if id(note) not in done)
    return Fixed(edited(robots.body, applied), tuple(applied), left, "")


def _refusal(robots: RobotsTxt) -> str:
    codes = {note.code for note in robots.notes}
    if not robots._document.complete or codes & {"truncated", "cut-line"}:
        return "it is not whole, or longer than is read"
    return ""


def edited(body: bytes, notes: Iterable[LintNote]) -> bytes:
    """Return octets after the edits of notes, which do not overlap."""
    edits = sorted(dict.fromkeys(edit for note in notes if note.fix for edit in note.fix.edits))
    parts, at = [], 0
    for edit in edits:
        parts += [body[at : edit.start], edit.octets]
        at = edit.end
    return b"".join([*parts, body[at:]])


def _apart(notes: Iterable[LintNote], before: Sequence[LintNote]) -> list[LintNote]:
    """Return the notes whose edits overlap no earlier ones, nor those of *before*."""
    # Sorted, and none overlaps another: only neighbours can overlap one more.
    taken = sorted({edit for note in before if note.fix for edit in note.fix.edits})
    found = []
    for note in notes:
        edits = sorted(set(note.fix.edits if note.fix else ()))
        if any(map(_overlap, edits, edits[1:])) or any(_is_taken(one, taken) for one in edits):
            continue
        found.append(note)
        for edit in edits:
            at = bisect_left(taken, edit)
            if taken[at : at + 1] != [edit]:
                taken.insert(at, edit)
    return found


def _is_taken(edit: Edit, taken: Sequence[Edit]) -> bool:
    """Tell whether an edit overlaps one of some that are sorted; the same twice is once."""
    at = bisect_left(taken, edit)
    if taken[at : at + 1] == [edit]:
        return False
    return any(_overlap(edit, other) for other in taken[max(at - 1, 0) : at + 1])


def _overlap(one: Edit, other: Edit) -> bool:
    return (one.start < other.end and other.start < one.end) or one.start == other.start


class _Proof:
    """Proofs that a file means the same after fixes, whichever profile reads it."""

    def __init__(self, robots: RobotsTxt) -> None:
        self._body = robots.body
        others = [one for one in PROFILES.values() if one != robots.profile]
        self._old = [robots, *(parse(robots.body, profile) for profile in others)]
        self._readings = [_reading(old) for old in self._old]
        affordable = MOST_PROVED // (len(robots.body) + 1)
        self._left = min(max(affordable, FEWEST_PROOFS), MOST_PROOFS)

    def proved(self, notes: Sequence[LintNote]) -> list[LintNote]:
        """Return of some fixes those that together are proved to change nothing."""
        good: list[LintNote] = []
        waiting = [list(notes)]
        by_check: dict[str, list[LintNote]] = {}
        for note in notes:
            by_check.setdefault(note.code, []).append(note)
        while waiting and self._left > 0:
            some = waiting.pop(0)
            if self._holds([*good, *some]):
                good += some
            elif len(some) == len(notes) and len(by_check) > 1:
                # If the fixes of one check do not hold, those of the others may.
                waiting = list(by_check.values())
            elif len(some) > 1:
                half = len(some) // 2
                waiting += [some[:half], some[half:]]
        return good

    def _holds(self, notes: Sequence[LintNote]) -> bool:
        body = edited(self._body, notes)
        if body == self._body:
            return True
        # Most fixes change how a line looks and nothing that is read: then nothing is asked.
        asked = []
        for old, reading in zip(self._old, self._readings, strict=True):
            new = parse(body, old.profile)
            if _reading(new) != reading:
                asked.append((old, new))
        return all(self._is_same(*pair) for pair in asked)

    def _is_same(self, old: RobotsTxt, new: RobotsTxt) -> bool:
        self._left -= 1
        return compare(old, new, most=1, budget=BUDGET).equal is True


def _reading(robots: RobotsTxt) -> list[tuple[object, ...]]:
    """Return all that any reader of records sees of a file."""
    return [(one.key, one.value, one.role, one.group) for one in robots.records]
