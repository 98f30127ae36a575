"""
The three transports, driven alike.

`carrier(...)` makes one and closes it at the end of the test. A `Carrier` has a synchronous
interface over each of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from robotrules.access import Failure, Request, Response
from robotrules.client.transports import AsyncTransport
from robotrules.client.transports.aiohttp import AiohttpTransport
from robotrules.client.transports.httpx2 import AsyncHttpx2Transport, Httpx2Transport
from tests.client import fault_servers

AGENT = "ExampleBot/1.0 (+https://example.com/bot)"
KINDS: dict[str, type] = {
    "httpx2": Httpx2Transport,
    "httpx2-async": AsyncHttpx2Transport,
    "aiohttp": AiohttpTransport,
}
Answer = Response | Failure


class Carrier:
    """A transport of one kind."""

    def __init__(self, kind: str, **options: Any) -> None:
        options.setdefault("addresses", fault_servers.here())
        options.setdefault("verify", fault_servers.client_tls())
        options.setdefault("timeout", 5.0)
        self.kind = kind
        self.runner = asyncio.Runner() if kind != "httpx2" else None
        self.transport = KINDS[kind](AGENT, **options)

    def send(self, request: Request | str) -> Answer:
        """Make one request."""
        return self.send_all([request])[0]

    def send_all(self, requests: Sequence[Request | str], at_once: int = 10) -> list[Answer]:
        """Make requests, so many at once."""
        wanted = [Request(one) if isinstance(one, str) else one for one in requests]
        if self.runner is not None:
            answers: list[Answer] = []
            # asyncio makes text of what a task returns, so it returns nothing.
            self.runner.run(self._gathered(wanted, at_once, answers))
            return answers
        if len(wanted) == 1:
            return [self.transport.send(wanted[0])]
        with ThreadPoolExecutor(at_once) as threads:
            return list(threads.map(self.transport.send, wanted))

    async def _gathered(self, wanted: list[Request], at_once: int, answers: list[Answer]) -> None:
        slots = asyncio.Semaphore(at_once)
        transport: AsyncTransport = self.transport

        async def one(request: Request) -> Answer:
            async with slots:
                return await transport.send(request)

        answers += await asyncio.gather(*map(one, wanted))

    def close(self) -> None:
        """Close it, and its loop."""
        if self.runner is None:
            self.transport.close()
        else:
            self.runner.run(self.transport.aclose())
            self.runner.close()


@pytest.fixture(params=list(KINDS))
def carrier(request: pytest.FixtureRequest) -> Iterator[Callable[..., Carrier]]:
    """A maker of carriers, of each kind."""
    made: list[Carrier] = []

    def make(**options: Any) -> Carrier:
        made.append(Carrier(request.param, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()
