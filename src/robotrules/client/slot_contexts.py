"""
Slot contexts: the context managers that `slot()` and `checked_slot()` return.

A slot begins when fewer than the permitted number of threads or tasks of this process use the
origin, and the rate limiter allows it. Rules, delay and number of slots may change while a caller
waits, so they are read again before the slot begins. The contexts are classes and not generators,
because every request of an integration goes through one: if no other process shares the store, a
slot that need not wait takes a few microseconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from robotrules.client.base_client import MIN_ORIGIN_LENGTH as MIN_ORIGIN
from robotrules.client.base_client import BaseClient, disallowed_error, no_origin_error
from robotrules.client.memory_cache import ReadyOrigin
from robotrules.client.origin_locks import OriginLock, TaskOriginLock
from robotrules.client.origin_state import OriginState
from robotrules.client.rate_limiter import Interval, Slot
from robotrules.robotstxt import Tokens
from robotrules.robotstxt.ruleset import URL

if TYPE_CHECKING:
    from robotrules.client.aio import AsyncClient
    from robotrules.client.sync import Client

# The crawler whose rules `checked_slot()` checks, as in `check()`: product token and purposes.
Crawler = tuple[Tokens | None, Sequence[str] | None]
OWN_RULES: Crawler = (None, None)  # those of the client's crawler
# Indices of the leases that a slot may have.
Leased = Iterable[int]


class SlotContext:
    """Waits for a slot of an origin, and ends it; for threads."""

    __slots__ = ("_client", "_crawler", "_leased", "_lock", "_slot", "_url")
    _lock: OriginLock
    _slot: Slot
    _leased: Leased

    def __init__(self, client: Client, url: URL, crawler: Crawler | None = None) -> None:
        """*crawler*: check its rules before and after the wait; None: do not check."""
        self._client, self._url, self._crawler = client, url, crawler

    def __enter__(self) -> Slot:
        # The common case, in as few steps as possible: the rules of the client's own crawler, from
        # memory, and a slot that is free now.
        client, ready = self._client, _find_ready(self._client, self._url, self._crawler)
        if ready is None or ready.delay is None:
            return self._wait()
        lock, slot = ready.lock, Slot(ready.origin, ready.delay, client._clock)
        try:
            if lock.acquire_now(slot):
                if client._rate_limiter.begin_now(slot.origin, slot.delay.seconds):
                    self._lock, self._slot, self._leased = lock, slot, ()
                    return slot
                lock.release(slot)
        except BaseException:
            lock.release(slot)
            raise
        return self._wait()

    def _wait(self) -> Slot:
        """Begin a slot that needs a fetch of robots.txt, a lease or a wait."""
        client, state = self._client, self._find_state()
        limiter = client._rate_limiter
        while True:
            slots = client._slot_count(state)
            slot = Slot(state.origin, client.delay_for(state), client._clock)
            lock = client._origin_locks.find(state.origin, slots)
            leased: Leased = ()
            try:
                lock.acquire(slot)
                while True:
                    if not _is_current(client, self._url, state):
                        state = self._find_state()
                    if client._slot_count(state) != slots:
                        break
                    slot.delay = client.delay_for(state)
                    if limiter.begin_now(slot.origin, slot.delay.seconds):
                        index = None
                    else:
                        leased = range(slots)
                        interval = _make_interval(client, self._url, state)
                        taking = limiter.take(slot.origin, interval, slot.holder, slots)
                        index = client._run(taking)
                        leased = () if index is None else (index,)
                        if index is None:  # the state has changed
                            continue
                    self._lock, self._slot, self._leased = lock, slot, leased
                    return slot
            except BaseException:
                self._end(lock, slot, leased)
                raise
            lock.release(slot)

    def _find_state(self) -> OriginState:
        """Return the state of the origin; raise an error if the rules disallow the URL."""
        client, url, crawler = self._client, self._url, self._crawler
        if crawler is not None and not (verdict := client.check(url, *crawler)).allowed:
            raise disallowed_error(client, url, verdict)
        state = client.lookup(url)
        if state is None:
            raise no_origin_error(url)
        return state

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._leased or self._slot.until is not None:
            self._end(self._lock, self._slot, self._leased)
        else:
            self._lock.release(self._slot)

    def _end(self, lock: OriginLock, slot: Slot, leased: Leased) -> None:
        client = self._client
        try:
            if slot.until is not None:
                client._run(client._rate_limiter.postpone(slot.origin, slot.until))
        finally:
            try:
                if leased:
                    client._run(client._rate_limiter.end(slot.origin, slot.holder, leased))
            finally:
                lock.release(slot)


class AsyncSlotContext:
    """Waits for a slot of an origin, and ends it; for tasks of an event loop."""

    __slots__ = ("_client", "_crawler", "_leased", "_lock", "_slot", "_url")
    _lock: TaskOriginLock
    _slot: Slot
    _leased: Leased

    def __init__(self, client: AsyncClient, url: URL, crawler: Crawler | None = None) -> None:
        """*crawler*: check its rules before and after the wait; None: do not check."""
        self._client, self._url, self._crawler = client, url, crawler

    async def __aenter__(self) -> Slot:
        # The common case, in as few steps as possible: the rules of the client's own crawler, from
        # memory, and a slot that is free now.
        client, ready = self._client, _find_ready(self._client, self._url, self._crawler)
        if ready is None or ready.delay is None:
            return await self._wait()
        lock, slot = ready.lock, Slot(ready.origin, ready.delay, client._clock)
        try:
            if lock.acquire_now(slot):
                if client._rate_limiter.begin_now(slot.origin, slot.delay.seconds):
                    self._lock, self._slot, self._leased = lock, slot, ()
                    return slot
                lock.release(slot)
        except BaseException:
            lock.release(slot)
            raise
        return await self._wait()

    async def _wait(self) -> Slot:
        """Begin a slot that needs a fetch of robots.txt, a lease or a wait."""
        client, state = self._client, await self._find_state()
        limiter = client._rate_limiter
        while True:
            slots = client._slot_count(state)
            slot = Slot(state.origin, client.delay_for(state), client._clock)
            lock = client._origin_locks.find(state.origin, slots)
            leased: Leased = ()
            try:
                await lock.acquire(slot)
                while True:
                    if not _is_current(client, self._url, state):
                        state = await self._find_state()
                    if client._slot_count(state) != slots:
                        break
                    slot.delay = client.delay_for(state)
                    if limiter.begin_now(slot.origin, slot.delay.seconds):
                        index = None
                    else:
                        leased = range(slots)
                        interval = _make_interval(client, self._url, state)
                        taking = limiter.take(slot.origin, interval, slot.holder, slots)
                        index = await client._run(taking)
                        leased = () if index is None else (index,)
                        if index is None:  # the state has changed
                            continue
                    self._lock, self._slot, self._leased = lock, slot, leased
                    return slot
            except BaseException:
                if leased:
                    await _finish(self._end(lock, slot, leased))
                else:
                    lock.release(slot)
                raise
            lock.release(slot)

    async def _find_state(self) -> OriginState:
        """Return the state of the origin; raise an error if the rules disallow the URL."""
        client, url, crawler = self._client, self._url, self._crawler
        if crawler is not None and not (verdict := await client.check(url, *crawler)).allowed:
            raise disallowed_error(client, url, verdict)
        state = await client.lookup(url)
        if state is None:
            raise no_origin_error(url)
        return state

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._leased or self._slot.until is not None:
            await _finish(self._end(self._lock, self._slot, self._leased))
        else:
            self._lock.release(self._slot)

    async def _end(self, lock: TaskOriginLock, slot: Slot, leased: Leased) -> None:
        client = self._client
        try:
            if slot.until is not None:
                await client._run(client._rate_limiter.postpone(slot.origin, slot.until))
        finally:
            try:
                if leased:
                    await client._run(client._rate_limiter.end(slot.origin, slot.holder, leased))
            finally:
                lock.release(slot)


async def _finish(ending: Coroutine[Any, Any, None]) -> None:
    """
    Await a coroutine to its end, even if the caller is cancelled meanwhile.

    Otherwise a lease would keep other processes waiting until it expires, and a Retry-After would
    be lost.
    """
    task, cancelled = asyncio.ensure_future(ending), None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    task.result()
    if cancelled is not None:
        raise cancelled


def _find_ready(client: BaseClient, url: URL, crawler: Crawler | None) -> ReadyOrigin | None:
    """
    Return what is in memory for a slot; None: look the origin up.

    Raises `DisallowedError` if the rules of *crawler* are in memory and disallow the URL.
    """
    if type(url) is not str or (crawler is not None and crawler != OWN_RULES):
        return None
    ready = client._ready.get(client._authorities.get(url[: url.find("/", MIN_ORIGIN) + 1]))
    if ready is None or not ready.since <= client._clock() < ready.until:
        return None
    if crawler is not None and not (verdict := ready.check(url)).allowed:
        raise disallowed_error(client, url, verdict)
    return ready


def _is_current(client: BaseClient, url: URL, state: OriginState) -> bool:
    """Return whether a state still applies to its origin."""
    current = client.cached(url)
    return (
        current is not None
        and current.entry is state.entry
        and (current.policy, current.reason) == (state.policy, state.reason)
    )


def _make_interval(client: BaseClient, url: URL, state: OriginState) -> Interval:
    """Return a function that returns the delay of a state as long as it applies."""
    return lambda: client.delay_for(state).seconds if _is_current(client, url, state) else None
