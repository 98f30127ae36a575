"""
Tables and statements of the SQLite store, and how its file is recognised, created and opened.

A file is recognised by its header (`application_id`); its version is `user_version`. Two processes
may create the same file at the same time. SQLite's errors are translated here. The content of rows
is not interpreted here.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from robotrules.cache import MAX_CLOCK_SKEW
from robotrules.client.stores.nonblocking import is_nonblocking
from robotrules.client.stores.serialization import VERSION
from robotrules.errors import StoreBusyError, StoreError

# `rbtr`, as `file` and SQLite's own tools show it.
APPLICATION_ID = int.from_bytes(b"rbtr", "big")
# After a long transaction the log is truncated to this many bytes.
LOG_LIMIT = 16 * 1024 * 1024
# The log is copied into the file, which waits for the disk, at this many pages of 4 KiB.
# With SQLite's default of 1,000 a crawl copies pages more often, and a put takes a third longer.
CHECKPOINT = LOG_LIMIT // 4096
# Page cache of a connection, in KiB.
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
    # Each record is stored once; those of an origin are read in chronological order.
    "CREATE UNIQUE INDEX visits_once ON visits (origin, at, agent, digest, status)",
    "CREATE INDEX visits_at ON visits (at)",
    # References to bodies: see SWEEP_BODIES.
    "CREATE INDEX visits_digest ON visits (digest) WHERE digest <> ''",
    "CREATE INDEX entries_digest ON entries (digest) WHERE digest <> ''",
)

ADD_RECORD = """INSERT INTO visits (origin, at, agent, digest, status, row)
    VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"""
# A client's record replaces the same record imported before.
PUT_RECORD = ADD_RECORD.replace(
    "DO NOTHING",
    "(origin, at, agent, digest, status) DO UPDATE SET row = excluded.row "
    "WHERE row IS NOT excluded.row",
)
# The next fetch of a damaged body repairs it.
ADD_BODY = """INSERT INTO bodies (digest, octets) VALUES (?, ?)
    ON CONFLICT (digest) DO UPDATE SET octets = excluded.octets
    WHERE octets IS NOT excluded.octets"""
# A time far in the future was stored before the clock was set back.
PUT_ENTRY = f"""INSERT INTO entries (origin, agent, last, digest, row) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (origin, agent)
    DO UPDATE SET last = excluded.last, digest = excluded.digest, row = excluded.row
    WHERE last <= excluded.last OR last > excluded.last + {MAX_CLOCK_SKEW}"""
DELETE_ENTRY = f"""DELETE FROM entries WHERE origin = ?1 AND agent = ?2
    AND (last <= ?3 OR last > ?3 + {MAX_CLOCK_SKEW})"""

LEASE = """INSERT INTO leases (key, holder, taken, until) VALUES (?, ?, ?, ?)
    ON CONFLICT (key)
    DO UPDATE SET holder = excluded.holder, taken = excluded.taken, until = excluded.until
    WHERE holder = excluded.holder OR until <= ? OR taken > ?"""
HOLDER = "SELECT holder FROM leases WHERE key = ? AND until > ?"
GET_SLOT = "SELECT last, earliest FROM turns WHERE origin = ?"
SET_SLOT = """INSERT INTO turns (origin, last, earliest) VALUES (?, ?, ?)
    ON CONFLICT (origin) DO UPDATE SET last = excluded.last, earliest = excluded.earliest"""

NEXT_ENTRIES = """SELECT origin, agent, row FROM entries WHERE (origin, agent) > (?, ?)
    ORDER BY origin, agent LIMIT ?"""
NEXT_RECORDS = """SELECT at, number, origin, row FROM visits
    WHERE (at, number) > (?, ?) AND at <= ? ORDER BY at, number LIMIT ?"""
NEXT_RECORDS_OF = """SELECT at, number, origin, row FROM visits
    WHERE origin = ? AND (at, number) > (?, ?) AND at <= ? ORDER BY at, number LIMIT ?"""
NEXT_BODIES = "SELECT digest FROM bodies WHERE digest > ? ORDER BY digest LIMIT ?"

PRUNE_ENTRIES = """DELETE FROM entries
    WHERE rowid IN (SELECT rowid FROM entries WHERE last < ? LIMIT ?)"""
PRUNE_SLOTS = """DELETE FROM turns
    WHERE rowid IN (SELECT rowid FROM turns WHERE max(last, earliest) < ? LIMIT ?)"""
PRUNE_LEASES = """DELETE FROM leases
    WHERE rowid IN (SELECT rowid FROM leases WHERE until <= ? LIMIT ?)"""
PRUNE_RECORDS = """DELETE FROM visits
    WHERE number IN (SELECT number FROM visits WHERE at < ? ORDER BY at LIMIT ?)"""
SWEEP_BODIES = """DELETE FROM bodies WHERE digest > ? AND digest <= ?
    AND NOT EXISTS (SELECT 1 FROM visits WHERE visits.digest = bodies.digest AND digest <> '')
    AND NOT EXISTS (SELECT 1 FROM entries WHERE entries.digest = bodies.digest AND digest <> '')"""


# SQLite may return invalid text from a damaged file.
ERRORS = (sqlite3.Error, UnicodeDecodeError)


def open_database(path: Path, seconds: float) -> sqlite3.Connection:
    """Open the file, created if missing; StoreError for a file of another program."""
    # Never read the file with `open`: closing it would release all locks that this process has on
    # it, including those of other connections (POSIX).
    _create_file(path)
    try:
        db = sqlite3.connect(path, timeout=seconds, isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise translate_error(path, error) from error
    try:
        deadline = time.monotonic() + seconds
        while not _is_ready(db, path):
            try:
                _create_tables(db)
            except sqlite3.OperationalError as error:
                # Another process creates it: SQLite does not wait for some locks.
                if not _is_busy(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.005)
        (log,) = db.execute("PRAGMA journal_mode").fetchone()
        for pragma in (
            # On a file system without WAL support, NORMAL is not safe.
            f"synchronous = {'NORMAL' if log == 'wal' else 'FULL'}",
            f"journal_size_limit = {LOG_LIMIT}",
            f"cache_size = -{CACHE}",
            f"wal_autocheckpoint = {CHECKPOINT}",
        ):
            db.execute(f"PRAGMA {pragma}").fetchall()
    except ERRORS as error:
        db.close()
        raise translate_error(path, error) from error
    except BaseException:
        db.close()
        raise
    return db


def _create_file(path: Path) -> None:
    """
    Create a file that only its owner may read, if there is none; SQLite gives its log that mode.

    An existing file keeps its mode: its owner may share it with a group. The new file gets its
    name after it is closed, because closing a file releases all locks that other threads have on
    it (POSIX). On a file system without hard links it gets its name at once: a thread that opens
    it before it is closed may lose its locks, but other users can never read the file. An error
    here occurs in SQLite as well, which reports it.
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
    """Return whether a file has the tables; False: it is empty. StoreError: another program's."""
    if not os.access(path, os.W_OK):
        # SQLite would open it read-only, and fail at the first put.
        raise StoreError(f"{path} is not writable: check its owner, or use another file")
    db.execute("BEGIN")  # a consistent read
    try:
        (application,) = db.execute("PRAGMA application_id").fetchone()
        (version,) = db.execute("PRAGMA user_version").fetchone()
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
    finally:
        db.execute("ROLLBACK")
    if application != APPLICATION_ID:
        if application or version or tables:
            raise StoreError(f"{path} is a database of another program: use another file")
        return False
    if version > VERSION:
        raise StoreError(
            f"{path} was created by a newer robotrules (version {version}; this one supports "
            f"{VERSION}): upgrade robotrules, or use another file"
        )
    if version < 1 or not TABLES.keys() <= tables:
        raise StoreError(f"{path} is damaged: restore a copy, or remove it")
    if version < VERSION:
        _upgrade(db)
    return True


def _upgrade(db: sqlite3.Connection) -> None:
    """Upgrade a file of an older version; `serialization.VERSION` lists the differences."""
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


def _create_tables(db: sqlite3.Connection) -> None:
    """Create the tables in an empty file; another process may do the same."""
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


# What is wrong and how to fix it, by prefix of SQLite's error code.
FIXS = (
    (
        ("SQLITE_BUSY", "SQLITE_LOCKED"),
        "is busy",
        "another process holds the write lock; wait for it",
    ),
    (("SQLITE_FULL",), "has no space", "free disk space, or prune the store"),
    (
        ("SQLITE_NOTADB",),
        "is not a database",
        "it is damaged or of another program; use another file",
    ),
    (("SQLITE_CORRUPT",), "is damaged", "restore a copy, or remove it"),
    (("SQLITE_READONLY", "SQLITE_PERM", "SQLITE_AUTH"), "is not writable", "check its owner"),
    (("SQLITE_CANTOPEN",), "cannot be opened", "check that it and its folder are writable"),
    (("SQLITE_IOERR",), "cannot be read or written", "check the disk"),
)


def translate_error(path: Path, error: sqlite3.Error | UnicodeDecodeError) -> StoreError:
    """Translate an error of SQLite: what is wrong, where, and how to fix it."""
    code = _code(error) if isinstance(error, sqlite3.Error) else "SQLITE_CORRUPT"
    if is_nonblocking() and isinstance(error, sqlite3.Error) and _is_busy(error):
        return StoreBusyError(f"{path} is busy ({error}): repeat the call outside nonblocking()")
    for starts, what, cure in FIXS:
        if code.startswith(starts):
            return StoreError(f"{path} {what} ({error}): {cure}")
    return StoreError(f"{path} cannot be used: {error}")
