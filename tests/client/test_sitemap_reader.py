"""Sitemaps read through the client: indexes, gzip, limits, failures, and what is left out."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from robotrules.access import Failure, FailureReason, Response
from robotrules.client import Client
from robotrules.client.auditing.sitemap_reader import SitemapSet, read_sitemaps
from tests.client.test_audit import LISTED, ORIGIN, PLAIN, URLSET, XML, Answers, Told

ROBOTS = (
    "User-agent: *\nDisallow: /private/\n"
    f"Sitemap: {ORIGIN}/index.xml\nSitemap: /pages.txt\nSitemap: {ORIGIN}/index.xml\n"
)


def urlset(*paths: str) -> bytes:
    """Return a sitemap that lists some paths."""
    return URLSET("".join(map(LISTED, paths))).encode()


def index(*paths: str) -> bytes:
    """Return a sitemap index."""
    listed = "".join(f"<sitemap><loc>{ORIGIN}{path}</loc></sitemap>" for path in paths)
    return f"<sitemapindex>{listed}</sitemapindex>".encode()


SITE: Answers = {
    f"{ORIGIN}/robots.txt": Response(200, PLAIN, ROBOTS.encode()),
    f"{ORIGIN}/index.xml": Response(200, XML, index("/1.xml", "/2.xml.gz", "/pages.txt")),
    f"{ORIGIN}/1.xml": Response(200, XML, urlset("/a", "/b")),
    f"{ORIGIN}/2.xml.gz": Response(200, XML, gzip.compress(urlset("/b", "/c"))),
    f"{ORIGIN}/pages.txt": Response(200, PLAIN, f"{ORIGIN}/d\n".encode()),
}


def read(
    changes: Answers | None = None, urls: list[str] | None = None, **options: Any
) -> tuple[SitemapSet, list[str]]:
    """Return the sitemaps of a site, and the requests for them."""
    transport = Told({**SITE, **(changes or {})})
    with Client("ExampleAudit/1.0", store="memory:", transport=transport, min_delay=0.0) as client:
        source = urls if urls is not None else client.lookup(ORIGIN)
        assert source is not None
        found = read_sitemaps(client, source, "ExampleBot", **options)
    return found, [one for one in transport.asked if not one.endswith("/robots.txt")]


def paths(found: SitemapSet) -> list[str]:
    """Return the paths of the listed pages."""
    return [url.removeprefix(ORIGIN) for url in found.urls()]


class TestReadSitemaps:
    """The files of a robots.txt, and those of their indexes."""

    def test_files_of_a_robots_txt(self) -> None:
        """Each file is requested once, with those of an index after it; a page counts once."""
        found, asked = read()
        assert asked == [
            f"{ORIGIN}/{name}" for name in ("index.xml", "pages.txt", "1.xml", "2.xml.gz")
        ]
        assert [one.named_by for one in found.files] == [
            "robots.txt, line 3",
            "robots.txt, line 4",
            f"{ORIGIN}/index.xml",
            f"{ORIGIN}/index.xml",
        ]
        assert paths(found) == ["/d", "/a", "/b", "/c"]
        assert (found.not_read, found.is_cut, found.is_complete, found.failed) == (
            0,
            False,
            True,
            (),
        )
        assert [one.is_index for one in found.files] == [True, False, False, False]
        assert found.files[0].urls == ()

    def test_bodies_are_not_kept(self) -> None:
        """The text of ten megabytes is not kept for its URLs."""
        found, _ = read()
        assert {one.page.body for one in found.files} == {b""}

    def test_urls(self) -> None:
        """A caller may name sitemaps."""
        found, asked = read(urls=[f"{ORIGIN}/1.xml", f"{ORIGIN}/1.xml"])
        assert (asked, paths(found)) == ([f"{ORIGIN}/1.xml"], ["/a", "/b"])
        assert found.files[0].named_by == "the caller"

    def test_one_string_is_misuse(self) -> None:
        """Its letters are not URLs."""
        with pytest.raises(TypeError, match="pass a list of URLs"):
            read(urls=f"{ORIGIN}/1.xml")  # type: ignore[arg-type]

    def test_progress(self) -> None:
        """Each URL is reported before its request."""
        told: list[str] = []
        _, asked = read(progress=told.append)
        assert told == asked


class TestLimits:
    """Other people decide how much a site has."""

    def test_files(self) -> None:
        """Files beyond the limit are counted and not requested."""
        found, asked = read(max_files=2)
        assert (len(asked), found.not_read, found.is_complete) == (2, 2, False)
        assert read(max_files=0)[0] == ((), 2, False)

    def test_pages(self) -> None:
        """Pages beyond the limit are left out, and the result is not complete."""
        found, asked = read(max_urls=2)
        assert paths(found) == ["/d", "/a"]
        assert (found.is_cut, found.not_read, len(asked)) == (True, 1, 3)

    def test_a_file_that_is_too_long(self) -> None:
        """A file that the client read in part makes the set incomplete."""
        cut = Response(200, XML, urlset("/a", "/b")[:-20], False)
        found, _ = read({f"{ORIGIN}/1.xml": cut})
        assert found.is_cut

    def test_an_index_in_an_index_is_not_followed(self) -> None:
        """An index that lists itself, or another one, ends there (sitemaps.org)."""
        nested = Response(200, XML, index("/index.xml", "/3.xml"))
        found, asked = read({f"{ORIGIN}/1.xml": nested})
        assert f"{ORIGIN}/3.xml" not in asked
        assert found.is_cut


class TestFailures:
    """A file that fails is a value that says why."""

    @pytest.mark.parametrize(
        ("answer", "trouble"),
        [
            (Response(404), "status 404"),
            (Response(500), "status 500"),
            (Failure(FailureReason.TIMEOUT, "after 30 s"), "after 30 s"),
            (Failure(FailureReason.CONNECT), "no connection"),
            (Response(200, XML, b"<html>"), "it is an HTML page"),
            (Response(200, XML, gzip.compress(urlset("/a"))[:-12]), "the gzip data ends early"),
            (Response(302, {"Location": "/1.xml"}), "a redirect loop"),
            (Response(302, {"Location": "/private/1"}), "disallowed (line 2: Disallow: /private/)"),
        ],
    )
    def test_trouble(self, answer: Response | Failure, trouble: str) -> None:
        """The others are read all the same."""
        found, _ = read({f"{ORIGIN}/1.xml": answer})
        [failed] = found.failed
        assert failed.url == f"{ORIGIN}/1.xml"
        assert failed.trouble == trouble
        assert not found.is_complete
        assert set(paths(found)) >= {"/b", "/c", "/d"}

    def test_a_disallowed_file(self) -> None:
        """It is not requested."""
        found, asked = read(urls=[f"{ORIGIN}/private/1.xml"])
        assert (asked, found.files[0].trouble) == ([], "disallowed (line 2: Disallow: /private/)")

    def test_other_schemes(self) -> None:
        """A URL without a robots.txt is not requested."""
        found, asked = read(urls=["ftp://a.example/1.xml", "\x00"])
        assert (asked, len(found.failed)) == ([], 2)
