"""
The source of a fetch, in all four stores: own fetches and imports stay apart, names cannot reach
into the keys of others, and stores of version 1 are read as they are.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis

from robotrules.cache import Entry, Provenance, Store, body_digest, updated_entry
from robotrules.client import open_store
from robotrules.client.stores import SQLiteStore, serialization
from robotrules.client.stores.redis import RedisStore
from robotrules.client.stores.serialization import (
    parse_entry,
    parse_record,
    serialize_entry,
    serialize_record,
)
from tests.client.stores.sample_records import AGENT, BODY, NOW, ORIGIN, made

ARCHIVE = Provenance("crawl.warc.gz", body_digest(b"an archive"), NOW + 500)
IMPORTED = made(provenance=ARCHIVE)


class TestProvenance:
    """An imported fetch is marked as such; it never replaces an own fetch."""

    def test_kept(self, store: Store) -> None:
        """Archive, digest and time are returned with the fetch record."""
        assert store.add([(IMPORTED, BODY)]) == 1
        assert list(store.fetch_records()) == [IMPORTED]
        assert list(store.fetch_records(ORIGIN)) == [IMPORTED]
        assert store.body(body_digest(BODY)) == BODY
        assert store.get(ORIGIN, AGENT) is None

    def test_an_own_fetch_remains(self, store: Store) -> None:
        """The same fetch in an archive changes nothing."""
        store.put(made(), BODY, updated_entry(None, made()))
        assert store.add([(IMPORTED._replace(user_agent="x", until=NOW + 1), BODY)]) == 0
        assert list(store.fetch_records()) == [made()]

    def test_the_first_import_stays(self, store: Store) -> None:
        """A second archive with the same fetch changes nothing."""
        other = IMPORTED._replace(provenance=Provenance("other.warc", "0" * 64, NOW))
        assert store.add([(IMPORTED, BODY), (other, BODY)]) == 1
        assert list(store.fetch_records()) == [IMPORTED]

    def test_an_own_fetch_replaces_an_import(self, store: Store) -> None:
        """An archive imported first does not hide an own fetch of the same time."""
        beside = made(provenance=ARCHIVE, agent="OtherBot")
        store.add([(beside, BODY), (IMPORTED._replace(until=NOW + 1), BODY)])
        store.put(made(), BODY, updated_entry(None, made()))
        assert sorted(store.fetch_records()) == [made(), beside]
        assert sorted(store.fetch_records(ORIGIN)) == [made(), beside]
        assert store.prune_evidence(NOW + 1) == 2
        assert store.body(body_digest(BODY)) == BODY
        assert list(store.fetch_records(ORIGIN)) == []
        assert store.add([(IMPORTED, BODY)]) == 1

    def test_put_is_for_own_fetches(self, store: Store) -> None:
        """An entry decides about URLs, so no import makes one."""
        with pytest.raises(ValueError, match=r"imported from 'crawl\.warc\.gz': put\(\) stores"):
            store.put(IMPORTED, BODY, updated_entry(None, IMPORTED))
        assert list(store.fetch_records()) == []
        assert store.get(ORIGIN, AGENT) is None


class TestNames:
    """The key parts of a fetch record cannot contain the key separator."""

    @pytest.mark.parametrize("bad", ["a\nb", "a\0", "\x1b[31m", "\x7f", "\x85", "\u2028", "\udc80"])
    def test_control_characters(self, store: Store, bad: str) -> None:
        """They are refused in origins and agents, whoever adds them."""
        for fetch_record in (made(agent=bad), made(origin=f"https://{bad}.example")):
            with pytest.raises(ValueError, match="control characters are not allowed"):
                store.add([(fetch_record, BODY)])
            with pytest.raises(ValueError, match="control characters are not allowed"):
                store.put(fetch_record, BODY, None)
        assert list(store.fetch_records()) == []

    @pytest.mark.parametrize(
        "bad", ["", "abc", f"{body_digest(BODY)}\n", body_digest(BODY).upper()]
    )
    def test_digests(self, store: Store, bad: str) -> None:
        """A digest is 64 digits."""
        with pytest.raises(ValueError, match=r"use body_digest\(body\)"):
            store.add([(made(digest=bad), None)])

    @pytest.mark.parametrize("agent", ["a:b", "%0A", "a%", "Straße", "日本", "a b", ""])
    def test_odd_agents(self, store: Store, agent: str) -> None:
        """All others are kept apart, and come back as they were."""
        fetch_records = [made(agent=name) for name in (agent, "a", "a%3Ab")]
        for fetch_record in fetch_records:
            store.put(fetch_record, BODY, updated_entry(None, fetch_record))
        for fetch_record in fetch_records:
            assert store.get(ORIGIN, fetch_record.agent) == updated_entry(None, fetch_record)
        assert sorted(store.fetch_records()) == sorted(fetch_records)
        assert {entry.agent for entry in store.entries()} == {agent, "a", "a%3Ab"}
        assert store.prune(NOW + 1) == 3
        assert store.prune_evidence(NOW + 1) == 3
        assert store.body(body_digest(BODY)) is None


class TestPlanted:
    """A fetch whose agent was made to look like parts of a key, in a Redis of version 1."""

    def test_the_body_of_another_site_stays(self, redis_where: str) -> None:
        """Deleting the planted fetch deletes nothing else."""
        victim, old = made(NOW + 99), made(NOW - 99, origin="https://evil.example")
        with closing(RedisStore(redis_where)) as store:
            store.put(victim, BODY, None)
            # As version 1 wrote it: the agent is not escaped.
            planted = f"x\n1.0\n{body_digest(BODY)}\n200"
            fetch_record = old._replace(agent=planted, digest=body_digest(b"mine"))
            member = f"{planted}\n{fetch_record.at!r}\n{fetch_record.digest}\n200"
            with redis.Redis.from_url(redis_where) as client:
                client.hset(
                    f"robotrules:visits:{old.origin}", member, serialize_record(fetch_record)
                )
                client.zadd(f"robotrules:times:{old.origin}", {member: fetch_record.at})
                client.zadd("robotrules:times", {f"{old.origin}\n{member}": fetch_record.at})
            assert list(store.fetch_records(old.origin)) == [fetch_record]
            assert store.prune_evidence(NOW) == 1
            assert store.body(body_digest(BODY)) == BODY
            assert list(store.fetch_records()) == [victim]


# --- Version 1 ------------------------------------------------------------------------------------

# As version 1 wrote them.
ROW = (
    b'visit/1 3a3d16a295f88969d65341189f241524 {"origin":"https://example.com","agent":"Ex'
    b'ampleBot","user_agent":"ExampleBot/1.0 (+https://example.com/bot; Stra\xc3\x9fe)","at":180'
    b'0000000.0,"state":"success","status":200,"trouble":null,"detail":"","url":"https://e'
    b'xample.com/robots.txt","hops":[],"fields":[[],true],"digest":"38ee13a89fd0de18fe5f1f'
    b'192cb4179a600acc093eefb277f5a7f77660033e8f","size":33,"complete":true,"renewed":fals'
    b'e,"until":1800086400.0,"may_store":true,"address":"192.0.2.1"}'
)
ENTRY = (
    b'entry/1 593679ac276b7cb693aa7ce5af866e5f {"origin":"https://example.com","agent":"Ex'
    b'ampleBot","good":{"origin":"https://example.com","agent":"ExampleBot","user_agent":"'
    b'ExampleBot/1.0 (+https://example.com/bot; Stra\xc3\x9fe)","at":1800000000.0,"state":"succe'
    b'ss","status":200,"trouble":null,"detail":"","url":"https://example.com/robots.txt","'
    b'hops":[],"fields":[[],true],"digest":"38ee13a89fd0de18fe5f1f192cb4179a600acc093eefb2'
    b'77f5a7f77660033e8f","size":33,"complete":true,"renewed":false,"until":1800086400.0,"'
    b'may_store":true,"address":"192.0.2.1"},"bad":null,"since":0.0,"failures":0}'
)


def old_store(where: str) -> None:
    """Fill a store, and make it one of version 1: its rows are the same, its number is not."""
    with closing(open_store(where)) as store:
        store.put(made(), BODY, updated_entry(None, made()))
    if where.startswith("redis"):
        with redis.Redis.from_url(where) as client:
            client.set("robotrules:version", "1")
    elif where.startswith("postgres"):
        with psycopg.connect(where, autocommit=True) as client:
            client.execute("UPDATE robotrules_store SET version = 1")
    else:
        with closing(sqlite3.connect(where.removeprefix("sqlite:"))) as client:
            client.execute("PRAGMA user_version = 1")


def version_of(where: str) -> Any:
    """Return the version recorded in a store."""
    if where.startswith("redis"):
        with redis.Redis.from_url(where) as client:
            found: Any = client.get("robotrules:version")
            return int(found)
    if where.startswith("postgres"):
        with psycopg.connect(where) as client:
            return client.execute("SELECT max(version) FROM robotrules_store").fetchall()[0][0]
    with closing(sqlite3.connect(where.removeprefix("sqlite:"))) as client:
        return client.execute("PRAGMA user_version").fetchall()[0][0]


class TestVersion1:
    """Stores of earlier versions: all their fetches are own fetches."""

    def test_rows(self) -> None:
        """The rows of own fetches and of entries are those of version 1, to the octet."""
        fetch_record = made(fields=made().fields._replace(lines=()), hops=())
        assert serialize_record(fetch_record) == ROW
        assert parse_record(ROW) == fetch_record
        assert serialize_entry(Entry(ORIGIN, AGENT, fetch_record)) == ENTRY
        assert parse_entry(ENTRY) == Entry(ORIGIN, AGENT, fetch_record)

    def test_upgraded(self, where: str) -> None:
        """They are opened, what is in them is own, and imports can be added."""
        old_store(where)
        assert version_of(where) == 1
        with closing(open_store(where)) as store:
            assert list(store.fetch_records()) == [made()]
            assert [fetch_record.source for fetch_record in store.fetch_records()] == ["own"]
            assert store.get(ORIGIN, AGENT) == updated_entry(None, made())
            assert store.add([(IMPORTED._replace(at=NOW + 5), BODY)]) == 1
            assert [fetch_record.source for fetch_record in store.fetch_records()] == [
                "own",
                "import",
            ]
        assert version_of(where) == serialization.VERSION == 2

    def test_a_file_that_is_busy(self, tmp_path: Path) -> None:
        """Two processes may open an old file at the same moment."""
        path = tmp_path / "robots.sqlite"
        old_store(str(path))
        stores = [SQLiteStore(path) for _ in range(2)]
        assert [len(list(store.fetch_records())) for store in stores] == [1, 1]
        for store in stores:
            store.close()


class TestRows:
    """A row of an imported fetch is valid as a whole, or ignored."""

    @pytest.fixture
    def texts(self) -> Iterator[str]:
        return iter(
            (
                "null",
                '"x"',
                "[]",
                '["a","b"]',
                '["a","b",1,2]',
                '["a",1,2]',
                '[1,"b",2]',
                '["a","b","c"]',
                '["a","b",true]',
                '["a","b",null]',
            )
        )

    def test_shapes(self, texts: Iterator[str]) -> None:
        """A row of another shape is invalid."""
        row = serialize_record(IMPORTED)
        assert parse_record(row) == IMPORTED
        start, _, _ = row[41:].decode().partition(',"provenance":')
        for text in texts:
            made_up = serialization._make_row(b"visit/1 ", f'{start},"provenance":{text}}}')
            assert parse_record(made_up) is None, text
        assert parse_record(serialization._make_row(b"visit/1 ", f"{start}}}")) == made()
