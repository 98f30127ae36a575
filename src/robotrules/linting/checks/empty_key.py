"""RR203: a line that starts with a colon."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import ParserNote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote


class EmptyKey(ParserNote):
    """
    What it finds:
        A line with nothing before its colon, so that the name of the record is missing.

    Why it matters:
        Crawlers ignore the line. If it was meant as a rule, it has no effect.

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
    message = (
        "Nothing comes before the colon of {text}, so crawlers ignore the line. Write a name such "
        "as 'Disallow' there, or remove the line."
    )
    reference = "RFC 9309 §2.2, §2.2.4"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the parser's notes; an HTML page has a separate note."""
        if not context.parser_notes("looks-like-html"):
            yield from super().check(context)
