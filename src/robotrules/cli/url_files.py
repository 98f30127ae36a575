"""
Files of URLs: what `robotrules.url_lists` reads, from a file or stdin.

A `UrlFile` is read once and in blocks, so a million URLs take the memory of a few thousand.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import BinaryIO

from robotrules.cli.console import STDIN, CliError, quoted, report
from robotrules.cli.input_files import open_octets, read_error, size_of
from robotrules.cli.text import is_terminal
from robotrules.octets import visible
from robotrules.url_lists import BLOCK, GZIP, UrlReader

# Compressed data is read in smaller blocks: logs expand about twentyfold.
PACKED_BLOCK = 16 * 1024


class UrlFile(UrlReader):
    """
    A file of URLs, or stdin for `-`; a context manager whose chunks are read once.

    Opening raises `CliError` if there is no such file.
    """

    def __init__(self, name: str, *, any_scheme: bool = False, as_it_comes: bool = False) -> None:
        """Open a file; *as_it_comes*: a chunk of a pipe is the result of one read."""
        self.name = name
        self._stream: BinaryIO = open_octets(name, "URLs")
        self.size = size_of(self._stream)
        """Its size in bytes, if known."""
        super().__init__(
            self._read_blocks(),
            any_scheme=any_scheme,
            as_it_comes=as_it_comes and self.size is None,
        )
        if name == STDIN and is_terminal(sys.stdin):
            report(
                "reading URLs from the terminal, one per line; press Ctrl-D to end", label="hint"
            )

    def __enter__(self) -> UrlFile:
        return self

    def __exit__(self, *_: object) -> None:
        if self.name != STDIN:
            self._stream.close()

    @property
    def where(self) -> str:
        """Its name for messages."""
        return "stdin" if self.name == STDIN else quoted(self.name)

    def _read_blocks(self) -> Iterator[bytes]:
        """Yield the bytes of the file as they arrive."""
        # Both return what is available: a block of a file, or the data in a pipe.
        read = getattr(self._stream, "read1", self._stream.read)
        size = 0
        while True:
            try:
                block: bytes = read(size or PACKED_BLOCK)
            except OSError as error:
                raise read_error(self.name, "URLs", error) from None
            if not block:
                return
            size = size or (PACKED_BLOCK if block.startswith(GZIP) else BLOCK)
            yield block


def report_hint(file: UrlFile) -> None:
    """Report a hint about how a file was read."""
    if file.hint:
        report(f"{file.where}: {file.hint}", label="hint")


def refuse_empty(file: UrlFile) -> None:
    """Refuse a file without URLs; an empty file is valid."""
    if file.error:
        raise CliError(f"cannot read URLs from {file.where}: {file.error}")
    for line, octets in file.skipped.examples[:1]:
        raise CliError(
            f"there is no URL in {file.where}: line {line} is '{visible(octets)}'; pass a list "
            "of URLs, an access log, CSV with a header, JSON lines or a sitemap"
        )
