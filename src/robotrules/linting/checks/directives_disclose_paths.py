"""RR620: a scoped record whose path gives something away."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.extensions.scoped import split
from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.sensitive_paths import find_sensitive_word
from robotrules.robotstxt.values import shown

KEYS = ("app-directives", "app-directive", "content-usage", "content-signal")


class DirectivesDisclosePaths(Check):
    """
    What it finds:
        An `App-Directives`, `Content-Usage` or `Content-Signal` record whose path has a word in it
        such as `backup`, `internal`, `private` or `secret`.

    Why it matters:
        A robots.txt is public. A path in it tells strangers where to look, also those who read the
        file for nothing else. App directives and preferences are wishes without enforcement: they
        neither hide a path nor keep anybody from it. What is secret needs a login.

    Example:
            User-agent: *
            Content-Usage: /internal/board-minutes/ train-ai=n

    Instead:
        Put authentication before what is not for everybody, and state the wish for a path that
        tells less:

            User-agent: *
            Content-Usage: train-ai=n
    """

    code = "RR620"
    slug = "directives-disclose-paths"
    level = "info"
    message = (
        "Everybody can read this file: the path {path} says '{word}' to all, and a request like "
        "this one keeps nobody out."
    )
    reference = "draft-nottingham-plan-b §4; RFC 9309 §3; APP-4-01"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the records whose path gives something away."""
        for record in context.records(*KEYS):
            path = split(record).path
            word = find_sensitive_word(shown(path)) if path else None
            if path and word:
                end = record.start + len(path)
                yield self.note(context, record.start, end, path=quote(path), word=word)
