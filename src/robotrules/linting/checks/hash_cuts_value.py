"""RR306: a `#` that cuts a path pattern."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote


class HashCutsValue(Check):
    """
    What it finds:
        A path pattern with a `#` right after it and text right after that, as in `/page#top`.

    Why it matters:
        A `#` starts a comment, with or without a space before it. The rule above is `/page`, which
        matches more URLs than it appears to. Crawlers do not send the part of a URL after a `#`, so
        no rule can distinguish `/page#top` from `/page`.

    Example:
            User-agent: *
            Disallow: /page#top

    Instead:
        Write `%23` if the path really contains a `#`, which is rare, or put a space before a
        comment, so that it does not look like part of the path:

            User-agent: *
            Disallow: /page%23top
            Disallow: /page # top
    """

    code = "RR306"
    slug = "hash-cuts-value"
    level = "warning"
    message = (
        "The '#' starts a comment, so all crawlers read only {text} as the path pattern. Write "
        "'%23' for a '#' in a path, or put a space before the comment."
    )
    reference = "RFC 9309 §2.2, §2.2.3 (REP-2.2-06); AMB-16"
    misread = True

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the rules with a comment that looks like part of the pattern."""
        body = context.robots.body
        if b"#" not in body:
            return
        for record in context.records("allow", "disallow"):
            after = body[record.end : record.end + 2]
            if record.value and after[:1] == b"#" and after[1:] not in (b"", *_BLANK):
                line = context.line(record.line)
                yield self.note(context, record.end, line.end, text=quote(record.value))


_BLANK = (b" ", b"\t", b"#", b"\r", b"\n")
