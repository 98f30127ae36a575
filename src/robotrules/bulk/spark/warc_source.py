"""
The data source `warc`: robots.txt captures of WARC files as a DataFrame, one partition a file.

    spark.dataSource.register(WarcDataSource)
    spark.read.format("warc").option("prefix", "s3://commoncrawl/").load("robotstxt.paths.gz")

Rows have the normal form and a column `reject`. A file that is missing or broken does not fail the
job: what can be read of it is read, and the rest is a reject with its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from robotrules.bulk.arrow_support import pa
from robotrules.bulk.readers.warc import read_warc
from robotrules.bulk.rejects import Reject
from robotrules.bulk.robots_table import SCHEMA as NORMAL_FORM
from robotrules.bulk.spark.frames import spark_schema
from robotrules.bulk.spark.locations import opened, option_paths, warc_files
from robotrules.bulk.spark.robots_rows import SCHEMA, to_spark


class WarcDataSource(DataSource):
    """Reads robots.txt captures; `spark.dataSource.register(WarcDataSource)` makes it known."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "warc"

    def schema(self) -> StructType:
        """Return the columns: the normal form, and `reject`."""
        schema: StructType = spark_schema(SCHEMA)
        return schema

    def reader(self, schema: StructType) -> WarcFilesReader:
        """Return a reader of the files that the options name."""
        paths = option_paths(self.options.get("path"), self.options.get("paths"))
        return WarcFilesReader(paths, self.options.get("prefix") or "")


class WarcFilesReader(DataSourceReader):
    """Reads files, each in a task of its own."""

    def __init__(self, paths: list[str], prefix: str = "") -> None:
        """Read these paths, globs and lists of paths."""
        self.paths, self.prefix = paths, prefix

    def partitions(self) -> list[InputPartition]:
        """Return a partition for each file."""
        return [InputPartition(file) for file in warc_files(self.paths, self.prefix)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Yield the captures of a file, and its rejects."""
        return read_file(str(partition.value))


def read_file(path: str) -> Iterator[Any]:
    """Yield the captures of a WARC file and its rejects, as batches for Spark."""
    try:
        with opened(path) as stream:
            for batch, rejects in read_warc(stream, name=path):
                yield from to_spark(batch, rejects)
    except OSError as error:
        reject = Reject(path, "offset 0", f"cannot read the file: {error}")
        yield from to_spark(pa.RecordBatch.from_pylist([], NORMAL_FORM), [reject])
