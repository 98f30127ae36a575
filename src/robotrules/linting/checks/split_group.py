"""RR410: one product token in several groups."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, quote, relate
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.robotstxt.values import Record


class SplitGroup(Check):
    """
    What it finds:
        A crawler, or everyone (`*`), that is named in more than one group of the file.

    Why it matters:
        RFC 9309 puts all groups of one name together, wherever they stand, and Google's parser,
        crawler-commons and Protego do. Older software does not: Python's urllib.robotparser before
        its rewrite of 2026 reads the first group alone, and spatie/robots-txt the last; Yandex
        reports a second group for `*` as an error. Rules in the other groups are lost for them.
        Services that put rules of their own before a file often cause it.

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
        "{name} has a group in line {line} already. RFC 9309 reads both; some parsers read one of "
        "them alone."
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
                    name="Everyone" if name == "*" else quote(record.value),
                    line=first[name].line,
                    related=[relate("named first", first[name])],
                )
            first.setdefault(name, record)
            last[name] = record.group
