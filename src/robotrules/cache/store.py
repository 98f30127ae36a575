"""
Store: what a place must do in which entries, bodies and visits are kept.

A protocol and nothing else: `client.stores` has four that keep it, and a user may bring another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from robotrules.cache.values import Entry, FetchRecord


class Store(Protocol):
    """
    Where entries, bodies and visits are kept. Safe to use from several threads.

    What it cannot do raises `StoreError`; what it has is never given out altered: a row or a
    body that is not what was put is as good as none, or an error.
    """

    name: str
    """For people: `SQLite, /home/…/robots.sqlite`. Without passwords."""
    inline: bool
    """Whether a call takes microseconds, so that an event loop may make it itself."""

    def get(self, origin: str, agent: str) -> Entry | None:
        """Return what is known of an origin."""

    def body(self, digest: str) -> bytes | None:
        """Return the octets that have this digest."""

    def put(self, fetch_record: FetchRecord, body: bytes | None, entry: Entry | None) -> None:
        """
        Keep an own visit as evidence, its body, and the entry it makes, all of it or nothing.

        An imported visit raises ValueError. Where the same visit was imported before, this one
        takes its place.
        *body* None: there is none, or it is not to be kept. *entry* None: what was known of the
        origin is forgotten (`no-store`). An entry whose last visit is newer stays as it is,
        unless it is from so far in the future (`SKEW`) that the clock must have been set back.
        """

    def lease(self, key: str, holder: str, ttl: float) -> bool:
        """Take a lease that nobody else holds, or renew one's own; False: somebody has it."""

    def release(self, key: str, holder: str) -> None:
        """Give back a lease, if it is still *holder*'s."""

    def holder(self, key: str) -> str | None:
        """Return who holds a lease; None: nobody does."""

    def reserve_slot(self, origin: str, now: float, interval: float) -> float:
        """
        Take the next turn at an origin: not before *now*, and *interval* after the last.

        It is a day ahead at most. A moment that was noted further ahead than that and `SKEW` is
        of a clock that was ahead, and does not count; so in `begin`.
        """

    def begin_slot(self, origin: str, now: float, interval: float) -> float:
        """
        Begin a turn now, if one may: returns *now* (or less) if it did.

        If not, returns the moment from which one may; then nothing changed.
        """

    def postpone_slot(self, origin: str, until: float) -> None:
        """Let no turn at an origin be before a moment."""

    def entries(self) -> Iterator[Entry]:
        """Yield all entries, by origin."""

    def fetch_records(
        self, origin: str | None = None, *, after: float | None = None, before: float | None = None
    ) -> Iterator[FetchRecord]:
        """Yield visits in the order of their time, `after <= at <= before`."""

    def add(self, fetch_records: Iterable[tuple[FetchRecord, bytes | None]]) -> int:
        """
        Add visits of elsewhere as evidence, without entries; return how many were new.

        A visit that is there already, own or imported, stays as it is.
        """

    def prune(self, before: float) -> int:
        """Forget entries whose last visit is older; return how many. Evidence stays."""

    def prune_evidence(self, before: float) -> int:
        """Forget visits older than a moment, and bodies nobody needs; return how many visits."""

    def close(self) -> None:
        """Let go of files and connections."""
