"""A worker that dies in the middle of a job: the result is whole and right all the same."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'pyspark>=4'")

from pyspark.sql import functions as F

from robotrules.bulk import spark as bulk_spark
from robotrules.bulk.corpus import Corpus
from tests.bulk.spark.cluster import SparkCluster

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.slow
ROWS, TASKS, HOSTS = 120_000, 16, 200


class Slowly:
    """A task that passes its batches on, each a moment later."""

    def __init__(self, seconds: float) -> None:
        """Wait this long for each partition."""
        self.seconds = seconds

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield all batches."""
        time.sleep(self.seconds)
        yield from batches


def robots_table() -> pa.Table:
    """Return a file for each host."""
    return pa.table(
        {
            "origin": [f"https://h{i}.example" for i in range(HOSTS)],
            "body": [b"User-agent: *\nDisallow: /%d\nAllow: /*/1" % (i % 10) for i in range(HOSTS)],
        }
    )


def url_rows(spark: SparkSession) -> DataFrame:
    """Return URLs of all hosts, made by the executors."""
    url = F.format_string("https://h%d.example/%d/%d", F.col("id") % HOSTS, F.col("id") % 11, "id")
    return spark.range(0, ROWS, 1, TASKS).select("id", url.alias("url"))


def wait_for(spark: SparkSession, job: Future[None], tasks: int, done: int) -> None:
    """Wait until a stage with so many tasks has completed some of them, and not all."""
    tracker = spark.sparkContext.statusTracker()
    end = time.monotonic() + 120
    while time.monotonic() < end:
        assert not job.done(), "the job was over before a worker was killed"
        for number in tracker.getActiveStageIds():
            stage = tracker.getStageInfo(number)
            if stage and stage.numTasks == tasks and done <= stage.numCompletedTasks < tasks - 3:
                return
        time.sleep(0.05)
    raise AssertionError("no stage came that far")


@pytest.mark.parametrize(
    ("way", "victim"), [("broadcast", "executor"), ("co-partitioned", "worker")]
)
def test_a_killed_worker(
    spark: SparkSession, cluster: SparkCluster, tmp_path: Path, way: str, victim: str
) -> None:
    """SIGKILL in the middle; the rows are those of one machine, each once."""
    robots = spark.createDataFrame(robots_table())
    urls = url_rows(spark)
    options: dict[str, Any]
    if way == "broadcast":
        tasks, options = TASKS, {"broadcast": True}
    else:
        # Another number of tasks than before the shuffle: the stage is recognised by it.
        tasks, options = 13, {"broadcast": False, "partitions": 13, "salts": {}}
    result = bulk_spark.check(urls, robots, product_tokens=["ExampleBot"], **options)
    slow = result.mapInArrow(Slowly(0.5), result.schema)
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(lambda: slow.write.parquet(str(tmp_path / "out")))
        try:
            wait_for(spark, job, tasks, 3)
            killed = cluster.kill_worker() if victim == "worker" else cluster.kill_executors()
            # The worker, the executor, the daemon of its Python processes, and one of these.
            assert len(killed) >= 3
            assert not job.done()
        finally:
            job.result(timeout=240)
            cluster.restore()
    found = pq.read_table(tmp_path / "out").sort_by("id")
    local = Corpus.from_table(robots_table()).check(
        pa.table({"id": found["id"], "url": found["url"]}), product_tokens=["ExampleBot"]
    )
    assert found["id"].to_pylist() == list(range(ROWS))
    for name in ("allowed", "reason", "line", "rule", "access"):
        assert found[name].to_pylist() == local[name].to_pylist(), name
