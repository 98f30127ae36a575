"""`robotrules lint`: reading, fixing and writing files; the transcript shows the output."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock
from xml.etree import ElementTree

import pytest

import robotrules as library
from robotrules.analysis import compare
from robotrules.cli import progress
from robotrules.cli.input_files import refuse_binary
from robotrules.cli.lint import FORMS
from robotrules.cli.lint_text import MOST_NOTES, LintPage
from robotrules.cli.text import Paint
from robotrules.config import FORMATS
from robotrules.linting import Edit, Fix, FixResult, LintNote, Related, ServedResponse
from robotrules.linting.check import Check
from robotrules.linting.render import LintedFile
from tests.cli.shell import Ran, modules_loaded_by, robotrules
from tests.cli.sites import Site, response, site
from tests.lint.rendered import BODY, HOSTILE, hostile_file, large_file, note

CLEAN = b"User-agent: *\nDisallow: /private/\n"
SELECT = ("--select", "pattern-start,dead-rule")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder for the command, with no settings in its parents."""
    (tmp_path / "robotrules.toml").write_text("[lint]\n")
    inner = tmp_path / "site"
    inner.mkdir()
    monkeypatch.chdir(inner)
    return inner


@pytest.fixture
def file(folder: Path) -> Path:
    """A file with an error and a warning."""
    path = folder / "robots.txt"
    path.write_bytes(BODY)
    return path


def lint(*arguments: str | Path, select: tuple[str, ...] = SELECT, **how: Any) -> Ran:
    """Run the command with two checks."""
    return robotrules("lint", *map(str, arguments), *select, **how)


def slugs(ran: Ran) -> list[str]:
    """Return the notes of all files of a run with `--json`."""
    return [note["slug"] for one in json.loads(ran.out)["files"] for note in one["notes"]]


class TestExitCodes:
    """0 clean, 1 notes, 2 usage or I/O."""

    @pytest.mark.parametrize("name", ["", ",", " , "])
    def test_no_check_is_selected(self, file: Path, name: str) -> None:
        """An empty script variable must select neither all checks nor none."""
        ran = lint(file, select=("--select", name))
        assert ran.code == 2
        assert "--select is empty" in ran.err

    @pytest.mark.parametrize(
        ("name", "hint"),
        [
            ("example.com", True),
            ("www.example.co.uk/a/robots.txt", True),
            ("example.com:8080", True),
            ("robots-old.txt", False),
            ("public/robots.txt", False),
            ("example.com.html", False),
        ],
    )
    def test_a_host_without_its_scheme(self, name: str, hint: bool) -> None:
        """It is not a file, and the error suggests the URL."""
        ran = lint(name)
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert (f"did you mean https://{name}?" in ran.err) is hint

    @pytest.mark.parametrize(
        ("options", "code"),
        [
            ([], 1),
            (["--fail-on", "error"], 1),
            (["--fail-on", "never"], 0),
            (["--exit-zero"], 0),
            (["--ignore", "RR505"], 1),
            (["--ignore", "RR505", "--fail-on", "error"], 0),
            (["--min-level", "error"], 1),
            (["--min-level", "error", "--ignore", "RR505"], 0),
        ],
    )
    def test_notes(self, file: Path, options: list[str], code: int) -> None:
        """As bad as `--fail-on`, and not hidden by `--min-level`."""
        ran = lint(file, *options)
        assert (ran.code, ran.err) == (code, "")

    def test_info_does_not_fail(self, file: Path) -> None:
        """Unless `--fail-on` requests it."""
        file.write_bytes(b"\xef\xbb\xbf" + CLEAN)
        assert lint(file, select=("--select", "bom")).code == 0
        assert lint(file, "--fail-on", "info", select=("--select", "bom")).code == 1

    def test_clean(self, file: Path) -> None:
        """A message reports it."""
        file.write_bytes(CLEAN)
        assert lint(file) == Ran(0, "No notes in 1 file.\n", "")

    def test_errors_outrank_notes(self, file: Path) -> None:
        """`--exit-zero` applies to notes only."""
        ran = lint(file, "missing.txt", "--exit-zero")
        assert ran.code == 2
        assert "RR505" in ran.out


class TestGiven:
    """The inputs that are linted."""

    def test_the_usual_file(self, file: Path) -> None:
        """Without a name, robots.txt of this folder."""
        assert lint().out == lint(file).out
        assert "robots.txt:2:11: error" in lint().out

    def test_no_usual_file(self) -> None:
        """Then a name is needed."""
        ran = lint()
        assert ran.code == 2
        assert "there is no robots.txt in this directory: pass a file" in ran.err
        assert ran.err.count("\n") == 1

    def test_stdin(self) -> None:
        """Is called so."""
        ran = lint("-", stdin=BODY)
        assert ran.code == 1
        assert ran.out.startswith("stdin:2:11: error RR505")

    @pytest.mark.parametrize("name", ["page.html", "PAGE.HTM"])
    def test_a_page(self, folder: Path, name: str) -> None:
        """Its tags are linted, and it is not read as a robots.txt."""
        (folder / name).write_text("<meta name=robots content=noindex>Disallow: private/")
        ran = lint(name, "--json", select=())
        assert "pattern-start" not in slugs(ran)
        assert "looks-like-html" not in slugs(ran)

    def test_notes_about_a_page_have_a_part(self, folder: Path) -> None:
        """They name the element."""

        def found(*_: object, **given: object) -> list[LintNote]:
            """Find one thing."""
            assert given["html"] == b"<p>"
            return [note(line=None, column=0, end_column=0, part="meta element 2")]

        (folder / "page.html").write_text("<p>")
        with mock.patch("robotrules.cli.lint_inputs.lint_page", found):
            ran = lint("page.html")
        assert ran.out.startswith("page.html: meta element 2: error RR505 pattern-start: A mess")

    def test_a_name_with_a_line_end(self, folder: Path) -> None:
        """It cannot forge an output line."""
        name = "a\n::error::\x1b[31m.txt"
        (folder / name).write_bytes(BODY)
        ran = lint(name)
        assert ran.out.startswith("a\\x0a::error::\\x1b[31m.txt:2:11: error RR505")
        for line in lint(name, "--format", "github").out.splitlines():
            assert line.startswith(("::error file=a%0A%3A%3Aerror", "::warning file=a%0A%3A%3Aerr"))
        assert json.loads(lint(name, "--json").out)["files"][0]["file"] == name

    def test_names_are_from_this_folder(self, folder: Path, tmp_path: Path) -> None:
        """Files elsewhere are shown with their absolute path."""
        (folder / "a").mkdir()
        for path in (folder / "a" / "robots.txt", tmp_path / "robots.txt"):
            path.write_bytes(BODY)
        ran = lint(folder / "a" / ".." / "a" / "robots.txt", tmp_path / "robots.txt", "--json")
        names = [one["file"] for one in json.loads(ran.out)["files"]]
        assert names == ["a/robots.txt", str(tmp_path / "robots.txt")]

    def test_where_it_will_be(self, file: Path) -> None:
        """Checks that need a URL get that of the robots.txt."""
        with mock.patch("robotrules.json_results.lint.lint", return_value=[]) as found:
            lint(file, "--url", "https://example.com/shop/")
        assert found.call_args.kwargs["received"] == ServedResponse(
            url="https://example.com/robots.txt"
        )
        ran = lint(file, "--url", "example.com")
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert "has no origin: pass an http or https URL" in ran.err

    def test_profile_and_budget(self, file: Path) -> None:
        """They are handed on."""
        with mock.patch("robotrules.json_results.lint.lint", return_value=[]) as found:
            lint(file, "--profile", "google", "--max-states", "7")
        assert found.call_args.args[0].profile.name == "google"
        assert found.call_args.kwargs["max_states"] == 7


class TestBadInput:
    """One clear line each, exit 2, and the others are linted."""

    def refused(self, name: str | Path, words: str, file: Path) -> None:
        """Lint something that cannot be, and a file after it."""
        ran = lint(name, file)
        assert ran.code == 2
        assert words in ran.err
        assert ran.err.count("\n") == 1
        assert "robots.txt:2:11: error RR505" in ran.out

    def test_a_missing_file(self, file: Path) -> None:
        """Check the name."""
        self.refused("nothing.txt", "'nothing.txt': no such file", file)
        self.refused("nothing.html", "'nothing.html': no such file", file)

    def test_a_folder(self, file: Path, folder: Path) -> None:
        """It is searched; without a robots.txt it is an error."""
        (folder / "empty").mkdir()
        words = "there is no robots.txt or *.robots.txt in 'empty' or below"
        self.refused("empty", words, file)

    @pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
    def test_no_right_to_read(self, file: Path, folder: Path) -> None:
        """Change its mode."""
        (folder / "mine").touch(0)
        self.refused("mine", "'mine': this account may not read it", file)

    @pytest.mark.parametrize(
        "octets",
        [
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)),
            b"\x7fELF\2\1\1" + b"\0" * 9,
            bytes(range(256)) * 400,
            "Disallow: /".encode("utf-16-le"),
            b"\0\0\0 and some words",
        ],
    )
    def test_a_binary_file(self, file: Path, folder: Path, octets: bytes) -> None:
        """It is reported as binary, with any file name."""
        for name in ("picture", "picture.html"):
            (folder / name).write_bytes(octets)
            self.refused(name, f"'{name}' is binary: ", file)

    @pytest.mark.parametrize(
        "octets",
        [
            b"",
            BODY,
            b"Hello\0\0",
            "Hello é".encode("utf-16"),
            "Hello é".encode("latin-1"),
            b"\x1b[0m" * 9,
            "Запрет: /".encode("cp1251"),
            b"# Hello\n" + BODY + b"\0" * 1000,
        ],
    )
    def test_text_is_not_binary(self, octets: bytes) -> None:
        """Nor are files with a few NULs, with a UTF-16 mark, or with the start of a robots.txt."""
        refuse_binary(octets, "x")

    def test_broken_settings(self, file: Path, folder: Path) -> None:
        """One error for all files below them; other files are linted."""
        broken = folder / "broken"
        broken.mkdir()
        (broken / "robotrules.toml").write_text("[lint\n")
        for name in ("a", "b"):
            (broken / name).write_bytes(BODY)
        ran = lint(broken / "a", broken / "b", file)
        assert ran.code == 2
        assert "robotrules.toml" in ran.err
        assert ran.err.count("\n") == 1
        assert ran.out.count("RR505 pattern-start") == 1

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (["--select", "RR5011"], "--select names 'RR5011', which is not a check: did you mean"),
            (
                ["--ignore", "dead-rul"],
                "--ignore names 'dead-rul', which is not a check: did you m",
            ),
            (["--json", "--format", "sarif"], "cannot be combined; see robotrules lint"),
            (["--diff", "--json"], "--diff cannot be combined with"),
            (["--statistics", "--format", "junit"], "--statistics does not support --format junit"),
            (["--config", "x.toml", "--no-config"], "cannot be combined"),
            (["--config", "x.toml"], "x.toml: no such file; check the name"),
            (["-", "-"], "pass '-' once"),
            (["-", "--fix"], "stdin cannot be fixed in place"),
            (["https://example.com/", "--fix"], "cannot be fixed"),
            (["--format", "xml"], "'xml' is not one of"),
        ],
    )
    def test_options(self, file: Path, options: list[str], words: str) -> None:
        """Invalid combinations are refused before any file is read."""
        ran = robotrules("lint", str(file), *options)
        assert (ran.code, ran.out) == (2, "")
        assert words in ran.err
        assert ran.err.count("\n") == 1


class TestSettings:
    """The command line first, then the nearest file."""

    def settings(self, folder: Path, text: str) -> None:
        """Write the settings of the folder."""
        (folder / "robotrules.toml").write_text(text)

    def test_of_the_file(self, file: Path, folder: Path) -> None:
        """Each is used."""
        self.settings(folder, '[lint]\nselect = ["RR505"]\nfail-on = "warning"\n')
        assert slugs(lint(file, "--json", select=())) == ["pattern-start"]
        self.settings(folder, '[lint]\nselect = ["RR501"]\nfail-on = "error"\n')
        assert lint(file, select=()).code == 0
        self.settings(folder, '[lint]\nselect = ["RR501", "RR505"]\nignore = ["RR505"]\n')
        assert slugs(lint(file, "--json", select=())) == ["dead-rule"]

    def test_the_command_line_wins(self, file: Path, folder: Path) -> None:
        """An option takes the place of its setting."""
        self.settings(folder, '[lint]\nselect = ["RR505"]\nignore = ["RR501"]\nfail-on = "error"\n')
        ran = lint(file, "--json", "--ignore", "RR505")
        assert (ran.code, slugs(ran)) == (0, ["dead-rule"])
        ran = lint(file, "--json", "--ignore", "RR505", "--fail-on", "warning")
        assert ran.code == 1

    def test_by_file(self, file: Path, folder: Path) -> None:
        """Settings may exclude checks for some files, regardless of other options."""
        (folder / "old.txt").write_bytes(BODY)
        self.settings(folder, '[lint]\nper-file-ignores = { "old*" = ["RR505"] }\n')
        ran = lint(file, "old.txt", "--json")
        assert slugs(ran) == ["pattern-start", "dead-rule", "dead-rule"]

    def test_another_file_or_none(self, file: Path, folder: Path) -> None:
        """`--config` names it, `--no-config` looks for none."""
        self.settings(folder, '[lint]\nselect = ["RR505"]\n')
        (folder / "other.toml").write_text('[lint]\nselect = ["RR501"]\n')
        assert slugs(lint(file, "--json", "--config", "other.toml", select=())) == ["dead-rule"]
        everything = slugs(lint(file, "--json", "--no-config", select=()))
        assert {"dead-rule", "pattern-start"} <= set(everything)

    def test_an_unknown_check(self, file: Path, folder: Path) -> None:
        """The error names the file that contains it."""
        self.settings(folder, '[lint]\nignore = ["RR000"]\n')
        ran = lint(file, select=())
        assert ran.code == 2
        words = "robotrules.toml, line 2: lint.ignore[1]: this names 'RR000', which is not a check"
        assert ran.err.startswith(f"robotrules lint: {words}")

    def test_an_unknown_check_for_some_files(self, file: Path, folder: Path) -> None:
        """It is an error for any linted file, and the message names its place."""
        self.settings(folder, '[lint.per-file-ignores]\n"old/*" = [\n"RR5",\n"dead-rul"]\n')
        ran = lint(file, select=())
        assert ran.code == 2
        words = (
            """robotrules.toml, line 4: lint.per-file-ignores."old/*"[2]: this names 'dead-rul'"""
        )
        assert ran.err.startswith(f"robotrules lint: {words}")

    def test_the_level(self, file: Path, folder: Path) -> None:
        """Notes below it do not count; an option overrides it."""
        self.settings(folder, '[lint]\nselect = ["RR501", "RR505"]\nmin-level = "error"\n')
        assert slugs(lint(file, "--json", select=())) == ["pattern-start"]
        ran = lint(file, "--json", "--min-level", "info", select=())
        assert slugs(ran) == ["pattern-start", "dead-rule"]

    def test_the_level_is_that_of_each_file(self, file: Path, folder: Path) -> None:
        """Settings of one folder do not apply to another."""
        (folder / "loud").mkdir()
        (folder / "loud" / "robots.txt").write_bytes(BODY)
        (folder / "loud" / "robotrules.toml").write_text('[lint]\nselect = ["RR501"]\n')
        self.settings(folder, '[lint]\nselect = ["RR501"]\nmin-level = "error"\n')
        ran = lint(file, "loud/robots.txt", file, "--json", select=())
        assert [len(one["notes"]) for one in json.loads(ran.out)["files"]] == [0, 1, 0]

    def test_the_form(self, file: Path, folder: Path) -> None:
        """That of the folder one is in; options have forms of their own."""
        self.settings(folder, '[lint]\nselect = ["RR505"]\nformat = "github"\n')
        assert lint(file, select=()).out.startswith("::error file=")
        assert lint(file, "--format", "text", select=()).out.startswith("robots.txt:")
        assert slugs(lint(file, "--json", select=())) == ["pattern-start"]
        assert lint(file, "--diff", "--unsafe-fixes", select=()).out.startswith("---")
        assert "RR505" in lint(file, "--statistics", select=()).out
        assert FORMS == FORMATS

    def test_the_url(self, file: Path, folder: Path) -> None:
        """Where the file will be, for checks that need it; an option takes its place."""
        file.write_bytes(b"User-agent: *\nDisallow: /a\nSitemap: https://other.example/s.xml\n")
        only = ("--json", "--select", "sitemap-elsewhere")
        assert slugs(lint(file, *only, select=())) == []
        self.settings(folder, '[lint]\nurl = "https://example.com/"\n')
        assert slugs(lint(file, *only, select=())) == ["sitemap-elsewhere"]
        ran = lint(file, *only, "--url", "https://other.example/", select=())
        assert slugs(ran) == []
        self.settings(folder, '[lint]\nurl = "https://"\n')
        assert "lint.url has no origin" in lint(file, *only, select=()).err


class FixOfCase(Check):
    """
    What it finds:
        A record in lower case, so that there is a fix that has no effect.

    Why it matters:
        Tests need one.

    Example:
            disallow: /

    Instead:
            Disallow: /
    """

    code, slug, level, message, reference = "RR999", "lower-case", "warning", "It is.", "none"

    def check(self, subject: Any) -> Iterator[LintNote]:
        """Yield a fix for the first letter of each such record; `x:` it would change."""
        body = subject.robots.body
        for record in subject.robots.records:
            letter = body[record.key_start : record.key_start + 1]
            if letter.islower():
                edit = Edit(record.key_start, record.key_start + 1, letter.upper())
                yield self.about_key(subject, record, fix=Fix("Write it large", (edit,)))


@pytest.fixture
def lower_case() -> Iterator[None]:
    """An additional check with a fix that has no effect on verdicts."""
    check = FixOfCase()
    with mock.patch("robotrules.linting.selection.CHECKS", (check,)):
        yield


class TestFixing:
    """In place, in one piece, and proved."""

    def test_verdicts_stay(self, file: Path) -> None:
        """A fix that changes verdicts is for `--unsafe-fixes`."""
        ran = lint(file, "--fix")
        assert (ran.code, file.read_bytes()) == (1, BODY)
        assert "--unsafe-fixes applies 1 fix that changes verdicts or" in ran.out

    @pytest.mark.usefixtures("lower_case")
    def test_a_fix_without_effect(self, file: Path, folder: Path) -> None:
        """It is written, and the result is linted."""
        file.write_bytes(b"user-agent: *\r\ndisallow: /x # note\r\n")
        before = library.parse(file.read_bytes())
        ran = lint(file, "--fix", "--json", select=("--select", "lower-case"))
        assert file.read_bytes() == b"User-agent: *\r\nDisallow: /x # note\r\n"
        assert compare(before, library.parse(file.read_bytes())).equal is True
        [one] = json.loads(ran.out)["files"]
        assert (ran.code, one["notes"]) == (0, [])
        assert [fixed["line"] for fixed in one["fixed"]] == [1, 2]
        assert "written: 2 fixes, proved to change no verdict" in ran.err
        assert [path.name for path in folder.iterdir()] == ["robots.txt"]

    def test_verdicts_change(self, file: Path) -> None:
        """The output reports it, with a URL."""
        ran = lint(file, "--unsafe-fixes")
        assert file.read_bytes() == BODY.replace(b"private/", b"/private/")
        assert "robots.txt' written: 1 fix; these verdicts changed:" in ran.err
        assert "/private/ was allowed and is disallowed, for all crawlers" in ran.err
        assert "RR505" not in ran.out
        assert ran.code == 1  # the warning is left

    def test_one_that_is_ignored_stays(self, file: Path) -> None:
        """A comment or an option that leaves a note out leaves its fix out."""
        lint(file, "--unsafe-fixes", "--ignore", "RR505")
        assert file.read_bytes() == BODY
        kept = BODY.replace(b"private/", b"private/ # robotrules: ignore[RR505]")
        file.write_bytes(kept)
        lint(file, "--unsafe-fixes")
        assert file.read_bytes() == kept

    @pytest.mark.usefixtures("lower_case")
    def test_one_that_is_below_the_level_stays(self, file: Path) -> None:
        """Notes that are not shown are not fixed."""
        file.write_bytes(b"user-agent: *\ndisallow: /x\n")
        ran = lint(file, "--fix", "--min-level", "error", select=("--select", "lower-case"))
        assert (ran.code, ran.err) == (0, "")
        assert file.read_bytes() == b"user-agent: *\ndisallow: /x\n"

    @pytest.mark.usefixtures("lower_case")
    def test_rounds_end(self, file: Path) -> None:
        """An endless sequence of fixes stops."""

        def swapped(_: object, subject: Any) -> Iterator[LintNote]:
            """Yield a fix that the next round undoes."""
            letter = subject.robots.body[:1]
            fix = Fix("Swap it", (Edit(0, 1, letter.swapcase()),))
            yield note(start=0, end=1, fix=fix)

        with mock.patch.object(FixOfCase, "check", swapped):
            ran = lint(file, "--fix", select=("--select", "lower-case"))
        assert ran.code == 1
        assert file.read_bytes() == BODY  # ten swaps are none

    def test_utf_16_is_saved_as_utf_8(self, file: Path) -> None:
        """The advertised fix runs and reports changed verdicts; other files are processed."""
        octets = "User-agent: *\nDisallow: a\nDisallow : /b\n".encode("utf-16")
        file.write_bytes(octets)
        checks = ("--select", "RR103,RR505,RR208")
        assert "fix: Save it as UTF-8 (--unsafe-fixes)" in lint(file, *checks, select=()).out
        ran = lint(file, *checks, "--unsafe-fixes", "--diff", select=())
        assert ran.out.startswith(f"--- {file} (UTF-16)\n+++ fixed (UTF-8)\n")
        assert file.read_bytes() == octets
        ran = lint(file, *checks, "--unsafe-fixes", select=())
        assert file.read_bytes() == b"User-agent: *\nDisallow: /a\nDisallow: /b\n"
        assert "/b was allowed and is disallowed, for all crawlers, under profile strict" in ran.err

    def test_utf_16_alone_is_a_diff(self, file: Path) -> None:
        """Though no character changes."""
        file.write_bytes("User-agent: *\nDisallow: /a\n".encode("utf-16"))
        ran = lint(file, "--select", "RR103", "--unsafe-fixes", "--diff", select=())
        assert (ran.code, ran.out) == (1, f"--- {file} (UTF-16)\n+++ fixed (UTF-8)\n")

    @pytest.mark.parametrize(
        ("octets", "arguments", "words"),
        [
            ("Disallow : /a\n".encode("utf-16"), ["--fix"], "--unsafe-fixes saves it as UTF-8"),
            (
                "Disallow : /a\n".encode("utf-16"),
                ["--unsafe-fixes", "--ignore", "RR103"],
                "save it as UTF-8 first",
            ),
            # Invalid code units would be lost.
            (
                "Disallow : /a\n".encode("utf-16") + b"\x00\xd8",
                ["--unsafe-fixes"],
                "save it as UTF-8 first",
            ),
        ],
    )
    def test_utf_16_is_not_changed(
        self, file: Path, octets: bytes, arguments: list[str], words: str
    ) -> None:
        """Unless this fix is requested, or if content would be lost."""
        file.write_bytes(octets)
        ran = lint(file, "--select", "RR103,RR208", *arguments, select=())
        assert (ran.code, file.read_bytes()) == (2, octets)
        assert "robots.txt' was not changed: it is " in ran.err
        assert words in ran.err

    def test_a_truncated_file_is_not_changed(self, file: Path) -> None:
        """The rest would be lost."""
        octets = BODY + b"#" * 2_000_000
        file.write_bytes(octets)
        ran = lint(file, "--unsafe-fixes")
        assert (ran.code, file.read_bytes()) == (2, octets)
        assert "was not changed" in ran.err

    def test_a_file_refused_by_the_library_is_not_changed(self, file: Path) -> None:
        """For the same reason."""
        refused = FixResult(BODY, (), (), "it is not whole")
        with mock.patch("robotrules.linting.fix_rounds.fix", return_value=refused):
            ran = lint(file, "--unsafe-fixes")
        assert (ran.code, file.read_bytes()) == (2, BODY)
        assert "was not changed: it is not whole" in ran.err

    def test_the_number_of_reported_verdicts_is_limited(self, file: Path) -> None:
        """A long list is truncated."""
        groups = (f"User-agent: bot{chr(97 + at)}\nDisallow: x{at}/\n\n" for at in range(12))
        file.write_text("".join(groups))
        ran = lint(file, "--unsafe-fixes")
        assert ran.err.count("was allowed and is disallowed, for bot") == 10
        assert "and more; see the diff of your version control, or use --diff" in ran.err
        file.write_text("".join(f"User-agent: b{chr(97 + n)}\nDisallow: x\n" for n in range(12)))
        assert "and more; the diff shows every line" in lint(file, "--unsafe-fixes", "--diff").err

    def test_a_fix_that_changes_no_verdict_after_all(self, file: Path) -> None:
        """The output reports that, too."""
        file.write_bytes(CLEAN + b"Disallow: private/")
        ran = lint(file, "--unsafe-fixes", "--diff")
        assert ran.err == f"robotrules lint: '{file}': 1 fix; no verdict changes\n"
        assert ran.out.endswith("+Disallow: /private/\n\\ No newline at end of file\n")

    def test_changes_for_other_profiles(self, file: Path) -> None:
        """A misspelt rule is a rule for profile default, and becomes one for strict."""
        body = b"User-agent: *\nDissallow: /a\nDisallow : /b\n"
        file.write_bytes(body)
        select = ("--select", "typo,space-before-colon")
        assert "proved to change no verdict" in lint(file, "--fix", select=select).err
        assert file.read_bytes() == body.replace(b" :", b":")
        ran = lint(file, "--unsafe-fixes", select=select)
        assert "1 fix; these verdicts changed:" in ran.err
        assert (
            "/a was allowed and is disallowed, for all crawlers, under profile strict\n" in ran.err
        )
        assert ran.err.count("verdict: ") == 1

    def test_only_other_records_change(self, file: Path) -> None:
        """No verdict change is reported."""
        file.write_bytes(CLEAN + b"Sitemap: /sitemap.xml\n")
        how = ("--url", "https://example.com/", "--unsafe-fixes")
        ran = lint(file, *how, select=("--select", "relative-sitemap"))
        words = "1 fix; no verdict changes; other records change: Sitemap"
        assert ran.err == f"robotrules lint: '{file}' written: {words}\n"

    def test_other_records_under_another_profile(self, file: Path) -> None:
        """A record that profile default reads already changes for profile strict alone."""
        file.write_bytes(CLEAN + b"Craw-delay: 5\nSite-map: https://example.com/s.xml\n")
        said = lint(file, select=()).out.splitlines()[-1]
        announced = "--unsafe-fixes applies 2 fixes that change verdicts or other records."
        assert said == announced
        words = "other records change: Crawl-delay, Sitemap under profile strict\n"
        assert lint(file, "--unsafe-fixes", select=()).err.endswith(words)

    def test_more_fixes_than_were_announced(self, file: Path) -> None:
        """Fixes of later rounds are counted separately, so that the totals agree."""
        file.write_bytes(b"User-agent: *\nAllow /b\nDisallow: /a\nDisallow /a\n")
        announced = lint(file, select=()).out.splitlines()[-1]
        assert announced.startswith("--unsafe-fixes applies 2 fixes ")
        done = "3 fixes (1 of them enabled by the others)"
        assert done in lint(file, "--unsafe-fixes", select=()).err

    @pytest.mark.parametrize("mode", [0o444, 0o644])
    def test_a_file_that_may_not_be_written(self, file: Path, mode: int) -> None:
        """It was not changed, although its folder would let it go."""
        file.chmod(mode)
        with mock.patch("robotrules.cli.atomic_write.os.access", return_value=mode == 0o444):
            ran = lint(file, "--unsafe-fixes")
        assert (ran.code, file.read_bytes()) == (2, BODY)
        assert ran.err == (
            f"robotrules lint: cannot write '{file}': it is read-only; the file is unchanged\n"
        )

    def test_a_file_that_cannot_be_written(self, file: Path) -> None:
        """It is unchanged, and an error reports it."""
        with mock.patch(
            "robotrules.cli.atomic_write.os.replace", side_effect=OSError(28, "No space")
        ):
            ran = lint(file, "--unsafe-fixes")
        assert ran.code == 2
        assert "cannot write 'robots.txt'" in ran.err.replace(str(file), "robots.txt")
        assert file.read_bytes() == BODY
        assert os.listdir() == ["robots.txt"]


class TestDiff:
    """The changes `--fix` would make; no file is written."""

    def test_something(self, file: Path) -> None:
        """The exit code is 1."""
        ran = lint(file, "--diff", "--unsafe-fixes")
        assert ran.code == 1
        assert "-Disallow: private/\n+Disallow: /private/\n" in ran.out
        assert "1 fix; these verdicts would change:" in ran.err
        assert file.read_bytes() == BODY

    def test_no_diff(self, file: Path) -> None:
        """Without fixes that change verdicts there is no diff, and notes do not count."""
        more = "; --unsafe-fixes applies fixes that change verdicts or other records"
        said = "robotrules lint: nothing to change"
        assert lint(file, "--diff") == Ran(0, "", f"{said}{more}\n")
        file.write_bytes(CLEAN)
        assert lint(file, "--diff") == Ran(0, "", f"{said}\n")
        assert lint(file, file, "--diff") == Ran(0, "", f"{said} in 2 files\n")

    def test_stdin(self) -> None:
        """A diff needs no file to write."""
        ran = lint("-", "--diff", "--unsafe-fixes", stdin=BODY)
        assert ran.code == 1
        assert ran.out.startswith("--- stdin\n+++ fixed\n")


class TestForms:
    """Each form of output, to stdout or to a file."""

    def test_an_input_is_not_overwritten(self, file: Path, folder: Path) -> None:
        """With any spelling of its path."""
        (folder / "link").symlink_to(file)
        for target in ("robots.txt", str(file), "../site/robots.txt", "link"):
            ran = lint("robots.txt", "--output", target)
            assert (ran.code, ran.out, file.read_bytes()) == (2, "", BODY)
            assert f"--output '{target}' would overwrite an input file" in ran.err

    def test_statistics_without_notes(self, file: Path) -> None:
        """The text output reports that there are no notes; JSON does not."""
        file.write_bytes(CLEAN)
        said = "robotrules lint: no notes in 1 file\n"
        assert lint(file, "--statistics") == Ran(0, "", said)
        assert lint(file, "--statistics", "--json").err == ""

    def test_sarif(self, file: Path, folder: Path) -> None:
        """Written as a whole, to a file."""
        ran = lint(file, "--format", "sarif", "--output", "x.sarif")
        assert (ran.code, ran.out) == (1, "")
        assert ran.err == "robotrules lint: 'x.sarif' written: 2 notes\n"
        log = json.loads((folder / "x.sarif").read_text())
        assert [one["ruleId"] for one in log["runs"][0]["results"]] == ["RR505", "RR501"]
        assert log["runs"][0]["artifacts"] == [{"location": {"uri": "robots.txt"}}]

    def test_junit(self, file: Path) -> None:
        """`--fail-on` determines the failures."""
        root = ElementTree.fromstring(lint(file, "--format", "junit", "--fail-on", "error").out)
        assert (root.get("tests"), root.get("failures")) == ("2", "1")

    def test_github(self, file: Path) -> None:
        """It includes errors."""
        ran = lint("missing", file, "--format", "github")
        first, second, third = ran.out.splitlines()
        assert first.startswith("::error title=robotrules lint::cannot read robots.txt from")
        assert second.startswith("::error file=robots.txt,line=2,")
        assert third.startswith("::warning file=robots.txt,line=4,")

    def test_text_to_a_file_has_no_colour(self, file: Path, folder: Path) -> None:
        """A file is not a terminal."""
        lint(file, "--output", "notes.txt", terminals=["stdout", "stderr"])
        assert (folder / "notes.txt").read_text() == lint(file).out

    def test_an_output_that_cannot_be_written(self, file: Path) -> None:
        """One line."""
        ran = lint(file, "--output", "no/such/folder/x")
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert "cannot write 'no/such/folder/x'" in ran.err

    def test_statistics(self, file: Path, folder: Path) -> None:
        """By check, the most frequent first."""
        (folder / "other.txt").write_bytes(b"User-agent: *\nDisallow: x\n")
        ran = lint(file, "other.txt", "--statistics")
        assert ran.out == "2  RR505  error    pattern-start\n1  RR501  warning  dead-rule\n"
        assert ran.code == 1

    def test_levels_are_coloured_on_a_terminal(self, file: Path) -> None:
        """And nowhere else."""
        assert "\x1b[31merror\x1b[0m RR505" in lint(file, terminals=["stdout"]).out
        assert "\x1b[33mwarning\x1b[0m RR501" in lint(file, terminals=["stdout"]).out
        assert "\x1b" not in lint(file).out


def page(*files: LintedFile, width: int | None = None, **how: bool) -> list[str]:
    """Return files as text without colour."""
    made = LintPage(Paint(False), width, **how)
    lines = [line for one in files for line in made.lines(one)]
    return [*lines, *made.end()]


class TestText:
    """Notes for people."""

    def test_untrusted_content_is_escaped(self) -> None:
        """Every line can be shown on a terminal."""
        lines = page(hostile_file())
        assert all(line.isprintable() for line in lines)
        assert "::error" in HOSTILE
        assert not any(line.startswith("::") for line in lines)

    def test_some_of_each_check(self) -> None:
        """And how many more there are; time does not depend on how long the line is."""
        started = time.monotonic()
        lines = page(large_file())
        assert sum("error RR505" in line for line in lines) == MOST_NOTES
        assert lines.count("    = and 99,997 more RR505 pattern-start (--all)") == 1
        assert "100,000 errors in 1 file." in lines
        assert time.monotonic() - started < 30

    def test_all_of_each_check(self) -> None:
        """With the option for all of them."""
        notes = tuple(note(line=n, start=n, end=n) for n in range(1, 6))
        one = LintedFile(b"x", notes=notes, body=b"\n" * 9)
        lines = page(one, show_all=True)
        assert sum("error RR505" in line for line in lines) == 5
        assert not any("--all" in line for line in lines)

    def test_errors_come_first(self) -> None:
        """Then warnings, then the rest; each by line, and notes without a line first."""
        levels = ["info", "warning", "error", "warning", "error"]
        notes = [note(line=n, start=n, end=n, level=level) for n, level in enumerate(levels, 1)]
        notes.append(note(line=None, level="warning", start=0, end=0))
        one = LintedFile(b"x", notes=tuple(notes), body=b"\n" * 9)
        heads = [line.split(" RR505")[0] for line in page(one, show_all=True) if "RR505 p" in line]
        assert heads == [
            *("x:4:1: error", "x:6:1: error", "x: warning", "x:3:1: warning", "x:5:1: warning"),
            "x:2:1: info",
        ]
        assert [line.split(" RR505")[0] for line in page(one, concise=True)[:-1]] == heads

    def test_the_concise_form(self) -> None:
        """One line for each note, all of them, and the counts."""
        notes = tuple(note(line=n, start=n, end=n, url="https://a/") for n in range(1, 6))
        one = LintedFile(b"x", notes=notes, body=b"\n" * 9)
        lines = page(one, concise=True)
        assert lines[0] == "x:2:1: error RR505 pattern-start: A message. Shown by https://a/"
        assert (len(lines), lines[-1]) == (6, "5 errors in 1 file.")

    def test_a_url_is_one_line(self) -> None:
        """However narrow the screen is: a URL that is broken cannot be opened."""
        url = "https://example.com/" + "a-long/path-of/words/" * 20
        fix = Fix(f"Write '{url}'", ())
        one = LintedFile(
            b"x", notes=(note(line=1, start=0, end=1, url=url, fix=fix),), body=b"abc\n"
        )
        lines = page(one, width=60)
        assert f"    = shown by {url}" in lines
        assert sum(url in line for line in lines) == 2

    def test_no_empty_row_after_a_line_that_is_cut(self) -> None:
        """Carets over the full width have no text beside or below them."""
        body = b"Disallow: " + b"x" * 500
        one = LintedFile(b"x", notes=(note(start=10, end=510, line=1),), body=body)
        lines = page(one, width=80)
        assert not [line for line in lines if line.strip() == "|"]

    def test_carets_are_aligned_with_the_marked_text(self) -> None:
        """After tabs, wide characters, or octets that are not text."""
        body = "Disallow:\t漢é\udcff private/\n".encode("utf-8", "surrogateescape")
        start = body.index(b"private")
        one = LintedFile(b"x", notes=(note(start=start, end=start + 8, line=1),), body=body)
        _, shown, carets, *_ = page(one)
        assert shown == "  1 | Disallow:\\x09漢é\\xff private/"
        before = len("Disallow:\\x09漢é\\xff ") + 1  # 漢 has two columns
        assert carets == "    | " + " " * before + "^" * 8

    @pytest.mark.parametrize("before", [b"x" * 300_000, "漢".encode() * 100_000])
    def test_long_lines_are_cut_around_the_span(self, before: bytes) -> None:
        """At both ends; the marked text is kept."""
        body = before + b"MARKED" + before
        one = LintedFile(b"x", notes=(note(start=len(before), end=len(before) + 6),), body=body)
        _, shown, carets, *_ = page(one, width=80)
        assert "MARKED" in shown
        assert len(shown) <= 80
        assert "\\x" not in shown
        assert shown.count("…") == 2
        assert carets.count("^") == 6

    def test_a_span_longer_than_the_screen(self) -> None:
        """Its beginning is marked."""
        one = LintedFile(b"x", notes=(note(start=0, end=300_000),), body=b"y" * 300_000)
        _, shown, carets, *_ = page(one, width=80)
        assert len(shown) == len(carets) == 80

    def test_many_related_places(self) -> None:
        """Some, and how many more."""
        places = tuple(Related("here too", 3, 11, 43, 49) for _ in range(6))
        lines = page(LintedFile(b"x", notes=(note(related=places),), body=BODY))
        assert sum("here too" in line for line in lines) == 4
        assert "    = and 2 more lines" in lines

    def test_the_example_url(self) -> None:
        """A URL in a sentence."""
        one = LintedFile(b"x", notes=(note(url="https://example.com/a"),), body=BODY)
        assert "    = shown by https://example.com/a" in page(one)

    def test_fixes_are_counted(self) -> None:
        """Those that change verdicts apart."""
        quiet, loud = (note(fix=Fix("Do it", (Edit(0, 0, b"x"),), one)) for one in (False, True))
        lines = page(LintedFile(b"x", notes=(quiet, loud, loud), body=BODY))
        assert lines[-2:] == [
            "--fix applies 1 fix.",
            "--unsafe-fixes applies 2 more fixes that change verdicts or other records.",
        ]
        assert "    = fix: Do it (--fix)" in lines
        assert "    = fix: Do it (--unsafe-fixes)" in lines

    def test_inputs_other_than_files_are_not_fixed(self) -> None:
        """No option is suggested, but the advice is shown."""
        quiet, loud = (note(fix=Fix("Do it", (Edit(0, 0, b"x"),), one)) for one in (False, True))
        lines = page(LintedFile(b"https://example.com/robots.txt", False, (quiet, loud), BODY))
        assert lines[-1] == "2 errors in 1 file."
        assert "    = fix: Do it (changes no verdict)" in lines
        assert "    = fix: Do it (changes verdicts)" in lines


ROBOTS = "User-agent: *\nDisallow: private/\nDisallow: /closed\n"


def live(at: Site, path: str, *more: str, select: tuple[str, ...] = SELECT) -> Ran:
    """Lint a URL of a site on the loopback."""
    options = ("--allow-private", "127.0.0.1", "--no-store", *more)
    return lint(f"{at.origin}{path}", *options, select=select)


class TestLive:
    """A robots.txt and a page that are fetched."""

    def received(self, at: Site, path: str = "/") -> ServedResponse:
        """Return the response data that lint received with a robots.txt."""
        with mock.patch("robotrules.cli.lint_urls.lint", return_value=[]) as found:
            assert live(at, path).code == 0
        told: ServedResponse = found.call_args.kwargs["received"]
        return told

    def test_the_robots_txt(self) -> None:
        """It has its URL for a name."""
        with site({"/robots.txt": response(ROBOTS, "Content-Type: text/plain")}) as at:
            ran = live(at, "/")
            assert ran.code == 1
            assert ran.out.startswith(f"{at.origin}/robots.txt:2:11: error RR505")
            assert at.asked == ["/robots.txt"]

    def test_an_origin_is_linted_once(self) -> None:
        """However many of its URLs are named; each page has its own notes."""
        answers = {"/robots.txt": response(ROBOTS), "/a": response("a"), "/b": response("b")}
        with site(answers) as at:
            ran = live(at, "/a", f"{at.origin}/b", f"{at.origin}/robots.txt", "--json")
            files = json.loads(ran.out)["files"]
            assert [one["url"].removeprefix(at.origin) for one in files] == [
                *("/robots.txt", "/a", "/b")
            ]
            assert live(at, "/a", f"{at.origin}/b").out.count("error RR505") == 1

    def test_how_it_is_served(self) -> None:
        """Checks receive status, media type, charset and Cache-Control."""
        lines = ("Content-Type: Text/HTML; charset=latin-1", "Cache-Control: max-age=60")
        with site({"/robots.txt": response(ROBOTS, *lines)}) as at:
            url = f"{at.origin}/robots.txt"
            expected = ServedResponse(url, 200, "text/html", "latin-1", (), "max-age=60")
            assert self.received(at) == expected

    def test_redirects(self) -> None:
        """Where each led."""
        answers = {
            "/robots.txt": response("", "Location: /a", status="301 Moved"),
            "/a": response("", "Location: b", status="302 Found"),
            "/b": response(ROBOTS),
        }
        with site(answers) as at:
            told = self.received(at)
            assert told.redirects == (f"{at.origin}/a", f"{at.origin}/b")
            assert (told.status, told.media_type) == (200, "")
            assert live(at, "/").code == 1

    def test_there_is_none(self) -> None:
        """A 404 is an answer, and linted as an empty file."""
        with site({}) as at:
            assert self.received(at).status == 404
            ran = live(at, "/")
            assert ran.code == 0
            assert "there is no robots.txt (status 404)" in ran.err

    def test_a_server_error(self) -> None:
        """The rules are unknown, so it is an error unless a check reports it."""
        with site({"/robots.txt": response("", status="500 Oops")}) as at:
            for select in (SELECT, ("--ignore", "RR704")):
                ran = live(at, "/", select=select)
                assert (ran.code, ran.err.count("\n")) == (2, 1)
                assert "was not linted: the robots.txt is unreachable (status 500)" in ran.err
            ran = live(at, "/", "--json", select=("--select", "RR5,RR704"))
            assert (ran.code, slugs(ran)) == (1, ["robots-unreachable"])

    def test_a_broken_redirect(self) -> None:
        """A check that reports it is enough."""
        with site({"/robots.txt": response("", status="301 Moved")}) as at:
            ran = live(at, "/", "--json", select=("--select", "RR5,RR711"))
            assert (ran.code, slugs(ran)) == (1, ["robots-lost"])
            assert live(at, "/", select=("--ignore", "RR711")).code == 2

    def test_everything_is_disallowed_on_a_live_site(self) -> None:
        """That is worth a warning there."""
        with site({"/robots.txt": response("User-agent: *\nDisallow: /\n")}) as at:
            ran = live(at, "/", select=("--select", "RR512"))
        assert ran.code == 1
        assert "warning RR512" in ran.out

    def test_a_stored_file(self) -> None:
        """The output has the time of the fetch, and the option for a new one."""
        options = ("--allow-private", "127.0.0.1")
        with site({"/robots.txt": response(CLEAN)}) as at:
            assert lint(f"{at.origin}/", *options).err == ""
            ran = lint(f"{at.origin}/", *options)
            assert f"hint: {at.origin}: the robots.txt was fetched " in ran.err
            assert ran.err.endswith(" UTC; use --refresh to fetch it now\n")
            assert lint(f"{at.origin}/", *options, "--refresh").err == ""

    def test_no_file_is_not_an_empty_file(self) -> None:
        """Where there is none, notes are about the response."""
        select = ("--select", "empty-file,robots-missing")
        with site({}) as at:
            ran = live(at, "/", "--json", select=select)
            assert slugs(ran) == ["robots-missing"]
            assert ran.err == ""  # the note says it
            at.answers["/robots.txt"] = response(b"")
            assert slugs(live(at, "/", "--json", select=select)) == ["empty-file"]

    @pytest.mark.parametrize("count", [0, 1])
    def test_a_server_that_does_not_answer(self, count: int, file: Path) -> None:
        """One line, exit 2, and other files are linted."""
        with site({}) as at:
            port = at.port
        url = f"http://127.0.0.1:{port}/x"
        files = [str(file)] * count
        ran = lint(*files, url, "--allow-private", "127.0.0.1", "--no-store")
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert f"http://127.0.0.1:{port} was not linted: the robots.txt is unreach" in ran.err
        assert ("RR505" in ran.out) == bool(count)

    def test_a_server_that_is_slow(self) -> None:
        """It has `--timeout` seconds."""
        slow = Slow()
        with site({}) as at, mock.patch.object(at, "response", slow.response):
            ran = live(at, "/", "--timeout", "0.3")
            slow.enough = True
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert "no response in time" in ran.err

    def test_a_name_without_an_address(self) -> None:
        """The name is refused before any lookup (RFC 6761 §6.4)."""
        with mock.patch("socket.getaddrinfo", side_effect=OSError(-2, "Name not known")):
            ran = lint("https://nobody.invalid/", "--no-store")
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert "the host has no address" in ran.err

    def test_a_private_address(self) -> None:
        """It is not fetched unless an option allows it."""
        with site({}) as at:
            ran = lint(f"{at.origin}/", "--no-store")
            assert at.asked == []
        assert ran.code == 2
        assert "add --allow-private 127.0.0.1" in ran.err

    @pytest.mark.parametrize("url", ["ftp://example.com/x", "https:///x", "https://[::1/"])
    def test_no_url(self, url: str) -> None:
        """One line."""
        ran = lint(url)
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert "has no robots.txt: pass an http or https URL" in ran.err

    def test_the_page(self) -> None:
        """Its headers and its HTML, with the rules of its origin."""
        answers = {
            "/robots.txt": response(ROBOTS),
            "/page?x": response("<p>", "Content-Type: text/html", "Robots-Tag: ;noindex"),
        }
        with site(answers) as at:
            ran = live(at, "/page?x", "--json", select=("--select", "bad-field"))
            [robots, of_page] = json.loads(ran.out)["files"]
            assert [robots["url"], of_page["url"]] == [
                f"{at.origin}/robots.txt",
                f"{at.origin}/page?x",
            ]
            [found] = of_page["notes"]
            assert (found["slug"], found["line"]) == ("bad-field", None)
            assert ran.code == 1
            with mock.patch("robotrules.cli.lint_urls.lint_page", return_value=[]) as told:
                live(at, "/page?x")
            assert told.call_args.kwargs["html"] == b"<p>"
            assert b"closed" in told.call_args.kwargs["robots"].body

    def test_a_page_that_is_not_html(self) -> None:
        """Only its headers are read."""
        plain = response("<p>", "Content-Type: text/plain")
        with (
            site({"/robots.txt": response(ROBOTS), "/x": plain}) as at,
            mock.patch("robotrules.cli.lint_urls.lint_page", return_value=[]) as told,
        ):
            live(at, "/x")
            assert told.call_args.kwargs["html"] is None

    def test_no_library_reads_html(self) -> None:
        """Only headers are read, and one message reports this."""
        with (
            site({"/robots.txt": response(ROBOTS), "/x": response("<p>")}) as at,
            mock.patch("robotrules.cli.lint_urls.can_read_html", return_value=False),
            mock.patch("robotrules.cli.lint_urls.lint_page", return_value=[]) as told,
        ):
            ran = live(at, "/x")
            assert told.call_args.kwargs["html"] is None
        assert ran.err.count("the HTML of the page was not read") == 1
        assert "pip install 'robotrules[html]'" in ran.err

    def test_a_copy_that_was_not_changed(self) -> None:
        """A 304 renews the stored 200 response."""
        options = ("--allow-private", "127.0.0.1", "--refresh")
        with site({"/robots.txt": response(ROBOTS, 'ETag: "1"')}) as at:
            assert lint(f"{at.origin}/", *options).code == 1
            at.answers["/robots.txt"] = response("", 'ETag: "1"', status="304 Not Modified")
            with mock.patch("robotrules.cli.lint_urls.lint", return_value=[]) as found:
                lint(f"{at.origin}/", *options)
        assert found.call_args.kwargs["received"].status == 200
        assert b"private" in found.call_args.args[0].body

    def test_a_page_that_the_rules_disallow(self) -> None:
        """It is not fetched."""
        with site({"/robots.txt": response(ROBOTS)}) as at:
            ran = live(at, "/closed/x")
            assert at.asked == ["/robots.txt"]
            assert f"{at.origin}/closed/x was not fetched: the rules disallow it" in ran.err
            assert ran.code == 1

    def test_a_page_that_is_not_there(self) -> None:
        """One line, exit 2; the robots.txt is linted all the same."""
        with site({"/robots.txt": response(ROBOTS)}) as at:
            ran = live(at, "/gone")
            assert (ran.code, ran.err.count("\n")) == (2, 1)
            assert f"{at.origin}/gone was not linted: status 404" in ran.err
            assert "RR505" in ran.out

    def test_several_urls_share_one_client(self) -> None:
        """Each robots.txt is fetched once, through the store."""
        with site({"/robots.txt": response(ROBOTS)}) as at:
            options = ("--allow-private", "127.0.0.1")
            assert lint(f"{at.origin}/", f"{at.origin}/robots.txt", *options).code == 1
            assert lint(f"{at.origin}/", *options).code == 1
            assert at.asked == ["/robots.txt"]
            assert lint(f"{at.origin}/", *options, "--refresh").code == 1
            assert at.asked == ["/robots.txt"] * 2

    def test_options_about_fetching(self, file: Path) -> None:
        """Without a fetch they have no effect, and a message reports this."""
        ran = lint(file, "--refresh")
        assert "nothing is fetched when files are passed, so --refresh has no effect" in ran.err


class Slow:
    """Delays its response until it is released."""

    enough = False

    def response(self, path: str, moment: str | None) -> bytes:
        """Wait, some seconds at most."""
        for _ in range(50):
            if self.enough:
                break
            time.sleep(0.1)
        return response(ROBOTS)


def test_a_bar_is_for_terminals(file: Path) -> None:
    """It shows how many files are done, after a moment, and is wiped."""
    drawn: list[str] = []
    with (
        mock.patch.object(progress, "FIRST_AFTER", 0),
        mock.patch.object(progress, "_draw", lambda _, text: drawn.append(text)),
    ):
        lint(file, file)
        assert drawn == []
        lint(file, file, terminals=["stderr"])
    assert "1 file " in drawn[0]
    assert drawn[-1] == ""


HEAVY = ("httpx2", "httpx", "aiohttp", "selectolax", "justhtml", "pygls", "idna", "sqlite3")


def test_linting_a_file_imports_no_fetching_code(file: Path) -> None:
    """A small file needs no HTTP client, no HTML parser and no language server."""
    loaded = modules_loaded_by("lint", str(file), "--exit-zero")
    assert "robotrules.cli.lint" in loaded
    assert not loaded & set(HEAVY)
    assert not [name for name in loaded if name.startswith("robotrules.client")]
