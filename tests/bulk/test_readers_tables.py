"""Reading Parquet, CSV and JSON lines: types, rejects with their places, cursors, damage."""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from robotrules.bulk.readers.chunks import InputChunk
from robotrules.bulk.readers.decompression import TextFile
from robotrules.bulk.readers.table_files import read_csv, read_json_lines, read_parquet
from robotrules.errors import TableError
from tests.bulk.warc_samples import frame

Reader = Callable[..., Iterator[InputChunk]]
Result = tuple[list[dict[str, Any]], list[tuple[str, str]]]


def read(reader: Reader, octets: bytes, **options: Any) -> Result:
    """Return the rows of a file, and place and reason of its rejects."""
    rows, rejects = [], []
    for chunk in reader(io.BytesIO(octets), "file", **options):
        if chunk.batch is not None:
            chunk.batch.validate(full=True)
            rows += chunk.batch.to_pylist()
            if chunk.numbers:
                assert len(chunk.numbers) == len(chunk.batch)
        rejects += [(one.place, one.reason) for one in chunk.rejects]
    return rows, rejects


def parquet(table: pa.Table, **options: Any) -> bytes:
    """Return a Parquet file."""
    made = io.BytesIO()
    pq.write_table(table, made, **options)
    return made.getvalue()


# --- CSV ------------------------------------------------------------------------------------------


def test_csv_columns_are_text() -> None:
    """Nothing is guessed: numbers, dates and booleans stay text; an empty field is null."""
    octets = b'url,n,day,flag,empty\nhttps://a.example/,007,2024-01-02,true,\n"x\ny",1e3,,"",""\n'
    rows, rejects = read(read_csv, octets)
    assert rejects == []
    assert rows == [
        {
            "url": "https://a.example/",
            "n": "007",
            "day": "2024-01-02",
            "flag": "true",
            "empty": None,
        },
        {"url": "x\ny", "n": "1e3", "day": None, "flag": "", "empty": ""},
    ]


def test_csv_rejects() -> None:
    """Rows with too few or too many fields, and fields that are not UTF-8, with their numbers."""
    rows, rejects = read(read_csv, b"\xef\xbb\xbfurl,n\r\na,1\r\nb\r\nc,2,3\r\nd,\xff\r\ne,5\r\n")
    assert [row["url"] for row in rows] == ["a", "e"]
    assert rejects == [
        ("row 2", "1 fields instead of 2"),
        ("row 3", "3 fields instead of 2"),
        ("row 4", "column 'n' is not UTF-8"),
    ]


@pytest.mark.parametrize("size", [100_000, 3_000_000, 30_000_000])
def test_csv_with_long_rows(size: int) -> None:
    """A long row is read; one beyond all limits is a reject."""
    rows, rejects = read(read_csv, b"url,n\na,1\n" + b"x" * size + b",2\nb,3\n")
    assert [len(row["url"]) for row in rows] == [1, size, 1]
    assert rejects == []


def test_csv_with_a_row_that_is_too_long() -> None:
    """The rows before are read, and a reject states where the rest is lost."""
    many = b"a,1\n" * 30_000
    rows, rejects = read(read_csv, b"url,n\n" + many + b"x" * 70_000_000 + b",2\n")
    assert len(rejects) == 1
    assert "not readable" in rejects[0][1]
    assert len(rows) <= 30_000


@pytest.mark.parametrize(("octets", "columns"), [(b"url,n\n", 0), (b"url,n", 0), (b"url\n\n\n", 0)])
def test_csv_without_rows(octets: bytes, columns: int) -> None:
    """A table without rows has its columns."""
    chunks = list(read_csv(io.BytesIO(octets), "file"))
    assert chunks[0].batch.schema.names[0] == "url"
    assert read(read_csv, octets) == ([], [])


def test_csv_that_is_something_else() -> None:
    """Binary data gives rejects and never an exception; two columns of one name are misuse."""
    source = random.Random(1)
    assert read(read_csv, b"") == ([], [("", "the file is empty")])
    for size in (1, 10, 1000, 100_000):
        for _ in range(5):
            octets = source.randbytes(size)
            with suppress(TableError):  # two columns of one name
                read(read_csv, octets)
            read(read_csv, b"url,n\n" + octets)
            read(read_json_lines, octets)
            assert read(read_parquet, octets)[1]
    with pytest.raises(TableError, match="more than one column 'a'"):
        read(read_csv, b"a,a\n1,2\n")


# --- JSON lines -----------------------------------------------------------------------------------


def test_json_lines_keep_types() -> None:
    """Types are those of the first lines; strings that look like dates stay strings."""
    value = {"url": "a", "n": 1, "x": 1.5, "ok": True, "day": "2024-01-02", "tags": ["a"]}
    rows, rejects = read(read_json_lines, json.dumps(value).encode() + b"\n\n" + b'{"url": null}')
    assert rejects == []
    assert rows == [value, dict.fromkeys(value)]


def test_json_lines_rejects() -> None:
    """Lines that are not objects, with their numbers; blank lines are none."""
    octets = b'{"n": 1}\n\nnope\n[1]\n\xff\n{"n": 2}\n' + b"[" * 100_000 + b'\n{"n":\n'
    rows, rejects = read(read_json_lines, octets)
    assert rows == [{"n": 1}, {"n": 2}]
    assert [place for place, _ in rejects] == ["line 3", "line 4", "line 5", "line 7", "line 8"]
    assert rejects[1][1] == "not a JSON object"


def test_json_lines_that_change() -> None:
    """A value of another type or a new key after the first lines is a reject, not a loss."""
    lines = [b'{"n": 1}'] * 3 + [
        b'{"n": "x"}',
        b'{"n": true}',
        b'{"m": 1}',
        b'{"n": 18446744073709551616}',
        b'{"n": 2}',
    ]
    rows, rejects = read(read_json_lines, b"\n".join(lines), batch_rows=3)
    assert [row["n"] for row in rows] == [1, 1, 1, 2]
    assert [place for place, _ in rejects] == ["line 4", "line 5", "line 6", "line 7"]
    assert "'m' is not in the first lines" in rejects[2][1]


def test_json_lines_with_mixed_types_at_the_start() -> None:
    """A key with several types is text."""
    rows, rejects = read(read_json_lines, b'{"n": 1}\n{"n": "x"}\n{"n": [1]}\n{"n": "\\ud800"}\n')
    assert ([row["n"] for row in rows], rejects) == (["1", "x", "[1]", "?"], [])


# --- Parquet --------------------------------------------------------------------------------------


def test_parquet_keeps_types() -> None:
    """All columns have their types."""
    table = pa.table(
        {
            "url": pa.array(["a", None]),
            "day": pa.array([1, 2], pa.date32()),
            "body": pa.array([b"\xff", b""], pa.large_binary()),
            "tag": pa.array(["x", "x"]).dictionary_encode(),
            "map": pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int8())),
        }
    )
    chunks = list(read_parquet(io.BytesIO(parquet(table)), "file"))
    assert all(chunk.batch.schema.equals(table.schema) for chunk in chunks)
    assert pa.Table.from_batches([chunk.batch for chunk in chunks]).equals(table)


def test_damaged_parquet() -> None:
    """A bad file is a reject; bad pages cost their row group, and the place says which rows."""
    table = pa.table({"url": [f"https://h{at}.example/{at * 7919}" for at in range(3000)]})
    octets = parquet(table, row_group_size=1000, use_dictionary=False, compression="gzip")
    assert read(read_parquet, octets[:-10])[1][0][1].startswith("not a Parquet file")
    broken = bytearray(octets)
    middle = pq.ParquetFile(io.BytesIO(octets)).metadata.row_group(1).column(0).data_page_offset
    broken[middle + 60 : middle + 200] = bytes(140)
    rows, rejects = read(read_parquet, bytes(broken))
    assert [place for place, _ in rejects] == ["rows 1001 to 2000"]
    assert rows == table.to_pylist()[:1000] + table.to_pylist()[2000:]


# --- Cursors --------------------------------------------------------------------------------------

FILES: dict[str, tuple[Reader, bytes]] = {
    "csv": (
        read_csv,
        b"url,n\n"
        + b"".join(b"u%d,%d%s\n" % (at, at, b",x" * (at % 97 == 5)) for at in range(9000)),
    ),
    "jsonl": (
        read_json_lines,
        b"".join(b'{"url": "u%d"%s\n' % (at, b"}" * (at % 50 != 3)) for at in range(1000)),
    ),
    "parquet": (
        read_parquet,
        parquet(pa.table({"url": [f"u{at}" for at in range(1000)]}), row_group_size=300),
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_reading_continues_at_every_cursor(name: str) -> None:
    """From each cursor on, the chunks are those that follow it."""
    reader, octets = FILES[name]
    chunks = list(reader(io.BytesIO(octets), "file", batch_rows=70))
    assert len(chunks) > 4
    for number, chunk in enumerate(chunks):
        if chunk.cursor is None or number == 0:
            continue
        rest = list(reader(io.BytesIO(octets), "file", chunk.cursor, 70))[1:]
        expected = [(one.batch, one.rejects, one.cursor) for one in chunks[number + 1 :]]
        assert [(one.batch, one.rejects, one.cursor) for one in rest] == expected


# --- Compression ----------------------------------------------------------------------------------


@pytest.mark.parametrize("compress", [gzip.compress, frame])
def test_compressed_text(compress: Callable[[bytes], bytes]) -> None:
    """gzip and zstd, also in several members and with padding."""
    rows, rejects = read(read_csv, compress(b"url,n\na,1\n") + compress(b"b,2\n"))
    assert ([row["url"] for row in rows], rejects) == (["a", "b"], [])
    rows, rejects = read(read_json_lines, compress(b'{"n": 1}\n') + compress(b'{"n": 2}'))
    assert (rows, rejects) == ([{"n": 1}, {"n": 2}], [])


def test_padding_after_gzip() -> None:
    """Zeros after the last member are padding."""
    assert read(read_csv, gzip.compress(b"url\na\n") + bytes(100)) == ([{"url": "a"}], [])


def test_truncated_gzip() -> None:
    """Whole rows before the cut are read, a cut row never is, and a reject states the damage."""
    urls = [f"https://h{at}.example/{random.Random(at).random()}" for at in range(2000)]
    octets = gzip.compress("\n".join(["url", *urls, ""]).encode())
    for size in range(100, len(octets), 997):
        rows, rejects = read(read_csv, octets[:size])
        found = [row["url"] for row in rows]
        assert found == urls[: len(found)]
        assert [reason for _, reason in rejects] in (
            ["truncated gzip data"],
            ["the file is empty"],
        )
    broken = bytearray(octets)
    broken[len(octets) // 2] ^= 0xFF
    rows, rejects = read(read_csv, bytes(broken))
    assert len(rejects) >= 1
    text = TextFile(io.BytesIO(octets[:50]))
    assert text.readable()
    text.readall()
    assert text.problem
