"""What a process remembers is bounded, and what is renewed or forgotten no longer answers."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from robotrules.access import ACCESS_PROFILES, Hop, Response
from robotrules.cache import MAX_CLOCK_SKEW, body_digest, freshness, updated_entry
from robotrules.client import Client, memory_cache
from robotrules.client.memory_cache import (
    PARSED_LINE,
    PARSED_STAR,
    OriginCache,
    _estimate_bytes,
    estimate_parsed_bytes,
)
from robotrules.client.origin_state import OriginState, StateSource, make_origin_state
from robotrules.http.fields import Fields
from robotrules.profile import DEFAULT
from robotrules.robotstxt import parse
from tests.client.scripted import Clock, Server, opened
from tests.client.stores.sample_records import NOW, made

BODY = b"User-agent: *\nDisallow: /x\n"


def client_of(server: Server, clock: Clock) -> Client:
    """Return a client over a scripted server."""
    return Client(
        "ExampleBot/1.0 (+https://example.com)", transport=server, store="memory:", clock=clock
    )


@pytest.fixture
def server() -> Server:
    server = Server()
    for n in range(20):
        body = BODY + b"#" * 1000 * (n % 2)
        server.answers[f"https://s{n}.example/robots.txt"] = Response(200, {"A": "b"}, body)
    return server


def test_files_are_shared_by_what_they_hold(server: Server) -> None:
    """Two origins with the same octets have one parsed file."""
    with client_of(server, Clock()) as client:
        assert client.robots("https://s0.example/") is client.robots("https://s2.example/")
        assert client.robots("https://s0.example/") is not client.robots("https://s1.example/")


@pytest.mark.parametrize("limit", ["MAX_ORIGINS", "MAX_BYTES"])
def test_bounded(server: Server, monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    """With more than that the oldest go; the store has them all the same."""
    most = {"MAX_ORIGINS": 5, "MAX_BYTES": 12_000}[limit]
    monkeypatch.setattr(f"robotrules.client.memory_cache.{limit}", most)
    with client_of(server, Clock()) as client:
        memory = client._cache_engine.memory
        for n in range(20):
            assert not client.check(f"https://s{n}.example/x")
            assert not client.check(f"https://s{n}.example/x")
        assert memory.get("https://s0.example") is None
        assert memory.get("https://s19.example") is not None
        assert 0 < len(memory._states) <= 10
        assert len(memory.ready) <= len(memory._states) == len(memory._file_of)
        assert memory._bytes <= 12_000 if limit == "MAX_BYTES" else memory._bytes > 0
        assert not client.check("https://s0.example/x")
        assert len(server.asked) == 20


def test_what_is_forgotten_is_gone(server: Server) -> None:
    """Nothing keeps a file of which no origin is left."""
    with client_of(server, Clock()) as client:
        assert not client.check("https://s1.example/x")
        assert not client.check("https://s1.example/x")
        state = client.lookup("https://s1.example")
        assert state is not None
        file = client._cache_engine.memory.file(state.entry.last_success)
        del state
        assert file is not None
        there = weakref.ref(file)
        del file
        client.clear_memory()
        gc.collect()
        assert there() is None
        assert client._cache_engine.memory._bytes == 0


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_what_is_renewed_answers_anew(kind: str, server: Server) -> None:
    """The quick answer of before is not given after a refresh."""
    url, robots = "https://s0.example/x", "https://s0.example/robots.txt"
    with opened(kind, server, Clock()) as client:
        assert [bool(client.check(url)) for _ in range(3)] == [False] * 3
        server.answers[robots] = Response(404)
        client.refresh(url)
        assert [bool(client.check(url)) for _ in range(3)] == [True] * 3
        server.answers[robots] = Response(500)
        client.refresh(url)
        assert [bool(client.check(url)) for _ in range(3)] == [True] * 3  # still fresh


def test_a_copy_is_kept_for_a_304(server: Server) -> None:
    """While a file is unreachable its copy stays, so that a 304 can renew it."""
    clock, url = Clock(), "https://s0.example/x"
    server.answers["https://s0.example/robots.txt"] = [
        Response(200, {"ETag": '"1"'}, BODY),
        Response(503),
        Response(304),
    ]
    with client_of(server, clock) as client:
        client.check(url)
        clock.now += 86_401
        client.check(url)
        clock.now += 61
        make_origin_state = client.lookup(url)
        assert make_origin_state is not None
        assert make_origin_state.fetch_record is not None
        assert make_origin_state.fetch_record.revalidated
        assert make_origin_state.check(url, "ExampleBot").line == 2


def holding(number: int, at: float = NOW, **changes: Any) -> OriginState:
    """Return the state of an origin after one fetch."""
    fetch_record = made(at, origin=f"https://s{number}.example", **changes)
    entry = updated_entry(None, fetch_record)
    fresh = freshness(entry, at, ACCESS_PROFILES["default"])
    return make_origin_state(entry, fresh, None, profile=DEFAULT, source=StateSource.FETCHED)


def origins(kept: OriginCache) -> list[str]:
    """Return of what origins something is make_origin_state."""
    return [
        found.origin.removeprefix("https://").removesuffix(".example")
        for found in kept._states.values()
    ]


class TestBounds:
    """To the origin and to the octet."""

    def test_octets(self) -> None:
        """Size of file, fields and redirects plus a constant; of both fetches."""
        fields = Fields((("a", b"bcd"), ("ef", b"g")), True)
        hops = (Hop("12345", 301, "678"), Hop("9", 302, "0"))
        good = made(NOW, fields=fields, hops=hops, size=1000)
        entry = updated_entry(None, good)
        assert _estimate_bytes(entry) == 1024 + 1000 + 7 + 10
        bad = made(NOW + 1, None, fields=fields, hops=(), size=0)
        assert _estimate_bytes(updated_entry(entry, bad)) == 1024 + 1000 + 7 + 10 + 1024 + 7

    def test_as_many_as_may_be(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """With one more the oldest goes."""
        monkeypatch.setattr(memory_cache, "MAX_ORIGINS", 2)
        kept = OriginCache(DEFAULT)
        assert kept._bytes == 0
        for number in range(2):
            kept.put(holding(number), None, NOW)
        assert origins(kept) == ["s0", "s1"]
        kept.put(holding(2), None, NOW)
        assert origins(kept) == ["s1", "s2"]
        assert kept._bytes == sum(_estimate_bytes(one.entry) for one in kept._states.values())

    def test_as_large_as_may_be(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """With one octet more the oldest goes."""
        size = _estimate_bytes(holding(0).entry)
        monkeypatch.setattr(memory_cache, "MAX_BYTES", 2 * size)
        kept = OriginCache(DEFAULT)
        for number in range(2):
            kept.put(holding(number), None, NOW)
        assert origins(kept) == ["s0", "s1"]
        kept.put(holding(1, size=made().size + 1), None, NOW)
        assert origins(kept) == ["s1"]

    def test_parsed_files_count(self) -> None:
        """With their lines and stars, until the origin is evicted; at most 24 times the octets."""
        kept = OriginCache(DEFAULT)
        body = b"User-agent: *\n" + b"Disallow: /*a\n" * 100
        file = kept.file(made(body=body, digest=body_digest(body)), body)
        assert file is not None
        assert file.parsed_bytes == 102 * PARSED_LINE + 101 * PARSED_STAR
        assert estimate_parsed_bytes(parse(b"\n" * 1000)) == 24_000
        kept.put(holding(0), file, NOW)
        alone = _estimate_bytes(holding(0).entry)
        assert kept._bytes == alone + file.parsed_bytes
        kept.max_bytes = kept._bytes
        kept.put(holding(1), None, NOW)
        assert origins(kept) == ["s1"]
        assert kept._bytes == alone

    def test_a_late_answer(self) -> None:
        """The older does not take the place of the newer, unless that is of a clock ahead."""
        for ahead, stays in ((MAX_CLOCK_SKEW, True), (MAX_CLOCK_SKEW + 1, False)):
            kept = OriginCache(DEFAULT)
            newer, older = holding(0, NOW + ahead), holding(0, NOW - 1)
            kept.put(newer, None, NOW)
            kept.put(older, None, NOW)
            found = kept.get(newer.origin)
            assert found is not None
            assert (found.entry is newer.entry) is stays
            assert found.source is StateSource.MEMORY


def test_what_may_answer_at_once() -> None:
    """Only what is make_origin_state, and until it is renewed."""
    kept = OriginCache(DEFAULT)
    rules = parse(BODY).rules_for("x")
    first, second = holding(0), holding(0, NOW + 1)
    kept.make_ready(first, rules.check, rules.allows, None, None)
    assert kept.ready == {}
    kept.put(first, None, NOW)
    kept.make_ready(second, rules.check, rules.allows, None, None)
    kept.make_ready(second._replace(until=first.until), rules.check, rules.allows, None, None)
    kept.make_ready(first._replace(until=first.until + 1), rules.check, rules.allows, None, None)
    assert kept.ready == {}
    kept.make_ready(first, rules.check, rules.allows, None, None)
    assert kept.ready == {
        first.origin: (
            *(NOW - MAX_CLOCK_SKEW, first.until, rules.check, rules.allows),
            *(first.origin, None, None),
        )
    }
    kept.put(second, None, NOW + 1)
    assert kept.ready == {}


def test_a_file_that_was_cut() -> None:
    """It is another one than the same octets that are all of a file."""
    kept = OriginCache(DEFAULT)
    body = b"User-agent: *\nDisallow: /x\nDisallow: /priv"
    whole, cut = (
        kept.file(made(body=body, digest=body_digest(body), complete=complete), body)
        for complete in (True, False)
    )
    assert whole is not None
    assert cut is not None
    assert whole.body == cut.body == body
    assert not whole.robots.check("/private", "x")
    assert cut.robots.check("/private", "x")
    assert kept.file(made(body=body)) is whole
    assert kept.file(made(digest="0" * 64)) is None
    assert kept.file(None, body) is None
