"""
Lint notes as text.

Each note has its position, level, code and message; the line with carets under the span; a URL that
shows the problem, related lines, the fix, and the command that explains the check. Errors come
first, then warnings, each in the order of the file. A file shows three notes per check and the
number of further ones. The concise format has one line per note, for all notes. Control characters
are escaped, and long lines are cut around the span.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from robotrules.cli.text import Excerpt, Paint, plural, truncate
from robotrules.linting.note import LEVELS, ROBOTS_TXT, Fix, LintNote
from robotrules.linting.render import LintedFile, count_notes
from robotrules.linting.render.places import Places
from robotrules.octets import visible

# Notes per check and file, unless --all is given.
MOST_NOTES = 3
MOST_RELATED = 4
LONGEST = 500
# The width in a pipe.
WIDTH = 100
NARROWEST = 60


class LintPage:
    """Notes as lines of text; keeps totals for the summary."""

    def __init__(
        self,
        paint: Paint,
        width: int | None = None,
        *,
        show_all: bool = False,
        concise: bool = False,
    ) -> None:
        """
        *width* is the width of the terminal; None if there is none.

        *show_all*: show every note of a check, not only the first. *concise*: one line per note.
        """
        self._paint = paint
        self._most = None if show_all or concise else MOST_NOTES
        self._concise = concise
        self._room = max(width or WIDTH, NARROWEST)
        self._counts: Counter[str] = Counter()
        self._files = self._failed = self._known = 0
        self._fixable = self._changing = 0
        self._begun = False

    def lines(self, one: LintedFile) -> Iterator[str]:
        """Yield the lines of one file."""
        self._files += 1
        self._failed += bool(one.error and not one.notes)
        self._known += len(one.known)
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
        """Yield the summary."""
        looked = plural(self._files - self._failed, "file")
        if not self._counts.total():
            if self._files > self._failed:
                which = "new notes" if self._known else "notes"
                yield self._paint("allowed", f"No {which} in {looked}{self._more_known()}.")
            return
        if not self._concise:
            yield from self._gap()
        counts = [_counted(count, level) for level, count in self._counts.items() if count]
        yield self._paint("heading", f"{', '.join(counts)} in {looked}{self._more_known()}.")
        if self._fixable:
            yield f"--fix applies {fixes(self._fixable)}."
        if self._changing:
            more = "more " if self._fixable else ""
            changing = f"that change{'s' if self._changing == 1 else ''} {CHANGED}"
            yield f"--unsafe-fixes applies {fixes(self._changing, more)} {changing}."

    def statistics(self, counts: Sequence[dict[str, Any]]) -> Iterator[str]:
        """Yield the number of notes per check."""
        width = max((len(f"{one['count']:,}") for one in counts), default=0)
        for one in counts:
            level = self._paint(one["level"], f"{one['level']:<7}")
            yield f"{one['count']:>{width},}  {one['code']}  {level}  {one['slug']}"

    def _more_known(self) -> str:
        return f"; {self._known:,} more in the baseline" if self._known else ""

    def _gap(self) -> Iterator[str]:
        if self._begun:
            yield ""
        self._begun = True

    def _head(
        self, one: LintedFile, note: LintNote, places: Places, *, concise: bool = False
    ) -> str:
        """Return the position and message of a note, in one line."""
        level, name = self._paint(note.level, note.level), visible(one.name)
        message = truncate(visible(note.message), LONGEST)
        where = "" if note.part == ROBOTS_TXT else f" {visible(note.part)}:"
        if note.line is not None:
            start = places.at(note.start)
            name += f":{start.line}:{start.column}"
        head = f"{self._paint('heading', name)}:{where} {level} {note.code} {note.slug}: {message}"
        if concise and note.url is not None:
            head += f" Shown by {truncate(visible(note.url), LONGEST)}"
        return head

    def _note(self, one: LintedFile, note: LintNote, places: Places, more: int) -> Iterator[str]:
        """Yield the lines of a note; *more* notes of its check are not shown."""
        yield self._head(one, note, places)
        number = "" if note.line is None else str(places.at(note.start).line)
        lines = [str(places.at(related.start).line) for related in note.related[:MOST_RELATED]]
        gutter = max(map(len, [number, *lines, "   "]))
        if note.line is not None:
            yield from self._marked(places, note.start, note.end, gutter, "", note.level)
        for related in note.related[:MOST_RELATED]:
            words = truncate(visible(related.message), LONGEST)
            yield from self._marked(places, related.start, related.end, gutter, words, "faint")
        if (others := len(note.related) - MOST_RELATED) > 0:
            yield from self._beside(gutter, f"and {plural(others, 'more line')}")
        if note.url is not None:
            url = truncate(visible(note.url), LONGEST)
            yield f"{' ' * (gutter + 1)}{self._paint('faint', '=')} shown by {url}"
        if note.fix is not None:
            yield from self._beside(gutter, _describe_fix(note.fix, one.is_file))
        yield from self._beside(gutter, f"robotrules rule {note.code}")
        if more:
            yield from self._beside(gutter, f"and {more:,} more {note.code} {note.slug} (--all)")

    def _marked(
        self, places: Places, start: int, end: int, gutter: int, words: str, style: str
    ) -> list[str]:
        """Return a line with carets under a span; a long line is cut before it is escaped."""
        number = places.at(start).line
        text, (first, _) = places.text(number), places.span(number)
        room = self._room - gutter - 3
        begin, stop = start - first, max(end, start) - first
        # A character has at most four bytes, so this is always more than is shown.
        left, shown_to = max(begin - 4 * room, 0), min(stop, begin + 4 * room)
        before, marked = visible(text[left:begin]), visible(text[begin:shown_to])
        # If the span fills the line, there is no room for the rest.
        full = min(len(before), room // 2) + len(marked) >= room
        part = text[left : shown_to if full else shown_to + 4 * room]
        excerpt = Excerpt(part, begin - left, shown_to - left, room)
        return excerpt.lines(f"{number:>{gutter}}", words, self._paint, style)

    def _beside(self, gutter: int, words: str) -> Iterator[str]:
        margin = " " * (gutter + 1)
        # Do not break paths and URLs.
        wrapped = textwrap.wrap(
            words, self._room - gutter - 3, break_long_words=False, break_on_hyphens=False
        )
        for at, line in enumerate(wrapped or [""]):
            yield f"{margin}{self._paint('faint', ' ' if at else '=')} {line}"


def in_order(notes: Iterable[LintNote]) -> list[LintNote]:
    """Return notes sorted by level, then by line."""
    return sorted(notes, key=lambda note: (LEVELS.index(note.level), note.line or 0, note.start))


def _describe_fix(fix: Fix, is_file: bool) -> str:
    beside = "--unsafe-fixes" if fix.changes_verdicts else "--fix"
    if not is_file:  # a URL or stdin cannot be fixed in place
        beside = "changes verdicts" if fix.changes_verdicts else "changes no verdict"
    return f"fix: {truncate(visible(fix.title), LONGEST)} ({beside})"


# What unsafe fixes change.
CHANGED = "verdicts or other records"


def fixes(count: int, more: str = "") -> str:
    """Return `1 fix`, `2,000 fixes`; *more* goes in between."""
    return f"1 {more}fix" if count == 1 else f"{count:,} {more}fixes"


def _counted(count: int, level: str) -> str:
    return f"{count:,} info" if level == "info" else plural(count, level)
