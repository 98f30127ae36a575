"""
How long the rules of a response hold, and which response speaks for a URL (RFC 9111; repext §3.1).

Freshness is a wish to recrawl and nothing more: rules never lapse with age. The last known ones go
on until a newer usable response replaces them or the data is removed (RTG-3.1.4-05, AMB-79). This
does not know what time it is, and stores nothing: whoever asks says when a response was received,
and keeps its fields.
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

# RFC 9111 §1.2.2: what is more than a recipient can hold counts as this many seconds, 68 years.
MOST_SECONDS = 2**31
# RFC 9111 §4.2.2: the fraction of its age that an unchanged resource may be trusted to stay so.
TENTH = 0.1
# Cache-Control lines are cut here; real ones have some hundred octets.
MOST_OCTETS = 64 * 1024

# What a 304 does not change: its own connection (RFC 9111 §3.1, RFC 9110 §7.6.1), and what says how
# the stored content is to be read (RFC 9111 §3.2).
_HOP_BY_HOP = frozenset(
    (
        *("connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"),
        *("proxy-authenticate", "proxy-authentication-info", "proxy-authorization"),
        "proxy-connection",
    )
)
_OF_CONTENT = frozenset(("content-length", "content-encoding", "content-type", "content-range"))
# When the stored response came. A 304 says it anew, or the time of its receipt does; kept, they
# would make the response as old as it was and freshness would not be renewed (§4.3.4).
_OF_RECEIPT = frozenset(("age", "date"))


class ResponseFreshness(NamedTuple):
    """How long a response is fresh, and why."""

    lifetime: float | None
    """Seconds from when it was made; None: nothing says how long."""
    reason: str
    """`s-maxage`, `max-age`, `expires`, `recrawl-interval`, `last-modified` or `nothing`."""
    age: float
    """Seconds of the lifetime that were spent when it was received (RFC 9111 §4.2.3)."""
    received: datetime | None
    must_validate: bool
    """`no-cache`: to be asked for anew before it is used again (§5.2.2.4)."""
    may_store: bool
    """False: `no-store` (§5.2.2.5), or `private` for a shared cache (§5.2.2.7)."""

    @property
    def fresh_until(self) -> datetime | None:
        """The moment it becomes stale; None if that is unknown."""
        if self.lifetime is None or self.received is None:
            return None
        left = self.lifetime - self.age
        try:
            return self.received + timedelta(seconds=left)
        except OverflowError:
            return (datetime.max if left > 0 else datetime.min).replace(tzinfo=UTC)

    def is_fresh(self, now: datetime) -> bool:
        """
        Tell whether there is no need to fetch it again at *now*.

        False is a wish to recrawl, also where nothing says how long it holds. The rules that were
        read go on meanwhile (AMB-79).
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

    *received* is when the response came, with its zone. *recrawl_interval* is how often the crawler
    comes anyway: it counts where the response says nothing (RTG-3.1.4-04), before a tenth of the
    time since Last-Modified does. *shared*: the store serves more than one user, so `s-maxage` and
    `private` are about it.
    """
    fields = read_fields(headers)
    received = None if received is None else require_aware(received, "received")
    interval = None if recrawl_interval is None else to_seconds(recrawl_interval)
    said = _cache_control(fields)
    date = _first_date(fields, "date")
    made = date or received
    lifetime, because = _lifetime(fields, said, made, interval, shared)
    apparent = (received - date).total_seconds() if received and date else 0.0
    age = max(apparent, _age(fields))
    private = shared and None in said.get("private", ())
    may_store = "no-store" not in said and not private
    return ResponseFreshness(lifetime, because, age, received, "no-cache" in said, may_store)


def _lifetime(
    fields: Fields,
    said: dict[str, list[str | None]],
    made: datetime | None,
    interval: float | None,
    shared: bool,
) -> tuple[float | None, str]:
    """Return the lifetime in seconds and what says so, the first of §4.2.1 that does."""
    for name in ("s-maxage", "max-age") if shared else ("max-age",):
        if name in said:
            # §4.2.1: of several the first; one that is no number makes the response stale.
            return _delta_seconds(said[name][0]) or 0.0, name
    if expires := fields.get("expires"):
        return _until(expires, made), "expires"
    if interval is not None:
        return interval, "recrawl-interval"
    changed = _first_date(fields, "last-modified")
    if changed and made and changed < made:
        tenth = (made - changed).total_seconds() * TENTH
        return min(tenth, float(MOST_SECONDS)), "last-modified"
    return None, "nothing"


def _until(expires: list[bytes], made: datetime | None) -> float | None:
    """Return the seconds to the first Expires (§4.2.1); None: nobody knows since when."""
    moment = parse_http_date(expires[0].decode("latin-1"))
    if moment is None:
        return 0.0  # §5.3: an invalid date, `0` above all, means already expired
    if made is None:
        return None
    return min(max(0.0, (moment - made).total_seconds()), float(MOST_SECONDS))


def _age(fields: Fields) -> float:
    """Return the seconds of the Age field; of a list the first, and 0 if it is invalid (§5.1)."""
    lines = fields.get("age")
    first = lines[0].partition(b",")[0].decode("latin-1") if lines else None
    return _delta_seconds(first) or 0.0


def _first_date(fields: Fields, name: str) -> datetime | None:
    lines = fields.get(name)
    return parse_http_date(lines[0].decode("latin-1")) if lines else None


def _delta_seconds(value: str | None) -> float | None:
    """Return the number of seconds of §1.2.2, or None if that is no such number."""
    value = (value or "").strip(" \t")
    if not (value.isascii() and value.isdigit()):
        return None
    digits = value.lstrip("0")
    return float(MOST_SECONDS if len(digits) > 10 else min(int(digits or 0), MOST_SECONDS))


# --- Cache-Control --------------------------------------------------------------------------------

# A quoted string that is never closed reaches to the end of its line: nothing is tried twice.
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[^",]++|,', re.DOTALL)


def _cache_control(fields: Fields) -> dict[str, list[str | None]]:
    """Return the values of each response directive (RFC 9111 §5.2), names in lower case."""
    said: dict[str, list[str | None]] = {}
    for line in fields.get("cache-control"):
        read = _short_directives if len(line) <= _SHORT else _directives
        for name, value in read(line):
            said.setdefault(name, []).append(value)
    return said


def _directives(line: bytes) -> tuple[tuple[str, str | None], ...]:
    """Return the names and values of the directives of one line."""
    found: list[tuple[str, str | None]] = []
    for member in _members(line[:MOST_OCTETS].decode("latin-1")):
        name, equals, value = member.partition("=")
        name, value = name.strip(" \t").lower(), value.strip(" \t")
        if value[:1] == '"':
            # §5.2: a recipient reads both forms, whichever the directive should have.
            value = re.sub(r"\\(.)", r"\1", value[1:].removesuffix('"'))
        found.append((name, value if equals else None))
    return tuple(found)


# Most servers send one of a few short lines.
_SHORT = 200
_short_directives = lru_cache(maxsize=1024)(_directives)


def _members(line: str) -> Iterator[str]:
    """Yield the members of a comma-separated list; a comma in a quoted string separates nothing."""
    member: list[str] = []
    for piece in _PIECE.findall(line):
        if piece != ",":
            member.append(piece)
        elif member:
            yield "".join(member)
            member = []
    if member:
        yield "".join(member)


# --- What speaks for a URL ------------------------------------------------------------------------


def merge_fields(stored: object, newer: object) -> Fields:
    """
    Return the fields of a stored response after a 304 (RFC 9111 §3.2, §4.3.4; AMB-80).

    A field that the 304 has replaces all stored lines of its name; a field it does not have is
    unchanged. What is about the connection or about how the stored content is coded stays as
    it was. Date and Age of the stored response go, because they say when that one came.
    """
    old, new = read_fields(stored), read_fields(newer)
    about_connection = b",".join(new.get("connection")).decode("latin-1").lower()
    named = {name.strip(" \t") for name in about_connection.split(",")}
    unchanged = _HOP_BY_HOP | _OF_CONTENT | named
    added = tuple(line for line in new.lines if line[0] not in unchanged)
    gone = {name for name, _ in added} | _OF_RECEIPT
    kept = tuple(line for line in old.lines if line[0] not in gone)
    return Fields(kept + added, old.apart and new.apart)


def update_stored_fields(stored: object, status: int | None, newer: object) -> Fields:
    """
    Return the fields that speak for a URL now, after it was asked for again (AMB-80).

    *stored* are those of the last good response; None: there is none. *status* None: no answer. A
    304 is merged. After a 4xx, a 5xx or no answer the stored ones stay: what such a response says
    is about its own body, and rules end with a newer usable response or with the data (AMB-79). A
    success speaks for itself, and so does a redirect, for the URL that redirects and not for its
    target.
    """
    if status is not None and (not isinstance(status, int) or isinstance(status, bool)):
        raise TypeError(f"a status is an int such as 200, or None; not {type(status).__name__}")
    speaks = status is not None and 200 <= status < 400
    if stored is None:
        return read_fields(newer) if speaks else NO_FIELDS
    if status == 304:
        return merge_fields(stored, newer)
    # RFC 9110 §15: a status of no known class is one of 5xx. Below 200 there is no final answer.
    return read_fields(newer if speaks else stored)


# --- Misuse ---------------------------------------------------------------------------------------


def require_aware(moment: datetime, name: str) -> datetime:
    """Return a moment in UTC."""
    if not isinstance(moment, datetime):
        raise TypeError(f"{name} is a datetime, not {type(moment).__name__}")
    if moment.utcoffset() is None:
        raise ValueError(f"{name} has no zone: pass datetime.now(UTC), or add tzinfo=UTC")
    return moment.astimezone(UTC)


def to_seconds(interval: timedelta | float) -> float:
    """Return the seconds of a recrawl interval."""
    if isinstance(interval, timedelta):
        interval = interval.total_seconds()
    if isinstance(interval, bool) or not isinstance(interval, (int, float)):
        name = type(interval).__name__
        raise TypeError(f"recrawl_interval is a timedelta or a number of seconds, not {name}")
    if math.isnan(interval) or interval < 0:
        raise ValueError(f"recrawl_interval is {interval!r} seconds: it cannot be negative or NaN")
    return float(min(interval, MOST_SECONDS))
