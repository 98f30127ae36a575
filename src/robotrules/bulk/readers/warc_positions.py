"""
Positions in a WARC archive: where a record really ends, and where the next readable one starts.

fastwarc stops at the first damage, and it is silent about some: a truncated gzip member, an empty
one, a wrong length that ends by chance at a boundary. After an error and at the end of a file, the
reader of archives therefore checks the last record here and continues behind it. In compressed
archives only the start of a gzip member or zstd frame counts as the start of a record; in an
uncompressed one it is a line such as `WARC/1.1`, which a page may contain as well. So a record
that follows damage in an uncompressed archive is less trustworthy.
"""

from __future__ import annotations

import io
import re
import zlib
from typing import Any, BinaryIO, NamedTuple

from robotrules.bulk.readers.fastwarc_support import GzipReader, ZstdReader

BLOCK = 64 * 1024
SEARCH_BLOCK = 1024 * 1024
MAX_HEADER = 64 * 1024
# Starts of members that turn out to be none: with more, the rest of the file is given up.
MAX_CANDIDATES = 100_000
GZIP, ZSTD = b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"
FIRST = b"WARC/"
# A skippable frame with the dictionary of the archive (https://iipc.github.io/warc-specifications).
DICTIONARY = b"\x5d\x2a\x4d\x18"
_FIRST_LINE = re.compile(rb"(?:\A|\n)(?=WARC/[01]\.[0-9]+\r?\n)")
_HEADER_END = re.compile(rb"\r?\n\r?\n")
_LENGTH = re.compile(rb"\ncontent-length:[ \t]*([0-9]{1,15})[ \t]*\r?\n", re.IGNORECASE)
_RECORD_ID = re.compile(rb"\nwarc-record-id:[ \t]*([^\r\n]*?)[ \t]*\r?\n", re.IGNORECASE)
_LINE_ENDS = b"\r\n"


class RecordEnd(NamedTuple):
    """Where a record ends, and what is wrong with it."""

    end: int | None
    """The offset behind it; None: unknown."""
    problem: str
    """Empty: the record is whole."""
    record_id: bytes | None = None


class DecodedFile:
    """
    The content of an archive that is compressed as a whole, as a file that can seek.

    Seeking back decompresses from the start; that happens only after damage.
    """

    def __init__(self, file: BinaryIO, magic: bytes) -> None:
        self._file, self._magic = file, magic
        self._open()

    def _open(self) -> None:
        self._file.seek(0)
        reader = GzipReader if self._magic == GZIP else ZstdReader
        self._reader: Any = reader(self._file)
        self._at = 0

    def read(self, size: int = BLOCK) -> bytes:
        """Return at most *size* bytes; empty at the end."""
        data: bytes = self._reader.read(size)
        self._at += len(data)
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to an offset from the start."""
        if whence == io.SEEK_CUR:
            offset += self._at
        if offset < self._at:
            self._open()
        while self._at < offset and self.read(min(BLOCK, offset - self._at)):
            pass
        return self._at

    def tell(self) -> int:
        """Return the offset."""
        return self._at


class Positions:
    """The starts and ends of records in a file that can seek."""

    def __init__(self, file: BinaryIO) -> None:
        file.seek(0)
        start = file.read(4)
        self._dictionary = b""
        if start == DICTIONARY:
            size = file.read(4)
            self._dictionary = start + size + file.read(int.from_bytes(size, "little"))
            start = ZSTD
        self.magic = next((magic for magic in (GZIP, ZSTD) if start.startswith(magic)), b"")
        self.file: Any = file
        if not self.magic and not start.startswith(FIRST[:4]):
            # The first record is damaged; the next ones show the form of the archive.
            self.magic = next((magic for magic in (GZIP, ZSTD) if self._has_form(magic)), b"")
        if self.magic and not self._dictionary and self._has_many_records():
            self.file, self.magic = DecodedFile(file, self.magic), b""

    def stream_at(self, offset: int) -> Any:
        """Return the file, to be read from an offset."""
        if self._dictionary and offset:
            return _AfterDictionary(self.file, self._dictionary, offset)
        self.file.seek(offset)
        return self.file

    def is_end(self, offset: int) -> bool:
        """Return whether only padding follows."""
        self.file.seek(offset)
        while data := self.file.read(BLOCK):
            if data.strip(b"\0\r\n"):
                return False
        return True

    # --- Where a record ends ----------------------------------------------------------------------

    def record_end(self, offset: int) -> RecordEnd:
        """Check the record that starts at an offset."""
        if self.magic == GZIP:
            return self._member_end(offset)
        if self.magic == ZSTD:
            return self._frame_end(offset)
        return self._plain_end(offset)

    def empty_member_end(self, offset: int) -> int | None:
        """Return where a member without content ends; None: the file has something else there."""
        if self.magic != GZIP:
            return None
        parts, end = self._inflated(offset, 16)
        return end if end is not None and not parts.strip(_LINE_ENDS) else None

    def member_with(self, offset: int, text: bytes) -> int | None:
        """Return the end of the gzip member at an offset if it contains a text; else None."""
        self.file.seek(offset)
        inflate, read, tail, is_inside = zlib.decompressobj(31), 0, b"", False
        while self.magic == GZIP and not inflate.eof:
            data = inflate.unconsumed_tail
            if not data:
                data = self.file.read(BLOCK)
                read += len(data)
            try:
                made = inflate.decompress(data, BLOCK) if data else b""
            except zlib.error:
                return None
            if not data:
                return None
            is_inside = is_inside or text in tail + made
            tail = made[-len(text) :]
        return offset + read - len(inflate.unused_data) if is_inside else None

    def _plain_end(self, offset: int) -> RecordEnd:
        self.file.seek(offset)
        header = self.file.read(MAX_HEADER)
        length, start, record_id = _read_header(header)
        if length is None:
            return RecordEnd(None, start)
        end = offset + int(start) + length
        # A file shorter than the record has nothing where the record ends.
        self.file.seek(max(end - 1, offset))
        data = self.file.read(1 + 4)
        if not data:
            return RecordEnd(None, "truncated record", record_id)
        rest = data[1:].lstrip(_LINE_ENDS)
        if rest and len(data) - 1 == len(rest):
            return RecordEnd(None, "Content-Length is wrong", record_id)
        return RecordEnd(end + len(data) - 1 - len(rest), "", record_id)

    def _member_end(self, offset: int) -> RecordEnd:
        """Check the gzip member at an offset: its checksum and the length of its record."""
        self.file.seek(offset)
        inflate, kept, total, read = zlib.decompressobj(31), bytearray(), 0, 0
        tail = b""
        while not inflate.eof:
            data = inflate.unconsumed_tail or self.file.read(BLOCK)
            if not data:
                why = "the file ends inside this record, a truncated gzip member; the rest is lost"
                return RecordEnd(None, why, _read_header(bytes(kept))[2])
            if data is not inflate.unconsumed_tail:
                read += len(data)
            try:
                made = inflate.decompress(data, BLOCK)
            except zlib.error:
                why = "damaged gzip member" if total else "not a gzip member, or damaged"
                return RecordEnd(None, why, _read_header(bytes(kept))[2])
            kept += made[: max(MAX_HEADER - len(kept), 0)]
            total += len(made)
            tail = (tail + made)[-64:]
        end = offset + read - len(inflate.unused_data)
        return _compare_length(bytes(kept), total, tail, end)

    def _frame_end(self, offset: int) -> RecordEnd:
        """Check the zstd frame at an offset."""
        end = self._frame_length(offset)
        if end is None:
            return RecordEnd(None, "truncated or damaged zstd frame")
        self.file.seek(offset)
        frame = io.BytesIO(self._dictionary + self.file.read(end - offset))
        kept, total, tail = bytearray(), 0, b""
        try:
            reader = ZstdReader(frame)
            while made := reader.read(BLOCK):
                kept += made[: max(MAX_HEADER - len(kept), 0)]
                total += len(made)
                tail = (tail + made)[-64:]
        except OSError:
            return RecordEnd(end, "damaged zstd frame", _read_header(bytes(kept))[2])
        return _compare_length(bytes(kept), total, tail, end)

    def _frame_length(self, offset: int) -> int | None:
        """Return where a zstd frame ends (RFC 8878 §3.1.1), without decoding it."""
        self.file.seek(offset)
        head = self.file.read(18)
        if len(head) < 6 or head[:4] != ZSTD:
            return None
        flags = head[4]
        single = flags >> 5 & 1
        size = (single, 2, 4, 8)[flags >> 6]
        at = offset + 5 + (1 - single) + (0, 1, 2, 4)[flags & 3] + size
        while True:
            self.file.seek(at)
            block = self.file.read(3)
            if len(block) < 3:
                return None
            header = int.from_bytes(block, "little")
            kind, length = header >> 1 & 3, header >> 3
            if kind == 3:
                return None
            at += 3 + (1 if kind == 1 else length)
            if header & 1:
                break
        at += 4 if flags >> 2 & 1 else 0
        self.file.seek(at - 1)
        return at if self.file.read(1) else None

    # --- Where the next record starts -------------------------------------------------------------

    def next_start(self, offset: int) -> int | None:
        """Return the start of the next readable record, at or after an offset; None: none."""
        tries, keep = 0, 32
        base, window = offset, b""
        while True:
            self.file.seek(base + len(window))
            try:
                data = self.file.read(SEARCH_BLOCK)
            except OSError:  # the file is compressed as a whole, and damaged here
                return None
            window += data
            for at in self._candidates(window, base):
                tries += 1
                if not self.magic or self._starts_record(base + at):
                    return base + at
                if tries >= MAX_CANDIDATES:
                    return None
            if not data:
                return None
            base, window = base + max(len(window) - keep, 0), window[-keep:]

    def _candidates(self, window: bytes, base: int) -> list[int]:
        """Return the offsets in the part of the file from *base* where a record may start."""
        if self.magic:
            return [match.start() for match in re.finditer(re.escape(self.magic), window)]
        # The start of this part is the start of a line only at the start of the file.
        return [match.end() for match in _FIRST_LINE.finditer(window) if match.end() or not base]

    def _starts_record(self, offset: int) -> bool:
        """Return whether the compressed data at an offset starts with a record."""
        if self.magic == GZIP:
            return self._inflated(offset, len(FIRST))[0] == FIRST
        try:
            reader = ZstdReader(self.stream_at(offset))
            return bool(reader.read(len(FIRST)) == FIRST)
        except (OSError, ValueError):
            return False

    def _inflated(self, offset: int, size: int) -> tuple[bytes, int | None]:
        """Return the first bytes of a gzip member, and its end if it has no more."""
        self.file.seek(offset)
        inflate = zlib.decompressobj(31)
        data = self.file.read(4096)
        try:
            made = inflate.decompress(data, size)
        except zlib.error:
            return b"", None
        return made, offset + len(data) - len(inflate.unused_data) if inflate.eof else None

    def _has_form(self, magic: bytes) -> bool:
        """Return whether a readable record in this form is near the start of the file."""
        self.magic = magic
        self.file.seek(0)
        start = self.file.read(SEARCH_BLOCK)
        return any(self._starts_record(at) for at in self._candidates(start, 0)[:100])

    def _has_many_records(self) -> bool:
        """Return whether the first gzip member or zstd frame has more than one record."""
        reader = GzipReader if self.magic == GZIP else ZstdReader
        try:
            if self.magic == GZIP:
                self.file.seek(0)
                data = _first_member(self.file, SEARCH_BLOCK)
            else:
                end = self._frame_length(0)
                self.file.seek(0)
                whole = io.BytesIO(self.file.read(end if end is not None else SEARCH_BLOCK))
                data = reader(whole).read(SEARCH_BLOCK)
        except (OSError, zlib.error):
            return False
        length, start, _ = _read_header(data)
        if length is None:
            return False
        return data[int(start) + length :].lstrip(_LINE_ENDS).startswith(FIRST)


class _AfterDictionary:
    """A zstd archive from an offset on, after the dictionary that all its frames need."""

    def __init__(self, file: BinaryIO, dictionary: bytes, offset: int) -> None:
        self._file, self._start, self._shift = file, dictionary, offset - len(dictionary)
        self._at = 0
        file.seek(offset)

    def read(self, size: int = BLOCK) -> bytes:
        """Return at most *size* bytes."""
        if self._at < len(self._start):
            data = self._start[self._at : self._at + size]
        else:
            data = self._file.read(size)
        self._at += len(data)
        return data

    def tell(self) -> int:
        """Return the offset in the file."""
        return self._at + self._shift

    def seek(self, offset: int, whence: int = 0) -> int:
        """Report the offset; this stream only goes forward."""
        if whence != io.SEEK_CUR or offset:
            raise OSError("cannot seek")
        return self.tell()


def _first_member(file: BinaryIO, size: int) -> bytes:
    """Return at most *size* bytes of the gzip member at the start of a file."""
    inflate, made = zlib.decompressobj(31), b""
    while not inflate.eof and len(made) < size:
        data = inflate.unconsumed_tail or file.read(BLOCK)
        if not data:
            break
        made += inflate.decompress(data, size - len(made))
    return made


def _read_header(data: bytes) -> tuple[int | None, Any, bytes | None]:
    """Return length and start of the block and the record's id, or None and what is wrong."""
    if not data.startswith(FIRST):
        return None, "not a WARC record", None
    end = _HEADER_END.search(data)
    if end is None:
        return None, "the header of the record does not end", None
    header = data[: end.end()]
    record_id = _RECORD_ID.search(header)
    name = record_id[1] if record_id else None
    length = _LENGTH.search(header)
    if length is None:
        return None, "Content-Length is missing or invalid", name
    return int(length[1]), end.end(), name


def _compare_length(kept: bytes, total: int, tail: bytes, end: int) -> RecordEnd:
    """Compare the content of a member with the length of its record."""
    length, start, record_id = _read_header(kept)
    if length is None:
        return RecordEnd(end, start, record_id)
    extra = total - start - length
    if extra < 0:
        return RecordEnd(end, "truncated record", record_id)
    if extra > len(tail) or tail[len(tail) - extra :].strip(_LINE_ENDS):
        return RecordEnd(end, "Content-Length is wrong", record_id)
    return RecordEnd(end, "", record_id)
