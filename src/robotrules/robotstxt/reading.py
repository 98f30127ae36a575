"""
Reading: what an engine found, turned into values when somebody asks for them.

The engine keeps positions; this makes records and rules of them. It holds on to the parsed document
and not to the RobotsTxt, so that a rule set and the file it came from form no cycle.
"""

from __future__ import annotations

from typing import Any

from robotrules.profile import Profile, Role
from robotrules.robotstxt.values import Record, Rule, shown


class Reading:
    """Groups of a document, and the rules that are written there."""

    __slots__ = ("_document", "_engine", "_groups", "_numbers", "_profile")

    def __init__(self, document: Any, engine: Any, profile: Profile, groups: list[int]) -> None:
        self._document = document
        self._engine = engine
        self._profile = profile
        self._groups = groups
        self._numbers: list[int] | None = None

    def records(self) -> tuple[Record, ...]:
        """Return every record of the document."""
        body = self._document.body
        return tuple(_record(found, body) for found in self._document.records())

    def as_rule(self, record: Record) -> Rule:
        """Return an allow or disallow record as a rule."""
        settings = self._profile.settings(self._engine)
        form = self._engine.normal_form(record.value, True, settings)
        where = record.line, record.column, record.start, record.end
        return Rule(record.key == "allow", record.text, shown(form), len(form), *where)

    # What a rule set asks for (`ruleset.RuleSource`).

    def _rule_numbers(self) -> list[int]:
        if self._numbers is None:
            self._numbers = self._document.rules(self._groups)
        return self._numbers

    def rule(self, number: int) -> Rule:
        """Return a rule of the groups."""
        found = self._document.record(self._rule_numbers()[number])
        return self.as_rule(_record(found, self._document.body))

    def count(self) -> int:
        """Return how many rules the groups have."""
        return len(self._rule_numbers())

    def is_for_nobody(self) -> bool:
        """Tell whether there are no groups."""
        return not self._groups

    def written(self) -> list[tuple[bytes, bool]]:
        """Return the patterns as written, each with whether it allows."""
        body = self._document.body
        records = (_record(self._document.record(n), body) for n in self._rule_numbers())
        return [(record.value, record.key == "allow") for record in records]


def _record(found: tuple[Any, ...], body: bytes) -> Record:
    line, line_start, key_start, key_end, start, end, key, role, group = found
    where = start, end, key_start, key_end, start - line_start + 1
    number = group if group >= 0 else None
    return Record(shown(key), body[start:end], line, Role(role), number, *where)
