"""
Histories made by hand: fetches at chosen times, as a client would have recorded them.

A `Diary` asks nobody. It is told what came of each visit, runs it through `access` and `cache`, and
puts it into its store.
"""

from __future__ import annotations

from collections.abc import Iterator

from robotrules.access import (
    ACCESS_PROFILES,
    AccessProfile,
    Failure,
    FailureReason,
    Response,
    access,
)
from robotrules.cache import (
    Entry,
    FetchRecord,
    Store,
    make_cached_copy,
    make_fetch_record,
    updated_entry,
)
from robotrules.client.stores import MemoryStore

SITE = "https://example.com"
DAY, HOUR = 86_400.0, 3_600.0
# 2026-05-01T00:00:00Z
START = 1_777_593_600.0


def rules(path: str) -> bytes:
    """Return a robots.txt that disallows one path."""
    return f"User-agent: *\nDisallow: {path}\n".encode()


def file(path: str, *fields: tuple[str, str]) -> Response:
    """Return an answer with such a robots.txt."""
    return Response(200, list(fields), rules(path), address="192.0.2.1")


def refused() -> Failure:
    """Return a failure of the network."""
    return Failure(FailureReason.CONNECT, "connection refused")


class History:
    """A store, and the fetch records written to it."""

    def __init__(self, store: Store | None = None, profile: str = "default") -> None:
        self.store: Store = MemoryStore() if store is None else store
        self.profile: AccessProfile = ACCESS_PROFILES[profile]
        self._entries: dict[tuple[str, str], tuple[Entry, bytes]] = {}

    def record_fetch(
        self,
        days: float,
        *answers: Response | Failure,
        agent: str = "ExampleBot",
        site: str = SITE,
    ) -> FetchRecord:
        """Record the result of a fetch a number of days after the start; redirects come first."""
        entry, body = self._entries.get((site, agent), (None, b""))
        flow = access(site, profile=self.profile, cached=make_cached_copy(entry, body))
        coming: Iterator[Response | Failure] = iter(answers)
        next(flow)
        while True:
            try:
                flow.send(next(coming))
            except StopIteration as ended:
                result = ended.value
                break
        fetch_record = make_fetch_record(
            result,
            entry,
            at=START + days * DAY,
            agent=agent,
            user_agent=f"{agent}/1.0 (+{site}/bot)",
            profile=self.profile,
        )
        known = updated_entry(entry, fetch_record)
        self._entries[site, agent] = known, result.body if fetch_record.usable else body
        kept = result.body if fetch_record.digest is not None and fetch_record.may_store else None
        self.store.put(fetch_record, kept, known if fetch_record.may_store else None)
        return fetch_record
