"""
Inputs: from the names that a user passes to the files that are read, and how each is read.

A name is a file, a folder, a glob, `-` (stdin), or a list of paths such as Common Crawl's
`robotstxt.paths.gz`. The format follows from the name, else from the content. There are two kinds
of input: robots.txt files, which become robots tables in their normal form, and tables of URLs,
whose columns are kept.
"""

from __future__ import annotations

import glob
import gzip
import json
import os
import re
import shutil
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, NamedTuple

from robotrules.bulk.arrow_support import pa
from robotrules.bulk.readers.chunks import Cursor, InputChunk
from robotrules.bulk.readers.folders import read_folder
from robotrules.bulk.readers.table_files import (
    BATCH_ROWS,
    read_csv,
    read_json_lines,
    read_parquet,
)
from robotrules.bulk.rejects import Reject
from robotrules.bulk.robots_table import normalize
from robotrules.errors import InputError

FORMATS = ("parquet", "csv", "jsonl", "warc", "folder", "txt")
STDIN = "-"
_EXTENSIONS = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".warc": "warc",
}
_PATHS = ".paths"
_COMPRESSIONS = (".gz", ".zst")
_TABLES = {"parquet": read_parquet, "csv": read_csv, "jsonl": read_json_lines}
_ROW = re.compile(r"row ([0-9]+)")
# What the values of a text column `complete` mean.
_TRUE, _FALSE = ("true", "1", "yes"), ("false", "0", "no")
MANIFEST = "manifest.json"


class InputFile(NamedTuple):
    """A file or folder to read."""

    path: str
    format: str
    size: int
    """In bytes, for progress; a folder has the sum of its files."""
    modified: int
    """The time of the last change, in nanoseconds: a changed input is another one."""

    def open(self) -> BinaryIO:
        """Open the file; raises InputError."""
        try:
            return open(self.path, "rb")
        except OSError as error:
            raise InputError(f"cannot read {self.path!r}: {error.strerror}") from None


# --- Names to files -------------------------------------------------------------------------------


def find_inputs(
    names: Sequence[str], *, format: str | None = None, prefix: str = ""
) -> list[InputFile]:
    """
    Return the files of names, globs, folders and lists of paths, in order.

    *format* is used where neither name nor content tell. Paths in a list (`*.paths`, `*.paths.gz`)
    are appended to *prefix*. Raises InputError for a name without a file.
    """
    found: list[InputFile] = []
    for name in names:
        found += _expand(name, format, prefix)
    return found


def _expand(name: str, format: str | None, prefix: str) -> list[InputFile]:
    if name == STDIN:
        return [_describe(_spool_stdin(), format)]
    if os.path.isdir(name):
        return _folder(name, format)
    if not os.path.exists(name) and glob.has_magic(name):
        matches = sorted(glob.glob(name, recursive=True))
        if not matches:
            raise InputError(f"no file matches {name!r}")
        return [file for match in matches for file in _expand(match, format, prefix)]
    if _stem(name)[1] == _PATHS:
        return _path_list(name, format, prefix)
    return [_describe(name, format)]


def _stem(name: str) -> tuple[str, str]:
    """Return a file name without extension, and the extension without that of a compression."""
    base = os.path.basename(name).lower()
    for compression in _COMPRESSIONS:
        base = base.removesuffix(compression)
    return os.path.splitext(base)


def _folder(path: str, format: str | None) -> list[InputFile]:
    """Return the tables and archives in a folder, or else the folder of robots.txt files."""
    parts = _finished_parts(path)
    if parts is not None:
        return [_describe(part, None) for part in parts]
    files = sorted(
        os.path.join(folder, file)
        for folder, _, names in os.walk(path)
        for file in names
        if not file.startswith(".")
    )
    tables = [file for file in files if _stem(file)[1] in _EXTENSIONS]
    if tables and format != "folder":
        return [_describe(file, None) for file in tables]
    if not files:
        raise InputError(f"the folder {path!r} is empty")
    statuses = [os.stat(file) for file in files]
    size = sum(status.st_size for status in statuses)
    return [InputFile(path, "folder", size, max(status.st_mtime_ns for status in statuses))]


def _finished_parts(path: str) -> list[str] | None:
    """Return the part files of a run of this package; None: the folder is not one."""
    try:
        with open(os.path.join(path, MANIFEST), encoding="utf-8") as file:
            manifest = json.load(file)
        if manifest["kind"] != "robotrules/bulk":
            return None
        if manifest["state"] != "complete":
            raise InputError(f"the run in {path!r} is not complete: repeat its command first")
        return [os.path.join(path, part["file"]) for part in manifest["parts"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _path_list(name: str, format: str | None, prefix: str) -> list[InputFile]:
    try:
        with open(name, "rb") as file:
            data = file.read()
        data = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
        lines = data.decode("utf-8").split("\n")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the list of paths {name!r}: {error}") from None
    paths = [line.strip() for line in lines if line.strip()]
    if not paths:
        raise InputError(f"the list of paths {name!r} is empty")
    missing = [path for path in paths if not os.path.exists(prefix + path)]
    if missing:
        advice = "download them first, and pass --prefix" if not prefix else "change --prefix"
        raise InputError(
            f"{len(missing)} of {len(paths)} paths in {name!r} do not exist, such as "
            f"{prefix + missing[0]!r}: {advice}"
        )
    return [_describe(prefix + path, format) for path in paths]


def _describe(path: str, format: str | None) -> InputFile:
    try:
        status = os.stat(path)
        kind = _EXTENSIONS.get(_stem(path)[1]) or format or _sniff(path)
    except OSError as error:
        raise InputError(f"cannot read {path!r}: {error.strerror}") from None
    return InputFile(path, kind, status.st_size, status.st_mtime_ns)


def _sniff(path: str) -> str:
    """Return the format of a file from its first bytes."""
    with open(path, "rb") as file:
        start = file.read(64 * 1024)
    if start.startswith(b"\x1f\x8b"):
        try:
            start = zlib.decompressobj(31).decompress(start, 64 * 1024)
        except zlib.error:
            start = b""
    elif start.startswith((b"\x28\xb5\x2f\xfd", b"\x5d\x2a\x4d\x18")):
        return "warc"
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"WARC/"):
        return "warc"
    if start.lstrip().startswith(b"{"):
        return "jsonl"
    first = start.partition(b"\n")[0]
    if re.match(rb'[\w ."-]+(?:,[\w ."-]+)*\r?\Z', first):
        return "csv"
    raise InputError(
        f"cannot tell the format of {path!r}: pass --input-format, one of {', '.join(FORMATS)}"
    )


def _spool_stdin() -> str:
    """Copy stdin to a temporary file, since archives and Parquet need to seek; return its path."""
    stdin = getattr(sys.stdin, "buffer", None)
    if stdin is None:
        raise InputError("stdin is closed: pass a file")
    # Removed at exit: an input from stdin cannot be continued.
    with tempfile.NamedTemporaryFile(prefix="robotrules-stdin-", delete=False) as file:
        shutil.copyfileobj(stdin, file)
    _SPOOLED.append(file.name)
    return file.name


_SPOOLED: list[str] = []


def remove_spooled() -> None:
    """Remove the copies of stdin."""
    while _SPOOLED:
        os.unlink(_SPOOLED.pop())


# --- Reading --------------------------------------------------------------------------------------


def read_robots(
    source: InputFile,
    start: Cursor | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    skipped: Counter[str] | None = None,
    batch_rows: int = BATCH_ROWS,
) -> Iterator[InputChunk]:
    """
    Yield robots.txt files in the normal form, from a cursor on.

    *columns* names the columns of a table (`robots_table.normalize`); *skipped* counts the records
    of archives that are not robots.txt captures. A cursor is for the same *batch_rows*.
    """
    if source.format == "folder":
        yield from read_folder(source.path, start, batch_rows)
        return
    with source.open() as file:
        if source.format == "warc":
            yield from _warc_chunks(file, source.path, start, skipped, batch_rows)
            return
        for chunk in _TABLES[_table_format(source)](file, source.path, start, batch_rows):
            if chunk.batch is None:
                yield chunk
                continue
            for batch, rejects in normalize(
                _with_flags(chunk.batch), columns=columns, source=source.path
            ):
                placed = [_in_file(reject, chunk) for reject in rejects]
                yield chunk._replace(batch=batch, rejects=[*chunk.rejects, *placed])


def read_urls(
    source: InputFile, start: Cursor | None = None, *, batch_rows: int = BATCH_ROWS
) -> Iterator[InputChunk]:
    """Yield a table of URLs with all its columns, from a cursor on."""
    if source.format == "txt":
        with source.open() as file:
            yield from _read_lines(file, source.path, start)
        return
    with source.open() as file:
        yield from _TABLES[_table_format(source)](file, source.path, start, batch_rows)


def _table_format(source: InputFile) -> str:
    if source.format not in _TABLES:
        raise InputError(
            f"{source.path!r} is a {source.format} file; a table is needed: {', '.join(_TABLES)}"
        )
    return source.format


def _in_file(reject: Reject, chunk: InputChunk) -> Reject:
    """Return a reject of a row of a batch with its place in the file."""
    number = _ROW.fullmatch(reject.place)
    if number is None or not chunk.numbers:
        return reject
    return reject._replace(place=f"{chunk.noun} {chunk.numbers[int(number[1]) - 1]}")


def _with_flags(batch: Any) -> Any:
    """Return a batch with a column `complete` of type bool, which CSV files have as text."""
    names = batch.schema.names
    if "complete" not in names or not pa.types.is_string(batch.schema.field("complete").type):
        return batch
    values = [
        True if text in _TRUE else False if text in _FALSE else None
        for text in (
            (value or "").strip().lower() for value in batch.column("complete").to_pylist()
        )
    ]
    at = names.index("complete")
    columns = [*batch.columns[:at], pa.array(values, pa.bool_()), *batch.columns[at + 1 :]]
    return pa.RecordBatch.from_arrays(columns, names)


def _warc_chunks(
    file: BinaryIO,
    name: str,
    start: Cursor | None,
    skipped: Counter[str] | None,
    batch_rows: int,
) -> Iterator[InputChunk]:
    from robotrules.bulk.readers.warc import BATCH_ROWS as WARC_ROWS
    from robotrules.bulk.readers.warc import WarcArchive, WarcCursor
    from robotrules.bulk.robots_table import SCHEMA

    cursor = WarcCursor(start[0], bool(start[1])) if start else None
    archive = WarcArchive(file, name, skipped=skipped, start=cursor)
    yield InputChunk(pa.RecordBatch.from_pylist([], SCHEMA), [], start or [0, 0], 0)
    for batch, rejects in archive.batches(min(batch_rows, WARC_ROWS)):
        at = archive.cursor
        yield InputChunk(
            batch, rejects, [at.offset, int(at.evidence)] if at else None, at.offset if at else 0
        )


def _read_lines(file: BinaryIO, name: str, start: Cursor | None) -> Iterator[InputChunk]:
    """Yield a list with one URL a line as a table with the column `url`."""
    skip, number = (start or [0])[0], 0
    schema = pa.schema([("url", pa.string())])
    yield InputChunk(pa.RecordBatch.from_pylist([], schema), [], [skip], 0)
    while lines := file.readlines(4 * 1024 * 1024):
        first, number = number, number + len(lines)
        if number <= skip:
            continue
        urls, rejects = [], []
        for row, line in enumerate(lines, first + 1):
            try:
                text = line.decode("utf-8").strip()
            except UnicodeDecodeError:
                rejects.append(Reject(name, f"line {row}", "not UTF-8"))
                continue
            if text:
                urls.append(text)
        batch = pa.RecordBatch.from_arrays([pa.array(urls, pa.string())], schema=schema)
        yield InputChunk(batch, rejects, [number], file.tell())
