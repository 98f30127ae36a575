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
        The name of a record in a misspelling that Google's parser accepts, such as `Dissallow`,
        `useragent` or `site-map`. Profile `default` accepts it too.

    Why it matters:
        RFC 9309 has only one spelling. Many crawlers ignore a misspelt line. If a user-agent line
        is ignored, its rules belong to the group before it.

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
    message = (
        "Google's parser reads {text} as {name}; many other crawlers ignore the line. Write {name}."
    )
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
        # For parsers that ignore the line now, it becomes a record.
        return Fix(f"Write {quote(name)}", (edit,), changes_verdicts=True) if name else None


def _name(context: LintContext, note: Note) -> str:
    record = context.by_line.get(note.line or 0)
    return KNOWN.get(record.key, record.key) if record else ""
