"""RR309: a second record where only one counts."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import ParserNote, quote, relate
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.record_names import KNOWN
from robotrules.robotstxt.values import Record


class SecondValue(ParserNote):
    """
    What it finds:
        A second Crawl-delay in a group, or a second Host in a file.

    Why it matters:
        Only one value counts, and crawlers choose differently: robotrules uses the first, the
        library crawler-commons the smallest delay. Two user-agent lines with only a Crawl-delay
        between them are one group, so the second delay may be meant for other crawlers.

    Example:
            User-agent: *
            Crawl-delay: 5
            Crawl-delay: 10

    Instead:
            User-agent: *
            Crawl-delay: 10
    """

    code = "RR309"
    slug = "second-value"
    level = "info"
    message = (
        "Line {line} already has {name} {where}. Crawlers use only one of the two values, and not "
        "all choose the same. Remove one."
    )
    reference = "REC-crawl-delay-02; REC-host-01; AMB-28, AMB-118"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the reader's notes, each with the record that counts."""
        noted = {note.line: note.level for note in context.parser_notes(self.slug)}
        if not noted:
            return
        bad = {
            note.line
            for code in ("bad-crawl-delay", "bad-host")
            for note in context.parser_notes(code)
        }
        first: dict[tuple[str, int | None], Record] = {}
        for record in context.records("crawl-delay", "host"):
            place = record.key, record.group if record.key == "crawl-delay" else None
            if record.line not in noted:
                if record.line not in bad:
                    first.setdefault(place, record)
                continue
            counts = first.get(place, record)
            yield self.about(
                context,
                record,
                level=noted[record.line],
                related=[relate("the first value", counts)],
                name=quote(KNOWN[record.key]),
                line=counts.line,
                where="for this group" if record.key == "crawl-delay" else "for this file",
            )
