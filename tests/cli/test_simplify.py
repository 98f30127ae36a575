"""`robotrules simplify`: changes to files, and files that stay; the transcript shows output."""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import robotrules as library
from robotrules.analysis import compare
from robotrules.cli import progress
from robotrules.cli.simplify import MOST_GROUPS, MOST_LEFT, MOST_STEPS
from tests.cli.shell import Ran, robotrules

BODY = b"User-agent: *\nDisallow: /a\nDisallow: /a/b\n"
LEFT = b"User-agent: *\nDisallow: /a\n"
CODE = "robotrules.cli.simplify"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file from which a rule can go."""
    path = tmp_path / "robots.txt"
    path.write_bytes(BODY)
    return path


def files(folder: Path) -> dict[str, bytes]:
    """Return the contents of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def simplify(path: Path | str, *more: str, **how: Any) -> Ran:
    """Run the command."""
    return robotrules("simplify", str(path), *more, **how)


class TestExitCodes:
    """As linters have them: 1 if something can go, 0 once it is gone."""

    def test_something_can_go(self, file: Path) -> None:
        """Looking has no effect."""
        ran = simplify(file)
        assert (ran.code, ran.err) == (1, "")
        assert file.read_bytes() == BODY

    def test_no_redundant_lines(self) -> None:
        """Stdin is accepted too."""
        ran = simplify("-", stdin=LEFT)
        assert ran == Ran(0, "stdin: nothing can be removed; 1 rule stays\n", "")

    def test_written(self, file: Path) -> None:
        """Then it is done."""
        assert simplify(file, "--write").code == 0
        assert simplify(file).code == 0


class TestWriting:
    """The result is either the old file or the new one, and no other file."""

    def test_in_place(self, file: Path, tmp_path: Path) -> None:
        """And no other file is left in the folder."""
        ran = simplify(file, "--write", "--json")
        assert json.loads(ran.out)["written"] == str(file)
        assert "42 bytes became 27, proved equivalent" in ran.err
        assert files(tmp_path) == {"robots.txt": LEFT}
        assert compare(library.parse(BODY), library.parse(file.read_bytes())).equal is True

    def test_an_unchanged_file_is_not_touched(self, file: Path) -> None:
        """It keeps its modification time."""
        file.write_bytes(LEFT)
        os.utime(file, (1, 1))
        ran = simplify(file, "--write", "--json")
        assert (ran.code, ran.err, json.loads(ran.out)["written"]) == (0, "", None)
        assert file.stat().st_mtime == 1

    def test_elsewhere(self, file: Path, tmp_path: Path) -> None:
        """An existing target is replaced; the input file stays."""
        target = tmp_path / "smaller.txt"
        for before in (None, b"old"):
            if before is not None:
                target.write_bytes(before)
            assert simplify(file, "-o", str(target)).code == 0
            assert files(tmp_path) == {"robots.txt": BODY, "smaller.txt": LEFT}
        ran = simplify("-", "-o", str(target), stdin=b"# hello\n")
        assert (ran.code, target.read_bytes()) == (0, b"# hello\n")
        assert "8 bytes became 8, nothing was removable" in ran.err

    def test_stdout(self, file: Path) -> None:
        """The file alone, octet for octet."""
        assert simplify("-", "--write", stdin=BODY) == Ran(0, LEFT.decode(), "")
        assert simplify(file, "-o", "-") == Ran(0, LEFT.decode(), "")
        odd = BODY.replace(b"\n", b"\r\n") + b"# \xff\x1b\r\n"
        assert simplify("-", "--write", stdin=odd).out.encode("utf-8", "surrogateescape") == (
            LEFT.replace(b"\n", b"\r\n") + b"# \xff\x1b\r\n"
        )

    @pytest.mark.skipif(os.name != "posix", reason="modes are a matter of Unix")
    def test_mode(self, file: Path, tmp_path: Path) -> None:
        """An old file keeps its mode, a new one has the usual."""
        file.chmod(0o640)
        simplify(file, "--write")
        assert stat.S_IMODE(file.stat().st_mode) == 0o640
        mask = os.umask(0o027)
        try:
            simplify(file, "-o", str(tmp_path / "new.txt"))
        finally:
            os.umask(mask)
        assert stat.S_IMODE((tmp_path / "new.txt").stat().st_mode) == 0o640

    def test_a_read_only_file(self, file: Path) -> None:
        """It was not changed, although its folder would let it go."""
        file.chmod(0o444)
        ran = simplify(file, "--write")
        assert (ran.code, file.read_bytes()) == (2, BODY)
        assert f"cannot write '{file}': it is read-only; the file is unchanged" in ran.err

    @pytest.mark.skipif(os.name != "posix", reason="links are a matter of Unix")
    def test_a_link_is_kept(self, file: Path, tmp_path: Path) -> None:
        """Its target is written."""
        link = tmp_path / "link.txt"
        link.symlink_to(file)
        simplify(link, "--write")
        assert link.is_symlink()
        assert file.read_bytes() == LEFT

    @pytest.mark.parametrize("where", ["os.fsync", "os.replace", "os.chmod"])
    @pytest.mark.parametrize(
        ("error", "code"),
        [(OSError(errno.ENOSPC, "No space left on device"), 2), (KeyboardInterrupt(), 130)],
    )
    def test_a_full_disk_and_an_interrupt(
        self, file: Path, tmp_path: Path, where: str, error: BaseException, code: int
    ) -> None:
        """The old file is intact, and no temporary file is left."""
        with mock.patch(f"{CODE}.{where}", side_effect=error):
            ran = simplify(file, "--write")
        assert ran.code == code
        assert files(tmp_path) == {"robots.txt": BODY}
        if code == 2:
            assert "cannot write" in ran.err
            assert "No space left on device; the file is unchanged" in ran.err

    def test_a_file_that_changes_meanwhile(self, file: Path, tmp_path: Path) -> None:
        """A concurrent change is not overwritten."""
        newer = BODY + b"Disallow: /new\n"
        module = sys.modules[CODE]
        real = module.simplified

        def slow(*given: Any, **options: Any) -> Any:
            file.write_bytes(newer)
            return real(*given, **options)

        with mock.patch.object(module, "simplified", slow):
            ran = simplify(file, "--write")
        assert (ran.code, files(tmp_path)) == (2, {"robots.txt": newer})
        assert "was changed in the meantime and is left unchanged" in ran.err

    @pytest.mark.skipif(not os.path.exists("/dev/null"), reason="no such file")
    def test_not_a_regular_file(self, file: Path, tmp_path: Path) -> None:
        """A device or a folder is not replaced."""
        for target in ("/dev/null", str(tmp_path)):
            ran = simplify(file, "-o", target)
            assert ran.code == 2
            assert "is not a regular file" in ran.err

    def test_never_without_proof(self, file: Path, tmp_path: Path) -> None:
        """Whatever was found: a file that is not proved to be the same is not there to write."""
        unproved = mock.Mock(equal=None)
        module = sys.modules["robotrules.analysis.simplify"]
        with mock.patch.object(module, "compare", return_value=unproved):
            ran = simplify(file, "--write")
        assert ran.code == 0
        assert "Kept because they were not decided" in ran.out
        assert files(tmp_path) == {"robots.txt": BODY}


class TestForms:
    """Text, a diff, JSON."""

    def test_terminals_get_no_control_characters(self) -> None:
        """Whoever wrote the file (RFC 9309 §3)."""
        body = "User-agent: x\x1b[31m\nDisallow: /a\nDisallow: /a\x9b\nDisallow: \x1b[2J\n".encode()
        for form in ([], ["--diff"], ["--json"]):
            ran = simplify("-", *form, stdin=body, terminals=["stdout"], NO_COLOR="1")
            assert ran.code == 1
            assert "\x1b" not in ran.out
            assert "\x9b" not in ran.out

    def test_colour(self, file: Path) -> None:
        """On a terminal; it adds no information to the words."""
        assert "\x1b[" in simplify(file, terminals=["stdout"]).out
        assert "\x1b[" not in simplify(file).out

    def test_long_lists_are_cut(self) -> None:
        """JSON has all of it."""
        lines = [f"Disallow: /{n}+\nDisallow: /{n}%2B\n" for n in range(MOST_LEFT)]
        body = ("User-agent: *\n" + "".join(lines)).encode()
        ran = simplify("-", stdin=body)
        assert ran.code == 0
        assert f"and {MOST_LEFT} more (see --json)" in ran.out
        assert len(json.loads(simplify("-", "--json", stdin=body).out)["left"]) == 2 * MOST_LEFT

    def test_purposes_have_names(self) -> None:
        """A group may be for a purpose alone."""
        body = b"User-agent-purpose: EXAMPLE-PURPOSE-1\nDisallow: /a\nDisallow: /a\n"
        ran = simplify("-", "--single-profile", stdin=body)
        assert "Group of line 1: purpose EXAMPLE-PURPOSE-1" in ran.out
        assert "under profile default." in ran.out

    def test_unproved_changes(self) -> None:
        """They are shown separately."""
        body = b"Disallow: /x\n\xef\xbb\xbfUser-agent: *\nDisallow: /y\n"
        # The misread line would keep the rule beforehand.
        command = sys.modules["robotrules.cli.simplify"]
        with mock.patch.object(command, "find_misread_lines", return_value=([], frozenset())):
            ran = simplify("-", stdin=body)
        assert "Kept because the proof failed without them" in ran.out
        assert "1 | Disallow: /x" in ran.out

    def test_lines_alone(self) -> None:
        """If neither rules nor groups become fewer."""
        ran = simplify("-", stdin=b"User-agent: a\nUser-agent: a\nDisallow: /x\n")
        assert ran.out.startswith("stdin: 1 line can be removed; 41 bytes become 27\n")

    def test_progress(self, file: Path) -> None:
        """A bar on a terminal, and it is wiped."""
        with (
            mock.patch.object(progress, "FIRST_AFTER", -1),
            mock.patch.object(progress, "_draw") as draw,
        ):
            simplify(file, terminals=["stderr"])
            drawn = [call.args[1] for call in draw.call_args_list]
            assert "1 rule " in drawn[0]
            assert drawn[-1] == ""
            draw.reset_mock()
            simplify(file)
            assert not draw.called

    @pytest.mark.parametrize("profile", ["default", "strict", "google"])
    def test_profiles(self, profile: str) -> None:
        """Reasons are of the one that is named, proofs of all."""
        ran = simplify("-", "--json", "--profile", profile, stdin=BODY)
        found = json.loads(ran.out)
        assert found["profile"] == profile
        assert set(found["profiles"]) == {"default", "strict", "google"}
        alone = simplify("-", "--json", "--single-profile", "--profile", profile, stdin=BODY)
        assert json.loads(alone.out)["profiles"] == [profile]


def test_the_list_of_removable_lines_is_capped(tmp_path: Path) -> None:
    """Ten lines of a group and twenty groups; --all shows the rest, and JSON is complete."""
    path = tmp_path / "robots.txt"
    path.write_bytes(b"User-agent: *\n" + b"Disallow: /a\n" * 1_500)
    short, whole = simplify(path).out, simplify(path, "--all").out
    assert short.count("repeated-rule") == MOST_STEPS
    assert f"and {1_499 - MOST_STEPS:,} more (see --all)" in short
    assert whole.count("repeated-rule") == 1_499
    assert "  1501 |" in whole
    assert len(json.loads(simplify(path, "--json").out)["steps"]) == 1_499
    groups = (
        f"User-agent: b{chr(97 + n)}\nAllow: /x\nAllow: /x\nDisallow: /{n}\n" for n in range(24)
    )
    path.write_text("\n".join(groups), encoding="utf-8")
    short = simplify(path).out
    assert short.count("Group of line") == MOST_GROUPS
    assert "and 4 more groups with removable lines (see --all)" in short


def test_an_over_long_file(tmp_path: Path) -> None:
    """It is read completely, a hint explains this, and the output is within the limit."""
    path = tmp_path / "robots.txt"
    path.write_bytes(b"User-agent: *\n" + b"Disallow: /a\n" * 45_000 + b"Disallow: /b\n")
    assert path.stat().st_size > library.DEFAULT.max_bytes
    ran = simplify(path, "--write")
    assert ran.code == 0
    assert "585,027 bytes; crawlers may ignore everything after 512,000" in ran.err
    assert path.read_bytes() == b"User-agent: *\nDisallow: /a\nDisallow: /b\n"


class TestMisreadRecords:
    """Lines that depend on a misread record are kept, and a warning reports it."""

    TYPO = "User-agen: *\nDisallow: /private/\nDisallow: /private/x\n\n"
    REST = "User-agent: Googlebot\nDisallow: /tmp\nDisallow: /tmp/a\n"

    @pytest.mark.parametrize(
        ("text", "line", "gone"),
        [
            (TYPO + REST, 1, [7]),
            # The rules after it are Googlebot's to crawlers, and were meant for everyone.
            (f"{REST}\n{TYPO}", 5, []),
        ],
    )
    def test_it_stays(self, text: str, line: int, gone: list[int], tmp_path: Path) -> None:
        path = tmp_path / "robots.txt"
        path.write_text(text, encoding="utf-8")
        ran = robotrules("simplify", str(path), "--json")
        assert f"line {line} ('User-agen: *') is not read as it seems to be meant" in ran.err
        found = json.loads(ran.out)
        assert [step["lines"] for step in found["steps"]] == [[one] for one in gone]
        assert found["misread"] == [line]

    def test_other_files_have_no_warning(self, tmp_path: Path) -> None:
        path = tmp_path / "robots.txt"
        path.write_text(self.REST, encoding="utf-8")
        ran = robotrules("simplify", str(path), "--json")
        assert ran.err == ""
        assert json.loads(ran.out)["misread"] == []
