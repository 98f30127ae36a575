"""RR301: a misspelt name that the profile accepts."""

from __future__ import annotations

from typing import Any

from robotrules.linting.check import ParserNote, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix
from robotrules.linting.record_names import KNOWN
from robotrules.robotstxt.values import Note


class Typo(ParserNote):
    """
    What it finds:
        The name of a record in one of the wrong spellings that Google's parser accepts, such as
        `Dissallow`, `useragent` or `site-map`. So does profile `default`.

    Why it matters:
        RFC 9309 knows one spelling. Whether another crawler accepts this one is its own affair:
        many skip the line, and a user-agent line that is skipped gives its rules to the group
        before.

    Example:
            User-agent: *
            Dissallow: /private/

    Instead:
            User-agent: *
            Disallow: /private/
    """

    code = "RR301"
    slug = "typo"
    level = "warning"
    message = "{text} should be {name}: some crawlers know this spelling, others do not."
    reference = "RFC 9309 §2.2; AMB-14; VEN-01"
    misread = True

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return the name as written, and the right one."""
        written = quote(context.robots.body[note.start : note.end])
        return {"text": written, "name": quote(_name(context, note))}

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Write the right name."""
        name = _name(context, note)
        edit = Edit(note.start, note.end, name.encode())
        # For those who skip the line now, it becomes a record.
        return Fix(f"Write {quote(name)}", (edit,), changes_verdicts=True) if name else None


def _name(context: LintContext, note: Note) -> str:
    record = context.by_line.get(note.line or 0)
    return KNOWN.get(record.key, record.key) if record else ""
