"""`robotrules check --urls`: accepted input, refused input, and the summary."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.cli.shell import Ran, modules_loaded_by, robotrules

URLS = ("https://example.com/private/a", "https://example.com/b")
LOG = b"".join(
    b'192.0.2.1 - - [01/May/2026:10:00:00 +0000] "GET %b HTTP/1.1" 200 5 "-" "x"\n' % path
    for path in (b"/private/a", b"/b")
)
CSV = b"page,clicks\n" + b"".join(b"%b,3\n" % url.encode() for url in URLS)
JSON = b"".join(b'{"url": "%b", "status": 200}\n' % url.encode() for url in URLS)
SITEMAP = (
    b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    + b"".join(b"<url><loc>%b</loc></url>" % url.encode() for url in URLS)
    + b"</urlset>"
)
LIST = "\n".join(["# a comment", "", *URLS]).encode()


@pytest.fixture
def robots(tmp_path: Path) -> str:
    """A robots.txt that disallows one of the two."""
    path = tmp_path / "robots.txt"
    path.write_bytes(b"User-agent: *\nDisallow: /private/\n")
    return str(path)


def checked(robots: str, stdin: bytes, *options: str) -> Ran:
    """Check the URLs of stdin."""
    return robotrules(
        "check", "--urls", "-", "--as", "AnyBot", "--robots", robots, *options, stdin=stdin
    )


@pytest.mark.parametrize(
    ("octets", "counted"),
    [
        (LIST, "2 URLs: "),
        (LOG, "2 requests (access log): "),
        (CSV, "2 URLs (CSV): "),
        (JSON, "2 requests (JSON lines): "),
        (SITEMAP, "2 URLs (sitemap): "),
        (LIST.decode().encode("utf-16"), "2 URLs: "),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_forms(robots: str, octets: bytes, counted: str, packed: bool) -> None:
    """It reads what `diff --urls` reads, gzipped or not, and counts it."""
    ran = checked(robots, gzip.compress(octets) if packed else octets)
    lines = [line.split("\t") for line in ran.out.splitlines()]
    assert ran.code == 1
    assert [word for word, _, _ in lines] == ["disallowed", "allowed"]
    assert [url.removeprefix("https://example.com") for _, url, _ in lines] == ["/private/a", "/b"]
    assert f"{counted}1 allowed, 1 disallowed, in " in ran.err


@pytest.mark.parametrize(
    ("octets", "words"),
    [
        (b"hello world\n" * 100_000, "there is no URL in stdin: line 1 is 'hello world'; pass a"),
        (b"example.com/a\n", "line 1 is 'example.com/a'"),
        (b"\x00\x01\x02" * 1000, "there is no URL in stdin: line 1 is '\\x00\\x01"),
        (b"PK\x03\x04" + bytes(100), "it is a ZIP file"),
        (b"<!doctype html><title>x</title>\n", "it is an HTML page"),
        (b'["https://example.com/"]', "it is a JSON array"),
        (b"<sitemapindex><sitemap/></sitemapindex>", "it is a sitemap index"),
    ],
)
@pytest.mark.parametrize("quiet", [(), ("-q",)])
def test_unrecognised_files_are_refused(
    robots: str, octets: bytes, words: str, quiet: tuple[str, ...]
) -> None:
    """Exit code 2, a one-line reason, and no verdict."""
    ran = checked(robots, octets, *quiet)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert ran.err.count("\n") == 1


def test_a_further_file_as_an_argument(robots: str, tmp_path: Path) -> None:
    """What a shell makes of `--urls access.log*` is refused, not read as a URL."""
    names = [str(tmp_path / name) for name in ("access.log", "access.log.1")]
    for name in names:
        Path(name).write_bytes(b"/a\n")
    options = ("--as", "AnyBot", "--robots", robots)
    ran = robotrules("check", "--urls", *names, *options)
    assert (ran.code, ran.out) == (2, "")
    assert f"repeat --urls for each file, as in --urls '{names[0]}' --urls '{names[1]}'" in ran.err
    ran = robotrules("check", "--urls", names[0], "access.log.2", *options)
    assert (ran.code, ran.out) == (2, "")
    assert "'access.log.2' is neither a URL nor a path that starts with '/'" in ran.err
    ran = robotrules("audit", "https://example.com/", "--urls", *names)
    assert (ran.code, ran.out) == (2, "")
    assert "repeat --urls for each file" in ran.err
    ran = robotrules("check", "--urls", names[0], "--urls", names[1], "/b", *options)
    assert ran.out.count("\n") == 3


class TestSkippedLines:
    """Lines without a URL are never taken for one."""

    def test_in_a_list(self, robots: str) -> None:
        """A list with invalid lines is an incomplete check: exit code 2 and a message."""
        ran = checked(robots, b"/b\nwhat?\nexample.com/private/a\n")
        assert (ran.code, ran.out) == (2, "allowed\t/b\tno rule matches\n")
        assert "2 lines have no URL and no verdict; the first is line 2: 'what?'" in ran.err
        assert checked(robots, b"/b\nwhat?\n", "-q").code == 2
        assert checked(robots, b"/private/a\nwhat?\n", "-q").code == 1

    def test_in_a_log(self, robots: str) -> None:
        """Logs contain invalid request lines; they are not errors."""
        ran = checked(robots, LOG[LOG.index(b"\n") + 1 :] + b"- - -\n")
        assert (ran.code, ran.out) == (0, "allowed\t/b\tno rule matches\n")
        assert "1 line has no URL" in ran.err

    def test_a_truncated_file(self, robots: str) -> None:
        """The URLs before the end are checked; a message and exit code 2 report the rest."""
        ran = checked(robots, gzip.compress(LIST)[:-8])
        assert ran.code == 2
        assert ran.out.count("\n") >= 1
        assert "was not read completely: the gzip data is truncated" in ran.err

    def test_other_schemes(self, robots: str) -> None:
        """They are URLs; with a file for all of them, their path counts."""
        ran = checked(robots, b"ftp://example.com/private/a\n")
        assert (ran.code, ran.out.split("\t")[0]) == (1, "disallowed")

    def test_an_empty_file(self, robots: str) -> None:
        """An empty file is valid."""
        for octets in (b"", b"\n\n", b"# none\n"):
            ran = checked(robots, octets)
            assert (ran.code, ran.out) == (0, "")


def test_checking_with_a_given_file_imports_no_fetching_code(tmp_path: Path) -> None:
    """With --robots, a check starts without the client, the fetch flow and the cache."""
    file = tmp_path / "robots.txt"
    file.write_text("User-agent: *\nDisallow: /x\n", encoding="utf-8")
    loaded = modules_loaded_by("check", "--json", "/y", "--as", "ExampleBot", "--robots", str(file))
    late = ("access", "cache", "client", "analysis", "linting", "service")
    assert "robotrules.cli.check" in loaded
    assert not loaded & {f"robotrules.{name}" for name in late}
