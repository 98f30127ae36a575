"""
Dates, times and durations on the command line: `2026-05-01T12:00Z`, `2026-05-01`, `30d`.

A time is ISO 8601. A date alone is the start of that day in UTC. A time without a zone is read as
UTC, with a hint, unless the command was told another zone.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, tzinfo

from robotrules.cli import client
from robotrules.cli.console import CliError, quoted, report

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SPAN = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)[ ]?([smhdw])")
_UNITS = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}


def parse_datetime(text: str, option: str, zone: tzinfo = UTC) -> float:
    """Return the value of an option as seconds since 1970; *zone* is that of times without one."""
    typed = text.strip()
    if typed.lower() == "now":
        return client.now()
    try:
        if not _DATE.match(typed):
            raise ValueError
        found = datetime.fromisoformat(typed)
        if found.tzinfo is None:
            if zone is UTC and not _DATE.fullmatch(typed):
                report(
                    f"{option} {quoted(text)} has no time zone and is read as UTC; add Z or an "
                    "offset such as +02:00",
                    label="hint",
                    style="warning",
                )
            found = found.replace(tzinfo=zone)
        return found.timestamp()
    except (ValueError, OverflowError):
        raise CliError(
            f"{option} {quoted(text)} is not a date or time: pass one such as 2026-05-01T12:00Z, "
            f"or "
            f"2026-05-01 for the start of that day{' in UTC' if zone is UTC else ''}"
        ) from None


def parse_duration(text: str, option: str) -> float:
    """Return the seconds of a duration that an option has."""
    found = _SPAN.fullmatch(text.strip().lower())
    if not found:
        raise CliError(
            f"{option} {quoted(text)} is not a duration: pass a number and s, m, h, d or w, such "
            f"as "
            "30d"
        )
    return float(found[1]) * _UNITS[found[2]]
