"""RR415: a blank line inside a group, at which old parsers end it."""

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
    listing: bool
    """Whether no rule stands before it."""
    rule: bool
    """Whether a rule comes next, and no user-agent line."""


class BlankLineInGroup(Check):
    """
    What it finds:
        A blank line between the user-agent lines of a group and its rules, or between its rules.

    Why it matters:
        For RFC 9309 a blank line is nothing. In the text of 1994 it ended a group, and some
        software still reads so: Python's urllib.robotparser before its rewrite of 2026, which many
        crawlers run, forgets the user-agent lines before it, and leaves out the rules after it.
        For them a blank line after `User-agent: *` makes the whole group disappear.

    Example:
            User-agent: *

            Disallow: /search

    Instead:
            User-agent: *
            Disallow: /search

        Between groups a blank line is welcome. Inside one, a line with a comment does as well.
    """

    code = "RR415"
    slug = "blank-line-in-group"
    level = "info"
    message = "Python's urllib.robotparser before 2026 ends the group at this blank line: {lost}."
    reference = "RFC 9309 §2.2; A Standard for Robot Exclusion (1994)"

    def check(self, context: LintContext) -> Iterator[LintNote]:
        """Yield the first such line of each group; the fix is for all of them."""
        for group in context.groups:
            gaps = list(_gaps(context, group))
            if gaps:
                yield self._blank(context, gaps)

    def _blank(self, context: LintContext, gaps: Sequence[_Gap]) -> LintNote:
        first = gaps[0].line
        # A blank line before a rule takes all the names away, one before a name those above it.
        whole = any(gap.listing and gap.rule for gap in gaps)
        starts = gaps[0].listing
        lost = "it loses the rules after it"
        if starts:
            lost = "it loses the whole group" if whole else "it forgets the names before it"
        edits = [Edit(*context.whole_line(gap.line.number), b"") for gap in gaps]
        words = "Take the blank line out" if len(edits) == 1 else "Take the blank lines out"
        return self.note(
            context,
            first.start,
            first.end,
            level="warning" if starts else None,
            lost=lost,
            fix=Fix(words, tuple(edits)),
        )


def _gaps(context: LintContext, group: Group) -> Iterator[_Gap]:
    """Yield the blank lines that part a group."""
    last: Record | None = None
    waiting: list[Line] = []
    listing, other = True, False
    for record in group.records:
        if last is not None and record.line > last.line + 1:
            between = context.lines[last.line : record.line - 1]
            waiting += [line for line in between if not line.text.strip()]
        # With another record between them, two user-agent lines were meant for two groups.
        if record.role is Role.RULE or (record.role is Role.START and not other):
            yield from (_Gap(line, listing, record.role is Role.RULE) for line in waiting)
        other = record.role is Role.OTHER
        if not other:
            waiting, listing = [], record.role is Role.START
        last = record
