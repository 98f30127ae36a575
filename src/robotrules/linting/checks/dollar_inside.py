"""RR517: a `$` that is not at the end of its pattern."""

from __future__ import annotations

import re
from collections.abc import Iterator

from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.value_shapes import example_url

# Rules of a file whose note has an example URL.
MOST_SHOWN = 100
# Followed by a character that would follow the end of a path.
_MEANT = re.compile(rb"\$[?*&|$]")


class DollarInside(Check):
    """
    What it finds:
        A path pattern with a `$` that is not its last character.

    Why it matters:
        `$` means the end of the path only at the end of a pattern. Anywhere else it is a literal
        character, and the URL must contain a `$` there. Parsers differ: Google's and robotrules
        read it this way, Python's urllib.robotparser drops the rule, and crawler-commons and
        texting_robots each read it differently again. For a path that contains a `$`, `%24` is
        unambiguous.

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
    message = (
        "The '$' inside {pattern} does not mark the end: in Google's parser only URLs with a '$' "
        "there match. Move it to the end, or write '%24' for a literal '$'."
    )
    reference = "RFC 9309 §2.2.3; AMB-41"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the rules with a `$` before their end."""
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
