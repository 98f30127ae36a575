"""
Content codings: octets as they came, decoded as they stream (RFC 9110 §8.4; AMB-61).

A body comes from strangers. Each layer takes 8 KiB and gives out 64 KiB at a time at most, and none
is asked for more once there is enough, so a bomb costs what was read of it. A layer that eats much
and gives little is stopped, and so is one of many parts; between pieces the time is looked at,
because a few octets may hold long work. A coding that ends before its end is broken: half a
robots.txt may lack the rule that counts (AMB-57). HTTP libraries let that pass, and drop what
follows the first member of a gzip file; that is why this is here, over the decompressors of others.

It knows no connection, and no HTTP library.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

# Octets that a layer gives out at a time.
PIECE = 64 * 1024
# Octets that a layer takes at a time: a decompressor copies what it leaves of them.
SLICE = 8 * 1024
# What the layers may eat together beyond what came out; zstd takes up to 128 KiB before it gives.
SLACK = 192 * 1024
# Nobody needs more; each multiplies what a few octets can cost.
MOST_CODINGS = 2
# Members of a gzip file, or frames of a zstd one: each costs a decompressor, even an empty one.
MOST_PARTS = 100
# RFC 9659: a zstd stream for the Web has a window of at most 8 MiB.
ZSTD_WINDOW_LOG = 23
_GZIP_MAGIC = b"\x1f\x8b"


class CodingError(Exception):
    """A coding that is unknown or broken; the text says which."""


class Layer(Protocol):
    """One coding of a body."""

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Decode some octets, piece by piece."""

    def end(self) -> None:
        """Tell that nothing follows; raises CodingError if something is missing."""


# --- The layers -----------------------------------------------------------------------------------


class _Inflated:
    """`gzip`, and `deflate` in both of its forms."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._inside: Any = None
        self._held = b""  # an octet that does not tell yet what it begins
        self._parts = 0
        self._over = False

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Decode some octets, piece by piece."""
        data, self._held = self._held + data, b""
        while data and not self._over:
            if self._inside is None:
                if len(data) < 2:
                    self._held = data
                    return
                if self._parts and data[:2] != _GZIP_MAGIC:
                    self._over = True  # padding, which gzip and browsers skip too
                    return
                self._parts = _one_more(self._parts, self._name)
                self._inside = zlib.decompressobj(self._window(data))
            piece = self._inflated(data)
            if piece:
                yield piece
            data = self._inside.unconsumed_tail
            if not data and len(piece) == PIECE:
                # There may be more inside of it than it may give out at a time.
                while piece := self._inflated(b""):
                    yield piece
            if self._inside.eof:
                # RFC 1952 §2.2: members follow one another. The other two have one stream.
                data = self._inside.unused_data
                self._inside = None
                self._over = self._name != "gzip"

    def _window(self, data: bytes) -> int:
        if self._name == "gzip":
            return zlib.MAX_WBITS | 16
        # RFC 9110 §8.4.1.2: some send no zlib wrapper. One begins with the method, 8, and its
        # first two octets are a multiple of 31 (RFC 1950 §2.2).
        wrapped = data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0
        return zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS

    def _inflated(self, data: bytes) -> bytes:
        try:
            return bytes(self._inside.decompress(data, PIECE))
        except zlib.error as error:
            raise CodingError(f"{self._name}: {error}") from None

    def end(self) -> None:
        """Tell that nothing follows."""
        if self._inside is not None or (self._held and not self._parts):
            raise CodingError(f"{self._name}: the data ends too early")


class _Brotli:
    def __init__(self) -> None:
        self._inside = brotli.Decompressor()
        self._begun = False

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Decode some octets, piece by piece."""
        self._begun = True
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
        """Tell that nothing follows."""
        if self._begun and not self._inside.is_finished():
            raise CodingError("br: the data ends too early")


class _Zstd:
    def __init__(self) -> None:
        self._parts = 0
        self._inside = self._fresh()
        self._begun = False

    def _fresh(self) -> Any:
        self._parts = _one_more(self._parts, "zstd")
        parameter = zstd.DecompressionParameter.window_log_max
        return zstd.ZstdDecompressor(options={parameter: ZSTD_WINDOW_LOG})

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Decode some octets, piece by piece."""
        while data or not (self._inside.needs_input or self._inside.eof):
            if self._inside.eof:
                # RFC 8878 §3: frames may follow one another, skippable ones too.
                self._inside = self._fresh()
            self._begun = True
            try:
                piece = self._inside.decompress(data, PIECE)
            except zstd.ZstdError as error:
                raise CodingError(f"zstd: {error}") from None
            if piece:
                yield piece
            data = self._inside.unused_data if self._inside.eof else b""

    def end(self) -> None:
        """Tell that nothing follows."""
        if self._begun and not self._inside.eof:
            raise CodingError("zstd: the data ends too early")


def _one_more(parts: int, name: str) -> int:
    if parts == MOST_PARTS:
        raise CodingError(f"{name}: more than {MOST_PARTS} parts that follow one another")
    return parts + 1


# --- What can be decoded here ---------------------------------------------------------------------

_LAYERS: dict[str, Callable[[], Layer]] = {
    "gzip": lambda: _Inflated("gzip"),
    "deflate": lambda: _Inflated("deflate"),
}
try:
    import brotli  # type: ignore[import-untyped]

    # Before 1.2 there is no bound on what comes out at a time.
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
    """The body of one answer: decoded while it streams, up to a limit."""

    def __init__(
        self, codings: Iterable[bytes], limit: int, on_time: Callable[[], object] = bool
    ) -> None:
        """
        Take the lines of Content-Encoding; raises CodingError for one that is not known.

        *on_time* is called before each piece of work, and raises if the time is over.
        """
        names = b",".join(codings).decode("latin-1").lower().split(",")
        wanted = [name for one in names if (name := one.strip()) not in ("", "identity")]
        if len(wanted) > MOST_CODINGS:
            raise CodingError(f"{len(wanted)} codings on one another")
        # The last one was applied last, so it comes off first.
        self._layers = [_layer(name) for name in reversed(wanted)]
        self._limit = limit
        self._on_time = on_time
        # What the layers may still eat. A coding makes a file shorter. What eats more is a trap:
        # tables without content cost a microsecond for each ten octets.
        self._appetite = SLACK
        self._pieces: list[bytes] = []
        self._octets = 0

    def feed(self, data: bytes) -> bool:
        """Take octets as they came; True: there is enough, and more than the limit."""
        for piece in self._decoded(data, 0):
            self._pieces.append(piece)
            self._octets += len(piece)
            if self._octets > self._limit:
                return True
        return False

    def end(self) -> None:
        """Tell that nothing follows; raises CodingError if a coding lacks its end."""
        for layer in self._layers:
            layer.end()

    def octets(self) -> tuple[bytes, bool]:
        """Return the octets up to the limit, and whether these are all."""
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
                raise CodingError("octets that decode to nearly nothing")


def _layer(name: str) -> Layer:
    try:
        return _LAYERS[_ALIASES.get(name, name)]()
    except KeyError:
        raise CodingError(f"unknown coding {name[:40]!r}") from None
