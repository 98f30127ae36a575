"""
Resolvers for an event loop: names become addresses without a thread for each.

    addresses = AddressPolicy(resolve=AsyncResolver())
    client = AsyncClient("ExampleBot/1.0 (+https://example.com/bot)", addresses=addresses)

The system's resolver blocks, so a client asks it in threads; a crawl of many hosts then waits for
threads. `AsyncResolver` asks the DNS through aiodns (c-ares), which reads the hosts file and
resolv.conf, and knows no other source of names that a system may have. It vets nothing: `Addresses`
does that with whatever a resolver returns.
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
    """Asks the DNS on the event loop; for `AddressPolicy(resolve=…)`."""

    cacheable = True
    """What it says does not depend on the port, and transports keep it for a few seconds."""

    def __init__(
        self,
        nameservers: Sequence[str] | None = None,
        *,
        timeout: float = 5.0,
        tries: int = 2,
    ) -> None:
        """
        Ask *nameservers*, such as `["9.9.9.9", "[2620:fe::fe]:53"]`; by default the system's.

        Each is waited for for *timeout*, *tries* times.
        """
        if isinstance(nameservers, (str, bytes)):
            raise TypeError(f"nameservers is a list, not one: pass [{nameservers!r}]")
        if not 0 < timeout <= 60:
            raise ValueError(f"seconds is {timeout!r}: use more than 0, and 60 at most")
        if tries < 1:
            raise ValueError(f"tries is {tries!r}: use 1 or more")
        self._nameservers = nameservers
        self._options = {"timeout": timeout, "tries": tries}
        # What c-ares has open belongs to one event loop, and threads may have one each.
        self._by_loop: dict[asyncio.AbstractEventLoop, aiodns.DNSResolver] = {}
        self._lock = Lock()

    async def __call__(self, host: str, port: int) -> list[str]:
        """Return the addresses of a host, in the order in which they are to be tried."""
        loop = asyncio.get_running_loop()
        with self._lock:
            dns = self._by_loop.get(loop)
            if dns is None:
                for ended in [one for one in self._by_loop if one.is_closed()]:
                    del self._by_loop[ended]
                dns = self._by_loop[loop] = self._opened(loop)
        return await _asked(dns, host, port)

    async def resolve_once(self, host: str, port: int) -> list[str]:
        """Return the same on an event loop that ends with the call: nothing stays open."""
        dns = self._opened(asyncio.get_running_loop())
        try:
            return await _asked(dns, host, port)
        finally:
            await dns.close()

    def _opened(self, loop: asyncio.AbstractEventLoop) -> aiodns.DNSResolver:
        return aiodns.DNSResolver(self._nameservers, loop, **self._options)


async def _asked(dns: aiodns.DNSResolver, host: str, port: int) -> list[str]:
    try:
        found = await dns.getaddrinfo(host, socket.AF_UNSPEC, port, type=socket.SOCK_STREAM)
    except aiodns.error.DNSError as error:
        raise OSError(None, str(error.args[-1] if error.args else error)) from error
    return [_text(node.addr) for node in found.nodes]


def _text(address: tuple[object, ...]) -> str:
    """Return an address as text, with its link if it is of one alone."""
    host = address[0].decode("ascii") if isinstance(address[0], bytes) else str(address[0])
    return f"{host}%{address[3]}" if len(address) == 4 and address[3] else host
