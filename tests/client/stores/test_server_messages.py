"""Error messages of the stores on servers, and the calls they make to their libraries."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest
import redis

from robotrules.cache import updated_entry
from robotrules.client.stores import postgres, serialization, server_guard
from robotrules.client.stores import redis as redis_store
from robotrules.client.stores.postgres import PostgresStore
from robotrules.client.stores.redis import RedisStore
from robotrules.errors import StoreError
from tests.client.servers import PostgresServer, RedisServer, free_port
from tests.client.stores.sample_records import AGENT, BODY, NOW, ORIGIN, made


def words_of(error: type[Exception], act: Callable[[], object]) -> str:
    """Return the words of the error that something raises."""
    with pytest.raises(error) as caught:
        act()
    return str(caught.value)


class TestAway:
    """What both have in common."""

    @pytest.mark.parametrize(
        ("url", "is_right"),
        [
            ("redis://:pass@host:1/0", True),
            ("redis://host/0?a=b#c", True),
            ("redis://:12/34@host", False),
            ("redis://:12?34@host", False),
            ("redis://:12#34@host", False),
            ("redis://:a@b@host", False),
            ("redis://:pass@host/0@1", False),
            ("redis://host/a/b@c", False),
            ("redis://:a://b@host", False),
        ],
    )
    def test_addresses(self, url: str, is_right: bool) -> None:
        """What is special in a password is encoded."""
        if is_right:
            server_guard.vet_address(url)
        else:
            assert words_of(ValueError, lambda: server_guard.vet_address(url)) == ""

    def test_words(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Problem, cause and fix on one line, without the password in any spelling."""
        now = [100.0]
        monkeypatch.setattr(time, "monotonic", lambda: now[0])
        state = server_guard.ServerGuard("Redis, host", ["a/b", "a/b/c", None, ""])
        error = OSError("a/b/c said\n  a%2Fb%2Fc and a/b; a%2Fb")
        words = "Redis, host is unavailable: *** said *** and ***; ***; cure"
        assert str(state.record_failure(error, 100.0, "cure")) == words
        assert str(state.record_failure(OSError(), 100.0, "cure")) == (
            "Redis, host is unavailable: OSError; cure"
        )
        long = state.record_failure(OSError("x" * 600), 100.0, "cure")
        assert str(long) == f"Redis, host is unavailable: {'x' * 500}; cure"
        state.check()
        state.record_failure(OSError("slow"), 100.0 - server_guard.SLOW_FAILURE, "cure")
        assert words_of(StoreError, state.check) == (
            "Redis, host is unavailable: slow; cure; next attempt in 5 s"
        )
        now[0] += server_guard.COOLDOWN - 1
        assert words_of(StoreError, state.check).endswith("; next attempt in 1 s")
        now[0] += 1
        state.check()
        state.record_failure(OSError("slow"), now[0] - server_guard.SLOW_FAILURE, "cure")
        state.record_success()
        state.check()
        state.record_failure(OSError("quick"), now[0] - server_guard.SLOW_FAILURE + 0.001, "cure")
        state.check()

    def test_one_password_in_another(self) -> None:
        """The longer one goes first, or a part of it would be left."""
        state = server_guard.ServerGuard("Redis, host", ["b", "ab"])
        words = str(state.record_failure(OSError("ab"), time.monotonic(), "cure"))
        assert words == "Redis, host is unavailable: ***; cure"

    def test_a_clock_that_has_just_started(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The monotonic clock may be that of a machine that was started this moment."""
        monkeypatch.setattr(time, "monotonic", lambda: 0.0)
        state = server_guard.ServerGuard("Redis, host", [])
        state.check()
        state.record_failure(OSError("slow"), -server_guard.SLOW_FAILURE, "cure")
        assert words_of(StoreError, state.check)
        state.record_success()
        state.check()


def test_a_library_message_with_the_password(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages of redis or psycopg are shown without it, both encoded and decoded."""

    def tell(error: type[Exception]) -> Callable[..., Any]:
        def refuse(*_: object, **options: object) -> Any:
            raise error("se/cret and se%2Fcret are wrong")

        return refuse

    monkeypatch.setattr(redis.Redis, "setnx", tell(redis.AuthenticationError))
    monkeypatch.setattr(postgres._Connection, "connect", tell(psycopg.OperationalError))
    for store in (
        RedisStore("redis://:se%2Fcret@h/0", lazy=True),
        PostgresStore("postgresql://u:se%2Fcret@h/d", lazy=True),
    ):
        words = words_of(StoreError, lambda store=store: store.get(ORIGIN, AGENT))  # type: ignore[misc]
        assert words.startswith(f"{store.name} is unavailable: *** and *** are wrong; check ")
        store.close()


def assert_all_pages_are_read(store: RedisStore | PostgresStore) -> None:
    """Put fetch records, some with the same time; find and prune all of them."""
    for number in range(7):
        fetch_record = made(NOW + number // 4, origin=f"https://s{number}.example")
        store.put(fetch_record, BODY, updated_entry(None, fetch_record))
    assert [entry.origin for entry in store.entries()] == [
        f"https://s{number}.example" for number in range(7)
    ]
    assert len({fetch_record.origin for fetch_record in store.fetch_records()}) == 7
    assert store.prune(NOW + 1) == 4
    assert store.prune_evidence(NOW + 1) == 4


class TestRedis:
    """The store on a Redis server."""

    @pytest.fixture
    def client(self, redis_where: str) -> Iterator[Any]:
        """A way behind the store's back."""
        with redis.Redis.from_url(redis_where) as client:
            yield client

    def test_names(self, redis_server: RedisServer, redis_where: str) -> None:
        """Where it is, without a password."""
        with closing(RedisStore(redis_where)) as store:
            assert store.name == f"Redis, 127.0.0.1:{redis_server.port}/0"
        for url, name in (
            ("redis://", "localhost:6379/0"),
            ("redis://h:7/3", "h:7/3"),
            ("unix:///a.sock?db=2", "/a.sock/2"),
        ):
            store = RedisStore(url, lazy=True)
            assert store.name == f"Redis, {name}"
            store.close()

    def test_addresses_that_cannot_be_read(self) -> None:
        """None of them appears in a message."""
        for url in ("redis://:a@b@c", "redis://h:port/0"):
            assert words_of(ValueError, lambda url=url: RedisStore(url)) == (  # type: ignore[misc]
                "the address of the Redis store cannot be read: use redis://HOST:PORT/NUMBER, and "
                "percent-encode special characters in a password"
            )

    def test_versions(self, redis_where: str, client: Any) -> None:
        """Another program's, a newer one, an older one."""
        name = RedisStore(redis_where).name
        client.set("robotrules:version", "mine")
        assert words_of(StoreError, lambda: RedisStore(redis_where)) == (
            f"{name} has keys of another program at robotrules:*: use another database"
        )
        client.set("robotrules:version", "99")
        assert words_of(StoreError, lambda: RedisStore(redis_where)) == (
            f"{name} was created by a newer robotrules (version 99; this one supports "
            f"{serialization.VERSION}): upgrade robotrules, or use another database"
        )
        client.set("robotrules:version", "1")
        RedisStore(redis_where).close()
        assert client.get("robotrules:version") == str(serialization.VERSION).encode()

    def test_the_version_is_looked_at_once(self, redis_where: str, client: Any) -> None:
        """When the store is opened, and not at each call."""
        with closing(RedisStore(redis_where)) as store:
            client.config_resetstat()
            for _ in range(3):
                store.body("0" * 64)
            found = client.info("commandstats")
            assert found["cmdstat_hget"]["calls"] == 3
            assert {"cmdstat_setnx", "cmdstat_get"}.isdisjoint(found)

    def test_many_calls_in_one_go(self, redis_where: str, client: Any) -> None:
        """Without MULTI, which proxies do not know."""
        with closing(RedisStore(redis_where)) as store:
            client.config_resetstat()
            store.add([(made(), BODY), (made(NOW + 1), None)])
            store.put(made(), BODY, updated_entry(None, made()))
            assert (len([*store.fetch_records()]), len([*store.entries()])) == (2, 1)
            assert "cmdstat_multi" not in client.info("commandstats")

    def test_leases_on_the_server(self, redis_where: str, client: Any) -> None:
        """They last as long as was asked, a year at most; who holds one may be anything."""
        with closing(RedisStore(redis_where)) as store:
            for seconds, most in ((0.5, 500), (60, 60_000), (1e9, 12 * 31 * 86_400_000)):
                assert store.lease("key", "me", seconds)
                assert most - 10_000 < client.pttl("robotrules:lease:key") <= most
            client.set("robotrules:lease:key", b"\xff")
            assert store.holder("key") == "\ufffd"

    def test_a_body_without_references(self, redis_where: str, client: Any) -> None:
        """An entry of failures alone needs none."""
        with closing(RedisStore(redis_where)) as store:
            failed = made(NOW, None)
            store.put(failed, None, updated_entry(None, failed))
            assert [*client.scan_iter("robotrules:body:*")] == []

    def test_what_is_forgotten_while_it_is_read(
        self, redis_where: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Pruning by another process between two queries is not damage."""
        with closing(RedisStore(redis_where)) as store:
            store.put(made(), BODY, None)
            usual = store._each

            def late(command: str, calls: list[tuple[Any, ...]]) -> list[Any]:
                assert store.prune_evidence(NOW + 1) == 1
                return usual(command, calls)

            monkeypatch.setattr(store, "_each", late)
            assert list(store.fetch_records()) == []

    def test_damage_and_the_end(self, redis_where: str, client: Any) -> None:
        """The message names the fetch, the place and the fix, and that the store was closed."""
        store = RedisStore(redis_where)
        store.put(made(), BODY, updated_entry(None, made()))
        (name,) = client.hkeys(f"robotrules:visits:{ORIGIN}")
        client.hset(f"robotrules:visits:{ORIGIN}", name, b"other")
        assert words_of(StoreError, lambda: list(store.fetch_records())) == (
            f"the fetch record of {ORIGIN} at {NOW} is damaged or evicted ({store.name}): set "
            "maxmemory-policy noeviction, and prune the evidence up to that time"
        )
        store.close()
        words = f"{store.name} is closed: open another one"
        assert words_of(StoreError, lambda: store.get(ORIGIN, AGENT)) == words

    def test_connection_refused(self) -> None:
        """The message of the library, and the fix."""
        store = RedisStore(f"redis://127.0.0.1:{free_port()}/0", lazy=True)
        words = words_of(StoreError, lambda: store.get(ORIGIN, AGENT))
        assert words.startswith(f"{store.name} is unavailable: ")
        assert words.endswith("; check that the server runs, its address and its password")

    def test_settings(self) -> None:
        """Times and bounds; what the address says goes before, but for what is needed."""
        store = RedisStore("redis://h/0?socket_timeout=9&decode_responses=yes", lazy=True)
        pool = store._redis.connection_pool
        given = pool.connection_kwargs
        assert (given["socket_connect_timeout"], given["socket_timeout"]) == (
            server_guard.CONNECT_TIMEOUT,
            9.0,
        )
        assert (given["client_name"], given["decode_responses"]) == ("robotrules", False)
        assert (pool.max_connections, pool.timeout) == (
            redis_store.CONNECTIONS,
            server_guard.RESPONSE_TIMEOUT,
        )
        assert given["retry"]._retries == 1
        assert given["retry"]._supported_errors == (redis.ConnectionError,)
        store.close()

    def test_many_pages(self, redis_where: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """What is read in pages is all there, also of one moment."""
        monkeypatch.setattr(redis_store, "PAGE", 2)
        monkeypatch.setattr(redis_store, "BATCH", 2)
        with closing(RedisStore(redis_where)) as store:
            assert_all_pages_are_read(store)


class TestPostgres:
    """The store on a PostgreSQL server."""

    def test_names(self, postgres_server: PostgresServer, postgres_where: str) -> None:
        """Where it is, without a password."""
        with closing(PostgresStore(postgres_where)) as store:
            assert store.name == f"PostgreSQL, 127.0.0.1:{postgres_server.port}/postgres"
        for url, name in (
            ("postgresql://", "localhost:5432/"),
            ("postgresql://u:p@h:7/d", "h:7/d"),
            ("postgresql://h:1,i:2/d", "h,i:1,2/d"),
        ):
            assert PostgresStore(url, lazy=True).name == f"PostgreSQL, {name}"

    def test_addresses_that_cannot_be_read(self) -> None:
        """None of them appears in a message."""
        for url in ("postgresql://a@b@c", "postgresql://h:port/d", "postgresql://h/d?x=y"):
            assert words_of(ValueError, lambda url=url: PostgresStore(url)) == (  # type: ignore[misc]
                "the address of the PostgreSQL store cannot be read: use "
                "postgresql://USER@HOST:PORT/DATABASE, and percent-encode special characters "
                "in a password"
            )

    def test_settings(self) -> None:
        """Times and names; what the address says goes before."""
        store = PostgresStore("postgresql://h/d", lazy=True)
        given = psycopg.conninfo.conninfo_to_dict(store._address)
        assert (given["connect_timeout"], given["application_name"]) == ("2", "robotrules")
        assert given["options"] == "-c statement_timeout=5000 -c lock_timeout=5000 "
        store = PostgresStore("postgresql://h/d?connect_timeout=9&options=-cx%3Dy", lazy=True)
        given = psycopg.conninfo.conninfo_to_dict(store._address)
        assert given["connect_timeout"] == "9"
        assert given["options"] == "-c statement_timeout=5000 -c lock_timeout=5000 -cx=y"

    def test_versions(self, postgres_where: str) -> None:
        """Another program's, a newer one, an older one."""
        store = PostgresStore(postgres_where)
        name = store.name
        with psycopg.connect(postgres_where, autocommit=True) as db:
            db.execute("UPDATE robotrules_store SET version = 99")
            assert words_of(StoreError, lambda: PostgresStore(postgres_where)) == (
                f"{name} was created by a newer robotrules (version 99; this one supports "
                f"{serialization.VERSION}): upgrade robotrules, or use another database"
            )
            db.execute("UPDATE robotrules_store SET version = 1")
            PostgresStore(postgres_where).close()
            assert db.execute("SELECT version FROM robotrules_store").fetchall() == [
                (serialization.VERSION,)
            ]
            db.execute("DROP TABLE robotrules_store")
            db.execute("CREATE TABLE robotrules_store (x text)")
            assert words_of(StoreError, lambda: PostgresStore(postgres_where)) == (
                f"{name} has tables of another program that are called robotrules_*: use another "
                "database, or another schema (?options=-csearch_path%3DNAME)"
            )
        store.close()

    def test_damage_and_the_end(self, postgres_where: str) -> None:
        """The message names the fetch, the place and the fix, and that the store was closed."""
        store = PostgresStore(postgres_where)
        store.put(made(), BODY, updated_entry(None, made()))
        with psycopg.connect(postgres_where, autocommit=True) as db:
            db.execute("UPDATE robotrules_visits SET \"row\" = 'x'")
        assert words_of(StoreError, lambda: list(store.fetch_records())) == (
            f"the fetch record of {ORIGIN} at {NOW} is damaged in {store.name}: restore it, or "
            "prune the evidence up to that time"
        )
        store.close()
        words = f"{store.name} is closed: open another one"
        assert words_of(StoreError, lambda: store.get(ORIGIN, AGENT)) == words

    def test_connection_refused_by_postgresql(self) -> None:
        """The message of the library, and the fix."""
        store = PostgresStore(f"postgresql://127.0.0.1:{free_port()}/d", lazy=True)
        words = words_of(StoreError, lambda: store.get(ORIGIN, AGENT))
        assert words.startswith(f"{store.name} is unavailable: ")
        assert words.endswith(
            "; check that the server runs, its address, its password and the permissions of "
            "the user"
        )

    def test_busy(self, postgres_where: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """All connections in use, and slots that never remain."""
        monkeypatch.setattr(postgres, "RESPONSE_TIMEOUT", 0.01)
        with closing(PostgresStore(postgres_where, lazy=True)) as store:
            for _ in range(postgres.CONNECTIONS):
                assert store._connection_slots.acquire(timeout=0)
            words = f"{store.name} is busy: all 8 connections are in use"
            assert words_of(StoreError, lambda: store.get(ORIGIN, AGENT)) == words
            for _ in range(postgres.CONNECTIONS):
                store._connection_slots.release()
            asked: list[str] = []

            def nothing(query: str, values: object) -> list[Any]:
                asked.append(query)
                return []

            monkeypatch.setattr(store, "_rows", nothing)
            words = f"{store.name} is busy: the slots of {ORIGIN} change continuously"
            assert words_of(StoreError, lambda: store.begin_slot(ORIGIN, NOW, 1)) == words
            assert len(asked) == 2 * postgres.ATTEMPTS

    def test_a_slot_that_is_free_by_now(
        self, postgres_where: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What was changed between two statements is tried again: it has not begun."""
        with closing(PostgresStore(postgres_where, lazy=True)) as store:
            answers = [[], [(NOW,)], [(NOW,)], []]
            monkeypatch.setattr(store, "_rows", lambda query, values: answers.pop(0))
            assert store.begin_slot(ORIGIN, NOW, 1) == NOW
            assert answers == [[]]

    def test_no_statement_is_prepared(self, postgres_where: str) -> None:
        """A pooler may give each call another session."""
        with closing(PostgresStore(postgres_where)) as store:
            assert store._call(lambda db: db.prepare_threshold) is None

    def test_before_and_after_a_fork(self, postgres_where: str) -> None:
        """Nothing idle goes into it, nobody takes a connection meanwhile; a child starts anew."""
        unused = PostgresStore(postgres_where, lazy=True)
        before = unused._lock, unused._connection_slots
        unused.before_fork()
        unused.after_fork()
        assert (unused._lock, unused._connection_slots) == before
        with closing(PostgresStore(postgres_where)) as store:
            [idle] = store._idle
            store.before_fork()
            assert (idle.closed, store._idle, store._lock.locked()) == (True, [], True)
            store.after_fork()
            assert not store._lock.locked()
            lock = store._lock
            store.before_fork()
            for _ in range(postgres.CONNECTIONS):
                assert store._connection_slots.acquire(timeout=0)
            store._process = -1  # as if this were the child
            store.after_fork()
            assert store._lock is not lock
            assert store.get(ORIGIN, AGENT) is None
            for _ in range(postgres.CONNECTIONS):
                assert store._connection_slots.acquire(timeout=0)
            assert not store._connection_slots.acquire(timeout=0)
            for _ in range(postgres.CONNECTIONS):
                store._connection_slots.release()

    def test_connections_that_end(self, postgres_where: str) -> None:
        """One that was idle is replaced, once; a new one that ends is an error."""
        calls: list[psycopg.Connection[Any]] = []

        def work(db: psycopg.Connection[Any], times: int) -> str:
            calls.append(db)
            if len(calls) <= times:
                db.execute("SELECT pg_terminate_backend(pg_backend_pid())")
            return "done"

        with closing(PostgresStore(postgres_where)) as store:
            assert store._call(work, 1) == "done"
            assert len(calls) == 2
            for attempts in (2, 1):
                calls.clear()
                assert "terminat" in words_of(StoreError, lambda: store._call(work, 9))
                assert len(calls) == attempts
                assert all(db.closed for db in calls)

    def test_a_wait_that_ends(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """What is waited for is passed on; an answer may be late, and none is an error at last."""
        now = [100.0]
        monkeypatch.setattr(time, "monotonic", lambda: now[0])

        def asking() -> Generator[str, Any, list[Any]]:
            return [(yield "first"), (yield "second"), (yield "third")]

        wait = postgres._bounded(asking())
        assert next(wait) == "first"
        now[0] += server_guard.RESPONSE_TIMEOUT + 1
        assert wait.send(0) == "second"
        now[0] += 0.1
        assert wait.send(1) == "third"
        with pytest.raises(StopIteration) as stop:
            wait.send(2)
        assert stop.value.value == [0, 1, 2]
        wait = postgres._bounded(asking())
        next(wait)
        now[0] += server_guard.RESPONSE_TIMEOUT + 1.1
        assert words_of(psycopg.OperationalError, lambda: wait.send(0)) == "no response in 6 s"

    def test_many_pages(self, postgres_where: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """What is read in pages is all there, also of one moment."""
        monkeypatch.setattr(postgres, "PAGE", 2)
        monkeypatch.setattr(postgres, "BATCH", 2)
        with closing(PostgresStore(postgres_where)) as store:
            assert_all_pages_are_read(store)
