"""Reading: makes records and rules from positions of the engine, on demand."""

from __future__ import annotations

from types import ModuleType

from robotrules import DEFAULT
from robotrules.robotstxt.reading import Reading

BODY = b"User-agent: a\nDisallow: /x\nUser-agent: b\nAllow : /%79*\nX-Other: 1\nDisallow: /z"


def reading(engine: ModuleType, *groups: int) -> Reading:
    """Return a reading of some groups of BODY."""
    document = engine.parse(BODY, DEFAULT.settings(engine), True)
    return Reading(document, engine, DEFAULT, list(groups))


def test_records_are_those_of_the_document(engine: ModuleType) -> None:
    """All records are returned, independent of the groups."""
    assert [record.key for record in reading(engine).records()] == [
        "user-agent",
        "disallow",
        "user-agent",
        "allow",
        "x-other",
        "disallow",
    ]


def test_rules_are_those_of_the_groups(engine: ModuleType) -> None:
    """Rules are numbered across the groups, in the order of the groups."""
    both, second = reading(engine, 1, 0), reading(engine, 1)
    assert (both.count(), second.count()) == (3, 2)
    assert [both.rule(number).pattern for number in range(3)] == ["/%79*", "/z", "/x"]
    assert second.rule(0).form == "/y*"
    assert [second.rule(number).line for number in range(2)] == [4, 6]


def test_records_as_rules(engine: ModuleType) -> None:
    """A rule has the record's position and the pattern in normal form."""
    source = reading(engine)
    (rule,) = source.as_rules([source.records()[3]])
    assert (rule.allow, rule.pattern, rule.form, rule.octets) == (True, "/%79*", "/y*", 3)
    assert (rule.line, rule.column, BODY[rule.start : rule.end]) == (4, 9, b"/%79*")


def test_no_groups(engine: ModuleType) -> None:
    """No groups differ from groups without rules."""
    assert reading(engine).has_no_groups()
    assert not reading(engine, 0).has_no_groups()
    assert reading(engine).count() == 0


def test_patterns_as_written(engine: ModuleType) -> None:
    """The patterns of the rules in octets, each with whether it allows, for pickle."""
    assert reading(engine, 0, 1).written() == [(b"/x", False), (b"/%79*", True), (b"/z", False)]
    assert reading(engine).written() == []


def test_values_are_cached(engine: ModuleType) -> None:
    """Analysis reads all rules repeatedly, and a file may have tens of thousands."""
    source = reading(engine, 1, 0)
    accessed: list[int] = []

    class Counted:
        """A document that counts accesses to its records."""

        body = source._document.body
        rules = source._document.rules

        def record(self, number: int) -> object:
            """Return a record."""
            accessed.append(number)
            return source._document.record(number)

    counted = Reading(Counted(), engine, DEFAULT, [1, 0])
    for _ in range(3):
        assert counted.rules() == tuple(map(source.rule, range(3)))
        assert counted.written() == source.written()
    assert [counted.rule(number) for number in range(3)] == list(counted.rules())
    assert len(accessed) == 2 * 3
