"""
Connections: how many a client has at a time, over all and to one origin.

A server here answers only once so many requests wait for it, or after a while: `most` is how many
there were at a time.
"""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from itertools import pairwise
from threading import Condition
from typing import Any

import pytest

from robotrules.access import Request, Response
from robotrules.client import AsyncClient, Client
from robotrules.client.base_client import MAX_SLOTS
from robotrules.client.stores import MemoryStore
from robotrules.client.transports.exchange import USUAL_CONNECTIONS, max_connections
from robotrules.client.transports.httpx2 import AsyncHttpx2Transport
from tests.client import fault_servers
from tests.client.scripted import Clock, Server, opened
from tests.client.transports.conftest import KINDS

AGENT = "ExampleBot/1.0 (+https://example.com/bot)"
MANY = USUAL_CONNECTIONS + 20


class Crowd:
    """A behaviour that lets requests wait for each other."""

    def __init__(
        self, enough: int, seconds: float = 1.0, data: bytes = fault_servers.message()
    ) -> None:
        self.enough, self.seconds, self.data = enough, seconds, data
        self.here = self.most = 0
        self._changed = Condition()

    def __call__(self, peer: fault_servers.Peer) -> None:
        """Answer once enough are here."""
        if self.enough > 1 or "robots" not in peer.path():
            with self._changed:
                self.here += 1
                self.most = max(self.most, self.here)
                self._changed.notify_all()
                self._changed.wait_for(lambda: self.most >= self.enough, self.seconds)
                self.here -= 1
        peer.send(self.data)


def prefetched(kind: str, origins: list[str], concurrency: int, **options: Any) -> object:
    """Prefetch with a client of a kind."""
    options = {"store": "memory:", "addresses": fault_servers.here(), "timeout": 10.0, **options}
    if kind == "httpx2":
        with Client(AGENT, **options) as client:
            return client.prefetch(origins, concurrency=concurrency)

    async def run() -> object:
        async with AsyncExitStack() as stack:
            if kind == "httpx2-async":
                where = options.pop("addresses")
                transport = AsyncHttpx2Transport(
                    AGENT, addresses=where, connections=options.pop("connections", None)
                )
                options["transport"] = await stack.enter_async_context(transport)
            client = await stack.enter_async_context(AsyncClient(AGENT, **options))
            return await client.prefetch(origins, concurrency=concurrency)

    return asyncio.run(run())


@pytest.mark.parametrize("kind", KINDS)
def test_concurrency_above_the_usual_number_of_connections(kind: str) -> None:
    crowd = Crowd(MANY, 5.0)
    with fault_servers.serve(crowd) as site:
        origins = [site.named(f"h{number}.example") for number in range(MANY)]
        assert prefetched(kind, origins, MANY).success == MANY  # type: ignore[attr-defined]
    assert crowd.most == MANY


@pytest.mark.parametrize("kind", KINDS)
def test_connections_is_a_bound_that_is_kept_to(kind: str) -> None:
    crowd = Crowd(8, 0.2)
    with fault_servers.serve(crowd) as site:
        origins = [site.named(f"h{number}.example") for number in range(12)]
        found = prefetched(kind, origins, 12, connections=3)
        assert found.success == 12  # type: ignore[attr-defined]
    assert crowd.most == 3


def test_as_many_as_the_process_may_have_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda which: (1000, 4000))
    assert max_connections() == 750
    monkeypatch.setattr(resource, "getrlimit", lambda which: (64, 64))
    assert max_connections() == USUAL_CONNECTIONS
    monkeypatch.setattr(resource, "getrlimit", lambda which: (resource.RLIM_INFINITY, 0))
    assert max_connections() >= 100_000


@pytest.mark.parametrize("kind", [Client, AsyncClient])
@pytest.mark.parametrize("wrong", [0, -1, 2.5, True, "9"])
def test_invalid_numbers_of_connections(kind: Callable[..., object], wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"connections is .*: use 1 or more"):
        kind(AGENT, store="memory:", connections=wrong)
    with pytest.raises(ValueError, match=rf"connections_per_origin is .*: use 1 to {MAX_SLOTS}"):
        kind(AGENT, store="memory:", connections_per_origin=wrong)


# --- One origin -----------------------------------------------------------------------------------


def fetched(kind: str, site: fault_servers.Site, count: int, **options: Any) -> None:
    """Fetch so many pages of one site at once."""
    urls = [f"{site.url}/{number}" for number in range(count)]
    options = {"store": "memory:", "allow_private": ["127.0.0.1"], "min_delay": 0, **options}
    if kind == "sync":
        with Client(AGENT, **options) as client, ThreadPoolExecutor(count) as threads:
            assert all(page.ok for page in threads.map(client.fetch, urls))
        return

    async def run() -> None:
        async with AsyncClient(AGENT, **options) as client:
            assert all(page.ok for page in await asyncio.gather(*map(client.fetch, urls)))

    asyncio.run(run())


@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize(("slots", "most"), [(None, 1), (1, 1), (3, 3)])
def test_several_connections_to_an_origin(kind: str, slots: int | None, most: int) -> None:
    crowd = Crowd(most + 1, 0.3, fault_servers.message(b"User-agent: *\nDisallow: /private\n"))
    options = {} if slots is None else {"connections_per_origin": slots}
    with fault_servers.serve(
        lambda peer: fault_servers.ok(peer) if "robots" in peer.path() else crowd(peer)
    ) as site:
        fetched(kind, site, 2 * most + 1, **options)
    assert crowd.most == most


@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize("record", ["Crawl-delay: 0.01", "Request-rate: 100/1"])
def test_one_at_a_time_where_the_site_states_a_pace(kind: str, record: str) -> None:
    crowd = Crowd(2, 0.1)
    robots = fault_servers.says(
        fault_servers.message(f"User-agent: *\nAllow: /\n{record}\n".encode())
    )
    with fault_servers.serve(
        lambda peer: robots(peer) if "robots" in peer.path() else crowd(peer)
    ) as site:
        fetched(kind, site, 3, connections_per_origin=4)
    assert crowd.most == 1


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_concurrent_slots_begin_as_far_apart_as_before(kind: str) -> None:
    """More connections do not make requests come faster than `min_delay` allows."""
    clock, server = Clock(), Server()
    server.answers["https://example.com/robots.txt"] = Response(200, {}, b"")
    begun = []
    with opened(kind, server, clock, min_delay=2.0, connections_per_origin=3) as client:
        for _ in range(4):
            with client.slot("https://example.com/a"):
                begun.append(clock.now)
    assert [round(after - before, 3) for before, after in pairwise(begun)] == [
        2.0,
        2.0,
        2.0,
    ]


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_every_slot_is_given_back(kind: str) -> None:
    """Also by who is interrupted while one is leased."""
    clock, server = Clock(), Server()
    store: Any = MemoryStore()
    server.answers["https://example.com/robots.txt"] = Response(200, {}, b"")
    options: dict[str, Any] = {"min_delay": 0, "connections_per_origin": 2}
    # Slots of a store that others may use are leased.
    with opened(kind, server, clock, store=store, **options) as client:
        whole, taken = store.lease, []

        def lease(key: str, holder: str, seconds: float) -> bool:
            if key.startswith("turn "):
                taken.append(key)
            return bool(whole(key, holder, seconds))

        def interrupted(key: str, holder: str, seconds: float) -> bool:
            lease(key, holder, seconds)
            raise KeyboardInterrupt

        client.lookup("https://example.com/")
        store.lease = interrupted
        with pytest.raises(KeyboardInterrupt), client.slot("https://example.com/a"):
            pass  # pragma: no cover
        store.lease = lease
        for _ in range(3):
            with client.slot("https://example.com/a"):
                pass
        assert taken == ["turn https://example.com"] * 4


def test_a_client_over_a_transport_without_expectations() -> None:
    """`expect_concurrency` is not required of a user's transport."""
    clock, server = Clock(), Server()
    assert not hasattr(server, "expect_concurrency")
    with opened("sync", server, clock) as client:
        assert client.prefetch(["https://a.example"], concurrency=500).unavailable == 1
    assert server.answer(Request("https://a.example/robots.txt"))


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_slots_are_shared_by_all_clients_of_the_store(kind: str) -> None:
    """Two clients with two slots each have two in all."""
    crowd, store = Crowd(3, 0.2), MemoryStore()
    options: dict[str, Any] = {"store": store, "allow_private": ["127.0.0.1"], "min_delay": 0}
    options["connections_per_origin"] = 2
    with fault_servers.serve(
        lambda peer: fault_servers.ok(peer) if "robots" in peer.path() else crowd(peer)
    ) as site:
        urls = [f"{site.url}/{number}" for number in range(3)]
        if kind == "sync":
            with (
                Client(AGENT, **options) as one,
                Client(AGENT, **options) as two,
                ThreadPoolExecutor(6) as threads,
            ):
                one.lookup(site.url)
                pages = [threads.submit(client.fetch, url) for url in urls for client in (one, two)]
                assert all(page.result().ok for page in pages)
        else:

            async def run() -> None:
                async with (
                    AsyncClient(AGENT, **options) as one,
                    AsyncClient(AGENT, **options) as two,
                ):
                    await one.lookup(site.url)
                    pages = [client.fetch(url) for url in urls for client in (one, two)]
                    assert all(page.ok for page in await asyncio.gather(*pages))

            asyncio.run(run())
    assert crowd.most == 2
