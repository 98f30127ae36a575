"""
Slot contexts: the context managers that `slot()` and `checked_slot()` return.

A slot begins when fewer than the permitted number of threads or tasks of this process use the
origin, and the rate limiter allows it. They are classes and not generators, because every request
of an integration goes through one: if no other process shares the store, a slot that need not wait
takes a few microseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from robotrules.client.base_client import MIN_ORIGIN_LENGTH as MIN_ORIGIN
from robotrules.client.base_client import no_origin_error
from robotrules.client.origin_locks import OriginLock, TaskOriginLock
from robotrules.client.rate_limiter import Slot
from robotrules.errors import DisallowedError
from robotrules.octets import to_text
from robotrules.robotstxt import Tokens
from robotrules.robotstxt.ruleset import URL
from robotrules.robotstxt.verdict import Verdict

if TYPE_CHECKING:
    from robotrules.client.aio import AsyncClient
    from robotrules.client.sync import Client

# The crawler whose rules `checked_slot()` checks, as in `check()`: product token and purposes.
Crawler = tuple[Tokens | None, Sequence[str] | None]
OWN_RULES: Crawler = (None, None)  # those of the client's crawler


class SlotContext:
    """Waits for a slot of an origin, and ends it; for threads."""

    __slots__ = ("_client", "_crawler", "_leased", "_lock", "_slot", "_url")
    _lock: OriginLock
    _slot: Slot
    _leased: Iterable[int]

    def __init__(self, client: Client, url: URL, crawler: Crawler | None = None) -> None:
        """*crawler*: check its rules before and after the wait; None: do not check."""
        self._client, self._url, self._crawler = client, url, crawler

    def __enter__(self) -> Slot:
        client, url, self._leased = self._client, self._url, ()
        # The common case, in as few steps as possible: the rules of the client's own crawler, from
        # memory, and a slot that is free now.
        if type(url) is not str or (self._crawler is not None and self._crawler != OWN_RULES):
            return self._wait()
        ready = client._ready.get(client._authorities.get(url[: url.find("/", MIN_ORIGIN) + 1]))
        if ready is None or not ready.since <= client._clock() < ready.until:
            return self._wait()
        if self._crawler is not None and not (verdict := ready.check(url)).allowed:
            raise _make_error(url, verdict)
        lock, delay = ready.lock, ready.delay
        if delay is None or not lock.acquire(ready.origin, blocking=False):
            return self._wait()
        if not client._rate_limiter.begin_now(ready.origin, delay.seconds):
            lock.release()
            return self._wait()
        self._lock = lock
        slot = self._slot = Slot(ready.origin, delay, client._clock)
        return slot

    def _wait(self) -> Slot:
        """Begin a slot that needs a fetch of robots.txt, a lease or a wait."""
        client, url, crawler = self._client, self._url, self._crawler
        if crawler is not None and not (verdict := client.check(url, *crawler)).allowed:
            raise _make_error(url, verdict)
        state = client.lookup(url)
        if state is None:
            raise no_origin_error(url)
        slots, delay = client._slot_count(state), client.delay_for(state)
        slot = self._slot = Slot(state.origin, delay, client._clock)
        lock = self._lock = client._origin_locks.find(state.origin, slots)
        lock.acquire(state.origin)
        try:
            limiter = client._rate_limiter
            if not limiter.begin_now(state.origin, delay.seconds):
                self._leased = range(slots)
                taking = limiter.take(state.origin, delay.seconds, slot.holder, slots)
                self._leased = (client._run(taking),)
            # The wait may have been long, so the rules are checked again.
            if crawler is not None and not (verdict := client.check(url, *crawler)).allowed:
                raise _make_error(url, verdict)
        except BaseException:
            self._end()
            raise
        return slot

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._leased or self._slot.until is not None:
            self._end()
        else:
            self._lock.release()

    def _end(self) -> None:
        client, slot = self._client, self._slot
        try:
            if slot.until is not None:
                client._run(client._rate_limiter.postpone(slot.origin, slot.until))
        finally:
            try:
                if self._leased:
                    client._run(client._rate_limiter.end(slot.origin, slot.holder, self._leased))
            finally:
                self._lock.release()


class AsyncSlotContext:
    """Waits for a slot of an origin, and ends it; for tasks of an event loop."""

    __slots__ = ("_client", "_crawler", "_leased", "_lock", "_slot", "_url")
    _lock: TaskOriginLock
    _slot: Slot
    _leased: Iterable[int]

    def __init__(self, client: AsyncClient, url: URL, crawler: Crawler | None = None) -> None:
        """*crawler*: check its rules before and after the wait; None: do not check."""
        self._client, self._url, self._crawler = client, url, crawler

    async def __aenter__(self) -> Slot:
        client, url, self._leased = self._client, self._url, ()
        # The common case, in as few steps as possible: the rules of the client's own crawler, from
        # memory, and a slot that is free now.
        if type(url) is not str or (self._crawler is not None and self._crawler != OWN_RULES):
            return await self._wait()
        ready = client._ready.get(client._authorities.get(url[: url.find("/", MIN_ORIGIN) + 1]))
        if ready is None or not ready.since <= client._clock() < ready.until:
            return await self._wait()
        if self._crawler is not None and not (verdict := ready.check(url)).allowed:
            raise _make_error(url, verdict)
        lock, delay = ready.lock, ready.delay
        if delay is None or not lock.acquire_now(ready.origin):
            return await self._wait()
        if not client._rate_limiter.begin_now(ready.origin, delay.seconds):
            lock.release()
            return await self._wait()
        self._lock = lock
        slot = self._slot = Slot(ready.origin, delay, client._clock)
        return slot

    async def _wait(self) -> Slot:
        """Begin a slot that needs a fetch of robots.txt, a lease or a wait."""
        client, url, crawler = self._client, self._url, self._crawler
        if crawler is not None and not (verdict := await client.check(url, *crawler)).allowed:
            raise _make_error(url, verdict)
        state = await client.lookup(url)
        if state is None:
            raise no_origin_error(url)
        slots, delay = client._slot_count(state), client.delay_for(state)
        slot = self._slot = Slot(state.origin, delay, client._clock)
        lock = self._lock = client._origin_locks.find(state.origin, slots)
        await lock.acquire(state.origin)
        try:
            limiter = client._rate_limiter
            if not limiter.begin_now(state.origin, delay.seconds):
                self._leased = range(slots)
                taking = limiter.take(state.origin, delay.seconds, slot.holder, slots)
                self._leased = (await client._run(taking),)
            # The wait may have been long, so the rules are checked again.
            if crawler is not None and not (verdict := await client.check(url, *crawler)).allowed:
                raise _make_error(url, verdict)
        except BaseException:
            await self._end()
            raise
        return slot

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._leased or self._slot.until is not None:
            await self._end()
        else:
            self._lock.release()

    async def _end(self) -> None:
        client, slot = self._client, self._slot
        try:
            if slot.until is not None:
                await client._run(client._rate_limiter.postpone(slot.origin, slot.until))
        finally:
            try:
                if self._leased:
                    ending = client._rate_limiter.end(slot.origin, slot.holder, self._leased)
                    await client._run(ending)
            finally:
                self._lock.release()


def _make_error(url: URL, verdict: Verdict) -> DisallowedError:
    return DisallowedError(url if isinstance(url, str) else to_text(url), verdict)
