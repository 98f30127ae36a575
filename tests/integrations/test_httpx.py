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
from tests.integrations.loopback_site import Answer, LoopbackSite
from tests.integrations.session_contracts import AsyncFetch, Fetch, TaskSessions, ThreadSessions

HOSTS: dict[str, tuple[Any, Any]] = {
    "httpx": (httpx, robotrules.integrations.httpx),
    "httpx2": (httpx2, robotrules.integrations.httpx2),
}


class TestHttpx(ThreadSessions):
    """`httpx.Client`."""

    host, integration = HOSTS["httpx"]
    timeout_error: type[Exception] = httpx.TimeoutException

    @contextmanager
    def session(self, **options: Any) -> Iterator[Fetch]:
        """Open a client."""
        transport = self.integration.RobotsTransport(USER_AGENT, **options)
        with self.host.Client(transport=transport, follow_redirects=True) as client:

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
    async def session(self, **options: Any) -> AsyncIterator[AsyncFetch]:
        """Open a client."""
        transport = self.integration.AsyncRobotsTransport(USER_AGENT, **options)
        async with self.host.AsyncClient(transport=transport, follow_redirects=True) as client:

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
    request = {name: options.pop(name) for name in ("headers", "method") if name in options}
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

        def answer(request: Any, verdict: Any) -> Any:
            return host.Response(204, headers={"X-Line": str(verdict.line)})

        response = fetch(libraries, kind, site.url("/private"), on_disallowed=answer)
        assert (response.status_code, response.headers["X-Line"]) == (204, "2")

    def test_coroutine_function(self, libraries: Any, site: LoopbackSite) -> None:
        """The function for an event loop may be a coroutine function."""
        host, _ = libraries

        async def answer(request: Any, verdict: Any) -> Any:
            return host.Response(204)

        url = site.url("/private")
        assert fetch(libraries, "async", url, on_disallowed=answer).status_code == 204


class TestTransports:
    """What is wrapped, and closing."""

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
