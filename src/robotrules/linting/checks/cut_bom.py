"""RR102: the first octets of a byte order mark, without the rest."""

from __future__ import annotations

from robotrules.linting.check import ParserNote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix
from robotrules.robotstxt.values import Note


class CutBom(ParserNote):
    r"""
    What it finds:
        A file that starts with one or two of the three octets of a UTF-8 byte order mark. Profile
        `google` skips them; other profiles do not, and this note is of profile `google` only.

    Why it matters:
        Google's parser skips what is left of the mark. To others the octets are a part of the first
        record's name: the first line is lost, and if it is a user-agent line its rules are for
        nobody. A mark that lost octets also means that something on the way cuts the file.

    Example:
            \xef\xbbUser-agent: *
            Disallow: /private/

    Instead:
            User-agent: *
            Disallow: /private/
    """

    code = "RR102"
    slug = "cut-bom"
    level = "warning"
    message = (
        "The file starts with a byte order mark that lost bytes; only parsers like Google's skip "
        "it."
    )
    reference = "AMB-07; VEN-02"
    misread = True

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Take it out."""
        edit = Edit(note.start, note.end, b"")
        # Others read the octets as a part of the first name.
        return Fix("Take out what is left of the mark", (edit,), changes_verdicts=True)
