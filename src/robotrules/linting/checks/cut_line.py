"""RR110: a last line that was not received completely."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import ParserNote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote


class CutLine(ParserNote):
    """
    What it finds:
        A file that was not received completely and ends inside a line: the connection broke, or the
        server announced more bytes than it sent.

    Why it matters:
        Half a rule can mean something very different from the whole rule: `Disallow: /` is the
        beginning of `Disallow: /private/`. So the cut line is ignored, and the lines after it are
        missing too.

    Example:
        A response with `Content-Length: 2000` of which 1,200 bytes arrived.

    Instead:
        Check the server: a wrong `Content-Length`, a timeout or a full disk may cause this. The
        last line of a complete file is used even if it has no line end.
    """

    code = "RR110"
    slug = "cut-line"
    level = "error"
    message = (
        "The file was not received completely and ends inside this line, {text}, so the line is "
        "ignored. Check the server that sends it."
    )
    reference = "RFC 9309 §2.3.1.5; AMB-12"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the parser's note at its line, which is not among the parsed lines."""
        for note, noted in zip(
            super().check(context), context.parser_notes(self.slug), strict=True
        ):
            end = 1 + noted.end - noted.start
            yield note._replace(line=noted.line, column=1, end_column=end)
