"""Transactions of the SQLite store: several calls are kept together, or none of them is."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from robotrules.cache import updated_entry
from robotrules.client.stores.nonblocking import nonblocking
from robotrules.client.stores.sqlite import SQLiteStore
from robotrules.errors import StoreBusyError, StoreError
from tests.client.stores.sample_records import AGENT, BODY, NOW, ORIGIN, made


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    with closing(SQLiteStore(tmp_path / "robots.sqlite")) as found:
        yield found


def put(store: SQLiteStore, at: float = NOW) -> None:
    """Put a fetch record."""
    store.put(made(at), BODY, updated_entry(None, made(at)))


def test_together(store: SQLiteStore) -> None:
    """Others see nothing of it before the end; the thread itself sees all."""
    with closing(SQLiteStore(store.path)) as other:
        with store.transaction():
            put(store)
            assert store.lease("key", "me", 30)
            assert store.get(ORIGIN, AGENT) is not None
            assert store.holder("key") == "me"
            assert other.get(ORIGIN, AGENT) is None
            assert other.holder("key") is None
        assert other.get(ORIGIN, AGENT) is not None
        assert other.holder("key") == "me"


def test_one_commit(store: SQLiteStore) -> None:
    """However many calls, and one within another, there is one transaction."""
    said: list[str] = []
    assert store._writes.db is not None
    store._writes.db.set_trace_callback(said.append)
    with store.transaction():
        for n in range(5):
            with store.transaction():
                assert store.lease(f"{n}", "me", 30)
            store.release(f"{n}", "me")
    assert [one for one in said if one in ("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK")] == [
        "BEGIN IMMEDIATE",
        "COMMIT",
    ]


def test_readers_do_not_lock_out_others(store: SQLiteStore) -> None:
    """A transaction begins with what it writes first."""
    with closing(SQLiteStore(store.path)) as other, store.transaction():
        assert store.get(ORIGIN, AGENT) is None
        put(other)
        assert store.get(ORIGIN, AGENT) is not None


def test_an_exception_undoes_all(store: SQLiteStore) -> None:
    """Also one that is not the store's."""

    def fail() -> None:
        with store.transaction():
            put(store)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert store.get(ORIGIN, AGENT) is None
    put(store)


@pytest.mark.parametrize("broken", ["ADD_BODY", "HOLDER"])
def test_half_of_it_is_never_kept(
    store: SQLiteStore, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    """A part that fails rolls back the others, even if the caller ignores the error."""

    def look_away() -> None:
        with store.transaction():
            assert store.lease("key", "me", 30)
            with pytest.raises(StoreError, match="cannot be used"):
                put(store) if broken == "ADD_BODY" else store.holder("key")

    monkeypatch.setattr(f"robotrules.client.stores.sqlite.{broken}", "no SQL")
    with pytest.raises(
        StoreError, match="a call in a transaction failed, so all its calls were rolled back"
    ):
        look_away()
    monkeypatch.undo()
    assert store.holder("key") is None
    assert list(store.fetch_records()) == []


def test_a_commit_that_fails(store: SQLiteStore) -> None:
    """It is an error of the store, and leaves nothing behind."""
    db = store._writes.db
    assert db is not None
    db.execute("PRAGMA foreign_keys = ON")
    db.execute("CREATE TABLE a (n PRIMARY KEY)")
    db.execute("CREATE TABLE b (n REFERENCES a (n) DEFERRABLE INITIALLY DEFERRED)")

    def fail() -> None:
        with store.transaction():
            put(store)
            db.execute("INSERT INTO b VALUES (1)")

    with pytest.raises(StoreError, match="constraint") as caught:
        fail()
    assert str(caught.value) == f"{store.path} cannot be used: FOREIGN KEY constraint failed"
    assert not db.in_transaction
    assert store.get(ORIGIN, AGENT) is None
    assert store.lease("key", "me", 30)


def test_busy(store: SQLiteStore) -> None:
    """A call without a wait raises, and other writers are not affected."""
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with nonblocking(), pytest.raises(StoreBusyError), store.transaction():
            put(store)
        other.execute("COMMIT")
    with store.transaction():
        put(store)
    assert store.get(ORIGIN, AGENT) is not None


def test_of_one_thread(store: SQLiteStore) -> None:
    """Another thread is not a part of it: it waits for its end."""
    taken: list[bool] = []
    with store.transaction():
        assert store.lease("key", "me", 30)
        other = Thread(target=lambda: taken.append(store.lease("key", "you", 30)))
        other.start()
        other.join(0.1)
        assert taken == []
    other.join(30)
    assert taken == [False]


def test_whether_one_is_open(store: SQLiteStore) -> None:
    """It is once something was written, and for this thread alone."""
    assert not store.in_transaction
    with store.transaction():
        assert store.get(ORIGIN, AGENT) is None
        assert not store.in_transaction
        put(store)
        assert store.in_transaction
        others: list[bool] = []
        thread = Thread(target=lambda: others.append(store.in_transaction))
        thread.start()
        thread.join(30)
        assert others == [False]
    assert not store.in_transaction
