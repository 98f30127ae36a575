"""
Framing: where a response ends, and which heads are rejected (RFC 9112 §2 to §7).

HTTP libraries differ in what they accept as a response, and some treat bytes after it as the next
response. A `Framing` reads the same bytes before the library does: it counts the bytes of one
response, and rejects what is invalid in RFC 9112. The same rules thus apply to every library, and
bytes after a response are never passed on. The library still parses the response; only its end,
and whether to reject it, are decided here.

It decodes nothing, and is independent of connections and HTTP libraries.
"""

from __future__ import annotations

import re
from collections.abc import Callable

# The whole head, from the status line to the empty line. Servers and proxies accept 8 to 64 KiB.
MAX_HEAD = 64 * 1024
# A line with the size of a chunk and its extensions; and all trailer fields (RFC 9112 §7.1).
MAX_CHUNK_LINE = 4 * 1024
MAX_TRAILERS = 16 * 1024
# Digits of a Content-Length, and of the size of a chunk: what 64 bits hold.
_MAX_DIGITS, _MAX_HEX_DIGITS = 18, 15

_BEGIN = b"HTTP/"
# RFC 9112 §2.2: a recipient may accept a bare LF as a line end.
_LINE_END = re.compile(rb"\r?\n")
# RFC 9112 §4; some servers omit the reason phrase and the space before it.
_STATUS_LINE = re.compile(rb"HTTP/1\.([01]) ([1-9][0-9]{2})(?: [^\x00\x0b\x0c\r\n]*)?")
# RFC 9110 §5.1, §5.5; RFC 9112 §5.1: no space before the colon. Control characters are tolerated
# in values, since sites use them in cookies, except those that some programs treat as line ends.
_FIELD_LINE = re.compile(rb"([-!#$%&'*+.^_`|~0-9A-Za-z]+):[ \t]*([^\x00\x0b\x0c\r]*)")
# A head without folded lines, as nearly all: matched as a whole, which is faster.
_PLAIN_HEAD = re.compile(
    _STATUS_LINE.pattern + rb"(?:\r?\n[-!#$%&'*+.^_`|~0-9A-Za-z]+:[^\x00\x0b\x0c\r\n]*)*"
)
_FRAMING_FIELD = re.compile(rb"\n(content-length|transfer-encoding):([^\r\n]*)", re.IGNORECASE)
# RFC 9112 §5.2.
_FOLDED = re.compile(rb"[ \t][^\x00\x0b\x0c\r]*")
_LENGTH = re.compile(rb"[0-9]{1,%d}" % _MAX_DIGITS)
# RFC 9112 §7.1.1. Extensions are ignored; some servers pad the size with blanks.
_TOKEN = rb"[-!#$%&'*+.^_`|~0-9A-Za-z]+"
_CHUNK_LINE = re.compile(
    rb"([0-9A-Fa-f]{1,%d})(?: *|(?:;%b(?:=(?:%b|\"[ \t!#-\[\]-~]*\"))?)+)"
    % (_MAX_HEX_DIGITS, _TOKEN, _TOKEN)
)
# RFC 9110 §6.5.1: framing fields are not allowed in trailers.
_NOT_IN_TRAILERS = (b"content-length", b"transfer-encoding")
# Statuses whose responses have no content, whatever their fields say (RFC 9112 §6.3).
_WITHOUT_CONTENT = frozenset((204, 304))


class FramingError(Exception):
    """Not a valid response (RFC 9112); the message states why."""


class Framing:
    """
    The framing of one response.

    `feed()` accepts received bytes and returns how many of them belong to the response. Once
    `done`, none do.
    """

    __slots__ = ("_connect", "_head", "_left", "_line", "_step", "done", "reusable")

    def __init__(self, *, connect: bool = False) -> None:
        """*connect*: the request was a CONNECT, whose response has no content (RFC 9110 §9.3.6)."""
        self._connect = connect
        self.done = False
        self.reusable = True
        """False: the connection must not be reused (RFC 9112 §6.1)."""
        self._head = bytearray()
        self._line = bytearray()
        self._left = 0
        # Not a bound method: that would be a reference cycle for each response.
        self._step: Callable[[Framing, bytes, int], int] = Framing._in_head

    def feed(self, data: bytes) -> int:
        """Return how many of these bytes belong to the response; raises FramingError."""
        at = 0
        while at < len(data) and not self.done:
            at = self._step(self, data, at)
        return at

    @property
    def pending(self) -> int:
        """The received bytes of an incomplete head."""
        return len(self._head)

    # --- The head -----------------------------------------------------------------------------

    def _in_head(self, data: bytes, at: int) -> int:
        head = self._head
        before = len(head)
        begin = bytes(head[:5]) + data[at : at + 5 - min(before, 5)]
        if not _BEGIN.startswith(begin):
            raise FramingError(f"the response begins with {(bytes(head) + data[at:])[:20]!r}")
        if not before:
            # Most heads arrive in one piece, and there may be many interim ones: avoid copies.
            last, end = _end_of_head(data, at, at + MAX_HEAD)
            if end:
                self._after_head(data[at:last].removesuffix(b"\r"))
                return end
        head += data[at : at + MAX_HEAD + 1 - before]
        last, end = _end_of_head(head, max(0, before - 2), MAX_HEAD) if before else (0, 0)
        if not end:
            if len(head) > MAX_HEAD:
                raise FramingError(f"the head has more than {MAX_HEAD} bytes")
            return len(data)
        self._head = bytearray()
        self._after_head(bytes(head[:last]).removesuffix(b"\r"))
        return at + end - before

    def _after_head(self, head: bytes) -> None:
        """Determine what follows the head (RFC 9112 §6.3; comments give the step numbers)."""
        status_line = _PLAIN_HEAD.fullmatch(head)
        if status_line is not None:
            found = _FRAMING_FIELD.findall(head)
            lengths = [
                value.lstrip(b" \t").rstrip(b" ") for name, value in found if name[:1] in b"Cc"
            ]
            codings = [
                value.lstrip(b" \t").rstrip(b" ") for name, value in found if name[:1] in b"Tt"
            ]
        else:
            first, *lines = _LINE_END.split(head)
            status_line = _STATUS_LINE.fullmatch(first)
            if status_line is None:
                raise FramingError(f"invalid status line {first[:40]!r}")
            lengths, codings = _framing_fields(lines)
        status = int(status_line[2])
        if codings and lengths:
            # Step 3: this may be response splitting, and ought to be an error.
            raise FramingError("both Content-Length and Transfer-Encoding")
        if codings and (len(codings) > 1 or codings[0].lower() != b"chunked"):
            raise FramingError(f"Transfer-Encoding {b', '.join(codings)[:40]!r}")
        if lengths and (len(lengths) > 1 or not _LENGTH.fullmatch(lengths[0])):
            raise FramingError(f"Content-Length {b', '.join(lengths)[:40]!r}")
        if status < 200 and status != 101:
            return  # an interim response: another head follows
        if status == 101 or status in _WITHOUT_CONTENT or (self._connect and status < 300):
            self.done = True  # steps 1 and 2
        elif codings:
            self.reusable = status_line[1] == b"1"  # §6.1: HTTP/1.0 has no chunks
            self._step = Framing._in_chunk_line  # step 4
        elif lengths:
            self._left = int(lengths[0])  # step 6
            self.done = not self._left
            self._step = Framing._in_content
        else:
            self.reusable = False
            self._step = Framing._to_the_end  # step 8

    # --- The content --------------------------------------------------------------------------

    def _in_content(self, data: bytes, at: int) -> int:
        taken = min(self._left, len(data) - at)
        self._left -= taken
        self.done = not self._left
        return at + taken

    def _to_the_end(self, data: bytes, at: int) -> int:
        return len(data)

    def _in_chunk_line(self, data: bytes, at: int) -> int:
        line, at = self._until_line_end(data, at, MAX_CHUNK_LINE)
        if line is None:
            return at
        found = _CHUNK_LINE.fullmatch(line.removesuffix(b"\r")) if line[-1:] == b"\r" else None
        if found is None:
            raise FramingError(f"invalid chunk line {line[:40]!r}")
        self._left = int(found[1], 16)
        self._step = Framing._in_chunk if self._left else Framing._in_trailers
        if not self._left:
            self._left = MAX_TRAILERS
        return at

    def _in_chunk(self, data: bytes, at: int) -> int:
        taken = min(self._left, len(data) - at)
        self._left -= taken
        if not self._left:
            self._step = Framing._after_chunk
        return at + taken

    def _after_chunk(self, data: bytes, at: int) -> int:
        needed = 2 - len(self._line)
        self._line += data[at : at + needed]
        if not b"\r\n".startswith(self._line):
            raise FramingError("a chunk is longer than its declared size")
        if len(self._line) == 2:
            self._line.clear()
            self._step = Framing._in_chunk_line
        return min(at + needed, len(data))

    def _in_trailers(self, data: bytes, at: int) -> int:
        line, after = self._until_line_end(data, at, self._left)
        if line is None:
            return after
        line = line.removesuffix(b"\r")
        if not line:
            self.done = True
            return after
        found = _FIELD_LINE.fullmatch(line)
        if found is None or found[1].lower() in _NOT_IN_TRAILERS:
            raise FramingError(f"invalid trailer field {line[:40]!r}")
        self._left -= len(line) + 2
        return after

    def _until_line_end(self, data: bytes, at: int, most: int) -> tuple[bytes | None, int]:
        """Return a line without its LF, and where it ends; None: more bytes are needed."""
        end = data.find(b"\n", at, at + max(most, 0) + 1)
        stop = len(data) if end < 0 else end
        if len(self._line) + stop - at > most:
            raise FramingError(f"a line of a chunked body has more than {most} bytes")
        self._line += data[at:stop]
        if end < 0:
            return None, stop
        line = bytes(self._line)
        self._line.clear()
        return line, end + 1


def _end_of_head(head: bytes | bytearray, start: int, stop: int) -> tuple[int, int]:
    """Return the offsets of the last LF and of the end of the head; 0: not before *stop*."""
    at = head.find(b"\n", start, stop)
    while at >= 0:
        if head.startswith((b"\n", b"\r\n"), at + 1):
            end = at + (2 if head.startswith(b"\n", at + 1) else 3)
            return (at, end) if end <= stop else (0, 0)
        at = head.find(b"\n", at + 1, stop)
    return 0, 0


def _framing_fields(lines: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    """Return the values of Content-Length and Transfer-Encoding; every line is checked."""
    lengths: list[bytes] = []
    codings: list[bytes] = []
    into: list[bytes] | None = None
    for number, line in enumerate(lines):
        if line[:1] in (b" ", b"\t"):
            if number == 0 or not _FOLDED.fullmatch(line) or into is not None:
                raise FramingError(f"invalid folded line {line[:40]!r}")
            continue
        found = _FIELD_LINE.fullmatch(line)
        if found is None:
            raise FramingError(f"invalid header line {line[:40]!r}")
        name = found[1].lower()
        into = {b"content-length": lengths, b"transfer-encoding": codings}.get(name)
        if into is not None:
            into.append(found[2].rstrip(b" "))
    return lengths, codings
