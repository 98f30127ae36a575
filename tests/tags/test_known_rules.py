"""The table of tag rules: values as text and as parameters, and which of two restricts more."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from robotrules.http.structured_fields import parse_list
from robotrules.tags.known_rules import (
    MAX_DIGITS,
    ParsedValue,
    permits,
    read_parameter,
    read_text,
    resembles_known_rule,
    stricter,
    to_json_value,
)

DAY = datetime(2025, 12, 3, 13, tzinfo=UTC)
BAD = ParsedValue(None, "bad-value")


@pytest.mark.parametrize(
    ("name", "value", "answer"),
    [
        ("index", True, True),
        ("all", True, True),
        ("indexifembedded", True, True),
        ("noindex", True, False),
        ("unheard-of", True, False),
        ("max-image-preview", "large", True),
        ("max-image-preview", "standard", False),
        ("max-image-preview", "none", False),
    ],
)
def test_what_permits(name: str, value: Any, answer: bool) -> None:
    """Words that permit, an exception, and the largest preview."""
    assert permits(name, value) is answer


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("noindex", None, ParsedValue(True)),
        ("noindex", "true", ParsedValue(True, "value-not-used")),
        ("unheard-of", None, ParsedValue(True)),
        ("unheard-of", "5", ParsedValue(True, "value-not-used")),
        # With a value that it does not take, a word may restrict and may not permit.
        ("index", None, ParsedValue(True)),
        ("index", "true", BAD),
        ("indexifembedded", "true", BAD),
        ("max-snippet", " 5\t", ParsedValue(5)),
        ("max-snippet", "-1", ParsedValue(-1)),
        ("max-snippet", "-2", BAD),
        ("max-snippet", "X5X", BAD),
        ("max-snippet", "\u0663", BAD),
        ("max-snippet", "9" * MAX_DIGITS, ParsedValue(10**MAX_DIGITS - 1)),
        ("max-snippet", "9" * (MAX_DIGITS + 1), BAD),
        ("max-snippet", "", BAD),
        ("max-snippet", None, BAD),
        ("max-image-preview", "Large", ParsedValue("large")),
        ("max-image-preview", "huge", BAD),
        ("unavailable_after", "2025-12-03T13:00Z", ParsedValue(DAY)),
        ("unavailable_after", "2025-12-03T13:00 XYZ", ParsedValue(DAY, "unknown-zone")),
        ("unavailable_after", "soon", BAD),
    ],
)
def test_values_as_text(name: str, text: str | None, found: ParsedValue) -> None:
    """The text after the colon of a word."""
    assert read_text(name, text) == found


def parameter(text: str) -> Any:
    """Return the value of a parameter as a Structured Field has it."""
    ((_, parameters),) = parse_list(f"a;b={text}".encode(), None).value
    return parameters["b"]


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("noindex", True, ParsedValue(True)),
        ("noindex", False, ParsedValue(None)),
        ("max-snippet", False, ParsedValue(None)),
        ("noindex", 1, ParsedValue(True, "value-not-used")),
        ("index", 1, BAD),
        ("unheard-of", True, ParsedValue(True)),
        ("max-snippet", 5, ParsedValue(5)),
        ("max-snippet", 0, ParsedValue(0)),
        ("max-snippet", -1, ParsedValue(-1)),
        ("max-snippet", -2, BAD),
        ("max-snippet", True, BAD),
        ("max-snippet", 1.5, BAD),
        ("max-snippet", DAY, BAD),
        ("max-image-preview", 5, BAD),
        ("unavailable_after", 5, BAD),
    ],
)
def test_values_of_parameters(name: str, value: Any, found: ParsedValue) -> None:
    """False is not an instruction; a rule that takes a value reads a valid one (AMB-71)."""
    assert read_parameter(name, value) == found


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("max-snippet", '"5"', ParsedValue(5)),
        ("max-image-preview", "Large", ParsedValue("large")),
        ("max-image-preview", '"huge"', BAD),
        ("max-image-preview", ":bGFyZ2U=:", BAD),
        ("unavailable_after", '"2025-12-03T13:00Z"', ParsedValue(DAY)),
    ],
)
def test_texts_of_parameters(name: str, text: str, found: ParsedValue) -> None:
    """A String or a Token is read as text; octets are not."""
    assert read_parameter(name, parameter(text)) == found


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the machine be nine hours ahead of UTC."""
    monkeypatch.setenv("TZ", "XYZ-9")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("elsewhere")
def test_moments_are_in_utc() -> None:
    """Whatever zone they are written in, and wherever the machine is."""
    moment = DAY.astimezone(timezone(timedelta(hours=1)))
    found = read_parameter("unavailable_after", moment).value
    assert isinstance(found, datetime)
    assert (found, found.tzinfo) == (DAY, UTC)
    assert to_json_value(moment) == "2025-12-03T13:00:00Z"
    assert [to_json_value(value) for value in (True, 5, "large")] == [True, 5, "large"]


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        (DAY, DAY + timedelta(1), DAY),
        ("large", "standard", "standard"),
        ("none", "standard", "none"),
        (5, 3, 3),
        (-1, 3, 3),
        (3, -1, 3),
        (-1, -1, -1),
        (0, -1, 0),
        (True, True, True),
    ],
)
def test_the_stricter_of_two(one: Any, other: Any, found: Any) -> None:
    """The earlier, the smaller and the lower one; no limit never wins (XRT-15, AMB-84)."""
    assert stricter(one, other) == found
    assert stricter(other, one) == found


def test_values_that_do_not_compare() -> None:
    """Of two kinds of value the first stays."""
    for one, other in ((5, True), (True, 5), (5, "none"), ("none", 5), (DAY, 5)):
        assert stricter(one, other) is one


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("no-index", True),
        ("nofollow;", True),
        ("noindx", True),
        ("maxsnippet", True),
        ("unavailable-after", True),
        ("description", False),
        ("x", False),
    ],
)
def test_what_looks_known(name: str, answer: bool) -> None:
    """Other signs between the same letters, or a slip."""
    assert resembles_known_rule(name) is answer
