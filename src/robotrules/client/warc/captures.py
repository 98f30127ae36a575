"""
What the records of an archive are visits of: one's own, exactly; those of others, as they can be.

An archive of ours has the visit itself in a `metadata` record, and the file in the `response`
beside it. In an archive of others a `response` for `/robots.txt` is a visit of that origin: its
status means what `access` says, and it holds as long as `cache` says. Who fetched it stands in the
`request` beside it, or in the `warcinfo` above. It opens no file.
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
from robotrules.client.warc.metadata_records import NOT_IN_A_FIELD, is_visit, visit_from
from robotrules.client.warc.reader import WarcRecord, WarcSource, agrees, records
from robotrules.client.warc.writer import OURS
from robotrules.errors import MissingExtraError, SavedResponseError
from robotrules.http.fields import Fields, first_line, read_fields
from robotrules.http.origins import authority_end, origin_of
from robotrules.profile import LEAST_MAX_BYTES
from robotrules.robotstxt.tokens import product_token
from robotrules.tags.saved import Saved, read_response

# What a client reads of a file.
LIMIT = LEAST_MAX_BYTES + SLACK
# What is kept of a block: head and file of an answer, coded or not; a visit as JSON; a request.
MAX_RESPONSE_BYTES = 2 * 1024 * 1024
MAX_FETCH_BYTES = 8 * 1024 * 1024
MAX_REQUEST_BYTES = 64 * 1024
# Answers that wait for the records beside them, which mostly come next; and who asked.
WAITING = 8
ASKED = 256
MAX_AGENT_LENGTH = 1024
NOBODY = "unknown"
_DEFAULT = ACCESS_PROFILES["default"]

Found = tuple[FetchRecord, bytes | None]


class _Answer(NamedTuple):
    """An answer that waits for the records beside it."""

    record: WarcRecord
    body: bytes | None
    """Of an archive of ours; None: it was not kept."""
    ours: bool


class Captures:
    """The visits in an archive, and what could not become one; all have its *provenance*."""

    def __init__(self, stream: BinaryIO, provenance: Provenance) -> None:
        self._source = WarcSource(stream)
        self._provenance = provenance
        self.skipped: Counter[str] = Counter()
        self.found = 0
        """How many visits were yielded."""
        self._number = 0
        self._ours = False
        self._crawler = ""
        self._answers: OrderedDict[str, _Answer] = OrderedDict()
        self._asked: OrderedDict[str, str] = OrderedDict()
        self._file: tuple[str, bytes] | None = None

    def fetch_records(self) -> Iterator[Found]:
        """Yield visits and their files, in the order of the archive."""
        for fetch_record, body in self._visits():
            self.found += 1
            # Whatever the archive says of where it has a visit from, here it is from the archive.
            yield fetch_record._replace(provenance=self._provenance), body

    def _visits(self) -> Iterator[Found]:
        for record in records(self._source, self._wanted, self._lost):
            if record.digest is False:
                self._skip("bad-digest")
            elif record.kind == "warcinfo":
                yield from self._flushed(0)
                self._read_info(record)
            elif record.kind == "request":
                self._read_request(record)
                yield from self._after_request()
            elif record.kind == "metadata":
                yield from self._metadata(record)
            elif record.kind == "resource" and self._ours:
                self._file = body_digest(record.block), record.block
            elif record.kind == "response" and (self._ours or _origin(record.target())):
                yield from self._answer(record)
            elif record.kind == "revisit" and (self._ours or _origin(record.target())):
                yield from self._revisit(record)
            else:
                self._skip("other")
        yield from self._flushed(0)

    def _skip(self, reason: str, count: int = 1) -> None:
        self.skipped[reason] += count

    def _lost(self, count: int) -> None:
        self._skip("damaged", count)

    def _wanted(self, record: WarcRecord) -> int:
        """Return how much to keep of a record's block."""
        kind = record.kind
        if kind in ("warcinfo", "request"):
            return MAX_REQUEST_BYTES
        if kind == "metadata":
            return MAX_FETCH_BYTES if "json" in record.get("Content-Type").lower() else 0
        if self._ours:
            return MAX_FETCH_BYTES if kind in ("response", "revisit", "resource") else 0
        return MAX_RESPONSE_BYTES if kind == "response" and _origin(record.target()) else 0

    # --- Who asked --------------------------------------------------------------------------------

    def _read_info(self, record: WarcRecord) -> None:
        """Note whose archive this is, and who crawled for all that follows."""
        fields = read_fields(record.block)
        self._ours = bool(fields.get(OURS))
        self._crawler = _agent(fields, "http-header-user-agent")
        self._file = None

    def _read_request(self, record: WarcRecord) -> None:
        agent = _agent(read_fields(record.block.partition(b"\n")[2]), "user-agent")
        for name in (*_beside(record), record.get("WARC-Record-ID"), _exchange(record)):
            if name:
                self._asked[name] = agent
                self._asked.move_to_end(name)
        while len(self._asked) > ASKED:
            self._asked.popitem(last=False)

    def _who(self, record: WarcRecord) -> str | None:
        """Return the User-Agent that got an answer; None: no request is known."""
        for name in (*_beside(record), record.get("WARC-Record-ID"), _exchange(record)):
            if name in self._asked:
                return self._asked[name] or self._crawler
        return None

    # --- Archives of ours -------------------------------------------------------------------------

    def _metadata(self, record: WarcRecord) -> Iterator[Found]:
        try:
            values = json.loads(record.block)
        except (ValueError, RecursionError):
            return
        if not is_visit(values):
            return
        beside = next((self._answers.pop(one, None) for one in _beside(record)), None)
        fetch_record = visit_from(values)
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

    def _revisit(self, record: WarcRecord) -> Iterator[Found]:
        """Of ours the metadata has all; of others' it is not known which file it refers to."""
        if self._ours:
            yield from self._answer(record)
        else:
            self._skip("revisit")

    def _answer(self, record: WarcRecord) -> Iterator[Found]:
        """Let an answer wait for the records beside it, or take it as it is."""
        body = None
        if self._ours:
            kept = record.kind == "response" and record.get("WARC-Truncated") != "unspecified"
            body = record.block.partition(b"\r\n\r\n")[2] if kept else None
        answer = _Answer(record, body, self._ours)
        if not self._ours and self._who(record) is not None:
            yield from self._captured(answer)
            return
        name = record.get("WARC-Record-ID")
        if name in self._answers:  # an id that is not one, so nobody can refer to it
            name = f"{name} {self._number}"
        self._number += 1
        self._answers[name] = answer
        yield from self._flushed(1 if self._ours else WAITING)

    def _flushed(self, most: int) -> Iterator[Found]:
        """Take the answers that waited longest, until so many are left."""
        while len(self._answers) > most:
            _, answer = self._answers.popitem(last=False)
            if answer.ours:
                self._skip("alone")
            else:
                yield from self._captured(answer)

    def _after_request(self) -> Iterator[Found]:
        """Take the answers that waited for a request which is known by now."""
        for name, answer in list(self._answers.items()):
            if not answer.ours and self._who(answer.record) is not None:
                del self._answers[name]
                yield from self._captured(answer)

    # --- Archives of others -----------------------------------------------------------------------

    def _captured(self, answer: _Answer) -> Iterator[Found]:
        """Yield the visit that an answer of somebody's archive is."""
        record = answer.record
        at = _moment(record.get("WARC-Date"))
        if at is None:
            self._skip("bad-date")
            return
        found = _result(record)
        if isinstance(found, str):
            self._skip(found)
            return
        user_agent = self._who(record)
        user_agent = self._crawler if user_agent is None else user_agent
        agent = product_token(user_agent) or NOBODY
        fetch_record = make_fetch_record(
            found, None, at=at, agent=agent, user_agent=user_agent, profile=_DEFAULT
        )
        keeps = fetch_record.digest is not None and fetch_record.may_store
        yield fetch_record, found.body if keeps else None


def _result(record: WarcRecord) -> AccessResult | str:
    """Return what an answer says about a robots.txt, or why it says nothing."""
    try:
        saved = read_response(record.block)
    except SavedResponseError:
        return "no-http"
    first = next((one for one in saved.earlier if (one.status or 0) >= 200), None)
    status, fields = (first or saved).status, (first or saved).fields
    if status is None or status < 200 or (first and status < 300):
        return "no-http"  # or two answers in one record, and nobody knows which counts
    if 300 <= status < 400:
        return "redirect"
    body, complete = b"", True
    state = classify_status(status, _DEFAULT)
    if state is AccessState.SUCCESS and status not in (204, 205):
        file = _file(record, saved)
        if isinstance(file, str):
            return file
        body, complete = file
    trouble = None if state is AccessState.SUCCESS else FailureReason.STATUS
    detail = "" if trouble is None else f"status {status}"
    target = record.target().partition("#")[0]
    origin = _origin(target) or ""
    url, address = origin + target[authority_end(target) :], record.get("WARC-IP-Address")[:64]
    return AccessResult(
        *(origin, state, status, trouble, detail, url, (), fields, body, complete),
        *(False, address or None),
    )


def _file(record: WarcRecord, saved: Saved) -> tuple[bytes, bool] | str:
    """Return the file in an answer, and whether that is all of it; or why it cannot be used."""
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
        # The rule that counts may stand in the other half (AMB-57).
        return "cut"
    return body[:LIMIT], not is_cut and len(body) <= LIMIT


def _is_short(fields: Fields, body: bytes) -> bool:
    """Tell whether a body has fewer octets than its Content-Length, which a coding would change."""
    length = first_line(fields, "content-length")
    coded = fields.get("content-encoding") or fields.get("transfer-encoding")
    return not coded and length.isdigit() and len(length) < 16 and int(length) > len(body)


def _origin(url: str) -> str | None:
    """Return the origin whose robots.txt a URL is; None: it is something else."""
    target = url.partition("#")[0]
    if target[authority_end(target) :] != "/robots.txt":
        return None
    try:
        return origin_of(target)
    except MissingExtraError:
        return None  # an international name, and the library for them is not there


def _moment(date: str) -> float | None:
    """Return a WARC-Date, which is UTC and has a time; one without is too little to go by."""
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


def _beside(record: WarcRecord) -> list[str]:
    """Return the ids of records of the same exchange; a record may name several."""
    values: Any = record.header.headers
    return [value for name, value in values if name.lower() == "warc-concurrent-to"]


def _exchange(record: WarcRecord) -> str:
    """Return what records of one exchange have alike where they do not name each other."""
    return f"{record.get('WARC-Date')} {record.target()}"
