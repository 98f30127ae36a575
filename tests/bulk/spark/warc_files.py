"""WARC files for tests: robots.txt captures, whole and broken."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable
from pathlib import Path


def record(url: str, body: bytes, status: str = "200 OK", fields: str = "") -> bytes:
    """Return a response record, as a gzip member."""
    http = f"HTTP/1.1 {status}\r\n{fields}Content-Length: {len(body)}\r\n\r\n".encode() + body
    head = (
        "WARC/1.0\r\nWARC-Type: response\r\n"
        f"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-{zlib.crc32(url.encode()):012}>\r\n"
        f"WARC-Date: 2026-05-04T12:00:00Z\r\nWARC-Target-URI: {url}\r\n"
        "Content-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(http)}\r\n\r\n"
    )
    return gzip.compress(head.encode() + http + b"\r\n\r\n", mtime=0)


def write_warc(path: Path, captures: Iterable[tuple[str, bytes]]) -> None:
    """Write a file with a record for each URL and body."""
    path.write_bytes(b"".join(record(url, body) for url, body in captures))
