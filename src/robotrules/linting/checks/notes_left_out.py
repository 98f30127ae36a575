"""RR903: a check with more notes than lint lists."""

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
        The list is incomplete. A file with so many notes is often not a robots.txt at all.

    Example:
        A text of 10,001 lines without a colon.

    Instead:
        Fix the cause of the first notes; usually all of them have the same one.
    """

    code = "RR903"
    slug = "notes-left-out"
    level = "info"
    message = (
        "Only the first {most:,} notes of {code} ({slug}) are listed. Fix their cause and lint "
        "again."
    )
    reference = "docs/linting.md"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield one note for each check that was stopped."""
        for code, slug in context.ended.items():
            yield self.about_file(most=MOST_NOTES, code=code, slug=slug)
