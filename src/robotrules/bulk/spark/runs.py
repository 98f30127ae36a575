"""
Whole runs: read files, compute, write a folder; what the command line and `spark-submit` call.

The output is a folder with a folder for each kind of row: `kind=facts` or `kind=checks`, and
`kind=rejects` if a record cannot be used. Spark writes part files and a file `_SUCCESS` at the end;
a task that fails leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pyspark.sql import functions as F

from robotrules.bulk.spark.check_plan import check
from robotrules.bulk.spark.facts_frame import facts
from robotrules.bulk.spark.frames import normalize
from robotrules.bulk.spark.locations import LISTS
from robotrules.bulk.spark.warc_source import WarcDataSource
from robotrules.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WARC = (".warc", ".warc.gz", ".warc.zst", *LISTS)
FORMATS = ("parquet", "json")


class RunCounts(NamedTuple):
    """How many rows a run has written."""

    rows: int
    rejects: int


def load(spark: SparkSession, paths: Sequence[str], *, prefix: str = "") -> DataFrame:
    """
    Read files as a DataFrame; the format follows from the name.

    WARC files and lists of them, CSV, JSON lines, and otherwise Parquet: files, folders, globs.
    """
    names = [str(path) for path in paths]
    if not names:
        raise InputError("no input: pass files, folders or globs")
    first = names[0].lower().rstrip("*")
    if first.endswith(WARC) or ".warc" in first:
        spark.dataSource.register(WarcDataSource)
        return spark.read.format("warc").option("prefix", prefix).load(names)
    names = [f"{prefix}{name}" for name in names]
    if first.endswith((".csv", ".csv.gz")):
        reader = spark.read.option("header", True).option("multiLine", True).option("escape", '"')
        return reader.csv(names)
    if first.endswith((".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz", ".json", ".json.gz")):
        return spark.read.json(names)
    return spark.read.parquet(*names)


def run_facts(
    spark: SparkSession,
    inputs: Sequence[str],
    output: str,
    *,
    path_prefix: str = "",
    file_format: str = "parquet",
    overwrite: bool = False,
    **options: Any,
) -> RunCounts:
    """Compute the facts of robots.txt files; *options* are those of `facts()`."""
    _write_common_times(spark)
    result = facts(load(spark, inputs, prefix=path_prefix), keep_rejects=True, **options)
    is_fact = F.col("reject").isNull()
    kinds = result.withColumn("kind", F.when(is_fact, "facts").otherwise("rejects"))
    mode = "overwrite" if overwrite else "errorifexists"
    kinds.write.format(file_format).mode(mode).partitionBy("kind").save(output)
    return _count(spark, output, file_format)


def run_check(
    spark: SparkSession,
    urls: Sequence[str],
    robots: Sequence[str],
    output: str,
    *,
    path_prefix: str = "",
    file_format: str = "parquet",
    overwrite: bool = False,
    columns: Mapping[str, str] | None = None,
    **options: Any,
) -> RunCounts:
    """Check URLs against robots.txt files; *options* are those of `check()`."""
    _write_common_times(spark)
    # It is read for its size, for its states and for its rejects.
    states = normalize(load(spark, robots, prefix=path_prefix), columns).persist()
    try:
        result = check(load(spark, urls), states, **options)
        mode = "overwrite" if overwrite else "errorifexists"
        result.write.format(file_format).mode(mode).save(f"{output}/kind=checks")
        rejected = states.where(F.col("reject").isNotNull()).select("source", "reject")
        rejected.write.format(file_format).mode(mode).save(f"{output}/kind=rejects")
    finally:
        states.unpersist()
    return _count(spark, output, file_format)


def _write_common_times(spark: SparkSession) -> None:
    """Write times in Parquet as other programs do, and not as INT96 without a zone."""
    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")


def _count(spark: SparkSession, output: str, file_format: str) -> RunCounts:
    """Count the rows of an output; Parquet has the numbers in its footers."""
    # The columns of the two kinds differ, and only their numbers are wanted.
    written = spark.read.format(file_format).schema("kind string").load(output)
    counts = {row["kind"]: row["count"] for row in written.groupBy("kind").count().collect()}
    rejects = counts.pop("rejects", 0)
    return RunCounts(sum(counts.values()), rejects)
