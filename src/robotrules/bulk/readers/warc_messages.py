"""
HTTP messages in WARC records: head and body, redirects, codings and dates.

Everything is untrusted: heads and decoded bodies have limits, and a body whose coding is damaged is
a reason and not an exception. A body that obviously does not have the coding that its head
declares was decoded by the crawler, and is returned as it is.
"""

from __future__ import annotations

import io
import re
from datetime import UTC, datetime
from typing import Any

from robotrules.access import resolve_location
from robotrules.bulk.arrow_support import pa
from robotrules.bulk.readers.fastwarc_support import BrotliReader, ZstdReader
from robotrules.errors import SavedResponseError
from robotrules.tags.saved_responses import read_response

# The head of an HTTP message.
MAX_HEAD = 64 * 1024
STATUS = re.compile(rb"HTTP/[0-9](?:\.[0-9])?[ \t]+([0-9]{3})(?![0-9])")
_BLANK_LINE = re.compile(rb"\r?\n\r?\n")
_LOCATION = re.compile(rb"\nlocation:[ \t]*([^\r\n]*?)[ \t]*(?:\r?\n|\Z)", re.IGNORECASE)
_CONTENT_CODING = re.compile(rb"\ncontent-encoding:[ \t]*([^\r\n]*?)[ \t]*(?=\r?\n|\Z)")
_CONTENT_LENGTH = re.compile(rb"\ncontent-length:[ \t]*([0-9]{1,15})[ \t]*\r?(?:\n|\Z)")


def split_head(block: bytes) -> tuple[bytes, bytes, bytes]:
    """Return head, blank line and body of an HTTP message; both line ends occur."""
    found = _BLANK_LINE.search(block, 0, MAX_HEAD)
    if found is None:
        return block, b"", b""
    return block[: found.start()], found[0], block[found.end() :]


def redirect_target(url: str, head: bytes) -> str | None:
    """Return the target of a redirect as an absolute URL, without fragment."""
    line = _LOCATION.search(head)
    if line is None or not line[1]:
        return None
    try:
        return resolve_location(url, line[1].decode("utf-8", "replace"))
    except ValueError:
        return None


def decode_body(head: bytes, body: bytes, limit: int) -> tuple[bytes, bool] | str:
    """Return a body without transfer and content codings and whether it is whole, or a reason."""
    lower = head.lower()
    if b"\ncontent-encoding:" not in lower and b"\ntransfer-encoding:" not in lower:
        length = _CONTENT_LENGTH.search(lower)
        return body, length is None or int(length[1]) <= len(body)
    coding = _CONTENT_CODING.search(lower)
    name = coding[1].decode("latin-1") if coding else ""
    if coding and name in ("br", "zstd"):
        start, end = coding.span()
        head = head[:start] + head[end:]
    try:
        saved = read_response(head + b"\r\n\r\n" + body)
    except SavedResponseError:
        return "no HTTP response"
    codes = {note.code for note in saved.notes}
    if "body-not-decoded" in codes:
        return f"content coding {name!r} cannot be decoded"
    content = saved.body if isinstance(saved.body, bytes) else b""
    if name not in ("br", "zstd"):
        return content, saved.complete
    try:
        reader = BrotliReader if name == "br" else ZstdReader
        parts, size = [], 0
        decoder = reader(io.BytesIO(content))
        while size <= limit and (piece := decoder.read(64 * 1024)):
            parts.append(piece)
            size += len(piece)
        return b"".join(parts), saved.complete
    except (OSError, ValueError):
        return f"content coding {name!r} is damaged"


def parse_dates(dates: list[str | None]) -> tuple[Any, list[int]]:
    """Return WARC dates as a column of times, and the indexes of invalid ones."""
    kind = pa.timestamp("us", tz="UTC")
    try:
        return pa.array(dates, pa.string()).cast(kind), []
    except pa.ArrowInvalid:
        times = [_parse_date(date) for date in dates]
        bad = [at for at, time in enumerate(times) if time is None and dates[at] is not None]
        return pa.array(times, kind), bad


def _parse_date(date: str | None) -> datetime | None:
    """Return a WARC-Date as written by older and newer programs; None if it is invalid."""
    if not date:
        return None
    text = re.sub(r"(\.[0-9]{6})[0-9]+", r"\1", date.strip())
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
