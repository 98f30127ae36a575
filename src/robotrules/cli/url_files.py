"""
URLs of real files: lists, access logs, exports and sitemaps, in constant memory.

A `UrlFile` is read once and in blocks, from a file or from stdin, unpacked if it is gzipped. What
it holds is found from its content and not from its name: an XML sitemap, or lines of one of the
forms that `url_forms` knows. Each URL counts as often as it stands there, so a list gives URLs and
a log gives requests: distinct URLs cannot be counted in constant memory, and `sort -u` does it.

Nothing in a file raises. A line without a URL is skipped and counted, and the first few are kept to
be shown; what cannot be read on is kept as `trouble`. Bounds: a line has 1 MiB at most, a tag of a
sitemap too, and gzip data past 16 MiB may not unpack to more than 250 times its size. It follows no
sitemap index, fetches nothing, and does not know what URLs are wanted for.
"""

from __future__ import annotations

import codecs
import re
import sys
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from robotrules.cli.streams import (
    BLOCK,
    LONGEST_URL,
    STDIN,
    TOGETHER,
    Chunk,
    CliError,
    open_octets,
    quoted,
    say,
    size_of,
    unreadable,
)
from robotrules.cli.text import is_terminal
from robotrules.cli.url_forms import (
    LineChunk,
    LineReader,
    Skipped,
    Skips,
    Unusable,
    UrlFileFormat,
    line_reader,
)
from robotrules.cli.url_sitemap import SitemapReader
from robotrules.octets import visible

# As much of a file as tells what it is.
HEAD = 1024
# URLs of so many octets do not wait for others: they are long ones.
MOST_WAITING = 4 * 1024 * 1024
# Compressed octets are read in smaller blocks: logs unpack to some twenty times as much.
PACKED_BLOCK = 16 * 1024
# Logs and sitemaps unpack to ten or fifty times their size. Deflate reaches 1,032, and what does
# was made to fill a disk or a memory.
MOST_TIMES = 250
UNPACKED_FREELY = 16 * 1024 * 1024

_BOM = b"\xef\xbb\xbf"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# A name begins no tag with a digit: `<134>` is how syslog begins a line.
_XML = re.compile(rb"<(?![0-9])")
_HTML = re.compile(rb"<(?:!doctype\s+)?html\b", re.IGNORECASE)
_GZIP = b"\x1f\x8b"
_MEANINGFUL_LINE = re.compile(rb"^[^\S\n]*+[^#<\s\0][^\n]*+\n", re.MULTILINE)
_PACKED = {
    b"PK\x03\x04": "it is a ZIP file, or a spreadsheet, which is one inside; unpack it, or save "
    "the sheet as CSV",
    b"\x28\xb5\x2f\xfd": "it is packed with zstd; unpack it first, as in zstdcat FILE | … --urls -",
    b"BZh": "it is packed with bzip2; unpack it first, as in bzcat FILE | … --urls -",
    b"\xfd7zXZ\0": "it is packed with xz; unpack it first, as in xzcat FILE | … --urls -",
}


class UrlFile:
    """
    A file of URLs, or stdin for `-`; a context manager whose chunks are read once.

    Opening says `CliError` if there is no such file. `form`, `skipped` and `trouble` are complete
    when the last chunk was read.
    """

    def __init__(self, name: str, *, any_scheme: bool = False, as_it_comes: bool = False) -> None:
        """
        Open a file of URLs.

        *any_scheme*: in a list, `ftp://…` is a URL too. *as_it_comes*: chunks of a pipe are what
        one read gave, for answers that do not wait for further URLs; and a list that begins with
        lines which are no URLs is not read to its end.
        """
        self.name = name
        self._any_scheme, self._as_it_comes = any_scheme, as_it_comes
        self.trouble = ""
        """Why it was not read, or not to its end; empty: it was."""
        self.hint = ""
        """What a person should know of how it was read; empty: nothing."""
        self.urls = 0
        """How many URLs were read so far."""
        self._form: UrlFileFormat | None = None
        self._skips = Skips()
        self._stream: BinaryIO = open_octets(name, "URLs")
        self._taken = 0
        self.size = size_of(self._stream)
        """How many octets it has, if that can be known."""
        if name == STDIN and is_terminal(sys.stdin):
            say("reading URLs from the terminal, one a line; Ctrl-D ends", label="hint")

    def __enter__(self) -> UrlFile:
        return self

    def __exit__(self, *_: object) -> None:
        if self.name != STDIN:
            self._stream.close()

    @property
    def where(self) -> str:
        """Its name as it may be shown."""
        return "stdin" if self.name == STDIN else quoted(self.name)

    @property
    def form(self) -> UrlFileFormat:
        """What it holds; of nothing, a list."""
        return self._form or UrlFileFormat.LIST

    @property
    def skipped(self) -> Skipped:
        """The lines that hold no URL."""
        return self._skips.skipped()

    def chunks(self) -> Iterator[Chunk]:
        """
        Yield its URLs, always so many together; `octets` of a chunk are octets of the file.

        Where reads of a pipe happen to end makes no difference, so that the same octets are the
        same chunks; unless they are wanted as they come.
        """
        if self._as_it_comes and self.size is None:
            for urls in self._usable():
                yield from self._cut(urls)
            return
        waiting: list[bytes] = []
        octets = 0
        for urls in self._usable():
            waiting += urls
            octets += sum(map(len, urls))
            ready = len(waiting)
            if octets <= MOST_WAITING:
                ready -= ready % TOGETHER
            if ready:
                yield from self._cut(waiting[:ready])
                del waiting[:ready]
                octets = sum(map(len, waiting))
        yield from self._cut(waiting)

    def _cut(self, urls: list[bytes]) -> Iterator[Chunk]:
        for start in range(0, len(urls), TOGETHER):
            octets, self._taken = self._taken, 0
            some = urls[start : start + TOGETHER]
            self.urls += len(some)
            yield Chunk(some, octets)

    def _usable(self) -> Iterator[list[bytes]]:
        try:
            yield from self._urls()
        except Unusable as error:
            # What unpacks it may have said why it ends.
            self.trouble = self.trouble or str(error)

    def _urls(self) -> Iterator[list[bytes]]:
        head, blocks = _headed(self._blocks())
        if head.startswith(_GZIP):
            head, blocks = _headed(self._unpacked(blocks))
        for magic, words in _PACKED.items():
            if head.startswith(magic):
                raise Unusable(words)
        wide = head.startswith(_UTF_16)
        text = head.decode("utf-16", "replace").encode() if wide else head.removeprefix(_BOM)
        if _HTML.match(text.lstrip()):
            raise Unusable("it is an HTML page; pass a list of URLs, an access log or a sitemap")
        if _XML.match(text.lstrip()):
            self._form = UrlFileFormat.SITEMAP
            yield from SitemapReader(self._skips).read(_from_tag(blocks, wide))
        else:
            yield from self._lines(_narrow(blocks) if wide else blocks)

    # --- Octets -----------------------------------------------------------------------------------

    def _blocks(self) -> Iterator[bytes]:
        """Yield the octets of the file as they come."""
        # Both give what is there: a file a whole block, a pipe what was written to it so far.
        read = getattr(self._stream, "read1", self._stream.read)
        size = 0
        while True:
            try:
                block: bytes = read(size or PACKED_BLOCK)
            except OSError as error:
                raise unreadable(self.name, "URLs", error) from None
            if not block:
                return
            size = size or (PACKED_BLOCK if block.startswith(_GZIP) else BLOCK)
            self._taken += len(block)
            yield block

    def _unpacked(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the octets of gzip data, which may have several members."""
        unpack, packed, unpacked = _gunzip(), 0, 0
        for block in blocks:
            packed += len(block)
            rest = block
            while rest:
                if unpack.eof:
                    rest = rest.lstrip(b"\0")  # zeros fill a tape; anything else is a member
                    if not rest:
                        break
                    unpack = _gunzip()
                try:
                    found = unpack.decompress(rest, BLOCK)
                except zlib.error:
                    self.trouble = "broken gzip data; it is not read on there"
                    return
                unpacked += len(found)
                if unpacked > max(UNPACKED_FREELY, MOST_TIMES * packed):
                    self.trouble = (
                        f"its gzip data unpacks to more than {MOST_TIMES} times its size, as no "
                        "log does; it is not read on there"
                    )
                    return
                if found:
                    yield found
                rest = unpack.unused_data if unpack.eof else unpack.unconsumed_tail
        if not unpack.eof:
            self.trouble = "the gzip data ends early, so some URLs are missing"

    # --- Lines ------------------------------------------------------------------------------------

    def _lines(self, blocks: Iterator[bytes]) -> Iterator[list[bytes]]:
        reader: LineReader | None = None
        found = False
        for text in self._texts(blocks):
            if text.octets.isspace():
                continue  # a flood of empty lines takes no time
            if reader is None:
                reader = line_reader(text.octets, self._skips, any_scheme=self._any_scheme)
                if reader is None:
                    continue  # only blank lines and comments so far
                self._form = reader.form
            urls = reader.urls(text)
            self.hint = reader.hint
            if self._as_it_comes and reader.form is UrlFileFormat.LIST and not urls and not found:
                if self._skips.skipped().lines:
                    return  # it is no list, and further lines will not make it one
            found = found or bool(urls)
            yield urls

    def _texts(self, blocks: Iterator[bytes]) -> Iterator[LineChunk]:
        """Yield whole lines, as many as are there; a line that is too long is skipped."""
        unfinished = bytearray()
        number, too_long = 1, False
        for block in _without_bom(blocks):
            end = block.rfind(b"\n") + 1
            if not end:
                unfinished += block
                if len(unfinished) > LONGEST_URL:
                    too_long = True
                    del unfinished[LONGEST_URL:]
                continue
            first = block.find(b"\n") + 1
            start = 0
            if too_long or len(unfinished) + first - 1 > LONGEST_URL:  # its line end is no part
                self._skips.add(number, bytes(unfinished) or block[:first])
                unfinished.clear()
                start, number, too_long = first, number + 1, False
            octets = bytes(unfinished) + block[start:end]
            unfinished = bytearray(block[end:])
            yield LineChunk(octets, number)
            number += octets.count(b"\n")
        if too_long:
            self._skips.add(number, bytes(unfinished))
        elif unfinished and not self.trouble:  # half a URL is another one
            yield LineChunk(bytes(unfinished), number)


def _gunzip() -> zlib._Decompress:
    return zlib.decompressobj(16 + zlib.MAX_WBITS)


def _headed(blocks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """Return the beginning of a file, and all its blocks."""
    head = bytearray()
    for block in blocks:
        head += block
        # A line with something in it tells as much: whoever types URLs waits for an answer.
        if len(head) >= HEAD or _MEANINGFUL_LINE.search(head):
            break
    start = bytes(head)

    def again() -> Iterator[bytes]:
        """Yield all blocks, the first one too."""
        if start:
            yield start
        yield from blocks

    return start[:HEAD], again()


def _without_bom(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the blocks, the first of which is a head, without a byte order mark."""
    for block in blocks:
        yield block.removeprefix(_BOM)
        break
    yield from blocks


def _from_tag(blocks: Iterator[bytes], wide: bool) -> Iterator[bytes]:
    """Yield the blocks of an XML document from its first tag on: spaces before it are forgiven."""
    for block in blocks:
        yield block if wide else block.removeprefix(_BOM).lstrip()
        break
    yield from blocks


def _narrow(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield UTF-16, as some shells and spreadsheets write it, as UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-16")("replace")
    for block in blocks:
        yield decoder.decode(block).encode()
    yield decoder.decode(b"", True).encode()


def say_hint(file: UrlFile) -> None:
    """Say on stderr how a file was read, where that may not be what was meant."""
    if file.hint:
        say(f"{file.where}: {file.hint}", label="hint")


def refuse_empty(file: UrlFile) -> None:
    """End the command where a file that was read has no URL; one that has nothing is right."""
    if file.trouble:
        raise CliError(f"cannot read URLs from {file.where}: {file.trouble}")
    for line, octets in file.skipped.examples[:1]:
        raise CliError(
            f"there is no URL in {file.where}: line {line} is '{visible(octets)}'; pass a list "
            "of URLs, an access log, CSV with a header, JSON lines or a sitemap"
        )
