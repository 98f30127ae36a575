"""The cluster that the other tests run on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.bulk.spark.cluster import SparkCluster

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow


def test_tasks_run_on_both_workers(spark: SparkSession, cluster: SparkCluster) -> None:
    """The session is not a local one: two executors, each below a worker of the cluster."""
    import pyarrow as pa

    def pids(batches):  # type: ignore[no-untyped-def]
        import os
        import time

        time.sleep(0.5)
        for batch in batches:
            yield pa.record_batch({"parent": pa.array([os.getppid()] * len(batch))})

    rows = spark.range(0, 100, 1, 8).mapInArrow(pids, "parent long").collect()
    assert len(rows) == 100
    assert spark.sparkContext.master == cluster.url
    assert len({row.parent for row in rows}) == 2
