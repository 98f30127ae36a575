"""Pasted text: odd characters, comments of other languages, lines of other files."""

from __future__ import annotations

import unicodedata

import pytest

from robotrules.linting.pasted_text import (
    ODD_CHARACTER,
    ODD_CHARACTERS,
    find_mark,
    guess_file,
    is_invisible,
    name_character,
)


def test_odd_characters() -> None:
    """Each is invisible, a blank, or the full-width colon; and is matched as a whole."""
    for point in ODD_CHARACTERS:
        sign = chr(point)
        assert unicodedata.category(sign) in ("Zs", "Zl", "Zp", "Cf", "Cc") or sign == "："
        assert ODD_CHARACTER.fullmatch(sign.encode())
        assert f"U+{point:04X}" in name_character(sign.encode())
    assert not ODD_CHARACTER.search(" \t:é".encode())


def test_is_invisible() -> None:
    """Odd characters and whitespace only, with at least one odd character."""
    assert is_invisible(b" \xc2\xa0\t\xe2\x80\x8b")
    assert not is_invisible(b" \t")
    assert not is_invisible(b"")
    assert not is_invisible(b"\xc2\xa0a")


@pytest.mark.parametrize(
    ("line", "text", "where"),
    [
        (b"// a", b"//", "program code"),
        (b"  ;a", b";", "settings files"),
        (b"<!-- a", b"<!--", "HTML"),
        (b"-->", b"-->", "HTML"),
        (b"/* a", b"/*", "program code"),
        (b"/*a*/", b"/*", "program code"),
        (b"*/", b"*/", "program code"),
        (b"```txt", b"```", "Markdown"),
        (b"</pre>", b"</pre>", "HTML"),
        (b"<BR/>", b"<BR/>", "HTML"),
    ],
)
def test_find_mark(line: bytes, text: bytes, where: str) -> None:
    """The start of a line, and the language that uses it."""
    assert find_mark(line) == (text, where)


@pytest.mark.parametrize(
    "line", [b"", b"/a//b", b"/*?a=", b"/*.gif$", b"*.gif", b"*/a", b"<a", b"-"]
)
def test_patterns_are_not_marks(line: bytes) -> None:
    """Path patterns without a record name are not marks."""
    assert find_mark(line) is None


@pytest.mark.parametrize(
    ("line", "where"),
    [
        (b"google.com, pub-1, RESELLER", "ads.txt"),
        (b" RewriteRule ^a b [L]", "web server"),
        (b"Deny from all", "web server"),
        (b"<IfModule mod_rewrite.c>", "web server"),
        (b"Header always set X-Robots-Tag noindex", "web server"),
        (b"<meta name=robots>", "HTML"),
        (b"HTTP/1.1 200 OK", "HTTP"),
    ],
)
def test_guess_file(line: bytes, where: str) -> None:
    """The file in which a line belongs."""
    assert where in (guess_file(line) or "")


@pytest.mark.parametrize(
    "line", [b"", b"Redirected: /a", b"a, b, c", b"Options: -a", b"<metal>", b"Disallow: /HTTP/1.1"]
)
def test_lines_of_no_other_file(line: bytes) -> None:
    """Lines that only look similar."""
    assert guess_file(line) is None
