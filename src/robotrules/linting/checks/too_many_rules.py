"""RR514: more rules than Yandex reads."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote

# The limit that Yandex documents.
MOST_RULES = 2_048


class TooManyRules(Check):
    """
    What it finds:
        A file with more than 2,048 rules.

    Why it matters:
        RFC 9309 limits bytes, not rules: a crawler has to read at least 500 KiB. But Yandex
        documents that it treats more than 2,048 rules as an error. A file of that size usually
        lists single pages, for which a pattern or a `noindex` on the pages is better.

    Example:
        A file with a rule for each of three thousand products:

            User-agent: *
            Disallow: /shop/product-0001
            Disallow: /shop/product-0002

        and so on.

    Instead:
        Use one pattern for many paths:

            User-agent: *
            Disallow: /shop/product-

        `robotrules simplify` finds rules that can be removed, and proves that nothing changes.
    """

    code = "RR514"
    slug = "too-many-rules"
    level = "warning"
    message = (
        "The file has {count:,} rules, and Yandex treats more than {most:,} as an error. Combine "
        "rules with patterns."
    )
    reference = "Yandex: Using robots.txt; VEN-10"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield a note at the first rule beyond the limit."""
        count = len(context.records("allow")) + len(context.records("disallow"))
        if count > MOST_RULES:
            rule = context.records("allow", "disallow")[MOST_RULES]
            yield self.about(context, rule, count=count, most=MOST_RULES)
