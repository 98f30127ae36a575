"""RR607: a scoped record whose path pattern cannot be used."""

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
        pattern no URL can match, or that is none.

    Why it matters:
        These records take a path before their statement. Only `/` starts it, and it is compared as
        the patterns of Allow and Disallow are. Where it cannot be used the whole record is not, and
        the wish it states reaches nobody.

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
    message = "The path pattern {text} cannot be used, so the record is not{hint}."
    reference = "draft-ietf-aipref-attach-05 §3.2; RFC 9309 §2.2.2; AMB-05, AMB-103, AMB-112"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the notes of paths; one that starts with `*` has a check of its own."""
        for note in super().check(context):
            if context.robots.body[note.start : note.start + 1] != b"*":
                yield note

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Quote the path, and say what it lacks."""
        fix = self.fix(context, note)
        return {**super().words(context, note), "hint": ": a path starts with '/'" if fix else ""}

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Put the `/` before what is certainly a path without one."""
        path = context.robots.body[note.start : note.end]
        if b":" in path or not path[:1].isalnum() or not path.isascii():
            return None
        words = f"Write {quote(b'/' + path)}"
        return Fix(words, (Edit(note.start, note.start, b"/"),), changes_verdicts=True)
