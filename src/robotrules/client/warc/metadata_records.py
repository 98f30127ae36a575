"""
A visit as JSON in an archive, and back: exactly, or not at all.

An HTTP exchange says a lot about a visit, but not whose origin it was for, until when it held or
why there was no answer. Archives have that in a `metadata` record beside the exchange. What comes
back is from a stranger: it is a visit whose parts are possible together, or None. It does not know
records.
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

# What the JSON of a visit says it is.
KIND = "robotrules/visit"
SCHEMA_VERSION = 1
# A visit holds for a day at most (RFC 9309 §2.4), and a Retry-After is believed for as long.
LONGEST = 86_400.0 + 60.0
# An access profile follows 100 redirects at most.
MAX_HOPS = 101
# What a transport reports: there is no answer that says something.
UNANSWERED = frozenset(
    (
        *(FailureReason.DNS, FailureReason.REFUSED, FailureReason.CONNECT, FailureReason.TLS),
        *(FailureReason.TIMEOUT, FailureReason.CUT, FailureReason.PROTOCOL, FailureReason.CODING),
    )
)
# Keys of the JSON in an archive: archives of earlier versions have these names.
_RENAMED = {"failure_reason": "trouble", "revalidated": "renewed"}
# A field value has no control characters but the tab.
NOT_IN_A_FIELD = re.compile("[\x00-\x08\x0a-\x1f\x7f]")
_DIGEST = re.compile(r"[0-9a-f]{64}")


def written(fetch_record: FetchRecord) -> bytes:
    """Return a visit as JSON: the same octets for the same visit."""
    values = {
        "kind": KIND,
        "schema": SCHEMA_VERSION,
        **{_RENAMED.get(name, name): value for name, value in fetch_record._asdict().items()},
        "state": str(fetch_record.state),
        "trouble": str(fetch_record.failure_reason) if fetch_record.failure_reason else None,
        "hops": [hop._asdict() for hop in fetch_record.hops],
        # Of what was itself imported: null is an own fetch of whoever exports it.
        "provenance": fetch_record.provenance._asdict() if fetch_record.provenance else None,
        # Octets of a field are no text: each stands as the character of its number.
        "fields": {
            "lines": [[name, value.decode("latin-1")] for name, value in fetch_record.fields.lines],
            "apart": fetch_record.fields.apart,
        },
    }
    return json.dumps(values, indent=1, sort_keys=True, allow_nan=False).encode("ascii") + b"\n"


def is_visit(values: object) -> bool:
    """Tell whether some JSON claims to be a visit."""
    return isinstance(values, dict) and values.get("kind") == KIND


def visit_from(values: dict[str, Any]) -> FetchRecord | None:
    """Return the visit that some JSON is; None: it is none, or not a possible one."""
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
    """Tell whether the parts of a visit go together, as `cache.make_fetch_record` makes them."""
    found, answered = (
        fetch_record.state is AccessState.SUCCESS,
        fetch_record.failure_reason not in UNANSWERED,
    )
    return (
        origin_of(fetch_record.origin) == fetch_record.origin
        and origin_of(fetch_record.url) is not None
        and 0 <= fetch_record.until - fetch_record.at <= LONGEST
        and found == (fetch_record.digest is not None)
        and found == (fetch_record.failure_reason is None)
        and (found or not fetch_record.revalidated)
        and (answered or fetch_record.state is AccessState.UNREACHABLE)
        and (not answered or fetch_record.status is not None)
    )


# --- Readers of its parts -------------------------------------------------------------------------


def _only(kind: type | tuple[type, ...]) -> Callable[[Any], Any]:
    """Return a reader that takes a value of its type; JSON's true is no number."""

    def read(value: Any) -> Any:
        """Return the value, or raise."""
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise TypeError
        return value

    return read


_flag = _only(bool)


def _text(value: Any) -> str:
    """Return a text that every store can keep."""
    text: str = _only(str)(value)
    text.encode("utf-8")  # half of a surrogate pair is no character
    if "\0" in text:
        raise ValueError
    return text


def _agent(value: Any) -> str:
    """Return a product token: stores make keys of it, so it has no control characters."""
    text = _text(value)
    if CONTROL.search(text):
        raise ValueError
    return text


def _user_agent(value: Any) -> str:
    """Return a text that a request may have as its User-Agent (RFC 9110 §5.5)."""
    text = _text(value)
    if NOT_IN_A_FIELD.search(text):
        raise ValueError
    return text


def _or_none(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else read(value)


def _line(value: Any) -> str:
    """Return a text of one line: what it says is shown to people and written in headers."""
    text = _text(value)
    if not text.isascii() or "\r" in text or "\n" in text:
        raise ValueError
    return text


def _number(value: Any) -> float:
    number = float(_only((int, float))(value))
    if not isfinite(number):
        raise ValueError
    return number


def _count(value: Any) -> int:
    number: int = _only(int)(value)
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
    text = _only(str)
    lines = tuple((_text(name), text(line).encode("latin-1")) for name, line in value["lines"])
    return Fields(lines, _flag(value["apart"]))


_READERS: dict[str, Callable[[Any], Any]] = {
    "origin": _line,
    "agent": _agent,
    "user_agent": _user_agent,
    "at": _number,
    "state": lambda value: AccessState(_text(value)),
    "status": _or_none(_count),
    "failure_reason": _or_none(lambda value: FailureReason(_text(value))),
    "detail": _text,
    "url": _line,
    "hops": _hops,
    "fields": _fields,
    "digest": _or_none(_digest),
    "size": _count,
    "complete": _flag,
    "revalidated": _flag,
    "until": _number,
    "may_store": _flag,
    "address": _or_none(_agent),
}
