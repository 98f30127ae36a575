"""Results, fetches and entries that tests of the cache share."""

from __future__ import annotations

from typing import Any

from robotrules.access import ACCESS_PROFILES, AccessResult, AccessState, FailureReason
from robotrules.cache import (
    Entry,
    FetchRecord,
    Freshness,
    freshness,
    make_fetch_record,
    updated_entry,
)
from robotrules.tags import read_fields

ORIGIN, ROBOTS = "https://e.example", "https://e.example/robots.txt"
DEFAULT = ACCESS_PROFILES["default"]
STALE, GOOGLE = ACCESS_PROFILES["stale"], ACCESS_PROFILES["google"]
DAY, HOUR = 86_400.0, 3_600.0
# 2026-01-01T00:00:00Z
START = 1_767_225_600.0
FILE = b"User-agent: *\nDisallow: /x\n"


def result(status: int | None = 200, *fields: tuple[str, str], **changes: Any) -> AccessResult:
    """Return what came of an attempt; None: a network error."""
    states = {
        None: AccessState.UNREACHABLE,
        2: AccessState.SUCCESS,
        4: AccessState.UNAVAILABLE,
        5: AccessState.UNREACHABLE,
    }
    state = states[None if status is None else status // 100]
    trouble = (
        None
        if state is AccessState.SUCCESS
        else FailureReason.STATUS
        if status
        else FailureReason.CONNECT
    )
    body = FILE if state is AccessState.SUCCESS else b""
    made = AccessResult(
        *(ORIGIN, state, status, trouble, "", ROBOTS, (), read_fields(list(fields)), body),
        *(True, False, "192.0.2.1"),
    )
    return made._replace(**changes)


def fetch_record(
    at: float, found: AccessResult, entry: Entry | None = None, profile: Any = DEFAULT
) -> FetchRecord:
    """Return a fetch record with this result."""
    names = {"agent": "ExampleBot", "user_agent": "ExampleBot/1.0"}
    return make_fetch_record(found, entry, at=START + at, **names, profile=profile)


def entry_of(*fetch_records: tuple[float, AccessResult], profile: Any = DEFAULT) -> Entry:
    """Return the cache entry after these fetches."""
    entry = None
    for at, found in fetch_records:
        entry = updated_entry(entry, fetch_record(at, found, entry, profile))
    assert entry is not None
    return entry


def at(entry: Entry | None, now: float, profile: Any = DEFAULT, **given: Any) -> Freshness:
    """Return what decides so many seconds after the start; `until` counts from there too."""
    found = freshness(entry, START + now, profile, **given)
    return found._replace(until=found.until - START)
