"""
Input files of the command line: robots.txt files and lists of URLs, from disk or stdin.

Files are read as bytes and in blocks, so a million URLs take the memory of a few thousand. To
crawlers every byte string is a robots.txt (RFC 9309 §2.3.1.5); on the command line a binary file is
refused, because the user meant another one.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from collections.abc import Iterator
from typing import BinaryIO

import click

import robotrules
from robotrules.cli.console import STDIN, CliError, quoted
from robotrules.cli.text import is_terminal
from robotrules.json_results.binary_files import describe_binary
from robotrules.profile import find_profile
from robotrules.url_lists import BATCH, BLOCK, LONGEST_URL, Chunk

DEFAULT_FILE = "robots.txt"
# `example.com`, and `example.com/a`; but not `robots.txt`.
_HOST = re.compile(
    r"(?![\w.-]+\.(?:txt|x?html?|toml|json|xml|old|bak|orig)\Z)(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?(?:/|\Z)",
    re.IGNORECASE,
)


def open_octets(name: str, what: str) -> BinaryIO:
    """Open a file, or stdin for `-`; *what* names its content in errors."""
    if name == STDIN:
        if sys.stdin is None:
            raise CliError(f"cannot read {what} from stdin: stdin is closed; pass a file")
        return sys.stdin.buffer
    try:
        # Unbuffered: blocks are large, and data of a pipe is wanted as it arrives.
        return open(name, "rb", buffering=0)
    except OSError as error:
        raise read_error(name, what, error) from None


def read_error(name: str, what: str, error: OSError) -> CliError:
    """Return the error for a file that cannot be read."""
    path = "stdin" if name == STDIN else quoted(name)
    if error.errno == errno.ENOENT:
        if "://" in name and what == "robots.txt":
            return CliError(
                f"{path} is not a file: remove --robots to fetch the robots.txt of each URL, or "
                "save it and pass the file"
            )
        if "://" in name and what == "URLs":
            return CliError(
                f"{path} is not a file: save it and pass the file, or check a sitemap by its URL "
                "with robotrules check --urls"
            )
        why = "no such file; check the name, or pass - to read stdin"
    elif isinstance(error, IsADirectoryError):
        why = "it is a directory; pass a file"
    elif isinstance(error, PermissionError):
        why = "permission denied; change its mode or owner"
    else:
        why = error.strerror or type(error).__name__
    return CliError(f"cannot read {what} from {path}: {why}")


def read_robots(
    name: str, profile: str, *, most: int | None = None
) -> tuple[robotrules.RobotsTxt, bytes]:
    """
    Read and parse a robots.txt; return it and its bytes as read.

    Data far beyond the parsing limit (RFC 9309 §2.5), or beyond *most* bytes, is not read.
    """
    if name == STDIN and is_terminal(sys.stdin):
        raise CliError(
            "stdin is a terminal: pass a file, or pipe a robots.txt in, for example from curl"
        )
    if name.lower().endswith(".toml"):  # its lines have no colon: it would allow everything
        path = quoted(name)
        raise CliError(
            f"{path} is TOML and not a robots.txt: for a policy, pipe the output of "
            f"`robotrules write {path}`, and pass - in place of the file; `robotrules write "
            f"{path} --check` lints the policy"
        )
    # Twice the limit, because UTF-16 uses two bytes where UTF-8 uses one.
    most = max(2 * find_profile(profile).max_bytes + BLOCK, most or 0)
    stream = open_octets(name, "robots.txt")
    body = bytearray()
    try:
        while len(body) <= most and (block := stream.read(BLOCK)):
            body += block
    except OSError as error:
        raise read_error(name, "robots.txt", error) from None
    finally:
        if name != STDIN:
            stream.close()
    octets = bytes(body)
    return robotrules.parse(octets, profile, complete=len(octets) <= most), octets


def url_chunks(stream: BinaryIO, name: str) -> Iterator[Chunk]:
    """
    Yield the URLs of a stream, one per line, as they arrive.

    White space around a URL, blank lines and a byte order mark are skipped. The last line needs no
    line end. All other bytes belong to the URL.
    """
    # Both return what is available: a block of a file, or the data in a pipe.
    read = getattr(stream, "read1", stream.read)
    unfinished = bytearray()
    line = 1
    first = True
    while True:
        try:
            block: bytes = read(BLOCK)
        except OSError as error:
            raise read_error(name, "URLs", error) from None
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
        for start in range(0, len(urls) or 1, BATCH):
            octets = 0 if start else len(text)
            yield Chunk(urls[start : start + BATCH], octets)
        if not block:
            return


def _refuse_long(octets: int, name: str, line: int) -> None:
    if octets > LONGEST_URL:
        where = "stdin" if name == STDIN else quoted(name)
        raise CliError(
            f"line {line} of {where} is longer than 1 MiB: pass a file with one URL per line"
        )


def size_of(stream: BinaryIO) -> int | None:
    """Return the number of bytes left to read; None if it is unknown."""
    try:
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode):
            return None
        return max(status.st_size - stream.tell(), 0)
    except (OSError, ValueError):
        return None


def default_robots_file(*, or_url: bool) -> str:
    """Return the robots.txt of this directory, the default input."""
    if os.path.isfile(DEFAULT_FILE):
        return DEFAULT_FILE
    advice = "pass a file, '-' for stdin, or a URL such as https://example.com"
    if not or_url:
        advice = "pass a file, or '-' for stdin"
    raise click.UsageError(f"there is no robots.txt in this directory: {advice}")


def refuse_binary(octets: bytes, file: str) -> None:
    """Refuse a file that is not text: too many of its bytes are control characters."""
    if words := describe_binary(octets):
        raise CliError(f"{'stdin' if file == STDIN else quoted(file)} {words}")


def is_host_name(name: str) -> bool:
    """Tell whether an argument looks like a host, such as `example.com`, and not like a file."""
    return _HOST.match(name) is not None
