"""RR502: a rule that says what another one says with the same pattern."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, quote, related
from robotrules.linting.note import Edit, Fix, LintNote
from robotrules.linting.subject import Subject


class DuplicateRule(Check):
    """
    What it finds:
        The same rule twice for the same crawlers. Patterns are compared in the form that crawlers
        compare, so `/caf%C3%A9` and `/café` are the same.

    Why it matters:
        The second one does nothing. Whoever changes one of them later and not the other will wonder
        why nothing happens.

    Example:
            User-agent: *
            Disallow: /cart/
            Disallow: /search
            Disallow: /cart/

    Instead:
            User-agent: *
            Disallow: /cart/
            Disallow: /search
    """

    code = "RR502"
    slug = "duplicate-rule"
    level = "warning"
    message = "{rule} says what line {line} says already."
    reference = "RFC 9309 §2.2.2; REP-2.2.2-08"

    def check(self, subject: Subject) -> Iterator[LintNote]:
        """Yield the later ones of equal rules."""
        for line, winner in sorted(subject.exact.twins.items()):
            record = subject.by_line[line]
            if (record.key == "allow") != winner.allow:
                continue
            rule = f"{'Allow' if winner.allow else 'Disallow'}: {record.text}"
            yield self.about(
                subject,
                record,
                rule=quote(rule),
                line=winner.line,
                related=[related(subject, "the same rule", winner)],
                fix=Fix("Take the line out", (Edit(*subject.whole_line(line), b""),)),
            )
