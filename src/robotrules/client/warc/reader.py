"""
WARC reader: records of any WARC archive, with limits, and without exceptions about content.

A `WarcSource` decompresses in blocks of 64 KiB, whatever they inflate to; warcio parses the header
of a record, and only the needed part of its block is kept. Everything in an archive is untrusted,
including lengths and checksums. After a damaged record, reading continues at the next gzip member;
without members it ends, because a page may contain the text of a record, which must not become one.
The meaning of records is not interpreted here.

Sections: octets · records · digests.
"""

from __future__ import annotations

import hashlib
import zlib
from base64 import b32encode, b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple

from warcio.recordloader import ArcWarcRecordLoader  # type: ignore[import-untyped]
from warcio.statusandheaders import (  # type: ignore[import-untyped]
    StatusAndHeadersParser,
    StatusAndHeadersParserException,
)

BLOCK = 64 * 1024
# Longer header lines and headers are rejected.
MAX_LINE_LENGTH = 64 * 1024
MAX_HEADER = 256 * 1024
# Blank lines between records: two, and some writers add more. And the maximum number of reads from
# there to the end of a gzip member.
MAX_BLANK_LINES, MAX_EMPTY_READS = 1024, 16
# With more damage than this, reading stops: the file is not an archive.
MAX_DAMAGED = 10_000
# Invalid deflate data is detected within a few hundred bytes.
LOOK_BACK = 4096
GZIP = b"\x1f\x8b\x08"
FIRST = b"WARC/"


class Damaged(Exception):
    """An unreadable record."""


# --- Bytes ----------------------------------------------------------------------------------------


class WarcSource:
    """
    The decompressed bytes of an archive.

    While a record is being read (`inside`), octets end where the gzip member ends if the next one
    starts a record: so a length that lies, or a cut member, costs one record and not the next.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._raw = b""
        self._ready = b""
        self._inflate: Any = None
        self._fed, self._first = b"", False
        self._plain: bool | None = None
        self._starts = False
        self._searching = False
        self.inside = False
        self.damage = 0
        """How often data was lost."""

    def readline(self) -> bytes:
        """Return a line with its end; a line longer than any header line counts as damage."""
        parts: list[bytes] = []
        length = 0
        while self._more(bool(parts)):
            end = self._ready.find(b"\n") + 1 or len(self._ready)
            parts.append(self._ready[:end])
            self._ready = self._ready[end:]
            length += end
            if length > MAX_LINE_LENGTH:
                raise Damaged
            if parts[-1].endswith(b"\n"):
                break
        return b"".join(parts)

    def read(self, size: int) -> bytes:
        """Return at most *size* bytes; empty: the record or the archive ends here."""
        if not self._more():
            return b""
        piece, self._ready = self._ready[:size], self._ready[size:]
        return piece

    def settle(self) -> None:
        """Read the blank lines after a record, up to the checksum at the end of its member."""
        for _ in range(MAX_EMPTY_READS):
            self._ready = self._ready.lstrip(b"\r\n")
            if self._ready or self._inflate is None:
                return
            self._ready = self._inflate_block()
        raise Damaged

    def next_member(self) -> None:
        """Skip the rest of this member; without members, the rest of the archive."""
        self.inside = False
        self._ready = b"" if not self._starts else self._ready
        while not self._starts and self._fill():
            self._ready = self._ready if self._starts else b""

    def _more(self, within: bool = False) -> bool:
        """Read more bytes, *within* a line or not; return whether there are any."""
        if not self._ready and not self._fill():
            return False
        while self._starts and len(self._ready) < len(FIRST) and self._inflate is not None:
            # Too few to identify the start of this member.
            self._ready += self._inflate_block()
        is_next = self._starts and self._ready.startswith(FIRST)
        if is_next and (self.inside or within):
            return False
        self._starts = False
        return True

    def _fill(self) -> bool:
        """Fill the buffer; False: there are no more bytes."""
        while True:
            if self._inflate is None and self._plain is not True and not self._open():
                return False
            if self._plain:
                self._ready, self._raw = self._raw or self._pull(), b""
                return bool(self._ready)
            self._ready = self._inflate_block()
            if self._ready:
                return True

    def _pull(self) -> bytes:
        """Return more bytes of the file."""
        return self._stream.read(BLOCK) or b""

    def _open(self) -> bool:
        """Open the next gzip member, or detect an uncompressed archive; False: at the end."""
        while self.damage < MAX_DAMAGED:
            if len(self._raw) < len(GZIP):
                more = self._pull()
                self._raw += more
                if more:
                    continue
            if self._plain is None and not self._raw.startswith(GZIP):
                self._plain = True
                return True
            if self._raw.startswith(GZIP):
                self._plain, self._searching = False, False
                self._inflate, self._starts = zlib.decompressobj(31), True
                self._fed, self._first = b"", True
                return True
            # Between members there is nothing or padding; other data is lost.
            at = self._raw.find(GZIP)
            short = len(self._raw) < len(GZIP)
            end = at if at >= 0 else len(self._raw) - (0 if short else len(GZIP) - 1)
            if self._raw[:end].strip(b"\0") and not self._searching:
                self.damage, self._searching = self.damage + 1, True
            self._raw = self._raw[end:]
            if short:
                break
        return False

    def _inflate_block(self) -> bytes:
        """Return the next data of the member; empty at its end, and after damage."""
        self._raw = self._raw or self._pull()
        if not self._raw:
            self.damage += 1  # the archive is truncated here
            inflate, self._inflate = self._inflate, None
            return bytes(inflate.flush())
        try:
            made: bytes = self._inflate.decompress(self._raw, BLOCK)
        except zlib.error:
            # The next member starts in this block or shortly before, but after the start of this
            # one.
            self._raw = (self._fed + self._raw)[self._first :]
            self._inflate, self._searching, self.damage = None, True, self.damage + 1
            return b""
        if self._inflate.eof:
            self._raw, self._inflate = self._inflate.unused_data, None
            return made
        left = self._inflate.unconsumed_tail
        fed = self._fed + self._raw[: len(self._raw) - len(left)]
        self._raw, self._fed = left, fed[-LOOK_BACK:]
        self._first = self._first and len(fed) <= LOOK_BACK
        return made


# --- Records --------------------------------------------------------------------------------------


class WarcRecord(NamedTuple):
    """A record, with the needed part of its block."""

    kind: str
    header: Any
    """The headers from warcio, with `get_header(name, default)`."""
    block: bytes
    length: int
    """The length of the whole block."""
    digest: bool | None
    """Whether the block matches its digest; None: there is no supported digest."""

    def get(self, name: str) -> str:
        """Return a field of the header; empty if it is missing."""
        value: str = self.header.get_header(name, "")
        return value

    def target(self) -> str:
        """Return the WARC-Target-URI; some writers enclose it in angle brackets."""
        return self.get("WARC-Target-URI").removeprefix("<").removesuffix(">")


# How many bytes of a record's block to keep; 0: skip it and its digest.
BytesToKeep = Callable[[WarcRecord], int]


def records(
    source: WarcSource, wanted: BytesToKeep, lost: Callable[[int], None]
) -> Iterator[WarcRecord]:
    """Yield records; *lost* is called with the number of unreadable ones."""
    parser = StatusAndHeadersParser(ArcWarcRecordLoader.WARC_TYPES)
    counted = 0
    while True:
        found = None
        try:
            first = _first_line(source)
            if not first:
                break
            source.inside = True
            found = _read(source, first, parser, wanted)
        except (Damaged, EOFError, StatusAndHeadersParserException, UnicodeError):
            source.next_member()
            source.damage += source.damage == counted
        source.inside = False
        if source.damage > counted:
            lost(source.damage - counted)
            counted = source.damage
        if found is not None:
            yield found
    if source.damage > counted:
        lost(source.damage - counted)


def _first_line(source: WarcSource) -> bytes:
    """Return the first line of the next record; empty at the end."""
    for _ in range(MAX_BLANK_LINES):
        line = source.readline()
        if not line or line.strip():
            if line and not line.startswith(FIRST):
                raise Damaged
            return line
    raise Damaged


def _read(source: WarcSource, first: bytes, parser: Any, wanted: BytesToKeep) -> WarcRecord:
    header = parser.parse(_Header(source), first)
    length = header.get_header("Content-Length", "")
    if not (length.isascii() and length.isdigit()) or len(length) > 15:
        raise Damaged
    record = WarcRecord(header.get_header("WARC-Type", "").lower(), header, b"", int(length), None)
    keep = wanted(record)
    check = _Check.of(record.get("WARC-Block-Digest")) if keep else None
    kept, left = bytearray(), record.length
    while left:
        piece = source.read(min(left, BLOCK))
        if not piece:
            raise Damaged
        left -= len(piece)
        if len(kept) < keep:
            kept += piece[: keep - len(kept)]
        if check is not None:
            check.update(piece)
    before = source.damage
    source.settle()
    if source.damage > before:
        raise Damaged  # the checksum of its member differs
    return record._replace(block=bytes(kept), digest=None if check is None else check.agrees())


class _Header:
    """The header of a record as a stream of lines, up to a maximum size."""

    def __init__(self, source: WarcSource) -> None:
        self._source = source
        self._left = MAX_HEADER

    def readline(self) -> bytes:
        """Return the next line."""
        line = self._source.readline()
        self._left -= len(line)
        if not line or self._left < 0:
            raise Damaged  # a header must end with an empty line
        return line


# --- Digests --------------------------------------------------------------------------------------

_ALGORITHMS = ("sha1", "sha256", "sha512", "md5")


class _Check:
    """Computes the digest of a block while it is read, and compares it with its header."""

    def __init__(self, algorithm: str, value: str) -> None:
        self._hash = hashlib.new(algorithm, usedforsecurity=False)
        self._value = value
        self.update = self._hash.update

    @classmethod
    def of(cls, digest: str) -> _Check | None:
        """Return a check for the digest in a header; None: an unsupported algorithm."""
        algorithm, _, value = digest.partition(":")
        algorithm = algorithm.strip().lower().replace("-", "")
        return cls(algorithm, value.strip()) if algorithm in _ALGORITHMS and value else None

    def agrees(self) -> bool:
        """Return whether the digests are equal; archives write them in base 16, 32 and 64."""
        octets = self._hash.digest()
        forms = {form(octets).decode().rstrip("=") for form in (b64encode, urlsafe_b64encode)}
        value = self._value.rstrip("=")
        if value in forms or value.lower() == octets.hex():
            return True
        return value.upper() == b32encode(octets).decode().rstrip("=")


def agrees(digest: str, octets: bytes) -> bool | None:
    """Return whether *octets* match a digest; None: an unsupported algorithm."""
    check = _Check.of(digest)
    if check is None:
        return None
    check.update(octets)
    return check.agrees()
