"""
Between: records that stand between user-agent lines, and whom they leave in one group.

Only a rule ends a list of user-agent lines (RFC 9309 §2.1); other records do not interfere
(§2.2.4, AMB-28). So names before and after such a record share the rules that follow. Two checks
ask: one for records that are about a group, and one for the rest. Of Content-Usage and its like
neither does: these are read over other groups than rules (AMB-29), and RR609 says so. It makes no
notes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from robotrules.linting.check import listed, quote
from robotrules.linting.context import LintContext
from robotrules.linting.value_shapes import example, token_of
from robotrules.profile import Role
from robotrules.robotstxt.values import Group, Record

# Records by which people say something to one group, and then believe that it is complete.
OF_A_GROUP = frozenset(
    (
        *("crawl-delay", "request-rate", "visit-time", "cache-delay", "noindex"),
        "content-signal",
    )
)
# Records that end the list by their own drafts: a check of extensions speaks of them.
OF_DRAFTS = frozenset(("content-usage", "app-directives", "app-directive"))
# Rules of a group that are tried for a URL, and gaps of a file that get one.
MOST_TRIED = 20


class Gap(NamedTuple):
    """Records between two user-agent lines of a group."""

    group: Group
    before: tuple[Record, ...]
    """The user-agent lines right before them."""
    between: tuple[Record, ...]
    after: Record
    """The user-agent line after them."""

    @property
    def says_something(self) -> bool:
        """Whether one of the records is about a group."""
        return any(record.key in OF_A_GROUP for record in self.between)

    @property
    def parts_names(self) -> bool:
        """Whether somebody else is named after them than before."""
        return any(record.value.lower() != self.after.value.lower() for record in self.before)

    @property
    def names(self) -> str:
        """Those before, for a message."""
        return listed([quote(record.value) for record in self.before])


def gaps(context: LintContext) -> Iterator[Gap]:
    """Yield the gaps in the lists of user-agent lines of a file."""
    lines = [note.line for note in context.noted("record-between-agents")]
    numbers = {context.by_line[line].group for line in lines if line in context.by_line}
    for number in sorted(number for number in numbers if number is not None):
        group = context.groups[number]
        before: list[Record] = []
        between: list[Record] = []
        for record in group.records:
            if record.role is Role.RULE:
                break
            if record.role is not Role.START:
                between.append(record)
                continue
            if between:
                if not any(one.key in OF_DRAFTS for one in between):
                    yield Gap(group, tuple(before), tuple(between), record)
                before, between = [], []
            before.append(record)


def shared(context: LintContext, gap: Gap) -> str | None:
    """Return a URL that the rules after the gap disallow for one who is named before it."""
    token = token_of(context, gap.before[0])
    if not token:
        return None
    rules = context.robots.rules_for(token)
    for rule in gap.group.rules[:MOST_TRIED]:
        pattern = context.robots.body[rule.start : rule.end]
        url = None if rule.allow or not pattern else example(context, pattern)
        if url and not rules.allows(url):
            return url
    return None
