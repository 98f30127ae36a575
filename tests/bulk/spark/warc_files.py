"""WARC files for tests: robots.txt captures, whole and broken."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path


def record(url: str, body: bytes, status: str = "200 OK", fields: str = "") -> bytes:
    """Return a response record, as a gzip member."""
    http = f"HTTP/1.1 {status}\r\n{fields}Content-Length: {len(body)}\r\n\r\n".encode() + body
    head = (
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:%s>\r\n"
        "WARC-Date: 2026-05-04T12:00:00Z\r\nWARC-Target-URI: %s\r\n"
        "Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n"
    ) % (f"00000000-0000-4000-8000-{abs(hash(url)) % 10**12:012}", url, len(http))
    return gzip.compress(head.encode() + http + b"\r\n\r\n", mtime=0)


def write_warc(path: Path, captures: Iterable[tuple[str, bytes]]) -> None:
    """Write a file with a record for each URL and body."""
    path.write_bytes(b"".join(record(url, body) for url, body in captures))
