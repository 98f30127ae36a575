"""`robotrules diff --changed-urls`: every URL that changes, each once, exact and in flat memory."""

from __future__ import annotations

import csv
import io
import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from robotrules import parse
from tests.cli.shell import Ran, process_environment, robotrules

OLD = "User-agent: *\nDisallow: /old/\n\nUser-agent: GPTBot\nDisallow: /\n"
NEW = "User-agent: *\nDisallow: /new/\n\nUser-agent: GPTBot\nAllow: /old/\nDisallow: /\n"
LINE = '192.0.2.1 - - [01/May/2026:10:00:00 +0000] "GET {} HTTP/1.1" 200 5 "-" "x"\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two files."""
    (tmp_path / "old.txt").write_text(OLD, encoding="utf-8")
    (tmp_path / "new.txt").write_text(NEW, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def diff(*options: str, stdin: bytes = b"", urls: str = "-") -> Ran:
    """Compare the two files on the URLs of stdin or a file."""
    return robotrules("diff", "old.txt", "new.txt", "--urls", urls, *options, stdin=stdin)


def rows(text: str) -> list[dict[str, str]]:
    """Return the rows of CSV."""
    return list(csv.DictReader(io.StringIO(text)))


class TestList:
    """What is listed."""

    def test_every_url_once(self, folder: Path) -> None:
        """With its number of requests, most requested first, and the rules before and after."""
        urls = ["/old/1", "/new/2", "/old/1", "/same", "/old/0", "/old/1", "/new/2"]
        ran = diff("--changed-urls", "-", stdin="".join(map(LINE.format, urls)).encode())
        assert ran.code == 1
        assert ran.out.splitlines() == [
            "url,requests,crawlers,was,is,old_reason,old_line,old_rule,new_reason,new_line,new_rule",
            "/old/1,3,everyone else,disallowed,allowed,disallow rule,2,Disallow: /old/,"
            "no rule matches,,",
            "/old/1,3,GPTBot,disallowed,allowed,disallow rule,5,Disallow: /,"
            "allow rule,5,Allow: /old/",
            "/new/2,2,everyone else,allowed,disallowed,no rule matches,,,"
            "disallow rule,2,Disallow: /new/",
            "/old/0,1,everyone else,disallowed,allowed,disallow rule,2,Disallow: /old/,"
            "no rule matches,,",
            "/old/0,1,GPTBot,disallowed,allowed,disallow rule,5,Disallow: /,"
            "allow rule,5,Allow: /old/",
        ]
        assert ran.err == (
            "robotrules diff: 7 requests: 6 change, with 3 distinct URLs (1 newly disallowed, 2 "
            "newly allowed)\n"
        )

    def test_it_is_exact(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The same as a check of each URL by both files, also if batches are merged on disk."""
        monkeypatch.setattr("robotrules.operations.distinct_urls.MOST_PENDING", 100)
        monkeypatch.setattr("robotrules.operations.distinct_urls.BATCH", 37)
        chosen = random.Random(5)
        urls = [
            f"/{chosen.choice(['old', 'new', 'same'])}/{chosen.randrange(900)}" for _ in range(9000)
        ]
        old, new = parse(OLD), parse(NEW)
        expected = {
            (url, count, name)
            for url, count in Counter(urls).items()
            for name, token in (("everyone else", "*"), ("GPTBot", "GPTBot"))
            if bool(old.check(url, token)) != bool(new.check(url, token))
        }
        found = rows(diff("--changed-urls", "-", stdin="\n".join(urls).encode()).out)
        assert {(row["url"], int(row["requests"]), row["crawlers"]) for row in found} == expected
        assert len(found) == len(expected)
        counts = [int(row["requests"]) for row in found]
        assert counts == sorted(counts, reverse=True)

    def test_for_some_crawlers(self, folder: Path) -> None:
        """`--as` limits the list."""
        ran = diff("--changed-urls", "-", "--as", "GPTBot", stdin=b"/old/1\n/new/1\n")
        assert [(row["url"], row["crawlers"]) for row in rows(ran.out)] == [("/old/1", "GPTBot")]

    def test_nothing_changes(self, folder: Path) -> None:
        """The list is empty, but for the header."""
        ran = diff("--changed-urls", "-", stdin=b"/same\n")
        assert ran.out.count("\n") == 1
        assert ran.err == "robotrules diff: 1 URL: 0 change, with 0 distinct URLs\n"

    def test_hostile_urls(self, folder: Path) -> None:
        """Control characters are escaped; long URLs and other bytes are kept."""
        hostile = [b"/old/\x1b[31m", b"/old/\xff", b"/old/<script>", b"/old/" + b"x" * 900_000]
        ran = diff("--changed-urls", "-", "--as", "*", stdin=b"\n".join(hostile))
        csv.field_size_limit(10_000_000)
        assert {len(row) for row in csv.reader(io.StringIO(ran.out))} == {11}
        assert all(character.isprintable() or character == "\n" for character in ran.out)
        assert "/old/\\x1b[31m," in ran.out
        ran = diff("--changed-urls", "-", "--json", "--as", "*", stdin=b"\n".join(hostile))
        assert ran.out.isascii()
        assert len(ran.out.splitlines()) == 4

    def test_all_crawlers_are_named(self, folder: Path) -> None:
        """The list can be filtered by crawler; the report names the first few."""
        names = [f"bot-{a}{b}" for a in "abcd" for b in "abcdef"]
        group = "".join(f"User-agent: {name}\n" for name in names)
        (folder / "new.txt").write_text(f"{group}Disallow: /old\n", encoding="utf-8")
        found = rows(diff("--changed-urls", "-", stdin=b"/old\n/old/1\n").out)
        [listed] = [row["crawlers"] for row in found if "bot-aa" in row["crawlers"]]
        assert all(name in listed for name in names)

    def test_both_directions(self, folder: Path) -> None:
        """The summary counts distinct URLs, for at least one crawler each."""
        ran = diff("--changed-urls", "-", stdin=b"/old/1\n/old/1\n/new/1\n/new/2\n")
        assert ran.err.endswith("with 3 distinct URLs (2 newly disallowed, 1 newly allowed)\n")


class TestFormats:
    """Where it is written."""

    def test_a_file_beside_the_report(self, folder: Path) -> None:
        """The report is as without it; stderr says what was written."""
        stdin = b"/old/1\n/old/1\n/new/1\n"
        ran = diff("--changed-urls", "a.csv", stdin=stdin)
        assert ran.out == diff(stdin=stdin).out
        assert (
            "3 URLs: 3 change, with 2 distinct URLs (1 newly disallowed, 1 newly allow" in ran.err
        )
        assert "; 3 rows written to 'a.csv'" in ran.err
        to_stdout = diff("--changed-urls", "-", stdin=stdin).out
        assert (folder / "a.csv").read_text(encoding="utf-8") == to_stdout

    def test_all_formats_agree(self, folder: Path) -> None:
        """CSV, JSON lines and Parquet have the same columns and rows."""
        pq = pytest.importorskip("pyarrow.parquet")
        for name in ("a.jsonl", "a.parquet"):
            diff("--changed-urls", name, stdin=b"/old/1\n/new/1\n/old/1\n")
        lines = (folder / "a.jsonl").read_text(encoding="utf-8").splitlines()
        values = [json.loads(line) for line in lines]
        assert pq.read_table("a.parquet").to_pylist() == values
        assert values[0]["requests"] == 2
        assert values[0]["new_line"] is None
        out = diff("--changed-urls", "-", stdin=b"/old/1\n/new/1\n/old/1\n").out
        assert [{key: "" if v is None else str(v) for key, v in one.items()} for one in values] == (
            rows(out)
        )

    def test_json_on_stdout(self, folder: Path) -> None:
        """`--json` with `-` gives JSON lines instead of the report."""
        ran = diff("--changed-urls", "-", "--json", stdin=b"/new/1\n")
        assert json.loads(ran.out)["url"] == "/new/1"

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (
                ["--changed-urls", "a.xlsx"],
                "'a.xlsx' has no known extension: pass a name that ends",
            ),
            (["--changed-urls", "old.txt"], "'old.txt' has no known extension"),
            (["--changed-urls", "-", "--markdown"], "--changed-urls - and --markdown cannot be"),
            (["--changed-urls", "x/a.csv"], "cannot write 'x/a.csv': No such file or directory"),
            (["--changed-urls", "x/a.parquet"], "cannot write 'x/a.parquet': No such file"),
        ],
    )
    def test_refused(self, folder: Path, options: list[str], words: str) -> None:
        """Exit code 2, and one line that says what to do."""
        ran = diff(*options, stdin=b"/old/1\n")
        assert (ran.code, ran.out) == (2, "")
        assert words in ran.err

    def test_it_needs_urls(self, folder: Path) -> None:
        """And does not overwrite them."""
        ran = robotrules("diff", "old.txt", "new.txt", "--changed-urls", "a.csv")
        assert ran.code == 2
        assert "--changed-urls needs --urls FILE" in ran.err
        (folder / "a.csv").write_bytes(b"url\n/old/1\n")
        ran = diff("--changed-urls", "a.csv", urls="a.csv")
        assert ran.code == 2
        assert "would overwrite an input file" in ran.err

    def test_a_file_that_is_not_read_completely(self, folder: Path) -> None:
        """Is said, also if the list replaces the report."""
        (folder / "a.xml").write_bytes(b"<urlset><url><loc>/old/1</loc></url><url>")
        ran = diff("--changed-urls", "-", urls="a.xml")
        assert len(rows(ran.out)) == 2
        assert "'a.xml' was not read completely: it is not well-formed XML" in ran.err

    def test_a_file_without_urls(self, folder: Path) -> None:
        """Leaves no list."""
        ran = diff("--changed-urls", "a.csv", stdin=b"Things to do\n")
        assert ran.code == 2
        assert not (folder / "a.csv").exists()


@pytest.mark.slow
def test_memory_is_flat(folder: Path) -> None:
    """Ten times as many distinct URLs take at most the cache of the database more."""
    code = (
        "import resource, sys; from robotrules.cli import run\n"
        "run(sys.argv[1:]); print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    peaks = []
    for count in (100_000, 1_000_000):
        with (folder / "urls.txt").open("wb") as file:
            file.writelines(b"/old/%d/%b\n" % (n, b"x" * 40) for n in range(count))
        command = [sys.executable, "-c", code, "diff", "old.txt", "new.txt", "--urls", "urls.txt"]
        ran = subprocess.run(
            [*command, "--changed-urls", "a.csv"],
            capture_output=True,
            env=process_environment(),
            check=True,
        )
        peaks.append(int(ran.stdout.splitlines()[-1]))
    assert peaks[1] < peaks[0] + 80_000
