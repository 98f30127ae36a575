"""Header fields in a block of raw octets, as a server sent it (RFC 9112 §5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from robotrules.http.fields import MAX_INTERIM, read_fields

LINES = [b"googlebot: nofollow", b"noindex"]


def tags(headers: object) -> tuple[list[bytes], bool]:
    """Return the X-Robots-Tag lines, and whether lines are apart."""
    found = read_fields(headers)
    return found.get("X-Robots-Tag"), found.apart


@pytest.mark.parametrize("end", [b"\r\n", b"\n"])
@pytest.mark.parametrize("start", [b"", b"HTTP/1.1 200 OK", b"HTTP/2 200 ", b"HTTP/1.0 404"])
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, lambda raw: raw.decode()])
def test_blocks(end: bytes, start: bytes, kind: Callable[[bytes], Any]) -> None:
    """With or without status line, CRLF or LF; the body is not read."""
    lines = [start, b"X-Robots-Tag: googlebot: nofollow", b"x-robots-tag:noindex", b""]
    block = end.join([line for line in lines[:-1] if line]) + end
    assert tags(kind(block)) == (LINES, True)
    assert tags(kind(block + end + b"X-Robots-Tag: body")) == (LINES, True)
    assert tags(kind(block[: -len(end)])) == (LINES, True)
    assert tags(kind(end + block)) == (LINES, True)


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (b"X-Robots-Tag: a,\r\n b,\r\n\tc\r\n", [b"a, b, c"]),
        (b"X-Robots-Tag:\r\n a\r\n", [b"a"]),
        (b"X-Robots-Tag: a\r\n \r\nX-Robots-Tag: b", [b"a", b"b"]),
        (b" X-Robots-Tag: lost\r\nX-Robots-Tag: a", [b"a"]),  # a fold of nothing
        (b"X-Robots-Tag : a\r\n", [b"a"]),
        (b"X-Robots-Tag:", [b""]),
        (b"X-Robots-Tag: a: b:\n", [b"a: b:"]),
        (b"no colon\nX-Robots-Tag: a\n", [b"a"]),
        (b":status: 200\nX-Robots-Tag: a\n", [b"a"]),
        (b": x\nX-Robots-Tag: a\n", [b"a"]),
        (b"\0\xff: x\nX-Robots-Tag: a\0\xff\n", [b"a\0\xff"]),
        (b"X-Robots-Tag: a\rb\n", [b"a", b"b"]),
        (b"X-Robots-Tag: a\n\r\nX-Robots-Tag: b\n", [b"a"]),
        (b"\n\n\n", []),
        (b"HTTP/1.1 200 OK", []),
        (b"HTTP/1.1 200 OK\r\n\r\nX-Robots-Tag: body", []),
        (b"noindex", []),
    ],
)
def test_odd_blocks(block: bytes, expected: list[bytes]) -> None:
    """Whatever a server sent, there is an answer."""
    assert tags(block) == (expected, True)


@pytest.mark.parametrize("end", [b"\r\n", b"\n", b"\r"])
def test_ends_of_lines(end: bytes) -> None:
    """Obsolete ones are ends too; a byte order mark and a status line are not fields."""
    block = end.join([b"A: b", b"C: d\xef\xbb\xbf", b"", b"E: body"])
    expected = (("a", b"b"), ("c", b"d\xef\xbb\xbf"))
    for start in (b"", end, b"HTTP/1.1 404 Not: found" + end):
        assert read_fields(start + block).lines == expected
        assert read_fields(b"\xef\xbb\xbf" + start + block).lines == expected


@pytest.mark.parametrize("gap", [b"\r\n\r\n", b"\n\n", b"\r\n\r\n\r\n", b"\n\n\r\n\n"])
@pytest.mark.parametrize("count", [1, 2, MAX_INTERIM])
def test_interim_responses(gap: bytes, count: int) -> None:
    """RFC 9110 §15.2: the response that counts comes behind them; there is an end to them."""
    interim = b"HTTP/1.1 103 Early Hints\r\nX-Robots-Tag: a" + gap
    last = b"HTTP/1.1 200 OK\r\nX-Robots-Tag: b" + gap + b"X-Robots-Tag: body"
    assert tags(interim * count + last)[0] == [b"b"]
    assert tags(interim * (MAX_INTERIM + 1) + last)[0] == [b"a"]
    assert tags(interim * count) == ([], True)


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (b"HTTP/1.1 103", []),
        (b"HTTP/2 103 \n\nX-Robots-Tag: a", [b"a"]),
        (b"HTTP/2 103 \n\n X-Robots-Tag: lost\nX-Robots-Tag: a", [b"a"]),
        (b"http/1.1 103 Early\n\nX-Robots-Tag: a", []),
        (b"A: HTTP/1.1 103\n\nX-Robots-Tag: a", []),
        (b"HTTP/1.1 203 OK\n\nX-Robots-Tag: a", []),
        (b"HTTP/1.1 103 Early\nX-Robots-Tag: a", []),
    ],
)
def test_what_may_be_an_interim_response(block: bytes, expected: list[bytes]) -> None:
    """A status line of 1xx, and what comes behind its fields."""
    assert tags(block)[0] == expected
