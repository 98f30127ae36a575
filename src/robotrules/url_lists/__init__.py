"""
Lists of URLs in octets: plain lists, access logs, JSON lines, CSV and sitemaps, in constant memory.

A `UrlReader` reads blocks of octets once, decompresses them if they are gzipped, and yields chunks
of URLs. The format is detected from the content: an XML sitemap, or lines in one of the formats of
`line_formats`. Repeated URLs count each time, so a list gives URLs and a log gives requests.

Content never raises. A line without a URL is skipped and counted, and the first few are kept as
examples; a failure to read on is kept as `error`. Limits: a line or a tag of a sitemap has at most
1 MiB, and gzip data beyond 16 MiB must not expand to more than 250 times its size. The sitemaps of
an index are read through `open_sitemap`, if the caller passes it; an index that an index lists is
not read. Nothing is fetched here, and no file is opened.
"""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from robotrules.octets import visible
from robotrules.url_lists.line_formats import (
    NO_COLUMN,
    LineChunk,
    LineReader,
    Skipped,
    Skips,
    Unusable,
    UrlFileFormat,
    line_reader,
)
from robotrules.url_lists.sitemaps import SitemapReader

__all__ = [
    "BATCH",
    "BLOCK",
    "GZIP",
    "LONGEST_URL",
    "MOST_SITEMAP_OCTETS",
    "Chunk",
    "LineChunk",
    "Skipped",
    "Unusable",
    "UrlFileFormat",
    "UrlReader",
]

# Bytes per block: some thousand URLs. A pipe returns 64 KiB at most.
BLOCK = 128 * 1024
# No URL is this long. A file with such a line is something else and must not fill memory.
LONGEST_URL = 1024 * 1024
# The most URLs in a chunk, so that results appear while input is still read.
BATCH = 8192
# Bytes from which the format is detected.
HEAD = 1024
# Bytes of URLs beyond which an incomplete chunk is returned.
MOST_WAITING = 4 * 1024 * 1024
# Logs and sitemaps expand 10 to 50 times. Deflate allows a factor of 1,032, which only a
# decompression bomb reaches.
MOST_TIMES = 250
UNPACKED_FREELY = 16 * 1024 * 1024
# sitemaps.org: the size of an uncompressed sitemap.
MOST_SITEMAP_OCTETS = 50 * 1024 * 1024
# The length to which names in messages are cut.
LONGEST_NAME = 100
# How a gzip member starts (RFC 1952 §2.3.1).
GZIP = b"\x1f\x8b"

_BOM = b"\xef\xbb\xbf"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# A tag name does not start with a digit: `<134>` starts a syslog line.
_XML = re.compile(rb"<(?![0-9])")
_HTML = re.compile(rb"<(?:!doctype\s+)?html\b", re.IGNORECASE)
_MEANINGFUL_LINE = re.compile(rb"^[^\S\n]*+[^#<\s\0][^\n]*+\n", re.MULTILINE)
_PACKED = {
    b"PK\x03\x04": "it is a ZIP file or a spreadsheet; extract it, or save the sheet as CSV",
    b"\x28\xb5\x2f\xfd": "it is compressed with zstd; decompress it, for example with zstdcat",
    b"BZh": "it is compressed with bzip2; decompress it, for example with bzcat",
    b"\xfd7zXZ\0": "it is compressed with xz; decompress it, for example with xzcat",
}


class Chunk(NamedTuple):
    """URLs that were read together."""

    urls: list[bytes]
    octets: int
    """The number of input bytes they take."""


class UrlReader:
    """
    Reads the URLs in blocks of octets; its chunks are read once.

    `form`, `skipped`, `error` and `hint` are final after the last chunk.
    """

    def __init__(
        self,
        blocks: Iterable[bytes],
        *,
        any_scheme: bool = False,
        as_it_comes: bool = False,
        max_unpacked: int | None = None,
        column: str | None = None,
        open_sitemap: Callable[[bytes], Iterable[bytes]] | None = None,
    ) -> None:
        """
        Read from *blocks*.

        *column* is the name of the column or key with the URLs, for CSV and JSON lines; or the
        number of a column, counted from 1. *open_sitemap* returns the blocks of a sitemap that an
        index lists, or raises `Unusable`; without it an index is refused.

        *any_scheme*: a list may contain URLs such as `ftp://…`. *as_it_comes*: a chunk is the
        result of one block, so that output does not wait for further URLs; and a list that starts
        with lines that are not URLs is not read further.
        """
        self.error = ""
        """Why it was not read, or not completely; empty if it was."""
        self.hint = ""
        """A hint about how it was read; or empty."""
        self.urls = 0
        """The number of URLs read so far."""
        self._source = blocks
        self._any_scheme, self._as_it_comes = any_scheme, as_it_comes
        self._form: UrlFileFormat | None = None
        self._skips = Skips()
        self._taken = 0
        self._max_unpacked = max_unpacked
        self._column, self._open_sitemap = column, open_sitemap

    @property
    def form(self) -> UrlFileFormat:
        """The format; an empty input is a list."""
        return self._form or UrlFileFormat.LIST

    @property
    def skipped(self) -> Skipped:
        """The lines without a URL."""
        return self._skips.skipped()

    @property
    def octets_read(self) -> int:
        """The number of input bytes read since the last chunk of URLs."""
        return self._taken

    def chunks(self) -> Iterator[Chunk]:
        """
        Yield the URLs in chunks; `octets` of a chunk counts bytes of the input.

        Chunks do not depend on the size of blocks, unless *as_it_comes* is set.
        """
        if self._as_it_comes:
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
                ready -= ready % BATCH
            if ready:
                yield from self._cut(waiting[:ready])
                del waiting[:ready]
                octets = sum(map(len, waiting))
        yield from self._cut(waiting)

    def lines(self) -> Iterator[LineChunk]:
        """
        Yield complete lines, decompressed, for readers of other parts of a log than its URLs.

        Read either these or `chunks`. Lines that are too long are in `skipped`.
        """
        try:
            head, blocks = self._text_blocks()
            wide = head.startswith(_UTF_16)
            yield from self._texts(_narrow(blocks) if wide else blocks)
        except Unusable as error:
            self.error = self.error or str(error)

    def _cut(self, urls: list[bytes]) -> Iterator[Chunk]:
        for start in range(0, len(urls), BATCH):
            octets, self._taken = self._taken, 0
            some = urls[start : start + BATCH]
            self.urls += len(some)
            yield Chunk(some, octets)

    def _usable(self) -> Iterator[list[bytes]]:
        try:
            yield from self._urls()
        except Unusable as error:
            # Decompression may already have set a more specific error.
            self.error = self.error or str(error)

    def _text_blocks(self) -> tuple[bytes, Iterator[bytes]]:
        """Return the head of the text and all its blocks, decompressed."""
        head, blocks = _headed(self._blocks())
        if head.startswith(GZIP):
            head, blocks = _headed(self._unpacked(blocks))
        for magic, words in _PACKED.items():
            if head.startswith(magic):
                raise Unusable(words)
        return head, blocks

    def _urls(self) -> Iterator[list[bytes]]:
        head, blocks = self._text_blocks()
        wide = head.startswith(_UTF_16)
        text = head.decode("utf-16", "replace").encode() if wide else head.removeprefix(_BOM)
        if _HTML.match(text.lstrip()):
            raise Unusable("it is an HTML page; pass a list of URLs, an access log or a sitemap")
        if _XML.match(text.lstrip()):
            self._form = UrlFileFormat.SITEMAP
            if self._column is not None:
                raise Unusable(f"it is a sitemap, and {NO_COLUMN}")
            reader = SitemapReader(self._skips, accept_index=self._open_sitemap is not None)
            try:
                yield from reader.read(_from_tag(blocks, wide))
            except Unusable as error:
                self.error = self.error or str(error)
            if reader.sitemaps is not None:
                yield from self._from_index(reader.sitemaps)
        else:
            yield from self._lines(_narrow(blocks) if wide else blocks)

    def _from_index(self, sitemaps: list[bytes]) -> Iterator[list[bytes]]:
        """Yield the URLs of the sitemaps of an index; the error names the first that failed."""
        assert self._open_sitemap is not None
        if not sitemaps:
            self.error = self.error or "it is a sitemap index, which lists no sitemap"
            return
        # The bytes of the index are counted as its sitemaps are read, for a progress bar.
        octets, self._taken = self._taken, 0
        unique = list(dict.fromkeys(sitemaps))
        failed, first = 0, ""
        for number, url in enumerate(unique):
            sitemap = UrlReader(_opened(self._open_sitemap, url), max_unpacked=MOST_SITEMAP_OCTETS)
            yield from sitemap._usable()
            self._skips.merge(sitemap.skipped)
            if sitemap.error:
                failed += 1
                first = first or f"'{visible(url[:LONGEST_NAME])}': {sitemap.error}"
            self._taken += octets * (number + 1) // len(unique) - octets * number // len(unique)
        read = len(unique) - failed
        self.hint = (
            f"it is a sitemap index, and {read:,} of its {len(unique):,} sitemaps "
            f"{'was' if read == 1 else 'were'} read"
        )
        if failed:
            words = (
                f"{failed:,} of {len(unique):,} sitemaps of the index failed; the first is {first}"
            )
            self.error = f"{self.error}; {words}" if self.error else words

    # --- Bytes ------------------------------------------------------------------------------------

    def _blocks(self) -> Iterator[bytes]:
        """Yield the blocks and count their bytes."""
        for block in self._source:
            self._taken += len(block)
            yield block

    def _unpacked(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield decompressed gzip data, which may have several members."""
        unpack, packed, unpacked = _gunzip(), 0, 0
        for block in blocks:
            packed += len(block)
            rest = block
            while rest:
                if unpack.eof:
                    rest = rest.lstrip(b"\0")  # zeros are padding; anything else is a member
                    if not rest:
                        break
                    unpack = _gunzip()
                try:
                    found = unpack.decompress(rest, BLOCK)
                except zlib.error:
                    self.error = "invalid gzip data; the rest was not read"
                    return
                unpacked += len(found)
                if unpacked > max(UNPACKED_FREELY, MOST_TIMES * packed):
                    self.error = (
                        f"its gzip data expands to more than {MOST_TIMES} times its size; the "
                        "rest was not read"
                    )
                    return
                if self._max_unpacked is not None and unpacked > self._max_unpacked:
                    self.error = (
                        f"its gzip data expands to more than {self._max_unpacked:,} bytes; the "
                        "rest was not read"
                    )
                    return
                if found:
                    yield found
                rest = unpack.unused_data if unpack.eof else unpack.unconsumed_tail
        if not unpack.eof:
            self.error = "the gzip data is truncated, so some URLs are missing"

    # --- Lines ------------------------------------------------------------------------------------

    def _lines(self, blocks: Iterator[bytes]) -> Iterator[list[bytes]]:
        reader: LineReader | None = None
        found = False
        for text in self._texts(blocks):
            if text.octets.isspace():
                continue  # skip blocks of empty lines quickly
            if reader is None:
                reader = line_reader(
                    text.octets, self._skips, any_scheme=self._any_scheme, column=self._column
                )
                if reader is None:
                    continue  # only blank lines and comments so far
                self._form = reader.form
            urls = reader.urls(text)
            self.hint = reader.hint
            if self._as_it_comes and reader.form is UrlFileFormat.LIST and not urls and not found:
                if self._skips.skipped().lines:
                    return  # not a list of URLs
            found = found or bool(urls)
            yield urls

    def _texts(self, blocks: Iterator[bytes]) -> Iterator[LineChunk]:
        """Yield complete lines; a line that is too long is skipped."""
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
            if too_long or len(unfinished) + first - 1 > LONGEST_URL:  # without its line end
                self._skips.add(number, bytes(unfinished) or block[:first])
                unfinished.clear()
                start, number, too_long = first, number + 1, False
            octets = bytes(unfinished) + block[start:end]
            unfinished = bytearray(block[end:])
            yield LineChunk(octets, number)
            number += octets.count(b"\n")
        if too_long:
            self._skips.add(number, bytes(unfinished))
        elif unfinished and not self.error:  # a truncated URL would be a different one
            yield LineChunk(bytes(unfinished), number)


def _opened(open_sitemap: Callable[[bytes], Iterable[bytes]], url: bytes) -> Iterator[bytes]:
    """Yield the blocks of a sitemap; it is opened with the first."""
    yield from open_sitemap(url)


def _gunzip() -> zlib._Decompress:
    return zlib.decompressobj(16 + zlib.MAX_WBITS)


def _headed(blocks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """Return the head of a file, and all its blocks."""
    head = bytearray()
    for block in blocks:
        head += block
        # One meaningful line is enough, so that URLs typed at a terminal are answered at once.
        if len(head) >= HEAD or _MEANINGFUL_LINE.search(head):
            break
    start = bytes(head)

    def again() -> Iterator[bytes]:
        """Yield all blocks, including the first."""
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
    """Yield the blocks of an XML document, without white space before the first tag."""
    for block in blocks:
        yield block if wide else block.removeprefix(_BOM).lstrip()
        break
    yield from blocks


def _narrow(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Convert UTF-16, as some shells and spreadsheets write it, to UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-16")("replace")
    for block in blocks:
        yield decoder.decode(block).encode()
    yield decoder.decode(b"", True).encode()
