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
        trims them. The other profiles treat them as part of the name or the value.

    Why it matters:
        In RFC 9309, only space and tab are whitespace. For other parsers, a vertical tab makes an
        unknown name, or a value with a control character, and the record is ignored.

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
    message = (
        "Google's parser trims this vertical tab or form feed; crawlers that follow RFC 9309 "
        "ignore the record. Write a space."
    )
    reference = "RFC 9309 §2.2 (REP-2.2-03); AMB-10"
    misread = True

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Write a space for each that is neither in the name nor in the value."""
        record, body = context.by_line[note.line or 0], context.robots.body
        inside = {*range(record.key_start, record.key_end), *range(record.start, record.end)}
        offsets = (
            at for at in range(note.start, note.end) if body[at] in b"\v\f" and at not in inside
        )
        edits = tuple(Edit(at, at + 1, b" ") for at in offsets)
        return Fix("Write a space", edits, changes_verdicts=True)
