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
        A line with text, but without a colon, so that it is no record: a title, a note to people
        without a `#`, a path or a URL that lost its `Disallow:` or `Sitemap:`. Lines that look like
        another language's comments (`markup-line`) or another file's (`line-of-another-file`) have
        checks of their own, and in an HTML page lint speaks of the page only.

    Why it matters:
        Crawlers skip what they cannot read. If the line was meant as a rule, it asks nothing.

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
    message = "{text} has no colon, so it is no record and is ignored. A comment starts with '#'."
    reference = "RFC 9309 §2.2 (REP-2.2-16), §2.3.1.5; AMB-13"
    misread = True
    has_fixes = False

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the parser's notes but for lines that other checks speak of."""
        if context.parser_notes("looks-like-html"):
            return
        for note in super().check(context):
            text = context.robots.body[note.start : note.end]
            spoken_of = (
                FULL_WIDTH_COLON in text or is_invisible(text) or not text.strip(GARBLED_BOM)
            )
            if not (spoken_of or find_mark(text) or guess_file(text)):
                yield note
