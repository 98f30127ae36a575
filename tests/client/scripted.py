"""
Test doubles for a client: a clock that is set by hand and a server that is a table.

They replace time and the network, so that a day passes at once; they test the order of the
client's own steps. Real servers and real stores are tested separately.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from robotrules.access import Failure, Request, Response
from robotrules.client import AsyncClient, Client

Answer = Response | Failure
START = 1_800_000_000.0


class Clock:
    """Seconds since 1970 that advance only when set by the test; sleeping advances them."""

    def __init__(self) -> None:
        self.now = START
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.slept.append(seconds)
        self.now += seconds


class Server:
    """Answers by URL, and records the requests."""

    def __init__(self, **_: Any) -> None:
        self.answers: dict[str, Answer | list[Answer] | Callable[[Request], Answer]] = {}
        self.asked: list[Request] = []

    @property
    def urls(self) -> list[str]:
        """The requested URLs, in order."""
        return [request.url for request in self.asked]

    def answer(self, request: Request) -> Answer:
        """Return what the table has; 404 for what it does not have."""
        self.asked.append(request)
        found = self.answers.get(request.url, Response(404))
        if callable(found):
            return found(request)
        if isinstance(found, list):
            return found.pop(0) if len(found) > 1 else found[0]
        return found

    def send(self, request: Request) -> Answer:
        """Answer a thread."""
        return self.answer(request)

    def close(self) -> None:
        """Nothing is open."""


class AsyncServer:
    """The same server for an event loop."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def send(self, request: Request) -> Answer:
        """Answer a task."""
        await asyncio.sleep(0)
        return self._server.answer(request)

    async def aclose(self) -> None:
        """Nothing is open."""


class Driven:
    """An `AsyncClient` with the methods of a `Client`: each call runs its event loop."""

    def __init__(self, client: AsyncClient, runner: asyncio.Runner) -> None:
        self.client, self._runner = client, runner

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.client, name)
        if not asyncio.iscoroutinefunction(found):
            return found
        return lambda *args, **options: self._runner.run(found(*args, **options))

    def slot(self, url: str) -> AbstractContextManager[Any]:
        """Take one slot."""
        return self._drive(self.client.slot(url))

    def checked_slot(self, url: str, **options: Any) -> AbstractContextManager[Any]:
        """Take one slot if the rules allow the URL."""
        return self._drive(self.client.checked_slot(url, **options))

    @contextmanager
    def _drive(self, context: Any) -> Iterator[Any]:
        turn = self._runner.run(_entered(context))
        try:
            yield turn
        finally:
            self._runner.run(_left(context))


async def _entered(context: Any) -> Any:
    return await context.__aenter__()


async def _left(context: Any) -> None:
    await context.__aexit__(None, None, None)


@contextmanager
def opened(kind: str, server: Server, clock: Clock, **options: Any) -> Iterator[Any]:
    """Open a client of either kind over a scripted server."""
    given: dict[str, Any] = {"store": "memory:", "clock": clock, "min_delay": 0.0} | options
    agent = given.pop("user_agent", "ExampleBot/1.0 (+https://example.com/bot)")
    if kind == "sync":
        with Client(agent, transport=server, sleep=clock.sleep, **given) as client:
            yield client
        return

    async def sleep(seconds: float) -> None:
        clock.sleep(seconds)

    with asyncio.Runner() as runner:
        waiting = AsyncClient(agent, transport=AsyncServer(server), sleep=sleep, **given)
        try:
            yield Driven(waiting, runner)
        finally:
            runner.run(waiting.aclose())
