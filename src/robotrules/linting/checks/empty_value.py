"""RR310: a record without a value that needs one."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.record_names import KNOWN

# Not Disallow, which allows everything then, nor records that checks of their own look at.
KEYS = ("allow", "sitemap", "crawl-delay", "request-rate", "visit-time", "clean-param", "host")


class EmptyValue(Check):
    """
    What it finds:
        A Sitemap, Crawl-delay, Request-rate, Visit-time, Clean-param or Host record with nothing
        after its colon, or an Allow in a group that has no rule with a path. Beside such rules an
        empty one is another check's (`empty-rule-beside-others`).

    Why it matters:
        It says nothing. `Allow:` without a path is no opposite of `Disallow: /`: it matches no URL.
        Most often a template left the line there, or its value stands in the next line.

    Example:
            User-agent: *
            Allow:
            Sitemap:

    Instead:
        Give it a value, or take the line out:

            User-agent: *
            Allow: /open/
            Disallow: /
            Sitemap: https://example.com/sitemap.xml
    """

    code = "RR310"
    slug = "empty-value"
    level = "warning"
    message = "{name} has no value, so it {does}."
    reference = "RFC 9309 §2.2 (REP-2.2-12); AMB-42"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield records that say nothing."""
        empty = [record for record in context.records(*KEYS) if not record.value]
        with_paths: set[int | None] = set()
        if any(record.key == "allow" for record in empty):
            groups = context.groups
            with_paths = {one.index for one in groups if any(rule.pattern for rule in one.rules)}
        for record in empty:
            if record.key != "allow" or record.group not in with_paths:
                # It still closes the group, and so frees its crawlers from other ones.
                does = "matches no URL" if record.key == "allow" else "says nothing"
                yield self.about_key(context, record, name=quote(KNOWN[record.key]), does=does)
