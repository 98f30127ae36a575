"""
Store executor: calls the store from an event loop without blocking it, with group commit.

A store that responds in microseconds is called in the loop, since a thread switch costs more than
the call; if it is busy, a thread waits for it. Calls that tasks make in one iteration of the loop
to a store with transactions share one transaction (group commit): a task receives its result after
the commit, so a crash loses nothing that was reported, and at most one iteration otherwise. The
executor knows nothing about stores or clients.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any

from robotrules.client.stores.nonblocking import nonblocking
from robotrules.errors import StoreBusyError

# Threads for calls to a store that is busy or on another machine.
STORE_THREADS = 16
# Maximum number of calls in one transaction: other processes wait for its end.
MAX_BATCH = 64

BeginTransaction = Callable[[], AbstractContextManager[object]]
# The result of a call that must be repeated in a thread.
_BUSY = object()


class StoreExecutor:
    """Runs calls that may block without blocking the event loop."""

    def __init__(self) -> None:
        self._threads: ThreadPoolExecutor | None = None
        self._calls: list[_Call] = []

    async def do(
        self, work: Callable[[], Any], inline: bool, transaction: BeginTransaction | None = None
    ) -> Any:
        """
        Return the result of *work*; *inline*: run it in the loop, unless it would wait.

        With *transaction*, the calls of several tasks in one iteration share a transaction.
        """
        if inline and transaction is not None:
            answer = await self._add_to_batch(work, transaction)
            if answer is not _BUSY:
                return answer
        elif inline:
            try:
                with nonblocking():
                    return work()
            except StoreBusyError:
                pass
        if self._threads is None:
            self._threads = ThreadPoolExecutor(STORE_THREADS, "robotrules-store")
        done = asyncio.get_running_loop().run_in_executor(self._threads, work)
        try:
            return await asyncio.shield(done)
        except asyncio.CancelledError:
            # A thread cannot be stopped; a lease that it acquires is released afterwards.
            await asyncio.wait([done])
            raise

    def _add_to_batch(
        self, work: Callable[[], Any], transaction: BeginTransaction
    ) -> asyncio.Future[Any]:
        """Return the future of a call that is made together with those of other tasks."""
        loop = asyncio.get_running_loop()
        if not self._calls:
            # In the next iteration: tasks that are woken before it join the batch.
            loop.call_soon(loop.call_soon, self._commit, transaction)
        answer: asyncio.Future[Any] = loop.create_future()
        self._calls.append((work, answer))
        return answer

    def _commit(self, transaction: BeginTransaction) -> None:
        """Make the pending calls, and report the results after the commit."""
        calls, self._calls = self._calls, []
        # Calls of cancelled tasks are dropped.
        calls = [call for call in calls if not call[1].done()]
        for start in range(0, len(calls), MAX_BATCH):
            batch = calls[start : start + MAX_BATCH]
            for (_, future), answer in zip(batch, _run_batch(batch, transaction), strict=True):
                if isinstance(answer, _Raised):
                    future.set_exception(answer.error)
                else:
                    future.set_result(answer)

    def close(self) -> None:
        """Wait for the threads, and stop them."""
        if self._threads is not None:
            self._threads.shutdown()


_Call = tuple[Callable[[], Any], "asyncio.Future[Any]"]


class _Raised:
    """The exception of a call."""

    __slots__ = ("error",)

    def __init__(self, error: Exception) -> None:
        self.error = error


def _run_batch(calls: list[_Call], transaction: BeginTransaction) -> list[Any]:
    """Return the results of calls in one transaction; if one fails, run each separately."""
    with nonblocking():
        if len(calls) > 1:
            try:
                with transaction():
                    return [work() for work, _ in calls]
            except StoreBusyError:
                return [_BUSY] * len(calls)
            except Exception:
                pass  # rolled back: run separately, each call gets its own error
        return [_run_alone(work) for work, _ in calls]


def _run_alone(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except StoreBusyError:
        return _BUSY
    except Exception as error:
        return _Raised(error)
