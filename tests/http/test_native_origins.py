"""Origins of columns: the engine agrees with `origin_of()` on every URL."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from robotrules._engine import pure
from robotrules.http.origins import origin_of

native = pytest.importorskip("robotrules._engine._native", reason="the native engine is not built")
ENGINES = [native, pure]

PARTS = ["https", "HTTP", "httpſ", "://", ":", "/", "//", "?", "#", "@", ".", "..", "-", "_", "a"]
PARTS += [
    "example",
    "COM",
    "é",
    "xn--",
    "xn--e1afmkfd",
    "1",
    "127.0.0.1",
    "0x7f",
    "[::1]",
    "[",
    "]",
]
PARTS += [
    "443",
    "80",
    "00080",
    "65536",
    "%41",
    "%",
    "\\",
    " ",
    "\n",
    "\0",
    "\u200d",
    "ß",
    "。",
    "\xa0",
]
URLS = st.one_of(
    st.lists(st.sampled_from(PARTS), max_size=9).map("".join),
    st.lists(st.sampled_from(PARTS), max_size=8).map(lambda parts: "https://" + "".join(parts)),
)


@pytest.mark.parametrize("engine", ENGINES, ids=["native", "pure"])
class TestOriginsOfColumns:
    """An origin decides which robots.txt applies: both ways to compute it are the same."""

    @given(urls=st.lists(URLS, max_size=20))
    @example(urls=["httpſ://example.com:1/", "https://a.example", "https://" + "a" * 2_000_000])
    def test_agrees(self, engine: Any, urls: list[str]) -> None:
        """Every URL has the same origin as by `origin_of()`; null stays null."""
        expected = [*map(origin_of, urls), None]
        column = pa.array([*urls, None], pa.string())
        for threads in (1, 3):
            found = pa.array(engine.origins_column(column, threads, origin_of))
            assert found.to_pylist() == expected

    @given(octets=st.lists(st.binary(max_size=30), max_size=10))
    def test_octets(self, engine: Any, octets: list[bytes]) -> None:
        """Octets that are not UTF-8 are read as by `origin_of()`."""
        urls = [b"https://" + some for some in octets] + octets
        found = pa.array(engine.origins_column(pa.array(urls, pa.binary()), 1, origin_of))
        assert found.to_pylist() == list(map(origin_of, urls))

    @given(known=st.lists(URLS, max_size=10), urls=st.lists(URLS, max_size=20))
    def test_index(self, engine: Any, known: list[str], urls: list[str]) -> None:
        """A URL has the number of its origin, or one that says why it has none."""
        origins = list(dict.fromkeys(filter(None, map(origin_of, known))))
        index = engine.OriginIndex()
        column = pa.array([*origins, None, *origins], pa.string())
        numbers = pa.array(index.add(column)).to_pylist()
        assert numbers == [*range(len(origins)), None, *range(len(origins))]
        assert [index.origin(number) for number in range(len(index))] == origins
        found = pa.array(index.find(pa.array([*urls, None], pa.string()), 2, origin_of))

        def expect(url: str) -> int:
            origin = origin_of(url)
            if origin is None:
                return int(engine.NO_ORIGIN)
            return origins.index(origin) if origin in origins else int(engine.MISSING)

        assert found.to_pylist() == [*map(expect, urls), None]


def test_a_long_s_is_not_an_s() -> None:
    """`httpſ` is another scheme than https, although it is equal to it without case."""
    assert origin_of("httpſ://example.com/") is None
    assert origin_of("httpſ://example.com:443/") is None


def test_many_rows_on_threads() -> None:
    """Parts of a long column are joined in order."""
    urls = [f"https://h{number % 977}.example/{number}" for number in range(200_000)]
    urls[123_456] = "https://é.example/"
    engine: ModuleType = native
    found = pa.array(engine.origins_column(pa.array(urls), 4, origin_of))
    assert found.to_pylist() == list(map(origin_of, urls))
