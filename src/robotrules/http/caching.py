"""
Freshness lifetime and age of a response, and updates of a stored one (RFC 9111; repext §3.1).

Freshness only says when to crawl again: rules never expire with age. The last known rules apply
until a newer usable response replaces them or the data is removed (RTG-3.1.4-05, AMB-79). The
module has no clock and stores nothing: callers pass the time of receipt and keep the fields.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from robotrules.http.dates import parse_http_date
from robotrules.http.fields import NO_FIELDS, Fields, read_fields

# RFC 9111 §1.2.2: a larger value counts as this many seconds, 68 years.
MAX_SECONDS = 2**31
# RFC 9111 §4.2.2: heuristic lifetime as a fraction of the time since the last modification.
HEURISTIC_FRACTION = 0.1
# Cache-Control lines are truncated here; real ones have a few hundred bytes.
MAX_BYTES = 64 * 1024

# Fields that a 304 does not update: those of its own connection (RFC 9111 §3.1, RFC 9110 §7.6.1),
# and those that describe how the stored content is coded (RFC 9111 §3.2).
_HOP_BY_HOP = frozenset(
    (
        *("connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"),
        *("proxy-authenticate", "proxy-authentication-info", "proxy-authorization"),
        "proxy-connection",
    )
)
_CONTENT_FIELDS = frozenset(("content-length", "content-encoding", "content-type", "content-range"))
# The time of the stored response. A 304 brings new values, or its time of receipt counts; with the
# old values the stored response would keep its age and never become fresh again (§4.3.4).
_RECEIPT_FIELDS = frozenset(("age", "date"))


class ResponseFreshness(NamedTuple):
    """How long a response is fresh, and why."""

    lifetime: float | None
    """Seconds since the response was generated; None if unknown."""
    reason: str
    """`s-maxage`, `max-age`, `expires`, `recrawl-interval`, `last-modified` or `nothing`."""
    age: float
    """Age on receipt, in seconds (RFC 9111 §4.2.3)."""
    received: datetime | None
    must_validate: bool
    """`no-cache`: must be revalidated before it is used again (§5.2.2.4)."""
    may_store: bool
    """False: `no-store` (§5.2.2.5), or `private` for a shared cache (§5.2.2.7)."""

    @property
    def fresh_until(self) -> datetime | None:
        """When it becomes stale; None if unknown."""
        if self.lifetime is None or self.received is None:
            return None
        left = self.lifetime - self.age
        try:
            return self.received + timedelta(seconds=left)
        except OverflowError:
            return (datetime.max if left > 0 else datetime.min).replace(tzinfo=UTC)

    def is_fresh(self, now: datetime) -> bool:
        """
        Return whether the response need not be fetched again at *now*.

        False means "crawl again", including when the lifetime is unknown. The rules that were read
        keep applying (AMB-79).
        """
        until = self.fresh_until
        return not self.must_validate and until is not None and require_aware(now, "now") < until

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        until = self.fresh_until
        return {
            "lifetime": self.lifetime,
            "reason": self.reason,
            "age": self.age,
            "received": self.received.isoformat() if self.received else None,
            "fresh_until": until.isoformat() if until else None,
            "must_validate": self.must_validate,
            "may_store": self.may_store,
        }


def response_freshness(
    headers: object,
    *,
    received: datetime | None = None,
    recrawl_interval: timedelta | float | None = None,
    shared: bool = False,
) -> ResponseFreshness:
    """
    Return how long a response and its rules are fresh (RFC 9111 §4.2).

    *received* is the time of receipt, with a zone. *recrawl_interval* is how often the crawler
    fetches anyway: it applies if the response gives no lifetime (RTG-3.1.4-04), and takes
    precedence over the heuristic of a tenth of the time since Last-Modified. *shared*: the store
    serves more than one user, so `s-maxage` and `private` apply to it.
    """
    fields = read_fields(headers)
    received = None if received is None else require_aware(received, "received")
    interval = None if recrawl_interval is None else to_seconds(recrawl_interval)
    directives = _parse_cache_control(fields)
    date = _first_date(fields, "date")
    generated = date or received
    lifetime, reason = _freshness_lifetime(fields, directives, generated, interval, shared)
    apparent = (received - date).total_seconds() if received and date else 0.0
    age = max(apparent, _parse_age(fields))
    private = shared and None in directives.get("private", ())
    may_store = "no-store" not in directives and not private
    return ResponseFreshness(lifetime, reason, age, received, "no-cache" in directives, may_store)


def _freshness_lifetime(
    fields: Fields,
    directives: dict[str, list[str | None]],
    generated: datetime | None,
    interval: float | None,
    shared: bool,
) -> tuple[float | None, str]:
    """Return the lifetime in seconds and the rule of §4.2.1 that determines it."""
    for name in ("s-maxage", "max-age") if shared else ("max-age",):
        if name in directives:
            # §4.2.1: the first of several counts; an invalid number makes the response stale.
            return _delta_seconds(directives[name][0]) or 0.0, name
    if expires := fields.get("expires"):
        return _seconds_until_expires(expires, generated), "expires"
    if interval is not None:
        return interval, "recrawl-interval"
    changed = _first_date(fields, "last-modified")
    if changed and generated and changed < generated:
        heuristic = (generated - changed).total_seconds() * HEURISTIC_FRACTION
        return min(heuristic, float(MAX_SECONDS)), "last-modified"
    return None, "nothing"


def _seconds_until_expires(expires: list[bytes], generated: datetime | None) -> float | None:
    """Return the seconds until the first Expires (§4.2.1); None: the start is unknown."""
    moment = parse_http_date(expires[0].decode("latin-1"))
    if moment is None:
        return 0.0  # §5.3: an invalid date, `0` above all, means already expired
    if generated is None:
        return None
    return min(max(0.0, (moment - generated).total_seconds()), float(MAX_SECONDS))


def _parse_age(fields: Fields) -> float:
    """Return the Age field in seconds: the first of a list, and 0 if invalid (§5.1)."""
    lines = fields.get("age")
    first = lines[0].partition(b",")[0].decode("latin-1") if lines else None
    return _delta_seconds(first) or 0.0


def _first_date(fields: Fields, name: str) -> datetime | None:
    lines = fields.get(name)
    return parse_http_date(lines[0].decode("latin-1")) if lines else None


def _delta_seconds(value: str | None) -> float | None:
    """Return the number of seconds in *value* (§1.2.2), or None if it is not a number."""
    value = (value or "").strip(" \t")
    if not (value.isascii() and value.isdigit()):
        return None
    digits = value.lstrip("0")
    return float(MAX_SECONDS if len(digits) > 10 else min(int(digits or 0), MAX_SECONDS))


# --- Cache-Control --------------------------------------------------------------------------------

# An unterminated quoted string extends to the end of its line, so nothing is matched twice.
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[^",]++|,', re.DOTALL)


def _parse_cache_control(fields: Fields) -> dict[str, list[str | None]]:
    """Return the values of each response directive (RFC 9111 §5.2), names in lower case."""
    directives: dict[str, list[str | None]] = {}
    for line in fields.get("cache-control"):
        read = _parse_short_directives if len(line) <= _SHORT else _parse_directives
        for name, value in read(line):
            directives.setdefault(name, []).append(value)
    return directives


def _parse_directives(line: bytes) -> tuple[tuple[str, str | None], ...]:
    """Return the names and values of the directives of one line."""
    directives: list[tuple[str, str | None]] = []
    for member in _split_members(line[:MAX_BYTES].decode("latin-1")):
        name, equals, value = member.partition("=")
        name, value = name.strip(" \t").lower(), value.strip(" \t")
        if value[:1] == '"':
            # §5.2: recipients accept both forms, token and quoted string, for every directive.
            value = re.sub(r"\\(.)", r"\1", value[1:].removesuffix('"'))
        directives.append((name, value if equals else None))
    return tuple(directives)


# Most servers send one of a few short lines.
_SHORT = 200
_parse_short_directives = lru_cache(maxsize=1024)(_parse_directives)


def _split_members(line: str) -> Iterator[str]:
    """Yield the members of a comma-separated list; commas in quoted strings do not separate."""
    member: list[str] = []
    for piece in _PIECE.findall(line):
        if piece != ",":
            member.append(piece)
        elif member:
            yield "".join(member)
            member = []
    if member:
        yield "".join(member)


# --- Stored responses -----------------------------------------------------------------------------


def merge_fields(stored: object, newer: object) -> Fields:
    """
    Return the fields of a stored response after a 304 (RFC 9111 §3.2, §4.3.4; AMB-80).

    Each field of the 304 replaces all stored lines of that name; other fields are unchanged.
    Fields about the connection or the coding of the stored content are not updated. Date and Age
    of the stored response are removed, because they describe its receipt.
    """
    old, new = read_fields(stored), read_fields(newer)
    about_connection = b",".join(new.get("connection")).decode("latin-1").lower()
    named = {name.strip(" \t") for name in about_connection.split(",")}
    unchanged = _HOP_BY_HOP | _CONTENT_FIELDS | named
    added = tuple(line for line in new.lines if line[0] not in unchanged)
    gone = {name for name, _ in added} | _RECEIPT_FIELDS
    kept = tuple(line for line in old.lines if line[0] not in gone)
    return Fields(kept + added, old.apart and new.apart)


def update_stored_fields(stored: object, status: int | None, newer: object) -> Fields:
    """
    Return the fields that apply to a URL after it was fetched again (AMB-80).

    *stored* are those of the last successful response; None if there is none. *status* None: no
    response. A 304 is merged. After a 4xx, a 5xx or no response the stored fields stay: such a
    response describes its own body, and rules end with a newer usable response or with the data
    (AMB-79). A success replaces the fields; so does a redirect, for the redirecting URL and not for
    its target.
    """
    if status is not None and (not isinstance(status, int) or isinstance(status, bool)):
        raise TypeError(f"a status is an int such as 200, or None; not {type(status).__name__}")
    speaks = status is not None and 200 <= status < 400
    if stored is None:
        return read_fields(newer) if speaks else NO_FIELDS
    if status == 304:
        return merge_fields(stored, newer)
    # RFC 9110 §15: an unknown class counts as 5xx. A status below 200 is not final.
    return read_fields(newer if speaks else stored)


# --- Misuse ---------------------------------------------------------------------------------------


def require_aware(moment: datetime, name: str) -> datetime:
    """Return a datetime converted to UTC."""
    if not isinstance(moment, datetime):
        raise TypeError(f"{name} is a datetime, not {type(moment).__name__}")
    if moment.utcoffset() is None:
        raise ValueError(f"{name} has no zone: pass datetime.now(UTC), or add tzinfo=UTC")
    return moment.astimezone(UTC)


def to_seconds(interval: timedelta | float) -> float:
    """Return a recrawl interval in seconds."""
    if isinstance(interval, timedelta):
        interval = interval.total_seconds()
    if isinstance(interval, bool) or not isinstance(interval, (int, float)):
        name = type(interval).__name__
        raise TypeError(f"recrawl_interval is a timedelta or a number of seconds, not {name}")
    if math.isnan(interval) or interval < 0:
        raise ValueError(f"recrawl_interval is {interval!r} seconds: it cannot be negative or NaN")
    return float(min(interval, MAX_SECONDS))
