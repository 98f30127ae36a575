"""RR526: a Disallow for robots.txt itself."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote

ROBOTS_TXT = frozenset((b"/robots.txt", b"/robots.txt$", b"*/robots.txt", b"/*robots.txt"))


class RobotsTxtDisallowed(Check):
    """
    What it finds:
        A Disallow for `/robots.txt`.

    Why it matters:
        A crawler has to fetch robots.txt to read the rule, so RFC 9309 always allows it, and the
        rule has no effect. It does not stop people from reading the file either. Google's parser
        matches that path like any other, and so does profile `google`.

    Example:
            User-agent: *
            Disallow: /robots.txt

    Instead:
        Remove the rule. To keep robots.txt out of search results, send `X-Robots-Tag: noindex` with
        it.
    """

    code = "RR526"
    slug = "robots-txt-disallowed"
    level = "warning"
    message = (
        "{rule} has no effect: crawlers that follow RFC 9309 always fetch robots.txt itself. "
        "Remove the rule."
    )
    reference = "RFC 9309 §2.2.2; AMB-45"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the rules for robots.txt itself."""
        if context.robots.profile.match_robots_txt:
            return
        for record in context.records("disallow"):
            if record.value in ROBOTS_TXT:
                yield self.about(context, record, rule=quote(b"Disallow: " + record.value))
