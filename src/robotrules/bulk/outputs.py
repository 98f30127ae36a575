"""
Output files: Parquet, CSV and JSON lines, written so that equal rows give equal bytes.

The format follows from the name. CSV has no nested values, so lists, structs and maps are JSON in
its fields. A file appears under its name when it is complete: it is written to a temporary file
next to it and renamed. Text files can be compressed (`.gz`); their parts are gzip members, which
can be concatenated.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import math
import os
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from typing import Any, BinaryIO, NamedTuple

import pyarrow.compute as pc

from robotrules.bulk.arrow_support import pa
from robotrules.errors import InputError

# Rows and bytes of a row group.
GROUP_ROWS = 131_072
GROUP_BYTES = 64 * 1024 * 1024
_EXTENSIONS = {".parquet": "parquet", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
GZIP_LEVEL = 6


class OutputFormat(NamedTuple):
    """The format of an output file."""

    name: str
    compressed: bool = False

    @property
    def extension(self) -> str:
        """The extension of its files."""
        return f".{self.name}{'.gz' if self.compressed else ''}"


def output_format(path: str, given: str | None = None) -> OutputFormat | None:
    """Return the format of a file name; None: it names a folder. Raises InputError."""
    base = os.path.basename(os.path.normpath(path)).lower()
    stem = base.removesuffix(".gz")
    kind = _EXTENSIONS.get(os.path.splitext(stem)[1])
    if os.path.isdir(path) or path.endswith(os.sep) or not os.path.splitext(stem)[1]:
        return None
    if kind is None and given is None:
        listed = ", ".join(_EXTENSIONS)
        raise InputError(
            f"unknown output format of {path!r}: use {listed}, or pass --output-format"
        )
    found = OutputFormat(kind or given or "", stem != base)
    if found.name == "parquet" and found.compressed:
        raise InputError(f"{path!r}: Parquet files are compressed inside: remove .gz")
    return found


class PartSummary(NamedTuple):
    """A written file."""

    rows: int
    size: int
    sha256: str


class TableWriter:
    """Writes batches to one file; a context manager that leaves no file after an exception."""

    def __init__(self, path: str, format: OutputFormat, *, header: bool = True) -> None:
        self._path, self._format, self._header = path, format, header
        self._temporary = f"{path}.{os.getpid()}.tmp"
        self._file: BinaryIO = open(self._temporary, "wb")  # noqa: SIM115
        self._hashed = _Hashed(self._file)
        self._sink: Any = self._hashed
        if format.compressed:
            self._sink = gzip.GzipFile("", "wb", GZIP_LEVEL, self._hashed, mtime=0)
        self._parquet: Any = None
        self._waiting: list[Any] = []
        self._waiting_rows = self._waiting_bytes = 0
        self.schema: Any = None
        self.rows = 0

    def __enter__(self) -> TableWriter:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if not self._file.closed:
            if self._parquet is not None:
                self._parquet.close()
            self._file.close()
        if os.path.exists(self._temporary):
            os.unlink(self._temporary)

    def write(self, batch: Any) -> None:
        """Write a batch; all batches of a file have the same columns."""
        batch = _with_required_keys(batch)
        if self.schema is None:
            self.schema = batch.schema
            self._start()
        elif not batch.schema.equals(self.schema):
            raise InputError(
                f"the inputs have different columns, and {self._path!r} is one table: "
                f"{_difference(self.schema, batch.schema)}; write a folder, or pass them separately"
            )
        self.rows += len(batch)
        if self._format.name != "parquet":
            self._write_text(batch)
            return
        self._waiting.append(batch)
        self._waiting_rows += len(batch)
        self._waiting_bytes += batch.nbytes
        if self._waiting_rows >= GROUP_ROWS or self._waiting_bytes >= GROUP_BYTES:
            self._write_group()

    def append_files(self, paths: Sequence[str]) -> None:
        """Append text files in the same format, as they are."""
        for path in paths:
            with open(path, "rb") as file:
                while data := file.read(GROUP_BYTES // 64):
                    self._hashed.write(data)

    def finish(self) -> PartSummary:
        """Complete the file and give it its name."""
        if self._format.name == "parquet":
            if self.schema is None:
                raise InputError(f"nothing to write to {self._path!r}: the inputs have no table")
            self._write_group()
            self._parquet.close()
        if self._format.compressed:
            self._sink.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        os.replace(self._temporary, self._path)
        return PartSummary(self.rows, self._hashed.size, self._hashed.digest.hexdigest())

    def _start(self) -> None:
        if self._format.name == "parquet":
            import pyarrow.parquet as pq

            self._parquet = pq.ParquetWriter(
                pa.PythonFile(self._sink, "w"), self.schema, compression="zstd"
            )
        elif self._format.name == "csv" and self._header:
            self._sink.write(csv_header(self.schema.names))

    def _write_group(self) -> None:
        if self._waiting_rows:
            self._parquet.write_table(
                pa.Table.from_batches(self._waiting), row_group_size=GROUP_ROWS
            )
        self._waiting, self._waiting_rows, self._waiting_bytes = [], 0, 0

    def _write_text(self, batch: Any) -> None:
        if not len(batch):
            return
        if self._format.name == "jsonl":
            self._sink.write(b"".join(_json_line(row) for row in _rows(batch)))
            return
        import pyarrow.csv as pc_csv

        flat = pa.RecordBatch.from_arrays(
            [_flatten(column) for column in batch.columns],
            [f"c{number}" for number in range(batch.num_columns)],
        )
        made = io.BytesIO()
        options = pc_csv.WriteOptions(include_header=False, quoting_style="needed")
        pc_csv.write_csv(flat, made, write_options=options)
        self._sink.write(made.getvalue())


class _Hashed:
    """A file that computes the SHA-256 of what is written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.digest = hashlib.sha256()
        self.size = 0
        self.closed = False

    def write(self, data: Any) -> int:
        """Write bytes."""
        octets = bytes(data)
        self.digest.update(octets)
        self.size += len(octets)
        return self._file.write(octets)

    def flush(self) -> None:
        """Flush the file."""
        self._file.flush()

    def tell(self) -> int:
        """Return the number of bytes written."""
        return self.size

    def writable(self) -> bool:
        """Return True."""
        return True

    def close(self) -> None:
        """Leave the file open: it is flushed to the disk first."""


def _with_required_keys(batch: Any) -> Any:
    """Return a batch whose maps have keys that cannot be null: Parquet requires that."""
    columns = list(batch.columns)
    for number, column in enumerate(columns):
        if pa.types.is_map(column.type) and column.type.key_field.nullable:
            rebuilt = pa.MapArray.from_arrays(column.offsets, column.keys, column.items)
            if column.null_count:
                rebuilt = pc.if_else(column.is_valid(), rebuilt, None)
            columns[number] = rebuilt
    if all(new is old for new, old in zip(columns, batch.columns, strict=True)):
        return batch
    fields = [
        batch.schema.field(number).with_type(column.type) for number, column in enumerate(columns)
    ]
    return pa.RecordBatch.from_arrays(
        columns, schema=pa.schema(fields, metadata=batch.schema.metadata)
    )


def csv_header(names: Sequence[str]) -> bytes:
    """Return the first line of a CSV file."""
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    return (",".join(quoted) + "\n").encode("utf-8", "replace")


def _difference(expected: Any, found: Any) -> str:
    missing = [name for name in expected.names if name not in found.names]
    extra = [name for name in found.names if name not in expected.names]
    if missing or extra:
        return f"{', '.join(map(repr, missing or extra))} is not in all of them"
    for name in expected.names:
        if expected.field(name).type != found.field(name).type:
            return f"{name!r} is {expected.field(name).type} and {found.field(name).type}"
    return "their order differs"


# --- Values as text -------------------------------------------------------------------------------


def _flatten(column: Any) -> Any:
    """Return a column as CSV has it."""
    types, kind = pa.types, column.type
    if types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if types.is_timestamp(kind):
        text = pc.strftime(column, format="%Y-%m-%dT%H:%M:%S")
        zone = "Z" if kind.tz in ("UTC", "+00:00") else ""
        return pc.binary_join_element_wise(text, zone, "") if zone else text
    if types.is_nested(kind):
        return pa.array([_json_text(value) for value in _values(column)], pa.string())
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind):
        return pa.array(
            [None if value is None else _text(value) for value in column.to_pylist()], pa.string()
        )
    if types.is_string_view(kind):
        return column.cast(pa.large_string())
    return column


def _values(column: Any) -> list[Any]:
    values: list[Any] = column.to_pylist(maps_as_pydicts="lossy")
    return values


def _rows(batch: Any) -> Iterator[dict[str, Any]]:
    names = batch.schema.names
    for values in zip(*(_values(column) for column in batch.columns), strict=True):
        yield dict(zip(names, values, strict=True))


def _json_text(value: Any) -> str | None:
    return None if value is None else json.dumps(_plain(value), separators=(",", ":"))


def _json_line(row: dict[str, Any]) -> bytes:
    return (json.dumps(_plain(row), ensure_ascii=False) + "\n").encode("utf-8", "replace")


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, bytes):
        return _text(value)
    if isinstance(value, datetime | date):
        return value.isoformat().replace("+00:00", "Z")
    return value if value is None or isinstance(value, str | int) else str(value)


def _text(octets: bytes) -> str:
    """Return bytes as text, or in base64 if they are not UTF-8."""
    try:
        return octets.decode("utf-8")
    except UnicodeDecodeError:
        return base64.b64encode(octets).decode()


# --- Parts into one file --------------------------------------------------------------------------


def join_parts(parts: Sequence[str], target: str, format: OutputFormat) -> None:
    """Write the rows of part files to one file; only the first of CSV files has a header."""
    if format.name == "parquet":
        _join_parquet(parts, target, format)
        return
    # The first part has the header. Gzip members are concatenated, so nothing is compressed here.
    with TableWriter(target, OutputFormat(format.name)) as writer:
        writer.append_files(parts)
        writer.finish()


def _join_parquet(parts: Sequence[str], target: str, format: OutputFormat) -> None:
    import pyarrow.parquet as pq

    with TableWriter(target, format) as writer:
        for part in parts:
            with pq.ParquetFile(part) as file:
                writer.write(
                    pa.RecordBatch.from_arrays(
                        [pa.array([], field.type) for field in file.schema_arrow],
                        schema=file.schema_arrow,
                    )
                )
                for group in range(file.num_row_groups):
                    for batch in file.read_row_group(group).to_batches():
                        writer.write(batch)
        writer.finish()
