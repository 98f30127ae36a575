"""RR106: a value with octets that are not UTF-8."""

from __future__ import annotations

import re

from robotrules.linting.check import ParserNote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix
from robotrules.robotstxt.values import Note

# How `surrogateescape` shows an octet that is not UTF-8.
_ESCAPED = re.compile("[\udc80-\udcff]")


class InvalidUtf8(ParserNote):
    r"""
    What it finds:
        A path pattern or a user-agent value with octets that are not UTF-8, most often because the
        file was saved as Latin-1 or Windows-1252.

    Why it matters:
        A robots.txt must be UTF-8. We compare such an octet as it is, so `/caf\xe9` matches the URL
        `/caf%E9` and not `/caf%C3%A9`, which is what a site in UTF-8 has. Others put a replacement
        sign there that matches nothing, and profile `strict` does not use the line.

    Example:
            User-agent: *
            Disallow: /caf\xe9

    Instead:
        Write what the URLs of your pages have:

            User-agent: *
            Disallow: /caf%C3%A9
    """

    code = "RR106"
    slug = "invalid-utf8"
    level = "warning"
    message = "The value {text} is not UTF-8, and parsers do not agree on what it matches."
    reference = "RFC 9309 §2.2 (REP-2.2-14), §2.3 (REP-2.3-03); AMB-06"
    misread = True

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Write the octets of a path pattern as `%E9`: so they are compared already."""
        record = context.by_line.get(note.line or 0)
        if record is None or not record.is_rule or note.level == "error":
            return None
        text = record.value.decode("utf-8", "surrogateescape")
        plain = _ESCAPED.sub(lambda found: f"%{ord(found[0]) - 0xDC00:02X}", text).encode()
        words = "Write the bytes that are not UTF-8 with '%'"
        edit = Edit(record.start, record.end, plain)
        # By the letter of the RFC the line is none, and Google's parser keeps the octets.
        return Fix(words, (edit,), changes_verdicts=True)
