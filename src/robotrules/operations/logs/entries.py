"""
The fields of a request in a log, and its time.

A reader gives a request as a tuple of bytes, and says with `Columns` which is which, so that
requests of people cost no more than a look at their User-Agent. Times are those of Apache
(`31/Oct/2026:23:59:59 +0100`), ISO 8601, seconds, milliseconds or finer units since 1970, and a
date and a time with a space between them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import NamedTuple

from robotrules.url_lists.line_formats import target_url

__all__ = [
    "Columns",
    "LogTimes",
    "bare_host",
    "client_address",
    "host_of_request",
    "host_of_target",
    "network_of",
    "url_of_request",
]

Fields = Sequence[bytes]
# Years of requests that a log can have; others are damaged lines.
FIRST_YEAR, LAST_YEAR = 1990, 2099
MOST_REMEMBERED = 4096
_MONTHS = {
    name: number
    for number, name in enumerate(
        b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(),
        start=1,
    )
}
_CLF = re.compile(
    rb"([0-9]{1,2})/([A-Z][a-z]{2})/([0-9]{4}):([0-9]{2}):([0-9]{2}):([0-9]{2})"
    rb"(?:\.[0-9]{1,9})?(?: ([+-])([0-9]{2})([0-9]{2}))?"
)
_NUMBER = re.compile(rb"[0-9]{9,20}(?:\.[0-9]{0,9})?|[0-9]\.[0-9]{6,18}[eE]\+?[0-9]{1,2}")
_HTTP = re.compile(rb"https?://")
_ISO = re.compile(rb"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ].*+)?")
_LONGEST_TIME = 40
# Including leap seconds; and the hours of a zone.
_LAST_SECOND, _LARGEST_OFFSET = 60, 14
_UNREAD = (-1.0, "")
# Larger numbers are milliseconds, microseconds and nanoseconds.
_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))


class Columns(NamedTuple):
    """The positions of fields in the tuple of a request; an absent one is an empty field."""

    agent: int
    time: int
    request: int
    """The request line, such as `GET /a HTTP/1.1`."""
    target: int
    """The URL, if there is no request line."""
    query: int
    """The query, if the URL has none."""
    status: int
    size: int
    address: int
    host: int
    date: int
    """The date, if `time` is only the time of day."""


def url_of_request(fields: Fields, columns: Columns) -> bytes | None:
    """Return the URL or path of a request; None for `*`, `host:port` and what is not HTTP."""
    line = fields[columns.request]
    if line:
        rest = line.partition(b" ")[2]
        target, _, version = rest.rpartition(b" ")
        if not version.startswith(b"HTTP/"):
            target = rest
        return target_url(target)
    target, query = fields[columns.target], fields[columns.query]
    if query and query != b"-" and b"?" not in target:
        target += query if query.startswith(b"?") else b"?" + query
    return target_url(target)


def host_of_request(fields: Fields, columns: Columns) -> bytes:
    """Return the host of a request: the field, or that of a URL with a host; may be empty."""
    if host := fields[columns.host]:
        return host
    return host_of_target(fields, columns)


def host_of_target(fields: Fields, columns: Columns) -> bytes:
    """Return the host of a URL with a host; empty for a path."""
    target = fields[columns.target] or fields[columns.request].partition(b" ")[2]
    return target.split(b"/", 3)[2].partition(b" ")[0] if _HTTP.match(target) else b""


def bare_host(host: bytes) -> bytes:
    """Return a host in lower case, without user, port and the dot of a full name."""
    host = host.rpartition(b"@")[2].lower()
    if host.startswith(b"["):
        return host.partition(b"]")[0] + b"]"
    return host.partition(b":")[0].rstrip(b".")


@lru_cache(MOST_REMEMBERED)
def client_address(text: bytes) -> bytes:
    """
    Return the address of a visitor as a log has it, without a port.

    Of a list, as in `X-Forwarded-For`, it is the first: the visitor, if proxies say the truth.
    """
    address = text.partition(b",")[0].strip(b' "')
    if address.startswith(b"["):
        return address[1:].partition(b"]")[0]
    return address.partition(b":")[0] if address.count(b":") == 1 else address


@lru_cache(MOST_REMEMBERED)
def network_of(address: bytes) -> bytes:
    """Return the network of an address, of which one crawler has many: /24, and /64 of IPv6."""
    try:
        found = ip_address(address.decode("ascii", "replace").partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, IPv6Address):
        found = found.ipv4_mapped or found
    return found.packed[: 3 if isinstance(found, IPv4Address) else 8]


class Moment(NamedTuple):
    """When a request was made."""

    at: float
    """Seconds since 1970."""
    day: str
    """The day as the log writes it; of a number of seconds, the day in the zone of the log."""


class LogTimes:
    """
    Reads times; what was read is remembered by minute, day or second.

    *zone* is the zone of times without one.
    """

    def __init__(self, zone: tzinfo = UTC) -> None:
        self._zone = zone
        self._minutes: dict[bytes, tuple[float, str] | None] = {}
        self._times: dict[bytes, Moment | None] = {}

    def read(self, text: bytes, date: bytes = b"") -> Moment | None:
        """Return a time; None if it is none, or outside of the years of logs."""
        # `31/Oct/2026:23:59:59 +0100`: all but the seconds is the same in many lines.
        if text[2:3] == b"/" and len(text) == 26 and not date:
            minute = text[:17] + text[20:]
            found = self._minutes.get(minute, _UNREAD)
            if found is _UNREAD:
                found = self._read_minute(minute, text)
            seconds = text[18:20]
            if not found or not seconds.isdigit() or text[17:18] != b":" or seconds > b"60":
                return None
            return Moment(found[0] + int(seconds), found[1])
        if date:
            text = date + b" " + text
        if len(text) > _LONGEST_TIME:
            return None
        try:
            return self._times[text]
        except KeyError:
            if len(self._times) >= MOST_REMEMBERED:
                self._times.clear()
            moment = self._times[text] = self._read_text(text)
            return moment

    def _read_minute(self, minute: bytes, text: bytes) -> tuple[float, str] | None:
        if len(self._minutes) >= MOST_REMEMBERED:
            self._minutes.clear()
        moment = self._read_clf(text[:18] + b"00" + text[20:])
        found = self._minutes[minute] = None if moment is None else (moment.at, moment.day)
        return found

    def _read_text(self, text: bytes) -> Moment | None:
        text = text.strip(b' "[]')
        if _NUMBER.fullmatch(text):
            number = float(text)
            for above, unit in _UNITS:
                if number >= above:
                    number /= unit
                    break
            return self._of_seconds(number)
        return self._read_clf(text) or self._read_iso(text)

    def _read_clf(self, text: bytes) -> Moment | None:
        found = _CLF.fullmatch(text)
        if not found:
            return None
        day, name, year, hour, minute, second, sign, hours, minutes = found.groups()
        if int(second) > _LAST_SECOND:
            return None
        try:
            zone: tzinfo = self._zone
            shift = timedelta()
            if sign:
                if int(hours) > _LARGEST_OFFSET or int(minutes) > 59:
                    return None
                zone = UTC
                shift = timedelta(hours=int(hours), minutes=int(minutes))
            local = datetime(
                *(int(year), _MONTHS[name], int(day), int(hour), int(minute)),
                min(int(second), 59),  # a leap second
                tzinfo=zone,
            )
        except (KeyError, ValueError):
            return None
        return self._checked(
            local.timestamp() + shift.total_seconds() * (1 if sign == b"-" else -1), local
        )

    def _read_iso(self, text: bytes) -> Moment | None:
        if not _ISO.fullmatch(text):  # `fromisoformat` also reads weeks
            return None
        try:
            local = datetime.fromisoformat(text.decode("ascii"))
            if local.tzinfo is None:
                local = local.replace(tzinfo=self._zone)
            return self._checked(local.timestamp(), local)
        except (ValueError, OverflowError):
            return None

    def _of_seconds(self, seconds: float) -> Moment | None:
        try:
            return self._checked(seconds, datetime.fromtimestamp(seconds, self._zone))
        except (ValueError, OverflowError, OSError):
            return None

    @staticmethod
    def _checked(at: float, local: datetime) -> Moment | None:
        if not FIRST_YEAR <= local.year <= LAST_YEAR:
            return None
        return Moment(at, local.date().isoformat())
