"""RR523: `Disallow: /?`, which is about the home page alone."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.analysis.values import ORIGIN
from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote

WANTED = frozenset((b"/*?", b"/*?*", b"*?", b"*?*"))


class QuestionMarkOnly(Check):
    """
    What it finds:
        The rule `Disallow: /?`, in a file without `/*?`.

    Why it matters:
        It looks as if it were about all addresses with a query. A pattern is compared from the
        first octet on, so it matches the home page with a query, `/?page=2`, and not
        `/shop?page=2`. That takes a `*` before the `?`. Some files do mean the home page alone:
        then there is nothing to do.

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
    message = "{pattern} matches queries of the home page alone, and not '/shop?page=2'."
    reference = "RFC 9309 §2.2.2, §2.2.3"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the rules, unless another says it for all addresses."""
        found = [one for one in context.records("disallow") if one.value in (b"/?", b"/?*")]
        if found and not any(one.value in WANTED for one in context.records("disallow")):
            for record in found:
                url = f"{ORIGIN}/?page=2"
                yield self.about(context, record, pattern=quote(record.value), url=url)
