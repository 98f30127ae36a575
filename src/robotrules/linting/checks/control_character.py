"""RR112: a control character that makes a line unusable."""

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
        A path pattern or a user-agent value with a control character in it: any below U+0020 but
        the tab.

    Why it matters:
        The grammar of RFC 9309 has none, and §3 advises to reject what is outside it. The line is
        not used; a user-agent line opens a group for nobody. Google's parser stops at a NUL and
        keeps the others, so it reads another rule than is written. Nobody sees these signs in an
        editor.

    Example:
            User-agent: *
            Disallow: /old\x01shop/

    Instead:
        Write the line anew:

            User-agent: *
            Disallow: /oldshop/
    """

    code = "RR112"
    slug = "control-character"
    level = "error"
    message = "The control character {name} makes the line unusable: {text}."
    reference = "RFC 9309 §2.2 (REP-2.2-13), §3 (REP-3-05); AMB-05"
    misread = True

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return the first of them by its code point."""
        value = context.robots.body[note.start : note.end]
        found = _CONTROL.search(value)
        return {"name": f"U+{found[0][0]:04X}" if found else "", "text": quote(value)}
