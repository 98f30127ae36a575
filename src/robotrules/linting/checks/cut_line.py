"""RR110: a last line that was cut while it was received."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import ParserNote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote


class CutLine(ParserNote):
    """
    What it finds:
        A file that ended before it was whole, inside a line: the connection broke, or the server
        announced more octets than it sent.

    Why it matters:
        Half a rule can mean the opposite of the whole one: `Disallow: /` is what is left of
        `Disallow: /private/`. So a cut line is not used, and what would have followed is missing
        too.

    Example:
        A response with `Content-Length: 2000` of which 1,200 octets arrived.

    Instead:
        Look at what serves the file: a wrong `Content-Length`, a time limit, a full disk. A file
        that is whole may end without a line end, and its last line is used.
    """

    code = "RR110"
    slug = "cut-line"
    level = "error"
    message = "The file was cut inside this line, {text}, so the line is not used."
    reference = "RFC 9309 §2.3.1.5; AMB-12"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the parser's note where the parser saw it: that line is not among those read."""
        for note, noted in zip(
            super().check(context), context.parser_notes(self.slug), strict=True
        ):
            end = 1 + noted.end - noted.start
            yield note._replace(line=noted.line, column=1, end_column=end)
