"""What a process remembers is bounded, and what is renewed or forgotten no longer answers."""

from __future__ import annotations

import gc
import weakref

import pytest

from robotrules.access import Response
from robotrules.client import Client
from tests.client.scripted import Clock, Server, opened

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


@pytest.mark.parametrize("limit", ["REMEMBERED_ORIGINS", "REMEMBERED_OCTETS"])
def test_bounded(server: Server, monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    """With more than that the oldest go; the store has them all the same."""
    most = {"REMEMBERED_ORIGINS": 5, "REMEMBERED_OCTETS": 12_000}[limit]
    monkeypatch.setattr(f"robotrules.client.memory.{limit}", most)
    with client_of(server, Clock()) as client:
        memory = client._desk.memory
        for n in range(20):
            assert not client.check(f"https://s{n}.example/x")
            assert not client.check(f"https://s{n}.example/x")
        assert memory.get("https://s0.example") is None
        assert memory.get("https://s19.example") is not None
        assert 0 < len(memory._held) <= 10
        assert len(memory.ready) <= len(memory._held) == len(memory._file_of)
        assert memory._octets <= 12_000 if limit == "REMEMBERED_OCTETS" else memory._octets > 0
        assert not client.check("https://s0.example/x")
        assert len(server.asked) == 20


def test_what_is_forgotten_is_gone(server: Server) -> None:
    """Nothing keeps a file of which no origin is left."""
    with client_of(server, Clock()) as client:
        assert not client.check("https://s1.example/x")
        assert not client.check("https://s1.example/x")
        file = client._desk.memory.file(client.held("https://s1.example").entry.good)  # type: ignore[union-attr]
        assert file is not None
        there = weakref.ref(file)
        del file
        client.forget()
        gc.collect()
        assert there() is None
        assert client._desk.memory._octets == 0


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
        held = client.held(url)
        assert held is not None
        assert held.visit is not None
        assert held.visit.renewed
        assert held.check(url, "ExampleBot").line == 2
