"""Prefetching: how far ahead a client looks, and the handling of background work."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest

from robotrules.access import Request, Response
from robotrules.client import AsyncClient, Client, threads
from robotrules.client.threads import SingleFlight
from tests.client.scripted import Clock, Server, opened

AGENT = "ExampleBot/1.0 (+https://example.com/bot)"
FILE = b"User-agent: *\nDisallow: /private\n"
# Nothing here takes longer, even on a busy machine.
LONGEST = 10.0


class TestAhead:
    """A list may be longer than memory: it is read no further than is needed."""

    def test_twice_as_many_as_concurrent_requests(self) -> None:
        """The next one is taken from the list once one of those before it is done."""
        answered: list[str] = []
        when_taken: list[int] = []
        may_answer = Event()

        class Slow:
            def send(self, request: Request) -> Response:
                assert may_answer.wait(LONGEST)
                time.sleep(0.05)
                answered.append(request.url)
                return Response(200, {}, FILE)

            def close(self) -> None:
                pass

        def origins() -> Iterator[str]:
            for number in range(6):
                when_taken.append(len(answered))
                if number == 3:
                    may_answer.set()
                yield f"https://s{number}.example"

        with Client(AGENT, store="memory:", transport=Slow()) as client:
            assert client.prefetch(origins(), concurrency=2) == (6, 0, 0, 0)
        assert when_taken[:4] == [0, 0, 0, 0]
        assert when_taken[4] > 0

    def test_one_that_is_slow_holds_up_no_other(self) -> None:
        """The list is read on while the first is waited for."""
        far_ahead = Event()
        was_far_ahead: list[bool] = []

        class FirstIsSlow:
            def send(self, request: Request) -> Response:
                if request.url == "https://s0.example/robots.txt":
                    was_far_ahead.append(far_ahead.wait(LONGEST / 5))
                return Response(200, {}, FILE)

            def close(self) -> None:
                pass

        def origins() -> Iterator[str]:
            for number in range(20):
                if number == 15:
                    far_ahead.set()
                yield f"https://s{number}.example"

        with Client(AGENT, store="memory:", transport=FirstIsSlow()) as client:
            assert client.prefetch(origins(), concurrency=2) == (20, 0, 0, 0)
        assert was_far_ahead == [True]


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_known_files_are_not_requested_again(kind: str) -> None:
    """Unless all of it is wanted fresh."""
    server, clock = Server(), Clock()
    with opened(kind, server, clock) as client:
        for fresh, asked in (({}, 1), ({}, 1), ({"refresh": False}, 1), ({"refresh": True}, 2)):
            client.prefetch(["https://a.example"], **fresh)
            assert len(server.asked) == asked
            clock.now += 1


class TestNobodyWaits:
    """An asynchronous prefetch that is cancelled leaves its requests to whoever wants them."""

    @pytest.mark.parametrize("fails", [True, False])
    @pytest.mark.parametrize("closes", [True, False])
    def test_cancelled(self, fails: bool, closes: bool) -> None:
        """What they meet is not reported: it fails, it is cancelled, or all is well."""
        reported: list[dict[str, Any]] = []
        told: list[object] = []

        class Gate:
            def __init__(self) -> None:
                self.came, self.open = asyncio.Event(), asyncio.Event()

            async def send(self, request: Request) -> Response:
                self.came.set()
                await self.open.wait()
                if fails:
                    raise RuntimeError("a fault of the transport")
                return Response(200, {}, FILE)

            async def aclose(self) -> None:
                pass

        async def main() -> None:
            loop = asyncio.get_running_loop()
            loop.set_exception_handler(lambda _, context: reported.append(context))
            gate = Gate()
            async with AsyncClient(AGENT, store="memory:", transport=gate) as client:
                going = asyncio.ensure_future(
                    client.prefetch(["https://a.example"], progress=told.append)
                )
                await asyncio.wait_for(gate.came.wait(), LONGEST)
                going.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await going
                if not closes:
                    gate.open.set()
                    for _ in range(20):
                        await asyncio.sleep(0)
            gc.collect()
            await asyncio.sleep(0)

        asyncio.run(main())
        gc.collect()
        assert (reported, told) == ([], [])


def test_a_flight_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """A caller that waits for another thread gets the error of that thread."""
    waits = Event()

    class Watched(Future[str]):
        def result(self, timeout: float | None = None) -> str:
            waits.set()
            return super().result(timeout)

    monkeypatch.setattr(threads, "Future", Watched)
    flights: SingleFlight[str] = SingleFlight()
    began = Event()

    def fail() -> str:
        began.set()
        assert waits.wait(LONGEST)
        raise OSError("no")

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(flights.do, "key", fail)
        assert began.wait(LONGEST)
        second = pool.submit(flights.do, "key", lambda: "mine")
        for one in (first, second):
            with pytest.raises(OSError, match="no"):
                one.result(LONGEST)
