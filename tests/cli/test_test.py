"""`robotrules test`: exit codes, reports, and live files; the transcript shows the output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.cli.shell import Ran, robotrules
from tests.cli.sites import response, site

ROBOTS = "User-agent: *\nDisallow: /private/\n"
GOOD = '[[expect]]\ndisallowed = "/private/x"\nallowed = "/"\n'
BAD = '[[expect]]\nallowed = ["/private/x", "/"]\nall-disallowed = "/private"\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a robots.txt."""
    (tmp_path / "robots.txt").write_text(ROBOTS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(folder: Path, text: str, name: str = "robots.test.toml") -> None:
    """Write a file."""
    (folder / name).write_text(text, encoding="utf-8")


def run(*more: str, **how: Any) -> Ran:
    """Run the command."""
    return robotrules("test", *more, **how)


class TestExitCodes:
    """0: all as expected. 1: a failure. 2: unknown."""

    @pytest.mark.parametrize(("text", "code"), [(GOOD, 0), (BAD, 1), ("[[expect]]", 2), ("x", 2)])
    def test_codes(self, folder: Path, text: str, code: int) -> None:
        """Output goes to the right stream."""
        put(folder, text)
        ran = run()
        assert ran.code == code
        assert bool(ran.out) is (code < 2)
        assert ran.err.count("\n") == (code == 2)

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["-"], "'-' is not supported"),
            (["--robots", "robots.txt", "--live", "https://example.com/"], "cannot be combined"),
            (["."], "there is no expectation file here"),
            (["sub"], "there is no expectation file in 'sub'"),
        ],
    )
    def test_usage(self, folder: Path, arguments: list[str], words: str) -> None:
        """One line on stderr, and no other output."""
        (folder / "sub").mkdir()
        ran = run(*arguments)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert words in ran.err

    def test_one_failure_among_files_is_one(self, folder: Path) -> None:
        """Each file is evaluated, and all of them are counted."""
        put(folder, GOOD, "a.toml")
        put(folder, BAD, "b.toml")
        ran = run("a.toml", "b.toml", "a.toml")
        assert ran.code == 1
        assert ran.out.endswith("\n3 files: 2 failed, 5 passed\n")

    def test_the_other_files_are_evaluated_after_an_unusable_one(self, folder: Path) -> None:
        """Exit code and report show that a file was not evaluated."""
        put(folder, GOOD)
        put(folder, "[[expect]]", "broken.toml")
        files = ("none.toml", "-", "robots.test.toml", "broken.toml")
        ran = run(*files, "--junit", "report.xml")
        assert ran.code == 2
        assert ran.out == (
            "robots.test.toml: robots.txt: 2 passed\n"
            "\n4 files: 2 passed; 3 files could not be evaluated\n"
        )
        first, second, third = ran.err.splitlines()
        assert first == "robotrules test: none.toml: there is no such file; check the name"
        assert "'-' is not supported" in second
        assert "broken.toml, line 1: expect[1]: this table expects nothing" in third
        root = ElementTree.parse(folder / "report.xml").getroot()
        assert (root.get("tests"), root.get("errors")) == ("5", "3")
        assert str(next(root.iter("error")).get("message")) in first

    def test_a_budget_that_runs_out_is_a_failure(self, folder: Path) -> None:
        """The result is not guessed, and the advice names the option."""
        put(folder, '[[expect]]\nall-disallowed = "/private/*a*b*c"\n')
        ran = run("--max-states", "1")
        assert ran.code == 1
        assert "not decided within" in ran.out
        assert "--max-states" in ran.out


class TestHints:
    """Hints about an expectation, with any result."""

    def test_a_name_that_is_nearly_known(self, folder: Path) -> None:
        """One line on stderr for each name; the exit code stays."""
        put(folder, '[[expect]]\ncrawlers = ["Googelbot", "bingbot"]\nallowed = ["/", "/a"]\n')
        ran = run()
        assert (ran.code, ran.out) == (0, "robots.test.toml: robots.txt: 4 passed\n")
        assert ran.err == (
            "robotrules test: hint: robots.test.toml, line 1: Googelbot is not in robots.txt. "
            "Do you mean Googlebot, of Google?\n"
        )
        assert '"hint": "Googelbot is not in robots.txt. Do you mean' in run("--json").out


class TestInit:
    """A first expectation file."""

    @pytest.mark.parametrize(
        ("robots", "count"),
        [
            ("", 2),
            (ROBOTS, 3),
            ("User-agent: *\nDisallow: /a\nAllow: /a/b\nUser-agent: GPTBot\nDisallow: /\n", 5),
            ('User-agent: A"\\b\nUser-agent: \x7f\nUser-agent: é/1\nDisallow: /"\\\n', 5),
            ("User-agent: *\nDisallow: /\nSitemap: https://example.com/s.xml\n", 3),
        ],
    )
    def test_it_passes(self, folder: Path, robots: str, count: int) -> None:
        """With any robots.txt; comments explain how to edit the file."""
        put(folder, robots, "robots.txt")
        ran = run("--init")
        assert (ran.code, ran.out) == (0, "")
        assert ran.err.startswith("robotrules test: 'robots.test.toml' written: ")
        assert (folder / "robots.test.toml").read_text(encoding="utf-8").startswith("# What robots")
        ran = run()
        assert (ran.code, ran.err) == (0, "")
        assert ran.out == f"robots.test.toml: robots.txt: {count} passed\n"

    def test_an_existing_file_is_kept(self, folder: Path) -> None:
        """It is not overwritten."""
        put(folder, BAD)
        ran = run("--init")
        assert (ran.code, ran.out) == (2, "")
        assert ran.err == "robotrules test: 'robots.test.toml' already exists\n"
        assert (folder / "robots.test.toml").read_text(encoding="utf-8") == BAD

    def test_another_folder_and_another_profile(self, folder: Path) -> None:
        """The profile is written down, and names that it refuses are left out."""
        (folder / "sub").mkdir()
        assert "there is no robots.txt in 'sub'" in run("--init", "sub").err
        put(folder, "User-agent: MJ12bot\nUser-agent: GPTBot\nDisallow: /\n", "sub/robots.txt")
        assert run("--init", "sub", "--profile", "strict").code == 0
        text = (folder / "sub" / "robots.test.toml").read_text(encoding="utf-8")
        assert 'profile = "strict"' in text
        assert "MJ12bot" not in text
        assert run("sub").code == 0

    @pytest.mark.parametrize("more", [["--json"], ["--robots", "robots.txt"], ["a", "b"]])
    def test_conflicting_options(self, folder: Path, more: list[str]) -> None:
        """It only writes the file."""
        ran = run("--init", *more)
        assert (ran.code, "--init takes no other options" in ran.err) == (2, True)


class TestForms:
    """Text, JSON and JUnit have the same content."""

    def test_json(self, folder: Path) -> None:
        """One object for each file, on a separate line in a pipe."""
        put(folder, BAD)
        ran = run("robots.test.toml", "robots.test.toml", "--json")
        first, second = (json.loads(line) for line in ran.out.splitlines())
        assert first == second
        assert (first["passed"], first["failed"]) == (1, 2)
        assert [one["passed"] for one in first["questions"]] == [False, True, False]
        assert first["questions"][0]["explanation"]["winner"]["line"] == 2
        assert first["questions"][2]["witness"] == "/private"
        assert ran.err == ""

    def test_junit(self, folder: Path) -> None:
        """A suite for each file, a case for each question, a failure with its explanation."""
        put(folder, BAD)
        ran = run("--junit", "report.xml")
        assert ran.code == 1
        root = ElementTree.parse(folder / "report.xml").getroot()
        assert root.attrib == {
            "name": "robotrules test",
            "tests": "3",
            "failures": "2",
            "errors": "0",
        }
        cases = root.findall("testsuite/testcase")
        assert [case.get("line") for case in cases] == ["2", "2", "3"]
        assert [case.find("failure") is None for case in cases] == [False, True, False]
        failure = cases[0].find("failure")
        assert failure is not None
        assert "Disallow: /private/\n       |           ^^^^^^^^^" in (failure.text or "")

    @pytest.mark.parametrize("target", ["robots.test.toml", "robots.txt", "./robots.txt"])
    def test_a_report_does_not_overwrite_an_input(self, folder: Path, target: str) -> None:
        """Neither the expectations nor the robots.txt, given or found."""
        put(folder, BAD)
        for more in ([], ["robots.test.toml"], ["--robots", "robots.txt"]):
            ran = run("--junit", target, *more)
            assert ran.code == 2
            assert f"--junit '{target}' would overwrite an input file" in ran.err
        assert (folder / "robots.txt").read_text(encoding="utf-8") == ROBOTS
        assert (folder / "robots.test.toml").read_text(encoding="utf-8") == BAD

    def test_junit_of_anything_is_xml(self, folder: Path) -> None:
        """File content is escaped; characters that are invalid in XML are made visible."""
        put(folder, '[[expect]]\nallowed = "/<&>]]>\\u0001\\ufffe\\"\'"\n', "<&\x01>.toml")
        put(folder, "User-agent: *\nDisallow: /<&>\n# \x1b[2J\ufffe", "robots.txt")
        ran = run("<&\x01>.toml", "--junit", "report.xml")
        assert ran.code == 1
        [case] = ElementTree.parse(folder / "report.xml").getroot().iter("testcase")
        assert case.get("file") == "<&\\x01>.toml"
        assert "\x01" not in ran.out
        assert "\ufffe" not in ran.out

    def test_colour_is_for_terminals(self, folder: Path) -> None:
        """A pipe gets plain text."""
        put(folder, BAD)
        assert "\x1b[" not in run().out
        assert "\x1b[31m" in run(terminals=["stdout"]).out


class TestInitOfGroups:
    """Each group gets its own rules, not only '/'."""

    def test_rules_of_a_group(self, folder: Path) -> None:
        """A file that drops a rule of a group fails."""
        text = (
            "User-agent: *\nDisallow: /cart\n\nUser-agent: SemrushBot\nUser-agent: DotBot\n"
            "Disallow: /shoes/\nDisallow: /search\nAllow: /search/about\n\n"
            "User-agent: GPTBot\nDisallow: /\n"
        )
        put(folder, text, "robots.txt")
        assert run("--init").code == 0
        written = (folder / "robots.test.toml").read_text(encoding="utf-8")
        assert (
            'crawlers = ["SemrushBot", "DotBot"]\nobeys = "own"\nallowed = ["/"]\n'
            'all-disallowed = ["/shoes/"]\ndisallowed = ["/search"]\n'
        ) in written
        assert 'crawlers = ["GPTBot"]\nobeys = "own"\nall-disallowed = ["/"]\n' in written
        assert run().code == 0
        for line in ("Disallow: /shoes/\n", "Disallow: /search\n"):
            put(folder, text.replace(line, ""), "robots.txt")
            assert run().code == 1

    def test_a_name_of_several_groups(self, folder: Path) -> None:
        """Rules of a name that stands in two groups do not hold for the other name."""
        text = (
            "User-agent: A\nUser-agent: B\nDisallow: /a\n\nUser-agent: *\nDisallow: /\n\n"
            "User-agent: a\nDisallow: /b\n"
        )
        put(folder, text, "robots.txt")
        assert run("--init").code == 0
        written = (folder / "robots.test.toml").read_text(encoding="utf-8")
        assert written.count("crawlers = ") == 1
        assert run().code == 0


class TestLive:
    """The same expectations for the served files."""

    def test_the_live_file(self, folder: Path) -> None:
        """`--live` and `url` fetch from the origin; `--robots` has precedence over `url`."""
        with site({"/robots.txt": response(ROBOTS)}) as running:
            private = ("--allow-private", "127.0.0.1", "--no-store")
            put(folder, GOOD)
            put(folder, "", "robots.txt")
            assert run().code == 1
            ran = run("--live", f"{running.origin}/x", *private)
            assert (ran.code, ran.err) == (0, "")
            assert ran.out == f"robots.test.toml: {running.origin}/x: 2 passed\n"
            put(folder, f'url = "{running.origin}/robots.txt"\n{GOOD}')
            assert run(*private).code == 0
            assert run("--robots", "robots.txt").code == 1
            assert running.asked == ["/robots.txt", "/robots.txt"]

    def test_a_live_page(self, folder: Path) -> None:
        """Its headers are read for the crawler of the expectation."""
        page = response("<p>x", "Content-Type: text/html", "X-Robots-Tag: noindex")
        with site({"/robots.txt": response(ROBOTS), "/draft": page}) as running:
            put(folder, f'[[expect]]\npage = "{running.origin}/draft"\ntags = "noindex"\n')
            ran = run("--allow-private", "127.0.0.1", "--no-store")
            assert (ran.code, ran.err) == (0, "")
            refused = run("--no-store", "--robots", "robots.txt")
            assert (refused.code, refused.out) == (2, "")
            assert "add --allow-private 127.0.0.1" in refused.err
            assert "the page cannot be read" in refused.err

    def test_missing_files(self, folder: Path) -> None:
        """A missing robots.txt allows, with a hint; an unreachable one is an error."""
        put(folder, GOOD)
        with site({}) as running:
            ran = run("--live", running.origin, "--allow-private", "127.0.0.1", "--no-store")
            assert ran.code == 1
            assert "hint: there is no robots.txt" in ran.err
            refused = run("--live", running.origin, "--no-store")
            assert refused.code == 2
            assert f"{running.origin}: the robots.txt is unreachable" in refused.err
            assert "next try" not in refused.err
            assert "add --allow-private 127.0.0.1" in refused.err
        with site({"/robots.txt": response(status="503 No")}) as running:
            ran = run("--live", running.origin, "--allow-private", "127.0.0.1", "--no-store")
            assert (ran.code, ran.out) == (2, "")
            assert ran.err.count("\n") == 1
            assert "the robots.txt is unreachable" in ran.err

    def test_a_failed_refresh_never_passes(self, folder: Path) -> None:
        """The stored copy would pass, and is not what `--refresh` tests."""
        put(folder, GOOD)
        options = ("--store", str(folder / "store.sqlite"), "--allow-private", "127.0.0.1")
        with site({"/robots.txt": response(ROBOTS)}) as running:
            live = ("--live", running.origin)
            assert run(*live, "--refresh", *options).err == ""
            ran = run(*live, *options)
            assert ran.code == 0
            assert ran.err.startswith(
                f"robotrules test: hint: {running.origin}: the robots.txt was fetched "
            )
            assert ran.err.endswith(" UTC; use --refresh to fetch it now\n")
            refused = run(*live, "--refresh", *options[:2])
            assert (refused.code, refused.out) == (2, "")
            assert "add --allow-private 127.0.0.1" in refused.err
            running.answers = {"/robots.txt": response(status="503 No")}
            ran = run(*live, "--refresh", *options, "--junit", "report.xml")
            assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
            assert ": status 503; the copy fetched " in ran.err
            assert ran.err.endswith(" UTC was not tested\n")
            assert 'errors="1"' in (folder / "report.xml").read_text()
            kept = run(*live, *options)
            assert kept.code == 0
            assert ": warning: " in kept.err
            assert ": status 503; the copy fetched " in kept.err
        ran = run(*live, "--refresh", *options)  # the server is off
        assert (ran.code, ran.out) == (2, "")
        assert "was not tested" in ran.err

    def test_options_of_a_client_without_a_client(self, folder: Path) -> None:
        """A hint reports that they have no effect."""
        put(folder, GOOD)
        ran = run("--refresh")
        assert ran.code == 0
        assert "nothing is fetched when files are passed, so --refresh has no effect" in ran.err
