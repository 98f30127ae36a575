"""RR665: a Visit-time value that is not a time window."""

from __future__ import annotations

from robotrules.extensions.visit_time import read_window
from robotrules.linting.check import ValueNote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix
from robotrules.robotstxt.values import Note


class BadVisitTime(ValueNote):
    """
    What it finds:
        A `Visit-time` record whose value is not two times of day in UTC, of four digits each, with
        a hyphen between them.

    Why it matters:
        Few crawlers read the record, and those that do ignore a value of any other form. They then
        crawl at any time of the day.

    Example:
            User-agent: *
            Visit-time: 06:00-08:45

    Instead:
            User-agent: *
            Visit-time: 0600-0845
    """

    code = "RR665"
    slug = "bad-visit-time"
    level = "error"
    message = (
        "{text} is not a time window, so crawlers ignore it. Write it in a form such as "
        "'0600-0845'."
    )
    reference = "S. Conner, An Extended Standard for Robot Exclusion (1996); REC-visit-time-01"

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Remove colons and spaces."""
        bare = context.robots.body[note.start : note.end].translate(None, b": \t")
        if read_window(bare) is None:
            return None
        edit = Edit(note.start, note.end, bare)
        return Fix(f"Write '{bare.decode()}'", (edit,), changes_verdicts=True)
