"""
Slot contexts: the context managers that `slot()` and `checked_slot()` return.

A slot begins when fewer than the permitted number of threads or tasks of this process use the
origin, and the rate limiter allows it. Rules, delay and number of slots may change while a caller
waits, so they are read again before the slot begins. Every request of an integration goes through
one, so a context is the slot itself, and no generator: if no other process shares the store, a slot
that need not wait takes a few microseconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from robotrules.client.base_client import MIN_ORIGIN_LENGTH as MIN_ORIGIN
from robotrules.client.base_client import BaseClient, disallowed_error, no_origin_error
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


class _SlotContext(Slot):
    """What the contexts for threads and for tasks share."""

    __slots__ = ("_client", "_crawler", "_in_use", "_leased", "_lock", "_url")
    _leased: Leased

    def __init__(self, client: Any, url: URL, crawler: Crawler | None = None) -> None:
        """*crawler*: check its rules before and after the wait; None: do not check."""
        self._client, self._url, self._crawler = client, url, crawler
        self._in_use = False

    def _begin_now(self) -> bool:
        """
        Begin the slot if it is free now and what it needs is in memory; False: wait for it.

        The common case, in as few steps as possible. Raises `DisallowedError` if the rules disallow
        the URL.
        """
        client, url, crawler = self._client, self._url, self._crawler
        if type(url) is not str or (crawler is not None and crawler is not OWN_RULES):
            return False
        ready = client._ready.get(client._authorities.get(url[: url.find("/", MIN_ORIGIN) + 1]))
        if ready is None:
            return False
        since, until, check, allows, origin, lock, delay = ready
        clock = client._clock
        now = clock()
        if not since <= now < until:
            return False
        if crawler is not None and not allows(url):
            raise disallowed_error(client, url, check(url))
        if delay is None:
            return False
        self.origin, self.delay, self.until = origin, delay, None
        self._clock, self._holder, self._lock, self._leased = clock, "", lock, ()
        try:
            if not lock.acquire_now(self):
                return False
            if client._rate_limiter.begin_now(origin, now, delay.seconds):
                return True
        except BaseException:
            lock.release(self)
            raise
        lock.release(self)
        return False


class SlotContext(_SlotContext):
    """Waits for a slot of an origin, and ends it; for threads."""

    __slots__ = ()
    _client: Client
    _lock: OriginLock

    def __enter__(self) -> Slot:
        if self._in_use:
            raise in_use_error()
        self._in_use = True
        try:
            return self if self._begin_now() else self._wait()
        except BaseException:
            self._in_use = False
            raise

    def _wait(self) -> Slot:
        """Begin a slot that needs a fetch of robots.txt, a lease or a wait."""
        client, state = self._client, self._find_state()
        limiter = client._rate_limiter
        while True:
            slots = client._slot_count(state)
            Slot.__init__(self, state.origin, client.delay_for(state), client._clock)
            lock = client._origin_locks.find(state.origin, slots)
            leased: Leased = ()
            try:
                lock.acquire(self)
                while True:
                    if not _is_current(client, self._url, state):
                        state = self._find_state()
                    if client._slot_count(state) != slots:
                        break
                    self.delay = client.delay_for(state)
                    if limiter.begin_now(self.origin, client._clock(), self.delay.seconds):
                        index = None
                    else:
                        leased = range(slots)
                        interval = _make_interval(client, self._url, state)
                        taking = limiter.take(self.origin, interval, self.holder, slots)
                        index = client._run(taking)
                        leased = () if index is None else (index,)
                        if index is None:  # the state has changed
                            continue
                    self._lock, self._leased = lock, leased
                    return self
            except BaseException:
                self._end(lock, leased)
                raise
            lock.release(self)

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
        try:
            if self._leased or self.until is not None:
                self._end(self._lock, self._leased)
            else:
                self._lock.release(self)
        finally:
            self._in_use = False

    def _end(self, lock: OriginLock, leased: Leased) -> None:
        client = self._client
        try:
            if self.until is not None:
                client._run(client._rate_limiter.postpone(self.origin, self.until))
        finally:
            try:
                if leased:
                    client._run(client._rate_limiter.end(self.origin, self.holder, leased))
            finally:
                lock.release(self)


class AsyncSlotContext(_SlotContext):
    """Waits for a slot of an origin, and ends it; for tasks of an event loop."""

    __slots__ = ()
    _client: AsyncClient
    _lock: TaskOriginLock

    async def __aenter__(self) -> Slot:
        if self._in_use:
            raise in_use_error()
        self._in_use = True
        try:
            return self if self._begin_now() else await self._wait()
        except BaseException:
            self._in_use = False
            raise

    async def _wait(self) -> Slot:
        """Begin a slot that needs a fetch of robots.txt, a lease or a wait."""
        client, state = self._client, await self._find_state()
        limiter = client._rate_limiter
        while True:
            slots = client._slot_count(state)
            Slot.__init__(self, state.origin, client.delay_for(state), client._clock)
            lock = client._origin_locks.find(state.origin, slots)
            leased: Leased = ()
            try:
                await lock.acquire(self)
                while True:
                    if not _is_current(client, self._url, state):
                        state = await self._find_state()
                    if client._slot_count(state) != slots:
                        break
                    self.delay = client.delay_for(state)
                    if limiter.begin_now(self.origin, client._clock(), self.delay.seconds):
                        index = None
                    else:
                        leased = range(slots)
                        interval = _make_interval(client, self._url, state)
                        taking = limiter.take(self.origin, interval, self.holder, slots)
                        index = await client._run(taking)
                        leased = () if index is None else (index,)
                        if index is None:  # the state has changed
                            continue
                    self._lock, self._leased = lock, leased
                    return self
            except BaseException:
                if leased:
                    await _finish(self._end(lock, leased))
                else:
                    lock.release(self)
                raise
            lock.release(self)

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
        try:
            if self._leased or self.until is not None:
                await _finish(self._end(self._lock, self._leased))
            else:
                self._lock.release(self)
        finally:
            self._in_use = False

    async def _end(self, lock: TaskOriginLock, leased: Leased) -> None:
        client = self._client
        try:
            if self.until is not None:
                await client._run(client._rate_limiter.postpone(self.origin, self.until))
        finally:
            try:
                if leased:
                    await client._run(client._rate_limiter.end(self.origin, self.holder, leased))
            finally:
                lock.release(self)


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


def in_use_error() -> RuntimeError:
    """Return the error for a context that is entered before its slot has ended."""
    return RuntimeError(
        "this slot is in use: call slot() or checked_slot() for each request, and enter the result "
        "once at a time"
    )


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
