"""
Moments and spans as people type them: `2026-05-01T12:00Z`, `2026-05-01`, `30d`.

A moment is ISO 8601. A date alone is the start of that day in UTC, and a time without a zone is
taken as UTC, with a hint. It does not know what a moment is asked about.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from robotrules.cli import client
from robotrules.cli.streams import CliError, quoted, say

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SPAN = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)[ ]?([smhdw])")
_UNITS = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}


def given_moment(text: str, option: str) -> float:
    """Return the seconds since 1970 of what was typed for an option."""
    typed = text.strip()
    if typed.lower() == "now":
        return client.now()
    try:
        if not _DATE.match(typed):
            raise ValueError
        found = datetime.fromisoformat(typed)
        if found.tzinfo is None:
            if not _DATE.fullmatch(typed):
                say(
                    f"{option} {quoted(text)} has no zone and is taken as UTC; add Z, or an offset "
                    "such as +02:00",
                    label="hint",
                    style="warning",
                )
            found = found.replace(tzinfo=UTC)
        return found.timestamp()
    except (ValueError, OverflowError):
        raise CliError(
            f"{option} {quoted(text)} is no moment: pass one such as 2026-05-01T12:00Z, or a date "
            "such as 2026-05-01, which is its start in UTC"
        ) from None


def given_span(text: str, option: str) -> float:
    """Return the seconds of a span that was typed for an option."""
    found = _SPAN.fullmatch(text.strip().lower())
    if not found:
        raise CliError(
            f"{option} {quoted(text)} is no span of time: pass a number and s, m, h, d or w, such "
            "as 30d"
        )
    return float(found[1]) * _UNITS[found[2]]
