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
from robotrules.bulk.file_facts import facts_batches
from robotrules.bulk.robots_table import SCHEMA
from robotrules.bulk.spark.arrow_types import plain_batches, plain_schema
from robotrules.bulk.spark.frames import normalize, spark_schema
from robotrules.bulk.spark.robots_rows import REJECT, from_spark, rejects_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def facts(
    frame: DataFrame,
    *,
    columns: Mapping[str, str] | None = None,
    keep_rejects: bool = False,
    **options: Any,
) -> DataFrame:
    """
    Return one row of facts for each robots.txt fetch of a DataFrame.

    *frame* is what `spark.read.format("warc")` loads, or any table that `robots_table.normalize`
    reads, with its *columns*. *options* are those of `bulk.facts_batches`, such as `profile`.
    Records that cannot be used have no facts: `rejects()` returns them. With *keep_rejects* they
    are rows of this result, with two more columns, `source` and `reject`: one pass over the input
    gives both.
    """
    options = {"threads": 1, **options}
    if options.get("crawlers") is not None:
        options["crawlers"] = tuple(options["crawlers"])
    rows = normalize(frame, columns)
    if not keep_rejects:
        rows = rows.where(F.col("reject").isNull())
    # Wrong options raise here and not in a task.
    empty = pa.RecordBatch.from_pylist([], SCHEMA)
    computed = facts_batches([empty], **options)
    schema = plain_schema(next(iter(computed)).schema)
    if keep_rejects:
        schema = schema.append(pa.field("source", pa.string())).append(REJECT)
    task = ComputeFacts(options, schema if keep_rejects else None)
    return rows.mapInArrow(task, spark_schema(schema))


class ComputeFacts:
    """A task that computes facts; for `mapInArrow`."""

    def __init__(self, options: Mapping[str, Any], with_rejects: Any = None) -> None:
        """Pass these options to `facts_batches`; *with_rejects* is the schema of both."""
        self.options = dict(options)
        self.with_rejects = with_rejects

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield facts in the types that Spark has, and rejects if they are wanted."""
        rejects: list[Any] = []

        def fetches() -> Iterator[Any]:
            """Yield the fetches of each batch; its rejects wait until their facts are out."""
            for batch in batches:
                if self.with_rejects is not None:
                    rejects.append(rejects_of(batch))
                yield from_spark(batch)

        for computed in facts_batches(fetches(), **self.options):
            for batch in plain_batches(computed):
                yield self._padded(batch)
            yield from self._taken(rejects)
        yield from self._taken(rejects)

    def _taken(self, rejects: list[Any]) -> Iterator[Any]:
        """Yield the rejects so far, and forget them."""
        while rejects:
            yield self._padded(rejects.pop(0).select(["source", "reject"]))

    def _padded(self, batch: Any) -> Any:
        """Return a batch with all columns of the result, null where it has none."""
        if self.with_rejects is None:
            return batch
        names = set(batch.schema.names)
        columns = [
            batch.column(field.name) if field.name in names else pa.nulls(len(batch), field.type)
            for field in self.with_rejects
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self.with_rejects)
