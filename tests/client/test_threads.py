"""
Threads, tasks and loops: what happens when many use one client, and some of them give up.

Requests are scripted or go to loopback; the threads and the loops are real.
"""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier, Event, Thread
from typing import Any

import pytest

from robotrules import Reason
from robotrules.access import Request, Response
from robotrules.client import AddressPolicy, AsyncClient, Client
from robotrules.client.stores import MemoryStore
from robotrules.client.threads import SingleFlight
from robotrules.client.transports.aiohttp import AiohttpTransport
from robotrules.client.transports.httpx2 import AsyncHttpx2Transport
from tests.client import fault_servers
from tests.client.scripted import Clock, Server

AGENT = "ExampleBot/1.0 (+https://example.com/bot)"
SITE = "https://example.com"
FILE = b"User-agent: *\nDisallow: /private\n"
HOUR = 3_600.0
# Nothing here takes longer, even on a busy machine.
LONGEST = 20.0


class Gate:
    """A transport for threads that blocks all requests until it is opened."""

    def __init__(self) -> None:
        self.asked: list[Request] = []
        self.came, self.open = Event(), Event()
        self.raises: list[BaseException] = []

    def send(self, request: Request) -> Response:
        """Wait, then answer or raise."""
        self.asked.append(request)
        self.came.set()
        assert self.open.wait(LONGEST)
        if self.raises:
            raise self.raises.pop()
        return Response(200, {}, FILE)

    def close(self) -> None:
        """Nothing is open."""


class AsyncGate:
    """The same for tasks."""

    def __init__(self) -> None:
        self.asked: list[Request] = []
        self.came, self.open = asyncio.Event(), asyncio.Event()
        self.raises: list[BaseException] = []

    async def send(self, request: Request) -> Response:
        """Wait, then answer or raise."""
        self.asked.append(request)
        self.came.set()
        await asyncio.wait_for(self.open.wait(), LONGEST)
        if self.raises:
            raise self.raises.pop()
        return Response(200, {}, FILE)

    async def aclose(self) -> None:
        """Nothing is open."""


# --- Many at once ---------------------------------------------------------------------------------


def answers(host: str, path: str) -> bytes:
    """Answer by the number in the name of a host: rules, no file, nothing allowed, failure."""
    kind = number_of(host) % 4
    if kind == 0:
        return fault_servers.message(FILE, "Cache-Control: max-age=600")
    if kind == 1:
        return fault_servers.message(b"", status="404 Not Found")
    if kind == 2:
        return fault_servers.message(b"User-agent: *\nDisallow: /\n", 'ETag: "2"')
    return fault_servers.message(b"", status="503 Later")


def number_of(host: str) -> int:
    """Return the number in `site7.example`."""
    return int("".join(filter(str.isdigit, host.partition(".")[0])))


def expected(url: str) -> tuple[bool, Reason]:
    """Return the verdict on a URL of `answers`."""
    _, _, host, path = url.split("/", 3)
    kind = number_of(host) % 4
    if kind == 0:
        private = path.startswith("private")
        return not private, Reason.DISALLOW_RULE if private else Reason.NO_MATCH
    return [
        (True, Reason.UNAVAILABLE),
        (False, Reason.DISALLOW_RULE),
        (False, Reason.UNREACHABLE),
    ][kind - 1]


@contextmanager
def sites(count: int) -> Iterator[tuple[list[str], AddressPolicy]]:
    """Run many origins on one server; give their URLs, and how they are found."""
    with fault_servers.farm(answers) as farm:
        where = AddressPolicy(["*.example"], resolve=lambda host, port: [fault_servers.LOOPBACK])
        yield [f"http://site{n}.example:{farm.port}" for n in range(count)], where


def question(chance: random.Random, origins: list[str]) -> str:
    """Return some URL."""
    return f"{chance.choice(origins)}/{chance.choice(['page', 'private/x'])}"


class TestHammered:
    """Many do everything at once, while lifetimes pass: every verdict is right, nothing raises."""

    @pytest.mark.parametrize("background", [False, True])
    @pytest.mark.parametrize("store", ["memory:", "sqlite"])
    def test_by_threads(self, background: bool, store: str, tmp_path: Any) -> None:
        clock, over = Clock(), time.monotonic() + 1.0
        where = store if store == "memory:" else str(tmp_path / "robots.sqlite")
        with (
            sites(50) as (origins, addresses),
            Client(
                AGENT,
                store=where,
                addresses=addresses,
                clock=clock,
                stale_while_revalidate=background,
            ) as client,
        ):

            def hammer(seed: int) -> int:
                chance, done = random.Random(seed), 0
                while time.monotonic() < over:
                    _once(chance, client, origins)
                    clock.now += chance.choice([0, 1, 100])
                    done += 1
                return done

            with ThreadPoolExecutor(10) as pool:
                assert sum(pool.map(hammer, range(10))) > 20
            assert client.store_error is None

    @pytest.mark.parametrize("transport", [AsyncHttpx2Transport, AiohttpTransport])
    @pytest.mark.parametrize("store", ["memory:", "sqlite"])
    def test_by_tasks(self, store: str, transport: Any, tmp_path: Any) -> None:
        where = store if store == "memory:" else str(tmp_path / "robots.sqlite")
        with sites(50) as (origins, addresses):
            asyncio.run(_hammered(origins, transport(AGENT, addresses=addresses), where))


def _once(chance: random.Random, client: Client, origins: list[str]) -> None:
    url = question(chance, origins)
    match chance.randrange(6):
        case 0:
            urls = [question(chance, origins) for _ in range(chance.randrange(1, 12))]
            verdicts = client.check_many(urls)
            assert [(one.allowed, one.reason) for one in verdicts] == [*map(expected, urls)]
        case 1:
            state = client.refresh(url)
            assert state is not None
            _check(state.check(url, "ExampleBot"), url)
        case 2:
            explanation = client.explain(url)
            _check(explanation.verdict, url)
            assert explanation.as_dict()["access"]["origin"] in origins
        case 3:
            some = chance.sample(origins, 4)
            assert sum(client.prefetch(some, concurrency=3)) == 4
        case _:
            _check(client.check(url), url)


def _check(verdict: Any, url: str) -> None:
    assert (verdict.allowed, verdict.reason) == expected(url)


async def _hammered(origins: list[str], transport: Any, where: str) -> None:
    clock, over = Clock(), time.monotonic() + 1.0
    loop = asyncio.get_running_loop()
    complaints: list[Any] = []
    loop.set_exception_handler(lambda loop, context: complaints.append(context))

    async def hammer(client: AsyncClient, seed: int) -> int:
        chance, done = random.Random(seed), 0
        while time.monotonic() < over:
            url = question(chance, origins)
            match chance.randrange(5):
                case 0:
                    urls = [question(chance, origins) for _ in range(chance.randrange(1, 12))]
                    verdicts = await client.check_many(urls)
                    assert [(one.allowed, one.reason) for one in verdicts] == [*map(expected, urls)]
                case 1:
                    state = await client.refresh(url)
                    assert state is not None
                    _check(state.check(url, "ExampleBot"), url)
                case 2:
                    task = asyncio.create_task(client.check(url))
                    await asyncio.sleep(chance.choice([0, 0.001]))
                    task.cancel()
                    await asyncio.wait([task])
                    if not task.cancelled():
                        _check(task.result(), url)
                case _:
                    _check(await client.check(url), url)
            clock.now += chance.choice([0, 1, 100])
            done += 1
        return done

    async with AsyncClient(AGENT, store=where, transport=transport, clock=clock) as client:
        done = await asyncio.gather(*[hammer(client, seed) for seed in range(20)])
        assert sum(done) > 20
    await transport.aclose()
    await asyncio.sleep(0)
    assert not complaints


# --- One caller for all ---------------------------------------------------------------------------


def thread_pool(count: int, work: Callable[[], Any]) -> list[Any]:
    """Let threads do the same at once; return what came of it, errors too."""
    found: list[Any] = []
    gate = Barrier(count)

    def run() -> None:
        gate.wait(LONGEST)
        try:
            found.append(work())
        except BaseException as error:
            found.append(error)

    threads = [Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONGEST)
    return found


class TestLeadingThread:
    """One thread sends the request for all; if it fails, the others are not left waiting."""

    def test_one_thread_sends_the_request(self) -> None:
        gate = Gate()
        Thread(target=_opened_later, args=(gate,)).start()
        with Client(AGENT, store="memory:", transport=gate) as client:
            found = thread_pool(20, lambda: client.check(f"{SITE}/x"))
        assert [bool(one) for one in found] == [True] * 20
        assert len(gate.asked) == 1

    def test_it_is_interrupted(self) -> None:
        gate = Gate()
        gate.raises = [KeyboardInterrupt()]
        Thread(target=_opened_later, args=(gate,)).start()
        with Client(AGENT, store="memory:", transport=gate) as client:
            began = time.monotonic()
            found = thread_pool(20, lambda: client.check(f"{SITE}/x"))
            # The lease was released: no caller had to wait until it expired.
            assert time.monotonic() - began < 5
        interrupted = [one for one in found if isinstance(one, BaseException)]
        assert [type(one) for one in interrupted] == [KeyboardInterrupt]
        assert sum(map(bool, (one for one in found if one not in interrupted))) == 19
        assert len(gate.asked) == 2

    def test_its_transport_is_broken(self) -> None:
        gate = Gate()
        gate.raises = [ZeroDivisionError("a transport of somebody's")]
        Thread(target=_opened_later, args=(gate,)).start()
        with Client(AGENT, store="memory:", transport=gate) as client:
            found = thread_pool(5, lambda: client.check(f"{SITE}/x"))
            assert any(isinstance(one, ZeroDivisionError) for one in found)
            assert client.check(f"{SITE}/x")

    def test_interrupted_before_it_began(self) -> None:
        """Whenever a signal comes, no caller waits for a flight that has been abandoned."""
        flights: SingleFlight[int] = SingleFlight()
        flights._flights = _Interrupting()
        with pytest.raises(KeyboardInterrupt):
            flights.do("a", lambda: 1)
        assert "a" not in flights
        assert thread_pool(3, lambda: flights.do("a", lambda: 2)) == [2, 2, 2]

    def test_another_process_was_faster(self) -> None:
        """A caller that gets the lease after another has finished looks again before a request."""
        server = Server()
        store = _Overtaken()
        with (
            Client(AGENT, store=store, transport=server) as first,
            Client(AGENT, store=store, transport=server) as second,
        ):
            store.overtakes = lambda: second.check(SITE)
            assert first.check(f"{SITE}/x")
        assert len(server.asked) == 1


class _Overtaken(MemoryStore):
    """A store in which another process does all the work just before the first lease is given."""

    overtakes: Callable[[], object] | None = None

    def lease(self, key: str, holder: str, seconds: float) -> bool:
        overtakes, self.overtakes = self.overtakes, None
        if overtakes is not None:
            overtakes()
        return super().lease(key, holder, seconds)


class _Interrupting(dict[Any, Any]):
    """A table whose first insertion is interrupted by a signal."""

    came = False

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        self._interrupt()

    def setdefault(self, key: Any, value: Any = None) -> Any:
        found = super().setdefault(key, value)
        self._interrupt()
        return found

    def _interrupt(self) -> None:
        if not self.came:
            self.came = True
            raise KeyboardInterrupt


def _opened_later(gate: Gate) -> None:
    gate.came.wait(LONGEST)
    time.sleep(0.1)
    gate.open.set()


class TestLeadingTask:
    """One task sends the request for all; its cancellation does not affect the others."""

    async def _asking(self, client: AsyncClient, gate: AsyncGate, count: int) -> list[Any]:
        tasks = [asyncio.create_task(client.check(f"{SITE}/x")) for _ in range(count)]
        await asyncio.wait_for(gate.came.wait(), LONGEST)
        return tasks

    @pytest.mark.parametrize("gives_up", [0, 3])
    def test_one_gives_up(self, gives_up: int) -> None:
        async def main() -> None:
            gate = AsyncGate()
            async with AsyncClient(AGENT, store="memory:", transport=gate) as client:
                tasks = await self._asking(client, gate, 5)
                tasks[gives_up].cancel()
                await asyncio.sleep(0.01)
                assert tasks[gives_up].cancelled()
                gate.open.set()
                rest = [task for task in tasks if task is not tasks[gives_up]]
                assert all(await asyncio.gather(*rest))
                assert len(gate.asked) == 1

        asyncio.run(main())

    def test_the_only_one_gives_up(self) -> None:
        """What was begun goes on, and is there for the next."""

        async def main() -> None:
            gate = AsyncGate()
            async with AsyncClient(AGENT, store="memory:", transport=gate) as client:
                (task,) = await self._asking(client, gate, 1)
                task.cancel()
                await asyncio.sleep(0.01)
                gate.open.set()
                assert await client.check(f"{SITE}/x")
                assert len(gate.asked) == 1

        asyncio.run(main())

    def test_the_lease_is_given_back(self) -> None:
        """A client that is closed in the middle leaves the origin to the others at once."""
        store = _Slow()

        async def main() -> None:
            for moment in ("lease", "get"):
                gate = AsyncGate()
                client = AsyncClient(AGENT, store=store, transport=gate)
                task = asyncio.create_task(client.check(f"{SITE}/x"))
                await store.reached(moment)
                await client.aclose()
                with pytest.raises(RuntimeError, match="this client is closed"):
                    await task
                assert store.lease(SITE, "somebody else", 60)
                store.release(SITE, "somebody else")

        asyncio.run(main())

    def test_a_slot_is_released(self) -> None:
        """A task that is cancelled while its slot begins leaves it to the others."""
        store = _Slow()

        async def main() -> None:
            gate = AsyncGate()
            gate.open.set()
            async with AsyncClient(AGENT, store=store, transport=gate) as client:
                await client.check(SITE)

                async def turn() -> None:
                    async with client.slot(SITE):
                        raise AssertionError("cancelled before")

                task = asyncio.create_task(turn())
                await store.reached("lease")
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                await asyncio.sleep(0.1)
                assert store.lease(f"turn {SITE}", "somebody else", 60)

        asyncio.run(main())


class _Slow(MemoryStore):
    """A slow store that signals when it is called."""

    inline = False

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []
        self.threads: set[Thread] = set()

    async def reached(self, call: str) -> None:
        """Wait until it is called."""
        self.calls.clear()
        end = time.monotonic() + LONGEST
        while call not in self.calls and time.monotonic() < end:
            await asyncio.sleep(0.002)

    def _late(self, call: str) -> None:
        self.calls.append(call)
        self.threads.add(threading.current_thread())
        if threading.current_thread() is not threading.main_thread():
            time.sleep(0.05)

    def get(self, origin: str, agent: str) -> Any:
        self._late("get")
        return super().get(origin, agent)

    def lease(self, key: str, holder: str, seconds: float) -> bool:
        self._late("lease")
        return super().lease(key, holder, seconds)


class TestLoops:
    """An event loop is never blocked, and a client belongs to one."""

    def test_a_slow_store_does_not_block_others(self) -> None:
        store = _Slow()

        async def main() -> None:
            gate = AsyncGate()
            gate.open.set()
            async with AsyncClient(AGENT, store=store, transport=gate) as client:
                assert await client.check(f"{SITE}/x")
                async with client.slot(SITE):
                    pass

        asyncio.run(main())
        assert store.calls
        assert threading.main_thread() not in store.threads

    @pytest.mark.parametrize("kind", [AsyncHttpx2Transport, AiohttpTransport])
    def test_another_loop(self, kind: Any) -> None:
        """Cached data is available in any loop; a request from another loop raises with the fix."""
        # A connection that is kept would belong to a loop that is gone.
        once = fault_servers.says(fault_servers.message(fault_servers.ROBOTS, "Connection: close"))

        async def ask(url: str) -> bool:
            verdict = await client.check(url)
            await asyncio.sleep(0.1)
            return bool(verdict)

        with fault_servers.serve(once) as site, fault_servers.serve(once) as other:
            transport = kind(AGENT, addresses=fault_servers.here())
            client = AsyncClient(AGENT, store="memory:", transport=transport)
            assert asyncio.run(ask(f"{site.url}/x"))
            assert asyncio.run(ask(f"{site.url}/y"))
            with pytest.raises(RuntimeError, match="create one in each"):
                asyncio.run(ask(f"{other.url}/x"))
            asyncio.run(client.aclose())
            asyncio.run(transport.aclose())

    def test_a_slot_within_a_slot(self) -> None:
        """A caller that would wait for itself gets an error, on threads and on a loop alike."""
        server = Server()

        async def main() -> None:
            gate = AsyncGate()
            gate.open.set()
            async with AsyncClient(AGENT, store="memory:", transport=gate) as client:
                async with asyncio.timeout(LONGEST), client.slot(f"{SITE}/a"):
                    with pytest.raises(RuntimeError, match="would wait for itself"):
                        await client.fetch(f"{SITE}/b")
                    async with client.slot("https://other.example"):
                        pass
                async with client.slot(f"{SITE}/c"):
                    pass

        asyncio.run(main())
        with Client(AGENT, store="memory:", transport=server, min_delay=0) as client:
            itself = pytest.raises(RuntimeError, match="would wait for itself")
            with client.slot(f"{SITE}/a"), itself:
                client.fetch(f"{SITE}/b")
            with client.slot(f"{SITE}/c"):
                pass


class TestClosing:
    """Closing a client during work ends the work, and no caller hangs."""

    def test_while_threads_fetch(self) -> None:
        def slow(peer: fault_servers.Peer) -> None:
            if peer.pause(0.5):
                peer.send(fault_servers.message())

        with fault_servers.serve(slow) as site:
            client = Client(AGENT, store="memory:", addresses=fault_servers.here())
            found: list[Any] = []
            ask = lambda: found.extend(thread_pool(3, lambda: client.check(site.url)))  # noqa: E731
            asking = Thread(target=ask)
            asking.start()
            end = time.monotonic() + LONGEST
            while not site.heads and time.monotonic() < end:
                time.sleep(0.01)
            client.close()
            asking.join(LONGEST)
            assert len(found) == 3
            # Work under way may end, or raise that the client is closed; nothing else.
            for one in found:
                assert not isinstance(one, BaseException) or "closed" in str(one), repr(one)

    @pytest.mark.parametrize("kind", [AsyncHttpx2Transport, AiohttpTransport])
    def test_while_tasks_fetch(self, kind: Any) -> None:
        async def main(url: str) -> None:
            transport = kind(AGENT, addresses=fault_servers.here())
            client = AsyncClient(AGENT, store="memory:", transport=transport)
            tasks = [asyncio.create_task(client.check(url)) for _ in range(3)]
            await asyncio.sleep(0.1)
            await client.aclose()
            found = await asyncio.gather(*tasks, return_exceptions=True)
            # The tasks were not cancelled by anyone: only the fetch that they share is.
            assert [type(one) for one in found] == [RuntimeError] * 3
            await transport.aclose()

        with fault_servers.serve(fault_servers.never_answers) as site:
            began = time.monotonic()
            asyncio.run(main(site.url))
            assert time.monotonic() - began < 5


class TestBackground:
    """A background renewal costs little, however many checks are made meanwhile."""

    def test_one_renewal_waits_for_an_origin(self) -> None:
        gate, clock = Gate(), Clock()
        gate.open.set()
        with Client(
            AGENT, store="memory:", transport=gate, clock=clock, stale_while_revalidate=True
        ) as client:
            origins = [f"https://site{n}.example" for n in range(8)]
            client.prefetch(origins)
            clock.now += 23 * HOUR
            gate.open.clear()
            for origin in origins * 100:
                assert client.check(origin)
            assert client._background._threads is not None
            waiting = client._background._threads._work_queue.qsize()
            gate.open.set()
        assert waiting <= len(origins)
        assert len(gate.asked) <= 2 * len(origins)
