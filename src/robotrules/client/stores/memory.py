"""
The store in memory: for tests, for programs of minutes, and where nothing may be written.

It is gone with the process, and nobody shares it: single flight and turns hold within one process
only. Like every store it keeps its evidence until it is told to forget it, so it grows. Values are
frozen, so they are kept as they are.
"""

from __future__ import annotations

import os
import time
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator
from operator import attrgetter
from threading import Lock

from robotrules.cache import MAX_CLOCK_SKEW, Entry, FetchRecord
from robotrules.client.stores.forks import PATIENCE, watch
from robotrules.client.stores.pacing import PacingState
from robotrules.client.stores.serialization import (
    RecordIdentity,
    identity_of,
    vet,
    vet_lease,
    vet_own,
    vet_turn,
)
from robotrules.errors import StoreError

_AT = attrgetter("at")


class MemoryStore:
    """A store that is gone with the process. Safe to use from several threads."""

    name = "memory"
    inline = True

    def __init__(self) -> None:
        self._lock = Lock()
        self._held, self._process = False, os.getpid()
        self._forget()
        self._closed = False
        watch(self)

    def _forget(self) -> None:
        self._entries: dict[tuple[str, str], Entry] = {}
        self._bodies: dict[str, bytes] = {}
        # All visits and those of each origin, in the order of their time.
        self._visits: list[FetchRecord] = []
        self._of: dict[str, list[FetchRecord]] = {}
        self._known: dict[RecordIdentity, FetchRecord] = {}
        self._leases: dict[str, tuple[str, float]] = {}
        self._turns: dict[str, PacingState] = {}

    def _check(self) -> None:
        if self._closed:
            raise StoreError("the store in memory was closed, and is gone: open another")

    def get(self, origin: str, agent: str) -> Entry | None:
        """Return what is known of an origin."""
        self._check()
        return self._entries.get((origin, agent))

    def body(self, digest: str) -> bytes | None:
        """Return the octets that have this digest."""
        self._check()
        return self._bodies.get(digest)

    def put(self, fetch_record: FetchRecord, body: bytes | None, entry: Entry | None) -> None:
        """Keep an own visit as evidence, its body, and the entry it makes."""
        vet_own(fetch_record, body)
        key = (fetch_record.origin, fetch_record.agent)
        with self._lock:
            self._check()
            if not self._add(fetch_record, body):
                self._replace(fetch_record)
            there = self._entries.get(key)
            last = entry.last_fetch_at if entry else fetch_record.at
            # What is far in the future was put before the clock was set back.
            if there is not None and last < there.last_fetch_at <= last + MAX_CLOCK_SKEW:
                return
            if entry is None:
                self._entries.pop(key, None)
            else:
                self._entries[key] = entry

    def _add(self, fetch_record: FetchRecord, body: bytes | None) -> bool:
        if body is not None and fetch_record.digest is not None:
            self._bodies[fetch_record.digest] = body
        identity = identity_of(fetch_record)
        if identity in self._known:
            return False
        self._known[identity] = fetch_record
        insort(self._visits, fetch_record, key=_AT)
        insort(self._of.setdefault(fetch_record.origin, []), fetch_record, key=_AT)
        return True

    def _replace(self, fetch_record: FetchRecord) -> None:
        """Put an own visit in the place of the same one that was imported before."""
        identity = identity_of(fetch_record)
        before = self._known[identity]
        for visits in (self._visits, self._of[fetch_record.origin]):
            visits[visits.index(before, bisect_left(visits, fetch_record.at, key=_AT))] = (
                fetch_record
            )
        self._known[identity] = fetch_record

    # --- Leases and turns -------------------------------------------------------------------------

    def lease(self, key: str, holder: str, ttl: float) -> bool:
        """Take a lease that nobody else holds, or renew one's own; False: somebody has it."""
        vet_lease(key, ttl)
        with self._lock:
            self._check()
            # Nobody else has this store, so a clock that nobody sets serves.
            now = time.monotonic()
            held = self._leases.get(key)
            if held is not None and held[0] != holder and now < held[1]:
                return False
            self._leases[key] = (holder, now + ttl)
            return True

    def release(self, key: str, holder: str) -> None:
        """Give back a lease, if it is still *holder*'s."""
        with self._lock:
            self._check()
            held = self._leases.get(key)
            if held is not None and held[0] == holder:
                del self._leases[key]

    def holder(self, key: str) -> str | None:
        """Return who holds a lease; None: nobody does."""
        with self._lock:
            self._check()
            held = self._leases.get(key)
            return held[0] if held is not None and time.monotonic() < held[1] else None

    def reserve_slot(self, origin: str, now: float, interval: float) -> float:
        """Take the next turn at an origin: not before *now*, and *interval* after the last."""
        vet_turn(origin, now, interval)
        with self._lock:
            self._check()
            noted = self._turns.get(origin, PacingState()).reserved(now, interval)
            self._turns[origin] = noted
            return noted.last

    def begin_slot(self, origin: str, now: float, interval: float) -> float:
        """Begin a turn now if one may; if not, return from when on, and change nothing."""
        vet_turn(origin, now, interval)
        with self._lock:
            self._check()
            noted = self._turns.get(origin, PacingState())
            ready = noted.ready(now, interval)
            if ready > now:
                return ready
            self._turns[origin] = noted.begun(now)
            return now

    def postpone_slot(self, origin: str, until: float) -> None:
        """Let no turn at an origin be before a moment."""
        with self._lock:
            self._check()
            self._turns[origin] = self._turns.get(origin, PacingState()).postponed(until)

    # --- All of it --------------------------------------------------------------------------------

    def entries(self) -> Iterator[Entry]:
        """Yield all entries, by origin."""
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
        """Yield visits in the order of their time, `after <= at <= before`."""
        with self._lock:
            self._check()
            there = self._visits if origin is None else self._of.get(origin, [])
            start = 0 if after is None else bisect_left(there, after, key=_AT)
            end = len(there) if before is None else bisect_right(there, before, key=_AT)
            found = there[start:end]
        yield from found

    def add(self, fetch_records: Iterable[tuple[FetchRecord, bytes | None]]) -> int:
        """Add visits of elsewhere as evidence, without entries; return how many were new."""
        new = 0
        for visit, body in fetch_records:
            vet(visit, body)
            with self._lock:
                self._check()
                new += self._add(visit, body)
        return new

    def prune(self, before: float) -> int:
        """Forget entries whose last visit is older; return how many. Evidence stays."""
        with self._lock:
            self._check()
            old = [key for key, entry in self._entries.items() if entry.last_fetch_at < before]
            for key in old:
                del self._entries[key]
            for origin in [one for one, turn in self._turns.items() if max(turn) < before]:
                del self._turns[origin]
            now = time.monotonic()
            for lease in [one for one, (_, until) in self._leases.items() if until <= now]:
                del self._leases[lease]
            return len(old)

    def prune_evidence(self, before: float) -> int:
        """Forget visits older than a moment, and bodies nobody needs; return how many visits."""
        with self._lock:
            self._check()
            old = bisect_left(self._visits, before, key=_AT)
            for visit in self._visits[:old]:
                del self._known[identity_of(visit)]
            del self._visits[:old]
            for origin, visits in list(self._of.items()):
                del visits[: bisect_left(visits, before, key=_AT)]
                if not visits:
                    del self._of[origin]
            needed = {visit.digest for visit in self._visits}
            needed |= {
                entry.last_success.digest for entry in self._entries.values() if entry.last_success
            }
            for digest in self._bodies.keys() - needed:
                del self._bodies[digest]
            return old

    def close(self) -> None:
        """Let go of everything."""
        with self._lock:
            self._closed = True
            self._forget()

    def before_fork(self) -> None:
        """Hold the lock, so that no child inherits it from another thread."""
        self._held = self._lock.acquire(timeout=PATIENCE)
        self._process = os.getpid()

    def after_fork(self) -> None:
        """Go on; a child has a copy of its own."""
        if self._held:
            self._lock.release()
        elif self._process != os.getpid():
            self._lock = Lock()  # who held it is not in this process
