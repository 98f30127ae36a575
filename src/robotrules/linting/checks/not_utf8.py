"""RR103: a file in UTF-16."""

from __future__ import annotations

from robotrules.linting.check import ParserNote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Fix
from robotrules.robotstxt.values import Note


class NotUtf8(ParserNote):
    r"""
    What it finds:
        A file in UTF-16, according to its byte order mark. Some editors call it "Unicode".

    Why it matters:
        A robots.txt must be UTF-8. robotrules reads UTF-16 that starts with the mark; profile
        `strict` and Google's parser do not. They see a NUL beside each letter and no valid record,
        so the whole file has no effect for them.

    Example:
            \xff\xfeU\x00s\x00e\x00r\x00-\x00a\x00g\x00e\x00n\x00t\x00:\x00*\x00

    Instead:
            User-agent: *
    """

    code = "RR103"
    slug = "not-utf8"
    level = "error"
    message = (
        "The file is UTF-16, so Google's parser and other crawlers find no rules in it. Save it as "
        "UTF-8."
    )
    reference = "RFC 9309 §2.3 (REP-2.3-03), §2.2.2; AMB-08"

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Return a fix without edits: the parsed body is UTF-8 already."""
        # Crawlers that found no rules before find some in UTF-8.
        return Fix("Save it as UTF-8", (), changes_verdicts=True)
