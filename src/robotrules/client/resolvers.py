"""
Async resolver: resolves names in an event loop, without a thread for each lookup.

    addresses = AddressPolicy(resolve=AsyncResolver())
    client = AsyncClient("ExampleBot/1.0 (+https://example.com/bot)", addresses=addresses)

The system's resolver blocks, so a client calls it in threads, and a crawl of many hosts then waits
for threads. `AsyncResolver` queries the DNS through aiodns (c-ares), which reads the hosts file and
resolv.conf but no other name sources of the system. It does not check addresses: `AddressPolicy`
does that for every resolver.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from threading import Lock

from robotrules.errors import MissingExtraError

try:
    import aiodns
except ImportError:
    raise MissingExtraError(
        "this resolver needs aiodns, which is not installed: pip install 'robotrules[aiohttp]'"
    ) from None

__all__ = ["AsyncResolver"]


class AsyncResolver:
    """Queries the DNS in the event loop; for `AddressPolicy(resolve=…)`."""

    cacheable = True
    """Its results do not depend on the port, and transports cache them for a few seconds."""

    def __init__(
        self,
        nameservers: Sequence[str] | None = None,
        *,
        timeout: float = 5.0,
        tries: int = 2,
    ) -> None:
        """
        Query *nameservers*, such as `["9.9.9.9", "[2620:fe::fe]:53"]`; by default the system's.

        Each query times out after *timeout* seconds and is sent up to *tries* times.
        """
        if isinstance(nameservers, (str, bytes)):
            raise TypeError(f"nameservers must be a list: pass [{nameservers!r}]")
        if not 0 < timeout <= 60:
            raise ValueError(f"timeout is {timeout!r}: use more than 0 and at most 60 seconds")
        if tries < 1:
            raise ValueError(f"tries is {tries!r}: use 1 or more")
        self._nameservers = nameservers
        self._options = {"timeout": timeout, "tries": tries}
        # A c-ares channel belongs to one event loop, and threads may have one each.
        self._by_loop: dict[asyncio.AbstractEventLoop, aiodns.DNSResolver] = {}
        self._lock = Lock()

    async def __call__(self, host: str, port: int) -> list[str]:
        """Return the addresses of a host, in the order in which to try them."""
        loop = asyncio.get_running_loop()
        with self._lock:
            dns = self._by_loop.get(loop)
            if dns is None:
                for closed in [known for known in self._by_loop if known.is_closed()]:
                    del self._by_loop[closed]
                dns = self._by_loop[loop] = self._open(loop)
        return await _query(dns, host, port)

    async def resolve_once(self, host: str, port: int) -> list[str]:
        """Resolve in an event loop that ends with the call: nothing stays open."""
        dns = self._open(asyncio.get_running_loop())
        try:
            return await _query(dns, host, port)
        finally:
            await dns.close()

    def _open(self, loop: asyncio.AbstractEventLoop) -> aiodns.DNSResolver:
        return aiodns.DNSResolver(self._nameservers, loop, **self._options)


async def _query(dns: aiodns.DNSResolver, host: str, port: int) -> list[str]:
    try:
        result = await dns.getaddrinfo(host, socket.AF_UNSPEC, port, type=socket.SOCK_STREAM)
    except aiodns.error.DNSError as error:
        raise OSError(None, str(error.args[-1] if error.args else error)) from error
    return [_format_address(node.addr) for node in result.nodes]


def _format_address(address: tuple[object, ...]) -> str:
    """Return an address as text, with its scope id if it is link-local."""
    host = address[0].decode("ascii") if isinstance(address[0], bytes) else str(address[0])
    return f"{host}%{address[3]}" if len(address) == 4 and address[3] else host
