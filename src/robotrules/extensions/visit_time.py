"""
Visit-time: the time of day at which crawlers may visit (Conner 1996; REC-visit-time-01).

Group scope, `HHMM-HHMM` in UTC. Request-rate uses the same time windows. It does not change
verdicts or read a clock: the caller passes the time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Any, NamedTuple

from robotrules.extensions import require_robots_txt
from robotrules.extensions.codes import note
from robotrules.profile import Extension, Role
from robotrules.robotstxt import RobotsTxt, Tokens
from robotrules.robotstxt.values import Note, Record

EXTENSION = Extension(
    "Visit-time", (), Role.OTHER, "group", "S. Conner, An Extended Standard for Robot Exclusion"
)

_WINDOW = re.compile(rb"([01][0-9]|2[0-3])([0-5][0-9])-(?:([01][0-9]|2[0-3])([0-5][0-9])|2400)")


class TimeWindow(NamedTuple):
    """
    A part of every day in UTC, from one minute to another, both included.

    Both are included because files have adjacent windows such as 0500-1259 and 1300-1659. A window
    that ends before it starts crosses midnight.
    """

    start: time
    end: time

    def contains(self, at: time | datetime) -> bool:
        """
        Return whether a time of day is in the window.

        *at* is in UTC. A datetime with another time zone is converted; a time cannot be.
        """
        hour, minute = _utc(at)
        start, end = (self.start.hour, self.start.minute), (self.end.hour, self.end.minute)
        now = hour, minute
        return start <= now <= end if start <= end else now >= start or now <= end

    def __str__(self) -> str:
        return f"{self.start:%H%M}-{self.end:%H%M}"

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {"start": f"{self.start:%H:%M}", "end": f"{self.end:%H:%M}"}


class VisitTime(NamedTuple):
    """A time window in which a crawler may visit."""

    window: TimeWindow
    record: Record

    @property
    def line(self) -> int:
        """The line it is written in."""
        return self.record.line

    def contains(self, at: time | datetime) -> bool:
        """Return whether a time of day in UTC is in the window."""
        return self.window.contains(at)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {**self.window.as_dict(), "line": self.line}


def visit_times(
    robots: RobotsTxt, product_token: Tokens, purposes: Sequence[str] = ()
) -> tuple[VisitTime, ...]:
    """Return the windows of the groups that *product_token* obeys, in the order of the file."""
    require_robots_txt(robots)
    windows = (
        (read_window(record.value), record)
        for group in robots.select_groups(product_token, purposes).groups
        for record in group.records
        if record.key == "visit-time"
    )
    return tuple(VisitTime(window, record) for window, record in windows if window)


def notes(robots: RobotsTxt, registries: object = None) -> Iterator[Note]:
    """Yield notes on the Visit-time records of a file."""
    for record in robots.records:
        if record.key != "visit-time":
            continue
        if record.group is None:
            yield note("record-outside-group", record)
        if read_window(record.value) is None:
            yield note("bad-visit-time", record)


def read_window(octets: bytes) -> TimeWindow | None:
    """Parse `HHMM-HHMM`; an end of 2400 is the last minute of the day."""
    match = _WINDOW.fullmatch(octets)
    if not match:
        return None
    start_hour, start_minute, end_hour, end_minute = match.groups()
    end = time(int(end_hour), int(end_minute)) if end_hour else time(23, 59)
    return TimeWindow(time(int(start_hour), int(start_minute)), end)


def _utc(at: time | datetime) -> tuple[int, int]:
    if isinstance(at, datetime):
        if at.tzinfo is not None:
            at = at.astimezone(UTC)
    elif not isinstance(at, time):
        name = type(at).__name__
        raise TypeError(f"a time of day must be a datetime.time in UTC or a datetime, not {name}")
    elif at.tzinfo is not None and at.utcoffset() != timedelta(0):
        raise ValueError(
            f"{at!r} is not in UTC and cannot be converted without a date: pass a datetime, or "
            "datetime.now(UTC).time()"
        )
    return at.hour, at.minute
