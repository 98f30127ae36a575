"""RR109: a line that ends with CR alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from robotrules.linting.check import Check
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix, LintNote

# Of several CR before a LF nobody makes a line of its own that has something in it.
_RUN = re.compile(rb"\r+(?P<lf>\n?)")
# With more of them than this an editor is the better tool.
MOST_EDITS = 10_000


class LoneCr(Check):
    r"""
    What it finds:
        Lines that end with a CR and no LF after it, as old Macs wrote them.

    Why it matters:
        For RFC 9309, for Google's parser and here such a line ends. Several parsers split at LF
        only: two lines are one for them, and a file that has nothing else is a single line, of
        which one record is left, or none if it starts with a comment.

    Example:
            User-agent: *\rDisallow: /private/

    Instead:
            User-agent: *
            Disallow: /private/
    """

    code = "RR109"
    slug = "lone-cr"
    level = "warning"
    message = "{count} with CR alone: parsers that look for LF read on into the next line."
    reference = "RFC 9309 §2.2 (REP-2.2-04); AMB-09"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield one note for all, at the first."""
        body = context.robots.body
        if b"\r" not in body or context.parser_notes("looks-like-html"):
            return
        runs = [run for run in _RUN.finditer(body) if not run["lf"]]
        found = [at for run in runs for at in range(run.start(), run.end())]
        if not found:
            return
        fix = None
        if len(found) <= MOST_EDITS:
            fix = Fix("End lines with LF", tuple(Edit(at, at + 1, b"\n") for at in found))
        count = "A line ends" if len(found) == 1 else f"{len(found):,} lines end"
        yield self.note(context, found[0], found[0] + 1, count=count, fix=fix)
