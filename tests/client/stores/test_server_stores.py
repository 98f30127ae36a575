"""Stores on servers: down, stuck, restarted, full or with foreign keys; passwords stay hidden."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Any

import psycopg
import pytest
import redis

from robotrules.cache import Store, body_digest, updated_entry
from robotrules.client import open_store
from robotrules.client.stores import postgres, postgres_tables, server_guard
from robotrules.client.stores.postgres import PostgresStore
from robotrules.client.stores.redis import RedisStore
from robotrules.errors import StoreError
from tests.client.servers import PASSWORD, PostgresServer, RedisServer, Server, free_port
from tests.client.stores.sample_records import AGENT, BODY, NOW, ORIGIN, made

# A call may take as long as a connection and an answer, and a little.
BOUND = server_guard.CONNECT_TIMEOUT + server_guard.RESPONSE_TIMEOUT + 3


@pytest.fixture(params=["redis", "postgres"])
def fleet(request: pytest.FixtureRequest) -> tuple[Server, str]:
    """Each server, and the address of a store on it."""
    where: str = request.getfixturevalue(f"{request.param}_where")
    server: Server = request.getfixturevalue(f"{request.param}_server")
    return server, where


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Less patience, so that the tests need less."""
    for name in ("redis", "postgres"):
        monkeypatch.setattr(f"robotrules.client.stores.{name}.RESPONSE_TIMEOUT", 0.5)
    monkeypatch.setattr(server_guard, "SLOW_FAILURE", 0.3)
    monkeypatch.setattr(server_guard, "COOLDOWN", 1.0)


@contextmanager
def seconds(least: float, most: float) -> Iterator[None]:
    """Expect something to take so long."""
    started = time.monotonic()
    yield
    assert least <= time.monotonic() - started <= most


def put(store: Store, at: float = NOW) -> None:
    """Put a fetch record."""
    store.put(made(at), BODY, updated_entry(None, made(at)))


class TestAway:
    """A server that is not there costs little, and is used again once it is there."""

    def test_restarted(self, fleet: tuple[Server, str]) -> None:
        """Down: errors at once. Up again: it continues without any call."""
        server, where = fleet
        with closing(open_store(where)) as store, ThreadPoolExecutor(4) as pool:
            # Several connections, all of which the server will have closed.
            list(pool.map(lambda n: store.lease(f"{n}", "me", 9), range(40)))
            server.stop()
            try:
                for _ in range(3):
                    with seconds(0, 1), pytest.raises(StoreError, match="check that the server"):
                        store.get(ORIGIN, AGENT)
                with seconds(0, 1), pytest.raises(StoreError, match="is unavailable"):
                    open_store(where)
            finally:
                server.start()
            put(store)
            assert store.get(ORIGIN, AGENT) is not None
            server.stop()
            server.start()
            # The first call finds a connection that is closed, and makes another.
            assert store.lease("key", "me", 5)
            assert all(pool.map(lambda n: store.lease(f"{n}", "me", 9), range(40)))

    @pytest.mark.usefixtures("short")
    def test_stuck(self, fleet: tuple[Server, str]) -> None:
        """A server that does not answer: one waits, once; then it is left alone for a while."""
        server, where = fleet
        with closing(open_store(where)) as store:
            put(store)
            server.freeze()
            try:
                with seconds(0.3, BOUND), pytest.raises(StoreError, match="is unavailable"):
                    store.get(ORIGIN, AGENT)
                with seconds(0, 0.2), pytest.raises(StoreError, match="next attempt in"):
                    put(store, NOW + 1)
                with seconds(0.3, BOUND), pytest.raises(StoreError, match="is unavailable"):
                    open_store(where)
            finally:
                server.thaw()
            deadline = time.monotonic() + 10
            while True:
                try:
                    assert store.get(ORIGIN, AGENT) is not None
                    break
                except StoreError:
                    assert time.monotonic() < deadline
                    time.sleep(0.1)
            put(store, NOW + 2)

    @pytest.mark.parametrize("scheme", ["redis", "postgresql"])
    def test_out_of_reach(self, scheme: str) -> None:
        """A host that does not even refuse: the time of a connection, and nothing for the next."""
        with _silent() as port, closing(_lazy(f"{scheme}://127.0.0.1:{port}/0")) as store:
            with seconds(1, BOUND), pytest.raises(StoreError, match="is unavailable"):
                store.get(ORIGIN, AGENT)
            with seconds(0, 0.2), pytest.raises(StoreError, match="next attempt in"):
                store.get(ORIGIN, AGENT)

    @pytest.mark.parametrize("scheme", ["redis", "postgresql"])
    def test_not_that_server(self, scheme: str) -> None:
        """Something else listens there, and talks."""
        with _talking() as port, closing(_lazy(f"{scheme}://127.0.0.1:{port}/0")) as store:
            for _ in range(2):
                with seconds(0, BOUND), pytest.raises(StoreError, match="is unavailable"):
                    store.get(ORIGIN, AGENT)

    def test_lazy(self, fleet: tuple[Server, str]) -> None:
        """A store may be opened before its server is there."""
        server, where = fleet
        server.stop()
        try:
            store = open_store(where, lazy=True)
            with closing(store), pytest.raises(StoreError):
                store.get(ORIGIN, AGENT)
            store = open_store(where, lazy=True)
        finally:
            server.start()
        with closing(store):
            put(store)
            assert store.get(ORIGIN, AGENT) is not None

    def test_rest(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Only who waited makes others not wait, and an answer ends it."""
        clock = [100.0]
        monkeypatch.setattr(time, "monotonic", lambda: clock[0])
        state = server_guard.ServerGuard("Redis, host", ["pass"])
        assert "no pass" not in str(state.record_failure(OSError("no pass"), 100.0, "cure"))
        state.check()
        state.record_failure(OSError(), 98.0, "cure")
        with pytest.raises(StoreError, match="OSError; cure; next attempt in 5 s"):
            state.check()
        clock[0] += server_guard.COOLDOWN
        state.check()
        state.record_failure(OSError(), 90.0, "cure")
        state.record_success()
        state.check()


def _lazy(where: str) -> Store:
    return open_store(where, lazy=True)


@contextmanager
def _silent() -> Iterator[int]:
    """A port where no connection is ever accepted, nor refused: the queue is full."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        port: int = server.getsockname()[1]
        waiting = []
        for _ in range(8):
            one = socket.socket()
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
            waiting.append(one)
        try:
            yield port
        finally:
            for one in waiting:
                one.close()


@contextmanager
def _talking() -> Iterator[int]:
    """A port on which a server speaks another protocol."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            while True:
                try:
                    with server.accept()[0] as one:
                        one.recv(100)
                        one.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
                except OSError:
                    return

        thread = threading.Thread(target=answer)
        thread.start()
        port: int = server.getsockname()[1]
        try:
            yield port
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


class TestSecrets:
    """A password is in no name, no error and no log."""

    def test_no_message_contains_the_password(
        self, fleet: tuple[Server, str], caplog: pytest.LogCaptureFixture
    ) -> None:
        """Wrong, right, or on the way to a server that is not there."""
        server, where = fleet
        caplog.set_level(logging.DEBUG)
        wrong = where.replace("s3cr3t", "s3cr3tly-wrong")
        nobody = where.replace(f":{server.port}", f":{free_port()}")
        said = []
        for there in (wrong, nobody):
            with pytest.raises(StoreError) as error:
                open_store(there)
            said += [str(error.value), repr(error.value), str(error.value.__cause__)]
            assert error.value.__suppress_context__
        with closing(open_store(where)) as store:
            said += [store.name, repr(store)]
        words = "\n".join([*said, caplog.text])
        assert "s3cr3t" not in words
        assert PASSWORD not in words

    def test_servers_that_repeat_it(self) -> None:
        """An old server quotes what it was sent."""
        state = server_guard.ServerGuard("Redis, host", [PASSWORD, None, ""])
        error = state.record_failure(OSError(f"unknown command AUTH {PASSWORD}"), 0.0, "cure")
        assert "s3cr3t" not in str(error)
        assert "***" in str(error)


class TestRedis:
    """What Redis alone has."""

    @pytest.fixture
    def client(self, redis_where: str) -> Iterator[Any]:
        """A way behind the store's back."""
        with redis.Redis.from_url(redis_where) as client:
            yield client

    @pytest.fixture
    def store(self, redis_where: str, client: Any) -> Iterator[RedisStore]:
        """A store with one fetch record."""
        with closing(RedisStore(redis_where)) as store:
            put(store)
            yield store

    def test_keys(self, store: RedisStore, client: Any) -> None:
        """All have the prefix; only leases and slots expire by themselves."""
        assert store.lease("key", "me", 60)
        store.reserve_slot(ORIGIN, NOW, 1)
        store.postpone_slot("https://b.example", NOW)
        lives = {key.decode(): client.ttl(key) for key in client.scan_iter()}
        assert all(key.startswith("robotrules:") for key in lives)
        expiring = {key for key, left in lives.items() if left != -1}
        assert expiring == {
            "robotrules:lease:key",
            f"robotrules:turn:{ORIGIN}",
            "robotrules:turn:https://b.example",
        }
        assert 50 <= lives["robotrules:lease:key"] <= 60

    def test_nothing_is_left(self, store: RedisStore, client: Any) -> None:
        """What is forgotten leaves no key behind."""
        put(store, NOW + 1)
        store.put(made(NOW + 2, b"# x", may_store=False), None, None)
        assert store.prune(NOW + 9) == 0
        assert store.prune_evidence(NOW + 9) == 3
        assert [*client.scan_iter()] == [b"robotrules:version"]

    def test_keys_is_never_sent(self, store: RedisStore, client: Any) -> None:
        """A server with millions of keys is not stopped by us."""
        client.config_resetstat()
        list(store.entries())
        list(store.fetch_records())
        store.prune(NOW)
        store.prune_evidence(NOW)
        assert "cmdstat_keys" not in client.info("commandstats")

    def test_of_another_program(self, redis_where: str, client: Any) -> None:
        """Foreign keys are detected when the store is opened, or when they conflict."""
        client.set("robotrules:version", "mine")
        with pytest.raises(StoreError, match="another program"):
            RedisStore(redis_where)
        client.set("robotrules:version", "99")
        with pytest.raises(StoreError, match="newer robotrules"):
            RedisStore(redis_where)
        client.set("robotrules:version", "1")
        client.set(f"robotrules:entry:{AGENT}:{ORIGIN}", "text")
        with closing(RedisStore(redis_where)) as store:
            with pytest.raises(StoreError, match="WRONGTYPE"):
                store.get(ORIGIN, AGENT)
            with pytest.raises(StoreError, match="WRONGTYPE"):
                put(store)

    def test_damage(self, store: RedisStore, client: Any) -> None:
        """What is not what was put is none, or an error."""
        entry, fetch_records = f"robotrules:entry:{AGENT}:{ORIGIN}", f"robotrules:visits:{ORIGIN}"
        row = client.hget(entry, "row")
        client.hset(entry, "row", row[:-1])
        assert store.get(ORIGIN, AGENT) is None
        assert list(store.entries()) == []
        client.hset(f"robotrules:entry:{AGENT}:https://b.example", "row", row)
        assert store.get("https://b.example", AGENT) is None
        client.hset(f"robotrules:body:{body_digest(BODY)}", "octets", b"other")
        assert store.body(body_digest(BODY)) is None
        (name,) = client.hkeys(fetch_records)
        client.hset(fetch_records, name, b"other")
        for origin in (None, ORIGIN):
            with pytest.raises(StoreError, match="damaged or evicted"):
                list(store.fetch_records(origin))

    def test_eviction(self, store: RedisStore, client: Any) -> None:
        """Evidence that a server threw away is missed; entries and bodies are fetched again."""
        client.delete(f"robotrules:visits:{ORIGIN}")
        with pytest.raises(StoreError, match="noeviction"):
            list(store.fetch_records())
        client.delete(f"robotrules:entry:{AGENT}:{ORIGIN}")
        assert store.get(ORIGIN, AGENT) is None
        assert list(store.entries()) == []
        assert store.prune(NOW - 1) == 0
        assert client.zcard("robotrules:entries") == 0
        assert store.prune_evidence(NOW + 1) == 1
        put(store, NOW + 5)
        assert store.body(body_digest(BODY)) == BODY

    def test_full(self, store: RedisStore, client: Any) -> None:
        """A server without memory takes nothing, and nothing is half put."""
        client.config_set("maxmemory", 1)
        try:
            for call in (lambda: put(store, NOW + 1), lambda: store.lease("key", "me", 1)):
                with pytest.raises(StoreError, match="memory"):
                    call()
            assert store.get(ORIGIN, AGENT) == updated_entry(None, made())
            assert list(store.fetch_records()) == [made()]
        finally:
            client.config_set("maxmemory", 0)
        put(store, NOW + 1)

    def test_scripts_are_loaded_again(self, store: RedisStore, client: Any) -> None:
        """A server that was restarted has forgotten them."""
        client.script_flush()
        assert store.lease("key", "me", 1)
        client.script_flush()
        assert store.add([(made(NOW + 1), BODY), (made(NOW + 2), None)]) == 2

    def test_settings_of_the_address(self, redis_server: RedisServer, redis_where: str) -> None:
        """What the address says goes before; texts are octets all the same."""
        where = f"{redis_where}?decode_responses=true&socket_timeout=3&max_connections=2"
        with closing(RedisStore(where)) as store:
            put(store)
            assert store.get(ORIGIN, AGENT) is not None
            assert store.body(body_digest(BODY)) == BODY
            assert store._redis.connection_pool.connection_kwargs["socket_timeout"] == 3
        assert store.name == f"Redis, 127.0.0.1:{redis_server.port}/0"

    @pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
    def test_fork(self, store: RedisStore) -> None:
        """A child process has separate connections."""
        _forked(store)


class TestPostgres:
    """What PostgreSQL alone has."""

    @pytest.fixture
    def client(self, postgres_where: str) -> Iterator[psycopg.Connection[Any]]:
        """A way behind the store's back."""
        with psycopg.connect(postgres_where, autocommit=True) as client:
            yield client

    @pytest.fixture
    def store(self, postgres_where: str) -> Iterator[PostgresStore]:
        """A store with one fetch record."""
        with closing(PostgresStore(postgres_where)) as store:
            put(store)
            yield store

    def test_tables(self, store: PostgresStore, client: psycopg.Connection[Any]) -> None:
        """All have the prefix, and are in the schema of the connection."""
        found = client.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
        ).fetchall()
        assert sorted(name for (name,) in found) == sorted(postgres_tables.TABLES)

    def test_of_another_program(self, postgres_where: str, client: psycopg.Connection[Any]) -> None:
        """Foreign tables, or tables of a newer version."""
        client.execute("CREATE TABLE robotrules_store (mine text)")
        with pytest.raises(StoreError, match="another program"):
            PostgresStore(postgres_where)
        client.execute("DROP TABLE robotrules_store")
        client.execute("CREATE VIEW robotrules_store AS SELECT 'x'::text AS version")
        with pytest.raises(StoreError, match="another program"):
            PostgresStore(postgres_where)
        client.execute("DROP VIEW robotrules_store")
        PostgresStore(postgres_where).close()
        client.execute("UPDATE robotrules_store SET version = 99")
        with pytest.raises(StoreError, match="newer robotrules"):
            PostgresStore(postgres_where)

    def test_missing_tables_are_made(
        self, postgres_where: str, client: psycopg.Connection[Any]
    ) -> None:
        """A dropped table is an error, and is created again when a store is opened."""
        with closing(PostgresStore(postgres_where)) as store:
            client.execute("DROP TABLE robotrules_turns")
            with pytest.raises(StoreError, match="robotrules_turns"):
                store.reserve_slot(ORIGIN, NOW, 1)
        with closing(PostgresStore(postgres_where)) as store:
            assert store.reserve_slot(ORIGIN, NOW, 1) == NOW

    def test_may_not(self, postgres_server: PostgresServer) -> None:
        """A schema that does not exist: nothing can be made in it."""
        with pytest.raises(StoreError, match="permissions of the user"):
            PostgresStore(postgres_server.url("nowhere"))

    def test_made_by_many_threads(self, postgres_where: str) -> None:
        """Tables are made once, by whoever comes first."""
        with ThreadPoolExecutor(8) as pool:
            stores = list(pool.map(PostgresStore, [postgres_where] * 8))
        for store in stores:
            store.close()

    def test_damage(self, store: PostgresStore, client: psycopg.Connection[Any]) -> None:
        """What is not what was put is none, or an error."""
        client.execute("UPDATE robotrules_entries SET origin = 'https://b.example'")
        assert store.get("https://b.example", AGENT) is None
        client.execute("UPDATE robotrules_entries SET row = substr(row, 2)")
        assert list(store.entries()) == []
        client.execute("UPDATE robotrules_bodies SET octets = 'other'")
        assert store.body(body_digest(BODY)) is None
        put(store, NOW + 1)
        assert store.body(body_digest(BODY)) == BODY
        client.execute("UPDATE robotrules_visits SET row = 'other'")
        for origin in (None, ORIGIN):
            with pytest.raises(StoreError, match="damaged"):
                list(store.fetch_records(origin))

    def test_a_statement_that_takes_long(
        self, postgres_where: str, client: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The server stops it; the next call is none the worse."""
        monkeypatch.setattr(postgres, "RESPONSE_TIMEOUT", 0.5)
        with closing(PostgresStore(postgres_where)) as store:
            with client.transaction():
                client.execute("LOCK TABLE robotrules_leases")
                with seconds(0.3, 4), pytest.raises(StoreError, match="timeout"):
                    store.lease("key", "me", 1)
                assert store.get(ORIGIN, AGENT) is None
            assert store.lease("key", "me", 1)

    def test_a_body_that_is_just_needed(
        self, store: PostgresStore, client: psycopg.Connection[Any]
    ) -> None:
        """A put keeps its body even if a concurrent prune is examining it."""
        assert store.prune(NOW + 9) == 1
        with ThreadPoolExecutor(1) as pool:
            with client.transaction():
                client.execute(
                    "INSERT INTO robotrules_visits (origin, at, agent, digest, status, row) "
                    "SELECT origin, at + 5, agent, digest, status, row FROM robotrules_visits"
                )
                task = pool.submit(store.prune_evidence, NOW + 1)
                time.sleep(0.3)
                assert not task.done()
            assert task.result() == 1
        assert store.body(body_digest(BODY)) == BODY

    def test_deadlocks(self, store: PostgresStore) -> None:
        """A conflicting transaction is retried once."""
        calls = []

        def work(db: psycopg.Connection[Any], times: int) -> str:
            calls.append(db)
            if len(calls) <= times:
                raise psycopg.errors.DeadlockDetected("deadlock detected")
            return "done"

        assert store._call(work, 1) == "done"
        calls.clear()
        with pytest.raises(StoreError, match="deadlock"):
            store._call(work, 9)
        assert len(calls) == 2
        assert all(db.closed for db in calls)

    def test_interrupted(self, store: PostgresStore) -> None:
        """A connection that is in the middle of something is not used again."""

        def work(db: psycopg.Connection[Any]) -> None:
            db.execute("BEGIN")
            raise KeyboardInterrupt

        for _ in range(2 * postgres.CONNECTIONS):
            with pytest.raises(KeyboardInterrupt):
                store._call(work)
        put(store, NOW + 1)

    def test_few_connections(self, store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
        """Many threads share a few; a thread that gets none in time gets an error."""
        with ThreadPoolExecutor(40) as pool:
            list(pool.map(lambda n: store.lease(f"{n}", "me", 5), range(200)))
        assert 1 <= len(store._idle) <= postgres.CONNECTIONS
        monkeypatch.setattr(postgres, "RESPONSE_TIMEOUT", 0.05)
        for _ in range(postgres.CONNECTIONS):
            store._connection_slots.acquire()
        with pytest.raises(StoreError, match="all 8 connections are in use"):
            store.get(ORIGIN, AGENT)
        for _ in range(postgres.CONNECTIONS):
            store._connection_slots.release()

    def test_closed_meanwhile(self, store: PostgresStore) -> None:
        """A connection in use when the store is closed is closed when it is given back."""
        used: list[psycopg.Connection[Any]] = []

        def work(db: psycopg.Connection[Any]) -> None:
            used.append(db)
            store.close()

        store._call(work)
        assert used[0].closed

    def test_settings_of_the_address(self, postgres_where: str) -> None:
        """What the address says goes before."""
        where = f"{postgres_where}%20-cstatement_timeout%3D1234&application_name=mine"
        with closing(PostgresStore(where)) as store:
            assert store._rows("SHOW statement_timeout", ()) == [("1234ms",)]
            assert store._rows("SHOW lock_timeout", ()) == [("5s",)]
            assert store._rows("SHOW application_name", ()) == [("mine",)]

    @pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
    def test_fork(self, store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
        """A child process has separate connections, also after a fork outside Python."""
        _forked(store)
        assert store._idle
        store._process = -1
        old = list(store._idle)
        assert store.get(ORIGIN, AGENT) is not None
        assert not set(old) & set(store._idle)
        for db in old:
            db.close()  # here they are this process's after all
        monkeypatch.setattr(postgres, "FORK_TIMEOUT", 0.05)
        with store._lock:
            _in_child(lambda: store.get(ORIGIN, AGENT))


def _forked(store: Store) -> None:
    """Use a store in parent and child."""
    _in_child(lambda: put(store, NOW + 1))
    entry = store.get(ORIGIN, AGENT)
    assert entry is not None
    assert entry.last_fetch_at == NOW + 1
    put(store, NOW + 2)
    assert [fetch_record.at - NOW for fetch_record in store.fetch_records()] == [0, 1, 2]


def _in_child(work: Callable[[], object]) -> None:
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
