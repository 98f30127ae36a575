"""
Memory store: for tests, short-lived programs, and systems without a writable disk.

It ends with the process and is not shared: leases and slots are limited to one process. Like every
store it keeps its evidence until it is pruned, so it grows. Values are immutable and stored
unchanged.
"""

from __future__ import annotations

import os
import time
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator
from math import inf
from operator import attrgetter
from threading import Lock

from robotrules.cache import MAX_CLOCK_SKEW, Entry, FetchRecord
from robotrules.client.stores.forks import FORK_TIMEOUT, register
from robotrules.client.stores.pacing import NO_SLOTS, PacingState
from robotrules.client.stores.serialization import (
    RecordIdentity,
    record_identity,
    vet_lease,
    vet_own,
    vet_record,
    vet_slot,
)
from robotrules.errors import StoreError

_AT = attrgetter("at")
new_pacing = tuple.__new__  # half the time of the class


class MemoryStore:
    """A store that ends with the process. Safe to use from several threads."""

    name = "memory"
    inline = True

    def __init__(self) -> None:
        self._lock = Lock()
        self._lock_held, self._process = False, os.getpid()
        self._delete()
        self._closed = False
        register(self)

    def _delete(self) -> None:
        self._entries: dict[tuple[str, str], Entry] = {}
        self._bodies: dict[str, bytes] = {}
        # All records, and those of each origin, in chronological order.
        self._records: list[FetchRecord] = []
        self._records_of: dict[str, list[FetchRecord]] = {}
        self._by_identity: dict[RecordIdentity, FetchRecord] = {}
        self._leases: dict[str, tuple[str, float]] = {}
        self._slots: dict[str, PacingState] = {}

    def _check(self) -> None:
        if self._closed:
            raise StoreError("the memory store is closed and its data is gone: open another one")

    def get(self, origin: str, agent: str) -> Entry | None:
        """Return the entry of an origin; None if there is none."""
        self._check()
        return self._entries.get((origin, agent))

    def body(self, digest: str) -> bytes | None:
        """Return the body with this digest."""
        self._check()
        return self._bodies.get(digest)

    def put(self, fetch_record: FetchRecord, body: bytes | None, entry: Entry | None) -> None:
        """Store a fetch record, its body and its entry."""
        vet_own(fetch_record, body)
        key = (fetch_record.origin, fetch_record.agent)
        with self._lock:
            self._check()
            if not self._add(fetch_record, body):
                self._replace(fetch_record)
            there = self._entries.get(key)
            last = entry.last_fetch_at if entry else fetch_record.at
            # A time far in the future was stored before the clock was set back.
            if there is not None and last < there.last_fetch_at <= last + MAX_CLOCK_SKEW:
                return
            if entry is None:
                self._entries.pop(key, None)
            else:
                self._entries[key] = entry

    def _add(self, fetch_record: FetchRecord, body: bytes | None) -> bool:
        if body is not None and fetch_record.digest is not None:
            self._bodies[fetch_record.digest] = body
        identity = record_identity(fetch_record)
        if identity in self._by_identity:
            return False
        self._by_identity[identity] = fetch_record
        insort(self._records, fetch_record, key=_AT)
        insort(self._records_of.setdefault(fetch_record.origin, []), fetch_record, key=_AT)
        return True

    def _replace(self, fetch_record: FetchRecord) -> None:
        """Replace the same record that was imported before."""
        identity = record_identity(fetch_record)
        before = self._by_identity[identity]
        for fetch_records in (self._records, self._records_of[fetch_record.origin]):
            fetch_records[
                fetch_records.index(before, bisect_left(fetch_records, fetch_record.at, key=_AT))
            ] = fetch_record
        self._by_identity[identity] = fetch_record

    # --- Leases and slots -------------------------------------------------------------------------

    def lease(self, key: str, holder: str, ttl: float) -> bool:
        """Acquire or renew a lease; False: another holder has it."""
        vet_lease(key, ttl)
        with self._lock:
            self._check()
            # No other process uses this store, so the monotonic clock works.
            now = time.monotonic()
            held = self._leases.get(key)
            if held is not None and held[0] != holder and now < held[1]:
                return False
            self._leases[key] = (holder, now + ttl)
            return True

    def release(self, key: str, holder: str) -> None:
        """Release a lease if *holder* still has it."""
        with self._lock:
            self._check()
            held = self._leases.get(key)
            if held is not None and held[0] == holder:
                del self._leases[key]

    def holder(self, key: str) -> str | None:
        """Return the holder of a lease; None if it is free."""
        with self._lock:
            self._check()
            held = self._leases.get(key)
            return held[0] if held is not None and time.monotonic() < held[1] else None

    def reserve_slot(self, origin: str, now: float, interval: float) -> float:
        """Reserve the next slot: not before *now*, and *interval* after the last one."""
        vet_slot(origin, now, interval)
        with self._lock:
            self._check()
            pacing = self._slots.get(origin, NO_SLOTS).reserve(now, interval)
            self._slots[origin] = pacing
            return pacing.last

    def begin_slot(self, origin: str, now: float, interval: float) -> float:
        """Begin a slot if the rate limit permits; else return the earliest time for one."""
        with self._lock:
            if self._closed:
                self._check()
            last, earliest = self._slots.get(origin, NO_SLOTS)
            if last + interval <= now < inf and earliest <= now and interval >= 0:
                self._slots[origin] = new_pacing(PacingState, (now, earliest))  # most slots
                return now
            vet_slot(origin, now, interval)
            begun = self._slots.get(origin, NO_SLOTS).begin(now, interval)
            if not isinstance(begun, PacingState):
                return begun
            self._slots[origin] = begun
            return now

    def postpone_slot(self, origin: str, until: float) -> None:
        """Allow no slot at an origin before a time."""
        with self._lock:
            self._check()
            self._slots[origin] = self._slots.get(origin, NO_SLOTS).postpone(until)

    # --- Iteration and pruning --------------------------------------------------------------------

    def entries(self) -> Iterator[Entry]:
        """Yield all entries, ordered by origin."""
        with self._lock:
            self._check()
            keys = sorted(self._entries)
        for key in keys:
            entry = self._entries.get(key)
            if entry is not None:
                yield entry

    def fetch_records(
        self, origin: str | None = None, *, after: float | None = None, before: float | None = None
    ) -> Iterator[FetchRecord]:
        """Yield fetch records in chronological order, `after <= at <= before`."""
        with self._lock:
            self._check()
            there = self._records if origin is None else self._records_of.get(origin, [])
            start = 0 if after is None else bisect_left(there, after, key=_AT)
            end = len(there) if before is None else bisect_right(there, before, key=_AT)
            found = there[start:end]
        yield from found

    def add(self, fetch_records: Iterable[tuple[FetchRecord, bytes | None]]) -> int:
        """Add imported records as evidence, without entries; return how many were new."""
        new = 0
        for fetch_record, body in fetch_records:
            vet_record(fetch_record, body)
            with self._lock:
                self._check()
                new += self._add(fetch_record, body)
        return new

    def prune(self, before: float) -> int:
        """Delete entries whose last fetch is older; return how many. Evidence is kept."""
        with self._lock:
            self._check()
            old = [key for key, entry in self._entries.items() if entry.last_fetch_at < before]
            for key in old:
                del self._entries[key]
            for origin in [one for one, turn in self._slots.items() if max(turn) < before]:
                del self._slots[origin]
            now = time.monotonic()
            for lease in [one for one, (_, until) in self._leases.items() if until <= now]:
                del self._leases[lease]
            return len(old)

    def prune_evidence(self, before: float) -> int:
        """Delete fetch records older than a time, and unused bodies; return how many records."""
        with self._lock:
            self._check()
            old = bisect_left(self._records, before, key=_AT)
            for fetch_record in self._records[:old]:
                del self._by_identity[record_identity(fetch_record)]
            del self._records[:old]
            for origin, fetch_records in list(self._records_of.items()):
                del fetch_records[: bisect_left(fetch_records, before, key=_AT)]
                if not fetch_records:
                    del self._records_of[origin]
            needed = {fetch_record.digest for fetch_record in self._records}
            needed |= {
                entry.last_success.digest for entry in self._entries.values() if entry.last_success
            }
            for digest in self._bodies.keys() - needed:
                del self._bodies[digest]
            return old

    def close(self) -> None:
        """Drop all data."""
        with self._lock:
            self._closed = True
            self._delete()

    def before_fork(self) -> None:
        """Hold the lock, so that a child does not inherit it locked by another thread."""
        self._lock_held = self._lock.acquire(timeout=FORK_TIMEOUT)
        self._process = os.getpid()

    def after_fork(self) -> None:
        """Continue; a child has its own copy."""
        if self._lock_held:
            self._lock.release()
        elif self._process != os.getpid():
            self._lock = Lock()  # its owner is not in this process
