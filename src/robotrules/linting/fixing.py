"""
Fixing: apply the fixes of notes to a file, and prove that safe fixes keep its meaning.

A safe fix changes no verdict under any profile: the file before and after is compared for every
crawler and every URL (`analysis.compare`), and a fix without such a proof is not applied. The same
is proved of the file as its author meant it (`intent`), so that a fix removes nothing that matters
once a misspelt record is corrected. A fix that changes verdicts is applied on request only. Fixes
of records come before those of groups, and these before those of rules. Nothing is written to disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from robotrules.analysis.files import compare
from robotrules.linting.edits import apply_edits, select_disjoint
from robotrules.linting.intent import STAGES, parse_as_meant, stage_of
from robotrules.linting.note import LintNote
from robotrules.profile import PROFILES, Profile
from robotrules.robotstxt import RobotsTxt, parse
from robotrules.robotstxt.internals import get_document

# Proofs that one pass may attempt; the remaining fixes wait for the next pass.
MOST_PROOFS = 64
# The cost of a proof grows with the file: the octets that all proofs may cover, and a minimum.
FEWEST_PROOFS, MOST_PROVED = 3, 4_000_000
# States that each query of a proof may visit. Hand-written files need some hundreds.
MAX_STATES = 5_000


class FixResult(NamedTuple):
    """A file after some fixes."""

    body: bytes
    applied: tuple[LintNote, ...]
    left: tuple[LintNote, ...]
    """Notes whose fix was not applied: it overlaps another, changes verdicts and was not requested,
    waits for a fix of an earlier stage, or is not proved to keep the meaning."""
    refused: str
    """Why the file cannot be fixed; empty: it can."""


def fix(robots: RobotsTxt, notes: Iterable[LintNote], *, unsafe: bool = False) -> FixResult:
    """
    Return the file after one pass of the fixes of *notes*; lint it again for the next pass.

    *unsafe* also applies fixes that change verdicts: those of records in one pass, those of
    groups in the next, then those of rules, because a rule is a duplicate only within its group.
    All other fixes are proved to change no verdict under any profile, and none that was meant.
    """
    fixable = [note for note in notes if note.fix is not None]
    refused = _refusal(robots, unsafe)
    if refused or not fixable:
        return FixResult(robots.body, (), tuple(fixable), refused if fixable else "")
    proof = _Proof(robots)
    applied: list[LintNote] = []
    if unsafe:
        for stage in STAGES:
            applied += _select_for_stage(stage, fixable, proof)
            if apply_edits(robots.body, applied) != robots.body:
                break
    else:
        safe = [note for note in fixable if not _changes_verdicts(note)]
        applied = proof.prove(select_disjoint(sorted(safe, key=_stage_number)))
    done = set(map(id, applied))
    left = tuple(note for note in fixable if id(note) not in done)
    return FixResult(apply_edits(robots.body, applied), tuple(applied), left, "")


def _select_for_stage(stage: str, notes: Iterable[LintNote], proof: _Proof) -> list[LintNote]:
    """Return the notes of a stage whose fixes can be applied together; safe ones come first."""
    here = [note for note in notes if stage_of(note) == stage]
    proved = proof.prove(select_disjoint(note for note in here if not _changes_verdicts(note)))
    return [*proved, *select_disjoint((note for note in here if _changes_verdicts(note)), proved)]


def _changes_verdicts(note: LintNote) -> bool:
    return note.fix is not None and note.fix.changes_verdicts


def _stage_number(note: LintNote) -> int:
    return STAGES.index(stage_of(note))


def _refusal(robots: RobotsTxt, verdicts: bool) -> str:
    codes = {code for code, *_ in get_document(robots).notes()}
    if not get_document(robots).complete or "truncated" in codes:
        return "it is incomplete or longer than the parsing limit"
    if "not-utf8" in codes and not verdicts:
        # The file is saved as UTF-8, in which parsers find rules that they did not find before.
        return "it is UTF-16; --unsafe-fixes saves it as UTF-8, which more crawlers read"
    return ""


class _Proof:
    """Proves that a file means the same after safe fixes: as it is read, and as it was meant."""

    def __init__(self, robots: RobotsTxt) -> None:
        self._profile = robots.profile
        self._old = _Readings(robots)
        affordable = MOST_PROVED // (len(robots.body) + 1)
        self._left = min(max(affordable, FEWEST_PROOFS), MOST_PROOFS)

    def prove(self, notes: Sequence[LintNote]) -> list[LintNote]:
        """Return the notes whose fixes together are proved to change nothing."""
        proved: list[LintNote] = []
        waiting = [list(notes)]
        by_check: dict[str, list[LintNote]] = {}
        for note in notes:
            by_check.setdefault(note.code, []).append(note)
        while waiting and self._left > 0:
            some = waiting.pop(0)
            if self._holds([*proved, *some]):
                proved += some
            elif len(some) == len(notes) and len(by_check) > 1:
                # If the fixes of one check have no proof, those of the others may.
                waiting = list(by_check.values())
            elif len(some) > 1:
                half = len(some) // 2
                waiting += [some[:half], some[half:]]
        return proved

    def _holds(self, notes: Sequence[LintNote]) -> bool:
        body = apply_edits(self._old.robots.body, notes)
        if body == self._old.robots.body:
            return True
        new = _Readings(parse(body, self._profile))
        for old_file, new_file in self._old.pairs(new):
            # Most fixes change only the layout of a line; then no proof is needed.
            if _list_records(old_file) != _list_records(new_file):
                self._left -= 1
                if (
                    compare(old_file, new_file, max_regions=1, max_states=MAX_STATES).equal
                    is not True
                ):
                    return False
        return True


class _Readings:
    """A file as it is read and as it was meant, under every profile; parsed once, on demand."""

    def __init__(self, robots: RobotsTxt) -> None:
        self.robots = robots
        self._parsed = {(robots.body, robots.profile): robots}

    def pairs(self, other: _Readings) -> Iterator[tuple[RobotsTxt, RobotsTxt]]:
        """Yield the pairs of files, this and another, that must mean the same."""
        seen: set[tuple[bytes, bytes]] = set()
        profiles = dict.fromkeys([self.robots.profile, *PROFILES.values()])
        for old, new in zip(self._bodies, other._bodies, strict=True):
            if (old, new) not in seen:
                seen.add((old, new))
                for profile in profiles:
                    yield self._parse(old, profile), other._parse(new, profile)

    @cached_property
    def _bodies(self) -> list[bytes]:
        """The file as it is, with corrected records, and with all corrections."""
        return [self.robots.body, *(meant.body for meant in parse_as_meant(self.robots))]

    def _parse(self, body: bytes, profile: Profile) -> RobotsTxt:
        if (body, profile) not in self._parsed:
            self._parsed[body, profile] = parse(body, profile)
        return self._parsed[body, profile]


def _list_records(robots: RobotsTxt) -> list[tuple[object, ...]]:
    """Return everything that a reader of records sees of a file."""
    return [(record.key, record.value, record.role, record.group) for record in robots.records]
