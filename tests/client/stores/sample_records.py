"""Visits for tests: by hand, and by number."""

from __future__ import annotations

from math import inf
from typing import Any

from robotrules.access import AccessState, FailureReason, Hop
from robotrules.cache import Entry, FetchRecord, body_digest, updated_entry
from robotrules.http.fields import Fields

ORIGIN, AGENT = "https://example.com", "ExampleBot"
BODY = b"User-agent: *\nDisallow: /private\n"
NOW = 1_800_000_000.0
FIELDS = Fields(
    (
        ("content-type", b"text/plain; charset=utf-8"),
        ("etag", b'"6553-19a0b"'),
        ("x-odd", bytes(range(0x80, 0x100))),
        ("cache-control", b"max-age=3600"),
    ),
    True,
)


def made(at: float = NOW, body: bytes | None = BODY, **changes: Any) -> FetchRecord:
    """Return a visit that found *body*; None: it found nobody."""
    fetch_record = FetchRecord(
        origin=ORIGIN,
        agent=AGENT,
        user_agent="ExampleBot/1.0 (+https://example.com/bot; Straße)",
        at=at,
        state=AccessState.SUCCESS,
        status=200,
        failure_reason=None,
        detail="",
        url=f"{ORIGIN}/robots.txt",
        hops=(Hop(f"{ORIGIN}/robots.txt", 301, "/r%C3%B6bots.txt"),),
        fields=FIELDS,
        digest=body_digest(body or b""),
        size=len(body or b""),
        complete=True,
        revalidated=False,
        until=at + 86_400,
        may_store=True,
        address="192.0.2.1",
    )
    if body is None:
        fetch_record = fetch_record._replace(
            state=AccessState.UNREACHABLE,
            status=None,
            failure_reason=FailureReason.TIMEOUT,
            detail="nobody answered in 30 s: 日本",
            digest=None,
            until=inf,
            address=None,
        )
    return fetch_record._replace(**changes)


# --- By number ------------------------------------------------------------------------------------

PLACES = 16


def numbered(number: int) -> tuple[FetchRecord, bytes, Entry]:
    """Return a visit, its body and its entry that nobody has but this number."""
    # Mostly short, and some that take many pages of a file.
    lines = 2_000 if number % 19 == 0 else number % 40
    body = b"".join([b"# %d %d\n" % (number, line) for line in range(lines + 1)])
    fetch_record = made(NOW + number, body, origin=f"https://host{number % PLACES}.example")
    return fetch_record, body, updated_entry(None, fetch_record)


def number_of(fetch_record: FetchRecord) -> int:
    """Return the number of a visit."""
    return round(fetch_record.at - NOW)
