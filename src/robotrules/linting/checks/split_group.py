"""RR410: a product token in several groups."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, quote, relate
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.robotstxt.values import Record


class SplitGroup(Check):
    """
    What it finds:
        A crawler, or `*`, that more than one group of the file names.

    Why it matters:
        RFC 9309 combines all groups of a name, wherever they are in the file, and so do Google's
        parser, crawler-commons and Protego. Others do not: Python's urllib.robotparser before its
        rewrite of 2026 reads only the first group, spatie/robots-txt only the last, and Yandex
        reports a second group for `*` as an error. They ignore the rules of the other groups.
        Services that insert rules at the start of a file often cause this.

    Example:
            User-agent: *
            Disallow: /search

            User-agent: ExampleBot
            Disallow: /

            User-agent: *
            Disallow: /drafts/

    Instead:
            User-agent: *
            Disallow: /search
            Disallow: /drafts/

            User-agent: ExampleBot
            Disallow: /
    """

    code = "RR410"
    slug = "split-group"
    level = "info"
    message = (
        "{name} already has a group at line {line}. Crawlers that follow RFC 9309 combine both; "
        "Python's urllib.robotparser before 2026 reads only the first. Merge the groups."
    )
    reference = "RFC 9309 §2.2.1; REP-2.2.1-07, REP-2.2.1-13; AMB-26"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the later user-agent lines of a name."""
        first: dict[str, Record] = {}
        last: dict[str, int | None] = {}
        for record in context.records("user-agent"):
            name = record.text.lower()
            if not name:
                continue
            if name in first and last[name] != record.group:
                yield self.about(
                    context,
                    record,
                    name=quote(record.value),
                    line=first[name].line,
                    related=[relate("named first", first[name])],
                )
            first.setdefault(name, record)
            last[name] = record.group
