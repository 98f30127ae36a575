"""
What the tasks of one event loop share: queues for turns, and threads for what would block.

The twin of `threads`. A store that answers in microseconds is asked where the loop runs, since a
change of threads costs more than the question; if it is busy, a thread waits for it. What tasks ask
of a store with transactions in one round of the loop is one transaction (group commit): a task is
told what came of its call once that is committed, so a crash loses nothing that a task was told,
and of the rest one round at most. It knows neither stores nor clients.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, asynccontextmanager
from typing import Any
from weakref import WeakValueDictionary

from robotrules.client.stores.nonblocking import hurried
from robotrules.client.threads import waits_for_itself
from robotrules.errors import StoreBusyError

# Threads that ask a store which is busy, or not on this machine.
STORE_THREADS = 16
# Calls that one transaction has at most: other processes wait for its end.
MOST_TOGETHER = 64

Begin = Callable[[], AbstractContextManager[object]]
# What a task is told whose call is to be made in a thread.
_BUSY = object()


class StoreExecutor:
    """Work that may block, done where it blocks nobody."""

    def __init__(self) -> None:
        self._threads: ThreadPoolExecutor | None = None
        self._calls: list[_Call] = []

    async def do(
        self, work: Callable[[], Any], inline: bool, transaction: Begin | None = None
    ) -> Any:
        """
        Return what comes of *work*; *inline*: it is done here, unless it would have to wait.

        With *transaction*, what several tasks ask in one round of the loop is done in one.
        """
        if inline and transaction is not None:
            answer = await self._joined(work, transaction)
            if answer is not _BUSY:
                return answer
        elif inline:
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

    def _joined(self, work: Callable[[], Any], transaction: Begin) -> asyncio.Future[Any]:
        """Return the future of a call that is made with those of other tasks."""
        loop = asyncio.get_running_loop()
        if not self._calls:
            # Not this round but the next: who is told something in between joins in.
            loop.call_soon(loop.call_soon, self._commit, transaction)
        answer: asyncio.Future[Any] = loop.create_future()
        self._calls.append((work, answer))
        return answer

    def _commit(self, transaction: Begin) -> None:
        """Make the calls that tasks wait for, and tell them once all of it is committed."""
        calls, self._calls = self._calls, []
        # Who gave up waiting wants nothing done.
        calls = [call for call in calls if not call[1].done()]
        for start in range(0, len(calls), MOST_TOGETHER):
            some = calls[start : start + MOST_TOGETHER]
            for (_, future), answer in zip(some, _made(some, transaction), strict=True):
                if isinstance(answer, _Raised):
                    future.set_exception(answer.error)
                else:
                    future.set_result(answer)

    def close(self) -> None:
        """Finish what is begun."""
        if self._threads is not None:
            self._threads.shutdown()


_Call = tuple[Callable[[], Any], "asyncio.Future[Any]"]


class _Raised:
    """What a call raised."""

    __slots__ = ("error",)

    def __init__(self, error: Exception) -> None:
        self.error = error


def _made(calls: list[_Call], transaction: Begin) -> list[Any]:
    """Return what came of calls that are made together; of each alone, if one of them failed."""
    with hurried():
        if len(calls) > 1:
            try:
                with transaction():
                    return [work() for work, _ in calls]
            except StoreBusyError:
                return [_BUSY] * len(calls)
            except Exception:
                pass  # nothing of it was kept: whose fault it was shows when each is made alone
        return [_alone(work) for work, _ in calls]


def _alone(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except StoreBusyError:
        return _BUSY
    except Exception as error:
        return _Raised(error)


class TaskOriginLocks:
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
