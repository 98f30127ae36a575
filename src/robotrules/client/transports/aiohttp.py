"""
The transport over aiohttp: `AiohttpTransport`, the fastest one in an event loop.

It uses the public resolver and connector interfaces of aiohttp. Names are resolved and checked
here; a literal address, for which aiohttp calls no resolver, is checked before
(`TransportSettings.begin`). Redirects, cookies, netrc, the environment's proxies and its decoding
are off (see `codings`).

Received bytes pass a `_ResponseGate`, a protocol between the connection and aiohttp's protocol.
aiohttp treats bytes that arrive on an idle connection as the response to the next request, and
repeats a request if a server resets a new connection; the gate prevents both. aiohttp buffers
128 KiB of a body. Its pool does not count idle connections, so only a few origins at a time may
keep one: there are two connectors, one of which keeps none.
"""

from __future__ import annotations

import asyncio
import inspect
import select
import socket
import ssl
from time import monotonic
from types import TracebackType
from typing import Any

from robotrules.access import Failure, FailureReason, Request, Response
from robotrules.client.ssrf import PUBLIC, AddressPolicy
from robotrules.client.transports.codings import Body, CodingError
from robotrules.client.transports.dns_cache import DnsCache
from robotrules.client.transports.exchange import (
    CLOSED,
    CURRENT,
    IDLE_SECONDS,
    MAX_IDLE,
    NONE_FREE,
    Exchange,
    ExtraHeaders,
    NoAddressError,
    ResponseWatch,
    TransportSettings,
    acquire_slot,
    causes,
    extra_headers,
    is_tls,
    same_loop,
)
from robotrules.client.transports.framing import MAX_HEAD, FramingError
from robotrules.errors import MissingExtraError

try:
    import aiohttp
    from aiohttp.abc import AbstractResolver, ResolveResult
    from aiohttp.client_proto import ResponseHandler
    from aiohttp.connector import Connection
    from yarl import URL
except ImportError:
    raise MissingExtraError(
        "this transport needs aiohttp, which is not installed: pip install 'robotrules[aiohttp]'"
    ) from None

__all__ = ["AiohttpTransport"]

# `framing` limits heads for all libraries: the limits of aiohttp are set as wide. It limits the
# number of lines since 3.13.4.
_BOUNDS: dict[str, Any] = {
    name: MAX_HEAD
    for name in ("max_line_size", "max_field_size", "max_headers")
    if name in inspect.signature(aiohttp.ClientSession).parameters
}


class AiohttpTransport:
    """Sends requests over aiohttp in one event loop; see `Httpx2Transport`."""

    def __init__(
        self,
        user_agent: str,
        *,
        addresses: AddressPolicy = PUBLIC,
        timeout: float = 30.0,
        connections: int | None = None,
        verify: ssl.SSLContext | bool = True,
        trust_env: bool = False,
        proxy: str | None = None,
        headers: ExtraHeaders = (),
    ) -> None:
        extra = extra_headers(headers)
        made = TransportSettings(
            user_agent, addresses, timeout, connections, verify, trust_env, proxy, extra
        )
        self._settings = made.vet()
        self._count = self._settings.slots
        self._sessions: dict[str, aiohttp.ClientSession] = {}
        self._slots = asyncio.Semaphore(self._count)
        self._keeping: dict[str, float] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    def expect_concurrency(self, requests: int) -> None:
        """
        Announce the number of concurrent requests: as many connections may be open.

        An explicit *connections* is the limit; so are three quarters of the process's open files.
        """
        more = self._settings.more(requests, self._count)
        self._count += more
        for _ in range(more):
            self._slots.release()

    async def send(self, request: Request) -> Response | Failure:
        """Send a GET; network failures are returned, not raised."""
        exchange = self._settings.begin(request)
        if isinstance(exchange, Failure):
            return exchange
        if self._closed:
            raise RuntimeError(CLOSED)
        self._loop = same_loop(self._loop)
        if not await acquire_slot(self._slots, exchange.patience):
            return NONE_FREE
        try:
            if self._closed:  # during the wait
                raise RuntimeError(CLOSED)
            return await self._send(exchange)
        finally:
            self._slots.release()

    async def _send(self, exchange: Exchange) -> Response | Failure:
        exchange.start()
        token = CURRENT.set(exchange)
        try:
            while True:
                exchange.restart()
                try:
                    async with asyncio.timeout(exchange.left()):
                        return await self._exchange(exchange)
                except Exception as error:
                    # Each attempt uses up an idle connection, so this ends.
                    if (
                        not isinstance(error, _ConnectionGoneError)
                        or not exchange.may_be_repeated()
                    ):
                        return failure_of(error, exchange)
        finally:
            CURRENT.reset(token)

    async def _exchange(self, exchange: Exchange) -> Response | Failure:
        keeps = self._may_keep_alive(exchange)
        answer = await self._session(exchange, keeps).get(
            URL(exchange.target.url, encoded=True),
            headers=exchange.fields,
            allow_redirects=False,
            proxy=exchange.proxy,
        )
        assert isinstance(answer, _Answer)
        try:
            headers = list(answer.raw_headers)
            address = None if exchange.proxy else answer.address
            body = exchange.head(answer.status, headers, address)
            if not isinstance(body, Body):
                return body
            async for chunk in answer.content.iter_any():
                exchange.left()
                if body.feed(chunk):
                    break
            else:
                body.end()
            return Response(answer.status, headers, *body.octets(), address)
        finally:
            # A connection that was not read to its end is dropped; one that was is in the pool, and
            # may be in use again.
            if answer.connection is not None or not keeps:
                answer.abort()
            answer.end()
            answer.close()
            if keeps:
                self._keeping[exchange.target.origin] = monotonic() + IDLE_SECONDS

    def _may_keep_alive(self, exchange: Exchange) -> bool:
        """Return whether the connection may stay open for the next request to the same origin."""
        now = monotonic()
        origin = exchange.target.origin
        self._keeping = {one: end for one, end in self._keeping.items() if end > now}
        if origin not in self._keeping and len(self._keeping) >= MAX_IDLE:
            return False
        self._keeping[origin] = now + IDLE_SECONDS + exchange.seconds
        return True

    def _session(self, exchange: Exchange, keeps: bool) -> aiohttp.ClientSession:
        name = "proxy" if exchange.proxy else "keeps" if keeps else "closes"
        if name not in self._sessions:
            self._sessions[name] = self._open_pool(name)
        return self._sessions[name]

    def _open_pool(self, name: str) -> aiohttp.ClientSession:
        settings = self._settings
        verify = settings.verify
        resolver = _Resolver(DnsCache(settings.addresses, max(settings.slots, 32)))
        connector = aiohttp.TCPConnector(
            resolver=aiohttp.ThreadedResolver() if name == "proxy" else resolver,
            use_dns_cache=False,
            ssl=verify,
            limit=0,  # `_slots` counts both
            force_close=name != "keeps",
            keepalive_timeout=IDLE_SECONDS if name == "keeps" else None,
        )
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
            auto_decompress=False,
            trust_env=False,
            request_class=_Request,
            response_class=_Answer,
            **_BOUNDS,
        )

    async def aclose(self) -> None:
        """Close all connections."""
        self._closed = True
        sessions, self._sessions = list(self._sessions.values()), {}
        for session in sessions:
            await session.close()

    async def __aenter__(self) -> AiohttpTransport:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


class _ConnectionGoneError(Exception):
    """A connection that ended or must not be used; aiohttp does not retry on this exception."""


class _ResponseGate(asyncio.Protocol):
    """
    Passes the bytes of responses on to aiohttp's protocol, and no others.

    It replaces that protocol at the connection, with the first request.
    """

    def __init__(self, transport: asyncio.Transport, inside: ResponseHandler) -> None:
        self._transport = transport
        self._inside = inside
        self._watch = ResponseWatch()
        self._exchange: Exchange | None = None

    @property
    def usable(self) -> bool:
        """Whether nothing was received since the last response, neither EOF nor bytes."""
        return not self._watch.spoiled and not _is_readable(self._transport)

    def begin(self, exchange: Exchange) -> None:
        """Expect a response."""
        self._exchange = exchange
        self._watch.sent()

    def end(self) -> None:
        """Expect nothing more."""
        self._exchange = None
        if self._watch.spoiled:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """Pass on the bytes of the response."""
        exchange = self._exchange
        try:
            passed = self._watch.received(data)
        except FramingError as error:
            if exchange is not None:
                exchange.begun, exchange.fault = True, error
            self._transport.abort()
            return
        if self._watch.spoiled:
            # Before aiohttp sees the end of the response and returns the connection to its pool.
            self._inside.force_close()
        if exchange is None:
            self._transport.abort()
            return
        exchange.received(data)
        if passed:
            self._inside.data_received(passed)

    def eof_received(self) -> bool | None:
        """Record that the server closed the connection."""
        self._inside.eof_received()
        return None

    def connection_lost(self, error: Exception | None) -> None:
        """Record that the connection is lost."""
        self._inside.connection_lost(error)

    def pause_writing(self) -> None:
        """Forward."""
        self._inside.pause_writing()

    def resume_writing(self) -> None:
        """Forward."""
        self._inside.resume_writing()


def _is_readable(transport: asyncio.Transport) -> bool:
    """Return whether a socket has unread bytes or EOF that the event loop has not seen yet."""
    sock = transport.get_extra_info("socket")
    number = sock.fileno() if sock is not None else -1
    if number < 0:
        return True
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(number, select.POLLIN)
        return bool(poll.poll(0))
    return bool(select.select([number], [], [], 0)[0])  # pragma: no cover  (Windows)


class _Request(aiohttp.ClientRequest):
    """A request that installs a gate at its connection."""

    async def send(self, conn: Connection) -> aiohttp.ClientResponse:
        """Send the head; raises if the connection must not be used."""
        exchange = CURRENT.get()
        transport, inside = conn.transport, conn.protocol
        if transport is None or inside is None or transport.is_closing():
            raise _ConnectionGoneError
        gate = transport.get_protocol()
        if isinstance(gate, _ResponseGate):
            if not gate.usable:
                raise _ConnectionGoneError
        else:
            exchange.connected = True
            if inside.should_close:
                exchange.fault = FramingError("the server speaks before it is asked")
                raise exchange.fault
            gate = _ResponseGate(transport, inside)
            transport.set_protocol(gate)
        gate.begin(exchange)
        try:
            return await super().send(conn)
        except OSError as error:
            raise _ConnectionGoneError from error


class _Answer(aiohttp.ClientResponse):
    """A response that keeps the server's address; aiohttp drops it at the end."""

    address: str | None = None
    _transport: asyncio.Transport | None = None

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        """Read the head, and record the server's address."""
        self._transport = connection.transport
        if self._transport is not None:
            peer = self._transport.get_extra_info("peername")
            self.address = peer[0] if peer else None
        try:
            return await super().start(connection)
        except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
            self.abort()
            raise _ConnectionGoneError from error
        except BaseException:
            self.abort()
            raise

    def abort(self) -> None:
        """Drop the connection without a TLS shutdown, which servers may not answer."""
        if self._transport is not None:
            self._transport.abort()

    def end(self) -> None:
        """Signal that no more bytes are expected."""
        gate = self._transport.get_protocol() if self._transport is not None else None
        if isinstance(gate, _ResponseGate):
            gate.end()


class _Resolver(AbstractResolver):
    """Returns the checked addresses of a host to aiohttp."""

    def __init__(self, dns_cache: DnsCache) -> None:
        self._dns_cache = dns_cache

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return the checked addresses of a host."""
        found = await self._dns_cache.avet(host, port)
        if isinstance(found, Failure):
            raise NoAddressError(found)
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for address in found
        ]

    async def close(self) -> None:
        """Do nothing."""


def failure_of(error: Exception, exchange: Exchange) -> Failure:
    """Return the failure for an error of the library (AMB-57)."""
    if exchange.fault is not None:
        return exchange.failure(FailureReason.PROTOCOL, exchange.fault)
    match error:
        case aiohttp.ClientConnectorDNSError():
            if isinstance(error.os_error, NoAddressError):
                return error.os_error.failure
            return exchange.failure(FailureReason.DNS, error.os_error)
        case CodingError():
            return exchange.failure(FailureReason.CODING, error)
        case TimeoutError():
            return exchange.failure(FailureReason.TIMEOUT)
        case aiohttp.ClientSSLError():
            return exchange.failure(FailureReason.TLS, error.os_error)
        case aiohttp.ClientProxyConnectionError() | aiohttp.ClientHttpProxyError():
            return exchange.failure(FailureReason.CONNECT, "the proxy does not connect")
        case aiohttp.ClientConnectorError():
            # asyncio sets no errno for a connection that ends during the TLS handshake.
            begun = exchange.target.scheme == "https" and (
                error.os_error.errno is None or isinstance(error.os_error, ConnectionResetError)
            )
            if begun:
                return exchange.failure(FailureReason.TLS, "the connection ended while TLS began")
            return exchange.failure(FailureReason.CONNECT, error.os_error)
        case (
            aiohttp.ClientPayloadError() | aiohttp.ClientConnectionError() | _ConnectionGoneError()
        ):
            tls = any(map(is_tls, causes(error)))
            return exchange.failure(FailureReason.TLS if tls else FailureReason.CUT, error)
        case aiohttp.ClientResponseError():
            # The text after the colon is from the server.
            said = error.message.partition(": b'")[0].partition("\n")[0].rstrip(":")
            return exchange.failure(FailureReason.PROTOCOL, said or error)
    return exchange.surprise(error)
