"""RR405: text behind the `*` of a user-agent line."""

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
        A user-agent line with `*` and something behind it. Often a line end got lost, and the rule
        that belongs on the next line stands there.

    Why it matters:
        Google's parser takes the line as one for everyone and does not see the text; others find
        nobody of that name, so that the group is for nobody. A rule in the text is read by none.

    Example:
            User-agent: * Disallow: /search

    Instead:
            User-agent: *
            Disallow: /search
    """

    code = "RR405"
    slug = "star-with-text"
    level = "warning"
    message = "The line is for everyone, and {text} behind the '*' is not read."
    reference = "RFC 9309 §2.2.1; AMB-23"
    misread = True

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return the text."""
        return {"text": quote(context.robots.body[note.start : note.end].strip())}

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Give a rule the line of its own; take away what is no record."""
        rest = context.robots.body[note.start : note.end]
        rule = _RULE.fullmatch(rest)
        if rule and note.line is not None:
            edit = Edit(note.start, note.end, line_end(context, note.line) + rule[1])
            return Fix(f"Write {quote(rule[1])} on the next line", (edit,), changes_verdicts=True)
        if _RECORD.search(rest):
            return None
        edit = Edit(note.start, note.end, b"")
        return Fix("Write '*' alone", (edit,), changes_verdicts=True)
