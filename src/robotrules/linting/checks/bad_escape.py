"""RR520: a `%` in a path pattern that no two hex digits follow."""

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
        In URLs `%` and two digits stand for one octet, such as `%20` for a space, and a `%` of its
        own is written `%25`. Parsers do not agree on anything else: profile `default` reads a stray
        `%` as `%25`, because no request can have it otherwise. Google's parser compares it as it
        stands, so there `/%` also matches each path with an escape at that place.

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
        "In {pattern} no two hexadecimal digits follow the '%', so parsers read it in two ways."
    )
    reference = "RFC 9309 §2.2.2; RFC 3986 §2.1; AMB-37"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the rules with such a `%`."""
        if b"%" not in context.robots.body:
            return
        for key in ("allow", "disallow"):
            for record in context.records(key):
                if found := _STRAY.search(record.value):
                    start = record.start + found.start()
                    pattern = quote(record.value)
                    yield self.note(context, start, start + 1, pattern=pattern)
