"""RR106: a value with bytes that are not UTF-8."""

from __future__ import annotations

import re

from robotrules.linting.check import ParserNote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix
from robotrules.robotstxt.values import Note

# The code points to which `surrogateescape` decodes bytes that are not UTF-8.
_ESCAPED = re.compile("[\udc80-\udcff]")


class InvalidUtf8(ParserNote):
    r"""
    What it finds:
        A path pattern or a user-agent value with bytes that are not UTF-8, usually because the file
        was saved as Latin-1 or Windows-1252.

    Why it matters:
        A robots.txt must be UTF-8. robotrules compares such a byte unchanged, so `/caf\xe9` matches
        the URL `/caf%E9` and not `/caf%C3%A9`, which a site in UTF-8 uses. Other parsers insert a
        replacement character that matches no URL, and profile `strict` ignores the line.

    Example:
            User-agent: *
            Disallow: /caf\xe9

    Instead:
        Write the path as in the URLs of your pages:

            User-agent: *
            Disallow: /caf%C3%A9
    """

    code = "RR106"
    slug = "invalid-utf8"
    level = "warning"
    message = (
        "The value {text} is not UTF-8, so crawlers differ in which URLs it matches. Save the file "
        "as UTF-8, or percent-encode these bytes."
    )
    reference = "RFC 9309 §2.2 (REP-2.2-14), §2.3 (REP-2.3-03); AMB-06"
    misread = True

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Percent-encode the bytes of a path pattern: they are compared in this form anyway."""
        record = context.by_line.get(note.line or 0)
        if record is None or not record.is_rule or note.level == "error":
            return None
        text = record.value.decode("utf-8", "surrogateescape")
        plain = _ESCAPED.sub(lambda match: f"%{ord(match[0]) - 0xDC00:02X}", text).encode()
        words = "Percent-encode the bytes that are not UTF-8"
        edit = Edit(record.start, record.end, plain)
        # By the grammar of the RFC the line is invalid, and Google's parser keeps the bytes.
        return Fix(words, (edit,), changes_verdicts=True)
