"""
The store on a PostgreSQL server, for a fleet, and for evidence that is to last.

It makes its tables itself (`postgres_tables`), and needs a database where it may. It has a few
connections of its own, shared by all threads. Whatever the server does, a call ends in seconds: the
server is told to stop a statement, and who waits stops waiting by his own clock, because a server
that hangs cannot be told. A server that was away is connected to anew.

Leases end by the server's clock, so the clocks of a fleet may differ. It does not know what is in a
row.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from threading import BoundedSemaphore, Lock
from typing import Any, TypeVar

from robotrules.cache import Entry, FetchRecord
from robotrules.client.circuit_breaker import ANSWER, CONNECT, CircuitBreaker, vet_address
from robotrules.client.stores import postgres_tables as tables
from robotrules.client.stores.forks import PATIENCE, watch
from robotrules.client.stores.serialization import (
    VERSION,
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
# What is read in one go, and what is forgotten in one.
PAGE, SHARE = 256, 1000
CURE = "check that the server runs, its address, its password and the rights of the user"
# How often a turn is begun that somebody changes in between.
ATTEMPTS = 5
_YEAR = 366 * 86_400.0

T = TypeVar("T")


class _Connection(psycopg.Connection[tuple[Any, ...]]):
    """A connection on which nobody waits for long, whatever the server does or does not do."""

    def wait(self, gen: Generator[Any, Any, T], *args: Any, **options: Any) -> T:
        """Wait for an answer, but not for ever."""
        return super().wait(_bounded(gen), *args, **options)


def _bounded(gen: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
    """Pass on what psycopg waits for; it wakes up every tenth of a second."""
    # A second more than the server has to stop by itself.
    end = time.monotonic() + ANSWER + 1
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if not ready and time.monotonic() > end:
                raise psycopg.OperationalError(f"no answer in {ANSWER + 1:.0f} s")
            wanted = gen.send(ready)
    except StopIteration as stop:
        answer: T = stop.value
        return answer


class PostgresStore:
    """A store on a PostgreSQL server. Safe to use from several threads and processes."""

    inline = False
    _ready = _closed = False
    _held = False
    """Whether a fork waits with the lock."""

    def __init__(self, url: str, *, lazy: bool = False) -> None:
        """Connect; StoreError where that cannot be, unless *lazy*: then at the first call."""
        try:
            vet_address(url)
            given: dict[str, Any] = dict(conninfo_to_dict(url))
            # A list, if there is a list of hosts.
            [int(port or 0) for port in str(given.get("port", "")).split(",")]
        except (psycopg.Error, ValueError):
            # Its words may hold a part of the password.
            raise ValueError(
                "the address of the PostgreSQL store cannot be read: use "
                "postgresql://USER@HOST:PORT/DATABASE, and percent-encode what is special in a "
                "password"
            ) from None
        host, port = given.get("host", "localhost"), given.get("port", 5432)
        self.name = f"PostgreSQL, {host}:{port}/{given.get('dbname', '')}"
        self._away = CircuitBreaker(self.name, [given.get("password")])
        # The server stops what takes too long; what the address says goes before.
        limits = f"-c statement_timeout={ANSWER * 1000:.0f} -c lock_timeout={ANSWER * 1000:.0f}"
        given["options"] = f"{limits} {given.get('options', '')}"
        defaults = {"connect_timeout": f"{CONNECT:.0f}", "application_name": "robotrules"}
        self._address = make_conninfo(**defaults | given)
        self._places = BoundedSemaphore(CONNECTIONS)
        self._idle: list[_Connection] = []
        self._lock = Lock()
        self._process = os.getpid()
        if not lazy:
            self._ask(lambda db: None)
        watch(self)

    # --- Entries and bodies -----------------------------------------------------------------------

    def get(self, origin: str, agent: str) -> Entry | None:
        """Return what is known of an origin."""
        found = self._rows(tables.GET, (origin, agent))
        entry = read_entry(found[0][0]) if found else None
        # A whole row in the wrong place is as good as none.
        return entry if entry and (entry.origin, entry.agent) == (origin, agent) else None

    def body(self, digest: str) -> bytes | None:
        """Return the octets that have this digest."""
        found = self._rows(tables.BODY, (digest,))
        return body_of(found[0][0], digest) if found else None

    def put(self, fetch_record: FetchRecord, body: bytes | None, entry: Entry | None) -> None:
        """Keep an own visit as evidence, its body, and its entry, all of it or nothing."""
        vet_own(fetch_record, body)
        values = _seen(fetch_record, body) | {"last": float(fetch_record.at)}
        if entry is not None:
            digest = entry.last_success.digest if entry.last_success else None
            values |= {"entry_digest": digest or "", "entry_row": entry_row(entry)}
            values["last"] = float(entry.last_fetch_at)
        self._run(tables.put(body is not None, entry is not None), values)

    # --- Leases and turns -------------------------------------------------------------------------

    def lease(self, key: str, holder: str, ttl: float) -> bool:
        """Take a lease that nobody else holds, or renew one's own; False: somebody has it."""
        vet_lease(key, ttl)
        return self._run(tables.LEASE, (key, holder, float(min(ttl, _YEAR)))) > 0

    def release(self, key: str, holder: str) -> None:
        """Give back a lease, if it is still *holder*'s."""
        self._run(tables.RELEASE, (key, holder))

    def holder(self, key: str) -> str | None:
        """Return who holds a lease; None: nobody does."""
        found = self._rows(tables.HOLDER, (key,))
        return str(found[0][0]) if found else None

    def reserve_slot(self, origin: str, now: float, interval: float) -> float:
        """Take the next turn at an origin: not before *now*, and *interval* after the last."""
        vet_turn(origin, now, interval)
        values = {"origin": origin, "now": float(now), "interval": float(interval)}
        return float(self._rows(tables.RESERVE, values)[0][0])

    def begin_slot(self, origin: str, now: float, interval: float) -> float:
        """Begin a turn now if one may; if not, return from when on, and change nothing."""
        vet_turn(origin, now, interval)
        values = {"origin": origin, "now": float(now), "interval": float(interval)}
        # Two statements, and no transaction around them: who holds a row and hangs would keep the
        # whole fleet waiting. In between the row can have been forgotten.
        for _ in range(ATTEMPTS):
            if self._rows(tables.BEGIN, values):
                return now
            found = self._rows(tables.READY, values)
            if found and found[0][0] > now:
                return float(found[0][0])
        raise StoreError(f"{self.name} is busy: the turns at {origin} change all the time")

    def postpone_slot(self, origin: str, until: float) -> None:
        """Let no turn at an origin be before a moment."""
        self._run(tables.POSTPONE, (origin, float(until)))

    # --- All of it --------------------------------------------------------------------------------

    def entries(self) -> Iterator[Entry]:
        """Yield all entries, by origin."""
        last: Sequence[Any] = ("", "")
        while page := self._rows(tables.NEXT_ENTRIES, (*last, PAGE)):
            for *last, row in page:  # noqa: B007 - where the next page starts
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
        query = tables.NEXT_VISITS if origin is None else tables.NEXT_VISITS_OF
        at, number = float("-inf") if after is None else float(after), 0
        end = float("inf") if before is None else float(before)
        only = () if origin is None else (origin,)
        while page := self._rows(query, (*only, at, number, end, PAGE)):
            for where, at, number, row in page:  # noqa: B007 - where the next page starts
                visit = read_visit(row)
                if visit is None or (visit.origin, visit.at) != (where, at):
                    raise StoreError(
                        f"the visit to {where} at {at} is damaged in {self.name}: restore it, or "
                        "forget the evidence up to that moment"
                    )
                yield visit

    def add(self, fetch_records: Iterable[tuple[FetchRecord, bytes | None]]) -> int:
        """Add visits of elsewhere as evidence, without entries; return how many were new."""
        return sum(self._ask(_add, batch) for batch in batches(fetch_records))

    def prune(self, before: float) -> int:
        """Forget entries whose last visit is older; return how many. Evidence stays."""
        pruned = self._forget(tables.PRUNE_ENTRIES, before)
        self._forget(tables.PRUNE_TURNS, before)
        self._run(tables.PRUNE_LEASES, ())
        return pruned

    def prune_evidence(self, before: float) -> int:
        """Forget visits older than a moment, and bodies nobody needs; return how many visits."""
        pruned = self._forget(tables.PRUNE_VISITS, before)
        last = ""
        while end := self._rows(tables.NEXT_BODIES, (last, SHARE))[0][0]:
            self._ask(_sweep, last, end)
            last = end
        return pruned

    def _forget(self, query: str, before: float) -> int:
        """Delete in shares, so that no statement takes long."""
        forgotten = 0
        while share := self._run(query, {"before": float(before), "share": SHARE}):
            forgotten += share
        return forgotten

    def close(self) -> None:
        """Let go of all connections."""
        self._closed = True
        with self._lock:
            self._let_go()

    # --- The server -------------------------------------------------------------------------------

    def _rows(self, query: str, values: Any) -> list[tuple[Any, ...]]:
        return self._ask(lambda db: db.execute(query, values, binary=True).fetchall())

    def _run(self, query: str, values: Any) -> int:
        count: int = self._ask(lambda db: db.execute(query, values).rowcount)
        return count

    def _ask(self, ask: Callable[..., T], *values: Any) -> T:
        """Ask the server; whatever it does is an answer or a StoreError, and soon."""
        if self._closed:
            raise StoreError(f"{self.name} was closed: open another")
        self._away.check()
        started = time.monotonic()
        if not self._places.acquire(timeout=ANSWER):
            raise StoreError(f"{self.name} is busy: all {CONNECTIONS} connections are in use")
        try:
            answer = self._answer(ask, values)
        except psycopg.Error as error:
            raise self._away.record_failure(error, started, CURE) from None
        finally:
            self._places.release()
        self._away.record_success()
        return answer

    def _answer(self, ask: Callable[..., T], values: tuple[Any, ...]) -> T:
        # Every question may be asked twice: at worst a turn is taken that nobody uses.
        for again in (True, False):
            db, is_new = self._take()
            try:
                if not self._ready:
                    self._ready = _prepare(db, self.name)
                answer = ask(db, *values)
            except psycopg.errors.DeadlockDetected:
                db.close()
                if not again:
                    raise
            except psycopg.OperationalError:
                # A server that was restarted has closed this connection, and the idle ones too.
                gone = db.broken and not is_new
                db.close()
                if not (again and gone):
                    raise
                with self._lock:
                    self._let_go()
            except BaseException:
                db.close()  # nobody knows what it is in the middle of
                raise
            else:
                self._give_back(db)
                return answer
        raise AssertionError

    def _take(self) -> tuple[_Connection, bool]:
        """Return a connection that nobody uses, and whether it is a new one."""
        with self._lock:
            if self._process != os.getpid():
                # They are the parent's, and psycopg does not close those of another process.
                self._idle, self._process = [], os.getpid()
            if self._idle:
                return self._idle.pop(), False
        # Without prepared statements: a pooler in front may give each call another session.
        connect = _Connection.connect
        return connect(self._address, autocommit=True, prepare_threshold=None), True

    def _give_back(self, db: _Connection) -> None:
        with self._lock:
            if self._closed:
                db.close()
            else:
                self._idle.append(db)

    def _let_go(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def before_fork(self) -> None:
        """Let go of what is idle: two processes on one connection would mix their words."""
        self._held = self._lock.acquire(timeout=PATIENCE)
        if self._held:
            self._let_go()

    def after_fork(self) -> None:
        """Go on; in a child nobody else uses a connection."""
        if self._held:
            self._lock.release()
        if self._process != os.getpid():
            self._lock, self._places = Lock(), BoundedSemaphore(CONNECTIONS)


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
            f"{name} was made by a newer robotrules (its version is {version}, this one knows "
            f"{VERSION}): install the newer one here too, or use another database"
        )
    if version < VERSION:
        db.execute(tables.UPGRADE, {"version": VERSION})
    return True


def _add(db: _Connection, batch: list[tuple[FetchRecord, bytes | None]]) -> int:
    """Add visits in one transaction; sorted, so that two who add do not wait for each other."""
    new = 0
    with db.transaction(), db.cursor() as cursor:
        for with_body in (True, False):
            values = [_seen(*one) for one in batch if (one[1] is not None) is with_body]
            values.sort(key=lambda one: (one["digest"], one["origin"], one["at"]))
            if values:
                cursor.executemany(tables.add(with_body), values)
                new += cursor.rowcount
    return new


def _sweep(db: _Connection, first: str, last: str) -> None:
    with db.transaction():
        db.execute(tables.QUIET)
        db.execute(tables.SWEEP_BODIES, (first, last))


def _seen(visit: FetchRecord, body: bytes | None) -> dict[str, Any]:
    """Return a visit as the statements take it."""
    return identity_of(visit)._asdict() | {"row": visit_row(visit), "body": body}
