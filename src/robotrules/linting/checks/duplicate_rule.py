"""RR502: a rule that says what another one says with the same pattern."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from robotrules.linting.check import Check, quote, relate
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.value_shapes import remove_line
from robotrules.profile import PROFILES, Role

# What each profile compares of a rule; None: it does not use the line.
_Forms = tuple[str | None, ...]


class DuplicateRule(Check):
    """
    What it finds:
        The same rule twice for the same crawlers. Patterns are compared in the form that crawlers
        compare, so `/caf%C3%A9` and `/café` are the same. Where parsers disagree, both are needed
        and neither is reported: Google's parser tells `/a%3Ab` from `/a:b`.

    Why it matters:
        The second one does nothing, and does no harm. But whoever changes one of them later and not
        the other will wonder why nothing happens.

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
    message = "{rule} repeats line {line}."
    reference = "RFC 9309 §2.2.2; REP-2.2.2-08"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the later ones of equal rules."""
        twins = sorted(context.proofs.equal_patterns.items())
        by_profile = [_forms(context, profile) for profile in PROFILES] if twins else []
        rules = Counter(one.group for one in context.robots.records if one.role is Role.RULE)
        first: dict[tuple[int, _Forms], int] = {}
        for line, winner in twins:
            record = context.by_line[line]
            if (record.key == "allow") != winner.allow:
                continue
            forms = tuple([found.get(line) for found in by_profile])
            kept = tuple([found.get(winner.line) for found in by_profile])
            same = winner.line
            # A profile that does not use a line at all needs no second one.
            if not all(one in (None, other) for one, other in zip(forms, kept, strict=True)):
                same = first.setdefault((winner.line, forms), line)
            if same == line:
                continue  # some parser tells it from those before it
            before = context.by_line[same]
            yield self.about(
                context,
                record,
                rule=quote(f"{'Allow' if winner.allow else 'Disallow'}: {record.text}"),
                line=same,
                related=[relate("the same rule", before)],
                # The only rule of a group parts it from the group after it.
                fix=remove_line(context, line) if rules[record.group] > 1 else None,
            )


def _forms(context: LintContext, profile: str) -> dict[int, str]:
    """Return what a profile compares of the rule of each line."""
    groups = context.parse_as(profile).groups
    return {rule.line: rule.form for group in groups for rule in group.rules}
