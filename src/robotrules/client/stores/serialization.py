"""
Rows: an `Entry` or a `FetchRecord` as octets, and back.

A row is a word that says what it is and in which version, a checksum of all that follows and of
that word, and JSON (RFC 8259). Every store keeps the same rows, so a row can be carried
from one to another. What is cut, altered, of another version or of another shape is no row:
reading it gives None, and never something else than what was written. A checksum finds accidents
and not forgers: who may write to a store may write anything. It does not know where rows are kept.
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

# Goes up when a program of the version before would misread a store.
# 1: all visits are own fetches. 2: visits may be imported, and their rows name the archive; all
# other rows are as before, so a store of version 1 becomes one of version 2 as it is.
VERSION = 2
_ENTRY, _VISIT = b"entry/1 ", b"visit/1 "
_CHECKSUM = 32
# Rows up to this many octets are remembered as what they say, so many of them. A crawl asks for
# the same entries again and again: to compare 1 KB costs 1 µs, to read it as JSON 20 times that.
_SHORT, _REMEMBERED = 8 * 1024, 1024
# What is added to a store in one go.
_BATCH_VISITS, _BATCH_OCTETS = 256, 8 * 1024 * 1024

# What no origin and no product token has. Keys of a store are made of both, terminals show them,
# and no server keeps half a surrogate pair.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_DIGEST = re.compile("[0-9a-f]{64}")

# What values of another shape raise where they are taken apart.
_SHAPELESS = (AttributeError, KeyError, TypeError, ValueError)


# The keys of a row. Stores of earlier versions have these names, so they stay when a field is renamed.
_RENAMED = {"failure_reason": "trouble", "revalidated": "renewed"}
_ROW_KEYS = tuple(_RENAMED.get(name, name) for name in FetchRecord._fields)
_ENTRY_KEYS = ("origin", "agent", "good", "bad", "since", "failures")


class RecordIdentity(NamedTuple):
    """What two visits have alike if they are one and the same."""

    origin: str
    at: float
    agent: str
    digest: str
    """Empty: there was no file."""
    status: int
    """0: there was no answer."""


def identity_of(visit: FetchRecord) -> RecordIdentity:
    """Return what makes a visit this one and no other."""
    at, digest = float(visit.at), visit.digest or ""
    return RecordIdentity(visit.origin, at, visit.agent, digest, visit.status or 0)


def vet(visit: FetchRecord, body: bytes | None) -> None:
    """
    Raise ValueError for what no store takes.

    That is a body that is not the visit's, a visit without a time, and control characters in what
    a visit is found by.
    """
    for text in (visit.origin, visit.agent):
        if CONTROL.search(text):
            raise ValueError(
                f"a visit to {visit.origin!r} by {visit.agent!r}: control characters are not "
                "allowed in an origin or an agent; pass the product token of the crawler as agent"
            )
    if visit.digest is not None and not _DIGEST.fullmatch(visit.digest):
        raise ValueError(
            f"the visit to {visit.origin} has the digest {visit.digest!r}: use body_digest(body)"
        )
    if visit.at != visit.at:
        raise ValueError(f"the visit to {visit.origin} has no time: `at` is {visit.at}")
    if body is not None and body_digest(body) != visit.digest:
        raise ValueError(
            f"the body given for {visit.origin} is not the one that the visit names: use "
            "body_digest(body) as its digest, or pass None as the body"
        )


def vet_own(visit: FetchRecord, body: bytes | None) -> None:
    """Raise ValueError for what no store takes as an own fetch."""
    if visit.provenance is not None:
        raise ValueError(
            f"the visit to {visit.origin} was imported from {visit.provenance.archive!r}: put() "
            "keeps own fetches; use add()"
        )
    vet(visit, body)


def vet_lease(key: str, seconds: float) -> None:
    """Raise ValueError for a lease that would be none."""
    if not 0 < seconds < float("inf"):
        raise ValueError(f"a lease of {seconds} seconds on {key!r}: use more than 0, and an end")


def vet_turn(origin: str, now: float, interval: float) -> None:
    """Raise ValueError for a turn that would never come, or that nobody knows the time of."""
    if not (isfinite(now) and 0 <= interval < float("inf")):
        raise ValueError(
            f"a turn at {origin} at {now}, {interval} seconds after the last: use 0 or more"
        )


def body_of(octets: object, digest: str) -> bytes | None:
    """Return a body as it was read from a store, if it is the one that was put."""
    return octets if isinstance(octets, bytes) and body_digest(octets) == digest else None


def batches(
    visits: Iterable[tuple[FetchRecord, bytes | None]],
) -> Iterator[list[tuple[FetchRecord, bytes | None]]]:
    """Yield visits in lists that are written in one go: neither many nor large."""
    batch: list[tuple[FetchRecord, bytes | None]] = []
    octets = 0
    for visit, body in visits:
        vet(visit, body)
        batch.append((visit, body))
        octets += len(body or b"")
        if len(batch) >= _BATCH_VISITS or octets >= _BATCH_OCTETS:
            yield batch
            batch, octets = [], 0
    if batch:
        yield batch


# --- Written --------------------------------------------------------------------------------------


def entry_row(entry: Entry) -> bytes:
    """Return an entry as a row."""
    return _row(
        _ENTRY,
        f'{{"origin":{_json(entry.origin)},"agent":{_json(entry.agent)},'
        f'"good":{_visit_text(entry.last_success)},"bad":{_visit_text(entry.last_failure)},'
        f'"since":{_json(_number(entry.failing_since))},"failures":{entry.failures}}}',
    )


def visit_row(visit: FetchRecord) -> bytes:
    """Return a visit as a row."""
    return _row(_VISIT, _visit_text(visit))


_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _row(word: bytes, text: str) -> bytes:
    # Half a surrogate pair is no character, but what a server sends may come to have one.
    octets = text.encode("utf-8", "surrogatepass")
    return b"%b%b %b" % (word, _checksum(word, octets), octets)


def _checksum(word: bytes, octets: bytes) -> bytes:
    return blake2b(octets, digest_size=_CHECKSUM // 2, person=word).hexdigest().encode("ascii")


def _number(value: float) -> float | str:
    """Return a number as JSON has it; infinity it has not, so that is a word."""
    if value != value:
        raise ValueError("a time that is not a number: pass seconds since 1970")
    return value if isfinite(value) else repr(value)


# The visit that was written last, and its JSON: it is put as evidence, and then in its entry. It
# is the same object, which is quicker to see than that it is an equal one.
_last_written: tuple[FetchRecord | None, str] = (None, "null")


def _visit_text(visit: FetchRecord | None) -> str:
    """Return the JSON of a visit."""
    global _last_written
    if visit is None:
        return "null"
    last, text = _last_written  # one look: another thread may write
    if last is not visit:
        text = _visit_json(visit)
        _last_written = visit, text
    return text


def _visit_json(visit: FetchRecord) -> str:
    value: dict[str, Any] = dict(zip(_ROW_KEYS, visit, strict=True))
    given: Provenance | None = value.pop("provenance")
    if given is not None:
        value["provenance"] = [*given[:2], _number(given.imported_at)]
    value["at"] = _number(visit.at)
    value["until"] = _number(visit.until)
    # Octets of field values, as HTTP libraries decode them: each is one character.
    lines = [[name, line.decode("latin-1")] for name, line in visit.fields.lines]
    value["fields"] = [lines, visit.fields.apart]
    return _json(value)


# --- Read -----------------------------------------------------------------------------------------


def read_entry(row: object) -> Entry | None:
    """Return the entry of a row; None: it is not what was written."""
    if not isinstance(row, bytes):
        return None
    return _remembered(row) if len(row) <= _SHORT else _entry(row)


def read_visit(row: object) -> FetchRecord | None:
    """Return the visit of a row; None: it is not what was written."""
    value = _value(_VISIT, row) if isinstance(row, bytes) else None
    try:
        return None if value is None else _visit(value)
    except _SHAPELESS:
        return None


def _entry(row: bytes) -> Entry | None:
    value = _value(_ENTRY, row)
    try:
        if value is None or len(value) != len(_ENTRY_KEYS):
            return None
        origin, agent, good, bad, since, failures = _ENTRY_VALUES(value)
        if [*map(type, (origin, agent, failures))] != [str, str, int]:
            return None
        good = None if good is None else _visit(good)
        bad = None if bad is None else _visit(bad)
        return Entry(origin, agent, good, bad, _seconds(since), failures)
    except _SHAPELESS:
        return None


_ENTRY_VALUES = itemgetter(*_ENTRY_KEYS)
_remembered = lru_cache(maxsize=_REMEMBERED)(_entry)


def _value(word: bytes, row: bytes) -> dict[str, Any] | None:
    """Return the JSON of a row that is whole; None: it is not."""
    start = len(word) + _CHECKSUM
    octets = row[start + 1 :]
    if row[: start + 1] != b"%b%b " % (word, _checksum(word, octets)):
        return None
    try:
        value = json.loads(octets.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return None
    return value if type(value) is dict else None


def _visit(value: Any) -> FetchRecord:
    """Return the visit of a JSON object; raises for one of another shape."""
    given = value.pop("provenance", _OWN)
    values = [*_VISIT_VALUES(value)]
    if len(value) != len(values) or not _fits(tuple(map(type, values))):
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
    values[3], values[15] = _seconds(read.at), _seconds(read.until)
    values[4], values[6] = _STATES[read.state], _TROUBLES[read.failure_reason]
    values[9], values[10] = tuple(hops), Fields(tuple(pairs), apart)
    return FetchRecord._make([*values, None if given is _OWN else _provenance(given)])


def _provenance(value: Any) -> Provenance:
    archive, digest, at = value
    if (type(archive), type(digest)) != (str, str):
        raise TypeError
    return Provenance(archive, digest, _seconds(at))


@lru_cache(maxsize=256)
def _fits(kinds: tuple[type, ...]) -> bool:
    """Tell whether these are the types of a visit's values; a bool is no int."""
    return all(kind.__name__ in allowed for kind, allowed in zip(kinds, _KINDS, strict=True))


_TEXT, _NUMBER, _SWITCH = ("str",), ("int", "float", "str"), ("bool",)
_KINDS = (
    *(_TEXT, _TEXT, _TEXT, _NUMBER, _TEXT, ("int", "NoneType"), ("str", "NoneType")),
    *(_TEXT, _TEXT, ("list",), ("list",), ("str", "NoneType"), ("int",), _SWITCH, _SWITCH),
    *(_NUMBER, _SWITCH, ("str", "NoneType")),
)
# Only imported visits have a provenance in their row.
_OWN = object()
_VISIT_VALUES = itemgetter(*_ROW_KEYS[:-1])
_STATES = {str(state): state for state in AccessState}
_TROUBLES: dict[str | None, FailureReason | None] = {str(one): one for one in FailureReason} | {
    None: None
}


def _seconds(value: Any) -> float:
    if type(value) not in (int, float) and value not in ("inf", "-inf"):
        raise ValueError
    return float(value)
