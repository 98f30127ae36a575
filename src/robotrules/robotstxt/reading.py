"""
Reading: what an engine found, turned into values when somebody asks for them.

The engine keeps positions; this makes records and rules of them. It holds on to the parsed document
and not to the RobotsTxt, so that a rule set and the file it came from form no cycle.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from robotrules.octets import to_text
from robotrules.profile import Profile, Role
from robotrules.robotstxt.values import Record, Rule


class Reading:
    """Groups of a document, and the rules that are written there."""

    __slots__ = ("_document", "_engine", "_groups", "_numbers", "_profile", "_rules", "_written")

    def __init__(self, document: Any, engine: Any, profile: Profile, groups: list[int]) -> None:
        self._document = document
        self._engine = engine
        self._profile = profile
        self._groups = groups
        self._numbers: list[int] | None = None
        # Made once: analysis asks for them again and again, and a file may have tens of thousands.
        self._rules: tuple[Rule, ...] | None = None
        self._written: list[tuple[bytes, bool]] | None = None

    def records(self) -> tuple[Record, ...]:
        """Return every record of the document."""
        return _records(self._document.records(), self._document.body)

    def as_rules(self, records: Iterable[Record]) -> tuple[Rule, ...]:
        """Return allow and disallow records as rules."""
        settings = self._profile.settings(self._engine)
        normal_form = self._engine.normal_form
        rules = []
        # Files repeat patterns: in one group for all crawlers, and in each of theirs.
        known: dict[bytes, tuple[str, str, int]] = {}
        for key, value, line, _, _, start, end, _, _, column in records:
            found = known.get(value)
            if found is None:
                form = normal_form(value, True, settings)
                text = value.decode("utf-8", "backslashreplace")
                found = known[value] = text, text if form == value else to_text(form), len(form)
            rules.append(_new(Rule, (key == "allow", *found, line, column, start, end)))
        return tuple(rules)

    # What a rule set asks for (`ruleset.RuleSource`).

    def _rule_numbers(self) -> list[int]:
        if self._numbers is None:
            self._numbers = self._document.rules(self._groups)
        return self._numbers

    def rule(self, number: int) -> Rule:
        """Return a rule of the groups."""
        if self._rules is not None:
            return self._rules[number]
        found = self._document.record(self._rule_numbers()[number])
        return self.as_rules(_records([found], self._document.body))[0]

    def rules(self) -> tuple[Rule, ...]:
        """Return the rules of the groups."""
        if self._rules is None:
            found = map(self._document.record, self._rule_numbers())
            self._rules = self.as_rules(_records(found, self._document.body))
        return self._rules

    def count(self) -> int:
        """Return how many rules the groups have."""
        return len(self._rule_numbers())

    def is_for_nobody(self) -> bool:
        """Tell whether there are no groups."""
        return not self._groups

    def written(self) -> list[tuple[bytes, bool]]:
        """Return the patterns as written, each with whether it allows."""
        if self._written is None:
            body, record = self._document.body, self._document.record
            found = map(record, self._rule_numbers())
            self._written = [(body[one[4] : one[5]], one[6] == b"allow") for one in found]
        return self._written


# What most records have: looking a name up is cheaper than making it of octets.
_ROLES = {role.value: role for role in Role}
_KEYS = {name.encode(): name for name in ("user-agent", "allow", "disallow")}


# A file may have a hundred thousand records, and a named tuple made by its own name takes twice as
# long as one made of a tuple.
_new = tuple.__new__


def _records(found: Iterable[tuple[Any, ...]], body: bytes) -> tuple[Record, ...]:
    """Return the records that an engine found."""
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
