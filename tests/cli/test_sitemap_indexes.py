"""Sitemap indexes and columns: `--urls` with several files, URLs of sitemaps, and `--column`."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.shell import Ran, robotrules
from tests.cli.sites import Site, response, site

NAMESPACE = b'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def urlset(*urls: str) -> bytes:
    """Return a sitemap."""
    listed = b"".join(b"<url><loc>%b</loc></url>" % url.encode() for url in urls)
    return b"<urlset %b>%b</urlset>" % (NAMESPACE, listed)


def index(*urls: str) -> bytes:
    """Return a sitemap index."""
    listed = b"".join(b"<sitemap><loc>%b</loc></sitemap>" % url.encode() for url in urls)
    return b"<sitemapindex %b>%b</sitemapindex>" % (NAMESPACE, listed)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a robots.txt."""
    (tmp_path / "robots.txt").write_bytes(b"User-agent: *\nDisallow: /private/\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def checked(*files: str, more: tuple[str, ...] = (), stdin: bytes = b"") -> Ran:
    """Check the URLs of files."""
    given = [option for file in files for option in ("--urls", file)]
    return robotrules(
        "check", *given, "--as", "AnyBot", "--robots", "robots.txt", *more, stdin=stdin
    )


def urls_of(ran: Ran) -> list[str]:
    """Return the URLs of a run."""
    return [line.split("\t")[1] for line in ran.out.splitlines()]


class TestLocalIndex:
    """The sitemaps of a local index are files beside it."""

    def test_they_are_read_in_order(self, folder: Path) -> None:
        """By the last name of their URL, gzipped or not."""
        (folder / "index.xml").write_bytes(
            index(
                "https://example.com/maps/a.xml",
                "https://cdn.example/b.xml.gz?v=2",
                "https://example.com/c%20d.xml",
                "https://example.com/e.xml.gz",
                "https://example.com/maps/a.xml",
            )
        )
        (folder / "a.xml").write_bytes(urlset("https://example.com/1", "https://example.com/2"))
        (folder / "b.xml.gz").write_bytes(gzip.compress(urlset("https://example.com/private/3")))
        (folder / "c d.xml").write_bytes(b"https://example.com/4\n")
        (folder / "e.xml").write_bytes(urlset("https://example.com/5"))
        ran = checked("index.xml")
        assert [url.rpartition("/")[2] for url in urls_of(ran)] == ["1", "2", "3", "4", "5"]
        assert ran.code == 1
        assert "5 URLs (sitemap): 4 allowed, 1 disallowed, in " in ran.err
        assert (
            "hint: 'index.xml': it is a sitemap index, and 4 of its 4 sitemaps were read" in ran.err
        )

    def test_what_is_missing_is_said(self, folder: Path) -> None:
        """The others are read; exit code 2, because the check is not complete."""
        (folder / "index.xml.gz").write_bytes(
            gzip.compress(index("https://example.com/a.xml", "https://example.com/b.xml"))
        )
        (folder / "b.xml").write_bytes(urlset("https://example.com/1"))
        ran = checked("index.xml.gz")
        assert (ran.code, urls_of(ran)) == (2, ["https://example.com/1"])
        assert (
            "'index.xml.gz' was not read completely: 1 of 2 sitemaps of the index failed; the "
            "first is 'https://example.com/a.xml': there is no such file beside the index; save it"
        ) in ran.err

    @pytest.mark.parametrize(
        "name",
        [
            "..%2Fsecret.xml",
            "%2e%2e",
            "%2Fsecret.xml",
            "a%00b.xml",
            "..%5Csecret.xml",
            "",
            "sub",
            "pipe",
        ],
    )
    def test_nothing_else_is_opened(self, folder: Path, name: str) -> None:
        """An index cannot name a file elsewhere, a folder or a pipe."""
        inner = folder / "inner"
        (inner / "sub").mkdir(parents=True)
        os.mkfifo(inner / "pipe")
        (folder / "secret.xml").write_bytes(urlset("https://example.com/secret"))
        (inner / "index.xml").write_bytes(index(f"https://example.com/{name}"))
        ran = checked("inner/index.xml")
        assert (ran.code, ran.out) == (2, "")
        assert "there is no such file beside the index" in ran.err

    def test_an_index_in_an_index(self, folder: Path) -> None:
        """Is not read (sitemaps.org), so an index cannot list itself for ever."""
        (folder / "index.xml").write_bytes(index("https://example.com/index.xml"))
        ran = checked("index.xml")
        assert ran.code == 2
        assert "it is a sitemap index, which lists sitemaps instead of pages" in ran.err

    def test_a_damaged_sitemap(self, folder: Path) -> None:
        """Does not affect the others; its URLs before the damage count."""
        (folder / "index.xml").write_bytes(index("https://e.example/a.xml", "https://e.example/b"))
        (folder / "a.xml").write_bytes(urlset("https://e.example/1")[:-12])
        (folder / "b").write_bytes(urlset("https://e.example/2"))
        ran = checked("index.xml")
        assert (ran.code, urls_of(ran)) == (2, ["https://e.example/1", "https://e.example/2"])
        assert "it is not well-formed XML at line 1" in ran.err

    def test_a_damaged_index(self, folder: Path) -> None:
        """The sitemaps that it lists before the damage are read, and both errors are said."""
        octets = index("https://e.example/a.xml", "https://e.example/b.xml")
        (folder / "index.xml").write_bytes(octets[:-8])
        (folder / "a.xml").write_bytes(urlset("https://e.example/1"))
        ran = checked("index.xml")
        assert (ran.code, urls_of(ran)) == (2, ["https://e.example/1"])
        assert "it is not well-formed XML at line 1" in ran.err
        assert (
            "; 1 of 2 sitemaps of the index failed; the first is 'https://e.example/b.xml'"
            in ran.err
        )

    def test_from_stdin(self, folder: Path) -> None:
        """There is no folder to look in."""
        ran = checked("-", stdin=index("https://example.com/a.xml"))
        assert ran.code == 2
        assert "it is a sitemap index, which lists sitemaps instead of pages" in ran.err

    def test_diff_reads_it_too(self, folder: Path) -> None:
        """As all commands that take `--urls`."""
        (folder / "index.xml").write_bytes(index("https://example.com/a.xml"))
        (folder / "a.xml").write_bytes(urlset("https://example.com/private/1"))
        (folder / "new.txt").write_bytes(b"")
        ran = robotrules("diff", "robots.txt", "new.txt", "--urls", "index.xml")
        assert "Of 1 URL in 'index.xml', 1 (100%) gets another verdict" in ran.out.replace(
            "\n", " "
        )


class TestFetchedIndex:
    """The sitemaps of an index that is a URL are fetched."""

    @pytest.fixture
    def example(self) -> Iterator[Site]:
        """A site with an index of three sitemaps, one of which is disallowed."""
        with site({}) as running:
            here = running.origin
            running.answers = {
                "/robots.txt": response(
                    "User-agent: *\nDisallow: /private/\nUser-agent: GPTBot\nDisallow: /\n"
                ),
                "/index.xml": response(
                    index(f"{here}/a.xml", f"{here}/b.xml.gz", f"{here}/private/c.xml")
                ),
                "/a.xml": response(urlset(f"{here}/1", f"{here}/private/2")),
                "/b.xml.gz": response(gzip.compress(urlset(f"{here}/3"))),
                "/one.xml": response(urlset(f"{here}/1")),
            }
            yield running

    def run(self, *options: str) -> Ran:
        """Check with the loopback allowed."""
        return robotrules("check", "--allow-private", "127.0.0.1", "--no-store", *options)

    def test_it_is_followed(self, example: Site) -> None:
        """Politely: a sitemap that the site disallows to this program is not requested."""
        ran = self.run("--urls", f"{example.origin}/index.xml", "--as", "AnyBot", "--as", "GPTBot")
        assert example.asked == ["/robots.txt", "/index.xml", "/a.xml", "/b.xml.gz"]
        found = [line.split("\t")[:3] for line in ran.out.splitlines()]
        assert found == [
            [verdict, name, f"{example.origin}{path}"]
            for path, verdicts in (
                ("/1", ("allowed", "disallowed")),
                ("/private/2", ("disallowed", "disallowed")),
                ("/3", ("allowed", "disallowed")),
            )
            for name, verdict in zip(("AnyBot", "GPTBot"), verdicts, strict=True)
        ]
        assert ran.code == 2
        assert "1 of 3 sitemaps of the index failed; the first is" in ran.err
        assert "robots.txt does not allow this program to fetch it (disallowed by line 2" in ran.err

    def test_with_a_draft(self, example: Site, folder: Path) -> None:
        """With `--robots`, the sitemap is fetched and the file decides."""
        (folder / "robots.txt").write_bytes(b"User-agent: *\nDisallow: /1\n")
        ran = self.run(
            *("--urls", f"{example.origin}/one.xml", "--as", "AnyBot", "--robots", "robots.txt")
        )
        assert ran.out == f"disallowed\t{example.origin}/1\tline 2: Disallow: /1\n"
        assert "hint: nothing is fetched" not in ran.err

    def test_the_number_is_limited(self, example: Site) -> None:
        """What is beyond it is said."""
        ran = self.run(
            *("--urls", f"{example.origin}/index.xml", "--as", "AnyBot", "--max-sitemaps", "2")
        )
        assert example.asked == ["/robots.txt", "/index.xml", "/a.xml"]
        assert ran.code == 2
        assert "the limit is 2 sitemaps; raise it with --max-sitemaps" in ran.err

    @pytest.mark.parametrize(
        ("path", "words"),
        [
            ("/missing.xml", "it cannot be fetched: status 404"),
            ("/private/c.xml", "robots.txt does not allow this program to fetch it"),
        ],
    )
    def test_failures(self, example: Site, path: str, words: str) -> None:
        """One line that says why; exit code 2."""
        ran = self.run("--urls", f"{example.origin}{path}", "--as", "AnyBot")
        assert (ran.code, ran.out) == (2, "")
        assert words in ran.err
        assert ran.err.count("\n") == 1

    def test_no_response(self, example: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        """A server that cannot be reached, and one with a private address."""
        ran = robotrules("check", "--urls", f"{example.origin}/one.xml", "--as", "AnyBot")
        assert ran.code == 2
        assert "robots.txt does not allow this program" in ran.err or "private" in ran.err

    def test_too_long(self, example: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        """A sitemap beyond the limit of sitemaps.org is not read."""
        monkeypatch.setattr("robotrules.cli.sitemap_fetching.MOST_SITEMAP_OCTETS", 100)
        ran = self.run("--urls", f"{example.origin}/one.xml", "--as", "AnyBot")
        assert "it is longer than 100 bytes, or was cut off" in ran.err

    def test_diff_takes_files(self, folder: Path) -> None:
        """A command that does not fetch sitemaps says what to do."""
        ran = robotrules("diff", "robots.txt", "robots.txt", "--urls", "https://example.com/s.xml")
        assert ran.code == 2
        assert "is not a file: save it and pass the file" in ran.err


class TestSeveralFiles:
    """`--urls` can be repeated."""

    def test_they_are_read_in_order(self, folder: Path) -> None:
        """Whatever their formats; the summary counts all."""
        (folder / "a.log").write_bytes(
            b'- - [01/May/2026:10:00:00 +0000] "GET /1 HTTP/1.1" 200 5\n'
        )
        (folder / "b.csv").write_bytes(b"url,clicks\n/private/2,3\n")
        ran = checked("a.log", "b.csv", "-", "a.log", stdin=b"/3\n")
        assert urls_of(ran) == ["/1", "/private/2", "/3"]
        assert "3 URLs: 2 allowed, 1 disallowed, in " in ran.err

    def test_logs_count_requests(self, folder: Path) -> None:
        """If all files are logs, requests are counted."""
        line = b'- - [01/May/2026:10:00:00 +0000] "GET /1 HTTP/1.1" 200 5\n'
        for name in ("a.log", "b.log"):
            (folder / name).write_bytes(line)
        ran = checked("a.log", "b.log")
        assert "2 requests (access log): 2 allowed, 0 disallowed" in ran.err

    def test_skipped_lines_name_their_file(self, folder: Path) -> None:
        """Each file is reported; the first of some is enough for exit code 2."""
        (folder / "a").write_bytes(b"/1\nwhat?\n")
        (folder / "b").write_bytes(b"/2\n")
        ran = checked("a", "b")
        assert ran.code == 2
        assert "the first is line 2 of 'a': 'what?'" in ran.err

    @pytest.mark.parametrize(
        ("name", "words"),
        [("missing", "no such file"), (".", "it is a directory; pass a file")],
    )
    def test_a_missing_file(self, folder: Path, name: str, words: str) -> None:
        """Is noticed before anything is printed."""
        (folder / "a").write_bytes(b"/1\n")
        ran = checked("a", name)
        assert (ran.code, ran.out) == (2, "")
        assert words in ran.err

    def test_one_without_urls(self, folder: Path) -> None:
        """Is refused, although others have URLs."""
        (folder / "a").write_bytes(b"/1\n")
        (folder / "b").write_bytes(b"Things to do\n")
        ran = checked("a", "b")
        assert (ran.code, urls_of(ran)) == (2, ["/1"])
        assert "there is no URL in 'b': line 1 is 'Things to do'" in ran.err


class TestColumns:
    """`--column` says where the URLs are."""

    def column(self, octets: bytes, name: str) -> Ran:
        """Check the URLs of a column."""
        return checked("-", more=("--column", name), stdin=octets)

    @pytest.mark.parametrize(
        ("octets", "name"),
        [
            (b"url,target\n/x,/1\n/x,/2\n", "target"),
            (b"URL,Target\n/x,/1\n/x,/2\n", "target"),
            (b"url;target\n/x;/1\n/x;/2\n", "2"),
            (b"/x\t/1\n/x\t/2\n", "2"),
            (b'url,"the, target"\n/x,"/1"\n/x,/2\n', "the, target"),
            (b"target\n/1\n/2\n", "target"),
            (b'{"url": "/x", "target": "/1"}\n{"url": "/x", "target": "/2"}\n', "target"),
            (b'{"url": "/x", "Target": "/1"}\n{"url": "/x", "target": "/2"}\n', "Target"),
            ("2,url\n/1,/x\n/2,/x\n".encode("utf-16"), "2"),
        ],
    )
    def test_by_name_and_number(self, folder: Path, octets: bytes, name: str) -> None:
        """A name of the first line, then a number; a header is not a URL."""
        ran = self.column(octets, name)
        assert urls_of(ran) == ["/1", "/2"]
        assert "hint" not in ran.err

    @pytest.mark.parametrize(
        ("octets", "words"),
        [
            (b"url,b\x1b\n/1,2\n", "no column 'page' in its first line: 'url', 'b\\x1b'"),
            (
                b"<urlset/>",
                "it is a sitemap, and a column can be named for CSV and JSON lines only",
            ),
            (b",".join([b"c"] * 50) + b"\n", "'c' and 30 more"),
        ],
    )
    def test_refused(self, folder: Path, octets: bytes, words: str) -> None:
        """A missing column names those that are there."""
        ran = self.column(octets, "page")
        assert (ran.code, ran.out) == (2, "")
        assert words in ran.err

    def test_without_a_file(self, folder: Path) -> None:
        """It needs one."""
        ran = robotrules("check", "/", "--as", "AnyBot", "--robots", "robots.txt", "--column", "a")
        assert "--column needs --urls FILE" in ran.err

    def test_json_without_the_key(self, folder: Path) -> None:
        """Such lines have no URL, also if another key has one."""
        ran = self.column(b'{"url": "/x"}\n{"target": "/1"}\n', "target")
        assert urls_of(ran) == ["/1"]
        assert "1 line has no URL" in ran.err


def test_a_bar_advances_with_the_sitemaps(folder: Path) -> None:
    """The bytes of an index are counted as its sitemaps are read, and add up."""
    from robotrules.cli.url_files import UrlFiles

    (folder / "index.xml").write_bytes(index(*(f"https://e.example/{n}.xml" for n in range(7))))
    for number in range(7):
        (folder / f"{number}.xml").write_bytes(urlset(*(f"/{n}" for n in range(9000))))
    files = UrlFiles(["index.xml"])
    parts = [chunk.octets for _, chunk in files.chunks()]
    assert sum(parts) <= (files.size or 0)
    assert sum(parts) > (files.size or 0) * 0.8
    assert files.urls == 63_000
    assert json.dumps(files.form) == '"sitemap"'
