"""The branches of each command, run in this process; transcripts show the output."""

from __future__ import annotations

import io
import json
import sys
from functools import partial
from pathlib import Path
from unittest import mock

import click
import pytest

import robotrules as library
from robotrules.cli import console
from robotrules.cli.check_output import CheckedUrls, JSONLines, TextLines
from robotrules.json_results.crawlers import CrawlerChoice
from tests.cli.shell import ROBOTS, Ran, Stream, check, robotrules


class TestCheck:
    """`robotrules check`."""

    def test_exit_codes(self, file: str) -> None:
        assert check(file, "/a").code == 0
        assert check(file, "/a", "/x").code == 1
        assert check(file, "/a", "--urls", file + "x").code == 2

    def test_a_pipe_gets_tabs(self, file: str) -> None:
        assert check(file, "/x").out == "disallowed\t/x\tline 2: Disallow: /x\n"

    def test_a_terminal_gets_columns(self, file: str) -> None:
        ran = check(file, "/x", "/x/y/z", terminals=["stdout"], NO_COLOR="1")
        assert ran.out == (
            "disallowed  /x      line 2: Disallow: /x\nallowed     /x/y/z  line 3: Allow: /x/y\n"
        )

    def test_urls_of_a_file_are_octets(self, file: str) -> None:
        urls = b"\xef\xbb\xbf/x\r\n\n \t \n  /\xff\x00\x1b  \r\n/caf\xc3\xa9\n/x/y"
        ran = check(file, "--urls", "-", stdin=urls)
        assert [line.split("\t")[1] for line in ran.out.splitlines()] == [
            "/x",
            "/\\xff\\x00\\x1b",
            "/café",
            "/x/y",
        ]
        assert ran.code == 1

    def test_json_lines(self, file: str) -> None:
        ran = check(file, "/é?a\tb", "/x", "--urls", "-", "--json", stdin=b"/\xff\n")
        assert ran.out.isascii()
        assert [json.loads(line)["url"] for line in ran.out.splitlines()] == [
            "/é?a\tb",
            "/x",
            "/\\xff",
        ]
        assert json.loads(ran.out.splitlines()[1]) == {
            "url": "/x",
            "allowed": False,
            "reason": "disallow-rule",
            "line": 2,
            "pattern": "/x",
            "profile": "default",
            "product_token": "AnyBot",
            "purposes": [],
            "known": None,
        }

    def test_several_tokens(self, file: str) -> None:
        ran = robotrules(*("check", "/z", "--robots", file, "--as", "AnyBot,examplebot", "--json"))
        assert json.loads(ran.out)["product_token"] == "AnyBot, examplebot"
        assert ran.code == 1

    def test_quiet_prints_nothing_and_stops_early(self, file: str) -> None:
        endless = mock.Mock(wraps=io.BytesIO(b"/x\n" * 10))
        endless.read1 = mock.Mock(side_effect=[b"/x\n", AssertionError("read on")])
        with mock.patch("robotrules.cli.url_files.open_octets", return_value=endless):
            assert check(file, "--urls", "-", "--quiet") == Ran(1, "", "")
        assert check(file, "a/b", "--quiet", "--as", "A1") == Ran(0, "", "")

    def test_a_summary_of_a_file_of_urls(self, file: str) -> None:
        for terminals in (["stderr"], []):
            ran = check(file, "--urls", "-", stdin=b"/x\n/\n", terminals=terminals)
            assert ran.err.startswith("robotrules check: 2 URLs: 1 allowed, 1 disallowed, in ")
        assert check(file, "/x", "/", terminals=["stderr"]).err == ""

    def test_urls_typed_on_a_terminal(self, file: str) -> None:
        ran = check(file, "--urls", "-", stdin=b"/x\n", terminals=["stdin"])
        hint, summary = ran.err.splitlines()
        assert hint == (
            "robotrules check: hint: reading URLs from the terminal, one per line; press Ctrl-D to "
            "end"
        )
        assert summary.startswith("robotrules check: 1 URL: 0 allowed, 1 disallowed, in ")

    def test_a_line_of_a_mebibyte_is_not_a_url(self, file: str, tmp_path: Path) -> None:
        urls = tmp_path / "urls"
        urls.write_bytes(b"/a\n\n/" + b"a" * (1 << 20))
        ran = check(file, "--urls", str(urls))
        assert ran.code == 2
        assert "1 line has no URL and no verdict; the first is line 3: '/aaa" in ran.err
        assert len(ran.err) < 400
        assert ran.out == "allowed\t/a\tno rule matches\n"
        urls.write_bytes(b"/" + b"a" * ((1 << 20) - 1) + b"\n/a\n")
        assert check(file, "--urls", str(urls), "-q").code == 0
        urls.write_bytes(b"/" + b"a" * (1 << 20) + b"\n/a\n")
        assert check(file, "--urls", str(urls), "-q").code == 2

    def test_colour(self, file: str) -> None:
        coloured = "\x1b[31mdisallowed\x1b[0m\t/x\tline 2: Disallow: /x\n"
        assert check(file, "/x", FORCE_COLOR="1").out == coloured
        assert "\x1b" in check(file, "/x", terminals=["stdout"]).out
        assert "\x1b" not in check(file, "/x", terminals=["stdout"], NO_COLOR="1").out
        assert "\x1b" not in check(file, "/x", "--json", FORCE_COLOR="1").out

    def test_a_file_is_read_from_a_terminal_only_on_request(self) -> None:
        ran = check("-", "/x", stdin=ROBOTS, terminals=["stdin"])
        assert ran.code == 2
        assert check("-", "/x", stdin=ROBOTS).code == 1

    def test_a_write_stays_small_for_any_pattern(self) -> None:
        body = f"User-agent: *\nDisallow: /{'*' * 300_000}\n"
        rules = library.parse(body).rules_for("AnyBot")
        out = Stream()
        with mock.patch.object(sys, "stdout", out):
            output = console.Output()
            with mock.patch.object(console.Output, "write") as write:
                lines = TextLines(output, [CrawlerChoice("AnyBot", "AnyBot")])
                lines.add(CheckedUrls([b"/a"] * 10, [rules.check_many([b"/a"] * 10)]))
        assert lines.disallowed == [10]
        assert [call.args[0].count("\n") for call in write.call_args_list] == [3, 3, 3, 1]
        with mock.patch.object(sys, "stdout", out):
            none = CheckedUrls([], [[]])
            JSONLines(console.Output(), [CrawlerChoice("AnyBot", "AnyBot")]).add(none)
        assert out.text() == ""


class TestParse:
    """`robotrules parse`."""

    def test_json_has_every_section(self, file: str) -> None:
        values = json.loads(robotrules("parse", file, "--json").out)
        robots = library.parse(ROBOTS)
        assert values["file"] == file
        for name in ("lines", "groups", "records", "notes"):
            assert values[name] == [value.as_dict() for value in getattr(robots, name)]

    def test_json_of_a_section(self, file: str) -> None:
        values = json.loads(robotrules("parse", file, "--json", "--notes").out)
        assert set(values) == {"schema", "file", "profile", "encoding", "notes"}

    def test_of_very_many_notes_the_first_are_shown(self) -> None:
        """A file may have a note for each of a quarter of a million lines; --notes shows all."""
        body = b"x\n" * 1_001 + b"User-agent: A B\n"
        shown = robotrules("parse", "-", stdin=body).out.splitlines()
        assert sum("error no-separator" in line for line in shown) == 1_000
        assert "  and 1 more no-separator (--notes)" in shown
        assert any("user-agent-text" in line for line in shown)
        every = robotrules("parse", "-", "--notes", stdin=body).out.splitlines()
        assert sum("error no-separator" in line for line in every) == 1_001
        assert not any("more" in line for line in every)

    def test_text_output_has_no_control_characters(self) -> None:
        """For any file, text output has no control characters but line ends (§3)."""
        body = bytes(range(256)) + b"\nUser-agent: \x1b[2J\n\xc2\x9b: \xe2\x80\xae\nDisallow: /\x07"
        for section in ("--lines", "--groups", "--records", "--notes"):
            for profile in ("default", "strict", "google"):
                ran = robotrules("parse", "-", section, "--profile", profile, stdin=body)
                assert ran.code == 0
                assert ran.out.replace("\n", "").isprintable()

    def test_colours_are_the_only_escapes(self) -> None:
        body = b"# c\nUser-agent: *\nDisallow: /a\nAllow: /\x1b[5m\nx\nFoo: bar # c\n"
        plain = robotrules("parse", "-", stdin=body).out
        coloured = robotrules("parse", "-", stdin=body, FORCE_COLOR="1").out
        assert click.unstyle(coloured) == plain

    @pytest.mark.parametrize(
        ("body", "words"),
        [
            (b"", "UTF-8, profile default\n"),
            (b"\xef\xbb\xbf#\r\n", "UTF-8, byte order mark, lines end with CRLF, profile default"),
            (
                b"#\xff\r\r\n\n",
                "not valid UTF-8, lines end with LF and CRLF and CR, profile default",
            ),
            (b"\xff\xfea\0", "UTF-16-LE, byte order mark, profile default"),
            (b"\xfe\xff\0a", "UTF-16-BE, byte order mark, profile default"),
        ],
    )
    def test_encodings(self, body: bytes, words: str) -> None:
        assert words in robotrules("parse", "-", stdin=body).out

    def test_an_empty_file(self) -> None:
        sections = ["--lines", "--groups", "--records", "--notes"]
        assert robotrules("parse", "-", *sections).out.count("\n  none\n") == 4

    def test_long_lines_are_cut_on_a_terminal_only(self) -> None:
        body = b"Foo: " + b"x" * 5000 + b" #" + b"y" * 5000
        for section in ("--lines", "--records"):
            assert "x" * 5000 in robotrules("parse", "-", section, stdin=body).out
            ran = robotrules("parse", "-", section, stdin=body, terminals=["stdout"])
            assert "x" * 1001 not in ran.out
            assert "…" in ran.out


class TestExplain:
    """`robotrules explain`."""

    def test_json_is_the_explanation(self, file: str) -> None:
        ran = robotrules("explain", "/x/y", "--as", "AnyBot", "--robots", file, "--json")
        assert json.loads(ran.out) == library.parse(ROBOTS).explain("/x/y", "AnyBot").as_dict()
        assert ran.code == 0

    def test_the_obeyed_group_and_the_reason(self) -> None:
        body = (
            b"User-agent: A\nAllow: /%61\n\nUser-agent: B\nDisallow: /\n\nUser-agent: a\nAllow: /b"
        )
        run = partial(robotrules, "explain", "/a", "--robots", "-", stdin=body)
        assert "these name A and are combined\n" in run("--as", "A,B").out
        assert "| compared as /a\n" in run("--as", "A").out
        ran = run("--as", "B,A,C", "--profile", "google")
        assert "these name B or A and are combined\n" in ran.out
        assert "none names C, and there is none for '*'\n" in run("--as", "C").out
        stars = body.replace(b"A\n", b"*\n").replace(b"a\n", b"*\n")
        ran = run("--as", "*", "/robots.txt", stdin=stars)
        assert "Groups    all groups for '*' apply, combined\n" in ran.out
        assert ran.code == 0
        assert "so all groups for '*' apply, combined\n" in run("--as", "C", stdin=stars).out
        ran = robotrules("explain", "/robots.txt", "--as", "B", "--robots", "-", stdin=body)
        assert "Matching rules\n" in ran.out
        assert "not consulted\n" in ran.out

    def test_long_lists_are_cut(self) -> None:
        rules = b"".join(b"Disallow: /%s\n" % (b"*" * n) for n in range(30))
        names = b"".join(b"User-agent: A/%d\n" % n for n in range(30))
        ran = robotrules("explain", "/", "--as", "A", "--robots", "-", stdin=names + rules)
        assert ran.out.count("and 9 more (see --json)") == 1
        assert ran.out.count("and 10 more (see --json)") == 1
        assert "A/5 and 24 more (30 rules)" in ran.out
        many = b"".join(b"User-agent: A\nDisallow: /%d\n" % n for n in range(25))
        ran = robotrules("explain", "/9", "--as", "A", "--robots", "-", stdin=many)
        assert "and 5 more (see --json)" in ran.out

    def test_every_note_is_there(self) -> None:
        """Up to so many, the last one too."""
        for count in (1, 2, 20):
            body = b"User-agent: *\nDisallow: /x\n" + b"nothing\n" * count
            ran = robotrules("explain", "/", "--as", "A", "--robots", "-", stdin=body)
            assert ran.out.count("error no-separator") == count
            assert f"line {count + 2}: error no-separator" in ran.out
            assert "(see --json)" not in ran.out
            ran = robotrules("explain", "/", "--as", "A", "--robots", "-", "--json", stdin=body)
            assert len(json.loads(ran.out)["notes"]) == count

    def test_long_patterns_are_cut(self) -> None:
        body = b"User-agent: *\nDisallow: /" + b"\xc3\xa9*" * 1000
        ran = robotrules("explain", "/" + "é" * 1000, "--as", "A", "--robots", "-", stdin=body)
        assert ran.code == 1
        assert all(len(line) < 330 for line in ran.out.splitlines() if " |" in line)


@pytest.mark.parametrize(
    "command",
    [
        ["check", "/x", "--as", "A", "--robots", "P"],
        ["explain", "/x", "--as", "A", "--robots", "P"],
        *(["lint", "P"], ["matrix", "P"], ["parse", "P"], ["fmt", "P"], ["simplify", "P"]),
        ["diff", "P", "P"],
    ],
)
def test_a_policy_is_not_read_as_a_robots_txt(command: list[str], tmp_path: Path) -> None:
    """None of its lines has a colon, so it would allow everything to every crawler."""
    policy = tmp_path / "Policy.TOML"
    policy.write_text('[everyone]\nkeep-out = ["/x"]\n')
    ran = robotrules(*(str(policy) if word == "P" else word for word in command))
    assert (ran.code, ran.out) == (2, "")
    assert "is TOML and not a robots.txt" in ran.err
    assert "`robotrules write '" in ran.err
