"""
Origin locks: at most a few threads or tasks of this process use slots of one origin at a time.

They order the callers of one process, first come first served, before the rate limiter leases a
slot for all processes, and detect a caller that would deadlock by waiting for itself. A lock is
acquired and released for a `Slot` and not for a thread: a slot may end in another thread or task
than the one in which it began. Releasing is idempotent, so that it can follow any exception.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from threading import Lock, current_thread
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

from robotrules.client.cache_engine import closed_error
from robotrules.client.rate_limiter import Slot

# Unused locks that are kept, since making one costs as much as a slot. Used ones are kept by their
# users, and found by all of them.
MAX_KEPT_LOCKS = 256

WaiterT = TypeVar("WaiterT")
LockT = TypeVar("LockT", bound="OriginLock | TaskOriginLock")


class LocksByOrigin(Generic[LockT]):
    """A lock for each origin whose slots are used or waited for."""

    lock_class: type[LockT]

    def __init__(self) -> None:
        self._lock = Lock()
        self._by_origin: WeakValueDictionary[str, LockT] = WeakValueDictionary()
        self._kept: dict[str, LockT] = {}

    def find(self, origin: str, slots: int = 1) -> LockT:
        """Return the lock of an origin, which at most *slots* callers use from now on."""
        lock = self._kept.get(origin)
        if lock is None:
            with self._lock:
                lock = self._by_origin.get(origin)
                if lock is None:
                    lock = self._by_origin[origin] = self.lock_class(slots)
                if len(self._kept) >= MAX_KEPT_LOCKS:
                    self._kept.clear()
                self._kept[origin] = lock
        if lock.slots != slots:
            lock.resize(slots)
        return lock

    def close(self) -> None:
        """Raise an error in all callers that wait: the client is closed."""
        with self._lock:
            locks = list(self._by_origin.values())
        for lock in locks:
            lock.close()


class _SlotQueue(Generic[WaiterT]):
    """The slots of an origin that are in use, and the callers that wait, in their order."""

    __slots__ = ("__weakref__", "closed", "owners", "slots", "waiting")

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.closed = False
        # Slots with the thread or task that began them: one operation changes the state, so that
        # a signal cannot leave it half changed. The object and not its number, which is used again.
        self.owners: dict[Slot, Any] = {}
        self.waiting: OrderedDict[Slot, tuple[Any, WaiterT]] = OrderedDict()

    def _wake(self, waiter: WaiterT) -> None:
        raise NotImplementedError

    def _acquire_free(self, slot: Slot, caller: Any, kind: str) -> bool:
        """Acquire the lock for a slot if one is free and no caller came earlier."""
        if self.closed:
            raise closed_error()
        if self.owners and caller in self.owners.values():
            raise deadlock_error(kind, slot.origin)
        if self.waiting:
            self._hand_over()
        if self.waiting or len(self.owners) >= self.slots:
            return False
        self.owners[slot] = caller
        return True

    def _hand_over(self) -> None:
        """Give free slots to the callers that wait."""
        while self.waiting and len(self.owners) < self.slots:
            slot, (caller, waiter) = self.waiting.popitem(last=False)
            self.owners[slot] = caller
            self._wake(waiter)

    def _remove(self, slot: Slot) -> None:
        self.waiting.pop(slot, None)
        self.owners.pop(slot, None)
        if self.waiting:
            self._hand_over()


class OriginLock(_SlotQueue[Any]):
    """The lock of an origin for threads."""

    __slots__ = ("_mutex",)

    def __init__(self, slots: int) -> None:
        super().__init__(slots)
        self._mutex = Lock()

    def acquire_now(self, slot: Slot) -> bool:
        """Acquire the lock for a slot if one is free."""
        with self._mutex:
            if not (self.owners or self.waiting or self.closed):  # most slots
                self.owners[slot] = current_thread()
                return True
            return self._acquire_free(slot, current_thread(), "thread")

    def acquire(self, slot: Slot) -> None:
        """Wait until a slot of the origin is free. After any exception, call `release()`."""
        with self._mutex:
            if self._acquire_free(slot, current_thread(), "thread"):
                return
            waiter = Lock()
            waiter.acquire()
            self.waiting[slot] = current_thread(), waiter
        waiter.acquire()  # until `_wake()`
        if slot not in self.owners:
            raise closed_error()

    def release(self, slot: Slot) -> None:
        """End a slot, or the wait for it, and let the next thread use the origin."""
        with self._mutex:
            if self.waiting:
                self._remove(slot)
            else:
                self.owners.pop(slot, None)

    def resize(self, slots: int) -> None:
        """Let at most *slots* threads use the origin; those that do are not interrupted."""
        with self._mutex:
            self.slots = slots
            self._hand_over()

    def close(self) -> None:
        """Raise an error in threads that wait."""
        with self._mutex:
            self.closed = True
            while self.waiting:
                self._wake(self.waiting.popitem(last=False)[1][1])

    def _wake(self, waiter: Any) -> None:
        waiter.release()


class TaskOriginLock(_SlotQueue["asyncio.Future[None]"]):
    """The lock of an origin for tasks of an event loop."""

    __slots__ = ()

    def acquire_now(self, slot: Slot) -> bool:
        """Acquire the lock for a slot if one is free."""
        if not (self.owners or self.waiting or self.closed):  # most slots
            self.owners[slot] = asyncio.current_task()
            return True
        return self._acquire_free(slot, asyncio.current_task(), "task")

    async def acquire(self, slot: Slot) -> None:
        """Wait until a slot of the origin is free. After any exception, call `release()`."""
        if self.acquire_now(slot):
            return
        waiter = asyncio.get_running_loop().create_future()
        self.waiting[slot] = asyncio.current_task(), waiter
        await waiter

    def release(self, slot: Slot) -> None:
        """End a slot, or the wait for it, and let the next task use the origin."""
        if self.waiting:
            self._remove(slot)
        else:
            self.owners.pop(slot, None)

    def resize(self, slots: int) -> None:
        """Let at most *slots* tasks use the origin; those that do are not interrupted."""
        self.slots = slots
        self._hand_over()

    def close(self) -> None:
        """Raise an error in tasks that wait."""
        self.closed = True
        while self.waiting:
            waiter = self.waiting.popitem(last=False)[1][1]
            if not waiter.done():
                waiter.set_exception(closed_error())

    def _wake(self, waiter: asyncio.Future[None]) -> None:
        if not waiter.done():  # else its task is cancelled, and releases the slot
            waiter.set_result(None)


class OriginLocks(LocksByOrigin[OriginLock]):
    """The origin locks of a client for threads."""

    lock_class = OriginLock


class TaskOriginLocks(LocksByOrigin[TaskOriginLock]):
    """The origin locks of a client for tasks."""

    lock_class = TaskOriginLock


def deadlock_error(caller: str, origin: str) -> RuntimeError:
    """Return the error for a thread or task that requests a slot within its own slot."""
    return RuntimeError(
        f"this {caller} already has a slot of {origin} and would wait for itself: end the slot "
        "first, or fetch with another HTTP library inside it"
    )
