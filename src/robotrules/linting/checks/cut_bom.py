"""RR102: an incomplete byte order mark at the start of the file."""

from __future__ import annotations

from robotrules.linting.check import ParserNote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix
from robotrules.robotstxt.values import Note


class CutBom(ParserNote):
    r"""
    What it finds:
        A file that starts with one or two of the three bytes of a UTF-8 byte order mark. Only
        profile `google` skips them, and only that profile reports this note.

    Why it matters:
        Google's parser skips the incomplete mark. Other parsers read the bytes as part of the first
        record's name and ignore the first line; if it is a user-agent line, its rules apply to no
        crawler. Missing bytes also show that something truncates the file on its way.

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
        "The file starts with an incomplete byte order mark: Google's parser skips it, and other "
        "parsers ignore the first record. Remove these bytes."
    )
    reference = "AMB-07; VEN-02"
    misread = True

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Remove it."""
        edit = Edit(note.start, note.end, b"")
        # Other parsers read the bytes as part of the first record's name.
        return Fix("Remove the incomplete byte order mark", (edit,), changes_verdicts=True)
