"""A SQLite file that is opened while others make it, or that cannot be made: waits and words."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from robotrules.client.stores import SQLiteStore, sqlite_tables
from robotrules.errors import StoreError
from tests.client.stores.sample_records import BODY, made


def words_of(act: Callable[[], object]) -> str:
    """Return the words of the StoreError that something raises."""
    with pytest.raises(StoreError) as caught:
        act()
    return str(caught.value)


def error_of(code: str) -> sqlite3.OperationalError:
    """Return an error that SQLite might raise."""
    error = sqlite3.OperationalError("no")
    error.sqlite_errorname = code
    return error


class Failing:
    """A connection in the middle of a transaction where a statement fails."""

    in_transaction = True

    def __init__(self, fails: str) -> None:
        self.asked: list[str] = []
        self._fails = fails

    def execute(self, statement: str) -> Any:
        """Note the statement."""
        self.asked.append(statement)
        if statement == self._fails:
            raise error_of("SQLITE_FULL")
        return sqlite3.connect(":memory:").execute("SELECT 0")


class TestBusy:
    """Another process makes the file at this moment."""

    @pytest.fixture
    def slept(self, monkeypatch: pytest.MonkeyPatch) -> list[float]:
        """How long was slept; each time a quarter of a second passes."""
        found: list[float] = []
        monkeypatch.setattr(time, "sleep", found.append)
        monkeypatch.setattr(time, "monotonic", lambda: 100.0 + 0.25 * len(found))
        return found

    @pytest.mark.parametrize("code", ["SQLITE_BUSY", "SQLITE_BUSY_SNAPSHOT", "SQLITE_LOCKED"])
    def test_it_is_tried_again(
        self, code: str, tmp_path: Path, slept: list[float], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Until it is made, by whom it may be."""
        usual, errors = sqlite_tables._create_tables, [error_of(code), error_of(code)]

        def busy(db: sqlite3.Connection) -> None:
            if errors:
                raise errors.pop()
            usual(db)

        monkeypatch.setattr(sqlite_tables, "_create_tables", busy)
        db = sqlite_tables.open_database(tmp_path / "a.sqlite", 5.0)
        assert db.execute("PRAGMA synchronous").fetchone() == (1,)
        db.close()
        assert slept == [0.005, 0.005]

    @pytest.mark.parametrize(
        ("code", "times", "words"),
        [("SQLITE_BUSY", 3, "is busy (no): another process"), ("SQLITE_FULL", 0, "has no space")],
    )
    def test_not_for_ever(
        self,
        code: str,
        times: int,
        words: str,
        tmp_path: Path,
        slept: list[float],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """As long as it may take, and what is not busy not at all."""

        def busy(db: sqlite3.Connection) -> None:
            raise error_of(code)

        monkeypatch.setattr(sqlite_tables, "_create_tables", busy)
        path = tmp_path / "a.sqlite"
        assert words_of(lambda: sqlite_tables.open_database(path, 0.5)).startswith(
            f"{path} {words}"
        )
        assert slept == [0.005] * times


class TestCannotBe:
    """A file that cannot be opened."""

    def test_no_connection(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The path, and the message of SQLite."""

        def refuse(*_: object, **options: object) -> None:
            raise sqlite3.OperationalError("out of memory")

        monkeypatch.setattr(sqlite3, "connect", refuse)
        path = tmp_path / "a.sqlite"
        words = f"{path} cannot be used: out of memory"
        assert words_of(lambda: sqlite_tables.open_database(path, 1.0)) == words

    def test_no_folder(self, tmp_path: Path) -> None:
        """The message of SQLite, followed by the fix."""
        path = tmp_path / "none" / "a.sqlite"
        assert words_of(lambda: sqlite_tables.open_database(path, 1.0)) == (
            f"{path} cannot be opened (unable to open database file): check that it and its "
            "folder are writable"
        )

    def test_not_ours_to_write(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """It is not opened to be read alone."""
        path = tmp_path / "a.sqlite"
        monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
        assert words_of(lambda: sqlite_tables.open_database(path, 1.0)) == (
            f"{path} is not writable: check its owner, or use another file"
        )


class TestRollback:
    """What was begun and fails is undone."""

    @pytest.mark.parametrize("work", [sqlite_tables._create_tables, sqlite_tables._upgrade])
    def test_tables(self, work: Callable[[Any], None]) -> None:
        """What went wrong is raised."""
        db = Failing("COMMIT")
        with pytest.raises(sqlite3.OperationalError, match="no"):
            work(db)
        assert db.asked[-2:] == ["COMMIT", "ROLLBACK"]

    def test_that_fails_too(self, tmp_path: Path) -> None:
        """The first error is the one reported, and the store can still be used."""
        store = SQLiteStore(tmp_path / "a.sqlite")

        class Fails:
            in_transaction = True

            def __init__(self, db: Any) -> None:
                self._open_db = db

            def execute(self, statement: str) -> None:
                self._open_db.execute(statement)
                raise error_of("SQLITE_IOERR")

        def work() -> None:
            with store.transaction() as transaction:
                store.put(made(), BODY, None)
                transaction.db = cast("sqlite3.Connection", Fails(transaction.db))
                raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"):
            work()
        assert list(store.fetch_records()) == []
        store.put(made(), BODY, None)
        assert list(store.fetch_records()) == [made()]
        store.close()
