"""`robotrules lint FOLDER` and baselines on disk: what is found, known, stale and refused."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from robotrules.cli import folder_search
from robotrules.cli.folder_search import Exclusion
from robotrules.json_results.schemas import load_schema
from tests.cli.schema import problems
from tests.cli.shell import Ran, robotrules

BODY = b"User-agent: *\nDisallow: private/\nDisallow: /shop*\nAllow: /shop\n"
SELECT = ("--select", "pattern-start,dead-rule")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder for the command, with no settings in its parents."""
    (tmp_path / "robotrules.toml").write_text("[lint]\n")
    inner = tmp_path / "site"
    inner.mkdir()
    monkeypatch.chdir(inner)
    return inner


def put(*names: str, body: bytes = BODY) -> None:
    """Write a file with an error and a warning at each name."""
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(body)


def lint(*arguments: str, **how: Any) -> Ran:
    """Run the command with two checks."""
    return robotrules("lint", *arguments, *SELECT, **how)


def files(ran: Ran) -> list[str]:
    """Return the files of a run with `--json`."""
    return [one["file"] for one in json.loads(ran.out)["files"]]


class TestFolders:
    """Files named robots.txt or *.robots.txt, below any folder that belongs to a site."""

    def test_what_is_found(self) -> None:
        """In order, in all folders but hidden ones and those of packages."""
        put("b/robots.txt", "a/deep/er/robots.txt", "robots.txt", "a/example.com.robots.txt")
        put(".git/robots.txt", ".cache/x/robots.txt", "node_modules/p/robots.txt")
        put("robots.txt.bak", "a/my-robots.txt", "a/Robots.txt", "__pycache__/robots.txt")
        found = files(lint(".", "--json"))
        assert found == [
            "robots.txt",
            "a/example.com.robots.txt",
            "a/deep/er/robots.txt",
            "b/robots.txt",
        ]

    def test_a_named_folder_is_searched_even_if_it_is_hidden(self) -> None:
        """Only folders below it are skipped."""
        put(".well-known/robots.txt", ".well-known/.x/robots.txt")
        assert files(lint(".well-known", "--json")) == [".well-known/robots.txt"]

    def test_a_file_is_linted_once(self) -> None:
        """Overlapping arguments are one."""
        put("a/robots.txt")
        assert files(lint("a/robots.txt", "a", ".", "--json")) == ["a/robots.txt"]

    def test_loops_of_links_end(self, folder: Path) -> None:
        """Links to folders are not followed; a link to a file is a file."""
        put("a/robots.txt")
        (folder / "a/loop").symlink_to(folder)
        (folder / "a/b").mkdir()
        (folder / "a/b/robots.txt").symlink_to(folder / "a/robots.txt")
        (folder / "gone.robots.txt").symlink_to("nowhere")
        assert files(lint(".", "--json")) == ["a/robots.txt", "a/b/robots.txt"]

    def test_a_folder_that_cannot_be_read(self) -> None:
        """Is reported, and the others are linted; the exit code is 2."""
        put("a/robots.txt", "b/robots.txt")
        scan = os.scandir

        def refuse(path: str) -> Any:
            """Refuse one folder."""
            if os.path.basename(path) == "a":
                raise PermissionError(13, "Permission denied")
            return scan(path)

        with mock.patch.object(os, "scandir", refuse):
            ran = lint(".", "--format", "concise")
        assert ran.code == 2
        assert "cannot read the folder './a': Permission denied; change its mode" in ran.err
        assert "b/robots.txt:2:11: error RR505" in ran.out

    def test_limits(self) -> None:
        """Of files and of folders, in one line."""
        put("a/robots.txt", "b/robots.txt")
        for name, words in (("MOST_FILES", "more than 1 files"), ("MOST_FOLDERS", "more than 1 ")):
            with mock.patch.object(folder_search, name, 1):
                ran = lint(".")
            assert (ran.code, ran.err.count("\n")) == (2, 1)
            assert words in ran.err

    @pytest.mark.parametrize(
        ("pattern", "found"),
        [
            ("drafts", ["a/robots.txt"]),
            ("drafts/", ["a/robots.txt"]),
            ("a/*", ["drafts/robots.txt"]),
            ("*.txt", []),
            ("r*.old", ["a/robots.txt", "drafts/robots.txt"]),
        ],
    )
    def test_exclude(self, pattern: str, found: list[str], tmp_path: Path) -> None:
        """A name, or a path if there is a slash; as an option and as a setting."""
        put("a/robots.txt", "drafts/robots.txt")
        ran = lint(".", "--exclude", pattern, "--json")
        assert files(ran) == (found or ["."])
        Path("robotrules.toml").write_text(f"[lint]\nexclude = ['{pattern}']\n")
        assert files(lint(".", "--json")) == (found or ["."])
        # Paths in settings are relative to the settings.
        Path("robotrules.toml").unlink()
        (tmp_path / "robotrules.toml").write_text("[lint]\nexclude = ['site/drafts/*']\n")
        assert files(lint(".", "--json")) == ["a/robots.txt"]

    def test_excluded_paths(self) -> None:
        """A file is excluded with the folder that it is in."""
        assert Exclusion(("b",)).covers("a/b/robots.txt")
        assert not Exclusion(("b",)).matches("a/b/robots.txt")
        assert Exclusion(("b",)).matches("a/b")
        assert Exclusion(("a/*",)).covers("a/b/robots.txt")
        assert Exclusion(("b/*",), "a").covers("a/b/robots.txt")
        assert not Exclusion(("c", "b/*")).covers("a/b/robots.txt")
        assert not Exclusion(("b/*",), "c").covers("a/b/robots.txt")
        assert not Exclusion().covers("a")

    def test_odd_names(self, folder: Path) -> None:
        """Names are bytes; control characters do not reach the terminal."""
        odd = os.fsencode(folder) + b"/\xff\x1b[31m\n"
        os.mkdir(odd)
        Path(os.fsdecode(odd + b"/robots.txt")).write_bytes(BODY)
        ran = lint(".", "--format", "concise")
        assert ran.code == 1
        assert "\x1b" not in ran.out
        assert ran.out.startswith("\\xff\\x1b[31m\\x0a/robots.txt:2:11: error")

    def test_many_folders(self) -> None:
        """A thousand files in a thousand folders take a few seconds, with a bar on a terminal."""
        put(*(f"{number // 40}/{number}/robots.txt" for number in range(1_000)))
        started = time.process_time()
        ran = lint(".", "--statistics")
        assert ran.out.split()[0] == "1,000"
        # Processor time; usually less than a second.
        assert time.process_time() - started < 15


class TestBaseline:
    """Old notes are let be, new ones are told."""

    def test_the_life_of_a_baseline(self) -> None:
        """Written, used with moved lines and a new note, told of what is gone, written again."""
        put("a/robots.txt", "b/robots.txt")
        ran = lint(".", "--write-baseline", "known.json")
        assert (ran.code, ran.out) == (0, "")
        assert ran.err == "robotrules lint: 'known.json' written: 4 notes in 2 files\n"
        ran = lint(".", "--baseline", "known.json")
        assert (ran.code, ran.err) == (0, "")
        assert ran.out == "No new notes in 2 files; 4 more in the baseline.\n"
        put("a/robots.txt", body=b"# moved\n" + BODY.replace(b"Allow", b"Disallow: new/\nAllow"))
        put("b/robots.txt", body=BODY.replace(b"Allow: /shop\n", b""))
        ran = lint(".", "--baseline", "known.json", "--format", "concise")
        assert ran.code == 1
        assert ran.out.startswith("a/robots.txt:5:11: error RR505")
        assert ran.out.splitlines()[1] == "1 error in 2 files; 3 more in the baseline."
        hint = "'known.json' has 1 note that is gone: --write-baseline removes them"
        assert ran.err == f"robotrules lint: hint: {hint}\n"
        ran = lint(".", "--write-baseline", "known.json")
        assert ran.err.endswith("written: 4 notes in 2 files, 4 before\n")
        assert lint(".", "--baseline", "known.json").err == ""

    def test_entries_of_files_that_are_gone_are_stale(self) -> None:
        """They are told, and removed; those of files that were not linted are kept."""
        put("a/robots.txt", "b/robots.txt", "c/robots.txt")
        lint(".", "--write-baseline", "known.json")
        Path("b/robots.txt").unlink()
        assert "has 2 notes that are gone" in lint("a", "--baseline", "known.json").err
        assert lint("a", "--write-baseline", "known.json").code == 0
        assert set(json.loads(Path("known.json").read_bytes())["files"]) == {
            "a/robots.txt",
            "c/robots.txt",
        }

    def test_names_are_relative_to_the_baseline(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """So the current folder does not matter."""
        put("a/robots.txt")
        lint("a", "--write-baseline", "known.json")
        monkeypatch.chdir("a")
        assert lint("robots.txt", "--baseline", "../known.json").code == 0

    def test_a_setting(self) -> None:
        """`baseline` in the settings is relative to them; `--no-baseline` tells everything."""
        put("a/robots.txt", "robots.txt")
        lint(".", "--write-baseline", "known.json")
        Path("robotrules.toml").write_text('[lint]\nbaseline = "known.json"\n')
        assert lint("a/robots.txt").code == 0
        assert lint().code == 0
        assert lint("--no-baseline").code == 1
        assert lint("--no-config").code == 1
        Path("known.json").unlink()
        ran = lint()
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert "there is no baseline 'known.json': write it with --write-baseline" in ran.err

    def test_levels_and_selections(self) -> None:
        """Known notes do not fail; entries that a run does not look for are not stale."""
        put("robots.txt")
        lint("--write-baseline", "known.json")
        ran = robotrules("lint", "--baseline", "known.json", "--select", "RR505")
        assert (ran.code, ran.err) == (0, "")
        ran = lint("--baseline", "known.json", "--min-level", "error", "--fail-on", "info")
        assert (ran.code, ran.err) == (0, "")

    def test_json(self) -> None:
        """Known notes and stale entries are there, and do not count; the schema knows them."""
        put("robots.txt")
        lint("--write-baseline", "known.json")
        put("robots.txt", body=BODY.replace(b"Allow: /shop\n", b"Disallow: new/\n"))
        value = json.loads(lint("--baseline", "known.json", "--json").out)
        assert list(problems(value, load_schema("lint"))) == []
        [one] = value["files"]
        assert value["counts"] == one["counts"] == {"error": 1, "warning": 0, "info": 0}
        assert [note["line"] for note in one["notes"]] == [4]
        assert [note["line"] for note in one["baseline"]["known"]] == [2]
        assert [entry["text"] for entry in one["baseline"]["stale"]] == ["Allow: /shop"]
        assert json.loads(lint("--json").out)["files"][0]["baseline"] is None

    def test_sarif(self) -> None:
        """All notes are there, each with its state; without a baseline there is none."""
        put("robots.txt")
        lint("--write-baseline", "known.json")
        put("robots.txt", body=b"User-agent: *\nDisallow: new/\n" + BODY)
        ran = lint("--baseline", "known.json", "--format", "sarif")
        [run] = json.loads(ran.out)["runs"]
        states = [(one["ruleId"], one["baselineState"]) for one in run["results"]]
        assert ("RR505", "new") in states
        assert ("RR505", "unchanged") in states
        assert "hides 2 known notes" in ran.err
        [run] = json.loads(lint("--format", "sarif").out)["runs"]
        assert all("baselineState" not in one for one in run["results"])

    def test_statistics(self) -> None:
        """Count new notes only."""
        put("robots.txt")
        lint("--write-baseline", "known.json")
        assert lint("--baseline", "known.json", "--statistics").out == ""

    @pytest.mark.parametrize("option", ["--fix", "--unsafe-fixes", "--diff"])
    def test_fixes_let_known_notes_be(self, option: str) -> None:
        """Only what is new is corrected; `--no-baseline` corrects everything."""
        put("robots.txt")
        lint("--write-baseline", "known.json")
        new = BODY + b"Disallow: new/\n"
        put("robots.txt", body=new)
        ran = lint("--baseline", "known.json", "--unsafe-fixes", option)
        fixed = new.replace(b"new/", b"/new/")
        if option == "--diff":
            assert "-Disallow: new/" in ran.out
            assert "-Disallow: private/" not in ran.out
        else:
            assert Path("robots.txt").read_bytes() == fixed
            assert ran.out == "No new notes in 1 file; 2 more in the baseline.\n"
            assert "gone" not in ran.err
            lint("--no-baseline", "--unsafe-fixes")
            assert b" /private/" in Path("robots.txt").read_bytes()

    def test_pages_and_streams(self) -> None:
        """Anything that is linted can be in it."""
        Path("page.html").write_text('<meta name="robots" content="noindex, index">')
        arguments = ("lint", "page.html", "-", "--select", "RR8,RR505")
        ran = robotrules(*arguments, "--write-baseline", "known.json", stdin=BODY)
        assert ran.code == 0
        assert set(json.loads(Path("known.json").read_bytes())["files"]) == {"page.html", "stdin"}
        assert robotrules(*arguments, "--baseline", "known.json", stdin=BODY).code == 0
        put("robots.txt")
        lint("--write-baseline", "known.json")
        assert "stdin" in json.loads(Path("known.json").read_bytes())["files"]

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["--baseline", "a", "--no-baseline"], "--baseline and --no-baseline cannot be"),
            (["--baseline", "a", "--write-baseline", "b"], "cannot be combined"),
            (["--write-baseline", "b", "--fix"], "--write-baseline cannot be combined with --fix"),
            (["--write-baseline", "b", "-o", "c"], "cannot be combined"),
            (["--baseline", "-"], "a baseline is a file: pass its name instead of '-'"),
            (["--baseline", "none.json"], "there is no baseline 'none.json'"),
            (["--baseline", "robots.txt"], "'robots.txt' is not a baseline: it is not JSON"),
            (["--baseline", "."], "it is a directory"),
            (["--write-baseline", "robots.txt"], "would overwrite an input file"),
            (["--write-baseline", "none/b.json"], "cannot write 'none/b.json'"),
            (["--write-baseline", "other.txt"], "is not JSON; pass another name"),
        ],
    )
    def test_misuse(self, arguments: list[str], words: str) -> None:
        """One line, exit 2, and no file is overwritten."""
        put("robots.txt", "other.txt")
        ran = lint(*arguments)
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert words in ran.err
        assert Path("robots.txt").read_bytes() == Path("other.txt").read_bytes() == BODY

    def test_a_file_that_cannot_be_read_keeps_its_entries(self) -> None:
        """The others are written, and the exit code is 2; with no file, nothing is written."""
        put("a.txt", "b.txt")
        lint("a.txt", "b.txt", "--write-baseline", "known.json")
        put("a.txt", body=b"\0" * 100)
        put("b.txt", body=b"User-agent: *\n")
        ran = lint("a.txt", "b.txt", "--write-baseline", "known.json")
        assert ran.code == 2
        assert ran.err.endswith("'known.json' written: 2 notes in 1 file, 4 before\n")
        assert set(json.loads(Path("known.json").read_bytes())["files"]) == {"a.txt"}
        ran = lint("a.txt", "none.txt", "--write-baseline", "other.json")
        assert (ran.code, Path("other.json").exists()) == (2, False)
