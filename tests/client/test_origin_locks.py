"""Origin locks: order, cancelled tasks, several slots, and callers that would deadlock."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any

import pytest

from robotrules.client import origin_locks
from robotrules.client.origin_locks import OriginLocks, TaskOriginLocks

SITE = "https://example.com"
Test = Callable[..., Coroutine[Any, Any, None]]


def in_a_loop(test: Test) -> Callable[..., None]:
    """Run a test in an event loop."""

    @wraps(test)
    def run(**given: Any) -> None:
        asyncio.run(test(**given))

    return run


@in_a_loop
async def test_tasks_in_order() -> None:
    """The slot goes to the task that has waited longest."""
    lock = TaskOriginLocks().find(SITE)
    order: list[int] = []

    async def use(number: int) -> None:
        """Use the origin for one step of the loop."""
        await lock.acquire(SITE)
        order.append(number)
        await asyncio.sleep(0)
        lock.release()

    await asyncio.gather(*map(use, range(5)))
    assert order == [0, 1, 2, 3, 4]
    assert (lock.free, len(lock.waiting), lock.owners) == (1, 0, set())


@in_a_loop
async def test_no_more_tasks_than_slots() -> None:
    """Two slots are used by two tasks at a time."""
    lock = TaskOriginLocks().find(SITE, 2)
    used = most = 0

    async def use() -> None:
        """Count the users."""
        nonlocal used, most
        await lock.acquire(SITE)
        used += 1
        most = max(most, used)
        await asyncio.sleep(0.001)
        used -= 1
        lock.release()

    await asyncio.gather(*(use() for _ in range(9)))
    assert (most, lock.free) == (2, 2)


@pytest.mark.parametrize("handed_over", [False, True])
@in_a_loop
async def test_a_cancelled_task_loses_no_slot(handed_over: bool) -> None:
    """Neither while it waits, nor in the moment in which the slot was handed to it."""
    lock = TaskOriginLocks().find(SITE)
    await lock.acquire(SITE)
    cancelled, patient = (asyncio.create_task(lock.acquire(SITE)) for _ in range(2))
    await asyncio.sleep(0)
    if handed_over:
        lock.release()
        cancelled.cancel()
    else:
        cancelled.cancel()
        await asyncio.sleep(0)
        assert len(lock.waiting) == 1
        lock.release()
    await asyncio.wait_for(patient, 5)
    assert cancelled.cancelled()
    assert lock.free == 0
    assert len(lock.owners) == 1


@in_a_loop
async def test_a_task_does_not_wait_for_itself() -> None:
    """That is an error, and the lock stays usable."""
    lock = TaskOriginLocks().find(SITE)
    await lock.acquire(SITE)
    with pytest.raises(RuntimeError, match="this task already has a slot"):
        await lock.acquire(SITE)
    lock.release()
    assert lock.acquire_now(SITE)


@pytest.mark.parametrize("slots", [1, 2])
def test_threads(slots: int) -> None:
    """One more thread than there are slots gets none without a wait, and one with."""
    locks = OriginLocks()
    holds, done = threading.Semaphore(0), threading.Event()

    def use() -> None:
        """Hold a slot until all have seen it."""
        lock = locks.find(SITE, slots)
        assert lock.acquire(SITE)
        holds.release()
        done.wait(10)
        lock.release()

    threads = [threading.Thread(target=use) for _ in range(slots)]
    for thread in threads:
        thread.start()
        assert holds.acquire(timeout=10)
    lock = locks.find(SITE, slots)
    assert not lock.acquire(SITE, blocking=False)
    done.set()
    assert lock.acquire(SITE)
    with pytest.raises(RuntimeError, match="this thread already has a slot"):
        lock.acquire(SITE)
    lock.release()
    for thread in threads:
        thread.join(10)


@pytest.mark.parametrize("kind", [OriginLocks, TaskOriginLocks])
def test_unused_locks_are_dropped(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few are kept; one that is in use is found by all of its users."""
    monkeypatch.setattr(origin_locks, "MAX_KEPT_LOCKS", 3)
    locks = kind()
    used = locks.find("a")
    for number in range(20):
        locks.find(f"https://{number}.example")
    gc.collect()
    assert len(locks._by_origin) <= 4
    assert locks.find("a") is used
