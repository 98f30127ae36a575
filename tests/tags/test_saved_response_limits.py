"""Saved responses: where each limit is, odd forms, and the texts of errors."""

from __future__ import annotations

import gzip
import random
import zlib
from typing import Any

import pytest

from robotrules.errors import SavedResponseError
from robotrules.http.fields import MAX_BYTES
from robotrules.tags import saved_responses
from robotrules.tags.saved_responses import (
    MAX_BLOCKS,
    MAX_CODINGS,
    MAX_MEMBERS,
    read_har,
    read_response,
)
from tests.tags.test_saved_responses import PAGE, codes, entry, har, response

# More than one piece of what zlib is given at once.
LONG = random.Random(9309).randbytes(200_000)
BINARY = bytes(range(64))


class TestBlocks:
    """Status line, fields, and where they end."""

    def test_fields_that_end_late(self) -> None:
        """Behind the limit no end is looked for."""
        start = b"HTTP/1.1 200 OK\r\nA: b\r\nC: "
        late = read_response(start.ljust(MAX_BYTES - 3, b"x") + b"\r\n\r\n" + PAGE)
        assert (late.body, codes(late)) == (None, ["fields-cut"])
        assert late.fields.get("a") == [b"b"]
        just = read_response(start.ljust(MAX_BYTES - 4, b"x") + b"\r\n\r\n" + PAGE)
        assert (just.body, codes(just)) == (PAGE, [])

    def test_fields_alone(self) -> None:
        """Without an empty line behind them."""
        assert read_response(b"HTTP/1.1 200 OK\r\nA: b").fields.get("a") == [b"b"]
        assert read_response(b"HTTP/1.1 200 OK\rA: b\r\r").fields.get("a") == [b"b"]
        first = response("Location: /", status="HTTP/1.1 302 Found", body=b"")
        found = read_response(first * 2)
        assert [one.status for one in found.earlier] == [302]
        found = read_response(first + b"HTTP/1.1 200 OK\r\nA: b")
        assert (found.status, found.body, codes(found)) == (200, None, [])
        assert [one.status for one in found.earlier] == [302]

    def test_no_field_is_in_the_body(self) -> None:
        """Behind a status line and an empty line there is only a body."""
        found = read_response(b"HTTP/1.1 200 OK\r\n\r\nA: b\r\n\r\n")
        assert (found.fields.lines, found.body) == ((), b"A: b\r\n\r\n")

    def test_the_limit_is_that_of_one_block(self) -> None:
        """Those before it do not count."""
        long = f"A: {'x' * (MAX_BYTES - 1000)}"
        first = response(long, status="HTTP/1.1 302 Found", body=b"")
        for size, cut in ((100, []), (MAX_BYTES, []), (MAX_BYTES + 1, ["fields-cut"])):
            last = b"HTTP/1.1 200 OK\r\nA: ".ljust(size, b"x")
            assert codes(read_response(first + last)) == cut

    def test_spaces_before_it(self) -> None:
        """They are not line ends."""
        with pytest.raises(SavedResponseError):
            read_response(b" HTTP/1.1 200 OK\r\n\r\n")

    def test_an_interim_response_has_its_own_fields(self) -> None:
        """Those of the response behind it are not among them."""
        hints = response("Link: </a>", status="HTTP/1.1 103 Early Hints", body=b"")
        found = read_response(hints + response("A: b"))
        assert [one.fields.lines for one in found.earlier] == [(("link", b"</a>"),)]
        assert found.fields.lines == (("a", b"b"),)

    @pytest.mark.parametrize(
        ("status", "line"),
        [
            ("HTTP/1.1 200 OK", "Transfer-Encoding: x"),
            ("HTTP/1.1 299 OK", "Content-Type: x"),
            ("HTTP/1.1 300 Multiple Choices", "A: b"),
        ],
    )
    def test_no_other_response_follows(self, status: str, line: str) -> None:
        """What looks like one is the body."""
        body = response("X-Robots-Tag: all")
        found = read_response(response(line, status=status, body=body))
        assert (found.body, found.earlier) == (body, ())

    @pytest.mark.parametrize(
        ("status", "body"), [(204, b""), (205, b""), (206, None), (200, None), (304, None)]
    )
    def test_empty_by_its_status(self, status: int, body: bytes | None) -> None:
        """Other responses without a body were saved without it."""
        assert read_response(response(status=f"HTTP/2 {status}", body=b"")).body == body


class TestBodies:
    """Chunks and codings."""

    CHUNKED = "Transfer-Encoding: chunked"

    def test_cut_after_an_editor(self) -> None:
        """Line ends of one octet, cut in the second chunk."""
        found = read_response(response(self.CHUNKED, body=b"5\nhello\n6\n wo"))
        assert (found.body, codes(found)) == (b"hello wo", ["body-cut"])

    @pytest.mark.parametrize("body", [b"5\r\nhello\r\nxyz", b"5\r\nhello\r\n5\r\nhelloxyz"])
    def test_a_text_that_begins_like_chunks(self, body: bytes) -> None:
        """It was none."""
        found = read_response(response(self.CHUNKED, body=body))
        assert (found.body, codes(found)) == (body, [])

    def test_cut_chunks_of_a_whole_coding(self) -> None:
        """One note, whichever of them was cut; and one if both were."""
        packed = gzip.compress(PAGE)
        for octets in (packed, packed[:-4]):
            body = b"%x\r\n%b\r\n" % (len(octets), octets)
            found = read_response(response(self.CHUNKED, "Content-Encoding: gzip", body=body))
            assert codes(found) == ["body-cut"]
            assert not found.complete
            found = read_response(response(self.CHUNKED, "Content-Encoding: x", body=body))
            assert codes(found) == ["body-cut", "body-not-decoded"]
        assert read_response(response()).complete

    def test_identity_is_not_a_coding(self) -> None:
        """The body is unchanged, text or not."""
        for coding in ("identity", "Identity, identity", "identity, " * 2 * MAX_CODINGS):
            found = read_response(response(f"Content-Encoding: {coding}", body=BINARY))
            assert (found.body, codes(found)) == (BINARY, [])

    def test_the_number_of_codings(self) -> None:
        """So many are taken off, and of more none."""
        body = PAGE
        for number in range(1, MAX_CODINGS + 2):
            body = gzip.compress(body)
            found = read_response(
                response(f"Content-Encoding: {', '.join(['gzip'] * number)}", body=body)
            )
            assert found.body == (PAGE if number <= MAX_CODINGS else None)

    def test_the_number_of_members(self) -> None:
        """A gzip file may be several, up to a limit."""
        for number in (MAX_MEMBERS, MAX_MEMBERS + 1):
            body = gzip.compress(b"x") * number
            found = read_response(response("Content-Encoding: gzip", body=body))
            assert found.body == b"x" * MAX_MEMBERS
            assert codes(found) == ["body-cut"] * (number > MAX_MEMBERS)

    @pytest.mark.parametrize("coding", ["gzip", "deflate"])
    def test_long_ones(self, coding: str) -> None:
        """They are decoded in pieces, and what comes before damage is kept."""
        packed = gzip.compress(LONG) if coding == "gzip" else zlib.compress(LONG)
        found = read_response(response(f"Content-Encoding: {coding}", body=packed))
        assert (found.body == LONG, codes(found)) == (True, [])
        for damaged in (packed[:-50_000], packed[:150_000] + b"\xff" * 50_000):
            found = read_response(response(f"Content-Encoding: {coding}", body=damaged))
            assert isinstance(found.body, bytes)
            assert found.body[:100_000] == LONG[:100_000]
            assert codes(found) == ["body-cut"]

    @pytest.mark.parametrize("octets", [LONG, b"x" * 200_000])
    def test_no_more_is_decoded_than_is_kept(
        self, octets: bytes, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """One octet more, which shows that there is more."""
        monkeypatch.setattr(saved_responses, "MAX_BODY", 70_000)
        for body, form in (
            (zlib.compress(octets), 15),
            (gzip.compress(octets[:65_000]) + gzip.compress(octets[65_000:]), 31),
        ):
            found, is_whole = saved_responses._inflate(body, form)
            assert (found == octets[:70_001], is_whole) == (True, False)

    @pytest.mark.parametrize("coding", ["gzip\x0c", "\x0c", "gzip\xa0"])
    def test_names_of_codings(self, coding: str) -> None:
        """Only spaces and tabs are removed around them."""
        found = read_response(response(f"Content-Encoding: {coding}", body=gzip.compress(PAGE)))
        assert codes(found) == ["body-not-decoded"]
        body = gzip.compress(PAGE)
        found = read_response(response("Content-Encoding: \tgzip\t,\t", body=body))
        assert (found.body, codes(found)) == (PAGE, [])

    def test_what_is_text(self) -> None:
        """It has no controls in its first kilobyte, or begins as UTF-16 does."""
        for body, is_text in (
            (b"x" * 1024 + b"\0", True),
            (b"x" * 1023 + b"\0", False),
            (b"\xff\xfex\0", True),
            (b"\xfe\xff\0x", True),
            (b"\0x", False),
            (b"\x09\x0a\x0c\x0d\x1b\x7f\xff", True),
            *((bytes([sign]), False) for sign in (0, 8, 0x0B, 0x0E, 0x1A, 0x1C, 0x1F)),
        ):
            found = read_response(response("Content-Encoding: br", body=body))
            assert found.body == (body if is_text else None)

    def test_the_limit_at_the_end_of_a_piece(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Octets after it are not decoded."""
        body = zlib.compress(LONG)
        size = len(zlib.decompressobj().decompress(body[:65536]))
        monkeypatch.setattr(saved_responses, "MAX_BODY", size - 1)
        found, is_whole = saved_responses._inflate(body, 15)
        assert (len(found), is_whole) == (size, False)


def test_fields_that_begin_with_an_x() -> None:
    """Before a response only line ends are skipped."""
    found = read_response(b"\r\n\nX-Robots-Tag: noindex\r\n\r\n")
    assert found.fields.lines == (("x-robots-tag", b"noindex"),)


@pytest.mark.parametrize("code", saved_responses.CODES)
def test_notes(code: str) -> None:
    """Each has a level and a sentence."""
    level, sentence = saved_responses.CODES[code]
    note = saved_responses._note(code)
    assert (note.code, note.level, note.message, note.source) == (code, level, sentence, None)


class TestHar:
    """Redirects in HAR files."""

    def test_a_url_in_a_query(self) -> None:
        """It is compared without changes."""
        text = har(
            entry("https://example.com/", 302, redirect="/?u=http://x"),
            entry("https://example.com/?u=http://x/"),
            entry("https://example.com/?u=http://x"),
        )
        assert [len(one.earlier) for one in read_har(text)] == [0, 1]

    def test_the_first_location_counts(self) -> None:
        """A response with two of them is one of the broken ones."""
        lines = [{"name": "Location", "value": value} for value in ("/b", "/c")]
        text = har(
            entry("https://example.com/a", 302, lines),
            entry("https://example.com/b"),
            entry("https://example.com/bc"),
            entry("https://example.com/c"),
        )
        assert [len(one.earlier) for one in read_har(text)] == [1, 0, 0]

    def test_the_number_of_redirects(self) -> None:
        """After so many another document begins."""
        text = har(*[entry("https://example.com/", 302, redirect="/")] * (MAX_BLOCKS + 3))
        assert [len(one.earlier) for one in read_har(text)] == [MAX_BLOCKS, 1]


class TestErrors:
    """Each contains a fix."""

    @pytest.mark.parametrize(
        ("data", "told"),
        [
            (
                b"\xff\xfex",
                "the file is UTF-16, which comes from a shell redirection: "
                "save it with curl -i -o FILE",
            ),
            (
                b"",
                "not a saved HTTP response, which starts with a line such as HTTP/1.1 200 OK: "
                "save one with curl -i -o FILE URL",
            ),
        ],
    )
    def test_responses(self, data: bytes, told: str) -> None:
        """Files of another kind."""
        with pytest.raises(SavedResponseError) as error:
            read_response(data)
        assert str(error.value) == told

    @pytest.mark.parametrize(
        ("data", "told"),
        [
            ("", "not a HAR file, because it is not valid JSON"),
            ("{}", "not a HAR file, because it has no log.entries"),
        ],
    )
    def test_har_files(self, data: str, told: str) -> None:
        """Files of another kind."""
        with pytest.raises(SavedResponseError) as error:
            read_har(data)
        assert str(error.value) == (
            f"{told}: export one in the browser's network panel with 'Save all as HAR'"
        )

    def test_types(self) -> None:
        """Arguments that are not the content of a file."""
        wrong: Any = "HTTP/1.1 200 OK"
        with pytest.raises(TypeError) as error:
            read_response(wrong)
        assert str(error.value) == (
            "a saved response must be bytes, not str: read the file in binary mode"
        )
        wrong = 5
        with pytest.raises(TypeError) as error:
            read_har(wrong)
        assert str(error.value) == "a HAR file must be bytes or str, not int: read the file"
