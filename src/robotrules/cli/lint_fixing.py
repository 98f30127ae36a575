"""
Fixes of `robotrules lint`: round after round until nothing changes, and what that comes to.

A round applies the fixes that do not overlap, and lint looks again at what became of the file. Each
round is proved to keep the meaning (`linting.fixing`), but for fixes that are about verdicts: for
those the verdicts that change are told, with a URL. It writes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from difflib import unified_diff
from typing import NamedTuple

from robotrules import RobotsTxt, parse
from robotrules.analysis.files import compare
from robotrules.cli.lint_given import Read
from robotrules.cli.text import listed, shortened, visible
from robotrules.linting import LEVELS, LintNote, fix

# A fix may make room for another; what still changes after so many would go on for ever.
MOST_ROUNDS = 10
# What is told of verdicts that change, and what working it out may cost.
MOST_CHANGES = 10
MOST_NAMES = 4
BUDGET = 20_000
LONGEST = 200
# RFC 9309 §2.2 knows no other.
_LINE_END = re.compile(r"\r\n?|\n")
NO_LINE_END = "\\ No newline at end of file"


class Mended(NamedTuple):
    """A file after its fixes."""

    robots: RobotsTxt
    applied: tuple[LintNote, ...]
    """Each with the line that it had in its round."""
    notes: tuple[LintNote, ...]
    """What lint finds now."""
    refused: str = ""
    """Why nothing was fixed although something could be; empty: nothing was refused."""

    @property
    def changes_verdicts(self) -> bool:
        """Whether a fix was about verdicts."""
        return any(note.fix and note.fix.changes_verdicts for note in self.applied)


def mended(read: Read, *, verdicts: bool, levels: Collection[str] = LEVELS) -> Mended:
    """
    Return a file after the fixes of notes that have one of some levels.

    *verdicts*: also after those that change verdicts.
    """

    def counting() -> list[LintNote]:
        """Return the notes whose fixes are wanted."""
        return [note for note in notes if note.level in levels]

    robots, notes = read.robots, read.notes()
    wanted = [
        one.fix for one in counting() if one.fix and (verdicts or not one.fix.changes_verdicts)
    ]
    if wanted and robots.body != read.octets:
        # What was parsed is not what is written there: UTF-16, or more than is read.
        refused = "it is not UTF-8, or longer than is read; save it as UTF-8 first"
        return Mended(robots, (), tuple(notes), refused)
    applied: list[LintNote] = []
    for _ in range(MOST_ROUNDS):
        done = fix(robots, counting(), verdicts=verdicts)
        if done.refused:
            return Mended(robots, tuple(applied), tuple(notes), done.refused if wanted else "")
        if done.body == robots.body:
            break
        applied += done.applied
        robots = parse(done.body, robots.profile)
        notes = read.notes(robots)
    return Mended(robots, tuple(applied), tuple(notes))


def changes(old: RobotsTxt, new: RobotsTxt) -> Iterator[str]:
    """Yield which verdicts change from one file to another, each for whom and with a URL."""
    found = compare(old, new, most=MOST_CHANGES, budget=BUDGET)
    told = 0
    for change in found.changes:
        names = listed([visible(crawler.name) for crawler in change.crawlers], MOST_NAMES)
        if len(found.changes) == len(change.crawlers) == 1:
            names = "everyone"
        for region in change.difference.regions:
            if told == MOST_CHANGES:
                yield "and more; robotrules diff shows all"
                return
            told += 1
            was, now = ("allowed" if one else "disallowed" for one in (region.old, region.new))
            url = shortened(visible(str(region.witness)), LONGEST)
            yield f"{url} was {was} and is {now}, for {names}"
    if not told:
        yield "no verdict changes" if found.equal else "which verdicts change was not decided"


def diff_lines(old: bytes, new: bytes, name: str) -> Iterator[str]:
    """Yield a unified diff of two files."""
    was, now = map(_lines, (old, new))
    for line in unified_diff(was, now, name, "fixed", lineterm=""):
        yield from map(visible, line.split("\n"))


def _lines(octets: bytes) -> list[str]:
    lines = _LINE_END.split(octets.decode("utf-8", "backslashreplace"))
    if lines[-1]:
        lines[-1] += "\n" + NO_LINE_END
        return lines
    return lines[:-1]  # what follows the last line end is no line
