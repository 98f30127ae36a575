"""RR661: a crawl delay that is no number."""

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
        A `Crawl-delay` record whose value is no number: with a unit, with a decimal comma, or
        negative.

    Why it matters:
        Nobody ever wrote down what the record means, but all who read it take a number of seconds,
        some with a decimal point and some without. With anything else they act as if the line was
        not there.

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
    message = "{text} is no number of seconds, so the delay is not used."
    reference = "REC-crawl-delay-01, AMB-118"

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Take the unit off, where it is that of the record."""
        found = _SECONDS.fullmatch(context.robots.body[note.start : note.end])
        if not found:
            return None
        edit = Edit(note.start, note.end, found[1])
        return Fix(f"Write '{found[1].decode()}'", (edit,), changes_verdicts=True)
