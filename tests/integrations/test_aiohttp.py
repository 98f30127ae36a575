"""aiohttp: the contract, and what is specific to its middleware."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from multidict import CIMultiDict
from yarl import URL

from robotrules import AsyncClient, CrawlerError, DisallowedError
from robotrules.integrations.aiohttp import AiohttpDisallowedError, RobotsMiddleware
from tests.integrations.contract import ALL_BUT_PRIVATE, USER_AGENT, Outcome, client_options
from tests.integrations.loopback_site import Answer, LoopbackSite
from tests.integrations.session_contracts import AsyncFetch, Credentials, TaskSessions


@asynccontextmanager
async def opened(
    *middlewares: aiohttp.ClientMiddlewareType, **options: Any
) -> AsyncIterator[aiohttp.ClientSession]:
    """Open a session with the middleware as the last one."""
    async with (
        RobotsMiddleware(USER_AGENT, **client_options(**options)) as robots,
        # In threads, so that names of loopback are resolved as in the other tests.
        aiohttp.TCPConnector(resolver=aiohttp.ThreadedResolver()) as connector,
        aiohttp.ClientSession(middlewares=[*middlewares, robots], connector=connector) as session,
    ):
        yield session


class TestAiohttp(TaskSessions):
    """`aiohttp.ClientSession`."""

    @asynccontextmanager
    async def session(
        self, credentials: Credentials | None = None, **options: Any
    ) -> AsyncIterator[AsyncFetch]:
        """Open a session."""
        digest = [aiohttp.DigestAuthMiddleware(*credentials)] if credentials else []
        async with opened(*digest, **options) as session:

            async def fetch(url: str) -> Outcome:
                try:
                    async with session.get(url) as response:
                        return Outcome(response.status)
                except aiohttp.ClientError as error:
                    if not isinstance(error, DisallowedError):
                        raise
                    return Outcome.of(error)

            yield fetch


@pytest.fixture
def site() -> Iterator[LoopbackSite]:
    """Serve a site."""
    with LoopbackSite(ALL_BUT_PRIVATE) as served:
        yield served


def run(work: Callable[[aiohttp.ClientSession], Awaitable[Any]], **options: Any) -> Any:
    """Run a function with a session."""

    async def main() -> Any:
        async with opened(**options) as session:
            return await work(session)

    return asyncio.run(main())


async def get(session: aiohttp.ClientSession, url: str, **options: Any) -> int:
    """Fetch a page, and return its status."""
    async with session.get(url, **options) as response:
        await response.read()
        return response.status


class TestUserAgent:
    """The User-Agent of requests."""

    def test_redirects(self, site: LoopbackSite) -> None:
        """It is sent at every hop, also if the session sends none by itself."""
        site.answers["/1"] = Answer(302, headers=(("Location", "/2"),))

        async def work(session: aiohttp.ClientSession) -> None:
            await get(session, site.url("/1"), skip_auto_headers=["User-Agent"])
            await get(session, site.url("/1"))

        run(work)
        assert [seen.headers.get("User-Agent") for seen in site.seen] == [USER_AGENT] * 5

    def test_kept(self, site: LoopbackSite) -> None:
        """One with the product token is sent as it is."""
        agent = {"User-Agent": "my ExampleBot"}
        run(lambda session: get(session, site.url("/a"), headers=agent))
        assert [seen.headers["User-Agent"] for seen in site.seen] == [USER_AGENT, "my ExampleBot"]

    def test_another_name(self, site: LoopbackSite) -> None:
        """Another name is rejected before anything is requested."""
        agent = {"User-Agent": "Mozilla/5.0"}
        with pytest.raises(CrawlerError, match="follows the rules for ExampleBot"):
            run(lambda session: get(session, site.url("/a"), headers=agent))
        assert site.seen == []

    def test_two_names(self, site: LoopbackSite) -> None:
        """Two User-Agent fields are rejected: a site may read the other one."""
        agents = CIMultiDict([("User-Agent", USER_AGENT), ("User-Agent", "Mozilla/5.0")])
        with pytest.raises(CrawlerError, match="sends 2 User-Agent fields"):
            run(lambda session: get(session, site.url("/a"), headers=agents))
        assert site.seen == []

    def test_another_host(self, site: LoopbackSite) -> None:
        """A Host field that names another site is rejected before anything is requested."""
        with pytest.raises(CrawlerError, match="rules are those of the URL's host"):
            run(lambda session: get(session, site.url("/a"), headers={"Host": "shop.example"}))
        assert site.seen == []


class TestDisallowed:
    """What happens with a disallowed request."""

    def test_error(self, site: LoopbackSite) -> None:
        """The error is one of the host and of robotrules, and picklable."""
        url = site.url("/private/x").replace("http://", "http://user:secret@")
        with pytest.raises(aiohttp.ClientError) as caught:
            run(lambda session: session.post(url))
        error = caught.value
        assert isinstance(error, AiohttpDisallowedError)
        assert str(error) == f"{site.url('/private/x')}: {error.verdict}"
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), again.verdict) == (type(error), str(error), error.verdict)
        assert site.paths == []

    @pytest.mark.parametrize("awaited", [False, True])
    def test_function(self, site: LoopbackSite, awaited: bool) -> None:
        """A function, or a coroutine function, returns the response: here of another page."""

        async def work(session: aiohttp.ClientSession) -> int:
            other = await session.get(site.url("/a"))

            async def answer_later(request: Any, error: DisallowedError) -> aiohttp.ClientResponse:
                assert isinstance(error, aiohttp.ClientError)
                assert error.verdict.line == 2
                return other

            answer = answer_later if awaited else lambda request, error: other
            options = client_options(on_disallowed=answer)
            async with RobotsMiddleware(USER_AGENT, **options) as robots:
                return await get(session, site.url("/private"), middlewares=[robots])

        assert run(work) == 200
        assert site.paths == ["/a"]

    def test_function_without_a_response(self, site: LoopbackSite) -> None:
        """A function that returns no response is reported, and can raise the error."""

        async def work(session: aiohttp.ClientSession) -> None:
            await session.get(site.url("/private"))

        async def answer(request: Any, error: DisallowedError) -> Any:
            raise error

        match = r"returned None: return an aiohttp\.ClientResponse, or raise"
        with pytest.raises(TypeError, match=match):
            run(work, on_disallowed=lambda request, error: None)
        with pytest.raises(AiohttpDisallowedError):
            run(work, on_disallowed=answer)
        assert site.paths == []


class TestSessions:
    """Sessions, and closing."""

    def test_errors_of_the_host(self, site: LoopbackSite) -> None:
        """A timeout of the host passes unchanged, and ends the slot."""
        site.answers["/slow"] = Answer(delay=1.0)

        async def work(session: aiohttp.ClientSession) -> int:
            with pytest.raises(TimeoutError):
                await session.get(site.url("/slow"), timeout=aiohttp.ClientTimeout(total=0.2))
            return await get(session, site.url("/a"))

        assert run(work) == 200

    def test_websockets_are_not_checked(self, site: LoopbackSite) -> None:
        """A robots.txt governs http and https."""

        async def work(session: aiohttp.ClientSession) -> None:
            url = site.url("/private").replace("http:", "ws:")
            with pytest.raises(aiohttp.WSServerHandshakeError):
                await session.ws_connect(url)

        run(work)
        assert (site.paths, site.robots_requests) == (["/private"], 0)

    def test_a_given_client_stays_open(self, site: LoopbackSite) -> None:
        """A client that is passed in is shared, and closed by the caller."""

        async def main() -> None:
            async with AsyncClient(USER_AGENT, **client_options()) as robots:
                for path in ("/a", "/b"):
                    async with RobotsMiddleware(robots) as middleware:
                        assert middleware.client is robots
                        async with aiohttp.ClientSession(middlewares=[middleware]) as session:
                            assert await get(session, site.url(path)) == 200
                assert await robots.check(site.url("/c"))

        asyncio.run(main())
        assert site.robots_requests == 1

    def test_cancelled_while_the_slot_ends(self, site: LoopbackSite) -> None:
        """A response that no caller gets is closed."""
        closed = []

        class Response:
            """A response that arrives when the task has been cancelled."""

            status, headers = 200, None

            def close(self) -> None:
                """Record it."""
                closed.append(True)

        async def handler(request: Any) -> Any:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()  # arrives at the next suspension: when the slot ends
            return Response()

        class SuspendingClient(AsyncClient):
            """A client whose slots suspend when they end, as with a store on another machine."""

            def checked_slot(self, *arguments: Any, **options: Any) -> Any:
                return self.suspend(super().checked_slot(*arguments, **options))

            @asynccontextmanager
            async def suspend(self, context: Any) -> AsyncIterator[Any]:
                """Suspend after the slot has ended."""
                async with context as slot:
                    yield slot
                    await asyncio.sleep(0)

        async def main() -> None:
            url = URL(site.url("/a"))
            request = aiohttp.ClientRequest("GET", url, loop=asyncio.get_running_loop())
            async with SuspendingClient(USER_AGENT, **client_options()) as robots:
                with pytest.raises(asyncio.CancelledError):
                    await RobotsMiddleware(robots)(request, handler)

        asyncio.run(main())
        assert closed == [True]
