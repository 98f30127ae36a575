"""One cluster and one session for all tests of this folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.bulk.spark.cluster import (
    ClusterUnavailable,
    SparkCluster,
    environment,
    session_settings,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="package")
def cluster() -> Iterator[SparkCluster]:
    """A standalone cluster with two workers of one core each."""
    pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'pyspark>=4'")
    if shutil.which("java") is None:
        required = os.environ.get("ROBOTRULES_REQUIRE_SERVERS", "") not in ("", "0")
        say = pytest.fail if required else pytest.skip
        say("Java is not installed: Spark needs a JDK 17")
    try:
        with SparkCluster(workers=2, cores=1) as cluster:
            yield cluster
    except ClusterUnavailable as error:
        pytest.fail(f"the Spark cluster did not start: {error}")


@pytest.fixture(scope="module")
def own_cluster(cluster: SparkCluster) -> Iterator[SparkCluster]:
    """The cluster with one more worker: the session of the other tests has all cores."""
    cluster.size += 1
    cluster.restore()
    yield cluster
    cluster.size -= 1
    cluster.kill_worker(-1)


@pytest.fixture(scope="package")
def spark(cluster: SparkCluster) -> Iterator[SparkSession]:
    """A session on the cluster."""
    from pyspark.sql import SparkSession

    before = dict(os.environ)
    os.environ.update(environment(cluster.folder))
    builder = SparkSession.builder.appName("robotrules tests")
    for name, value in session_settings(cluster).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()
        for name in set(os.environ) - set(before):
            del os.environ[name]
        os.environ.update(before)
