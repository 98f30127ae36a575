"""RR662: a crawl delay that allows few pages a day."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote

DAY = 86_400
# Bing's largest window, and the delay above which crawler-commons blocks every URL (AMB-118).
LONG, TOO_LONG = 30, 300


class LongCrawlDelay(Check):
    """
    What it finds:
        A `Crawl-delay` of more than 30 seconds. Above 300 it is a warning.

    Why it matters:
        A crawler that obeys the delay fetches at most 86,400 pages a day, divided by the delay:
        with 60 seconds, 1,440. It never finishes a large site, and its copy gets out of date. Bing
        accepts 1 to 30 seconds. crawler-commons, a library that many crawlers use, reads more than
        300 seconds as a request to fetch nothing at all.

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
    message = (
        "With {seconds} s between requests, a crawler fetches at most {pages} a day{more}. Write "
        "30 s or less."
    )
    reference = "REC-crawl-delay-01, AMB-118"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the long delays that apply: of each group the first valid one."""
        notes = (*context.parser_notes("bad-crawl-delay"), *context.parser_notes("second-value"))
        ignored = {note.start for note in notes}
        for record in context.records("crawl-delay"):
            if record.group is None or record.start in ignored:
                continue
            seconds = float(record.value)
            if seconds > LONG and not _blocks_everything(context, record.group):
                pages, too_long = int(DAY / seconds), seconds > TOO_LONG
                yield self.about(
                    context,
                    record,
                    level="warning" if too_long else None,
                    seconds=f"{seconds:,g}",
                    pages=f"{pages:,} pages" if pages > 1 else "one page",
                    more=", and crawlers that use crawler-commons fetch none" if too_long else "",
                )


def _blocks_everything(context: LintContext, number: int) -> bool:
    """Tell whether a group blocks every URL, so that its delay does not matter."""
    forms = {(rule.allow, rule.form) for rule in context.groups[number].rules if rule.form}
    everything = any((False, form) in forms for form in ("/", "/*", "*"))
    return everything and not any(allow for allow, _ in forms)
