"""
aiohttp: a client middleware that follows robots.txt.

    async with (
        RobotsMiddleware("ExampleBot/1.0 (+https://example.com/bot)") as robots,
        aiohttp.ClientSession(middlewares=[robots]) as session,
    ):
        await session.get("https://example.com/a")

A disallowed request raises `AiohttpDisallowedError`. See docs/integrations/aiohttp.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any, Literal, Self

from robotrules.client.aio import AsyncClient
from robotrules.errors import DisallowedError, MissingExtraError
from robotrules.integrations import checked_urls, crawling, refusals

try:
    from aiohttp import ClientError, ClientHandlerType, ClientRequest, ClientResponse, hdrs
    from aiohttp.http import SERVER_SOFTWARE
except ImportError:
    message = "aiohttp 3.13 or later is not installed: pip install 'robotrules[aiohttp]'"
    raise MissingExtraError(message) from None

__all__ = ["AiohttpDisallowedError", "RobotsMiddleware"]

# aiohttp has no public way to construct a ClientResponse, so there is no "respond".
OnDisallowedRequest = (
    Literal["raise"]
    | Callable[[ClientRequest, DisallowedError], ClientResponse | Awaitable[ClientResponse]]
)
"""What to do with a disallowed request: raise an error, or call this."""


class AiohttpDisallowedError(DisallowedError, ClientError):
    """A request that was not sent: its URL is disallowed."""


class RobotsMiddleware:
    """Checks the rules for each request of a session, and waits for slots."""

    def __init__(
        self,
        robots: str | AsyncClient = "",
        *,
        on_disallowed: OnDisallowedRequest = "raise",
        **client_options: Any,
    ) -> None:
        """
        Create a middleware for `ClientSession(middlewares=[…])`: the last one of the list.

        *robots* is the crawler's User-Agent, with *client_options* of the robotrules client that is
        opened for it, or a client, which the caller closes; it is required. *on_disallowed* is
        `raise`, or a function that takes the request and the `DisallowedError` and returns a
        response. A session does not close its middlewares: use this one as a context manager, or
        call `aclose()`.
        """
        refusals.vet_on_disallowed(on_disallowed, ("raise",))
        self._binding = crawling.ClientBinding(robots, AsyncClient, client_options, SERVER_SOFTWARE)
        self._on_disallowed = on_disallowed

    @property
    def client(self) -> AsyncClient:
        """The robotrules client that checks the requests."""
        return self._binding.client

    async def __call__(self, request: ClientRequest, handler: ClientHandlerType) -> ClientResponse:
        """Send a request in the next slot of its origin, if the rules allow it."""
        if request.url.scheme not in checked_urls.CHECKED_SCHEMES:
            return await handler(request)
        headers = request.headers
        sent = headers.getall(hdrs.USER_AGENT, ())
        if sent != [self._binding.user_agent]:
            user_agent = self._binding.choose_user_agent(*sent)
            if user_agent is not None:
                headers[hdrs.USER_AGENT] = user_agent
        # Parts that aiohttp reads too, and yarl remembers; `str()` would take 2 µs more.
        authority = request.url.raw_authority
        url = f"{request.url.scheme}://{authority}{request.url.raw_path_qs}"
        host = headers.get(hdrs.HOST)
        if host != authority:
            checked_urls.vet_host(url, host)
        response: ClientResponse | None = None
        try:
            async with self._binding.client.checked_slot(url) as slot:
                response = await handler(request)
                slot.record_response(response.status, response.headers)
            return response
        except DisallowedError as error:
            disallowed = error
        except BaseException:
            if response is not None:  # cancelled while the slot ended: no caller will close it
                response.close()
            raise
        refused = AiohttpDisallowedError(disallowed.url, disallowed.verdict, disallowed.detail)
        if self._on_disallowed == "raise":
            raise refused
        answer = self._on_disallowed(request, refused)
        answer = await answer if isawaitable(answer) else answer
        is_response = isinstance(answer, ClientResponse)
        refusals.vet_answer(answer, is_response, "an aiohttp.ClientResponse")
        return answer

    async def aclose(self) -> None:
        """Close the robotrules client if it was opened here."""
        if (client := self._binding.release()) is not None:
            await client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
