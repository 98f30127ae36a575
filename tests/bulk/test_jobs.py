"""Jobs: part files, manifest, and runs that are killed and continued."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from robotrules.bulk import jobs
from robotrules.bulk.file_jobs import write_checks, write_facts
from robotrules.bulk.jobs import JOURNAL, REJECTS, JobSummary
from robotrules.bulk.readers.inputs import find_inputs
from robotrules.errors import InputError, TableError
from tests.bulk.warc_samples import http, member, record

SRC = Path(__file__).parents[2] / "src"


def make_inputs(folder: Path, count: int = 400) -> list[str]:
    """Write WARC files, a table, JSON lines and a folder, with bad records in all of them."""
    folder.mkdir()
    source = random.Random(1)
    for number in range(3):
        records = [
            record(
                number * count + index,
                b"bad" if index % 50 == 7 else http(b"User-agent: *\nDisallow: /%d\n" % index),
                kind="request" if index % 9 == 0 else "response",
            )
            for index in range(count)
        ]
        octets = b"".join(map(member, records))
        octets = octets[: len(octets) // 2] + source.randbytes(500) + octets[len(octets) // 2 :]
        (folder / f"{number}.warc.gz").write_bytes(octets)
    rows = [(f"https://t{index}.example", 200, f"User-agent: a{index}\n") for index in range(count)]
    table = pa.table(
        {
            "origin": [origin if at % 40 else "no host" for at, (origin, _, _) in enumerate(rows)],
            "status": [status for _, status, _ in rows],
            "body": [body for _, _, body in rows],
        }
    )
    pq.write_table(table, folder / "t.parquet", row_group_size=count // 3)
    lines = [
        json.dumps({"url": f"https://j{at}.example/robots.txt", "status": 404})
        for at in range(count)
    ]
    lines[5] = "{broken"
    (folder / "j.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    files = folder / "files"
    files.mkdir()
    for index in range(20):
        (files / f"f{index}.example.txt").write_text("User-agent: *\nAllow: /\n")
    (files / "README").write_text("not a host")
    return [*map(str, sorted(folder.glob("*.*"))), str(files)]


def content(path: Path) -> dict[str, str]:
    """Return the digest of each file of an output, hidden files too."""
    files = sorted(path.rglob("*")) if path.is_dir() else sorted(path.parent.glob(f"*{path.name}*"))
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files if file.is_file()
    }


def command(files: Sequence[str], output: Path, *more: str) -> list[str]:
    """Return a command line."""
    return [
        *(sys.executable, "-m", "robotrules", "bulk", "facts", *files, "-o", str(output)),
        *("--part-rows", "40", *more),
    ]


def environment() -> dict[str, str]:
    """Return the variables of a process that imports this tree."""
    return {**os.environ, "PYTHONPATH": str(SRC)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "more"),
    [("out", ["--jobs", "1"]), ("out.parquet", ["--jobs", "2"])],
)
def test_a_run_that_is_killed_ten_times(tmp_path: Path, name: str, more: list[str]) -> None:
    """A run killed with SIGKILL at random moments and repeated has the same output."""
    files = make_inputs(tmp_path / "in")
    whole, killed = tmp_path / "whole" / name, tmp_path / "killed" / name
    whole.parent.mkdir()
    killed.parent.mkdir()
    subprocess.run(command(files, whole, *more), check=True, env=environment())
    expected = content(whole)
    source = random.Random(name + str(more))
    kills = continued = 0
    # The time to the first part: later kills hit the work and not the start of Python.
    while kills < 10:
        process = subprocess.Popen(command(files, killed, *more), env=environment())
        state = killed if name == "out" else killed.parent / f".{name}.robotrules"
        journal = state / JOURNAL
        before = journal.read_bytes().count(b"\n") if journal.exists() else 0
        wanted = before + source.randrange(1, 4)
        while process.poll() is None:
            done = journal.read_bytes().count(b"\n") if journal.exists() else 0
            if done >= wanted:
                time.sleep(source.random() * 0.02)
                break
            time.sleep(0.001)
        if process.poll() is not None:
            assert process.returncode == 0
            break
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills += 1
        continued += before > 0
    assert kills >= 8, "the run is too short for the test"
    assert continued >= 5
    time.sleep(1)  # workers of the last killed run end themselves
    result = subprocess.run(
        command(files, killed, *more, "--json"), check=True, env=environment(), capture_output=True
    )
    summary = json.loads(result.stdout)
    assert content(killed) == expected
    assert summary["rejects"] > 20
    assert not [file for file in killed.parent.iterdir() if file.name.startswith(".")]


def test_every_record_is_a_row_or_a_reject(tmp_path: Path) -> None:
    """The counts of a run add up, in all formats, and rejects have their places."""
    files = make_inputs(tmp_path / "in")
    output = tmp_path / "out.parquet"
    summary = write_facts(files, str(output), part_rows=50, processes=1)
    table = pq.read_table(output)
    assert len(table) == summary.rows
    rejects = [json.loads(line) for line in Path(f"{output}.{REJECTS}").read_text().splitlines()]
    assert len(rejects) == summary.rejects
    # 1,200 WARC records, 2 tables of 400, 21 files; a hole in each archive damages one or two.
    total = summary.rows + summary.rejects + sum(summary.skipped.values())
    assert 1200 + 800 + 21 <= total <= 1200 + 800 + 21 + 6
    places = {(Path(one["source"]).name, one["place"]) for one in rejects}
    assert {("t.parquet", f"row {at + 1}") for at in range(0, 400, 40)} <= places
    assert ("j.jsonl.gz", "line 6") in places
    assert ("README", "") in places


@pytest.mark.parametrize("extension", ["parquet", "csv", "jsonl", "csv.gz", "jsonl.gz"])
def test_formats_have_the_same_rows(tmp_path: Path, extension: str) -> None:
    """Each format has all rows, in one file and in a folder of parts."""
    files = make_inputs(tmp_path / "in", 60)
    one = tmp_path / f"out.{extension}"
    write_facts(files, str(one), part_rows=25, processes=1)
    folder = tmp_path / "folder"
    write_facts(files, str(folder), part_rows=25, processes=1, format=extension.split(".")[0])
    assert len(read_rows(one)) > 200
    parts = sorted(folder.glob("part-*"))
    assert len(parts) > 4
    assert [row["origin"] for part in parts for row in read_rows(part)] == [
        row["origin"] for row in read_rows(one)
    ]
    listed = find_inputs([str(folder)])
    assert [Path(file.path) for file in listed] == parts


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file."""
    if path.suffix == ".parquet":
        rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
        return rows
    octets = path.read_bytes()
    text = (gzip.decompress(octets) if path.suffix == ".gz" else octets).decode()
    if ".csv" in path.name:
        return list(csv.DictReader(text.splitlines(keepends=True)))
    return [json.loads(line) for line in text.splitlines()]


def test_values_in_text_formats(tmp_path: Path) -> None:
    """Times are ISO 8601, nested values JSON."""
    source = tmp_path / "a.warc"
    source.write_bytes(record(1, http(b"User-agent: b\nSitemap: https://e.example/s\nDisallow: /")))
    for name in ("a.csv", "a.jsonl"):
        write_facts([str(source)], str(tmp_path / name), crawlers=["GPTBot"], processes=1)
    [row] = read_rows(tmp_path / "a.csv")
    assert row["fetched_at"] == "2024-05-01T12:00:00.000000Z"
    assert json.loads(row["user_agents"]) == ["b"]
    assert json.loads(row["crawlers"]) == {"GPTBot": "all"}
    [row] = read_rows(tmp_path / "a.jsonl")
    assert row["fetched_at"] == "2024-05-01T12:00:00Z"
    assert row["user_agents"] == ["b"]
    assert row["crawlers"] == {"GPTBot": "all"}


def test_a_different_run_is_refused(tmp_path: Path) -> None:
    """Other options and changed inputs are refused with what differs; --restart begins anew."""
    source = tmp_path / "a.warc"
    source.write_bytes(record(1) + record(2))
    output = tmp_path / "out"
    write_facts([str(source)], str(output), processes=1)
    again = write_facts([str(source)], str(output), processes=1)
    assert (again.rows, again.continued) == (2, 1)
    with pytest.raises(InputError, match='profile was "default" and is "google"'):
        write_facts([str(source)], str(output), profile="google", processes=1)
    source.write_bytes(record(1) + record(2) + record(3))
    with pytest.raises(InputError, match=r"a\.warc' was changed.*--restart"):
        write_facts([str(source)], str(output), processes=1)
    assert write_facts([str(source)], str(output), processes=1, restart=True).rows == 3
    with pytest.raises(InputError, match="had 1 inputs, and now there are 2"):
        write_facts([str(source), str(source)], str(output), processes=1)


def test_a_foreign_folder_is_not_touched(tmp_path: Path) -> None:
    """A folder with other files is refused, and so is an output that is an input."""
    source = tmp_path / "a.warc"
    source.write_bytes(record(1))
    with pytest.raises(InputError, match="not empty, and not the output of a run"):
        write_facts([str(source)], str(tmp_path), processes=1)
    table = tmp_path / "a.csv"
    table.write_text("origin\nexample.com\n")
    with pytest.raises(InputError, match="is an input"):
        write_facts([str(table)], str(table), processes=1)
    with pytest.raises(InputError, match="unknown output format"):
        write_facts([str(table)], str(tmp_path / "a.xlsx"), processes=1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "a.warc"]


def test_misuse_leaves_nothing(tmp_path: Path) -> None:
    """A wrong table raises, and no work folder stays behind."""
    table = tmp_path / "a.csv"
    table.write_text("name\nx\n")
    with pytest.raises(TableError, match="'origin' or 'url'"):
        write_facts([str(table)], str(tmp_path / "out.parquet"), processes=1)
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_a_torn_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A half-written last line of the journal is done again; a lost part is reported."""
    files = make_inputs(tmp_path / "in", 60)
    whole, torn = tmp_path / "whole", tmp_path / "torn"

    def run(output: Path) -> JobSummary:
        """Run the job."""
        return write_facts(files, str(output), part_rows=25, processes=1)

    run(whole)
    with monkeypatch.context() as patched:
        patched.setattr(jobs._Run, "complete", interrupt)
        with pytest.raises(KeyboardInterrupt):
            run(torn)
    lines = (torn / JOURNAL).read_text().splitlines()
    assert len(lines) > 5
    (torn / JOURNAL).write_text("\n".join([*lines[:3], lines[3][:40]]))
    assert run(torn).continued == 3
    assert content(torn) == content(whole)
    with monkeypatch.context() as patched:
        patched.setattr(jobs._Run, "complete", interrupt)
        with pytest.raises(KeyboardInterrupt):
            write_facts(files, str(torn), part_rows=25, processes=1, restart=True)
    os.truncate(torn / json.loads(lines[0])["file"], 10)
    with pytest.raises(InputError, match="is missing or was changed: pass --restart"):
        run(torn)


def interrupt(run: object) -> None:
    """Stop as Ctrl-C does."""
    raise KeyboardInterrupt


def test_two_runs_at_once(tmp_path: Path) -> None:
    """A second run on the same output is refused."""
    source = tmp_path / "a.warc"
    source.write_bytes(record(1))

    def start_another(rows: int, octets: int) -> None:
        """Try the same command while it runs."""
        with pytest.raises(InputError, match="another run is writing"):
            write_facts([str(source)], str(tmp_path / "out"), processes=1)

    write_facts([str(source)], str(tmp_path / "out"), processes=1, progress=start_another)


def test_checks(tmp_path: Path) -> None:
    """URLs get verdicts; their columns are kept, and rejects of the corpus are in the file."""
    corpus = tmp_path / "robots.csv"
    corpus.write_text('origin,status,body\nexample.com,200,"User-agent: *\nDisallow: /x"\n,200,\n')
    urls = tmp_path / "urls.jsonl"
    urls.write_text(
        '{"url": "https://example.com/x", "id": 1}\n{"url": "https://example.com/y", "id": 2}\n'
        '{"url": "https://other.example/", "id": 3}\nbroken\n'
    )
    output = tmp_path / "out.parquet"
    summary = write_checks([str(urls)], [str(corpus)], str(output), product_tokens=["ExampleBot"])
    table = pq.read_table(output)
    assert table.column("id").to_pylist() == [1, 2, 3]
    assert table.column("allowed").to_pylist() == [False, True, None]
    assert (summary.rows, summary.rejects) == (3, 2)
    rejects = [json.loads(line) for line in Path(f"{output}.{REJECTS}").read_text().splitlines()]
    assert [(Path(one["source"]).name, one["place"]) for one in rejects] == [
        ("robots.csv", "row 2"),
        ("urls.jsonl", "line 4"),
    ]


def test_tables_with_different_columns(tmp_path: Path) -> None:
    """Different tables do not fit into one file, and the message names the column."""
    (tmp_path / "a.csv").write_text("url,x\nhttps://a.example/,1\n")
    (tmp_path / "b.csv").write_text("url\nhttps://a.example/\n")
    (tmp_path / "r.csv").write_text("origin,body\na.example,x\n")
    inputs = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    corpus = [str(tmp_path / "r.csv")]
    with pytest.raises(InputError, match="'x' is not in all of them"):
        write_checks(inputs, corpus, str(tmp_path / "o.parquet"), product_tokens=["ExampleBot"])
