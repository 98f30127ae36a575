"""
The transports of httpx and httpx2, which have the same API; each host is imported in its own file.

A transport wrapper sees every request that is sent: each redirect and each step of an
authentication. It checks the rules, waits for a slot of the origin, and holds it until the head of
the response has arrived.
"""

from __future__ import annotations

from inspect import isawaitable
from typing import Any, ClassVar, Generic

from robotrules.client.aio import AsyncClient
from robotrules.client.sync import Client
from robotrules.errors import DisallowedError
from robotrules.integrations import crawling
from robotrules.integrations.crawling import ClientT, OnDisallowed, RequestT, ResponseT


class TransportWrapper(Generic[ClientT, RequestT, ResponseT]):
    """What the transports of both kinds share; a subclass names the classes of its host."""

    host: ClassVar[Any]
    """The host library."""
    default_transport: ClassVar[Any]
    disallowed_error: ClassVar[type[DisallowedError]]
    client_class: ClassVar[Any]
    send_method: ClassVar[str]

    def __init__(
        self,
        robots: str | ClientT,
        transport: Any = None,
        *,
        on_disallowed: OnDisallowed[RequestT, ResponseT] = "raise",
        **client_options: Any,
    ) -> None:
        """
        Wrap *transport*, by default a new one of the host.

        *robots* is the crawler's User-Agent, with *client_options* of the robotrules client that is
        opened for it, or a client, which the caller closes. *on_disallowed* is `raise`, `respond`
        with a response of status 403 whose `extensions["robotrules"]` is the verdict, or a function
        that takes the request and the verdict and returns a response.
        """
        crawling.vet_on_disallowed(on_disallowed)
        if transport is None:
            transport = self.default_transport()
        example = f"{self.host.__name__}.{self.default_transport.__name__}()"
        crawling.vet_wrapped("transport", transport, self.send_method, example)
        user_agent = f"python-{self.host.__name__}/{self.host.__version__}"
        self._binding = crawling.ClientBinding[ClientT](
            robots, self.client_class, client_options, user_agent
        )
        self._transport = transport
        self._on_disallowed = on_disallowed

    @property
    def client(self) -> ClientT:
        """The robotrules client that checks the requests."""
        return self._binding.client

    def _prepare(self, request: Any) -> str | None:
        """Set the User-Agent, and return the URL to check; None: it is not checked."""
        if request.url.scheme not in crawling.CHECKED_SCHEMES:
            return None
        user_agent = self._binding.choose_user_agent(request.headers.get("User-Agent"))
        if user_agent is not None:
            request.headers["User-Agent"] = user_agent
        return crawling.without_userinfo(str(request.url))

    def _refuse(self, request: Any, error: DisallowedError) -> Any:
        """Return the response to a disallowed request, or raise the error of the host."""
        if self._on_disallowed == "raise":
            raise self.disallowed_error(error.url, error.verdict, error.detail) from None
        if self._on_disallowed != "respond":
            return self._on_disallowed(request, error.verdict)
        body, reason = crawling.refusal_body(error), crawling.REFUSAL_REASON.encode()
        return self.host.Response(
            crawling.REFUSAL_STATUS,
            headers={"Content-Type": crawling.REFUSAL_TYPE, "Content-Length": str(len(body))},
            stream=self.host.ByteStream(body),
            extensions={"robotrules": error.verdict, "reason_phrase": reason},
        )


class SyncTransportWrapper(TransportWrapper[Client, RequestT, ResponseT]):
    """A transport for threads."""

    client_class = Client
    send_method = "handle_request"

    def handle_request(self, request: RequestT) -> Any:
        """Send a request in the next slot of its origin, if the rules allow it."""
        url = self._prepare(request)
        if url is None:
            return self._transport.handle_request(request)
        try:
            with self._binding.client.checked_slot(url) as slot:
                response = self._transport.handle_request(request)
                slot.record_response(response.status_code, response.headers)
                return response
        except DisallowedError as error:
            return self._refuse(request, error)

    def close(self) -> None:
        """Close the wrapped transport, and the robotrules client if it was opened here."""
        try:
            self._transport.close()
        finally:
            if (client := self._binding.release()) is not None:
                client.close()


class AsyncTransportWrapper(TransportWrapper[AsyncClient, RequestT, ResponseT]):
    """A transport for an event loop of asyncio."""

    client_class = AsyncClient
    send_method = "handle_async_request"

    async def handle_async_request(self, request: RequestT) -> Any:
        """Send a request in the next slot of its origin, if the rules allow it."""
        url = self._prepare(request)
        if url is None:
            return await self._transport.handle_async_request(request)
        response: Any = None
        try:
            async with self._binding.client.checked_slot(url) as slot:
                response = await self._transport.handle_async_request(request)
                slot.record_response(response.status_code, response.headers)
        except DisallowedError as error:
            response = self._refuse(request, error)
            if isawaitable(response):
                response = await response
        except BaseException:
            if response is not None:  # cancelled while the slot ended: no caller will close it
                await response.aclose()
            raise
        return response

    async def aclose(self) -> None:
        """Close the wrapped transport, and the robotrules client if it was opened here."""
        try:
            await self._transport.aclose()
        finally:
            if (client := self._binding.release()) is not None:
                await client.aclose()
