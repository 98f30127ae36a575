"""RR515: a rule that is longer than Yandex accepts."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote

# The limit that Yandex documents.
MOST_BYTES = 1_024


class LongRule(Check):
    """
    What it finds:
        A rule whose path pattern has more than 1,024 bytes.

    Why it matters:
        RFC 9309 sets no such limit, but Yandex documents that it treats a longer rule as an error,
        and other software has undocumented limits: one PHP library cuts each line after 500. A
        pattern is compared with the beginning of a path, so its first part is usually enough.

    Example:
        A Disallow for one URL with all its parameters, two thousand bytes in total.

    Instead:
        Write only the part that distinguishes the URL from others:

            User-agent: *
            Disallow: /search?filter=
    """

    code = "RR515"
    slug = "long-rule"
    level = "warning"
    message = (
        "The path pattern has {count:,} bytes, and Yandex treats more than {most:,} as an error. "
        "Shorten it to the part that distinguishes the URL."
    )
    reference = "Yandex: Using robots.txt; VEN-10; AMB-17"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the rules that are longer than the limit."""
        for key in ("allow", "disallow"):
            for record in context.records(key):
                if len(record.value) > MOST_BYTES:
                    count = len(record.value)
                    yield self.about(context, record, count=count, most=MOST_BYTES)
