"""
Serialization: an `Entry` or a `FetchRecord` as bytes (a row), and back.

A row is a tag with kind and version, a checksum of the tag and the rest, and JSON (RFC 8259).
that word, and JSON (RFC 8259). Every store keeps the same rows, so a row can be carried
from one to another. What is cut, altered, of another version or of another shape is no row:
reading it gives None, and never something else than what was written. A checksum finds accidents
not forgery: anyone who can write to a store can write anything. The module does not access stores.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import blake2b
from math import isfinite
from operator import itemgetter
from typing import Any, NamedTuple, cast

from robotrules.access import AccessState, FailureReason, Hop
from robotrules.cache import Entry, FetchRecord, Provenance, body_digest
from robotrules.http.fields import Fields

# Increased when a program of the previous version would misread a store.
# 1: all records are fetches of clients. 2: records may be imported, and their rows name the
# archive; other rows are unchanged, so a store of version 1 is upgraded without conversion.
VERSION = 2
_ENTRY, _RECORD = b"entry/1 ", b"visit/1 "
_CHECKSUM = 32
# LRU cache of parsed rows: up to this many bytes each, and this many of them. A crawl reads the
# same entries repeatedly: comparing 1 KB costs 1 µs, parsing it as JSON 20 times that.
_SHORT, _CACHED_ROWS = 8 * 1024, 1024
# Records and bytes added to a store in one transaction.
_BATCH_RECORDS, _BATCH_BYTES = 256, 8 * 1024 * 1024

# Characters that no origin and no product token has. Keys of a store contain both, terminals show
# them, and no server stores half a surrogate pair.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_DIGEST = re.compile("[0-9a-f]{64}")

# Exceptions raised by values of another structure.
_STRUCTURE_ERRORS = (AttributeError, KeyError, TypeError, ValueError)


# The keys of a row. They are stored, so they stay the same when a field is renamed.
_RENAMED = {"failure_reason": "trouble", "revalidated": "renewed"}
_ROW_KEYS = tuple(_RENAMED.get(name, name) for name in FetchRecord._fields)
_ENTRY_KEYS = ("origin", "agent", "good", "bad", "since", "failures")


class RecordIdentity(NamedTuple):
    """The values that identify a fetch record."""

    origin: str
    at: float
    agent: str
    digest: str
    """Empty if there was no file."""
    status: int
    """0 if there was no response."""


def record_identity(fetch_record: FetchRecord) -> RecordIdentity:
    """Return the identity of a fetch record."""
    at, digest = float(fetch_record.at), fetch_record.digest or ""
    return RecordIdentity(
        fetch_record.origin, at, fetch_record.agent, digest, fetch_record.status or 0
    )


def vet_record(fetch_record: FetchRecord, body: bytes | None) -> None:
    """
    Raise ValueError for a record that no store accepts.

    That is a record with another body or without a time, and control characters in its
    origin or agent.
    """
    for text in (fetch_record.origin, fetch_record.agent):
        if CONTROL.search(text):
            raise ValueError(
                f"a fetch of {fetch_record.origin!r} by {fetch_record.agent!r}: control characters "
                "are not allowed in an origin or agent; pass the product token of the crawler "
                "as agent"
            )
    if fetch_record.digest is not None and not _DIGEST.fullmatch(fetch_record.digest):
        raise ValueError(
            f"the fetch of {fetch_record.origin} has the digest {fetch_record.digest!r}: "
            "use body_digest(body)"
        )
    if fetch_record.at != fetch_record.at:
        raise ValueError(
            f"the fetch of {fetch_record.origin} has no time: `at` is {fetch_record.at}"
        )
    if body is not None and body_digest(body) != fetch_record.digest:
        raise ValueError(
            f"the body for {fetch_record.origin} does not match the digest of its record: use "
            "body_digest(body) as its digest, or pass None as the body"
        )


def vet_own(fetch_record: FetchRecord, body: bytes | None) -> None:
    """Raise ValueError for a record that no store accepts as a client's fetch."""
    if fetch_record.provenance is not None:
        raise ValueError(
            f"the fetch of {fetch_record.origin} was imported from "
            f"{fetch_record.provenance.archive!r}: put() stores fetches of clients; use add()"
        )
    vet_record(fetch_record, body)


def vet_lease(key: str, seconds: float) -> None:
    """Raise ValueError for a lease without a finite, positive duration."""
    if not 0 < seconds < float("inf"):
        raise ValueError(f"a lease of {seconds} seconds on {key!r}: use a finite number above 0")


def vet_slot(origin: str, now: float, interval: float) -> None:
    """Raise ValueError for a slot without a finite time or interval."""
    if not (isfinite(now) and 0 <= interval < float("inf")):
        raise ValueError(
            f"a slot of {origin} at {now}, {interval} seconds after the last: use finite numbers, "
            "and an interval of 0 or more"
        )


def verify_body(octets: object, digest: str) -> bytes | None:
    """Return a body read from a store, if it matches its digest."""
    return octets if isinstance(octets, bytes) and body_digest(octets) == digest else None


def split_batches(
    fetch_records: Iterable[tuple[FetchRecord, bytes | None]],
) -> Iterator[list[tuple[FetchRecord, bytes | None]]]:
    """Yield records in batches that are neither long nor large."""
    batch: list[tuple[FetchRecord, bytes | None]] = []
    octets = 0
    for fetch_record, body in fetch_records:
        vet_record(fetch_record, body)
        batch.append((fetch_record, body))
        octets += len(body or b"")
        if len(batch) >= _BATCH_RECORDS or octets >= _BATCH_BYTES:
            yield batch
            batch, octets = [], 0
    if batch:
        yield batch


# --- Writing --------------------------------------------------------------------------------------


def serialize_entry(entry: Entry) -> bytes:
    """Return an entry as a row."""
    return _make_row(
        _ENTRY,
        f'{{"origin":{_json(entry.origin)},"agent":{_json(entry.agent)},'
        f'"good":{_record_text(entry.last_success)},"bad":{_record_text(entry.last_failure)},'
        f'"since":{_json(_to_json_number(entry.failing_since))},"failures":{entry.failures}}}',
    )


def serialize_record(fetch_record: FetchRecord) -> bytes:
    """Return a fetch record as a row."""
    return _make_row(_RECORD, _record_text(fetch_record))


_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _make_row(word: bytes, text: str) -> bytes:
    # Text from a server may contain half a surrogate pair.
    octets = text.encode("utf-8", "surrogatepass")
    return b"%b%b %b" % (word, _checksum(word, octets), octets)


def _checksum(word: bytes, octets: bytes) -> bytes:
    return blake2b(octets, digest_size=_CHECKSUM // 2, person=word).hexdigest().encode("ascii")


def _to_json_number(value: float) -> float | str:
    """Return a number for JSON, which has no infinity: that is a string."""
    if value != value:
        raise ValueError("a time is NaN: pass seconds since 1970")
    return value if isfinite(value) else repr(value)


# The last record and its JSON: a record is written as evidence, and then within its entry. Both are
# the same object, and identity is faster to check than equality.
_last_written: tuple[FetchRecord | None, str] = (None, "null")


def _record_text(fetch_record: FetchRecord | None) -> str:
    """Return the JSON of a fetch record."""
    global _last_written
    if fetch_record is None:
        return "null"
    last, text = _last_written  # read once: another thread may write
    if last is not fetch_record:
        text = _record_json(fetch_record)
        _last_written = fetch_record, text
    return text


def _record_json(fetch_record: FetchRecord) -> str:
    value: dict[str, Any] = dict(zip(_ROW_KEYS, fetch_record, strict=True))
    given: Provenance | None = value.pop("provenance")
    if given is not None:
        value["provenance"] = [*given[:2], _to_json_number(given.imported_at)]
    value["at"] = _to_json_number(fetch_record.at)
    value["until"] = _to_json_number(fetch_record.until)
    # Field values as latin-1: one character per byte.
    lines = [[name, line.decode("latin-1")] for name, line in fetch_record.fields.lines]
    value["fields"] = [lines, fetch_record.fields.apart]
    return _json(value)


# --- Reading --------------------------------------------------------------------------------------


def parse_entry(row: object) -> Entry | None:
    """Return the entry of a row; None: the row is damaged."""
    if not isinstance(row, bytes):
        return None
    return _parse_entry_cached(row) if len(row) <= _SHORT else _parse_entry(row)


def parse_record(row: object) -> FetchRecord | None:
    """Return the fetch record of a row; None: the row is damaged."""
    value = _parse_row(_RECORD, row) if isinstance(row, bytes) else None
    try:
        return None if value is None else _parse_record(value)
    except _STRUCTURE_ERRORS:
        return None


def _parse_entry(row: bytes) -> Entry | None:
    value = _parse_row(_ENTRY, row)
    try:
        if value is None or len(value) != len(_ENTRY_KEYS):
            return None
        origin, agent, good, bad, since, failures = _ENTRY_VALUES(value)
        if [*map(type, (origin, agent, failures))] != [str, str, int]:
            return None
        good = None if good is None else _parse_record(good)
        bad = None if bad is None else _parse_record(bad)
        return Entry(origin, agent, good, bad, _parse_seconds(since), failures)
    except _STRUCTURE_ERRORS:
        return None


_ENTRY_VALUES = itemgetter(*_ENTRY_KEYS)
_parse_entry_cached = lru_cache(maxsize=_CACHED_ROWS)(_parse_entry)


def _parse_row(word: bytes, row: bytes) -> dict[str, Any] | None:
    """Return the JSON of an intact row; None: it is damaged."""
    start = len(word) + _CHECKSUM
    octets = row[start + 1 :]
    if row[: start + 1] != b"%b%b " % (word, _checksum(word, octets)):
        return None
    try:
        value = json.loads(octets.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return None
    return value if type(value) is dict else None


def _parse_record(value: Any) -> FetchRecord:
    """Return the fetch record of a JSON object; raises for another structure."""
    given = value.pop("provenance", _OWN)
    values = [*_RECORD_VALUES(value)]
    if len(value) != len(values) or not _has_types(tuple(map(type, values))):
        raise TypeError
    read = FetchRecord(*values)
    hops: list[Hop] = [Hop(*hop) for hop in read.hops]
    lines, apart = read.fields
    for hop in hops:
        if tuple(map(type, hop)) != (str, int, str):
            raise TypeError
    if type(apart) is not bool or not {type(name) for name, _ in lines} <= {str}:
        raise TypeError
    pairs = [(name, cast(str, line).encode("latin-1")) for name, line in lines]
    values[3], values[15] = _parse_seconds(read.at), _parse_seconds(read.until)
    values[4], values[6] = _STATES[read.state], _FAILURE_REASONS[read.failure_reason]
    values[9], values[10] = tuple(hops), Fields(tuple(pairs), apart)
    return FetchRecord._make([*values, None if given is _OWN else _parse_provenance(given)])


def _parse_provenance(value: Any) -> Provenance:
    archive, digest, at = value
    if (type(archive), type(digest)) != (str, str):
        raise TypeError
    return Provenance(archive, digest, _parse_seconds(at))


@lru_cache(maxsize=256)
def _has_types(kinds: tuple[type, ...]) -> bool:
    """Return whether these are the types of a record's values; bool is not int here."""
    return all(kind.__name__ in allowed for kind, allowed in zip(kinds, _TYPES, strict=True))


_TEXT, _NUMBER, _SWITCH = ("str",), ("int", "float", "str"), ("bool",)
_TYPES = (
    *(_TEXT, _TEXT, _TEXT, _NUMBER, _TEXT, ("int", "NoneType"), ("str", "NoneType")),
    *(_TEXT, _TEXT, ("list",), ("list",), ("str", "NoneType"), ("int",), _SWITCH, _SWITCH),
    *(_NUMBER, _SWITCH, ("str", "NoneType")),
)
# Only imported records have a provenance in their row.
_OWN = object()
_RECORD_VALUES = itemgetter(*_ROW_KEYS[:-1])
_STATES = {str(state): state for state in AccessState}
_FAILURE_REASONS: dict[str | None, FailureReason | None] = {
    str(one): one for one in FailureReason
} | {None: None}


def _parse_seconds(value: Any) -> float:
    if type(value) not in (int, float) and value not in ("inf", "-inf"):
        raise ValueError
    return float(value)
