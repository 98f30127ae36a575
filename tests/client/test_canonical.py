"""Canonical links, in fields and in pages, with both tree builders."""

from __future__ import annotations

import sys
import time
from unittest import mock

import pytest

from robotrules.client.auditing import canonical
from robotrules.client.auditing.canonical import MAX_LINKS, Canonical, canonicals
from robotrules.http.fields import read_fields

URL = "https://a.example/b/c"


def of_field(*lines: str) -> list[str]:
    """Return where Link lines lead."""
    fields = read_fields([("Link", line) for line in lines])
    found = canonicals(URL, fields, b"")
    assert {one.carrier for one in found} <= {"Link"}
    return [one.url for one in found]


@pytest.fixture(params=["selectolax", "justhtml"])
def of_page(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> object:
    """Return a function that reads a page with each tree builder."""
    if request.param == "justhtml":
        monkeypatch.setitem(sys.modules, "selectolax.lexbor", None)

    def read(html: str, media: str = "text/html") -> list[str]:
        found = canonicals(URL, read_fields({"Content-Type": media}), html.encode())
        assert {one.carrier for one in found} <= {"link element"}
        return [one.url for one in found]

    return read


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("<https://x.example/>; rel=canonical", ["https://x.example/"]),
        ('</d?e#f>; rel="canonical"', ["https://a.example/d?e"]),
        ('<d>;title="a, b; <c>";rel="next CANONICAL"', ["https://a.example/b/d"]),
        ("<>; rel=canonical", [URL]),
        ("<1>; rel=next, <2>; rel=canonical, <3>", ["https://a.example/b/2"]),
        ("<1>; rel=next; rel=canonical", []),
        ("<1>; rel=canonical; anchor=/x", []),
        ("<1>; Anchor=/x; rel=canonical", []),
        ("<1>; rel=canonical; anchor*=UTF-8''/x", []),
        ("<1>; REL=canonical", ["https://a.example/b/1"]),
        ("<?q>; rel=canonical", ["https://a.example/b/c?q"]),
        ("<1>; rev=canonical", []),
        ("<1>", []),
        ("1; rel=canonical", []),
        ("<http://[>; rel=canonical", []),
        ("", []),
    ],
)
def test_a_field(line: str, expected: list[str]) -> None:
    """RFC 8288 §3: the first rel counts, an anchor makes it another page's."""
    assert of_field(line) == expected


def test_several_lines() -> None:
    """Each line is read; duplicates are reported once."""
    assert of_field("<1>; rel=canonical", "<2>; rel=canonical", "<1>; rel=canonical") == [
        "https://a.example/b/1",
        "https://a.example/b/2",
    ]
    assert len(of_field(*(f"<{n}>; rel=canonical" for n in range(100)))) == MAX_LINKS


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<link rel=canonical href=d>", ["https://a.example/b/d"]),
        ("<link rel='x Canonical' href=' /d '>", ["https://a.example/d"]),
        (
            "<base href='/z/'><base href='/y/'><link rel=canonical href=d>",
            ["https://a.example/z/d"],
        ),
        ("<p><link rel=canonical href=d>", []),
        ("<template><link rel=canonical href=d></template>", []),
        ("<script>'<link rel=canonical href=d>'</script>", []),
        ("<!-- <link rel=canonical href=d> -->", []),
        ("<link rel=canonical>", []),
        ("<link href=d>", []),
        ("<base><link rel=canonical href=d>", ["https://a.example/b/d"]),
        ("<link rel=canonical href='?q'>", ["https://a.example/b/c?q"]),
        ("<base href='http://['><link rel=canonical href=d>", []),
        ("<noscript><link rel=canonical href=d></noscript>", []),
        (
            f"<noscript>{'<p>' * 700}</noscript><link rel=canonical href=d>",
            ["https://a.example/b/d"],
        ),
        ("<link rel=canonical href='http://['>", []),
        ("", []),
    ],
)
def test_a_page(of_page: object, html: str, expected: list[str]) -> None:
    """Only elements in the head are links of the page."""
    assert callable(of_page)
    assert of_page(html) == expected


def test_an_encoding() -> None:
    """The charset of the media type is that of the links; octets that are none harm nothing."""
    fields = read_fields({"Content-Type": "text/html; charset=windows-1251"})
    found = canonicals(URL, fields, b"<link rel=canonical href=/\xe4>")
    assert [one.url for one in found] == ["https://a.example/\u0434"]
    fields = read_fields([(b"Link", b"</\xff>; rel=canonical")])
    assert [one.url for one in canonicals(URL, fields, b"")] == ["https://a.example/\ufffd"]


def test_how_much_of_a_page_is_read() -> None:
    """A link behind more tags than a head has is not found, nor one behind 2 MiB."""
    fields, link = read_fields({"Content-Type": "text/html"}), b"<link rel=canonical href=d>"
    with mock.patch.object(canonical, "MAX_HEAD_TAGS", 700):
        assert canonicals(URL, fields, b"<meta>" * 690 + link)
        assert not canonicals(URL, fields, b"<meta>" * 700 + link)
    with mock.patch.object(canonical, "MAX_HTML_BYTES", 100):
        assert canonicals(URL, fields, link.rjust(100))
        assert not canonicals(URL, fields, link.rjust(101))
    with mock.patch.object(canonical, "MAX_LINE_LENGTH", 40):
        assert of_field(f"<{'0' * 18}>, <1>; rel=canonical")
        assert not of_field(f"<{'0' * 19}>, <1>; rel=canonical")


def test_content_other_than_html(of_page: object) -> None:
    """Another media type has no elements."""
    assert callable(of_page)
    assert of_page("<link rel=canonical href=d>", "text/plain") == []


@pytest.mark.parametrize(
    "line",
    ["<" * 16_000, "<a>" + ";a" * 8_000, '<a>;a="' + "\\" * 16_000, "<a>; " * 4_000, "<a>;rel,"],
)
def test_a_hostile_line_takes_no_time(line: str) -> None:
    """Nothing is read twice."""
    start = time.perf_counter()
    of_field(line)
    assert time.perf_counter() - start < 1


def test_as_plain_values() -> None:
    """For JSON."""
    assert Canonical("https://x/", "Link").as_dict() == {"url": "https://x/", "carrier": "Link"}
