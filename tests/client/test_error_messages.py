"""Error messages of a client, word for word: each names the problem and the fix."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from robotrules import CrawlerError, Reason
from robotrules.client import AddressPolicy, AsyncClient, Client
from robotrules.client.base_client import TransportOptions, make_transport_options
from robotrules.client.stores import MemoryStore
from robotrules.client.transports.adapters import AsyncHttpxAdapter, HttpxAdapter
from tests.client.scripted import AsyncServer, Clock, Server, opened

AGENT = "ExampleBot/1.0 (+https://example.com/bot)"
SITE = "https://example.com"


@pytest.fixture(params=["sync", "async"])
def kind(request: pytest.FixtureRequest) -> str:
    """Either client."""
    return str(request.param)


def made(kind: str, user_agent: Any = AGENT, **options: Any) -> Any:
    """Make a client over a scripted server, unless it is refused."""
    given: dict[str, Any] = {"store": "memory:"} | options
    if "transport" not in given:
        given["transport"] = Server() if kind == "sync" else AsyncServer(Server())
    return (Client if kind == "sync" else AsyncClient)(user_agent, **given)


def carried(transport: object = None, **options: Any) -> TransportOptions:
    """Return what carries the requests of a client for threads."""
    given: dict[str, Any] = {"addresses": None, "allow_private": (), "connections": None}
    given |= {"proxy": None, "headers": ()} | options
    return make_transport_options(AGENT, transport, threads=True, **given)


def message(error: type[Exception], act: Callable[[], object]) -> str:
    """Return the words of the error that something raises."""
    with pytest.raises(error) as caught:
        act()
    assert type(caught.value) is error
    return str(caught.value)


class TestWhoIsRefused:
    """A client without a valid name."""

    def test_a_user_agent_of_another_type(self, kind: str) -> None:
        """None and bytes raise."""
        words = "user_agent must be str, not NoneType"
        assert message(TypeError, lambda: made(kind, None)) == words
        assert message(TypeError, lambda: made(kind, b"x")) == "user_agent must be str, not bytes"

    @pytest.mark.parametrize("agent", ["", " ", "ExampleBot\r\nX: y", "ExampleBöt/1.0"])
    def test_a_user_agent_that_cannot_be_sent(self, kind: str, agent: str) -> None:
        """The line would be empty, two, or not ASCII."""
        assert message(CrawlerError, lambda: made(kind, agent)) == (
            f"{agent!r} cannot be sent as User-Agent: use printable ASCII such as 'ExampleBot/1.0 "
            "(+https://example.com/bot)'"
        )

    def test_a_user_agent_without_a_name(self, kind: str) -> None:
        """A browser's User-Agent names no crawler."""
        assert message(CrawlerError, lambda: made(kind, "Mozilla/5.0")) == (
            "no product token in 'Mozilla/5.0': begin it with the crawler's name, such as "
            "'ExampleBot/1.0'; if the name is elsewhere in it, pass product_token="
        )

    @pytest.mark.parametrize("token", ["", " ", [], ["ExampleBot", ""], ["ExampleBot", 1]])
    def test_a_token_that_is_none(self, kind: str, token: Any) -> None:
        """Each of several has to be a name."""
        words = f"product_token is {token!r}: pass a name such as 'ExampleBot'"
        assert message(CrawlerError, lambda: made(kind, product_token=token)) == words

    def test_a_token_that_is_not_sent(self, kind: str) -> None:
        """A client must follow the rules for its own name."""
        assert message(CrawlerError, lambda: made(kind, product_token="OtherBot")) == (
            f"'OtherBot' is not in the User-Agent '{AGENT}': send the name whose rules the "
            "crawler follows (RFC 9309 §2.2.1). To check the rules of another crawler, "
            "pass its name to check()"
        )

    def test_a_token_of_several_that_is_not_sent(self, kind: str) -> None:
        """One of them in the User-Agent is not enough, unless the others begin with it."""
        for tokens in (["OtherBot", "ExampleBot"], ["ExampleBot", "OtherBot"]):
            words = message(CrawlerError, lambda tokens=tokens: made(kind, product_token=tokens))  # type: ignore[misc]
            assert words.startswith("'OtherBot' is not in the User-Agent ")
        assert [note.code for note in made(kind, purposes=["TRAINING-1"]).notes] == [
            "purpose-not-sent"
        ]
        client = made(kind, product_token=("examplebot-NEWS", "EXAMPLEBOT"))
        assert client.product_token == ("examplebot-NEWS", "EXAMPLEBOT")


class TestNumbersThatAreRefused:
    """Numbers out of bounds, and values that are not numbers."""

    @pytest.mark.parametrize("count", [0, 17, -1, True, 1.0, "2", None])
    def test_connections_per_origin(self, kind: str, count: Any) -> None:
        """More would be a load test."""
        words = f"connections_per_origin is {count!r}: use 1 to 16"
        assert message(ValueError, lambda: made(kind, connections_per_origin=count)) == words

    @pytest.mark.parametrize("value", [-0.1, 86_400.1, "1", None])
    def test_min_delay(self, kind: str, value: Any) -> None:
        """A day at most."""
        words = f"min_delay is {value!r}: use seconds, 0 to 86400"
        assert message(ValueError, lambda: made(kind, min_delay=value)) == words

    @pytest.mark.parametrize("value", [0, 0.0009, 86_400.1, "1", None])
    def test_seconds(self, kind: str, value: Any) -> None:
        """A request takes some time."""
        words = f"timeout is {value!r}: use seconds, 0.001 to 86400"
        assert message(ValueError, lambda: made(kind, timeout=value)) == words

    def test_bounds_are_within(self, kind: str) -> None:
        """The least and the most are allowed."""
        for delay, seconds, count in ((0, 0.001, 1), (86_400, 86_400, 16)):
            client = made(kind, min_delay=delay, timeout=seconds, connections_per_origin=count)
            assert (client._min_delay.seconds, client._cache_engine.timeout, client._slots) == (
                *(delay, seconds, count),
            )
            assert type(client._min_delay.seconds) is type(client._cache_engine.timeout) is float

    def test_a_hook_that_is_not_callable(self, kind: str) -> None:
        """What is shown of it is short."""
        words = f"on_fetch is '{'x' * 59}: pass a function that takes a FetchEvent"
        assert message(TypeError, lambda: made(kind, on_fetch="x" * 100)) == words


class TestCarriers:
    """What carries requests has its own settings, or gets them, and not both."""

    def test_a_transport_and_addresses(self, kind: str) -> None:
        """It was made with some."""
        words = (
            "addresses= and allow_private= have no effect on a transport: pass "
            "addresses= when you create it"
        )
        for given in ({"addresses": AddressPolicy()}, {"allow_private": "localhost"}):
            assert message(ValueError, lambda given=given: made(kind, **given)) == words  # type: ignore[misc]

    @pytest.mark.parametrize(
        "given",
        [{"connections": 4}, {"proxy": "http://localhost:3128"}, {"headers": {"X-A": "b"}}],
        ids=str,
    )
    def test_a_transport_and_its_settings(self, kind: str, given: dict[str, Any]) -> None:
        """They would have no effect."""
        assert message(ValueError, lambda: made(kind, **given)) == (
            "connections=, proxy= and headers= have no effect on a transport: pass them when "
            "you create it"
        )

    def test_addresses_twice(self, kind: str) -> None:
        """One of them would be ignored."""
        given = {"addresses": AddressPolicy(), "allow_private": ["localhost"], "transport": None}
        words = "addresses= and allow_private= cannot be combined: use AddressPolicy(allow_private)"
        assert message(ValueError, lambda: made(kind, **given)) == words

    @pytest.mark.parametrize("given", [{"connections": 4}, {"proxy": "http://localhost:3128"}])
    def test_a_client_of_a_library(self, kind: str, given: dict[str, Any]) -> None:
        """A client of httpx2 keeps its connections itself."""
        library = httpx2.Client() if kind == "sync" else httpx2.AsyncClient()
        words = "connections= and proxy= have no effect on your HTTP client: configure them there"
        act: Callable[[], object] = lambda: made(kind, transport=library, **given)  # noqa: E731
        assert message(ValueError, act) == words

    def test_what_is_opened(self) -> None:
        """Without a transport, one is opened with all the options; one host may be a string."""
        found = carried(allow_private="localhost", connections=4, headers={"X-A": "b"})
        assert found.transport is None
        assert found.options.keys() == {"connections", "proxy", "addresses", "headers"}
        assert (found.options["connections"], found.options["proxy"]) == (4, None)
        assert repr(found.options["addresses"]) == "AddressPolicy(allow_private=['localhost'])"
        assert [tuple(pair) for pair in found.options["headers"]] == [("X-A", "b")]
        proxy = "http://localhost:3128"
        assert carried(proxy=proxy).options["proxy"] == proxy
        addresses = AddressPolicy()
        assert carried(addresses=addresses).options["addresses"] is addresses

    def test_what_was_handed_over(self) -> None:
        """A transport is used as it is, and a client of a library through an adapter."""
        server = Server()
        assert carried(server) == (server, {})
        library = httpx2.Client()
        found = carried(library, allow_private=["localhost"], headers={"X-A": "b"})
        assert type(found.transport) is HttpxAdapter
        assert found.options == {}
        settings = found.transport._settings
        assert settings.addresses.refusal_of_address("localhost", "127.0.0.1") is None
        assert [tuple(pair) for pair in settings.headers] == [("X-A", "b")]
        other = httpx2.AsyncClient()
        given: dict[str, Any] = {"addresses": None, "allow_private": (), "connections": None}
        found = make_transport_options(AGENT, other, threads=False, proxy=None, headers=(), **given)
        assert type(found.transport) is AsyncHttpxAdapter

    def test_how_many_requests_to_expect(self, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """`expect_concurrency` is called only on transports that have it."""
        told: list[int] = []
        served = Server if kind == "sync" else AsyncServer
        monkeypatch.setattr(
            served, "expect_concurrency", lambda _, count: told.append(count), raising=False
        )
        with opened(kind, Server(), Clock()) as client:
            client.prefetch([SITE], concurrency=7)
            monkeypatch.setattr(served, "expect_concurrency", None)
            client.prefetch([SITE], concurrency=8)
        assert told == [7]


class TestStores:
    """Invalid stores."""

    def test_a_class(self, kind: str) -> None:
        """The brackets were forgotten."""
        words = "store is the class MemoryStore: pass an instance of it"
        assert message(TypeError, lambda: made(kind, store=MemoryStore)) == words

    def test_something_else(self, kind: str) -> None:
        """It cannot lease."""
        words = "store must be a path, a URL such as redis://…, or a Store, not int"
        assert message(TypeError, lambda: made(kind, store=5)) == words


class TestQuestions:
    """Questions that cannot be answered."""

    @pytest.fixture
    def client(self, kind: str) -> Any:
        """A client of each kind."""
        with opened(kind, Server(), Clock()) as client:
            yield client

    def test_one_url_for_many(self, client: Any) -> None:
        """A text is a list of letters."""
        words = f"urls must be a list of URLs: pass ['{SITE}']"
        assert message(TypeError, lambda: client.check_many(SITE)) == words
        words = "urls must be a list of URLs: pass [b'x']"
        assert message(TypeError, lambda: client.check_many(b"x")) == words

    def test_invalid_urls(self, client: Any) -> None:
        """The error names the URL."""
        words = message(TypeError, lambda: client.check_many([SITE, 5]))
        assert words.startswith("urls[1]: a URL is str or bytes, not int")
        assert client.check_many([httpx2.URL(f"{SITE}/x")])[0].reason is Reason.UNAVAILABLE

    def test_no_origin(self, client: Any) -> None:
        """Some questions need a server."""
        words = "'mailto:x' has no origin: pass an http or https URL"
        for ask in (client.delay, client.reserve):
            assert message(ValueError, lambda ask=ask: ask("mailto:x")) == words  # type: ignore[misc]

        def turn() -> None:
            with client.slot("mailto:x"):
                pass

        assert message(ValueError, turn) == words
        words = "'mailto:x' has no robots.txt: pass an http or https URL"
        assert message(ValueError, lambda: client.robots("mailto:x")) == words

    def test_prefetching(self, client: Any) -> None:
        """Origins are a list, and their number at a time a whole one."""
        words = f"origins must be a list: pass ['{SITE}']"
        assert message(TypeError, lambda: client.prefetch(SITE)) == words
        words = "origins must be a list: pass [b'x']"
        assert message(TypeError, lambda: client.prefetch(b"x")) == words
        words = "origins must be a list such as ['https://example.com'], not int"
        assert message(TypeError, lambda: client.prefetch(5)) == words
        words = message(TypeError, lambda: client.prefetch([SITE, 5]))
        assert words.startswith("origins[1]: a URL is str or bytes, not int")
        for number in (2.5, True):
            words = f"concurrency is {number}: use a whole number, such as 50"
            act: Callable[[], object] = lambda number=number: client.prefetch(  # type: ignore[misc]  # noqa: E731
                [], concurrency=number
            )
            assert message(TypeError, act) == words
        words = "concurrency is 0: use 1 or more"
        assert message(ValueError, lambda: client.prefetch([], concurrency=0)) == words
        assert client.prefetch([SITE], concurrency=1) == (0, 1, 0, 0)

    def test_a_closed_client(self, client: Any) -> None:
        """It answers no more."""
        (getattr(client, "aclose", None) or client.close)()
        words = "this client is closed: create another one"
        assert message(RuntimeError, lambda: client.check(SITE)) == words

    def test_a_transport_that_returns_something_else(self, kind: str) -> None:
        """A transport has to return one of two things."""
        server = Server()
        server.answers[f"{SITE}/robots.txt"] = lambda request: 5  # type: ignore[assignment,return-value]
        with opened(kind, server, Clock()) as client:
            words = "a transport must return Response or Failure, not int"
            assert message(TypeError, lambda: client.check(SITE)) == words

    def test_a_slot_within_a_slot_of_the_same_thread(self, tmp_path: Path) -> None:
        """A thread would wait for itself."""
        with opened("sync", Server(), Clock()) as client, client.slot(SITE):
            assert message(RuntimeError, lambda: client.slot(SITE).__enter__()) == (
                f"this thread already has a slot of {SITE} and would wait for itself: end the "
                "slot first, or fetch with another HTTP library inside it"
            )
