"""RR103: a file in UTF-16."""

from __future__ import annotations

from robotrules.linting.check import ParserNote
from robotrules.linting.context import LintContext
from robotrules.linting.note import Fix
from robotrules.robotstxt.values import Note


class NotUtf8(ParserNote):
    r"""
    What it finds:
        A file in UTF-16, as its byte order mark says. Some editors call that "Unicode".

    Why it matters:
        A robots.txt must be UTF-8. We read UTF-16 where the mark announces it; profile `strict` and
        Google's parser do not. To them each letter has a NUL beside it, no line is a record, and
        the file asks for nothing at all.

    Example:
            \xff\xfeU\x00s\x00e\x00r\x00-\x00a\x00g\x00e\x00n\x00t\x00:\x00*\x00

    Instead:
            User-agent: *
    """

    code = "RR103"
    slug = "not-utf8"
    level = "error"
    message = "The file is UTF-16, and a robots.txt must be UTF-8: many crawlers read nothing here."
    reference = "RFC 9309 §2.3 (REP-2.3-03), §2.2.2; AMB-08"

    def fix(self, context: LintContext, note: Note) -> Fix | None:
        """Change no octet: the body that was parsed is UTF-8 already."""
        # Crawlers that read nothing before find rules then.
        return Fix("Save it as UTF-8", (), changes_verdicts=True)
