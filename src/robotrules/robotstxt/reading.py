"""
Reading: makes records and rules from the positions that an engine keeps, on demand.

A Reading refers to the engine's document, not to the RobotsTxt: otherwise a file and its cached
rule sets would form a reference cycle.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from robotrules.octets import to_text
from robotrules.profile import Profile, Role
from robotrules.robotstxt.values import Record, Rule


class Reading:
    """Groups of a document and their rules. Implements `RuleSource`."""

    __slots__ = ("_document", "_engine", "_groups", "_numbers", "_profile", "_rules", "_written")

    def __init__(self, document: Any, engine: Any, profile: Profile, groups: list[int]) -> None:
        self._document = document
        self._engine = engine
        self._profile = profile
        self._groups = groups
        self._numbers: list[int] | None = None
        # Cached: analysis reads them repeatedly, and a file may have tens of thousands.
        self._rules: tuple[Rule, ...] | None = None
        self._written: list[tuple[bytes, bool]] | None = None

    def records(self) -> tuple[Record, ...]:
        """Return every record of the document."""
        return _make_records(self._document.records(), self._document.body)

    def as_rules(self, records: Iterable[Record]) -> tuple[Rule, ...]:
        """Return allow and disallow records as rules."""
        settings = self._profile.settings(self._engine)
        normal_form = self._engine.normal_form
        rules = []
        # Groups of one file often repeat the same patterns: compute each form once.
        patterns: dict[bytes, tuple[str, str, int]] = {}
        for key, value, line, _, _, start, end, _, _, column in records:
            pattern = patterns.get(value)
            if pattern is None:
                form = normal_form(value, True, settings)
                text = value.decode("utf-8", "backslashreplace")
                pattern = text, text if form == value else to_text(form), len(form)
                patterns[value] = pattern
            rules.append(_new(Rule, (key == "allow", *pattern, line, column, start, end)))
        return tuple(rules)

    # The methods of `RuleSource`.

    def _rule_numbers(self) -> list[int]:
        if self._numbers is None:
            self._numbers = self._document.rules(self._groups)
        return self._numbers

    def rule(self, number: int) -> Rule:
        """Return a rule of the groups."""
        if self._rules is not None:
            return self._rules[number]
        record = self._document.record(self._rule_numbers()[number])
        return self.as_rules(_make_records([record], self._document.body))[0]

    def rules(self) -> tuple[Rule, ...]:
        """Return the rules of the groups."""
        if self._rules is None:
            records = map(self._document.record, self._rule_numbers())
            self._rules = self.as_rules(_make_records(records, self._document.body))
        return self._rules

    def count(self) -> int:
        """Return how many rules the groups have."""
        return len(self._rule_numbers())

    def has_no_groups(self) -> bool:
        """Tell whether there are no groups."""
        return not self._groups

    def written(self) -> list[tuple[bytes, bool]]:
        """Return the patterns as written, each with whether it allows."""
        if self._written is None:
            body = self._document.body
            records = map(self._document.record, self._rule_numbers())
            self._written = [
                (body[start:end], key == b"allow") for _, _, _, _, start, end, key, _, _ in records
            ]
        return self._written


# The keys of most records: a lookup is cheaper than decoding the key.
_ROLES = {role.value: role for role in Role}
_KEYS = {name.encode(): name for name in ("user-agent", "allow", "disallow")}


# A file may have 100,000 records, and the constructor of a named tuple takes twice as long.
_new = tuple.__new__


def _make_records(found: Iterable[tuple[Any, ...]], body: bytes) -> tuple[Record, ...]:
    """Return the records of an engine, given as tuples of positions, as values."""
    keys, roles = _KEYS.get, _ROLES
    return tuple(
        [
            _new(
                Record,
                (
                    keys(key) or to_text(key),
                    body[start:end],
                    line,
                    roles[role],
                    group if group >= 0 else None,
                    start,
                    end,
                    key_start,
                    key_end,
                    start - line_start + 1,
                ),
            )
            for line, line_start, key_start, key_end, start, end, key, role, group in found
        ]
    )
