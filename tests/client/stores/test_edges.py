"""Edge cases of stores: exact time bounds, missing values, and errors on misuse."""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest

from robotrules.cache import Store, body_digest, updated_entry
from robotrules.client.stores import (
    MemoryStore,
    SQLiteStore,
    default_path,
    memory,
    open_store,
    serialization,
    sqlite,
    sqlite_tables,
)
from robotrules.client.stores.nonblocking import nonblocking
from robotrules.client.stores.pacing import PacingState
from robotrules.errors import MissingExtraError, StoreBusyError, StoreError
from tests.client.servers import free_port
from tests.client.stores.sample_records import AGENT, BODY, NOW, ORIGIN, made

OTHER = "https://other.example"


def words_of(error: type[Exception], act: Callable[[], object]) -> str:
    """Return the words of the error that something raises."""
    with pytest.raises(error) as caught:
        act()
    return str(caught.value)


class TestAllStores:
    """All of them do the same."""

    def test_to_forget_what_is_not_known(self, store: Store) -> None:
        """A fetch record without an entry is stored, whether or not there was an entry."""
        store.put(made(), None, None)
        assert store.get(ORIGIN, AGENT) is None
        assert list(store.fetch_records()) == [made()]

    def test_release_of_a_lease_that_is_not_taken(self, store: Store) -> None:
        """Nothing happens, whatever the holder is called."""
        for holder in ("me", "", "XXXX"):
            store.release("key", holder)
        assert store.holder("key") is None

    def test_the_first_fetch_at_the_exact_bound(self, store: Store) -> None:
        """A range that starts or ends at the time of a fetch includes it."""
        store.add([(made(), None)])
        for after, before in ((NOW, None), (None, NOW), (NOW, NOW)):
            assert list(store.fetch_records(after=after, before=before)) == [made()]
            assert list(store.fetch_records(ORIGIN, after=after, before=before)) == [made()]

    def test_an_entry_of_failures_alone(self, store: Store) -> None:
        """A server that has never answered is known too."""
        failed = made(NOW, None)
        entry = updated_entry(None, failed)
        assert entry.last_success is None
        store.put(failed, None, entry)
        assert store.get(ORIGIN, AGENT) == entry
        assert list(store.entries()) == [entry]

    def test_which_entry_is_newer(self, store: Store) -> None:
        """The last visit of the entry says so, and does not match that is put with it."""
        first = updated_entry(None, made(NOW + 10))
        store.put(made(NOW), BODY, first)
        store.put(made(NOW + 6), BODY, updated_entry(None, made(NOW + 6)))
        assert store.get(ORIGIN, AGENT) == first
        late = updated_entry(None, made(NOW + 20))
        store.put(made(NOW + 5), BODY, late)
        assert store.get(ORIGIN, AGENT) == late

    def test_what_is_left_of_an_origin(self, store: Store) -> None:
        """Its later visits are still its visits."""
        for n in range(3):
            store.put(made(NOW + n), BODY, None)
            store.put(made(NOW + n, origin=OTHER), BODY, None)
        assert store.prune_evidence(NOW + 1) == 2
        for origin in (ORIGIN, OTHER):
            assert [fetch_record.at - NOW for fetch_record in store.fetch_records(origin)] == [1, 2]
        assert store.body(body_digest(BODY)) == BODY

    def test_fetches_with_and_without_a_body(self, store: Store) -> None:
        """All that are added at once are counted."""
        added = [(made(NOW + n), BODY if n % 2 else None) for n in range(5)]
        assert store.add(added) == 5
        assert store.add([*added, (made(NOW + 9), BODY), (made(NOW + 8), None)]) == 2

    def test_slots_of_that_time_remain(self, store: Store) -> None:
        """Those before it go."""
        for origin in (ORIGIN, OTHER):
            store.begin_slot(origin, NOW if origin == ORIGIN else NOW - 1, 0)
        store.prune(NOW)
        assert store.begin_slot(ORIGIN, NOW + 1, 10) == NOW + 10
        if not store.name.startswith("Redis"):  # where slots expire by themselves
            assert store.begin_slot(OTHER, NOW + 1, 10) == NOW + 1

    def test_moments_without_end(self, store: Store) -> None:
        """A visit may hold for ever, or never have held."""
        for at, until in ((NOW, inf), (NOW + 1, -inf)):
            store.add([(made(at, until=until), None)])
        assert [fetch_record.until for fetch_record in store.fetch_records()] == [inf, -inf]

    def test_misuse(self, store: Store) -> None:
        """The message names the problem, the place and the fix."""
        words = (
            f"a slot of {ORIGIN} at nan, 1 seconds after the last: use finite numbers, "
            "and an interval of 0 or more"
        )
        assert words_of(ValueError, lambda: store.reserve_slot(ORIGIN, nan, 1)) == words
        assert words_of(ValueError, lambda: store.begin_slot(ORIGIN, nan, 1)) == words
        words = "a lease of inf seconds on 'key': use a finite number above 0"
        assert words_of(ValueError, lambda: store.lease("key", "me", inf)) == words


class TestMisuse:
    """What no store takes."""

    @pytest.mark.parametrize(
        ("changes", "body", "words"),
        [
            (
                {"agent": "a\n"},
                None,
                f"a fetch of '{ORIGIN}' by 'a\\n': control characters are not allowed in an "
                "origin or agent; pass the product token of the crawler as agent",
            ),
            (
                {"digest": "abc"},
                None,
                f"the fetch of {ORIGIN} has the digest 'abc': use body_digest(body)",
            ),
            ({"at": nan}, None, f"the fetch of {ORIGIN} has no time: `at` is nan"),
            (
                {},
                b"another",
                f"the body for {ORIGIN} does not match the digest of its record: use "
                "body_digest(body) as its digest, or pass None as the body",
            ),
        ],
    )
    def test_fetches(self, changes: dict[str, Any], body: bytes | None, words: str) -> None:
        """Each has its words."""
        assert (
            words_of(ValueError, lambda: serialization.vet_record(made(**changes), body)) == words
        )
        assert words_of(ValueError, lambda: serialization.vet_own(made(**changes), body)) == words

    def test_imported_fetches(self) -> None:
        """Imported fetches are not own fetches."""
        from robotrules.cache import Provenance

        given = made(provenance=Provenance("x.warc", "0" * 64, NOW))
        assert words_of(ValueError, lambda: serialization.vet_own(given, None)) == (
            f"the fetch of {ORIGIN} was imported from 'x.warc': put() stores fetches of "
            "clients; use add()"
        )

    def test_no_number(self) -> None:
        """JSON has none for it."""
        words = "a time is NaN: pass seconds since 1970"
        assert (
            words_of(ValueError, lambda: serialization.serialize_record(made(until=nan))) == words
        )

    def test_moments_in_rows(self) -> None:
        """What is infinite is a word there, and a number again."""
        for at in (inf, -inf):
            found = serialization.parse_record(serialization.serialize_record(made(at, until=at)))
            assert found is not None
            assert (found.at, found.until) == (at, at)


class TestRows:
    """What visits are known by, and how many are written in one go."""

    def test_identity(self) -> None:
        """Where there was no file and no answer, that stands for it."""
        assert serialization.record_identity(made()) == (ORIGIN, NOW, AGENT, body_digest(BODY), 200)
        assert serialization.record_identity(made(body=None)) == (ORIGIN, NOW, AGENT, "", 0)

    @pytest.mark.parametrize(
        ("octets", "sizes"),
        [(2 * len(BODY), [2] * 3), (2 * len(BODY) + 1, [3, 3]), (2 * len(BODY) - 1, [2] * 3)],
    )
    def test_batches(self, octets: int, sizes: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
        """A batch ends with the octets that fill it."""
        monkeypatch.setattr(serialization, "_BATCH_BYTES", octets)
        given = [(made(NOW + n), BODY) for n in range(6)]
        assert [len(batch) for batch in serialization.split_batches(given)] == sizes
        assert [one for batch in serialization.split_batches(given) for one in batch] == given

    def test_batches_of_fetches_alone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without files their number counts."""
        monkeypatch.setattr(serialization, "_BATCH_RECORDS", 2)
        given = [(made(NOW + n), None) for n in range(5)]
        assert [len(batch) for batch in serialization.split_batches(given)] == [2, 2, 1]


class TestSQLite:
    """The store in a file, to the word."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[SQLiteStore]:
        """A store with one fetch record."""
        store = SQLiteStore(tmp_path / "a.sqlite")
        store.put(made(), BODY, updated_entry(None, made()))
        yield store
        store.close()

    def test_damaged_fetches(self, store: SQLiteStore) -> None:
        """Which, where, and what to do."""
        with sqlite3.connect(store.path) as db:
            db.execute("UPDATE visits SET row = x'00'")
        assert words_of(StoreError, lambda: list(store.fetch_records())) == (
            f"the fetch record of {ORIGIN} at {NOW} is damaged in {store.path}: restore a copy "
            "of the file, or prune the evidence up to that time"
        )

    @pytest.mark.parametrize(
        "pages",
        [
            [[("a", "b", b"")], [("a", "b", b"")]],
            [[("b", "b", b"")], [("a", "b", b"")]],
            [[("a", 5, b"")]],
        ],
    )
    def test_an_index_that_leads_in_a_circle(
        self, store: SQLiteStore, pages: list[Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It is not followed."""
        coming = iter([*pages, []])
        monkeypatch.setattr(store, "_read", lambda *_: next(coming))
        assert words_of(StoreError, lambda: list(store.entries())) == (
            f"an index is damaged in {store.path}: restore a copy of the file, or prune the "
            "evidence up to that time"
        )

    def test_a_table_that_is_gone(self, store: SQLiteStore) -> None:
        """The message of SQLite, and the path."""
        assert store.get(ORIGIN, AGENT) is not None
        with sqlite3.connect(store.path) as db:
            db.execute("DROP TABLE entries")
        words = f"{store.path} cannot be used: no such table: entries"
        assert words_of(StoreError, lambda: store.get(ORIGIN, AGENT)) == words
        put: Callable[[], object] = lambda: store.put(made(NOW + 1), None, None)  # noqa: E731
        assert words_of(StoreError, put) == words

        def within() -> None:
            with store.transaction():
                store.lease("key", "me", 5)
                store.get(ORIGIN, AGENT)

        assert words_of(StoreError, within) == words
        assert store.holder("key") is None

    def test_leases_that_ended_are_forgotten(
        self, store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """When the store is pruned; those that are held stay."""
        now = [NOW]
        monkeypatch.setattr(time, "time", lambda: now[0])
        assert store.lease("short", "me", 5)
        assert store.lease("long", "me", 50)
        now[0] += 5
        store.prune(0)
        assert store._read("SELECT key FROM leases") == [("long",)]

    def test_files_that_are_not_ours(self, tmp_path: Path) -> None:
        """Each has its words."""
        path = tmp_path / "b.sqlite"
        for statement, words in (
            ("CREATE TABLE x (y)", "is a database of another program: use another file"),
            ("PRAGMA user_version = 99", None),
            ("DROP TABLE turns", "is damaged: restore a copy, or remove it"),
            ("PRAGMA user_version = 0", "is damaged: restore a copy, or remove it"),
        ):
            path.unlink(missing_ok=True)
            if not statement.startswith("CREATE"):
                SQLiteStore(path).close()
            with sqlite3.connect(path) as db:
                db.execute(statement)
            db.close()
            newer = (
                "was created by a newer robotrules (version 99; this one supports "
                f"{serialization.VERSION}): upgrade robotrules, or use another file"
            )
            expected = f"{path} {words or newer}"
            assert words_of(StoreError, lambda: SQLiteStore(path)) == expected

    def test_paths_that_are_not_files(self, tmp_path: Path) -> None:
        """A folder in its place, and a file in the place of its folder."""
        words = f"{tmp_path} is a folder: use the path of a file in it"
        assert words_of(StoreError, lambda: SQLiteStore(tmp_path)) == words
        (tmp_path / "file").touch()
        assert words_of(StoreError, lambda: SQLiteStore(tmp_path / "file" / "x")) == (
            f"the folder {tmp_path / 'file'} cannot be created or read: File exists; use "
            "another path, or set ROBOTRULES_CACHE_DIR"
        )

    def test_closed(self, store: SQLiteStore) -> None:
        """It says so."""
        store.close()
        words = f"the store {store.path} is closed: open another one"
        assert words_of(StoreError, lambda: store.get(ORIGIN, AGENT)) == words

    def test_busy(self, store: SQLiteStore, monkeypatch: pytest.MonkeyPatch) -> None:
        """Behind a thread, and behind another process; in a hurry or not."""
        monkeypatch.setattr(sqlite, "BUSY_TIMEOUT", 0.01)
        with store._reads.lock:
            words = f"{store.path} is busy: other threads hold it for too long"
            assert words_of(StoreError, lambda: store.get(ORIGIN, AGENT)) == words
            with nonblocking():
                words = f"{store.path} is busy: repeat the call outside nonblocking()"
                assert words_of(StoreBusyError, lambda: store.get(ORIGIN, AGENT)) == words
        other = sqlite3.connect(store.path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        words = (
            f"{store.path} is busy (database is locked): another process holds the write "
            "lock; wait for it"
        )
        assert words_of(StoreError, lambda: store.lease("key", "me", 5)) == words
        with nonblocking():
            words = (
                f"{store.path} is busy (database is locked): repeat the call outside nonblocking()"
            )
            assert words_of(StoreBusyError, lambda: store.lease("key", "me", 5)) == words
        other.execute("ROLLBACK")
        other.close()
        assert store.lease("key", "me", 5)

    def test_a_part_that_failed(self, store: SQLiteStore) -> None:
        """None of a transaction is kept."""

        def write() -> None:
            with store._begin_write() as db:
                db.execute("SELECT * FROM nowhere")

        def within() -> None:
            with store.transaction():
                store.lease("key", "me", 5)
                with suppress(ValueError):
                    store.put(made(NOW + 1), b"another", None)
                assert words_of(StoreError, write) == (
                    f"{store.path} cannot be used: no such table: nowhere"
                )

        words = f"{store.path}: a call in a transaction failed, so all its calls were rolled back"
        assert words_of(StoreError, within) == words
        assert store.holder("key") is None

    def test_a_statement_that_fails(self, store: SQLiteStore) -> None:
        """Its words are SQLite's, with the file."""

        def write() -> None:
            with store._begin_write() as db:
                db.execute("SELECT * FROM nowhere")

        words = f"{store.path} cannot be used: no such table: nowhere"
        assert words_of(StoreError, write) == words

    def test_a_transaction_twice(self, store: SQLiteStore) -> None:
        """One may be used again, and locks others out again."""
        once = store.transaction()
        for _ in range(2):
            with once:
                assert store.lease("key", "me", 5)
                assert store._writes.lock.locked()
            assert not store._writes.lock.locked()

    @pytest.mark.parametrize("share", [1, 1000])
    def test_all_room_is_given_back(
        self, store: SQLiteStore, share: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """To the last page, however few go at a time."""
        for number in range(5):
            body = bytes([number]) * 20_000
            store.put(made(NOW + number, body), body, None)
        monkeypatch.setattr(sqlite, "BATCH", share)
        assert store.prune_evidence(NOW + 10) == 6
        assert store._read("PRAGMA freelist_count") == [(0,)]

    def test_messages_for_sqlite_errors(self, tmp_path: Path) -> None:
        """By error code: the problem and the fix."""

        class Coded(sqlite3.OperationalError):
            sqlite_errorname = ""

        for code, words in (
            (
                "SQLITE_BUSY_SNAPSHOT",
                "is busy (x): another process holds the write lock; wait for it",
            ),
            ("SQLITE_LOCKED", "is busy (x): another process holds the write lock; wait for it"),
            ("SQLITE_FULL", "has no space (x): free disk space, or prune the store"),
            (
                "SQLITE_NOTADB",
                "is not a database (x): it is damaged or of another program; use another file",
            ),
            ("SQLITE_CORRUPT_VTAB", "is damaged (x): restore a copy, or remove it"),
            ("SQLITE_READONLY", "is not writable (x): check its owner"),
            (
                "SQLITE_CANTOPEN",
                "cannot be opened (x): check that it and its folder are writable",
            ),
            ("SQLITE_IOERR_READ", "cannot be read or written (x): check the disk"),
            ("", "cannot be used: x"),
        ):
            error = Coded("x")
            error.sqlite_errorname = code
            found = sqlite_tables.translate_error(tmp_path, error)
            assert (type(found), str(found)) == (StoreError, f"{tmp_path} {words}")
        for code, is_busy in (("SQLITE_BUSY", True), ("SQLITE_LOCKED", True), ("", False)):
            error = Coded("x")
            error.sqlite_errorname = code
            with nonblocking():
                found = sqlite_tables.translate_error(tmp_path, error)
            assert isinstance(found, StoreBusyError) is is_busy
        error = sqlite3.OperationalError("x")  # type: ignore[assignment]
        assert (
            str(sqlite_tables.translate_error(tmp_path, error)) == f"{tmp_path} cannot be used: x"
        )
        shapeless = UnicodeDecodeError("utf-8", b"", 0, 1, "y")
        assert str(sqlite_tables.translate_error(tmp_path, shapeless)) == (
            f"{tmp_path} is damaged ({shapeless}): restore a copy, or remove it"
        )


class TestOpening:
    """Stores by their names."""

    FIX = "use a path, sqlite:PATH, memory:, redis://HOST or postgresql://HOST/DATABASE"

    def test_a_colon_that_was_forgotten(self) -> None:
        """A file of that name can be meant all the same."""
        for name in (":memory", "memory", "redis", "postgres", "postgresql", "sqlite"):
            assert words_of(ValueError, partial(open_store, name)) == (
                f"{name!r} has no colon: {self.FIX}; for a file of that name, use ./{name}"
            )

    def test_no_name(self) -> None:
        """Nothing, and what is called by nothing that is known."""
        words = f"the name of the store is empty: {self.FIX}"
        assert words_of(ValueError, lambda: open_store(" ")) == words
        for name in ("mysql://u:secret@h", "sqlite:", "sqlite://h/x", "memory:x"):
            scheme = name.partition(":")[0]
            assert words_of(ValueError, partial(open_store, name)) == (
                f"unknown store {scheme}:…: {self.FIX}; for a file of that name, use sqlite:PATH"
            )

    def test_servers_that_are_away(self) -> None:
        """A server that is down raises at once, unless the store is opened lazily."""
        for scheme in ("redis", "rediss", "postgres", "postgresql"):
            where = f"{scheme}://127.0.0.1:{free_port()}/0"
            assert "is unavailable" in words_of(StoreError, partial(open_store, where))
            open_store(where, lazy=True).close()

    def test_the_usual_place(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """In the user's cache folder, which a library knows."""
        monkeypatch.delenv("ROBOTRULES_CACHE_DIR", raising=False)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert default_path() == tmp_path / "robotrules" / "robots.sqlite"
        monkeypatch.setitem(sys.modules, "platformdirs", None)
        assert words_of(MissingExtraError, default_path) == (
            "finding the user's cache folder needs platformdirs: pip install 'robotrules[http]', "
            "or set ROBOTRULES_CACHE_DIR, or pass a store"
        )


def test_postponed_slots_remain_postponed() -> None:
    """The earliest recorded time is kept with the next slot."""
    noted = PacingState(earliest=NOW + 50).reserve(NOW, 1)
    assert noted == PacingState(NOW + 50, NOW + 50)
    assert PacingState(NOW - 1, NOW + 50).begin(NOW, 1) == NOW + 50
    assert PacingState(NOW - 1, NOW - 5).begin(NOW, 1) == PacingState(NOW, NOW - 5)


class TestMemory:
    """The store in memory."""

    def test_closed(self) -> None:
        """It says so."""
        store = MemoryStore()
        store.close()
        assert words_of(StoreError, lambda: store.get(ORIGIN, AGENT)) == (
            "the memory store is closed and its data is gone: open another one"
        )

    def test_the_moment_a_lease_ends(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """From then on it is free, and forgotten when the store is pruned."""
        now = [100.0]
        monkeypatch.setattr(time, "monotonic", lambda: now[0])
        store = MemoryStore()
        assert store.lease("key", "me", 10)
        now[0] = 109.9
        assert (store.holder("key"), store.lease("key", "you", 1)) == ("me", False)
        store.prune(NOW)
        assert store.holder("key") == "me"
        now[0] = 110.0
        assert store.holder("key") is None
        store.prune(NOW)
        assert store._leases == {}
        assert store.lease("key", "me", 10)
        now[0] = 120.0
        assert store.lease("key", "you", 1)

    def test_forks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The lock is held over a fork; one that somebody else holds stays his in the parent."""
        store = MemoryStore()
        store.before_fork()
        assert store._lock.locked()
        store.after_fork()
        assert not store._lock.locked()
        monkeypatch.setattr(memory, "FORK_TIMEOUT", 0.01)
        lock = store._lock
        with lock:
            store.before_fork()
            store.after_fork()
            assert store._lock is lock
            assert lock.locked()
            store.before_fork()
            store._process -= 1  # as in a child
            store.after_fork()
            assert store._lock is not lock
