"""Header fields as people have them: mappings, pairs, raw octets, responses of HTTP libraries."""

from __future__ import annotations

import asyncio
import email.message
import http.client
import json
import threading
import time
import urllib.request
import warnings
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import SimpleNamespace
from typing import Any
from wsgiref.headers import Headers as WsgiHeaders

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules.http import fields
from robotrules.http.fields import (
    MAX_BYTES,
    MAX_LINES,
    NO_FIELDS,
    Fields,
    first_line,
    read_fields,
)

PAIRS = [
    ("Content-Type", "text/html"),
    ("X-Robots-Tag", "googlebot: nofollow"),
    ("X-Robots-Tag", "noindex"),
    ("Robots-Tag", "*;nosnippet"),
]
LINES = [b"googlebot: nofollow", b"noindex"]


def tags(headers: object) -> tuple[list[bytes], bool]:
    """Return the X-Robots-Tag lines, and whether lines are apart."""
    found = read_fields(headers)
    return found.get("X-Robots-Tag"), found.apart


def test_the_first_line_of_a_field() -> None:
    """Of several lines the first counts, and without lines there are no octets."""
    assert first_line(read_fields(PAIRS), "X-Robots-Tag") == b"googlebot: nofollow"
    assert first_line(read_fields(PAIRS), "Date") == b""


# --- Plain things ---------------------------------------------------------------------------------


class TestMappings:
    """A plain mapping has each name once: its value may have been joined."""

    def test_of_str(self) -> None:
        """Names without case, values without whitespace at the ends, lines not apart."""
        found = read_fields({"X-ROBOTS-TAG": " noindex\t", "Date": ""})
        assert found == Fields((("x-robots-tag", b"noindex"), ("date", b"")), False)

    def test_of_bytes(self) -> None:
        """Octets are taken as they are."""
        assert tags({b"X-Robots-Tag": b"noindex\xff"}) == ([b"noindex\xff"], False)

    @pytest.mark.parametrize("kind", [list, tuple])
    def test_of_lists(self, kind: Callable[[Any], Any]) -> None:
        """A list is the lines of a field: they are apart."""
        assert tags({"X-Robots-Tag": kind(["a", b"b"])}) == ([b"a", b"b"], True)
        assert tags({"X-Robots-Tag": kind([])}) == ([], True)

    def test_mixed(self) -> None:
        """One value that may be joined is enough."""
        assert tags({"X-Robots-Tag": ["a"], "B": "b"}) == ([b"a"], False)

    def test_a_field_that_is_none_is_not_there(self) -> None:
        """As requests has it."""
        assert tags({"X-Robots-Tag": None}) == ([], True)

    def test_both_spellings(self) -> None:
        """A mapping may have a name in two cases: both are lines."""
        assert tags({"X-Robots-Tag": "a", "x-robots-tag": "b"}) == ([b"a", b"b"], False)

    def test_nothing(self) -> None:
        """None and what is empty have no fields."""
        assert read_fields(None) is NO_FIELDS
        nothing: tuple[object, ...] = ({}, [], (), b"", "", iter([]))
        for empty in nothing:
            assert read_fields(empty) == NO_FIELDS


class TestPairs:
    """An iterable of pairs keeps lines apart, in their order."""

    @pytest.mark.parametrize("kind", [list, tuple, iter, lambda pairs: (pair for pair in pairs)])
    def test_iterables(self, kind: Callable[[Any], Any]) -> None:
        """Any iterable will do."""
        found = read_fields(kind(PAIRS))
        assert [name for name, _ in found.lines] == [
            *("content-type", "x-robots-tag", "x-robots-tag", "robots-tag")
        ]
        assert (found.get("x-robots-tag"), found.apart) == (LINES, True)

    def test_octets_and_lists(self) -> None:
        """As ASGI and h11 have them."""
        assert tags([[b"x-robots-tag", b"a"], (bytearray(b"X-Robots-Tag"), memoryview(b"b"))]) == (
            [b"a", b"b"],
            True,
        )

    def test_a_list_as_a_value(self) -> None:
        """It is several lines."""
        assert tags([("X-Robots-Tag", ["a", "b"])]) == ([b"a", b"b"], True)

    def test_fields_themselves(self) -> None:
        """What was read once is not read again."""
        found = read_fields(PAIRS)
        assert read_fields(found) is found
        assert read_fields(type("Response", (), {"headers": found})()) is found


class TestText:
    """A str value becomes the octets it came from."""

    @pytest.mark.parametrize(
        ("text", "octets"),
        [
            ("é", b"\xe9"),  # decoded as latin-1, as http.client does
            ("ж", "ж".encode()),
            ("\udcff", b"\xff"),  # decoded as UTF-8 with surrogateescape, as aiohttp does
            ("ж\udcff", "ж".encode() + b"\xff"),
            ("\ud800", b"\xed\xa0\x80"),
        ],
    )
    def test_octets(self, text: str, octets: bytes) -> None:
        """Nothing raises."""
        assert read_fields({"a": text}).get("a") == [octets]
        assert read_fields("a: " + text).get("a") == [octets]


class TestLineEnds:
    """No value has a line end in it: it is folded, or several lines in one."""

    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    def test_folds(self, end: str) -> None:
        """RFC 9112 §5.2: read as a space."""
        value = f"noindex,{end}\t nofollow"
        assert tags([("X-Robots-Tag", value)])[0] == [b"noindex, nofollow"]
        assert tags([(b"X-Robots-Tag", value.encode())])[0] == [b"noindex, nofollow"]

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    def test_lines_in_one(self, end: str) -> None:
        """Browsers put repeated fields into one value with line ends between them."""
        value = f"noindex {end}nofollow{end}"
        for pair in (("X-Robots-Tag", value), (b"X-Robots-Tag", value.encode())):
            assert tags(dict([pair]))[0] == [b"noindex", b"nofollow"]
            assert tags([pair])[0] == [b"noindex", b"nofollow"]


# --- Libraries ------------------------------------------------------------------------------------


class _Handler(BaseHTTPRequestHandler):
    """Answers every request with two X-Robots-Tag lines and octets that are not UTF-8."""

    def do_GET(self) -> None:
        """Answer."""
        self.send_response(200)
        for name, value in PAIRS:
            self.send_header(name, value)
        self.send_header("X-Odd", "caf\xe9")
        self.send_header("X-Utf-8", "é".encode().decode("latin-1"))
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Return the address of a server on this machine, for as long as the tests of a file take."""
    with HTTPServer(("127.0.0.1", 0), _Handler) as served:
        thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{served.server_port}/"
        finally:
            served.shutdown()
            thread.join()


def library(name: str) -> Any:
    """Import a library, or skip the test with a reason; its import warnings are ignored."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name, reason=f"{name} is not installed: pip install {name}")


def check(response: object) -> None:
    """Check that every line of the server's answer was read."""
    found = read_fields(response)
    assert found.apart
    assert found.get("X-Robots-Tag") == LINES
    assert found.get("robots-tag") == [b"*;nosnippet"]
    assert found.get("x-odd") == [b"caf\xe9"]


class TestLibraries:
    """Real responses, by what they can do and not by their class."""

    def test_httpx(self, server: str) -> None:
        """Response and Headers, fetched and made."""
        httpx = library("httpx")
        with httpx.Client(trust_env=False) as client:
            response = client.get(server)
        check(response)
        check(response.headers)
        made = httpx.Response(200, headers=[*PAIRS, (b"X-Odd", b"caf\xe9")])
        check(made)
        check(made.headers)
        # httpx decodes this as UTF-8, and the octets are still those that came.
        utf8 = httpx.Response(200, headers=[(b"a", "é".encode())])
        assert read_fields(utf8).get("a") == ["é".encode()]

    def test_requests(self, server: str) -> None:
        """`.headers` joins lines; the urllib3 response beneath does not."""
        requests = library("requests")
        with requests.Session() as session:
            session.trust_env = False
            with session.get(server) as response:
                check(response)
                check(response.raw)
                check(response.raw.headers)
                acquire = read_fields(response.headers)
        assert acquire.get("x-robots-tag") == [b"googlebot: nofollow, noindex"]
        assert not acquire.apart

    def test_requests_made_by_hand(self) -> None:
        """Without a response of urllib3 there are only joined headers."""
        requests = library("requests")
        response = requests.Response()
        assert read_fields(response) == NO_FIELDS
        response.headers["X-Robots-Tag"] = "noindex"
        response.raw = email.message.Message()  # no headers in it
        assert tags(response) == ([b"noindex"], False)
        response.raw = type("Raw", (), {"headers": {}})()
        assert tags(response) == ([b"noindex"], False)

    def test_aiohttp(self, server: str) -> None:
        """ClientResponse and its multi-dictionary."""
        aiohttp = library("aiohttp")

        async def fetch() -> None:
            async with aiohttp.ClientSession() as session, session.get(server) as response:
                check(response)
                # aiohttp decodes this as UTF-8, and the octets are still those that came.
                assert read_fields(response).get("x-utf-8") == ["é".encode()]
                assert tags(response.headers) == (LINES, True)
                assert tags(response.headers.copy()) == (LINES, True)

        asyncio.run(fetch())

    def test_scrapy(self) -> None:
        """Responses of Scrapy and their headers, whose values are lists of octets."""
        scrapy = library("scrapy.http")
        values = {"X-Robots-Tag": [b"googlebot: nofollow", b"noindex"], "X-Odd": b"caf\xe9"}
        response = scrapy.HtmlResponse(
            "https://example.com/", headers=values | {"Robots-Tag": "*;nosnippet"}, body=b"ok"
        )
        check(response)
        check(response.headers)
        # What Scrapy offers as a plain mapping is joined.
        acquire = scrapy.Headers({"X-Robots-Tag": LINES}).to_unicode_dict()
        assert tags(acquire) == ([b"googlebot: nofollow,noindex"], False)

    def test_urllib(self, server: str) -> None:
        """Responses of urllib and http.client, and the message in them."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(server) as response:
            check(response)
            check(response.headers)
            assert tags(dict(response.headers.items()))[1] is False

    def test_http_client(self, server: str) -> None:
        """What http.client gives."""
        connection = http.client.HTTPConnection(server.split("/")[2])
        try:
            connection.request("GET", "/")
            with connection.getresponse() as response:
                check(response)
                check(response.msg)
                check(response.getheaders())
        finally:
            connection.close()

    def test_email(self) -> None:
        """A Message has its values as they came, also where `email` would make objects of them."""
        message = email.message.Message()
        for name, value in PAIRS:
            message[name] = value
        message["X-Odd"] = "caf\udce9"
        check(message)

    def test_wsgiref(self) -> None:
        """Headers that are not a Mapping."""
        assert tags(WsgiHeaders(list(PAIRS))) == (LINES, True)

    def test_headers_that_join_and_can_list(self) -> None:
        """Tornado's way: joined items, and the lines by name."""

        class Joining(dict[str, str]):
            def get_list(self, name: str) -> list[str]:
                return self[name].split(",")

        assert tags(Joining({"X-Robots-Tag": "a,b"})) == ([b"a", b"b"], True)


class TestLooks:
    """The methods of an object decide how its lines are read."""

    @pytest.mark.parametrize("name", ["getall", "getlist", "get_all"])
    def test_mappings_of_many(self, name: str) -> None:
        """Multi-dictionaries give each line an item."""
        kind = type("Many", (dict,), {name: lambda self, name: []})
        assert tags(kind({"X-Robots-Tag": "a"})) == ([b"a"], True)
        assert tags(type("One", (dict,), {})({"X-Robots-Tag": "a"})) == ([b"a"], False)

    def test_invalid_responses(self) -> None:
        """Text as `headers`, and beneath it what has no fields."""
        with pytest.raises(TypeError, match=r"pass response\.headers"):
            read_fields(SimpleNamespace(headers="A: b"))
        with pytest.raises(TypeError, match=r"pass response\.headers"):
            read_fields(SimpleNamespace(headers=b"A: b"))
        beneath = SimpleNamespace(headers=5)
        response = SimpleNamespace(headers={"X-Robots-Tag": "a"}, raw=beneath)
        assert tags(response) == ([b"a"], False)

    @pytest.mark.parametrize("listed", [False, True])
    def test_ends_of_names_and_values(self, listed: bool) -> None:
        """Spaces, tabs and line ends are not part of them; everything else is."""
        for name, value, line in (
            ("A\x0c", "\x0cb\x0c", ("a\x0c", b"\x0cb\x0c")),
            (" \r\n\tA\t\r\n ", " \t\r\nb\r\n \t", ("a", b"b")),
            ("XAX", "XbX", ("xax", b"XbX")),
        ):
            for pair in ((name, value), (name.encode(), value.encode())):
                given = (pair[0], [pair[1]]) if listed else pair
                assert read_fields([given]).lines == (line,)

    def test_lines_beside_lines_in_one(self) -> None:
        """All of them, in their order."""
        found = read_fields([("a", "1"), ("b", "2\n\x0c3 \r\nX\n"), ("c", None), ("d", "4")])
        assert found.lines == (
            *(("a", b"1"), ("b", b"2"), ("b", b"\x0c3"), ("b", b"X"), ("d", b"4")),
        )

    def test_names_that_are_remembered(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Some short ones: strangers must not fill the memory."""
        kept: dict[bytes, str] = {}
        monkeypatch.setattr(fields, "_NAMES", kept)
        monkeypatch.setattr(fields, "_MAX_NAMES", 2)
        names = [b"A" * 65, b"B" * 64, b"C", b"D"]
        found = read_fields([(name, b"") for name in names])
        assert [name for name, _ in found.lines] == ["a" * 65, "b" * 64, "c", "d"]
        assert kept == {b"B" * 64: "b" * 64, b"C": "c"}
        kept[b"C"] = "remembered"
        assert read_fields([(b"C", b"")]).lines == (("remembered", b""),)

    @pytest.mark.parametrize(
        "headers",
        [
            dict(PAIRS),
            {"Date": ""},
            PAIRS,
            [(name.encode(), value.encode()) for name, value in PAIRS],
        ],
    )
    def test_plain_headers_are_not_looked_into(
        self, headers: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What most callers have is read without a look at what else it can do, which is slow."""
        is_dict = isinstance(headers, dict)
        expected = read_fields(iter(headers.items() if is_dict else headers)).lines
        for slow in ("_from_response", "_from_headers"):
            monkeypatch.setattr(fields, slow, None)
        monkeypatch.setattr(fields, "MAX_LINES", len(headers))
        found = read_fields(headers)
        assert found.lines == expected
        assert found.apart is (not is_dict)

    def test_fields_after_the_limit_are_not_examined(self) -> None:
        """A value behind the last line that is read may be joined, and that does not matter."""
        many: dict[str, Any] = {str(at): [""] for at in range(MAX_LINES)}
        assert read_fields(many).apart
        assert read_fields(many | {"last": ""}).apart
        assert not read_fields({"last": ""} | many).apart


# --- Strangers and mistakes -----------------------------------------------------------------------


class TestBounds:
    """Nothing costs more than its octets, and there is an end to them."""

    def test_lines(self) -> None:
        """At most so many lines are read, also from what never ends."""

        def endless() -> Iterator[tuple[str, str]]:
            while True:
                yield "a", "b"

        assert len(read_fields(endless()).lines) == MAX_LINES
        assert len(read_fields([("a", ["b"] * (MAX_LINES + 1))]).lines) == MAX_LINES
        assert len(read_fields({"a": "b\n" * (MAX_LINES + 1)}).lines) == MAX_LINES
        assert len(read_fields({str(at): "" for at in range(MAX_LINES + 1)}).lines) == MAX_LINES

    @pytest.mark.parametrize("kind", [bytes, lambda raw: raw.decode()])
    def test_octets(self, kind: Callable[[bytes], Any]) -> None:
        """Raw octets are cut at the end of a line: half a line may have another meaning."""
        first = b"a: 1\na: 2\n"
        for size in range(MAX_BYTES - 3, MAX_BYTES + 4):
            block = first + b"b: " + b"x" * (size - len(first) - 3)
            assert len(block) == size
            names = [name for name, _ in read_fields(kind(block)).lines]
            assert names == (["a", "a", "b"] if size <= MAX_BYTES else ["a", "a"])
            whole = block if size < MAX_BYTES else first
            assert read_fields(kind(block + b"\nc: 3")).lines[:3] == read_fields(whole).lines
        assert read_fields(kind(b"b: " + b"x" * MAX_BYTES)) == NO_FIELDS

    def test_text_behind_the_limit(self) -> None:
        """It is not examined, so it cannot show how the text before it was decoded."""
        block = "a: é\nb: "
        found = read_fields(block.ljust(MAX_BYTES + 1, "x") + "ж")
        assert found.lines == (("a", b"\xe9"),)

    @pytest.mark.parametrize(
        "octets", [b" ", b"\n ", b"\r\n", b"\r", b":", b"a:\n", b"a\n ", b"a: b\r\n ", b"\t\n"]
    )
    def test_cost(self, octets: bytes) -> None:
        """A million of anything is read in no time."""
        many = octets * (10**6 // len(octets))
        start = time.process_time()
        read_fields(many)
        read_fields([("a", many), ("b", b"x" + many + b"x")])
        assert time.process_time() - start < 2

    @given(st.binary(max_size=200) | st.from_regex(rb"([a-b: \t\r\n]){0,60}", fullmatch=True))
    def test_no_octets_raise(self, octets: bytes) -> None:
        """Every block has lines, and no line has a line end or whitespace at its ends."""
        found = read_fields(octets)
        assert found == read_fields(octets.decode("latin-1"))
        for name, value in found.lines:
            assert name == name.lower()
            assert value == value.strip(b" \t\r\n")
            assert not set(value) & set(b"\r\n")

    @given(st.dictionaries(st.text(), st.text() | st.binary() | st.lists(st.text())))
    def test_no_text_raises(self, headers: dict[str, Any]) -> None:
        """Every mapping of texts has lines, and reading them again changes nothing."""
        found = read_fields(headers)
        assert read_fields(found.lines) == found._replace(apart=True)

    def test_as_dict(self) -> None:
        """It is plain, and JSON."""
        found = read_fields({"X-Robots-Tag": "noindex"}).as_dict()
        assert json.loads(json.dumps(found)) == {
            "lines": [{"name": "x-robots-tag", "value": "noindex"}],
            "apart": False,
        }


class TestMisuse:
    """An object without fields raises, and the error contains the fix."""

    @pytest.mark.parametrize("headers", [5, object(), True, 1.5, len])
    def test_no_headers(self, headers: object) -> None:
        """A number has none."""
        with pytest.raises(TypeError) as told:
            read_fields(headers)
        assert str(told.value) == (
            "headers must be a mapping, (name, value) pairs, raw header bytes, or a "
            "response of httpx, requests, aiohttp or Scrapy; not "
            f"{type(headers).__name__}: pass response.headers"
        )

    @pytest.mark.parametrize(
        "headers", [["noindex"], ["ab"], [("a",)], [5], [("a", "b", "c")], {1}]
    )
    def test_no_pairs(self, headers: object) -> None:
        """A list of words is none of pairs."""
        with pytest.raises(TypeError) as told:
            read_fields(headers)
        (pair,) = list(headers)  # type: ignore[call-overload]
        assert str(told.value) == (
            f"header fields must be (name, value) pairs, not {pair!r}: pass "
            "[('Robots-Tag', '...')], or the whole header block as bytes"
        )

    @pytest.mark.parametrize("value", [5, object(), ["a", 5], {"a": "b"}])
    def test_values(self, value: object) -> None:
        """A value is str or bytes."""
        with pytest.raises(TypeError) as told:
            read_fields({"age": value})
        odd = value[1] if isinstance(value, list) else value
        assert str(told.value) == (
            f"the value of field 'age' is {type(odd).__name__}: pass str or bytes"
        )

    @pytest.mark.parametrize("name", [5, None])
    def test_names(self, name: object) -> None:
        """A name is str or bytes."""
        with pytest.raises(TypeError) as told:
            read_fields([(name, "x")])
        words = f"a field name must be str or bytes, not {type(name).__name__}"
        assert str(told.value) == words

    def test_items_that_are_none(self) -> None:
        """What has items has pairs."""

        class Odd:
            def items(self) -> int:
                return 5

        with pytest.raises(TypeError, match="not int"):
            read_fields(Odd())

    def test_what_only_looks_like_a_response(self) -> None:
        """Its headers are what is refused."""

        class Odd:
            headers = 5

        with pytest.raises(TypeError, match="not int"):
            read_fields(Odd())

    def test_it_is_immutable(self) -> None:
        """Values are frozen."""
        with pytest.raises(AttributeError):
            NO_FIELDS.apart = False  # type: ignore[misc]
