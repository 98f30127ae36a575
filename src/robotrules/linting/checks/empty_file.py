"""RR114: a file that says nothing."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote


class EmptyFile(Check):
    """
    What it finds:
        A file without a record or a comment: no octets at all, or blank lines only.

    Why it matters:
        An empty robots.txt allows everything to everyone, as none does. That may be what you want;
        it may also be what is left after a failed upload or a template that came out empty.

    Example:
        A server that answers with a file of no octets:

            HTTP/1.1 200 OK
            Content-Type: text/plain
            Content-Length: 0

    Instead:
        Say so, for people who look:

            # Everything may be crawled.
            User-agent: *
            Disallow:
    """

    code = "RR114"
    slug = "empty-file"
    level = "info"
    message = "The file is empty, which allows everything to every crawler."
    reference = "RFC 9309 §2.2.1, §2.3.1.5"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield a note if there is nothing but blank lines."""
        if not context.robots.body.removeprefix(b"\xef\xbb\xbf").strip():
            yield self.about_file()
