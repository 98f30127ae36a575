"""`spark.check` on a cluster: the rows of `Corpus.check`, by broadcast and co-partitioned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'pyspark>=4'")

from pyspark.sql import functions as F

from robotrules.bulk import spark as bulk_spark
from robotrules.bulk.corpus import Corpus
from robotrules.bulk.spark.arrow_types import plain_batches
from robotrules.bulk.spark.check_plan import find_salts
from robotrules.errors import TableError
from tests.bulk.spark.samples import BIG_HOST, LONG_URL, robots_table, urls_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.slow
WAYS: dict[str, dict[str, Any]] = {
    "broadcast": {"broadcast": True},
    "co-partitioned": {"broadcast": False, "partitions": 8},
}
TOKENS: dict[str, Any] = {"product_tokens": ["ExampleBot", "GPTBot"]}


def local_rows(urls: pa.Table, robots: pa.Table, **options: Any) -> list[dict[str, Any]]:
    """Return the rows of a check on one machine."""
    table = Corpus.from_table(robots).check(urls, **options)
    return rows_of(table)


def rows_of(table: pa.Table) -> list[dict[str, Any]]:
    """Return rows with the types that Spark has, by id."""
    (batch,) = table.combine_chunks().to_batches()
    plain = pa.Table.from_batches(plain_batches(batch))
    rows: list[dict[str, Any]] = plain.sort_by("id").to_pylist()
    return rows


@pytest.fixture(scope="module")
def urls(spark: SparkSession) -> DataFrame:
    """The URLs of the samples in five partitions."""
    return spark.createDataFrame(urls_table()).repartition(5)


@pytest.fixture(scope="module")
def robots(spark: SparkSession) -> DataFrame:
    """The fetches of the samples."""
    return spark.createDataFrame(robots_table())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "options",
    [
        {"product_tokens": ["GPTBot"]},
        {**TOKENS, "missing": "disallow"},
        {**TOKENS, "at": "crawled_at"},
    ],
    ids=["one token", "missing", "at"],
)
def test_same_rows_as_on_one_machine(
    urls: DataFrame, robots: DataFrame, way: str, options: dict[str, Any]
) -> None:
    """Nulls, duplicates, odd bytes, IRIs, empty strings, redirects and a URL of 2 MB included."""
    result = bulk_spark.check(urls, robots, **options, **WAYS[way])
    expected = local_rows(urls_table(), robots_table(), **options)
    found = rows_of(result.toArrow())
    assert len(found) == len(expected)
    for row, other in zip(found, expected, strict=True):
        assert row == other
    assert result.columns == list(expected[0])
    if "at" not in options and len(options["product_tokens"]) == 1:
        by_url = {row["url"]: row for row in found}
        assert by_url[LONG_URL]["rule"] == "Disallow: /private/"
        # The end of the chain of redirects decides.
        assert by_url["https://hop.example/private/7"]["access"] == "success"
        assert by_url["https://none.example/a"]["access"] == "unavailable"
        assert by_url["https://unknown.example/a"]["access"] == "missing"
        assert by_url[None]["allowed"] is by_url[None]["access"] is None


@pytest.mark.parametrize("way", WAYS)
def test_text_that_is_not_utf8(spark: SparkSession, robots: DataFrame, way: str) -> None:
    """Spark does not check that a string is UTF-8; the octets are checked as they are."""
    octets = [b"https://h1.example/private/\xff", b"https://\xff.example/", b"\xff\xfe", b"a\0b"]
    table = pa.table({"id": range(4), "url": pa.array(octets, pa.binary())})
    frame = spark.createDataFrame(table)
    as_text = frame.withColumn("url", F.col("url").cast("string"))
    results = [
        bulk_spark.check(each, robots, **TOKENS, **WAYS[way]).drop("url").sort("id").collect()
        for each in (frame, as_text)
    ]
    assert results[0] == results[1]
    assert results[0][0]["GPTBot.rule"] == "Disallow: /private/"
    local = Corpus.from_table(robots_table()).check(table, **TOKENS).drop(["url"]).to_pylist()
    assert [row.asDict() for row in results[0]] == local


def test_the_way_is_chosen_by_size(urls: DataFrame, robots: DataFrame) -> None:
    """Small states are broadcast; with a small limit, both sides are shuffled."""
    few = urls.limit(50)
    small = bulk_spark.check(few, robots, **TOKENS)
    large = bulk_spark.check(few, robots, **TOKENS, broadcast_bytes=1000)
    assert "BroadcastCheck" in plan_of(small)
    assert "CopartitionedCheck" not in plan_of(small)
    assert "CopartitionedCheck" in plan_of(large)


def plan_of(frame: DataFrame) -> str:
    """Return the plan as text."""
    plan: str = frame._jdf.queryExecution().toString()
    return plan


def test_a_host_with_a_third_of_the_urls_is_split(urls: DataFrame, robots: DataFrame) -> None:
    """No task has more than a quarter of the rows, and the host's rows are in several tasks."""
    salts = find_salts(urls, "url", 8)
    assert list(salts) == [BIG_HOST]
    assert salts[BIG_HOST] >= 4
    result = bulk_spark.check(urls, robots, **TOKENS, **WAYS["co-partitioned"])
    tasks = result.withColumn("task", F.spark_partition_id())
    sizes = [row["count"] for row in tasks.groupBy("task").count().collect()]
    total = urls_table().num_rows
    assert sum(sizes) == total
    assert max(sizes) < total / 4
    of_host = tasks.where(F.col("url").startswith(BIG_HOST)).select("task").distinct().count()
    assert of_host == salts[BIG_HOST]
    # Without salts one task has all of it, so the test above can fail.
    alone = bulk_spark.check(urls, robots, **TOKENS, **WAYS["co-partitioned"], salts={})
    tasks = alone.withColumn("task", F.spark_partition_id())
    assert tasks.where(F.col("url").startswith(BIG_HOST)).select("task").distinct().count() == 1


def test_misuse_raises_before_a_task_runs(
    spark: SparkSession, urls: DataFrame, robots: DataFrame
) -> None:
    """A wrong column, a table that is not one of robots.txt files, a bad product token."""
    with pytest.raises(TableError, match="address"):
        bulk_spark.check(urls, robots, url="address", **TOKENS)
    with pytest.raises(TableError, match="has a column 'origin' or 'url'"):
        bulk_spark.check(urls, spark.range(3), **TOKENS)
    with pytest.raises(ValueError, match="product token"):
        bulk_spark.check(urls, robots, product_tokens=["a b"])


def test_rejects_of_the_robots_table(spark: SparkSession, urls: DataFrame) -> None:
    """They are returned by `rejects()`, and do not stop a check."""
    table = pa.table(
        {"host": ["h1.example", None, "h2.example"], "code": [404, 200, 99999], "body": [b""] * 3}
    )
    frame = spark.createDataFrame(table).coalesce(1)
    columns = {"origin": "host", "status": "code"}
    found = bulk_spark.rejects(frame, columns).collect()
    assert [row.place for row in found] == ["partition 0, row 2", "partition 0, row 3"]
    result = bulk_spark.check(urls, frame, columns=columns, product_tokens=["ExampleBot"])
    kinds = {row["access"] for row in result.select("access").distinct().collect()}
    assert kinds == {"unavailable", "missing", None}
