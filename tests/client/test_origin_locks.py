"""Origin locks: order, cancelled tasks, several slots, closing, and callers that would deadlock."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any

import pytest

from robotrules.client import origin_locks
from robotrules.client.origin_locks import OriginLock, OriginLocks, TaskOriginLock, TaskOriginLocks
from robotrules.client.rate_limiter import Delay, Slot

SITE = "https://example.com"
Test = Callable[..., Coroutine[Any, Any, None]]


def make_slot() -> Slot:
    """Return a slot of the origin."""
    return Slot(SITE, Delay(0.0, "min-delay"), time.time)


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until a condition is true, for at most ten seconds."""
    ends = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.001)


def in_a_loop(test: Test) -> Callable[..., None]:
    """Run a test in an event loop."""

    @wraps(test)
    def run(**given: Any) -> None:
        asyncio.run(test(**given))

    return run


# --- Tasks ----------------------------------------------------------------------------------------


async def use(lock: TaskOriginLock, slot: Slot) -> None:
    """Acquire a lock as a slot context does: after any exception it is released."""
    try:
        await lock.acquire(slot)
    except BaseException:
        lock.release(slot)
        raise


@in_a_loop
async def test_tasks_in_order() -> None:
    """The slot goes to the task that has waited longest."""
    lock = TaskOriginLocks().find(SITE)
    order: list[int] = []

    async def count(number: int) -> None:
        """Use the origin for one step of the loop."""
        slot = make_slot()
        await lock.acquire(slot)
        order.append(number)
        await asyncio.sleep(0)
        lock.release(slot)

    await asyncio.gather(*map(count, range(5)))
    assert order == [0, 1, 2, 3, 4]
    assert (len(lock.waiting), len(lock.owners)) == (0, 0)


@in_a_loop
async def test_no_more_tasks_than_slots() -> None:
    """Two slots are used by two tasks at a time."""
    lock = TaskOriginLocks().find(SITE, 2)
    used = most = 0

    async def count() -> None:
        """Count the users."""
        nonlocal used, most
        slot = make_slot()
        await lock.acquire(slot)
        used += 1
        most = max(most, used)
        await asyncio.sleep(0.001)
        used -= 1
        lock.release(slot)

    await asyncio.gather(*(count() for _ in range(9)))
    assert (most, len(lock.owners)) == (2, 0)


@pytest.mark.parametrize("handed_over", [False, True])
@in_a_loop
async def test_a_cancelled_task_loses_no_slot(handed_over: bool) -> None:
    """Neither while it waits, nor in the moment in which the slot was handed to it."""
    lock, first = TaskOriginLocks().find(SITE), make_slot()
    await lock.acquire(first)
    cancelled, patient = (asyncio.create_task(use(lock, make_slot())) for _ in range(2))
    await asyncio.sleep(0)
    if handed_over:
        lock.release(first)
        cancelled.cancel()
    else:
        cancelled.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert len(lock.waiting) == 1
        lock.release(first)
    await asyncio.wait_for(patient, 5)
    assert cancelled.cancelled()
    assert len(lock.owners) == 1


@in_a_loop
async def test_a_coroutine_that_is_closed_while_it_waits() -> None:
    """It gives back nothing that it never had."""
    lock, first = TaskOriginLocks().find(SITE), make_slot()
    await lock.acquire(first)
    lock.owners[first] = None  # another task's
    waiting = use(lock, make_slot())
    waiting.send(None)
    assert len(lock.waiting) == 1
    waiting.close()
    assert (list(lock.owners), len(lock.waiting)) == ([first], 0)


@in_a_loop
async def test_a_task_does_not_wait_for_itself() -> None:
    """That is an error, and the lock stays usable."""
    lock, slot = TaskOriginLocks().find(SITE), make_slot()
    await lock.acquire(slot)
    with pytest.raises(RuntimeError, match="this task already has a slot"):
        await use(lock, make_slot())
    lock.release(slot)
    assert lock.acquire_now(make_slot())


@in_a_loop
async def test_a_slot_ends_in_another_task() -> None:
    """As that of an asynchronous generator which asyncio finalises: its task may go on."""
    lock, slot = TaskOriginLocks().find(SITE), make_slot()
    await lock.acquire(slot)

    async def end() -> None:
        """End the slot."""
        lock.release(slot)

    await asyncio.create_task(end())
    assert lock.acquire_now(make_slot())


@in_a_loop
async def test_closing_ends_the_wait_of_tasks() -> None:
    """A task that waits gets an error, and one that comes later too."""
    locks = TaskOriginLocks()
    lock = locks.find(SITE)
    await lock.acquire(make_slot())
    waiting = asyncio.create_task(use(lock, make_slot()))
    await asyncio.sleep(0)
    locks.close()
    for task in (waiting, asyncio.create_task(use(lock, make_slot()))):
        with pytest.raises(RuntimeError, match="this client is closed"):
            await asyncio.wait_for(task, 5)


# --- Threads --------------------------------------------------------------------------------------


@pytest.mark.parametrize("slots", [1, 2])
def test_threads(slots: int) -> None:
    """One more thread than there are slots gets none without a wait, and one with."""
    locks = OriginLocks()
    holds, done = threading.Semaphore(0), threading.Event()

    def hold() -> None:
        """Hold a slot until all have seen it."""
        lock, slot = locks.find(SITE, slots), make_slot()
        lock.acquire(slot)
        holds.release()
        done.wait(10)
        lock.release(slot)

    threads = [threading.Thread(target=hold) for _ in range(slots)]
    for thread in threads:
        thread.start()
        assert holds.acquire(timeout=10)
    lock, slot = locks.find(SITE, slots), make_slot()
    assert not lock.acquire_now(slot)
    done.set()
    lock.acquire(slot)
    with pytest.raises(RuntimeError, match="this thread already has a slot"):
        lock.acquire(make_slot())
    lock.release(slot)
    for thread in threads:
        thread.join(10)
    assert (len(lock.waiting), len(lock.owners)) == (0, 0)


@pytest.mark.parametrize("slots", [1, 2, 3])
def test_threads_in_order(slots: int) -> None:
    """Threads that use slots again and again get them in turn, also with several slots."""
    lock = OriginLock(slots)
    counts, ends = [0] * 6, time.monotonic() + 0.5

    def count(number: int) -> None:
        """Use slots for half a second."""
        while time.monotonic() < ends:
            slot = make_slot()
            lock.acquire(slot)
            time.sleep(0.001)
            lock.release(slot)
            counts[number] += 1

    threads = [threading.Thread(target=count, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert min(counts) >= 5
    assert max(counts) <= 2 * min(counts)


def test_a_slot_ends_in_another_thread() -> None:
    """The thread that began it may begin another."""
    lock, slot = OriginLock(1), make_slot()
    lock.acquire(slot)
    thread = threading.Thread(target=lock.release, args=(slot,))
    thread.start()
    thread.join(10)
    assert lock.acquire_now(make_slot())


def test_releasing_twice() -> None:
    """It frees one slot, and not that of another thread."""
    lock, slot, other = OriginLock(1), make_slot(), make_slot()
    lock.acquire(slot)
    lock.release(slot)
    thread = threading.Thread(target=lock.acquire, args=(other,))
    thread.start()
    thread.join(10)
    lock.release(slot)
    assert list(lock.owners) == [other]


def test_closing_ends_the_wait_of_threads() -> None:
    """Threads that wait get an error, and so do those that come later."""
    locks = OriginLocks()
    lock, slot = locks.find(SITE), make_slot()
    lock.acquire(slot)
    errors: list[str] = []

    def wait() -> None:
        """Wait for the slot."""
        try:
            lock.acquire(make_slot())
        except RuntimeError as error:
            errors.append(str(error))

    threads = [threading.Thread(target=wait) for _ in range(3)]
    for thread in threads:
        thread.start()
    wait_for(lambda: len(lock.waiting) == 3)
    locks.close()
    for thread in threads:
        thread.join(10)
    lock.release(slot)
    wait()
    assert errors == ["this client is closed: create another one"] * 4


# --- Both -----------------------------------------------------------------------------------------


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


def test_the_number_of_slots_changes() -> None:
    """With fewer, nothing begins until enough have ended; with more, those that wait begin."""
    locks = OriginLocks()
    lock, slots = locks.find(SITE, 2), [make_slot() for _ in range(2)]
    for slot in slots:
        thread = threading.Thread(target=lock.acquire, args=(slot,))
        thread.start()
        thread.join(10)
    assert locks.find(SITE, 1) is lock
    last = threading.Thread(target=lock.acquire, args=(make_slot(),))
    last.start()
    wait_for(lambda: len(lock.waiting) == 1)
    lock.release(slots[0])
    assert len(lock.waiting) == 1
    locks.find(SITE, 2)
    last.join(10)
    assert len(lock.owners) == 2
