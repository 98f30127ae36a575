"""
Fetching the robots.txt of thousands of origins: speed, processor time and memory.

A local server answers for all origins. Each run is a process with a new SQLite file and a new
server, so that no run waits for ports that the run before has used. The clients are the whole of
robotrules: transport, flow, SQLite. Beside each is the library below its transport, which fetches
the same URLs and keeps nothing; the difference is the cost of robotrules. Names resolve to
127.0.0.1 by a resolver that is passed in: async on event loops, blocking where the row says so.

    prefetch.py serve FILE                                  the server; ends with its input
    prefetch.py fetch CASE COUNT PORT STORE CONCURRENCY     one run; prints JSON

Does not know: the network. A crawl waits for remote servers; this benchmark does not.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import pickle
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

import table
from corpora import real

Progress = Callable[[str], None]
USER_AGENT = "ExampleBot/1.0 (+https://example.com/bot)"
# The header fields of a typical server; the client stores them with each fetch.
HEAD = (
    "HTTP/1.1 200 OK\r\nDate: Sun, 15 Nov 2026 12:00:00 GMT\r\nServer: nginx\r\n"
    "Content-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\n"
    'Last-Modified: Mon, 02 Nov 2026 08:00:00 GMT\r\nETag: "{tag}"\r\n'
    "Cache-Control: max-age=86400\r\nVary: Accept-Encoding\r\nAccept-Ranges: bytes\r\n"
    "Strict-Transport-Security: max-age=31536000\r\nX-Content-Type-Options: nosniff\r\n"
    "Connection: {connection}\r\n\r\n"
)


def origins(count: int, port: int) -> Iterator[str]:
    """Return the origins of the server."""
    return (f"http://s{number:05}.test:{port}" for number in range(count))


# --- The server -----------------------------------------------------------------------------------


class ServerProtocol(asyncio.Protocol):
    """One connection: answers each request; closes it if the client requests that."""

    files: list[bytes]
    requests = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport, self._data = transport, b""

    def data_received(self, data: bytes) -> None:
        self._data += data
        while b"\r\n\r\n" in self._data:
            head, _, self._data = self._data.partition(b"\r\n\r\n")
            ServerProtocol.requests += 1
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
    """Serve until the input ends; print the port, then the number of requests for each line."""
    ServerProtocol.files = pickle.loads(Path(file).read_bytes())
    loop = asyncio.get_running_loop()
    server = await loop.create_server(ServerProtocol, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    while await loop.run_in_executor(None, sys.stdin.readline):
        count, ServerProtocol.requests = ServerProtocol.requests, 0
        print(count, flush=True)
    server.close()


# --- Cases: clients, and the libraries below them -------------------------------------------------


def _make_addresses(resolve: Any) -> Any:
    from robotrules.client import Addresses

    return Addresses(allow_private=["*.test"], resolve=resolve)


def _resolve(host: str, port: int) -> list[str]:
    return ["127.0.0.1"]


async def _aresolve(host: str, port: int) -> list[str]:
    return ["127.0.0.1"]


def client_threads(count: int, port: int, store: str, concurrency: int) -> Any:
    """Client over httpx2."""
    from robotrules.client import Client

    with Client(USER_AGENT, store=store, addresses=_make_addresses(_resolve)) as client:
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
        carrier = transport(USER_AGENT, addresses=_make_addresses(resolve))
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

    headers = [("User-Agent", USER_AGENT)]
    with httpcore2.ConnectionPool(
        network_backend=Backend(), max_connections=100, max_keepalive_connections=20
    ) as pool:
        remaining, lock, got = origins(count, port), Lock(), [0] * concurrency

        def work(number: int) -> None:
            while True:
                with lock:
                    origin = next(remaining, None)
                if origin is None:
                    return
                answer = pool.request("GET", f"{origin}/robots.txt", headers=headers)
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

    async def get_all() -> int:
        headers = [("User-Agent", USER_AGENT)]
        async with httpcore2.AsyncConnectionPool(
            network_backend=Backend(), max_connections=100, max_keepalive_connections=20
        ) as pool:

            async def get(origin: str) -> int:
                answer = await pool.request("GET", f"{origin}/robots.txt", headers=headers)
                return len(answer.content)

            return await _get_concurrently(get, count, port, concurrency)

    yield
    yield asyncio.run(get_all())


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
            """Do nothing."""

    async def get_all() -> int:
        connector = aiohttp.TCPConnector(
            resolver=Resolver(), use_dns_cache=False, limit=100, force_close=True
        )
        headers = {"User-Agent": USER_AGENT}
        async with aiohttp.ClientSession(connector=connector, headers=headers) as session:

            async def get(origin: str) -> int:
                async with session.get(f"{origin}/robots.txt") as answer:
                    return len(await answer.read())

            return await _get_concurrently(get, count, port, concurrency)

    yield
    yield asyncio.run(get_all())


async def _get_concurrently(get: Any, count: int, port: int, concurrency: int) -> int:
    """Run workers that share one iterator: no task for each origin, the minimal overhead."""
    remaining, got = origins(count, port), 0

    async def work() -> None:
        nonlocal got
        for origin in remaining:
            size = await get(origin)
            got += size > 0

    await asyncio.gather(*(work() for _ in range(concurrency)))
    return got


CASES: dict[str, tuple[str, Callable[[int, int, str, int], Any]]] = {
    "httpcore2, threads": ("", plain_threads),
    "Client, httpx2": ("httpcore2, threads", client_threads),
    "httpcore2, event loop": ("", plain_httpcore2),
    "AsyncClient, httpx2": ("httpcore2, event loop", client_httpx2),
    "aiohttp, event loop": ("", plain_aiohttp),
    "AsyncClient, aiohttp": ("aiohttp, event loop", client_aiohttp),
    "the same, names in threads": ("aiohttp, event loop", client_aiohttp_threads),
}


def fetch(case: str, count: int, port: int, store: str, concurrency: int) -> dict[str, Any]:
    """Make one run; return the number of files, the times and the memory."""
    steps = CASES[case][1](count, port, store, concurrency)
    next(steps)  # imports, and opening the store
    at_start = read_resident()
    wall, used = time.perf_counter(), time.process_time()
    got = next(steps)
    taken, spent = time.perf_counter() - wall, time.process_time() - used
    peak = read_resident(peak=True)
    with contextlib.suppress(StopIteration):
        next(steps)
    return {
        "success": got if isinstance(got, int) else got.success,
        "seconds": taken,
        "processor": spent,
        "resident at first": at_start,
        "resident at most": peak,
    }


def read_resident(*, peak: bool = False) -> int:
    """Return the octets of resident memory: now, or at the peak."""
    # ru_maxrss is the fallback: its initial value is that of the parent process.
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:" if peak else "VmRSS:"):
                return int(line.split()[1]) * 1024
    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale


BASE_CASE, FROM_STORE = "AsyncClient, aiohttp", "the same, all in the store"


# --- Runs -------------------------------------------------------------------------------------


class RunningServer:
    """The server, in a separate process."""

    def __init__(self, files: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, "serve", files],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.port = self._read_line()

    def _read_line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def count_requests(self) -> int:
        """Return the number of requests since the last call."""
        assert self._process.stdin is not None
        print("requests?", file=self._process.stdin, flush=True)
        return int(self._read_line())

    def __enter__(self) -> RunningServer:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.communicate("", timeout=30)


def run_process(
    server: RunningServer, case: str, count: int, concurrency: int, store: str
) -> dict[str, Any]:
    """Run a process that fetches from a server; return its measurements."""
    done = subprocess.run(
        [
            sys.executable,
            __file__,
            "fetch",
            case,
            str(count),
            server.port,
            store,
            str(concurrency),
        ],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
        timeout=600,
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer | {"asked": server.count_requests()}


def run(plan: dict[str, Any], report: Any, progress: Progress) -> None:
    """Print the tables."""
    progress("reading the corpus")
    corpus, description = real.load_cases(plan["files"])
    found: dict[tuple[str, int], list[dict[str, Any]]] = {}
    few, *_, many = counts = plan["origins"]
    with tempfile.TemporaryDirectory() as folder:
        files = os.path.join(folder, "files.pickle")
        Path(files).write_bytes(pickle.dumps([case.body for case in corpus]))
        for number in range(plan["rounds"]):
            for count in counts:
                for case in CASES:
                    progress(f"round {number + 1} of {plan['rounds']}: {case}, {count:,} origins")
                    store = os.path.join(folder, f"{number}-{count}-{case}.sqlite")
                    with RunningServer(files) as server:
                        answer = run_process(server, case, count, plan["concurrency"], store)
                        found.setdefault((case, count), []).append(answer)
                        if case != BASE_CASE:
                            continue
                        # The next process finds the files in the store.
                        answer = run_process(server, case, count, plan["concurrency"], store)
                        found.setdefault((FROM_STORE, count), []).append(answer)
    report.say(
        f"## {plan['title']}",
        "",
        f"{many:,} origins, {plan['concurrency']} at a time, over HTTP on this machine; files as "
        f"in {description}, each made unique by one line. Medians of {plan['rounds']} rounds, a "
        "process and a server each. Processor time is the client's process alone, threads "
        "included; in brackets, the ratio to the library below. Memory is the peak of resident "
        "memory.",
        "",
        table.render(
            [
                "case",
                "origins/s",
                "processor time, one origin",
                *(f"memory, {count:,}" for count in counts),
                "each further origin",
                "files",
                "requests",
            ],
            [_render_row(case, below, found, few, many, counts) for case, below in _list_rows()],
        ),
        "",
    )
    report.figures["prefetch"] = [
        {"way": case, "origins": count} | answer
        for (case, count), answers in found.items()
        for answer in answers
    ]
    most = max(_memory_slope(found, case, few, many) for case in CASES if CASES[case][0]) / 1024
    report.add_bar(
        f"prefetch, memory of each further origin, {few:,} to {many:,}",
        f"at most {plan['bar']:g} KiB",
        f"{most:.1f} KiB",
        most <= plan["bar"],
    )
    below, _ = CASES[BASE_CASE]
    # The ratio is taken within each round: the load of the machine changes between rounds.
    share = statistics.median(
        alone["seconds"] / ours["seconds"]
        for alone, ours in zip(found[below, many], found[BASE_CASE, many], strict=True)
    )
    report.add_bar(
        f"prefetch, {many:,} origins, {BASE_CASE} over SQLite to {below}",
        f">= {plan['share']:g}x",
        f"{share:.2f}x",
        share >= plan["share"],
    )
    bodies = [case.body for case in corpus]
    _run_large(plan["large"], bodies, plan["concurrency"], report, progress)


def _run_large(
    plan: dict[str, Any], bodies: list[bytes], concurrency: int, report: Any, progress: Progress
) -> None:
    """Print memory with large files."""
    rules = [f"Disallow: /{n:05}/page-{n * 7919 % 100_003}\n" for n in range(plan["octets"] // 30)]
    padding = ("\nUser-agent: *\n" + "".join(rules)).encode("ascii")
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        files = os.path.join(folder, "files.pickle")
        Path(files).write_bytes(pickle.dumps([body + padding for body in bodies]))
        for count in plan["origins"]:
            progress(f"large files: {count:,} origins")
            with RunningServer(files) as server:
                store = os.path.join(folder, f"{count}.sqlite")
                answer = run_process(server, BASE_CASE, count, concurrency, store)
                found[count] = answer["resident at most"]
    report.say(
        f"Memory with files of {len(padding) / 1000:.0f} KB, {BASE_CASE}:",
        "",
        table.render(
            ["origins", "peak memory"],
            [[f"{count:,}", f"{most / 2**20:.0f} MiB"] for count, most in found.items()],
        ),
        "",
    )
    report.figures["prefetch, large files"] = found
    *_, half, most = found.values()
    report.add_bar(
        "prefetch, large files, memory after all origins to half of them",
        f"at most {plan['bar']:g} times",
        f"{most / half:.2f} times",
        most / half <= plan["bar"],
    )


def _list_rows() -> list[tuple[str, str]]:
    return [*((case, below) for case, (below, _) in CASES.items()), (FROM_STORE, "")]


def _median(found: Any, case: str, count: int, key: str) -> float:
    return float(statistics.median(answer[key] for answer in found[case, count]))


def _memory_slope(found: Any, case: str, few: int, many: int) -> float:
    """Return the octets of memory for each further origin."""
    least, most = (_median(found, case, count, "resident at most") for count in (few, many))
    return (most - least) / (many - few)


def _render_row(
    case: str, below: str, found: Any, few: int, many: int, counts: list[int]
) -> list[str]:
    spent = _median(found, case, many, "processor") / many * 1000
    ratio = ""
    if below:
        factor = spent * many / 1000 / _median(found, below, many, "processor")
        ratio = f" ({table.format_factor(factor)})"
    return [
        case,
        f"{many / _median(found, case, many, 'seconds'):,.0f}",
        f"{table.format_milliseconds(spent)}{ratio}",
        *(f"{_median(found, case, n, 'resident at most') / 2**20:.0f} MiB" for n in counts),
        table.format_kib(_memory_slope(found, case, few, many)),
        f"{_median(found, case, many, 'success'):,.0f}",
        f"{_median(found, case, many, 'asked'):,.0f}",
    ]


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["serve", file]:
            asyncio.run(serve(file))
        case ["fetch", name, count, port, store, concurrency]:
            print(json.dumps(fetch(name, int(count), int(port), store, int(concurrency))))
