"""RR310: a record without a value that needs one."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.record_names import KNOWN

# Not Disallow, which then allows every URL, nor records that have separate checks.
KEYS = ("allow", "sitemap", "crawl-delay", "request-rate", "visit-time", "clean-param", "host")


class EmptyValue(Check):
    """
    What it finds:
        A Sitemap, Crawl-delay, Request-rate, Visit-time, Clean-param or Host record with nothing
        after its colon, or an Allow in a group that has no rule with a path. An empty rule beside
        rules with a path is reported as `empty-rule-beside-others`.

    Why it matters:
        The record has no effect. `Allow:` without a path is not the opposite of `Disallow: /`: it
        matches no URL. Usually a template left the line there, or the value is on the next line.

    Example:
            User-agent: *
            Allow:
            Sitemap:

    Instead:
        Add a value, or remove the line:

            User-agent: *
            Allow: /open/
            Disallow: /
            Sitemap: https://example.com/sitemap.xml
    """

    code = "RR310"
    slug = "empty-value"
    level = "warning"
    message = "{name} has no value, so it {effect} for any crawler. {advice}."
    reference = "RFC 9309 §2.2 (REP-2.2-12); AMB-42"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the records without a value."""
        empty = [record for record in context.records(*KEYS) if not record.value]
        with_paths: set[int | None] = set()
        if any(record.key == "allow" for record in empty):
            groups = context.groups
            with_paths = {group.index for group in groups if any(r.pattern for r in group.rules)}
        for record in empty:
            if record.key != "allow" or record.group not in with_paths:
                effect, advice = "has no effect", "Add a value, or remove the line"
                if record.key == "allow":
                    # It still ends the list of user-agent lines, so it is not without effect.
                    effect, advice = "matches no URL", "Add a path"
                name = quote(KNOWN[record.key])
                yield self.about_key(context, record, name=name, effect=effect, advice=advice)
