"""RR662: a crawl delay that leaves few pages a day."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote

DAY = 86_400
# Bing's largest window, and what crawler-commons takes for a request to stay away (AMB-118).
LONG, TOO_LONG = 30, 300


class LongCrawlDelay(Check):
    """
    What it finds:
        A `Crawl-delay` of more than 30 seconds. Above 300 it is a warning.

    Why it matters:
        A crawler that keeps to it reads at most 86,400 pages a day, divided by the delay: with 60
        seconds, 1,440. On a large site it never comes to an end, and what it has grows old. Bing
        takes 1 to 30 seconds. crawler-commons, on which many crawlers are built, takes more than
        300 for a request to stay away altogether.

    Example:
            User-agent: *
            Crawl-delay: 600

    Instead:
            User-agent: *
            Crawl-delay: 10
    """

    code = "RR662"
    slug = "long-crawl-delay"
    level = "info"
    message = "With {seconds} s between requests a crawler reads {pages} a day{more}."
    reference = "REC-crawl-delay-01, AMB-118"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the delays that count and are long: of a group the first good one."""
        unused = (*context.parser_notes("bad-crawl-delay"), *context.parser_notes("second-value"))
        bad = {note.start for note in unused}
        for record in context.records("crawl-delay"):
            if record.group is None or record.start in bad:
                continue
            seconds = float(record.value)
            if seconds > LONG and not _is_for_nobody(context, record.group):
                pages, too_long = int(DAY / seconds), seconds > TOO_LONG
                yield self.about(
                    context,
                    record,
                    level="warning" if too_long else None,
                    seconds=f"{seconds:,g}",
                    pages=f"{pages:,} pages" if pages > 1 else "at most one page",
                    more=", and some take that for a request to stay away" if too_long else "",
                )


def _is_for_nobody(context: LintContext, number: int) -> bool:
    """Tell whether a group asks its crawlers to fetch nothing at all, however slowly."""
    forms = {(rule.allow, rule.form) for rule in context.groups[number].rules if rule.form}
    everything = any((False, form) in forms for form in ("/", "/*", "*"))
    return everything and not any(allow for allow, _ in forms)
