"""
Captures: fetch records from the records of an archive, of robotrules or of other programs.

An archive of robotrules has the fetch record in a `metadata` record, and the file in the `response`
next to it. In other archives a `response` for `/robots.txt` is a fetch of that origin: `access`
interprets its status, and `cache` its lifetime. The crawler is in the `request` next to it, or in
the preceding `warcinfo`. This module opens no files.
"""

from __future__ import annotations

import json
from collections import Counter, OrderedDict
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, BinaryIO, NamedTuple

from robotrules.access import (
    ACCESS_PROFILES,
    AccessResult,
    AccessState,
    FailureReason,
    classify_status,
)
from robotrules.access.values import SLACK
from robotrules.cache import FetchRecord, Provenance, body_digest, make_fetch_record
from robotrules.client.warc.metadata_records import (
    NOT_IN_A_FIELD,
    is_fetch_metadata,
    parse_metadata,
)
from robotrules.client.warc.reader import WarcRecord, WarcSource, agrees, records
from robotrules.client.warc.writer import OURS
from robotrules.errors import MissingExtraError, SavedResponseError
from robotrules.http.fields import Fields, first_line, read_fields
from robotrules.http.origins import authority_end, origin_of
from robotrules.profile import LEAST_MAX_BYTES
from robotrules.robotstxt.tokens import product_token
from robotrules.tags.saved_responses import SavedResponse, read_response

# The bytes of a file that a client reads.
LIMIT = LEAST_MAX_BYTES + SLACK
# Maximum sizes of blocks: a response with head and coded file; a fetch record as JSON; a request.
MAX_RESPONSE_BYTES = 2 * 1024 * 1024
MAX_FETCH_BYTES = 8 * 1024 * 1024
MAX_REQUEST_BYTES = 64 * 1024
# Maximum number of responses that wait for related records, which mostly follow; and of requests.
MAX_WAITING = 8
MAX_REQUESTS = 256
MAX_AGENT_LENGTH = 1024
UNKNOWN_AGENT = "unknown"
_DEFAULT = ACCESS_PROFILES["default"]

Capture = tuple[FetchRecord, bytes | None]


class _QueuedResponse(NamedTuple):
    """A response that waits for related records."""

    record: WarcRecord
    body: bytes | None
    """The body, in an archive of robotrules; None: it was not stored."""
    ours: bool


class Captures:
    """The fetch records of an archive, all with its *provenance*, and the skipped records."""

    def __init__(self, stream: BinaryIO, provenance: Provenance) -> None:
        self._source = WarcSource(stream)
        self._provenance = provenance
        self.skipped: Counter[str] = Counter()
        self.found = 0
        """Number of fetch records yielded."""
        self._number = 0
        self._ours = False
        self._crawler = ""
        self._answers: OrderedDict[str, _QueuedResponse] = OrderedDict()
        self._asked: OrderedDict[str, str] = OrderedDict()
        self._file: tuple[str, bytes] | None = None

    def fetch_records(self) -> Iterator[Capture]:
        """Yield fetch records and their files, in the order of the archive."""
        for fetch_record, body in self._iterate_captures():
            self.found += 1
            # Whatever provenance the archive states, here the record comes from the archive.
            yield fetch_record._replace(provenance=self._provenance), body

    def _iterate_captures(self) -> Iterator[Capture]:
        for record in records(self._source, self._bytes_to_keep, self._count_damage):
            if record.digest is False:
                self._skip("bad-digest")
            elif record.kind == "warcinfo":
                yield from self._flush(0)
                self._read_info(record)
            elif record.kind == "request":
                self._read_request(record)
                yield from self._after_request()
            elif record.kind == "metadata":
                yield from self._metadata(record)
            elif record.kind == "resource" and self._ours:
                self._file = body_digest(record.block), record.block
            elif record.kind == "response" and (self._ours or _origin(record.target())):
                yield from self._queue_response(record)
            elif record.kind == "revisit" and (self._ours or _origin(record.target())):
                yield from self._revisit(record)
            else:
                self._skip("other")
        yield from self._flush(0)

    def _skip(self, reason: str, count: int = 1) -> None:
        self.skipped[reason] += count

    def _count_damage(self, count: int) -> None:
        self._skip("damaged", count)

    def _bytes_to_keep(self, record: WarcRecord) -> int:
        """Return how many bytes of a record's block to keep."""
        kind = record.kind
        if kind in ("warcinfo", "request"):
            return MAX_REQUEST_BYTES
        if kind == "metadata":
            return MAX_FETCH_BYTES if "json" in record.get("Content-Type").lower() else 0
        if self._ours:
            return MAX_FETCH_BYTES if kind in ("response", "revisit", "resource") else 0
        return MAX_RESPONSE_BYTES if kind == "response" and _origin(record.target()) else 0

    # --- Crawler identity -------------------------------------------------------------------------

    def _read_info(self, record: WarcRecord) -> None:
        """Record whether robotrules wrote the archive, and the crawler of the following records."""
        fields = read_fields(record.block)
        self._ours = bool(fields.get(OURS))
        self._crawler = _agent(fields, "http-header-user-agent")
        self._file = None

    def _read_request(self, record: WarcRecord) -> None:
        agent = _agent(read_fields(record.block.partition(b"\n")[2]), "user-agent")
        for name in (*_related_ids(record), record.get("WARC-Record-ID"), _exchange_key(record)):
            if name:
                self._asked[name] = agent
                self._asked.move_to_end(name)
        while len(self._asked) > MAX_REQUESTS:
            self._asked.popitem(last=False)

    def _find_user_agent(self, record: WarcRecord) -> str | None:
        """Return the User-Agent of a response's request; None: there is no request."""
        for name in (*_related_ids(record), record.get("WARC-Record-ID"), _exchange_key(record)):
            if name in self._asked:
                return self._asked[name] or self._crawler
        return None

    # --- Archives of robotrules -------------------------------------------------------------------

    def _metadata(self, record: WarcRecord) -> Iterator[Capture]:
        try:
            values = json.loads(record.block)
        except (ValueError, RecursionError):
            return
        if not is_fetch_metadata(values):
            return
        beside = next((self._answers.pop(one, None) for one in _related_ids(record)), None)
        fetch_record = parse_metadata(values)
        if fetch_record is None:
            self._skip("bad-visit")
            return
        file, self._file = self._file, None
        body = beside.body if beside else None
        if body is None and file is not None and file[0] == fetch_record.digest:
            body = file[1]
        if not fetch_record.may_store or fetch_record.digest is None:
            body = None
        if body is not None and (
            body_digest(body) != fetch_record.digest or len(body) != fetch_record.size
        ):
            self._skip("bad-digest")
            return
        yield fetch_record, body

    def _revisit(self, record: WarcRecord) -> Iterator[Capture]:
        """Skip: robotrules has the fetch in metadata; other archives do not identify the file."""
        if self._ours:
            yield from self._queue_response(record)
        else:
            self._skip("revisit")

    def _queue_response(self, record: WarcRecord) -> Iterator[Capture]:
        """Queue a response until its related records are read, or use it at once."""
        body = None
        if self._ours:
            kept = record.kind == "response" and record.get("WARC-Truncated") != "unspecified"
            body = record.block.partition(b"\r\n\r\n")[2] if kept else None
        answer = _QueuedResponse(record, body, self._ours)
        if not self._ours and self._find_user_agent(record) is not None:
            yield from self._capture(answer)
            return
        name = record.get("WARC-Record-ID")
        if name in self._answers:  # a duplicate id, so no record can refer to it
            name = f"{name} {self._number}"
        self._number += 1
        self._answers[name] = answer
        yield from self._flush(1 if self._ours else MAX_WAITING)

    def _flush(self, most: int) -> Iterator[Capture]:
        """Process the oldest queued responses, until *most* are left."""
        while len(self._answers) > most:
            _, answer = self._answers.popitem(last=False)
            if answer.ours:
                self._skip("alone")
            else:
                yield from self._capture(answer)

    def _after_request(self) -> Iterator[Capture]:
        """Process the queued responses whose request is known."""
        for name, answer in list(self._answers.items()):
            if not answer.ours and self._find_user_agent(answer.record) is not None:
                del self._answers[name]
                yield from self._capture(answer)

    # --- Other archives ---------------------------------------------------------------------------

    def _capture(self, answer: _QueuedResponse) -> Iterator[Capture]:
        """Yield the fetch record of a response."""
        record = answer.record
        at = _parse_date(record.get("WARC-Date"))
        if at is None:
            self._skip("bad-date")
            return
        found = _to_result(record)
        if isinstance(found, str):
            self._skip(found)
            return
        user_agent = self._find_user_agent(record)
        user_agent = self._crawler if user_agent is None else user_agent
        agent = product_token(user_agent) or UNKNOWN_AGENT
        fetch_record = make_fetch_record(
            found, None, at=at, agent=agent, user_agent=user_agent, profile=_DEFAULT
        )
        keeps = fetch_record.digest is not None and fetch_record.may_store
        yield fetch_record, found.body if keeps else None


def _to_result(record: WarcRecord) -> AccessResult | str:
    """Return the access result of a response, or the reason to skip it."""
    try:
        saved = read_response(record.block)
    except SavedResponseError:
        return "no-http"
    first = next((one for one in saved.earlier if (one.status or 0) >= 200), None)
    status, fields = (first or saved).status, (first or saved).fields
    if status is None or status < 200 or (first and status < 300):
        return "no-http"  # or two responses in one record: it is unknown which counts
    if 300 <= status < 400:
        return "redirect"
    body, complete = b"", True
    state = classify_status(status, _DEFAULT)
    if state is AccessState.SUCCESS and status not in (204, 205):
        file = _file(record, saved)
        if isinstance(file, str):
            return file
        body, complete = file
    reason = None if state is AccessState.SUCCESS else FailureReason.STATUS
    detail = "" if reason is None else f"status {status}"
    target = record.target().partition("#")[0]
    origin = _origin(target) or ""
    url, address = origin + target[authority_end(target) :], record.get("WARC-IP-Address")[:64]
    return AccessResult(
        *(origin, state, status, reason, detail, url, (), fields, body, complete),
        *(False, address or None),
    )


def _file(record: WarcRecord, saved: SavedResponse) -> tuple[bytes, bool] | str:
    """Return the file in a response and whether it is complete, or the reason to skip it."""
    codes = {note.code for note in saved.notes}
    if "body-not-decoded" in codes:
        return "coding"
    if "fields-cut" in codes:
        return "no-http"
    body = saved.body if isinstance(saved.body, bytes) else b""
    is_cut = "body-cut" in codes or record.length > len(record.block)
    is_cut = is_cut or bool(record.get("WARC-Truncated")) or _is_short(saved.fields, body)
    raw = record.block.partition(b"\r\n\r\n")[2]
    is_plain = not is_cut and not saved.fields.get("transfer-encoding")
    if (
        is_plain
        and record.digest is None
        and agrees(record.get("WARC-Payload-Digest"), raw) is False
    ):
        return "bad-digest"
    if is_cut and len(body) < LEAST_MAX_BYTES:
        # The missing part may contain the rule that decides (AMB-57).
        return "cut"
    return body[:LIMIT], not is_cut and len(body) <= LIMIT


def _is_short(fields: Fields, body: bytes) -> bool:
    """Return whether a body without coding is shorter than its Content-Length."""
    length = first_line(fields, "content-length")
    coded = fields.get("content-encoding") or fields.get("transfer-encoding")
    return not coded and length.isdigit() and len(length) < 16 and int(length) > len(body)


def _origin(url: str) -> str | None:
    """Return the origin if the URL is that of its robots.txt; else None."""
    target = url.partition("#")[0]
    if target[authority_end(target) :] != "/robots.txt":
        return None
    try:
        return origin_of(target)
    except MissingExtraError:
        return None  # an international name, and the library for them is not there


def _parse_date(date: str) -> float | None:
    """Return a WARC-Date, which is UTC and has a time; None for a date without time."""
    try:
        found = datetime.fromisoformat(date)
        if len(date) < 16:
            return None
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _agent(fields: Fields, name: str) -> str:
    value = first_line(fields, name)[:MAX_AGENT_LENGTH]
    return NOT_IN_A_FIELD.sub("", value.decode("latin-1"))


def _related_ids(record: WarcRecord) -> list[str]:
    """Return the ids of related records; a record may name several."""
    values: Any = record.header.headers
    return [value for name, value in values if name.lower() == "warc-concurrent-to"]


def _exchange_key(record: WarcRecord) -> str:
    """Return a key that records of one exchange share if they do not refer to each other."""
    return f"{record.get('WARC-Date')} {record.target()}"
