"""
What the tasks of one event loop share: queues for turns, and threads for what would block.

The twin of `threads`. A store that answers in microseconds is asked where the loop runs, since a
change of threads costs more than the question; if it is busy, a thread waits for it. It knows
neither stores nor clients.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any
from weakref import WeakValueDictionary

from robotrules.client.stores.hurry import hurried
from robotrules.client.threads import waits_for_itself
from robotrules.errors import StoreBusyError

# Threads that ask a store which is busy, or not on this machine.
STORE_THREADS = 16


class Blocking:
    """Work that may block, done where it blocks nobody."""

    def __init__(self) -> None:
        self._threads: ThreadPoolExecutor | None = None

    async def do(self, work: Callable[[], Any], inline: bool) -> Any:
        """Return what comes of *work*; *inline*: it is done here, unless it would have to wait."""
        if inline:
            try:
                with hurried():
                    return work()
            except StoreBusyError:
                pass
        if self._threads is None:
            self._threads = ThreadPoolExecutor(STORE_THREADS, "robotrules-store")
        done = asyncio.get_running_loop().run_in_executor(self._threads, work)
        try:
            return await asyncio.shield(done)
        except asyncio.CancelledError:
            # A thread cannot be stopped; the lease that it may take is given back after that.
            await asyncio.wait([done])
            raise

    def close(self) -> None:
        """Finish what is begun."""
        if self._threads is not None:
            self._threads.shutdown()


class TaskQueues:
    """A queue for each origin that some task has a turn at, or waits for one."""

    def __init__(self) -> None:
        self._queues: WeakValueDictionary[tuple[str, int], _Queue] = WeakValueDictionary()

    @asynccontextmanager
    async def joined(self, origin: str, slots: int = 1) -> AsyncIterator[None]:
        """Wait until fewer than *slots* other tasks have a turn, and have one."""
        queue = self._queues.setdefault((origin, slots), _Queue(slots))
        task = asyncio.current_task()
        if task in queue.owners:
            raise waits_for_itself("task", origin)
        async with queue.slots:
            queue.owners.add(task)
            try:
                yield
            finally:
                queue.owners.discard(task)


class _Queue:
    def __init__(self, slots: int) -> None:
        self.slots = asyncio.Semaphore(slots)
        self.owners: set[asyncio.Task[Any] | None] = set()


async def each(values: Iterable[str] | AsyncIterable[str]) -> AsyncIterator[str]:
    """Yield the values of either kind of iterable."""
    if isinstance(values, AsyncIterable):
        async for value in values:
            yield value
        return
    for value in values:
        yield value
