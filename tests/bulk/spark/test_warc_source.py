"""The data source `warc` on a cluster: one partition a file, rejects as rows, lists of paths."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.bulk.spark.warc_files import record, write_warc

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'pyspark>=4'")

from robotrules.bulk import spark as bulk_spark
from robotrules.bulk.spark import robots_rows, warc_source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def captures(file: int, number: int = 20) -> Iterator[tuple[str, bytes]]:
    """Yield URLs and bodies."""
    for i in range(number):
        yield f"https://h{file}-{i}.example/robots.txt", b"User-agent: *\nDisallow: /%d\n" % i


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four files: two good, one with damage in the middle, one that is cut off."""
    folder = tmp_path_factory.mktemp("archive")
    write_warc(folder / "good-1.warc.gz", captures(1))
    write_warc(folder / "good-2.warc.gz", captures(2))
    members = [record(url, body) for url, body in captures(3)]
    (folder / "damaged.warc.gz").write_bytes(
        b"".join(members[:10]) + b"\0not a record\xff" * 5 + b"".join(members[10:])
    )
    write_warc(folder / "cut.warc.gz", captures(4))
    whole = (folder / "cut.warc.gz").read_bytes()
    (folder / "cut.warc.gz").write_bytes(whole[:-40])
    (folder / "robotstxt.paths.gz").write_bytes(
        gzip.compress(b"good-1.warc.gz\n\ngood-2.warc.gz\nmissing.warc.gz\n")
    )
    return folder


def test_a_file_is_read_as_batches_for_spark(archive: Path) -> None:
    """Rows and rejects have one schema; the number of records is the number of both."""
    for name, good, bad in (("good-1", 20, 0), ("damaged", 20, 1), ("cut", 19, 1)):
        path = str(archive / f"{name}.warc.gz")
        batches = list(warc_source.read_file(path))
        assert all(batch.schema == robots_rows.SCHEMA for batch in batches)
        rows: list[dict[str, Any]] = [row for batch in batches for row in batch.to_pylist()]
        fetches = [row for row in rows if row["reject"] is None]
        rejects = [row for row in rows if row["reject"] is not None]
        assert (len(fetches), len(rejects)) == (good, bad)
        assert {row["source"] for row in rows} == {path}
        assert all(row["reject"]["place"].startswith("offset ") for row in rejects)


def test_a_file_that_is_missing_is_a_reject(tmp_path: Path) -> None:
    """The reject says which file, and why."""
    (batch,) = [b for b in warc_source.read_file(str(tmp_path / "no.warc.gz")) if b.num_rows]
    (row,) = batch.to_pylist()
    assert row["source"] == str(tmp_path / "no.warc.gz")
    assert "No such file" in row["reject"]["reason"]


def test_options_of_the_source(archive: Path) -> None:
    """`path` is one path, `paths` a list of them; each file is a partition."""
    source = warc_source.WarcDataSource({"path": str(archive / "robotstxt.paths.gz")})
    reader = source.reader(source.schema())
    assert [each.value for each in reader.partitions()] == [
        "good-1.warc.gz",
        "good-2.warc.gz",
        "missing.warc.gz",
    ]
    assert source.name() == "warc"


@pytest.mark.slow
class TestOnTheCluster:
    """Reading with `spark.read`."""

    @pytest.fixture(autouse=True)
    def _registered(self, spark: SparkSession) -> None:
        spark.dataSource.register(bulk_spark.WarcDataSource)

    def test_broken_files_do_not_fail_the_job(self, spark: SparkSession, archive: Path) -> None:
        """All records of all files are there, as fetches or as rejects."""
        frame = spark.read.format("warc").load(f"{archive}/*.warc.gz")
        assert frame.rdd.getNumPartitions() == 4
        rows = frame.collect()
        assert sum(row.reject is None for row in rows) == 79
        rejects = {Path(row.source).name: row.reject for row in rows if row.reject}
        assert set(rejects) == {"damaged.warc.gz", "cut.warc.gz"}
        assert all(reject.place.startswith("offset ") for reject in rejects.values())
        found = bulk_spark.rejects(frame).collect()
        assert {(Path(row.source).name, row.place) for row in found} == {
            (name, reject.place) for name, reject in rejects.items()
        }

    def test_same_rows_as_one_machine(self, spark: SparkSession, archive: Path) -> None:
        """Every value of every column is that of `read_warc`."""
        path = str(archive / "good-1.warc.gz")
        expected = [row for b in warc_source.read_file(path) for row in b.to_pylist()]
        table = spark.read.format("warc").load(path).toArrow()
        key = lambda row: row["url"]  # noqa: E731
        assert sorted(table.to_pylist(), key=key) == sorted(expected, key=key)

    def test_a_list_of_paths_with_a_prefix(self, spark: SparkSession, archive: Path) -> None:
        """As Common Crawl publishes it; a file that is missing is a reject."""
        frame = (
            spark.read.format("warc")
            .option("prefix", f"{archive}/")
            .load(f"{archive}/robotstxt.paths.gz")
        )
        rows = frame.collect()
        assert sum(row.reject is None for row in rows) == 40
        (reject,) = [row for row in rows if row.reject]
        assert reject.source == f"{archive}/missing.warc.gz"

    def test_several_paths(self, spark: SparkSession, archive: Path) -> None:
        """`load()` takes a list."""
        paths = [str(archive / f"good-{i}.warc.gz") for i in (1, 2)]
        assert spark.read.format("warc").load(paths).count() == 40
