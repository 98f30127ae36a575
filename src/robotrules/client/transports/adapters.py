"""
Adapters: transports over an HTTP client that the user has, with its proxies, hooks and credentials.

`adapter_for()` knows a client of httpx2 or httpx, and a session of requests or aiohttp, by what it
can do. An adapter sends what our own transports send, reads as much, and never closes the client.
What the client adds to a request (cookies, credentials, retries, HTTP/2) is its user's choice.

Weaker than over our own transports: addresses are vetted before the request is made, and the
client resolves the name once more, so a name that changes its mind in between is not caught; and
what follows a response is for the library to refuse. On threads a library has a time for each step
of a request and none for its head in all: a head that comes too late is a timeout once it is there.
docs/client.md says so to users.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

from robotrules.access import Failure, FailureReason, Request, Response
from robotrules.client.ssrf import PUBLIC, AddressPolicy
from robotrules.client.transports.codings import Body, CodingError
from robotrules.client.transports.exchange import (
    Exchange,
    ExtraHeaders,
    Headers,
    TransportSettings,
    causes,
    extra_headers,
)
from robotrules.client.transports.resolver import Lookups

# Octets of a body that are read at a time.
READ = 64 * 1024
# What an exception of httpx, httpx2, requests or urllib3 is, by the names of its classes and those
# of its causes: the first that fits.
_TROUBLES = (
    ("SSLError", FailureReason.TLS),
    ("gaierror", FailureReason.DNS),
    ("ProxyError", FailureReason.CONNECT),
    ("NewConnectionError", FailureReason.CONNECT),  # to urllib3 a kind of timeout
    ("TimeoutException", FailureReason.TIMEOUT),
    ("Timeout", FailureReason.TIMEOUT),
    ("TimeoutError", FailureReason.TIMEOUT),
    ("ConnectError", FailureReason.CONNECT),
    ("NetworkError", FailureReason.CUT),
    ("RemoteDisconnected", FailureReason.CUT),
    ("IncompleteRead", FailureReason.CUT),
    ("BadStatusLine", FailureReason.PROTOCOL),
    ("ProtocolError", FailureReason.PROTOCOL),
    ("UnsupportedProtocol", FailureReason.PROTOCOL),
    ("TransportError", FailureReason.CUT),
    ("InvalidURL", FailureReason.PROTOCOL),
    ("HTTPError", FailureReason.PROTOCOL),
    ("RequestException", FailureReason.PROTOCOL),
)
# Packages whose code runs below `send()`; a frame of any other is of a user's hook.
_LIBRARIES = frozenset(
    (
        *("httpx", "httpx2", "httpcore", "httpcore2", "h11", "h2", "hpack", "hyperframe"),
        *("anyio", "sniffio", "socksio", "truststore", "uvloop", "idna"),
        *("requests", "urllib3", "aiohttp", "yarl", "multidict", "robotrules"),
    )
)


class _Adapter:
    """What all adapters do."""

    def __init__(
        self,
        user_agent: str,
        client: Any,
        *,
        addresses: AddressPolicy = PUBLIC,
        timeout: float = 30.0,
        headers: ExtraHeaders = (),
        vet_names: bool = True,
    ) -> None:
        """
        *client* carries the requests, and is closed by the caller.

        *vet_names* False: a name is not resolved before the request is made, for a client whose
        proxy resolves names. Addresses in URLs are vetted all the same.
        """
        extra = extra_headers(headers)
        settings = TransportSettings(user_agent, addresses, timeout, None, True, False, None, extra)
        self._settings = settings.vet()
        self._client = client
        self._lookups = Lookups(addresses, 32) if vet_names else None

    def _begun(self, request: Request) -> Exchange | Failure:
        exchange = self._settings.begin(request)
        if isinstance(exchange, Failure) or self._lookups is not None:
            return exchange
        # As with a proxy of ours: what cannot be vetted by address is by name.
        why = self._settings.addresses.refusal_of_name(exchange.target.host)
        return exchange if why is None else Failure(FailureReason.REFUSED, why)

    def expect(self, requests: int) -> None:
        """Do nothing: how many connections there are is the client's to say."""


def _fields(exchange: Exchange) -> list[tuple[str, str]]:
    """Return the fields to send; the client writes the Host."""
    return [field for field in exchange.fields if field[0] != "Host"]


def _failure(error: Exception, exchange: Exchange) -> Failure:
    """Return what an error of a library means (AMB-57); raises what is not of the network."""
    if isinstance(error, CodingError):
        return exchange.failure(FailureReason.CODING, error)
    chain = list(causes(error))
    raised_by_hook = type(error).__name__ in ("HTTPStatusError", "HTTPError")  # raise_for_status()
    if not raised_by_hook and _is_bad_value(error):
        return exchange.failure(FailureReason.PROTOCOL, error)
    if raised_by_hook or not (isinstance(error, OSError) or _is_of_a_library(error)):
        raise error  # of a hook, or a mistake: not for the network to answer for
    names = [kind.__name__ for one in chain for kind in type(one).__mro__]
    trouble = next((trouble for name, trouble in _TROUBLES if name in names), None)
    if trouble is None:
        return exchange.surprise(error)
    if trouble is FailureReason.PROTOCOL and any(map(_is_cut, chain)):
        trouble = FailureReason.CUT
    return exchange.failure(trouble, error)


def _is_of_a_library(error: Exception) -> bool:
    """Tell whether an error comes from an HTTP library."""
    return type(error).__module__.partition(".")[0] in ("httpx", "httpx2", "requests", "urllib3")


def _is_bad_value(error: Exception) -> bool:
    """
    Tell whether a library could not handle what a server sent, such as a cookie it keeps.

    Libraries raise ValueError for it, and UnicodeError. One that passed through a user's code is
    that code's: a hook may call a library, too.
    """
    if not isinstance(error, ValueError) or _is_of_a_library(error):
        return False
    trace = error.__traceback__
    while trace is not None:
        package = str(trace.tb_frame.f_globals.get("__name__")).partition(".")[0]
        if package not in _LIBRARIES and package not in sys.stdlib_module_names:
            return False
        trace = trace.tb_next
    return True


def _is_cut(error: BaseException) -> bool:
    """Tell whether the connection ended: h11 and urllib3 have one class for all of it."""
    words = str(error)
    said = ("without sending", "closed connection", "disconnected")
    return isinstance(error, ConnectionError) or any(some in words for some in said)


# --- httpx2, httpx, requests -------------------------------------------------------------------


def _read_before(answer: Any, headers: Headers, exchange: Exchange) -> Response:
    """Return an answer that a hook has read, or a stand-in made whole: it is decoded by now."""
    body = Body((), exchange.request.limit)
    body.feed(answer.content)
    return Response(answer.status_code, headers, *body.octets(), None)


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
            return _failure(error, exchange)

    def _answer(self, exchange: Exchange) -> Response | Failure:
        client = self._client
        made = client.build_request(
            "GET", exchange.target.url, headers=_fields(exchange), timeout=exchange.left()
        )
        answer = client.send(made, stream=True, follow_redirects=False)
        try:
            exchange.left()  # httpx has a time for each step, and none for the head in all
            headers = list(answer.headers.raw)
            body = exchange.head(answer.status_code, headers, None)
            if not isinstance(body, Body):
                return body
            if answer.is_stream_consumed:
                return _read_before(answer, headers, exchange)
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


class RequestsAdapter(HttpxAdapter):
    """
    A transport over a `requests.Session`; safe to use from threads.

    What requests changes while it sends has locks of its own: the cookie jar (`http.cookiejar`)
    and the connection pools (urllib3). A lock around `send()` would be worse than none: one slow
    server would hold up the requests to all others.
    """

    def __init__(self, user_agent: str, client: Any, **options: Any) -> None:
        """Take the arguments of all adapters; raises RuntimeError if urllib3 is too old."""
        import urllib3

        if not hasattr(urllib3.HTTPResponse, "read1"):
            raise RuntimeError(
                "the installed urllib3 cannot read a body as it comes, so a server could hold a "
                "thread for ever: pip install -U urllib3"
            )
        super().__init__(user_agent, client, **options)

    def _answer(self, exchange: Exchange) -> Response | Failure:
        # Hooks of a request take the place of the session's.
        hooks = (self._client.hooks or {}).get("response") or ()
        hooks = [hooks] if callable(hooks) else list(hooks)
        answer = self._client.get(
            exchange.target.url,
            headers=dict(_fields(exchange)),
            timeout=exchange.left(),
            allow_redirects=False,
            stream=True,
            hooks={"response": [*hooks, _drop_location]},
        )
        try:
            exchange.left()
            headers = [
                (name.encode("latin-1"), value.encode("latin-1"))
                for name, value in answer.raw.headers.items()
            ]
            body = exchange.head(answer.status_code, headers, None)
            if not isinstance(body, Body):
                return body
            # What there is, and not as much as was asked for: that may never come.
            while chunk := answer.raw.read1(READ, decode_content=False):
                exchange.left()
                if body.feed(chunk):
                    break
            else:
                body.end()
            return Response(answer.status_code, headers, *body.octets(), None)
        finally:
            answer.close()


def _drop_location(answer: Any, **_: Any) -> None:
    """
    Take the Location from what requests looks at; `raw.headers` keeps it.

    Where there is one, requests works out the next request even if it follows nothing: it reads
    the whole body, without a bound, and raises for a Location that it cannot parse.
    """
    answer.headers.pop("Location", None)


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
            return _failure(error, exchange)

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
            if answer.is_stream_consumed:
                return _read_before(answer, headers, exchange)
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
            return failure_of(error, exchange)
        except ValueError as error:
            if _is_bad_value(error):
                return exchange.failure(FailureReason.PROTOCOL, error)
            raise  # of a middleware, or a mistake

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
    if callable(getattr(client, "get_adapter", None)):  # requests
        return RequestsAdapter
    if callable(getattr(client, "ws_connect", None)):  # aiohttp
        return AiohttpAdapter
    return None
