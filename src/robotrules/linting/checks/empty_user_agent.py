"""RR402: a user-agent line without a value."""

from __future__ import annotations

from typing import Any

from robotrules.linting.check import ParserNote
from robotrules.linting.context import LintContext
from robotrules.robotstxt.values import Note


class EmptyUserAgent(ParserNote):
    """
    What it finds:
        A user-agent line with nothing after its colon, which names no crawler.

    Why it matters:
        It still starts a group, and that group applies to no crawler: the rules after it have no
        effect. It does not mean all crawlers, which is `*`. Some parsers even skip the line and
        apply the rules to the group before it.

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
    message = (
        "The user-agent line names no crawler{effect}. Write a crawler's name, or '*' for all "
        "crawlers."
    )
    reference = "RFC 9309 §2.2.1; REP-2.2.1-17; AMB-24"
    misread = True

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return the effect on the rules: other lines of the group may name a crawler."""
        record = context.by_line.get(note.line or 0)
        group = context.groups[record.group] if record and record.group is not None else None
        named = group is not None and context.names_a_crawler(group.index)
        return {"effect": "" if named else ", so the rules after it apply to none"}
