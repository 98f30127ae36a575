"""Codings: what comes off, what is broken, and what a bomb costs; without any connection."""

from __future__ import annotations

import gzip
import random
import time
import zlib
from collections.abc import Callable

import brotli  # type: ignore[import-untyped]
import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from robotrules.client.transports.codings import (
    ACCEPT_ENCODING,
    MAX_CODINGS,
    MAX_PARTS,
    Body,
    CodingError,
)
from tests.client import fault_servers

TEXT = b"User-agent: *\nDisallow: /private\n" * 3000
# Of deflate (RFC 1951 §3.2): a stored block of no octets; eight blocks with tables of their own
# that end at once, of 90 bits each.
GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
EMPTY_BLOCK = b"\x00\x00\x00\xff\xff"
EMPTY_TABLES = bytes.fromhex(
    "04c081000000000090ff6b100007020000000040feaf41001c080000000000f9bf060170200000000000e4ff1a"
    "04c081000000000090ff6b100007020000000040feaf41001c080000000000f9bf060170200000000000e4ff1a"
)


def raw_deflate(body: bytes) -> bytes:
    """Return deflate without the zlib wrapper."""
    made = zlib.compressobj(wbits=-15)
    return made.compress(body) + made.flush()


CODED: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "zlib": ("deflate", zlib.compress),
    "raw deflate": ("deflate", raw_deflate),
    "br": ("br", brotli.compress),
    "zstd": ("zstd", zstd.compress),
}


def read(data: bytes, *codings: str, limit: int = 10**6, step: int = 0) -> tuple[bytes, bool]:
    """Return what a body decodes to, fed whole or in steps."""
    body = Body([one.encode() for one in codings], limit)
    step = step or len(data) or 1
    for start in range(0, len(data), step):
        if body.feed(data[start : start + step]):
            return body.octets()
    body.end()
    return body.octets()


@pytest.mark.parametrize("name", CODED)
@pytest.mark.parametrize("step", [0, 1, 7, 1000])
def test_what_went_in_comes_out(name: str, step: int) -> None:
    coding, encode = CODED[name]
    assert read(encode(TEXT), coding, step=step) == (TEXT, True)


@pytest.mark.parametrize("name", CODED)
def test_pieces_that_are_as_long_as_they_may_be(name: str) -> None:
    """Lengths around the size of a piece, where a decompressor holds something back."""
    coding, encode = CODED[name]
    for size in (65535, 65536, 65537, 131072, 131073, 196608):
        body = bytes(size)
        assert read(encode(body), coding) == (body, True), size


@pytest.mark.parametrize("name", CODED)
@pytest.mark.parametrize("step", [0, 1])
def test_half_of_a_coding_is_broken(name: str, step: int) -> None:
    """Whatever is missing at the end: it may have contained a rule (AMB-57)."""
    coding, encode = CODED[name]
    whole = encode(TEXT)
    for length in {1, 2, 5, 12, len(whole) // 2, len(whole) - 1}:
        with pytest.raises(CodingError, match=coding):
            read(whole[:length], coding, step=step)


@pytest.mark.parametrize("name", CODED)
def test_nothing_at_all_is_an_empty_file(name: str) -> None:
    assert read(b"", CODED[name][0]) == (b"", True)


@pytest.mark.parametrize("name", CODED)
@given(st.binary(min_size=1, max_size=200))
def test_garbage_is_broken_or_text(name: str, data: bytes) -> None:
    """No octets make anything but an answer or a CodingError."""
    try:
        body, complete = read(data, CODED[name][0], limit=100)
    except CodingError:
        return
    assert len(body) <= 100
    assert complete or len(body) == 100


@pytest.mark.parametrize("step", [0, 1, 3])
def test_gzip_has_members(step: int) -> None:
    """RFC 1952 §2.2: what is in the second one counts; zeros after the last are padding."""
    both = gzip.compress(b"Allow: /a\n") + gzip.compress(b"Disallow: /\n")
    assert read(both, "gzip", step=step) == (b"Allow: /a\nDisallow: /\n", True)
    assert read(both + b"\x00" * 9, "gzip", step=step) == (b"Allow: /a\nDisallow: /\n", True)
    assert read(both + b"\x1f", "gzip", step=step) == (b"Allow: /a\nDisallow: /\n", True)
    with pytest.raises(CodingError):
        read(both + b"\x1f\x8b", "gzip", step=step)


@pytest.mark.parametrize("step", [0, 1, 3])
def test_zstd_has_frames(step: int) -> None:
    both = zstd.compress(b"Allow: /a\n") + zstd.compress(b"Disallow: /\n")
    assert read(both, "zstd", step=step) == (b"Allow: /a\nDisallow: /\n", True)


def test_a_wrong_checksum_is_broken() -> None:
    whole = bytearray(gzip.compress(TEXT))
    whole[-6] ^= 1
    with pytest.raises(CodingError, match="gzip"):
        read(bytes(whole), "gzip")


def test_codings_are_taken_off_last_first() -> None:
    data = zstd.compress(brotli.compress(TEXT))
    assert read(data, "BR", "", " zstd ", step=100) == (TEXT, True)
    assert read(gzip.compress(TEXT), "identity, x-gzip,,identity") == (TEXT, True)
    with pytest.raises(CodingError):
        read(data, "zstd, br")


@pytest.mark.parametrize(
    "coding", ["sdch", "compress", "gzip, aes128gcm", "none", "utf-8", "\xff", "*", "gzip;q=1"]
)
def test_an_unknown_coding_raises(coding: str) -> None:
    with pytest.raises(CodingError, match="unknown coding"):
        Body([coding.encode("latin-1")], 100)


def test_codings_are_few() -> None:
    Body([b"gzip"] * MAX_CODINGS, 100)
    with pytest.raises(CodingError, match="nested codings"):
        Body([b"gzip"] * (MAX_CODINGS + 1), 100)
    assert MAX_CODINGS == 2


def test_what_is_accepted_can_be_decoded() -> None:
    assert ACCEPT_ENCODING == "gzip, deflate, br, zstd"
    for coding in ACCEPT_ENCODING.split(", "):
        Body([coding.encode()], 100)


def test_without_a_coding_octets_pass() -> None:
    assert read(TEXT, limit=len(TEXT)) == (TEXT, True)
    assert read(TEXT, limit=len(TEXT) - 1) == (TEXT[:-1], False)


# --- Bombs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CODED)
def test_a_bomb_is_read_up_to_the_limit(name: str) -> None:
    coding, encode = CODED[name]
    data = encode(bytes(2**22))
    begun = time.process_time()
    assert read(data, coding, limit=500_000) == (bytes(500_000), False)
    assert time.process_time() - begun < 0.5


def test_a_bomb_in_a_bomb() -> None:
    data = gzip.compress(fault_servers.bomb())
    begun = time.process_time()
    assert read(data, "gzip, gzip", limit=500_000) == (bytes(500_000), False)
    assert time.process_time() - begun < 0.5


def test_a_bomb_that_comes_to_nothing() -> None:
    """Gigabytes of empty blocks inside: the limit is never reached, so the middle is bounded."""
    empty = EMPTY_BLOCK * 12_000
    made = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    first = made.compress(GZIP_HEAD + empty) + made.flush(zlib.Z_FULL_FLUSH)
    again = made.compress(empty) + made.flush(zlib.Z_FULL_FLUSH)
    begun = time.process_time()
    with pytest.raises(CodingError, match="decodes to almost nothing"):
        read(first + again * 20_000, "gzip, gzip", limit=500_000)
    assert time.process_time() - begun < 0.1


def test_a_coding_that_is_longer_than_its_text_is_bounded() -> None:
    with pytest.raises(CodingError, match="decodes to almost nothing"):
        read(GZIP_HEAD + EMPTY_BLOCK * 50_000, "gzip", limit=500_000)


@pytest.mark.parametrize("name", CODED)
def test_incompressible_data_is_not_a_bomb(name: str) -> None:
    """Even where a decompressor takes a whole block before it gives, and for two on another."""
    coding, encode = CODED[name]
    body = random.Random(1).randbytes(400_000)
    nearly = bytes(octet & 0x7F for octet in body)
    assert read(encode(body), coding, limit=10**6) == (body, True)
    assert read(encode(nearly), coding, limit=10**6, step=1000) == (nearly, True)
    assert read(gzip.compress(encode(TEXT * 9)), f"{coding}, gzip") == (TEXT * 9, True)


PARTS = {
    "empty gzip members": ("gzip", gzip.compress(b"", mtime=0)),
    "gzip members": ("gzip", gzip.compress(b"#\n", mtime=0)),
    "empty zstd frames": ("zstd", zstd.compress(b"")),
    "zstd frames": ("zstd", zstd.compress(b"#\n")),
    "skippable zstd frames": ("zstd", b"\x50\x2a\x4d\x18" + bytes(4)),
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_are_few(name: str) -> None:
    """Each costs a decompressor: 96 octets that were 222,000 frames cost 6 s."""
    coding, part = PARTS[name]
    assert read(part * MAX_PARTS, coding)[1]
    with pytest.raises(CodingError, match=f"more than {MAX_PARTS} consecutive parts"):
        read(part * (MAX_PARTS + 1), coding)
    many = gzip.compress(part * (2_000_000 // len(part)))
    begun = time.process_time()
    with pytest.raises(CodingError, match=f"more than {MAX_PARTS} consecutive parts"):
        read(many, f"{coding}, gzip", limit=528_384)
    assert time.process_time() - begun < 0.1


@pytest.mark.parametrize(("limit", "most"), [(528_384, 0.15), (2 * 1024 * 1024, 0.4)])
def test_tables_without_content_cost_little(limit: int, most: float) -> None:
    """A Huffman table in 90 bits, and nothing after it; zeros in between reach the limit slowly."""
    made = zlib.compressobj(1, zlib.DEFLATED, -15)
    zeros = made.compress(bytes(8_100)) + made.flush(zlib.Z_FULL_FLUSH)
    inside = GZIP_HEAD + (EMPTY_TABLES * 90 + zeros) * 1000
    begun = time.process_time()
    body, complete = read(gzip.compress(inside), "gzip, gzip", limit=limit)
    assert time.process_time() - begun < most
    assert (len(body), complete) == (limit, False)


@pytest.mark.parametrize("name", ["br", "gzip", "zstd"])
def test_the_time_is_looked_at_between_pieces(name: str) -> None:
    """Not only when octets come: one chunk may be long work."""
    coding, encode = CODED[name]
    asked = []

    def on_time() -> None:
        asked.append(1)
        if len(asked) > 20:
            raise TimeoutError

    body = Body([coding.encode()], 10**9, on_time)
    with pytest.raises(TimeoutError):
        body.feed(encode(bytes(2**22)))
    assert len(body.octets()[0]) < 2**21


def test_a_zstd_window_is_at_most_8_mib() -> None:
    """RFC 9659: a larger one is memory that a foreign server would make us allocate."""
    wide = {int(zstd.CompressionParameter.window_log): 27}
    made = zstd.ZstdCompressor(options=wide)
    data = made.compress(TEXT) + made.flush()
    with pytest.raises(CodingError, match="zstd"):
        read(data, "zstd")
