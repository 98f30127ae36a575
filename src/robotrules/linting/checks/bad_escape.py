"""RR520: a `%` in a path pattern without two hex digits after it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote

_STRAY = re.compile(rb"%(?![0-9a-fA-F]{2})")


class BadEscape(Check):
    """
    What it finds:
        A `%` in a path pattern without two hexadecimal digits after it.

    Why it matters:
        In a URL, `%` and two digits encode one byte, such as `%20` for a space, and a literal `%`
        is written `%25`. Parsers differ on any other `%`: profile `default` reads it as `%25`,
        because a request cannot contain a bare `%`. Google's parser compares it unchanged, so
        `/%` also matches every path with an escape at that position.

    Example:
            User-agent: *
            Disallow: /sale-50%/

    Instead:
            User-agent: *
            Disallow: /sale-50%25/
    """

    code = "RR520"
    slug = "bad-escape"
    level = "warning"
    message = (
        "No two hexadecimal digits follow the '%' in {pattern}, so Google's parser and others "
        "match different URLs. Write '%25' for a percent sign."
    )
    reference = "RFC 9309 §2.2.2; RFC 3986 §2.1; AMB-37"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the rules with a stray `%`."""
        if b"%" not in context.robots.body:
            return
        for key in ("allow", "disallow"):
            for record in context.records(key):
                if match := _STRAY.search(record.value):
                    start = record.start + match.start()
                    pattern = quote(record.value)
                    yield self.note(context, start, start + 1, pattern=pattern)
