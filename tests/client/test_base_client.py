"""Answers from memory: at once, as long as they hold; and which store a client gets."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from robotrules import Reason, StoreError
from robotrules.access import Response
from robotrules.cache import MAX_CLOCK_SKEW
from robotrules.client import base_client
from robotrules.client.base_client import open_client_store, prefetch_origin, vet_prefetch
from robotrules.client.rate_limiter import read_rate_limits
from robotrules.client.stores import MemoryStore, SQLiteStore
from robotrules.http.origins import split_origin
from tests.client.scripted import START, Clock, Server, opened
from tests.client.servers import free_port

SITE = "https://example.com"
ROBOTS = f"{SITE}/robots.txt"
FILE = b"User-agent: *\nDisallow: /private/\nCrawl-delay: 5\n\nUser-agent: other\nDisallow: /\n"
DAY = 86_400.0
Make = Callable[..., Any]


@pytest.fixture
def server() -> Server:
    """A server with one file."""
    server = Server()
    server.answers[ROBOTS] = Response(200, {}, FILE)
    return server


class TestAtOnce:
    """A repeated check is answered without reading the origin's entry."""

    def test_after_the_first_question(self, make: Make) -> None:
        """Any URL of the origin, however it is written, as long as it has a path."""
        client = make()
        assert client._check_ready(f"{SITE}/private/x") is None
        client.check(f"{SITE}/a/b")
        for url, reason in (
            (f"{SITE}/private/x/y", Reason.DISALLOW_RULE),
            (f"{SITE}/", Reason.NO_MATCH),
            (ROBOTS, Reason.IMPLICIT),
        ):
            assert client._check_ready(url).reason is reason
        assert client._check_ready(SITE) is None
        assert client._check_ready("https://other.example/") is None
        assert client._check_ready("HTTPS://EXAMPLE.COM/x") is None
        assert client._check_ready(f"{SITE}/x".encode()) is None
        client.check("HTTPS://EXAMPLE.COM/x")
        assert client._check_ready("HTTPS://EXAMPLE.COM/private/x").reason is Reason.DISALLOW_RULE

    def test_as_long_as_it_holds(self, make: Make, clock: Clock) -> None:
        """Not from its end on, and not before it was, but for what clocks differ."""
        client = make()
        client.check(f"{SITE}/x")
        for now, holds in (
            (START, True),
            (START + DAY - 1, True),
            (START + DAY, False),
            (START - MAX_CLOCK_SKEW, True),
            (START - MAX_CLOCK_SKEW - 1, False),
        ):
            clock.now = now
            assert (client._check_ready(f"{SITE}/x") is not None) is holds

    def test_where_no_rules_decide(self, make: Make, server: Server) -> None:
        """The reason is how the file was got."""
        server.answers[ROBOTS] = Response(404)
        client = make()
        client.check(f"{SITE}/x")
        assert client._check_ready(f"{SITE}/private/").reason is Reason.UNAVAILABLE

    def test_by_name_and_purpose(self, make: Make, server: Server) -> None:
        """The client's own, whoever was asked about."""
        server.answers[ROBOTS] = Response(200, {}, b"User-agent-purpose: P\nDisallow: /p\n")
        agent = "ExampleBot/1.0 (P; +https://example.com)"
        client = make(purposes=["P"], user_agent=agent)
        client.check(f"{SITE}/p", "OtherBot")
        assert client._check_ready(f"{SITE}/p").allowed is False
        server.answers["https://b.example/robots.txt"] = Response(503)
        client.check("https://b.example/p")
        assert client._check_ready("https://b.example/p").reason is Reason.UNREACHABLE

    def test_spellings_are_few(
        self, make: Make, server: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """How origins are written is remembered for some of them, and not what is long."""
        monkeypatch.setattr(base_client, "MAX_CACHED_AUTHORITIES", 2)
        client = make()
        for number in range(2):
            client.check(f"https://s{number}.example/x")
        assert client._authorities == {
            f"https://s{number}.example/": f"https://s{number}.example" for number in range(2)
        }
        client.check("https://s2.example/x")
        assert client._authorities == {"https://s2.example/": "https://s2.example"}
        long = f"https://{'a' * 300}@example.com/x"
        assert client.check(long).reason is Reason.NO_MATCH
        assert len(client._authorities) == 1
        # The bound applies to the part before the path.
        short = f"https://{'a' * (299 - len('https://@example.com'))}@example.com"
        client.check(f"{short}/x")
        assert f"{short}/" in client._authorities
        client.check(f"{short[:9]}a{short[9:]}/x")
        assert len(client._authorities) == 2

    def test_an_origin_is_found_once(self, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
        """For each way to write it, and not for each URL."""
        client = make()
        found: list[Any] = []

        def finding(url: Any) -> Any:
            found.append(url)
            return split_origin(url)

        monkeypatch.setattr(base_client, "split_origin", finding)
        for path in ("/a/b/c", "/", "/d/e"):
            assert client._origin(f"{SITE}{path}") == SITE
        assert found == [f"{SITE}/a/b/c"]
        assert client._origin(SITE) == SITE
        assert client._origin(f"{SITE}/".encode()) == SITE
        assert found[1:] == [SITE]  # octets are another matter

    def test_many_urls(self, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
        """Those of one origin are found by how it is written."""
        client = make()
        asked: list[Any] = []
        bare: Any = getattr(client, "client", client)
        origin = bare._origin

        def asking_for(url: Any) -> Any:
            asked.append(url)
            return origin(url)

        monkeypatch.setattr(bare, "_origin", asking_for)
        urls: list[Any] = [f"{site}/{n}/x" for n in range(9) for site in (SITE, "http://b.example")]
        urls += [f"{SITE}/".encode(), "mailto:x", "mailto:y"]
        listed, groups = bare._group_by_origin(urls)
        assert listed == urls
        assert groups == {
            SITE: [*range(0, 18, 2), 18],
            "http://b.example": [*range(1, 18, 2)],
            None: [19, 20],
        }
        assert asked == [*urls[:2], *urls[18:]]

    def test_what_has_no_origin_comes_first(self, make: Make) -> None:
        """The others are answered all the same."""
        found = make().check_many(["mailto:x", f"{SITE}/private/", f"{SITE}/x"])
        assert [verdict.reason for verdict in found] == [
            *(Reason.NO_ORIGIN, Reason.DISALLOW_RULE, Reason.NO_MATCH),
        ]

    def test_requested_since(self, make: Make, clock: Clock) -> None:
        """At that moment is since it."""
        client = make()
        assert not client._was_fetched_since(SITE, START)
        client.check(SITE)
        assert client._was_fetched_since(f"{SITE}/x", START)
        assert not client._was_fetched_since(SITE, START + 0.001)
        assert not client._was_fetched_since("mailto:x", START)


class TestPaces:
    """The settings that a file has for a crawler are read once."""

    def test_compact(self, make: Make, server: Server) -> None:
        """A file in memory does not keep its records, and limits only what delays depend on."""
        rates = "".join(f"Request-rate: 1/{n}\nRequest-rate: 1/{n} 0800-0900\n" for n in (3, 9, 5))
        text = f"User-agent: *\nCrawl-delay: 1\nCrawl-delay: 2\n{rates}"
        server.answers[ROBOTS] = Response(200, {}, text.encode())
        client = make(min_delay=1.0)
        assert client.delay(SITE) == (9.0, "request-rate", 6)
        state = client.cached(SITE)
        assert state is not None
        assert not hasattr(state.robots, "_records")
        [(_, (delay, kept))] = client._cached_limits.values()
        assert delay is not None
        assert delay.records == ()
        assert [(rate.seconds, rate.line) for rate in kept] == [(9.0, 6), (9.0, 7)]

    def test_many_rates(self, make: Make, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        """Their number is limited, too."""
        monkeypatch.setattr(base_client, "MAX_RATE_RECORDS", 30)
        rates = "".join(f"Request-rate: 1/9 {n:02}00-{n:02}30\n" for n in range(20))
        for host in "abc":
            site = f"https://{host}.example"
            body = f"User-agent: *\n{rates}".encode()
            server.answers[f"{site}/robots.txt"] = Response(200, {}, body)
        client = make(min_delay=1.0)
        for host in "abca":
            assert client.delay(f"https://{host}.example/").seconds in (1.0, 9.0)
            assert len(client._cached_limits) == 1

    def test_remembered(
        self, make: Make, server: Server, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As long as the file is the same; of some origins."""
        read = []

        def reading(robots: Any, *args: Any) -> Any:
            read.append(robots)
            return read_rate_limits(robots, *args)

        monkeypatch.setattr(base_client, "read_rate_limits", reading)
        monkeypatch.setattr(base_client, "MAX_CACHED_RATES", 1)
        client = make(min_delay=1.0)
        assert [client.delay(SITE).seconds for _ in range(2)] == [5.0, 5.0]
        assert len(read) == 1
        server.answers[ROBOTS] = Response(200, {}, b"User-agent: *\nCrawl-delay: 7\n")
        client.refresh(SITE)
        assert client.delay(SITE) == (7.0, "crawl-delay", 2)
        assert len(read) == 2
        other = "https://b.example"
        server.answers[f"{other}/robots.txt"] = Response(200, {}, FILE)
        assert client.delay(other).seconds == 5.0
        assert list(client._cached_limits) == [other]
        assert client.delay(SITE).seconds == 7.0
        assert len(read) == 4

    def test_by_purpose(self, make: Make, server: Server) -> None:
        """What is asked of the purposes of the client counts."""
        server.answers[ROBOTS] = Response(200, {}, b"User-agent-purpose: P\nCrawl-delay: 9\n")
        agent = "ExampleBot/1.0 (P; +https://example.com)"
        assert make(user_agent=agent, purposes=["P"]).delay(SITE).seconds == 9.0
        assert make(user_agent=agent).delay(SITE).seconds == 0.0

    def test_slots(self, make: Make, server: Server) -> None:
        """One at a time where the site states a pace."""
        two = make(connections_per_origin=2)
        assert two._slot_count(two.lookup(SITE)) == 1
        assert two._slot_count(two.lookup("https://b.example")) == 2
        client = make(connections_per_origin=3)
        assert client._slot_count(client.lookup(SITE)) == 1
        assert client._slot_count(client.lookup("https://b.example")) == 3
        server.answers["https://c.example/robots.txt"] = Response(200, {}, b"User-agent: *\n")
        assert client._slot_count(client.lookup("https://c.example")) == 3
        assert make()._slot_count(client.lookup("https://b.example")) == 1


class TestExplanations:
    """Of a URL that no robots.txt governs."""

    def test_all_of_it(self, make: Make) -> None:
        """Nothing decides, and it is told about whom that is."""
        found = make().explain(b"mailto:\xff", ["OtherBot", "Third"], ["P"])
        assert (found.url, found.product_token) == (r"mailto:\xff", "OtherBot, Third")
        assert (found.path, found.matched_tokens, found.purposes) == ("", (), ("P",))
        assert (found.groups, found.matches, found.notes) == ((), (), ())
        assert (found.verdict.allowed, found.verdict.reason) == (False, Reason.NO_ORIGIN)
        assert make().explain("mailto:x").product_token == "ExampleBot"


class TestPrefetching:
    """What may be prefetched."""

    def test_octets(self, make: Make, server: Server) -> None:
        """A URL may be octets, and not all octets are UTF-8."""
        assert make().prefetch([ROBOTS.encode(), b"\xff"]) == (1, 0, 0, 1)
        assert prefetch_origin(f"{SITE}/".encode() + b"\xff", 0) == SITE
        assert prefetch_origin(b"\xff", 0) == "\udcff"
        assert prefetch_origin("example.com", 0) == SITE

    def test_iterables_of_either_kind(self) -> None:
        """Lists, and what yields on an event loop."""

        async def sites() -> AsyncIterator[str]:
            yield SITE

        counts = {"success": 0, "unavailable": 0, "unreachable": 0, "skipped": 0}
        assert vet_prefetch([SITE], 1) == counts
        assert vet_prefetch(sites(), 1) == counts
        with opened("async", Server(), Clock()) as client:
            assert client.prefetch(sites()) == (0, 1, 0, 0)
        asyncio.run(asyncio.sleep(0))


class TestStores:
    """Which store a client gets."""

    def test_servers_are_contacted_later(self) -> None:
        """A store on a server that is away is opened all the same."""
        for scheme in ("redis", "postgresql"):
            store, without = open_client_store(f"{scheme}://127.0.0.1:{free_port()}/0")
            assert without is None
            store.close()

    def test_alone(self, make: Make, tmp_path: Path) -> None:
        """A store in memory that the client created is not shared."""
        assert make(store="memory:")._cache_engine.exclusive is True
        assert make(store=MemoryStore())._cache_engine.exclusive is False
        assert make(store=tmp_path / "a.sqlite")._cache_engine.exclusive is False

    def test_a_named_store_is_not_replaced(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Memory takes the place of the usual file alone."""
        monkeypatch.setenv("ROBOTRULES_CACHE_DIR", str(tmp_path / "none"))
        (tmp_path / "file").touch()
        with pytest.raises(StoreError, match="cannot be created or read"):
            open_client_store(tmp_path / "file" / "x")

    def test_a_folder_in_its_place(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A folder at that path is not treated as a file of another user."""
        monkeypatch.setenv("ROBOTRULES_CACHE_DIR", str(tmp_path))
        (tmp_path / "robots.sqlite").mkdir()
        store, without = open_client_store(None)
        assert isinstance(store, MemoryStore)
        assert without == f"{tmp_path / 'robots.sqlite'} is a folder: use the path of a file in it"

    @pytest.mark.parametrize("may", [True, False])
    def test_a_file_that_may_not_be_used(
        self, may: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A file of another user does not raise; a damaged file of ours does."""
        monkeypatch.setenv("ROBOTRULES_CACHE_DIR", str(tmp_path))
        (tmp_path / "robots.sqlite").write_bytes(b"x" * 10_000)
        asked: list[int] = []

        def access(path: object, mode: int) -> bool:
            asked.append(mode)
            return may or mode == os.F_OK

        monkeypatch.setattr(os, "access", access)
        if may:
            with pytest.raises(StoreError, match="another program"):
                open_client_store(None)
        else:
            assert isinstance(open_client_store(None)[0], MemoryStore)
        assert asked[-1] == os.R_OK | os.W_OK

    def test_the_usual_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """It is made."""
        monkeypatch.setenv("ROBOTRULES_CACHE_DIR", str(tmp_path))
        store, without = open_client_store(None)
        assert isinstance(store, SQLiteStore)
        assert without is None
        store.close()
