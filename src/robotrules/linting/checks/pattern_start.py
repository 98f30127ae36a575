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
        Patterns are compared with the path of a URL from its first octet, and a path starts with
        `/`. Such a rule matches nothing: RFC 9309 gives it no meaning, and what its author wanted
        does not happen. Some crawlers guess a `/` before it, others do not.

    Example:
            User-agent: *
            Disallow: private/

    Instead:
            User-agent: *
            Disallow: /private/

        Where the text may stand anywhere in a path, write `/*` before it: `Disallow: /*private/`.
    """

    code = "RR505"
    slug = "pattern-start"
    level = "error"
    message = "The path pattern {text} starts with neither '/' nor '*', so it never matches a URL."
    reference = "RFC 9309 §2.2.2, §2.2.3; AMB-03"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield what is no URL, no name of a server and no expression: those have checks."""
        for note in super().check(context):
            value = context.robots.body[note.start : note.end]
            if not (is_url(value) or is_authority(value) or is_expression(value)):
                yield note

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Put the `/` before it, unless it looks like something else than a path."""
        pattern = context.robots.body[note.start : note.end]
        if re.search(rb"[:=&]", pattern) or not pattern[:1].isalnum():
            return None
        words = f"Write {quote(b'/' + pattern)}"
        return Fix(words, (Edit(note.start, note.start, b"/"),), changes_verdicts=True)
