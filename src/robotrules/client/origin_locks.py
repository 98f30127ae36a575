"""
Origin locks: at most a few threads or tasks of this process use slots of one origin at a time.

They order the callers of one process before the rate limiter leases a slot for all processes, and
detect a caller that would deadlock by waiting for itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from threading import Lock, Semaphore, get_ident
from typing import Any
from weakref import WeakValueDictionary


class OriginLocks:
    """A semaphore for each origin that threads use or wait for."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._queues: WeakValueDictionary[tuple[str, int], _ThreadQueue] = WeakValueDictionary()

    @contextmanager
    def acquire(self, origin: str, slots: int = 1) -> Iterator[None]:
        """Wait until fewer than *slots* other threads use the origin."""
        with self._lock:
            queue = self._queues.setdefault((origin, slots), _ThreadQueue(slots))
        if get_ident() in queue.owners:
            raise deadlock_error("thread", origin)
        with queue.slots:
            queue.owners.add(get_ident())
            try:
                yield
            finally:
                queue.owners.discard(get_ident())


class _ThreadQueue:
    __slots__ = ("__weakref__", "owners", "slots")

    def __init__(self, slots: int) -> None:
        self.slots = Semaphore(slots)
        self.owners: set[int] = set()


class TaskOriginLocks:
    """A semaphore for each origin that tasks of an event loop use or wait for."""

    def __init__(self) -> None:
        self._queues: WeakValueDictionary[tuple[str, int], _TaskQueue] = WeakValueDictionary()

    @asynccontextmanager
    async def acquire(self, origin: str, slots: int = 1) -> AsyncIterator[None]:
        """Wait until fewer than *slots* other tasks use the origin."""
        queue = self._queues.setdefault((origin, slots), _TaskQueue(slots))
        task = asyncio.current_task()
        if task in queue.owners:
            raise deadlock_error("task", origin)
        async with queue.slots:
            queue.owners.add(task)
            try:
                yield
            finally:
                queue.owners.discard(task)


class _TaskQueue:
    def __init__(self, slots: int) -> None:
        self.slots = asyncio.Semaphore(slots)
        self.owners: set[asyncio.Task[Any] | None] = set()


def deadlock_error(caller: str, origin: str) -> RuntimeError:
    """Return the error for a thread or task that requests a slot within its own slot."""
    return RuntimeError(
        f"this {caller} already has a slot of {origin} and would wait for itself: end the slot "
        "first, or fetch with another HTTP library inside it"
    )
