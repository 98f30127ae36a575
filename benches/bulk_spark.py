"""
Spark on a standalone cluster against one machine, and one core against two.

Two workers on loopback, each pinned to a processor of its own, as two machines with one core each.
A case reads Parquet, computes, and counts the result, so no output is written. It runs in a
session on one core and in a session on both; the first run of a session starts the Python
processes and is not counted, then the best of several runs is. The local engine does the same
with one thread in one process. The load of the machine is printed, because it decides what the
figures are worth.

    bulk_spark.py [--urls 12000000] [--files 200000] [--runs 3]
    bulk_spark.py session MASTER CORES FOLDER RUNS      one session; prints JSON

Does not know: a network. The driver and the master share the machine with the workers.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import table

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

HOSTS, FILES = 1000, 16
TOKENS = ["ExampleBot", "GPTBot"]


def body(number: int) -> bytes:
    """Return a robots.txt of about a kilobyte with 40 rules."""
    rules = [f"Disallow: /{number % 97}/private{i}/*.html" for i in range(20)]
    rules += [f"Allow: /{number % 89}/public{i}/" for i in range(18)]
    return "\n".join(
        ["User-agent: *", *rules, "User-agent: GPTBot", "Disallow: /", "Allow: /*page"]
    ).encode()


def write_inputs(folder: Path, urls: int, files: int) -> None:
    """Write tables of URLs and of robots.txt files, each in several Parquet files."""
    robots = pa.table(
        {
            "origin": [f"https://host-{i}.example" for i in range(HOSTS)],
            "status": [200] * HOSTS,
            "body": pa.array([body(i) for i in range(HOSTS)], pa.binary()),
        }
    )
    pq.write_table(robots, folder / "robots.parquet")
    for name, total in (("urls", urls), ("files", files)):
        (folder / name).mkdir()
        for part in range(FILES):
            numbers = range(part, total, FILES)
            columns: dict[str, list[Any]]
            if name == "urls":
                hosts = (f"https://host-{i * 7919 % HOSTS}.example" for i in numbers)
                paths = (f"/{i % 97}/private{i % 23}/page-{i}.html" for i in numbers)
                columns = {"url": list(map(str.__add__, hosts, paths))}
            else:
                columns = {
                    "origin": [f"https://host-{i}.example" for i in numbers],
                    "status": [200] * len(numbers),
                    "body": [body(i) for i in numbers],
                }
            pq.write_table(pa.table(columns), folder / name / f"{part}.parquet")


# --- One machine ----------------------------------------------------------------------------------


def local_cases(folder: Path) -> dict[str, Callable[[], int]]:
    """Return what is measured, with one thread."""
    from robotrules import bulk

    corpus = bulk.Corpus.from_table(pq.read_table(folder / "robots.parquet"))

    def check() -> int:
        allowed = 0
        for path in sorted((folder / "urls").glob("*.parquet")):
            batches = pq.ParquetFile(path).iter_batches(10_000)
            for batch in corpus.check_batches(batches, product_tokens=TOKENS, threads=1):
                allowed += pc.sum(batch[f"{TOKENS[0]}.allowed"]).as_py() or 0
        return allowed

    def facts() -> int:
        rules = 0
        for path in sorted((folder / "files").glob("*.parquet")):
            rules += pc.sum(bulk.facts(pq.read_table(path), threads=1)["disallow_rules"]).as_py()
        return rules

    return {"check, broadcast": check, "check, co-partitioned": check, "facts": facts}


# --- A session ------------------------------------------------------------------------------------


def spark_cases(spark: Any, folder: Path) -> dict[str, Callable[[], int]]:
    """Return what is measured on a cluster."""
    from pyspark.sql import functions as F

    from robotrules.bulk import spark as bulk_spark

    robots = spark.read.parquet(str(folder / "robots.parquet"))
    urls = spark.read.parquet(str(folder / "urls"))
    files = spark.read.parquet(str(folder / "files"))

    def check(**options: Any) -> int:
        result = bulk_spark.check(urls, robots, product_tokens=TOKENS, **options)
        allowed = F.sum(F.col(f"`{TOKENS[0]}.allowed`").cast("long"))
        return int(result.agg(allowed).collect()[0][0])

    def facts() -> int:
        return int(bulk_spark.facts(files).agg(F.sum("disallow_rules")).collect()[0][0])

    return {
        "check, broadcast": lambda: check(broadcast=True),
        "check, co-partitioned": lambda: check(broadcast=False, partitions=FILES),
        "facts": facts,
    }


def measure(cases: dict[str, Callable[[], int]], runs: int) -> dict[str, dict[str, Any]]:
    """Run each case once, then several times; return the result, the first and the best time."""
    figures = {}
    for name, run in cases.items():
        seconds = []
        for _ in range(runs + 1):
            start = time.perf_counter()
            result = run()
            seconds.append(time.perf_counter() - start)
        figures[name] = {"result": result, "first": seconds[0], "best": min(seconds[1:])}
    return figures


def run_session(master: str, cores: str, folder: str, runs: str) -> None:
    """Measure all cases in a session with so many cores, and print them as JSON."""
    from pyspark.sql import SparkSession

    settings = json.loads(os.environ["ROBOTRULES_SPARK_SETTINGS"])
    builder = SparkSession.builder.appName("robotrules bench").master(master)
    for name, value in (settings | {"spark.cores.max": cores}).items():
        builder = builder.config(name, value)
    start = time.perf_counter()
    spark = builder.getOrCreate()
    started = time.perf_counter() - start
    try:
        cases = spark_cases(spark, Path(folder))
        print(json.dumps({"start": started, "cases": measure(cases, int(runs))}))
    finally:
        spark.stop()


# --- The comparison -------------------------------------------------------------------------------


def main() -> None:
    """Start a cluster, measure, and print a table."""
    from tests.bulk.spark.cluster import SparkCluster, environment, session_settings

    parser = argparse.ArgumentParser()
    parser.add_argument("--urls", type=int, default=12_000_000)
    parser.add_argument("--files", type=int, default=200_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="robotrules-bench-") as name:
        folder = Path(name)
        write_inputs(folder, options.urls, options.files)
        print(f"load before: {os.getloadavg()[0]:.2f}", file=sys.stderr)
        local = measure(local_cases(folder), options.runs)
        sessions = {}
        with SparkCluster(workers=2, cores=1, pinned=True) as cluster:
            settings = json.dumps(session_settings(cluster))
            for cores in (1, 2):
                command = [sys.executable, __file__, "session", cluster.url, str(cores)]
                ran = subprocess.run(
                    [*command, str(folder), str(options.runs)],
                    env=environment(cluster.folder) | {"ROBOTRULES_SPARK_SETTINGS": settings},
                    stdout=subprocess.PIPE,
                    check=True,
                    timeout=3600,
                )
                sessions[cores] = json.loads(ran.stdout.splitlines()[-1])
    rows = []
    for case, figures in local.items():
        one, two = (sessions[cores]["cases"][case] for cores in (1, 2))
        assert figures["result"] == one["result"] == two["result"], case
        amount = options.files if case == "facts" else options.urls
        rows.append(
            [
                case,
                *(f"{each['best']:.1f} s" for each in (figures, one, two)),
                *(f"{amount / each['best'] / 1000:,.0f}k" for each in (figures, one, two)),
                f"{one['best'] / two['best']:.2f}",
                f"{one['best'] / figures['best']:.2f}",
                f"{one['first']:.1f} s",
            ]
        )
    header = ["case", "local", "1 core", "2 cores", "rows/s", "rows/s", "rows/s"]
    print(table.render([*header, "speed-up", "1 core / local", "first run"], rows))
    starts = ", ".join(f"{sessions[cores]['start']:.1f} s" for cores in (1, 2))
    print(
        f"\n{options.urls:,} URLs over {HOSTS:,} hosts, {options.files:,} files;"
        f" start of a session: {starts}; load after: {os.getloadavg()[0]:.2f}"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["session"]:
        run_session(*sys.argv[2:6])
    else:
        main()
