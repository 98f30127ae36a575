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
        A UTF-8 byte order mark: three octets (`EF BB BF`) that some editors put before the first
        line and show to nobody.

    Why it matters:
        Google's parser skips it, and so do we. RFC 9309 does not mention it, and to a parser that
        does not skip it the mark is a part of the first record's name: `User-agent` is then not
        recognised, and the rules of the first group are for nobody. Several parsers of crawlers
        still do that.

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
        "The file starts with a byte order mark, which some parsers take for a part of the first "
        "record's name."
    )
    reference = "RFC 9309 §2.2, §2.3; AMB-07; VEN-02"

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Take it out, unless another follows, which would then be the mark."""
        if context.robots.body.startswith(BOM_UTF8, note.end):
            return None
        return Fix("Take out the byte order mark", (Edit(note.start, note.end, b""),))
