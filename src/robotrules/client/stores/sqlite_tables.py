"""
The tables of the SQLite store: how a file is known as ours, made and opened, and what is asked.

A file is ours if its header says so (`application_id`); its version is `user_version`. Two
processes may make the same file at the same moment. SQLite's errors become words here. It does not
know what is in a row.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from robotrules.cache import MAX_CLOCK_SKEW
from robotrules.client.stores.nonblocking import is_hurried
from robotrules.client.stores.serialization import VERSION
from robotrules.errors import StoreBusyError, StoreError

# `rbtr`, as `file` and SQLite's own tools show it.
APPLICATION_ID = int.from_bytes(b"rbtr", "big")
# What a long transaction leaves of the log is cut to this many octets.
LOG_LIMIT = 16 * 1024 * 1024
# The log is copied into the file, which waits for the disk, when it has so many pages of 4 KiB.
# With SQLite's 1,000 a crawl copies the same pages more often, and a put takes a third longer.
CHECKPOINT = LOG_LIMIT // 4096
# Pages that a connection keeps in memory, in KiB.
CACHE = 8 * 1024

# Tables with a rowid: an entry is about 1 KB, and a tree whose nodes hold whole entries is three
# times as large and half as fast.
TABLES = {
    "entries": """CREATE TABLE entries (
        origin TEXT NOT NULL, agent TEXT NOT NULL, last REAL NOT NULL, digest TEXT NOT NULL,
        row BLOB NOT NULL, PRIMARY KEY (origin, agent))""",
    "bodies": "CREATE TABLE bodies (digest TEXT NOT NULL PRIMARY KEY, octets BLOB NOT NULL)",
    "visits": """CREATE TABLE visits (
        number INTEGER PRIMARY KEY, origin TEXT NOT NULL, at REAL NOT NULL, agent TEXT NOT NULL,
        digest TEXT NOT NULL, status INTEGER NOT NULL, row BLOB NOT NULL)""",
    "leases": """CREATE TABLE leases (
        key TEXT NOT NULL PRIMARY KEY, holder TEXT NOT NULL, taken REAL NOT NULL,
        until REAL NOT NULL)""",
    "turns": """CREATE TABLE turns (
        origin TEXT NOT NULL PRIMARY KEY, last REAL NOT NULL, earliest REAL NOT NULL)""",
}
INDEXES = (
    # A visit is there once; and those of an origin are found in the order of their time.
    "CREATE UNIQUE INDEX visits_once ON visits (origin, at, agent, digest, status)",
    "CREATE INDEX visits_at ON visits (at)",
    # Who needs a body: see SWEEP_BODIES.
    "CREATE INDEX visits_digest ON visits (digest) WHERE digest <> ''",
    "CREATE INDEX entries_digest ON entries (digest) WHERE digest <> ''",
)

ADD_VISIT = """INSERT INTO visits (origin, at, agent, digest, status, row)
    VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"""
# An own visit takes the place of the same one that was imported before.
PUT_VISIT = ADD_VISIT.replace(
    "DO NOTHING",
    "(origin, at, agent, digest, status) DO UPDATE SET row = excluded.row "
    "WHERE row IS NOT excluded.row",
)
# A body that came to harm is mended by the next visit that brings it.
ADD_BODY = """INSERT INTO bodies (digest, octets) VALUES (?, ?)
    ON CONFLICT (digest) DO UPDATE SET octets = excluded.octets
    WHERE octets IS NOT excluded.octets"""
# What is far in the future was put before the clock was set back.
PUT_ENTRY = f"""INSERT INTO entries (origin, agent, last, digest, row) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (origin, agent)
    DO UPDATE SET last = excluded.last, digest = excluded.digest, row = excluded.row
    WHERE last <= excluded.last OR last > excluded.last + {MAX_CLOCK_SKEW}"""
FORGET_ENTRY = f"""DELETE FROM entries WHERE origin = ?1 AND agent = ?2
    AND (last <= ?3 OR last > ?3 + {MAX_CLOCK_SKEW})"""

LEASE = """INSERT INTO leases (key, holder, taken, until) VALUES (?, ?, ?, ?)
    ON CONFLICT (key)
    DO UPDATE SET holder = excluded.holder, taken = excluded.taken, until = excluded.until
    WHERE holder = excluded.holder OR until <= ? OR taken > ?"""
HOLDER = "SELECT holder FROM leases WHERE key = ? AND until > ?"
TURN = "SELECT last, earliest FROM turns WHERE origin = ?"
NOTE_TURN = """INSERT INTO turns (origin, last, earliest) VALUES (?, ?, ?)
    ON CONFLICT (origin) DO UPDATE SET last = excluded.last, earliest = excluded.earliest"""

NEXT_ENTRIES = """SELECT origin, agent, row FROM entries WHERE (origin, agent) > (?, ?)
    ORDER BY origin, agent LIMIT ?"""
NEXT_VISITS = """SELECT at, number, origin, row FROM visits
    WHERE (at, number) > (?, ?) AND at <= ? ORDER BY at, number LIMIT ?"""
NEXT_VISITS_OF = """SELECT at, number, origin, row FROM visits
    WHERE origin = ? AND (at, number) > (?, ?) AND at <= ? ORDER BY at, number LIMIT ?"""
NEXT_BODIES = "SELECT digest FROM bodies WHERE digest > ? ORDER BY digest LIMIT ?"

PRUNE_ENTRIES = """DELETE FROM entries
    WHERE rowid IN (SELECT rowid FROM entries WHERE last < ? LIMIT ?)"""
PRUNE_TURNS = """DELETE FROM turns
    WHERE rowid IN (SELECT rowid FROM turns WHERE max(last, earliest) < ? LIMIT ?)"""
PRUNE_LEASES = """DELETE FROM leases
    WHERE rowid IN (SELECT rowid FROM leases WHERE until <= ? LIMIT ?)"""
PRUNE_VISITS = """DELETE FROM visits
    WHERE number IN (SELECT number FROM visits WHERE at < ? ORDER BY at LIMIT ?)"""
SWEEP_BODIES = """DELETE FROM bodies WHERE digest > ? AND digest <= ?
    AND NOT EXISTS (SELECT 1 FROM visits WHERE visits.digest = bodies.digest AND digest <> '')
    AND NOT EXISTS (SELECT 1 FROM entries WHERE entries.digest = bodies.digest AND digest <> '')"""


# A damaged file may make SQLite say what is no text.
ERRORS = (sqlite3.Error, UnicodeDecodeError)


def opened(path: Path, seconds: float) -> sqlite3.Connection:
    """Return a connection to a file of ours, made if it is not there; StoreError: it is not."""
    # Never look into the file with `open`: to close it again would let go of all locks that this
    # process has on it, through other connections too (POSIX).
    _create(path)
    try:
        db = sqlite3.connect(path, timeout=seconds, isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise trouble(path, error) from error
    try:
        deadline = time.monotonic() + seconds
        while not _is_ready(db, path):
            try:
                _make(db)
            except sqlite3.OperationalError as error:
                # Another process makes it: some locks are not waited for by SQLite itself.
                if not _is_busy(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.005)
        (log,) = db.execute("PRAGMA journal_mode").fetchone()
        for pragma in (
            # Without a log, where a file system cannot have one, less is not safe.
            f"synchronous = {'NORMAL' if log == 'wal' else 'FULL'}",
            f"journal_size_limit = {LOG_LIMIT}",
            f"cache_size = -{CACHE}",
            f"wal_autocheckpoint = {CHECKPOINT}",
        ):
            db.execute(f"PRAGMA {pragma}").fetchall()
    except ERRORS as error:
        db.close()
        raise trouble(path, error) from error
    except BaseException:
        db.close()
        raise
    return db


def _create(path: Path) -> None:
    """
    Create a file that its owner alone may read, if there is none; SQLite gives its log that mode.

    A file that is there keeps its mode: its owner may share it with a group. The new file gets its
    name when it is closed already, because to close a file lets go of all locks that other threads
    have on it (POSIX). On a file system without hard links it gets its name at once: a thread that
    opens it in the moment until it is closed may lose its locks, and others can never read the
    file. What fails here fails in SQLite too, which says why.
    """
    whole = os.path.realpath(path)
    if os.path.exists(whole):
        return
    new = f"{whole}.{token_hex(8)}"
    only_new = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with suppress(OSError):
        os.close(os.open(new, only_new, 0o600))
        try:
            os.link(new, whole)
        except FileExistsError:
            pass
        except OSError:
            os.close(os.open(whole, only_new, 0o600))
        finally:
            os.unlink(new)


def _is_ready(db: sqlite3.Connection, path: Path) -> bool:
    """Tell whether a file has our tables; False: it is empty. StoreError: it is not ours."""
    if not os.access(path, os.W_OK):
        # SQLite would open it to be read, and say so at the first put.
        raise StoreError(f"{path} may not be written: check its owner, or name another file")
    db.execute("BEGIN")  # all of it at one moment
    try:
        (application,) = db.execute("PRAGMA application_id").fetchone()
        (version,) = db.execute("PRAGMA user_version").fetchone()
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
    finally:
        db.execute("ROLLBACK")
    if application != APPLICATION_ID:
        if application or version or tables:
            raise StoreError(f"{path} is a database of another program: name another file")
        return False
    if version > VERSION:
        raise StoreError(
            f"{path} was made by a newer robotrules (its version is {version}, this one knows "
            f"{VERSION}): install the newer one here too, or name another file"
        )
    if version < 1 or not TABLES.keys() <= tables:
        raise StoreError(f"{path} is damaged: put a copy in its place, or remove it")
    if version < VERSION:
        _upgrade(db)
    return True


def _upgrade(db: sqlite3.Connection) -> None:
    """Make a file of an older version one of this; `rows.VERSION` says what differs."""
    db.execute("BEGIN IMMEDIATE")
    try:
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version < VERSION:
            db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _make(db: sqlite3.Connection) -> None:
    """Make the tables in an empty file; somebody else may be doing the same."""
    db.execute("PRAGMA auto_vacuum = INCREMENTAL").fetchall()
    db.execute("PRAGMA journal_mode = WAL").fetchall()
    db.execute("BEGIN IMMEDIATE")
    try:
        if db.execute("PRAGMA application_id").fetchone() == (0,):
            for statement in (*TABLES.values(), *INDEXES):
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {VERSION}")
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _is_busy(error: sqlite3.Error) -> bool:
    return _code(error).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def _code(error: sqlite3.Error) -> str:
    return getattr(error, "sqlite_errorname", "") or ""


# What SQLite says, by the start of its code, and the cure.
CURES = (
    (("SQLITE_BUSY", "SQLITE_LOCKED"), "is busy", "another process writes and does not end"),
    (("SQLITE_FULL",), "has no room", "make room on the disk, or prune the store"),
    (("SQLITE_NOTADB",), "is no database", "it is damaged, or not ours: name another file"),
    (("SQLITE_CORRUPT",), "is damaged", "put a copy in its place, or remove it"),
    (("SQLITE_READONLY", "SQLITE_PERM", "SQLITE_AUTH"), "may not be written", "check its owner"),
    (("SQLITE_CANTOPEN",), "cannot be opened", "check that it and its folder may be written"),
    (("SQLITE_IOERR",), "cannot be read or written", "check the disk"),
)


def trouble(path: Path, error: sqlite3.Error | UnicodeDecodeError) -> StoreError:
    """Return an error of SQLite in our words: what, where, and the cure."""
    code = _code(error) if isinstance(error, sqlite3.Error) else "SQLITE_CORRUPT"
    if is_hurried() and isinstance(error, sqlite3.Error) and _is_busy(error):
        return StoreBusyError(f"{path} is busy ({error}): ask again without a hurry")
    for starts, what, cure in CURES:
        if code.startswith(starts):
            return StoreError(f"{path} {what} ({error}): {cure}")
    return StoreError(f"{path} cannot be used: {error}")
