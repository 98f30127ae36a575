"""Heavy origins are found with bounded memory, and split."""

from __future__ import annotations

import pyarrow as pa
import pytest

from robotrules.bulk.spark import skew
from robotrules.bulk.spark.skew import HeavyOrigins, choose_salts, salts_column


def test_counting(monkeypatch: pytest.MonkeyPatch) -> None:
    """A heavy origin is found among more origins than are counted; rows have a null origin."""
    monkeypatch.setattr(skew, "MAX_COUNTED", 50)
    monkeypatch.setattr(skew, "REPORTED", 3)
    batches = [
        pa.record_batch(
            {"o": ["https://big.example"] * 30 + [f"https://{n}-{i}" for i in range(70)]}
        )
        for n in range(10)
    ]
    batches.append(pa.record_batch({"o": pa.nulls(5, pa.string())}))
    (counts,) = HeavyOrigins("o")(iter(batches))
    rows = counts.to_pylist()
    assert rows[0] == {"origin": None, "urls": 1005}
    assert rows[1] == {"origin": "https://big.example", "urls": 300}
    assert len(rows) == 4


def test_an_empty_partition() -> None:
    """It has no rows, and no origins."""
    (counts,) = HeavyOrigins("o")(iter([]))
    assert counts.to_pylist() == [{"origin": None, "urls": 0}]


def test_salts() -> None:
    """A salt of a heavy origin has at most half of a partition's fair share."""
    assert choose_salts({"a": 300, "b": 100, "c": 5}, 1000, 10) == {"a": 6}
    assert choose_salts({"a": 1000}, 1000, 4) == {"a": 4}
    assert choose_salts({"a": 1000}, 1000, 1) == {}
    assert choose_salts({}, 0, 8) == {}


def test_salts_column() -> None:
    """Most origins have one."""
    column = pa.array(["a", None, "b", "a"])
    assert salts_column(column, {"a": 6}).to_pylist() == [6, 1, 1, 6]
    assert salts_column(column, {}).to_pylist() == [1, 1, 1, 1]
