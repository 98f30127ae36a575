"""
Intent: a file as its author meant it, for fixes that must not take that away.

A misspelt `User-agen: EvilBot` is no record, so the rules after it go to the group before it. A fix
that is safe for the file as crawlers read it, such as taking out a rule that this group has twice,
may be wrong for the file as it was meant. Two things follow. A note about groups or rules has no
safe fix while a record of the same groups is misread (`trusted`). And a safe fix has to keep the
meaning of the file after every pending correction of its spelling, too (`as_meant`). Whoever takes
out rules asks for the lines that rest on a misread record (`misread_lines`).

It knows the checks, compares no files and writes nothing.

Sections: stages · fixes to trust · the file as meant.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from robotrules.linting.check import Check
from robotrules.linting.checks import CHECKS
from robotrules.linting.context import LintContext
from robotrules.linting.edits import apart, edited
from robotrules.linting.note import LintNote
from robotrules.profile import DEFAULT
from robotrules.robotstxt import RobotsTxt, parse

# --- Stages ---------------------------------------------------------------------------------------

# Fixes are applied in this order: who is named depends on what is a record, and which rule is
# needed depends on who is named. Each stage has the layers of codes, which are their first digits.
RECORDS, GROUPS, RULES, REST = "0123", "4", "5", "6789"
STAGES = (RECORDS, GROUPS, RULES, REST)
_STAGE_OF = {layer: stage for stage in STAGES for layer in stage}
# Corrections that make room for others. Files of people need one or two rounds.
MOST_ROUNDS = 3


def stage_of(note: LintNote) -> str:
    """Return the stage in which the fix of a note is applied."""
    return _STAGE_OF[note.code[2]]


# --- Fixes to trust -------------------------------------------------------------------------------


def trusted(
    context: LintContext, notes: Sequence[LintNote], checks: Sequence[Check]
) -> Iterator[LintNote]:
    """
    Yield notes; those about groups and rules without a safe fix that rests on a misread record.

    A fix that changes a record rests on the groups of the lines that it changes and refers to. It
    waits until every line of theirs is read as meant. If these are several groups, the crawlers
    that they name count, too. *checks* are those that found *notes*: the others are asked as well,
    because what somebody does not want to be told of is misread all the same.
    """
    resting = [note for note in notes if _is_safe(note) and stage_of(note) in (GROUPS, RULES)]
    doubts = _Doubts(context, notes, checks) if resting else None
    waiting = {id(note) for note in resting if doubts and doubts.about(note)}
    for note in notes:
        yield note._replace(fix=None) if id(note) in waiting else note


def _is_safe(note: LintNote) -> bool:
    return note.fix is not None and not note.fix.changes_verdicts


class _Doubts:
    """The groups of a file with misread lines, by number; 0 is what stands before the first."""

    def __init__(
        self, context: LintContext, notes: Sequence[LintNote], checks: Sequence[Check]
    ) -> None:
        self._subject = context
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
        """Tell whether the fix of a note rests on a misread record."""
        if not (self._records or self._names):
            return False
        changed = {self._line(edit.start) for edit in (note.fix.edits if note.fix else ())}
        if not any(line in self._subject.by_line for line in changed):
            return False  # blank lines and comments
        lines = changed | {related.line for related in note.related}
        groups = {self._group(line) for line in lines}
        # Within one group, two rules are the same whoever is named.
        return bool(groups & self._records) or (len(groups) > 1 and bool(groups & self._names))

    def _line(self, at: int) -> int:
        return self._subject.place(at, at)[0]

    def _group(self, line: int) -> int:
        return bisect_right(self._firsts, line)


# --- The file as meant ----------------------------------------------------------------------------


def as_meant(robots: RobotsTxt) -> tuple[RobotsTxt, RobotsTxt]:
    """
    Return the file as its author meant it, after the pending fixes of what is misread.

    The first has those of records, such as the name of one; the second has those of user-agent
    lines and of path patterns as well. What is suppressed or ignored is misread all the same. What
    was meant does not depend on who reads it: profile default recognises most slips.
    """
    as_default = robots if robots.profile == DEFAULT else parse(robots.body)
    spelled = _corrected(LintContext(as_default), (RECORDS,))
    return spelled.robots, _corrected(spelled, STAGES).robots


def misread_lines(robots: RobotsTxt) -> tuple[list[int], frozenset[int]]:
    """
    Return the lines of misread records, and all lines whose meaning rests on them.

    A record is misread if a pending correction of it changes verdicts, as that of `User-agen: *`
    does. Its group rests on it, or all that stands before the first group.
    """
    checks = [check for check in CHECKS if check.misread and check.code[2] in RECORDS]
    misread = sorted(
        {note.line for note in _corrections(LintContext(robots), checks) if note.line is not None}
    )
    firsts = [group.starts[0].line for group in robots.groups]
    groups = {bisect_right(firsts, line) for line in misread}
    resting = (
        record.line for record in robots.records if bisect_right(firsts, record.line) in groups
    )
    return misread, frozenset(resting)


def _corrected(context: LintContext, stages: Iterable[str]) -> LintContext:
    """Return a file after corrections; what was found out about it is kept while it stays."""
    for stage in stages:
        checks = [check for check in CHECKS if check.misread and check.code[2] in stage]
        for _ in range(MOST_ROUNDS):
            body = context.robots.body
            corrected = edited(body, apart(_corrections(context, checks)))
            if corrected == body:
                break
            context = LintContext(parse(corrected))
    return context


def _corrections(context: LintContext, checks: Iterable[Check]) -> Iterator[LintNote]:
    for check in checks:
        for note in check.check(context) if check.has_fixes else ():
            if note.fix is not None and note.fix.changes_verdicts:
                yield note
