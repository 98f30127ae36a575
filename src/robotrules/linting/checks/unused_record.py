"""RR307: a record that Google's parser knows and does not use."""

from __future__ import annotations

from typing import Any

from robotrules.linting.check import ParserNote, quote
from robotrules.linting.context import LintContext
from robotrules.linting.record_names import KNOWN
from robotrules.robotstxt.values import Note


class UnusedRecord(ParserNote):
    """
    What it finds:
        In profile `google`, a record that Google's parser recognises but does not use: Crawl-delay,
        Host, Clean-param, Request-rate, Visit-time, Content-Signal, Content-Usage and a few more.

    Why it matters:
        The line has no effect for Google's crawlers. Others may use it: Bing reads Crawl-delay,
        Yandex reads Clean-param.

    Example:
            User-agent: Googlebot
            Crawl-delay: 10

    Instead:
        Keep it for the crawlers that use it, in the groups that name them, and do not rely on it
        for Google. Profile `default` does not report it.
    """

    code = "RR307"
    slug = "unused-record"
    level = "info"
    message = "Google's crawlers ignore {name}; other crawlers may use it."
    reference = "REC-unused-01; REC-crawl-delay-03"

    def words(self, context: LintContext, note: Note) -> dict[str, Any]:
        """Return the name of the record."""
        record = context.by_line.get(note.line or 0)
        return {"name": quote(KNOWN.get(record.key, record.key) if record else "")}
