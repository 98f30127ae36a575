"""RR653: a sitemap that two records name."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, relate
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix, LintNote
from robotrules.robotstxt.values import Record


class DuplicateSitemap(Check):
    """
    What it finds:
        A `Sitemap` record with the same URL as an earlier one.

    Why it matters:
        A Sitemap record does not belong to a group: every crawler reads it, so one is enough. A
        copy does no harm, but must be changed along with the first.

    Example:
            Sitemap: https://example.com/sitemap.xml
            Sitemap: https://example.com/sitemap.xml

    Instead:
            Sitemap: https://example.com/sitemap.xml
    """

    code = "RR653"
    slug = "duplicate-sitemap"
    level = "info"
    message = "Line {line} already names this sitemap for all crawlers. Remove this line."
    reference = "REC-sitemap-01, AMB-117"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the records that repeat an earlier one."""
        noted = {note.start for note in context.parser_notes(self.slug)}
        first: dict[bytes, Record] = {}
        for record in context.records("sitemap") if noted else ():
            before = first.setdefault(record.value, record)
            if record.start not in noted or before is record:
                continue
            fix = None
            if context.line(record.line).comment is None:
                fix = Fix("Remove the line", (Edit(*context.whole_line(record.line), b""),))
            where = [relate("names it first", before)]
            yield self.about(context, record, line=before.line, related=where, fix=fix)
