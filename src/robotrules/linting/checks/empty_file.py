"""RR114: a file without records or comments."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote


class EmptyFile(Check):
    """
    What it finds:
        A file without a record or a comment: no bytes at all, or only blank lines.

    Why it matters:
        An empty robots.txt allows every URL to all crawlers, like a missing one. That may be
        intended, or the result of a failed upload or an empty template.

    Example:
        A server that answers with an empty file:

            HTTP/1.1 200 OK
            Content-Type: text/plain
            Content-Length: 0

    Instead:
        Write it down for people who read the file:

            # Everything may be crawled.
            User-agent: *
            Disallow:
    """

    code = "RR114"
    slug = "empty-file"
    level = "info"
    message = (
        "The file is empty, which allows every URL to all crawlers. If that is intended, write "
        "'User-agent: *' and 'Disallow:'."
    )
    reference = "RFC 9309 §2.2.1, §2.3.1.5"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield a note if the file has only blank lines."""
        if not context.robots.body.removeprefix(b"\xef\xbb\xbf").strip():
            yield self.about_file()
