"""
Document: the text of one open document, with its position map, parsed lazily and once.

An editor holds text, so the bytes are valid UTF-8 unless the bytes of a file are given; a byte
order mark is present only if the editor keeps it in the text. A file in UTF-16 is the text that it
is parsed as. The module does not depend on the protocol or on a file path.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property

from robotrules.editing.positions import PositionMap, encode_text
from robotrules.registries import SHIPPED, Registries
from robotrules.robotstxt import RobotsTxt, parse
from robotrules.robotstxt.values import Group, Line, Record, Rule

__all__ = ["OpenDocument"]

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class OpenDocument:
    """One version of a document. It is immutable: an edit makes a new OpenDocument."""

    def __init__(
        self,
        text: str | bytes,
        *,
        profile: str = "default",
        encoding: str = "utf-16",
        registries: Registries = SHIPPED,
    ) -> None:
        """*encoding* is the position encoding; *registries* define purposes and directives."""
        self.octets = encode_text(text) if isinstance(text, str) else text
        self.profile = profile
        if self.octets.startswith(_UTF_16):
            self.octets = self.robots.body
        self.positions = PositionMap(self.octets, encoding)
        self.registries = registries

    @cached_property
    def robots(self) -> RobotsTxt:
        """The parsed file. Its body is the text, up to the size limit (RFC 9309 §2.5)."""
        return parse(self.octets, self.profile)

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The parsed lines."""
        return self.robots.lines

    @cached_property
    def _line_starts(self) -> list[int]:
        return [line.start for line in self.lines]

    @cached_property
    def _record_starts(self) -> list[int]:
        return [record.key_start for record in self.robots.records]

    @cached_property
    def _rules(self) -> dict[int, Rule]:
        return {rule.start: rule for group in self.robots.groups for rule in group.rules}

    def line_at(self, offset: int) -> Line | None:
        """Return the line that contains *offset*."""
        index = bisect_right(self._line_starts, offset) - 1
        if index < 0 or offset > self.lines[index].end:
            return None
        return self.lines[index]

    def record_at(self, offset: int) -> Record | None:
        """Return the record of the line that contains *offset*; None inside a comment."""
        line = self.line_at(offset)
        index = bisect_right(self._record_starts, line.end) - 1 if line else -1
        if line is None or index < 0 or (line.comment is not None and offset >= line.comment):
            return None
        record = self.robots.records[index]
        return record if record.line == line.number else None

    def records_on(self, lines: Sequence[Line]) -> dict[int, Record]:
        """Return the records of some adjacent lines, by the number of their line."""
        if not lines:
            return {}
        records = self.robots.records
        first = bisect_left(records, lines[0].number, key=_line_of)
        last = bisect_right(records, lines[-1].number, key=_line_of)
        return {record.line: record for record in records[first:last]}

    def record_before(self, offset: int) -> Record | None:
        """Return the last record on the lines before the one that contains *offset*."""
        start, _ = self.positions.line_span(self.positions.line_at(offset))
        index = bisect_right(self._record_starts, start - 1) - 1
        return self.robots.records[index] if index >= 0 else None

    def rule_for(self, record: Record) -> Rule | None:
        """Return the rule of a record; None if the record is not a rule in a group."""
        return self._rules.get(record.start) if record.is_rule else None

    def group_for(self, record: Record) -> Group | None:
        """Return the group of a record, by the document that defines the record (AMB-29)."""
        if record.group is None:
            return None
        groups = self.robots.grouped_for(record.key).groups
        return groups[bisect_right(groups, record.line, key=lambda group: group.lines[0]) - 1]


def _line_of(record: Record) -> int:
    return record.line
