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
        By RFC 9309, Allow wins where both patterns have the same length, so the Disallow has no
        effect. Parsers from before the RFC use the line that comes first, and some use the stricter
        one. Readers of the file cannot tell which rule was intended.

    Example:
            User-agent: *
            Disallow: /archive/
            Allow: /archive/

    Instead:
        Keep only the line that you mean:

            User-agent: *
            Disallow: /archive/
    """

    code = "RR503"
    slug = "contradiction"
    level = "warning"
    message = (
        "Line {line} allows the same pattern {pattern}, so this rule has no effect for crawlers "
        "that follow RFC 9309: Allow wins. Remove one of the two."
    )
    reference = "RFC 9309 §2.2.2; REP-2.2.2-09; AMB-40"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the Disallow rules that lose to an Allow with the same pattern."""
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
