"""
Intent: a file as its author meant it, so that fixes keep that meaning too.

A misspelt `User-agen: EvilBot` is not a record, so the rules after it belong to the group before
it. A fix that is safe for the file as crawlers read it, such as removing a duplicate rule of that
group, may be wrong for the file as it was meant. Two things follow. A note about groups or rules
has no safe fix while a record of the same groups is misread (`withhold_doubtful_fixes`). And a safe
fix must keep the meaning of the file after all pending spelling corrections (`parse_as_meant`).
Code that removes rules looks up the lines that depend on a misread record (`find_misread_lines`).

This module knows the checks. It compares no files and writes nothing.

Sections: stages · fixes to trust · the file as meant.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from robotrules.linting.check import Check
from robotrules.linting.checks import CHECKS
from robotrules.linting.context import LintContext
from robotrules.linting.edits import apply_edits, select_disjoint
from robotrules.linting.note import LintNote
from robotrules.profile import DEFAULT
from robotrules.robotstxt import RobotsTxt, parse

# --- Stages ---------------------------------------------------------------------------------------

# Fixes are applied in this order: the crawlers that a group names depend on its records, and the
# rules that are needed depend on the groups. A stage holds the first digits of its checks' codes.
RECORDS, GROUPS, RULES, REST = "0123", "4", "5", "6789"
STAGES = (RECORDS, GROUPS, RULES, REST)
_STAGE_OF = {layer: stage for stage in STAGES for layer in stage}
# Rounds of corrections, as one may enable another. Hand-written files need one or two.
MOST_ROUNDS = 3


def stage_of(note: LintNote) -> str:
    """Return the stage in which the fix of a note is applied."""
    return _STAGE_OF[note.code[2]]


# --- Fixes to trust -------------------------------------------------------------------------------


def withhold_doubtful_fixes(
    context: LintContext, notes: Sequence[LintNote], checks: Sequence[Check]
) -> Iterator[LintNote]:
    """
    Yield notes, without the safe fixes of groups and rules that depend on a misread record.

    A fix that changes a record depends on the groups of the lines that it changes and refers to. It
    is withheld until every line of these groups is read as meant. For several groups, the crawlers
    that they name count too. *checks* are those that made *notes*; the other checks are run as
    well, because a record is misread whether or not its note was selected.
    """
    resting = [note for note in notes if _is_safe(note) and stage_of(note) in (GROUPS, RULES)]
    doubts = _Doubts(context, notes, checks) if resting else None
    waiting = {id(note) for note in resting if doubts and doubts.about(note)}
    for note in notes:
        yield note._replace(fix=None) if id(note) in waiting else note


def _is_safe(note: LintNote) -> bool:
    return note.fix is not None and not note.fix.changes_verdicts


class _Doubts:
    """The groups of a file with misread lines, by number; 0 is the part before the first group."""

    def __init__(
        self, context: LintContext, notes: Sequence[LintNote], checks: Sequence[Check]
    ) -> None:
        self._context = context
        self._firsts = [group.starts[0].line for group in context.groups]
        ran = {check.code for check in checks}
        misreading = {check.code: check for check in CHECKS if check.misread}
        found = [note for note in notes if note.code in misreading]
        for code, check in misreading.items():
            if code not in ran:
                found += check.check(context)
        self._records, self._names = (
            {
                self._group(note.line)
                for note in found
                if note.line is not None and not _is_safe(note) and stage_of(note) == stage
            }
            for stage in (RECORDS, GROUPS)
        )

    def about(self, note: LintNote) -> bool:
        """Return whether the fix of a note depends on a misread record."""
        if not (self._records or self._names):
            return False
        changed = {self._line(edit.start) for edit in (note.fix.edits if note.fix else ())}
        if not any(line in self._context.by_line for line in changed):
            return False  # blank lines and comments
        lines = changed | {related.line for related in note.related}
        groups = {self._group(line) for line in lines}
        # Within one group, two equal rules are duplicates whatever crawlers it names.
        return bool(groups & self._records) or (len(groups) > 1 and bool(groups & self._names))

    def _line(self, at: int) -> int:
        return self._context.place(at, at)[0]

    def _group(self, line: int) -> int:
        return bisect_right(self._firsts, line)


# --- The file as meant ----------------------------------------------------------------------------


def parse_as_meant(robots: RobotsTxt) -> tuple[RobotsTxt, RobotsTxt]:
    """
    Return the file as its author meant it, after the pending corrections of misread records.

    The first result has the corrections of records, such as a misspelt name; the second also those
    of user-agent lines and path patterns. Suppressed and ignored notes count as well. The meaning
    does not depend on the profile: profile default recognises most misspellings.
    """
    as_default = robots if robots.profile == DEFAULT else parse(robots.body)
    spelled = _apply_corrections(LintContext(as_default), (RECORDS,))
    return spelled.robots, _apply_corrections(spelled, STAGES).robots


def find_misread_lines(robots: RobotsTxt) -> tuple[list[int], frozenset[int]]:
    """
    Return the lines of misread records, and all lines whose meaning depends on them.

    A record is misread if a pending correction of it changes verdicts, as that of `User-agen: *`
    does. Its whole group depends on it, or everything before the first group.
    """
    checks = [check for check in CHECKS if check.misread and check.code[2] in RECORDS]
    misread = sorted(
        {
            note.line
            for note in _find_corrections(LintContext(robots), checks)
            if note.line is not None
        }
    )
    firsts = [group.starts[0].line for group in robots.groups]
    groups = {bisect_right(firsts, line) for line in misread}
    dependent = (
        record.line for record in robots.records if bisect_right(firsts, record.line) in groups
    )
    return misread, frozenset(dependent)


def _apply_corrections(context: LintContext, stages: Iterable[str]) -> LintContext:
    """Return a file after corrections; the same context if nothing changes."""
    for stage in stages:
        checks = [check for check in CHECKS if check.misread and check.code[2] in stage]
        for _ in range(MOST_ROUNDS):
            body = context.robots.body
            corrected = apply_edits(body, select_disjoint(_find_corrections(context, checks)))
            if corrected == body:
                break
            context = LintContext(parse(corrected))
    return context


def _find_corrections(context: LintContext, checks: Iterable[Check]) -> Iterator[LintNote]:
    for check in checks:
        for note in check.check(context) if check.has_fixes else ():
            if note.fix is not None and note.fix.changes_verdicts:
                yield note
