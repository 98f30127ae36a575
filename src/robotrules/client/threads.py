"""
What the threads of one process share: single flight, a background runner, and origin locks.

`SingleFlight` merges concurrent calls for one key: one thread does the work, and the others get its
result (as golang/sync's singleflight). `BackgroundRunner` runs work that no caller waits for.
`OriginLocks` let one thread at a time, or a few, have a slot at an origin. None of them knows what
the work is.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from threading import Lock, Semaphore, get_ident
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

Value = TypeVar("Value")


class SingleFlight(Generic[Value]):
    """Work in progress, by what it is about."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._flights: dict[Hashable, Future[Value]] = {}

    def __contains__(self, key: Hashable) -> bool:
        return key in self._flights

    def fly(self, key: Hashable, work: Callable[[], Value]) -> Value:
        """Return what comes of *work*, done by this thread or by the one that began before."""
        mine: Future[Value] = Future()
        try:
            while True:
                with self._lock:
                    flight = self._flights.setdefault(key, mine)
                if flight is mine:
                    break
                with suppress(CancelledError):  # who did it was interrupted: somebody else does
                    return flight.result()
            value = work()
            mine.set_result(value)
            return value
        except Exception as error:
            mine.set_exception(error)
            raise
        finally:
            # Also if a signal came a moment ago: nobody waits for what nobody does.
            mine.cancel()  # does nothing, unless there is no result
            with self._lock:
                if self._flights.get(key) is mine:
                    del self._flights[key]


class BackgroundRunner:
    """Work that a few threads of its own do when they have time, once for each key."""

    def __init__(self, threads: int) -> None:
        self._most = threads
        self._lock = Lock()
        self._wanted: set[Hashable] = set()
        self._threads: ThreadPoolExecutor | None = None

    def do(self, key: Hashable, work: Callable[[], object]) -> None:
        """Have it done, unless that is wanted already; what it raises nobody hears."""
        with self._lock:
            if key in self._wanted:
                return
            self._wanted.add(key)
            if self._threads is None:
                self._threads = ThreadPoolExecutor(self._most, "robotrules-later")
        with suppress(RuntimeError):  # closed meanwhile
            self._threads.submit(self._done, key, work)

    def _done(self, key: Hashable, work: Callable[[], object]) -> None:
        try:
            work()
        finally:
            self._wanted.discard(key)

    def close(self) -> None:
        """Finish what is begun, and begin no more."""
        if self._threads is not None:
            self._threads.shutdown(cancel_futures=True)


@contextmanager
def together(threads: int) -> Iterator[ThreadPoolExecutor]:
    """Have some threads for a while; who is interrupted does not wait for them."""
    pool = ThreadPoolExecutor(threads, "robotrules-together")
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def waits_for_itself(who: str, origin: str) -> RuntimeError:
    """Return the error of who wants a turn within his own."""
    return RuntimeError(
        f"this {who} has a turn at {origin} already, and would wait for itself: end it first, or "
        "fetch with your own library inside of it"
    )


class OriginLocks:
    """A queue for each origin that somebody has a turn at, or waits for one."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._queues: WeakValueDictionary[tuple[str, int], _Queue] = WeakValueDictionary()

    @contextmanager
    def joined(self, origin: str, slots: int = 1) -> Iterator[None]:
        """Wait until fewer than *slots* other threads have a turn, and have one."""
        with self._lock:
            queue = self._queues.setdefault((origin, slots), _Queue(slots))
        if get_ident() in queue.owners:
            raise waits_for_itself("thread", origin)
        with queue.slots:
            queue.owners.add(get_ident())
            try:
                yield
            finally:
                queue.owners.discard(get_ident())


class _Queue:
    __slots__ = ("__weakref__", "owners", "slots")

    def __init__(self, slots: int) -> None:
        self.slots = Semaphore(slots)
        self.owners: set[int] = set()
