"""
PostgreSQL store, for a fleet, and for durable evidence.

It creates its tables (`postgres_tables`), and needs a database with that permission. Its few
connections are shared by all threads. Every call ends within seconds: the server is told to cancel
a long statement, and the caller has its own timeout, for a server that hangs. Lost connections are
reopened.

Leases expire by the server's clock, so the clocks of a fleet may differ. The content of rows is not
interpreted here.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from threading import BoundedSemaphore, Lock
from typing import Any, TypeVar

from robotrules.cache import Entry, FetchRecord
from robotrules.client.stores import postgres_tables as tables
from robotrules.client.stores.forks import FORK_TIMEOUT, register
from robotrules.client.stores.serialization import (
    VERSION,
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
from robotrules.client.stores.server_guard import (
    CONNECT_TIMEOUT,
    RESPONSE_TIMEOUT,
    ServerGuard,
    vet_address,
)
from robotrules.errors import MissingExtraError, StoreError

try:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict, make_conninfo
except ImportError:
    raise MissingExtraError(
        "the PostgreSQL store needs psycopg, which is not installed: "
        "pip install 'robotrules[postgres]'"
    ) from None

CONNECTIONS = 8
# Rows read at a time, and rows deleted in one statement.
PAGE, BATCH = 256, 1000
FIX = "check that the server runs, its address, its password and the permissions of the user"
# Attempts to begin a slot that another process changes in between.
ATTEMPTS = 5
_YEAR = 366 * 86_400.0

T = TypeVar("T")


class _Connection(psycopg.Connection[tuple[Any, ...]]):
    """A connection with a timeout on every wait."""

    def wait(self, gen: Generator[Any, Any, T], *args: Any, **options: Any) -> T:
        """Wait for a response, with a timeout."""
        return super().wait(_bounded(gen), *args, **options)


def _bounded(gen: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
    """Wrap a wait of psycopg, which wakes up every tenth of a second."""
    # A second longer than the statement timeout of the server.
    end = time.monotonic() + RESPONSE_TIMEOUT + 1
    try:
        wanted = next(gen)
        while True:
            ready_at = yield wanted
            if not ready_at and time.monotonic() > end:
                raise psycopg.OperationalError(f"no response in {RESPONSE_TIMEOUT + 1:.0f} s")
            wanted = gen.send(ready_at)
    except StopIteration as stop:
        answer: T = stop.value
        return answer


class PostgresStore:
    """A store on a PostgreSQL server. Safe to use from several threads and processes."""

    inline = False
    _ready = _closed = False
    _lock_held = False
    """Whether a fork holds the lock."""

    def __init__(self, url: str, *, lazy: bool = False) -> None:
        """Connect; raises StoreError if that fails. *lazy*: connect at the first call."""
        try:
            vet_address(url)
            given: dict[str, Any] = dict(conninfo_to_dict(url))
            # Several ports, if there are several hosts.
            [int(port or 0) for port in str(given.get("port", "")).split(",")]
        except (psycopg.Error, ValueError):
            # The message of the library may contain part of the password: it is not repeated.
            raise ValueError(
                "the address of the PostgreSQL store cannot be read: use "
                "postgresql://USER@HOST:PORT/DATABASE, and percent-encode special characters in a "
                "password"
            ) from None
        host, port = given.get("host", "localhost"), given.get("port", 5432)
        self.name = f"PostgreSQL, {host}:{port}/{given.get('dbname', '')}"
        self._guard = ServerGuard(self.name, [given.get("password")])
        # Timeouts on the server; options of the address take precedence.
        timeout = f"{RESPONSE_TIMEOUT * 1000:.0f}"
        limits = f"-c statement_timeout={timeout} -c lock_timeout={timeout}"
        given["options"] = f"{limits} {given.get('options', '')}"
        defaults = {"connect_timeout": f"{CONNECT_TIMEOUT:.0f}", "application_name": "robotrules"}
        self._address = make_conninfo(**defaults | given)
        self._connection_slots = BoundedSemaphore(CONNECTIONS)
        self._idle: list[_Connection] = []
        self._lock = Lock()
        self._process = os.getpid()
        if not lazy:
            self._call(lambda db: None)
        register(self)

    # --- Entries and bodies -----------------------------------------------------------------------

    def get(self, origin: str, agent: str) -> Entry | None:
        """Return the entry of an origin; None if there is none."""
        found = self._rows(tables.GET, (origin, agent))
        entry = parse_entry(found[0][0]) if found else None
        # An intact row in the wrong place counts as missing.
        return entry if entry and (entry.origin, entry.agent) == (origin, agent) else None

    def body(self, digest: str) -> bytes | None:
        """Return the body with this digest."""
        found = self._rows(tables.BODY, (digest,))
        return verify_body(found[0][0], digest) if found else None

    def put(self, fetch_record: FetchRecord, body: bytes | None, entry: Entry | None) -> None:
        """Store a fetch record, its body and its entry, atomically."""
        vet_own(fetch_record, body)
        values = _record_values(fetch_record, body) | {"last": float(fetch_record.at)}
        if entry is not None:
            digest = entry.last_success.digest if entry.last_success else None
            values |= {"entry_digest": digest or "", "entry_row": serialize_entry(entry)}
            values["last"] = float(entry.last_fetch_at)
        self._run(tables.put(body is not None, entry is not None), values)

    # --- Leases and slots -------------------------------------------------------------------------

    def lease(self, key: str, holder: str, ttl: float) -> bool:
        """Acquire or renew a lease; False: another holder has it."""
        vet_lease(key, ttl)
        return self._run(tables.LEASE, (key, holder, float(min(ttl, _YEAR)))) > 0

    def release(self, key: str, holder: str) -> None:
        """Release a lease if *holder* still has it."""
        self._run(tables.RELEASE, (key, holder))

    def holder(self, key: str) -> str | None:
        """Return the holder of a lease; None if it is free."""
        found = self._rows(tables.HOLDER, (key,))
        return str(found[0][0]) if found else None

    def reserve_slot(self, origin: str, now: float, interval: float) -> float:
        """Reserve the next slot: not before *now*, and *interval* after the last one."""
        vet_slot(origin, now, interval)
        values = {"origin": origin, "now": float(now), "interval": float(interval)}
        return float(self._rows(tables.RESERVE, values)[0][0])

    def begin_slot(self, origin: str, now: float, interval: float) -> float:
        """Begin a slot if the rate limit permits; else return the earliest time for one."""
        vet_slot(origin, now, interval)
        values = {"origin": origin, "now": float(now), "interval": float(interval)}
        # Two statements without a transaction: a process that hangs with a locked row would block
        # the whole fleet. The row may be deleted in between.
        for _ in range(ATTEMPTS):
            if self._rows(tables.BEGIN, values):
                return now
            found = self._rows(tables.READY, values)
            if found and found[0][0] > now:
                return float(found[0][0])
        raise StoreError(f"{self.name} is busy: the slots of {origin} change continuously")

    def postpone_slot(self, origin: str, until: float) -> None:
        """Allow no slot at an origin before a time."""
        self._run(tables.POSTPONE, (origin, float(until)))

    # --- Iteration and pruning --------------------------------------------------------------------

    def entries(self) -> Iterator[Entry]:
        """Yield all entries, ordered by origin."""
        last: Sequence[Any] = ("", "")
        while page := self._rows(tables.NEXT_ENTRIES, (*last, PAGE)):
            for *last, row in page:  # noqa: B007 - where the next page starts
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
        query = tables.NEXT_RECORDS if origin is None else tables.NEXT_RECORDS_OF
        at, number = float("-inf") if after is None else float(after), 0
        end = float("inf") if before is None else float(before)
        only = () if origin is None else (origin,)
        while page := self._rows(query, (*only, at, number, end, PAGE)):
            for where, at, number, row in page:  # noqa: B007 - where the next page starts
                fetch_record = parse_record(row)
                if fetch_record is None or (fetch_record.origin, fetch_record.at) != (where, at):
                    raise StoreError(
                        f"the fetch record of {where} at {at} is damaged in {self.name}: "
                        "restore it, or "
                        "prune the evidence up to that time"
                    )
                yield fetch_record

    def add(self, fetch_records: Iterable[tuple[FetchRecord, bytes | None]]) -> int:
        """Add imported records as evidence, without entries; return how many were new."""
        return sum(self._call(_add, batch) for batch in split_batches(fetch_records))

    def prune(self, before: float) -> int:
        """Delete entries whose last fetch is older; return how many. Evidence is kept."""
        pruned = self._delete(tables.PRUNE_ENTRIES, before)
        self._delete(tables.PRUNE_SLOTS, before)
        self._run(tables.PRUNE_LEASES, ())
        return pruned

    def prune_evidence(self, before: float) -> int:
        """Delete fetch records older than a time, and unused bodies; return how many records."""
        pruned = self._delete(tables.PRUNE_RECORDS, before)
        last = ""
        while end := self._rows(tables.NEXT_BODIES, (last, BATCH))[0][0]:
            self._call(_sweep, last, end)
            last = end
        return pruned

    def _delete(self, query: str, before: float) -> int:
        """Delete in batches, so that no statement takes long."""
        deleted = 0
        while share := self._run(query, {"before": float(before), "share": BATCH}):
            deleted += share
        return deleted

    def close(self) -> None:
        """Close all connections."""
        self._closed = True
        with self._lock:
            self._close_idle()

    # --- The server -------------------------------------------------------------------------------

    def _rows(self, query: str, values: Any) -> list[tuple[Any, ...]]:
        return self._call(lambda db: db.execute(query, values, binary=True).fetchall())

    def _run(self, query: str, values: Any) -> int:
        count: int = self._call(lambda db: db.execute(query, values).rowcount)
        return count

    def _call(self, ask: Callable[..., T], *values: Any) -> T:
        """Call the server; returns or raises StoreError within a bounded time."""
        if self._closed:
            raise StoreError(f"{self.name} is closed: open another one")
        self._guard.check()
        started = time.monotonic()
        if not self._connection_slots.acquire(timeout=RESPONSE_TIMEOUT):
            raise StoreError(f"{self.name} is busy: all {CONNECTIONS} connections are in use")
        try:
            answer = self._call_with_retry(ask, values)
        except psycopg.Error as error:
            raise self._guard.record_failure(error, started, FIX) from None
        finally:
            self._connection_slots.release()
        self._guard.record_success()
        return answer

    def _call_with_retry(self, ask: Callable[..., T], values: tuple[Any, ...]) -> T:
        # Every call may be repeated: at worst a slot stays unused.
        for again in (True, False):
            db, is_new = self._acquire()
            try:
                if not self._ready:
                    self._ready = _prepare(db, self.name)
                answer = ask(db, *values)
            except psycopg.errors.DeadlockDetected:
                db.close()
                if not again:
                    raise
            except psycopg.OperationalError:
                # A restarted server has closed this connection and the idle ones.
                gone = db.broken and not is_new
                db.close()
                if not (again and gone):
                    raise
                with self._lock:
                    self._close_idle()
            except BaseException:
                db.close()  # its state is unknown
                raise
            else:
                self._return_connection(db)
                return answer
        raise AssertionError

    def _acquire(self) -> tuple[_Connection, bool]:
        """Return an idle connection, and whether it is new."""
        with self._lock:
            if self._process != os.getpid():
                # They belong to the parent; psycopg does not close those of another process.
                self._idle, self._process = [], os.getpid()
            if self._idle:
                return self._idle.pop(), False
        # No prepared statements: a connection pooler may use another session for each call.
        connect = _Connection.connect
        return connect(self._address, autocommit=True, prepare_threshold=None), True

    def _return_connection(self, db: _Connection) -> None:
        with self._lock:
            if self._closed:
                db.close()
            else:
                self._idle.append(db)

    def _close_idle(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def before_fork(self) -> None:
        """Let go of what is idle: two processes on one connection would mix their words."""
        self._lock_held = self._lock.acquire(timeout=FORK_TIMEOUT)
        if self._lock_held:
            self._close_idle()

    def after_fork(self) -> None:
        """Continue; in a child process no other thread uses a connection."""
        if self._lock_held:
            self._lock.release()
        if self._process != os.getpid():
            self._lock, self._connection_slots = Lock(), BoundedSemaphore(CONNECTIONS)


def _prepare(db: _Connection, name: str) -> bool:
    """Make the tables if they are not there; StoreError: they are not ours."""
    try:
        if db.execute(tables.MISSING, ([*tables.TABLES],)).fetchall() != [(0,)]:
            with db.transaction():
                db.execute("SELECT pg_advisory_xact_lock(%s)", (tables.LOCK,))
                for statement in (*tables.TABLES.values(), *tables.INDEXES):
                    db.execute(statement)
                db.execute(tables.SET_VERSION, (VERSION,))
        ((version,),) = db.execute("SELECT max(version) FROM robotrules_store").fetchall()
    except (psycopg.errors.UndefinedColumn, psycopg.errors.WrongObjectType):
        version = None
    if not isinstance(version, int):
        raise StoreError(
            f"{name} has tables of another program that are called robotrules_*: use another "
            "database, or another schema (?options=-csearch_path%3DNAME)"
        )
    if version > VERSION:
        raise StoreError(
            f"{name} was created by a newer robotrules (version {version}; this one supports "
            f"{VERSION}): upgrade robotrules, or use another database"
        )
    if version < VERSION:
        db.execute(tables.UPGRADE, {"version": VERSION})
    return True


def _add(db: _Connection, batch: list[tuple[FetchRecord, bytes | None]]) -> int:
    """Add visits in one transaction; sorted, so that two who add do not wait for each other."""
    new = 0
    with db.transaction(), db.cursor() as cursor:
        for with_body in (True, False):
            values = [_record_values(*one) for one in batch if (one[1] is not None) is with_body]
            values.sort(key=lambda one: (one["digest"], one["origin"], one["at"]))
            if values:
                cursor.executemany(tables.add(with_body), values)
                new += cursor.rowcount
    return new


def _sweep(db: _Connection, first: str, last: str) -> None:
    with db.transaction():
        db.execute(tables.QUIET)
        db.execute(tables.SWEEP_BODIES, (first, last))


def _record_values(fetch_record: FetchRecord, body: bytes | None) -> dict[str, Any]:
    """Return a visit as the statements take it."""
    return record_identity(fetch_record)._asdict() | {
        "row": serialize_record(fetch_record),
        "body": body,
    }
