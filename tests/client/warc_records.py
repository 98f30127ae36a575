"""Archives made by hand: records of any content, stores as archives, and archives as stores."""

from __future__ import annotations

import io
from typing import Any

from robotrules.cache import FetchRecord, Store
from robotrules.client.stores import MemoryStore
from robotrules.client.warc import WarcImport, export_warc, import_warc
from tests.client.histories import SITE, rules

ROBOTS = f"{SITE}/robots.txt"


def exported(store: Store, **options: Any) -> bytes:
    """Return a store as an archive."""
    stream = io.BytesIO()
    export_warc(store, stream, **options)
    return stream.getvalue()


def imported(archive: bytes) -> tuple[MemoryStore, WarcImport]:
    """Return an archive as a store, and what came of it, but for its provenance."""
    store = MemoryStore()
    return store, import_warc(store, io.BytesIO(archive))._replace(provenance=None)


def own(store: Store) -> list[FetchRecord]:
    """Return the fetch records of a store without their provenance."""
    return [fetch_record._replace(provenance=None) for fetch_record in store.fetch_records()]


def record(kind: str, block: bytes, **headers: str) -> bytes:
    """Return a record; names of headers have underscores for hyphens."""
    lines = {"WARC-Type": kind, "WARC-Date": "2026-05-01T00:00:00Z"}
    lines |= {"Content-Length": str(len(block)), "WARC-Target-URI": ROBOTS}
    lines |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value)
    return b"WARC/1.0\r\n" + head.encode("utf-8") + b"\r\n" + block + b"\r\n\r\n"


def answer(body: bytes = rules("/a"), *lines: str, status: str = "200 OK") -> bytes:
    """Return the octets of an HTTP answer."""
    return "\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode("latin-1") + body


REQUEST = b"GET /robots.txt HTTP/1.1\r\nHost: example.com\r\nUser-Agent: CCBot/2.0 (x)\r\n\r\n"


def only(archive: bytes) -> tuple[FetchRecord, bytes | None]:
    """Return the one fetch record of an archive, and its file."""
    store, done = imported(archive)
    assert (done.added, done.known) == (1, 0)
    [fetch_record] = store.fetch_records()
    return fetch_record, store.body(fetch_record.digest or "")


def skipped(archive: bytes) -> dict[str, int]:
    """Return why an archive has no fetch record."""
    store, done = imported(archive)
    assert list(store.fetch_records()) == []
    assert done.added == done.known == 0
    return done.skipped
