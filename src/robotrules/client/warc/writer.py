"""
WARC writer: fetch records as records of a WARC 1.1 archive (ISO 28500:2017), written with warcio.

For each fetch with a response:

    response    the answer: status, fields and the octets of the file
    revisit     in its place after a 304; it refers to the record that has the file
    request     the request, as far as it is known
    metadata    the visit as JSON: origin, until, redirects, trouble, fields as they came

A fetch without a response has only a `metadata` record. The file is stored decoded: fields about
its coding and length get the prefix `x-crawler-`, and a matching Content-Length is added. A file
that was fetched again is stored again, so that each response is self-contained; a file that no
response of this archive contains, because its fetch is excluded, is written as a `resource` before
the `revisit` that needs it. Digests are SHA-256.

The ids of records are derived from their content, so the same fetch records give the same bytes.
Stores are not accessed here.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha256
from http import HTTPStatus
from io import BytesIO
from ipaddress import ip_address
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

from warcio.recordloader import ArcWarcRecord  # type: ignore[import-untyped]
from warcio.statusandheaders import StatusAndHeaders  # type: ignore[import-untyped]
from warcio.warcwriter import WARCWriter  # type: ignore[import-untyped]

from robotrules.cache import FetchRecord
from robotrules.client.warc.metadata_records import serialize_metadata
from robotrules.http.fields import Fields, first_line
from robotrules.http.origins import authority_end

VERSION = "WARC/1.1"
HTTP = "application/http; msgtype="
NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
# This field of `warcinfo` identifies archives of robotrules: their metadata records are fetches.
OURS = "robotrules-visits"
# Fields that do not apply to a decoded body (RFC 9110 §8.4, §8.6; RFC 9112 §6).
CODING_FIELDS = frozenset(("content-encoding", "content-length", "transfer-encoding"))
PREFIX = "x-crawler-"
# The positions of this many files are remembered (LRU). A forgotten file is written again when it
# is needed.
MAX_REMEMBERED_FILES = 65_536
_TOKEN = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz")
_NAMES = uuid5(NAMESPACE_URL, "https://robotrules/visit")


class _Head(StatusAndHeaders):  # type: ignore[misc]  # untyped
    """The head of an HTTP message as bytes: warcio would re-encode non-ASCII text."""

    def __init__(self, octets: bytes) -> None:
        super().__init__("HTTP", [])
        self._octets = octets

    def to_ascii_bytes(self, filter_func: object = None) -> bytes:
        """Return the bytes."""
        return self._octets


class _FileRecord(NamedTuple):
    """The record of a file in the archive."""

    record: str
    url: str
    date: str


class Writer:
    """Writes an archive; *info* has the fields of its first record."""

    def __init__(self, stream: BinaryIO, *, gzip: bool, info: dict[str, str], at: float) -> None:
        self._writer: Any = WARCWriter(stream, gzip=gzip, warc_version=VERSION)
        self._places: OrderedDict[str, _FileRecord] = OrderedDict()
        fields = {**info, OURS: "1"}
        block = "".join(f"{name}: {value}\r\n" for name, value in fields.items()).encode()
        self._info = _id("warcinfo", block)
        headers = [("WARC-Record-ID", self._info), ("WARC-Date", _date(at))]
        self._write("warcinfo", "application/warc-fields", headers, None, block)

    def add(self, fetch_record: FetchRecord, body: Callable[[str], bytes | None]) -> None:
        """Write a fetch record; *body* returns the content of a digest, or None."""
        facts = serialize_metadata(fetch_record)
        ids = _RecordIds(fetch_record, facts)
        if fetch_record.status is not None:
            if fetch_record.revalidated:
                self._revisit(ids, body)
            else:
                self._response(ids, body)
            self._request(ids)
        concurrent = [] if fetch_record.status is None else [("WARC-Concurrent-To", ids.answer)]
        headers = [*ids.headers("metadata"), *concurrent]
        self._write("metadata", "application/json", headers, None, facts)

    def _response(self, ids: _RecordIds, body: Callable[[str], bytes | None]) -> None:
        fetch_record = ids.fetch_record
        kept = body(fetch_record.digest) if fetch_record.digest and fetch_record.may_store else None
        octets = kept or b""
        headers = [*ids.headers("answer"), *ids.address()]
        if kept is None:
            # Error pages and files with no-store are not stored.
            headers.append(("WARC-Truncated", "unspecified"))
        elif not fetch_record.complete:
            headers.append(("WARC-Truncated", "length"))
        head = _response_head(fetch_record.status or 0, fetch_record.fields, len(octets))
        self._write("response", f"{HTTP}response", headers, head, octets)
        if kept is not None and fetch_record.digest:
            self._remember(fetch_record.digest, _FileRecord(ids.answer, ids.url, ids.date))

    def _revisit(self, ids: _RecordIds, body: Callable[[str], bytes | None]) -> None:
        digest = ids.fetch_record.digest or ""
        place = self._places.get(digest)
        octets = body(digest) if place is None and ids.fetch_record.may_store else None
        if octets is not None:
            place = _FileRecord(ids.id("resource"), ids.url, ids.date)
            media = first_line(ids.fetch_record.fields, "content-type").decode("latin-1")
            media = media if media.isascii() and media.isprintable() and media else "text/plain"
            self._write("resource", media, ids.headers("resource"), None, octets)
        headers = [*ids.headers("answer"), *ids.address(), ("WARC-Profile", NOT_MODIFIED)]
        if place is not None:
            self._remember(digest, place)
            headers += [
                ("WARC-Refers-To", place.record),
                ("WARC-Refers-To-Target-URI", place.url),
                ("WARC-Refers-To-Date", place.date),
            ]
        head = _response_head(304, ids.fetch_record.fields, None)
        self._write("revisit", f"{HTTP}response", headers, head, b"")

    def _request(self, ids: _RecordIds) -> None:
        end = authority_end(ids.url)
        path, host = ids.url[end:] or "/", ids.url[:end].partition("://")[2].rpartition("@")[2]
        agent = ids.fetch_record.user_agent.encode("latin-1", "replace").translate(None, b"\r\n\0")
        head = b"GET %s HTTP/1.1\r\nHost: %s\r\n" % (path.encode(), host.encode())
        head += b"User-Agent: %s\r\n\r\n" % agent if agent else b"\r\n"
        headers = [*ids.headers("request"), ("WARC-Concurrent-To", ids.answer)]
        self._write("request", f"{HTTP}request", headers, head, b"")

    def _remember(self, digest: str, place: _FileRecord) -> None:
        self._places[digest] = place
        self._places.move_to_end(digest)
        if len(self._places) > MAX_REMEMBERED_FILES:
            self._places.popitem(last=False)

    def _write(
        self,
        kind: str,
        media: str,
        headers: list[tuple[str, str]],
        head: bytes | None,
        body: bytes,
    ) -> None:
        """Write one record, as a separate gzip member if the archive is compressed."""
        block = sha256(head or b"")
        block.update(body)
        fields = [("WARC-Type", kind), *headers]
        if kind != "warcinfo":
            fields.append(("WARC-Warcinfo-ID", self._info))
        if kind not in ("warcinfo", "revisit"):
            fields.append(("WARC-Payload-Digest", f"sha256:{sha256(body).hexdigest()}"))
        fields.append(("WARC-Block-Digest", f"sha256:{block.hexdigest()}"))
        made = StatusAndHeaders("", fields, protocol=VERSION)
        message = None if head is None else _Head(head)
        record = ArcWarcRecord(
            "warc", kind, made, BytesIO(body), message, media, len(body), payload_length=len(body)
        )
        self._writer.write_record(record)


class _RecordIds(NamedTuple):
    """A fetch record and the ids of its WARC records."""

    fetch_record: FetchRecord
    facts: bytes

    def id(self, kind: str) -> str:
        """Return the id of one of its WARC records."""
        return _id(kind, self.facts)

    @property
    def answer(self) -> str:
        """The id of the record with the response."""
        return self.id("answer")

    @property
    def url(self) -> str:
        """The requested URL, valid in a header."""
        return quote(self.fetch_record.url, safe=_PRINTABLE)

    @property
    def date(self) -> str:
        """The time of the fetch."""
        return _date(self.fetch_record.at)

    def headers(self, kind: str) -> list[tuple[str, str]]:
        """Return the fields that all records of a fetch have."""
        return [
            ("WARC-Record-ID", self.id(kind)),
            ("WARC-Date", self.date),
            ("WARC-Target-URI", self.url),
        ]

    def address(self) -> list[tuple[str, str]]:
        """Return the server's address."""
        try:
            return [("WARC-IP-Address", str(ip_address(self.fetch_record.address or "")))]
        except ValueError:
            return []


_PRINTABLE = bytes(range(0x21, 0x7F)).decode("ascii")


def _id(kind: str, facts: bytes) -> str:
    return f"<urn:uuid:{uuid5(_NAMES, f'{kind} {sha256(facts).hexdigest()}')}>"


def _date(at: float) -> str:
    """Return a time in the format of WARC 1.1; a time out of range becomes 1970."""
    try:
        made = datetime.fromtimestamp(at, UTC)
    except (OverflowError, ValueError, OSError):
        made = datetime.fromtimestamp(0, UTC)
    return made.isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def _response_head(status: int, fields: Fields, length: int | None) -> bytes:
    """Return status line and fields of a response with a decoded body of *length* bytes."""
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = ""
    lines = [f"HTTP/1.1 {status:03} {phrase}".rstrip().encode()]
    for name, value in fields.lines:
        # A field that is invalid in a message is only in the metadata.
        if name and set(name) <= _TOKEN and not set(value) & {0, 10, 13}:
            called = f"{PREFIX}{name}" if name in CODING_FIELDS else name
            lines.append(called.encode() + b": " + value)
    if length is not None:
        lines.append(b"content-length: %d" % length)
    return b"\r\n".join([*lines, b"", b""])
