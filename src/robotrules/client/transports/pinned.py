"""
The network below httpcore2: connections go to vetted addresses, and keep to a request's time.

httpcore2 takes a network backend from outside. These resolve a name once, connect to an address
that passed, and leave the name to TLS and to the Host field. The streams take note of what
httpcore2 does not tell: whether the server ended the connection, and whether what failed was TLS.
They hand on no more than the response (`exchange.Watch`): httpcore2 takes what follows it for the
next one. A connection that had more looks readable to the pool, which then closes it.

httpcore2 has a time for each operation and none for the whole, so a server that drips would never
be late. On threads each operation therefore gets what is left; on an event loop the transport ends
the whole. Which exchange an operation belongs to is in a context variable.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from typing import Any

import httpcore2

from robotrules.access import Failure
from robotrules.client.transports.exchange import CURRENT, NoAddressError, Stopwatch
from robotrules.client.transports.resolver import Lookups

Options = Iterable[httpcore2.SOCKET_OPTION] | None


class TlsError(Exception):
    """No secure connection; what went wrong is its cause."""


def _addresses_of(found: list[str] | Failure) -> list[str]:
    if isinstance(found, Failure):
        raise NoAddressError(found)
    return found


def _has_more(stream: httpcore2.NetworkStream | httpcore2.AsyncNetworkStream) -> bool:
    """Tell whether TLS has octets that were taken from the socket, and that nobody asked for."""
    tls = stream.get_extra_info("ssl_object")
    if not isinstance(tls, ssl.SSLObject):
        return False  # a socket, which leaves unread what it does not give out
    try:
        tls.read(1)
    except ssl.SSLWantReadError:
        return False
    except (ssl.SSLError, ValueError):
        pass  # broken: not to be used again either
    return True


# --- For threads ----------------------------------------------------------------------------------


class PinnedStream(httpcore2.NetworkStream):
    """A connection on which nothing takes longer than the exchange has left."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream
        self._watch = Stopwatch()

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read some octets within the time."""
        exchange = CURRENT.get()
        while True:
            data = self._stream.read(max_bytes, timeout=exchange.left())
            exchange.received(data)
            passed = self._watch.received(data)
            if passed or not data or not self._watch.waits:
                return passed

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write all octets within the time."""
        if buffer:
            self._watch.sent(connect=buffer.startswith(b"CONNECT "))
        self._stream.write(buffer, timeout=CURRENT.get().left())

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        """Begin TLS for a name; whatever fails closes the connection."""
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
        """Say what the system knows of the connection."""
        if info == "is_readable" and (self._watch.spoiled or _has_more(self._stream)):
            return True
        return self._stream.get_extra_info(info)


class PinnedBackend(httpcore2.NetworkBackend):
    """Connects to the vetted addresses of a host, one after the other."""

    def __init__(self, lookups: Lookups | None) -> None:
        """*lookups* None: to any address, which is for a proxy."""
        self._lookups = lookups
        self._inner = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Options = None,
    ) -> httpcore2.NetworkStream:
        """Resolve a name, vet its addresses, and connect to one of them."""
        exchange = CURRENT.get()
        addresses = [host]
        if self._lookups is not None:
            addresses = _addresses_of(self._lookups.vetted(host, port, exchange.left()))
        for waiting in range(len(addresses), 0, -1):
            # A dead address leaves time for the others.
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
    """The same on an event loop; who waits is cancelled when the time is over."""

    def __init__(self, stream: httpcore2.AsyncNetworkStream) -> None:
        self._stream = stream
        self._watch = Stopwatch()

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read some octets within the time."""
        exchange = CURRENT.get()
        while True:
            data = await self._stream.read(max_bytes)
            exchange.received(data)
            exchange.left()  # a server that always has something to say never lets the loop cancel
            passed = self._watch.received(data)
            if passed or not data or not self._watch.waits:
                return passed

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write all octets within the time."""
        if buffer:
            self._watch.sent(connect=buffer.startswith(b"CONNECT "))
        await self._stream.write(buffer)

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Begin TLS for a name; whatever fails closes the connection."""
        try:
            return AsyncPinnedStream(await self._stream.start_tls(ssl_context, server_hostname))
        except Exception as error:
            await self.aclose()
            raise TlsError from error
        except BaseException:  # cancelled: nobody else knows of this connection yet
            await self.aclose()
            raise

    async def aclose(self) -> None:
        """Close the connection."""
        await self._stream.aclose()

    def get_extra_info(self, info: str) -> Any:
        """Say what the system knows of the connection."""
        if info == "is_readable" and (self._watch.spoiled or _has_more(self._stream)):
            return True
        return self._stream.get_extra_info(info)


class AsyncPinnedBackend(httpcore2.AsyncNetworkBackend):
    """The same on an event loop."""

    def __init__(self, lookups: Lookups | None) -> None:
        self._lookups = lookups
        self._inner = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Options = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Resolve a name, vet its addresses, and connect to one of them."""
        exchange = CURRENT.get()
        addresses = [host]
        if self._lookups is not None:
            addresses = _addresses_of(await self._lookups.avetted(host, port))
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
