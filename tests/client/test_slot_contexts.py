"""
Slot contexts: what happens if rules, delay or client change while a caller waits for a slot.

The server is scripted. Time is scripted where only the order matters; where threads and tasks wait
for each other, they are real and bounded.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from robotrules import DisallowedError
from robotrules.access import Failure, FailureReason, Request, Response
from robotrules.client import AsyncClient, Client
from robotrules.client.origin_state import MAX_DETAIL
from robotrules.client.stores import open_store
from robotrules.client.stores.memory import MemoryStore
from tests.client.scripted import START, AsyncServer, Clock, Server

AGENT = "ExampleBot/1.0 (+https://example.com/bot)"
SITE = "https://example.com"
ROBOTS = f"{SITE}/robots.txt"
Make = Callable[..., Any]
# Nothing here takes longer, even on a busy machine.
LONGEST = 20.0


@pytest.fixture
def server() -> Server:
    """A server that is a table."""
    return Server()


def file(text: str, seconds: int = 300) -> Response:
    """Return a robots.txt for all crawlers that is valid for *seconds*."""
    return Response(200, {"Cache-Control": f"max-age={seconds}"}, f"User-agent: *\n{text}".encode())


class TestChangesDuringTheWait:
    """A site that asks for ten minutes between requests changes its file after five."""

    def test_the_url_is_disallowed_meanwhile(
        self, make: Make, server: Server, clock: Clock
    ) -> None:
        """The caller gets an error as soon as the new file is known, and uses no slot."""
        new = file("Disallow: /a\nCrawl-delay: 600\n", 3600)
        server.answers[ROBOTS] = [file("Crawl-delay: 600\n"), new]
        client = make()
        with client.checked_slot(f"{SITE}/a"):
            pass
        with (
            pytest.raises(DisallowedError, match="line 2: Disallow: /a"),
            client.checked_slot(f"{SITE}/a"),
        ):
            pytest.fail("the rules of the old file were followed")
        assert START + 300 <= clock.now <= START + 360
        with client.checked_slot(f"{SITE}/b"):  # nothing is left of the refused one
            assert clock.now == START + 600

    @pytest.mark.parametrize(("delay", "first", "last"), [(0, 300, 360), (450, 450, 450)])
    def test_the_delay_gets_shorter(
        self, make: Make, server: Server, clock: Clock, delay: int, first: int, last: int
    ) -> None:
        """The new delay counts from the last slot, and as soon as the new file is known."""
        server.answers[ROBOTS] = [
            file("Crawl-delay: 600\n"),
            file(f"Crawl-delay: {delay}\n", 86_400),
        ]
        client = make()
        with client.slot(SITE):
            pass
        with client.slot(SITE) as slot:
            assert slot.delay.seconds == delay
            assert START + first <= clock.now <= START + last

    def test_the_delay_gets_longer(self, make: Make, server: Server, clock: Clock) -> None:
        """The end of the shorter delay does not count any more."""
        server.answers[ROBOTS] = [
            file("Crawl-delay: 600\n"),
            file("Crawl-delay: 3600\n", 86_400),
        ]
        client = make()
        for start in (START, START + 3600, START + 7200):
            with client.slot(SITE):
                assert clock.now == start

    def test_the_number_of_slots_changes_meanwhile(
        self, make: Make, server: Server, clock: Clock
    ) -> None:
        """From one, because of a delay, to two; and the slots are those of one lock."""
        server.answers[ROBOTS] = [file("Crawl-delay: 400\n"), file("Disallow:\n", 86_400)]
        client = make(connections_per_origin=2)
        with client.slot(SITE):
            pass
        with client.slot(SITE):
            assert clock.now >= START + 300
            lock = client._origin_locks._kept[SITE]
            assert (lock.slots, len(lock.owners)) == (2, 1)
        assert not lock.owners

    def test_a_file_that_expires_at_once(self, make: Make, server: Server, clock: Clock) -> None:
        """A lifetime shorter than the delay: one fetch for each wait, and every slot begins."""
        server.answers[ROBOTS] = file("Crawl-delay: 1000\n", 0)
        client = make()
        for start in (START, START + 1000, START + 2000):
            with client.checked_slot(f"{SITE}/a"):
                assert clock.now == start
        assert len(server.asked) <= 1 + 2 * 4

    def test_the_server_goes_down_meanwhile(self, make: Make, server: Server, clock: Clock) -> None:
        """The origin is disallowed as soon as that is known (RFC 9309 §2.3.1.4)."""
        server.answers[ROBOTS] = [file("Crawl-delay: 600\n"), Response(503)]
        client = make()
        with client.checked_slot(f"{SITE}/a"):
            pass
        with pytest.raises(DisallowedError, match="status 503"), client.checked_slot(f"{SITE}/a"):
            pytest.fail("a slot began")
        assert clock.now <= START + 360


class TestDetail:
    """An error says why a robots.txt is unreachable."""

    @pytest.mark.parametrize(
        ("answer", "detail"),
        [
            (Response(503), "status 503"),
            (Failure(FailureReason.TIMEOUT, "no whole answer within 30 s"), "within 30 s"),
            (Failure(FailureReason.TLS), FailureReason.TLS.sentence),
            (
                Response(503, {"Retry-After": "7201"}),
                "status 503; last attempt 08:00:00 UTC, next attempt after 10:00:01 UTC",
            ),
            (
                Response(503, {"Retry-After": "86400"}),
                "last attempt 2027-01-15 08:00:00 UTC, next attempt after 2027-01-16 08:00:00 UTC",
            ),
        ],
    )
    def test_unreachable(self, make: Make, server: Server, answer: Any, detail: str) -> None:
        server.answers[ROBOTS] = answer
        with pytest.raises(DisallowedError) as caught, make().checked_slot(SITE):
            pass
        assert detail in caught.value.detail
        assert str(caught.value).endswith(f"the robots.txt is unreachable ({caught.value.detail})")

    def test_text_of_servers_is_visible_and_short(self, make: Make, server: Server) -> None:
        hostile = Failure(FailureReason.LOCATION, "\x1b[2J\n" + "x" * 5_000)
        server.answers[ROBOTS] = hostile
        client = make()
        with pytest.raises(DisallowedError) as caught, client.checked_slot(SITE):
            pass
        assert "\x1b" not in str(caught.value)
        assert "\n" not in str(caught.value)
        assert len(caught.value.detail) <= MAX_DETAIL

    def test_a_rule_needs_none(self, make: Make, server: Server) -> None:
        server.answers[ROBOTS] = file("Disallow: /\n")
        with pytest.raises(DisallowedError) as caught, make().checked_slot(SITE):
            pass
        assert caught.value.detail == ""


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str | None:
    """A store of this client alone, with the fast path, or one that other processes may use."""
    return "memory:" if request.param == "memory" else str(tmp_path / "store.sqlite")


class TestClosing:
    """`close()` ends every wait: for another caller's slot, and for the end of a delay."""

    def test_threads(self, server: Server, store: str) -> None:
        server.answers[ROBOTS] = file("Crawl-delay: 300\n")
        client = Client(AGENT, store=store, transport=server)
        errors: list[str] = []

        def request() -> None:
            """Wait for a slot that begins in five minutes."""
            try:
                with client.slot(SITE):
                    errors.append("a slot began")
            except RuntimeError as error:
                errors.append(str(error))

        with client.slot(SITE):
            threads = [threading.Thread(target=request) for _ in range(4)]
            for thread in threads:
                thread.start()
            time.sleep(0.1)
        time.sleep(0.1)  # one of them waits for the delay now, the others for that one
        assert all(thread.is_alive() for thread in threads)
        client.close()
        for thread in threads:
            thread.join(LONGEST)
        assert errors == ["this client is closed: create another one"] * 4

    def test_tasks(self, server: Server, store: str) -> None:
        server.answers[ROBOTS] = file("Crawl-delay: 300\n")

        async def run() -> list[Any]:
            """Let four tasks wait, and close the client."""
            client = AsyncClient(AGENT, store=store, transport=AsyncServer(server))

            async def request() -> None:
                """Wait for a slot that begins in five minutes."""
                async with client.slot(SITE):
                    pytest.fail("a slot began")

            async with client.slot(SITE):
                tasks = [asyncio.create_task(request()) for _ in range(4)]
                await asyncio.sleep(0.05)
            await asyncio.sleep(0.05)
            assert not any(task.done() for task in tasks)
            await client.aclose()
            gathered = asyncio.gather(*tasks, return_exceptions=True)
            return await asyncio.wait_for(gathered, LONGEST)

        results = asyncio.run(run())
        assert [str(result) for result in results] == [
            "this client is closed: create another one"
        ] * 4

    @pytest.mark.parametrize("call", ["check", "checked_slot", "prefetch"])
    def test_while_a_robots_txt_is_fetched(self, store: str, call: str) -> None:
        """Tasks that wait for it get the error; they are not cancelled, because they were not."""

        class SlowTransport:
            """Answers after more time than the test takes."""

            async def send(self, request: Request) -> Response:
                await asyncio.sleep(10 * LONGEST)
                return Response(404)

            async def aclose(self) -> None:
                """Close nothing."""

        async def run() -> list[Any]:
            client = AsyncClient(AGENT, store=store, transport=SlowTransport())

            async def request() -> object:
                """Wait for the robots.txt."""
                if call == "check":
                    return await client.check(SITE)
                if call == "prefetch":
                    return await client.prefetch([SITE])
                async with client.checked_slot(SITE):
                    return "a slot began"

            tasks = [asyncio.create_task(request()) for _ in range(3)]
            await asyncio.sleep(0.05)
            await client.aclose()
            gathered = asyncio.gather(*tasks, return_exceptions=True)
            return await asyncio.wait_for(gathered, LONGEST)

        outcomes = asyncio.run(run())
        assert [type(outcome) for outcome in outcomes] == [RuntimeError] * 3
        assert {str(outcome) for outcome in outcomes} == {
            "this client is closed: create another one"
        }

    def test_while_another_caller_has_the_slot(self, server: Server, store: str) -> None:
        """Those who wait for that slot do not wait for its end."""
        client = Client(AGENT, store=store, transport=server)
        closed = threading.Event()

        def request() -> None:
            """Wait for the slot of the main thread."""
            with pytest.raises(RuntimeError, match="this client is closed"), client.slot(SITE):
                pass
            closed.set()

        with client.slot(SITE):
            thread = threading.Thread(target=request)
            thread.start()
            time.sleep(0.1)
            client.close()
            assert closed.wait(LONGEST)
        thread.join(LONGEST)

    def test_while_another_task_has_the_slot(self, server: Server, store: str) -> None:
        """The same for tasks."""

        async def run() -> None:
            """Close the client within a slot."""
            client = AsyncClient(AGENT, store=store, transport=AsyncServer(server))

            async def request() -> None:
                """Wait for the slot of the main task."""
                async with client.slot(SITE):
                    pytest.fail("a slot began")

            async with client.slot(SITE):
                task = asyncio.create_task(request())
                await asyncio.sleep(0.05)
                await client.aclose()
                with pytest.raises(RuntimeError, match="this client is closed"):
                    await asyncio.wait_for(task, LONGEST)

        asyncio.run(run())

    def test_a_slot_that_has_begun_ends_as_usual(self, server: Server, store: str) -> None:
        client = Client(AGENT, store=store, transport=server)
        with client.slot(SITE):
            client.close()
        with pytest.raises(RuntimeError, match="this client is closed"), client.slot(SITE):
            pass


class SlowStore(MemoryStore):
    """A store that other processes may use, and that takes a while to end a slot."""

    inline = False

    def __init__(self) -> None:
        super().__init__()
        self.ended: list[str] = []
        self.began = threading.Event()

    def postpone_slot(self, origin: str, until: float) -> None:
        """Postpone slots, slowly."""
        self.began.set()
        time.sleep(0.1)
        super().postpone_slot(origin, until)
        self.ended.append(f"postponed {origin}")

    def release(self, key: str, holder: str) -> None:
        """Release a lease, slowly."""
        time.sleep(0.1)
        super().release(key, holder)
        self.ended.append(f"released {key}")


class TestEnding:
    """A slot gives back what it has, whatever happens at its end."""

    @pytest.mark.parametrize("times", [1, 5])
    def test_cancelled_while_it_ends(self, server: Server, times: int) -> None:
        """The task ends after its slot: other processes see the pause, and wait for no lease."""
        slow = SlowStore()

        async def run() -> None:
            """Cancel a task while its slot ends."""
            async with AsyncClient(AGENT, store=slow, transport=AsyncServer(server)) as client:
                await client.lookup(SITE)  # that has a lease of its own
                slow.ended.clear()

                async def request() -> None:
                    """Use a slot."""
                    async with client.slot(SITE) as slot:
                        slot.record_response(429, {"Retry-After": "50"})

                task = asyncio.create_task(request())
                assert await asyncio.to_thread(slow.began.wait, LONGEST)
                for _ in range(times):
                    task.cancel()
                    await asyncio.sleep(0.01)
                with pytest.raises(asyncio.CancelledError):
                    await asyncio.wait_for(task, LONGEST)
                assert slow.ended == [f"postponed {SITE}", f"released turn {SITE}"]
                assert slow.holder(f"turn {SITE}") is None
                assert not client._origin_locks.find(SITE).owners
                assert await client.reserve(SITE) >= time.time() + 30

        asyncio.run(run())

    def test_a_generator_that_is_closed_in_another_thread(self, server: Server) -> None:
        """The thread that began the slot may begin another."""
        with Client(AGENT, store="memory:", transport=server, min_delay=0.0) as client:

            def pages() -> Iterator[int]:
                """Yield within a slot."""
                with client.slot(SITE):
                    yield 1

            generator = pages()
            assert next(generator) == 1
            closing = threading.Thread(target=generator.close)  # type: ignore[attr-defined]
            closing.start()
            closing.join(LONGEST)
            with client.slot(SITE):
                pass

    @pytest.mark.parametrize("shared", [False, True])
    def test_an_interrupt_while_a_slot_begins(
        self, server: Server, shared: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        """Ctrl-C at any moment leaves neither a lock nor a lease."""
        store = open_store(str(tmp_path / "s.sqlite") if shared else "memory:")
        client = Client(AGENT, store=store if shared else "memory:", transport=server, min_delay=0)
        for _ in range(2):  # so that the next slot is made from what is in memory
            assert client.check(f"{SITE}/")
        used = client._cache_engine.store
        begin = used.begin_slot

        def interrupted(*given: Any) -> float:
            """Raise what a signal raises."""
            raise KeyboardInterrupt

        monkeypatch.setattr(used, "begin_slot", interrupted)
        with pytest.raises(KeyboardInterrupt), client.slot(f"{SITE}/"):
            pass
        monkeypatch.setattr(used, "begin_slot", begin)
        assert not client._origin_locks.find(SITE).owners
        began = time.monotonic()
        with client.slot(SITE):
            assert time.monotonic() - began < LONGEST
        client.close()
        if shared:
            store.close()


def test_twenty_threads_in_order(server: Server) -> None:
    """Each thread gets its slot in the order in which the threads asked."""
    order: list[int] = []
    with Client(AGENT, store="memory:", transport=server, min_delay=0.0) as client:
        lock = client._origin_locks.find(SITE)

        def request(number: int) -> None:
            """Use one slot."""
            with client.slot(SITE):
                order.append(number)

        threads = [threading.Thread(target=request, args=(number,)) for number in range(20)]
        with client.slot(SITE):
            for number, thread in enumerate(threads):
                thread.start()
                ends = time.monotonic() + LONGEST
                while len(lock.waiting) <= number and time.monotonic() < ends:
                    time.sleep(0.001)
        for thread in threads:
            thread.join(LONGEST)
    assert order == list(range(20))


def test_rules_that_are_in_memory_cost_no_request(make: Make, server: Server) -> None:
    """A slot of a known origin sends nothing, and a refused URL neither."""
    server.answers[ROBOTS] = file("Disallow: /b\n")
    client = make()
    for _ in range(3):
        with client.checked_slot(f"{SITE}/a"):
            pass
        with pytest.raises(DisallowedError), client.checked_slot(f"{SITE}/b"):
            pass
    assert [request.url for request in server.asked] == [ROBOTS]


def test_a_request_type(server: Server) -> None:
    """The scripted server sees requests for robots.txt only: a slot sends no page."""
    with Client(AGENT, store="memory:", transport=server) as client, client.slot(f"{SITE}/a"):
        pass
    assert all(isinstance(request, Request) for request in server.asked)
    assert server.urls == [ROBOTS]


@pytest.mark.parametrize("status", [200, 503])
def test_a_context_is_used_again(server: Server, status: int) -> None:
    """A context may be entered again; what was recorded in the slot before is not repeated."""
    clock = Clock()
    with Client(AGENT, store="memory:", transport=server, clock=clock, sleep=clock.sleep) as client:
        context = client.checked_slot(f"{SITE}/a")
        began = []
        for recorded in (status, 200, 200):
            with context as slot:
                began.append(clock.now)
                assert slot.until is None
                slot.record_response(recorded)
    waits = [later - earlier for earlier, later in pairwise(began)]
    assert waits == [60.0 if status == 503 else 1.0, 1.0]


class TestInUse:
    """A context has one slot at a time."""

    def test_within_itself(self, server: Server) -> None:
        """Entering it again raises an error, and the slot that has begun is kept."""
        with Client(AGENT, store="memory:", transport=server, min_delay=0.0) as client:
            context, lock = client.slot(SITE), client._origin_locks.find(SITE)
            with context as slot:
                with pytest.raises(RuntimeError, match="this slot is in use"), context:
                    pytest.fail("a slot began")
                assert list(lock.owners) == [slot]
            with context:
                assert list(lock.owners) == [slot]

    def test_other_tasks(self, server: Server) -> None:
        """Of several tasks one gets the slot; none waits without end."""

        async def run() -> list[Any]:
            transport = AsyncServer(server)
            async with AsyncClient(
                AGENT, store="memory:", transport=transport, min_delay=0.0
            ) as client:
                context = client.slot(SITE)

                async def request() -> str:
                    async with context:
                        await asyncio.sleep(0)
                    return "done"

                tasks = [request() for _ in range(4)]
                return await asyncio.wait_for(
                    asyncio.gather(*tasks, return_exceptions=True), LONGEST
                )

        outcomes = asyncio.run(run())
        assert outcomes[0] == "done"
        assert [type(outcome) for outcome in outcomes[1:]] == [RuntimeError] * 3


@pytest.mark.parametrize("answer", [Response(503), file("Disallow: /b\n"), Response(404)])
def test_the_rules_in_memory_decide_as_check_does(server: Server, answer: Response) -> None:
    """The answer of a slot that begins at once is that of `check()`, for every access result."""
    server.answers[ROBOTS] = answer
    with Client(AGENT, store="memory:", transport=server, min_delay=0.0) as client:
        for url in (f"{SITE}/a", f"{SITE}/b", f"{SITE}/a"):
            verdict = client.check(url)
            try:
                with client.checked_slot(url):
                    found = None
            except DisallowedError as error:
                found = error.verdict
            assert found == (None if verdict.allowed else verdict)
