"""Streams as processes and terminals have them: a million URLs, readers that leave, Ctrl-C."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.shell import COMMAND, Terminal, as_process, process_environment

ARGUMENTS = ["check", "--urls", "-", "--as", "AnyBot", "--robots", "robots.txt"]
# The interpreter and the library take 17 MB of it.
MOST_MEGABYTES = 60
MILLION = 1_000_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a robots.txt."""
    rules = "".join(f"Disallow: /{n}/*/x\n" for n in range(50))
    (tmp_path / "robots.txt").write_text(f"User-agent: *\n{rules}", encoding="utf-8")
    return tmp_path


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="Linux tells the peak")
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_million_urls_take_the_memory_of_a_few(folder: Path, options: list[str]) -> None:
    """Memory does not grow with the number of URLs that come through a pipe."""
    # Not ru_maxrss: a process starts with that of the one it was forked from.
    measured = (
        "import re, sys\n"
        "from robotrules.cli import run\n"
        f"code = run({[*ARGUMENTS, *options]!r})\n"
        "peak = re.search(r'VmHWM:\\s+(\\d+) kB', open('/proc/self/status').read())\n"
        "print(code, peak[1], file=sys.stderr)"
    )
    with (folder / "out").open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-c", measured],
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=process_environment(),
        )
        assert process.stdin is not None
        for start in range(0, MILLION, 10_000):
            urls = (
                f"https://example.com/{n % 100}/page/x?id={n}" for n in range(start, start + 10_000)
            )
            process.stdin.write("\n".join(urls).encode() + b"\n")
        _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    summary, last = err.splitlines()
    assert summary.startswith(b"robotrules check: 1,000,000 URLs: ")
    code, size = map(int, last.split())
    assert code == 1
    assert size / 1000 < MOST_MEGABYTES
    with (folder / "out").open("rb") as out:
        assert sum(1 for _ in out) == MILLION


def test_answers_are_streamed(folder: Path) -> None:
    """A slow producer sees each answer before it sends the next URL."""
    with subprocess.Popen(
        [*COMMAND, *ARGUMENTS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=folder,
        env=process_environment(),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for n in range(3):
            process.stdin.write(f"/{n}/a/x\n".encode())
            process.stdin.flush()
            answer = process.stdout.readline()
            assert answer == f"disallowed\t/{n}/a/x\tline {n + 2}: Disallow: /{n}/*/x\n".encode()


@pytest.mark.parametrize("arguments", [ARGUMENTS, ["--help"], ["--version"]])
def test_a_reader_that_goes_away(folder: Path, arguments: list[str]) -> None:
    """`| head` ends it quietly."""
    with subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=process_environment(),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        with suppress(BrokenPipeError):  # the reader may have exited
            process.stdin.write(b"/a\n")
            process.stdin.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux has a full device")
@pytest.mark.parametrize("arguments", [["parse", "robots.txt"], ["--help"], ["--version"]])
def test_a_full_disk(folder: Path, arguments: list[str]) -> None:
    """Output that cannot be written is an error, reported once."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=process_environment(),
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.startswith(b"robotrules: cannot write the output: ")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.skipif(os.name == "nt", reason="signals are a matter of Unix")
def test_an_interrupt(folder: Path) -> None:
    """Ctrl-C is 130, and no traceback."""
    with subprocess.Popen(
        [*COMMAND, *ARGUMENTS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=process_environment(),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b"/a\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"allowed\t/a\tno rule matches\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
        assert process.stderr.read() == b"robotrules check: interrupted\n"


def test_octets_that_are_not_text(folder: Path) -> None:
    """Arguments, URLs and file names need not be UTF-8."""
    (folder / "urls").write_bytes(b"/\xff\xfe\n/\xed\xa0\x80\n/0/\x80/x\n")
    ran = as_process(*ARGUMENTS, os.fsdecode(b"/0/\xff/x"), stdin=b"", cwd=folder)
    assert ran[:2] == (1, "disallowed\t/0/\\xff/x\tline 2: Disallow: /0/*/x\n")
    assert ran.err.startswith("robotrules check: 1 URL: 0 allowed, 1 disallowed, in ")
    ran = as_process("check", "--urls", "urls", *ARGUMENTS[3:], cwd=folder)
    assert [line.split("\t")[1] for line in ran.out.splitlines()] == [
        "/\\xff\\xfe",
        "/\\xed\\xa0\\x80",
        "/0/\\x80/x",
    ]
    assert "'no\\xff'" in as_process("parse", os.fsdecode(b"no\xff"), cwd=folder).err


class TestTerminal:
    """On a pseudo-terminal."""

    pytestmark = pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals are Unix")

    def test_a_counter_for_a_pipe(self, folder: Path) -> None:
        """The bar is on stderr, counts URLs, and is wiped before the summary."""
        with (
            Terminal() as terminal,
            subprocess.Popen(
                [*COMMAND, *ARGUMENTS],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=terminal.theirs,
                cwd=folder,
                env=process_environment(NO_COLOR="1"),
            ) as process,
        ):
            assert process.stdin is not None
            for _ in range(100):
                process.stdin.write(b"/a\n/0/a/x\n")
                process.stdin.flush()
                if terminal.shows(" URLs  ", seconds=0.3):
                    break
            process.stdin.close()
            shown = terminal.read()
        assert re.search(r"\r[0-9]+ URLs  [0-9]+/s\x1b\[K", shown)
        assert re.search(r"\r\x1b\[Krobotrules check: [0-9]+ URLs: [0-9]+ allowed, ", shown)

    def test_a_bar_for_a_file(self, folder: Path) -> None:
        """The bar shows the remaining part if the size is known."""
        with (folder / "urls").open("wb") as urls:
            for _ in range(400):  # more than a second; the bar comes when 0.4 are over
                urls.write(b"https://example.com/0/page/x\n" * 10_000)
        with (
            Terminal() as terminal,
            subprocess.Popen(
                [*COMMAND, "check", "--urls", "urls", *ARGUMENTS[3:]],
                stdout=subprocess.DEVNULL,
                stderr=terminal.theirs,
                cwd=folder,
                env=process_environment(NO_COLOR="1"),
            ),
        ):
            shown = terminal.read()
        assert "\r[#" in shown
        assert "%  " in shown
        assert " left\x1b[K" in shown
        assert "4,000,000 URLs: 0 allowed, 4,000,000 disallowed" in shown

    def test_no_bar_where_the_answers_are(self, folder: Path) -> None:
        """With stdout on the terminal, lines are the progress; typing them works."""
        with (
            Terminal() as terminal,
            subprocess.Popen(
                [*COMMAND, *ARGUMENTS],
                stdin=terminal.theirs,
                stdout=terminal.theirs,
                stderr=terminal.theirs,
                cwd=folder,
                env=process_environment(),
            ),
        ):
            assert terminal.shows("Ctrl-D")
            terminal.type("/0/a/x\n")
            assert terminal.shows("/*/x")
            time.sleep(0.6)
            terminal.type("/a\n")
            assert terminal.shows("no rule")
            terminal.type("\x04")
            shown = terminal.read()
        assert (
            "\x1b[31mdisallowed\x1b[0m  /0/a/x  \x1b[2mline 2: Disallow: /0/*/x\x1b[0m\n" in shown
        )
        assert "\x1b[32mallowed\x1b[0m     /a" in shown
        assert "\x1b[K" not in shown
