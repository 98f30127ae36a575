"""
Network backend for httpcore2: connects to checked addresses, and enforces the request's deadline.

httpcore2 accepts a network backend. These resolve a name once, connect to a checked address, and
use the name for TLS and the Host field. The streams record what httpcore2 does not report: whether
the server closed the connection, and whether TLS failed. They pass on no more than the response
(`exchange.ResponseWatch`): httpcore2 would treat later bytes as the next response. A connection
with such bytes looks readable to the pool, which then closes it.

httpcore2 has a timeout for each operation and none for the whole, so a server that sends slowly
would never time out. In threads each operation therefore gets the remaining time; in an event loop
the transport cancels the whole. A context variable holds the exchange of an operation.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from typing import Any

import httpcore2

from robotrules.access import Failure
from robotrules.client.transports.dns_cache import DnsCache
from robotrules.client.transports.exchange import CURRENT, NoAddressError, ResponseWatch

Options = Iterable[httpcore2.SOCKET_OPTION] | None


class TlsError(Exception):
    """No secure connection; see its cause."""


def _addresses_of(found: list[str] | Failure) -> list[str]:
    if isinstance(found, Failure):
        raise NoAddressError(found)
    return found


def _has_more(stream: httpcore2.NetworkStream | httpcore2.AsyncNetworkStream) -> bool:
    """Return whether TLS has read bytes from the socket that were not requested."""
    tls = stream.get_extra_info("ssl_object")
    if not isinstance(tls, ssl.SSLObject):
        return False  # a plain socket does not read ahead
    try:
        tls.read(1)
    except ssl.SSLWantReadError:
        return False
    except (ssl.SSLError, ValueError):
        pass  # broken: not reusable either
    return True


# --- For threads ----------------------------------------------------------------------------------


class PinnedStream(httpcore2.NetworkStream):
    """A connection on which no operation takes longer than the exchange's remaining time."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream
        self._watch = ResponseWatch()

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read some bytes before the deadline."""
        exchange = CURRENT.get()
        while True:
            data = self._stream.read(max_bytes, timeout=exchange.left())
            exchange.received(data)
            passed = self._watch.received(data)
            if passed or not data or not self._watch.waits:
                return passed

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write all bytes before the deadline."""
        if buffer:
            self._watch.sent(connect=buffer.startswith(b"CONNECT "))
        self._stream.write(buffer, timeout=CURRENT.get().left())

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        """Start TLS for a name; close the connection if that fails."""
        try:
            left = CURRENT.get().left()
            return PinnedStream(self._stream.start_tls(ssl_context, server_hostname, left))
        except (httpcore2.ConnectTimeout, TimeoutError):
            self.close()
            raise
        except Exception as error:
            self.close()
            raise TlsError from error

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        """Return information of the system about the connection."""
        if info == "is_readable" and (self._watch.spoiled or _has_more(self._stream)):
            return True
        return self._stream.get_extra_info(info)


class PinnedBackend(httpcore2.NetworkBackend):
    """Connects to the checked addresses of a host, in order."""

    def __init__(self, dns_cache: DnsCache | None) -> None:
        """*lookups* None: connect to any address, for a proxy."""
        self._dns_cache = dns_cache
        self._inner = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Options = None,
    ) -> httpcore2.NetworkStream:
        """Resolve a name, check its addresses, and connect to one of them."""
        exchange = CURRENT.get()
        addresses = [host]
        if self._dns_cache is not None:
            addresses = _addresses_of(self._dns_cache.vet(host, port, exchange.left()))
        for waiting in range(len(addresses), 0, -1):
            # An unresponsive address must leave time for the others.
            seconds = exchange.left() / waiting
            try:
                stream = self._inner.connect_tcp(
                    addresses[-waiting], port, seconds, local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if waiting == 1:
                    raise
            else:
                exchange.connected = True
                return PinnedStream(stream)
        raise AssertionError("vetted addresses are one or more")  # pragma: no cover


# --- For an event loop ----------------------------------------------------------------------------


class AsyncPinnedStream(httpcore2.AsyncNetworkStream):
    """The same in an event loop; the caller is cancelled at the deadline."""

    def __init__(self, stream: httpcore2.AsyncNetworkStream) -> None:
        self._stream = stream
        self._watch = ResponseWatch()

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read some bytes before the deadline."""
        exchange = CURRENT.get()
        while True:
            data = await self._stream.read(max_bytes)
            exchange.received(data)
            exchange.left()  # continuous data would never let the loop cancel
            passed = self._watch.received(data)
            if passed or not data or not self._watch.waits:
                return passed

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write all bytes before the deadline."""
        if buffer:
            self._watch.sent(connect=buffer.startswith(b"CONNECT "))
        await self._stream.write(buffer)

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Start TLS for a name; close the connection if that fails."""
        try:
            return AsyncPinnedStream(await self._stream.start_tls(ssl_context, server_hostname))
        except Exception as error:
            await self.aclose()
            raise TlsError from error
        except BaseException:  # cancelled: nothing else refers to this connection yet
            await self.aclose()
            raise

    async def aclose(self) -> None:
        """Close the connection."""
        await self._stream.aclose()

    def get_extra_info(self, info: str) -> Any:
        """Return information of the system about the connection."""
        if info == "is_readable" and (self._watch.spoiled or _has_more(self._stream)):
            return True
        return self._stream.get_extra_info(info)


class AsyncPinnedBackend(httpcore2.AsyncNetworkBackend):
    """The same in an event loop."""

    def __init__(self, dns_cache: DnsCache | None) -> None:
        self._dns_cache = dns_cache
        self._inner = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Options = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Resolve a name, check its addresses, and connect to one of them."""
        exchange = CURRENT.get()
        addresses = [host]
        if self._dns_cache is not None:
            addresses = _addresses_of(await self._dns_cache.avet(host, port))
        for waiting in range(len(addresses), 0, -1):
            seconds = exchange.left() / waiting
            try:
                stream = await self._inner.connect_tcp(
                    addresses[-waiting], port, seconds, local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if waiting == 1:
                    raise
            else:
                exchange.connected = True
                return AsyncPinnedStream(stream)
        raise AssertionError("vetted addresses are one or more")  # pragma: no cover
