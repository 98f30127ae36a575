"""RR505: a path pattern that starts with neither `/` nor `*`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from robotrules.linting.check import ParserNote, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix, LintNote
from robotrules.linting.value_shapes import is_authority, is_expression, is_url
from robotrules.robotstxt.values import Note


class PatternStart(ParserNote):
    """
    What it finds:
        A rule whose path pattern starts with neither `/` nor `*`.

    Why it matters:
        Patterns are compared with the path of a URL from its first byte, and a path starts with
        `/`. For crawlers that follow RFC 9309, such a rule matches nothing. Some crawlers assume a
        `/` before it, others do not.

    Example:
            User-agent: *
            Disallow: private/

    Instead:
            User-agent: *
            Disallow: /private/

        If the text may be anywhere in a path, write `/*` before it: `Disallow: /*private/`.
    """

    code = "RR505"
    slug = "pattern-start"
    level = "error"
    message = (
        "The path pattern {text} starts with neither '/' nor '*', so it matches no URL. Start it "
        "with '/'."
    )
    reference = "RFC 9309 §2.2.2, §2.2.3; AMB-03"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield all but URLs, host names and expressions, which other checks report."""
        for note in super().check(context):
            value = context.robots.body[note.start : note.end]
            if not (is_url(value) or is_authority(value) or is_expression(value)):
                yield note

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Insert the `/`, unless the value does not look like a path."""
        pattern = context.robots.body[note.start : note.end]
        if re.search(rb"[:=&]", pattern) or not pattern[:1].isalnum():
            return None
        words = f"Write {quote(b'/' + pattern)}"
        return Fix(words, (Edit(note.start, note.start, b"/"),), changes_verdicts=True)
