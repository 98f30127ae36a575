"""
DataFrames of robots.txt fetches: into the normal form, and their rejects.

`normalize()` keeps rejects as rows among the others, and `rejects()` returns them. A DataFrame of
the data source `warc` has the form already.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from robotrules.bulk import robots_table
from robotrules.bulk.spark.arrow_types import ROW
from robotrules.bulk.spark.robots_rows import SCHEMA, Normalize

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def spark_schema(schema: Any) -> Any:
    """Return a schema of Arrow as one of Spark."""
    return from_arrow_schema(schema)


def normalize(frame: DataFrame, columns: Mapping[str, str] | None = None) -> DataFrame:
    """
    Return a table of robots.txt files in the normal form, with a column `reject`.

    A row that cannot be used has place and reason in `reject`, and no origin. The columns are
    those of `robots_table.SCHEMA`; *columns* gives the names of others, as there.
    """
    wanted = spark_schema(SCHEMA)
    if not columns and _types(frame.schema) == _types(wanted):
        return frame.select(*wanted.names)
    # Misuse, such as a table without origins, raises here and not in a task.
    list(robots_table.normalize(frame.limit(0).toArrow(), columns=columns))
    return mappable(frame).mapInArrow(Normalize(dict(columns) if columns else None), wanted)


def rejects(frame: DataFrame, columns: Mapping[str, str] | None = None) -> DataFrame:
    """Return the rows of a table of robots.txt files that cannot be used: source, place, reason."""
    return (
        normalize(frame, columns)
        .where(F.col("reject").isNotNull())
        .select("source", "reject.place", "reject.reason")
    )


def mappable(frame: DataFrame) -> DataFrame:
    """
    Return a DataFrame that `mapInArrow` takes; the tasks read it with `row_batch()`.

    It fails for names with a dot, such as `ExampleBot.allowed`, so they become fields of a struct.
    """
    if not any("." in name or "`" in name for name in frame.columns):
        return frame
    return frame.select(F.struct(*map(named_column, frame.columns)).alias(ROW))


def named_column(name: str) -> Column:
    """Return a column by its exact name; a dot in it is not a field of a struct."""
    return F.col(f"`{name.replace('`', '``')}`")


def _types(schema: Any) -> dict[str, str]:
    return {field.name: field.dataType.simpleString() for field in schema.fields}
