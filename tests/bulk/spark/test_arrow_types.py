"""Types that Spark does not have are converted, nested ones too, and values stay the same."""

from __future__ import annotations

import pyarrow as pa
import pytest

from robotrules.bulk.spark.arrow_types import plain_array, plain_batches, plain_type, slices

WORD = pa.dictionary(pa.int8(), pa.string())
COLUMNS = {
    "dictionary": pa.array(["a", None, "b"], WORD),
    "unsigned": pa.array([0, None, 2**32 - 1], pa.uint32()),
    "body": pa.array([b"\xff", None, b""], pa.large_binary()),
    "text": pa.array(["a", None, ""], pa.string_view()),
    "time": pa.array([0, None, 5], pa.timestamp("s", "UTC")),
    "list": pa.array([["a", None], None, []], pa.list_(WORD)),
    "structs": pa.array(
        [[{"a": "x", "n": 1}], None, []], pa.list_(pa.struct([("a", WORD), ("n", pa.uint8())]))
    ),
    "map": pa.array([[("a", 1)], None, []], pa.map_(pa.string(), pa.uint32())),
    "struct": pa.array(
        [{"a": "x", "b": None}, None, {"a": None, "b": "y"}], pa.struct([("a", WORD), ("b", WORD)])
    ),
    "plain": pa.array([1.5, None, 2.5]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_values_stay_the_same(name: str) -> None:
    """Whole, sliced and empty columns."""
    column = COLUMNS[name]
    for part in (column, column.slice(1), column.slice(0, 2), column.slice(0, 0)):
        plain = plain_array(part)
        plain.validate(full=True)
        assert plain.to_pylist() == part.to_pylist()
        assert plain.type == plain_type(column.type)


def test_types() -> None:
    """No dictionary, no unsigned integer and no 64-bit offset is left."""
    kinds = {name: plain_type(column.type) for name, column in COLUMNS.items()}
    assert kinds["dictionary"] == pa.string()
    assert kinds["unsigned"] == pa.int64()
    assert kinds["body"] == pa.binary()
    assert kinds["time"] == pa.timestamp("us", "UTC")
    assert kinds["map"] == pa.map_(pa.string(), pa.int64())
    assert kinds["structs"] == pa.list_(pa.struct([("a", pa.string()), ("n", pa.int16())]))
    assert plain_type(pa.large_list(pa.uint16())) == pa.list_(pa.int32())


def test_large_batches_are_sliced() -> None:
    """No part is larger than the limit, unless it is one row; no row is lost."""
    batch = pa.record_batch({"body": [bytes(100)] * 7 + [bytes(5000)]})
    parts = list(slices(batch, 300))
    assert pa.Table.from_batches(parts).equals(pa.Table.from_batches([batch]))
    assert all(part.nbytes <= 300 or len(part) == 1 for part in parts)
    assert len(list(plain_batches(batch))) == 1
