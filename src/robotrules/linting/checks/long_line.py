"""RR204: a line that is longer than some read."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import ParserNote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.profile import GOOGLE

MOST = GOOGLE.max_line or 0


class LongLine(ParserNote):
    """
    What it finds:
        A record whose line has more than 16,663 octets.

    Why it matters:
        RFC 9309 has no limit for lines. Google's parser cuts longer ones there and uses what is
        left: a cut path pattern is broader than the written one, and a cut list of preferences has
        lost some. Yandex calls a rule of more than 1,024 characters an error.

    Example:
        A `Clean-param` or `Disallow` line to which a program adds something for each page.

    Instead:
        Write several records, or one pattern with `*`.
    """

    code = "RR204"
    slug = "long-line"
    level = "error"
    message = (
        "The line has {size:,} bytes. Google's parser reads the first {most:,} and uses the cut "
        "line."
    )
    reference = "AMB-17; VEN-10"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield a note for each record, whether or not the profile cuts it."""
        if len(context.robots.body) <= MOST or context.parser_notes("looks-like-html"):
            return
        cuts = context.robots.profile.max_line is not None
        level = "error" if cuts else "warning"
        for line in context.lines:
            record = line.end - line.start > MOST and context.by_line.get(line.number)
            if record and (cuts or record.end - line.start > MOST):
                size, start = line.end - line.start, line.start + MOST
                yield self.note(context, start, line.end, level=level, size=size, most=MOST)
