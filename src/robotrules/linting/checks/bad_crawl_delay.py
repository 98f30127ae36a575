"""RR661: a crawl delay that is not a number."""

from __future__ import annotations

import re

from robotrules.linting.check import ValueNote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix
from robotrules.robotstxt.values import Note

_NUMBER = rb"([0-9]{1,9}(?:\.[0-9]{1,9})?)"
_SECONDS = re.compile(_NUMBER + rb"[ \t]*(?:s|secs?|seconds?)", re.IGNORECASE)


class BadCrawlDelay(ValueNote):
    """
    What it finds:
        A `Crawl-delay` record whose value is not a number: it has a unit or a decimal comma, or is
        negative.

    Why it matters:
        No specification defines the record, but every crawler that reads it expects a number of
        seconds, some with a decimal point and some without. They ignore any other value.

    Example:
            User-agent: *
            Crawl-delay: 10s

    Instead:
            User-agent: *
            Crawl-delay: 10
    """

    code = "RR661"
    slug = "bad-crawl-delay"
    level = "error"
    message = (
        "{text} is not a number of seconds, so crawlers ignore the delay. Write a number without a "
        "unit."
    )
    reference = "REC-crawl-delay-01, AMB-118"

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Remove a unit of seconds."""
        match = _SECONDS.fullmatch(context.robots.body[note.start : note.end])
        if not match:
            return None
        edit = Edit(note.start, note.end, match[1])
        return Fix(f"Write '{match[1].decode()}'", (edit,), changes_verdicts=True)
