"""
Content codings: decodes a body as it streams, with limits (RFC 9110 §8.4; AMB-61).

Bodies are untrusted. Each layer accepts 8 KiB and returns at most 64 KiB at a time, and decoding
stops at the limit, so a decompression bomb costs only what was read of it. A layer that consumes
much and returns little is stopped, and so is one with many parts; the deadline is checked between
pieces, because a few bytes may cause much work. A truncated coding is an error: half a robots.txt
may lack the rule that decides (AMB-57). HTTP libraries accept it, and drop all but the first member
of a gzip file; that is why this module exists, on top of existing decompressors.

It is independent of connections and HTTP libraries.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

# Maximum output of a layer at a time.
PIECE = 64 * 1024
# Input of a layer at a time: a decompressor copies the unused rest.
SLICE = 8 * 1024
# Input that layers may consume beyond their output; zstd takes up to 128 KiB before any output.
SLACK = 192 * 1024
# More are not used in practice; each multiplies the cost of a few bytes.
MAX_CODINGS = 2
# Members of a gzip file, or zstd frames: each needs a decompressor, even an empty one.
MAX_PARTS = 100
# RFC 9659: a zstd stream for the Web has a window of at most 8 MiB.
ZSTD_WINDOW_LOG = 23
_GZIP_MAGIC = b"\x1f\x8b"


class CodingError(Exception):
    """An unknown or invalid coding; the message states which."""


class Layer(Protocol):
    """One coding of a body."""

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Decode some bytes, piece by piece."""

    def end(self) -> None:
        """Signal the end of the input; raises CodingError if it is truncated."""


# --- The layers -----------------------------------------------------------------------------------


class _Inflate:
    """`gzip`, and `deflate` in both of its forms."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._inside: Any = None
        self._held = b""  # a byte that is too short to identify the format
        self._parts = 0
        self._over = False

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Decode some bytes, piece by piece."""
        data, self._held = self._held + data, b""
        while data and not self._over:
            if self._inside is None:
                if len(data) < 2:
                    self._held = data
                    return
                if self._parts and data[:2] != _GZIP_MAGIC:
                    self._over = True  # padding, which gzip and browsers skip as well
                    return
                self._parts = _count_part(self._parts, self._name)
                self._inside = zlib.decompressobj(self._window(data))
            piece = self._inflated(data)
            if piece:
                yield piece
            data = self._inside.unconsumed_tail
            if not data and len(piece) == PIECE:
                # There may be more output than fits into one piece.
                while piece := self._inflated(b""):
                    yield piece
            if self._inside.eof:
                # RFC 1952 §2.2: gzip may have several members; the other two have one stream.
                data = self._inside.unused_data
                self._inside = None
                self._over = self._name != "gzip"

    def _window(self, data: bytes) -> int:
        if self._name == "gzip":
            return zlib.MAX_WBITS | 16
        # RFC 9110 §8.4.1.2: some servers omit the zlib wrapper. It begins with the method, 8, and
        # its first two bytes are a multiple of 31 (RFC 1950 §2.2).
        wrapped = data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0
        return zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS

    def _inflated(self, data: bytes) -> bytes:
        try:
            return bytes(self._inside.decompress(data, PIECE))
        except zlib.error as error:
            raise CodingError(f"{self._name}: {error}") from None

    def end(self) -> None:
        """Signal the end of the input."""
        if self._inside is not None or (self._held and not self._parts):
            raise CodingError(f"{self._name}: the data is truncated")


class _Brotli:
    def __init__(self) -> None:
        self._inside = brotli.Decompressor()
        self._begin = False

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Decode some bytes, piece by piece."""
        self._begin = True
        while not self._inside.is_finished():
            try:
                piece = self._inside.process(data, output_buffer_limit=PIECE)
            except brotli.error as error:
                raise CodingError(f"br: {error}") from None
            data = b""
            if not piece:
                return
            yield piece

    def end(self) -> None:
        """Signal the end of the input."""
        if self._begin and not self._inside.is_finished():
            raise CodingError("br: the data is truncated")


class _Zstd:
    def __init__(self) -> None:
        self._parts = 0
        self._inside = self._fresh()
        self._begin = False

    def _fresh(self) -> Any:
        self._parts = _count_part(self._parts, "zstd")
        parameter = zstd.DecompressionParameter.window_log_max
        return zstd.ZstdDecompressor(options={parameter: ZSTD_WINDOW_LOG})

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Decode some bytes, piece by piece."""
        while data or not (self._inside.needs_input or self._inside.eof):
            if self._inside.eof:
                # RFC 8878 §3: several frames, including skippable ones.
                self._inside = self._fresh()
            self._begin = True
            try:
                piece = self._inside.decompress(data, PIECE)
            except zstd.ZstdError as error:
                raise CodingError(f"zstd: {error}") from None
            if piece:
                yield piece
            data = self._inside.unused_data if self._inside.eof else b""

    def end(self) -> None:
        """Signal the end of the input."""
        if self._begin and not self._inside.eof:
            raise CodingError("zstd: the data is truncated")


def _count_part(parts: int, name: str) -> int:
    if parts == MAX_PARTS:
        raise CodingError(f"{name}: more than {MAX_PARTS} consecutive parts")
    return parts + 1


# --- Supported codings ----------------------------------------------------------------------------

_LAYERS: dict[str, Callable[[], Layer]] = {
    "gzip": lambda: _Inflate("gzip"),
    "deflate": lambda: _Inflate("deflate"),
}
try:
    import brotli  # type: ignore[import-untyped]

    # Before 1.2 the output at a time is unlimited.
    if hasattr(brotli.Decompressor, "can_accept_more_data"):
        _LAYERS["br"] = _Brotli
except ImportError:  # pragma: no cover
    pass
try:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    _LAYERS["zstd"] = _Zstd
except ImportError:  # pragma: no cover
    pass

ACCEPT_ENCODING = ", ".join(_LAYERS)
# RFC 9110 §8.4.1.3.
_ALIASES = {"x-gzip": "gzip"}


class Body:
    """The body of one response: decoded as it streams, up to a limit."""

    def __init__(
        self, codings: Iterable[bytes], limit: int, on_time: Callable[[], object] = bool
    ) -> None:
        """
        Accept the lines of Content-Encoding; raises CodingError for an unknown coding.

        *on_time* is called before each piece of work, and raises after the deadline.
        """
        names = b",".join(codings).decode("latin-1").lower().split(",")
        wanted = [name for one in names if (name := one.strip()) not in ("", "identity")]
        if len(wanted) > MAX_CODINGS:
            raise CodingError(f"{len(wanted)} nested codings")
        # The last coding was applied last, so it is decoded first.
        self._layers = [_layer(name) for name in reversed(wanted)]
        self._limit = limit
        self._on_time = on_time
        # Input that the layers may still consume. A coding shortens a file; if it does not, it is
        # an attack: tables without content cost a microsecond for each ten bytes.
        self._appetite = SLACK
        self._pieces: list[bytes] = []
        self._octets = 0

    def feed(self, data: bytes) -> bool:
        """Decode received bytes; True: the limit is reached."""
        for piece in self._decoded(data, 0):
            self._pieces.append(piece)
            self._octets += len(piece)
            if self._octets > self._limit:
                return True
        return False

    def end(self) -> None:
        """Signal the end; raises CodingError if a coding is truncated."""
        for layer in self._layers:
            layer.end()

    def octets(self) -> tuple[bytes, bool]:
        """Return the decoded bytes up to the limit, and whether these are all."""
        return b"".join(self._pieces)[: self._limit], self._octets <= self._limit

    def _decoded(self, data: bytes, depth: int) -> Iterator[bytes]:
        if depth == len(self._layers):
            self._appetite += len(data)
            yield data
            return
        for start in range(0, len(data), SLICE):
            self._on_time()
            some = data[start : start + SLICE]
            for piece in self._layers[depth].pieces(some):
                self._on_time()
                yield from self._decoded(piece, depth + 1)
            self._appetite -= len(some)
            if self._appetite < 0:
                raise CodingError("much input that decodes to almost nothing")


def _layer(name: str) -> Layer:
    try:
        return _LAYERS[_ALIASES.get(name, name)]()
    except KeyError:
        raise CodingError(f"unknown coding {name[:40]!r}") from None
