"""
What lint found, as text on a screen.

Each note has its place, its level, code and words; the line that it is about with carets under the
span; a URL that shows it, other lines that it speaks of, the fix, and how to learn more. Errors
come first, then warnings, each in the order of the file. Of one check a file shows three notes and
says how many more there are. The concise form has one line for each note, and all of them. What a
stranger wrote has no control characters left, and long lines are cut around what matters. It does
not know what checks find.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from robotrules.cli.text import Excerpt, Paint, plural, shortened
from robotrules.linting.note import LEVELS, ROBOTS_TXT, Fix, LintNote
from robotrules.linting.render import LintedFile, count_notes
from robotrules.linting.render.places import Places
from robotrules.octets import visible

# Notes of one check that a file shows, unless all are asked for.
MOST_NOTES = 3
MOST_RELATED = 4
LONGEST = 500
# A pipe has no width, and what is pasted from one is read in so many columns.
WIDTH = 100
NARROWEST = 60


class LintPage:
    """Notes as lines of text; keeps count for the end."""

    def __init__(
        self,
        paint: Paint,
        width: int | None = None,
        *,
        show_all: bool = False,
        concise: bool = False,
    ) -> None:
        """
        *width* is that of a terminal; None: there is none.

        *show_all*: every note of a check, and not the first ones. *concise*: one line for each.
        """
        self._paint = paint
        self._most = None if show_all or concise else MOST_NOTES
        self._concise = concise
        self._room = max(width or WIDTH, NARROWEST)
        self._counts: Counter[str] = Counter()
        self._files = self._failed = 0
        self._fixable = self._changing = 0
        self._begun = False

    def lines(self, one: LintedFile) -> Iterator[str]:
        """Yield the lines of one file."""
        self._files += 1
        self._failed += bool(one.error and not one.notes)
        self._counts.update(count_notes([one]))
        places = Places(one.body)
        counts = Counter(note.code for note in one.notes)
        shown: Counter[str] = Counter()
        for note in in_order(one.notes):
            if note.fix is not None and one.is_file:
                self._fixable += not note.fix.changes_verdicts
                self._changing += note.fix.changes_verdicts
            shown[note.code] += 1
            if self._concise:
                yield self._head(one, note, places, concise=True)
            elif self._most is None or shown[note.code] <= self._most:
                more = counts[note.code] - shown[note.code] if shown[note.code] == self._most else 0
                yield from self._gap()
                yield from self._note(one, note, places, more)

    def end(self) -> Iterator[str]:
        """Yield the lines that sum it all up."""
        looked = plural(self._files - self._failed, "file")
        if not self._counts.total():
            if self._files > self._failed:
                yield self._paint("allowed", f"No notes in {looked}.")
            return
        if not self._concise:
            yield from self._gap()
        counts = [_counted(count, level) for level, count in self._counts.items() if count]
        yield self._paint("heading", f"{', '.join(counts)} in {looked}.")
        if self._fixable:
            yield f"--fix has {fixes(self._fixable)}."
        if self._changing:
            more = "more " if self._fixable else ""
            changing = f"that change{'s' if self._changing == 1 else ''} {CHANGED}"
            yield f"--fix-verdicts has {fixes(self._changing, more)} {changing}."

    def statistics(self, counts: Sequence[dict[str, Any]]) -> Iterator[str]:
        """Yield how often each check has a note."""
        width = max((len(f"{one['count']:,}") for one in counts), default=0)
        for one in counts:
            level = self._paint(one["level"], f"{one['level']:<7}")
            yield f"{one['count']:>{width},}  {one['code']}  {level}  {one['slug']}"

    def _gap(self) -> Iterator[str]:
        if self._begun:
            yield ""
        self._begun = True

    def _head(
        self, one: LintedFile, note: LintNote, places: Places, *, concise: bool = False
    ) -> str:
        """Return where a note is and what it says, in one line."""
        level, name = self._paint(note.level, note.level), visible(one.name)
        message = shortened(visible(note.message), LONGEST)
        where = "" if note.part == ROBOTS_TXT else f" {visible(note.part)}:"
        if note.line is not None:
            start = places.at(note.start)
            name += f":{start.line}:{start.column}"
        said = f"{self._paint('heading', name)}:{where} {level} {note.code} {note.slug}: {message}"
        if concise and note.url is not None:
            said += f" Shown by {shortened(visible(note.url), LONGEST)}"
        return said

    def _note(self, one: LintedFile, note: LintNote, places: Places, more: int) -> Iterator[str]:
        """Yield a note with its lines; *more* of its check are not shown after it."""
        yield self._head(one, note, places)
        number = "" if note.line is None else str(places.at(note.start).line)
        lines = [str(places.at(related.start).line) for related in note.related[:MOST_RELATED]]
        gutter = max(map(len, [number, *lines, "   "]))
        if note.line is not None:
            yield from self._marked(places, note.start, note.end, gutter, "", note.level)
        for related in note.related[:MOST_RELATED]:
            words = shortened(visible(related.message), LONGEST)
            yield from self._marked(places, related.start, related.end, gutter, words, "faint")
        if (others := len(note.related) - MOST_RELATED) > 0:
            yield from self._beside(gutter, f"and {plural(others, 'more place')}")
        if note.url is not None:
            url = shortened(visible(note.url), LONGEST)
            yield f"{' ' * (gutter + 1)}{self._paint('faint', '=')} shown by {url}"
        if note.fix is not None:
            yield from self._beside(gutter, _fix_words(note.fix, one.is_file))
        yield from self._beside(gutter, f"robotrules rule {note.code}")
        if more:
            yield from self._beside(gutter, f"and {more:,} more {note.code} {note.slug} (--all)")

    def _marked(
        self, places: Places, start: int, end: int, gutter: int, words: str, style: str
    ) -> list[str]:
        """Return a line with carets under a span; a long line is cut before it is looked at."""
        number = places.at(start).line
        text, (first, _) = places.text(number), places.span(number)
        room = self._room - gutter - 3
        begin, stop = start - first, max(end, start) - first
        # Every character has four octets at most, so there is always more than is shown.
        left, shown_to = max(begin - 4 * room, 0), min(stop, begin + 4 * room)
        before, marked = visible(text[left:begin]), visible(text[begin:shown_to])
        # Where the span fills the line there is no room for what follows it.
        full = min(len(before), room // 2) + len(marked) >= room
        part = text[left : shown_to if full else shown_to + 4 * room]
        excerpt = Excerpt(part, begin - left, shown_to - left, room)
        return excerpt.lines(f"{number:>{gutter}}", words, self._paint, style)

    def _beside(self, gutter: int, words: str) -> Iterator[str]:
        margin = " " * (gutter + 1)
        # A path or a URL that is broken is not one any more.
        wrapped = textwrap.wrap(
            words, self._room - gutter - 3, break_long_words=False, break_on_hyphens=False
        )
        for at, line in enumerate(wrapped or [""]):
            yield f"{margin}{self._paint('faint', ' ' if at else '=')} {line}"


def in_order(notes: Iterable[LintNote]) -> list[LintNote]:
    """Return notes as people read them: errors first, and of one level by their lines."""
    return sorted(notes, key=lambda note: (LEVELS.index(note.level), note.line or 0, note.start))


def _fix_words(fix: Fix, is_file: bool) -> str:
    beside = "--fix-verdicts" if fix.changes_verdicts else "--fix"
    if not is_file:  # there is nothing that could be written
        beside = "changes verdicts" if fix.changes_verdicts else "changes no verdict"
    return f"fix: {shortened(visible(fix.title), LONGEST)} ({beside})"


# What fixes change that are not proved to change nothing.
CHANGED = "verdicts or what other records say"


def fixes(count: int, more: str = "") -> str:
    """Return `1 fix`, `2,000 fixes`; *more* stands between."""
    return f"1 {more}fix" if count == 1 else f"{count:,} {more}fixes"


def _counted(count: int, level: str) -> str:
    return f"{count:,} info" if level == "info" else plural(count, level)
