"""RR502: a rule that repeats another one with the same pattern."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from robotrules.linting.check import Check, quote, relate
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.value_shapes import remove_line
from robotrules.profile import PROFILES, Role

# The form of a pattern that each profile compares; None if it ignores the line.
_Forms = tuple[str | None, ...]


class DuplicateRule(Check):
    """
    What it finds:
        The same rule twice for the same crawlers. Patterns are compared in the form that crawlers
        compare, so `/caf%C3%A9` and `/café` are the same. Where parsers differ, both rules are
        needed and neither is reported: Google's parser distinguishes `/a%3Ab` from `/a:b`.

    Why it matters:
        The second rule has no effect and does no harm. But if only one of the two is changed later,
        the other one still applies.

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
    level = "info"
    message = "{rule} repeats line {line}{advice}."
    reference = "RFC 9309 §2.2.2; REP-2.2.2-08"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the later rules among equal ones."""
        twins = sorted(context.proofs.equal_patterns.items())
        by_profile = [_forms(context, profile) for profile in PROFILES] if twins else []
        rules = Counter(
            record.group for record in context.robots.records if record.role is Role.RULE
        )
        first: dict[tuple[int, _Forms], int] = {}
        for line, winner in twins:
            record = context.by_line[line]
            if (record.key == "allow") != winner.allow:
                continue
            forms = tuple([by_line.get(line) for by_line in by_profile])
            kept = tuple([by_line.get(winner.line) for by_line in by_profile])
            same = winner.line
            # A profile that ignores the line needs no second one.
            if not all(form in (None, other) for form, other in zip(forms, kept, strict=True)):
                same = first.setdefault((winner.line, forms), line)
            if same == line:
                continue  # some parser distinguishes it from those before it
            # The only rule of a group separates it from the group after it.
            only = rules[record.group] == 1
            yield self.about(
                context,
                record,
                rule=quote(f"{'Allow' if winner.allow else 'Disallow'}: {record.text}"),
                line=same,
                advice=". Keep it: its group has no other rule" if only else ". Remove it",
                related=[relate("the same rule", context.by_line[same])],
                fix=None if only else remove_line(context, line),
            )


def _forms(context: LintContext, profile: str) -> dict[int, str]:
    """Return the form that a profile compares, by the line of its rule."""
    groups = context.parse_as(profile).groups
    return {rule.line: rule.form for group in groups for rule in group.rules}
