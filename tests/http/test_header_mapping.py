"""Headers: the field lines of a response as a mapping from names to values."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from robotrules.http.fields import Fields, Headers, read_fields

LINES: list[tuple[str | bytes, bytes]] = [
    ("X-Robots-Tag", b"noindex"),
    ("Date", b"\xfc"),
    ("x-robots-tag", b"a: b"),
]
HEADERS = Headers(read_fields(LINES))


def test_a_value_has_all_lines_of_its_field() -> None:
    """Joined by commas (RFC 9110 §5.3), and octets are read as latin-1."""
    assert dict(HEADERS) == {"x-robots-tag": "noindex, a: b", "date": "\xfc"}
    assert (len(HEADERS), list(HEADERS)) == (2, ["x-robots-tag", "date"])


@pytest.mark.parametrize("name", ["x-robots-tag", "X-Robots-Tag", "X-ROBOTS-TAG"])
def test_the_case_of_a_name_does_not_matter(name: str) -> None:
    """A field is found however its name is written."""
    assert name in HEADERS
    assert HEADERS[name] == "noindex, a: b"
    assert HEADERS.get_list(name) == ["noindex", "a: b"]


@pytest.mark.parametrize("name", ["robots-tag", "", b"date", 5, None])
def test_a_field_that_is_not_there(name: Any) -> None:
    """It has no lines, and the error of a mapping names it."""
    assert name not in HEADERS
    assert HEADERS.get(name) is None
    assert HEADERS.get_list(name) == []
    with pytest.raises(KeyError) as told:
        HEADERS[name]
    assert told.value.args == (name,)


def test_lines_in_their_order() -> None:
    """As text and as octets."""
    assert HEADERS.multi_items() == [
        ("x-robots-tag", "noindex"),
        ("date", "\xfc"),
        ("x-robots-tag", "a: b"),
    ]
    assert HEADERS.raw == [
        (b"x-robots-tag", b"noindex"),
        (b"date", b"\xfc"),
        (b"x-robots-tag", b"a: b"),
    ]
    assert repr(HEADERS) == f"Headers({HEADERS.multi_items()!r})"


def test_names_beyond_latin_1() -> None:
    """A caller may give them; they have octets too."""
    assert Headers(read_fields({"Ж": "a", "é": "b"})).raw == [("ж".encode(), b"a"), (b"\xe9", b"b")]


@pytest.mark.parametrize("fields", [read_fields(LINES), read_fields({"Ж": "a, b"})])
def test_what_was_read_once_is_not_read_again(fields: Fields) -> None:
    """Lines that may have been joined are not apart because a mapping has them (AMB-82)."""
    headers = Headers(fields)
    assert read_fields(headers) is fields
    assert read_fields(SimpleNamespace(headers=headers)) is fields
