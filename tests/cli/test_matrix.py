"""`robotrules matrix`: formats, files and misuse; the transcript shows the output."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any
from unittest import mock
from xml.etree import ElementTree

import pytest

import robotrules as library
from robotrules.cli.matrix import LONGEST_NAME
from robotrules.matrix import matrix as made
from robotrules.matrix.html import page
from robotrules.matrix.svg import picture
from tests.cli.shell import Ran, robotrules
from tests.cli.sites import response, site

BODY = b"""\
User-agent: *
Disallow: /search
Disallow: /private/

User-agent: GPTBot
User-agent: OurReader
Disallow: /
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A robots.txt file."""
    path = tmp_path / "robots.txt"
    path.write_bytes(BODY)
    return path


def matrix(path: Path | str, *more: str, **how: Any) -> Ran:
    """Run the command."""
    return robotrules("matrix", str(path), *more, **how)


def files(folder: Path) -> dict[str, bytes]:
    """Return the contents of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


class TestText:
    """A table for people, on a terminal and in a pipe."""

    def test_a_pipe(self, file: Path) -> None:
        """A mark each, which a line below explains, and paths for headings."""
        ran = matrix(file)
        assert (ran.code, ran.err) == (0, "")
        lines = ran.out.splitlines()
        assert lines[0] == "Who may fetch what: robots.txt"
        assert lines[1].endswith("some URLs and 2 nothing.")
        assert lines[3].split() == [
            *("crawler", "all", "URLs", "/", "/search", "/private/", "group"),
        ]
        told = {line.split()[0]: line.split()[1:] for line in lines if line.startswith("  ")}
        assert told["GPTBot"] == ["nothing", *"✗✗✗", "own", "line", "5"]
        assert told["Googlebot"][:4] == ["some", *"✓✗✗"]
        assert "✓ allowed  ✗ disallowed" in lines
        assert "a request, not access control: it does not keep out" in ran.out
        assert "\x1b" not in ran.out

    def test_a_pipe_with_many_paths(self, file: Path) -> None:
        """Letters with a key in which no path is cut; the table is as wide as most screens."""
        long = "/" + "x" * 200
        ran = matrix(file, f"--path={long}", *[f"--path=/somewhere/{n}" for n in range(11)])
        lines = ran.out.splitlines()
        assert f"  a  {long}" in lines
        assert "  l  /somewhere/10" in lines
        assert max(len(line) for line in lines if long not in line) <= 100
        two = matrix(file, "--path", f"/{'y' * 30}", "--path=/z", "--as=GPTBot").out.splitlines()
        assert two[3].split()[3:5] == [f"/{'y' * 30}", "/z"]

    def test_a_terminal_gets_colour(self, file: Path) -> None:
        """And marks alone, which a line below explains."""
        ran = matrix(file, terminals=["stdout"])
        assert "\x1b[32m✓" in ran.out
        assert "\x1b[31m✗" in ran.out
        plain = matrix(file, terminals=["stdout"], NO_COLOR="1").out
        assert "\x1b" not in plain
        assert "✓ allowed  ✗ disallowed" in plain

    @pytest.mark.parametrize("columns", [40, 50, 60, 80, 100, 200])
    def test_it_fits(self, file: Path, columns: int) -> None:
        """Paths above the marks where there is room, letters with a key where there is none."""
        paths = [f"--path=/somewhere/{n}" for n in range(8)]
        more = {"NO_COLOR": "1", "COLUMNS": str(columns)}
        ran = matrix(file, *paths, "--as", "GPTBot", terminals=["stdout"], **more)
        lines = ran.out.splitlines()
        assert max(map(len, lines)) <= columns
        assert ("  a  /somewhere/0" in lines) is (columns < 200)

    def test_a_terminal_without_the_symbols(self, file: Path) -> None:
        """Words replace them."""
        with mock.patch("robotrules.cli.matrix.sys") as system:
            system.stdout.encoding = "ascii"
            ran = matrix(file, "--as", "GPTBot", "--as", "ChatGPT-User", "--path=/", "--path=/x")
        assert ran.out.isascii()
        lines = [line.split() for line in ran.out.splitlines()]
        assert ["GPTBot", "nothing", "no", "no", "own", "line", "5"] in lines
        assert ["ChatGPT-User", "+", "some", "yes", "yes", "everyone", "line", "1"] in lines
        assert "yes: allowed  no: disallowed" in ran.out
        assert "\n+ Its operator says" in ran.out

    def test_control_characters(self) -> None:
        """Whoever wrote the file (RFC 9309 §3)."""
        body = "User-agent: x\x1b[31m\x9b\nDisallow: /a\x9b\nDisallow: /b\x1b]0;\n".encode()
        for form in ([], ["--json"], ["--html", "-"], ["--svg", "-"]):
            ran = matrix("-", *form, "--profile=google", "--title=\x1b[2J", stdin=body)
            assert ran.code == 0
            assert not {"\x1b", "\x9b"} & set(ran.out + ran.err)

    def test_bidirectional_text(self) -> None:
        """In a purpose, which may contain any text."""
        body = "User-Agent-Purpose: p\u202eq\nDisallow: /a\n".encode()
        ran = matrix("-", stdin=body)
        assert "p\\u202eq" in ran.out
        assert "\u202e" not in ran.out

    def test_long_names(self) -> None:
        """Are cut."""
        ran = matrix("-", stdin=b"User-agent: " + b"x" * 500 + b"\nDisallow: /")
        assert "x" * (LONGEST_NAME - 1) + "…" in ran.out
        assert "x" * LONGEST_NAME not in ran.out


class TestForms:
    """JSON, HTML and SVG as the library creates them."""

    def test_json(self, file: Path) -> None:
        """One object."""
        ran = matrix(file, "--json")
        assert json.loads(ran.out) == made(library.parse(BODY), url="robots.txt").as_dict()

    def test_written(self, file: Path, tmp_path: Path) -> None:
        """Both at once, each atomically, and nothing on stdout."""
        targets = [str(tmp_path / "m.html"), str(tmp_path / "m.svg")]
        ran = matrix(file, "--html", targets[0], "--svg", targets[1])
        found = made(library.parse(BODY), url="robots.txt")
        html, svg = page(found).encode(), picture(found).encode()
        assert files(tmp_path) == {"robots.txt": BODY, "m.html": html, "m.svg": svg}
        assert (ran.code, ran.out) == (0, "")
        assert ran.err.splitlines() == [
            f"robotrules matrix: '{target}' written" for target in targets
        ]

    @pytest.mark.parametrize("option", ["--html", "--svg"])
    def test_an_input_is_not_overwritten(self, file: Path, option: str) -> None:
        """The robots.txt would be lost."""
        ran = matrix(file, option, str(file))
        assert (ran.code, ran.out, file.read_bytes()) == (2, "", BODY)
        assert f"{option} '{file}' would overwrite an input file" in ran.err

    def test_stdout(self, file: Path) -> None:
        """The page or the picture alone, with the name and the date that were given."""
        named = ["--title", "news.example", "--date", "16 November 2026"]
        html = matrix(file, "--html", "-", *named)
        found = made(library.parse(BODY), url="news.example")
        assert html == Ran(0, page(found, date="16 November 2026"), "")
        svg = matrix(file, "--svg", "-", *named)
        assert svg == Ran(0, picture(found, date="16 November 2026"), "")
        ElementTree.fromstring(svg.out)

    def test_json_beside_a_page(self, file: Path, tmp_path: Path) -> None:
        """Stdout is free then."""
        ran = matrix(file, "--json", "--html", str(tmp_path / "m.html"))
        assert json.loads(ran.out)["url"] == "robots.txt"
        assert (tmp_path / "m.html").exists()

    @pytest.mark.parametrize(
        "forms",
        [("--html", "-", "--svg", "-"), ("--json", "--html", "-"), ("--json", "--svg", "-")],
    )
    def test_two_forms_on_stdout(self, file: Path, forms: tuple[str, ...]) -> None:
        """They could not be separated."""
        ran = matrix(file, *forms)
        assert ran == Ran(
            2,
            "",
            "robotrules matrix: only one output can go to stdout: pass files to --html and --svg\n",
        )

    def test_a_full_disk(self, file: Path, tmp_path: Path) -> None:
        """The old page is intact, and no temporary file is left."""
        target = tmp_path / "m.html"
        target.write_bytes(b"old")
        full = OSError(errno.ENOSPC, "No space left on device")
        with mock.patch("os.replace", side_effect=full):
            ran = matrix(file, "--html", str(target))
        assert ran.code == 2
        assert "cannot write" in ran.err
        assert files(tmp_path) == {"robots.txt": BODY, "m.html": b"old"}


class TestChoosing:
    """Crawlers and paths."""

    def names(self, *arguments: str) -> list[str]:
        """Return the names of the crawlers."""
        ran = matrix("-", "--json", *arguments, stdin=BODY)
        assert ran.code == 0, ran.err
        return [one["name"] for one in json.loads(ran.out)["crawlers"]]

    def test_default_all_purpose_and_as(self) -> None:
        """As the library chooses."""
        robots = library.parse(BODY)
        assert self.names() == [one.name for one in made(robots).rows]
        assert "OurReader" in self.names()
        assert len(self.names("--all")) > 100
        assert self.names("--purpose", "shopping") == ["Storebot-Google", "everyone else"]
        assert self.names("--as", "GPTBot", "--as", "*") == ["GPTBot", "everyone else"]

    def test_paths(self) -> None:
        """Those that are given."""
        ran = matrix("-", "--json", "--path", "/a", "--path", "https://x.example/b", stdin=BODY)
        assert [one["path"] for one in json.loads(ran.out)["paths"]] == [
            "/a",
            "https://x.example/b",
        ]

    def test_profile(self) -> None:
        """Decides how the file is read."""
        body = b"User-agent: MJ12bot\nDisallow: /"
        told = {
            name: json.loads(matrix("-", "--json", "--profile", name, stdin=body).out)["counts"]
            for name in ("default", "strict", "google")
        }
        # google/robotstxt reads the name MJ, so that no group applies to MJ12bot.
        assert [counts["nothing"] for counts in told.values()] == [1, 1, 1]
        everything = [counts["everything"] for counts in told.values()]
        assert everything == [everything[0], everything[0], everything[0] + 1]

    def test_settings_of_the_project(self, file: Path, tmp_path: Path) -> None:
        """Count where no option does."""
        text = '[matrix]\ncrawlers = ["GPTBot", "*"]\npaths = ["/x"]\n'
        (tmp_path / "robotrules.toml").write_text(text, encoding="utf-8")
        values = json.loads(matrix(file, "--json").out)
        assert [one["name"] for one in values["crawlers"]] == ["GPTBot", "everyone else"]
        assert [one["path"] for one in values["paths"]] == ["/x"]
        values = json.loads(matrix(file, "--json", "--as", "bingbot", "--path", "/y").out)
        assert [one["name"] for one in values["crawlers"]] == ["bingbot"]
        assert [one["path"] for one in values["paths"]] == ["/y"]
        assert len(json.loads(matrix(file, "--json", "--all").out)["crawlers"]) > 100

    def test_broken_settings(self, file: Path, tmp_path: Path) -> None:
        """One line, and 2."""
        (tmp_path / "robotrules.toml").write_text("[matrix\n", encoding="utf-8")
        ran = matrix(file)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert "robotrules.toml" in ran.err


class TestFetched:
    """The robots.txt of an origin."""

    def test_now(self) -> None:
        """Whatever page of the site is named; it is called after its origin."""
        with site({"/robots.txt": response(BODY)}) as live:
            ran = matrix(f"{live.origin}/news", "--json", "--allow-private", "127.0.0.1")
            assert live.asked == ["/robots.txt"]
        values = json.loads(ran.out)
        assert (ran.code, values["url"]) == (0, live.origin)
        assert values["counts"]["nothing"] == 2

    def test_there_is_none(self) -> None:
        """Then everything is allowed, which stderr explains."""
        with site({}) as live:
            ran = matrix(live.origin, "--json", "--allow-private", "127.0.0.1")
        assert ran.code == 0
        assert set(json.loads(ran.out)["counts"].values()) > {0}
        assert json.loads(ran.out)["counts"]["some"] == 0
        assert "hint" in ran.err

    def test_an_unreachable_file(self) -> None:
        """The rules of a failing server are unknown."""
        with site({"/robots.txt": response(status="503 Service Unavailable")}) as live:
            ran = matrix(live.origin, "--allow-private", "127.0.0.1")
        assert (ran.code, ran.out) == (2, "")
        assert f"{live.origin}: the robots.txt is unreachable" in ran.err

    def test_options_about_fetching_beside_a_file(self, file: Path) -> None:
        """They have no effect, and a message reports this."""
        ran = matrix(file, "--refresh")
        assert "nothing is fetched when files are passed, so --refresh has no effect" in ran.err


class TestMisuse:
    """A one-line error with a fix, and exit code 2."""

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["missing.txt"], "no such file"),
            (["."], "it is a directory"),
            (
                ["-", "--path", "news"],
                "'news' is not a path: pass one that starts with '/', such as /news",
            ),
            (["-", *["--path=/x"] * 101], "101 paths are too many"),
            (["-", "--as", "a", "--all"], "--as cannot be combined with --purpose or --all"),
            (["-", "--as", " "], "--as is empty"),
            (["-", "--as", "MJ13bot", "--profile", "strict"], "is not a product token"),
            (["-", "--purpose", "x"], "'x' is not one of 'search'"),
            (["-", "--profile", "stale"], "--profile stale only affects fetching"),
            (["-", "--html", "missing/x.html"], "cannot write 'missing/x.html'"),
            (["ftp://x.example/"], "has no robots.txt"),
        ],
    )
    def test_messages(self, arguments: list[str], words: str) -> None:
        """The problem, its place and a fix."""
        ran = robotrules("matrix", *arguments, stdin=BODY)
        assert ran.code == 2
        assert words in ran.err
        assert ran.err.count("\n") == 1
        assert ran.out == ""

    @pytest.mark.parametrize("form", [[], ["--json"], ["--svg", "-"]])
    def test_a_binary_file(self, form: list[str], tmp_path: Path) -> None:
        """It is refused, because its matrix would allow everything."""
        octets = bytes(range(256)) * 100
        words = "is binary: 2,700 of its first 25,600 bytes are control characters; pass a text"
        ran = matrix("-", *form, stdin=octets)
        assert ran == Ran(2, "", f"robotrules matrix: stdin {words} file\n")
        picture_file = tmp_path / "x.png"
        picture_file.write_bytes(octets)
        ran = matrix(picture_file, *form)
        assert ran == Ran(2, "", f"robotrules matrix: '{picture_file}' {words} file\n")

    def test_no_file_is_named(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The robots.txt of the working folder is used; without one there is an error."""
        monkeypatch.chdir(file.parent)
        assert robotrules("matrix").out == matrix("robots.txt").out
        file.unlink()
        assert robotrules("matrix") == Ran(
            2,
            "",
            "robotrules matrix: there is no robots.txt in this directory: pass a file, '-' for "
            "stdin, "
            "or a URL such as https://example.com; see robotrules matrix --help\n",
        )
