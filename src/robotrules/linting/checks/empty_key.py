"""RR203: a line that starts with a colon."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import ParserNote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote


class EmptyKey(ParserNote):
    """
    What it finds:
        A line with nothing before its colon, so that nobody knows which record it is.

    Why it matters:
        Crawlers skip the line. If it was meant as a rule, it asks nothing.

    Example:
            User-agent: *
            : /private/

    Instead:
            User-agent: *
            Disallow: /private/
    """

    code = "RR203"
    slug = "empty-key"
    level = "error"
    message = "Nothing stands before the colon of {text}, so the line is ignored."
    reference = "RFC 9309 §2.2, §2.2.4"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the parser's notes; an HTML page has a note of its own."""
        if not context.parser_notes("looks-like-html"):
            yield from super().check(context)
