"""RR607: a scoped record with an invalid path pattern."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from robotrules.linting.check import ParserNote, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix, LintNote
from robotrules.robotstxt.values import Note


class UnusablePath(ParserNote):
    """
    What it finds:
        A `Content-Usage`, `App-Directives`, `Content-Signal` or `Clean-param` record whose path
        pattern is invalid or matches no URL.

    Why it matters:
        These records take a path before their statement. It must start with `/`, and is matched
        like the patterns of Allow and Disallow. If it is invalid, crawlers ignore the whole record.

    Example:
            User-agent: *
            Content-Usage: images/ train-ai=n

    Instead:
            User-agent: *
            Content-Usage: /images/ train-ai=n
    """

    code = "RR607"
    slug = "unusable-path"
    level = "error"
    message = "The path pattern {text} is invalid, so crawlers ignore the record{hint}."
    reference = "draft-ietf-aipref-attach-05 §3.2; RFC 9309 §2.2.2; AMB-05, AMB-103, AMB-112"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the parser's notes, except for paths that start with `*`, which RR608 reports."""
        for note in super().check(context):
            if context.robots.body[note.start : note.start + 1] != b"*":
                yield note

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return the path, and how to correct it."""
        fix = self.fix(context, note)
        return {**super().words(context, note), "hint": ". Start it with '/'" if fix else ""}

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Insert the `/` if the text is certainly a path."""
        path = context.robots.body[note.start : note.end]
        if b":" in path or not path[:1].isalnum() or not path.isascii():
            return None
        words = f"Write {quote(b'/' + path)}"
        return Fix(words, (Edit(note.start, note.start, b"/"),), changes_verdicts=True)
