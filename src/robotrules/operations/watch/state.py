"""
The state of a watch: baselines, events and outboxes, in tables of the SQLite store.

The baseline of a target, its events and their places in the outbox of every channel are one
transaction, which waits for the disk. So an event is either not found yet, and the next look finds
it with the same id, or it is in the outboxes, and stays there until its channel has acknowledged
it. Nothing is delivered in between.

A watch has a name, so several may use one store. One process at a time has the lease of a watch,
and every transaction renews it; a process that has lost it, because its machine was asleep, writes
nothing more. Sections: opening · targets · the outbox · status.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple

from robotrules.cache import MAX_CLOCK_SKEW
from robotrules.client.lease_holders import is_dead, new_holder
from robotrules.client.stores import MemoryStore, SQLiteStore, open_store
from robotrules.client.stores.sqlite_tables import (
    ERRORS,
    HOLDER,
    LEASE,
    open_database,
    translate_error,
)
from robotrules.errors import StoreError
from robotrules.operations.watch.comparison import Baseline
from robotrules.operations.watch.events import WatchEvent, parse_event
from robotrules.operations.watch.observations import (
    FileObservation,
    observation_row,
    parse_observation,
)

# Seconds that the lease of a dead or sleeping process on another machine keeps others out.
LEASE_SECONDS = 600.0
BUSY_TIMEOUT = 10.0
# Events that are kept after delivery, for the feed and for `--status`.
MAX_EVENTS = 1_000
# Undelivered events of a channel; of more, the oldest are given up, which is reported.
MAX_PENDING = 100_000
_VERSION = 1

_TABLES = (
    """CREATE TABLE IF NOT EXISTS watch_names (
        watch TEXT NOT NULL PRIMARY KEY, version INTEGER NOT NULL, feed TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS watch_targets (
        watch TEXT NOT NULL, target TEXT NOT NULL, row TEXT NOT NULL, body BLOB,
        PRIMARY KEY (watch, target))""",
    """CREATE TABLE IF NOT EXISTS watch_events (
        number INTEGER PRIMARY KEY AUTOINCREMENT, watch TEXT NOT NULL, id TEXT NOT NULL,
        row TEXT NOT NULL, UNIQUE (watch, id))""",
    """CREATE TABLE IF NOT EXISTS watch_outbox (
        watch TEXT NOT NULL, channel TEXT NOT NULL, event INTEGER NOT NULL,
        attempts INTEGER NOT NULL, due REAL NOT NULL, PRIMARY KEY (watch, channel, event))""",
    """CREATE TABLE IF NOT EXISTS watch_channels (
        watch TEXT NOT NULL, channel TEXT NOT NULL, name TEXT NOT NULL, failures INTEGER NOT NULL,
        due REAL NOT NULL, error TEXT NOT NULL, delivered INTEGER NOT NULL,
        dropped INTEGER NOT NULL,
        note TEXT, PRIMARY KEY (watch, channel))""",
)


class LostLeaseError(StoreError):
    """Another process has taken over the watch; this one must end."""


class PendingEvent(NamedTuple):
    """An event in the outbox of a channel."""

    number: int
    event: WatchEvent
    attempts: int
    due: float


class ChannelState(NamedTuple):
    """The state of a channel."""

    key: str
    name: str
    failures: int
    """Failed deliveries in a row."""
    due: float
    """When to try again."""
    error: str
    """Why the last delivery failed; empty if it did not."""
    delivered: int
    dropped: int
    """Events that were given up because too many were pending."""
    pending: int

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return self._asdict()


class WatchState:
    """The state of one watch; safe to use from several threads."""

    def __init__(self, where: str | os.PathLike[str] | None, name: str = "default") -> None:
        """Open the store at *where*, an SQLite file; StoreError for another kind of store."""
        self.name = name
        self._lock = RLock()
        self._holder: str | None = None
        # Bodies of responses with no-store, which must not be written.
        self._bodies: dict[str, tuple[str | None, bytes]] = {}
        self.path = _sqlite_path(where)
        self._db = open_database(self.path, BUSY_TIMEOUT)
        try:
            self._db.execute("PRAGMA synchronous = FULL").fetchall()
            with self._write(fenced=False):
                for statement in _TABLES:
                    self._db.execute(statement)
                self._db.execute(
                    "INSERT INTO watch_names VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                    (name, _VERSION, str(uuid.uuid4())),
                )
            version, self.feed_id = self._one(
                "SELECT version, feed FROM watch_names WHERE watch = ?", name
            )
            if version > _VERSION:
                raise StoreError(
                    f"the watch {name!r} in {self.path} was written by a newer robotrules: upgrade "
                    "robotrules, or use another name"
                )
        except BaseException:
            self._db.close()
            raise

    # --- Opening ------------------------------------------------------------------------------

    @property
    def _key(self) -> str:
        return f"watch:{self.name}"

    def acquire(self) -> None:
        """Take the lease of this watch; StoreError if another process has it."""
        holder = new_holder()
        with self._write(fenced=False):
            found = self._db.execute(HOLDER, (self._key, time.time())).fetchone()
            if found and is_dead(str(found[0])):
                self._db.execute("DELETE FROM leases WHERE key = ?", (self._key,))
            if not self._renew(holder):
                raise StoreError(
                    f"another process{_process_of(str(found[0]) if found else '')} runs the watch "
                    f"{self.name!r} of {self.path}: stop it, or use another name"
                )
        self._holder = holder

    def renew(self) -> None:
        """Renew the lease; LostLeaseError if another process has taken it."""
        with self._write():
            pass

    def release(self) -> None:
        """Give the lease back."""
        holder, self._holder = self._holder, None
        if holder is not None:
            with self._write(fenced=False):
                self._db.execute(
                    "DELETE FROM leases WHERE key = ? AND holder = ?", (self._key, holder)
                )

    def close(self) -> None:
        """Release the lease and close the file."""
        with self._lock:
            try:
                self.release()
            finally:
                self._db.close()

    def __enter__(self) -> WatchState:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _renew(self, holder: str) -> bool:
        now = time.time()
        values = (self._key, holder, now, now + LEASE_SECONDS, now, now + MAX_CLOCK_SKEW)
        return self._db.execute(LEASE, values).rowcount > 0

    @contextmanager
    def _write(self, *, fenced: bool = True) -> Iterator[sqlite3.Connection]:
        """Write in one transaction; *fenced*: only while this process has the lease."""
        with self._lock:
            try:
                self._db.execute("BEGIN IMMEDIATE")
                if fenced and (self._holder is None or not self._renew(self._holder)):
                    raise LostLeaseError(
                        f"another process has taken over the watch {self.name!r} of {self.path}: "
                        "this one ends, and nothing is lost"
                    )
                yield self._db
                self._db.execute("COMMIT")
            except ERRORS as error:
                self._roll_back()
                raise translate_error(self.path, error) from error
            except BaseException:
                self._roll_back()
                raise

    def _roll_back(self) -> None:
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def _read(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock:
            try:
                return self._db.execute(query, values).fetchall()
            except ERRORS as error:
                raise translate_error(self.path, error) from error

    def _one(self, query: str, *values: Any) -> tuple[Any, ...]:
        found = self._read(query, *values)
        return found[0]

    # --- Targets ------------------------------------------------------------------------------

    def baseline(self, target: str) -> Baseline:
        """Return the baseline of a target; an empty one if it was never seen."""
        found = self._read(
            "SELECT row, body FROM watch_targets WHERE watch = ? AND target = ?", self.name, target
        )
        return self._parse(target, *found[0]) if found else Baseline()

    def _parse(self, target: str, row: str, body: bytes | None) -> Baseline:
        values = json.loads(row)
        seen = values.pop("observation")
        if seen is None:
            return Baseline(**values)
        digest, kept = self._bodies.get(target, (None, b""))
        if body is None and digest is not None and digest == seen.get("digest"):
            body = kept
        return Baseline(parse_observation(seen, body), **values)

    def record(
        self,
        target: str,
        baseline: Baseline,
        events: Sequence[WatchEvent],
        channels: Sequence[tuple[str, str]],
    ) -> int:
        """
        Commit a baseline with its events, for delivery to *channels*; return how many are new.

        *channels* are pairs of a key and a name.
        """
        seen, body = baseline.observation, None
        if isinstance(seen, FileObservation) and seen.body is not None:
            if seen.may_store:
                body = seen.body
                self._bodies.pop(target, None)
            else:
                self._bodies[target] = seen.digest, seen.body
        values = {
            **baseline._asdict(),
            "observation": None if seen is None else observation_row(seen),
        }
        new = 0
        with self._write() as db:
            db.execute(
                "INSERT OR REPLACE INTO watch_targets VALUES (?, ?, ?, ?)",
                (self.name, target, json.dumps(values), body),
            )
            for event in events:
                added = db.execute(
                    "INSERT INTO watch_events (watch, id, row) VALUES (?, ?, ?) "
                    "ON CONFLICT DO NOTHING",
                    (self.name, event.id, event.as_row()),
                )
                if added.rowcount < 1:
                    continue
                new += 1
                for key, _ in channels:
                    db.execute(
                        "INSERT INTO watch_outbox VALUES (?, ?, ?, 0, 0.0)",
                        (self.name, key, added.lastrowid),
                    )
            if new:
                for key, name in channels:
                    self._limit(db, key, name)
                self._forget_old_events(db)
        return new

    def _limit(self, db: sqlite3.Connection, key: str, name: str) -> None:
        """Give up the oldest events of a channel that has too many."""
        self._add_channel(db, key, name)
        (count,) = db.execute(
            "SELECT count(*) FROM watch_outbox WHERE watch = ? AND channel = ?", (self.name, key)
        ).fetchone()
        if count > MAX_PENDING:
            db.execute(
                "DELETE FROM watch_outbox WHERE rowid IN (SELECT rowid FROM watch_outbox "
                "WHERE watch = ? AND channel = ? ORDER BY event LIMIT ?)",
                (self.name, key, count - MAX_PENDING),
            )
            db.execute(
                "UPDATE watch_channels SET dropped = dropped + ? WHERE watch = ? AND channel = ?",
                (count - MAX_PENDING, self.name, key),
            )

    def _add_channel(self, db: sqlite3.Connection, key: str, name: str) -> None:
        db.execute(
            "INSERT INTO watch_channels VALUES (?, ?, ?, 0, 0.0, '', 0, 0, NULL) "
            "ON CONFLICT (watch, channel) DO UPDATE SET name = excluded.name",
            (self.name, key, name),
        )

    def _forget_old_events(self, db: sqlite3.Connection) -> None:
        db.execute(
            "DELETE FROM watch_events WHERE watch = ?1 AND number <= coalesce((SELECT number FROM "
            "watch_events WHERE watch = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2), -1) AND number "
            "NOT IN (SELECT event FROM watch_outbox WHERE watch = ?1)",
            (self.name, MAX_EVENTS),
        )

    # --- The outbox ---------------------------------------------------------------------------

    def pending(self, channel: str, now: float, most: int) -> list[PendingEvent]:
        """Return the oldest events of a channel that are due, at most so many."""
        rows = self._read(
            "SELECT o.event, e.row, o.attempts, o.due FROM watch_outbox o "
            "JOIN watch_events e ON e.number = o.event "
            "WHERE o.watch = ? AND o.channel = ? AND o.due <= ? ORDER BY o.event LIMIT ?",
            self.name,
            channel,
            now,
            most,
        )
        return [PendingEvent(number, parse_event(row), *rest) for number, row, *rest in rows]

    def events_by_number(self, numbers: Sequence[int]) -> list[WatchEvent]:
        """Return events by number, in this order; those that are gone are left out."""
        found = []
        for number in numbers:
            rows = self._read(
                "SELECT row FROM watch_events WHERE watch = ? AND number = ?", self.name, number
            )
            found += [parse_event(row) for (row,) in rows]
        return found

    def last_events(self, most: int) -> list[WatchEvent]:
        """Return the last events, the newest first."""
        rows = self._read(
            "SELECT row FROM watch_events WHERE watch = ? ORDER BY number DESC LIMIT ?",
            self.name,
            most,
        )
        return [parse_event(row) for (row,) in rows]

    def acknowledge(self, channel: str, numbers: Sequence[int]) -> None:
        """Remove delivered events from the outbox of a channel, and its note."""
        with self._write() as db:
            db.executemany(
                "DELETE FROM watch_outbox WHERE watch = ? AND channel = ? AND event = ?",
                [(self.name, channel, number) for number in numbers],
            )
            db.execute(
                "UPDATE watch_channels SET failures = 0, due = 0.0, error = '', note = NULL, "
                "delivered = delivered + ? WHERE watch = ? AND channel = ?",
                (len(numbers), self.name, channel),
            )
            self._forget_old_events(db)

    def postpone(
        self, channel: str, numbers: Sequence[int], *, until: float, error: str, whole: bool
    ) -> None:
        """Postpone events after a failed delivery; *whole*: the channel, and not these alone."""
        with self._write() as db:
            db.executemany(
                "UPDATE watch_outbox SET attempts = attempts + 1, due = ? "
                "WHERE watch = ? AND channel = ? AND event = ?",
                [(0.0 if whole else until, self.name, channel, number) for number in numbers],
            )
            db.execute(
                "UPDATE watch_channels SET failures = failures + ?, due = ?, error = ? "
                "WHERE watch = ? AND channel = ?",
                (int(whole), until if whole else 0.0, error, self.name, channel),
            )

    def put_note(self, channel: str, note: Any) -> None:
        """Store what a channel needs to know after a crash."""
        with self._write() as db:
            db.execute(
                "UPDATE watch_channels SET note = ? WHERE watch = ? AND channel = ?",
                (json.dumps(note), self.name, channel),
            )

    def note(self, channel: str) -> Any:
        """Return the note of a channel; None if there is none."""
        found = self._read(
            "SELECT note FROM watch_channels WHERE watch = ? AND channel = ?", self.name, channel
        )
        return json.loads(found[0][0]) if found and found[0][0] is not None else None

    def next_due(self, channel: str) -> float | None:
        """Return when a channel has something to deliver; None: nothing is pending."""
        ((due,),) = self._read(
            "SELECT min(max(o.due, coalesce(c.due, 0.0))) FROM watch_outbox o "
            "LEFT JOIN watch_channels c ON c.watch = o.watch AND c.channel = o.channel "
            "WHERE o.watch = ? AND o.channel = ?",
            self.name,
            channel,
        )
        return None if due is None else float(due)

    # --- Status -------------------------------------------------------------------------------

    def targets(self) -> list[tuple[str, Baseline]]:
        """Return all targets with their baselines, without the bodies of files."""
        rows = self._read(
            "SELECT target, row FROM watch_targets WHERE watch = ? ORDER BY target", self.name
        )
        return [(target, self._parse(target, row, None)) for target, row in rows]

    def channels(self) -> list[ChannelState]:
        """Return the state of all channels."""
        rows = self._read(
            "SELECT c.channel, c.name, c.failures, c.due, c.error, c.delivered, c.dropped, "
            "(SELECT count(*) FROM watch_outbox o WHERE o.watch = c.watch "
            "AND o.channel = c.channel) FROM watch_channels c WHERE c.watch = ? ORDER BY c.channel",
            self.name,
        )
        return [ChannelState(*row) for row in rows]

    def holder(self) -> str | None:
        """Return in words which process runs this watch; None if none does."""
        found = self._read(HOLDER, self._key, time.time())
        if not found or is_dead(str(found[0][0])):
            return None
        return f"process{_process_of(str(found[0][0]))}"


def _process_of(holder: str) -> str:
    """Return the process id in the name of a holder, for a message."""
    parts = holder.split(".")
    return f" {parts[1]}" if len(parts) == 5 and parts[1].isdecimal() else ""


def _sqlite_path(where: str | os.PathLike[str] | None) -> Path:
    """Return the path of the store's file; StoreError if it has none."""
    store = open_store(where, lazy=True)
    close = getattr(store, "close", None)
    if close is not None:
        close()
    if isinstance(store, SQLiteStore):
        return store.path
    if isinstance(store, MemoryStore):
        raise StoreError(
            "a watch keeps its state in the store, and a memory store forgets it: use the path of "
            "an SQLite file"
        )
    raise StoreError(
        f"a watch keeps its state in an SQLite store, not in {store.name}: use the path of a file"
    )
