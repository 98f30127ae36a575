"""`robotrules fmt`: changes to files, and files that stay; the transcript shows the output."""

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

from robotrules.cli.console import CliError
from robotrules.formatting import MAX_STATES, FormatResult
from robotrules.json_results.fmt import SCHEMA_VERSION
from tests.cli.shell import Ran, robotrules

BODY = b"user-agent:*\r\n\r\nDisallow : /a #why"
DONE = b"User-agent: *\nDisallow: /a  # why\n"
CODE = "robotrules.cli.fmt"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file that is not formatted."""
    path = tmp_path / "robots.txt"
    path.write_bytes(BODY)
    return path


def fmt(*given: Path | str, **how: Any) -> Ran:
    """Run the command."""
    return robotrules("fmt", *map(str, given), **how)


def files(folder: Path) -> dict[str, bytes]:
    """Return the contents of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


class TestWriting:
    """In place, atomically, and only if the content changes."""

    def test_in_place(self, file: Path, tmp_path: Path) -> None:
        """A message reports it, and no other file is left."""
        ran = fmt(file)
        assert (ran.code, ran.out) == (0, "")
        assert "formatted, proved equivalent" in ran.err
        assert files(tmp_path) == {"robots.txt": DONE}

    def test_nothing_to_change(self, file: Path) -> None:
        """The file is not touched, and keeps its modification time."""
        file.write_bytes(DONE)
        os.utime(file, (1, 1))
        before = file.stat()
        assert fmt(file) == Ran(0, "", "robotrules fmt: nothing to change\n")
        assert (file.stat().st_mtime, file.stat().st_ino) == (1, before.st_ino)

    def test_stdin(self) -> None:
        """Goes to stdout, octet for octet, changed or not."""
        assert fmt("-", stdin=BODY) == Ran(0, DONE.decode(), "")
        assert fmt("-", stdin=DONE) == Ran(0, DONE.decode(), "")
        odd = b"Disallow: /\xff" + 60 * b"x" + b"\x1b"
        assert fmt("-", stdin=odd).out.encode("utf-8", "surrogateescape") == odd + b"\n"

    @pytest.mark.skipif(os.name != "posix", reason="modes are a matter of Unix")
    def test_mode_and_link(self, file: Path, tmp_path: Path) -> None:
        """Both stay as they were."""
        file.chmod(0o640)
        link = tmp_path / "link.txt"
        link.symlink_to(file)
        assert fmt(link).code == 0
        assert link.is_symlink()
        assert (stat.S_IMODE(file.stat().st_mode), file.read_bytes()) == (0o640, DONE)

    def test_a_read_only_file(self, file: Path) -> None:
        """It was not changed, although its folder would let it go."""
        file.chmod(0o444)
        ran = fmt(file)
        assert (ran.code, file.read_bytes()) == (2, BODY)
        assert f"cannot write '{file}': it is read-only; the file is unchanged" in ran.err

    def test_a_full_disk(self, file: Path, tmp_path: Path) -> None:
        """The old file is intact, the next one is tried, and no temporary file is left."""
        error = OSError(errno.ENOSPC, "No space left on device")
        with mock.patch("os.replace", side_effect=error):
            ran = fmt(file)
        assert ran.code == 2
        assert "No space left on device; the file is unchanged" in ran.err
        assert files(tmp_path) == {"robots.txt": BODY}

    def test_a_file_that_changes_meanwhile(self, file: Path) -> None:
        """A concurrent change is not overwritten."""
        module = sys.modules[CODE]
        real = module.format_robots

        def slow(*given: Any, **options: Any) -> Any:
            file.write_bytes(b"newer")
            return real(*given, **options)

        with mock.patch.object(module, "format_robots", slow):
            ran = fmt(file)
        assert (ran.code, file.read_bytes()) == (2, b"newer")
        assert "was changed in the meantime and is left unchanged" in ran.err

    def test_never_without_proof(self, file: Path) -> None:
        """Whatever was laid out."""
        refused = FormatResult(BODY, False, False, "it could not be proved")
        with mock.patch.object(sys.modules[CODE], "format_robots", return_value=refused):
            ran = fmt(file)
        assert (ran.code, file.read_bytes()) == (2, BODY)
        assert "was not changed: it could not be proved" in ran.err


class TestLooking:
    """`--check` and `--diff` write nothing; the exit code is 1 if a file would change."""

    @pytest.mark.parametrize("how", [["--check"], ["--diff"], ["--check", "--diff"]])
    def test_nothing_is_written(self, file: Path, how: list[str]) -> None:
        """The exit code reports changes."""
        assert fmt(file, *how).code == 1
        assert file.read_bytes() == BODY
        assert fmt("-", *how, stdin=BODY).code == 1
        file.write_bytes(DONE)
        assert fmt(file, *how) == Ran(0, "", "robotrules fmt: nothing to change\n")

    def test_names(self, file: Path, tmp_path: Path) -> None:
        """Files that would change on stdout; messages on stderr."""
        (tmp_path / "good.txt").write_bytes(DONE)
        ran = fmt("--check", file, tmp_path / "good.txt")
        cure = "; format it with robotrules fmt, see --diff"
        said = "robotrules fmt: 1 of 2 files would change"
        assert ran == Ran(1, f"{file}\n", f"{said}{cure}\n")
        ran = fmt("--check", "--diff", file, tmp_path / "good.txt")
        assert ran.err.endswith(f"{said}\n")
        alone = "robotrules fmt: 1 of 1 file would change"
        assert fmt("--check", file) == Ran(1, f"{file}\n", f"{alone}{cure}\n")
        assert fmt("--check", "-", stdin=BODY) == Ran(1, "stdin\n", f"{alone}\n")
        both = fmt("--check", file, file).err
        assert "2 of 2 files would change; format them with robotrules fmt, see --diff" in both

    def test_diff(self, file: Path) -> None:
        """Readable lines; a message reports invisible changes."""
        ran = fmt("--diff", file)
        assert ran.out.splitlines()[2:] == [
            "@@ -1,3 +1,2 @@",
            "-user-agent:*",
            "-",
            "-Disallow : /a #why",
            "\\ No newline at end of file",
            "+User-agent: *",
            "+Disallow: /a  # why",
        ]
        assert ran.err == f"robotrules fmt: '{file}': line ends would change to LF\n"
        ran = fmt("--diff", "-", stdin=b"\xef\xbb\xbfUser-agent: *\n")
        assert ran.out.splitlines()[3:] == ["-\\ufeffUser-agent: *", "+User-agent: *"]

    def test_only_the_line_ends(self) -> None:
        """The diff is empty, and a message explains exit code 1."""
        ran = fmt("--diff", "-", stdin=DONE.replace(b"\n", b"\r\n"))
        assert ran == Ran(1, "", "robotrules fmt: stdin: line ends would change to LF\n")

    def test_quiet(self, file: Path) -> None:
        """Only errors, and a requested diff."""
        assert fmt("-q", "--check", file) == Ran(1, "", "")
        ran = fmt("--quiet", "--diff", file)
        assert (ran.code, ran.err) == (1, "")
        assert ran.out.startswith("---")
        assert fmt("-q", file) == Ran(0, "", "")
        assert file.read_bytes() == DONE
        assert "no such file" in fmt("-q", file, "missing.txt").err

    def test_terminals_get_no_control_characters(self) -> None:
        """Whoever wrote the file (RFC 9309 §3)."""
        body = "User-agent:x\x9b\nDisallow:/a\x1b[31m\nDisallow: /b\n".encode() + 99 * b"#\n"
        ran = fmt("-", "--diff", stdin=body, terminals=["stdout"], NO_COLOR="1")
        assert ran.code == 1
        assert not {"\x1b", "\x9b"} & set(ran.out)


class TestErrors:
    """One line each, exit code 2, and the other files are processed."""

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (None, "no such file"),
            ("folder", "it is a directory; pass a file"),
            (b"a\0b", "it is not a text file: it has control characters"),
            (b"\x89PNG\r\n\x1a\n\1\2\3\4", "it is not a text file"),
            (b"\xff\xfeU\0s\0", "save it as UTF-8 first"),
            (b"<html>", "it is an HTML page"),
            (b"#" * 600_000 + b"\nx", "longer than profile default reads"),
        ],
    )
    @pytest.mark.parametrize("how", [[], ["--check"], ["--diff"], ["--json"]])
    def test_one_of_several(
        self, tmp_path: Path, file: Path, content: bytes | str | None, words: str, how: list[str]
    ) -> None:
        """It comes first, and the one behind it is looked at all the same."""
        bad = tmp_path / "bad"
        if content == "folder":
            bad.mkdir()
        elif isinstance(content, bytes):
            bad.write_bytes(content)
        ran = fmt(*how, bad, file)
        assert ran.code == 2
        assert [line for line in ran.err.splitlines() if words in line and str(bad) in line]
        assert file.read_bytes() == (BODY if how in (["--check"], ["--diff"]) else DONE)
        if isinstance(content, bytes):
            assert bad.read_bytes() == content

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all")
    def test_unreadable(self, file: Path) -> None:
        """The message names a fix."""
        file.chmod(0)
        assert "permission denied" in fmt(file).err

    def test_unreadable_for_the_superuser_too(self, file: Path) -> None:
        """The same if the superuser runs the tests."""
        with mock.patch("builtins.open", side_effect=PermissionError(errno.EACCES, "no")):
            ran = fmt(file)
        assert (ran.code, "permission denied; change its mode" in ran.err) == (2, True)

    def test_not_a_regular_file(self, file: Path) -> None:
        """A pipe is not replaced by a file."""
        with mock.patch("os.path.isfile", return_value=False):
            ran = fmt(file)
        assert (ran.code, file.read_bytes()) == (2, BODY)
        assert "is not a regular file: pipe it in and pass '-'" in ran.err

    def test_a_url(self) -> None:
        """Nothing is fetched."""
        ran = fmt("https://example.com/robots.txt")
        assert ran.code == 2
        assert "is not a file: save it" in ran.err

    def test_usage(self, file: Path) -> None:
        """Two forms at once, or stdin twice."""
        for given in ([file, "--json", "--diff"], ["-", "-"], ["-", "--json"]):
            ran = fmt(*given)
            assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert file.read_bytes() == BODY

    def test_no_file_is_named(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The robots.txt of the working folder is used; without one there is an error."""
        monkeypatch.chdir(file.parent)
        assert fmt("--check").out == "robots.txt\n"
        assert fmt().err.startswith("robotrules fmt: 'robots.txt' formatted")
        assert file.read_bytes() == DONE
        file.unlink()
        words = "there is no robots.txt in this directory: pass a file, or '-' for stdin"
        assert fmt() == Ran(2, "", f"robotrules fmt: {words}; see robotrules fmt --help\n")


class TestJson:
    """One object, whatever happens."""

    def test_all(self, file: Path, tmp_path: Path) -> None:
        """The result for each file."""
        good = tmp_path / "good.txt"
        good.write_bytes(DONE)
        ran = fmt("--json", file, good, tmp_path)
        value = json.loads(ran.out)
        octets = {"before": len(BODY), "after": len(DONE)}
        same = {"before": len(DONE), "after": len(DONE)}
        error = ran.err.removeprefix("robotrules fmt: ").rstrip()
        about = {"changed": False, "written": False}
        assert value == {
            "schema": SCHEMA_VERSION,
            "changed": 1,
            "same": 1,
            "failed": 1,
            "files": [
                {
                    "file": str(file),
                    "changed": True,
                    "written": True,
                    "bytes": octets,
                    "error": None,
                },
                {"file": str(good), **about, "bytes": same, "error": None},
                {"file": str(tmp_path), **about, "bytes": None, "error": error},
            ],
        }
        assert ran.code == 2

    def test_stdin(self) -> None:
        """It has no name."""
        ran = fmt("-", "--check", "--json", stdin=BODY)
        assert (ran.code, ran.err) == (1, "")
        assert json.loads(ran.out)["files"][0]["file"] is None


class TestBudget:
    """`--max-states`, else that of the settings nearest to the file."""

    def max_states(self, *given: Path | str) -> int:
        """Return the budget that formatting is given."""
        seen = FormatResult(BODY, False, True, "")
        with mock.patch.object(sys.modules[CODE], "format_robots", return_value=seen) as asked:
            assert fmt(*given).code == 0
        found: int = asked.call_args.kwargs["max_states"]
        return found

    def test_where_it_comes_from(self, file: Path, tmp_path: Path) -> None:
        """The option beats the settings, and these beat ours."""
        assert self.max_states(file) == MAX_STATES
        (tmp_path / "robotrules.toml").write_text("[fmt]\nmax-states = 7\n", encoding="utf-8")
        assert self.max_states(file) == 7
        assert self.max_states(file, "--max-states", "9") == 9

    def test_broken_settings(self, file: Path, tmp_path: Path) -> None:
        """One line, and the file stays."""
        (tmp_path / "robotrules.toml").write_text("[fmt\n", encoding="utf-8")
        ran = fmt(file)
        assert (ran.code, ran.err.count("\n"), file.read_bytes()) == (2, 1, BODY)
        assert "robotrules.toml" in ran.err
        with mock.patch.object(sys.modules[CODE], "_max_states", side_effect=CliError("a\nb")):
            assert fmt(file).err == "robotrules fmt: a b\n"
