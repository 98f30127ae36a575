"""
Rows of robots.txt fetches as Spark has them: the normal form, and rejects among them.

A DataFrame of fetches has the columns of `robots_table.SCHEMA` and one more, `reject`: null for a
fetch, place and reason for a record that cannot be used. A reject has no origin; its `source` is
the file. So every record of an input is one row, and no second output is needed for rejects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from robotrules.bulk import robots_table
from robotrules.bulk.arrow_support import pa
from robotrules.bulk.rejects import Reject
from robotrules.bulk.spark.arrow_types import plain_batches, plain_schema, row_batch, slices

REJECT = pa.field("reject", pa.struct([("place", pa.string()), ("reason", pa.string())]))
SCHEMA = plain_schema(robots_table.SCHEMA).append(REJECT)


def to_spark(batch: Any, rejects: Iterable[Reject] = ()) -> Iterator[Any]:
    """Yield batches of `SCHEMA` from a batch in the normal form and its rejects."""
    for part in plain_batches(batch):
        columns = [*part.columns, pa.nulls(len(part), REJECT.type)]
        yield pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
    if found := list(rejects):
        rows = [
            {
                "source": reject.source,
                "reject": {"place": reject.place, "reason": reject.reason},
            }
            for reject in found
        ]
        yield pa.RecordBatch.from_pylist(rows, schema=SCHEMA)


def from_spark(batch: Any) -> Any:
    """Return the fetches of a batch that Spark has made, in the normal form."""
    if "reject" in batch.schema.names:
        batch = batch.filter(batch.column("reject").is_null())
    columns = [
        batch.column(field.name).cast(field.type, safe=False) for field in robots_table.SCHEMA
    ]
    return pa.RecordBatch.from_arrays(columns, schema=robots_table.SCHEMA)


def rejects_of(batch: Any) -> Any:
    """Return the rejects of a batch that Spark has made: source and reject."""
    if "reject" not in batch.schema.names:
        return batch.slice(0, 0)
    return batch.filter(batch.column("reject").is_valid())


class Normalize:
    """A task that brings a user's table into the normal form; for `mapInArrow`."""

    def __init__(self, columns: dict[str, str] | None = None) -> None:
        """Read these columns; see `robots_table.normalize`."""
        self.columns = columns

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield batches of `SCHEMA`."""
        partition, first = _partition(), 0
        for whole in map(row_batch, batches):
            # The bodies of a batch may be large; the normal form has 64-bit offsets, Spark not.
            for batch in slices(whole):
                for rows, rejects in robots_table.normalize(batch, columns=self.columns):
                    yield from to_spark(rows, [_placed(each, partition, first) for each in rejects])
                first += batch.num_rows


def _placed(reject: Reject, partition: int, first: int) -> Reject:
    row = first + int(reject.place.removeprefix("row "))
    return reject._replace(place=f"partition {partition}, row {row}")


def _partition() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return context.partitionId() if context else 0
