"""RR517: a `$` that is not at the end of its pattern."""

from __future__ import annotations

import re
from collections.abc import Iterator

from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.value_shapes import example_url

# Rules of a file that are shown with a URL.
MOST_SHOWN = 100
# Behind it comes what would come behind the end of a path.
_MEANT = re.compile(rb"\$[?*&|$]")


class DollarInside(Check):
    """
    What it finds:
        A path pattern with a `$` that is not its last octet.

    Why it matters:
        Only at the end does `$` mean the end of the path. Anywhere else it is itself: the URL has
        to have a `$` there. Parsers do not agree: Google's and ours take it so, Python's drops the
        rule, and crawler-commons and texting_robots read something else again. If a path does have
        a `$`, `%24` says so without doubt.

    Example:
            User-agent: *
            Disallow: /*.pdf$?

    Instead:
            User-agent: *
            Disallow: /*.pdf$
            Disallow: /*.pdf?
    """

    code = "RR517"
    slug = "dollar-inside"
    level = "info"
    message = "The '$' inside {pattern} does not end it: only a URL with a '$' there matches."
    reference = "RFC 9309 §2.2.3; AMB-41"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the rules with such a `$`."""
        if b"$" not in context.robots.body:
            return
        shown = 0
        for key in ("allow", "disallow"):
            for record in context.records(key):
                if b"$" in record.value[:-1] and record.value[:1] in b"/*":
                    shown += 1
                    yield self.about(
                        context,
                        record,
                        level="warning" if _MEANT.search(record.value) else None,
                        pattern=quote(record.value),
                        url=example_url(context, record.value) if shown <= MOST_SHOWN else None,
                    )
