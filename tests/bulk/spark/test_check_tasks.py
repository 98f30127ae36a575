"""Tasks of a check without a cluster: batches in, batches out."""

from __future__ import annotations

import pickle
from typing import Any

import pyarrow as pa
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'pyspark>=4'")

from robotrules.bulk import robots_table
from robotrules.bulk.corpus import Corpus
from robotrules.bulk.spark import check_tasks, robots_rows
from robotrules.bulk.spark.arrow_types import ROW
from robotrules.bulk.spark.check_tasks import (
    KEY,
    ORIGIN,
    ROBOTS_ROW,
    SALTS,
    BroadcastCheck,
    CopartitionedCheck,
    FindOrigins,
    FindTargets,
    TaskOptions,
)
from robotrules.bulk.spark.robots_rows import to_spark
from tests.bulk.spark.samples import robots_table as sample_fetches
from tests.bulk.spark.samples import urls_table

OPTIONS = TaskOptions({"product_tokens": ["ExampleBot"], "threads": 1}, {"profile": "default"})


class Value:
    """A broadcast variable."""

    def __init__(self, value: bytes) -> None:
        self.value = value


def expected() -> pa.Table:
    """Return the result of one machine, with plain types."""
    table = Corpus.from_table(sample_fetches()).check(urls_table(), product_tokens=["ExampleBot"])
    return pa.table({name: plain(table[name]) for name in table.schema.names})


def plain(column: pa.ChunkedArray) -> pa.Array:
    """Return a column with the type that Spark has."""
    whole = column.combine_chunks()
    kinds = {"uint32": pa.int64()}
    if pa.types.is_dictionary(whole.type):
        return whole.cast(pa.string())
    return whole.cast(kinds.get(str(whole.type), whole.type))


def test_a_broadcast_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The corpus is kept between tasks; the rows are those of one machine, in their order."""
    monkeypatch.setattr(check_tasks, "_corpora", type(check_tasks._corpora)())
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, robots_table.SCHEMA) as stream:
        for batch, _ in robots_table.normalize(sample_fetches()):
            stream.write_batch(batch)
    states = Value(sink.getvalue().to_pybytes())
    task = BroadcastCheck("one", states, OPTIONS)
    found = pa.Table.from_batches(task(iter(urls_table().to_batches(1000))))
    assert found.equals(expected())
    # The same process, the next task: the states are not read again.
    states.value = b""
    again = pa.Table.from_batches(task(iter(urls_table().to_batches(1000))))
    assert again.equals(found)
    for key in "two", "three":
        other = BroadcastCheck(key, Value(sink.getvalue().to_pybytes()), OPTIONS)
        list(other(iter([])))
    assert list(check_tasks._corpora) == ["two", "three"]


def rows(key: int, url: Any = None, robots: Any = None) -> pa.RecordBatch:
    """Return rows of a shuffled partition."""
    given = url if url is not None else robots
    kinds = {
        ROW: pa.struct(list(urls_table().schema)),
        ROBOTS_ROW: pa.struct([f for f in robots_rows.SCHEMA if f.name != "reject"]),
    }
    values = {ROW: url, ROBOTS_ROW: robots}
    columns = [pa.array([key] * len(given), pa.int64())]
    for name, kind in kinds.items():
        batch = values[name]
        columns.append(
            pa.nulls(len(given), kind)
            if batch is None
            else pa.StructArray.from_arrays(batch.columns, fields=list(kind))
        )
    return pa.RecordBatch.from_arrays(columns, names=[KEY, *kinds])


def test_buckets_of_a_partition() -> None:
    """States of a bucket are used for its URLs alone, over the borders of batches."""
    ((normal, _),) = robots_table.normalize(sample_fetches())
    (states,) = to_spark(normal)
    states = states.drop_columns(["reject"])
    urls = urls_table().combine_chunks().to_batches()[0]
    parts = [
        rows(0, robots=states),  # a bucket without URLs
        rows(5, url=urls.slice(0, 10)),  # a bucket without states
        rows(6, robots=states.slice(0, 20)),
        rows(6, robots=states.slice(20)),
        *(rows(7, url=urls.slice(start, 1000)) for start in range(0, len(urls), 1000)),
    ]
    whole = pa.Table.from_batches(parts).combine_chunks()
    for size in (len(whole), 7, 999):
        found = pa.Table.from_batches(CopartitionedCheck(OPTIONS)(iter(whole.to_batches(size))))
        assert found.slice(10).equals(expected())
        without = set(found["access"].slice(0, 10).to_pylist())
        assert without == {"missing"}
    assert list(CopartitionedCheck(OPTIONS)(iter([whole.to_batches()[0].slice(0, 0)]))) == []


def test_origins_and_salts() -> None:
    """Columns are kept or left out."""
    batch = pa.record_batch(
        {"u": ["HTTPS://A.example:443/x", None, "mailto:x", "http://b.example"]}
    )
    (found,) = FindOrigins("u", {"https://a.example": 3})(iter([batch]))
    assert found.schema.names == ["u", ORIGIN, SALTS]
    assert found.column(ORIGIN).to_pylist() == ["https://a.example", None, None, "http://b.example"]
    assert found.column(SALTS).to_pylist() == [3, 1, 1, 1]
    (alone,) = FindOrigins("u", {}, keep=False)(iter([batch]))
    assert alone.schema.names == [ORIGIN, SALTS]


def test_targets_of_redirects() -> None:
    """Redirects within an origin and unusable targets have none."""
    batch = pa.record_batch(
        {
            "origin": ["https://a.example"] * 3,
            "location": ["https://b.example/robots.txt", "https://a.example/r", "mailto:x"],
        }
    )
    (found,) = FindTargets()(iter([batch]))
    assert found.to_pylist() == [{"origin": "https://a.example", "target": "https://b.example"}]


def test_tasks_can_be_pickled() -> None:
    """Spark sends them to the executors."""
    for task in (CopartitionedCheck(OPTIONS), FindOrigins("u", {"a": 2}), FindTargets()):
        assert pickle.loads(pickle.dumps(task)).__dict__ == task.__dict__
