"""
Store: the interface of a storage backend for entries, bodies and fetch records.

A protocol only: `client.stores` has four implementations, and users may add others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from robotrules.cache.values import Entry, FetchRecord


class Store(Protocol):
    """
    Storage for entries, bodies and fetch records. Safe to use from several threads.

    A failed operation raises `StoreError`. Data is never returned altered: a row or body that
    differs from what was put counts as missing, or raises.
    """

    name: str
    """For display, such as `SQLite, /home/…/robots.sqlite`. Passwords are redacted."""
    inline: bool
    """Whether a call takes microseconds, so that an event loop may make it directly."""

    def get(self, origin: str, agent: str) -> Entry | None:
        """Return the entry of an origin; None if there is none."""

    def body(self, digest: str) -> bytes | None:
        """Return the body with this digest."""

    def put(self, fetch_record: FetchRecord, body: bytes | None, entry: Entry | None) -> None:
        """
        Store a record of a fetch as evidence, its body, and the resulting entry, atomically.

        An imported record raises ValueError. If the same record was imported before, this one
        replaces it. *body* None: there is none, or it must not be stored. *entry* None: delete the
        entry of the origin (`no-store`). An entry with a newer fetch is kept, unless that fetch is
        so far in the future (`MAX_CLOCK_SKEW`) that the clock must have been set back.
        """

    def lease(self, key: str, holder: str, ttl: float) -> bool:
        """Acquire or renew a lease; False: another holder has it."""

    def release(self, key: str, holder: str) -> None:
        """Release a lease if *holder* still has it."""

    def holder(self, key: str) -> str | None:
        """Return the holder of a lease; None if it is free."""

    def reserve_slot(self, origin: str, now: float, interval: float) -> float:
        """
        Reserve the next slot of an origin: not before *now*, and *interval* after the last one.

        Returns its time, at most a day ahead. A stored time further ahead than that plus
        `MAX_CLOCK_SKEW` comes from a wrong clock and is ignored; `begin_slot` does the same.
        """

    def begin_slot(self, origin: str, now: float, interval: float) -> float:
        """
        Begin a slot now if the rate limit permits; returns *now* (or less) if it did.

        Otherwise returns the earliest time at which a slot may begin, and changes nothing.
        """

    def postpone_slot(self, origin: str, until: float) -> None:
        """Allow no slot at an origin before a time."""

    def entries(self) -> Iterator[Entry]:
        """Yield all entries, ordered by origin."""

    def fetch_records(
        self, origin: str | None = None, *, after: float | None = None, before: float | None = None
    ) -> Iterator[FetchRecord]:
        """Yield fetch records in chronological order, `after <= at <= before`."""

    def add(self, fetch_records: Iterable[tuple[FetchRecord, bytes | None]]) -> int:
        """
        Add imported records as evidence, without entries; return how many were new.

        A record that is already stored, own or imported, is kept unchanged.
        """

    def prune(self, before: float) -> int:
        """Delete entries whose last fetch is older; return how many. Evidence is kept."""

    def prune_evidence(self, before: float) -> int:
        """Delete fetch records older than a time, and unused bodies; return how many records."""

    def close(self) -> None:
        """Close files and connections."""
