"""
DNS cache: resolves and checks names in separate threads, and caches the result for seconds (TTL).

The system's resolver blocks for an unknown time and cannot be interrupted, so callers must be able
to stop waiting. The threads are daemons: one that hangs does not keep the program from ending.
Their number is limited, and they end a moment after the last lookup. An async resolver needs no
threads: the event loop awaits it.

Checked addresses are cached for a few seconds, so that a redirect from http to https, or a page
after its robots.txt, needs no second lookup; a user's resolver is called each time. A connection
goes to a checked address only, whatever the name resolves to meanwhile, which prevents DNS
rebinding. `client.ssrf` decides about addresses.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from time import monotonic

from robotrules.access import Failure
from robotrules.client.ssrf import AddressPolicy, literal_of

Vetted = list[str] | Failure

# Seconds that an idle thread waits for the next lookup: starting a thread costs more than a lookup.
IDLE_THREAD_SECONDS = 1.0
# TTL of checked addresses, and the maximum number of names: the system's resolver reports no TTL,
# and libraries cache for ten (aiohttp) to thirty seconds.
IDLE_SECONDS, MAX_CACHED = 10.0, 4096


class DnsCache:
    """Resolves names with a timeout, and caches the checked addresses."""

    def __init__(self, addresses: AddressPolicy, most: int) -> None:
        """*most*: maximum number of threads; further lookups wait for one of them."""
        self._addresses = addresses
        self._is_async, self._cacheable = addresses.is_async, addresses.cacheable
        self._most = most
        self._lock = Lock()
        self._questions: SimpleQueue[tuple[Future[Vetted], str, int]] = SimpleQueue()
        self._open = 0
        self._threads = 0
        self._kept: dict[str, tuple[float, list[str]]] = {}

    def vet(self, host: str, port: int, seconds: float) -> Vetted:
        """Return the checked addresses of a host; raises TimeoutError after *seconds*."""
        if literal_of(host):
            return self._addresses.vet(host, port)
        kept = self._get_cached(host)
        if kept is not None:
            return kept
        asked = self._ask(host, port)
        try:
            return self._cache(host, asked.result(seconds))
        finally:
            asked.cancel()

    async def avet(self, host: str, port: int) -> Vetted:
        """Return the checked addresses of a host; the caller may be cancelled."""
        if literal_of(host):
            return self._addresses.vet(host, port)
        kept = self._get_cached(host)
        if kept is not None:
            return kept
        if self._is_async:
            return self._cache(host, await self._addresses.avet(host, port))
        return self._cache(host, await asyncio.wrap_future(self._ask(host, port)))

    def _get_cached(self, host: str) -> list[str] | None:
        """Return cached addresses."""
        kept = self._kept.get(host) if self._cacheable else None
        return kept[1] if kept is not None and monotonic() < kept[0] else None

    def _cache(self, host: str, found: Vetted) -> Vetted:
        """Cache checked addresses; failures are not cached."""
        if self._cacheable and not isinstance(found, Failure):
            now = monotonic()
            with self._lock:
                if len(self._kept) >= MAX_CACHED:
                    # In order of expiry: the first have expired, or soon will.
                    for old in list(self._kept)[: MAX_CACHED // 2]:
                        del self._kept[old]
                self._kept.pop(host, None)
                self._kept[host] = now + IDLE_SECONDS, found
        return found

    def _ask(self, host: str, port: int) -> Future[Vetted]:
        asked: Future[Vetted] = Future()
        with self._lock:
            if self._open >= self._threads and self._threads < self._most:
                # May raise: no more threads, or the interpreter is shutting down.
                Thread(target=self._work, name="robotrules-lookup", daemon=True).start()
                self._threads += 1
            self._open += 1
            self._questions.put((asked, host, port))
        return asked

    def _work(self) -> None:
        while True:
            try:
                asked, host, port = self._questions.get(timeout=IDLE_THREAD_SECONDS)
            except Empty:
                with self._lock:
                    if not self._questions.empty():  # added just now
                        continue
                    self._threads -= 1
                return
            if asked.set_running_or_notify_cancel():
                try:
                    asked.set_result(self._addresses.vet(host, port))
                except BaseException as error:
                    asked.set_exception(error)
            with self._lock:
                self._open -= 1
