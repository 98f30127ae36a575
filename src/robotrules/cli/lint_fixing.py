"""
Fixes of `robotrules lint`: round after round until nothing changes, and what that comes to.

A round applies the fixes that do not overlap, and lint looks again at what became of the file. Each
round is proved to keep the meaning (`linting.fixing`), but for fixes that are about verdicts: for
those the verdicts that change are told, with a URL. It writes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from robotrules import RobotsTxt, parse
from robotrules.analysis.files import FileDifference, compare
from robotrules.cli.lint_given import LintInput
from robotrules.cli.text import listed, shortened
from robotrules.linting import LEVELS, LintNote, fix
from robotrules.linting.fixing import BUDGET
from robotrules.octets import visible
from robotrules.profile import PROFILES
from robotrules.robotstxt.internals import get_received

# A fix may make room for another, and each stage has rounds of its own; what still changes after so
# many would go on for ever.
MOST_ROUNDS = 20
# A round costs what the file costs: for so many octets in all, and at least a round for each stage.
FEWEST_ROUNDS, MOST_LINTED = 3, 1_500_000
# What is told of verdicts that change.
MOST_CHANGES = 10
# The check whose fix saves a file in UTF-16 as UTF-8.
NOT_UTF8 = "not-utf8"
MOST_NAMES = 4
LONGEST = 200


class Mended(NamedTuple):
    """A file after its fixes."""

    robots: RobotsTxt
    applied: tuple[LintNote, ...]
    """Each with the line that it had in its round."""
    notes: tuple[LintNote, ...]
    """What lint finds now."""
    refused: str = ""
    """Why nothing was fixed although something could be; empty: nothing was refused."""
    more: bool = False
    """Whether fixes remain because the file is too large for another round."""
    offered: int = 0
    """How many fixes the file had at first, which is what lint says of it."""

    @property
    def changes_verdicts(self) -> bool:
        """Whether a fix was about verdicts, so that it was not proved to change none."""
        return any(note.fix and note.fix.changes_verdicts for note in self.applied)


def mended(read: LintInput, *, verdicts: bool, levels: Collection[str] = LEVELS) -> Mended:
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
    applied: list[LintNote] = []
    if wanted and robots.body != read.octets:
        # What was parsed is not what is written there: UTF-16, or more than is read.
        applied = [note for note in counting() if verdicts and note.slug == NOT_UTF8]
        if not (applied and _is_whole(read)):
            refused = fix(robots, counting(), verdicts=verdicts).refused
            more = "it is not UTF-8, or longer than is read; save it as UTF-8 first"
            return Mended(robots, (), tuple(notes), refused or more)
        robots = parse(robots.body, robots.profile)
        notes = read.notes(robots)
    remaining = False
    affordable = max(MOST_LINTED // (len(robots.body) + 1), FEWEST_ROUNDS)
    for _ in range(min(affordable, MOST_ROUNDS)):
        done = fix(robots, counting(), verdicts=verdicts)
        if done.refused:
            return Mended(robots, tuple(applied), tuple(notes), done.refused if wanted else "")
        if done.body == robots.body:
            break
        applied += done.applied
        robots = parse(done.body, robots.profile)
        notes = read.notes(robots)
    else:
        left = (note.fix for note in counting())
        remaining = affordable < MOST_ROUNDS and any(
            one and (verdicts or not one.changes_verdicts) for one in left
        )
    return Mended(robots, tuple(applied), tuple(notes), more=remaining, offered=len(wanted))


def _is_whole(read: LintInput) -> bool:
    """Tell whether a file in UTF-16 was parsed to its end, and every octet of it is a character."""
    try:
        text = read.octets.decode("utf-16")
    except UnicodeDecodeError:
        return False
    return text.encode("utf-8") == read.robots.body


class Changed(NamedTuple):
    """What changes from one file to another."""

    verdicts: tuple[str, ...]
    """Each for whom, with a URL, and under which profile if it is not the one that was used."""
    more: bool
    """Whether there are more than these."""
    records: tuple[str, ...]
    """Names of other records that do not say the same, and under which profile, as above."""
    decided: bool
    """Whether that is all: nothing was left open."""


def changes(old: RobotsTxt, new: RobotsTxt) -> Changed:
    """Return what changes from one file to another, whichever profile reads them."""
    told: dict[str, list[str]] = {}
    records: dict[str, list[str]] = {}
    decided = True
    here = old.profile
    for profile in dict.fromkeys([here, *PROFILES.values()]):
        # What was parsed already is not parsed again.
        was, now = (
            robots if profile == here else parse(get_received(robots), profile)
            for robots in (old, new)
        )
        found = compare(was, now, most=MOST_CHANGES, budget=BUDGET)
        decided &= found.complete and None not in {one.difference.equal for one in found.changes}
        for record in dict.fromkeys(one.record for one in found.statements):
            records.setdefault(visible(record), []).append(profile.name)
        for words in _verdicts(found):
            told.setdefault(words, []).append(profile.name)
    lines = [words + _under(names, here.name, ", ") for words, names in told.items()]
    named = tuple(name + _under(names, here.name, " ") for name, names in records.items())
    some = tuple(lines[:MOST_CHANGES])
    return Changed(some, len(lines) > len(some), named, decided)


def _under(names: list[str], here: str, between: str) -> str:
    """Return under which profiles something changes; nothing if the one that was used does."""
    return "" if here in names else f"{between}under profile {' and '.join(names)}"


def _verdicts(found: FileDifference) -> Iterator[str]:
    for change in found.changes:
        names = listed([visible(crawler.name) for crawler in change.crawlers], MOST_NAMES)
        if len(found.changes) == len(change.crawlers) == 1:
            names = "everyone"
        for region in change.difference.regions:
            was, now = ("allowed" if one else "disallowed" for one in (region.old, region.new))
            url = shortened(visible(str(region.witness)), LONGEST)
            yield f"{url} was {was} and is {now}, for {names}"
