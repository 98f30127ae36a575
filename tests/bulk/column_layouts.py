"""Columns of URLs in all layouts and from all libraries, with the same values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import arro3.core
import duckdb
import nanoarrow
import pandas as pd
import polars as pl
import pyarrow as pa

Values = list[bytes | None]
Layout = Callable[[Values], Any]

BINARY_TYPES = (pa.binary(), pa.large_binary(), pa.binary_view())
TEXT_TYPES = (pa.string(), pa.large_string(), pa.string_view())
INDEX_TYPES = (
    *(pa.int8(), pa.uint8(), pa.int16(), pa.uint16()),
    *(pa.int32(), pa.uint32(), pa.int64(), pa.uint64()),
)
# No column has these URLs; rows outside of a slice do.
OUTSIDE: Values = [b"/private/outside", None, b"/outside"]


def make_array(values: Values, kind: pa.DataType) -> pa.Array:
    """Return an array of a type of text or octets."""
    octets = pa.array(values, pa.binary())
    return octets.cast(kind) if kind in BINARY_TYPES else octets.cast(pa.string()).cast(kind)


def make_slice(values: Values, kind: pa.DataType) -> pa.Array:
    """Return an array that is a part of a longer one."""
    return make_array([*OUTSIDE, *values, *OUTSIDE], kind)[3 : 3 + len(values)]


def make_chunks(values: Values, kind: pa.DataType) -> pa.ChunkedArray:
    """Return several chunks: slices, empty chunks, and chunks with and without nulls."""
    middle = len(values) // 2
    parts = [[], values[:middle], [], values[middle:]]
    return pa.chunked_array([make_slice(part, kind) for part in parts], type=kind)


def make_dictionary(values: Values, index: pa.DataType, kind: pa.DataType) -> pa.Array:
    """Return a slice of a dictionary array, whose dictionary has a null and an unused value."""
    distinct: Values = list(dict.fromkeys([*OUTSIDE, *values]))
    places = [distinct.index(value) for value in [*OUTSIDE, *values]]
    # Nulls are at the rows and in the dictionary.
    rows = [
        None if at % 2 and distinct[place] is None else place for at, place in enumerate(places)
    ]
    dictionary = make_array([*distinct, b"/unused"], kind)
    return pa.DictionaryArray.from_arrays(pa.array(rows, index), dictionary)[3:]


def to_text(values: Values) -> list[str | None]:
    """Return the values as strings."""
    return [None if value is None else value.decode() for value in values]


def make_relation(values: Values) -> Any:
    """Return a relation of DuckDB."""
    con = duckdb.connect()
    rows = pa.table({"place": range(len(values)), "url": pa.array(to_text(values), pa.string())})
    return con.from_arrow(rows).order("place").project("url")


def binary_layouts() -> Iterator[tuple[str, Layout]]:
    """Yield layouts for any octets."""
    for kind in BINARY_TYPES:
        yield f"{kind}", partial(make_array, kind=kind)
        yield f"{kind} slice", partial(make_slice, kind=kind)
        yield f"{kind} chunks", partial(make_chunks, kind=kind)
    yield "dictionary of binary", lambda values: make_dictionary(values, pa.int16(), pa.binary())
    yield "polars Binary", lambda values: pl.Series(values, dtype=pl.Binary)
    yield (
        "pandas binary",
        lambda values: pa.array(pd.Series(values, dtype=pd.ArrowDtype(pa.binary()))),
    )
    yield "arro3 binary", lambda values: arro3.core.Array(values, arro3.core.DataType.binary())
    yield "nanoarrow binary", lambda values: nanoarrow.Array(values, nanoarrow.binary())


def text_layouts() -> Iterator[tuple[str, Layout]]:
    """Yield layouts for UTF-8."""
    for kind in TEXT_TYPES:
        yield f"{kind}", partial(make_array, kind=kind)
        yield f"{kind} slice", partial(make_slice, kind=kind)
        yield f"{kind} chunks", partial(make_chunks, kind=kind)
    for index in INDEX_TYPES:
        yield (
            f"dictionary<{index}>",
            partial(make_dictionary, index=index, kind=pa.string()),
        )
    yield (
        "dictionary of string_view",
        lambda values: make_dictionary(values, pa.int32(), pa.string_view()),
    )
    yield "record batch", lambda values: pa.record_batch([make_slice(values, pa.string())], ["u"])
    yield "table", lambda values: pa.table({"u": make_chunks(values, pa.string())})
    yield (
        "record batch slice",
        lambda values: pa.record_batch([make_array([*OUTSIDE, *values], pa.string())], ["u"])[3:],
    )
    yield (
        "reader",
        lambda values: pa.table({"u": make_chunks(values, pa.string())}).to_reader(max_chunksize=3),
    )
    yield "polars String", lambda values: pl.Series(to_text(values), dtype=pl.String)
    yield (
        "polars chunks",
        lambda values: pl.concat(
            [pl.Series(to_text(part), dtype=pl.String) for part in (values[:2], values[2:])],
            rechunk=False,
        ),
    )
    yield "polars Categorical", lambda values: pl.Series(to_text(values), dtype=pl.Categorical)
    yield (
        "polars Enum",
        lambda values: pl.Series(
            to_text(values),
            dtype=pl.Enum(pl.Series(to_text(values), dtype=pl.String).drop_nulls().unique()),
        ),
    )
    yield "polars frame", lambda values: pl.DataFrame({"u": to_text(values)}, {"u": pl.String})
    yield "duckdb", make_relation
    yield "pandas frame", lambda values: pd.DataFrame({"u": to_text(values)}, dtype="string")
    yield (
        "pandas large_string",
        lambda values: pa.array(pd.Series(to_text(values), dtype=pd.ArrowDtype(pa.large_string()))),
    )
    yield "arro3", lambda values: arro3.core.Array.from_arrow(make_slice(values, pa.string()))
    yield (
        "arro3 view",
        lambda values: arro3.core.Array.from_arrow(make_array(values, pa.string_view())),
    )
    yield (
        "arro3 chunks",
        lambda values: arro3.core.ChunkedArray.from_arrow(make_chunks(values, pa.string())),
    )
    yield "nanoarrow", lambda values: nanoarrow.Array(to_text(values), nanoarrow.string())
    yield (
        "nanoarrow chunks",
        lambda values: nanoarrow.Array.from_chunks(
            [make_array(part, pa.large_string()) for part in (values[:1], values[1:])]
        ),
    )


BINARY_LAYOUTS = dict(binary_layouts())
TEXT_LAYOUTS = dict(text_layouts())
