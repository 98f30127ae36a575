"""
Visits as records of a WARC 1.1 archive (ISO 28500:2017), written with warcio.

For each visit with an answer:

    response    the answer: status, fields and the octets of the file
    revisit     in its place after a 304; it refers to the record that has the file
    request     the request, as far as it is known
    metadata    the visit as JSON: origin, until, redirects, trouble, fields as they came

A visit without an answer has a `metadata` record alone. The file is stored decoded: fields that say
how it was coded, and how long it was, have the prefix `x-crawler-`, and a Content-Length that fits
is added. A file that was fetched again stands there again, so that each answer can be read for
itself; one that no answer of this archive has, because the visit that fetched it is left out, is
written as a `resource` before the `revisit` that needs it. Digests are SHA-256.

The ids of records follow from what is in them, so the same visits are the same octets. It knows no
store.
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
from robotrules.client.warc.metadata_records import written
from robotrules.http.fields import Fields, first_line
from robotrules.http.origins import authority_end

VERSION = "WARC/1.1"
HTTP = "application/http; msgtype="
NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
# By this field of its `warcinfo` an archive of ours is known: its metadata records are visits.
OURS = "robotrules-visits"
# What no longer fits a body that was decoded (RFC 9110 §8.4, §8.6; RFC 9112 §6).
CODED = frozenset(("content-encoding", "content-length", "transfer-encoding"))
PREFIX = "x-crawler-"
# Where files stand in the archive is remembered for so many of them. What is forgotten is written
# once more, when it is needed.
REMEMBERED = 65_536
_TOKEN = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz")
_NAMES = uuid5(NAMESPACE_URL, "https://robotrules/visit")


class _Head(StatusAndHeaders):  # type: ignore[misc]  # untyped
    """The head of an HTTP message as octets: warcio would encode what is not ASCII anew."""

    def __init__(self, octets: bytes) -> None:
        super().__init__("HTTP", [])
        self._octets = octets

    def to_ascii_bytes(self, filter_func: object = None) -> bytes:
        """Return the octets."""
        return self._octets


class _Place(NamedTuple):
    """Where in the archive a file stands."""

    record: str
    url: str
    date: str


class Writer:
    """Writes an archive; *info* are fields of its first record."""

    def __init__(self, stream: BinaryIO, *, gzip: bool, info: dict[str, str], at: float) -> None:
        self._writer: Any = WARCWriter(stream, gzip=gzip, warc_version=VERSION)
        self._places: OrderedDict[str, _Place] = OrderedDict()
        fields = {**info, OURS: "1"}
        block = "".join(f"{name}: {value}\r\n" for name, value in fields.items()).encode()
        self._info = _id("warcinfo", block)
        headers = [("WARC-Record-ID", self._info), ("WARC-Date", _date(at))]
        self._write("warcinfo", "application/warc-fields", headers, None, block)

    def add(self, fetch_record: FetchRecord, body: Callable[[str], bytes | None]) -> None:
        """Write a visit; *body* gives the octets of a digest, or None where there are none."""
        facts = written(fetch_record)
        about = _About(fetch_record, facts)
        if fetch_record.status is not None:
            if fetch_record.revalidated:
                self._revisit(about, body)
            else:
                self._response(about, body)
            self._request(about)
        concurrent = [] if fetch_record.status is None else [("WARC-Concurrent-To", about.answer)]
        headers = [*about.headers("metadata"), *concurrent]
        self._write("metadata", "application/json", headers, None, facts)

    def _response(self, about: _About, body: Callable[[str], bytes | None]) -> None:
        fetch_record = about.fetch_record
        kept = body(fetch_record.digest) if fetch_record.digest and fetch_record.may_store else None
        octets = kept or b""
        headers = [*about.headers("answer"), *about.address()]
        if kept is None:
            # An error page is not kept, nor is a file that says no-store.
            headers.append(("WARC-Truncated", "unspecified"))
        elif not fetch_record.complete:
            headers.append(("WARC-Truncated", "length"))
        head = _answer(fetch_record.status or 0, fetch_record.fields, len(octets))
        self._write("response", f"{HTTP}response", headers, head, octets)
        if kept is not None and fetch_record.digest:
            self._remember(fetch_record.digest, _Place(about.answer, about.url, about.date))

    def _revisit(self, about: _About, body: Callable[[str], bytes | None]) -> None:
        digest = about.fetch_record.digest or ""
        place = self._places.get(digest)
        octets = body(digest) if place is None and about.fetch_record.may_store else None
        if octets is not None:
            place = _Place(about.id("resource"), about.url, about.date)
            media = first_line(about.fetch_record.fields, "content-type").decode("latin-1")
            media = media if media.isascii() and media.isprintable() and media else "text/plain"
            self._write("resource", media, about.headers("resource"), None, octets)
        headers = [*about.headers("answer"), *about.address(), ("WARC-Profile", NOT_MODIFIED)]
        if place is not None:
            self._remember(digest, place)
            headers += [
                ("WARC-Refers-To", place.record),
                ("WARC-Refers-To-Target-URI", place.url),
                ("WARC-Refers-To-Date", place.date),
            ]
        head = _answer(304, about.fetch_record.fields, None)
        self._write("revisit", f"{HTTP}response", headers, head, b"")

    def _request(self, about: _About) -> None:
        end = authority_end(about.url)
        path, host = about.url[end:] or "/", about.url[:end].partition("://")[2].rpartition("@")[2]
        agent = about.fetch_record.user_agent.encode("latin-1", "replace").translate(
            None, b"\r\n\0"
        )
        head = b"GET %s HTTP/1.1\r\nHost: %s\r\n" % (path.encode(), host.encode())
        head += b"User-Agent: %s\r\n\r\n" % agent if agent else b"\r\n"
        headers = [*about.headers("request"), ("WARC-Concurrent-To", about.answer)]
        self._write("request", f"{HTTP}request", headers, head, b"")

    def _remember(self, digest: str, place: _Place) -> None:
        self._places[digest] = place
        self._places.move_to_end(digest)
        if len(self._places) > REMEMBERED:
            self._places.popitem(last=False)

    def _write(
        self,
        kind: str,
        media: str,
        headers: list[tuple[str, str]],
        head: bytes | None,
        body: bytes,
    ) -> None:
        """Write one record, a gzip member of its own where the archive is compressed."""
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


class _About(NamedTuple):
    """A visit and what its records are called."""

    fetch_record: FetchRecord
    facts: bytes

    def id(self, kind: str) -> str:
        """Return the id of one of its records."""
        return _id(kind, self.facts)

    @property
    def answer(self) -> str:
        """The id of the record that has the answer."""
        return self.id("answer")

    @property
    def url(self) -> str:
        """What was asked for, as it may stand in a header."""
        return quote(self.fetch_record.url, safe=_PRINTABLE)

    @property
    def date(self) -> str:
        """When that was."""
        return _date(self.fetch_record.at)

    def headers(self, kind: str) -> list[tuple[str, str]]:
        """Return what all records of a visit have."""
        return [
            ("WARC-Record-ID", self.id(kind)),
            ("WARC-Date", self.date),
            ("WARC-Target-URI", self.url),
        ]

    def address(self) -> list[tuple[str, str]]:
        """Return who answered."""
        try:
            return [("WARC-IP-Address", str(ip_address(self.fetch_record.address or "")))]
        except ValueError:
            return []


_PRINTABLE = bytes(range(0x21, 0x7F)).decode("ascii")


def _id(kind: str, facts: bytes) -> str:
    return f"<urn:uuid:{uuid5(_NAMES, f'{kind} {sha256(facts).hexdigest()}')}>"


def _date(at: float) -> str:
    """Return a moment as WARC 1.1 writes it; what no calendar has, as its beginning."""
    try:
        made = datetime.fromtimestamp(at, UTC)
    except (OverflowError, ValueError, OSError):
        made = datetime.fromtimestamp(0, UTC)
    return made.isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def _answer(status: int, fields: Fields, length: int | None) -> bytes:
    """Return status line and fields of an answer whose body is decoded, and *length* octets."""
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = ""
    lines = [f"HTTP/1.1 {status:03} {phrase}".rstrip().encode()]
    for name, value in fields.lines:
        # What cannot stand in a message stands in the metadata alone.
        if name and set(name) <= _TOKEN and not set(value) & {0, 10, 13}:
            called = f"{PREFIX}{name}" if name in CODED else name
            lines.append(called.encode() + b": " + value)
    if length is not None:
        lines.append(b"content-length: %d" % length)
    return b"\r\n".join([*lines, b"", b""])
