"""Positions of the members of a List (RFC 9651 §3.1)."""

from __future__ import annotations

import pytest

from robotrules.http.structured_fields import MAX_MEMBERS
from robotrules.tags.header import find_commas, find_members, lowercase_keys, parse_list


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (b"a, b,c", [1, 4]),
        (b'"a, b", c', [6]),
        (b'"a\\", b", c', [8]),
        (b'%"a, b", c', [7]),
        (b"(a, b), c", [6]),
        # An Inner List cannot contain another one; in such text the outer one counts.
        (b"((a), b), c", [8]),
        (b"a), b", [2]),
        (b'a, "b, c', [1]),
        (b"", []),
    ],
)
def test_commas(value: bytes, found: list[int]) -> None:
    """Those in Strings and Inner Lists end no member."""
    assert find_commas(value) == found


def test_spans() -> None:
    """White space around members is left out."""
    value = b" a;b ,\tc,, "
    assert find_members(value, find_commas(value)) == [(1, 4), (7, 8), (9, 9), (11, 11)]
    assert find_members(b"", []) == [(0, 0)]


def test_keys_in_lower_case() -> None:
    """Strings and tokens stay as they are."""
    assert (
        lowercase_keys(b'A;NoIndex; Max="B;C";d=E, "F;G";H') == b'A;noindex; max="B;C";d=E, "F;G";h'
    )


def test_every_member_counts() -> None:
    """The caller has bounded the octets."""
    count = MAX_MEMBERS + 1
    assert len(parse_list(b", ".join([b"a"] * count)).value) == count
