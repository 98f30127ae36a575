"""WARC records and archives for tests: well-formed ones, and ones with every kind of damage."""

from __future__ import annotations

import gzip
from collections.abc import Callable

import pyarrow as pa

FILE = b"User-agent: *\nDisallow: /x\n"
DATE = "2024-05-01T12:00:00Z"


def http(body: bytes = FILE, status: str = "200 OK", fields: str = "") -> bytes:
    """Return an HTTP response."""
    return f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\n{fields}\r\n".encode() + body


def record(
    number: int = 1,
    block: bytes | None = None,
    *,
    kind: str = "response",
    url: str | None = None,
    length: object = None,
    fields: str = "",
    date: str = DATE,
) -> bytes:
    """Return a WARC record; *length* is a wrong Content-Length."""
    block = http() if block is None else block
    target = f"https://host{number}.example/robots.txt" if url is None else url
    return (
        (
            f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Date: {date}\r\n"
            f"WARC-Record-ID: <urn:uuid:{kind}-{number}>\r\n"
            f"Content-Length: {len(block) if length is None else length}\r\n"
            "Content-Type: application/http; msgtype=response\r\n"
            f"WARC-Target-URI: {target}\r\n{fields}\r\n"
        ).encode()
        + block
        + b"\r\n\r\n"
    )


def member(octets: bytes) -> bytes:
    """Return a gzip member."""
    return gzip.compress(octets, mtime=0)


def frame(octets: bytes) -> bytes:
    """Return a zstd frame."""
    compressed: bytes = pa.compress(octets, "zstd", asbytes=True)
    return compressed


FORMS: dict[str, Callable[[bytes], bytes]] = {"plain": bytes, "gzip": member, "zstd": frame}
