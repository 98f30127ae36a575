"""
Check: the base classes of lint checks, each with a code, a message and documentation.

A check is a class in its own file under `checks/`. Its docstring has four parts: *What it
finds*, *Why it matters*, *Example* and *Instead*; `robotrules rule` and the pages of `docs/lint`
print them. `ParserNote` turns a note of the parser, or of a record's reader, into a lint note, so
that nothing is searched for twice. This module does not know the checks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from robotrules.linting.context import LintContext, PageContext
from robotrules.linting.note import ROBOTS_TXT, Fix, LintNote, Related
from robotrules.linting.suppressions import Suppression, Used
from robotrules.robotstxt.values import Note, Record, Rule
from robotrules.tags.codes import TagNote

# Characters of a file that a message quotes at most: a line may have half a mebibyte.
LONGEST_QUOTE = 60
# Notes without a fix that one check lists for one file: a file of 500 KiB may have a quarter of a
# million lines, too many to list one by one. Checks that sum up their notes count all of them.
MOST_NOTES = 10_000


class Check:
    """One test. It has no state: results that checks share are in the `LintContext`."""

    code: ClassVar[str] = ""
    """`RR` and three digits, the first by layer: 1 bytes, 2 lines, 3 records, 4 groups, 5 rules,
    6 extensions, 7 access, 8 tags, 9 lint itself. Never reused."""
    slug: ClassVar[str] = ""
    """Names the thing found, never the fix."""
    level: ClassVar[str] = ""
    message: ClassVar[str] = ""
    """One or two sentences; fields in braces are filled in."""
    reference: ClassVar[str] = ""
    exact: ClassVar[bool] = False
    """Whether it uses the exact analysis, which has a budget."""
    misread: ClassVar[bool] = False
    """Whether parsers read the record that it finds differently from what its author meant: not as
    a record, as another record, or for other crawlers or URLs. Safe fixes that depend on such a
    record are withheld until it is corrected."""

    has_fixes: ClassVar[bool] = True
    """Whether any of its notes may have a fix; a caller that needs only fixes skips the others."""

    summed_up: ClassVar[tuple[str, ...]] = ()
    """Levels whose notes `summary` replaces with one note per file."""

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield a note for each finding in a file."""
        raise NotImplementedError

    def summary(self, context: LintContext, notes: Sequence[LintNote]) -> LintNote:
        """Return one note that sums up several notes of this check, given in file order."""
        raise NotImplementedError

    def note(
        self,
        context: LintContext,
        start: int,
        end: int,
        *,
        level: str | None = None,
        url: str | None = None,
        related: Sequence[Related] = (),
        fix: Fix | None = None,
        **words: object,
    ) -> LintNote:
        """Return a note about a span of the body; *words* fill in the message."""
        where = *context.place(start, end), start, end
        return self._at(where, level, url, related, fix, words)

    def about(
        self,
        context: LintContext,
        record: Record | Rule,
        *,
        level: str | None = None,
        url: str | None = None,
        related: Sequence[Related] = (),
        fix: Fix | None = None,
        **words: object,
    ) -> LintNote:
        """Return a note about the value of a record; the rest is as in `note`."""
        # A record has its position already; a file may have a note for each of its lines.
        start, end, column = record.start, record.end, record.column
        where = record.line, column, column + end - start, start, end
        return self._at(where, level, url, related, fix, words)

    def _at(
        self,
        where: tuple[int, int, int, int, int],
        level: str | None,
        url: str | None,
        related: Sequence[Related],
        fix: Fix | None,
        words: dict[str, object],
    ) -> LintNote:
        message = self.message.format(**words)
        level = level or self.level
        return LintNote(
            self.code, self.slug, level, message, *where, ROBOTS_TXT, url, tuple(related), fix
        )

    def about_key(self, context: LintContext, record: Record, **more: Any) -> LintNote:
        """Return a note about the name of a record; *more* is as in `note`."""
        return self.note(context, record.key_start, record.key_end, **more)

    def about_file(
        self, *, level: str | None = None, fix: Fix | None = None, **words: object
    ) -> LintNote:
        """Return a note about the file as a whole, or about how it was served."""
        message = self.message.format(**words)
        level = level or self.level
        return LintNote(self.code, self.slug, level, message, None, 0, 0, 0, 0, fix=fix)


class ParserNote(Check):
    """A check that reports the notes of the parser, or of a record's reader, with its slug."""

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the parser's notes with the message of this check."""
        for note in context.parser_notes(self.slug):
            level, words, fix = note.level, self.words(context, note), self.fix(context, note)
            if note.line is None:
                yield self.about_file(level=level, fix=fix, **words)
            else:
                yield self.note(context, note.start, note.end, level=level, fix=fix, **words)

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return what fills in the message: `{text}` is what the note points at."""
        return {"text": quote(context.robots.body[note.start : note.end])}

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Return the fix, where it is certain."""
        return None


class ValueNote(ParserNote):
    """
    A check that reports a value that cannot be read, unless the value is empty.

    `empty-value` reports empty values of all records.
    """

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the notes with a non-empty span."""
        return (note for note in super().check(context) if note.end > note.start)


class SuppressionCheck(Check):
    """A check of suppression comments, which runs after all other checks."""

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield nothing: `check_suppressions` does the work."""
        return iter(())

    def check_suppressions(
        self,
        context: LintContext,
        suppressions: Sequence[Suppression],
        used: Used,
        checks: Sequence[Check],
    ) -> Iterator[LintNote]:
        """Yield notes about the suppressions of a file, after *checks* have run."""
        raise NotImplementedError


class PageCheck(Check):
    """A check of a page: its header fields and meta elements, alone and with robots.txt."""

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield nothing: a robots.txt is not a page."""
        return iter(())

    def check_page(self, page: PageContext) -> Iterator[LintNote]:
        """Yield a note for each finding in a page; by default, the tag readers' notes."""
        for note in page.tag_notes(self.slug):
            yield self.about_tag(note, **self.words(page, note))

    def words(self, page: PageContext, note: TagNote) -> dict[str, Any]:
        """Return what fills in the message: `{text}` is what the note points at."""
        return {"text": quote(page.text(note))}

    def about_tag(self, note: TagNote, **words: object) -> LintNote:
        """Return a note about a field line or an element."""
        message, part = self.message.format(**words), str(note.source) if note.source else "page"
        where = 0, 0, note.start or 0, note.end or 0
        return LintNote(self.code, self.slug, note.level, message, None, *where, part=part)


def quote(text: bytes | str) -> str:
    """Return a part of a file in quotes, shortened to `LONGEST_QUOTE` characters."""
    if isinstance(text, bytes):
        text = text[: 4 * LONGEST_QUOTE].decode("utf-8", "backslashreplace")
    return f"'{text if len(text) <= LONGEST_QUOTE else text[: LONGEST_QUOTE - 1] + '…'}'"


def join_names(names: Sequence[str], most: int = 3) -> str:
    """Return the first names with commas and `and` between them, and how many more there are."""
    names = list(names)
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def relate_notes(notes: Sequence[LintNote], words: str) -> tuple[Related, ...]:
    """Return the places of notes as related locations of their summary."""
    return tuple(
        Related(words, note.line or 1, note.column, note.start, note.end) for note in notes
    )


def relate(words: str, record: Record | Rule) -> Related:
    """Return the place of a record or a rule as a related location of a note."""
    return Related(words, record.line, record.column, record.start, record.end)
