"""RR109: a line that ends with CR alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from robotrules.linting.check import Check
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix, LintNote

# Several CR before a LF add only blank lines in every parser.
_RUN = re.compile(rb"\r+(?P<lf>\n?)")
# With more of them than this, an editor is the better tool.
MOST_EDITS = 10_000


class LoneCr(Check):
    r"""
    What it finds:
        Lines that end with a CR without a LF after it, as Mac OS before version 10 wrote them.

    Why it matters:
        In RFC 9309, Google's parser and robotrules, a CR ends the line. Several parsers split at LF
        only: they read two lines as one, and a file with CR alone as a single line, which gives
        one record, or none if it starts with a comment.

    Example:
            User-agent: *\rDisallow: /private/

    Instead:
            User-agent: *
            Disallow: /private/
    """

    code = "RR109"
    slug = "lone-cr"
    level = "warning"
    message = (
        "{count} with CR alone: parsers that split only at LF join such a line with the next one. "
        "End lines with LF."
    )
    reference = "RFC 9309 §2.2 (REP-2.2-04); AMB-09"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield one note for all of them, at the first."""
        body = context.robots.body
        if b"\r" not in body or context.parser_notes("looks-like-html"):
            return
        runs = [run for run in _RUN.finditer(body) if not run["lf"]]
        positions = [at for run in runs for at in range(run.start(), run.end())]
        if not positions:
            return
        fix = None
        if len(positions) <= MOST_EDITS:
            fix = Fix("End lines with LF", tuple(Edit(at, at + 1, b"\n") for at in positions))
        count = "A line ends" if len(positions) == 1 else f"{len(positions):,} lines end"
        yield self.note(context, positions[0], positions[0] + 1, count=count, fix=fix)
