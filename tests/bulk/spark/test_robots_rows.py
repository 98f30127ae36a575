"""Fetches and rejects in one DataFrame: there and back."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'pyspark>=4'")

from robotrules.bulk import robots_table
from robotrules.bulk.rejects import Reject
from robotrules.bulk.spark import robots_rows
from robotrules.bulk.spark.robots_rows import Normalize, from_spark, to_spark

TABLE = pa.table(
    {
        "url": ["https://a.example/robots.txt", "", "https://b.example/robots.txt", None],
        "code": [200, 200, 999999, 404],
        "body": [b"\xff", b"", None, b""],
        "fetched_at": [datetime(2026, 5, 4, tzinfo=UTC)] * 4,
    }
)


def test_there_and_back() -> None:
    """What Spark gets has all values of the normal form."""
    ((batch, rejects),) = robots_table.normalize(TABLE, columns={"status": "code"})
    assert (len(batch), len(rejects)) == (1, 3)
    rows = list(to_spark(batch, rejects))
    assert [each.schema for each in rows] == [robots_rows.SCHEMA] * 2
    table = pa.Table.from_batches(rows)
    back = pa.Table.from_batches([from_spark(each) for each in table.to_batches()])
    assert back.equals(pa.Table.from_batches([batch]))
    assert [row["reject"]["place"] for row in rows[1].to_pylist()] == ["row 2", "row 3", "row 4"]


def test_without_rejects_and_without_rows() -> None:
    """A batch of rejects alone is possible, and one of fetches alone."""
    empty = pa.RecordBatch.from_pylist([], robots_table.SCHEMA)
    (none, row) = to_spark(empty, [Reject("f", "offset 1", "bad")])
    assert (len(none), len(row)) == (0, 1)
    assert len(list(to_spark(empty))) == 1


def test_places_count_on_over_batches() -> None:
    """The number of a row is that in its partition."""
    task = Normalize({"status": "code"})
    rows = [row for batch in task(iter(TABLE.to_batches(2))) for row in batch.to_pylist()]
    places = [row["reject"]["place"] for row in rows if row["reject"]]
    assert places == [f"partition 0, row {number}" for number in (2, 3, 4)]
    assert [row["origin"] for row in rows if not row["reject"]] == ["https://a.example"]
