"""The values of a robots.txt: immutable, compared by value, plain data in JSON."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from robotrules import STRICT, Group, Line, Note, Record, RobotsTxt, Role, Rule
from robotrules.octets import to_octets, to_text, visible
from robotrules.robotstxt.values import KEPT_BY, NOTES

BODY = b"\xef\xbb\xbfUser-agent: a # me\nDisalow: /caf\xe9*\n\tAllow : /\nSitemap: x\nnonsense\n"


@pytest.fixture
def robots(read: Callable[..., RobotsTxt]) -> RobotsTxt:
    """A file with every kind of value, parsed by each engine."""
    return read(BODY)


def every_value(robots: RobotsTxt) -> list[Any]:
    """Return a list of all values of a file."""
    return [*robots.lines, *robots.records, *robots.groups, *robots.groups[0].rules, *robots.notes]


def test_values_are_frozen_and_slotted(robots: RobotsTxt) -> None:
    """No attribute of a value can be set or added."""
    for value in every_value(robots):
        assert not hasattr(value, "__dict__")
        for name in ("start", "index", "other"):
            with pytest.raises((AttributeError, TypeError)):
                setattr(value, name, 1)


def test_values_compare_by_value(robots: RobotsTxt, read: Callable[..., RobotsTxt]) -> None:
    """Parsing a file twice gives equal values with equal hashes."""
    for value, other in zip(every_value(robots), every_value(read(BODY)), strict=True):
        assert value == other
        assert hash(value) == hash(other)
        assert value != "something else"


def test_values_survive_pickle_and_json(robots: RobotsTxt) -> None:
    """A value is the same after a round trip, and `as_dict` returns plain data."""
    for value in every_value(robots):
        assert pickle.loads(pickle.dumps(value)) == value
        assert json.loads(json.dumps(value.as_dict())) == value.as_dict()


def test_a_line(robots: RobotsTxt) -> None:
    """A line has a number, a span without terminator, a comment position and octets."""
    line = robots.lines[0]
    assert line == Line(1, 3, 21, 17, b"User-agent: a # me")
    assert line.as_dict() == {
        "line": 1,
        "start": 3,
        "end": 21,
        "comment": 17,
        "text": "User-agent: a # me",
    }
    assert robots.lines[1].comment is None


def test_a_record(robots: RobotsTxt) -> None:
    """A record has a canonical key, the value as written, a role, a group and positions."""
    record = robots.records[1]
    assert record == Record("disallow", b"/caf\xe9*", 2, Role.RULE, 0, 31, 37, 22, 29, 10)
    assert record.text == "/caf\\xe9*"
    assert record.is_rule
    assert record.as_dict() == {
        "key": "disallow",
        "value": "/caf\\xe9*",
        "role": "RULE",
        "group": 0,
        "line": 2,
        "column": 10,
        "start": 31,
        "end": 37,
        "key_start": 22,
        "key_end": 29,
    }
    assert [record.is_rule for record in robots.records] == [False, True, True, False]


def test_a_rule(robots: RobotsTxt) -> None:
    """A rule has the pattern as written and in normal form."""
    disallow, allow = robots.groups[0].rules
    assert disallow == Rule(False, "/caf\\xe9*", "/caf%E9*", 8, 2, 10, 31, 37)
    assert (disallow.key, str(disallow)) == ("Disallow", "Disallow: /caf\\xe9*")
    assert (allow.key, allow.line, allow.column) == ("Allow", 3, 10)
    assert disallow.as_dict() == {
        "key": "disallow",
        "pattern": "/caf\\xe9*",
        "form": "/caf%E9*",
        "octets": 8,
        "line": 2,
        "column": 10,
        "end_column": 16,
        "start": 31,
        "end": 37,
    }


def test_an_empty_rule_as_text() -> None:
    """An empty rule is shown as name and colon, without a trailing space."""
    assert str(Rule(False, "", "", 0, 2, 10, 0, 0)) == "Disallow:"


def test_a_group(robots: RobotsTxt) -> None:
    """A group has the user-agent lines, the rules and all records in order."""
    (group,) = robots.groups
    assert group.index == 0
    assert group.records == robots.records
    assert group.starts == robots.records[:1]
    assert group.user_agents == ("a",)
    assert group.lines == (1, 4)
    assert [rule.line for rule in group.rules] == [2, 3]
    assert group.as_dict() == {
        "index": 0,
        "user_agents": ["a"],
        "purposes": [],
        "first_line": 1,
        "last_line": 4,
        "rules": [rule.as_dict() for rule in group.rules],
    }


def test_a_start_record_of_an_extension_is_not_a_user_agent() -> None:
    """`user_agents` has the values of user-agent lines, not of other START records."""
    where = (1, Role.START, 0, 0, 1, 0, 0, 1)
    starts = (Record("user-agent", b"a", *where), Record("purpose", b"b", *where))
    assert Group(0, starts, (), starts).user_agents == ("a",)


def test_a_note(robots: RobotsTxt) -> None:
    """A note has a code, a level, a byte span and a message."""
    bom, typo, invalid, nothing = robots.notes
    assert bom == Note("bom", "info", None, 0, 3)
    assert typo == Note("typo", "warning", 2, 22, 29)
    assert invalid == Note("invalid-utf8", "warning", 2, 31, 37)
    assert nothing == Note("no-separator", "error", 5, 60, 68)
    assert bom.message == "A UTF-8 byte order mark was skipped."
    assert typo.as_dict() == {
        "code": "typo",
        "level": "warning",
        "message": typo.message,
        "line": 2,
        "start": 22,
        "end": 29,
    }


def test_the_table_of_notes() -> None:
    """Every code is a slug with a valid level and one sentence; codes are sorted."""
    assert set(KEPT_BY) <= set(NOTES)
    assert {getattr(STRICT, switch) for switch in KEPT_BY.values()} == {False}
    assert list(NOTES) == sorted(NOTES)
    for code, (level, message) in NOTES.items():
        assert code == code.lower().replace("_", "-").strip()
        assert level in ("error", "warning", "info")
        assert message[0].isupper()
        assert message.endswith(".")
        assert message.count(". ") == 0


@pytest.mark.parametrize(
    ("octets", "text"),
    [
        (b"", ""),
        (b"/caf\xc3\xa9", "/café"),
        (b"/caf\xe9", "/caf\\xe9"),
        (b"\xed\xa0\x80", "\\xed\\xa0\\x80"),
        (b"\0", "\0"),
    ],
)
def test_octets_as_text(octets: bytes, text: str) -> None:
    """Octets that are not UTF-8 become `\\xNN`; the text never has surrogates."""
    assert to_text(octets) == text
    assert json.dumps(text).isascii()
    text.encode()


@pytest.mark.parametrize(
    ("text", "octets"),
    [
        ("/é", b"/\xc3\xa9"),
        (b"/\xe9", b"/\xe9"),
        (bytearray(b"/a"), b"/a"),
        (memoryview(b"/abc")[::2], b"/b"),
        ("/\udce9", b"/\xe9"),  # an octet from `surrogateescape`
        ("/\ud83c", b"/\xed\xa0\xbc"),  # half of a surrogate pair, unchanged
        ("/\udce9\ud83c", b"/\xed\xb3\xa9\xed\xa0\xbc"),
    ],
)
def test_text_becomes_octets(text: Any, octets: bytes) -> None:
    """Surrogates from `surrogateescape` become octets again; other text is encoded."""
    assert to_octets(text) == octets


def test_all_values_list_their_fields() -> None:
    """The values are named tuples, so tools can list their fields."""
    for value in (Line, Record, Rule, Group, Note):
        assert issubclass(value, tuple)
        assert value._fields


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain é", "plain é"),
        ("a\x00b\x1b", "a\\x00b\\x1b"),
        ("\x7f\x80", "\\x7f\\u0080"),
        ("\u200b\uffff", "\\u200b\\uffff"),
        ("\U0001f600\U00010000\U000e0001", "\U0001f600\U00010000\\U000e0001"),
        (b"\xff\xc3\xa9\n", "\\xffé\\x0a"),
    ],
)
def test_invisible_characters_are_escaped(text: str | bytes, seen: str) -> None:
    """Printable text is unchanged; other characters are shown by code."""
    assert visible(text) == seen
