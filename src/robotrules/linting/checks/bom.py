"""RR101: a byte order mark before the first line."""

from __future__ import annotations

from codecs import BOM_UTF8

from robotrules.linting.check import ParserNote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix
from robotrules.robotstxt.values import Note


class Bom(ParserNote):
    r"""
    What it finds:
        A UTF-8 byte order mark: three bytes (`EF BB BF`) that some editors write before the first
        line and do not show.

    Why it matters:
        Google's parser and robotrules skip it. RFC 9309 does not mention it, and a parser that does
        not skip it reads the mark as part of the first record's name: it does not recognise
        `User-agent`, and applies the rules of the first group to no crawler. Several crawlers still
        use such parsers.

    Example:
            \xef\xbb\xbfUser-agent: *
            Disallow: /private/

    Instead:
        Save the file as "UTF-8", not as "UTF-8 with BOM":

            User-agent: *
            Disallow: /private/
    """

    code = "RR101"
    slug = "bom"
    level = "info"
    message = (
        "The file starts with a byte order mark, and parsers that do not skip it ignore the first "
        "record. Save the file as UTF-8 without BOM."
    )
    reference = "RFC 9309 §2.2, §2.3; AMB-07; VEN-02"

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Remove it, unless a second mark follows, which would then become the mark."""
        if context.robots.body.startswith(BOM_UTF8, note.end):
            return None
        return Fix("Remove the byte order mark", (Edit(note.start, note.end, b""),))
