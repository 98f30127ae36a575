"""
Metadata records: a fetch record as JSON in a WARC archive, and back, without loss.

An HTTP exchange does not state the origin, the expiry or the failure of a fetch. Archives have that
in a `metadata` record next to the exchange. Its content is untrusted: parsing returns a consistent
fetch record or None. The format of WARC records is not handled
here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from math import isfinite
from typing import Any

from robotrules.access import AccessState, FailureReason, Hop
from robotrules.cache import FetchRecord
from robotrules.client.stores.serialization import CONTROL
from robotrules.http.fields import Fields
from robotrules.http.origins import origin_of

# The `kind` of the JSON; it is stored, so "visit" stays.
KIND = "robotrules/visit"
SCHEMA_VERSION = 1
# A fetch is valid for at most a day (RFC 9309 §2.4), and so is a Retry-After.
MAX_LIFETIME = 86_400.0 + 60.0
# An access profile follows at most 100 redirects.
MAX_HOPS = 101
# Reasons reported by transports: there is no usable response.
UNANSWERED = frozenset(
    (
        *(FailureReason.DNS, FailureReason.REFUSED, FailureReason.CONNECT, FailureReason.TLS),
        *(FailureReason.TIMEOUT, FailureReason.CUT, FailureReason.PROTOCOL, FailureReason.CODING),
    )
)
# Keys of the JSON. They are stored in archives, so they stay the same when a field is renamed.
_RENAMED = {"failure_reason": "trouble", "revalidated": "renewed"}
# A field value contains no control characters except tab.
NOT_IN_A_FIELD = re.compile("[\x00-\x08\x0a-\x1f\x7f]")
_DIGEST = re.compile(r"[0-9a-f]{64}")


def serialize_metadata(fetch_record: FetchRecord) -> bytes:
    """Return a fetch record as JSON: equal records give equal bytes."""
    values = {
        "kind": KIND,
        "schema": SCHEMA_VERSION,
        **{_RENAMED.get(name, name): value for name, value in fetch_record._asdict().items()},
        "state": str(fetch_record.state),
        "trouble": str(fetch_record.failure_reason) if fetch_record.failure_reason else None,
        "hops": [hop._asdict() for hop in fetch_record.hops],
        # Set if the record was itself imported; null: fetched by a client of the exporting store.
        "provenance": fetch_record.provenance._asdict() if fetch_record.provenance else None,
        # Field values as latin-1: one character per byte.
        "fields": {
            "lines": [[name, value.decode("latin-1")] for name, value in fetch_record.fields.lines],
            "apart": fetch_record.fields.apart,
        },
    }
    return json.dumps(values, indent=1, sort_keys=True, allow_nan=False).encode("ascii") + b"\n"


def is_fetch_metadata(values: object) -> bool:
    """Return whether JSON claims to be a fetch record."""
    return isinstance(values, dict) and values.get("kind") == KIND


def parse_metadata(values: dict[str, Any]) -> FetchRecord | None:
    """Return the fetch record of JSON; None: it is invalid or inconsistent."""
    if values.get("schema") != SCHEMA_VERSION:
        return None
    found: dict[str, Any] = {}
    try:
        for name, read in _READERS.items():
            found[name] = read(values[_RENAMED.get(name, name)])
    except (KeyError, ValueError, TypeError, AttributeError):
        return None
    fetch_record = FetchRecord(**found)
    return fetch_record if _is_possible(fetch_record) else None


def _is_possible(fetch_record: FetchRecord) -> bool:
    """Return whether a record is consistent, as those of `cache.make_fetch_record`."""
    found, answered = (
        fetch_record.state is AccessState.SUCCESS,
        fetch_record.failure_reason not in UNANSWERED,
    )
    return (
        origin_of(fetch_record.origin) == fetch_record.origin
        and origin_of(fetch_record.url) is not None
        and 0 <= fetch_record.until - fetch_record.at <= MAX_LIFETIME
        and found == (fetch_record.digest is not None)
        and found == (fetch_record.failure_reason is None)
        and (found or not fetch_record.revalidated)
        and (answered or fetch_record.state is AccessState.UNREACHABLE)
        and (not answered or fetch_record.status is not None)
    )


# --- Readers of its parts -------------------------------------------------------------------------


def _require_type(kind: type | tuple[type, ...]) -> Callable[[Any], Any]:
    """Return a parser that accepts one type; a JSON boolean is not a number."""

    def read(value: Any) -> Any:
        """Return the value, or raise."""
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise TypeError
        return value

    return read


_flag = _require_type(bool)


def _text(value: Any) -> str:
    """Return text that every store accepts."""
    text: str = _require_type(str)(value)
    text.encode("utf-8")  # raises for half a surrogate pair
    if "\0" in text:
        raise ValueError
    return text


def _agent(value: Any) -> str:
    """Return a product token: it is part of store keys, so control characters are rejected."""
    text = _text(value)
    if CONTROL.search(text):
        raise ValueError
    return text


def _user_agent(value: Any) -> str:
    """Return text that is valid as User-Agent (RFC 9110 §5.5)."""
    text = _text(value)
    if NOT_IN_A_FIELD.search(text):
        raise ValueError
    return text


def _optional(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else read(value)


def _line(value: Any) -> str:
    """Return a single line of text: it is displayed, and written in headers."""
    text = _text(value)
    if not text.isascii() or "\r" in text or "\n" in text:
        raise ValueError
    return text


def _number(value: Any) -> float:
    number = float(_require_type((int, float))(value))
    if not isfinite(number):
        raise ValueError
    return number


def _count(value: Any) -> int:
    number: int = _require_type(int)(value)
    if not 0 <= number < 2**63:
        raise ValueError
    return number


def _digest(value: Any) -> str:
    text = _text(value)
    if not _DIGEST.fullmatch(text):
        raise ValueError
    return text


def _hops(value: Any) -> tuple[Hop, ...]:
    if not isinstance(value, list) or len(value) > MAX_HOPS:
        raise ValueError
    return tuple(
        Hop(_text(one["url"]), _count(one["status"]), _text(one["location"])) for one in value
    )


def _fields(value: Any) -> Fields:
    text = _require_type(str)
    lines = tuple((_text(name), text(line).encode("latin-1")) for name, line in value["lines"])
    return Fields(lines, _flag(value["apart"]))


_READERS: dict[str, Callable[[Any], Any]] = {
    "origin": _line,
    "agent": _agent,
    "user_agent": _user_agent,
    "at": _number,
    "state": lambda value: AccessState(_text(value)),
    "status": _optional(_count),
    "failure_reason": _optional(lambda value: FailureReason(_text(value))),
    "detail": _text,
    "url": _line,
    "hops": _hops,
    "fields": _fields,
    "digest": _optional(_digest),
    "size": _count,
    "complete": _flag,
    "revalidated": _flag,
    "until": _number,
    "may_store": _flag,
    "address": _optional(_agent),
}
