"""
Streams of the command line: files and URLs in, text and JSON out, words to stderr.

Input is read as octets and in blocks, so that a million URLs take the memory of a few thousand.
Output goes to stdout as it is made. It does not know what a verdict is.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, BinaryIO, NamedTuple

import click

import robotrules
from robotrules.cli.text import Paint, is_terminal, wants_colour
from robotrules.octets import visible
from robotrules.profile import find_profile

# One read of URLs. A pipe gives 64 KiB at most; a file gives this much, some thousand URLs.
BLOCK = 128 * 1024
# No URL is this long. A file with such a line is something else, and must not fill the memory.
LONGEST_URL = 1024 * 1024
# URLs that are asked about together, however short: answers come while there are questions.
TOGETHER = 8192
STDIN = "-"


class CliError(click.ClickException):
    """What ends a command with exit code 2: what, where, and the cure, in one line."""

    exit_code = 2

    def __init__(self, words: str) -> None:
        super().__init__(words)
        # Who speaks: the command that is running now, and no longer when the words are said.
        self.ctx = click.get_current_context(silent=True)


# --- Words ------------------------------------------------------------------------------------


def say(words: str, *, style: str = "", label: str = "", speaker: str = "") -> None:
    """
    Say one line on stderr: who speaks, a coloured *label* such as `hint`, and the words.

    *speaker* is the command that is running, unless it is named.
    """
    context = click.get_current_context(silent=True)
    speaker = speaker or (context.command_path if context else "robotrules")
    if sys.stderr is None:
        return
    paint = Paint(wants_colour(sys.stderr))
    if label:
        words = f"{paint(style or 'faint', label)}: {words}"
    with suppress(OSError):  # nobody listens, and there is nobody else to tell
        sys.stderr.write(f"{speaker}: {words}\n")
        sys.stderr.flush()


def quoted(name: str) -> str:
    """Return a name that somebody typed, in quotes, as it may be shown."""
    return f"'{visible(os.fsencode(name))}'"


# --- In ---------------------------------------------------------------------------------------


def open_octets(name: str, what: str) -> BinaryIO:
    """Open a file, or stdin for `-`; *what* it holds is for the error."""
    if name == STDIN:
        if sys.stdin is None:
            raise CliError(f"cannot read {what} from stdin: stdin is closed; pass a file")
        return sys.stdin.buffer
    try:
        # Unbuffered: blocks are large, and what a pipe has is wanted now.
        return open(name, "rb", buffering=0)
    except OSError as error:
        raise unreadable(name, what, error) from None


def unreadable(name: str, what: str, error: OSError) -> CliError:
    """Return the error for a file that cannot be read."""
    path = "stdin" if name == STDIN else quoted(name)
    if error.errno == errno.ENOENT:
        if "://" in name and what == "robots.txt":
            return CliError(
                f"{path} is no file: leave out --robots, and the robots.txt of each URL is "
                "fetched; or save it and pass the file"
            )
        why = "there is no such file; check the name, or pass - to read stdin"
    elif isinstance(error, IsADirectoryError):
        why = "it is a folder; name a file in it"
    elif isinstance(error, PermissionError):
        why = "this account may not read it; change its mode or its owner"
    else:
        why = error.strerror or type(error).__name__
    return CliError(f"cannot read {what} from {path}: {why}")


def read_robots(
    name: str, profile: str, *, most: int | None = None
) -> tuple[robotrules.RobotsTxt, bytes]:
    """
    Read and parse a robots.txt; return it, and its octets as they were read.

    What lies far past the parsing limit (RFC 9309 §2.5) is not even read, or past *most* octets.
    """
    if name == STDIN and is_terminal(sys.stdin):
        raise CliError(
            "robots.txt would be read from this terminal: pass a file, or pipe it in from a "
            "program such as curl"
        )
    # Twice the limit, because UTF-16 has two octets where UTF-8 has one.
    most = max(2 * find_profile(profile).max_bytes + BLOCK, most or 0)
    stream = open_octets(name, "robots.txt")
    body = bytearray()
    try:
        while len(body) <= most and (block := stream.read(BLOCK)):
            body += block
    except OSError as error:
        raise unreadable(name, "robots.txt", error) from None
    finally:
        if name != STDIN:
            stream.close()
    octets = bytes(body)
    return robotrules.parse(octets, profile, complete=len(octets) <= most), octets


class Chunk(NamedTuple):
    """URLs that were read together."""

    urls: list[bytes]
    octets: int
    """How much of the input they were."""


def url_chunks(stream: BinaryIO, name: str) -> Iterator[Chunk]:
    """
    Yield the URLs of a stream, one a line, as they come.

    Whitespace at the ends of a line and blank lines do not count, nor does a byte order mark; a
    last line without a line end does. Any other octet is the URL's own.
    """
    # Both give what is there: a file a whole block, a pipe what was written to it so far.
    read = getattr(stream, "read1", stream.read)
    unfinished = bytearray()
    line = 1
    first = True
    while True:
        try:
            block: bytes = read(BLOCK)
        except OSError as error:
            raise unreadable(name, "URLs", error) from None
        end = block.rfind(b"\n") + 1 if block else 0
        if block and not end:
            unfinished += block
            _refuse_long(len(unfinished), name, line)
            continue
        text = bytes(unfinished) + block[:end]
        unfinished = bytearray(block[end:])
        if first:
            text = text.removeprefix(b"\xef\xbb\xbf")
            first = False
        lines = text.split(b"\n")
        _refuse_long(len(lines[0]), name, line)
        line += len(lines) - 1
        urls = [url for url in map(bytes.strip, lines) if url]
        for start in range(0, len(urls) or 1, TOGETHER):
            octets = 0 if start else len(text)
            yield Chunk(urls[start : start + TOGETHER], octets)
        if not block:
            return


def _refuse_long(octets: int, name: str, line: int) -> None:
    if octets > LONGEST_URL:
        where = "stdin" if name == STDIN else quoted(name)
        raise CliError(
            f"line {line} of {where} is longer than 1 MiB, which no URL is: pass a file with "
            "one URL a line"
        )


def size_of(stream: BinaryIO) -> int | None:
    """Return how many octets are left to read, if that can be known."""
    try:
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode):
            return None
        return max(status.st_size - stream.tell(), 0)
    except (OSError, ValueError):
        return None


# --- Out --------------------------------------------------------------------------------------


class Output:
    """Stdout: octets of text or JSON, coloured on a terminal and plain in a pipe."""

    __slots__ = ("_buffer", "_encoding", "paint", "terminal", "width")

    def __init__(self) -> None:
        if sys.stdout is None:
            raise CliError("cannot write: stdout is closed; redirect it to a file or a pipe")
        self._buffer = sys.stdout.buffer
        self._encoding = sys.stdout.encoding or "utf-8"
        self.terminal = is_terminal(sys.stdout)
        self.paint = Paint(wants_colour(sys.stdout))
        self.width = shutil.get_terminal_size().columns if self.terminal else 100

    def write(self, text: str) -> None:
        """Write text; what the terminal's encoding lacks shows as an escape."""
        self._buffer.write(text.encode(self._encoding, "backslashreplace"))

    def lines(self, lines: list[str]) -> None:
        """Write lines."""
        self.write("".join(f"{line}\n" for line in lines))

    def json(self, value: Any) -> None:
        """Write a JSON value: indented for a person, one line for a program; always ASCII."""
        indent = 2 if self.terminal else None
        self.write(json.dumps(value, indent=indent) + "\n")

    def flush(self) -> None:
        """Hand over what was written, now."""
        self._buffer.flush()


def abandon_stdout() -> None:
    """Send what is still unwritten nowhere, so that the interpreter's end is a quiet one."""
    with suppress(OSError, ValueError, AttributeError):
        stdout = sys.stdout.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stdout)
        os.close(nowhere)
