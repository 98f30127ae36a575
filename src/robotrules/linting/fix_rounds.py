"""
Rounds of fixes: lint, fix, and lint again, until no fix is left.

A fix may enable another, and each round is proved to keep the meaning (`fixing`), except for unsafe
fixes. Nothing is written to disk.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from robotrules.linting.fixing import fix
from robotrules.linting.note import LEVELS, LintNote
from robotrules.robotstxt import RobotsTxt, parse

# A fix may enable another, and each stage has its own rounds; a file that still changes after this
# many would never become stable.
MOST_ROUNDS = 20
# Limits the total bytes linted in all rounds, with at least one round for each stage.
FEWEST_ROUNDS, MOST_LINTED = 3, 1_500_000
# The check whose fix saves a file in UTF-16 as UTF-8.
NOT_UTF8 = "not-utf8"


class FixedFile(NamedTuple):
    """A file after its fixes."""

    robots: RobotsTxt
    applied: tuple[LintNote, ...]
    """Each with its line number in its round."""
    notes: tuple[LintNote, ...]
    """The notes after the fixes."""
    refused: str = ""
    """Why no fix was applied; empty if none was refused."""
    more: bool = False
    """Whether fixes remain, because the file is too large for another round."""
    offered: int = 0
    """The number of fixes before the first round, as lint reports it."""

    @property
    def changes_verdicts(self) -> bool:
        """Whether an unsafe fix was applied."""
        return any(note.fix and note.fix.changes_verdicts for note in self.applied)


def fix_in_rounds(
    robots: RobotsTxt,
    octets: bytes,
    lint_file: Callable[[RobotsTxt], list[LintNote]],
    *,
    unsafe: bool,
    levels: Collection[str] = LEVELS,
) -> FixedFile:
    """
    Apply the fixes of notes of the given levels to a file.

    *octets* are the file as it was read, and *lint_file* returns the notes on a version of it.
    *unsafe*: also fixes that change verdicts.
    """

    def counting() -> list[LintNote]:
        """Return the notes whose fixes are applied."""
        return [note for note in notes if note.level in levels]

    notes = lint_file(robots)
    wanted = [one.fix for one in counting() if one.fix and (unsafe or not one.fix.changes_verdicts)]
    applied: list[LintNote] = []
    if wanted and robots.body != octets:
        # The parsed body differs from the file: UTF-16, or longer than the limit.
        applied = [note for note in counting() if unsafe and note.slug == NOT_UTF8]
        if not (applied and _is_fully_decoded(robots, octets)):
            refused = fix(robots, counting(), unsafe=unsafe).refused
            more = "it is not UTF-8, or longer than the limit; save it as UTF-8 first"
            return FixedFile(robots, (), tuple(notes), refused or more)
        robots = parse(robots.body, robots.profile)
        notes = lint_file(robots)
    remaining = False
    affordable = max(MOST_LINTED // (len(robots.body) + 1), FEWEST_ROUNDS)
    for _ in range(min(affordable, MOST_ROUNDS)):
        done = fix(robots, counting(), unsafe=unsafe)
        if done.refused:
            return FixedFile(robots, tuple(applied), tuple(notes), done.refused if wanted else "")
        if done.body == robots.body:
            break
        applied += done.applied
        robots = parse(done.body, robots.profile)
        notes = lint_file(robots)
    else:
        left = (note.fix for note in counting())
        remaining = affordable < MOST_ROUNDS and any(
            one and (unsafe or not one.changes_verdicts) for one in left
        )
    return FixedFile(robots, tuple(applied), tuple(notes), more=remaining, offered=len(wanted))


def _is_fully_decoded(robots: RobotsTxt, octets: bytes) -> bool:
    """Tell whether a file in UTF-16 was parsed completely and is valid."""
    try:
        text = octets.decode("utf-16")
    except UnicodeDecodeError:
        return False
    return text.encode("utf-8") == robots.body
