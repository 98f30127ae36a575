"""
Files of URLs: what `robotrules.url_lists` reads, from files, stdin or URLs of sitemaps.

A `UrlFile` is read once and in blocks, so a million URLs take the memory of a few thousand. The
sitemaps that a local index lists are read from files beside it, by their names; those of a fetched
index are fetched. `UrlFiles` reads several files, one after another.

Sections: one file · several files · messages.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import BinaryIO
from urllib.parse import unquote_to_bytes

import click

from robotrules.cli.console import STDIN, CliError, quoted, report
from robotrules.cli.input_files import open_octets, read_error, size_of
from robotrules.cli.text import is_terminal, plural
from robotrules.octets import visible
from robotrules.url_lists import BLOCK, GZIP, Chunk, Unusable, UrlReader
from robotrules.url_lists.line_formats import UrlFileFormat

# Compressed data is read in smaller blocks: logs expand about twentyfold.
PACKED_BLOCK = 16 * 1024
# Sitemaps that are fetched, including indexes.
MOST_SITEMAPS = 500
# Files about which messages are printed.
MOST_REPORTED = 5

Fetch = Callable[[bytes], bytes]
"""Returns the body of a URL, or raises `Unusable`."""


# --- One file -------------------------------------------------------------------------------------


class UrlFile(UrlReader):
    """
    A file of URLs, stdin for `-`, or a URL; a context manager whose chunks are read once.

    Opening raises `CliError` if there is no such file.
    """

    def __init__(
        self,
        name: str,
        *,
        any_scheme: bool = False,
        as_it_comes: bool = False,
        column: str | None = None,
        fetch: Fetch | None = None,
    ) -> None:
        """
        Open a file; *as_it_comes*: a chunk of a pipe is the result of one read.

        *column* names the column with the URLs; *fetch* is for a name that is a URL.
        """
        self.name = name
        self._stream: BinaryIO | None = None
        self.size: int | None = None
        """Its size in bytes, if known."""
        open_sitemap: Callable[[bytes], Iterable[bytes]] | None
        if fetch is not None and is_url(name):
            blocks = _fetched_blocks(fetch, name.encode())
            open_sitemap = lambda url: _fetched_blocks(fetch, url)  # noqa: E731
        else:
            self._stream = open_octets(name, "URLs")
            self.size = size_of(self._stream)
            blocks = _read_blocks(self._stream, name)
            open_sitemap = None if name == STDIN else self._open_beside
        super().__init__(
            blocks,
            any_scheme=any_scheme,
            as_it_comes=as_it_comes and self.size is None and self._stream is not None,
            column=column,
            open_sitemap=open_sitemap,
        )
        if name == STDIN and is_terminal(sys.stdin):
            report(
                "reading URLs from the terminal, one per line; press Ctrl-D to end", label="hint"
            )

    def __enter__(self) -> UrlFile:
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream is not None and self.name != STDIN:
            self._stream.close()

    @property
    def where(self) -> str:
        """Its name for messages."""
        return "stdin" if self.name == STDIN else quoted(self.name)

    def _open_beside(self, url: bytes) -> Iterator[bytes]:
        """Yield the blocks of the file beside this one that has the name of a sitemap."""
        stream = _sitemap_beside(self.name, url)
        with stream:
            try:
                yield from _read_blocks(stream, self.name)
            except CliError as error:
                raise Unusable(error.message) from None


def is_url(name: str) -> bool:
    """Tell whether the name of a file is an http URL."""
    return name.lower().startswith(("http://", "https://"))


def _read_blocks(stream: BinaryIO, name: str) -> Iterator[bytes]:
    """Yield the bytes of a file as they arrive."""
    # Both return what is available: a block of a file, or the data in a pipe.
    read = getattr(stream, "read1", stream.read)
    size = 0
    while True:
        try:
            block: bytes = read(size or PACKED_BLOCK)
        except OSError as error:
            raise read_error(name, "URLs", error) from None
        if not block:
            return
        size = size or (PACKED_BLOCK if block.startswith(GZIP) else BLOCK)
        yield block


def _fetched_blocks(fetch: Fetch, url: bytes) -> Iterator[bytes]:
    """Yield the body of a URL in blocks."""
    body = fetch(url)
    size = PACKED_BLOCK if body.startswith(GZIP) else BLOCK
    for start in range(0, len(body), size):
        yield body[start : start + size]


def _sitemap_beside(index: str, url: bytes) -> BinaryIO:
    """Open the file in the directory of an index that has the last name in the path of a URL."""
    path = url.partition(b"?")[0].partition(b"#")[0]
    name = os.fsdecode(unquote_to_bytes(path.rpartition(b"/")[2]))
    plain = name not in ("", os.curdir, os.pardir) and os.path.basename(name) == name
    if plain and "\0" not in name and "\\" not in name:
        other = name.removesuffix(".gz") if name.endswith(".gz") else f"{name}.gz"
        for candidate in (name, other):
            beside = os.path.join(os.path.dirname(index), candidate)
            # Opening a pipe or a device beside it could wait for ever.
            if os.path.isfile(beside):
                try:
                    return open(beside, "rb", buffering=0)
                except OSError as error:
                    raise Unusable(error.strerror or type(error).__name__) from None
    raise Unusable(
        "there is no such file beside the index; save it there, or pass the URL of the index"
    )


# --- Several files --------------------------------------------------------------------------------


class UrlFiles:
    """Files of URLs, opened and read one after another; their chunks are read once."""

    def __init__(
        self,
        names: Sequence[str],
        *,
        any_scheme: bool = True,
        as_it_comes: bool = True,
        column: str | None = None,
        fetch: Fetch | None = None,
    ) -> None:
        """The options are those of `UrlFile`. Raises `CliError` if a file cannot be opened."""
        self.names = list(dict.fromkeys(names))
        self.read: list[UrlFile] = []
        """The files that were opened so far."""
        self._any_scheme, self._as_it_comes = any_scheme, as_it_comes
        self._column, self._fetch = column, fetch
        sizes = [self._size_of(name) for name in self.names]
        known = [size for size in sizes if size is not None]
        self.size = sum(known) if len(known) == len(sizes) else None
        """The size of all files in bytes, if known."""

    @property
    def urls(self) -> int:
        """The number of URLs read so far."""
        return sum(file.urls for file in self.read)

    @property
    def noun(self) -> str:
        """What is counted: requests, or URLs if not all files are logs."""
        nouns = {file.form.noun for file in self.read}
        return nouns.pop() if len(nouns) == 1 else "URL"

    @property
    def form(self) -> str:
        """The format, if it is the same for all files and not a list; otherwise empty."""
        forms = {file.form for file in self.read}
        return str(*forms) if len(forms) == 1 and UrlFileFormat.LIST not in forms else ""

    def chunks(self) -> Iterator[tuple[UrlFile, Chunk]]:
        """Yield the URLs of all files in chunks, each with its file."""
        for name in self.names:
            with self._open(name) as file:
                self.read.append(file)
                for chunk in file.chunks():
                    yield file, chunk

    def remarks(self) -> Iterator[str]:
        """Yield what was skipped or not read, as sentences."""
        for file in self.read[:MOST_REPORTED]:
            if file.error:
                yield f"{file.where} was not read completely: {file.error}."
            if file.skipped.lines:
                lines = plural(file.skipped.lines, "line")
                yield f"{lines} of {file.where} without a URL {_was(file.skipped.lines)} skipped."

    def refuse_empty(self) -> None:
        """Refuse files that have content, but no URL."""
        for file in self.read:
            if not file.urls:
                refuse_empty(file)

    def is_whole(self) -> bool:
        """Report what was not read; return whether every file of URLs was complete."""
        alone = len(self.names) == 1
        whole = [_is_whole(file, alone, n < MOST_REPORTED) for n, file in enumerate(self.read)]
        return all(whole)

    def _open(self, name: str) -> UrlFile:
        return UrlFile(
            name,
            any_scheme=self._any_scheme,
            as_it_comes=self._as_it_comes,
            column=self._column,
            fetch=self._fetch,
        )

    def _size_of(self, name: str) -> int | None:
        """Return the size of a file; it is not opened, because a named pipe opens once."""
        if name == STDIN:
            return size_of(sys.stdin.buffer) if sys.stdin is not None else None
        if self._fetch is not None and is_url(name):
            return None
        try:
            status = os.stat(name)
            if stat.S_ISDIR(status.st_mode):
                raise IsADirectoryError
        except OSError as error:
            raise read_error(name, "URLs", error) from None
        return status.st_size if stat.S_ISREG(status.st_mode) else None


# --- Messages -------------------------------------------------------------------------------------


def refuse_file_arguments(arguments: Sequence[str], files: Sequence[str]) -> None:
    """
    Refuse an argument that is a file, although *files* are passed with `--urls`.

    A shell expands `--urls access.log*` to one value and further arguments.
    """
    for name in arguments if files else ():
        if os.path.isfile(name):
            repeated = f"--urls {quoted(files[-1])} --urls {quoted(name)}"
            raise click.UsageError(
                f"{quoted(name)} is a file and not a URL: repeat --urls for each file, as in "
                f"{repeated}"
            )


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


def _is_whole(file: UrlFile, alone: bool, shown: bool) -> bool:
    """Report what of a file was not checked; return whether it was complete."""
    skipped = file.skipped
    if file.error and shown:
        report(f"{file.where} was not read completely: {file.error}", label="error", style="error")
    if skipped.lines and shown:
        line, octets = skipped.examples[0]
        lines = "lines have" if skipped.lines > 1 else "line has"
        where = "" if alone else f" of {file.where}"
        report(
            f"{skipped.lines:,} {lines} no URL and no verdict; the first is line {line}{where}: "
            f"'{visible(octets)}'",
            label="warning",
            style="warning",
        )
    # Every line of a list should be a URL; logs have other lines, too.
    return not file.error and not (skipped.lines and file.form is UrlFileFormat.LIST)


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
