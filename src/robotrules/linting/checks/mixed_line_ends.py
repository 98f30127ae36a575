"""RR108: lines that end in different ways."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote


class MixedLineEnds(Check):
    r"""
    What it finds:
        A file some of whose lines end with LF and some with CR LF. A CR that stands alone has a
        check of its own (`lone-cr`).

    Why it matters:
        Crawlers read both. But somebody or something edits the file with another program than
        before, and then every line shows up as changed, or editors show lines twice as far apart.

    Example:
            User-agent: *\r
            Disallow: /private/

    Instead:
        Let one program write the file; `robotrules fmt` ends every line with LF.

            User-agent: *
            Disallow: /private/
    """

    code = "RR108"
    slug = "mixed-line-ends"
    level = "info"
    message = "Of the lines {both:,} end with CR LF and {alone:,} with LF."
    reference = "RFC 9309 §2.2 (REP-2.2-04)"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield one note about the file, where it is one."""
        body = context.robots.body
        both = body.count(b"\r\n")
        alone = body.count(b"\n") - both
        if both and alone and not context.parser_notes("looks-like-html"):
            yield self.about_file(both=both, alone=alone)
