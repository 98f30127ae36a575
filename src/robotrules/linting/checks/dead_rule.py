"""RR501: a rule that decides no URL at all."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, quote, related
from robotrules.linting.note import LintNote
from robotrules.linting.subject import Subject


class DeadRule(Check):
    """
    What it finds:
        A rule that decides no URL for any crawler, because longer or equal rules decide all that it
        matches, or because its pattern matches no URL. This is proved for all URLs there are, and
        not tried on samples.

    Why it matters:
        Whoever reads the file believes that the rule does something. Often it was meant to: the
        longest pattern wins, whatever the order of the lines, and of equal ones Allow does. Where
        the rules that decide in its place say the same, the note is for information only.

    Example:
            User-agent: *
            Disallow: /shop*
            Allow: /shop

    Instead:
        Take the rule out (`robotrules simplify` does), or make it longer than the rule that wins:

            User-agent: *
            Disallow: /shop*
            Allow: /shop/open
    """

    code = "RR501"
    slug = "dead-rule"
    level = "warning"
    message = "{rule} decides no URL: {why}."
    reference = "RFC 9309 §2.2.2"
    exact = True

    def check(self, subject: Subject) -> Iterator[LintNote]:
        """Yield the rules that are proved to decide nothing."""
        for line, dead in sorted(subject.exact.dead.items()):
            covers = [rule for rule in dead.covers if rule.line != line]
            lines = ", ".join(str(rule.line) for rule in covers)
            why = f"line {lines} decides first" if covers else "its pattern matches none"
            if len(covers) > 1:
                why = f"lines {lines} together decide first"
            alike = bool(covers) and all(rule.allow == dead.rule.allow for rule in covers)
            yield self.about(
                subject,
                dead.rule,
                # What decides in its place says the same: nothing is lost but clarity.
                level="info" if alike else None,
                rule=quote(str(dead.rule)),
                why=why,
                related=[related(subject, "decides first", rule) for rule in covers],
            )
