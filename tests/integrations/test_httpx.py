"""httpx and httpx2: the contract, and what is specific to their transports."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx
import httpx2
import pytest

import robotrules.integrations.httpx
import robotrules.integrations.httpx2
from robotrules import AsyncClient, Client, CrawlerError, DisallowedError, Reason
from tests.integrations.contract import ALL_BUT_PRIVATE, USER_AGENT, Outcome, client_options
from tests.integrations.loopback_site import LOOPBACK, Answer, LoopbackSite
from tests.integrations.session_contracts import (
    AsyncFetch,
    Credentials,
    Fetch,
    TaskSessions,
    ThreadSessions,
)

HOSTS: dict[str, tuple[Any, Any]] = {
    "httpx": (httpx, robotrules.integrations.httpx),
    "httpx2": (httpx2, robotrules.integrations.httpx2),
}


class TestHttpx(ThreadSessions):
    """`httpx.Client`."""

    host, integration = HOSTS["httpx"]
    timeout_error: type[Exception] = httpx.TimeoutException

    @contextmanager
    def session(self, credentials: Credentials | None = None, **options: Any) -> Iterator[Fetch]:
        """Open a client."""
        transport = self.integration.RobotsTransport(USER_AGENT, **options)
        auth = self.host.DigestAuth(*credentials) if credentials else None
        with self.host.Client(transport=transport, auth=auth, follow_redirects=True) as client:

            def fetch(url: str, timeout: float = 10.0) -> Outcome:
                try:
                    return Outcome(client.get(url, timeout=timeout).status_code)
                except self.host.RequestError as error:
                    if not isinstance(error, DisallowedError):
                        raise
                    return Outcome.of(error)

            yield fetch


class TestHttpx2(TestHttpx):
    """`httpx2.Client`."""

    host, integration = HOSTS["httpx2"]
    timeout_error = httpx2.TimeoutException


class TestAsyncHttpx(TaskSessions):
    """`httpx.AsyncClient`."""

    host, integration = HOSTS["httpx"]

    @asynccontextmanager
    async def session(
        self, credentials: Credentials | None = None, **options: Any
    ) -> AsyncIterator[AsyncFetch]:
        """Open a client."""
        transport = self.integration.AsyncRobotsTransport(USER_AGENT, **options)
        auth = self.host.DigestAuth(*credentials) if credentials else None
        async with self.host.AsyncClient(
            transport=transport, auth=auth, follow_redirects=True
        ) as client:

            async def fetch(url: str) -> Outcome:
                try:
                    return Outcome((await client.get(url)).status_code)
                except self.host.RequestError as error:
                    if not isinstance(error, DisallowedError):
                        raise
                    return Outcome.of(error)

            yield fetch


class TestAsyncHttpx2(TestAsyncHttpx):
    """`httpx2.AsyncClient`."""

    host, integration = HOSTS["httpx2"]


@pytest.fixture(params=HOSTS)
def libraries(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    """Return a host and its integration."""
    return HOSTS[request.param]


@pytest.fixture(params=["sync", "async"])
def kind(request: pytest.FixtureRequest) -> str:
    """Return which client of a host is used."""
    return str(request.param)


@pytest.fixture
def site() -> Iterator[LoopbackSite]:
    """Serve a site."""
    with LoopbackSite(ALL_BUT_PRIVATE) as served:
        yield served


def fetch(libraries: tuple[Any, Any], kind: str, url: str, **options: Any) -> Any:
    """Fetch a URL with a new client of either kind; *options* begin with those of the request."""
    host, integration = libraries
    names = ("headers", "method", "extensions")
    request = {name: options.pop(name) for name in names if name in options}
    method = request.pop("method", "GET")
    wrapped = options.pop("transport", None)
    options = client_options(**options)
    if kind == "sync":
        transport = integration.RobotsTransport(USER_AGENT, wrapped, **options)
        with host.Client(transport=transport) as client:
            return client.request(method, url, **request)

    async def run() -> Any:
        transport = integration.AsyncRobotsTransport(USER_AGENT, wrapped, **options)
        async with host.AsyncClient(transport=transport) as client:
            return await client.request(method, url, **request)

    return asyncio.run(run())


class TestUserAgent:
    """The User-Agent of requests."""

    def test_kept(self, libraries: Any, kind: str, site: LoopbackSite) -> None:
        """One with the product token is sent as it is."""
        fetch(libraries, kind, site.url("/a"), headers={"User-Agent": "my ExampleBot"})
        assert [seen.headers["User-Agent"] for seen in site.seen] == [USER_AGENT, "my ExampleBot"]

    def test_another_name(self, libraries: Any, kind: str, site: LoopbackSite) -> None:
        """Another name is rejected before anything is requested."""
        with pytest.raises(CrawlerError, match="follows the rules for ExampleBot"):
            fetch(libraries, kind, site.url("/a"), headers={"User-Agent": "Mozilla/5.0"})
        assert site.seen == []


class TestDisallowed:
    """What happens with a disallowed request."""

    def test_error(self, libraries: Any, kind: str, site: LoopbackSite) -> None:
        """The error is one of the host and of robotrules, has the request, and is picklable."""
        url = site.url("/private/x").replace("http://", "http://user:secret@")
        with pytest.raises(DisallowedError) as caught:
            fetch(libraries, kind, url)
        error: Any = caught.value
        assert isinstance(error, libraries[0].RequestError)
        assert not isinstance(error, libraries[0].TransportError)
        assert str(error.request.url) == url
        assert str(error) == f"{site.url('/private/x')}: {error.verdict}"
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), again.verdict) == (type(error), str(error), error.verdict)

    @pytest.mark.parametrize("method", ["HEAD", "POST"])
    def test_methods(self, libraries: Any, kind: str, site: LoopbackSite, method: str) -> None:
        """All methods are checked."""
        with pytest.raises(DisallowedError):
            fetch(libraries, kind, site.url("/private"), method=method)
        assert fetch(libraries, kind, site.url("/a"), method=method).status_code == 200
        assert site.paths == ["/a"]

    def test_respond(self, libraries: Any, kind: str, site: LoopbackSite) -> None:
        """A response of status 403 has the verdict; nothing was requested."""
        response = fetch(libraries, kind, site.url("/private"), on_disallowed="respond")
        verdict = response.extensions["robotrules"]
        assert (response.status_code, verdict.reason) == (403, Reason.DISALLOW_RULE)
        assert response.reason_phrase == "Disallowed by robots.txt"
        assert response.text == f"{site.url('/private')}: {verdict}\n"
        assert response.elapsed is not None
        assert response.request.url.path == "/private"
        assert site.paths == []

    def test_function(self, libraries: Any, kind: str, site: LoopbackSite) -> None:
        """A function returns the response."""
        host, _ = libraries

        def answer(request: Any, error: DisallowedError) -> Any:
            assert isinstance(error, host.RequestError)
            return host.Response(204, headers={"X-Line": str(error.verdict.line)})

        response = fetch(libraries, kind, site.url("/private"), on_disallowed=answer)
        assert (response.status_code, response.headers["X-Line"]) == (204, "2")

    def test_coroutine_function(self, libraries: Any, site: LoopbackSite) -> None:
        """The function for an event loop may be a coroutine function."""
        host, _ = libraries

        async def answer(request: Any, error: DisallowedError) -> Any:
            return host.Response(204)

        url = site.url("/private")
        assert fetch(libraries, "async", url, on_disallowed=answer).status_code == 204

    def test_function_without_a_response(
        self, libraries: Any, kind: str, site: LoopbackSite
    ) -> None:
        """A function that returns no response is reported, and can raise the error."""
        url, name = site.url("/private"), libraries[0].__name__
        with pytest.raises(
            TypeError, match=rf"returned None: return an {name}\.Response, or raise"
        ):
            fetch(libraries, kind, url, on_disallowed=lambda request, error: None)

        def answer(request: Any, error: DisallowedError) -> Any:
            raise error

        with pytest.raises(DisallowedError) as caught:
            fetch(libraries, kind, url, on_disallowed=answer)
        assert isinstance(caught.value, libraries[0].RequestError)
        assert caught.value.__context__ is None
        assert site.paths == []


class TestCheckedUrl:
    """The URL that is checked is the one that is requested."""

    def test_target(self, libraries: Any, kind: str, site: LoopbackSite) -> None:
        """A target of the extensions replaces path and query."""
        target = {"target": b"/private?b"}
        with pytest.raises(DisallowedError) as caught:
            fetch(libraries, kind, site.url("/a?c"), extensions=target)
        assert caught.value.url == site.url("/private?b")
        assert fetch(libraries, kind, site.url("/private"), extensions={"target": b"/b"})
        assert site.paths == ["/b"]

    @pytest.mark.parametrize("target", [b"*", b"http://a.example/", "/a", b"/a#b", b"/\xff", b""])
    def test_other_targets(
        self, libraries: Any, kind: str, site: LoopbackSite, target: object
    ) -> None:
        """Targets of other forms cannot be checked."""
        with pytest.raises(CrawlerError, match=r"extensions\['target'\] is .*: pass a path"):
            fetch(libraries, kind, site.url("/a"), extensions={"target": target})
        assert site.seen == []

    def test_another_host(self, libraries: Any, kind: str, site: LoopbackSite) -> None:
        """A Host field that names another site is rejected before anything is requested."""
        with pytest.raises(
            CrawlerError, match=r"'Host: shop\.example'.*rules are those of the URL"
        ):
            fetch(libraries, kind, site.url("/a"), headers={"Host": "shop.example"})
        assert site.seen == []
        own = site.origin.removeprefix("http://")
        for hosts in (("shop.example", own), (own, "shop.example"), ("",)):
            with pytest.raises(CrawlerError, match="rules are those of the URL"):
                fetch(libraries, kind, site.url("/a"), headers=[("Host", host) for host in hosts])
        assert site.seen == []
        fields = {"Host": f"{LOOPBACK}:80"}
        assert fetch(libraries, kind, site.url("/a"), headers=fields).status_code == 200

    def test_two_names(self, libraries: Any, kind: str, site: LoopbackSite) -> None:
        """Two User-Agent fields are rejected: a site may read the other one."""
        fields = [("User-Agent", USER_AGENT), ("User-Agent", "Mozilla/5.0")]
        with pytest.raises(CrawlerError, match="sends 2 User-Agent fields"):
            fetch(libraries, kind, site.url("/a"), headers=fields)
        assert site.seen == []


class TestTransports:
    """What is wrapped, and closing."""

    def test_context(self, libraries: Any, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """Entering and leaving are passed on; everything is closed once."""
        host, integration = libraries
        base = host.BaseTransport if kind == "sync" else host.AsyncBaseTransport
        events: list[str] = []
        close, aclose = Client.close, AsyncClient.aclose

        def close_client(client: Client) -> None:
            events.append("close client")
            close(client)

        async def aclose_client(client: AsyncClient) -> None:
            events.append("close client")
            await aclose(client)

        monkeypatch.setattr(Client, "close", close_client)
        monkeypatch.setattr(AsyncClient, "aclose", aclose_client)

        class Wrapped(base):  # type: ignore[misc, valid-type]
            def handle_request(self, request: Any) -> Any:
                raise NotImplementedError

            async def handle_async_request(self, request: Any) -> Any:
                raise NotImplementedError

            def __enter__(self) -> Any:
                events.append("enter")
                return self

            def close(self) -> None:
                events.append("close")

            async def __aenter__(self) -> Any:
                return self.__enter__()

            async def aclose(self) -> None:
                self.close()

        async def run() -> None:
            transport = integration.AsyncRobotsTransport(USER_AGENT, Wrapped(), store="memory:")
            async with host.AsyncClient(transport=transport):
                events.append("inside")

        if kind == "sync":
            transport = integration.RobotsTransport(USER_AGENT, Wrapped(), store="memory:")
            with host.Client(transport=transport):
                events.append("inside")
        else:
            asyncio.run(run())
        assert events == ["enter", "inside", "close", "close client"]

    def test_the_other_kind(self, libraries: Any) -> None:
        """A transport in a client of the other kind says which class to use."""
        host, integration = libraries
        with Client(USER_AGENT, store="memory:") as robots:
            transport = integration.RobotsTransport(robots)
            client = host.AsyncClient(transport=transport)
            match = rf"it is for {host.__name__}\.Client; use AsyncRobotsTransport"
            with pytest.raises(AttributeError, match=match):
                asyncio.run(client.__aenter__())
            with pytest.raises(AttributeError, match=match):
                asyncio.run(client.get("http://a.example/"))
            assert not hasattr(transport, "other")

        async def run() -> None:
            async with AsyncClient(USER_AGENT, store="memory:") as robots:
                transport = integration.AsyncRobotsTransport(robots)
                match = rf"it is for {host.__name__}\.AsyncClient; use RobotsTransport"
                with pytest.raises(AttributeError, match=match):
                    host.Client(transport=transport).__enter__()

        asyncio.run(run())

    def test_errors_of_the_host(self, libraries: Any, kind: str, site: LoopbackSite) -> None:
        """An error of the wrapped transport passes unchanged, and ends the slot."""
        host, integration = libraries
        raised = host.ConnectError("no route")

        def fail(request: Any) -> Any:
            raise raised

        urls = [site.url("/a"), site.url("/b")]
        if kind == "sync":
            wrapped = integration.RobotsTransport(
                USER_AGENT, host.MockTransport(fail), **client_options()
            )
            with host.Client(transport=wrapped) as client:
                for url in urls:
                    with pytest.raises(host.ConnectError) as caught:
                        client.get(url)
                    assert caught.value is raised
            return

        async def run() -> None:
            wrapped = integration.AsyncRobotsTransport(
                USER_AGENT, host.MockTransport(fail), **client_options()
            )
            async with host.AsyncClient(transport=wrapped) as client:
                for url in urls:
                    with pytest.raises(host.ConnectError) as caught:
                        await client.get(url)
                    assert caught.value is raised

        asyncio.run(asyncio.wait_for(run(), 10))

    def test_other_schemes(self, libraries: Any, kind: str) -> None:
        """Other schemes are for the wrapped transport, unchanged."""
        host, _ = libraries
        agents = []

        def answer(request: Any) -> Any:
            agents.append(request.headers["User-Agent"])
            return host.Response(200)

        url = "ftp://a.example/a"
        response = fetch(libraries, kind, url, transport=host.MockTransport(answer))
        assert response.status_code == 200
        assert agents == [f"python-{host.__name__}/{host.__version__}"]

    def test_a_given_client_stays_open(self, libraries: Any, site: LoopbackSite) -> None:
        """A client that is passed in is shared, and closed by the caller."""
        host, integration = libraries
        with Client(USER_AGENT, **client_options()) as robots:
            for path in ("/a", "/b"):
                transport = integration.RobotsTransport(robots)
                assert transport.client is robots
                with host.Client(transport=transport) as client:
                    assert client.get(site.url(path)).status_code == 200
            assert robots.check(site.url("/c"))
        assert site.robots_requests == 1

    def test_a_given_async_client_stays_open(self, libraries: Any, site: LoopbackSite) -> None:
        """The same in an event loop."""
        host, integration = libraries

        async def run() -> None:
            async with AsyncClient(USER_AGENT, **client_options()) as robots:
                for path in ("/a", "/b"):
                    transport = integration.AsyncRobotsTransport(robots)
                    async with host.AsyncClient(transport=transport) as client:
                        assert (await client.get(site.url(path))).status_code == 200
                assert await robots.check(site.url("/c"))

        asyncio.run(run())
        assert site.robots_requests == 1

    def test_streams_end_after_the_slot(self, libraries: Any, site: LoopbackSite) -> None:
        """The slot ends with the head: another page can be fetched while a body is read."""
        host, integration = libraries
        site.answers["/large"] = Answer(body=b"x" * 1_000_000)
        transport = integration.RobotsTransport(USER_AGENT, **client_options())
        with (
            host.Client(transport=transport) as client,
            client.stream("GET", site.url("/large")) as response,
        ):
            assert client.get(site.url("/a")).status_code == 200
            assert sum(map(len, response.iter_bytes())) == 1_000_000

    def test_cancelled_while_the_slot_ends(self, libraries: Any, site: LoopbackSite) -> None:
        """A response that no caller gets is closed."""
        host, integration = libraries

        class Stream(host.AsyncByteStream):  # type: ignore[misc, name-defined]
            closed = False

            async def aclose(self) -> None:
                self.closed = True

        stream = Stream()

        class Busy(host.AsyncBaseTransport):  # type: ignore[misc, name-defined]
            async def handle_async_request(self, request: Any) -> Any:
                task = asyncio.current_task()
                assert task is not None
                task.cancel()  # arrives at the next suspension: when the slot ends
                return host.Response(200, stream=stream)

        async def run() -> None:
            async with AsyncClient(USER_AGENT, **client_options()) as robots:
                assert await robots.check(site.url("/a"))

                class Suspending:
                    """A slot whose end suspends, as with a store on another machine."""

                    @asynccontextmanager
                    async def checked_slot(self, url: str) -> AsyncIterator[Any]:
                        async with robots.checked_slot(url) as slot:
                            yield slot
                            await asyncio.sleep(0)

                transport = integration.AsyncRobotsTransport(robots, Busy())
                transport._binding.client = Suspending()
                with pytest.raises(asyncio.CancelledError):
                    await transport.handle_async_request(host.Request("GET", site.url("/a")))

        asyncio.run(run())
        assert stream.closed
