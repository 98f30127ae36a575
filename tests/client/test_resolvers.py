"""Async resolvers, and addresses that are kept: what they give is vetted, and only that used."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Thread
from typing import Any

import pytest

from robotrules.access import Failure, FailureReason, Request, Response
from robotrules.client.resolvers import AsyncResolver
from robotrules.client.ssrf import AddressPolicy
from robotrules.client.transports import dns_cache as lookups_module
from robotrules.client.transports.aiohttp import AiohttpTransport
from robotrules.client.transports.dns_cache import DnsCache
from robotrules.client.transports.httpx2 import AsyncHttpx2Transport
from tests.client import fault_servers
from tests.client.servers import free_port

AGENT = "ExampleBot/1.0 (+https://example.com/bot)"


class Names:
    """An async resolver that returns the items of a list, one after the other."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, int]] = []

    async def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append((host, port))
        await asyncio.sleep(0)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def vet(addresses: AddressPolicy, host: str = "example.com", port: int = 80) -> list[str] | Failure:
    """Return what a transport on an event loop would connect to."""
    return asyncio.run(DnsCache(addresses, 4).avet(host, port))


class TestVetting:
    """An async resolver weakens nothing (AMB-56)."""

    def test_public(self) -> None:
        """In its order, without threads."""
        names = Names(["93.184.216.34", "2606:4700::1111"])
        assert vet(AddressPolicy(resolve=names)) == ["93.184.216.34", "2606:4700::1111"]
        assert names.asked == [("example.com", 80)]

    @pytest.mark.parametrize(
        "address", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "::ffff:10.0.0.1", "fe80::1"]
    )
    def test_private(self, address: str) -> None:
        """Refused, and the public one beside it is used alone."""
        found = vet(AddressPolicy(resolve=Names([address])))
        assert isinstance(found, Failure)
        assert found.reason is FailureReason.REFUSED
        assert vet(AddressPolicy(resolve=Names([address, "8.8.8.8"]))) == ["8.8.8.8"]

    def test_failures(self) -> None:
        """What a resolver raises, or gives instead of addresses, is a failure of the DNS."""

        async def fails(host: str, port: int) -> list[str]:
            raise OSError(None, "no such host")

        for resolve in (fails, Names(["x"]), Names([])):
            found = vet(AddressPolicy(resolve=resolve))
            assert isinstance(found, Failure)
            assert found.reason is FailureReason.DNS

    def test_without_an_event_loop(self) -> None:
        """A client for threads uses it too."""
        names = Names(["8.8.8.8"])
        assert DnsCache(AddressPolicy(resolve=names), 4).vet("example.com", 80, 5.0) == ["8.8.8.8"]

    @pytest.mark.parametrize("kind", [AiohttpTransport, AsyncHttpx2Transport])
    def test_a_name_that_changes_its_mind(self, kind: type[Any]) -> None:
        """DNS rebinding: the connection goes to what was vetted, and the next answer is vetted."""
        with (
            fault_servers.serve(fault_servers.ok) as site,
            fault_servers.serve(fault_servers.ok, host="127.0.0.2", port=site.port) as secret,
        ):
            names = Names(["127.0.0.1"], ["127.0.0.2"])
            allowed = AddressPolicy(["127.0.0.1"], names)

            async def main() -> list[Any]:
                one = kind(AGENT, addresses=allowed, timeout=5.0)
                try:
                    request = Request(site.named("fickle.example"))
                    return [await one.send(request) for _ in range(2)]
                finally:
                    await one.aclose()

            first, second = asyncio.run(main())
            assert isinstance(first, Response)
            assert first.address == "127.0.0.1"
            assert isinstance(second, Failure)
            assert second.reason is FailureReason.REFUSED
            assert secret.connections == 0
            assert len(names.asked) == 2


class TestKept:
    """Results of the system's resolver are cached for a few seconds."""

    @pytest.fixture
    def asked(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """The names that were looked up with the system's resolver."""
        seen: list[str] = []

        def getaddrinfo(host: str, port: int, **_: Any) -> list[Any]:
            seen.append(host)
            if host == "none.example":
                raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
            address = "10.0.0.1" if host == "private.example" else "8.8.8.8"
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
        return seen

    def test_http_and_https(self, asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
        """A redirect to another port causes no second lookup; after a while it does."""
        now = [100.0]
        monkeypatch.setattr(lookups_module, "monotonic", lambda: now[0])
        lookups = DnsCache(AddressPolicy(), 4)
        for port in (80, 443):
            assert lookups.vet("example.com", port, 5.0) == ["8.8.8.8"]
            assert asyncio.run(lookups.avet("example.com", port)) == ["8.8.8.8"]
        assert asked == ["example.com"]
        now[0] += lookups_module.IDLE_SECONDS
        assert lookups.vet("example.com", 80, 5.0) == ["8.8.8.8"]
        assert asked == ["example.com"] * 2

    @pytest.mark.parametrize("host", ["none.example", "private.example"])
    def test_failures_are_not_kept(self, asked: list[str], host: str) -> None:
        """A name may come to have an address."""
        lookups = DnsCache(AddressPolicy(), 4)
        for _ in range(2):
            assert isinstance(lookups.vet(host, 80, 5.0), Failure)
        assert asked == [host] * 2

    def test_bounded(self, asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
        """The oldest go first."""
        monkeypatch.setattr(lookups_module, "MAX_CACHED", 4)
        lookups = DnsCache(AddressPolicy(), 4)
        for n in range(9):
            lookups.vet(f"h{n}.example", 80, 5.0)
            assert len(lookups._kept) <= 4
        lookups.vet("h8.example", 80, 5.0)
        lookups.vet("h0.example", 80, 5.0)
        assert asked[9:] == ["h0.example"]

    def test_a_users_resolver_is_called_each_time(self) -> None:
        """It may keep what it likes."""
        names = Names(["8.8.8.8"])
        lookups = DnsCache(AddressPolicy(resolve=names), 4)
        for _ in range(3):
            asyncio.run(lookups.avet("example.com", 80))
        assert len(names.asked) == 3


@contextmanager
def name_server(address: bytes) -> Iterator[str]:
    """Run a name server that knows one IPv4 address for all names, and no other record."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(10)

        def serve() -> None:
            while True:
                try:
                    query, peer = server.recvfrom(512)
                except OSError:
                    return
                if query == b"end":
                    return
                end = query.index(b"\0", 12) + 5  # the question: name, type, class
                is_a = query[end - 4 : end - 2] == b"\0\1"
                count = b"\0\1" if is_a else b"\0\0"
                answer = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + address if is_a else b""
                head = query[:2] + b"\x81\x80\0\1" + count + b"\0\0\0\0"
                server.sendto(head + query[12:end] + answer, peer)

        thread = Thread(target=serve)
        thread.start()
        where = server.getsockname()
        try:
            yield f"127.0.0.1:{where[1]}"
        finally:
            server.sendto(b"end", where)
            thread.join()


class TestAsyncResolver:
    """DNS lookups on the event loop."""

    def test_a_name(self) -> None:
        """From a name server; kept for other ports; vetted."""
        with name_server(bytes([8, 8, 4, 4])) as where:
            resolve = AsyncResolver([where], timeout=2.0)
            assert vet(AddressPolicy(resolve=resolve)) == ["8.8.4.4"]
            assert vet(AddressPolicy(resolve=resolve)) == ["8.8.4.4"]  # on another event loop
        assert AddressPolicy(resolve=resolve).cacheable

    def test_a_private_address(self) -> None:
        """A name server may answer anything."""
        with name_server(bytes([10, 0, 0, 1])) as where:
            found = vet(AddressPolicy(resolve=AsyncResolver([where], timeout=2.0)))
        assert isinstance(found, Failure)
        assert found.reason is FailureReason.REFUSED

    def test_no_name_server(self) -> None:
        """It is a failure of the DNS, within its time."""
        resolve = AsyncResolver([f"127.0.0.1:{free_port()}"], timeout=0.2, tries=1)
        found = vet(AddressPolicy(resolve=resolve))
        assert isinstance(found, Failure)
        assert found.reason is FailureReason.DNS

    def test_threads(self) -> None:
        """Threads without an event loop share a resolver, and nothing that it opens stays open."""
        opened: list[Any] = []

        class Counting(AsyncResolver):
            def _open(self, loop: asyncio.AbstractEventLoop) -> Any:
                opened.append(super()._open(loop))
                return opened[-1]

        with name_server(bytes([8, 8, 4, 4])) as where:
            addresses = AddressPolicy(resolve=Counting([where], timeout=2.0))
            with ThreadPoolExecutor(8) as pool:
                found = list(pool.map(lambda n: addresses.vet(f"s{n}.example", 80), range(40)))
        assert found == [["8.8.4.4"]] * 40
        assert len(opened) == 40
        assert all(one._closed for one in opened)

    def test_event_loops_that_ended(self) -> None:
        """What was opened on them is let go of when another one is used."""
        with name_server(bytes([8, 8, 4, 4])) as where:
            resolve = AsyncResolver([where], timeout=2.0)
            for _ in range(3):
                asyncio.run(resolve("s.example", 80))
        assert len(resolve._by_loop) == 1

    def test_misuse(self) -> None:
        """The error states the expected type."""
        with pytest.raises(TypeError, match="nameservers must be a list"):
            AsyncResolver("9.9.9.9")
        with pytest.raises(ValueError, match="more than 0"):
            AsyncResolver(timeout=0)
        with pytest.raises(ValueError, match="1 or more"):
            AsyncResolver(tries=0)


def test_threads_and_async_are_distinguished() -> None:
    """A function, an object and a method may be either."""

    class Both:
        async def asks(self, host: str, port: int) -> list[str]:
            return []

        def waits(self, host: str, port: int) -> list[str]:
            return []

    assert AddressPolicy(resolve=Both().asks).is_async
    assert AddressPolicy(resolve=Names([])).is_async
    assert not AddressPolicy(resolve=Both().waits).is_async
    assert not AddressPolicy().is_async
