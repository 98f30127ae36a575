"""Both clients alike: their defaults, and that each method passes on its arguments."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest

from robotrules import CrawlerError, Reason
from robotrules.access import Failure, FailureReason, Response
from robotrules.access.values import SLACK
from robotrules.client import AsyncClient, Client, aio, sync
from robotrules.client.cache_engine import LEASE_MARGIN
from robotrules.client.stores import MemoryStore
from robotrules.client.threads import thread_pool
from robotrules.profile import DEFAULT
from tests.client.scripted import START, AsyncServer, Clock, Driven, Server, opened

AGENT = "ExampleBot/1.0 (P; +https://example.com/bot)"
SITE = "https://example.com"
ROBOTS = f"{SITE}/robots.txt"
FILE = b"""User-agent: other
Disallow: /other

User-agent-purpose: P
Disallow: /purpose

User-agent: *
Disallow: /all
"""
Make = Callable[..., Any]


@pytest.fixture
def server() -> Server:
    """A server with rules for a crawler, for a purpose and for all."""
    server = Server()
    server.answers[ROBOTS] = Response(200, {}, FILE)
    for path in ("other", "purpose", "all", "free"):
        server.answers[f"{SITE}/{path}"] = Response(200, {"X-Robots-Tag": "other: noindex"}, b"x")
    return server


@pytest.fixture(params=["sync", "async"])
def kind(request: pytest.FixtureRequest) -> str:
    """Either client."""
    return str(request.param)


@pytest.fixture
def make(kind: str, server: Server, clock: Clock) -> Iterator[Make]:
    """Return what makes clients of one kind."""
    with ExitStack() as stack:

        def made(**options: Any) -> Any:
            given = {"user_agent": AGENT} | options
            return stack.enter_context(opened(kind, server, clock, **given))

        yield made


def bare(client: Any) -> Any:
    """Return the client itself."""
    return client.client if isinstance(client, Driven) else client


class TestDefaults:
    """The defaults of a client."""

    def test_numbers(self, kind: str) -> None:
        """A second between requests, half a minute for a file, one connection to an origin."""
        transport: Any = Server() if kind == "sync" else AsyncServer(Server())
        client: Any = (Client if kind == "sync" else AsyncClient)(
            AGENT, transport=transport, store="memory:"
        )
        engine = client._cache_engine
        assert (client._min_delay.seconds, client._slots, engine.timeout) == (1.0, 1, 30.0)
        assert (engine.stale_while_revalidate, client._clock, engine.clock) == (
            False,
            time.time,
            time.time,
        )
        assert client._sleep is (time.sleep if kind == "sync" else asyncio.sleep)
        assert (engine.profile.name, engine.access.name) == ("default", "default")
        if kind == "sync":
            assert client._background._max_threads == sync.BACKGROUND_THREADS
        assert (client.product_token, client._identity.purposes) == ("ExampleBot", ())
        assert (engine.agent, engine.user_agent, client.user_agent) == ("ExampleBot", AGENT, AGENT)

    def test_how_many_at_once(self, make: Make, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """Fifty origins are prefetched at a time."""
        told: list[int] = []
        served = Server if kind == "sync" else AsyncServer
        monkeypatch.setattr(
            served, "expect_concurrency", lambda _, count: told.append(count), raising=False
        )
        make().prefetch([SITE])
        assert told == [50]

    def test_the_name_of_the_client(self, make: Make) -> None:
        """Fetches are stored under the name in the User-Agent, whichever rules are followed."""
        client = make(user_agent="ExampleBot/1.0 (OtherBot)", product_token="OtherBot")
        assert (client._identity.agent, client.product_token) == ("ExampleBot", "OtherBot")
        client = make(user_agent="Mozilla/5.0 (OtherBot)", product_token="OtherBot")
        assert client._identity.agent == "OtherBot"

    def test_a_strict_profile(self, make: Make) -> None:
        """It wants purposes in the User-Agent."""
        with pytest.raises(CrawlerError, match="TRAINING-1"):
            make(purposes=["TRAINING-1"], profile="strict")

    def test_its_library_is_looked_for_first(
        self, kind: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Where none is handed over, and before a store is opened."""
        looked: list[str] = []
        module = sync if kind == "sync" else aio
        name = "vet_transport" if kind == "sync" else "vet_async_transport"
        monkeypatch.setattr(module, name, lambda: looked.append("looked"))
        made: Any = Client if kind == "sync" else AsyncClient
        transport: Any = Server() if kind == "sync" else AsyncServer(Server())
        made(AGENT, store="memory:", transport=transport)
        assert looked == []
        made(AGENT, store="memory:")
        assert looked == ["looked"]

    def test_over_a_library(self, kind: str) -> None:
        """Its requests have the User-Agent of the client."""
        library: Any = httpx2.Client() if kind == "sync" else httpx2.AsyncClient()
        made: Any = Client if kind == "sync" else AsyncClient
        client = made(AGENT, store="memory:", transport=library)
        carrier = client._transport if kind == "sync" else client._transport()
        assert carrier._settings.user_agent == AGENT

    def test_invalid_transports(self, kind: str) -> None:
        """The words are about the kind of client."""
        made: Any = Client if kind == "sync" else AsyncClient
        words = "pass an httpx2.Client, httpx.Client" if kind == "sync" else "pass an aiohttp"
        with pytest.raises(TypeError, match=f"transport is 5: {words}"):
            made(AGENT, store="memory:", transport=5)


class TestWhom:
    """About another crawler, or for other purposes: each question."""

    @pytest.mark.parametrize(
        ("path", "token", "purposes", "allowed"),
        [
            ("all", None, None, False),
            ("purpose", None, None, True),
            ("purpose", None, ["P"], False),
            ("purpose", "third", ["P"], False),
            ("purpose", "third", None, True),
            ("other", "other", None, False),
            ("other", None, None, True),
            ("all", "other", None, True),
        ],
    )
    def test_each_question(
        self, make: Make, path: str, token: str | None, purposes: Any, allowed: bool
    ) -> None:
        """All of them agree."""
        client, url = make(), f"{SITE}/{path}"
        assert client.check(url, token, purposes).allowed is allowed
        assert client.check(url, token, purposes).allowed is allowed  # and from memory
        assert client.check_many([url], token, purposes)[0].allowed is allowed
        explained = client.explain(url, token, purposes)
        assert explained.verdict.allowed is allowed
        assert explained.product_token == (token or "ExampleBot")
        page = client.fetch(url, token, purposes)
        assert (page.verdict.allowed, page.status) == (allowed, 200 if allowed else None)
        found = client.guidance(url, token, purposes)
        assert found.verdict.allowed is allowed
        assert found.product_tokens == (token or "ExampleBot",)
        assert tuple(found.purposes) == tuple(purposes or ())
        # The header's rule is for one crawler alone.
        if allowed:
            assert (found.usage.may_index is False) is (token == "other")

    def test_own_purposes(self, make: Make) -> None:
        """They count unless others are given, or it is about another crawler."""
        client, url = make(purposes=["P"]), f"{SITE}/purpose"
        for ask in (client.check, client.explain, client.fetch, client.guidance):
            found = [ask(url), ask(url, None, []), ask(url, "third")]
            verdicts = [getattr(one, "verdict", one) for one in found]
            assert [verdict.allowed for verdict in verdicts] == [False, True, True]

    def test_guidance(
        self, make: Make, kind: str, server: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The application and the profile are handed on."""
        server.answers[ROBOTS] = Response(200, {}, b"User-agent: *\nDisallow: /x\n")
        client = make(profile="google")
        found = client.guidance(f"{SITE}/free", application="search")
        assert found.app_directives is not None
        assert client.guidance(f"{SITE}/free").app_directives is None
        assert client.guidance("mailto:x").verdict.profile == "google"
        given: dict[str, Any] = {}
        module = sync if kind == "sync" else aio
        monkeypatch.setattr(module, "make_guidance", lambda *_, **options: given.update(options))
        client.guidance(f"{SITE}/free")
        assert given == {"application": None, "profile": "google"}


class TestFromMemory:
    """What memory has is not looked for again."""

    def test_check(self, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
        """The next check of the same origin sends no request."""
        client = make()
        client.check(f"{SITE}/free")
        monkeypatch.setattr(bare(client), "lookup", None)
        assert client.check(f"{SITE}/all").reason is Reason.DISALLOW_RULE

    def test_all_that_is_old_is_renewed(self, make: Make, server: Server, clock: Clock) -> None:
        """Each origin for itself, behind the answers."""
        sites = [f"https://s{number}.example" for number in range(3)]
        for site in sites:
            server.answers[f"{site}/robots.txt"] = Response(
                200, {"Cache-Control": "max-age=600"}, FILE
            )
        client = make(stale_while_revalidate=True)
        client.check_many(sites)
        clock.now += 601
        client.check_many(sites)
        for _ in range(300):
            if len(server.asked) >= 6:
                break
            client.refresh("https://elsewhere.example")  # lets the event loop run
        for site in sites:
            assert server.urls.count(f"{site}/robots.txt") == 2

    def test_threads_for_many(self, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        """As many as there are origins to request, up to a limit."""
        asked: list[int] = []

        def pool(threads: int) -> Any:
            asked.append(threads)
            return thread_pool(threads)

        monkeypatch.setattr(sync, "thread_pool", pool)
        with opened("sync", server, Clock()) as client:
            client.check_many([f"https://a{number}.example" for number in range(3)])
            client.check_many([f"https://b{number}.example" for number in range(20)])
            client.check_many(["https://c.example"])
        assert asked == [3, 16]

    def test_check_many(self, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
        """Nor do the next questions."""
        client = make()
        client.check_many([f"{SITE}/free"])
        monkeypatch.setattr(bare(client), "_get_state", None)
        assert client.check_many([f"{SITE}/all", SITE])[0].reason is Reason.DISALLOW_RULE


class TestHeeding:
    """Settings that an answer requests."""

    def test_dates(self, make: Make, clock: Clock) -> None:
        """A Retry-After may be a date, which the clock makes seconds of."""
        client = make()
        later = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(clock.now + 90))
        assert client.record_response(SITE, 503, {"Retry-After": later}) == 90
        assert client.reserve(SITE) == START + 90
        with client.slot(SITE) as turn:
            assert clock.now >= START + 90
            assert not turn.record_response(503, {"Retry-After": later})

    def test_pages(self, make: Make, server: Server, clock: Clock) -> None:
        """A page that requests a pause gets it."""
        client = make()
        server.answers[f"{SITE}/free"] = Response(503, {"Retry-After": "40"})
        client.fetch(f"{SITE}/free")
        client.fetch(f"{SITE}/free")
        assert clock.now == START + 40


class TestRequests:
    """The requests and their fields."""

    def test_limits(self, make: Make, server: Server) -> None:
        """A page has its own limit, and both have the time of the client."""
        client = make(timeout=7.0)
        client.fetch(f"{SITE}/free", limit=123)
        robots, page = server.asked
        assert (page.url, page.limit, page.timeout) == (f"{SITE}/free", 123, 7.0)
        assert robots.limit == DEFAULT.max_bytes + SLACK
        assert robots.timeout is not None
        assert 6.9 < robots.timeout <= 7.0
        client.fetch(f"{SITE}/free")
        assert server.asked[-1].limit == 2 * 1024 * 1024

    def test_events(self, make: Make) -> None:
        """Each request is reported with its kind."""
        events: list[Any] = []
        client = make(on_fetch=events.append)
        client.fetch(f"{SITE}/free")
        assert [(event.kind, event.url) for event in events] == [
            ("robots.txt", ROBOTS),
            ("page", f"{SITE}/free"),
        ]
        assert client.stats.requests == 2

    def test_leases(self, make: Make, server: Server) -> None:
        """The lease of an origin outlives the fetch by a margin, and is given back."""
        leases: list[tuple[str, float]] = []

        class Store(MemoryStore):
            def lease(self, key: str, holder: str, seconds: float) -> bool:
                leases.append((key, seconds))
                return super().lease(key, holder, seconds)

        store = Store()
        make(store=store, timeout=7.0).check(SITE)
        assert leases == [(SITE, 7.0 + LEASE_MARGIN)]
        assert store.holder(SITE) is None

    def test_time_is_over(self, make: Make, server: Server) -> None:
        """One time over all redirects."""

        def slow(request: Any) -> Response:
            time.sleep(0.02)
            return Response(301, {"Location": f"{SITE}/{len(server.asked)}"})

        server.answers[ROBOTS] = slow
        for number in range(9):
            server.answers[f"{SITE}/{number}"] = slow
        client = make(timeout=0.03)
        bad = client.lookup(SITE).entry.last_failure
        assert (bad.failure_reason, bad.detail) == (FailureReason.TIMEOUT, "0.03 s in all")
        assert len(server.asked) <= 3


class TestPrefetching:
    """Origins in bulk."""

    def test_counts(self, make: Make, server: Server) -> None:
        """By what came of each."""
        server.answers["https://down.example/robots.txt"] = Failure(FailureReason.DNS, "no address")
        told: list[str] = []
        client = make()
        given = [SITE, "https://none.example", "https://down.example", "mailto:x", f"{SITE}/a"]
        found = client.prefetch(given, concurrency=3, progress=lambda one: told.append(one.origin))
        assert found == (2, 1, 1, 1)
        assert sorted(told) == sorted([SITE, SITE, "https://none.example", "https://down.example"])
        assert client.prefetch([SITE]) == (1, 0, 0, 0)
        assert server.urls.count(ROBOTS) == 1

    def test_what_is_known(self, make: Make, server: Server, clock: Clock) -> None:
        """It is told of, and not asked for; what a store has is renewed behind it if it is old."""
        server.answers[ROBOTS] = Response(200, {"Cache-Control": "max-age=600"}, FILE)
        store = MemoryStore()
        make(store=store).check(SITE)
        clock.now += 601
        client = make(store=store, stale_while_revalidate=True)
        assert client.prefetch([SITE]) == (1, 0, 0, 0)
        for _ in range(200):
            if server.urls.count(ROBOTS) == 2:
                break
            client.refresh("https://elsewhere.example")  # lets the event loop run
        assert server.urls.count(ROBOTS) == 2
        assert client.robots(SITE).body == FILE

    def test_nothing_is_begun_for_what_is_known(
        self, make: Make, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Memory answers without a wait."""
        client = make()
        client.prefetch([SITE])
        monkeypatch.setattr(bare(client), "_refresh", None)
        monkeypatch.setattr(bare(client), "_refresh_task", None, raising=False)
        assert client.prefetch([SITE, f"{SITE}/x"]) == (2, 0, 0, 0)

    def test_fresh(self, make: Make, server: Server, clock: Clock) -> None:
        """All are requested again, except those requested since it began."""
        client = make()
        client.check(SITE)
        clock.now += 1
        assert client.prefetch([SITE], refresh=True) == (1, 0, 0, 0)
        assert server.urls.count(ROBOTS) == 2

    def test_what_goes_wrong(self, make: Make, server: Server) -> None:
        """An error of the transport, or of the callback, is raised."""
        server.answers[ROBOTS] = lambda request: None  # type: ignore[assignment,return-value]
        with pytest.raises(TypeError, match="Response or Failure"):
            make().prefetch(["https://none.example", SITE], concurrency=1)

        def fail(found: Any) -> None:
            raise LookupError("told")

        with pytest.raises(LookupError, match="told"):
            make().prefetch(["https://none.example"], progress=fail)


class TestClosing:
    """What a client opened it closes, and nothing else."""

    def test_stores(self, make: Make, tmp_path: Path) -> None:
        """A store that was handed over stays open."""
        store = MemoryStore()
        client = make(store=store)
        client.check(SITE)
        (getattr(client, "aclose", None) or client.close)()
        assert store.get(SITE, "ExampleBot") is not None
        named = make(store=tmp_path / "a.sqlite")
        named.check(SITE)
        kept = named.store
        (getattr(named, "aclose", None) or named.close)()
        with pytest.raises(Exception, match="is closed"):
            kept.get(SITE, "ExampleBot")

    def test_as_a_context(self, kind: str, server: Server) -> None:
        """It is closed at the end."""
        if kind == "sync":
            with Client(AGENT, transport=server, store="memory:") as client:
                assert client.check(f"{SITE}/free")
            with pytest.raises(RuntimeError, match="this client is closed"):
                client.check(f"{SITE}/free")
            return

        async def main() -> None:
            transport = AsyncServer(server)
            async with AsyncClient(AGENT, transport=transport, store="memory:") as client:
                assert await client.check(f"{SITE}/free")
            with pytest.raises(RuntimeError, match="this client is closed"):
                await client.check(f"{SITE}/free")

        asyncio.run(main())
