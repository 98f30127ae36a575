"""RR503: a Disallow that loses to an Allow with the same pattern."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, quote, relate
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote


class Contradiction(Check):
    """
    What it finds:
        An Allow and a Disallow with the same pattern for the same crawlers.

    Why it matters:
        RFC 9309 settles it: where both match with as many octets, Allow should be used, so the
        Disallow does nothing. Parsers from before the RFC take the line that comes first, and some
        take the stricter one. Nobody who reads the file can tell which was meant.

    Example:
            User-agent: *
            Disallow: /archive/
            Allow: /archive/

    Instead:
        Keep the line that you mean:

            User-agent: *
            Disallow: /archive/
    """

    code = "RR503"
    slug = "contradiction"
    level = "warning"
    message = (
        "Line {line} allows the same pattern {pattern}, and Allow wins: this rule does nothing."
    )
    reference = "RFC 9309 §2.2.2; REP-2.2.2-09; AMB-40"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the Disallow rules that lose to their twin."""
        for line, winner in sorted(context.proofs.equal_patterns.items()):
            record = context.by_line[line]
            if record.key == "disallow" and winner.allow:
                yield self.about(
                    context,
                    record,
                    line=winner.line,
                    pattern=quote(record.value),
                    related=[relate("wins", winner)],
                )
