"""RR302: a record name that only starts with a known name."""

from __future__ import annotations

from typing import Any

from robotrules.linting.check import ParserNote, quote
from robotrules.linting.context import LintContext
from robotrules.linting.record_names import KNOWN
from robotrules.robotstxt.values import Note


class PrefixKey(ParserNote):
    """
    What it finds:
        A record whose name only starts with a known name, such as `Disallow-old` or `Allowed`, in
        profile `google`. The other profiles compare whole names.

    Why it matters:
        Google's parser compares only the start of a record's name, so `Disallow-old: /x` blocks
        `/x`. Other parsers ignore it as an unknown record. Google's parser even reads
        `User-agent-purpose` as a user-agent line.

    Example:
            User-agent: *
            Disallow-old: /private/

    Instead:
        Write the known name, or make the line a comment:

            User-agent: *
            Disallow: /private/
    """

    code = "RR302"
    slug = "prefix-key"
    level = "warning"
    message = (
        "Google's parser reads {text} as {name}; other parsers do not. Write {name} if you mean "
        "it, and a comment otherwise."
    )
    reference = "RFC 9309 §2.2.4 (REP-2.2.4-06); AMB-15"
    misread = True

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return the name as written, and as it is read."""
        record = context.by_line.get(note.line or 0)
        read = KNOWN.get(record.key, record.key) if record else ""
        return {"text": quote(context.robots.body[note.start : note.end]), "name": quote(read)}
