"""`robotrules bulk … --engine spark`: options, messages, and a run on a cluster."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.bulk.spark.cluster import SparkCluster, environment, session_settings
from tests.bulk.spark.samples import robots_table, urls_table
from tests.cli.shell import robotrules


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--master", "local[1]"], "--master needs --engine spark"),
        (["--spark-conf", "a=b"], "--spark-conf needs --engine spark"),
        (["--engine", "spark", "--part-rows", "5"], "--part-rows has no effect"),
        (["--engine", "spark", "--spark-conf", "x"], "--spark-conf 'x' is not a pair"),
        (["--engine", "spark", "--output-format", "csv"], "pass a folder with -o"),
    ],
)
def test_misuse(arguments: list[str], message: str, tmp_path: Path) -> None:
    """The message names the option."""
    pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'pyspark>=4'")
    pq.write_table(robots_table(), tmp_path / "robots.parquet")
    ran = robotrules("bulk", "facts", str(tmp_path / "robots.parquet"), "-o", "out", *arguments)
    assert ran.code == 2
    assert message in ran.err


def run(cluster: SparkCluster, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command with a driver of its own."""
    settings = [
        f"--spark-conf={name}={value}"
        for name, value in session_settings(cluster).items()
        if name != "spark.master"
    ]
    where = ["--engine=spark", f"--master={cluster.url}", *settings]
    return subprocess.run(
        [sys.executable, "-m", "robotrules", "bulk", *arguments, *where],
        env=environment(cluster.folder),
        cwd=cluster.folder,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.slow
def test_commands(own_cluster: SparkCluster, tmp_path: Path) -> None:
    """Check and facts have the rows of the local engine; a second run needs --restart."""
    pq.write_table(robots_table(), tmp_path / "robots.parquet")
    pq.write_table(urls_table(300).drop(["tags"]), tmp_path / "urls.parquet")
    inputs = [str(tmp_path / "urls.parquet"), f"--corpus={tmp_path}/robots.parquet"]
    common = ["--as=ExampleBot", "--as=GPTBot", "--column-prefix=r_"]
    ran = run(own_cluster, "check", *inputs, *common, "-o", f"{tmp_path}/checked", "--json")
    assert ran.returncode == 0, ran.stderr[-2000:]
    summary = json.loads(ran.stdout)
    rows = urls_table(300).num_rows
    assert (summary["rows"], summary["rejects"]) == (rows, 0)
    local = robotrules("bulk", "check", *inputs, *common, "-o", f"{tmp_path}/local.parquet", "-q")
    assert local.code == 0, local.err
    expected = pq.read_table(tmp_path / "local.parquet").sort_by("id")
    found = pq.read_table(tmp_path / "checked" / "kind=checks").sort_by("id")
    assert found.schema.names == expected.schema.names
    assert found.to_pylist() == expected.to_pylist()
    facts = ["facts", f"{tmp_path}/robots.parquet", "-o", f"{tmp_path}/facts"]
    ran = run(own_cluster, *facts)
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert f"{robots_table().num_rows} files in " in ran.stderr
    assert pq.read_table(tmp_path / "facts" / "kind=facts").num_rows == robots_table().num_rows
    again = run(own_cluster, *facts)
    assert again.returncode == 2
    assert "already exists" in again.stderr
    assert "Traceback" not in again.stderr
    assert os.path.exists(tmp_path / "facts" / "_SUCCESS")
