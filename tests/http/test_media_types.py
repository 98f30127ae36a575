"""Content-Type: the media type, and the charset (RFC 9110 §8.3, AMB-92)."""

from __future__ import annotations

import pytest

from robotrules.http.fields import NO_FIELDS, Fields, read_fields
from robotrules.http.media_types import MAX_BYTES, is_html, parse_charset, parse_media_type


def fields_of(*lines: str | bytes) -> Fields:
    """Return fields with these lines of Content-Type."""
    return read_fields([("Content-Type", line) for line in lines])


@pytest.mark.parametrize(
    ("lines", "found", "html"),
    [
        (["text/html"], "text/html", True),
        (["Text/HTML; charset=x"], "text/html", True),
        (["application/xhtml+xml"], "application/xhtml+xml", True),
        (["text/plain"], "text/plain", False),
        (["text/plain", "text/html"], "text/html", True),
        (["text/html", "text/plain"], "text/plain", False),
        (["text/plain", "html"], "text/plain", False),
        (["text/html, text/plain"], None, True),
        (["html"], None, True),
        ([], None, True),
    ],
)
def test_media_types(lines: list[str], found: str | None, html: bool) -> None:
    """The last usable line decides; without one a response may be HTML."""
    assert parse_media_type(fields_of(*lines)) == found
    assert is_html(fields_of(*lines)) is html


@pytest.mark.parametrize(
    ("line", "charset"),
    [
        ("text/html; charset=UTF-8", "UTF-8"),
        ('text/html;a=b; Charset = "koi8-r"', "koi8-r"),
        (b"text/html; charset=\xe9", "\xe9"),
        ('text/html; charset=""', None),
        ("text/html", None),
        ("html; charset=utf-8", None),
    ],
)
def test_charsets(line: str | bytes, charset: str | None) -> None:
    """As it is written, if there is a media type that it is of."""
    assert parse_charset(fields_of(line)) == charset
    assert parse_charset(NO_FIELDS) is None


def test_longest_line() -> None:
    """What is longer than any media type is cut."""
    charset = "; charset=utf-8"
    fits = "text/html".ljust(MAX_BYTES - len(charset)) + charset
    assert parse_charset(fields_of(fits)) == "utf-8"
    assert parse_charset(fields_of(fits.replace("html", "html "))) == "utf-"
