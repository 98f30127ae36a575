"""
Two independent readers of archives, warcio and fastwarc, with the same interface.

Both check every digest of a record. What we write is right if both read it, and read the same.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from warcio.archiveiterator import ArchiveIterator  # type: ignore[import-untyped]

with warnings.catch_warnings():
    # It warns about old names of its own modules when it is imported.
    warnings.simplefilter("ignore", DeprecationWarning)
    from fastwarc.warc import ArchiveIterator as FastIterator
    from fastwarc.warc import WarcRecordType


class Kept(NamedTuple):
    """A record as another reader reads it."""

    kind: str
    headers: dict[str, str]
    status: str | None
    fields: list[tuple[str, str]]
    body: bytes


def _bytes(archive: Path | bytes) -> io.BytesIO:
    return io.BytesIO(archive if isinstance(archive, bytes) else archive.read_bytes())


def with_warcio(archive: Path | bytes) -> Iterator[Kept]:
    """Yield the records of an archive."""
    for record in ArchiveIterator(_bytes(archive), check_digests="raise"):
        body = record.content_stream().read()
        assert record.digest_checker.passed is not False
        http = record.http_headers
        fields = [(name.lower(), value) for name, value in http.headers] if http else []
        status = http.get_statuscode() if http and record.rec_type != "request" else None
        yield Kept(record.rec_type, dict(record.rec_headers.headers), status, fields, body)


def with_fastwarc(archive: Path | bytes) -> Iterator[Kept]:
    """Yield the records of an archive."""
    for record in FastIterator(
        _bytes(archive), record_types=WarcRecordType.any_type, parse_http=False
    ):
        assert record.verify_block_digest()
        if record.is_http:
            record.parse_http()
        if record.is_http and "WARC-Payload-Digest" in record.headers:
            assert record.verify_payload_digest()
        assert record.reader is not None
        http = record.http_headers
        fields = [(name.lower(), value) for name, value in http.astuples()] if http else []
        code = str(http.status_code) if http and http.status_code else None
        headers = dict(record.headers.astuples())
        yield Kept(headers["WARC-Type"], headers, code, fields, record.reader.read())


READERS = (with_warcio, with_fastwarc)
