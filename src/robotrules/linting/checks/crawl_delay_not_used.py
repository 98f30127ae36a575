"""RR663: a crawl delay for a crawler that ignores it."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, join_names
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from robotrules.robotstxt.values import Group

# Operators that document that their crawlers ignore the record.
OPERATORS = ("Google", "Yandex")


class CrawlDelayNotUsed(Check):
    """
    What it finds:
        A `Crawl-delay` in a group that names only crawlers of Google or Yandex.

    Why it matters:
        Google's crawlers never used the record, and Yandex stopped on 2018-02-22. Google slows down
        when a server answers 429, 500 or 503, and Yandex has a setting in its Webmaster. The line
        has no effect for them, and other crawlers do not obey their group.

    Example:
            User-agent: Googlebot
            Crawl-delay: 10
            Disallow: /search

    Instead:
            User-agent: Googlebot
            Disallow: /search
    """

    code = "RR663"
    slug = "crawl-delay-not-used"
    level = "info"
    message = (
        "Crawl-delay is ignored by {crawlers}, and the group names no other crawler. Remove the "
        "line."
    )
    reference = "REC-crawl-delay-03, AMB-118"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the delays in groups that name only these crawlers."""
        by_group: dict[int, str] = {}
        for record in context.records("crawl-delay"):
            if record.group is None:
                continue
            if record.group not in by_group:
                by_group[record.group] = _list_crawlers(context.groups[record.group])
            if crawlers := by_group[record.group]:
                yield self.about(context, record, crawlers=crawlers)


def _list_crawlers(group: Group) -> str:
    """Return the crawlers of a group as text; empty if it may name others."""
    known = [KNOWN_CRAWLERS.get(start.text) for start in group.starts]
    names = [
        crawler.product_token for crawler in known if crawler and crawler.operator in OPERATORS
    ]
    return join_names(names) if len(names) == len(known) else ""
