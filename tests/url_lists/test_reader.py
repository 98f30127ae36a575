"""
A reader of URLs gives the same from any blocks, within its bounds.

What each format is like is tested with the files of the command line, in `tests/cli`.
"""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules.url_lists import BATCH, Skipped, UrlFileFormat, UrlReader

LISTS = {
    UrlFileFormat.LIST: b"https://example.com/a\n# c\n/b\nno\n",
    UrlFileFormat.LOG: b'::1 - - [10/Oct/2024:13:55:36 +0000] "GET /a HTTP/1.1" 200 1\n"GET /b"\n',
    UrlFileFormat.JSON: b'{"url": "/a"}\n{"no": 1}\n{"url": "/b"}\n',
    UrlFileFormat.CSV: b"url;clicks\n/a;1\n/b;2\n",
    UrlFileFormat.SITEMAP: b"<urlset><url><loc>/a</loc></url><url><loc>/b</loc></url></urlset>",
}


def read(
    octets: bytes, size: int = 1 << 20, **options: object
) -> tuple[UrlFileFormat, list[bytes], Skipped, str]:
    """Return format, URLs, skipped lines and error of a list that comes in blocks of a size."""
    blocks = (octets[start : start + size] for start in range(0, len(octets), size))
    reader = UrlReader(blocks, **options)  # type: ignore[arg-type]
    urls = [url for chunk in reader.chunks() for url in chunk.urls]
    assert reader.urls == len(urls)
    return reader.form, urls, reader.skipped, reader.error


@pytest.mark.parametrize("form", LISTS)
@pytest.mark.parametrize("packed", [False, True])
def test_blocks_of_any_size(form: UrlFileFormat, packed: bool) -> None:
    octets = gzip.compress(LISTS[form]) if packed else LISTS[form]
    whole = read(octets)
    assert whole[0] is form
    assert [url[-2:] for url in whole[1]] == [b"/a", b"/b"]
    assert [read(octets, size) for size in (1, 7, 1000)] == [whole] * 3


@given(octets=st.binary(max_size=200), size=st.integers(1, 200))
def test_any_octets(octets: bytes, size: int) -> None:
    assert read(octets, size) == read(octets)


def test_chunks() -> None:
    """They have a fixed number of URLs, or those of a block."""
    octets = b"/a\n" * (2 * BATCH + 5)

    def blocks() -> Iterator[bytes]:
        for start in range(0, len(octets), 3_000):
            yield octets[start : start + 3_000]

    sizes = [len(chunk.urls) for chunk in UrlReader(blocks()).chunks()]
    assert sizes == [BATCH, BATCH, 5]
    chunks = list(UrlReader(blocks(), as_it_comes=True).chunks())
    assert {len(chunk.urls) for chunk in chunks[:-1]} == {1_000}
    assert sum(chunk.octets for chunk in chunks) == len(octets)


def test_any_scheme() -> None:
    octets = b"/a\nftp://example.com/b\nexample.com:80\n"
    assert read(octets)[1] == [b"/a"]
    assert read(octets, any_scheme=True)[1] == [b"/a", b"ftp://example.com/b"]


def test_at_most_so_many_decompressed_bytes() -> None:
    """What was read before the limit counts; nothing is kept of the rest."""
    octets = gzip.compress(b"/a\n" * 10_000 + b"\n" * 10_000_000)
    tracemalloc.start()
    form, urls, _, error = read(octets, max_unpacked=200_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert form is UrlFileFormat.LIST
    assert 0 < len(urls) <= 10_000
    assert error == "its gzip data expands to more than 200,000 bytes; the rest was not read"
    assert peak < 5_000_000
    assert read(octets)[3] == ""
    assert read(b"/a\n" * 100_000, max_unpacked=10)[3] == ""
