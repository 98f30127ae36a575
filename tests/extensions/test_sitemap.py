"""Sitemap: a list of the file, in order, each once (REC-sitemap-01 to -03, AMB-117)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotrules
from robotrules import RobotsTxt
from robotrules.extensions.sitemap import Sitemap, notes, sitemaps

Read = Callable[..., RobotsTxt]
HERE = "https://e.example/robots.txt"


def urls(robots: RobotsTxt, url: str | None = None) -> list[str]:
    """Return the URLs of a file's sitemaps."""
    return [found.url for found in sitemaps(robots, url)]


def codes(robots: RobotsTxt, url: str | None = None) -> list[tuple[str, int | None]]:
    """Return codes and lines of what is noted."""
    return [(note.code, note.line) for note in notes(robots, None, url)]


class TestList:
    """A sitemap belongs to no group and may be anywhere (REC-sitemap-01)."""

    def test_in_order_and_anywhere(self, read: Read) -> None:
        """Before the first group, inside of groups, and at the end, in the order of the file."""
        robots = read(
            "Sitemap: https://e.example/1.xml\n"
            "User-agent: a\nSITEMAP: https://e.example/2.xml\nDisallow: /\n"
            "User-agent: b\nDisallow: /\nsitemap:https://e.example/3.xml # the last\n"
        )
        assert urls(robots) == [f"https://e.example/{number}.xml" for number in (1, 2, 3)]
        assert [found.line for found in sitemaps(robots)] == [1, 3, 7]
        assert codes(robots) == []

    def test_other_hosts_and_schemes(self, read: Read) -> None:
        """Another host is reported as it is."""
        robots = read("Sitemap: http://other.example:8080/s.xml\nSitemap: ftp://e.example/s.xml")
        assert urls(robots, HERE) == ["http://other.example:8080/s.xml", "ftp://e.example/s.xml"]
        assert codes(robots, HERE) == []

    def test_none(self, read: Read) -> None:
        """A file without one has none."""
        assert sitemaps(read("User-agent: *\nDisallow: /sitemap:")) == ()

    def test_a_known_misspelling(self, read: Read) -> None:
        """`Site-map` is one in profile default, and none in profile strict (AMB-14)."""
        body = "Site-map: https://e.example/s.xml"
        assert urls(read(body)) == ["https://e.example/s.xml"]
        assert urls(read(body, "strict")) == []

    def test_exact_duplicates(self, read: Read) -> None:
        """What is named again is dropped with a note; another case or escape is another URL."""
        robots = read(
            "Sitemap: https://e.example/s.xml\nSitemap: https://e.example/s.xml\n"
            "Sitemap: https://e.example/S.xml\nSitemap: https://e.example/%73.xml"
        )
        assert urls(robots) == [
            "https://e.example/s.xml",
            "https://e.example/S.xml",
            "https://e.example/%73.xml",
        ]
        assert codes(robots) == [("duplicate-sitemap", 2)]


class TestSpelling:
    """Case is kept, and no octet is escaped (REC-sitemap-03)."""

    @pytest.mark.parametrize(
        "url",
        [
            "https://ja.example.org/テスト.xml",
            "HTTPS://E.Example/SiteMap.XML",
            "https://e.example/a%2fb%41.xml?x=1&y=[2]",
            "https://e.example/my sitemap.xml",
            "https://münchen.example/s.xml",
            "https://e.example/../a/./s.xml",
            "https://e.example:",
        ],
    )
    def test_as_given(self, read: Read, url: str) -> None:
        """An absolute URL is returned unchanged, for any URL of the file."""
        assert urls(read(f"Sitemap: {url}"), HERE) == [url]

    def test_not_utf8(self, read: Read) -> None:
        """Octets that are not UTF-8 are escaped: that is how they would be sent."""
        assert urls(read(b"Sitemap: https://e.example/\xe9\xff.xml")) == [
            "https://e.example/%E9%FF.xml"
        ]


class TestRelative:
    """A relative URL is resolved where the file's own is known, and noted (REC-sitemap-02)."""

    @pytest.mark.parametrize(
        ("value", "url"),
        [
            ("/s.xml", "https://e.example/s.xml"),
            ("s.xml", "https://e.example/s.xml"),
            ("//cdn.example/S.xml", "https://cdn.example/S.xml"),
            ("?map=1", "https://e.example/robots.txt?map=1"),
            ("/テスト.xml", "https://e.example/テスト.xml"),
        ],
    )
    def test_resolved(self, read: Read, value: str, url: str) -> None:
        """Against the URL of the robots.txt; without one it stays as written."""
        robots = read(f"Sitemap: {value}")
        (found,) = sitemaps(robots, HERE)
        assert (found.url, found.relative) == (url, True)
        assert urls(robots) == [value]
        assert codes(robots) == codes(robots, HERE) == [("relative-sitemap", 1)]

    def test_a_duplicate_once_resolved(self, read: Read) -> None:
        """Two spellings of one URL are one sitemap where that can be known."""
        robots = read("Sitemap: https://e.example/s.xml\nSitemap: /s.xml")
        assert urls(robots, HERE) == ["https://e.example/s.xml"]
        assert codes(robots, HERE) == [("duplicate-sitemap", 2)]
        assert urls(robots) == ["https://e.example/s.xml", "/s.xml"]

    @pytest.mark.parametrize("url", ["", "/robots.txt", "e.example/robots.txt", "https:///robots"])
    def test_misuse(self, read: Read, url: str) -> None:
        """The URL of the file must be absolute."""
        with pytest.raises(ValueError, match=r"pass an absolute URL"):
            sitemaps(read(""), url)
        with pytest.raises(TypeError, match="must be a str, not bytes"):
            sitemaps(read(""), HERE.encode())  # type: ignore[arg-type]


class TestBad:
    """An invalid URL has a note with a span, and does not hide others."""

    @pytest.mark.parametrize(
        "value",
        [
            "",
            "mailto:a@e.example",
            "javascript:alert(1)",
            "https:/e.example/s.xml",
            "https://",
            "https:///s.xml",
            "www.e.example:8080/s.xml",
            "https://[e.example/s.xml",
            "https://e.example/1.xml https://e.example/2.xml",
            "https://e.example/1\t.xml",
            "https://e.example/\x00",
            "//[",
        ],
    )
    def test_no_url(self, read: Read, value: str) -> None:
        """The good line beside it is read."""
        robots = read(f"Sitemap: {value}\nSitemap: https://e.example/good.xml")
        assert urls(robots, HERE) == ["https://e.example/good.xml"]
        (note,) = notes(robots)
        assert (note.code, note.level, note.line) == ("bad-sitemap", "error", 1)
        assert robots.body[note.start : note.end] == value.encode()

    @given(st.binary(max_size=40), st.booleans())
    def test_any_octets(self, octets: bytes, resolve: bool) -> None:
        """With any octets, the result is a list of str that JSON can encode."""
        robots = robotrules.parse(b"Sitemap: " + octets + b"\nSitemap: https://e.example/good")
        found = sitemaps(robots, HERE if resolve else None)
        assert all(one.url.encode() and one.as_dict() for one in found)
        list(notes(robots))

    @pytest.mark.parametrize("piece", [b"a", b"%", b"/", b" ", b"\xff", b"https://", b"[", b"@:"])
    def test_a_long_value(self, read: Read, piece: bytes) -> None:
        """A hundred thousand octets cost no more than their length."""
        robots = read(b"Sitemap: https://e.example/" + piece * (100_000 // len(piece)))
        assert len(sitemaps(robots, HERE)) + len(list(notes(robots))) >= 1


def test_as_dict(read: Read) -> None:
    """A sitemap as plain values."""
    (found,) = sitemaps(read("\nSitemap: /s.xml"), HERE)
    assert isinstance(found, Sitemap)
    assert found.as_dict() == {"url": "https://e.example/s.xml", "relative": True, "line": 2}
