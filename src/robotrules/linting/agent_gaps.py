"""
Agent gaps: records between user-agent lines, and the crawlers that therefore share a group.

Only a rule ends a list of user-agent lines (RFC 9309 §2.1); other records do not interfere
(§2.2.4, AMB-28). So the names before and after such a record share the rules that follow. Two
checks use this module: one for records that belong to a group, one for other records. Neither
reports Content-Usage and App-Directives, whose groups differ from those of rules (AMB-29): RR609
does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from robotrules.linting.check import join_names, quote
from robotrules.linting.context import LintContext
from robotrules.linting.value_shapes import example_url, matching_token
from robotrules.profile import Role
from robotrules.robotstxt.values import Group, Record

# Records that authors write for one group, and after which they believe the group is complete.
GROUP_RECORDS = frozenset(
    (
        *("crawl-delay", "request-rate", "visit-time", "cache-delay", "noindex"),
        "content-signal",
    )
)
# Records that end the list by their own drafts; RR609 reports them.
DRAFT_RECORDS = frozenset(("content-usage", "app-directives", "app-directive"))
# Rules of a group that are tried as example URLs, and gaps of a file that get an example.
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
    def has_group_records(self) -> bool:
        """Whether one of the records belongs to a group."""
        return any(record.key in GROUP_RECORDS for record in self.between)

    @property
    def separates_names(self) -> bool:
        """Whether the names before and after the records differ."""
        return any(record.value.lower() != self.after.value.lower() for record in self.before)

    @property
    def names(self) -> str:
        """The names before the records, for a message."""
        return join_names([quote(record.value) for record in self.before])


def find_gaps(context: LintContext) -> Iterator[Gap]:
    """Yield the gaps in the lists of user-agent lines of a file."""
    lines = [note.line for note in context.parser_notes("record-between-agents")]
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
                if not any(other.key in DRAFT_RECORDS for other in between):
                    yield Gap(group, tuple(before), tuple(between), record)
                before, between = [], []
            before.append(record)


def find_shared_url(context: LintContext, gap: Gap) -> str | None:
    """Return a URL that the rules after the gap block for a crawler named before it."""
    token = matching_token(context, gap.before[0])
    if not token:
        return None
    rules = context.robots.rules_for(token)
    for rule in gap.group.rules[:MOST_TRIED]:
        pattern = context.robots.body[rule.start : rule.end]
        url = None if rule.allow or not pattern else example_url(context, pattern)
        if url and not rules.allows(url):
            return url
    return None
