"""
Check: one test of lint, with its code, its words and its teaching text.

A check is a class in a file of its own under `checks/`. Its docstring has four parts: *What it
finds*, *Why it matters*, *Example* and *Instead*; `robotrules rule` and the pages of `docs/lint`
print them. What parsers and readers of records noted already is passed on by `ParserNote`, so that
nothing is looked for twice. It does not know which checks there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from robotrules.linting.context import LintContext, Page
from robotrules.linting.note import ROBOTS_TXT, Fix, LintNote, Related
from robotrules.linting.suppressions import Suppression, Used
from robotrules.robotstxt.values import Note, Record, Rule
from robotrules.tags.codes import TagNote

# What a message quotes of a file, at most: a line may have half a mebibyte.
LONGEST_QUOTE = 60
# Notes without a fix that one check lists for one file: a file of 500 KiB may have a quarter of a
# million lines, and nobody reads a note for each. What is summed up in one note is counted whole.
MOST_NOTES = 10_000


class Check:
    """One test. Without state: what is worked out once is the subject's."""

    code: ClassVar[str] = ""
    """`RR` and three digits, the first by layer: 1 bytes, 2 lines, 3 records, 4 groups, 5 rules,
    6 extensions, 7 access, 8 tags, 9 lint itself. Never reused."""
    slug: ClassVar[str] = ""
    """Names the thing found, never the cure."""
    level: ClassVar[str] = ""
    message: ClassVar[str] = ""
    """One or two sentences; what stands in braces is filled in."""
    reference: ClassVar[str] = ""
    exact: ClassVar[bool] = False
    """Whether it asks the exact analysis, which has a budget."""
    misread: ClassVar[bool] = False
    """Whether a record that it finds is read otherwise than its author meant: as none, as another,
    or for other crawlers or URLs. Safe fixes that rest on it wait until it is mended."""

    has_fixes: ClassVar[bool] = True
    """Whether any of its notes has a fix: who wants fixes alone does not ask the others."""

    summed_up: ClassVar[tuple[str, ...]] = ()
    """Levels of which a file has one note for all that it finds, by `summary`."""

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield what is found in a file."""
        raise NotImplementedError

    def summary(self, context: LintContext, notes: Sequence[LintNote]) -> LintNote:
        """Return one note for several of this check, which stand in the order of the file."""
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
        # A record knows its place, and a file may have a note for each of its lines.
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
        said = self.message.format(**words)
        chosen = level or self.level
        return LintNote(
            self.code, self.slug, chosen, said, *where, ROBOTS_TXT, url, tuple(related), fix
        )

    def about_key(self, context: LintContext, record: Record, **more: Any) -> LintNote:
        """Return a note about the name of a record; *more* is as in `note`."""
        return self.note(context, record.key_start, record.key_end, **more)

    def about_file(
        self, *, level: str | None = None, fix: Fix | None = None, **words: object
    ) -> LintNote:
        """Return a note about the file as a whole, or about how it was served."""
        said = self.message.format(**words)
        chosen = level or self.level
        return LintNote(self.code, self.slug, chosen, said, None, 0, 0, 0, 0, fix=fix)


class ParserNote(Check):
    """A check that passes on what the parser, or the reader of a record, noted under its slug."""

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the parser's notes with the words of this check."""
        for note in context.noted(self.slug):
            level, words, fix = note.level, self.words(context, note), self.fix(context, note)
            if note.line is None:
                yield self.about_file(level=level, fix=fix, **words)
            else:
                yield self.note(context, note.start, note.end, level=level, fix=fix, **words)

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return what fills in the message: `{text}` is what the note points at."""
        return {"text": quote(context.robots.body[note.start : note.end])}

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Return what to do about it, where that is certain."""
        return None


class ValueNote(ParserNote):
    """
    A check that passes on that a value could not be read, if there is one.

    A record without any value is told once for all names of records, by `empty-value`.
    """

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the notes that point at something."""
        return (note for note in super().check(context) if note.end > note.start)


class SuppressionCheck(Check):
    """A check of comments that ask not to report, which can be judged after all others have run."""

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield nothing: this looks at comments only."""
        return iter(())

    def check_suppressions(
        self,
        context: LintContext,
        asked: Sequence[Suppression],
        used: Used,
        checks: Sequence[Check],
    ) -> Iterator[LintNote]:
        """Yield what is found in such comments, after *checks* have run."""
        raise NotImplementedError


class PageCheck(Check):
    """A check of a page: of its header fields and meta elements, and of both with robots.txt."""

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield nothing: a robots.txt is no page."""
        return iter(())

    def check_page(self, page: Page) -> Iterator[LintNote]:
        """Yield what is found in a page: by default, what readers of tags noted under the slug."""
        for note in page.noted(self.slug):
            yield self.about_tag(note, **self.words(page, note))

    def words(self, page: Page, note: TagNote) -> dict[str, Any]:
        """Return what fills in the message: `{text}` is what the note points at."""
        return {"text": quote(page.text(note))}

    def about_tag(self, note: TagNote, **words: object) -> LintNote:
        """Return a note about a field line or an element."""
        said, part = self.message.format(**words), str(note.source) if note.source else "page"
        start, end = note.start or 0, note.end or 0
        return LintNote(self.code, self.slug, note.level, said, None, 0, 0, start, end, part=part)


def quote(text: bytes | str) -> str:
    """Return a part of a file as a message shows it: in quotes, and not too much of it."""
    if isinstance(text, bytes):
        text = text[: 4 * LONGEST_QUOTE].decode("utf-8", "backslashreplace")
    return f"'{text if len(text) <= LONGEST_QUOTE else text[: LONGEST_QUOTE - 1] + '…'}'"


def listed(names: Sequence[str], most: int = 3) -> str:
    """Return names with commas and `and` between them, and how many more there are."""
    names = list(names)
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def places(notes: Sequence[LintNote], words: str) -> tuple[Related, ...]:
    """Return where some notes are, as other places that a summary of them speaks of."""
    return tuple(
        Related(words, note.line or 1, note.column, note.start, note.end) for note in notes
    )


def related(words: str, record: Record | Rule) -> Related:
    """Return a record or a rule as another place that a note speaks of."""
    return Related(words, record.line, record.column, record.start, record.end)
