"""RR202: a record without its colon."""

from __future__ import annotations

from robotrules.linting.check import ParserNote, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix
from robotrules.robotstxt.values import Note


class MissingColon(ParserNote):
    """
    What it finds:
        A record whose colon is missing: a known name, a space and one word.

    Why it matters:
        The grammar requires the colon. Google's parser and robotrules accept the line without it;
        profile `strict`, Python's `urllib.robotparser` and other parsers ignore it. If it is a
        user-agent line, they apply its rules to the group before.

    Example:
            User-agent *
            Disallow /private/

    Instead:
            User-agent: *
            Disallow: /private/
    """

    code = "RR202"
    slug = "missing-colon"
    level = "warning"
    message = (
        "The colon is missing in {text}: Google's parser reads the line, and Python's "
        "urllib.robotparser and others ignore it. Write the colon."
    )
    reference = "RFC 9309 §2.2 (REP-2.2-16); AMB-13; VEN-01"
    misread = True

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Write the colon."""
        record = context.by_line[note.line or 0]
        name = context.robots.body[record.key_start : record.key_end]
        edit = Edit(record.key_end, record.key_end, b":")
        # For parsers that ignore the line now, it becomes a record.
        return Fix(f"Write {quote(name + b':')}", (edit,), changes_verdicts=True)
