"""
The transports of httpx and httpx2, which have the same API; each host is imported in its own file.

A transport wrapper sees every request that is sent: each redirect and each step of an
authentication. It checks the rules, waits for a slot of the origin, and holds it until the head of
the response has arrived.
"""

from __future__ import annotations

from inspect import isawaitable
from types import TracebackType
from typing import Any, Self

from robotrules.client.aio import AsyncClient
from robotrules.client.sync import Client
from robotrules.errors import DisallowedError
from robotrules.integrations.httpx_base import TransportWrapper
from robotrules.integrations.refusals import RequestT, ResponseT


class SyncTransportWrapper(TransportWrapper[Client, RequestT, ResponseT]):
    """A transport for threads."""

    client_class = Client
    send_method = "handle_request"
    _used_in, _counterpart = "Client", "AsyncRobotsTransport"
    _counterpart_methods = frozenset(("handle_async_request", "aclose", "__aenter__", "__aexit__"))

    def handle_request(self, request: RequestT) -> Any:
        """Send a request in the next slot of its origin, if the rules allow it."""
        url = self._prepare(request)
        if url is None:
            return self._transport.handle_request(request)
        response: Any = None
        try:
            with self._binding.client.checked_slot(url) as slot:
                response = self._transport.handle_request(request)
                slot.record_response(response.status_code, response.headers)
            return response
        except DisallowedError as error:
            disallowed = error
        except BaseException:
            if response is not None:  # interrupted while the slot ended: no caller will close it
                response.close()
            raise
        return self._vet_answer(self._refuse(request, disallowed))

    def close(self) -> None:
        """Close the wrapped transport, and the robotrules client if it was opened here."""
        try:
            self._transport.close()
        finally:
            self._close_client()

    def _close_client(self) -> None:
        if (client := self._binding.release()) is not None:
            client.close()

    def __enter__(self) -> Self:
        self._transport.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        try:
            self._transport.__exit__(kind, error, trace)
        finally:
            self._close_client()


class AsyncTransportWrapper(TransportWrapper[AsyncClient, RequestT, ResponseT]):
    """A transport for an event loop of asyncio."""

    client_class = AsyncClient
    send_method = "handle_async_request"
    _used_in, _counterpart = "AsyncClient", "RobotsTransport"
    _counterpart_methods = frozenset(("handle_request", "close", "__enter__", "__exit__"))

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
            return response
        except DisallowedError as error:
            disallowed = error
        except BaseException:
            if response is not None:  # cancelled while the slot ended: no caller will close it
                await response.aclose()
            raise
        answer = self._refuse(request, disallowed)
        return self._vet_answer(await answer if isawaitable(answer) else answer)

    async def aclose(self) -> None:
        """Close the wrapped transport, and the robotrules client if it was opened here."""
        try:
            await self._transport.aclose()
        finally:
            await self._close_client()

    async def _close_client(self) -> None:
        if (client := self._binding.release()) is not None:
            await client.aclose()

    async def __aenter__(self) -> Self:
        await self._transport.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        try:
            await self._transport.__aexit__(kind, error, trace)
        finally:
            await self._close_client()
