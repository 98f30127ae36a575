"""`robotrules tags`, run in this process: every way in, every branch of its page, hostile input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from robotrules.tags import TAG_PROFILES
from tests.cli.shell import Stream, as_process, robotrules
from tests.cli.test_transcripts import read_page

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "examples" / "pages"
PAGE = str(PAGES / "page.html")
RESPONSE = str(PAGES / "response.http")


def answered(*arguments: str, stdin: bytes = b"") -> dict[str, Any]:
    """Return the one answer as JSON."""
    ran = robotrules("tags", "--json", *arguments, stdin=stdin)
    assert ran.code == 0, ran.err
    answer: dict[str, Any] = json.loads(ran.out)
    return answer


class TestWaysIn:
    """Pages, headers, responses and DOMs, alone and together."""

    def test_a_page(self) -> None:
        """The meta elements of a page count, those for the crawler and those for everyone."""
        assert answered(PAGE)["rules"] == {"max-snippet": 80, "noarchive": True}
        assert answered(PAGE, "--as", "ExampleBot")["may_index"] is False

    def test_stdin(self) -> None:
        """`-` is stdin, for a page, a response and a DOM."""
        page = b"<meta name=robots content=noindex>"
        assert answered("-", stdin=page)["read"] == ["html"]
        assert answered("--dom", "-", stdin=page)["read"] == ["dom"]
        answer = answered("--response", "-", stdin=b"HTTP/1.1 200 OK\r\n\r\n" + page)
        assert (answer["file"], answer["status"], answer["may_index"]) == ("-", 200, False)

    def test_headers(self) -> None:
        """Header lines alone are enough; names have no case, and lines stay apart."""
        lines = ["--header", "ROBOTS-TAG:*;noindex", "--header", "robots-tag: *;nosnippet"]
        answer = answered(*lines)
        assert (answer["file"], answer["rules"]) == (None, {"noindex": True, "nosnippet": True})
        assert [one["source"]["line"] for one in answer["mentions"]] == [1, 2]

    def test_a_response_and_more_headers(self) -> None:
        """Typed headers are added to those of the saved response."""
        answer = answered("--response", RESPONSE, "--header", "Robots-Tag: *;notranslate")
        assert set(answer["rules"]) == {"max-snippet", "notranslate", "noarchive"}
        assert answer["freshness"]["lifetime"] == 3600

    def test_a_response_without_a_page(self) -> None:
        """`curl -I` saves no body."""
        answer = answered("--response", "-", stdin=b"HTTP/2 200\r\nrobots-tag: *;noindex\r\n\r\n")
        assert (answer["read"], answer["may_index"]) == (["headers"], False)

    def test_both_states_of_a_page(self) -> None:
        """Initial HTML and final DOM are united."""
        answer = answered(PAGE, "--dom", str(PAGES / "rendered.html"))
        assert answer["read"] == ["html", "dom"]
        assert "only-in-final-dom" in [note["code"] for note in answer["notes"]]

    def test_several_pages(self) -> None:
        """One answer for each, in order; headers count for each."""
        ran = robotrules("tags", PAGE, PAGE, "--json", "--header", "Robots-Tag: *;noindex")
        answers = [json.loads(line) for line in ran.out.splitlines()]
        assert [one["file"] for one in answers] == [PAGE, PAGE]
        assert [one["may_index"] for one in answers] == [False, False]

    def test_the_url_determines_tls(self) -> None:
        """The scheme of `--url` determines whether TLS was used."""
        assert answered(PAGE, "--url", "https://example.com/")["over_tls"] is True
        assert answered(PAGE, "--url", "http://example.com/")["over_tls"] is False
        assert answered(PAGE)["over_tls"] is None

    @pytest.mark.parametrize("profile", TAG_PROFILES)
    def test_profiles(self, profile: str) -> None:
        """Every tag profile can be named."""
        assert answered(PAGE, "--profile", profile)["profile"] == profile

    def test_notes_on_the_file(self) -> None:
        """Problems of a saved response are notes of the answer."""
        body = b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\n\x00\x01\x02"
        answer = answered("--response", "-", stdin=body)
        assert "body-not-decoded" in [note["code"] for note in answer["notes"]]

    @pytest.mark.parametrize(
        ("status", "words"),
        [
            (200, ""),
            (301, "its tags apply to the redirecting URL"),
            (304, "fields that it does not have are unchanged"),
            (404, "its tags apply to this error page; those of the last successful response"),
            (429, "those of the last successful response stay in force"),
            (503, "those of the last successful response stay in force"),
        ],
    )
    def test_a_status_other_than_success(self, status: int, words: str) -> None:
        """A hint explains the scope of such a response (AMB-80); the answer has its content."""
        ran = robotrules("tags", "--response", "-", stdin=b"HTTP/1.1 %d X\r\na: b\r\n\r\n" % status)
        assert (ran.code, ran.err.count("\n")) == (0, bool(words))
        assert words in ran.err


class TestForPeople:
    """The page that a person reads; transcripts have more of it."""

    def test_colour_on_a_terminal(self) -> None:
        """Answers are coloured on a terminal, and plain in a pipe."""
        arguments = ["tags", "--header", "Robots-Tag: *;noindex"]
        assert "\x1b[31mno\x1b[0m" in robotrules(*arguments, terminals=["stdout"]).out
        assert "\x1b" not in robotrules(*arguments).out

    def test_the_crawler_of_the_answer(self) -> None:
        """Without `--as` the answer is for every crawler, and states this."""
        assert "every crawler (select one with --as TOKEN)" in robotrules("tags", PAGE).out
        ran = robotrules("tags", PAGE, "--as", "A,B")
        assert "Crawler       A or B, profile" in ran.out

    @pytest.mark.parametrize(
        ("header", "words"),
        [
            ("Cache-Control: max-age=60", "60 seconds (max-age)"),
            ("Cache-Control: no-cache", "must be revalidated each time (no-cache)"),
            ("Cache-Control: no-store", "must not be stored (no-store)"),
            ("Robots-Tag: *;max-snippet=1", "yes, at most 1 character\n"),
            ("Robots-Tag: *;max-snippet=0", "Snippet       no\n"),
            ("Robots-Tag: *;noindex;indexifembedded", "no, except where it is embedded"),
        ],
    )
    def test_the_result_of_rules(self, header: str, words: str) -> None:
        """Values are words."""
        assert words in robotrules("tags", "--header", header).out

    def test_a_control_character_never_reaches_a_terminal(self) -> None:
        """In rules, names, texts, or in the name of a file."""
        page = "<meta name='\x1b[31mbot' content=noindex>"
        page += "<meta name=robots content='a\x9bb, noindex:\x07'>"
        ran = robotrules("tags", "-", stdin=page.encode(), terminals=["stdout"], NO_COLOR="1")
        assert ran.out.replace("\n", "").isprintable()
        ran = robotrules("tags", "\x1b[31m.html")
        assert (ran.code, "\x1b" in ran.err) == (2, False)


class TestHostile:
    """For any file, there is an answer or a one-line error, in bounded time."""

    @pytest.mark.parametrize(
        ("octets", "hint"),
        [
            (b"", "is empty"),
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "does not look like HTML"),
            (b"\xff\xfe<\0p\0", ""),
            (b"<p>", ""),
        ],
    )
    def test_a_file_that_is_not_a_page(self, octets: bytes, hint: str) -> None:
        """A hint suggests what it is, and the answer is that of a page without tags."""
        ran = robotrules("tags", "-", stdin=octets)
        assert (ran.code, "Index         yes" in ran.out) == (0, True)
        assert hint in ran.err
        assert ran.err.count("\n") == bool(hint)

    @pytest.mark.parametrize(
        ("octets", "words"),
        [
            (b"HTTP/1.1 200 OK\r\n\r\n", "is a saved response: pass it with --response FILE"),
            (b'{"log": {"entries": []}}', "is a HAR file: pass it to robotrules guidance --har"),
        ],
    )
    def test_a_file_for_another_option(self, octets: bytes, words: str) -> None:
        """It is refused, because the answer would be empty."""
        ran = robotrules("tags", "-", stdin=octets)
        assert (ran.code, ran.out) == (2, "")
        assert words in ran.err

    def test_a_large_file_is_not_read(self, tmp_path: Path) -> None:
        """Of a page of 2 GB the head is read, and where there is none the limit."""
        path = tmp_path / "large.html"
        with path.open("wb") as file:
            file.write(b"<meta name=robots content=noindex><p>text")
            file.truncate(2 * 1024**3)
        assert answered(str(path))["may_index"] is False
        with path.open("wb") as file:
            file.truncate(2 * 1024**3)
        told = answered(str(path))
        assert "head-not-final" in [note["code"] for note in told["notes"]]
        assert (told["may_index"], told["may_follow"]) == (None, None)
        lines = robotrules("tags", str(path)).out.splitlines()
        assert "Index         unknown, because not all of the page was read" in lines
        assert "Follow links  unknown" in lines

    def test_a_large_response_is_cut(self, tmp_path: Path) -> None:
        """A saved response is read up to the limit of a crawler."""
        path = tmp_path / "large.http"
        with path.open("wb") as file:
            file.write(b"HTTP/1.1 200 OK\r\nRobots-Tag: *;noindex\r\n\r\n<p>text")
            file.truncate(2 * 1024**3)
        assert answered("--response", str(path))["may_index"] is False

    def test_unreadable_input(self) -> None:
        """A terminal is not a file, and a failed read gives a one-line error."""
        ran = robotrules("tags", "-", terminals=["stdin"])
        assert (ran.code, "stdin is a terminal" in ran.err) == (2, True)
        with mock.patch.object(Stream, "buffer", create=True) as stdin:
            stdin.read.side_effect = OSError(5, "Input/output error")
            ran = robotrules("tags", "-")
        assert ran.err == "robotrules tags: cannot read the page from stdin: Input/output error\n"

    def test_many_elements_and_headers(self) -> None:
        """100,000 elements, and many lines of a field, are an answer like any other."""
        page = b"<meta name=robots content='noindex, x'>" * 100_000
        assert "(see --json)" in robotrules("tags", "-", stdin=page).out
        lines = ["--header", "Robots-Tag: a;noindex"] * 500
        assert answered(*lines)["others"] == ["a"]

    def test_without_a_library_for_html(self) -> None:
        """The message names the extra to install; headers need no library."""
        from robotrules.tags import tree_builders

        missing = {"selectolax": None, "selectolax.lexbor": None, "justhtml": None}
        for cached in vars(tree_builders).values():
            getattr(cached, "cache_clear", lambda: None)()
        try:
            with mock.patch.dict(sys.modules, missing):
                ran = robotrules("tags", PAGE)
                alone = robotrules("tags", "--header", "Robots-Tag: *;noindex")
        finally:
            for cached in vars(tree_builders).values():
                getattr(cached, "cache_clear", lambda: None)()
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert "pip install 'robotrules[html]'" in ran.err
        assert alone.code == 0


@pytest.mark.parametrize(
    "asked",
    [
        [],
        ["-", "-"],
        ["-", "--dom", "-"],
        ["no-such-file.html"],
        [str(PAGES)],
        ["https://example.com/"],
        ["--response", PAGE],
        ["--response", "no-such-file.http"],
        ["--dom", str(PAGES)],
        [PAGE, "--response", RESPONSE],
        [PAGE, PAGE, "--dom", PAGE],
        [PAGE, "--header", "noindex"],
        [PAGE, "--header", ": noindex"],
        [PAGE, "--header", "Robots Tag: noindex"],
        [PAGE, "--as", " "],
        [PAGE, "--as", "A/1", "--profile", "strict"],
        [PAGE, "--profile", "other"],
    ],
)
def test_misuse(asked: list[str]) -> None:
    """Missing or invalid arguments give a one-line error and exit code 2."""
    ran = robotrules("tags", *asked)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)


def test_other_commands_do_not_import_it() -> None:
    """Checking a URL does not import HTML parsers."""
    code = "import sys, robotrules.cli.check; print('robotrules.tags' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.strip() == b"False"
    assert as_process("tags", "--header", "Robots-Tag: *;noindex").code == 0


@pytest.mark.parametrize("page", ["cli/tags.md", "cli/guidance.md", "guidance.md"])
def test_files_on_pages_are_those_of_the_examples(page: str) -> None:
    """`examples/pages` has the files that the documentation shows."""
    files = read_page(ROOT / "docs" / page).files
    assert files
    for name, text in files.items():
        assert (PAGES / name).read_text(encoding="utf-8") == text
