"""RR201: a line that is neither a record nor a comment."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import ParserNote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.pasted_text import (
    FULL_WIDTH_COLON,
    GARBLED_BOM,
    find_mark,
    guess_file,
    is_invisible,
)


class NoSeparator(ParserNote):
    """
    What it finds:
        A line with text but without a colon, so that it is not a record: a title, a remark without
        a `#`, or a path or URL without its `Disallow:` or `Sitemap:`. Other checks report comments
        of other languages (`markup-line`) and lines of other files (`line-of-another-file`). If the
        whole file is an HTML page, only that is reported.

    Why it matters:
        Crawlers ignore lines that they cannot parse. If the line was meant as a rule, it has no
        effect.

    Example:
            User-agent: *
            keep these private
            /private/

    Instead:
            User-agent: *
            # keep these private
            Disallow: /private/
    """

    code = "RR201"
    slug = "no-separator"
    level = "error"
    message = (
        "{text} has no colon, so all crawlers ignore the line. Write it as a record, or start it "
        "with '#' if it is a comment."
    )
    reference = "RFC 9309 §2.2 (REP-2.2-16), §2.3.1.5; AMB-13"
    misread = True
    has_fixes = False

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the parser's notes, except for lines that other checks report."""
        if context.parser_notes("looks-like-html"):
            return
        for note in super().check(context):
            text = context.robots.body[note.start : note.end]
            is_reported = (
                FULL_WIDTH_COLON in text or is_invisible(text) or not text.strip(GARBLED_BOM)
            )
            if not (is_reported or find_mark(text) or guess_file(text)):
                yield note
