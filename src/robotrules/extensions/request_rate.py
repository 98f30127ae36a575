"""
Request-rate: the number of requests per period (Conner 1996; REC-request-rate-01).

Group scope, `n/m[s|m|h|d] [HHMM-HHMM]`: n requests in m seconds, minutes, hours or days, all day or
in a time window in UTC. It does not change verdicts, count requests or read a clock.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, time
from typing import Any, NamedTuple

from robotrules.extensions import require_robots_txt
from robotrules.extensions.codes import note
from robotrules.extensions.visit_time import TimeWindow, read_window
from robotrules.profile import Extension, Role
from robotrules.robotstxt import RobotsTxt, Tokens
from robotrules.robotstxt.values import Note, Record

EXTENSION = Extension(
    "Request-rate", (), Role.OTHER, "group", "S. Conner, An Extended Standard for Robot Exclusion"
)

# Nine digits are more than thirty years of seconds; longer numbers are rejected.
_RATE = re.compile(rb"([0-9]{1,9})/([0-9]{1,9})([smhdSMHD]?)(?:[ \t]+([-0-9]+))?")
_UNITS = {b"": 1, b"s": 1, b"m": 60, b"h": 3_600, b"d": 86_400}


class RequestRate(NamedTuple):
    """A number of requests per period, all day or in a time window."""

    requests: int
    period: int
    """In seconds."""
    window: TimeWindow | None
    """The time window that it applies to; None: all day."""
    record: Record

    @property
    def seconds(self) -> float:
        """The seconds between two requests: the period divided by the number of requests."""
        return self.period / self.requests

    @property
    def line(self) -> int:
        """The line it is written in."""
        return self.record.line

    def applies(self, at: time | datetime) -> bool:
        """Return whether it applies at a time of day in UTC."""
        return self.window is None or self.window.contains(at)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "requests": self.requests,
            "period": self.period,
            "seconds": self.seconds,
            "window": self.window.as_dict() if self.window else None,
            "line": self.line,
        }


def request_rates(
    robots: RobotsTxt, product_token: Tokens, purposes: Sequence[str] = ()
) -> tuple[RequestRate, ...]:
    """
    Return the rates of the groups that *product_token* obeys, in the order of the file.

    Several may apply at once. The one with the most `seconds` is the most restrictive.
    """
    require_robots_txt(robots)
    rates = (
        _parse_rate(record)
        for group in robots.select_groups(product_token, purposes).groups
        for record in group.records
        if record.key == "request-rate"
    )
    return tuple(rate for rate in rates if rate)


def notes(robots: RobotsTxt, registries: object = None) -> Iterator[Note]:
    """Yield notes on the Request-rate records of a file."""
    for record in robots.records:
        if record.key != "request-rate":
            continue
        if record.group is None:
            yield note("record-outside-group", record)
        if _parse_rate(record) is None:
            yield note("bad-request-rate", record)


def _parse_rate(record: Record) -> RequestRate | None:
    match = _RATE.fullmatch(record.value)
    if not match:
        return None
    requests, count, unit, hours = match.groups()
    window = read_window(hours) if hours else None
    period = int(count) * _UNITS[unit.lower()]
    # An invalid window does not make the rate apply all day. Zero requests would be a verdict, and
    # a period of zero would be no limit: neither is a rate.
    if (hours and window is None) or not int(requests) or not period:
        return None
    return RequestRate(int(requests), period, window, record)
