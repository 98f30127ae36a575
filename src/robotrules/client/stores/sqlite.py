"""
SQLite store: a file, for one machine, without setup. It is the default.

Processes and threads share the file. It is in WAL mode, so readers do not wait for writers, with
`synchronous=NORMAL`: a killed process loses no stored data, a crash of the machine may lose the
last moments, and neither damages the file. Waiting for the disk at each put would cost
milliseconds, for a cache that can be fetched again.

Calls within `with store.transaction():` are committed together (group commit), which about halves
the cost of each of ten puts. Their results must not be reported before the end. If one fails, all
are rolled back.

Opening a file of another program, a damaged file or one of a newer version is an error. Do not use
a network file system: SQLite's locks do not work there; a fleet shares Redis or PostgreSQL. The
tables are in `sqlite_tables`, the format of rows in `serialization`.
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
from robotrules.client.stores.forks import FORK_TIMEOUT, register
from robotrules.client.stores.nonblocking import NONBLOCKING_TIMEOUT, is_nonblocking
from robotrules.client.stores.pacing import PacingState
from robotrules.client.stores.serialization import (
    parse_entry,
    parse_record,
    record_identity,
    serialize_entry,
    serialize_record,
    split_batches,
    verify_body,
    vet_lease,
    vet_own,
    vet_slot,
)
from robotrules.client.stores.sqlite_tables import (
    ADD_BODY,
    ADD_RECORD,
    DELETE_ENTRY,
    GET_SLOT,
    HOLDER,
    LEASE,
    PUT_ENTRY,
    PUT_RECORD,
    SET_SLOT,
    SWEEP_BODIES,
)
from robotrules.errors import StoreBusyError, StoreError

# Seconds to wait for another process that writes, or for a thread of this one; see `nonblocking`.
BUSY_TIMEOUT = 5.0
# Rows read at a time, and rows deleted in one transaction: other writers wait for the latter.
PAGE, BATCH = 256, 1000


class SQLiteStore:
    """A store in a file. Safe to use from several threads and processes."""

    inline = True

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open or create the file; StoreError if that fails, or for another program's file."""
        self.path = Path(path).expanduser().absolute()
        self.name = f"SQLite, {self.path}"
        # One connection reads and one writes, each with a lock: `get` never waits for a `put`. With
        # one per thread, `get` takes 6 µs instead of 9 µs in four threads, but nothing would close
        # it when its thread ends.
        self._reads, self._writes = _Connection(), _Connection()
        self._thread_state = _ThreadState()
        self._closed = False
        self._make_folder()
        try:
            with self._begin_write():
                pass
        except BaseException:
            self.close()
            raise
        register(self)

    # --- Entries and bodies -----------------------------------------------------------------------

    def get(self, origin: str, agent: str) -> Entry | None:
        """Return the entry of an origin; None if there is none."""
        found = self._read("SELECT row FROM entries WHERE origin = ? AND agent = ?", origin, agent)
        entry = parse_entry(found[0][0]) if found else None
        # An intact row in the wrong place counts as missing.
        return entry if entry and (entry.origin, entry.agent) == (origin, agent) else None

    def body(self, digest: str) -> bytes | None:
        """Return the body with this digest."""
        found = self._read("SELECT octets FROM bodies WHERE digest = ?", digest)
        return verify_body(found[0][0], digest) if found else None

    def put(self, fetch_record: FetchRecord, body: bytes | None, entry: Entry | None) -> None:
        """Store a fetch record, its body and its entry, atomically."""
        vet_own(fetch_record, body)
        seen = (*record_identity(fetch_record), serialize_record(fetch_record))
        kept: tuple[Any, ...] = (fetch_record.origin, fetch_record.agent, fetch_record.at)
        if entry is not None:
            digest = entry.last_success.digest if entry.last_success else None
            kept = (
                entry.origin,
                entry.agent,
                entry.last_fetch_at,
                digest or "",
                serialize_entry(entry),
            )
        with self._begin_write() as db:
            db.execute(PUT_RECORD, seen)
            if body is not None:
                db.execute(ADD_BODY, (fetch_record.digest, body))
            db.execute(DELETE_ENTRY if entry is None else PUT_ENTRY, kept)

    # --- Leases and slots -------------------------------------------------------------------------

    def lease(self, key: str, holder: str, ttl: float) -> bool:
        """Acquire or renew a lease; False: another holder has it."""
        vet_lease(key, ttl)
        with self._begin_write() as db:
            now = time.time()
            # A lease taken in the future was taken before the clock was set back.
            taken = db.execute(LEASE, (key, holder, now, now + ttl, now, now + MAX_CLOCK_SKEW))
            return taken.rowcount > 0

    def release(self, key: str, holder: str) -> None:
        """Release a lease if *holder* still has it."""
        with self._begin_write() as db:
            db.execute("DELETE FROM leases WHERE key = ? AND holder = ?", (key, holder))

    def holder(self, key: str) -> str | None:
        """Return the holder of a lease; None if it is free."""
        found = self._read(HOLDER, key, time.time())
        return str(found[0][0]) if found else None

    def reserve_slot(self, origin: str, now: float, interval: float) -> float:
        """Reserve the next slot: not before *now*, and *interval* after the last one."""
        vet_slot(origin, now, interval)
        with self._begin_write() as db:
            pacing = _read_pacing(db, origin).reserve(now, interval)
            db.execute(SET_SLOT, (origin, *pacing))
            return pacing.last

    def begin_slot(self, origin: str, now: float, interval: float) -> float:
        """Begin a slot if the rate limit permits; else return the earliest time for one."""
        vet_slot(origin, now, interval)
        with self._begin_write() as db:
            begun = _read_pacing(db, origin).begin(now, interval)
            if not isinstance(begun, PacingState):
                return begun
            db.execute(SET_SLOT, (origin, *begun))
            return now

    def postpone_slot(self, origin: str, until: float) -> None:
        """Allow no slot at an origin before a time."""
        with self._begin_write() as db:
            db.execute(SET_SLOT, (origin, *_read_pacing(db, origin).postpone(until)))

    # --- Iteration and pruning --------------------------------------------------------------------

    def entries(self) -> Iterator[Entry]:
        """Yield all entries, ordered by origin."""
        for *_, row in self._pages(sqlite_tables.NEXT_ENTRIES, (), ("", "")):
            entry = parse_entry(row)
            if entry is not None:
                yield entry

    def fetch_records(
        self, origin: str | None = None, *, after: float | None = None, before: float | None = None
    ) -> Iterator[FetchRecord]:
        """
        Yield fetch records in chronological order, `after <= at <= before`.

        A damaged record raises StoreError: without it another one would seem to be in force.
        """
        query = sqlite_tables.NEXT_RECORDS if origin is None else sqlite_tables.NEXT_RECORDS_OF
        only = () if origin is None else (origin,)
        start = (float("-inf") if after is None else float(after), -1)
        end = float("inf") if before is None else before
        for at, _, where, row in self._pages(query, only, start, end):
            fetch_record = parse_record(row)
            if fetch_record is None or (fetch_record.origin, fetch_record.at) != (where, at):
                raise self._damaged(f"the fetch record of {where} at {at}")
            yield fetch_record

    def _pages(
        self, query: str, first: tuple[Any, ...], start: tuple[Any, ...], *rest: Any
    ) -> Iterator[tuple[Any, ...]]:
        """Yield rows page by page, without long locks and with bounded memory."""
        while page := self._read(query, *first, *start, *rest, PAGE):
            yield from page
            last, start = start, page[-1][: len(start)]
            # In a damaged file the pages may repeat.
            if [*map(type, start)] != [*map(type, last)] or start <= last:
                raise self._damaged("an index")

    def add(self, fetch_records: Iterable[tuple[FetchRecord, bytes | None]]) -> int:
        """Add imported records as evidence, without entries; return how many were new."""
        new = 0
        for batch in split_batches(fetch_records):
            with self._begin_write() as db:
                for fetch_record, body in batch:
                    new += db.execute(
                        ADD_RECORD, (*record_identity(fetch_record), serialize_record(fetch_record))
                    ).rowcount
                    if body is not None:
                        db.execute(ADD_BODY, (fetch_record.digest, body))
        return new

    def prune(self, before: float) -> int:
        """Delete entries whose last fetch is older; return how many. Evidence is kept."""
        pruned = self._delete(sqlite_tables.PRUNE_ENTRIES, before)
        self._delete(sqlite_tables.PRUNE_SLOTS, before)
        self._delete(sqlite_tables.PRUNE_LEASES, time.time())
        self._shrink()
        return pruned

    def prune_evidence(self, before: float) -> int:
        """Delete fetch records older than a time, and unused bodies; return how many records."""
        pruned = self._delete(sqlite_tables.PRUNE_RECORDS, before)
        last: str | None = ""
        while last is not None:
            with self._begin_write() as db:
                page = db.execute(sqlite_tables.NEXT_BODIES, (last, BATCH)).fetchall()
                first, last = last, page[-1][0] if page else None
                if last is not None:
                    db.execute(SWEEP_BODIES, (first, last))
        self._shrink()
        return pruned

    def _delete(self, query: str, before: float) -> int:
        """Delete in batches, so that no other writer waits for long."""
        deleted = 0
        while True:
            with self._begin_write() as db:
                share = db.execute(query, (before, BATCH)).rowcount
            deleted += share
            if share < BATCH:
                return deleted

    def _shrink(self) -> None:
        """Return free pages to the file system."""
        before = float("inf")
        while 0 < (free := self._read("PRAGMA freelist_count")[0][0]) < before:
            before = free
            with self._begin_write() as db:
                db.execute(f"PRAGMA incremental_vacuum({BATCH})").fetchall()

    # --- The file ---------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the file."""
        self._closed = True
        for connection in (self._reads, self._writes):
            with connection.lock:
                connection.close()

    def before_fork(self) -> None:
        """Close the connections: parent and child must not share them."""
        for connection in (self._writes, self._reads):
            connection.held = connection.lock.acquire(timeout=FORK_TIMEOUT)
            if connection.held:
                connection.close()

    def after_fork(self) -> None:
        """Continue: the file is reopened on next use."""
        for connection in (self._reads, self._writes):
            if connection.held:
                connection.lock.release()
            elif connection.process != os.getpid():
                connection.lock = Lock()  # its owner is not in this process

    def _make_folder(self) -> None:
        folder = self.path.parent
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            is_folder = self.path.is_dir()
        except OSError as error:
            raise StoreError(
                f"the folder {folder} cannot be created or read: {error.strerror}; use another "
                "path, "
                "or set ROBOTRULES_CACHE_DIR"
            ) from error
        if is_folder:
            raise StoreError(f"{self.path} is a folder: use the path of a file in it")

    def _open_db(self, connection: _Connection) -> sqlite3.Connection:
        """Return the database of a connection whose lock is held."""
        if self._closed:
            raise StoreError(f"the store {self.path} is closed: open another one")
        if connection.process != os.getpid():
            connection.abandon()
        timeout = NONBLOCKING_TIMEOUT if is_nonblocking() else BUSY_TIMEOUT
        if connection.db is None:
            connection.db, connection.timeout = (
                sqlite_tables.open_database(self.path, timeout),
                timeout,
            )
        elif connection.timeout != timeout:
            connection.db.execute(f"PRAGMA busy_timeout = {timeout * 1000:.0f}").fetchall()
            connection.timeout = timeout
        return connection.db

    def _acquire(self, connection: _Connection) -> Lock:
        """Acquire the lock of a connection and return it; after a fork it may be a new one."""
        lock, hurry = connection.lock, is_nonblocking()
        if not lock.acquire(True, NONBLOCKING_TIMEOUT if hurry else BUSY_TIMEOUT):
            if hurry:
                raise StoreBusyError(f"{self.path} is busy: repeat the call outside nonblocking()")
            raise StoreError(f"{self.path} is busy: other threads hold it for too long")
        return lock

    def transaction(self) -> Transaction:
        """
        Return a context within which calls of this thread are one transaction.

        It begins with the first call that writes; later reads in it see the writes. A nested
        transaction is part of the outer one.
        """
        return Transaction(self)

    @property
    def in_transaction(self) -> bool:
        """Whether this thread has written something that is not committed yet."""
        current = self._thread_state.transaction
        return current is not None and current.db is not None

    def _read(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        current = self._thread_state.transaction
        if current is not None and current.db is not None:
            # The other connection would reread all its pages after each commit of this one.
            try:
                return current.db.execute(query, values).fetchall()
            except sqlite_tables.ERRORS as error:
                current.failed = True
                raise sqlite_tables.translate_error(self.path, error) from error
        connection = self._reads
        lock = self._acquire(connection)
        try:
            return self._open_db(connection).execute(query, values).fetchall()
        except sqlite_tables.ERRORS as error:
            raise sqlite_tables.translate_error(self.path, error) from error
        finally:
            lock.release()

    def _begin_write(self) -> _WriteTransaction:
        """Return a new transaction, or a part of the current one of the thread."""
        return _WriteTransaction(self)

    def _damaged(self, what: str) -> StoreError:
        return StoreError(
            f"{what} is damaged in {self.path}: restore a copy of the file, or prune the "
            "evidence up to that time"
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
        """A call failed, so all calls are rolled back."""

    def __enter__(self) -> Transaction:
        of_thread = self._store._thread_state
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
                self._lock = store._acquire(store._writes)
            db = store._open_db(store._writes)
            # A transaction that reads first and writes later fails if another one wrote in between.
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
        self._store._thread_state.transaction = None
        db, self.db = self.db, None
        try:
            if db is not None and error is None and not self.failed:
                db.execute("COMMIT")
        except sqlite_tables.ERRORS as failure:
            raise sqlite_tables.translate_error(self._store.path, failure) from failure
        finally:
            if db is not None and db.in_transaction:
                with suppress(sqlite3.Error):
                    db.execute("ROLLBACK")
            if self._lock is not None:
                self._lock.release()
                self._lock = None
        if isinstance(error, sqlite_tables.ERRORS):
            raise sqlite_tables.translate_error(self._store.path, error) from error
        if self.failed and error is None:
            raise StoreError(
                f"{self._store.path}: a call in a transaction failed, so all its calls were "
                "rolled back"
            )


class _WriteTransaction:
    """The transaction of one call; a class, because a generator takes 1 µs."""

    __slots__ = ("_current", "_own", "_store")

    def __init__(self, store: SQLiteStore) -> None:
        self._store = store

    def __enter__(self) -> sqlite3.Connection:
        current = self._store._thread_state.transaction
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
                raise sqlite_tables.translate_error(self._store.path, error) from error


class _ThreadState(local):
    """The current transaction of each thread."""

    transaction: Transaction | None = None


def _read_pacing(db: sqlite3.Connection, origin: str) -> PacingState:
    """Return the stored pacing state of an origin."""
    return PacingState(*(db.execute(GET_SLOT, (origin,)).fetchone() or ()))


class _Connection:
    """A connection and its lock."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.db: sqlite3.Connection | None = None
        self.timeout = BUSY_TIMEOUT
        self.process = os.getpid()
        self.held = False

    def close(self) -> None:
        """Close the database; the caller holds the lock."""
        if self.process != os.getpid():
            self.abandon()
        if self.db is not None:
            self.db.close()
            self.db = None

    def abandon(self) -> None:
        """Drop a connection of the parent process unclosed: closing it would damage the file."""
        if self.db is not None:
            _ABANDONED.append(self.db)
        self.db, self.process = None, os.getpid()


_ABANDONED: list[sqlite3.Connection] = []
