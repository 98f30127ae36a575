"""
The store in a file: SQLite, for one machine, with nothing to set up. It is the default.

Processes and threads share the file. It is in WAL mode, so nobody waits for a writer to read, with
`synchronous=NORMAL`: a killed process loses nothing that was put, a crash of the whole machine may
lose the last moments, and neither damages the file. To wait for the disk at each put would cost
milliseconds, for a cache that can be fetched again.

Calls within `with store.transaction():` are committed together (group commit): of ten puts each
then costs about half. Whoever makes them acknowledges none of them before the end. If one fails,
none of them was made.

A file that is not ours, damaged or of a newer version is an error when it is opened. A network
file system is no place for it: SQLite's locks do not hold there; a fleet shares Redis or
PostgreSQL. The tables are in `sqlite_tables`; what a row says, in `serialization`.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Lock, local
from types import TracebackType
from typing import Any

from robotrules.cache import MAX_CLOCK_SKEW, Entry, FetchRecord
from robotrules.client.stores import sqlite_tables
from robotrules.client.stores.forks import PATIENCE, watch
from robotrules.client.stores.nonblocking import HURRY, is_hurried
from robotrules.client.stores.pacing import PacingState
from robotrules.client.stores.serialization import (
    batches,
    body_of,
    entry_row,
    identity_of,
    read_entry,
    read_visit,
    vet_lease,
    vet_own,
    vet_turn,
    visit_row,
)
from robotrules.client.stores.sqlite_tables import (
    ADD_BODY,
    ADD_VISIT,
    FORGET_ENTRY,
    HOLDER,
    LEASE,
    NOTE_TURN,
    PUT_ENTRY,
    PUT_VISIT,
    SWEEP_BODIES,
    TURN,
)
from robotrules.errors import StoreBusyError, StoreError

# Seconds to wait for another process that writes, or for a thread of this one; see `nonblocking`.
BUSY = 5.0
# What is read in one go, and what is forgotten in one: others wait for the second.
PAGE, SHARE = 256, 1000


class SQLiteStore:
    """A store in a file. Safe to use from several threads and processes."""

    inline = True

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open the file, or make it; StoreError where that cannot be, or it is not ours."""
        self.path = Path(path).expanduser().absolute()
        self.name = f"SQLite, {self.path}"
        # One connection reads and one writes, each with a lock: `get` never waits for a `put`. One
        # for each thread takes 6 µs instead of 9 where four threads get, and nobody would close it
        # when its thread ends.
        self._reads, self._writes = _Connection(), _Connection()
        self._of_thread = _OfThread()
        self._closed = False
        self._make_folder()
        try:
            with self._writing():
                pass
        except BaseException:
            self.close()
            raise
        watch(self)

    # --- Entries and bodies -----------------------------------------------------------------------

    def get(self, origin: str, agent: str) -> Entry | None:
        """Return what is known of an origin."""
        found = self._read("SELECT row FROM entries WHERE origin = ? AND agent = ?", origin, agent)
        entry = read_entry(found[0][0]) if found else None
        # A whole row in the wrong place is as good as none.
        return entry if entry and (entry.origin, entry.agent) == (origin, agent) else None

    def body(self, digest: str) -> bytes | None:
        """Return the octets that have this digest."""
        found = self._read("SELECT octets FROM bodies WHERE digest = ?", digest)
        return body_of(found[0][0], digest) if found else None

    def put(self, fetch_record: FetchRecord, body: bytes | None, entry: Entry | None) -> None:
        """Keep an own visit as evidence, its body, and its entry, all of it or nothing."""
        vet_own(fetch_record, body)
        seen = (*identity_of(fetch_record), visit_row(fetch_record))
        kept: tuple[Any, ...] = (fetch_record.origin, fetch_record.agent, fetch_record.at)
        if entry is not None:
            digest = entry.last_success.digest if entry.last_success else None
            kept = (entry.origin, entry.agent, entry.last_fetch_at, digest or "", entry_row(entry))
        with self._writing() as db:
            db.execute(PUT_VISIT, seen)
            if body is not None:
                db.execute(ADD_BODY, (fetch_record.digest, body))
            db.execute(FORGET_ENTRY if entry is None else PUT_ENTRY, kept)

    # --- Leases and turns -------------------------------------------------------------------------

    def lease(self, key: str, holder: str, ttl: float) -> bool:
        """Take a lease that nobody else holds, or renew one's own; False: somebody has it."""
        vet_lease(key, ttl)
        with self._writing() as db:
            now = time.time()
            # Who took it later than now took it before the clock was set back.
            taken = db.execute(LEASE, (key, holder, now, now + ttl, now, now + MAX_CLOCK_SKEW))
            return taken.rowcount > 0

    def release(self, key: str, holder: str) -> None:
        """Give back a lease, if it is still *holder*'s."""
        with self._writing() as db:
            db.execute("DELETE FROM leases WHERE key = ? AND holder = ?", (key, holder))

    def holder(self, key: str) -> str | None:
        """Return who holds a lease; None: nobody does."""
        found = self._read(HOLDER, key, time.time())
        return str(found[0][0]) if found else None

    def reserve_slot(self, origin: str, now: float, interval: float) -> float:
        """Take the next turn at an origin: not before *now*, and *interval* after the last."""
        vet_turn(origin, now, interval)
        with self._writing() as db:
            noted = _noted(db, origin).reserved(now, interval)
            db.execute(NOTE_TURN, (origin, *noted))
            return noted.last

    def begin_slot(self, origin: str, now: float, interval: float) -> float:
        """Begin a turn now if one may; if not, return from when on, and change nothing."""
        vet_turn(origin, now, interval)
        with self._writing() as db:
            noted = _noted(db, origin)
            ready = noted.ready(now, interval)
            if ready > now:
                return ready
            db.execute(NOTE_TURN, (origin, *noted.begun(now)))
            return now

    def postpone_slot(self, origin: str, until: float) -> None:
        """Let no turn at an origin be before a moment."""
        with self._writing() as db:
            db.execute(NOTE_TURN, (origin, *_noted(db, origin).postponed(until)))

    # --- All of it --------------------------------------------------------------------------------

    def entries(self) -> Iterator[Entry]:
        """Yield all entries, by origin."""
        for *_, row in self._pages(sqlite_tables.NEXT_ENTRIES, (), ("", "")):
            entry = read_entry(row)
            if entry is not None:
                yield entry

    def fetch_records(
        self, origin: str | None = None, *, after: float | None = None, before: float | None = None
    ) -> Iterator[FetchRecord]:
        """
        Yield visits in the order of their time, `after <= at <= before`.

        A damaged one raises StoreError: without it another visit would seem to be in force.
        """
        query = sqlite_tables.NEXT_VISITS if origin is None else sqlite_tables.NEXT_VISITS_OF
        only = () if origin is None else (origin,)
        start = (float("-inf") if after is None else float(after), -1)
        end = float("inf") if before is None else before
        for at, _, where, row in self._pages(query, only, start, end):
            visit = read_visit(row)
            if visit is None or (visit.origin, visit.at) != (where, at):
                raise self._damaged(f"the visit to {where} at {at}")
            yield visit

    def _pages(
        self, query: str, first: tuple[Any, ...], start: tuple[Any, ...], *rest: Any
    ) -> Iterator[tuple[Any, ...]]:
        """Yield rows page by page: nobody waits, and memory is bounded."""
        while page := self._read(query, *first, *start, *rest, PAGE):
            yield from page
            last, start = start, page[-1][: len(start)]
            # In a damaged file the way may lead in a circle.
            if [*map(type, start)] != [*map(type, last)] or start <= last:
                raise self._damaged("an index")

    def add(self, fetch_records: Iterable[tuple[FetchRecord, bytes | None]]) -> int:
        """Add visits of elsewhere as evidence, without entries; return how many were new."""
        new = 0
        for batch in batches(fetch_records):
            with self._writing() as db:
                for visit, body in batch:
                    new += db.execute(ADD_VISIT, (*identity_of(visit), visit_row(visit))).rowcount
                    if body is not None:
                        db.execute(ADD_BODY, (visit.digest, body))
        return new

    def prune(self, before: float) -> int:
        """Forget entries whose last visit is older; return how many. Evidence stays."""
        pruned = self._forget(sqlite_tables.PRUNE_ENTRIES, before)
        self._forget(sqlite_tables.PRUNE_TURNS, before)
        self._forget(sqlite_tables.PRUNE_LEASES, time.time())
        self._shrink()
        return pruned

    def prune_evidence(self, before: float) -> int:
        """Forget visits older than a moment, and bodies nobody needs; return how many visits."""
        pruned = self._forget(sqlite_tables.PRUNE_VISITS, before)
        last: str | None = ""
        while last is not None:
            with self._writing() as db:
                page = db.execute(sqlite_tables.NEXT_BODIES, (last, SHARE)).fetchall()
                first, last = last, page[-1][0] if page else None
                if last is not None:
                    db.execute(SWEEP_BODIES, (first, last))
        self._shrink()
        return pruned

    def _forget(self, query: str, before: float) -> int:
        """Delete in shares, so that no other writer waits for long."""
        forgotten = 0
        while True:
            with self._writing() as db:
                share = db.execute(query, (before, SHARE)).rowcount
            forgotten += share
            if share < SHARE:
                return forgotten

    def _shrink(self) -> None:
        """Give room back to the disk."""
        before = float("inf")
        while 0 < (free := self._read("PRAGMA freelist_count")[0][0]) < before:
            before = free
            with self._writing() as db:
                db.execute(f"PRAGMA incremental_vacuum({SHARE})").fetchall()

    # --- The file ---------------------------------------------------------------------------------

    def close(self) -> None:
        """Let go of the file."""
        self._closed = True
        for desk in (self._reads, self._writes):
            with desk.lock:
                desk.let_go()

    def before_fork(self) -> None:
        """Finish and let go: neither parent nor child may use what the other has open."""
        for desk in (self._writes, self._reads):
            desk.held = desk.lock.acquire(timeout=PATIENCE)
            if desk.held:
                desk.let_go()

    def after_fork(self) -> None:
        """Go on: the file is opened again when it is next used."""
        for desk in (self._reads, self._writes):
            if desk.held:
                desk.lock.release()
            elif desk.process != os.getpid():
                desk.lock = Lock()  # who held it is not in this process

    def _make_folder(self) -> None:
        folder = self.path.parent
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            is_folder = self.path.is_dir()
        except OSError as error:
            raise StoreError(
                f"the folder {folder} cannot be made or read: {error.strerror}; name another file, "
                "or set ROBOTRULES_CACHE_DIR"
            ) from error
        if is_folder:
            raise StoreError(f"{self.path} is a folder: name a file in it")

    def _db(self, desk: _Connection) -> sqlite3.Connection:
        """Return the connection of a desk whose lock is held."""
        if self._closed:
            raise StoreError(f"the store {self.path} was closed: open another")
        if desk.process != os.getpid():
            desk.abandon()
        patience = HURRY if is_hurried() else BUSY
        if desk.db is None:
            desk.db, desk.patience = sqlite_tables.opened(self.path, patience), patience
        elif desk.patience != patience:
            desk.db.execute(f"PRAGMA busy_timeout = {patience * 1000:.0f}").fetchall()
            desk.patience = patience
        return desk.db

    def _take(self, desk: _Connection) -> Lock:
        """Wait for the lock of a desk; who calls gives it back: a fork may put another there."""
        lock, hurry = desk.lock, is_hurried()
        if not lock.acquire(True, HURRY if hurry else BUSY):
            if hurry:
                raise StoreBusyError(f"{self.path} is busy: ask again without a hurry")
            raise StoreError(f"{self.path} is busy: other threads do not come to an end")
        return lock

    def transaction(self) -> Transaction:
        """
        Return a context within which calls of this thread are one transaction.

        It begins with the first call that writes, and what is read after that includes what was
        written. One within another is a part of it.
        """
        return Transaction(self)

    @property
    def in_transaction(self) -> bool:
        """Whether this thread has written something that is not committed yet."""
        current = self._of_thread.transaction
        return current is not None and current.db is not None

    def _read(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        current = self._of_thread.transaction
        if current is not None and current.db is not None:
            # The other connection would read all its pages anew after each commit of this one.
            try:
                return current.db.execute(query, values).fetchall()
            except sqlite_tables.ERRORS as error:
                current.failed = True
                raise sqlite_tables.trouble(self.path, error) from error
        desk = self._reads
        lock = self._take(desk)
        try:
            return self._db(desk).execute(query, values).fetchall()
        except sqlite_tables.ERRORS as error:
            raise sqlite_tables.trouble(self.path, error) from error
        finally:
            lock.release()

    def _writing(self) -> _Writing:
        """Return a transaction of its own, or a part of the thread's: all of it, or nothing."""
        return _Writing(self)

    def _damaged(self, what: str) -> StoreError:
        return StoreError(
            f"{what} is damaged in {self.path}: put a copy of the file in its place, or forget the "
            "evidence up to that moment"
        )


class Transaction:
    """Calls of one thread that are committed together; a context manager."""

    __slots__ = ("_lock", "_outer", "_store", "db", "failed")

    def __init__(self, store: SQLiteStore) -> None:
        self._store = store
        self._lock: Lock | None = None
        self.db: sqlite3.Connection | None = None
        """The connection that writes, once something is written."""
        self.failed = False
        """A part of it was not made, so none of it may be."""

    def __enter__(self) -> Transaction:
        of_thread = self._store._of_thread
        self._outer = of_thread.transaction
        if self._outer is None:
            of_thread.transaction = self
        return self

    def begin(self) -> sqlite3.Connection:
        """Return the connection, in a transaction; the caller translates SQLite's errors."""
        if self._outer is not None:
            return self._outer.begin()
        if self.db is None:
            store = self._store
            if self._lock is None:
                self._lock = store._take(store._writes)
            db = store._db(store._writes)
            # Who read first and wrote then would fail where another wrote in between.
            db.execute("BEGIN IMMEDIATE")
            self.db = db
        return self.db

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._outer is not None:
            return
        self._store._of_thread.transaction = None
        db, self.db = self.db, None
        try:
            if db is not None and error is None and not self.failed:
                db.execute("COMMIT")
        except sqlite_tables.ERRORS as failure:
            raise sqlite_tables.trouble(self._store.path, failure) from failure
        finally:
            if db is not None and db.in_transaction:
                with suppress(sqlite3.Error):
                    db.execute("ROLLBACK")
            if self._lock is not None:
                self._lock.release()
                self._lock = None
        if isinstance(error, sqlite_tables.ERRORS):
            raise sqlite_tables.trouble(self._store.path, error) from error
        if self.failed and error is None:
            raise StoreError(
                f"{self._store.path}: a part of a transaction failed, and none is kept"
            )


class _Writing:
    """What one call writes; a class, because a generator takes 1 µs."""

    __slots__ = ("_current", "_own", "_store")

    def __init__(self, store: SQLiteStore) -> None:
        self._store = store

    def __enter__(self) -> sqlite3.Connection:
        current = self._store._of_thread.transaction
        self._own = current is None
        self._current = Transaction(self._store).__enter__() if current is None else current
        try:
            return self._current.begin()
        except BaseException as error:
            self.__exit__(type(error), error, error.__traceback__)
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._own:
            self._current.__exit__(kind, error, trace)
        elif error is not None:
            self._current.failed = True
            if isinstance(error, sqlite_tables.ERRORS):
                raise sqlite_tables.trouble(self._store.path, error) from error


class _OfThread(local):
    """What a thread is in the middle of."""

    transaction: Transaction | None = None


def _noted(db: sqlite3.Connection, origin: str) -> PacingState:
    """Return what is noted of the turns at an origin."""
    return PacingState(*(db.execute(TURN, (origin,)).fetchone() or ()))


class _Connection:
    """A connection and its lock."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.db: sqlite3.Connection | None = None
        self.patience = BUSY
        self.process = os.getpid()
        self.held = False

    def let_go(self) -> None:
        """Close what is open; who calls holds the lock."""
        if self.process != os.getpid():
            self.abandon()
        if self.db is not None:
            self.db.close()
            self.db = None

    def abandon(self) -> None:
        """Leave a connection of the parent process alone: to close it would harm the file."""
        if self.db is not None:
            _ABANDONED.append(self.db)
        self.db, self.process = None, os.getpid()


_ABANDONED: list[sqlite3.Connection] = []
