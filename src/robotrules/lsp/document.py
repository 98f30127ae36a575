"""
Document: one text in an editor, with its places, parsed when somebody asks and then once.

What an editor holds is text, so there is nothing here that is not UTF-8; a byte order mark is there
only if the editor shows it. It does not know the protocol, nor which file the text belongs to.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property

from robotrules.lsp.positions import PositionMap, octets_of_text
from robotrules.registries import SHIPPED, Registries
from robotrules.robotstxt import RobotsTxt, parse
from robotrules.robotstxt.values import Group, Line, Record, Rule

__all__ = ["OpenDocument"]


class OpenDocument:
    """A text, and what it says. Nothing of it changes: an edit makes another document."""

    def __init__(
        self,
        text: str,
        *,
        profile: str = "default",
        encoding: str = "utf-16",
        registries: Registries = SHIPPED,
    ) -> None:
        """*encoding* is what columns count; *registries* are what readers of records know."""
        self.octets = octets_of_text(text)
        self.profile = profile
        self.places = PositionMap(self.octets, encoding)
        self.registries = registries

    @cached_property
    def robots(self) -> RobotsTxt:
        """The parsed file. Its body is the text's octets, or the first of them (RFC 9309 §2.5)."""
        return parse(self.octets, self.profile)

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The lines that were parsed."""
        return self.robots.lines

    @cached_property
    def _starts(self) -> list[int]:
        return [line.start for line in self.lines]

    @cached_property
    def _records(self) -> list[int]:
        return [record.key_start for record in self.robots.records]

    @cached_property
    def _rules(self) -> dict[int, Rule]:
        return {rule.start: rule for group in self.robots.groups for rule in group.rules}

    def line_at(self, offset: int) -> Line | None:
        """Return the line that an octet is in."""
        at = bisect_right(self._starts, offset) - 1
        if at < 0 or offset > self.lines[at].end:
            return None
        return self.lines[at]

    def record_at(self, offset: int) -> Record | None:
        """Return the record of the line that an octet is in; in its comment there is none."""
        line = self.line_at(offset)
        at = bisect_right(self._records, line.end) - 1 if line else -1
        if line is None or at < 0 or (line.comment is not None and offset >= line.comment):
            return None
        record = self.robots.records[at]
        return record if record.line == line.number else None

    def record_before(self, offset: int) -> Record | None:
        """Return the last record of the lines before the one that an octet is in."""
        start, _ = self.places.span_of(self.places.line_of(offset))
        at = bisect_right(self._records, start - 1) - 1
        return self.robots.records[at] if at >= 0 else None

    def rule_of(self, record: Record) -> Rule | None:
        """Return the rule that a record is, if it is one of a group."""
        return self._rules.get(record.start) if record.is_rule else None

    def group_of(self, record: Record) -> Group | None:
        """Return the group that a record is read in: that of its own document (AMB-29)."""
        if record.group is None:
            return None
        groups = self.robots.grouped_for(record.key).groups
        return groups[bisect_right(groups, record.line, key=lambda group: group.lines[0]) - 1]
