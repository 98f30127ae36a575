"""`spark.facts` on a cluster: the rows of `bulk.facts`; rejects in the same pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'pyspark>=4'")

from robotrules.bulk import robots_table
from robotrules.bulk import spark as bulk_spark
from robotrules.bulk.file_facts import facts
from robotrules.bulk.rejects import Reject
from robotrules.bulk.spark.arrow_types import plain_batches
from robotrules.bulk.spark.facts_frame import ComputeFacts
from robotrules.bulk.spark.robots_rows import to_spark
from tests.bulk.spark.samples import robots_table as sample_fetches

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RICH = b"""\
\xef\xbb\xbfUser-agent: *
User-agent: GPTBot
Crawl-delay: 2
Disallow: /private/ # a comment
Content-Usage: train-ai=n
Content-Signal: search=yes, ai-train=no
App-Directives: example; a=1
Sitemap: https://rich.example/sitemap.xml
\xff\xfe broken line
User-agent: CCBot
Disallow: /
"""


def fetches() -> pa.Table:
    """Return the samples, and a file with all kinds of records."""
    table = sample_fetches()
    rich = {"url": "https://rich.example/robots.txt", "status": 200, "body": RICH}
    return pa.concat_tables([table, pa.Table.from_pylist([rich], table.schema)]).combine_chunks()


def local_rows(table: pa.Table, **options: Any) -> list[dict[str, Any]]:
    """Return the facts of one machine, with the types that Spark has."""
    batches = facts(table, threads=1, **options).to_batches()
    plain = pa.Table.from_batches([part for batch in batches for part in plain_batches(batch)])
    rows: list[dict[str, Any]] = plain.sort_by("origin").to_pylist()
    return rows


def test_rejects_come_out_between_facts() -> None:
    """Every record of a task is a row: facts or a reject, with one schema."""
    ((batch, _),) = robots_table.normalize(fetches())
    rejects = [Reject("f", f"offset {i}", "bad") for i in range(3)]
    spark_batches = list(to_spark(batch, rejects))
    facts_schema = next(iter(ComputeFacts({"threads": 1})(iter(spark_batches[:1])))).schema
    schema = facts_schema.append(spark_batches[0].schema.field("source"))
    schema = schema.append(spark_batches[0].schema.field("reject"))
    found = pa.Table.from_batches(ComputeFacts({"threads": 1}, schema)(iter(spark_batches)))
    rows = found.to_pylist()
    assert len(rows) == len(batch) + 3
    assert [row["reject"]["place"] for row in rows if row["reject"]] == [
        "offset 0",
        "offset 1",
        "offset 2",
    ]
    kept = [row for row in rows if not row["reject"]]
    assert [row["origin"] for row in kept] == batch.column("origin").to_pylist()


@pytest.mark.slow
class TestOnTheCluster:
    """Facts of a DataFrame."""

    @pytest.mark.parametrize("options", [{}, {"profile": "google", "crawlers": ["GPTBot", "*"]}])
    def test_same_rows_as_on_one_machine(
        self, spark: SparkSession, options: dict[str, Any]
    ) -> None:
        """Every value of every column."""
        frame = spark.createDataFrame(fetches()).repartition(3)
        found = bulk_spark.facts(frame, **options).toArrow().sort_by("origin").to_pylist()
        expected = local_rows(fetches(), **options)
        assert len(found) == len(expected) == fetches().num_rows
        for row, other in zip(found, expected, strict=True):
            assert row == other
        (rich,) = [row for row in found if row["origin"] == "https://rich.example"]
        assert rich["crawlers"]["GPTBot"] == "some"
        assert rich["sitemaps"] == ["https://rich.example/sitemap.xml"]
        assert rich["content_signal"]

    def test_rejects_in_one_pass(self, spark: SparkSession) -> None:
        """With `keep_rejects`, the rows that cannot be used are among the result."""
        table = pa.table({"url": ["https://a.example/robots.txt", "?"], "status": [404, 200]})
        frame = spark.createDataFrame(table).coalesce(1)
        rows = bulk_spark.facts(frame, keep_rejects=True).collect()
        assert sorted((row.origin or "", row.access or "") for row in rows) == [
            ("", ""),
            ("https://a.example", "unavailable"),
        ]
        (reject,) = [row.reject for row in rows if row.reject]
        assert reject.place == "partition 0, row 2"
        assert bulk_spark.facts(frame).count() == 1

    def test_misuse(self, spark: SparkSession) -> None:
        """A wrong profile raises before a task runs."""
        with pytest.raises(ValueError, match="use default, strict, google"):
            bulk_spark.facts(spark.createDataFrame(fetches()), profile="loose")
