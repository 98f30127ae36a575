"""`robotrules check`: several crawlers, and the formats that it writes."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from robotrules.cli.csv_cells import csv_cell, csv_line
from robotrules.json_results.schemas import load_schema
from robotrules.octets import visible
from tests.cli.schema import problems
from tests.cli.shell import COMMAND, Ran, process_environment, robotrules
from tests.cli.sites import Site, response, site

ROBOTS = b"User-agent: *\nDisallow: /private/\n\nUser-agent: GPTBot\nDisallow: /\nAllow: /blog/\n"
URLS = b"/blog/1\n/private/a\n/shop\n"
CRAWLERS = ("--as", "AnyBot", "--as", "GPTBot")
HOSTILE = (
    b"/<script>alert(1)</script>",
    b'/"onmouseover="alert(1)',
    b"/a\x1b[31m\x07b",
    b"/\xff\xfe",
    "/a\u202eb\u2066c\u2028d".encode(),
    b"/" + b"x" * 1_000_000,
    b"/;=1,+2",
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a robots.txt and a list of URLs."""
    (tmp_path / "robots.txt").write_bytes(ROBOTS)
    (tmp_path / "urls.txt").write_bytes(URLS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def checked(*options: str, stdin: bytes = b"", crawlers: tuple[str, ...] = CRAWLERS) -> Ran:
    """Check the URLs of the list, or of stdin."""
    urls = "-" if stdin else "urls.txt"
    return robotrules(
        "check", "--urls", urls, "--robots", "robots.txt", *crawlers, *options, stdin=stdin
    )


class TestCrawlers:
    """Each `--as` is a crawler."""

    def test_a_line_for_each(self, folder: Path) -> None:
        """A URL has one line for each crawler, in their order; the summary names them."""
        ran = checked()
        assert ran.code == 1
        assert [line.split("\t")[:3] for line in ran.out.splitlines()] == [
            ["allowed", "AnyBot", "/blog/1"],
            ["allowed", "GPTBot", "/blog/1"],
            ["disallowed", "AnyBot", "/private/a"],
            ["disallowed", "GPTBot", "/private/a"],
            ["allowed", "AnyBot", "/shop"],
            ["disallowed", "GPTBot", "/shop"],
        ]
        assert ran.err.startswith("robotrules check: 3 URLs: AnyBot may fetch 2, GPTBot 1, in ")

    def test_as_one_crawler_at_a_time(self, folder: Path) -> None:
        """Several crawlers get the verdicts that each gets alone."""
        both = [json.loads(line) for line in checked("--json").out.splitlines()]
        alone = [
            json.loads(line)
            for name in ("AnyBot", "GPTBot")
            for line in checked("--json", crawlers=("--as", name)).out.splitlines()
        ]
        assert sorted(both, key=str) == sorted(alone, key=str)

    def test_a_repeated_crawler_counts_once(self, folder: Path) -> None:
        """Also if it is spelled differently: the registry knows its name."""
        ran = checked(crawlers=("--as", "GPTBot", "--as", "gptbot"))
        assert ran.out.count("\n") == 3

    def test_several_tokens_of_one_crawler(self, folder: Path) -> None:
        """A list with commas is one crawler: the first token that has a group counts."""
        ran = checked(crawlers=("--as", "OtherBot,GPTBot"))
        assert [line.split("\t")[0] for line in ran.out.splitlines()] == [
            "allowed",
            "disallowed",
            "disallowed",
        ]
        alone = robotrules("explain", "/shop", "--as", "OtherBot, GPTBot", "--robots", "robots.txt")
        assert "line 5" in alone.out

    def test_a_misspelt_crawler(self, folder: Path) -> None:
        """Gets a hint, in each command with `--as`, unless the file names it."""
        hint = "hint: 'Googlbot' is not a well-known crawler: did you mean Googlebot?"
        files = ("robots.txt", "robots.txt")
        for command in (
            ("check", "/a", "--robots", "robots.txt"),
            ("diff", *files),
            ("matrix", "robots.txt"),
            ("matrix", *files),
        ):
            assert hint in robotrules(*command, "--as", "Googlbot").err
            assert "did you mean" not in robotrules(*command, "--as", "Googlebot").err
        (folder / "robots.txt").write_bytes(b"User-agent: Googlbot\nDisallow: /\n")
        for command in (("check", "/a", "--robots", "robots.txt"), ("diff", *files)):
            assert robotrules(*command, "--as", "Googlbot").err == ""

    def test_quiet(self, folder: Path) -> None:
        """One crawler that may not fetch a URL is enough."""
        assert checked("-q", stdin=b"/shop\n") == Ran(1, "", "")
        assert checked("-q", stdin=b"/shop\n", crawlers=("--as", "AnyBot")) == Ran(0, "", "")
        assert checked("-q", stdin=b"/blog/\n") == Ran(0, "", "")

    def test_on_a_terminal(self, folder: Path) -> None:
        """The columns are aligned."""
        ran = robotrules(
            *("check", "/blog/1", "/x", "--robots", "robots.txt", "--as", "Bot", "--as", "GPTBot"),
            terminals=["stdout"],
            NO_COLOR="1",
        )
        assert ran.out.splitlines() == [
            "allowed     Bot     /blog/1  no rule matches",
            "allowed     GPTBot  /blog/1  line 6: Allow: /blog/",
            "allowed     Bot     /x       no rule matches",
            "disallowed  GPTBot  /x       line 5: Disallow: /",
        ]


class TestFetched:
    """Without `--robots`, the files of the origins decide for each crawler."""

    @pytest.fixture
    def example(self) -> Iterator[Site]:
        """A site with a robots.txt."""
        with site({"/robots.txt": response(ROBOTS, "Content-Type: text/plain")}) as running:
            yield running

    def run(self, *options: str, stdin: bytes) -> Ran:
        """Check URLs of stdin."""
        return robotrules(
            *("check", "--urls", "-", "--no-store", "--allow-private", "127.0.0.1"),
            *(*CRAWLERS, *options),
            stdin=stdin,
        )

    def test_a_stored_copy_is_named(self, example: Site, folder: Path) -> None:
        """The summary and the page say when it was fetched; a file fetched now is not mentioned."""
        store, options = str(folder / "store"), ("--allow-private", "127.0.0.1", *CRAWLERS)
        stdin = f"{example.origin}/shop\n".encode()
        command = ("check", "--urls", "-", "--store", store, *options)
        with mock.patch("robotrules.cli.client.now", return_value=1_800_000_000.0):
            assert "stored copy" not in robotrules(*command, stdin=stdin).err
        with mock.patch("robotrules.cli.client.now", return_value=1_800_003_600.0):
            words = (
                f"the robots.txt of {example.origin} is a stored copy, fetched 2027-01-15 08:00 "
                "UTC; --refresh fetches now"
            )
            assert words in robotrules(*command, stdin=stdin).err
            page = robotrules(*command, "--format", "html", stdin=stdin).out
            assert words[1:] in page
            assert "2027-01-15 09:00 UTC" in page
            table = ("matrix", example.origin, "--store", store, "--allow-private", "127.0.0.1")
            assert words in robotrules(*table).err
            assert words in robotrules(*table, str(folder / "robots.txt")).err
            assert "stored copy" not in robotrules(*command, "--refresh", stdin=stdin).err

    def test_csv(self, example: Site, folder: Path) -> None:
        """A robots.txt is fetched once for all crawlers, and named in each row."""
        urls = [f"{example.origin}/shop", "ftp://x.example/a", f"{example.origin}/blog/1"]
        ran = self.run("--format", "csv", "--ordered", stdin="\n".join(urls).encode())
        rows = list(csv.DictReader(io.StringIO(ran.out)))
        assert example.asked == ["/robots.txt"]
        assert [(row["url"], row["crawler"], row["allowed"]) for row in rows] == [
            (urls[0], "AnyBot", "true"),
            (urls[0], "GPTBot", "false"),
            (urls[1], "AnyBot", "false"),
            (urls[1], "GPTBot", "false"),
            (urls[2], "AnyBot", "true"),
            (urls[2], "GPTBot", "true"),
        ]
        assert rows[0]["robots_url"] == f"{example.origin}/robots.txt"
        assert (rows[2]["robots_url"], rows[2]["reason"]) == ("", "no-origin")

    def test_html(self, example: Site, folder: Path) -> None:
        """With several sites, the page names the site of a rule."""
        other = f"http://localhost:{example.port}"
        ran = self.run(
            *("--format", "html", "--allow-private", "localhost"),
            stdin=f"{example.origin}/shop\n{other}/shop\n{other}/private/\n".encode(),
        )
        for words in ("By site", example.origin, other, "Disallow: /private/"):
            assert words in ran.out

    def test_quiet(self, example: Site, folder: Path) -> None:
        """A URL that only the second crawler may not fetch."""
        assert self.run("-q", stdin=f"{example.origin}/shop\n".encode()).code == 1
        assert self.run("-q", stdin=f"{example.origin}/blog/\n".encode()).code == 0


class TestFormats:
    """Which format is written, and where."""

    def test_by_extension(self, folder: Path) -> None:
        """The extension of `-o` names the format; nothing is printed on stdout."""
        for name, start in {
            "a.csv": "url,crawler,allowed,",
            "a.jsonl": '{"url": "/blog/1"',
            "a.ndjson": '{"url": "/blog/1"',
            "a.json": '{"schema": 1, "verdicts": [',
            "a.html": "<!DOCTYPE html>",
            "a.txt": "allowed\tAnyBot\t",
        }.items():
            ran = checked("-o", name)
            assert (ran.code, ran.out) == (1, "")
            assert (folder / name).read_text(encoding="utf-8").startswith(start)

    def test_to_stdout(self, folder: Path) -> None:
        """`-o -` is stdout."""
        assert checked("--format", "csv", "-o", "-").out == checked("--format", "csv").out

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (["-o", "a.xlsx"], "'a.xlsx' has no known extension: pass --format, or a name that"),
            (["--format", "parquet"], "cannot be written to stdout: pass a file with -o FILE"),
            (["--json", "--format", "csv"], "--json and --format csv cannot be combined"),
            (["-q", "-o", "a.csv"], "--quiet prints nothing: leave out --format and -o"),
            (["--wide"], "--wide is for --format csv"),
            (["-o", "robots.txt"], "-o 'robots.txt' would overwrite an input file"),
            (["-o", "urls.txt"], "-o 'urls.txt' would overwrite an input file"),
            (["-o", "missing/a.csv"], "cannot write 'missing/a.csv': No such file or directory"),
            (["-o", "missing/a.parquet"], "cannot write 'missing/a.parquet': No such file"),
            (["-o", "folder.csv"], "folder.csv' is not a regular file"),
            (["-o", "folder.parquet"], "folder.parquet' is not a regular file"),
            (["--column", "url", "--urls", "robots.txt"], "there is no column 'url'"),
        ],
    )
    def test_refused(self, folder: Path, options: list[str], words: str) -> None:
        """Exit code 2, and one line that says what to do."""
        (folder / "folder.csv").mkdir()
        (folder / "folder.parquet").mkdir()
        before = (folder / "robots.txt").read_bytes(), (folder / "urls.txt").read_bytes()
        ran = checked(*options)
        assert (ran.code, ran.out) == (2, "" if "--column" not in options else ran.out)
        assert words in ran.err
        assert before == ((folder / "robots.txt").read_bytes(), (folder / "urls.txt").read_bytes())

    def test_a_failed_run_leaves_the_old_file(self, folder: Path) -> None:
        """A file is replaced when the new one is complete, and by nothing else."""
        for name in ("a.csv", "a.html", "a.parquet"):
            (folder / name).write_text("old", encoding="utf-8")
            ran = checked("-o", name, stdin=b"Things to do\n")
            assert ran.code == 2
            assert "there is no URL in stdin" in ran.err
            assert (folder / name).read_text(encoding="utf-8") == "old"
        assert sorted(path.suffix for path in folder.iterdir()) == [
            *(".csv", ".html", ".parquet", ".txt", ".txt")
        ]

    def test_without_urls(self, folder: Path) -> None:
        """An empty list gives a file without rows."""
        (folder / "urls.txt").write_bytes(b"\n")
        for name in ("a.csv", "a.json", "a.html", "a.parquet"):
            assert checked("-o", name).code == 0
        assert (folder / "a.csv").read_text(encoding="utf-8").count("\n") == 1
        assert json.loads((folder / "a.json").read_bytes())["verdicts"] == []
        assert "There are no URLs." in (folder / "a.html").read_text(encoding="utf-8")

    def test_pyarrow_is_missing(self, folder: Path) -> None:
        """The error says what to install."""
        code = (
            "import sys; sys.modules['pyarrow'] = None; sys.modules['pyarrow.compute'] = None\n"
            "from robotrules.cli import main; main()"
        )
        command = [*COMMAND[:-1], code, "check", "/", "--as", "AnyBot"]
        ran = subprocess.run(
            [*command, "--robots", "robots.txt", "-o", "a.parquet"],
            capture_output=True,
            env=process_environment(),
            check=False,
        )
        assert ran.returncode == 2
        assert b"pip install 'robotrules[bulk]'" in ran.stderr
        assert b"Traceback" not in ran.stderr


class TestTables:
    """CSV and Parquet."""

    def test_csv(self, folder: Path) -> None:
        """One row for each URL and crawler."""
        assert checked("--format", "csv").out.splitlines()[:4] == [
            "url,crawler,allowed,reason,line,rule,robots_url",
            "/blog/1,AnyBot,true,no-match,,,",
            "/blog/1,GPTBot,true,allow-rule,6,Allow: /blog/,",
            "/private/a,AnyBot,false,disallow-rule,2,Disallow: /private/,",
        ]

    def test_wide_csv(self, folder: Path) -> None:
        """One row for each URL, for spreadsheets."""
        assert checked("--format", "csv", "--wide").out.splitlines() == [
            "url,AnyBot,AnyBot: decided by,GPTBot,GPTBot: decided by",
            "/blog/1,allowed,no rule matches,allowed,line 6: Allow: /blog/",
            "/private/a,disallowed,line 2: Disallow: /private/,disallowed,line 5: Disallow: /",
            "/shop,allowed,no rule matches,disallowed,line 5: Disallow: /",
        ]

    def test_parquet(self, folder: Path) -> None:
        """The same rows as CSV, with types, in row groups."""
        pq = pytest.importorskip("pyarrow.parquet")
        with mock.patch("robotrules.bulk.outputs.GROUP_ROWS", 4):
            assert checked("-o", "a.parquet").code == 1
        rows = pq.read_table("a.parquet").to_pylist()
        expected = list(csv.DictReader(io.StringIO(checked("--format", "csv").out)))
        assert len(rows) == len(expected) == 6
        for row, cells in zip(rows, expected, strict=True):
            assert {key: csv_cell(value).strip('"') for key, value in row.items()} == cells
        assert rows[1]["line"] == 6
        assert rows[1]["allowed"] is True

    def test_a_symbolic_link_stays_a_link(self, folder: Path) -> None:
        """Its target is replaced."""
        (folder / "link.csv").symlink_to("target.csv")
        checked("-o", "link.csv")
        assert (folder / "link.csv").is_symlink()
        assert (folder / "target.csv").read_text(encoding="utf-8").startswith("url,")

    def test_hostile_urls(self, folder: Path) -> None:
        """A record is one line, without control characters, and no cell is a formula."""
        ran = checked("--format", "csv", "--wide", stdin=b"\n".join(HOSTILE))
        csv.field_size_limit(10_000_000)
        rows = list(csv.reader(io.StringIO(ran.out)))
        assert [row[0] for row in rows[1:]] == [visible(url) for url in HOSTILE]
        assert {len(row) for row in rows} == {5}
        assert all(character.isprintable() or character == "\n" for character in ran.out)

    @pytest.mark.parametrize("start", ["=", "+", "-", "@", "＝", " =", "＋"])
    def test_formulas(self, folder: Path, start: str) -> None:
        """A cell that a spreadsheet may run starts with an apostrophe."""
        assert csv_cell(f"{start}1+1").strip('"') == f"'{start}1+1"
        (folder / "robots.txt").write_bytes(b"User-agent: *\nDisallow: /\n")
        ran = robotrules(
            *("check", f"--as={start.strip()}Bot", "--robots", "robots.txt"),
            *("--format", "csv", "--", "/a", f"{start}cmd"),
        )
        for row in csv.reader(io.StringIO(ran.out)):
            assert not any(cell.startswith((*"=+-@", "＝", "＋")) for cell in row)
        assert ran.out.count("'") >= 2

    def test_cells(self) -> None:
        """Values, quotes and spaces."""
        assert csv_line(["a,b", 'c"d', None, 3, True, False, " x", "y;z", b"\xff"]) == (
            '"a,b","c""d",,3,true,false," x","y;z",\\xff\n'
        )


class TestJson:
    """JSON lines and the JSON document."""

    def test_document(self, folder: Path) -> None:
        """It has the verdicts of the JSON lines, and a summary; it follows its schema."""
        document = json.loads(checked("--format", "json").out)
        lines = [json.loads(line) for line in checked("--json").out.splitlines()]
        assert document["verdicts"] == lines
        assert list(problems(document, load_schema("check-document"))) == []
        assert document["summary"]["crawlers"] == [
            {"crawler": "AnyBot", "allowed": 2, "disallowed": 1},
            {"crawler": "GPTBot", "allowed": 1, "disallowed": 2},
        ]
        assert document["summary"]["rules"][0] == {
            "origin": None,
            "line": 5,
            "text": "Disallow: /",
            "disallowed": [{"crawler": "GPTBot", "urls": 2}],
            "examples": ["/private/a", "/shop"],
        }
        assert document["summary"]["segments"][1] == {
            "segment": "/private/",
            "urls": 1,
            "disallowed": [{"crawler": "AnyBot", "urls": 1}, {"crawler": "GPTBot", "urls": 1}],
        }

    def test_hostile_urls(self, folder: Path) -> None:
        """JSON is ASCII."""
        for format_name in ("json", "jsonl"):
            ran = checked("--format", format_name, stdin=b"\n".join(HOSTILE))
            assert ran.out.isascii()
            assert not set(map(chr, range(32))) - {"\n"} & set(ran.out)


class _Tags(HTMLParser):
    """Collects elements and text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Any]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


class TestPage:
    """The HTML page."""

    def page(self, *options: str, stdin: bytes = b"") -> _Tags:
        """Return the page, parsed."""
        ran = checked("--format", "html", *options, stdin=stdin)
        read = _Tags()
        read.feed(ran.out)
        return read

    def test_what_it_says(self, folder: Path) -> None:
        """The sentence first, then counts, rules with examples, and segments."""
        text = self.page().text
        for words in (
            "Of 3 URLs, AnyBot may fetch 2 and GPTBot 1.",
            "Disallow: /private/",
            "/private/a",
            "By first path segment",
            "urls.txt · rules: robots.txt",
            "not a form of access control",
        ):
            assert words in text
        assert "further" not in text

    def test_what_is_left_out(self, folder: Path) -> None:
        """A table that is cut says how much is missing."""
        urls = b"".join(b"/private%d/\n" % number for number in range(120))
        (folder / "robots.txt").write_bytes(
            b"User-agent: *\n"
            + b"".join(b"Disallow: /private%d/\n" % number for number in range(120))
        )
        text = self.page(stdin=urls).text
        assert "70 further rules are not shown here." in text
        assert "70 further segments are not shown here." in text

    def test_skipped_lines(self, folder: Path) -> None:
        """Lines without a URL are mentioned."""
        text = self.page(stdin=b"/a\nwhat?\n").text
        assert "1 line of stdin without a URL was skipped." in text

    def test_hostile_urls(self, folder: Path) -> None:
        """They are text: no element, attribute or control character comes from them."""
        (folder / "robots.txt").write_bytes(
            b"User-agent: *\nDisallow: /<script>alert(1)</script>\nDisallow: /\n"
        )
        page = self.page(stdin=b"\n".join(HOSTILE))
        assert page.tags == self.page(stdin=b"/a\n").tags
        assert not any(name.startswith("on") for name in page.attributes)
        assert "<script>alert(1)</script>" in page.text
        assert all(character.isprintable() or character == "\n" for character in page.text)
        assert len(page.text) < 10_000

    def test_many_crawlers(self, folder: Path) -> None:
        """The sentence names some of them."""
        names = [option for number in range(9) for option in ("--as", f"Bot{'x' * number}")]
        ran = checked("--format", "html", crawlers=tuple(names))
        assert "Botxxx 2, and 5 more crawlers as listed below." in ran.out

    def test_nothing_is_blocked(self, folder: Path) -> None:
        """The page says so."""
        page = self.page(stdin=b"/blog/1\n")
        assert "Nothing is blocked." in page.text
        assert "AnyBot may fetch all and GPTBot all." in page.text


@pytest.mark.slow
@pytest.mark.parametrize("format_name", ["csv", "jsonl", "json", "html", "text"])
def test_memory_is_flat(folder: Path, format_name: str) -> None:
    """Ten times as many URLs take about the same memory."""
    code = (
        "import resource, sys; from robotrules.cli import run\n"
        "run(sys.argv[1:]); print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    peaks = []
    for count in (50_000, 500_000):
        urls = (b"https://example.com/s%d/p%d\n" % (n % 97, n) for n in range(count))
        (folder / "urls.txt").write_bytes(b"".join(urls))
        command = [sys.executable, "-c", code, "check", "--urls", "urls.txt", *CRAWLERS]
        ran = subprocess.run(
            [*command, "--robots", "robots.txt", "--format", format_name, "-o", "out"],
            capture_output=True,
            env=process_environment(),
            check=True,
        )
        peaks.append(int(ran.stdout))
    assert peaks[1] < peaks[0] * 1.5
