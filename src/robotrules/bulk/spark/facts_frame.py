"""
Facts about robots.txt files, computed on a cluster with `bulk.facts`.

One row a fetch, with the columns of `facts.SCHEMA` in the types that Spark has: dictionaries are
strings, unsigned integers are signed and one size larger.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from robotrules.bulk.arrow_support import pa
from robotrules.bulk.facts import facts_batches
from robotrules.bulk.robots_table import SCHEMA
from robotrules.bulk.spark.arrow_types import plain_batches, plain_schema
from robotrules.bulk.spark.frames import normalize, spark_schema
from robotrules.bulk.spark.robots_rows import from_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def facts(
    frame: DataFrame, *, columns: Mapping[str, str] | None = None, **options: Any
) -> DataFrame:
    """
    Return one row of facts for each robots.txt fetch of a DataFrame.

    *frame* is what `spark.read.format("warc")` loads, or any table that `robots_table.normalize`
    reads, with its *columns*. *options* are those of `bulk.facts_batches`, such as `profile`.
    Records that cannot be used have no facts: `rejects()` returns them.
    """
    task = ComputeFacts({"threads": 1, **options})
    rows = normalize(frame, columns).where(F.col("reject").isNull()).drop("reject")
    # Wrong options raise here and not in a task.
    empty = pa.RecordBatch.from_pylist([], SCHEMA)
    (computed,) = facts_batches(iter([empty]), **task.options)
    return rows.mapInArrow(task, spark_schema(plain_schema(computed.schema)))


class ComputeFacts:
    """A task that computes facts; for `mapInArrow`."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        """Pass these options to `facts_batches`."""
        self.options = dict(options)

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield facts in the types that Spark has."""
        for computed in facts_batches(map(from_spark, batches), **self.options):
            yield from plain_batches(computed)
