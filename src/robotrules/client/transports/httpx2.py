"""
Transports over httpx2: `Httpx2Transport` for threads, `AsyncHttpx2Transport` for an event loop.

They use httpcore2, the engine of httpx2, through its public pool and network backend. The httpx2
client would add redirects, a cookie jar, netrc credentials and the environment's proxies, none of
which apply to a robots.txt. No cookies are stored, and no redirects are followed.

httpcore2 buffers a head, which `framing` limits, and 64 KiB of a body at a time.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Callable
from threading import Lock, Semaphore
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
    TransportSettings,
    acquire_slot,
    causes,
    extra_headers,
    is_tls,
    same_loop,
)
from robotrules.client.transports.framing import FramingError
from robotrules.errors import MissingExtraError

try:
    import httpcore2
    import httpx2
except ImportError:
    raise MissingExtraError(
        "fetching robots.txt files needs httpx2, which is not installed: pip install "
        "'robotrules[http]', or pass an HTTP client to robotrules.Client(…, transport=…)"
    ) from None

from robotrules.client.transports.pinned import AsyncPinnedBackend, PinnedBackend, TlsError

__all__ = ["AsyncHttpx2Transport", "Httpx2Transport"]


class Httpx2Transport:
    """
    Sends requests over httpx2; safe to use from several threads, and after a fork.

    *timeout* is for a whole exchange, from name resolution to the last byte, unless a request sets
    another. *connections* is the maximum number of connections, by default 100 or as announced by
    `expect_concurrency()`; the wait for one is separate, and at most ten times as long. *verify* is
    an `ssl.SSLContext`, or False to accept any certificate. *proxy* is the URL of an HTTP proxy for
    all requests, and *trust_env* uses proxies of the environment; a proxy resolves names itself, so
    only literal addresses in URLs are checked. *headers* are sent with every request, in addition
    to those of the transport. `SSL_CERT_FILE` and `SSL_CERT_DIR` are always used.
    """

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
        self._lock = Lock()
        self._slots = Semaphore(self._count)
        self._pools: dict[str | None, httpcore2.ConnectionPool] = {}
        self._process = os.getpid()
        self._parents: list[object] = []
        self._closed = False

    def expect_concurrency(self, requests: int) -> None:
        """
        Announce the number of concurrent requests: as many connections may be open.

        An explicit *connections* is the limit; so are three quarters of the process's open files.
        """
        with self._lock:
            more = self._settings.more(requests, self._count)
            self._count += more
            if more:
                self._slots.release(more)

    def send(self, request: Request) -> Response | Failure:
        """Send a GET; network failures are returned, not raised."""
        exchange = self._settings.begin(request)
        if isinstance(exchange, Failure):
            return exchange
        slots = self._own_slots()
        if not slots.acquire(timeout=exchange.patience):
            return NONE_FREE
        try:
            return self._send(exchange, self._pool(exchange.proxy))
        finally:
            slots.release()

    def _send(self, exchange: Exchange, pool: httpcore2.ConnectionPool) -> Response | Failure:
        exchange.start()
        token = CURRENT.set(exchange)
        try:
            while True:
                exchange.restart()
                try:
                    return self._exchange(exchange, pool)
                except Exception as error:
                    # Each attempt uses up an idle connection, so this ends.
                    if not _may_retry(error, exchange):
                        return _failure(error, exchange)
        finally:
            CURRENT.reset(token)

    def _exchange(self, exchange: Exchange, pool: httpcore2.ConnectionPool) -> Response | Failure:
        answer = pool.handle_request(_request(exchange))
        try:
            status, headers, address = _head(answer, exchange)
            body = exchange.head(status, headers, address)
            if not isinstance(body, Body):
                return body
            for chunk in answer.iter_stream():
                exchange.left()
                if body.feed(chunk):
                    break
            else:
                body.end()
            return Response(status, headers, *body.octets(), address)
        finally:
            answer.close()

    def _own_slots(self) -> Semaphore:
        if self._process != os.getpid():
            # Sockets and locks belong to the parent: they are neither used nor closed here.
            self._parents.append(self._pools)
            self._slots = Semaphore(self._count)
            self._lock, self._pools, self._process = Lock(), {}, os.getpid()
        if self._closed:
            raise RuntimeError(CLOSED)
        return self._slots

    def _pool(self, proxy: str | None) -> httpcore2.ConnectionPool:
        with self._lock:
            if self._closed:
                raise RuntimeError(CLOSED)
            if proxy not in self._pools:
                backend = PinnedBackend(_dns_cache(self._settings, proxy))
                tls = httpx2.create_ssl_context(verify=self._settings.verify)
                self._pools[proxy] = _open_pool(
                    httpcore2.ConnectionPool, self._settings, proxy, backend, tls
                )
            return self._pools[proxy]

    def close(self) -> None:
        """Close all connections."""
        with self._lock:
            self._closed = True
            pools = list(self._pools.values()) if self._process == os.getpid() else []
            self._pools = {}
        for pool in pools:
            pool.close()

    def __enter__(self) -> Httpx2Transport:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class AsyncHttpx2Transport:
    """Sends requests over httpx2 in one asyncio event loop; see `Httpx2Transport`."""

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
        self._slots = asyncio.Semaphore(self._count)
        self._pools: dict[str | None, httpcore2.AsyncConnectionPool] = {}
        self._opening = asyncio.Lock()
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
            return await self._send(exchange, await self._pool(exchange.proxy))
        finally:
            self._slots.release()

    async def _send(
        self, exchange: Exchange, pool: httpcore2.AsyncConnectionPool
    ) -> Response | Failure:
        exchange.start()
        token = CURRENT.set(exchange)
        try:
            while True:
                exchange.restart()
                try:
                    async with asyncio.timeout(exchange.left()):
                        return await self._exchange(exchange, pool)
                except Exception as error:
                    if not _may_retry(error, exchange):
                        return _failure(error, exchange)
        finally:
            CURRENT.reset(token)

    async def _exchange(
        self, exchange: Exchange, pool: httpcore2.AsyncConnectionPool
    ) -> Response | Failure:
        answer = await pool.handle_async_request(_request(exchange))
        try:
            status, headers, address = _head(answer, exchange)
            body = exchange.head(status, headers, address)
            if not isinstance(body, Body):
                return body
            async for chunk in answer.aiter_stream():
                if body.feed(chunk):
                    break
            else:
                body.end()
            return Response(status, headers, *body.octets(), address)
        finally:
            await answer.aclose()

    async def _pool(self, proxy: str | None) -> httpcore2.AsyncConnectionPool:
        async with self._opening:
            tls = None
            if proxy not in self._pools:
                # Loading the CA certificates takes a tenth of a second.
                verify = self._settings.verify
                tls = await asyncio.to_thread(httpx2.create_ssl_context, verify=verify)
            if self._closed:
                raise RuntimeError(CLOSED)
            if tls is not None:
                backend = AsyncPinnedBackend(_dns_cache(self._settings, proxy))
                self._pools[proxy] = _open_pool(
                    httpcore2.AsyncConnectionPool, self._settings, proxy, backend, tls
                )
            return self._pools[proxy]

    async def aclose(self) -> None:
        """Close all connections."""
        self._closed = True
        pools, self._pools = list(self._pools.values()), {}
        for pool in pools:
            await pool.aclose()

    async def __aenter__(self) -> AsyncHttpx2Transport:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


# --- Shared ---------------------------------------------------------------------------------------


def _dns_cache(settings: TransportSettings, proxy: str | None) -> DnsCache | None:
    return None if proxy else DnsCache(settings.addresses, max(settings.slots, 32))


def _open_pool(
    pool: Callable[..., Any],
    settings: TransportSettings,
    proxy: str | None,
    backend: object,
    tls: ssl.SSLContext,
) -> Any:
    return pool(
        ssl_context=tls,
        proxy=_proxy(proxy) if proxy else None,
        max_connections=None,  # `_slots` counts
        max_keepalive_connections=MAX_IDLE,
        keepalive_expiry=IDLE_SECONDS,
        network_backend=backend,
    )


def _proxy(url: str) -> httpcore2.Proxy:
    found = httpx2.Proxy(url)
    return httpcore2.Proxy(
        httpcore2.URL(
            scheme=found.url.raw_scheme,
            host=found.url.raw_host,
            port=found.url.port,
            target=found.url.raw_path,
        ),
        auth=found.raw_auth,
    )


def _request(exchange: Exchange) -> httpcore2.Request:
    target = exchange.target
    return httpcore2.Request(
        b"GET",
        httpcore2.URL(
            scheme=target.scheme.encode(),
            host=target.host.encode(),
            port=target.written_port,
            target=target.path.encode(),
        ),
        headers=[(name.encode(), value.encode("latin-1")) for name, value in exchange.fields],
        extensions={"timeout": {"pool": exchange.left()}},
    )


def _head(
    answer: httpcore2.Response, exchange: Exchange
) -> tuple[int, list[tuple[bytes, bytes]], str | None]:
    headers = [(bytes(name), bytes(value)) for name, value in answer.headers]
    if exchange.proxy:
        return answer.status, headers, None
    where = answer.extensions["network_stream"].get_extra_info("server_addr")
    return answer.status, headers, where[0] if where else None


def _may_retry(error: Exception, exchange: Exchange) -> bool:
    """Return whether an idle connection was closed: the request is then repeated on another one."""
    gone = isinstance(error, (httpcore2.RemoteProtocolError, httpcore2.ReadError))
    return gone and exchange.may_be_repeated()


def _failure(error: Exception, exchange: Exchange) -> Failure:
    """Return the failure for an error of the library (AMB-57)."""
    match error:
        case NoAddressError():
            return error.failure
        case CodingError():
            return exchange.failure(FailureReason.CODING, error)
        case TlsError():
            return exchange.failure(FailureReason.TLS, error)
        case TimeoutError() | httpcore2.TimeoutException():
            return exchange.failure(FailureReason.TIMEOUT)
        case httpcore2.ConnectError() | httpcore2.ProxyError():
            return exchange.failure(FailureReason.CONNECT, error)
        case httpcore2.NetworkError():
            tls = any(map(is_tls, causes(error)))
            return exchange.failure(FailureReason.TLS if tls else FailureReason.CUT, error)
        case httpcore2.RemoteProtocolError() if exchange.ended:
            return exchange.failure(FailureReason.CUT, error)
        case httpcore2.ProtocolError() | httpcore2.UnsupportedProtocol() | FramingError():
            return exchange.failure(FailureReason.PROTOCOL, error)
    return exchange.surprise(error)
