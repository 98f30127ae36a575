"""
Real stores that fail: a client continues by RFC 9309, reports it, and uses them again later.

Servers are stopped, stuck, full and damaged; files are locked, cut, removed and without room. What
a store itself does then is tested with the stores; here it is what a client makes of it. Every
test is on both clients, over a scripted web.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis

from robotrules import Reason, StoreError
from robotrules.access import Response
from robotrules.client import Client, open_store
from robotrules.client.stores import SQLiteStore
from tests.client.scripted import Clock, Server, opened
from tests.client.servers import Server as Process
from tests.client.stores.conftest import place_of, postgres_where, redis_where

__all__ = ["postgres_where", "redis_where"]

AGENT = "ExampleBot/1.0 (+https://example.com/bot)"
A, B, C, DOWN = (f"https://{name}.example" for name in ("a", "b", "c", "down"))
Make = Callable[..., Any]


def file_of(origin: str) -> bytes:
    """Return the robots.txt of an origin: larger than a page of a database that is there anyway."""
    return f"User-agent: *\nDisallow: /private\n# {origin}\n".encode() * 200


@pytest.fixture
def web() -> Server:
    """A scripted web: three origins that answer, and one that does not."""
    server = Server()
    for site in (A, B, C):
        server.answers[f"{site}/robots.txt"] = Response(200, {}, file_of(site))
    server.answers[f"{DOWN}/robots.txt"] = Response(503)
    return server


@pytest.fixture(params=["sync", "async"])
def make(request: pytest.FixtureRequest, web: Server) -> Iterator[Make]:
    """Return what makes clients of one kind on that web."""
    with ExitStack() as stack:
        yield lambda **options: stack.enter_context(opened(request.param, web, Clock(), **options))


@pytest.fixture(autouse=True)
def restless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that failed is used again at once, and waits are short."""
    monkeypatch.setattr("robotrules.client.cache_engine.COOLDOWN", 0.0)
    monkeypatch.setattr("robotrules.client.stores.server_guard.COOLDOWN", 0.0)
    monkeypatch.setattr("robotrules.client.stores.redis.RESPONSE_TIMEOUT", 0.3)
    monkeypatch.setattr("robotrules.client.stores.postgres.RESPONSE_TIMEOUT", 0.1)
    monkeypatch.setattr("robotrules.client.stores.sqlite.BUSY_TIMEOUT", 0.2)


@pytest.fixture(params=["redis", "postgres"])
def served(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Process, str]]:
    """A server, and where an empty store on it is; it runs again afterwards."""
    where = place_of(request.param, request, tmp_path)
    process: Process = request.getfixturevalue(f"{request.param}_server")
    yield process, where
    if not process.is_up():
        process.stop()
        process.start()


def follows_the_rfc(client: Any, site: str) -> None:
    """Check the verdicts on a site that answers, and on one that does not."""
    assert client.check(f"{site}/page").reason is Reason.NO_MATCH
    assert client.check(f"{site}/private").reason is Reason.DISALLOW_RULE
    assert client.check(f"{DOWN}/page").reason is Reason.UNREACHABLE


# --- Servers --------------------------------------------------------------------------------------


class TestAway:
    """A server that is away, or that hangs, costs a client little and no verdict."""

    def test_down_from_the_start(self, make: Make, served: tuple[Process, str]) -> None:
        process, where = served
        process.stop()
        with pytest.raises(StoreError, match="is unavailable"):
            open_store(where)
        client = make(store=where)
        follows_the_rfc(client, A)
        assert "is unavailable" in client.store_error
        assert client.lookup(A).store_error is not None

    def test_goes_down_and_comes_back(
        self,
        make: Make,
        served: tuple[Process, str],
        web: Server,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        process, where = served
        client = make(store=where)
        with caplog.at_level(logging.WARNING, "robotrules"):
            assert client.check(f"{A}/page")
            process.stop()
            follows_the_rfc(client, A)
            follows_the_rfc(client, B)
            assert len(web.asked) == 3
            with client.slot(B):
                pass
            assert "is unavailable" in client.store_error
            assert len(caplog.records) == 1
            process.start()
            client.refresh(B)
            assert client.store_error is None
            assert [record.getMessage().split(":")[0] for record in caplog.records] == [
                "store unavailable; continuing without it",
                "store available again",
            ]
        other = make(store=where)
        assert not other.check(f"{B}/private")
        assert len(web.asked) == 4

    def test_hangs(
        self, make: Make, served: tuple[Process, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("robotrules.client.cache_engine.COOLDOWN", 5.0)
        process, where = served
        client = make(store=where)
        assert client.check(f"{A}/page")
        process.freeze()
        began = time.monotonic()
        follows_the_rfc(client, B)
        # One question in vain, and not one for each origin.
        assert time.monotonic() - began < 4
        began = time.monotonic()
        follows_the_rfc(client, C)
        assert time.monotonic() - began < 0.5
        assert "is unavailable" in client.store_error
        process.thaw()


# --- No room, no right ----------------------------------------------------------------------------


@contextmanager
def full(kind: str, where: str, store: Any) -> Iterator[None]:
    """Let a store be read and not be written."""
    if kind == "redis":
        with redis.Redis.from_url(where) as admin:
            admin.config_set("maxmemory", "1")
            yield
            admin.config_set("maxmemory", "0")
    elif kind == "postgres":
        with psycopg.connect(where, autocommit=True) as admin_:
            admin_.execute("ALTER ROLE robotrules SET default_transaction_read_only = on")
            store._close_idle()  # connections know what was so when they began
            yield
            admin_.execute("SET default_transaction_read_only = off")
            admin_.execute("ALTER ROLE robotrules RESET default_transaction_read_only")
            store._close_idle()
    else:
        db = store._writes.db
        (pages,) = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count = {pages}")
        yield
        db.execute("PRAGMA max_page_count = 1000000")


@pytest.mark.parametrize("kind", ["sqlite", "redis", "postgres"])
def test_full(
    make: Make,
    web: Server,
    kind: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is in a full store is used; what is fetched meanwhile is known here alone."""
    where = place_of(kind, request, tmp_path)
    with closing(open_store(where)) as store:
        make(store=store).prefetch([A, C])
        client, patient = make(store=store), make(store=store)
        with full(kind, where, store):
            assert client.check(f"{B}/page")
            assert client.store_error is not None
            # That it can be read does not make it well.
            assert not client.check(f"{A}/private")
            assert client.store_error is not None
            follows_the_rfc(client, B)
            assert len(web.asked) == 4
            assert store.get(B, "ExampleBot") is None
            # Nor does it have to be well to be read.
            monkeypatch.setattr("robotrules.client.cache_engine.COOLDOWN", 5.0)
            assert patient.check(f"{B}/page")
            follows_the_rfc(patient, A)
            follows_the_rfc(patient, C)
            assert len(web.asked) <= 6, "the copies can be read"
        client.refresh(B)
        assert client.store_error is None
        entry = store.get(B, "ExampleBot")
        assert entry is not None
        assert entry.last_success is not None
        assert store.body(entry.last_success.digest or "") == file_of(B)


# --- Damage ---------------------------------------------------------------------------------------


def harm(octets: bytes) -> bytes:
    """Change one bit."""
    return octets[:-3] + bytes([octets[-3] ^ 1]) + octets[-2:]


def harm_redis(where: str, what: str) -> None:
    """Damage the entries or the bodies in a Redis."""
    pattern, field = {"entry": ("*:entry:*", "row"), "body": ("*:body:*", "octets")}[what]
    with redis.Redis.from_url(where) as admin:
        keys = list(admin.scan_iter(pattern))
        assert keys
        for key in keys:
            admin.hset(key, field, harm(admin.hget(key, field)))


def harm_postgres(where: str, what: str) -> None:
    """Damage the entries or the bodies in a PostgreSQL."""
    table, column = {"entry": ("entries", '"row"'), "body": ("bodies", "octets")}[what]
    with psycopg.connect(where) as admin:
        rows = admin.execute(f"SELECT {column} FROM robotrules_{table}").fetchall()
        assert rows
        for (octets,) in rows:
            query = f"UPDATE robotrules_{table} SET {column} = %s WHERE {column} = %s"
            admin.execute(query, (harm(octets), octets))


@pytest.mark.parametrize("what", ["entry", "body"])
@pytest.mark.parametrize("kind", ["redis", "postgres"])
def test_damaged(
    make: Make, web: Server, kind: str, what: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Damaged data is fetched again and repaired; without an answer the rules are unknown."""
    where = place_of(kind, request, tmp_path)
    make(store=where).check(A)
    (harm_redis if kind == "redis" else harm_postgres)(where, what)
    web.answers[f"{A}/robots.txt"] = Response(503)
    assert make(store=where).check(f"{A}/page").reason is Reason.UNREACHABLE
    web.answers[f"{A}/robots.txt"] = Response(200, {}, file_of(A))
    make(store=where).refresh(A)
    assert len(web.asked) == 3
    assert make(store=where).check(f"{A}/page").reason is Reason.NO_MATCH
    assert len(web.asked) == 3


# --- Files ----------------------------------------------------------------------------------------


class TestFile:
    """Whatever happens to the file below, no verdict is wrong."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return tmp_path / "robots.sqlite"

    def test_locked(self, make: Make, path: Path) -> None:
        client = make(store=path)
        assert client.check(f"{A}/page")
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            follows_the_rfc(client, B)
            assert "busy" in client.store_error
            other.execute("ROLLBACK")
        client.refresh(B)
        assert client.store_error is None

    def test_removed(self, make: Make, path: Path) -> None:
        client = make(store=path)
        assert client.check(f"{A}/page")
        for file in path.parent.iterdir():
            file.unlink()
        follows_the_rfc(client, B)
        follows_the_rfc(client, A)

    @pytest.mark.parametrize("keep", [0, 100, 5000])
    def test_cut(self, make: Make, path: Path, keep: int) -> None:
        client = make(store=path)
        assert client.check(f"{A}/page")
        for file in _files(path):
            with file.open("r+b") as stream:
                stream.truncate(min(keep, file.stat().st_size))
        follows_the_rfc(client, B)
        follows_the_rfc(client, A)

    def test_overwritten(self, make: Make, path: Path) -> None:
        client = make(store=path)
        assert client.check(f"{A}/page")
        for file in _files(path):
            file.write_bytes(b"\xa5" * file.stat().st_size)
        follows_the_rfc(client, B)
        follows_the_rfc(client, A)

    def test_no_room(self, path: Path) -> None:
        """A process that may write no further: all verdicts are right, and so is what it wrote."""
        ran = subprocess.run(
            [sys.executable, "-m", "tests.client.test_store_faults", str(path)],
            capture_output=True,
            text=True,
            timeout=60,
            cwd=Path(__file__).parents[2],
        )
        assert ran.returncode == 0, ran.stderr
        translate_error, allowed = json.loads(ran.stdout)
        assert str(path) in translate_error
        assert allowed == [True, False] * 100
        with closing(SQLiteStore(path)) as store:
            entries = list(store.entries())
            assert 0 < len(entries) < 100
            for entry in entries:
                assert entry.last_success is not None
                assert store.body(entry.last_success.digest or "") == file_of(entry.origin)
            assert len(list(store.fetch_records())) == len(entries)


def _files(path: Path) -> list[Path]:
    """Return the database and its log; not what is mapped into memory, where cutting kills."""
    return [file for file in path.parent.iterdir() if not file.name.endswith("-shm")]


def main(path: str) -> None:
    """Check a hundred origins with a store that has no space for them, and print the results."""
    import resource
    import signal

    web = Server()
    origins = [f"https://site{n}.example" for n in range(100)]
    for origin in origins:
        web.answers[f"{origin}/robots.txt"] = Response(200, {}, file_of(origin))
    # A limit on files has the effect of a full disk, without affecting other processes.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
    logging.getLogger("robotrules").addHandler(logging.NullHandler())
    with Client(AGENT, store=path, transport=web) as client:
        urls = [f"{origin}/{page}" for origin in origins for page in ("page", "private")]
        allowed = [client.check(url).allowed for url in urls]
        print(json.dumps([client.store_error, allowed]))


if __name__ == "__main__":
    main(sys.argv[1])
