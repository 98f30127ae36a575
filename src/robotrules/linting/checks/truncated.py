"""RR104: a file that is longer than the parsing limit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from robotrules.linting.check import ParserNote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.robotstxt.values import Note


class Truncated(ParserNote):
    """
    What it finds:
        A file that is longer than the parsing limit, which is 500 KiB (512,000 bytes) here.

    Why it matters:
        Crawlers have to read 500 KiB and need not read more. Google ignores the rest; Yandex treats
        a file of more than 500 KB as missing. Rules at the end of the file have no effect for them.

    Example:
        A file with a `Disallow` line for each of 20,000 pages.

    Instead:
        Use fewer rules: one pattern for a folder, `*` for the part that varies. `robotrules
        simplify` removes redundant rules. To keep single pages out of search results, use a
        `noindex` tag on them.
    """

    code = "RR104"
    slug = "truncated"
    level = "error"
    message = (
        "The file is longer than {limit:,} bytes: crawlers may ignore everything from line {line} "
        "on. Shorten it."
    )
    reference = "RFC 9309 §2.5 (REP-2.5-02, REP-2.5-03); AMB-18; VEN-10"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the note, unless the file is an HTML page, which RR107 reports."""
        if not context.parser_notes("looks-like-html"):
            yield from super().check(context)

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return the limit of the profile, and the first line that is not read."""
        return {"limit": context.robots.profile.max_bytes, "line": len(context.lines) + 1}
