"""RR415: a blank line inside a group, where parsers in the style of 1994 end it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from robotrules.linting.check import Check
from robotrules.linting.context import LintContext
from robotrules.linting.note import Edit, Fix, LintNote
from robotrules.profile import Role
from robotrules.robotstxt.values import Group, Line, Record


class _Gap(NamedTuple):
    """A blank line inside a group."""

    line: Line
    before_rules: bool
    """Whether the group has no rule before it."""
    next_is_rule: bool
    """Whether a rule comes next, and not a user-agent line."""


class BlankLineInGroup(Check):
    """
    What it finds:
        A blank line between the user-agent lines of a group and its rules, or between its rules.

    Why it matters:
        In RFC 9309 a blank line has no meaning. In the text of 1994 it ended a group, and some
        software still follows that text: Python's urllib.robotparser before its rewrite of 2026,
        which many crawlers use, drops the user-agent lines before a blank line and ignores the
        rules after it. A blank line after `User-agent: *` makes these crawlers ignore the whole
        group.

    Example:
            User-agent: *

            Disallow: /search

    Instead:
            User-agent: *
            Disallow: /search

        Use blank lines between groups only. Inside a group, use a comment line instead.
    """

    code = "RR415"
    slug = "blank-line-in-group"
    level = "info"
    message = (
        "Python's urllib.robotparser before 2026 ends the group at this blank line and ignores "
        "{lost}. Remove the blank line."
    )
    reference = "RFC 9309 §2.2; A Standard for Robot Exclusion (1994)"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the first blank line of each group; the fix removes all of them."""
        for group in context.groups:
            gaps = list(_find_gaps(context, group))
            if gaps:
                yield self._note_gaps(context, gaps)

    def _note_gaps(self, context: LintContext, gaps: Sequence[_Gap]) -> LintNote:
        first = gaps[0].line
        # A blank line before a rule drops all user-agent lines, one before a user-agent line those
        # above it.
        whole = any(gap.before_rules and gap.next_is_rule for gap in gaps)
        starts = gaps[0].before_rules
        lost = "the rules after it"
        if starts:
            lost = "the whole group" if whole else "the user-agent lines before it"
        edits = [Edit(*context.whole_line(gap.line.number), b"") for gap in gaps]
        words = "Remove the blank line" if len(edits) == 1 else "Remove the blank lines"
        return self.note(
            context,
            first.start,
            first.end,
            level="warning" if starts else None,
            lost=lost,
            fix=Fix(words, tuple(edits)),
        )


def _find_gaps(context: LintContext, group: Group) -> Iterator[_Gap]:
    """Yield the blank lines inside a group."""
    last: Record | None = None
    pending: list[Line] = []
    before_rules, other = True, False
    for record in group.records:
        if last is not None and record.line > last.line + 1:
            between = context.lines[last.line : record.line - 1]
            pending += [line for line in between if not line.text.strip()]
        # With another record between them, two user-agent lines were intended for two groups.
        if record.role is Role.RULE or (record.role is Role.START and not other):
            yield from (_Gap(line, before_rules, record.role is Role.RULE) for line in pending)
        other = record.role is Role.OTHER
        if not other:
            pending, before_rules = [], record.role is Role.START
        last = record
