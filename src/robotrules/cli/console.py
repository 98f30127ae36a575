"""
The console: messages on stderr, data on stdout, and the error that ends a command.

Output is written to stdout as it is produced, coloured on a terminal.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from contextlib import suppress
from typing import Any, BinaryIO, TextIO

import click

from robotrules.cli.text import Paint, is_terminal, use_colour
from robotrules.octets import visible

STDIN = "-"


class CliError(click.ClickException):
    """An error that ends a command with exit code 2; one line that says what to do."""

    exit_code = 2

    def __init__(self, words: str) -> None:
        super().__init__(words)
        # The running command; it is not known any more when the message is printed.
        self.ctx = click.get_current_context(silent=True)


# --- Messages -------------------------------------------------------------------------------------


def report(words: str, *, style: str = "", label: str = "", command: str = "") -> None:
    """
    Print one line to stderr: the command, a coloured *label* such as `hint`, and the message.

    *command* defaults to the command that is running.
    """
    context = click.get_current_context(silent=True)
    command = command or (context.command_path if context else "robotrules")
    if sys.stderr is None:
        return
    paint = Paint(use_colour(sys.stderr))
    if label:
        words = f"{paint(style or 'faint', label)}: {words}"
    with suppress(OSError):  # stderr is closed: there is nowhere to report that
        sys.stderr.write(f"{command}: {words}\n")
        sys.stderr.flush()


def quoted(name: str) -> str:
    """Return a name from the command line in quotes, with control characters escaped."""
    return f"'{visible(os.fsencode(name))}'"


# --- Output ---------------------------------------------------------------------------------------


class Output:
    """Stdout, or another stream: text or JSON, coloured on a terminal and plain in a pipe."""

    __slots__ = ("_buffer", "_encoding", "paint", "terminal", "width")

    def __init__(self, stream: TextIO | None = None) -> None:
        stream = stream or sys.stdout
        if stream is None:
            raise CliError("cannot write: stdout is closed; redirect it to a file or a pipe")
        self._buffer = stream.buffer
        self._encoding = stream.encoding or "utf-8"
        self.terminal = is_terminal(stream)
        self.paint = Paint(use_colour(stream))
        self.width = shutil.get_terminal_size().columns if self.terminal else 100

    @classmethod
    def to_file(cls, file: BinaryIO) -> Output:
        """Return an output to an open file: UTF-8, without colour."""
        output = cls.__new__(cls)
        output._buffer, output._encoding = file, "utf-8"
        output.terminal, output.paint, output.width = False, Paint(False), 100
        return output

    def write(self, text: str) -> None:
        """Write text; characters that the terminal's encoding lacks are escaped."""
        self._buffer.write(text.encode(self._encoding, "backslashreplace"))

    def lines(self, lines: list[str]) -> None:
        """Write lines."""
        self.write("".join(f"{line}\n" for line in lines))

    def json(self, value: Any) -> None:
        """Write a JSON value: indented on a terminal, one line in a pipe; always ASCII."""
        indent = 2 if self.terminal else None
        self.write(json.dumps(value, indent=indent) + "\n")

    def flush(self) -> None:
        """Flush stdout."""
        self._buffer.flush()


def abandon_stdout() -> None:
    """Redirect stdout to the null device, so that the interpreter exits without an error."""
    with suppress(OSError, ValueError, AttributeError):
        stdout = sys.stdout.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stdout)
        os.close(nowhere)
