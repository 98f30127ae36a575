"""RR620: a scoped record whose path discloses something."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.extensions.scoped import split
from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.sensitive_paths import find_sensitive_word
from robotrules.octets import to_text

KEYS = ("app-directives", "app-directive", "content-usage", "content-signal")


class DirectivesDisclosePaths(Check):
    """
    What it finds:
        An `App-Directives`, `Content-Usage` or `Content-Signal` record whose path contains a word
        such as `backup`, `internal`, `private` or `secret`.

    Why it matters:
        A robots.txt is public, and a path in it shows strangers where to look. App directives and
        preferences are requests that nothing enforces: they neither hide a path nor restrict access
        to it. Content that is not public needs a login.

    Example:
            User-agent: *
            Content-Usage: /internal/board-minutes/ train-ai=n

    Instead:
        Require authentication for content that is not public, and state the preference for a path
        that discloses less:

            User-agent: *
            Content-Usage: train-ai=n
    """

    code = "RR620"
    slug = "directives-disclose-paths"
    level = "info"
    message = (
        "This file is public and discloses the path {path} with the word '{word}'; the record does "
        "not restrict access. Require a login there, and remove the path from this file."
    )
    reference = "draft-nottingham-plan-b §4; RFC 9309 §3; APP-4-01"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the records whose path contains a sensitive word."""
        for record in context.records(*KEYS):
            path = split(record).path
            word = find_sensitive_word(to_text(path)) if path else None
            if path and word:
                end = record.start + len(path)
                yield self.note(context, record.start, end, path=quote(path), word=word)
