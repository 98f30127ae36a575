"""RR903: a check that found more than lint lists."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import MOST_NOTES, Check
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote


class NotesLeftOut(Check):
    """
    What it finds:
        A check with more than 10,000 notes that offer no fix. The first 10,000 are listed.

    Why it matters:
        The list is not complete. A file with so many is broken throughout, and often it is not a
        robots.txt at all.

    Example:
        A text of 10,001 lines without a colon.

    Instead:
        Look at the first notes: they usually have one cause.
    """

    code = "RR903"
    slug = "notes-left-out"
    level = "info"
    message = "Only the first {most:,} notes of {code} ({slug}) are listed; there are more."
    reference = "docs/linting.md"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield one note for each check that was ended."""
        for code, slug in context.ended.items():
            yield self.about_file(most=MOST_NOTES, code=code, slug=slug)
