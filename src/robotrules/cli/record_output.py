"""
Records as CSV, JSON lines or Parquet, to stdout or to a file, as its extension says.

All formats have the same columns. Records are written as they come, so memory does not grow with
their number, and a file gets its name when it is complete.
"""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from typing import Any

from robotrules.cli.atomic_write import atomic_file, refuse_special_file
from robotrules.cli.client import library_errors
from robotrules.cli.console import CliError, Output, quoted
from robotrules.cli.csv_cells import csv_cell, csv_line

STDOUT = "-"
RECORD_FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}

Value = str | int | bool | None
Columns = Mapping[str, type[str] | type[int] | type[bool]]


def record_format(path: str) -> str:
    """Return the format of a file by its extension; CSV for stdout."""
    if path == STDOUT:
        return "csv"
    found = RECORD_FORMATS.get(os.path.splitext(path)[1].lower())
    if found is None:
        raise CliError(
            f"{quoted(path)} has no known extension: pass a name that ends in "
            f"{', '.join(RECORD_FORMATS)}"
        )
    return found


class RecordWriter(ABC):
    """Writes records, the values of which are in the order of the columns."""

    @abstractmethod
    def write(self, records: Sequence[Sequence[Value]]) -> None:
        """Write some records."""

    def finish(self) -> None:  # noqa: B027
        """Write what follows the last record."""


class _CsvRecords(RecordWriter):
    def __init__(self, output: Output, columns: Columns) -> None:
        self._output = output
        # The first column is different in each record; the others repeat.
        self._repeated = lru_cache(maxsize=4096, typed=True)(csv_cell)
        output.write(csv_line(columns))

    def write(self, records: Sequence[Sequence[Value]]) -> None:
        """Write some records."""
        lines = [
            ",".join([csv_cell(first), *[self._repeated(value) for value in others]])
            for first, *others in records
        ]
        self._output.write("".join([f"{line}\n" for line in lines]))
        self._output.flush()


class _JsonRecords(RecordWriter):
    def __init__(self, output: Output, columns: Columns) -> None:
        self._output = output
        self._names = list(columns)

    def write(self, records: Sequence[Sequence[Value]]) -> None:
        """Write some records."""
        objects = (dict(zip(self._names, record, strict=True)) for record in records)
        self._output.write("".join(f"{json.dumps(one)}\n" for one in objects))
        self._output.flush()


class _ParquetRecords(RecordWriter):
    def __init__(self, table: Any, columns: Columns) -> None:
        from robotrules.bulk.arrow_support import pa

        types = {str: pa.large_string(), int: pa.int64(), bool: pa.bool_()}
        self._pa, self._table = pa, table
        self._schema = pa.schema([(name, types[kind]) for name, kind in columns.items()])
        self.write([])

    def write(self, records: Sequence[Sequence[Value]]) -> None:
        """Write some records."""
        columns = list(zip(*records, strict=True)) or [()] * len(self._schema)
        arrays = [
            self._pa.array(values, field.type)
            for values, field in zip(columns, self._schema, strict=True)
        ]
        self._table.write(self._pa.RecordBatch.from_arrays(arrays, schema=self._schema))

    def finish(self) -> None:
        """Complete the file."""
        self._table.finish()


@contextmanager
def record_writer(path: str, format_name: str, columns: Columns) -> Iterator[RecordWriter]:
    """Open the output, `-` for stdout; at the end of the block the file is complete."""
    with ExitStack() as opened:
        if format_name == "parquet":
            writer: RecordWriter = _ParquetRecords(
                opened.enter_context(parquet_table(path)), columns
            )
        else:
            output = (
                Output()
                if path == STDOUT
                else Output.to_file(opened.enter_context(atomic_file(path)))
            )
            writer = (_CsvRecords if format_name == "csv" else _JsonRecords)(output, columns)
        yield writer
        writer.finish()


@contextmanager
def parquet_table(path: str) -> Iterator[Any]:
    """Open a Parquet file for `bulk.outputs.TableWriter`; raises `CliError` on failure."""
    if path == STDOUT:
        raise CliError("Parquet cannot be written to stdout: pass the name of a file")
    refuse_special_file(path)
    with library_errors():
        # Says what to install, if pyarrow is missing.
        from robotrules.bulk import arrow_support  # noqa: F401
        from robotrules.bulk.outputs import OutputFormat, TableWriter
    try:
        # A symbolic link stays a link.
        with TableWriter(os.path.realpath(path), OutputFormat("parquet")) as table:
            yield table
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise CliError(f"cannot write {quoted(path)}: {why}; pass another file") from None
