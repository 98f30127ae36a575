"""RR519: a path pattern that was written as a regular expression."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.analysis.describe import describe
from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.value_shapes import is_expression, may_have_expressions
from robotrules.robotstxt.values import Record

# Patterns of a file that are put into words.
MOST_DESCRIBED = 20


class PatternLikeAnExpression(Check):
    """
    What it finds:
        A path pattern with signs of regular expressions, such as `^`, `[0-9]`, `(a|b)` or a
        backslash.

    Why it matters:
        Path patterns know two signs: `*` for anything, and `$` at the end for the end of the path.
        All others are themselves, so `/page[0-9]+` matches paths with the letters `[0-9]+` in
        them, which there are none of. In a pattern `.` is a full stop and needs no backslash.

    Example:
            User-agent: *
            Disallow: /(en|de)/search

    Instead:
            User-agent: *
            Disallow: /en/search
            Disallow: /de/search
    """

    code = "RR519"
    slug = "pattern-like-an-expression"
    level = "warning"
    message = "{pattern} looks like a regular expression, and is read as it stands{says}."
    reference = "RFC 9309 §2.2.3"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the rules with such a pattern; the first ones with what they really match."""
        if not may_have_expressions(context.robots.body):
            return
        described = 0
        for key in ("allow", "disallow"):
            for record in context.records(key):
                if is_expression(record.value):
                    described += 1
                    yield self._expression(context, record, described <= MOST_DESCRIBED)

    def _expression(self, context: LintContext, record: Record, in_words: bool) -> LintNote:
        says, url = "", None
        if in_words:
            found = describe(record.value, context.robots.profile)
            says = f": {found.sentence[:1].lower()}{found.sentence[1:].rstrip('.')}"
            url = found.matches[0].url if found.matches else None
        return self.about(context, record, pattern=quote(record.value), says=says, url=url)
