"""Calls of many tasks to a store: one transaction for each round of the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import current_thread
from typing import Any

import pytest

from robotrules.access import Response
from robotrules.client import AsyncClient
from robotrules.client.store_executor import MAX_BATCH, STORE_THREADS, StoreExecutor, _run_batch
from robotrules.client.stores import MemoryStore
from robotrules.client.stores.sqlite import SQLiteStore
from robotrules.errors import StoreBusyError, StoreError
from tests.client.scripted import AsyncServer, Server

AGENT = "ExampleBot/1.0 (+https://example.com/bot)"


class History:
    """A store of words, which notes what was begun, kept and undone."""

    def __init__(self) -> None:
        self.kept: list[str] = []
        self.sizes: list[int] = []
        self.busy = False
        self._written: list[str] | None = None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        if self.busy:
            raise StoreBusyError("busy")
        self._written = []
        try:
            yield
            self.kept += self._written
            self.sizes.append(len(self._written))
        finally:
            self._written = None

    def write(self, word: str) -> str:
        """Write a word."""
        if word == "bad":
            raise StoreError("a bad word")
        if self._written is None:
            self.kept.append(word)
        else:
            self._written.append(word)
        return word.upper()


async def done(history: History, words: list[str]) -> list[Any]:
    """Let that many tasks write; return the result of each."""
    blocking = StoreExecutor()

    async def one(word: str) -> Any:
        answer = await blocking.do(lambda: history.write(word), True, history.transaction)
        assert word in history.kept, "told before it was kept"
        return answer

    try:
        return await asyncio.gather(*map(one, words), return_exceptions=True)
    finally:
        blocking.close()


def test_one_transaction_for_all() -> None:
    """Each task gets the result of its own call, after all calls were committed."""
    history = History()
    words = [f"w{n}" for n in range(20)]
    assert asyncio.run(done(history, words)) == [word.upper() for word in words]
    assert (history.kept, history.sizes) == (words, [20])


def test_no_more_than_so_many() -> None:
    """Other processes wait for the end of a transaction, so it has one soon."""
    history = History()
    words = [f"w{n}" for n in range(2 * MAX_BATCH + 5)]
    asyncio.run(done(history, words))
    assert (history.kept, history.sizes) == (words, [MAX_BATCH, MAX_BATCH, 5])


def test_one_that_fails_fails_alone() -> None:
    """The others are made all the same, once each."""
    history = History()
    first, second, third = asyncio.run(done(history, ["a", "bad", "c"]))
    assert (first, third) == ("A", "C")
    assert isinstance(second, StoreError)
    assert sorted(history.kept) == ["a", "c"]


def test_busy() -> None:
    """Threads wait for a store that is busy, and not the loop."""
    history = History()
    history.busy = True
    assert asyncio.run(done(history, ["a", "b"])) == ["A", "B"]
    assert sorted(history.kept) == ["a", "b"]


def test_a_cancelled_call_writes_nothing() -> None:
    """A call that no task waits for is not made."""
    history = History()

    async def main() -> None:
        blocking = StoreExecutor()
        tasks = [
            asyncio.create_task(
                blocking.do(partial(history.write, word), True, history.transaction)
            )
            for word in "abc"
        ]
        await asyncio.sleep(0)
        tasks[1].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(main())
    assert history.kept == ["a", "c"]


def test_transactions_of_a_prefetch(tmp_path: Path) -> None:
    """Fewer than there are origins: lease, put and release of each are not three."""
    said: list[str] = []
    server = Server()
    server.answers = _Everywhere(lambda _: Response(200, {}, b"User-agent: *\nDisallow: /\n"))

    async def main() -> None:
        store = SQLiteStore(tmp_path / "robots.sqlite")
        assert store._writes.db is not None
        store._writes.db.set_trace_callback(said.append)
        async with AsyncClient(AGENT, store=store, transport=AsyncServer(server)) as client:
            found = await client.prefetch(f"https://s{n}.example" for n in range(200))
        assert found.success == 200
        assert len(list(store.entries())) == 200
        assert store._read("SELECT count(*) FROM leases") == [(0,)]
        store.close()

    asyncio.run(main())
    assert 0 < said.count("COMMIT") < 100


class _Everywhere(dict[str, Any]):
    """One answer to all questions."""

    def __init__(self, answer: Callable[[Any], Response]) -> None:
        super().__init__()
        self._answer = answer

    def get(self, key: str, default: Any = None) -> Any:
        return self._answer


def test_a_prefetch_that_is_stopped(tmp_path: Path) -> None:
    """The callback for an origin may raise: that ends it, and no task is left waiting."""
    server = Server()
    seen: list[str] = []

    def progress(state: Any) -> None:
        seen.append(state.origin)
        if len(seen) == 5:
            raise KeyError("enough")

    async def main() -> None:
        store = tmp_path / "robots.sqlite"
        async with AsyncClient(AGENT, store=store, transport=AsyncServer(server)) as client:
            with pytest.raises(KeyError, match="enough"):
                await client.prefetch(
                    (f"https://s{n}.example" for n in range(200)), concurrency=3, progress=progress
                )
            assert (await client.prefetch(["https://s0.example", "mailto:x"])) == (0, 1, 0, 1)

    asyncio.run(main())
    assert 5 <= len(seen) < 20


def test_a_prefetch_does_not_wait_for_the_slowest() -> None:
    """If the callback for an origin raises, that ends it while another request is under way."""
    asked: list[str] = []

    class Slow:
        async def send(self, request: Any) -> Response:
            asked.append(request.url)
            if "slow" in request.url:
                await asyncio.Event().wait()
            return Response(404)

        async def aclose(self) -> None:
            pass

    def progress(state: Any) -> None:
        raise KeyError(state.origin)

    async def main() -> None:
        async with AsyncClient(AGENT, store="memory:", transport=Slow()) as client:
            origins = ["https://slow.example", "https://fast.example"]
            with pytest.raises(KeyError, match="fast"):
                await asyncio.wait_for(client.prefetch(origins, progress=progress), 20)

    asyncio.run(main())
    assert len(asked) == 2


@pytest.mark.parametrize("values", [[None], ["https://a.example", 5]])
def test_the_position_of_an_invalid_origin(values: list[Any]) -> None:
    """An error of misuse names the position of the value."""

    async def main() -> None:
        async with AsyncClient(AGENT, store="memory:", transport=AsyncServer(Server())) as client:
            await client.prefetch(values)

    with pytest.raises(TypeError, match=rf"origins\[{len(values) - 1}\]: a URL is str or bytes"):
        asyncio.run(main())


@pytest.mark.parametrize(("count", "begun"), [(1, 0), (2, 1), (3, 1)])
def test_two_are_several(count: int, begun: int) -> None:
    """Calls of several tasks are one transaction; a single call needs none."""
    entered: list[str] = []

    @contextmanager
    def transaction() -> Iterator[None]:
        entered.append("in")
        yield

    calls: Any = [(lambda number=number: number, None) for number in range(count)]
    assert _run_batch(calls, transaction) == [*range(count)]
    assert len(entered) == begun


def test_threads_for_what_would_block() -> None:
    """A few dedicated threads, which have a name, for all calls."""
    blocking = StoreExecutor()

    async def main() -> list[str]:
        return [await blocking.do(lambda: current_thread().name, False) for _ in range(2)]

    for name in asyncio.run(main()):
        assert name.startswith("robotrules-store_")
    threads = blocking._threads
    assert threads is not None
    assert threads._max_workers == STORE_THREADS
    blocking.close()
    with pytest.raises(RuntimeError, match="after shutdown"):
        threads.submit(print)


def test_calls_made_in_between_join_the_batch() -> None:
    """Calls are made in the round after the next: a task that is told something in between asks."""
    history = History()

    async def main() -> None:
        blocking, loop = StoreExecutor(), asyncio.get_running_loop()
        answers: list[asyncio.Task[Any]] = []

        def ask(word: str) -> None:
            work = blocking.do(partial(history.write, word), True, history.transaction)
            answers.append(loop.create_task(work))

        ask("first")
        await asyncio.sleep(0)
        ask("second")
        await asyncio.gather(*answers)
        blocking.close()

    asyncio.run(main())
    assert (history.kept, history.sizes) == (["first", "second"], [2])


@pytest.mark.parametrize("inline", [True, False])
def test_how_a_client_calls_its_store(inline: bool) -> None:
    """A quick one in the loop itself, several calls in one transaction; another in threads."""

    class Noting(MemoryStore):
        begun = 0

        def __init__(self) -> None:
            super().__init__()
            self.threads: set[str] = set()

        @contextmanager
        def transaction(self) -> Iterator[None]:
            self.begun += 1
            yield

        def get(self, origin: str, agent: str) -> Any:
            self.threads.add(current_thread().name.partition("_")[0])
            return super().get(origin, agent)

    store = Noting()
    store.inline = inline

    async def main() -> None:
        transport = AsyncServer(Server())
        async with AsyncClient(AGENT, store=store, transport=transport) as client:
            await client.prefetch([f"https://s{n}.example" for n in range(20)])

    asyncio.run(main())
    # Each flow begins two; one more is around those of a round of the loop.
    assert store.threads == ({current_thread().name} if inline else {"robotrules-store"})
    assert (store.begun > 40) is inline
