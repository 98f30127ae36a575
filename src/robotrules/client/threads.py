"""
What the threads of one process share: flights, and queues for turns.

A flight is one piece of work that several threads want: one does it, the others wait for what
comes of it. A queue lets one thread at a time have a turn at an origin. Neither knows what the work
is.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from threading import Lock, get_ident
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

Value = TypeVar("Value")


class Flights(Generic[Value]):
    """Work in progress, by what it is about."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._flights: dict[Hashable, Future[Value]] = {}

    def __contains__(self, key: Hashable) -> bool:
        return key in self._flights

    def fly(self, key: Hashable, work: Callable[[], Value]) -> Value:
        """Return what comes of *work*, done by this thread or by the one that began before."""
        while True:
            with self._lock:
                flight = self._flights.get(key)
                if flight is None:
                    mine: Future[Value] = Future()
                    self._flights[key] = mine
                    break
            with suppress(CancelledError):  # who did it was interrupted: somebody else does
                return flight.result()
        try:
            value = work()
            mine.set_result(value)
            return value
        except Exception as error:
            mine.set_exception(error)
            raise
        finally:
            mine.cancel()  # does nothing, unless there is no result
            with self._lock:
                del self._flights[key]


class Queues:
    """A queue for each origin that somebody has a turn at, or waits for one."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._queues: WeakValueDictionary[str, _Queue] = WeakValueDictionary()

    @contextmanager
    def joined(self, origin: str) -> Iterator[None]:
        """Wait until no other thread has a turn, and have it."""
        with self._lock:
            queue = self._queues.setdefault(origin, _Queue())
        if queue.owner == get_ident():
            raise RuntimeError(
                f"this thread has a turn at {origin} already, and would wait for itself: end it "
                "first, or fetch with your own library inside of it"
            )
        with queue.lock:
            queue.owner = get_ident()
            try:
                yield
            finally:
                queue.owner = None


class _Queue:
    __slots__ = ("__weakref__", "lock", "owner")

    def __init__(self) -> None:
        self.lock = Lock()
        self.owner: int | None = None
