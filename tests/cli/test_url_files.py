"""URLs of real files: each form as it is found in the wild, and files that mean no good."""

from __future__ import annotations

import gzip
import json
import sys
import tracemalloc
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from robotrules.cli.console import CliError
from robotrules.cli.url_files import UrlFile
from robotrules.url_lists import BATCH, BLOCK, LONGEST_URL, Skipped, UrlFileFormat
from tests.cli.shell import Stream

MEBIBYTE = 1024 * 1024


class Read(NamedTuple):
    """The result of reading a file."""

    form: UrlFileFormat
    urls: list[bytes]
    skipped: Skipped
    error: str


class Pipe:
    """Stdin that returns its content in pieces."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.buffer = self
        self._pieces = pieces
        self._left = b""

    def isatty(self) -> bool:
        return False

    def fileno(self) -> int:
        raise OSError

    def read1(self, size: int) -> bytes:
        self._left = self._left or next(self._pieces, b"")
        piece, self._left = self._left[:size], self._left[size:]
        return piece

    read = read1


def read(octets: bytes) -> Read:
    """Read all of a file that has these octets."""
    return read_pieces(iter([octets]) if octets else iter(()))


def read_pieces(pieces: Iterator[bytes]) -> Read:
    """Read all content of a pipe."""
    with mock.patch.object(sys, "stdin", Pipe(pieces)), UrlFile("-") as file:
        urls = [url for chunk in file.chunks() for url in chunk.urls]
        return Read(file.form, urls, file.skipped, file.error)


def hint_of(octets: bytes) -> str:
    """Return the hint about how a file was read."""
    pieces = iter([octets]) if octets else iter(())
    with mock.patch.object(sys, "stdin", Pipe(pieces)), UrlFile("-") as file:
        for _ in file.chunks():
            pass
        return file.hint


def usable(octets: bytes) -> tuple[UrlFileFormat, list[bytes]]:
    """Return form and URLs of a file without errors."""
    found = read(octets)
    assert found.skipped == Skipped(0, ())
    assert found.error == ""
    return found.form, found.urls


def urls_of(octets: bytes) -> list[bytes]:
    """Return the URLs of a file without errors."""
    return usable(octets)[1]


def skipped_lines(octets: bytes) -> list[int]:
    """Return the numbers of lines that are skipped, which must be few."""
    found = read(octets).skipped
    assert found.lines == len(found.examples)
    return [one.line for one in found.examples]


class TestLists:
    """One URL a line, or a path that starts with a slash."""

    def test_urls_and_paths(self) -> None:
        found = usable(b"https://example.com/a\nhttp://example.com/b?c=d#e\n/f\n//example.com/g\n")
        assert found == (
            UrlFileFormat.LIST,
            [
                b"https://example.com/a",
                b"http://example.com/b?c=d#e",
                b"/f",
                b"//example.com/g",
            ],
        )

    @pytest.mark.parametrize(
        "octets",
        [
            b"/a\n/b",
            b"/a\r\n/b\r\n",
            b"\xef\xbb\xbf/a\n/b\n",
            b"\n\n/a\n \t\n/b\n\n",
            b"# a comment\n/a\n  # and another\n/b\n",
            b"  /a\t\n\t/b  \n",
            b"url\n/a\n/b\n",
            b"Address\n/a\n/b\n",
            "/a\n/b\n".encode("utf-16"),
            "\ufeff/a\r\n/b".encode("utf-16-be"),
        ],
    )
    def test_ignored_parts(self, octets: bytes) -> None:
        """Line ends, marks, blank lines, comments, spaces at the ends, a header, an encoding."""
        assert usable(octets) == (UrlFileFormat.LIST, [b"/a", b"/b"])

    def test_a_scheme_in_capitals(self) -> None:
        assert urls_of(b"/a\nHTTPS://EXAMPLE.COM/b\n") == [b"/a", b"HTTPS://EXAMPLE.COM/b"]

    def test_octets_of_a_url_are_kept(self) -> None:
        """Spaces, commas, NULs and octets that are not UTF-8 are unchanged."""
        lines = [b"/a b,c", b"/\xff\xfe", b"/\0", b"https://example.com/\xe4"]
        assert urls_of(b"\n".join(lines)) == lines

    def test_lines_that_are_not_urls(self) -> None:
        found = read(b"/a\nmailto:a@example.com\nexample.com/b\n\n# x\nftp://example.com/\n/c\nd\n")
        assert found.urls == [b"/a", b"/c"]
        assert found.skipped.lines == 4
        # The first few, with the numbers that an editor shows.
        assert [tuple(one) for one in found.skipped.examples] == [
            (2, b"mailto:a@example.com"),
            (3, b"example.com/b"),
            (6, b"ftp://example.com/"),
        ]
        assert found.skipped.as_dict()["examples"][1] == {"line": 3, "text": "example.com/b"}

    def test_a_url_counts_as_often_as_it_is_there(self) -> None:
        assert urls_of(b"/a\n/b\n/a\n") == [b"/a", b"/b", b"/a"]

    def test_empty_files(self) -> None:
        assert usable(b"") == (UrlFileFormat.LIST, [])
        assert usable(b"\n# nothing\n\n") == (UrlFileFormat.LIST, [])


COMMON = b'192.0.2.7 - - [10/Oct/2024:13:55:36 +0000] "%s" 200 2326'


class TestLogs:
    """Access logs of Apache and nginx."""

    @pytest.mark.parametrize(
        "line",
        [
            COMMON % b"GET /a?b=c HTTP/1.1",
            COMMON % b"GET /a?b=c HTTP/1.1"
            + b' "https://example.com/x" "ExampleBot/1.0 (\\"x\\")"',
            COMMON % b"HEAD /a?b=c HTTP/2.0",
            COMMON % b"GET /a?b=c",
            b"example.com:443 " + COMMON % b"POST /a?b=c HTTP/1.1",
            b"<134>Oct 11 22:14:15 www nginx: " + COMMON % b"GET /a?b=c HTTP/1.1",
            b'2001:db8::1 - jo "x" [10/Oct/2024:13:55:36 +0000] "GET /a?b=c HTTP/3" 200 1',
            b'2024-10-10T13:55:36Z www "GET /a?b=c HTTP/1.1" 200 0.003',
            b'"192.0.2.7" "GET /a?b=c HTTP/1.1"',
        ],
    )
    def test_forms_of_lines(self, line: bytes) -> None:
        """The request is found with any fields around it."""
        assert usable(line + b"\n" + line + b"\r\n") == (UrlFileFormat.LOG, [b"/a?b=c"] * 2)

    @pytest.mark.parametrize(
        ("target", "url"),
        [
            (rb"/a\"b", b'/a"b'),
            (rb"/a\x22b\xE4", b'/a"b\xe4'),
            (rb"/a\\b", rb"/a\b"),
            (rb"/a\tb", b"/a\tb"),
            (b"http://example.com/a", b"http://example.com/a"),
            # An origin-form (RFC 9112 §3.2.1) is a path, and its first segment may be empty.
            (b"//a/b", b"https://example.com//a/b"),
        ],
    )
    def test_targets(self, target: bytes, url: bytes) -> None:
        """Escapes of servers are decoded, and the target of a request is a URL."""
        assert urls_of(COMMON % (b"GET " + target + b" HTTP/1.1")) == [url]

    @pytest.mark.parametrize(
        "request_line",
        [
            b"-",
            b"",
            rb"\x16\x03\x01\x02",
            b"OPTIONS * HTTP/1.1",
            b"CONNECT example.com:443 HTTP/1.1",
            b"GET",
            b"get /a HTTP/1.1",
            b"GET /a b HTTP/1.1",
            rb"GET /a\ ",
            b"SSH-2.0-Go",
        ],
    )
    def test_requests_without_a_page(self, request_line: bytes) -> None:
        """They are skipped, and the lines around them keep their order."""
        page = COMMON % b"GET /%s HTTP/1.1"
        found = read(b"\n".join([page % b"1", COMMON % request_line, page % b"3"]))
        assert found.form is UrlFileFormat.LOG
        assert found.urls == [b"/1", b"/3"]
        assert [tuple(one) for one in found.skipped.examples] == [(2, COMMON % request_line)]

    def test_a_log_that_begins_with_garbage(self) -> None:
        found = read(COMMON % b"-" + b"\n" + COMMON % b"GET /a HTTP/1.1")
        assert (found.form, found.urls, found.skipped.lines) == (UrlFileFormat.LOG, [b"/a"], 1)

    def test_comments_in_a_log(self) -> None:
        """Whoever put a hash before a line does not want it counted."""
        page = COMMON % b"GET /a HTTP/1.1"
        assert urls_of(b"\n".join([page, b"# " + page, b"  #" + page])) == [b"/a"]

    def test_a_log_counts_requests(self) -> None:
        assert (UrlFileFormat.LOG.noun, UrlFileFormat.JSON.noun, UrlFileFormat.LIST.noun) == (
            "request",
            "request",
            "URL",
        )

    def test_a_hole_in_a_log(self) -> None:
        """A crash leaves NULs where a line begins."""
        assert urls_of(b"\0" * 5000 + COMMON % b"GET /a HTTP/1.1") == [b"/a"]


class TestJSONLines:
    """One object a line."""

    @pytest.mark.parametrize(
        "value",
        [
            {"url": "/a?b"},
            {"status": 200, "request_uri": "/a?b", "uri": "/index.php"},
            {"uri": "/a?b", "path": "/a"},
            {"path": "/a?b", "url": None},
            {"request": "GET /a?b HTTP/1.1", "path": "/a"},
            {"request": {"method": "GET", "uri": "/a?b"}},
            {"httpRequest": {"requestUrl": "/a?b"}},
            {"RequestPath": "/a?b"},
            {"url": {"original": "/a?b", "path": "/a"}},
            {"url": "-", "path": "/a?b"},
        ],
    )
    def test_names(self, value: dict[str, Any]) -> None:
        """The most specific name is tried first, and a value that is not a URL is ignored."""
        octets = json.dumps(value).encode() + b"\n"
        assert usable(octets * 2) == (UrlFileFormat.JSON, [b"/a?b"] * 2)

    def test_lines_without_a_url(self) -> None:
        deep = b"[" * 100_000
        lines = [b'{"url": "/a"}', b'{"url": 1}', deep, b'{"url": "/b"', b'{"url": "/c"}']
        found = read(b"\n".join(lines))
        assert found.urls == [b"/a", b"/c"]
        assert [one.line for one in found.skipped.examples] == [2, 3, 4]

    def test_text_that_is_not_unicode(self) -> None:
        """Octets stay; half a surrogate pair has no octets, and becomes a question mark."""
        assert urls_of(b'{"url": "/\xff"}\n{"url": "/\\ud800"}\n') == [b"/\xff", b"/?"]

    def test_an_array(self) -> None:
        found = read(b'[\n{"url": "/a"}\n]')
        assert (found.urls, found.error) == (
            [],
            "it is a JSON array; pass one object per line, as printed by jq -c '.[]'",
        )


class TestCSV:
    """Exports, with a header."""

    @pytest.mark.parametrize(
        "octets",
        [
            b"Top pages,Clicks,Impressions,CTR,Position\n/a,1,2,50%,3\n/b,1,2,50%,3\n",
            b"page;clicks\n/a;1\n/b;2\n",
            b"clicks\turl\n1\t/a\n2\t/b\n",
            b"\turl\tclicks\n\t/a\t1\n\t/b\t2\n",
            b'"Address","Title"\r\n"/a","One, two"\r\n"/b","He said ""x"""\r\n',
            b'path,url\n/x,"/a"\n/x,"/b"\n',
            b"time,request\n1,GET /a HTTP/1.1\n2,GET /b HTTP/1.1\n",
            # In another language, the column is the one that has URLs.
            "Häufigste Seiten,Klicks\n/a,1\n/b,2\n".encode(),
            # Without a header.
            b'"/a","1"\n"/b","2"\n',
            b"/a\t1\n/b\t2\n",
            "url\tclicks\n/a\t1\n/b\t2\n".encode("utf-16"),
        ],
    )
    def test_columns(self, octets: bytes) -> None:
        """The column is found by its name or by its content."""
        assert usable(octets) == (UrlFileFormat.CSV, [b"/a", b"/b"])

    def test_a_comma_in_a_list(self) -> None:
        """A comma may be a part of a URL, and a list with a header is a list."""
        assert usable(b"/a,b\n/c\n") == (UrlFileFormat.LIST, [b"/a,b", b"/c"])
        assert usable(b"url\n/a,b\n") == (UrlFileFormat.LIST, [b"/a,b"])

    @pytest.mark.parametrize(
        ("octets", "end"),
        [
            (b"https://a.example/x,1\nhttps://a.example/y,22\n", ",1"),
            (b"/x,3.5%,blog\n\n# end\n/y,4%,shop\n", ",3.5%,blog"),
            (b'/x;"A, b"\n/y;"c"\n', ';"A, b"'),
            (b"https://a.example/,https://b.example/\n" * 2, ",https://b.example/"),
        ],
    )
    def test_columns_without_a_header(self, octets: bytes, end: str) -> None:
        """Commas are read as parts of URLs, and a hint reports this."""
        assert usable(octets)[0] is UrlFileFormat.LIST
        found = hint_of(octets)
        assert found.startswith("every line looks like CSV without a header")
        assert f"and '{end}' was read as part of the first URL" in found
        assert hint_of(b"url,x\n" + octets.replace(b";", b",")).count("header") == 0

    @pytest.mark.parametrize(
        "octets",
        [
            b"",
            b"/a,1\n",
            b"/a,1\n/b\n",
            b"/a,1\n/b,1,2\n",
            b"/a,1.html\n/b,2.html\n",
            b"/a?x=1,2&y=3\n/b?x=1,2&y=3\n",
            b"/a\n/b\n",
        ],
    )
    def test_a_list_has_no_hint(self, octets: bytes) -> None:
        """One line that is a URL alone, and it is a list."""
        assert hint_of(octets) == ""

    def test_several_columns_with_urls(self) -> None:
        """If several columns contain URLs, a hint names the one that is read."""
        row = b"https://a.example/,https://b.example/\n"
        words = "several columns have URLs; column {} was read"
        assert hint_of(b"from,to\n" + row) == words.format("1 ('from')")
        assert hint_of(b"from,url\n" + row) == words.format("2 ('url')")
        assert hint_of(row.replace(b",", b"\t")) == words.format("1")
        assert hint_of(b"url,clicks\n/a,1\n") == ""

    def test_lines_without_a_url(self) -> None:
        octets = b"url,clicks\n/a,1\n,2\nTotal\n#x,1\n/b,3\n"
        assert read(octets).urls == [b"/a", b"/b"]
        assert skipped_lines(octets) == [3, 4]

    def test_a_header_below_a_title(self) -> None:
        """It names the column all the same, and counts as a line without a URL."""
        octets = b"Report,,\npath,url,\n/x,/a,\n/x,/b,\n"
        assert read(octets).urls == [b"/a", b"/b"]
        assert skipped_lines(octets) == [2]

    def test_only_the_first_line_is_a_header(self) -> None:
        assert skipped_lines(b'"/a",1\nurl,clicks\n') == [2]

    def test_an_unclosed_quote(self) -> None:
        """It affects only its line."""
        assert read(b'url,title\n/a,"x\n/b,y\n').urls == [b"/a", b"/b"]

    def test_a_huge_cell(self) -> None:
        octets = b'url,title\n"' + b"x" * 200_000 + b'",y\n/b,z\n'
        assert read(octets).urls == [b"/b"]
        assert skipped_lines(octets) == [2]


def sitemap(body: str, *, start: str = "") -> bytes:
    """Return a sitemap around some XML."""
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return f'{start}<urlset xmlns="{space}">{body}</urlset>'.encode()


def page(loc: str) -> str:
    """Return a page of a sitemap."""
    return f"<url><loc>{loc}</loc><lastmod>2024-10-10</lastmod></url>\n"


LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;">'
    + "".join(f'<!ENTITY {y} "&{x};&{x};&{x};">' for x, y in zip("bcdefgh", "cdefghi", strict=True))
    + "]>"
)


class TestSitemaps:
    """XML of sitemaps.org."""

    @pytest.mark.parametrize("start", ["", '<?xml version="1.0" encoding="UTF-8"?>\n', "\ufeff\n "])
    def test_pages(self, start: str) -> None:
        octets = sitemap(page("https://example.com/a") + page("\n /b?c&amp;d "), start=start)
        assert usable(octets) == (UrlFileFormat.SITEMAP, [b"https://example.com/a", b"/b?c&d"])

    def test_other_spellings(self) -> None:
        """CDATA, prefixes, no namespace, other encodings."""
        assert urls_of(sitemap(page("<![CDATA[/a?b&c]]>"))) == [b"/a?b&c"]
        assert urls_of(b'<s:urlset xmlns:s="x"><s:url><s:loc>/a</s:loc></s:url></s:urlset>') == [
            b"/a"
        ]
        assert urls_of(b"<urlset><url><loc>/a</loc></url></urlset>") == [b"/a"]
        latin = b'<?xml version="1.0" encoding="iso-8859-1"?>'
        assert urls_of(latin + b"<urlset><url><loc>/\xe4</loc></url></urlset>") == ["/ä".encode()]
        wide = f'<?xml version="1.0" encoding="utf-16"?><urlset>{page("/ä")}</urlset>'
        assert usable(wide.encode("utf-16")) == (UrlFileFormat.SITEMAP, ["/ä".encode()])

    def test_only_pages(self) -> None:
        """Images, videos and translations of a page are not pages."""
        image = '<i:image xmlns:i="x"><i:loc>/i</i:loc></i:image><i:loc xmlns:i="x">/j</i:loc>'
        link = '<x:link xmlns:x="http://www.w3.org/1999/xhtml" href="/l"/>'
        assert urls_of(sitemap(f"<loc>/x</loc><url><loc>/a</loc>{image}{link}</url>")) == [b"/a"]

    def test_locations_that_are_not_urls(self) -> None:
        octets = sitemap(page("/a") + page("") + page("a/b") + page("/" + "x" * 9000) + page("/c"))
        assert read(octets).urls == [b"/a", b"/c"]
        assert skipped_lines(octets) == [2, 3, 4]

    def test_urls_before_an_error_count(self) -> None:
        pages = "".join(page(f"/{n}") for n in range(10_000))
        whole = sitemap(pages)
        found = read(whole[: len(whole) // 2])
        assert found.urls == [f"/{n}".encode() for n in range(len(found.urls))]
        assert 4000 < len(found.urls) < 6000
        assert found.error.startswith("it is not well-formed XML at line ")
        found = read(sitemap(page("/a") + "</oops>" + page("/b")))
        assert found.urls == [b"/a"]
        assert found.error == "it is not well-formed XML at line 2 (mismatched tag)"

    @pytest.mark.parametrize(
        ("octets", "error"),
        [
            (b"<sitemapindex><sitemap><loc>/a</loc></sitemap></sitemapindex>", "a sitemap index"),
            (b"<rss><channel><item><link>/a</link></item></channel></rss>", "element is 'rss'"),
            (b"\n<!DOCTYPE html><p>404</p>", "an HTML page"),
            (b"<html><url><loc>/a</loc></url></html>", "an HTML page"),
            (sitemap(page("&i;"), start=LAUGHS), "declares entities"),
            (b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><urlset/>', "entities"),
            (b'<?xml version="1.0" encoding="x-none"?><urlset/>', ""),
            (b"<urlset>" + b"<a>" * 200, "nested more than 100 deep"),
            (b"<urlset", "not well-formed XML"),
            (b"<\0", "not well-formed XML"),
        ],
    )
    def test_documents_that_are_not_read(self, octets: bytes, error: str) -> None:
        """They have no pages, or need other files, and the error gives the reason."""
        found = read(octets)
        assert found.urls == []
        assert found.error
        assert error in found.error

    @pytest.mark.parametrize("start", [b"<!--", b'<a b="', b"<a", b"<![CDATA[", b"<!DOCTYPE a "])
    def test_a_tag_without_an_end(self, start: bytes) -> None:
        """Expat keeps an unfinished tag; it is stopped before that is much."""
        begin = b"" if b"DOC" in start else sitemap(page("/a")).removesuffix(b"</urlset>")
        with peak_below(8):
            found = read_pieces(iter([begin + start, *[b"x" * BLOCK] * 400]))
        assert found.urls == ([b"/a"] if begin else [])
        assert found.error


class peak_below:
    """Fails if Python's memory was more than so many MiB at any time."""

    def __init__(self, mebibytes: int) -> None:
        self._most = mebibytes * MEBIBYTE

    def __enter__(self) -> None:
        tracemalloc.start()

    def __exit__(self, *_: object) -> None:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < self._most, f"{peak / MEBIBYTE:.1f} MiB"


class TestGzip:
    """Any form may be gzipped."""

    @pytest.mark.parametrize(
        "octets",
        [
            b"/a\n",
            COMMON % b"GET /a HTTP/1.1",
            b'{"url": "/a"}',
            b"url,x\n/a,1",
            sitemap(page("/a")),
        ],
    )
    def test_forms(self, octets: bytes) -> None:
        assert usable(gzip.compress(octets)) == usable(octets)

    def test_members(self) -> None:
        """Logs are packed by the day and put together; a tape may end with zeros."""
        parts = [gzip.compress(b"/a\n/"), gzip.compress(b""), gzip.compress(b"b\n")]
        assert urls_of(b"".join(parts)) == [b"/a", b"/b"]
        assert urls_of(b"".join(parts) + b"\0" * 700) == [b"/a", b"/b"]

    @pytest.mark.parametrize("size", [BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK])
    def test_sizes_around_a_block(self, size: int) -> None:
        """Content that fills a block to its last octet is not cut."""
        octets = b"/" + b"x" * (size - 4) + b"\n/b"
        assert urls_of(gzip.compress(octets)) == octets.split(b"\n")

    def test_data_that_ends_early(self) -> None:
        """Half a URL is another one: it is left out."""
        urls = [b"/item-%04d" % n for n in range(5000)]
        packed = gzip.compress(b"\n".join(urls))
        for size in range(len(packed) // 2, len(packed) // 2 + 5):
            found = read(packed[:size])
            assert found.urls == urls[: len(found.urls)]
            assert len(found.urls) > 1000
        assert found.error == "the gzip data is truncated, so some URLs are missing"

    @pytest.mark.parametrize("after", [b"x", b"\x1f\x8b\x08\0", b"\x1f\x8b\xff" + b"x" * 20])
    def test_garbage_after_it(self, after: bytes) -> None:
        found = read(gzip.compress(b"/a\n") + after)
        assert found.urls == [b"/a"]
        assert "gzip data" in found.error

    @pytest.mark.parametrize("octets", [b"\x1f\x8b", b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + b"x" * 99])
    def test_similar_content_of_other_kinds(self, octets: bytes) -> None:
        found = read(octets)
        assert found.urls == []
        assert "gzip data" in found.error

    def test_gzip_in_gzip(self) -> None:
        """It is unpacked once."""
        assert read(gzip.compress(gzip.compress(b"/a\n"))).urls == []

    @pytest.mark.parametrize("octet", [b"\n", b"\0", b"/"])
    def test_a_bomb(self, octet: bytes) -> None:
        """Highly compressed data is not read to its end, and needs little memory."""
        packer = zlib.compressobj(9, wbits=31)
        parts = [packer.compress(b"/a\n")]
        parts += [packer.compress(octet * MEBIBYTE) for _ in range(50)]
        bomb = b"".join([*parts, packer.flush()])
        assert len(bomb) < MEBIBYTE
        with peak_below(8):
            found = read(bomb)
        assert found.urls == [b"/a"]
        assert "more than 250 times its size" in found.error

    @pytest.mark.parametrize(
        ("magic", "word"),
        [(b"PK\x03\x04", "ZIP"), (b"\x28\xb5\x2f\xfd", "zstd"), (b"BZh9", "bzip2")],
    )
    def test_other_packers(self, magic: bytes, word: str) -> None:
        found = read(magic + b"/a\n/b\n")
        assert found.urls == []
        assert word in found.error


class TestBounds:
    """No content raises, and none takes the memory or the time of another."""

    def test_a_byte_order_mark_is_one_at_the_start_only(self) -> None:
        """The same octets at the start of a later block are kept."""
        mark, url = b"\xef\xbb\xbf", b"https://example.com/a\n"
        found = read_pieces(iter([mark + url * 100, mark + url]))
        assert found.urls == [url.strip()] * 100
        assert [(one.line, one.octets) for one in found.skipped.examples] == [
            (101, mark + url.strip())
        ]

    def test_a_huge_line(self) -> None:
        """It is skipped, wherever reads end, and the lines around it are not."""
        huge = b"/" + b"x" * LONGEST_URL
        most = b"/" + b"y" * (LONGEST_URL - 2)
        octets = b"/a\n" + huge + b"\n" + most + b"\n/b\n" + huge * 3
        for size in (BLOCK, 1000, 77_777):
            pieces = (octets[n : n + size] for n in range(0, len(octets), size))
            found = read_pieces(pieces)
            assert found.urls == [b"/a", most, b"/b"]
            assert [one.line for one in found.skipped.examples] == [2, 5]
            assert len(found.skipped.examples[0].octets) < 200

    def test_a_line_without_an_end(self) -> None:
        with peak_below(8):
            assert read_pieces(iter([b"x" * BLOCK] * 400)).skipped.lines == 1

    def test_long_urls_do_not_wait(self) -> None:
        """Chunks are of so many URLs, unless these are long ones."""
        line = b"/" + b"x" * 500_000 + b"\n"
        pipe = Pipe(iter([line] * 100))
        with peak_below(16), mock.patch.object(sys, "stdin", pipe), UrlFile("-") as file:
            assert sum(len(chunk.urls) for chunk in file.chunks()) == 100

    @pytest.mark.parametrize(
        "line",
        [
            b'"A ' * 300_000,
            b'"A \\"' * 200_000,
            b'"GET /' + b"\\x" * 400_000,
            b'[10/Oct/2024:"' * 60_000,
            b'{"url":' * 100_000,
            b'"' * 300_000,
            b"," * 300_000,
            b'"a",' * 100_000,
        ],
    )
    def test_lines_made_to_take_long(self, line: bytes) -> None:
        """Time is linear in a line; a test that hangs has failed."""
        found = read(b"\n".join([COMMON % b"GET /a HTTP/1.1", line, line]))
        assert found.urls[:1] == [b"/a"]
        assert read(line).urls in ([], [line])

    @given(
        start=st.sampled_from(
            [
                *(b"", b"/a\n", b"url,x\n", b'{"url": "/a"}\n', b"<urlset>", b"<urlset><url><loc>"),
                *(COMMON % b"GET /a HTTP/1.1" + b"\n", b"\x1f\x8b\x08\0\0\0\0\0\0\xff"),
                *(b"\xff\xfe", b"\xff\xfe<\0", b"\xef\xbb\xbf", b"[", b"<", gzip.compress(b"/a\n")),
            ]
        ),
        rest=st.binary(max_size=300),
    )
    def test_no_content_raises(self, start: bytes, rest: bytes) -> None:
        found = read(start + rest)
        assert all(isinstance(url, bytes) for url in found.urls)
        assert found.form in UrlFileFormat

    @given(
        lines=st.lists(
            st.sampled_from(
                [
                    *(b"/a", b"https://example.com/b", b"", b"# c", b"-", b"HTTP://E/d", b"url,x"),
                    *(COMMON % b"GET /e HTTP/1.1", COMMON % rb"GET /\"f HTTP/1.1", COMMON % b"-"),
                    *(b"#" + COMMON % b"GET /g HTTP/1.1", b'{"url": "/h"}', b'x,"/i"', b"\xff\0"),
                    *(b"<url><loc>/j</loc></url>", b"<urlset>", b"\v# " + COMMON % b"GET /k"),
                ]
            ),
            max_size=30,
        ),
        sizes=st.lists(st.integers(1, 60), min_size=1, max_size=50),
        end=st.sampled_from([b"\n", b"\r\n"]),
        packed=st.booleans(),
    )
    @example([b"/a", b"# c", b"-"], [1], b"\n", False)
    def test_read_boundaries_have_no_effect(
        self, lines: list[bytes], sizes: list[int], end: bytes, packed: bool
    ) -> None:
        """A pipe gives the same result as a file, even octet by octet."""
        octets = gzip.compress(end.join(lines)) if packed else end.join(lines)

        def pieces() -> Iterator[bytes]:
            at = 0
            for size in sizes:
                if at < len(octets):
                    yield octets[at : at + size]
                at += size
            if at < len(octets):
                yield octets[at:]

        # A file gives all that it has at once; more than a head is read, and kept, at once too.
        with mock.patch("robotrules.url_lists.HEAD", 16):
            in_pieces = read_pieces(pieces())
            assert in_pieces == read(octets)


class TestFiles:
    """Where octets come from."""

    def test_a_file(self, tmp_path: Path) -> None:
        """Chunks have so many URLs, and their octets are those of the file."""
        path = tmp_path / "urls"
        octets = b"".join(b"/%d\n" % n for n in range(2 * BATCH + 5))
        for written in (octets, gzip.compress(octets)):
            path.write_bytes(written)
            with UrlFile(str(path)) as file:
                chunks = list(file.chunks())
                assert file.size == len(written)
            assert [len(chunk.urls) for chunk in chunks] == [BATCH, BATCH, 5]
            assert sum(chunk.octets for chunk in chunks) == len(written)

    def test_the_file_name_has_no_effect(self, tmp_path: Path) -> None:
        path = tmp_path / "sitemap.xml.gz"
        path.write_bytes(b"/a\n")
        with UrlFile(str(path)) as file:
            assert [chunk.urls for chunk in file.chunks()] == [[b"/a"]]

    def test_files_that_cannot_be_read(self, tmp_path: Path) -> None:
        for name in (str(tmp_path / "none"), str(tmp_path)):
            with pytest.raises(CliError, match="cannot read URLs from '"):
                list(UrlFile(name).chunks())

    def test_a_terminal(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A message reports that input is expected."""
        typed = Stream(b"/a\n", terminal=True)
        with mock.patch.object(sys, "stdin", typed), UrlFile("-") as file:
            assert [chunk.urls for chunk in file.chunks()] == [[b"/a"]]
            assert file.where == "stdin"
        assert "reading URLs from the terminal" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lines", "begin", "line", "end", "form"),
    [
        (1_000_000, b"", b"https://example.com/shop/item-%d?a=b\n", b"", UrlFileFormat.LIST),
        (
            1_000_000,
            b"",
            COMMON % b"GET /shop/item-%d HTTP/1.1" + b' "-" "ExampleBot"\n',
            b"",
            UrlFileFormat.LOG,
        ),
        (200_000, b"", b'{"url": "/shop/item-%d"}\n', b"", UrlFileFormat.JSON),
        (200_000, b"url,clicks\n", b"/shop/item-%d,1\n", b"", UrlFileFormat.CSV),
        (
            200_000,
            b"<urlset>",
            b"<url><loc>/shop/item-%d</loc></url>\n",
            b"</urlset>",
            UrlFileFormat.SITEMAP,
        ),
    ],
)
def test_many_lines_take_the_memory_of_a_few(
    lines: int, begin: bytes, line: bytes, end: bytes, form: UrlFileFormat
) -> None:
    """Memory does not grow with the number of URLs, in any form."""

    def pieces() -> Iterator[bytes]:
        yield begin or b"\n"
        for start in range(0, lines, 1000):
            yield b"".join(line % n for n in range(start, start + 1000))
        yield end

    count = 0
    with peak_below(10), mock.patch.object(sys, "stdin", Pipe(pieces())), UrlFile("-") as file:
        for chunk in file.chunks():
            count += len(chunk.urls)
    assert (count, file.form, file.skipped.lines) == (lines, form, 0)
