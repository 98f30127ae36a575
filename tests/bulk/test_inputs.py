"""Inputs: names, globs, folders, lists of paths, stdin, and the format of each."""

from __future__ import annotations

import gzip
import io
import os
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from robotrules.bulk.jobs import Job
from robotrules.bulk.outputs import OutputFormat, TableWriter, output_format
from robotrules.bulk.readers.folders import origin_of_file
from robotrules.bulk.readers.inputs import (
    InputFile,
    find_inputs,
    read_robots,
    read_urls,
    remove_spooled,
)
from robotrules.bulk.robots_table import SCHEMA
from robotrules.errors import InputError, TableError
from tests.bulk.warc_samples import FILE, frame, member, record


def names(files: list[InputFile]) -> list[str]:
    """Return the names of files."""
    return [os.path.basename(file.path) for file in files]


def rows(files: list[InputFile], **options: Any) -> list[dict[str, Any]]:
    """Return the robots.txt files of inputs."""
    found = []
    for file in files:
        for chunk in read_robots(file, **options):
            if chunk.batch is not None:
                assert chunk.batch.schema.equals(SCHEMA)
                found += chunk.batch.to_pylist()
    return found


# --- Names ----------------------------------------------------------------------------------------


def test_globs_are_sorted(tmp_path: Path) -> None:
    """A glob gives all matches in order; one without matches is an error."""
    for name in ("b.csv", "a.csv", "c.txt"):
        (tmp_path / name).write_text("url\n")
    assert names(find_inputs([str(tmp_path / "*.csv")])) == ["a.csv", "b.csv"]
    with pytest.raises(InputError, match="no file matches"):
        find_inputs([str(tmp_path / "*.parquet")])
    with pytest.raises(InputError, match="cannot read"):
        find_inputs([str(tmp_path / "missing.csv")])


def test_a_name_with_the_characters_of_a_glob(tmp_path: Path) -> None:
    """A file that exists is not a glob."""
    (tmp_path / "a[1].csv").write_text("url\n")
    assert names(find_inputs([str(tmp_path / "a[1].csv")])) == ["a[1].csv"]


@pytest.mark.parametrize("name", ["robotstxt.paths", "robotstxt.paths.gz"])
def test_lists_of_paths(tmp_path: Path, name: str) -> None:
    """Common Crawl's lists: paths after a prefix."""
    (tmp_path / "data").mkdir()
    for number in (1, 2):
        (tmp_path / "data" / f"{number}.warc.gz").write_bytes(member(record(number)))
    text = b"data/2.warc.gz\ndata/1.warc.gz\n\n"
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    files = find_inputs([str(tmp_path / name)], prefix=f"{tmp_path}/")
    assert names(files) == ["2.warc.gz", "1.warc.gz"]
    with pytest.raises(InputError, match=r"2 of 2 paths in .* do not exist.*--prefix"):
        find_inputs([str(tmp_path / name)], prefix="elsewhere/")
    (tmp_path / name).write_bytes(gzip.compress(text)[:20] if name.endswith("gz") else b"\n")
    with pytest.raises(InputError, match=r"cannot read the list|is empty"):
        find_inputs([str(tmp_path / name)])


@pytest.mark.parametrize(
    ("octets", "format"),
    [
        (b"WARC/1.1\r\n", "warc"),
        (member(record(1)), "warc"),
        (frame(record(1)), "warc"),
        (b"PAR1...", "parquet"),
        (b'{"url": "a"}\n', "jsonl"),
        (gzip.compress(b'{"url": "a"}\n'), "jsonl"),
        (b"url,id\n1,2\n", "csv"),
        (b'"url","id"\r\n1,2\n', "csv"),
    ],
)
def test_the_content_tells_the_format(tmp_path: Path, octets: bytes, format: str) -> None:
    """A file without an extension, such as stdin."""
    (tmp_path / "data").write_bytes(octets)
    assert find_inputs([str(tmp_path / "data")])[0].format == format


def test_an_unknown_format(tmp_path: Path) -> None:
    """The error says what to pass, and the option works."""
    path = tmp_path / "data"
    path.write_bytes(b"https://example.com/?a=1\nhttps://example.com/")
    with pytest.raises(InputError, match="--input-format"):
        find_inputs([str(path)])
    files = find_inputs([str(path)], format="txt")
    chunks = list(read_urls(files[0]))
    assert pa.Table.from_batches([chunk.batch for chunk in chunks]).column("url").to_pylist() == [
        "https://example.com/?a=1",
        "https://example.com/",
    ]
    path.write_bytes(b"a\n\n\xff\nb\n")
    chunks = list(read_urls(find_inputs([str(path)], format="txt")[0]))
    assert [reject.place for chunk in chunks for reject in chunk.rejects] == ["line 3"]


def test_stdin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stdin is copied to a file, which is removed."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(member(record(1)))))
    [file] = find_inputs(["-"])
    assert [row["body"] for row in rows([file])] == [FILE]
    remove_spooled()
    assert not os.path.exists(file.path)
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="stdin is closed"):
        find_inputs(["-"])


# --- Folders --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "origin"),
    [
        ("example.com.txt", "https://example.com"),
        ("example.com_robots.txt", "https://example.com"),
        ("example.com/robots.txt", "https://example.com"),
        ("a/b/www.example.com/robots.txt", "https://www.example.com"),
        ("http/example.com/robots.txt", "http://example.com"),
        ("http___example.com.txt", "http://example.com"),
        ("https_example.com.txt", "https://example.com"),
        ("example.com_8080.txt", "https://example.com:8080"),
        ("EXAMPLE.com.", "https://example.com"),
        ("robots.txt", None),
        ("README", None),
        ("a b.example.txt", None),
    ],
)
def test_names_of_files(place: str, origin: str | None) -> None:
    """The name of a file in a folder is its host."""
    assert origin_of_file(place) == origin


def test_folders(tmp_path: Path) -> None:
    """A folder of robots.txt files is one input; with tables in it, each of them is one."""
    (tmp_path / "a.example.txt").write_bytes(FILE)
    (tmp_path / "b.example").mkdir()
    (tmp_path / "b.example" / "robots.txt").write_bytes(b"x" * 600_000)
    (tmp_path / ".hidden").write_text("x")
    files = find_inputs([str(tmp_path)])
    assert [(file.format, file.size) for file in files] == [("folder", 600_000 + len(FILE))]
    found = rows(files)
    assert [(row["origin"], row["complete"]) for row in found] == [
        ("https://a.example", True),
        ("https://b.example", False),
    ]
    assert rows(files, batch_rows=1) == found
    assert rows(files, start=[1]) == found[1:]
    (tmp_path / "t.csv").write_text("origin,body\nc.example,x\n")
    assert names(find_inputs([str(tmp_path)])) == ["t.csv"]
    assert find_inputs([str(tmp_path)], format="folder")[0].format == "folder"
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="is empty"):
        find_inputs([str(tmp_path / "empty")])


# --- Tables of robots.txt files -------------------------------------------------------------------


def test_the_same_table_in_all_formats(tmp_path: Path) -> None:
    """Parquet, CSV and JSON lines give the same rows."""
    table = pa.table(
        {
            "url": ["https://a.example/robots.txt", "https://b.example/robots.txt", "c.example"],
            "status": [200, 301, 503],
            "body": ["User-agent: *\n\nDisallow: /", None, None],
            "fetched_at": ["2024-05-01T12:00:00Z", None, "2024-05-01 12:00:00"],
            "location": [None, "/x", None],
            "complete": [False, True, None],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    for extension in ("csv", "jsonl", "csv.gz"):
        with TableWriter(
            str(tmp_path / f"t.{extension}"),
            OutputFormat(extension.split(".")[0], extension.endswith("gz")),
        ) as writer:
            for batch in table.to_batches():
                writer.write(batch)
            writer.finish()
    found = {
        file.path.rpartition("/t.")[2]: [{**row, "source": ""} for row in rows([file])]
        for file in find_inputs([str(tmp_path / "t.*")])
    }
    assert found["parquet"][0]["complete"] is False
    assert found["parquet"][1]["location"] == "https://b.example/x"
    assert found["csv"] == found["jsonl"] == found["csv.gz"] == found["parquet"]


def test_other_names_and_wrong_tables(tmp_path: Path) -> None:
    """Columns can have other names; an archive is not a table of URLs."""
    path = tmp_path / "t.csv"
    path.write_text("host,content\na.example,x\n")
    files = find_inputs([str(path)])
    assert rows(files, columns={"origin": "host", "body": "content"})[0]["body"] == b"x"
    with pytest.raises(TableError, match="host, content"):
        rows(files)
    (tmp_path / "a.warc").write_bytes(record(1))
    with pytest.raises(InputError, match="a table is needed"):
        list(read_urls(find_inputs([str(tmp_path / "a.warc")])[0]))


# --- Jobs -----------------------------------------------------------------------------------------


def test_small_inputs_share_a_task() -> None:
    """Tasks have about 64 MB; a larger file is one alone."""
    sizes = [10, 20, 70_000_000, 1, 2, 60_000_000, 10_000_000]
    inputs = [InputFile(str(at), "csv", size, 0) for at, size in enumerate(sizes)]
    job = Job("facts", {}, inputs, "out", OutputFormat("parquet"), False)
    assert [[file.path for file in task] for task in job.tasks()] == [
        ["0", "1"],
        ["2"],
        ["3", "4", "5"],
        ["6"],
    ]


def test_output_formats(tmp_path: Path) -> None:
    """The name tells the format; a name without extension is a folder."""
    assert output_format("a/b.parquet") == ("parquet", False)
    assert output_format("b.csv.gz") == ("csv", True)
    assert output_format("b.ndjson") == ("jsonl", False)
    assert output_format("a/b") is None
    assert output_format("a.b/") is None
    (tmp_path / "folder.csv").mkdir()
    assert output_format(str(tmp_path / "folder.csv")) is None
    with pytest.raises(InputError, match=r"remove \.gz"):
        output_format("a.parquet.gz")
