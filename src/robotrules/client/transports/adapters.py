"""
Adapters: transports over the user's HTTP client, with its proxies, hooks and credentials.

`adapter_for()` recognises a client of httpx2 or httpx, and a session of requests or aiohttp, by its
methods. An adapter sends and reads the same as the built-in transports, and never closes the
client. What the client adds to a request (cookies, credentials, retries, HTTP/2) is its user's
choice.

The protection is weaker than that of the built-in transports: addresses are checked before the
request, and the client resolves the name again, so DNS rebinding in between is not detected; and
bytes after a response are for the library to reject. In threads, libraries have a timeout per step
but none for the whole head: a late head is reported as a timeout when it arrives. docs/client.md
documents this.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterable, Callable, Iterable
from functools import partial
from typing import Any

from robotrules.access import Failure, FailureReason, Request, Response
from robotrules.client.ssrf import PUBLIC, AddressPolicy
from robotrules.client.transports.codings import Body, CodingError
from robotrules.client.transports.dns_cache import DnsCache
from robotrules.client.transports.exchange import (
    Exchange,
    ExtraHeaders,
    Headers,
    TransportSettings,
    causes,
    extra_headers,
)

# Bytes of a body to read at a time.
READ = 64 * 1024
# Failure reasons by the class names of an exception of httpx, httpx2, requests or urllib3, and of
# its causes: the first match counts.
_FAILURE_REASONS = (
    ("SSLError", FailureReason.TLS),
    ("gaierror", FailureReason.DNS),
    ("ProxyError", FailureReason.CONNECT),
    ("NewConnectionError", FailureReason.CONNECT),  # a subclass of timeout in urllib3
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
# Packages whose code runs below `send()`; a frame of any other package belongs to a user's hook.
_LIBRARIES = frozenset(
    (
        *("httpx", "httpx2", "httpcore", "httpcore2", "h11", "h2", "hpack", "hyperframe"),
        *("anyio", "sniffio", "socksio", "truststore", "uvloop", "idna"),
        *("requests", "urllib3", "aiohttp", "yarl", "multidict", "robotrules"),
    )
)


class _Adapter:
    """The base of all adapters."""

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
        *client* sends the requests, and is closed by the caller.

        *vet_names* False: names are not resolved before the request, for a client whose proxy
        resolves them. Literal addresses in URLs are still checked.
        """
        extra = extra_headers(headers)
        settings = TransportSettings(user_agent, addresses, timeout, None, True, False, None, extra)
        self._settings = settings.vet()
        self._client = client
        self._dns_cache = DnsCache(addresses, 32) if vet_names else None

    def _begin(self, request: Request) -> Exchange | Failure:
        exchange = self._settings.begin(request)
        if isinstance(exchange, Failure) or self._dns_cache is not None:
            return exchange
        # As for a proxy: if the address cannot be checked, the name is.
        why = self._settings.addresses.refusal_of_name(exchange.target.host)
        return exchange if why is None else Failure(FailureReason.REFUSED, why)

    def expect(self, requests: int) -> None:
        """Do nothing: the client limits its connections."""


def _request_fields(exchange: Exchange) -> list[tuple[str, str]]:
    """Return the fields to send; the client adds Host."""
    return [field for field in exchange.fields if field[0] != "Host"]


def _to_failure(error: Exception, exchange: Exchange) -> Failure:
    """Return the failure for an error of a library (AMB-57); re-raises errors of other code."""
    if isinstance(error, CodingError):
        return exchange.failure(FailureReason.CODING, error)
    chain = list(causes(error))
    raised_by_hook = type(error).__name__ in ("HTTPStatusError", "HTTPError")  # raise_for_status()
    if not raised_by_hook and _is_bad_value(error):
        return exchange.failure(FailureReason.PROTOCOL, error)
    if raised_by_hook or not (isinstance(error, OSError) or _is_from_library(error)):
        raise error  # from a hook, or a programming error
    names = [kind.__name__ for cause in chain for kind in type(cause).__mro__]
    reason = next((reason for name, reason in _FAILURE_REASONS if name in names), None)
    if reason is None:
        return exchange.surprise(error)
    if reason is FailureReason.PROTOCOL and any(map(_is_disconnect, chain)):
        reason = FailureReason.CUT
    return exchange.failure(reason, error)


def _is_from_library(error: Exception) -> bool:
    """Return whether an error comes from an HTTP library."""
    return type(error).__module__.partition(".")[0] in ("httpx", "httpx2", "requests", "urllib3")


def _is_bad_value(error: Exception) -> bool:
    """
    Return whether a library failed on data from a server, such as a cookie that it stores.

    Libraries raise ValueError or UnicodeError for it. An error that passed through a user's code
    belongs to that code: a hook may call a library, too.
    """
    if not isinstance(error, ValueError) or _is_from_library(error):
        return False
    trace = error.__traceback__
    while trace is not None:
        package = str(trace.tb_frame.f_globals.get("__name__")).partition(".")[0]
        if package not in _LIBRARIES and package not in sys.stdlib_module_names:
            return False
        trace = trace.tb_next
    return True


def _is_disconnect(error: BaseException) -> bool:
    """Return whether the connection ended: h11 and urllib3 have one class for several errors."""
    message = str(error)
    phrases = ("without sending", "closed connection", "disconnected")
    return isinstance(error, ConnectionError) or any(phrase in message for phrase in phrases)


# --- Reading --------------------------------------------------------------------------------------


def _read(
    exchange: Exchange, status: int, headers: Headers, body: Body, chunks: Iterable[bytes]
) -> Response:
    """Return a response with its body, read up to the limit and the deadline."""
    for chunk in chunks:
        exchange.left()
        if body.feed(chunk):
            break
    else:
        body.end()
    return Response(status, headers, *body.octets(), None)


async def _aread(
    exchange: Exchange, status: int, headers: Headers, body: Body, chunks: AsyncIterable[bytes]
) -> Response:
    """Do the same in an event loop."""
    async for chunk in chunks:
        exchange.left()
        if body.feed(chunk):
            break
    else:
        body.end()
    return Response(status, headers, *body.octets(), None)


def _make_response(answer: Any, headers: Headers, exchange: Exchange) -> Response:
    """Return a response that a hook has read, or a complete test double: it is decoded already."""
    body = Body((), exchange.request.limit)
    body.feed(answer.content)
    return Response(answer.status_code, headers, *body.octets(), None)


# --- Threads: httpx2, httpx, requests -------------------------------------------------------------


class HttpxAdapter(_Adapter):
    """A transport over an `httpx2.Client` or an `httpx.Client`; safe to use from threads."""

    def send(self, request: Request) -> Response | Failure:
        """Send a GET; network failures are returned, not raised."""
        exchange = self._begin(request)
        if isinstance(exchange, Failure):
            return exchange
        try:
            if self._dns_cache is not None:
                target = exchange.target
                vet = self._dns_cache.vet(target.host, target.port, exchange.left())
                if isinstance(vet, Failure):
                    return vet
            return self._exchange(exchange)
        except Exception as error:
            return _to_failure(error, exchange)

    def _exchange(self, exchange: Exchange) -> Response | Failure:
        client = self._client
        request = client.build_request(
            "GET", exchange.target.url, headers=_request_fields(exchange), timeout=exchange.left()
        )
        answer = client.send(request, stream=True, follow_redirects=False)
        try:
            exchange.left()  # httpx has a timeout per step, and none for the whole head
            headers = list(answer.headers.raw)
            body = exchange.head(answer.status_code, headers, None)
            if not isinstance(body, Body):
                return body
            if answer.is_stream_consumed:
                return _make_response(answer, headers, exchange)
            return _read(exchange, answer.status_code, headers, body, answer.iter_raw())
        finally:
            answer.close()

    def close(self) -> None:
        """Do not close the client: the caller does."""


class RequestsAdapter(HttpxAdapter):
    """
    A transport over a `requests.Session`; safe to use from threads.

    The state that requests changes while sending has its own locks: the cookie jar
    (`http.cookiejar`) and the connection pools (urllib3). A lock around `send()` would be harmful:
    one slow server would block the requests to all others.
    """

    def __init__(self, user_agent: str, client: Any, **options: Any) -> None:
        """Accept the arguments of all adapters; RuntimeError if urllib3 is too old."""
        import urllib3

        if not hasattr(urllib3.HTTPResponse, "read1"):
            raise RuntimeError(
                "the installed urllib3 cannot read a body incrementally, so a server could block a "
                "thread for ever: pip install -U urllib3"
            )
        super().__init__(user_agent, client, **options)

    def _exchange(self, exchange: Exchange) -> Response | Failure:
        # Hooks of a request replace those of the session.
        hooks = (self._client.hooks or {}).get("response") or ()
        hooks = [hooks] if callable(hooks) else list(hooks)
        answer = self._client.get(
            exchange.target.url,
            headers=dict(_request_fields(exchange)),
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
            # read1 returns the available bytes; a full read could wait for ever.
            chunks = iter(partial(answer.raw.read1, READ, decode_content=False), b"")
            return _read(exchange, answer.status_code, headers, body, chunks)
        finally:
            answer.close()


def _drop_location(answer: Any, **_: Any) -> None:
    """
    Hide Location from requests; `raw.headers` keeps it.

    If there is one, requests prepares the next request even without following redirects: it reads
    the whole body, without a limit, and raises for a Location that it cannot parse.
    """
    answer.headers.pop("Location", None)


# --- Event loops: httpx2, httpx, aiohttp ----------------------------------------------------------


class _AsyncAdapter(_Adapter):
    """The base of adapters for an event loop."""

    async def send(self, request: Request) -> Response | Failure:
        """Send a GET; network failures are returned, not raised."""
        exchange = self._begin(request)
        if isinstance(exchange, Failure):
            return exchange
        try:
            async with asyncio.timeout(exchange.left()):
                if self._dns_cache is not None:
                    target = exchange.target
                    vet = await self._dns_cache.avet(target.host, target.port)
                    if isinstance(vet, Failure):
                        return vet
                return await self._exchange(exchange)
        except Exception as error:
            return self._to_failure(error, exchange)

    async def _exchange(self, exchange: Exchange) -> Response | Failure:
        raise NotImplementedError

    def _to_failure(self, error: Exception, exchange: Exchange) -> Failure:
        return _to_failure(error, exchange)

    async def aclose(self) -> None:
        """Do not close the client: the caller does."""


class AsyncHttpxAdapter(_AsyncAdapter):
    """A transport over an `httpx2.AsyncClient` or an `httpx.AsyncClient`."""

    async def _exchange(self, exchange: Exchange) -> Response | Failure:
        client = self._client
        request = client.build_request(
            "GET", exchange.target.url, headers=_request_fields(exchange), timeout=exchange.left()
        )
        answer = await client.send(request, stream=True, follow_redirects=False)
        try:
            headers = list(answer.headers.raw)
            body = exchange.head(answer.status_code, headers, None)
            if not isinstance(body, Body):
                return body
            if answer.is_stream_consumed:
                return _make_response(answer, headers, exchange)
            return await _aread(exchange, answer.status_code, headers, body, answer.aiter_raw())
        finally:
            await answer.aclose()


class AiohttpAdapter(_AsyncAdapter):
    """A transport over an `aiohttp.ClientSession`."""

    def _to_failure(self, error: Exception, exchange: Exchange) -> Failure:
        import aiohttp

        from robotrules.client.transports.aiohttp import failure_of

        if isinstance(error, (aiohttp.ClientError, OSError, CodingError)):
            return failure_of(error, exchange)
        if _is_bad_value(error):
            return exchange.failure(FailureReason.PROTOCOL, error)
        raise error  # from a middleware, or a programming error

    async def _exchange(self, exchange: Exchange) -> Response | Failure:
        from yarl import URL

        answer = await self._client.get(
            URL(exchange.target.url, encoded=True),
            headers=_request_fields(exchange),
            allow_redirects=False,
            auto_decompress=False,
            raise_for_status=False,
        )
        try:
            headers = list(answer.raw_headers)
            body = exchange.head(answer.status, headers, None)
            if not isinstance(body, Body):
                return body
            chunks = answer.content.iter_any()
            return await _aread(exchange, answer.status, headers, body, chunks)
        finally:
            answer.close()


# --- Selection ------------------------------------------------------------------------------------


def adapter_for(client: object) -> Callable[..., Any] | None:
    """Return the adapter for a client of a known library; None if it is not one."""
    if callable(getattr(client, "build_request", None)):  # httpx2, httpx
        is_async = callable(getattr(client, "aclose", None))
        return AsyncHttpxAdapter if is_async else HttpxAdapter
    if callable(getattr(client, "get_adapter", None)):  # requests
        return RequestsAdapter
    if callable(getattr(client, "ws_connect", None)):  # aiohttp
        return AiohttpAdapter
    return None
