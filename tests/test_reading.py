"""Reading: engine positions become records and rules when somebody asks for them."""

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
    """All records are read, whatever the groups."""
    assert [record.key for record in reading(engine).records()] == [
        "user-agent",
        "disallow",
        "user-agent",
        "allow",
        "x-other",
        "disallow",
    ]


def test_rules_are_those_of_the_groups(engine: ModuleType) -> None:
    """Rules are numbered through the groups, in the order these are given."""
    both, second = reading(engine, 1, 0), reading(engine, 1)
    assert (both.count(), second.count()) == (3, 2)
    assert [both.rule(number).pattern for number in range(3)] == ["/%79*", "/z", "/x"]
    assert second.rule(0).form == "/y*"
    assert [second.rule(number).line for number in range(2)] == [4, 6]


def test_records_as_rules(engine: ModuleType) -> None:
    """A rule has the record's position and the form it is compared in."""
    found = reading(engine)
    (rule,) = found.as_rules([found.records()[3]])
    assert (rule.allow, rule.pattern, rule.form, rule.octets) == (True, "/%79*", "/y*", 3)
    assert (rule.line, rule.column, BODY[rule.start : rule.end]) == (4, 9, b"/%79*")


def test_groups_for_nobody(engine: ModuleType) -> None:
    """No groups means for nobody, which is not the same as groups without rules."""
    assert reading(engine).is_for_nobody()
    assert not reading(engine, 0).is_for_nobody()
    assert reading(engine).count() == 0


def test_patterns_as_written(engine: ModuleType) -> None:
    """The rules' patterns in octets, each with whether it allows, as pickle wants them."""
    assert reading(engine, 0, 1).written() == [(b"/x", False), (b"/%79*", True), (b"/z", False)]
    assert reading(engine).written() == []


def test_values_are_made_once(engine: ModuleType) -> None:
    """Analysis asks for all rules again and again, and a file may have tens of thousands."""
    found = reading(engine, 1, 0)
    asked: list[int] = []

    class Counted:
        """A document that counts the records it is asked for."""

        body = found._document.body
        rules = found._document.rules

        def record(self, number: int) -> object:
            """Return a record."""
            asked.append(number)
            return found._document.record(number)

    counted = Reading(Counted(), engine, DEFAULT, [1, 0])
    for _ in range(3):
        assert counted.rules() == tuple(map(found.rule, range(3)))
        assert counted.written() == found.written()
    assert [counted.rule(number) for number in range(3)] == list(counted.rules())
    assert len(asked) == 2 * 3
