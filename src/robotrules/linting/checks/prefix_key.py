"""RR302: a name that only begins like a known one."""

from __future__ import annotations

from typing import Any

from robotrules.linting.check import ParserNote, quote
from robotrules.linting.context import LintContext
from robotrules.linting.record_names import KNOWN
from robotrules.robotstxt.values import Note


class PrefixKey(ParserNote):
    """
    What it finds:
        A record whose name only begins like a known one, such as `Disallow-old` or `Allowed`, in
        profile `google`. The other profiles compare whole names.

    Why it matters:
        Google's parser knows a record by the beginning of its name, so `Disallow-old: /x` asks not
        to crawl `/x`. Others take it for a record that they do not know. Even
        `User-agent-purpose` is a user-agent line for Google.

    Example:
            User-agent: *
            Disallow-old: /private/

    Instead:
        Write the name, or make it a comment:

            User-agent: *
            Disallow: /private/
    """

    code = "RR302"
    slug = "prefix-key"
    level = "warning"
    message = "Google's parser reads {text} as {name}; others do not know it."
    reference = "RFC 9309 §2.2.4 (REP-2.2.4-06); AMB-15"
    misread = True

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return the name as written, and as it is read."""
        record = context.by_line.get(note.line or 0)
        read = KNOWN.get(record.key, record.key) if record else ""
        return {"text": quote(context.robots.body[note.start : note.end]), "name": quote(read)}
