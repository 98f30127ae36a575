"""RR204: a line that is longer than Google's parser reads."""

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
        A record whose line has more than 16,663 bytes.

    Why it matters:
        RFC 9309 sets no limit for lines. Google's parser cuts longer lines there and uses the first
        part: a cut path pattern matches more URLs than the written one, and a cut list of
        preferences lacks some. Yandex treats a rule of more than 1,024 characters as an error.

    Example:
        A `Clean-param` or `Disallow` line to which a program adds something for each page.

    Instead:
        Write several records, or one pattern with `*`.
    """

    code = "RR204"
    slug = "long-line"
    level = "error"
    message = (
        "The line has {size:,} bytes, and Google's parser reads and uses only the first {most:,}. "
        "Write several shorter records."
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
