"""RR108: lines with different line ends."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote


class MixedLineEnds(Check):
    r"""
    What it finds:
        A file in which some lines end with LF and some with CR LF. A CR without a LF has a separate
        check (`lone-cr`).

    Why it matters:
        Crawlers read both. But mixed line ends show that different programs edit the file, and
        then version control may report every line as changed, or editors may show extra blank
        lines.

    Example:
            User-agent: *\r
            Disallow: /private/

    Instead:
        Edit the file with one program; `robotrules fmt` ends every line with LF.

            User-agent: *
            Disallow: /private/
    """

    code = "RR108"
    slug = "mixed-line-ends"
    level = "info"
    message = (
        "Line ends are mixed: {both:,} CR LF and {alone:,} LF. All crawlers read both; `robotrules "
        "fmt` writes LF only."
    )
    reference = "RFC 9309 §2.2 (REP-2.2-04)"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield one note about the file."""
        body = context.robots.body
        both = body.count(b"\r\n")
        alone = body.count(b"\n") - both
        if both and alone and not context.parser_notes("looks-like-html"):
            yield self.about_file(both=both, alone=alone)
