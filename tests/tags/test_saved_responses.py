"""Saved responses (`curl -i`, `curl -iL`) and HAR files of browsers."""

from __future__ import annotations

import base64
import gzip
import json
import time
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules.errors import RobotrulesError, SavedResponseError
from robotrules.http.fields import MAX_BYTES
from robotrules.tags.saved_responses import (
    MAX_BLOCKS,
    MAX_BODY,
    EarlierResponse,
    SavedResponse,
    read_har,
    read_response,
)

PAGE = b'<!doctype html><meta name=robots content="noindex"><p>\xc3\xa9'


def response(
    *lines: str, body: bytes = PAGE, end: str = "\r\n", status: str = "HTTP/1.1 200 OK"
) -> bytes:
    """Return a response as curl saves it."""
    return end.join([status, *lines, "", ""]).encode("latin-1") + body


def codes(saved: SavedResponse) -> list[str]:
    """Return the codes of the notes."""
    return [note.code for note in saved.notes]


def raw_deflate(body: bytes) -> bytes:
    """Return the bare form of deflate that some servers send."""
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


# --- One response ---------------------------------------------------------------------------------


class TestResponse:
    """A status line, fields, an empty line, a body."""

    @pytest.mark.parametrize("end", ["\r\n", "\n"])
    @pytest.mark.parametrize(
        ("line", "status"),
        [
            ("HTTP/1.1 200 OK", 200),
            ("HTTP/1.0 404 Not Found", 404),
            ("HTTP/1.1 200", 200),
            ("HTTP/2 200 ", 200),
            ("HTTP/2 503", 503),
            ("HTTP/3 999 ", 999),
        ],
    )
    def test_status_lines(self, line: str, status: int, end: str) -> None:
        """As HTTP/1.1, HTTP/2 and HTTP/3 are printed; with CRLF or LF."""
        data = response("X-Robots-Tag: noindex", "x-robots-tag: nofollow", end=end, status=line)
        saved = read_response(data)
        assert (saved.url, saved.status, saved.body) == (None, status, PAGE)
        assert saved.fields.get("X-Robots-Tag") == [b"noindex", b"nofollow"]
        assert saved.fields.apart
        assert (saved.earlier, saved.notes) == ((), ())

    def test_the_body_is_as_it_came(self) -> None:
        """Empty lines and line ends in it are its own."""
        body = b"\r\n\r\na\r\n\r\nb\n\n\0\xff"
        assert read_response(response("A: b", body=body)).body == body

    def test_without_a_body(self) -> None:
        """`curl -I` saves none, which is not an empty one."""
        assert read_response(response("A: b", body=b"")).body is None
        assert read_response(b"HTTP/1.1 200 OK\r\nA: b").body is None
        assert read_response(b"HTTP/1.1 200 OK").body is None
        assert read_response(response("Content-Length: 0", body=b"")).body == b""
        assert read_response(response(body=b"", status="HTTP/1.1 204 No Content")).body == b""

    def test_without_a_status_line(self) -> None:
        """Fields alone are read as well."""
        saved = read_response(b"Content-Type: text/html\r\nX-Robots-Tag: noindex\r\n\r\n" + PAGE)
        assert (saved.status, saved.body) == (None, PAGE)
        assert saved.fields.get("x-robots-tag") == [b"noindex"]

    def test_without_fields(self) -> None:
        """A status line alone is a response."""
        saved = read_response(b"HTTP/1.1 200 OK\r\n\r\n" + PAGE)
        assert (saved.status, saved.fields.lines, saved.body) == (200, (), PAGE)

    def test_what_editors_add(self) -> None:
        """A byte order mark or an empty line before it."""
        assert read_response(b"\xef\xbb\xbf" + response()).status == 200
        assert read_response(b"\r\n\r\n" + response()).status == 200

    @pytest.mark.parametrize("kind", [bytearray, memoryview])
    def test_other_octets(self, kind: Any) -> None:
        """Whatever holds octets."""
        assert read_response(kind(response())).body == PAGE


class TestSeveral:
    """`curl -iL`: the last counts, those before are kept with their status."""

    @pytest.mark.parametrize("end", ["\r\n", "\n"])
    def test_redirects(self, end: str) -> None:
        """Their fields do not apply to the last response (AMB-80)."""
        first = response(
            *("Location: /b", "X-Robots-Tag: noindex", "Content-Length: 154"),
            body=b"",
            end=end,
            status="HTTP/1.1 301 Moved Permanently",
        )
        second = response("Location: /c", body=b"", end=end, status="HTTP/2 302 ")
        saved = read_response(first + second + response("A: b", end=end))
        assert (saved.status, saved.body) == (200, PAGE)
        assert saved.fields.get("x-robots-tag") == []
        assert [one.status for one in saved.earlier] == [301, 302]
        assert saved.earlier[0].fields.get("x-robots-tag") == [b"noindex"]
        assert isinstance(saved.earlier[0], EarlierResponse)

    @pytest.mark.parametrize(
        ("status", "lines"),
        [
            ("HTTP/1.1 100 Continue", ()),
            ("HTTP/1.1 103 Early Hints", ("Link: </a>; rel=preload",)),
            ("HTTP/1.1 200 Connection established", ()),
            ("HTTP/1.0 200 OK", ("Proxy-Agent: x",)),
            ("HTTP/1.1 401 Unauthorized", ("Content-Type: text/html", "Content-Length: 5")),
            ("HTTP/1.1 407 Proxy Authentication Required", ("Content-Type: text/html",)),
        ],
    )
    def test_others(self, status: str, lines: tuple[str, ...]) -> None:
        """Interim responses, proxies and challenges go before."""
        saved = read_response(response(*lines, body=b"", status=status) + response("A: b"))
        assert (saved.status, len(saved.earlier), saved.body) == (200, 1, PAGE)

    @pytest.mark.parametrize(
        ("status", "line"),
        [
            ("HTTP/1.1 200 OK", "Content-Type: message/http"),
            ("HTTP/1.1 200 OK", "Content-Length: 70"),
            ("HTTP/1.1 404 Not Found", "A: b"),
            ("HTTP/1.1 503 Unavailable", "A: b"),
            ("HTTP/1.1 304 Not Modified", "A: b"),
        ],
    )
    def test_a_response_inside_a_body(self, status: str, line: str) -> None:
        """A body that contains the text of a response is a body."""
        body = response("X-Robots-Tag: all")
        saved = read_response(response(line, "X-Robots-Tag: noindex", body=body, status=status))
        assert saved.body == body
        assert saved.earlier == ()
        assert saved.fields.get("x-robots-tag") == [b"noindex"]

    def test_a_redirect_that_was_not_followed(self) -> None:
        """It is the last, with its body."""
        saved = read_response(response("Location: /b", status="HTTP/1.1 302 Found"))
        assert (saved.status, saved.body, saved.earlier) == (302, PAGE, ())

    def test_there_is_an_end(self) -> None:
        """So many blocks are read, and what follows is the body."""
        one = response("Location: /", body=b"", status="HTTP/1.1 302 Found")
        saved = read_response(one * 1000 + response())
        assert (saved.status, len(saved.earlier)) == (302, MAX_BLOCKS)
        assert isinstance(saved.body, bytes)


# --- Codings --------------------------------------------------------------------------------------


class TestChunks:
    """Joined if the field is chunked and the body really is (RFC 9112 §7.1)."""

    CHUNKED = "Transfer-Encoding: chunked"

    @pytest.mark.parametrize(
        "body",
        [
            b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n",
            b"0005;name=value\r\nhello\r\n6 \r\n world\r\n0\r\nTrailer: x\r\n\r\n",
            b"B\r\nhello world\r\n0\r\n",
            b"5\nhello\n6\n world\n0\n\n",
        ],
    )
    def test_chunks(self, body: bytes) -> None:
        """With extensions, trailers, and line ends that an editor changed."""
        saved = read_response(response(self.CHUNKED, body=body))
        assert (saved.body, codes(saved)) == (b"hello world", [])

    @pytest.mark.parametrize(
        "body",
        [PAGE, b"hello", b"5 hello", b"5\r\nhello world", b"cafe\n", b"fffffffff\r\nx", b"-1\r\n"],
    )
    def test_what_curl_joined_already(self, body: bytes) -> None:
        """The field stays in the file, the chunks do not."""
        saved = read_response(response(self.CHUNKED, body=body))
        assert (saved.body, codes(saved)) == (body, [])

    @pytest.mark.parametrize(
        ("body", "kept"),
        [
            (b"5\r\nhello\r\n6\r\n wo", b"hello wo"),
            (b"5\r\nhello\r\n6\r\n world", b"hello world"),
            (b"5\r\nhello\r\n6\r\n world\r\n", b"hello world"),
            (b"5\r\nhel", b"hel"),
        ],
    )
    def test_cut(self, body: bytes, kept: bytes) -> None:
        """What was saved of it is kept, with a note."""
        saved = read_response(response(self.CHUNKED, body=body))
        assert (saved.body, codes(saved)) == (kept, ["body-cut"])

    def test_only_with_the_field(self) -> None:
        """A body that looks like chunks may be a plain body."""
        body = b"5\r\nhello\r\n0\r\n\r\n"
        assert read_response(response("A: b", body=body)).body == body
        assert read_response(response("Transfer-Encoding: gzip", body=body)).body == body
        lines = ("transfer-encoding: gzip", "Transfer-Encoding: Chunked ")
        assert read_response(response(*lines, body=body)).body == b"hello"

    def test_chunks_of_gzip(self) -> None:
        """First the chunks, then the coding."""
        packed = gzip.compress(PAGE)
        body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(packed), packed)
        saved = read_response(response(self.CHUNKED, "Content-Encoding: gzip", body=body))
        assert (saved.body, codes(saved)) == (PAGE, [])


class TestCodings:
    """gzip and deflate are decoded, where the body has them still."""

    @pytest.mark.parametrize(
        ("coding", "body"),
        [
            ("gzip", gzip.compress(PAGE)),
            ("GZip", gzip.compress(PAGE)),
            ("x-gzip", gzip.compress(PAGE)),
            ("gzip", gzip.compress(PAGE[:20]) + gzip.compress(PAGE[20:])),
            ("gzip", gzip.compress(PAGE) + b"\0\0\0"),
            ("deflate", zlib.compress(PAGE)),
            ("deflate", raw_deflate(PAGE)),
            ("gzip, deflate", zlib.compress(gzip.compress(PAGE))),
            ("identity", PAGE),
            (" , gzip", gzip.compress(PAGE)),
            # `curl --compressed` removed these, and left the field.
            *((coding, PAGE) for coding in ("gzip", "deflate", "br", "zstd", "dcb", "gzip, br")),
            ("", PAGE),
        ],
    )
    def test_decoded(self, coding: str, body: bytes) -> None:
        """Each of these is the page."""
        saved = read_response(response(f"Content-Encoding: {coding}", body=body))
        assert (saved.body, codes(saved)) == (PAGE, [])

    @pytest.mark.parametrize(
        ("coding", "body"),
        [
            ("deflate", b"{0a1 is a whole stream of bare deflate"),
            ("br", "<p>".encode("utf-16")),
        ],
    )
    def test_decoded_already(self, coding: str, body: bytes) -> None:
        """Text is taken as it is, even if a decoder would take it for its own."""
        saved = read_response(response(f"Content-Encoding: {coding}", body=body))
        assert (saved.body, codes(saved)) == (body, [])

    @pytest.mark.parametrize(
        ("coding", "body"),
        [
            ("zstd", b"\x28\xb5\x2f\xfd\x04\x00" + bytes(range(200))),
            ("br", b"\x1b\x2f\x00\xf8" + bytes(range(256))),
            ("exi", bytes(range(64))),
            ("gzip, br", b"\x0b\x02\x80"),
            (", ".join(["gzip"] * 100), gzip.compress(PAGE)),
        ],
    )
    def test_not_decoded(self, coding: str, body: bytes) -> None:
        """No body, and a note with a fix."""
        saved = read_response(response(f"Content-Encoding: {coding}", "A: b", body=body))
        assert saved.body is None
        assert codes(saved) == ["body-not-decoded"]
        assert "curl --compressed" in saved.notes[0].message
        assert saved.fields.get("a") == [b"b"]

    @pytest.mark.parametrize("coding", ["gzip", "deflate"])
    def test_cut_or_damaged(self, coding: str) -> None:
        """What could be decoded is kept, with a note."""
        long = PAGE + bytes(range(256)) * 2000
        packed = gzip.compress(long) if coding == "gzip" else zlib.compress(long)
        saved = read_response(
            response(f"Content-Encoding: {coding}", body=packed[: len(packed) // 2])
        )
        assert isinstance(saved.body, bytes)
        assert saved.body.startswith(PAGE)
        assert codes(saved) == ["body-cut"]

    def test_damage_at_the_start(self) -> None:
        """There is no decoded body, and no error."""
        saved = read_response(response("Content-Encoding: gzip", body=b"\x1f\x8b" + b"\xff" * 50))
        assert (saved.body, codes(saved)) == (b"", ["body-cut"])

    @pytest.mark.parametrize("coding", ["gzip", "deflate", "deflate-raw", "gzip, gzip"])
    def test_a_bomb(self, coding: str) -> None:
        """A kilobyte that would be a gigabyte stops at the limit."""
        zeros = b"<" * (4 * MAX_BODY)
        packers: dict[str, Callable[[bytes], bytes]] = {
            "gzip": gzip.compress,
            "deflate": zlib.compress,
            "deflate-raw": raw_deflate,
            "gzip, gzip": lambda body: gzip.compress(gzip.compress(body)),
        }
        packed = packers[coding](zeros)
        start = time.process_time()
        name = coding.removesuffix("-raw")
        saved = read_response(response(f"Content-Encoding: {name}", body=packed))
        assert time.process_time() - start < 2
        assert (len(saved.body or b""), codes(saved)) == (MAX_BODY, ["body-cut"])

    def test_many_members(self) -> None:
        """A gzip of many empty members has no cost either."""
        start = time.process_time()
        saved = read_response(response("Content-Encoding: gzip", body=gzip.compress(b"") * 200_000))
        assert time.process_time() - start < 1
        assert (saved.body, codes(saved)) == (b"", ["body-cut"])

    @pytest.mark.parametrize("more", [0, 1])
    def test_the_limit(self, more: int) -> None:
        """A body of exactly the limit is whole, coded or not."""
        body = b"<" * (MAX_BODY + more)
        for coding, sent in (("identity", body), ("gzip", gzip.compress(body))):
            saved = read_response(response(f"Content-Encoding: {coding}", body=sent))
            assert saved.body == body[:MAX_BODY]
            assert codes(saved) == ["body-cut"] * more


class TestNoResponse:
    """A file of another kind raises an error with a fix."""

    @pytest.mark.parametrize(
        "data",
        [b"", b"\n", PAGE, b'{"log": {}}', b"HTTP", b"HTTP/1.1", b"HTTP/1.1 OK", b"hello world"],
    )
    def test_other_files(self, data: bytes) -> None:
        """HTML, JSON, an empty file."""
        with pytest.raises(SavedResponseError, match="save one with curl -i -o FILE URL"):
            read_response(data)

    @pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
    def test_utf_16(self, encoding: str) -> None:
        """Some shells recode what a program prints."""
        text = "\ufeff" + response(body=b"").decode()
        with pytest.raises(SavedResponseError, match="UTF-16, which comes from a shell"):
            read_response(text.encode(encoding))

    def test_text(self) -> None:
        """A response is octets."""
        with pytest.raises(TypeError, match="read the file in binary"):
            read_response("HTTP/1.1 200 OK")  # type: ignore[arg-type]

    def test_the_error_is_ours(self) -> None:
        """It can be caught as RobotrulesError or as ValueError."""
        assert issubclass(SavedResponseError, RobotrulesError)
        assert issubclass(SavedResponseError, ValueError)


class TestHostileResponse:
    """Content never raises and costs what its octets cost."""

    @pytest.mark.parametrize(
        "rest",
        [
            b"a" * 3_000_000,
            b"\r\n" * 10**6,
            b"a:\n" * 10**6,
            b"1\r\na\r\n" * 500_000,
            b"\n " * 10**6,
        ],
    )
    def test_cost(self, rest: bytes) -> None:
        """Megabytes of anything."""
        start = time.process_time()
        read_response(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + rest)
        read_response(response("Transfer-Encoding: chunked", body=rest))
        assert time.process_time() - start < 4

    def test_fields_without_end(self) -> None:
        """They are cut, and it is noted."""
        saved = read_response(b"HTTP/1.1 200 OK\r\nA: b\r\n" + b"x" * MAX_BYTES)
        assert (saved.fields.get("a"), saved.body) == ([b"b"], None)
        assert codes(saved) == ["fields-cut"]

    @given(
        st.sampled_from(["gzip", "deflate", "br", "gzip, deflate", "identity"]),
        st.binary(max_size=80),
        st.booleans(),
    )
    def test_no_body_raises(self, coding: str, body: bytes, chunked: bool) -> None:
        """With any octets after the fields."""
        lines = ["Transfer-Encoding: chunked"] * chunked
        for data in (body, b"\x1f\x8b\x08" + body, b"x\x9c" + body):
            read_response(response(*lines, f"Content-Encoding: {coding}", body=data))

    @given(st.binary(max_size=80))
    def test_no_fields_raise(self, octets: bytes) -> None:
        """With any octets after the status line."""
        read_response(b"HTTP/1.1 200 OK\r\n" + octets)

    @given(st.binary(min_size=1))
    def test_codings_round_trip(self, body: bytes) -> None:
        """What was coded is decoded."""
        for coding, packed in (("gzip", gzip.compress(body)), ("deflate", zlib.compress(body))):
            assert read_response(response(f"Content-Encoding: {coding}", body=packed)).body == body


# --- HAR files ------------------------------------------------------------------------------------


def entry(
    url: str = "https://example.com/",
    status: int = 200,
    headers: list[dict[str, Any]] | None = None,
    content: dict[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Return an entry of a HAR file."""
    redirect = more.pop("redirect", "")
    return {
        "request": {"method": "GET", "url": url},
        "response": {
            "status": status,
            "headers": headers or [],
            "content": {"mimeType": "text/html"} if content is None else content,
            "redirectURL": redirect,
        },
        **more,
    }


def har(*entries: Any) -> str:
    """Return a HAR file."""
    return json.dumps({"log": {"version": "1.2", "entries": entries}})


def page(text: str = "<p>", **more: Any) -> dict[str, Any]:
    """Return the content of an HTML document."""
    return {"mimeType": "text/html; charset=utf-8", "text": text, **more}


class TestDocuments:
    """One for each document: what the browser calls one, or what is HTML."""

    @pytest.mark.parametrize("called", ["document", "Document"])
    def test_with_a_resource_type(self, called: str) -> None:
        """`_resourceType` decides if it exists: a PDF may be a document."""
        pdf = {"mimeType": "application/pdf", "text": "JVBERg==", "encoding": "base64"}
        found = list(read_har(har(entry(content=pdf, _resourceType=called))))
        assert [one.body for one in found] == [b"%PDF"]

    @pytest.mark.parametrize("called", ["xhr", "fetch", "script", "image", ""])
    def test_html_of_a_script(self, called: str) -> None:
        """HTML that a script fetched is not a document."""
        assert list(read_har(har(entry(content=page(), _resourceType=called)))) == []

    @pytest.mark.parametrize(
        ("media", "is_one"),
        [
            ("text/html", True),
            ("Text/HTML; charset=utf-8", True),
            ("application/xhtml+xml", True),
            (" text/html ;x", True),
            ("text/htmlx", False),
            ("application/json", False),
            ("x-unknown", False),
            ("", False),
        ],
    )
    def test_by_media_type(self, media: str, is_one: bool) -> None:
        """If the browser did not record the type."""
        found = list(read_har(har(entry(content={"mimeType": media, "text": ""}))))
        assert bool(found) is is_one

    def test_order_and_url(self) -> None:
        """In the order of the file, each with its URL and status."""
        text = har(
            entry("https://example.com/1", content=page("a")),
            entry("https://example.com/1.png", content={"mimeType": "image/png"}),
            entry("https://example.com/2", 404, content=page("b")),
        )
        found = [(one.url, one.status, one.body) for one in read_har(text)]
        assert found == [
            ("https://example.com/1", 200, "a"),
            ("https://example.com/2", 404, "b"),
        ]

    @pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
    def test_octets(self, bom: bytes) -> None:
        """A file as it is, with or without a byte order mark."""
        text = har(entry(content=page("é")))
        assert [one.body for one in read_har(bom + text.encode())] == ["é"]
        assert [one.body for one in read_har("\ufeff" + text)] == ["é"]


class TestHarParts:
    """Fields, status and body of an entry."""

    def test_fields(self) -> None:
        """Names in any case, lines apart, pseudo-headers left out."""
        headers = [
            {"name": ":status", "value": "200"},
            {"name": "X-Robots-Tag", "value": "googlebot: nofollow"},
            {"name": "x-robots-tag", "value": "noindex"},
        ]
        (found,) = read_har(har(entry(headers=headers)))
        assert found.fields.lines == (
            ("x-robots-tag", b"googlebot: nofollow"),
            ("x-robots-tag", b"noindex"),
        )
        assert found.fields.apart

    def test_lines_in_one_value(self) -> None:
        """Chrome parts repeated fields by a line end."""
        headers = [{"name": "X-Robots-Tag", "value": "googlebot: nofollow\nnoindex"}]
        (found,) = read_har(har(entry(headers=headers)))
        assert found.fields.get("x-robots-tag") == [b"googlebot: nofollow", b"noindex"]

    @pytest.mark.parametrize(
        ("content", "body", "expected"),
        [
            (page("<p>é"), "<p>é", []),
            (page(""), "", []),
            (page("PHA+", encoding="base64"), b"<p>", []),
            (page("PH\r\nA+", encoding="Base64"), b"<p>", []),
            (page("PHA", encoding="base64"), None, ["bad-base64"]),
            (page("é", encoding="base64"), None, ["bad-base64"]),
            (page("x", encoding="rot13"), "x", []),
            ({"mimeType": "text/html"}, None, ["body-not-saved"]),
            ({"mimeType": "text/html", "text": 5}, None, ["body-not-saved"]),
        ],
    )
    def test_bodies(self, content: Any, body: object, expected: list[str]) -> None:
        """Text as text, base64 as octets."""
        (found,) = read_har(har(entry(content=content)))
        assert (found.body, codes(found)) == (body, expected)

    @pytest.mark.parametrize("more", [0, 1])
    @pytest.mark.parametrize("kind", ["text", "base64", "lines"])
    def test_the_limit(self, kind: str, more: int) -> None:
        """A body is kept up to the limit."""
        octets = b"<" * (MAX_BODY + more)
        content = page(octets.decode())
        if kind == "base64":
            content = page(base64.b64encode(octets).decode(), encoding="base64")
        elif kind == "lines":
            content = page(base64.encodebytes(octets).decode(), encoding="base64")
        (found,) = read_har(har(entry(content=content)))
        assert len(found.body or "") == MAX_BODY
        assert codes(found) == ["body-cut"] * more

    @pytest.mark.parametrize("status", [0, None, True, "200", 200.5])
    def test_no_response(self, status: Any) -> None:
        """Browsers write 0 if there was none; a value that is not a number is not a status."""
        (found,) = read_har(har(entry(status=status, _resourceType="document", content={})))
        assert (found.status, found.body) == (None, None)


class TestHarRedirects:
    """A redirect is not a separate document: it is before its target (AMB-80)."""

    NOINDEX = [{"name": "X-Robots-Tag", "value": "noindex"}]  # noqa: RUF012

    @pytest.mark.parametrize("called", [{}, {"_resourceType": "document"}])
    @pytest.mark.parametrize("target", ["https://example.com/b", "/b", "b", "b#there"])
    @pytest.mark.parametrize("media", ["text/html", "", "x-unknown"])
    def test_a_chain(self, called: dict[str, Any], target: str, media: str) -> None:
        """Each step with its URL, status and fields."""
        content = {"mimeType": media}
        text = har(
            entry("https://example.com/a", 301, self.NOINDEX, content, redirect=target, **called),
            entry("https://example.com/x.css", content={"mimeType": "text/css"}),
            entry("https://example.com/b", 302, [], content, redirect="/c", **called),
            entry("https://example.com/c", content=page("c"), **called),
        )
        (found,) = read_har(text)
        assert (found.url, found.status, found.body) == ("https://example.com/c", 200, "c")
        assert found.fields.get("x-robots-tag") == []
        assert [(one.url, one.status) for one in found.earlier] == [
            ("https://example.com/a", 301),
            ("https://example.com/b", 302),
        ]
        assert found.earlier[0].fields.get("x-robots-tag") == [b"noindex"]

    def test_by_the_location_field(self) -> None:
        """Where redirectURL is empty."""
        headers = [{"name": "Location", "value": "/"}]
        text = har(entry("http://example.com/a", 301, headers), entry("http://example.com/"))
        assert [len(one.earlier) for one in read_har(text)] == [1]

    def test_to_an_origin_without_a_slash(self) -> None:
        """`https://example.com` is fetched as `https://example.com/`."""
        first = entry("http://example.com/", 301, redirect="https://example.com")
        text = har(first, entry("https://example.com/"))
        assert [len(one.earlier) for one in read_har(text)] == [1]

    def test_that_leads_to_no_document(self) -> None:
        """The redirect of an image is not a document, whatever its own media type."""
        text = har(
            entry("https://example.com/a", 302, redirect="/a.png"),
            entry("https://example.com/b", 302, content={"mimeType": ""}, redirect="/b.png"),
            entry("https://example.com/a.png", content={"mimeType": "image/png"}),
            entry("https://example.com/b.png", content={"mimeType": "image/png"}),
        )
        assert list(read_har(text)) == []

    def test_redirect_without_target(self) -> None:
        """With the type of a document it is one; a redirect of unknown type is left out."""
        text = har(
            entry("https://example.com/a", 302, redirect="/elsewhere"),
            entry("https://example.com/b", 302, content={"mimeType": ""}, redirect="/elsewhere"),
            entry("https://example.com/c", 302, redirect="http://[bad"),
            entry("https://example.com/d", 302, _resourceType="document", content={}),
            entry("https://example.com/e", 302, _resourceType="image", redirect="/f"),
        )
        found = [one.url for one in read_har(text)]
        assert found == [f"https://example.com/{name}" for name in "acd"]

    def test_a_prefetch_in_between(self) -> None:
        """If the browser recorded types, other entries with the same URL are skipped."""
        text = har(
            entry("https://example.com/a", 302, redirect="/b", _resourceType="document"),
            entry("https://example.com/b", _resourceType="prefetch"),
            entry("https://example.com/b", _resourceType="document"),
        )
        assert [len(one.earlier) for one in read_har(text)] == [1]

    def test_redirects_to_itself(self) -> None:
        """Thousands of redirects to itself do not take quadratic time."""
        text = har(*[entry("https://example.com/", 302, redirect="/")] * 20_000)
        start = time.process_time()
        found = list(read_har(text))
        assert time.process_time() - start < 4
        assert max(len(one.earlier) for one in found) == MAX_BLOCKS


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


NO_LOGS: tuple[object, ...] = (None, [], {}, 5, {"log": []})


class TestHostileHar:
    """The content of a HAR file never raises; a file of another kind does, with a fix."""

    @pytest.mark.parametrize(
        "odd",
        [
            *(None, 5, "x", [], {}, {"response": 5}, {"response": {}, "request": []}),
            {"_resourceType": 5},
            {"_resourceType": "document"},
            {"_resourceType": "document", "request": {"url": 5}, "response": {"status": "200"}},
            {"_resourceType": "document", "response": {"headers": 5, "content": []}},
            {"_resourceType": "document", "response": {"status": True, "headers": [5, {}, []]}},
            entry(headers=[{"name": 5, "value": "x"}, {"name": "x"}, {"name": "", "value": "x"}]),
            entry(headers=[{"name": "\ud800", "value": "\ud800ж"}]),
            entry(content={"mimeType": 5}),
        ],
    )
    def test_odd_entries(self, odd: Any) -> None:
        """The others are read all the same."""
        assert list(read_har(har(odd, entry("https://example.com/good"))))[-1].url == (
            "https://example.com/good"
        )

    @given(JSON, st.sampled_from(["request", "response", "_resourceType"]), JSON)
    def test_no_entry_raises(self, odd: Any, name: str, value: Any) -> None:
        """Whatever JSON an entry is."""
        list(read_har(har(odd, {**entry(_resourceType="document"), name: value})))

    @pytest.mark.parametrize("part", ["url", "status", "headers", "content", "redirectURL"])
    @given(value=JSON)
    def test_no_part_raises(self, part: str, value: Any) -> None:
        """Whatever JSON a part of it is."""
        made = entry(status=302, _resourceType="document")
        made["request" if part == "url" else "response"][part] = value
        assert len(list(read_har(har(made)))) == 1

    @pytest.mark.parametrize(
        ("data", "what"),
        [
            *(
                (data, "it is not valid JSON")
                for data in (b"", "", PAGE, b"\xff\xfe\x00", "[" * 200_000)
            ),
            *((json.dumps(data), "has no log.entries") for data in NO_LOGS),
            (json.dumps({"log": {"entries": {}}}), "has no log.entries"),
            (response(), "it is not valid JSON"),
        ],
    )
    def test_other_files(self, data: bytes | str, what: str) -> None:
        """The error is raised immediately, not with the first document."""
        with pytest.raises(SavedResponseError, match=rf"{what}.*: export one in the browser"):
            read_har(data)

    def test_misuse(self) -> None:
        """A path is not the content of a file."""
        with pytest.raises(TypeError, match="a HAR file must be bytes or str"):
            read_har(5)  # type: ignore[arg-type]
