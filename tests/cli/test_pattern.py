"""The branches of `robotrules pattern`, run in this process; a transcript shows the output."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.shell import as_process, robotrules


class TestPattern:
    """`robotrules pattern`."""

    def test_exit_codes(self) -> None:
        """An answer is 0; a URL that does not match is 1; misuse is 2."""
        assert robotrules("pattern", "/a").code == 0
        assert robotrules("pattern", "a").code == 0
        assert robotrules("pattern", "/a", "--url", "/a", "--url", "/ab").code == 0
        assert robotrules("pattern", "/a", "--url", "/a", "--url", "/b").code == 1
        assert robotrules("pattern", "/a", "/b", "--url", "/a", "--json").code == 1
        assert robotrules("pattern").code == 2
        assert robotrules("pattern", "/a", "--profile", "none").code == 2

    def test_json_is_one_object_for_each(self) -> None:
        """With the given URLs, and without that key if there are none."""
        ran = robotrules("pattern", "/é", "/b$", "--json")
        assert ran.out.isascii()
        plain = [json.loads(line) for line in ran.out.splitlines()]
        assert [found["pattern"] for found in plain] == ["/é", "/b$"]
        assert "urls" not in plain[0]
        asked = json.loads(robotrules("pattern", "/b", "--json", "--url", "/b").out)["urls"]
        assert asked[0]["steps"] == [{"text": "/b", "start": 0, "end": 2}]

    def test_colour_only_where_it_shows(self) -> None:
        """A pipe gets plain text."""
        arguments = ("pattern", "/a", "--url", "/a", "--url", "/b")
        assert "\x1b" not in robotrules(*arguments).out
        assert "\x1b[36mmatches" in robotrules(*arguments, FORCE_COLOR="1").out
        assert "\x1b[33mno match" in robotrules(*arguments, terminals=["stdout"]).out
        assert "\x1b" not in robotrules(*arguments, "--json", FORCE_COLOR="1").out

    @pytest.mark.parametrize("profile", ["default", "google"])
    def test_control_characters_are_shown(self, profile: str) -> None:
        """Neither a pattern nor a URL moves the cursor, in any message."""
        odd = "/\x1b[31m\u202e\x07"
        for more in ((), ("--url", odd), ("--url", "/x")):
            out = robotrules("pattern", odd, odd + "*\x9b", "--profile", profile, *more).out
            assert all(sign.isprintable() or sign == "\n" for sign in out)

    def test_octets_that_are_not_utf8(self) -> None:
        """They come from the shell as they are."""
        ran = robotrules("pattern", "/\udcff", "--url", "/\udcffa")
        assert ran.code == 0
        assert ran.out.startswith("/\\xff  4 bytes")

    @pytest.mark.parametrize(
        "pattern", ["/" + "a" * 100_000, "/" + "*" * 100_000, "/" + "*a/" * 10_000, "/" + "é" * 99]
    )
    def test_a_screen_and_no_more(self, pattern: str) -> None:
        """However long a pattern is, a person reads it at once."""
        for more in ((), ("--url", "/x"), ("--url", pattern)):
            out = robotrules("pattern", pattern, *more).out
            assert out.count("\n") < 45
            assert max(map(len, out.splitlines())) < 200

    def test_a_shell_that_knew_better(self, tmp_path: Path) -> None:
        """Names of files instead of a pattern are hinted at, and described all the same."""
        names = [str(tmp_path / name) for name in "ab"]
        assert robotrules("pattern", *names).err == ""
        for name in names:
            Path(name).touch()
        assert "quote it" in robotrules("pattern", *names).err
        assert robotrules("pattern", names[0]).err == ""
        assert robotrules("pattern", *names, "/*").err == ""

    def test_as_a_process(self) -> None:
        """It reads nothing and fetches nothing."""
        ran = as_process("pattern", "/*/print$")
        assert (ran.code, ran.err) == (0, "")
        assert "Near misses" in ran.out
