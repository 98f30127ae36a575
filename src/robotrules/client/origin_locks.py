"""
Origin locks: at most a few threads or tasks of this process use slots of one origin at a time.

They order the callers of one process before the rate limiter leases a slot for all processes, and
detect a caller that would deadlock by waiting for itself.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from threading import Lock, Semaphore, get_ident
from typing import Any
from weakref import WeakValueDictionary

# Unused locks that are kept, since making one costs as much as a slot. Used ones are kept by their
# users, and found by all of them.
MAX_KEPT_LOCKS = 256


class OriginLocks:
    """A semaphore for each origin that threads use or wait for."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._by_origin: WeakValueDictionary[tuple[str, int], OriginLock] = WeakValueDictionary()
        self._kept: dict[tuple[str, int], OriginLock] = {}

    def find(self, origin: str, slots: int = 1) -> OriginLock:
        """Return the lock of an origin that at most *slots* threads use."""
        key = (origin, slots)
        lock = self._kept.get(key)
        if lock is None:
            with self._lock:
                lock = self._by_origin.setdefault(key, OriginLock(slots))
                if len(self._kept) >= MAX_KEPT_LOCKS:
                    self._kept.clear()
                self._kept[key] = lock
        return lock


class OriginLock:
    """The lock of an origin; each thread that acquired it releases it."""

    __slots__ = ("__weakref__", "owners", "semaphore")

    def __init__(self, slots: int) -> None:
        # A Lock is a semaphore of one slot, and ten times as fast.
        self.semaphore = Lock() if slots == 1 else Semaphore(slots)
        self.owners: set[int] = set()

    def acquire(self, origin: str, *, blocking: bool = True) -> bool:
        """Wait until a slot of the origin is free; False: not *blocking*, and there is none."""
        thread = get_ident()
        if thread in self.owners:
            raise deadlock_error("thread", origin)
        if not self.semaphore.acquire(blocking):
            return False
        self.owners.add(thread)
        return True

    def release(self) -> None:
        """Let the next thread use the origin."""
        self.owners.discard(get_ident())
        self.semaphore.release()


class TaskOriginLocks:
    """A semaphore for each origin that tasks of an event loop use or wait for."""

    def __init__(self) -> None:
        self._by_origin: WeakValueDictionary[tuple[str, int], TaskOriginLock] = (
            WeakValueDictionary()
        )
        self._kept: dict[tuple[str, int], TaskOriginLock] = {}

    def find(self, origin: str, slots: int = 1) -> TaskOriginLock:
        """Return the lock of an origin that at most *slots* tasks use."""
        key = (origin, slots)
        lock = self._kept.get(key)
        if lock is None:
            lock = self._by_origin.setdefault(key, TaskOriginLock(slots))
            if len(self._kept) >= MAX_KEPT_LOCKS:
                self._kept.clear()
            self._kept[key] = lock
        return lock


class TaskOriginLock:
    """The lock of an origin; each task that acquired it releases it."""

    __slots__ = ("__weakref__", "free", "owners", "waiting")

    def __init__(self, slots: int) -> None:
        # An asyncio.Semaphore cannot be acquired without a coroutine, which costs more than a slot.
        self.free = slots
        self.waiting: OrderedDict[asyncio.Future[None], None] = OrderedDict()
        self.owners: set[asyncio.Task[Any] | None] = set()

    def acquire_now(self, origin: str) -> bool:
        """Acquire the lock if a slot of the origin is free."""
        task = asyncio.current_task()
        if task in self.owners:
            raise deadlock_error("task", origin)
        if not self.free:
            return False
        self.free -= 1
        self.owners.add(task)
        return True

    async def acquire(self, origin: str) -> None:
        """Wait until a slot of the origin is free, in the order of the callers."""
        if self.acquire_now(origin):
            return
        turn = asyncio.get_running_loop().create_future()
        self.waiting[turn] = None
        try:
            await turn
        except BaseException:
            if turn.cancelled():
                self.waiting.pop(turn, None)
            else:  # cancelled just after a slot was handed to it
                self._hand_over()
            raise
        self.owners.add(asyncio.current_task())

    def release(self) -> None:
        """Let the next task use the origin."""
        self.owners.discard(asyncio.current_task())
        self._hand_over()

    def _hand_over(self) -> None:
        while self.waiting:
            turn = self.waiting.popitem(last=False)[0]
            if not turn.done():
                turn.set_result(None)
                return
        self.free += 1


def deadlock_error(caller: str, origin: str) -> RuntimeError:
    """Return the error for a thread or task that requests a slot within its own slot."""
    return RuntimeError(
        f"this {caller} already has a slot of {origin} and would wait for itself: end the slot "
        "first, or fetch with another HTTP library inside it"
    )
