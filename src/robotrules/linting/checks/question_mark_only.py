"""RR523: `Disallow: /?`, which matches only the home page."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.analysis.values import ORIGIN
from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote

ALL_QUERIES = frozenset((b"/*?", b"/*?*", b"*?", b"*?*"))


class QuestionMarkOnly(Check):
    """
    What it finds:
        The rule `Disallow: /?`, in a file without `/*?`.

    Why it matters:
        It looks like a rule for all URLs with a query. A pattern is compared from the first byte of
        the path, so it matches the home page with a query, `/?page=2`, but not `/shop?page=2`. To
        match both, write a `*` before the `?`. If only the home page is meant, nothing needs to
        change.

    Example:
            User-agent: *
            Disallow: /?

    Instead:
            User-agent: *
            Disallow: /*?
    """

    code = "RR523"
    slug = "question-mark-only"
    level = "info"
    message = (
        "{pattern} matches only the home page with a query, not '/shop?page=2'. To match all URLs "
        "with a query, write '/*?'."
    )
    reference = "RFC 9309 §2.2.2, §2.2.3"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the rules, unless another rule matches all URLs with a query."""
        rules = context.records("disallow")
        narrow = [record for record in rules if record.value in (b"/?", b"/?*")]
        if narrow and not any(record.value in ALL_QUERIES for record in rules):
            for record in narrow:
                url = f"{ORIGIN}/?page=2"
                yield self.about(context, record, pattern=quote(record.value), url=url)
