"""The job for `spark-submit`: facts of WARC files, and a check of URLs, with rejects."""

from __future__ import annotations

import gzip
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'pyspark>=4'")

from robotrules import bulk
from robotrules.bulk.spark import job
from tests.bulk.spark.cluster import SparkCluster, environment, session_settings, spark_home
from tests.bulk.spark.warc_files import write_warc


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--urls", "u.parquet"], "missing --as"),
        (["--as", "ExampleBot"], "--as needs --urls"),
        (["--missing", "perhaps"], "invalid choice"),
    ],
)
def test_misuse(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The message says what to pass."""
    with pytest.raises(SystemExit) as stopped:
        job.parse_arguments(["--paths", "x.warc", "--output", "out", *arguments])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as Common Crawl has it: two WARC files, one of them cut off, and their list."""
    folder = tmp_path_factory.mktemp("crawl")
    (folder / "segments").mkdir()
    for part in (1, 2):
        path = folder / "segments" / f"{part}.warc.gz"
        write_warc(
            path,
            (
                (f"https://p{part}h{i}.example/robots.txt", b"User-agent: *\nDisallow: /%d" % i)
                for i in range(30)
            ),
        )
    path.write_bytes(path.read_bytes()[:-30])
    listed = b"segments/1.warc.gz\nsegments/2.warc.gz\n"
    (folder / "robotstxt.paths.gz").write_bytes(gzip.compress(listed))
    return folder


def submit(cluster: SparkCluster, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the job as a user would."""
    settings = [f"--conf={name}={value}" for name, value in session_settings(cluster).items()]
    return subprocess.run(
        [str(spark_home() / "bin" / "spark-submit"), *settings, str(job.__file__), *arguments],
        env=environment(cluster.folder),
        cwd=cluster.folder,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.slow
class TestSubmitted:
    """Runs of the job."""

    def test_facts(self, own_cluster: SparkCluster, archive: Path, tmp_path: Path) -> None:
        """The rows of `bulk.facts`, and a reject with its place."""
        where = [f"--paths={archive}/robotstxt.paths.gz", f"--prefix={archive}/"]
        ran = submit(own_cluster, *where, f"--output={tmp_path}/out")
        assert ran.returncode == 0, ran.stderr[-2000:]
        assert ran.stdout.splitlines()[-1] == f"59 rows and 1 rejects in {tmp_path}/out"
        found = pq.read_table(tmp_path / "out" / "kind=facts").sort_by("origin")
        assert found["origin"].to_pylist() == sorted(
            f"https://p{part}h{i}.example" for part in (1, 2) for i in range(30 - (part == 2))
        )
        assert set(found["disallow_rules"].to_pylist()) == {1}
        (reject,) = pq.read_table(tmp_path / "out" / "kind=rejects").to_pylist()
        assert reject["source"] == f"{archive}/segments/2.warc.gz"
        assert reject["reject"]["place"].startswith("offset ")

    def test_check(self, own_cluster: SparkCluster, archive: Path, tmp_path: Path) -> None:
        """The rows of `Corpus.check`."""
        urls = pa.table({"url": [f"https://p1h{i % 40}.example/{i % 3}" for i in range(200)]})
        pq.write_table(urls, tmp_path / "urls.parquet")
        ran = submit(
            own_cluster,
            f"--paths={archive}/robotstxt.paths.gz",
            f"--prefix={archive}/",
            f"--urls={tmp_path}/urls.parquet",
            "--as=ExampleBot",
            "--missing=disallow",
            f"--output={tmp_path}/out",
        )
        assert ran.returncode == 0, ran.stderr[-2000:]
        assert ran.stdout.splitlines()[-1] == f"200 rows and 1 rejects in {tmp_path}/out"
        found = pq.read_table(tmp_path / "out" / "kind=checks")
        robots = pa.table(
            {
                "origin": [f"https://p1h{i}.example" for i in range(30)],
                "body": [b"User-agent: *\nDisallow: /%d" % i for i in range(30)],
            }
        )
        corpus = bulk.Corpus.from_table(robots)
        local = corpus.check(urls, product_tokens=["ExampleBot"], missing="disallow")
        names = ["url", "allowed", "reason", "rule", "access"]
        assert sorted(map(str, found.select(names).to_pylist())) == sorted(
            map(str, local.select(names).to_pylist())
        )
