"""RR508: an Allow or Disallow without a path among other rules."""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.linting.check import Check, quote
from robotrules.linting.context import LintContext
from robotrules.linting.note import LintNote
from robotrules.linting.value_shapes import remove_line


class EmptyRuleBesideOthers(Check):
    """
    What it finds:
        An Allow or Disallow without a path in a group that has other rules.

    Why it matters:
        Alone in its group, `Disallow:` allows every URL. Among other rules it has no effect: it
        matches no URL better than they do, and Google's parser, robotrules and Python's
        urllib.robotparser all let the other rules decide. An empty rule neither lifts the other
        rules nor, as an empty Allow, allows every URL.

    Example:
            User-agent: *
            Disallow:
            Disallow: /search

    Instead:
            User-agent: *
            Disallow: /search
    """

    code = "RR508"
    slug = "empty-rule-beside-others"
    level = "info"
    message = (
        "{rule} without a path has no effect for any crawler: the other rules of the group decide. "
        "Remove it, or add a path."
    )
    reference = "RFC 9309 §2.2.2; AMB-42"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the empty rules of groups that have other rules."""
        for group in context.groups:
            empty = [rule for rule in group.rules if not rule.pattern]
            if empty and len(empty) < len(group.rules):
                for rule in empty:
                    yield self.note(
                        context,
                        context.by_line[rule.line].key_start,
                        rule.end,
                        rule=quote(f"{rule.key}:"),
                        fix=remove_line(context, rule.line),
                    )
