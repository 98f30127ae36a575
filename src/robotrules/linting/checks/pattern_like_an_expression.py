"""RR519: a path pattern that looks like a regular expression."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.analysis.describe import describe
from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.value_shapes import is_expression, may_have_expressions
from robotrules.robotstxt.values import Record

# Patterns of a file that get a description.
MOST_DESCRIBED = 20


class PatternLikeAnExpression(Check):
    """
    What it finds:
        A path pattern with the syntax of a regular expression, such as `^`, `[0-9]`, `(a|b)` or a
        backslash.

    Why it matters:
        Path patterns have two special characters: `*` matches anything, and a final `$` matches the
        end of the path. All other characters are literal, so `/page[0-9]+` only matches paths that
        contain `[0-9]+`, which no site has. A `.` is a literal dot and needs no backslash.

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
    message = (
        "{pattern} looks like a regular expression, but all crawlers read it literally{says}. Use "
        "only '*' and a final '$'."
    )
    reference = "RFC 9309 §2.2.3"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the rules with such a pattern; the first ones with a description."""
        if not may_have_expressions(context.robots.body):
            return
        described = 0
        for key in ("allow", "disallow"):
            for record in context.records(key):
                if is_expression(record.value):
                    described += 1
                    yield self._describe(context, record, described <= MOST_DESCRIBED)

    def _describe(self, context: LintContext, record: Record, with_matches: bool) -> LintNote:
        says, url = "", None
        if with_matches:
            description = describe(record.value, context.robots.profile)
            says = f": it {description.sentence[:1].lower()}{description.sentence[1:].rstrip('.')}"
            url = description.matches[0].url if description.matches else None
        return self.about(context, record, pattern=quote(record.value), says=says, url=url)
