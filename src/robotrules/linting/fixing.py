"""
Fixing: the edits of notes applied to a file, and the proof that its meaning stays.

A safe fix changes no verdict, whoever reads the file: before and after are compared for every
crawler and every URL (`analysis.compare`) under every profile, and a fix for which that is not
proved is left out. The same is proved of the file as its author meant it (`intent`), so that a fix
takes nothing away that a misspelt record hides. A fix that changes verdicts is applied on request
only. Fixes of records come before those of groups, and these before those of rules. It writes
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from robotrules.analysis.files import compare
from robotrules.linting.edits import apart, edited
from robotrules.linting.intent import STAGES, as_meant, stage_of
from robotrules.linting.note import LintNote
from robotrules.profile import PROFILES, Profile
from robotrules.robotstxt import RobotsTxt, parse
from robotrules.robotstxt.internals import get_document

# Proofs that one pass may ask for: with more fixes than are in order, the rest waits.
MOST_PROOFS = 64
# A proof costs what the file costs: for so many octets in all, and at least so many proofs.
FEWEST_PROOFS, MOST_PROVED = 3, 4_000_000
# What a proof may cost: states for each question. Files of people need some hundreds.
BUDGET = 5_000


class Fixed(NamedTuple):
    """A file after some fixes."""

    body: bytes
    applied: tuple[LintNote, ...]
    left: tuple[LintNote, ...]
    """Notes with a fix that was not applied: it overlaps another, changes verdicts without being
    asked for, waits for a fix of an earlier stage, or is not proved to keep the meaning."""
    refused: str
    """Why the file is left alone; empty: it is not."""


def fix(robots: RobotsTxt, notes: Iterable[LintNote], *, verdicts: bool = False) -> Fixed:
    """
    Return the file after the fixes of *notes*: once, so that lint may look again.

    *verdicts* also applies those that change verdicts: in one pass those of records, in the next
    those of groups, then those of rules, because what is a duplicate depends on who is named. The
    others are proved to change no verdict under any profile, and none that the author meant.
    """
    fixable = [note for note in notes if note.fix is not None]
    refused = _refusal(robots, verdicts)
    if refused or not fixable:
        return Fixed(robots.body, (), tuple(fixable), refused if fixable else "")
    proof = _Proof(robots)
    applied: list[LintNote] = []
    if verdicts:
        for stage in STAGES:
            applied += _at_stage(stage, fixable, proof)
            if edited(robots.body, applied) != robots.body:
                break
    else:
        safe = [note for note in fixable if not _is_loud(note)]
        applied = proof.proved(apart(sorted(safe, key=_stage_number)))
    done = set(map(id, applied))
    left = tuple(note for note in fixable if id(note) not in done)
    return Fixed(edited(robots.body, applied), tuple(applied), left, "")


def _at_stage(stage: str, notes: Iterable[LintNote], proof: _Proof) -> list[LintNote]:
    """Return the notes of a stage whose fixes can be applied together; safe ones come first."""
    here = [note for note in notes if stage_of(note) == stage]
    proved = proof.proved(apart(note for note in here if not _is_loud(note)))
    return [*proved, *apart((note for note in here if _is_loud(note)), proved)]


def _is_loud(note: LintNote) -> bool:
    return note.fix is not None and note.fix.changes_verdicts


def _stage_number(note: LintNote) -> int:
    return STAGES.index(stage_of(note))


def _refusal(robots: RobotsTxt, verdicts: bool) -> str:
    codes = {code for code, *_ in get_document(robots).notes()}
    if not get_document(robots).complete or "truncated" in codes:
        return "it is not whole, or longer than is read"
    if "not-utf8" in codes and not verdicts:
        # Whatever is written is UTF-8, and then parsers find rules that read none here before.
        return "it is UTF-16; --fix-verdicts saves it as UTF-8, which more crawlers read"
    return ""


class _Proof:
    """Proofs that a file means the same after safe fixes: as it is read, and as it was meant."""

    def __init__(self, robots: RobotsTxt) -> None:
        self._profile = robots.profile
        self._old = _Readings(robots)
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
        body = edited(self._old.robots.body, notes)
        if body == self._old.robots.body:
            return True
        new = _Readings(parse(body, self._profile))
        for old_file, new_file in self._old.pairs(new):
            # Most fixes change how a line looks and nothing that is read: then nothing is asked.
            if _records(old_file) != _records(new_file):
                self._left -= 1
                if compare(old_file, new_file, most=1, budget=BUDGET).equal is not True:
                    return False
        return True


class _Readings:
    """A file as it is read and as it was meant, under every profile; parsed once, when asked."""

    def __init__(self, robots: RobotsTxt) -> None:
        self.robots = robots
        self._parsed = {(robots.body, robots.profile): robots}

    def pairs(self, other: _Readings) -> Iterator[tuple[RobotsTxt, RobotsTxt]]:
        """Yield what has to mean the same here and in another file."""
        seen: set[tuple[bytes, bytes]] = set()
        profiles = dict.fromkeys([self.robots.profile, *PROFILES.values()])
        for old, new in zip(self._bodies, other._bodies, strict=True):
            if (old, new) not in seen:
                seen.add((old, new))
                for profile in profiles:
                    yield self._under(old, profile), other._under(new, profile)

    @cached_property
    def _bodies(self) -> list[bytes]:
        """As it is, with its records as meant, and with all of it as meant."""
        return [self.robots.body, *(meant.body for meant in as_meant(self.robots))]

    def _under(self, body: bytes, profile: Profile) -> RobotsTxt:
        if (body, profile) not in self._parsed:
            self._parsed[body, profile] = parse(body, profile)
        return self._parsed[body, profile]


def _records(robots: RobotsTxt) -> list[tuple[object, ...]]:
    """Return all that any reader of records sees of a file."""
    return [(one.key, one.value, one.role, one.group) for one in robots.records]
