"""
How tests run the command line: in this process, as a process, or on a pseudo-terminal.

It does not know what the answers should be.
"""

from __future__ import annotations

import contextlib
import io
import os
import select
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from robotrules.cli import run

ROBOTS = b"User-agent: *\nDisallow: /x\nAllow: /x/y\n\nUser-agent: ExampleBot\nDisallow: /z\n"
COMMAND = [sys.executable, "-c", "from robotrules.cli import main; main()"]


class Ran(NamedTuple):
    """What a run left behind."""

    code: int
    out: str
    err: str


class Stream(io.TextIOWrapper):
    """A standard stream in memory, which may claim to be a terminal."""

    def __init__(self, octets: bytes = b"", *, terminal: bool = False) -> None:
        self._terminal = terminal
        self.octets = io.BytesIO(octets)
        super().__init__(self.octets, encoding="utf-8", errors="backslashreplace", newline="\n")

    def isatty(self) -> bool:
        return self._terminal

    def text(self) -> str:
        """Return what was written."""
        self.flush()
        return self.octets.getvalue().decode("utf-8", "surrogateescape")


@contextlib.contextmanager
def environment(**changes: str) -> Iterator[None]:
    """Have a plain environment with these *changes*: no variable about colour or terminals."""
    plain = {key: value for key, value in os.environ.items() if not key.endswith("_COLOR")}
    with mock.patch.dict(os.environ, plain | {"TERM": "xterm"} | changes, clear=True):
        yield


def robotrules(
    *arguments: str,
    stdin: bytes = b"",
    terminals: Sequence[str] = (),
    **variables: str,
) -> Ran:
    """Run in this process; *terminals* names the standard streams that are terminals."""
    read = Stream(stdin, terminal="stdin" in terminals)
    out = Stream(terminal="stdout" in terminals)
    err = Stream(terminal="stderr" in terminals)
    with (
        environment(**variables),
        mock.patch.object(sys, "stdin", read),
        mock.patch.object(sys, "stdout", out),
        mock.patch.object(sys, "stderr", err),
    ):
        code = run(arguments)
    return Ran(code, out.text(), err.text())


def check(
    file: str, *more: str, stdin: bytes = b"", terminals: Sequence[str] = (), **variables: str
) -> Ran:
    """Run `check` as AnyBot in this process."""
    arguments = ["check", "--as", "AnyBot", "--robots", file, *more]
    return robotrules(*arguments, stdin=stdin, terminals=terminals, **variables)


def process_environment(**changes: str) -> dict[str, str]:
    """Return the environment of a run as a process."""
    with environment(**changes):
        return {**os.environ, "PYTHONUTF8": "1"}


def as_process(*arguments: str, stdin: bytes = b"", cwd: Path | None = None) -> Ran:
    """Run as a process whose streams are pipes."""
    done = subprocess.run(
        [*COMMAND, *arguments],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env=process_environment(),
        timeout=60,
        check=False,
    )
    out, err = (text.decode("utf-8", "backslashreplace") for text in (done.stdout, done.stderr))
    return Ran(done.returncode, out, err)


class Terminal:
    """A pseudo-terminal of 100 columns that a process may have as any of its streams."""

    def __init__(self) -> None:
        # Not on all platforms: tests that need it call pytest.importorskip("pty") first.
        import fcntl
        import pty
        import termios

        self._ours, self.theirs = pty.openpty()
        self._seen = b""
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.hang_up()
        os.close(self._ours)

    def hang_up(self) -> None:
        """Leave the other side to the process; once it ends there, reading ends here."""
        if self.theirs >= 0:
            os.close(self.theirs)
            self.theirs = -1

    def type(self, text: str) -> None:
        """Type on the keyboard."""
        os.write(self._ours, text.encode())

    def shows(self, text: str, seconds: float = 30) -> bool:
        """Wait until some text has appeared; tell whether it has."""
        end = time.monotonic() + seconds
        while text.encode() not in self._seen:
            if not self._wait(end - time.monotonic()):
                return False
        return True

    def read(self, seconds: float = 120) -> str:
        """Return all that appears until the process ends."""
        end = time.monotonic() + seconds
        while self._wait(end - time.monotonic()):
            pass
        return self._seen.decode("utf-8", "backslashreplace").replace("\r\n", "\n")

    def _wait(self, seconds: float) -> bool:
        """Wait for more; tell whether there is some."""
        self.hang_up()
        ready, _, _ = select.select([self._ours], [], [], max(seconds, 0))
        if not ready:
            return False
        try:
            block = os.read(self._ours, 65536)
        except OSError:  # Linux says so when the last process lets go of the terminal
            return False
        self._seen += block
        return bool(block)


def typed_at_a_terminal(command: str, folder: Path, variables: dict[str, str]) -> str:
    """Return what a terminal shows after a command is typed in a folder."""
    with Terminal() as terminal:
        end = terminal.theirs
        with subprocess.Popen(
            ["sh", "-c", command], stdin=end, stdout=end, stderr=end, cwd=folder, env=variables
        ):
            return terminal.read()


def modules_loaded_by(*arguments: str) -> set[str]:
    """Return the names of all modules that a command has imported when it ends."""
    code = (
        "import sys\nfrom robotrules.cli import run\n"
        f"run({list(arguments)!r})\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env=process_environment(),
    )
    [line] = done.stderr.splitlines()
    return set(line.split())
