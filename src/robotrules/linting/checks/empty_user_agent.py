"""RR402: a user-agent line without a value."""

from __future__ import annotations

from typing import Any

from robotrules.linting.check import ParserNote
from robotrules.linting.context import LintContext
from robotrules.robotstxt.values import Note


class EmptyUserAgent(ParserNote):
    """
    What it finds:
        A user-agent line that names nobody, because nothing stands after its colon.

    Why it matters:
        It opens a group all the same, and the group is for nobody: whatever rules follow are lost.
        It does not mean everyone, which is `*`. Some parsers even skip the line and give the rules
        to the group before it.

    Example:
            User-agent: ExampleBot
            Disallow: /search

            User-agent:
            Disallow: /drafts/

    Instead:
            User-agent: ExampleBot
            Disallow: /search

            User-agent: *
            Disallow: /drafts/
    """

    code = "RR402"
    slug = "empty-user-agent"
    level = "warning"
    message = "The user-agent line names nobody{so}."
    reference = "RFC 9309 §2.2.1; REP-2.2.1-17; AMB-24"
    misread = True

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Say whose the rules are: other lines of the group may name somebody."""
        record = context.by_line.get(note.line or 0)
        group = context.groups[record.group] if record and record.group is not None else None
        named = group is not None and context.names_a_crawler(group.index)
        return {"so": "" if named else ", so the rules after it are for nobody"}
