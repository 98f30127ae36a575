"""RR308: a record that belongs in a group, before the first group."""

from __future__ import annotations

from typing import Any

from robotrules.linting.check import ParserNote, quote
from robotrules.linting.context import LintContext
from robotrules.linting.record_names import KNOWN
from robotrules.robotstxt.values import Note


class RecordOutsideGroup(ParserNote):
    """
    What it finds:
        A Crawl-delay, Request-rate, Visit-time, Content-Signal, Content-Usage or App-Directives
        record before the first user-agent line.

    Why it matters:
        These records belong to a group and apply to the crawlers that its user-agent lines name.
        Before the first user-agent line, they apply to no crawler.

    Example:
            Crawl-delay: 5
            User-agent: *
            Disallow: /private/

    Instead:
            User-agent: *
            Crawl-delay: 5
            Disallow: /private/
    """

    code = "RR308"
    slug = "record-outside-group"
    level = "warning"
    message = (
        "{name} is before the first user-agent line, so it applies to no crawler. Move it below a "
        "user-agent line."
    )
    reference = "RFC 9309 §2.1; REC-crawl-delay-02; AMB-31"

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return the name of the record."""
        record = context.by_line.get(note.line or 0)
        return {"name": quote(KNOWN.get(record.key, record.key) if record else "")}
