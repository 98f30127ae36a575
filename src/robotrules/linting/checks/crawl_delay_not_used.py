"""RR663: a crawl delay for a crawler that uses none."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, join_names
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from robotrules.robotstxt.values import Group

# Whose crawlers do not use it, by what they document.
OPERATORS = ("Google", "Yandex")


class CrawlDelayNotUsed(Check):
    """
    What it finds:
        A `Crawl-delay` in a group that names crawlers of Google or Yandex alone.

    Why it matters:
        Google's crawlers never used the record, and Yandex stopped on 2018-02-22. Google slows down
        where a server answers 429, 500 or 503, and Yandex has a setting in its Webmaster. The line
        does nothing for them, and others do not look into their group.

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
    message = "Crawl-delay is not used by {who}, and the record is in a group for nobody else."
    reference = "REC-crawl-delay-03, AMB-118"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the delays in groups where every name is one of these crawlers."""
        by_group: dict[int, str] = {}
        for record in context.records("crawl-delay"):
            if record.group is None:
                continue
            if record.group not in by_group:
                by_group[record.group] = _who(context.groups[record.group])
            if who := by_group[record.group]:
                yield self.about(context, record, who=who)


def _who(group: Group) -> str:
    """Return the crawlers of a group in words; empty: others may be among them."""
    known = [KNOWN_CRAWLERS.get(start.text) for start in group.starts]
    names = [one.product_token for one in known if one and one.operator in OPERATORS]
    return join_names(names) if len(names) == len(known) else ""
