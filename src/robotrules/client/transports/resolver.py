"""
Lookups: addresses vetted in threads of their own, because a resolver cannot be interrupted.

The system's resolver blocks for as long as it likes, so who waits for it must be able to stop
waiting. The threads are daemons: one that hangs keeps no program from ending. There are never more
than a number, and a moment after the last question there is none. An async resolver needs none of
them: an event loop awaits it.

Vetted addresses are kept for a few seconds, so that a redirect from http to https, or a page after
its robots.txt, asks no second time; a resolver of the user's is asked each time. A connection goes
to a vetted address and to no other: what a name says meanwhile does not matter, so there is no DNS
rebinding. What an address is worth is `client.ssrf`' to say.
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

# Seconds that a thread waits for a next question: beginning one costs more than an answer.
LINGER = 1.0
# Seconds that vetted addresses are kept, and of how many names: the system's resolver does not say
# for how long an answer holds, and libraries keep it for ten (aiohttp) to thirty.
KEPT_SECONDS, MOST_KEPT = 10.0, 4096


class Lookups:
    """Asks a resolver without being at its mercy."""

    def __init__(self, addresses: AddressPolicy, most: int) -> None:
        """*most*: threads at a time; further questions wait for one of them."""
        self._addresses = addresses
        self._is_async, self._cacheable = addresses.is_async, addresses.cacheable
        self._most = most
        self._lock = Lock()
        self._questions: SimpleQueue[tuple[Future[Vetted], str, int]] = SimpleQueue()
        self._open = 0
        self._threads = 0
        self._kept: dict[str, tuple[float, list[str]]] = {}

    def vetted(self, host: str, port: int, seconds: float) -> Vetted:
        """Return the addresses of a host; raises TimeoutError if that takes too long."""
        if literal_of(host):
            return self._addresses.vet(host, port)
        kept = self._recalled(host)
        if kept is not None:
            return kept
        asked = self._ask(host, port)
        try:
            return self._remembered(host, asked.result(seconds))
        finally:
            asked.cancel()

    async def avetted(self, host: str, port: int) -> Vetted:
        """Return the addresses of a host; who waits may be cancelled."""
        if literal_of(host):
            return self._addresses.vet(host, port)
        kept = self._recalled(host)
        if kept is not None:
            return kept
        if self._is_async:
            return self._remembered(host, await self._addresses.avet(host, port))
        return self._remembered(host, await asyncio.wrap_future(self._ask(host, port)))

    def _recalled(self, host: str) -> list[str] | None:
        """Return addresses that were vetted a moment ago."""
        kept = self._kept.get(host) if self._cacheable else None
        return kept[1] if kept is not None and monotonic() < kept[0] else None

    def _remembered(self, host: str, found: Vetted) -> Vetted:
        """Keep vetted addresses for a moment; a failure is asked about again."""
        if self._cacheable and not isinstance(found, Failure):
            now = monotonic()
            with self._lock:
                if len(self._kept) >= MOST_KEPT:
                    # They are in the order of their ends: the first are over, or nearly so.
                    for old in list(self._kept)[: MOST_KEPT // 2]:
                        del self._kept[old]
                self._kept.pop(host, None)
                self._kept[host] = now + KEPT_SECONDS, found
        return found

    def _ask(self, host: str, port: int) -> Future[Vetted]:
        asked: Future[Vetted] = Future()
        with self._lock:
            if self._open >= self._threads and self._threads < self._most:
                # May raise: no thread is left, or the interpreter ends.
                Thread(target=self._work, name="robotrules-lookup", daemon=True).start()
                self._threads += 1
            self._open += 1
            self._questions.put((asked, host, port))
        return asked

    def _work(self) -> None:
        while True:
            try:
                asked, host, port = self._questions.get(timeout=LINGER)
            except Empty:
                with self._lock:
                    if not self._questions.empty():  # asked just now
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
