"""
Tables in files: Parquet, CSV and JSON lines, as record batches.

Parquet keeps its types. Every column of a CSV file is text: a URL, a token or a date stays as it is
written, an empty field is null and a quoted empty one an empty text. JSON lines get the types of
the first lines. A line that cannot be used is a reject with its number.

Sections: Parquet · CSV · JSON lines.
"""

from __future__ import annotations

import csv as csv_module
import io
import json
from codecs import getincrementaldecoder, register_error
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import pyarrow.compute as pc

from robotrules.bulk.arrow_support import pa
from robotrules.bulk.readers.chunks import Cursor, InputChunk
from robotrules.bulk.readers.decompression import TextFile
from robotrules.bulk.rejects import Reject
from robotrules.errors import TableError

BATCH_ROWS = 65_536
# A record of a CSV file or a line of JSON must fit.
MAX_RECORD = 32 * 1024 * 1024
CSV_BLOCK, MIN_CSV_BLOCK = 4 * 1024 * 1024, 16 * 1024
JSON_ROWS = 16_384
JSON_BYTES = 32 * 1024 * 1024

Chunks = Iterator[InputChunk]


# --- Parquet --------------------------------------------------------------------------------------


def read_parquet(
    file: BinaryIO, name: str, start: Cursor | None = None, batch_rows: int = BATCH_ROWS
) -> Chunks:
    """Yield the rows of a Parquet file; a cursor is the row group and the row in it."""
    import pyarrow.parquet as pq

    group, skip = start or [0, 0]
    try:
        parquet = pq.ParquetFile(file)
    except (pa.ArrowException, OSError) as error:
        yield InputChunk(
            None, [Reject(name, "", f"not a Parquet file: {_first_line(error)}")], None, 0
        )
        return
    groups, count = parquet.num_row_groups, parquet.metadata.num_rows
    size = _size(file)
    done = sum(parquet.metadata.row_group(index).num_rows for index in range(group))
    yield InputChunk(_empty(parquet.schema_arrow), [], [group, skip], 0)
    for index in range(group, groups):
        row = 0
        try:
            for batch in parquet.iter_batches(batch_rows, row_groups=[index], use_threads=False):
                row += len(batch)
                if row <= skip:
                    continue
                part = batch.slice(len(batch) - (row - skip)) if row - len(batch) < skip else batch
                position = size * (done + row) // max(count, 1)
                numbers = range(done + row - len(part) + 1, done + row + 1)
                yield InputChunk(part, [], [index, row], position, numbers)
        except (pa.ArrowException, OSError) as error:
            last = done + parquet.metadata.row_group(index).num_rows
            place = f"rows {done + row + 1} to {last}"
            yield InputChunk(None, [Reject(name, place, _first_line(error))], [index + 1, 0], 0)
        done += parquet.metadata.row_group(index).num_rows
        skip = 0


# --- CSV ------------------------------------------------------------------------------------------


def read_csv(
    file: BinaryIO, name: str, start: Cursor | None = None, batch_rows: int = BATCH_ROWS
) -> Chunks:
    """
    Yield the rows of a CSV file, all columns as text, in blocks of bytes.

    A cursor is a number of rows and the size of blocks, which grows if a row does not fit.
    """
    # A row has a hundred bytes, about.
    skip, block = start or [0, max(min(batch_rows * 100, CSV_BLOCK), MIN_CSV_BLOCK)]
    names, header_size = _read_csv_header(TextFile(file))
    file.seek(0)
    if not names:
        problem = TextFile(file).problem or "the file is empty"
        yield InputChunk(None, [Reject(name, "", problem)], None, 0)
        return
    _refuse_repeated(names, name)
    yield InputChunk(_empty_text(names), [], [skip, block], 0)
    while True:
        file.seek(0)
        text = TextFile(file)
        rows = _CsvRows(io.BufferedReader(_Rest(text, header_size), block), names, name, block)
        error = ""
        try:
            for batch, here, numbers in rows.batches(skip):
                yield InputChunk(batch, here, [rows.count, block], text.position(), numbers)
                skip = rows.count
        except (pa.ArrowException, OSError) as failure:
            error = _first_line(failure)
        if "straddl" not in error or block >= MAX_RECORD:
            break
        block = min(block * 8, MAX_RECORD)
    last = rows.invalid
    if error:
        last.append(Reject(name, f"after row {rows.count}", f"not readable: {error}"))
    if text.problem:
        last.append(Reject(name, f"after row {rows.count}", text.problem))
    if last:
        yield InputChunk(None, last, None, text.position())


class _CsvRows:
    """The rows of a CSV file behind its header; `count` includes the invalid ones."""

    def __init__(self, stream: BinaryIO, names: list[str], source: str, block: int) -> None:
        self._stream, self._names, self._source, self._block = stream, names, source, block
        self.count = 0
        # Invalid rows may be found before the batch they are in.
        self.invalid: list[Reject] = []

    def _keep_invalid(self, row: Any) -> str:
        """Make a reject of a row with too few or too many fields."""
        reason = f"{row.actual_columns} fields instead of {row.expected_columns}"
        self.invalid.append(Reject(self._source, f"row {row.number}", reason))
        return "skip"

    def batches(self, skip: int) -> Iterator[tuple[Any, list[Reject], list[int]]]:
        """Yield the rows after the first *skip* ones, with rejects and the numbers of the rows."""
        import pyarrow.csv as pc_csv

        if not self._stream.peek(1):  # type: ignore[attr-defined]
            return
        reader = pc_csv.open_csv(
            pa.PythonFile(self._stream, "r"),
            read_options=pc_csv.ReadOptions(
                use_threads=False, block_size=self._block, column_names=self._names
            ),
            parse_options=pc_csv.ParseOptions(
                newlines_in_values=True, invalid_row_handler=self._keep_invalid
            ),
            convert_options=pc_csv.ConvertOptions(
                column_types={column: pa.string() for column in self._names},
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )
        for batch in reader:
            first, self.count = self.count, self.count + len(batch)
            here: list[Reject] = []
            while self.invalid and _line_of(self.invalid[0]) <= self.count:
                here.append(self.invalid.pop(0))
                self.count += 1
            if self.count <= skip:
                continue
            bad = {_line_of(reject) for reject in here}
            numbers = [row for row in range(first + 1, self.count + 1) if row not in bad]
            done = sum(row <= skip for row in numbers) if skip > first else 0
            rest, unreadable = _without_wrong_bytes(batch.slice(done), self._source, numbers[done:])
            here = [*(reject for reject in here if _line_of(reject) > skip), *unreadable]
            left = {_line_of(reject) for reject in unreadable}
            kept = [row for row in numbers[done:] if row not in left] if left else numbers[done:]
            yield rest, sorted(here, key=_line_of), kept


class _Rest(io.RawIOBase):
    """
    A stream without its first bytes, as valid UTF-8.

    pyarrow stops at a wrong row that is not UTF-8, so wrong bytes become a noncharacter.
    """

    def __init__(self, stream: TextFile, skip: int) -> None:
        super().__init__()
        self._stream = io.BufferedReader(stream, MIN_CSV_BLOCK)
        self._decoder = getincrementaldecoder("utf-8")(_MARK_WRONG_BYTES)
        self._ready = b""
        self._is_end = False
        while skip:
            data = self._stream.read(min(skip, CSV_BLOCK))
            skip = skip - len(data) if data else 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer."""
        while not self._ready and not self._is_end:
            data = self._stream.read(len(buffer))
            self._is_end = not data
            self._ready = self._decoder.decode(data, self._is_end).encode("utf-8")
        data, self._ready = self._ready[: len(buffer)], self._ready[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)


# A noncharacter, which no text for interchange has (Unicode §23.7).
_WRONG_BYTE = "\ufffe"
_MARK_WRONG_BYTES = "robotrules-mark-wrong-bytes"


def _mark(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return _WRONG_BYTE, error.end


register_error(_MARK_WRONG_BYTES, _mark)


def _read_csv_header(text: TextFile) -> tuple[list[str], int]:
    """Return the names of the columns, and the number of bytes before the first row."""
    start = b""
    while len(start) < 1024 * 1024:
        data = text.read(64 * 1024)
        start += data or b""
        end = start.find(b"\n") + 1
        if end or not data:
            break
    end = start.find(b"\n") + 1 or len(start)
    line = start[:end].removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").strip("\r\n")
    try:
        return next(csv_module.reader([line]), []), end
    except csv_module.Error:
        return [], end


def _refuse_repeated(names: list[str], name: str) -> None:
    repeated = sorted({column for column in names if names.count(column) > 1})
    if repeated:
        raise TableError(f"{name} has more than one column {repeated[0]!r}: rename one of them")


def _without_wrong_bytes(batch: Any, name: str, rows: list[int]) -> tuple[Any, list[Reject]]:
    """Return a batch without the rows that are not UTF-8, which are rejects."""
    wrong: dict[int, str] = {}
    for column_name, column in zip(batch.schema.names, batch.columns, strict=True):
        marked = pc.fill_null(pc.match_substring(column, _WRONG_BYTE), False)
        if marked.true_count:
            for row in pc.indices_nonzero(marked).to_pylist():
                wrong.setdefault(row, f"column {column_name!r} is not UTF-8")
    if not wrong:
        return batch, []
    rejects = [Reject(name, f"row {rows[row]}", why) for row, why in sorted(wrong.items())]
    kept = pa.array([row not in wrong for row in range(len(batch))], pa.bool_())
    return batch.filter(kept), rejects


def _empty_text(names: list[str]) -> Any:
    return _empty(pa.schema([(column, pa.string()) for column in names]))


# --- JSON lines -----------------------------------------------------------------------------------


def read_json_lines(
    file: BinaryIO, name: str, start: Cursor | None = None, batch_rows: int = BATCH_ROWS
) -> Chunks:
    """Yield the objects of a file with one JSON object a line; a cursor is a number of lines."""
    skip = (start or [0])[0]
    text = TextFile(file)
    schema: Any = None
    number = 0
    for lines in _line_blocks(text, min(batch_rows, JSON_ROWS)):
        first, number = number + 1, number + len(lines)
        if schema is not None and number <= skip:
            continue
        objects, rejects = _parse_lines(lines, name, first)
        if schema is None:
            schema = _infer_schema([value for _, value in objects])
            if schema is not None:
                yield InputChunk(_empty(schema), [], [skip], 0)
        if number <= skip:
            continue
        if schema is None:
            yield InputChunk(None, rejects, None, text.position())
            continue
        batch, unfit = _build_batch(objects, schema, name)
        wrong = {reject.place for reject in unfit}
        numbers = [line for line, _ in objects if f"line {line}" not in wrong]
        rejects = sorted([*rejects, *unfit], key=_line_of)
        yield InputChunk(batch, rejects, [number], text.position(), numbers, "line")
    if schema is None and not number:
        yield InputChunk(None, [Reject(name, "", text.problem or "the file is empty")], None, 0)
    elif text.problem:
        yield InputChunk(None, [Reject(name, f"after line {number}", text.problem)], None, 0)


def _line_of(reject: Reject) -> int:
    return int(reject.place.rpartition(" ")[2])


def _line_blocks(text: TextFile, most: int) -> Iterator[list[bytes]]:
    """Yield lines, in blocks that depend only on the content of the file."""
    stream = io.BufferedReader(text, 1024 * 1024)
    lines: list[bytes] = []
    size = 0
    while True:
        line = stream.readline(MAX_RECORD)
        if not line:
            break
        if len(line) == MAX_RECORD and not line.endswith(b"\n"):
            while (rest := stream.readline(MAX_RECORD)) and not rest.endswith(b"\n"):
                pass
            line = b"\0"  # longer than any record: not JSON
        lines.append(line)
        size += len(line)
        if len(lines) >= most or size >= JSON_BYTES:
            yield lines
            lines, size = [], 0
    if lines:
        yield lines


def _parse_lines(
    lines: list[bytes], name: str, first: int
) -> tuple[list[tuple[int, dict[str, Any]]], list[Reject]]:
    objects: list[tuple[int, dict[str, Any]]] = []
    rejects = []
    for number, line in enumerate(lines, first):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            why = "too long" if line == b"\0" else f"not JSON: {_first_line(error)}"
            rejects.append(Reject(name, f"line {number}", why))
            continue
        if isinstance(value, dict):
            objects.append((number, value))
        else:
            rejects.append(Reject(name, f"line {number}", "not a JSON object"))
    return objects, rejects


def _infer_schema(objects: list[dict[str, Any]]) -> Any:
    """Return the types of the keys; text where they differ; None without objects."""
    names = list(dict.fromkeys(key for value in objects for key in value))
    if not objects:
        return None
    fields = []
    for key in names:
        values = [value.get(key) for value in objects]
        try:
            kind = pa.array([_clean(value) for value in values]).type
        except (pa.ArrowException, OverflowError, TypeError, ValueError):
            kind = pa.string()
        fields.append((key, pa.string() if pa.types.is_null(kind) else kind))
    return pa.schema(fields)


def _clean(value: Any) -> Any:
    """Return text without lone surrogates, which Arrow cannot hold."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _build_batch(
    objects: list[tuple[int, dict[str, Any]]], schema: Any, name: str
) -> tuple[Any, list[Reject]]:
    known = set(schema.names)
    wrong: dict[int, str] = {}
    for row, (_, value) in enumerate(objects):
        if not value.keys() <= known:
            key = next(key for key in value if key not in known)
            wrong[row] = f"the key {key[:80]!r} is not in the first lines of the file"
    columns: list[list[Any]] = []
    for field in schema:
        convert = _converter(field.type)
        column: list[Any] = []
        for row, (_, value) in enumerate(objects):
            try:
                column.append(convert(value.get(field.name)))
            except (pa.ArrowException, TypeError, ValueError, OverflowError):
                wrong.setdefault(row, f"{field.name!r} is not {field.type}")
                column.append(None)
        columns.append(column)
    arrays = [
        pa.array(
            [value for row, value in enumerate(column) if row not in wrong] if wrong else column,
            field.type,
        )
        for column, field in zip(columns, schema, strict=True)
    ]
    rejects = [Reject(name, f"line {objects[row][0]}", why) for row, why in wrong.items()]
    return pa.RecordBatch.from_arrays(arrays, schema=schema), rejects


def _converter(kind: Any) -> Callable[[Any], Any]:
    """Return a function that accepts the values of a type, and raises for others."""
    types = pa.types

    def text(value: Any) -> Any:
        """Return text; other values as JSON."""
        return _clean(value) if value is None or isinstance(value, str) else json.dumps(value)

    def plain(expected: type | tuple[type, ...]) -> Callable[[Any], Any]:
        """Return a function that accepts one Python type."""

        def convert(value: Any) -> Any:
            """Return the value, or raise."""
            if value is None or (
                isinstance(value, expected) and (expected is bool or not isinstance(value, bool))
            ):
                return value
            raise TypeError

        return convert

    def nested(value: Any) -> Any:
        """Return a list or an object if it fits."""
        pa.array([value], kind)
        return value

    if types.is_string(kind):
        return text
    if types.is_boolean(kind):
        return plain(bool)
    if types.is_integer(kind):
        return lambda value: _fits(plain(int)(value))
    if types.is_floating(kind):
        number = plain((int, float))
        return lambda value: None if value is None else float(number(value))
    return nested


def _fits(value: int | None) -> int | None:
    """Return a number of 64 bits; raises OverflowError for others."""
    if value is not None and not -(2**63) <= value < 2**63:
        raise OverflowError
    return value


# --- Shared ---------------------------------------------------------------------------------------


def _empty(schema: Any) -> Any:
    """Return a batch without rows: it carries the columns of a file that has none."""
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def _size(file: BinaryIO) -> int:
    here = file.tell()
    size = file.seek(0, io.SEEK_END)
    file.seek(here)
    return size
