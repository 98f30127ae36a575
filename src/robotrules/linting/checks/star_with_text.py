"""RR405: text after the `*` of a user-agent line."""

from __future__ import annotations

import re
from typing import Any

from robotrules.linting.check import ParserNote, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix
from robotrules.linting.value_shapes import line_end
from robotrules.robotstxt.values import Note

_RULE = re.compile(rb"\s+((?:dis)?allow\s*:\s*\S*)", re.IGNORECASE)
_RECORD = re.compile(rb":")


class StarWithText(ParserNote):
    """
    What it finds:
        A user-agent line with text after the `*`. Often a line end is missing, and the text is the
        rule that belongs on the next line.

    Why it matters:
        Google's parser reads the line as `*` and ignores the text; other parsers find no crawler of
        that name, so that the group applies to no crawler. No parser reads a rule in the text.

    Example:
            User-agent: * Disallow: /search

    Instead:
            User-agent: *
            Disallow: /search
    """

    code = "RR405"
    slug = "star-with-text"
    level = "warning"
    message = (
        "Google's parser reads this line as '*' and ignores {text}; other parsers apply the group "
        "to no crawler. Write '*' alone, and a rule on the next line."
    )
    reference = "RFC 9309 §2.2.1; AMB-23"
    misread = True

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return the text."""
        return {"text": quote(context.robots.body[note.start : note.end].strip())}

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Move a rule to the next line; remove text that is not a record."""
        rest = context.robots.body[note.start : note.end]
        rule = _RULE.fullmatch(rest)
        if rule and note.line is not None:
            edit = Edit(note.start, note.end, line_end(context, note.line) + rule[1])
            return Fix(f"Write {quote(rule[1])} on the next line", (edit,), changes_verdicts=True)
        if _RECORD.search(rest):
            return None
        edit = Edit(note.start, note.end, b"")
        return Fix("Write '*' alone", (edit,), changes_verdicts=True)
