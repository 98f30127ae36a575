"""The store in a file: file ownership, damage, a full disk and forks."""

from __future__ import annotations

import os
import pwd
import random
import sqlite3
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest

from robotrules.cache import body_digest, updated_entry
from robotrules.client.stores import SQLiteStore, forks, serialization, sqlite, sqlite_tables
from robotrules.client.stores.nonblocking import is_nonblocking, nonblocking
from robotrules.errors import StoreBusyError, StoreError
from tests.client.stores.sample_records import AGENT, BODY, NOW, ORIGIN, made, numbered


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a file may be made."""
    return tmp_path / "robots.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[SQLiteStore]:
    """A store with one fetch record."""
    with closing(SQLiteStore(path)) as store:
        store.put(made(), BODY, updated_entry(None, made()))
        yield store


def ask(path: Path, query: str, *values: object) -> list[tuple[object, ...]]:
    """Query a file directly, not through the store."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        return db.execute(query, values).fetchall()


def is_sound(path: Path) -> bool:
    """Return whether the integrity check of SQLite passes."""
    return ask(path, "PRAGMA integrity_check") == [("ok",)]


class TestFiles:
    """A foreign file raises when it is opened; the error names problem, path and fix."""

    def test_new(self, tmp_path: Path) -> None:
        """Folders are made for the user alone; the file says whose it is."""
        path = tmp_path / "a" / "b" / "robots.sqlite"
        with closing(SQLiteStore(path)) as store:
            assert store.path == path
            assert str(path) in store.name
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert ask(path, "PRAGMA journal_mode") == [("wal",)]
        assert ask(path, "PRAGMA application_id") == [(sqlite_tables.APPLICATION_ID,)]
        assert ask(path, "PRAGMA user_version") == [(serialization.VERSION,)]
        assert not path.with_name("robots.sqlite-wal").exists()

    @pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
    def test_modes(self, tmp_path: Path, mask: int) -> None:
        """A new file and its log are for the user alone, from their first moment on."""
        seen: dict[str, int] = {}
        before = os.umask(mask)
        try:
            path = tmp_path / "robots.sqlite"
            with closing(SQLiteStore(path)) as store:
                store.put(made(), BODY, None)
                for file in tmp_path.iterdir():
                    seen[file.name] = stat.S_IMODE(file.stat().st_mode)
        finally:
            os.umask(before)
        names = ("robots.sqlite", "robots.sqlite-shm", "robots.sqlite-wal")
        assert seen == dict.fromkeys(names, 0o600)

    def test_it_is_made_with_its_mode(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """SQLite finds a file that has its mode already, and nothing is left beside it."""
        found: list[tuple[int, list[str]]] = []
        connect: Callable[..., sqlite3.Connection] = sqlite3.connect

        def look(where: Path, **options: Any) -> sqlite3.Connection:
            """Connect, and note what was there before."""
            mode = stat.S_IMODE(where.stat().st_mode)
            found.append((mode, [one.name for one in where.parent.iterdir()]))
            return connect(where, **options)

        monkeypatch.setattr(sqlite3, "connect", look)
        SQLiteStore(path).close()
        assert found[0] == (0o600, [path.name])

    @pytest.mark.parametrize("mode", [0o660, 0o644, 0o600])
    def test_a_file_that_is_there_keeps_its_mode(self, path: Path, mode: int) -> None:
        """Its owner may share it with a group; its log has the same mode."""
        SQLiteStore(path).close()
        path.chmod(mode)
        with closing(SQLiteStore(path)) as store:
            store.put(made(), BODY, None)
            modes = {stat.S_IMODE(one.stat().st_mode) for one in path.parent.iterdir()}
        assert modes == {mode}

    def test_links(self, tmp_path: Path) -> None:
        """A link to a file that is not there yet: the file is made for the user alone too."""
        (tmp_path / "link").symlink_to(tmp_path / "there")
        SQLiteStore(tmp_path / "link").close()
        assert stat.S_IMODE((tmp_path / "there").stat().st_mode) == 0o600
        assert (tmp_path / "link").is_symlink()

    def test_a_folder_without_links(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where a file system has no hard links the file is for the user alone too."""

        def fail(*_: object) -> None:
            """Link nothing."""
            raise PermissionError(1, "Operation not permitted")

        monkeypatch.setattr(os, "link", fail)
        before = os.umask(0o022)
        try:
            SQLiteStore(path).close()
        finally:
            os.umask(before)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert [one.name for one in path.parent.iterdir()] == [path.name]
        assert [one.name for one in path.parent.iterdir()] == [path.name]

    def test_settings(self, store: SQLiteStore) -> None:
        """As the docstring says."""
        for engine in (store._reads, store._writes):
            with engine.lock:
                db = store._open_db(engine)
            assert db.execute("PRAGMA synchronous").fetchone() == (1,)
            assert db.execute("PRAGMA busy_timeout").fetchone() == (5000,)

    def test_relative_paths_stay(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A path is what it was when the store was opened, and `:memory:` is a name as others."""
        monkeypatch.chdir(tmp_path)
        with closing(SQLiteStore(":memory:")) as store:
            monkeypatch.chdir("/")
            forks._before()
            forks._after()
            store.put(made(), BODY, None)
        assert (tmp_path / ":memory:").exists()

    def test_home(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """`~` is the user's home."""
        monkeypatch.setenv("HOME", str(tmp_path))
        with closing(SQLiteStore("~/x.sqlite")) as store:
            assert store.path == tmp_path / "x.sqlite"

    def test_empty(self, path: Path) -> None:
        """A file of no octets is as good as none: a process may have been killed that made it."""
        path.touch()
        SQLiteStore(path).close()
        assert ask(path, "PRAGMA application_id") == [(sqlite_tables.APPLICATION_ID,)]

    def test_half_made(self, path: Path) -> None:
        """The same of one that was killed a step later."""
        ask(path, "PRAGMA journal_mode = WAL")
        SQLiteStore(path).close()
        assert is_sound(path)

    FOREIGN: ClassVar[dict[str, tuple[Callable[[Path], object], str]]] = {
        "text": (lambda path: path.write_text("# notes\n" * 1000), "not a database"),
        "short": (lambda path: path.write_bytes(b"SQLite format 3"), "not a database"),
        "noise": (
            lambda path: path.write_bytes(random.Random(1).randbytes(9000)),
            "not a database",
        ),
        "zeros": (lambda path: path.write_bytes(bytes(8192)), "not a database"),
        "folder": (lambda path: path.mkdir(), "is a folder"),
        "tables": (lambda path: ask(path, "CREATE TABLE visits (at)"), "another program"),
        "number": (lambda path: ask(path, "PRAGMA application_id = 7"), "another program"),
        "version": (lambda path: ask(path, "PRAGMA user_version = 1"), "another program"),
    }

    @pytest.mark.parametrize("name", FOREIGN)
    def test_foreign(self, path: Path, name: str) -> None:
        """It is left as it is."""
        make, words = self.FOREIGN[name]
        make(path)
        before = path.read_bytes() if path.is_file() else None
        with pytest.raises(StoreError, match=words) as error:
            SQLiteStore(path)
        assert str(path) in str(error.value)
        assert ": " in str(error.value)
        assert before is None or path.read_bytes() == before

    OURS: ClassVar[dict[str, tuple[str, str]]] = {
        "newer": ("PRAGMA user_version = 99", "newer robotrules"),
        "version": ("PRAGMA user_version = 0", "is damaged"),
        "table": ("DROP TABLE turns", "is damaged"),
    }

    @pytest.mark.parametrize("name", OURS)
    def test_ours_but(self, path: Path, name: str) -> None:
        """Of a newer version, or with something missing."""
        SQLiteStore(path).close()
        query, words = self.OURS[name]
        ask(path, query)
        with pytest.raises(StoreError, match=words):
            SQLiteStore(path)

    def test_a_folder_that_is_a_file(self, tmp_path: Path) -> None:
        """Nothing can be made in it."""
        (tmp_path / "file").touch()
        with pytest.raises(StoreError, match="ROBOTRULES_CACHE_DIR"):
            SQLiteStore(tmp_path / "file" / "robots.sqlite")

    @pytest.mark.parametrize("mode", [0o600, 0o400, 0o200, 0o000])
    def test_files_one_may_not_use(self, common: Path, mode: int) -> None:
        """A file that one may not read, or not write."""
        path = common / "robots.sqlite"
        SQLiteStore(path).close()
        path.chmod(mode)
        assert opened_by_somebody(path) == ("opened" if mode == 0o600 else "StoreError")

    @pytest.mark.parametrize("mode", [0o700, 0o500, 0o000])
    def test_folders_one_may_not_use(self, common: Path, mode: int) -> None:
        """A folder that one may not write."""
        common.chmod(mode)
        said = opened_by_somebody(common / "robots.sqlite")
        common.chmod(0o700)
        assert said == ("opened" if mode == 0o700 else "StoreError")


@pytest.fixture
def common() -> Iterator[Path]:
    """A temporary folder outside those of pytest, which only root may be able to read."""
    with tempfile.TemporaryDirectory(prefix="robotrules-") as folder:
        yield Path(folder)


def opened_by_somebody(path: Path) -> str:
    """Open a file as a user other than root; return "opened" or the name of the error."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                somebody = pwd.getpwnam("nobody")
                for one in path.parent, *path.parent.iterdir():
                    os.chown(one, somebody.pw_uid, somebody.pw_gid)
                os.setgroups([])
                os.setgid(somebody.pw_gid)
                os.setuid(somebody.pw_uid)
            SQLiteStore(path)
            said = "opened"
        except BaseException as error:
            said = type(error).__name__
        os.write(write, said.encode())
        os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with open(read) as answer:
        return answer.read()


class TestDamage:
    """What is not what was put is as good as none, or an error; never something else."""

    @pytest.mark.parametrize(
        "change",
        ["substr(row, 1, 50)", "x'00'", "7", "'text'", "CAST(row AS TEXT)", "row || x'20'"],
    )
    def test_rows(self, store: SQLiteStore, path: Path, change: str) -> None:
        """A damaged entry is ignored; a damaged fetch raises, as another would seem in force."""
        for table in ("entries", "visits"):
            ask(path, f"UPDATE {table} SET row = {change}")
        assert store.get(ORIGIN, AGENT) is None
        assert list(store.entries()) == []
        with pytest.raises(StoreError, match=f"{ORIGIN} at 1800000000.0 is damaged"):
            list(store.fetch_records())
        with pytest.raises(StoreError, match="is damaged"):
            list(store.fetch_records(ORIGIN))
        assert store.prune_evidence(NOW + 1) == 1
        assert list(store.fetch_records()) == []

    def test_rows_in_the_wrong_place(self, store: SQLiteStore, path: Path) -> None:
        """A whole row of another origin is none."""
        ask(path, "UPDATE entries SET origin = 'https://b.example'")
        ask(path, "UPDATE visits SET origin = 'https://b.example'")
        assert store.get("https://b.example", AGENT) is None
        with pytest.raises(StoreError, match="is damaged"):
            list(store.fetch_records("https://b.example"))

    def test_bodies(self, store: SQLiteStore, path: Path) -> None:
        """A damaged body is treated as missing, until a fetch stores it again."""
        for harm in ("substr(octets, 2)", "'text'", "x''"):
            ask(path, f"UPDATE bodies SET octets = {harm}")
            assert store.body(body_digest(BODY)) is None
        store.put(made(NOW + 1), BODY, updated_entry(None, made(NOW + 1)))
        assert store.body(body_digest(BODY)) == BODY

    def test_any_bit_of_the_file(self, tmp_path: Path) -> None:
        """Whatever flips: each entry that is got is one that was put, or there is an error."""
        path = tmp_path / "good.sqlite"
        count = 20
        with closing(SQLiteStore(path)) as store:
            for number in range(count):
                store.put(*numbered(number))
        octets = path.read_bytes()
        places = random.Random(6)
        seen = {"same": 0, "none": 0, "error": 0}
        for attempt in range(80):
            harmed = bytearray(octets)
            # Most of the file is bodies: half of the flips are in its head.
            end = len(octets) if attempt % 2 else 12_000
            for _ in range(1 + attempt % 3):
                harmed[places.randrange(end)] ^= 1 << places.randrange(8)
            bad = tmp_path / f"{attempt}.sqlite"
            bad.write_bytes(harmed)
            for word in _all_of(bad, count):
                seen[word] += 1
        assert min(seen.values()) > 3, seen

    def test_cut_files(self, tmp_path: Path) -> None:
        """The same of a file that was cut anywhere."""
        path = tmp_path / "good.sqlite"
        with closing(SQLiteStore(path)) as store:
            for number in range(20):
                store.put(*numbered(number))
        octets = path.read_bytes()
        words = set()
        for step in range(40):
            bad = tmp_path / f"{step}.sqlite"
            bad.write_bytes(octets[: 1 + len(octets) * step // 40])
            words |= set(_all_of(bad, 20))
        assert "error" in words


def _all_of(path: Path, count: int) -> list[str]:
    """Read all of a damaged file; return what came of it, and fail if something is wrong."""
    said = []
    try:
        with closing(SQLiteStore(path)) as store:
            for number in range(count):
                fetch_record, body, _ = numbered(number)
                try:
                    found = store.get(fetch_record.origin, fetch_record.agent)
                    assert found is None or found == numbered(round(found.last_fetch_at - NOW))[2]
                    there = store.body(fetch_record.digest or "")
                    assert there in (None, body)
                    said.append("same" if there and found else "none")
                except StoreError:
                    said.append("error")
            try:
                for entry in store.entries():
                    assert entry == numbered(round(entry.last_fetch_at - NOW))[2]
                for fetch_record in store.fetch_records():
                    assert fetch_record == numbered(round(fetch_record.at - NOW))[0]
            except StoreError:
                said.append("error")
            try:
                store.put(*numbered(count))
                store.prune_evidence(NOW + 5)
                store.reserve_slot(ORIGIN, NOW, 1)
                store.lease("key", "me", 5)
            except StoreError:
                said.append("error")
    except StoreError:
        said.append("error")
    return said


class TestDisk:
    """A disk that is full, and room that is given back."""

    def test_full(self, store: SQLiteStore, path: Path) -> None:
        """A put that has no space is an error and leaves nothing; the file stays good."""
        with store._writes.lock:
            db = store._open_db(store._writes)
            (pages,) = db.execute("PRAGMA page_count").fetchone()
            db.execute(f"PRAGMA max_page_count = {pages + 3}")
        body = os.urandom(100_000)
        fetch_record = made(NOW + 1, body)
        for _ in range(3):
            with pytest.raises(StoreError, match=r"has no space .* prune"):
                store.put(fetch_record, body, updated_entry(None, fetch_record))
        assert store.get(ORIGIN, AGENT) == updated_entry(None, made())
        assert store.body(body_digest(body)) is None
        assert list(store.fetch_records()) == [made()]
        assert is_sound(path)
        with store._writes.lock:
            store._open_db(store._writes).execute("PRAGMA max_page_count = 1000000")
        store.put(fetch_record, body, updated_entry(None, fetch_record))
        assert store.body(body_digest(body)) == body

    def test_shrinks(self, path: Path) -> None:
        """What is forgotten gives its room back."""
        with closing(SQLiteStore(path)) as store:
            for number in range(0, 1_900, 19):
                store.put(*numbered(number))
        large = path.stat().st_size
        with closing(SQLiteStore(path)) as store:
            assert store.prune(NOW + 1e9) == 16
            assert store.prune_evidence(NOW + 1e9) == 100
        assert path.stat().st_size < large / 20

    def test_without_room_to_give_back(self, path: Path) -> None:
        """A file that was vacuumed without that setting is pruned all the same."""
        with closing(SQLiteStore(path)) as store:
            for number in range(60):
                store.put(*numbered(number))
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("PRAGMA journal_mode = DELETE")
            db.execute("PRAGMA auto_vacuum = NONE")
            db.execute("VACUUM")
        with closing(SQLiteStore(path)) as store:
            assert store.prune_evidence(NOW + 1e9) == 60
            # The write-ahead log was removed too: then only synchronous=FULL is safe.
            assert store._writes.db is not None
            assert store._writes.db.execute("PRAGMA synchronous").fetchone() == (2,)


class TestOthers:
    """Other threads and processes."""

    def test_readers_do_not_wait(
        self, store: SQLiteStore, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Readers do not wait for a process that writes; writers do, but not long."""
        with store._writes.lock:
            store._open_db(store._writes).execute("PRAGMA busy_timeout = 200")
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            db.execute("DELETE FROM entries")
            started = time.monotonic()
            assert store.get(ORIGIN, AGENT) is not None
            assert time.monotonic() - started < 0.1
            with pytest.raises(StoreError, match="is busy"):
                store.lease("key", "me", 1)
            assert 0.15 < time.monotonic() - started < 3
            monkeypatch.setattr(sqlite, "BUSY_TIMEOUT", 0.1)
            with pytest.raises(StoreError, match="is busy"):
                SQLiteStore(path)
            db.execute("ROLLBACK")
        assert store.lease("key", "me", 1)

    def test_in_a_hurry(self, store: SQLiteStore, path: Path) -> None:
        """A call without a wait raises if another writes; others wait until that is over."""
        fetch_record = made(NOW + 1)
        work = partial(store.put, fetch_record, BODY, updated_entry(None, fetch_record))
        with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as db:
            db.execute("BEGIN IMMEDIATE")
            db.execute("DELETE FROM leases")
            for _ in range(3):
                started = time.monotonic()
                with pytest.raises(StoreBusyError, match="is busy"), nonblocking():
                    work()
                assert 0.01 < time.monotonic() - started < 0.2
                with nonblocking():
                    assert store.get(ORIGIN, AGENT) == updated_entry(None, made())
            started = time.monotonic()
            timer = threading.Timer(0.5, db.execute, ["COMMIT"])
            timer.start()
            try:
                work()
            finally:
                timer.join()
            assert 0.4 < time.monotonic() - started < 4
        with nonblocking():
            assert store.get(ORIGIN, AGENT) == updated_entry(None, fetch_record)
            store.put(made(NOW + 2), BODY, updated_entry(None, made(NOW + 2)))
        assert [fetch_record.at - NOW for fetch_record in store.fetch_records()] == [0, 1, 2]

    def test_in_a_hurry_behind_a_thread(
        self, store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The same of a lock that another thread of this process holds."""
        monkeypatch.setattr(sqlite, "BUSY_TIMEOUT", 0.3)
        calls: tuple[Callable[[], object], ...] = (
            lambda: store.get(ORIGIN, AGENT),
            lambda: store.begin_slot(ORIGIN, NOW, 1),
            lambda: next(store.fetch_records()),
        )
        with store._reads.lock, store._writes.lock:
            for call in calls:
                started = time.monotonic()
                with pytest.raises(StoreBusyError, match="is busy"), nonblocking():
                    call()
                assert 0.01 < time.monotonic() - started < 0.2
                with pytest.raises(StoreError, match="is busy") as error:
                    call()
                assert type(error.value) is StoreError
                assert time.monotonic() - started > 0.3
        for call in calls:
            with nonblocking():
                assert call() is not None

    def test_in_a_hurry_to_open(self, store: SQLiteStore, path: Path) -> None:
        """A file that has to be reopened does not extend the wait."""
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            with store._writes.lock:
                store._writes.close()
            started = time.monotonic()
            with pytest.raises(StoreBusyError, match="is busy"), nonblocking():
                store.lease("key", "me", 1)
            assert time.monotonic() - started < 0.2
        assert store.lease("key", "me", 1)

    def test_hurry_is_of_a_context(self, store: SQLiteStore) -> None:
        """It ends where it began, also by an error; another thread is not in it."""
        assert not is_nonblocking()
        with suppress(ZeroDivisionError), nonblocking():
            with nonblocking():
                assert is_nonblocking()
            assert is_nonblocking()
            with ThreadPoolExecutor(1) as pool:
                assert pool.submit(is_nonblocking).result() is False
            raise ZeroDivisionError
        assert not is_nonblocking()
        for hurry, seconds in ((nonblocking, 20), (nullcontext, 5000)):
            with hurry():
                store.release("key", "me")
                assert store._writes.db is not None
                asked = store._writes.db.execute("PRAGMA busy_timeout").fetchone()
            assert asked == (seconds,)

    def test_pruning_does_not_block_writers(self, store: SQLiteStore, path: Path) -> None:
        """One process prunes while another puts: both wait for each other, and neither fails."""
        over = threading.Event()

        def forget() -> None:
            with closing(SQLiteStore(path)) as other:
                while not over.is_set():
                    other.prune_evidence(NOW + 1e6)

        with ThreadPoolExecutor(1) as pool:
            task = pool.submit(forget)
            try:
                for number in range(300):
                    fetch_record, body, entry = numbered(number)
                    store.put(fetch_record, body, entry)
                    assert store.body(fetch_record.digest or "") == body
            finally:
                over.set()
            task.result()

    def test_created_by_another_process(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A process that finds the file locked during creation retries for a while."""
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("BEGIN EXCLUSIVE")
            monkeypatch.setattr(sqlite, "BUSY_TIMEOUT", 0.05)
            with pytest.raises(StoreError, match="is busy"):
                SQLiteStore(path)
            monkeypatch.setattr(sqlite, "BUSY_TIMEOUT", 5.0)
            over = threading.Event()
            opened: list[SQLiteStore] = []

            def open_it() -> None:
                opened.append(SQLiteStore(path))
                over.set()

            thread = threading.Thread(target=open_it)
            thread.start()
            assert not over.wait(0.2)
            db.execute("ROLLBACK")
            thread.join()
        opened[0].close()

    def test_a_clock_set_back(self, store: SQLiteStore, monkeypatch: pytest.MonkeyPatch) -> None:
        """A lease that was taken in the future is ignored."""
        assert store.lease("key", "me", 30)
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now - 30)
        assert not store.lease("key", "you", 30)
        monkeypatch.setattr(time, "time", lambda: now - 3600)
        assert store.lease("key", "you", 30)

    def test_interrupted(self, store: SQLiteStore) -> None:
        """An interrupt in the middle leaves no transaction behind."""
        for work in ("DELETE FROM entries", "DELETE FROM visits"):
            with suppress(KeyboardInterrupt), store._begin_write() as db:
                db.execute(work)
                raise KeyboardInterrupt
        assert store.get(ORIGIN, AGENT) is not None
        assert store.lease("key", "me", 1)


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
class TestForks:
    """A child process has separate connections."""

    @staticmethod
    def forked(work: Callable[[], object]) -> int:
        """Do something in a child; return its exit status."""
        child = os.fork()
        if child == 0:
            try:
                work()
            except BaseException:
                os._exit(1)
            os._exit(0)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def test_parent_and_child(self, store: SQLiteStore, path: Path) -> None:
        """Both go on, and neither has what the other has open."""
        before = [store._reads.db, store._writes.db]

        def work() -> None:
            assert store._reads.db is store._writes.db is None
            assert store.get(ORIGIN, AGENT) is not None
            store.put(made(NOW + 1), BODY, updated_entry(None, made(NOW + 1)))
            assert store._reads.db not in before

        assert self.forked(work) == 0
        assert store._writes.db is None
        entry = store.get(ORIGIN, AGENT)
        assert entry is not None
        assert entry.last_fetch_at == NOW + 1
        store.put(made(NOW + 2), BODY, updated_entry(None, made(NOW + 2)))
        assert [fetch_record.at - NOW for fetch_record in store.fetch_records()] == [0, 1, 2]
        assert is_sound(path)

    def test_many_children_of_busy_threads(self, store: SQLiteStore, path: Path) -> None:
        """Forks while threads write: no child hangs, and nothing is lost."""
        over = threading.Event()
        written: list[int] = []

        def write() -> None:
            number = 1
            while not over.is_set():
                store.put(*numbered(number))
                written.append(number)
                number += 1

        thread = threading.Thread(target=write)
        thread.start()
        try:
            for number in range(10):
                fetch_record = made(NOW - 1 - number)
                put = partial(store.put, fetch_record, BODY, None)
                assert self.forked(put) == 0
        finally:
            over.set()
            thread.join()
        assert written
        times = [fetch_record.at - NOW for fetch_record in store.fetch_records()]
        assert times == [float(n) for n in range(-10, len(written) + 1)]
        assert is_sound(path)

    def test_a_lock_that_is_never_released(
        self, store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A fork in the middle of a call: the child leaves the parent's connection alone."""
        monkeypatch.setattr(sqlite, "FORK_TIMEOUT", 0.05)
        left = len(sqlite._ABANDONED)

        def work() -> None:
            assert store.get(ORIGIN, AGENT) is not None
            store.put(made(NOW + 1), BODY, None)
            assert len(sqlite._ABANDONED) == left + 2
            store.close()

        assert store.get(ORIGIN, AGENT) is not None
        with store._reads.lock, store._writes.lock:
            assert self.forked(work) == 0
        assert [fetch_record.at - NOW for fetch_record in store.fetch_records()] == [0, 1]

    def test_beneath_python(self, store: SQLiteStore) -> None:
        """A process with another number than the one that opened it opens it itself."""
        for engine in (store._reads, store._writes):
            engine.process = -1
        left = len(sqlite._ABANDONED)
        store.put(made(NOW + 1), BODY, None)
        assert len(sqlite._ABANDONED) == left + 1
        store._reads.process = -1
        store.close()
        # Here they are this process's after all, so they can be closed.
        while len(sqlite._ABANDONED) > left:
            sqlite._ABANDONED.pop().close()

    def test_other_stores(self) -> None:
        """A store in memory is copied, with a lock that is free."""
        from robotrules.client.stores import MemoryStore

        with closing(MemoryStore()) as store:
            store.put(made(), BODY, updated_entry(None, made()))

            def work() -> None:
                assert store.lease("key", "me", 1)
                assert store.get(ORIGIN, AGENT) is not None

            assert self.forked(work) == 0
            with pytest.MonkeyPatch.context() as patch, store._lock:
                patch.setattr("robotrules.client.stores.memory.FORK_TIMEOUT", 0.05)
                assert self.forked(work) == 0
            assert store.lease("key", "you", 1)
