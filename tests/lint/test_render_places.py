"""Places: lines and columns as other programs count them."""

from __future__ import annotations

import pytest

from robotrules.linting.render.places import Places

BODY = "a\r\né😀x\rb\n".encode() + b"\xe9\xff!"


@pytest.mark.parametrize(
    ("octet", "line", "characters", "units"),
    [
        (0, 1, 1, 1),
        (1, 1, 2, 2),
        (2, 1, 2, 2),  # inside of the line end
        (3, 2, 1, 1),
        (4, 2, 1, 1),  # inside of a character
        (5, 2, 2, 2),
        (9, 2, 3, 4),  # two code units of UTF-16 for one character
        (10, 2, 4, 5),
        (11, 3, 1, 1),  # CR alone ends a line
        (13, 4, 1, 1),
        (14, 4, 2, 2),  # an octet that is not UTF-8 is one of either
        (15, 4, 3, 3),
        (16, 4, 4, 4),
        (99, 4, 4, 4),
    ],
)
def test_a_place(octet: int, line: int, characters: int, units: int) -> None:
    """Columns are characters or UTF-16 code units."""
    assert Places(BODY).at(octet) == (line, characters)
    assert Places(BODY, utf16=True).at(octet) == (line, units)


def test_a_byte_order_mark_has_no_column() -> None:
    """Programs that read a file as text do not see it."""
    places = Places(b"\xef\xbb\xbfUser-agent: \xc3\xa9")
    assert places.at(3) == (1, 1)
    assert places.at(15) == (1, 13)
    assert places.at(17) == (1, 14)


def test_an_empty_body_has_one_line() -> None:
    """The part after the last line end is a line."""
    assert Places(b"").at(0) == (1, 1)
    assert Places(b"").text(1) == b""
    assert Places(b"a\n").at(2) == (2, 1)
