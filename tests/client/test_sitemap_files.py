"""Sitemap files: every form, every bound, and what an enemy makes of XML."""

from __future__ import annotations

import gzip
import time
from unittest import mock

import pytest

from robotrules.client.auditing import sitemap_files
from robotrules.client.auditing.sitemap_files import (
    SitemapFile,
    SitemapForm,
    odd_media_type,
    read_sitemap,
)
from robotrules.http.fields import read_fields

NAMESPACE = b'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
IMAGES = b'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'


class TestForms:
    """What a file is, and which URLs it lists."""

    def test_a_urlset(self) -> None:
        """Pages are listed; images and other extensions are none."""
        found = read_sitemap(
            b'<?xml version="1.0" encoding="UTF-8"?>\n<urlset %s %s>'
            b"<url><loc>\n https://a.example/?b=1&amp;c=2 </loc><lastmod>2026-01-01</lastmod>"
            b"<image:image><image:loc>https://a.example/i.png</image:loc></image:image></url>"
            b"<url><loc><![CDATA[https://a.example/x]]></loc></url></urlset>" % (NAMESPACE, IMAGES)
        )
        assert found.form is SitemapForm.URLSET
        assert found.urls == ("https://a.example/?b=1&c=2", "https://a.example/x")
        assert (found.complete, found.trouble, found.gzipped) == (True, "", False)

    def test_a_loc_of_an_extension(self) -> None:
        """It is not a page, wherever it occurs; one of an unknown namespace may be."""
        found = read_sitemap(
            b"<urlset %s %s xmlns:x='urn:x'><url><image:loc>http://no/</image:loc>"
            b"<loc>http://a/</loc><x:loc>http://b/</x:loc></url></urlset>" % (NAMESPACE, IMAGES)
        )
        assert found.urls == ("http://a/", "http://b/")

    def test_with_blanks_between(self) -> None:
        """Most files are indented, and some have text where none belongs."""
        found = read_sitemap(
            b"\n<urlset>\n  <url>\n    <loc>\n      http://a/\n    </loc>\n  </url> text\n"
            b"  <url>\n    text\n    <loc>http://b/</loc> text\n  </url>\n</urlset>\n"
        )
        assert found == (SitemapForm.URLSET, False, ("http://a/", "http://b/"), True, "")

    def test_without_a_namespace(self) -> None:
        """Many leave it out."""
        assert read_sitemap(b"<urlset><url><loc>http://a/</loc></url></urlset>").urls == (
            "http://a/",
        )

    def test_an_index(self) -> None:
        """It names sitemaps."""
        found = read_sitemap(
            b"<sitemapindex><sitemap><loc>http://a/1.xml</loc></sitemap></sitemapindex>"
        )
        assert (found.form, found.urls) == (SitemapForm.INDEX, ("http://a/1.xml",))

    def test_feeds(self) -> None:
        """RSS has links in items, Atom has alternates in entries."""
        rss = b"<rss><channel><link>http://no/</link><item><link>http://a/</link></item></channel></rss>"
        assert read_sitemap(rss)[0:3:2] == (SitemapForm.FEED, ("http://a/",))
        atom = (
            b'<feed xmlns="http://www.w3.org/2005/Atom"><link href="http://no/"/><entry>'
            b'<link href="http://a/"/><link rel="self" href="http://no/"/></entry></feed>'
        )
        assert read_sitemap(atom)[0:3:2] == (SitemapForm.FEED, ("http://a/",))

    def test_text(self) -> None:
        """One URL a line, with or without a byte order mark."""
        found = read_sitemap(b"\xef\xbb\xbfhttp://a/\r\n\nhttps://b/\n")
        assert (found.form, found.urls) == (SitemapForm.TEXT, ("http://a/", "https://b/"))

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "latin-1", "utf-8-sig"])
    def test_encodings(self, encoding: str) -> None:
        """Whatever XML may be in."""
        declared = encoding.removesuffix("-sig").removesuffix("-be")
        text = f'<?xml version="1.0" encoding="{declared}"?><urlset><url><loc>http://a/é</loc></url></urlset>'
        mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
        assert read_sitemap(mark + text.encode(encoding)).urls == ("http://a/é",)

    @pytest.mark.parametrize(
        ("octets", "trouble"),
        [
            (b"", "neither XML nor a list of URLs"),
            (b"{}", "neither XML nor a list of URLs"),
            (b"\x00\x01", "neither XML nor a list of URLs"),
            (b"\n<!doctype html><title>", "it is an HTML page"),
            (b"<HTML><body>", "it is an HTML page"),
            (b"<svg/>", "the element 'svg' is not the root of a sitemap"),
            (b"<urlset><url></urlset>", "not well-formed XML at line 1: mismatched tag"),
            (b"<urlset>", "not well-formed XML at line 1: no element found"),
            (b'<?xml version="1.0" encoding="rot13"?><urlset/>', "encoding"),
            (b'<?xml version="1.0" encoding="x"?><urlset/>', "an encoding that cannot be read"),
            (b"<!-- -->", "no element found"),
            (b"\x1f\x8b\x00\x00", "broken gzip data"),
        ],
    )
    def test_what_is_none(self, octets: bytes, trouble: str) -> None:
        """There is a result, which gives the reason why it is empty."""
        found = read_sitemap(octets)
        assert trouble in found.trouble
        assert found.urls == ()

    @pytest.mark.parametrize(
        ("octets", "complete", "trouble"),
        [
            (b"{}", True, "neither XML nor a list of URLs"),
            (b"{}", False, "neither XML nor a list of URLs"),
            (b"<html>", True, "it is an HTML page"),
            (b"<html>", False, "it is an HTML page"),
            (b"\xef\xbb\xbf\n<!DOCTYPE\tHTML>", True, "it is an HTML page"),
            (b"<?xml version='1.0'?>", False, "an XML document that is not a sitemap"),
            (
                b"<a:" + b"b" * 50 + b" xmlns:a='c'/>",
                True,
                f"the element {'b' * 40!r} is not the root of a sitemap",
            ),
            (
                b'<?xml version="1.0" encoding="x"?><urlset/>',
                True,
                "an encoding that cannot be read",
            ),
        ],
    )
    def test_properties_of_the_result(self, octets: bytes, complete: bool, trouble: str) -> None:
        """It is not a sitemap, it is not compressed, and whether it is complete is known."""
        assert read_sitemap(octets, complete=complete) == (
            SitemapForm.OTHER,
            False,
            (),
            complete,
            trouble,
        )

    def test_elements_in_other_places(self) -> None:
        """A loc or link in another place, or in an extension, is not a page."""
        assert read_sitemap(
            b"<urlset><loc>http://no/1</loc><url><x><loc>http://no/2</loc></x>"
            b"<loc>http://a/1</loc><link>http://no/3</link></url>"
            b"<url><loc>http://a/<b>2</b></loc></url><url><loc> </loc></url></urlset>"
        ).urls == ("http://a/1",)
        atom = (
            b"<feed><entry><link rel='alternate' href=' http://a/1 '/><link/>"
            b"<x href='http://no/'/><link href='http://a/2'>http://no/</link></entry>"
            b"<link rel='alternate' href='http://no/'/></feed>"
        )
        assert read_sitemap(atom).urls == ("http://a/1", "http://a/2")
        rdf = (
            b"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
            b"<item><link>http://a/\n b</link></item></rdf:RDF>"
        )
        assert read_sitemap(rdf)[0:3:2] == (SitemapForm.FEED, ("http://a/ b",))

    def test_octets_that_are_not_utf8(self) -> None:
        """They are replaced, in a list of URLs."""
        assert read_sitemap(b"HTTP://a/\xff\n http://b/ \n").urls == (
            "HTTP://a/\ufffd",
            "http://b/",
        )

    def test_content_before_an_error_counts(self) -> None:
        """The part of a broken file before the error is used."""
        found = read_sitemap(b"<urlset><url><loc>http://a/</loc></url><url></urlset>")
        assert (found.form, found.urls) == (SitemapForm.URLSET, ("http://a/",))
        assert found.trouble


class TestBounds:
    """What is not read."""

    def test_a_part_of_a_file(self) -> None:
        """Half a URL is none."""
        cut = b"<urlset><url><loc>http://a/</loc></url><url><loc>http://a/b"
        found = read_sitemap(cut, complete=False)
        assert (found.urls, found.complete, found.trouble) == (("http://a/",), False, "")
        assert read_sitemap(b"http://a/\nhttp://a/b", complete=False).urls == ("http://a/",)

    def test_the_limit(self) -> None:
        """A larger file is cut, and that is not an error."""
        octets = b"<urlset>" + b"<url><loc>http://a/</loc></url>" * 100 + b"</urlset>"
        found = read_sitemap(octets, limit=1_000)
        assert (found.complete, found.trouble, 0 < len(found.urls) < 100) == (False, "", True)

    def test_fifty_thousand(self) -> None:
        """No more URLs are kept than a sitemap may have."""
        with mock.patch.object(sitemap_files, "MAX_URLS", 3):
            many = read_sitemap(b"<urlset>" + b"<url><loc>http://a/</loc></url>" * 9 + b"</urlset>")
            assert (len(many.urls), many.complete, many.trouble) == (3, False, "")
            text = read_sitemap(b"".join(b"http://a/%d\n" % number for number in range(9)))
            assert text.urls == ("http://a/0", "http://a/1", "http://a/2")
            assert text.complete is False
        assert read_sitemap(b"http://a/\n" * 9).complete

    def test_a_long_url_is_none(self) -> None:
        """In XML and in text."""
        long = b"http://a/" + b"a" * 3_000
        assert read_sitemap(b"<urlset><url><loc>%s</loc></url></urlset>" % long).urls == ()
        assert read_sitemap(long + b"\nhttp://b/\n").urls == ("http://b/",)

    @pytest.mark.parametrize(("before", "kept"), [(2_047, 1), (2_048, 0)])
    @pytest.mark.parametrize("blank", [b" ", b"\n"])
    def test_blanks_before_a_url(self, before: int, kept: int, blank: bytes) -> None:
        """They count: of what an element holds no more is kept than the longest URL has."""
        listed = b"<url><loc>%s\nhttp://a/</loc></url>" % (blank * before)
        assert len(read_sitemap(b"<urlset>%s</urlset>" % (listed * 2)).urls) == kept * 2

    def test_gzip(self) -> None:
        """Unpacked to the limit, whatever is in it."""
        found = read_sitemap(gzip.compress(b"http://a/\n"))
        assert (found.gzipped, found.form, found.urls) == (True, SitemapForm.TEXT, ("http://a/",))
        bomb = gzip.compress(b"http://a/\n" + b" " * 20_000_000)
        found = read_sitemap(bomb, limit=100_000)
        assert (found.urls, found.complete, found.trouble) == (("http://a/",), False, "")
        cut = gzip.compress(b"http://a/\nhttp://b/\n")[:-10]
        assert read_sitemap(cut).trouble == "the gzip data ends early"
        found = read_sitemap(cut, complete=False)
        assert (found.trouble, found.complete) == ("", False)

    def test_each_bound(self) -> None:
        """What is as long as the bound is read, and what is longer by one is not."""
        for length, kept in ((2_047, 1), (2_048, 0)):
            url = "http://a/".ljust(length, "a")
            assert (
                len(read_sitemap(f"<urlset><url><loc>{url}</loc></url></urlset>".encode()).urls)
                == kept
            )
            assert len(read_sitemap(url.encode()).urls) == kept
        octets = b"http://a/\nhttp://b/"
        assert read_sitemap(octets, limit=19)[2:4] == (("http://a/", "http://b/"), True)
        assert read_sitemap(octets, limit=18)[2:4] == (("http://a/",), False)
        with mock.patch.object(sitemap_files, "MAX_URLS", 3):
            three = read_sitemap(
                b"<urlset>" + b"<url><loc>http://a/</loc></url>" * 3 + b"</urlset>"
            )
            assert (len(three.urls), three.complete) == (3, True)
            assert read_sitemap(b"http://a/\n" * 2 + b"http://a/")[2:4] == (
                ("http://a/",) * 3,
                True,
            )
        for spaces, form in ((1_023, SitemapForm.URLSET), (1_024, SitemapForm.OTHER)):
            assert read_sitemap(b" " * spaces + b"<urlset/>").form is form

    def test_depth(self) -> None:
        """A hundred elements in each other are read, and no more."""
        deep = read_sitemap(b"<urlset>" + b"<url>" * 99 + b"</url>" * 99 + b"</urlset>")
        assert (deep.form, deep.trouble) == (SitemapForm.URLSET, "")
        deep = read_sitemap(b"<urlset>" + b"<url>" * 100)
        assert deep == SitemapFile(
            SitemapForm.URLSET, False, (), True, "elements nested more than 100 deep"
        )

    def test_gzip_in_parts(self) -> None:
        """Cut or broken data, and what is known then."""
        packed = gzip.compress(b"http://a/\nhttp://b/\n")
        early = "the gzip data ends early"
        urls = ("http://a/", "http://b/")
        assert read_sitemap(packed) == (SitemapForm.TEXT, True, urls, True, "")
        assert read_sitemap(packed[:-4]) == (SitemapForm.TEXT, True, urls, False, early)
        assert read_sitemap(packed[:-4], complete=False) == (
            SitemapForm.TEXT,
            True,
            urls,
            False,
            "",
        )
        assert read_sitemap(packed, complete=False).complete is False
        assert read_sitemap(packed, limit=12) == (SitemapForm.TEXT, True, ("http://a/",), False, "")
        broken = b"\x1f\x8b\x00\x00"
        assert read_sitemap(broken) == (SitemapForm.OTHER, True, (), True, "broken gzip data")
        assert read_sitemap(broken, complete=False).complete is False
        page = gzip.compress(b"<html>")
        assert read_sitemap(page) == (SitemapForm.OTHER, True, (), True, "it is an HTML page")


class TestEnemies:
    """XML that is more than it seems."""

    @pytest.mark.parametrize(
        "declared",
        [
            '<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">',
            '<!ENTITY a SYSTEM "file:///etc/passwd">',
            '<!ENTITY % a SYSTEM "http://127.0.0.1:9/"> %a;',
            '<!ATTLIST url x CDATA "aaaaaaaaaaaaaaaaaaaaaaaa">',
            "",
        ],
    )
    def test_nothing_is_declared(self, declared: str) -> None:
        """Entities and defaults are refused before one can be used."""
        text = f"<!DOCTYPE urlset [{declared}]><urlset><url><loc>http://a/&b;</loc></url></urlset>"
        found = read_sitemap(text.encode())
        assert "declares" in found.trouble
        assert found.urls == ()

    def test_nothing_outside_is_read(self) -> None:
        """A document type elsewhere is not looked at, and what it might declare is nothing."""
        with mock.patch("builtins.open", side_effect=AssertionError):
            found = read_sitemap(
                b'<!DOCTYPE urlset SYSTEM "file:///etc/passwd"><urlset><url><loc>http://a/&x;</loc>'
                b"</url></urlset>"
            )
        assert found.urls in ((), ("http://a/",))

    @pytest.mark.parametrize(
        "octets",
        [
            b"<urlset>" + b"<url>" * 1_000_000,
            b"<urlset><url><loc>" + b"a" * 9_000_000 + b"</loc></url></urlset>",
            b"<urlset><url><loc>" + b"&#65;" * 1_000_000 + b"</loc></url></urlset>",
            b"<urlset " + b" ".join(b'a%d=""' % n for n in range(100_000)) + b"/>",
            b"<" + b"a" * 9_000_000,
            b"<urlset>" + b"<!-- -->" * 1_000_000 + b"</urlset>",
            b"http://a/" * 1_000_000,
        ],
    )
    def test_it_takes_no_time(self, octets: bytes) -> None:
        """A file of the longest size is read in a moment, however it is made."""
        start = time.perf_counter()
        assert len(read_sitemap(octets).urls) <= 1
        assert time.perf_counter() - start < 5

    def test_a_doctype(self) -> None:
        """One that declares nothing is read; others are refused with a reason."""
        assert read_sitemap(b"<!DOCTYPE urlset><urlset/>") == (
            SitemapForm.URLSET,
            False,
            (),
            True,
            "",
        )
        assert read_sitemap(b"<!DOCTYPE urlset [<!ENTITY a 'b'>]><urlset/>") == (
            SitemapForm.OTHER,
            False,
            (),
            True,
            "it declares entities or a document type, which sitemaps do not need",
        )


@pytest.mark.parametrize(
    ("octets", "named", "odd"),
    [
        (b"<urlset/>", "application/xml", None),
        (b"<urlset/>", "text/xml; charset=utf-8", None),
        (b"<urlset/>", "text/html", "text/html"),
        (b"<urlset/>", "", None),
        (b"<rss/>", "application/rss+xml", None),
        (b"<rss/>", "text/xml", None),
        (b"<rss/>", "text/html", "text/html"),
        (b"<sitemapindex/>", "application/xml", None),
        (b"<sitemapindex/>", "text/html", "text/html"),
        (gzip.compress(b"<urlset/>"), "application/x-gzip", None),
        (gzip.compress(b"<urlset/>"), "application/xml", None),
        (gzip.compress(b"<urlset/>"), "text/html", "text/html"),
        (b"http://a/", "text/plain", None),
        (b"http://a/", "application/xml", "application/xml"),
        (gzip.compress(b"<urlset/>"), "application/gzip", None),
        (gzip.compress(b"<urlset/>"), "application/octet-stream", None),
        (b"<urlset/>", "application/octet-stream", "application/octet-stream"),
        (b"{}", "application/json", None),
    ],
)
def test_media_types(octets: bytes, named: str, odd: str | None) -> None:
    """A media type is odd if no such file has it; one that is missing is not."""
    assert odd_media_type(read_fields({"Content-Type": named}), read_sitemap(octets)) == odd
