"""
Compressed text files as streams: gzip and zstd, also truncated or damaged ones.

Damage ends the stream instead of raising, and `problem` states it, so the rows before the damage
are read and the damage becomes a reject. The line that is cut by the damage is left out: half a URL
may be another URL.
"""

from __future__ import annotations

import io
import zlib
from typing import Any, BinaryIO

BLOCK = 256 * 1024
# A longer line is passed on before its end is known.
MAX_LINE = 32 * 1024 * 1024
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


class TextFile(io.RawIOBase):
    """The content of a file, decompressed if its first bytes say so."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file = file
        self.problem = ""
        """What is wrong with the compressed data; empty: nothing so far."""
        start = file.read(4)
        file.seek(0)
        self.is_compressed = start.startswith((GZIP, ZSTD))
        self._inflate: Any = zlib.decompressobj(31) if start.startswith(GZIP) else None
        self._raw, self._fresh = b"", True
        # Decompressed lines, and the start of a line whose end is not decompressed yet.
        self._lines, self._rest = b"", b""
        self._reader: Any = file
        if start.startswith(ZSTD):
            from robotrules.bulk.readers.fastwarc_support import ZstdReader

            self._reader = ZstdReader(file)

    def readable(self) -> bool:
        """Return True."""
        return True

    def position(self) -> int:
        """Return how many bytes of the file itself were read."""
        return self._file.tell()

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer; return the number of bytes, 0 at the end and at damage."""
        size = len(buffer)
        if not self.is_compressed:
            data: bytes = self._file.read(size)
        else:
            while not self._lines:
                data = self._decompressed(BLOCK)
                if not data:
                    self._lines, self._rest = b"" if self.problem else self._rest, b""
                    break
                end = data.rfind(b"\n") + 1
                if end or len(self._rest) > MAX_LINE:
                    end = end or len(data)
                    self._lines, self._rest = self._rest + data[:end], data[end:]
                else:
                    self._rest += data
            data, self._lines = self._lines[:size], self._lines[size:]
        buffer[: len(data)] = data
        return len(data)

    def _decompressed(self, size: int) -> bytes:
        if self.problem:
            return b""
        if self._inflate is None:
            try:
                data: bytes = self._reader.read(size)
                return data
            except OSError as error:
                self.problem = f"damaged compressed data: {error}"
                return b""
        while True:
            data = self._inflate.unconsumed_tail or self._raw or self._file.read(BLOCK)
            self._raw = b""
            if not data:
                self.problem = "" if self._fresh else "truncated gzip data"
                return b""
            try:
                made: bytes = self._inflate.decompress(data, size)
            except zlib.error:
                # Padding behind the last member is not damage.
                if self._fresh and not data.strip(b"\0"):
                    self._inflate = zlib.decompressobj(31)
                    continue
                self.problem = "damaged gzip data"
                return b""
            self._fresh = False
            if self._inflate.eof:
                self._raw = self._inflate.unused_data
                self._inflate, self._fresh = zlib.decompressobj(31), True
            if made:
                return made
