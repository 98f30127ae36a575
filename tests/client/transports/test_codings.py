"""Codings: what comes off, what is broken, and what a bomb costs; without any connection."""

from __future__ import annotations

import gzip
import time
import zlib
from collections.abc import Callable

import brotli  # type: ignore[import-untyped]
import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from robotrules.client.transports.codings import ACCEPT_ENCODING, MOST_CODINGS, Body, CodingError
from tests.client import wire

TEXT = b"User-agent: *\nDisallow: /private\n" * 3000


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
    """Whatever is missing at the end: a rule may have stood there (AMB-57)."""
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
    data = zstd.compress(brotli.compress(gzip.compress(TEXT)))
    assert read(data, "gzip, BR", "", " zstd ", step=100) == (TEXT, True)
    assert read(gzip.compress(TEXT), "identity, x-gzip,,identity") == (TEXT, True)
    with pytest.raises(CodingError):
        read(data, "zstd, br, gzip")


@pytest.mark.parametrize(
    "coding", ["sdch", "compress", "gzip, aes128gcm", "none", "utf-8", "\xff", "*", "gzip;q=1"]
)
def test_an_unknown_coding_raises(coding: str) -> None:
    with pytest.raises(CodingError, match="unknown coding"):
        Body([coding.encode("latin-1")], 100)


def test_codings_are_few() -> None:
    Body([b"gzip"] * MOST_CODINGS, 100)
    with pytest.raises(CodingError, match="codings on one another"):
        Body([b"gzip, gzip"] * MOST_CODINGS, 100)


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
    data = gzip.compress(wire.bomb())
    begun = time.process_time()
    assert read(data, "gzip, gzip", limit=500_000) == (bytes(500_000), False)
    assert time.process_time() - begun < 0.5


def test_a_bomb_that_comes_to_nothing() -> None:
    """Gigabytes of empty members inside: the limit is never reached, so the middle is bounded."""
    empty = gzip.compress(b"") * 3000
    made = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    first = made.compress(empty) + made.flush(zlib.Z_FULL_FLUSH)
    again = made.compress(empty) + made.flush(zlib.Z_FULL_FLUSH)
    begun = time.process_time()
    with pytest.raises(CodingError, match="decode to nearly nothing"):
        read(first + again * 20_000, "gzip, gzip", limit=500_000)
    assert time.process_time() - begun < 2.0


def test_a_coding_that_is_longer_than_its_text_is_bounded() -> None:
    with pytest.raises(CodingError, match="decode to nearly nothing"):
        read(gzip.compress(b"") * 150_000, "gzip", limit=500_000)


def test_a_zstd_window_is_at_most_8_mib() -> None:
    """RFC 9659: a larger one is memory that a stranger asks for."""
    wide = {int(zstd.CompressionParameter.window_log): 27}
    made = zstd.ZstdCompressor(options=wide)
    data = made.compress(TEXT) + made.flush()
    with pytest.raises(CodingError, match="zstd"):
        read(data, "zstd")
