"""
What the integrations of HTTP clients cost: each client alone and with robotrules, in one run.

A server in another process returns a page from loopback, over kept-alive connections where the
client has them (urllib.request has none): 32 KB over https, as most pages come, and 10 KB over
http, which is less work for the client, so that the overhead is a larger part of it. The cache is
warm and `min_delay` is 0, so what is measured is the check, the slot and the record of the
response. Both sessions of a client take turns in many short rounds; a ratio is the median of the
ratios of the rounds. The bar is for https.

    python benches/integrations.py                  all clients: about three minutes
    python benches/integrations.py --rounds 20 --only aiohttp --scheme http

Does not know: what waiting costs, which is the purpose of the delays.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import ssl
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import trustme

USER_AGENT = "ExampleBot/1.0 (+https://example.com/bot)"
HEADERS = {"User-Agent": USER_AGENT}
OPTIONS: dict[str, Any] = {"store": "memory:", "min_delay": 0, "allow_private": ["127.0.0.1"]}
BAR = 0.05
PAGE_SIZES = {"https": 32_768, "http": 10_240}
ROBOTS = b"User-agent: *\nDisallow: /private\nDisallow: /*.pdf$\n"


# --- The server -----------------------------------------------------------------------------------


def make_response(body: bytes) -> bytes:
    """Return a response with fixed fields."""
    fields = f"Content-Type: text/plain\r\nContent-Length: {len(body)}\r\n\r\n"
    return b"HTTP/1.1 200 OK\r\n" + fields.encode() + body


class PageProtocol(asyncio.Protocol):
    """Answers every request with the same page, and robots.txt with rules."""

    page, robots = b"", make_response(ROBOTS)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the connection."""
        self.transport: Any = transport
        self.received = b""

    def data_received(self, data: bytes) -> None:
        """Answer complete requests."""
        self.received += data
        while (end := self.received.find(b"\r\n\r\n")) >= 0:
            head, self.received = self.received[:end], self.received[end + 4 :]
            self.transport.write(self.robots if head.startswith(b"GET /robots.txt ") else self.page)
            if b"connection: close" in head.lower():
                self.transport.close()


async def serve(scheme: str, certificate: str) -> None:
    """Serve on a free port until the input ends."""
    PageProtocol.page = make_response(b"x" * PAGE_SIZES[scheme])
    tls = None
    if scheme == "https":
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(PageProtocol, "127.0.0.1", 0, backlog=1024, ssl=tls)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


@contextmanager
def certified() -> Iterator[str]:
    """Make a certificate that all clients of this process trust, and return its file."""
    authority = trustme.CA()
    with TemporaryDirectory() as folder:
        certificate, trusted = f"{folder}/server.pem", f"{folder}/authority.pem"
        authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(certificate)
        authority.cert_pem.write_to_path(trusted)
        os.environ["SSL_CERT_FILE"] = trusted
        yield certificate


@contextmanager
def served(scheme: str, certificate: str) -> Iterator[str]:
    """Start the server, and return the URL of a page."""
    command = [sys.executable, __file__, "--serve", scheme, certificate]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            yield f"{scheme}://127.0.0.1:{int(process.stdout.readline())}/a/page"
        finally:
            process.communicate()


# --- Clients --------------------------------------------------------------------------------------

Fetch = Callable[[str], Any]
AsyncFetch = Callable[[str], Awaitable[Any]]


def open_httpx(name: str, stack: ExitStack, robots: bool) -> Fetch:
    """Open a client of httpx or httpx2; its fetch reads the body."""
    from importlib import import_module

    host: Any = import_module(name)
    integration: Any = import_module(f"robotrules.integrations.{name}")
    bare = host.HTTPTransport()
    transport = integration.RobotsTransport(USER_AGENT, bare, **OPTIONS) if robots else bare
    client = stack.enter_context(host.Client(transport=transport, headers=HEADERS))
    get: Fetch = client.get
    return get


async def open_async_httpx(name: str, stack: AsyncExitStack, robots: bool) -> AsyncFetch:
    """Open an asynchronous client of httpx or httpx2."""
    from importlib import import_module

    host: Any = import_module(name)
    integration: Any = import_module(f"robotrules.integrations.{name}")
    bare = host.AsyncHTTPTransport()
    transport = integration.AsyncRobotsTransport(USER_AGENT, bare, **OPTIONS) if robots else bare
    client = await stack.enter_async_context(host.AsyncClient(transport=transport, headers=HEADERS))
    get: AsyncFetch = client.get
    return get


def open_requests(_: str, stack: ExitStack, robots: bool) -> Fetch:
    """Open a session of requests."""
    import requests

    from robotrules.integrations.requests import RobotsAdapter

    session = stack.enter_context(requests.Session())
    session.headers.update(HEADERS)
    session.trust_env, session.verify = False, os.environ["SSL_CERT_FILE"]
    if robots:
        adapter = RobotsAdapter(USER_AGENT, **OPTIONS)
        session.mount("http://", adapter)
        session.mount("https://", adapter)
    return session.get


def open_urllib(_: str, stack: ExitStack, robots: bool) -> Fetch:
    """Make an opener of urllib.request."""
    from urllib.request import ProxyHandler, build_opener

    from robotrules.integrations.urllib import RobotsHandler

    handlers: list[Any] = [ProxyHandler({})]
    if robots:
        handlers.append(stack.enter_context(RobotsHandler(USER_AGENT, **OPTIONS)))
    opener = build_opener(*handlers)
    opener.addheaders = [*HEADERS.items()]

    def fetch(url: str) -> bytes:
        with opener.open(url) as response:
            body: bytes = response.read()
            return body

    return fetch


async def open_aiohttp(_: str, stack: AsyncExitStack, robots: bool) -> AsyncFetch:
    """Open a session of aiohttp."""
    import aiohttp

    from robotrules.integrations.aiohttp import RobotsMiddleware

    middlewares: list[Any] = []
    if robots:
        middlewares.append(await stack.enter_async_context(RobotsMiddleware(USER_AGENT, **OPTIONS)))
    session = await stack.enter_async_context(
        aiohttp.ClientSession(middlewares=middlewares, headers=HEADERS)
    )

    async def fetch(url: str) -> bytes:
        async with session.get(url) as response:
            return await response.read()

    return fetch


CLIENTS: dict[str, tuple[str, Any]] = {
    "httpx.Client": ("httpx", open_httpx),
    "httpx.AsyncClient": ("httpx", open_async_httpx),
    "httpx2.Client": ("httpx2", open_httpx),
    "httpx2.AsyncClient": ("httpx2", open_async_httpx),
    "aiohttp.ClientSession": ("aiohttp", open_aiohttp),
    "requests.Session": ("requests", open_requests),
    "urllib.request": ("urllib", open_urllib),
}


# --- Timing ---------------------------------------------------------------------------------------


class Timing(NamedTuple):
    """Seconds for a request in each round."""

    bare: list[float]
    robots: list[float]

    def ratios(self) -> list[float]:
        """Return the overhead in each round, as a fraction of the bare client."""
        return [with_us / alone - 1 for alone, with_us in zip(*self, strict=True)]


def time_threads(name: str, opener: Any, url: str, rounds: int, requests: int) -> Timing:
    """Time a client for threads, with one thread."""
    with ExitStack() as stack:
        fetches = [opener(name, stack, robots) for robots in (False, True)]
        timing = Timing([], [])
        for number in range(-2, rounds):  # the first two are not counted: connections, caches
            for kind in ((0, 1), (1, 0))[number % 2]:
                fetch = fetches[kind]
                began = time.perf_counter()
                for _ in range(requests):
                    fetch(url)
                if number >= 0:
                    timing[kind].append((time.perf_counter() - began) / requests)
        return timing


async def time_tasks(name: str, opener: Any, url: str, rounds: int, requests: int) -> Timing:
    """Time a client for an event loop, with one task."""
    async with AsyncExitStack() as stack:
        fetches = [await opener(name, stack, robots) for robots in (False, True)]
        timing = Timing([], [])
        for number in range(-2, rounds):
            for kind in ((0, 1), (1, 0))[number % 2]:
                fetch = fetches[kind]
                began = time.perf_counter()
                for _ in range(requests):
                    await fetch(url)
                if number >= 0:
                    timing[kind].append((time.perf_counter() - began) / requests)
        return timing


def print_row(client: str, timing: Timing) -> bool:
    """Print a row of the table, and return whether the overhead is below the bar."""
    low, middle, high = statistics.quantiles(timing.ratios(), n=4)
    bare = statistics.median(timing.bare)
    extra = statistics.median(us - alone for alone, us in zip(*timing, strict=True))
    met = middle < BAR
    print(
        f"| {client} | {bare * 1e6:.0f} µs | {extra * 1e6:+.1f} µs | **{middle:+.1%}** "
        f"| {low:+.1%} to {high:+.1%} | {'yes' if met else 'NO'} |",
        flush=True,
    )
    return met


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Overhead of the integrations of HTTP clients.")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--requests", type=int, default=40, help="requests of a round")
    parser.add_argument(
        "--only", nargs="*", default=[""], help="clients whose name has one of these"
    )
    parser.add_argument("--scheme", nargs="*", default=[*PAGE_SIZES], choices=[*PAGE_SIZES])
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        asyncio.run(serve(*given.serve))
        return
    met = True
    with certified() as certificate:
        for scheme in given.scheme:
            kilobytes = PAGE_SIZES[scheme] // 1024
            print(
                f"\n{given.rounds} rounds of {given.requests} requests, {kilobytes} KB, {scheme}\n"
            )
            print("| client | alone | robotrules adds | overhead | middle half of rounds | < 5 % |")
            print("|---|---|---|---|---|---|")
            with served(scheme, certificate) as url:
                rows = [time_client(client, url, given) for client in chosen(given.only)]
            met &= all(rows) or scheme != "https"
    sys.exit(not met)


def chosen(names: list[str]) -> list[str]:
    """Return the clients whose name has one of these parts."""
    return [client for client in CLIENTS if any(part in client for part in names)]


def time_client(client: str, url: str, given: argparse.Namespace) -> bool:
    """Time a client alone and with robotrules, and print the row."""
    name, opener = CLIENTS[client]
    gc.collect()
    gc.freeze()
    arguments = (name, opener, url, given.rounds, given.requests)
    if asyncio.iscoroutinefunction(opener):
        return print_row(client, asyncio.run(time_tasks(*arguments)))
    return print_row(client, time_threads(*arguments))


if __name__ == "__main__":
    main()
