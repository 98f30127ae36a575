"""
One process of a prefetch: the server that answers for all origins, or one way to fetch from it.

    prefetch_ways.py serve FILE                             the server; ends with its input
    prefetch_ways.py fetch WAY COUNT PORT STORE TOGETHER    one run; prints JSON

The clients are the whole of robotrules: transport, flow, SQLite. Beside each stands the library
below its transport, which fetches the same URLs and keeps nothing. Names lead to 127.0.0.1 by a
resolver that is handed over: an async one on event loops, and one in threads where the row says so.

Does not know: how often it is run, and what the figures are compared with; see `prefetch.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import pickle
import resource
import socket
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

USER_AGENT = "ExampleBot/1.0 (+https://example.com/bot)"
# As a usual server has them: they are kept with each visit.
HEAD = (
    "HTTP/1.1 200 OK\r\nDate: Sun, 15 Nov 2026 12:00:00 GMT\r\nServer: nginx\r\n"
    "Content-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\n"
    'Last-Modified: Mon, 02 Nov 2026 08:00:00 GMT\r\nETag: "{tag}"\r\n'
    "Cache-Control: max-age=86400\r\nVary: Accept-Encoding\r\nAccept-Ranges: bytes\r\n"
    "Strict-Transport-Security: max-age=31536000\r\nX-Content-Type-Options: nosniff\r\n"
    "Connection: {connection}\r\n\r\n"
)


def origins(count: int, port: int) -> Iterator[str]:
    """Origins of the server, one after the other."""
    return (f"http://s{number:05}.test:{port}" for number in range(count))


# --- The server -----------------------------------------------------------------------------------


class Server(asyncio.Protocol):
    """One connection: answers each request, and closes when the client wants it closed."""

    files: list[bytes]
    asked = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport, self._data = transport, b""

    def data_received(self, data: bytes) -> None:
        self._data += data
        while b"\r\n\r\n" in self._data:
            head, _, self._data = self._data.partition(b"\r\n\r\n")
            Server.asked += 1
            fields = head.lower()
            host = fields.partition(b"\r\nhost: ")[2].partition(b"\r\n")[0].decode("ascii")
            # No two origins have the same file.
            body = b"# %b\n%b" % (host.encode(), self.files[int(host[1:6]) % len(self.files)])
            close = b"\r\nconnection: close" in fields
            connection = "close" if close else "keep-alive"
            sent = HEAD.format(
                length=len(body), tag=f"{host[1:6]}-{len(body)}", connection=connection
            )
            self._transport.write(sent.encode("ascii") + body)
            if close:
                self._transport.close()


async def serve(file: str) -> None:
    """Answer until the input ends; prints the port, and for each line how often it was asked."""
    Server.files = pickle.loads(Path(file).read_bytes())
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Server, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    while await loop.run_in_executor(None, sys.stdin.readline):
        asked, Server.asked = Server.asked, 0
        print(asked, flush=True)
    server.close()


# --- The ways -------------------------------------------------------------------------------------


def _addresses(resolve: Any) -> Any:
    from robotrules.client import AddressPolicy

    return AddressPolicy(allow_private=["*.test"], resolve=resolve)


def _resolve(host: str, port: int) -> list[str]:
    return ["127.0.0.1"]


async def _aresolve(host: str, port: int) -> list[str]:
    return ["127.0.0.1"]


def client_threads(count: int, port: int, store: str, concurrency: int) -> Any:
    """Client over httpx2."""
    from robotrules.client import Client

    with Client(USER_AGENT, store=store, addresses=_addresses(_resolve)) as client:
        yield
        yield client.prefetch(origins(count, port), concurrency=concurrency)


def client_httpx2(count: int, port: int, store: str, concurrency: int) -> Any:
    """AsyncClient over httpx2."""
    from robotrules.client.transports.httpx2 import AsyncHttpx2Transport

    return _client_loop(AsyncHttpx2Transport, count, port, store, concurrency)


def client_aiohttp(count: int, port: int, store: str, concurrency: int) -> Any:
    """AsyncClient over aiohttp."""
    from robotrules.client.transports.aiohttp import AiohttpTransport

    return _client_loop(AiohttpTransport, count, port, store, concurrency)


def client_aiohttp_threads(count: int, port: int, store: str, concurrency: int) -> Any:
    """AsyncClient over aiohttp, with a resolver that blocks, as the system's does."""
    from robotrules.client.transports.aiohttp import AiohttpTransport

    return _client_loop(AiohttpTransport, count, port, store, concurrency, _resolve)


def _client_loop(
    transport: Any, count: int, port: int, store: str, concurrency: int, resolve: Any = _aresolve
) -> Any:
    from robotrules.client import AsyncClient

    async def prefetch() -> Any:
        carrier = transport(USER_AGENT, addresses=_addresses(resolve))
        try:
            async with AsyncClient(USER_AGENT, store=store, transport=carrier) as client:
                return await client.prefetch(origins(count, port), concurrency=concurrency)
        finally:
            await carrier.aclose()

    yield
    yield asyncio.run(prefetch())


def plain_threads(count: int, port: int, store: str, concurrency: int) -> Any:
    """httpcore2, which is below httpx2, and threads."""
    import httpcore2

    class Backend(httpcore2.SyncBackend):
        def connect_tcp(self, host: str, *args: Any, **options: Any) -> Any:
            return super().connect_tcp("127.0.0.1", *args, **options)

    sent = [("User-Agent", USER_AGENT)]
    with httpcore2.ConnectionPool(
        network_backend=Backend(), max_connections=100, max_keepalive_connections=20
    ) as pool:
        left, lock, got = origins(count, port), Lock(), [0] * concurrency

        def work(number: int) -> None:
            while True:
                with lock:
                    origin = next(left, None)
                if origin is None:
                    return
                answer = pool.request("GET", f"{origin}/robots.txt", headers=sent)
                got[number] += len(answer.content) > 0

        yield
        with ThreadPoolExecutor(concurrency) as threads:
            list(threads.map(work, range(concurrency)))
        yield sum(got)


def plain_httpcore2(count: int, port: int, store: str, concurrency: int) -> Any:
    """httpcore2 on an event loop."""
    import httpcore2

    class Backend(httpcore2.AnyIOBackend):
        async def connect_tcp(self, host: str, *args: Any, **options: Any) -> Any:
            return await super().connect_tcp("127.0.0.1", *args, **options)

    async def all_of_them() -> int:
        sent = [("User-Agent", USER_AGENT)]
        async with httpcore2.AsyncConnectionPool(
            network_backend=Backend(), max_connections=100, max_keepalive_connections=20
        ) as pool:

            async def get(origin: str) -> int:
                answer = await pool.request("GET", f"{origin}/robots.txt", headers=sent)
                return len(answer.content)

            return await _together(get, count, port, concurrency)

    yield
    yield asyncio.run(all_of_them())


def plain_aiohttp(count: int, port: int, store: str, concurrency: int) -> Any:
    """aiohttp on an event loop."""
    import aiohttp
    from aiohttp.abc import AbstractResolver, ResolveResult

    class Resolver(AbstractResolver):
        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
        ) -> list[ResolveResult]:
            return [
                ResolveResult(
                    hostname=host,
                    host="127.0.0.1",
                    port=port,
                    family=socket.AF_INET,
                    proto=0,
                    flags=socket.AI_NUMERICHOST,
                )
            ]

        async def close(self) -> None:
            """There is nothing to close."""

    async def all_of_them() -> int:
        connector = aiohttp.TCPConnector(
            resolver=Resolver(), use_dns_cache=False, limit=100, force_close=True
        )
        sent = {"User-Agent": USER_AGENT}
        async with aiohttp.ClientSession(connector=connector, headers=sent) as session:

            async def get(origin: str) -> int:
                async with session.get(f"{origin}/robots.txt") as answer:
                    return len(await answer.read())

            return await _together(get, count, port, concurrency)

    yield
    yield asyncio.run(all_of_them())


async def _together(get: Any, count: int, port: int, concurrency: int) -> int:
    """Workers that share one list: no task for each origin, so the least that one can do."""
    left, got = origins(count, port), 0

    async def work() -> None:
        nonlocal got
        for origin in left:
            size = await get(origin)
            got += size > 0

    await asyncio.gather(*(work() for _ in range(concurrency)))
    return got


WAYS: dict[str, tuple[str, Callable[[int, int, str, int], Any]]] = {
    "httpcore2, threads": ("", plain_threads),
    "Client, httpx2": ("httpcore2, threads", client_threads),
    "httpcore2, event loop": ("", plain_httpcore2),
    "AsyncClient, httpx2": ("httpcore2, event loop", client_httpx2),
    "aiohttp, event loop": ("", plain_aiohttp),
    "AsyncClient, aiohttp": ("aiohttp, event loop", client_aiohttp),
    "the same, names in threads": ("aiohttp, event loop", client_aiohttp_threads),
}


def fetch(way: str, count: int, port: int, store: str, concurrency: int) -> dict[str, Any]:
    """One run: what it got, how long it took, and the memory it had."""
    steps = WAYS[way][1](count, port, store, concurrency)
    next(steps)  # imports, and the file
    at_first = resident()
    wall, used = time.perf_counter(), time.process_time()
    got = next(steps)
    taken, spent = time.perf_counter() - wall, time.process_time() - used
    most = resident(most=True)
    with contextlib.suppress(StopIteration):
        next(steps)
    return {
        "success": got if isinstance(got, int) else got.success,
        "seconds": taken,
        "processor": spent,
        "resident at first": at_first,
        "resident at most": most,
    }


def resident(*, most: bool = False) -> int:
    """Octets of resident memory: now, or at most so far."""
    # Not ru_maxrss where it can be helped: it begins with what the process that started this had.
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:" if most else "VmRSS:"):
                return int(line.split()[1]) * 1024
    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["serve", file]:
            asyncio.run(serve(file))
        case ["fetch", way, count, port, store, concurrency]:
            print(json.dumps(fetch(way, int(count), int(port), store, int(concurrency))))
