"""
Adapters: transports over an HTTP client that the user has, with its proxies, hooks and credentials.

`adapter_for()` knows a client of httpx2 or httpx, and a session of aiohttp, by what it can do. An
adapter sends what our own transports send, reads as much, and never closes the client. What the
client adds to a request (cookies, credentials, retries, HTTP/2) is its user's choice.

Weaker than over our own transports: addresses are vetted before the request is made, and the
client resolves the name once more, so a name that changes its mind in between is not caught; and
what follows a response is for the library to refuse. docs/client.md says so to users.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import Any

from robotrules.access import Failure, Request, Response, Trouble
from robotrules.client.addresses import PUBLIC, Addresses
from robotrules.client.transports.codings import Body, CodingError
from robotrules.client.transports.exchange import (
    Exchange,
    ExtraHeaders,
    Settings,
    causes,
    extra_headers,
)
from robotrules.client.transports.lookups import Lookups

# What an exception of httpx or httpx2 is, by the names of its classes, the first that fits.
_TROUBLES = (
    ("TimeoutException", Trouble.TIMEOUT),
    ("ConnectError", Trouble.CONNECT),
    ("ProxyError", Trouble.CONNECT),
    ("NetworkError", Trouble.CUT),
    ("RemoteProtocolError", Trouble.PROTOCOL),
    ("UnsupportedProtocol", Trouble.PROTOCOL),
    ("LocalProtocolError", Trouble.PROTOCOL),
    ("TransportError", Trouble.CUT),
    ("InvalidURL", Trouble.PROTOCOL),
    ("CookieConflict", Trouble.PROTOCOL),
)


class _Adapter:
    """What all adapters do."""

    def __init__(
        self,
        user_agent: str,
        client: Any,
        *,
        addresses: Addresses = PUBLIC,
        seconds: float = 30.0,
        headers: ExtraHeaders = (),
        vet_names: bool = True,
    ) -> None:
        """
        *client* carries the requests, and is closed by the caller.

        *vet_names* False: a name is not resolved before the request is made, for a client whose
        proxy resolves names. Addresses in URLs are vetted all the same.
        """
        extra = extra_headers(headers)
        settings = Settings(user_agent, addresses, seconds, None, True, False, None, extra)
        self._settings = settings.vet()
        self._client = client
        self._lookups = Lookups(addresses, 32) if vet_names else None

    def _begun(self, request: Request) -> Exchange | Failure:
        exchange = self._settings.begin(request)
        if isinstance(exchange, Failure) or self._lookups is not None:
            return exchange
        # As with a proxy of ours: what cannot be vetted by address is by name.
        why = self._settings.addresses.refusal_by_name(exchange.target.host)
        return exchange if why is None else Failure(Trouble.REFUSED, why)

    def expect(self, requests: int) -> None:
        """Do nothing: how many connections there are is the client's to say."""


def _fields(exchange: Exchange) -> list[tuple[str, str]]:
    """Return the fields to send; the client writes the Host."""
    return [field for field in exchange.fields if field[0] != "Host"]


def _httpx_failure(error: Exception, exchange: Exchange) -> Failure:
    """Return what an error of httpx means (AMB-57); raises what is not of the network."""
    if isinstance(error, CodingError):
        return exchange.failure(Trouble.CODING, error)
    if isinstance(error, TimeoutError):
        return exchange.failure(Trouble.TIMEOUT)
    names = {kind.__name__ for kind in type(error).__mro__}
    trouble = next((trouble for name, trouble in _TROUBLES if name in names), None)
    if trouble is None:
        if not isinstance(error, OSError):
            raise error  # of a hook, or a mistake: not for the network to answer for
        return exchange.surprise(error)
    chain = list(causes(error))
    if any(isinstance(one, ssl.SSLError) for one in chain):
        trouble = Trouble.TLS
    elif any(isinstance(one, socket.gaierror) for one in chain):
        trouble = Trouble.DNS
    elif trouble is Trouble.PROTOCOL and any(_is_cut(str(one)) for one in chain):
        trouble = Trouble.CUT
    return exchange.failure(trouble, error)


def _is_cut(words: str) -> bool:
    """Tell whether h11 or httpcore say that the connection ended; they have one class for all."""
    return "without sending" in words or "closed connection" in words or "disconnected" in words


# --- httpx2 and httpx -----------------------------------------------------------------------------


class HttpxAdapter(_Adapter):
    """A transport over an `httpx2.Client` or an `httpx.Client`; safe to use from threads."""

    def send(self, request: Request) -> Response | Failure:
        """Make a GET; never raises for what the network does."""
        exchange = self._begun(request)
        if isinstance(exchange, Failure):
            return exchange
        try:
            if self._lookups is not None:
                target = exchange.target
                found = self._lookups.vetted(target.host, target.port, exchange.left())
                if isinstance(found, Failure):
                    return found
            return self._answer(exchange)
        except Exception as error:
            return _httpx_failure(error, exchange)

    def _answer(self, exchange: Exchange) -> Response | Failure:
        client = self._client
        made = client.build_request(
            "GET", exchange.target.url, headers=_fields(exchange), timeout=exchange.left()
        )
        answer = client.send(made, stream=True, follow_redirects=False)
        try:
            headers = list(answer.headers.raw)
            body = exchange.head(answer.status_code, headers, None)
            if not isinstance(body, Body):
                return body
            for chunk in answer.iter_raw():
                exchange.left()
                if body.feed(chunk):
                    break
            else:
                body.end()
            return Response(answer.status_code, headers, *body.octets(), None)
        finally:
            answer.close()

    def close(self) -> None:
        """Leave the client open: its user closes it."""


class AsyncHttpxAdapter(_Adapter):
    """A transport over an `httpx2.AsyncClient` or an `httpx.AsyncClient`."""

    async def send(self, request: Request) -> Response | Failure:
        """Make a GET; never raises for what the network does."""
        exchange = self._begun(request)
        if isinstance(exchange, Failure):
            return exchange
        try:
            async with asyncio.timeout(exchange.left()):
                if self._lookups is not None:
                    target = exchange.target
                    found = await self._lookups.avetted(target.host, target.port)
                    if isinstance(found, Failure):
                        return found
                return await self._answer(exchange)
        except Exception as error:
            return _httpx_failure(error, exchange)

    async def _answer(self, exchange: Exchange) -> Response | Failure:
        client = self._client
        made = client.build_request(
            "GET", exchange.target.url, headers=_fields(exchange), timeout=exchange.left()
        )
        answer = await client.send(made, stream=True, follow_redirects=False)
        try:
            headers = list(answer.headers.raw)
            body = exchange.head(answer.status_code, headers, None)
            if not isinstance(body, Body):
                return body
            async for chunk in answer.aiter_raw():
                exchange.left()
                if body.feed(chunk):
                    break
            else:
                body.end()
            return Response(answer.status_code, headers, *body.octets(), None)
        finally:
            await answer.aclose()

    async def aclose(self) -> None:
        """Leave the client open: its user closes it."""


# --- aiohttp --------------------------------------------------------------------------------------


class AiohttpAdapter(_Adapter):
    """A transport over an `aiohttp.ClientSession`."""

    async def send(self, request: Request) -> Response | Failure:
        """Make a GET; never raises for what the network does."""
        import aiohttp

        from robotrules.client.transports.aiohttp import failure_of

        exchange = self._begun(request)
        if isinstance(exchange, Failure):
            return exchange
        try:
            async with asyncio.timeout(exchange.left()):
                if self._lookups is not None:
                    target = exchange.target
                    found = await self._lookups.avetted(target.host, target.port)
                    if isinstance(found, Failure):
                        return found
                return await self._answer(exchange)
        except (aiohttp.ClientError, OSError, CodingError) as error:
            return failure_of(error, exchange)  # others are of a middleware, or a mistake

    async def _answer(self, exchange: Exchange) -> Response | Failure:
        from yarl import URL

        answer = await self._client.get(
            URL(exchange.target.url, encoded=True),
            headers=_fields(exchange),
            allow_redirects=False,
            auto_decompress=False,
            raise_for_status=False,
        )
        try:
            headers = list(answer.raw_headers)
            body = exchange.head(answer.status, headers, None)
            if not isinstance(body, Body):
                return body
            async for chunk in answer.content.iter_any():
                exchange.left()
                if body.feed(chunk):
                    break
            else:
                body.end()
            return Response(answer.status, headers, *body.octets(), None)
        finally:
            answer.close()

    async def aclose(self) -> None:
        """Leave the session open: its user closes it."""


# --- Which ----------------------------------------------------------------------------------------


def adapter_for(client: object) -> Callable[..., Any] | None:
    """Return the adapter for a client of a known library; None: it is none of them."""
    if callable(getattr(client, "build_request", None)):  # httpx2, httpx
        is_async = callable(getattr(client, "aclose", None))
        return AsyncHttpxAdapter if is_async else HttpxAdapter
    if callable(getattr(client, "ws_connect", None)):  # aiohttp
        return AiohttpAdapter
    return None
