"""Saved corpora: Parquet files that are opened without reading their bodies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import robotrules
from robotrules.bulk.corpus import Corpus
from robotrules.bulk.corpus_file import read_fetches
from robotrules.errors import TableError

SOURCE = Path(robotrules.__file__).parents[1]


def make_table(count: int) -> pa.Table:
    """Return a table of fetches: files, some of them the same, failures, redirects, no times."""
    rows = []
    for number in range(count):
        row: dict[str, Any] = {
            "origin": f"h{number * 7 % count}.example",
            "status": 200,
            "body": None,
        }
        row |= {"fetched_at": float(number), "location": None, "complete": number % 5 != 0}
        if number % 7 == 0:
            row["status"] = 404 if number % 2 else None
        elif number % 11 == 0:
            target = f"https://h{number * 3 % count}.example/robots.txt"
            row |= {"status": 301, "location": target, "fetched_at": None}
        else:
            row["body"] = b"User-agent: *\nDisallow: /%d\nAllow: /a" % (number % 50)
        rows.append(row)
    return pa.Table.from_pylist(rows)


def urls(count: int) -> pa.Table:
    """Return URLs of these origins, and others."""
    numbers = range(3 * count)
    return pa.table(
        {
            "url": [f"https://h{number % (count + 3)}.example/{number % 50}" for number in numbers],
            "at": [float(number % (2 * count)) for number in numbers],
        }
    )


def both(corpus: Corpus, count: int) -> list[Any]:
    """Return the answers of a corpus, with and without times."""
    table = urls(count)
    return [
        corpus.check(table, product_tokens="bot").to_pylist(),
        corpus.check(table, product_tokens="bot", at="at").to_pylist(),
    ]


@pytest.mark.parametrize("count", [0, 1, 60, 300])
def test_roundtrip(tmp_path: Path, count: int) -> None:
    """A corpus that was saved and opened, also twice, gives the same answers."""
    table = make_table(count) if count else make_table(1).slice(1)
    corpus = Corpus.from_table(table)
    path = tmp_path / "corpus.parquet"
    corpus.save(path)
    with Corpus.open(path) as opened:
        assert repr(opened) == repr(corpus)
        assert opened.origins.to_pylist() == sorted(corpus.origins.to_pylist())
        assert both(opened, count) == both(corpus, count)
        opened.save(path)
    with Corpus.open(path, max_cache_bytes=0) as again:
        assert both(again, count) == both(corpus, count)
    assert os.listdir(tmp_path) == ["corpus.parquet"]


def test_bodies_are_stored_once_and_read_on_demand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each body is in one row; opening reads none, and a URL reads one row group."""
    monkeypatch.setattr("robotrules.bulk.corpus_file._GROUP_ROWS", 10)
    path = tmp_path / "corpus.parquet"
    corpus = Corpus.from_table(make_table(100))
    corpus.save(path)
    file = pq.ParquetFile(path)
    assert file.metadata.num_row_groups == 10
    bodies = [body for body in file.read(["body"])["body"].to_pylist() if body is not None]
    assert len(bodies) == len(set(bodies)) == corpus.files
    opened = Corpus.open(path)
    read: list[int] = []
    original = pq.ParquetFile.read_row_group

    def read_row_group(self: Any, group: int, **options: Any) -> Any:
        read.append(group)
        return original(self, group, **options)

    monkeypatch.setattr(pq.ParquetFile, "read_row_group", read_row_group)
    table = pa.table({"url": ["https://h1.example/", "https://h1.example/x"]})
    opened.check(table, product_tokens="bot")
    opened.check(table, product_tokens="bot")
    assert len(read) == 1
    opened.check(urls(100), product_tokens="bot")
    assert sorted(read) == sorted(set(read))


def test_row_groups_are_evicted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the last row groups are kept."""
    monkeypatch.setattr("robotrules.bulk.corpus_file._GROUP_ROWS", 10)
    monkeypatch.setattr("robotrules.bulk.corpus_file._CACHED_BYTES", 1)
    corpus = Corpus.from_table(make_table(100))
    corpus.save(tmp_path / "corpus.parquet")
    bodies: Any = read_fetches(tmp_path / "corpus.parquet").bodies
    numbers = list(range(len(bodies)))
    assert dict(bodies.read(numbers[::-1])) == dict(bodies.read(numbers))
    assert len(bodies._groups) == 1
    bodies.close()


def test_a_killed_save_leaves_the_old_file(tmp_path: Path) -> None:
    """A process that is killed while it saves leaves the file as it was."""
    path = tmp_path / "corpus.parquet"
    Corpus.from_mapping({"a.example": b"Disallow: /"}).save(path)
    before = path.read_bytes()
    code = (
        "import pyarrow as pa, sys\n"
        "from robotrules.bulk.corpus import Corpus\n"
        "n = 30_000\n"
        "bodies = [b'User-agent: *\\nDisallow: /%d\\n' % i * 20 for i in range(n)]\n"
        "t = pa.table({'origin': [f'h{i}.example' for i in range(n)], 'body': bodies})\n"
        "corpus = Corpus.from_table(t)\n"
        "print('saving', flush=True)\n"
        "while True:\n"
        "    corpus.save(sys.argv[1])\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "other.parquet")],
        env=environment,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"saving\n"
        deadline = time.monotonic() + 60
        while not any(name.startswith(".robotrules-") for name in os.listdir(tmp_path)):
            assert time.monotonic() < deadline
            time.sleep(0.001)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    assert path.read_bytes() == before
    if (tmp_path / "other.parquet").exists():
        assert len(Corpus.open(tmp_path / "other.parquet")) == 30_000


def test_a_failed_save_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error while writing removes the temporary file."""
    monkeypatch.setattr("robotrules.bulk.corpus_file._make_group", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        Corpus.from_mapping({"a.example": b""}).save(tmp_path / "corpus.parquet")
    assert os.listdir(tmp_path) == []
    with pytest.raises(FileNotFoundError):
        Corpus.from_mapping({}).save(tmp_path / "no" / "corpus.parquet")


def test_files_that_are_not_corpora(tmp_path: Path) -> None:
    """Other files raise errors that say what to do."""
    path = tmp_path / "x.parquet"
    path.write_bytes(b"nothing")
    with pytest.raises(TableError, match="is not a Parquet file, or it is damaged"):
        Corpus.open(path)
    pq.write_table(pa.table({"origin": ["a.example"]}), path)
    with pytest.raises(TableError, match=r"not a saved corpus: .*Corpus\.from_table"):
        Corpus.open(path)
    with pytest.raises(FileNotFoundError):
        Corpus.open(tmp_path / "none.parquet")
    Corpus.from_mapping({"a.example": b""}).save(path)
    with pytest.raises(TableError, match=r"use Corpus\.open"):
        Corpus.from_table(pq.read_table(path))
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata({"robotrules.corpus": "9"}), path)
    with pytest.raises(TableError, match=r"another version of robotrules \(format 9\)"):
        Corpus.open(path)
    broken = table.set_column(table.schema.get_field_index("body_row"), "body_row", pa.array([5]))
    pq.write_table(broken, path)
    with pytest.raises(TableError, match="names a body that is not there"):
        Corpus.open(path)


def test_damage_is_an_error_and_never_another_file(tmp_path: Path) -> None:
    """A changed byte is found: at opening, at reading, or it changes no answer."""
    path = tmp_path / "corpus.parquet"
    count = 40
    corpus = Corpus.from_table(make_table(count))
    corpus.save(path)
    octets, expected, errors = path.read_bytes(), both(corpus, count), 0
    for position in range(0, len(octets), 37):
        damaged = bytearray(octets)
        damaged[position] ^= 0x55
        path.write_bytes(damaged)
        try:
            with Corpus.open(path) as opened:
                answer = both(opened, count)
        except TableError:
            errors += 1
        else:
            assert answer == expected
    assert errors > len(octets) // 37 // 2
    path.write_bytes(octets[: len(octets) // 2])
    with pytest.raises(TableError, match="damaged"):
        Corpus.open(path)
