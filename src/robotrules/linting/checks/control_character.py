"""RR112: a control character that makes parsers ignore a line."""

from __future__ import annotations

import re
from typing import Any

from robotrules.linting.check import ParserNote, quote
from robotrules.linting.context import LintContext
from robotrules.robotstxt.values import Note

_CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f]")


class ControlCharacter(ParserNote):
    r"""
    What it finds:
        A path pattern or a user-agent value that contains a control character: any character below
        U+0020 except the tab.

    Why it matters:
        The grammar of RFC 9309 excludes control characters, and §3 advises to reject them. The line
        is ignored, and the group of an ignored user-agent line applies to no crawler. Google's
        parser stops at a NUL and keeps the others, so it reads a different rule. Editors do not
        show these characters.

    Example:
            User-agent: *
            Disallow: /old\x01shop/

    Instead:
        Retype the line:

            User-agent: *
            Disallow: /oldshop/
    """

    code = "RR112"
    slug = "control-character"
    level = "error"
    message = (
        "The value contains the control character {name}, so crawlers that follow RFC 9309 ignore "
        "the line. Retype {text} without it."
    )
    reference = "RFC 9309 §2.2 (REP-2.2-13), §3 (REP-3-05); AMB-05"
    misread = True

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return the code point of the first control character, and the value."""
        value = context.robots.body[note.start : note.end]
        match = _CONTROL.search(value)
        return {"name": f"U+{match[0][0]:04X}" if match else "", "text": quote(value)}
