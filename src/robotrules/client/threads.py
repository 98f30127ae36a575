"""
Thread primitives: single flight, a background runner and a thread pool.

`SingleFlight` merges concurrent calls with the same key: one thread does the work, and the others
wait for its result (as golang/sync's singleflight). `BackgroundRunner` runs work that no caller
waits for. They know nothing about the work.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Generic, TypeVar

Value = TypeVar("Value")


class SingleFlight(Generic[Value]):
    """Work in progress, by key."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._flights: dict[Hashable, Future[Value]] = {}

    def __contains__(self, key: Hashable) -> bool:
        return key in self._flights

    def do(self, key: Hashable, work: Callable[[], Value]) -> Value:
        """Return the result of *work*, done by this thread or by one that began before."""
        mine: Future[Value] = Future()
        try:
            while True:
                with self._lock:
                    flight = self._flights.setdefault(key, mine)
                if flight is mine:
                    break
                with suppress(CancelledError):  # that thread was interrupted: try again
                    return flight.result()
            value = work()
            mine.set_result(value)
            return value
        except Exception as error:
            mine.set_exception(error)
            raise
        finally:
            # Also after a signal: no thread may wait for work that is not done.
            mine.cancel()  # no effect if there is a result
            with self._lock:
                if self._flights.get(key) is mine:
                    del self._flights[key]


class BackgroundRunner:
    """Runs work in a few threads, once per key at a time."""

    def __init__(self, threads: int) -> None:
        self._max_threads = threads
        self._lock = Lock()
        self._pending: set[Hashable] = set()
        self._threads: ThreadPoolExecutor | None = None

    def submit(self, key: Hashable, work: Callable[[], object]) -> None:
        """Run *work* in the background, unless the key is pending; its exceptions are dropped."""
        with self._lock:
            if key in self._pending:
                return
            self._pending.add(key)
            if self._threads is None:
                self._threads = ThreadPoolExecutor(self._max_threads, "robotrules-background")
        with suppress(RuntimeError):  # closed meanwhile
            self._threads.submit(self._run, key, work)

    def _run(self, key: Hashable, work: Callable[[], object]) -> None:
        try:
            work()
        finally:
            self._pending.discard(key)

    def close(self) -> None:
        """Finish work that has begun, and start no more."""
        if self._threads is not None:
            self._threads.shutdown(cancel_futures=True)


@contextmanager
def thread_pool(threads: int) -> Iterator[ThreadPoolExecutor]:
    """Return a pool of threads as a context manager; after an exception it does not wait."""
    pool = ThreadPoolExecutor(threads, "robotrules-pool")
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()
