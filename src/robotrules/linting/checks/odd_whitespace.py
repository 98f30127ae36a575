"""RR205: a vertical tab or a form feed where a space should be."""

from __future__ import annotations

from robotrules.linting.check import ParserNote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix
from robotrules.robotstxt.values import Note


class OddWhitespace(ParserNote):
    r"""
    What it finds:
        A vertical tab or a form feed around a record's name or value, in profile `google`, which
        trims them. The other profiles take them for a part of the name or the value.

    Why it matters:
        Whitespace is space and tab for RFC 9309. A vertical tab makes a name that nobody knows, or
        a value with a control character in it, which is not used.

    Example:
            User-agent: *
            Disallow:\x0b/private/

    Instead:
            User-agent: *
            Disallow: /private/
    """

    code = "RR205"
    slug = "odd-whitespace"
    level = "warning"
    message = "A vertical tab or form feed stands for a space: only parsers like Google's trim it."
    reference = "RFC 9309 §2.2 (REP-2.2-03); AMB-10"
    misread = True

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Write a space for each that stands neither in the name nor in the value."""
        record, body = context.by_line[note.line or 0], context.robots.body
        inside = {*range(record.key_start, record.key_end), *range(record.start, record.end)}
        found = (
            at for at in range(note.start, note.end) if body[at] in b"\v\f" and at not in inside
        )
        edits = tuple(Edit(at, at + 1, b" ") for at in found)
        return Fix("Write a space", edits, changes_verdicts=True)
