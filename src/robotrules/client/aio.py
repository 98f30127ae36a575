"""
AsyncClient: the polite client for an event loop.

    async with AsyncClient("ExampleBot/1.0 (+https://example.com/bot)") as client:
        await client.check("https://example.com/a")

The same flows as in `sync`, awaited: no fetch and no slow store ever blocks the loop. A store that
answers in microseconds is asked directly, since a change of threads costs twenty times as much;
others are asked in threads. One task of a process asks for an origin, and the others wait for what
it finds. A client belongs to one event loop.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Sequence,
)
from contextlib import asynccontextmanager
from inspect import isawaitable
from time import monotonic
from types import TracebackType
from typing import Any, TypeVar

from robotrules.access import AccessProfile, Failure, Request, Response
from robotrules.cache import Store
from robotrules.client.base_client import (
    BaseClient,
    PrefetchSummary,
    carrying,
    expect_requests,
    no_origin,
    prefetch_origin,
    vet_prefetch,
)
from robotrules.client.cache_engine import Effect, RefreshMode, Wait
from robotrules.client.metrics import AsyncOnFetch
from robotrules.client.origin_state import OriginState
from robotrules.client.pages import MOST_OCTETS, FetchResult, Look, Sent, fetching, guidance_of
from robotrules.client.rate_limiter import Delay, Slot, pause_after
from robotrules.client.ssrf import AddressPolicy
from robotrules.client.tasks import StoreExecutor, TaskOriginLocks, each
from robotrules.client.transports import (
    AsyncTransport,
    open_async_transport,
    vet_async_transport,
)
from robotrules.client.transports.exchange import ExtraHeaders
from robotrules.guide import Guidance
from robotrules.profile import Profile
from robotrules.robotstxt import RobotsTxt, Tokens
from robotrules.robotstxt.ruleset import URL
from robotrules.robotstxt.verdict import Explanation, Verdict

Value = TypeVar("Value")

# Origins that check_many() asks at once.
TOGETHER = 50


class AsyncClient(BaseClient):
    """Fetches, keeps and answers, on an event loop. `Client` says what the arguments mean."""

    def __init__(
        self,
        user_agent: str,
        *,
        product_token: Tokens | None = None,
        purposes: Sequence[str] = (),
        profile: str | Profile = "default",
        access: str | AccessProfile | None = None,
        store: Store | str | os.PathLike[str] | None = None,
        transport: AsyncTransport | object | None = None,
        addresses: AddressPolicy | None = None,
        allow_private: Iterable[str] = (),
        connections: int | None = None,
        proxy: str | None = None,
        headers: ExtraHeaders = (),
        stale_while_revalidate: bool = False,
        min_delay: float = 1.0,
        connections_per_origin: int = 1,
        on_fetch: AsyncOnFetch | None = None,
        timeout: float = 30.0,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        """Make a client; its arguments are those of `Client`."""
        self._carried = carrying(
            user_agent,
            transport,
            threads=False,
            addresses=addresses,
            allow_private=allow_private,
            connections=connections,
            proxy=proxy,
            headers=headers,
        )
        if transport is None:
            vet_async_transport()
        super().__init__(
            user_agent,
            product_token=product_token,
            purposes=purposes,
            profile=profile,
            access=access,
            store=store,
            stale_while_revalidate=stale_while_revalidate,
            min_delay=min_delay,
            connections_per_origin=connections_per_origin,
            on_fetch=on_fetch,
            timeout=timeout,
            clock=clock,
        )
        self._opened: AsyncTransport | None = None
        self._sleep = sleep
        self._flights: dict[tuple[str, RefreshMode], asyncio.Task[OriginState]] = {}
        self._queues = TaskOriginLocks()
        self._blocking = StoreExecutor()

    # --- Questions ------------------------------------------------------------------------------

    async def check(
        self,
        url: URL,
        product_token: Tokens | None = None,
        purposes: Sequence[str] | None = None,
    ) -> Verdict:
        """Return the verdict on *url*, as `Client.check` does."""
        if product_token is None and purposes is None:
            verdict = self._answered(url)
            if verdict is not None:
                return verdict
        asked = self._asked(product_token, purposes)
        found = await self.lookup(url)
        if found is None:
            return self._nowhere()
        self._noted(found)
        return found.check(url, *asked)

    async def check_many(
        self,
        urls: Iterable[URL],
        product_token: Tokens | None = None,
        purposes: Sequence[str] | None = None,
    ) -> list[Verdict]:
        """Return the verdicts on URLs of any origins, in their order."""
        asked = self._asked(product_token, purposes)
        listed, groups = self._grouped(urls)
        gate = asyncio.Semaphore(TOGETHER)

        async def one(origin: str) -> tuple[str, OriginState]:
            """Return an origin with what is held of it; so many at once."""
            async with gate:
                return origin, await self._had(origin)

        known = {origin: self._look(origin) for origin in groups if origin is not None}
        found = {origin: held for origin, held in known.items() if held is not None}
        due = [origin for origin, held in known.items() if held is None]
        found.update(await asyncio.gather(*map(one, due)))
        return self._decided(listed, groups, found, *asked)

    async def lookup(self, url: URL) -> OriginState | None:
        """Return all that is known of the origin of *url*, fetched if due; None: it has none."""
        origin = self._origin(url)
        return None if origin is None else await self._had(origin)

    async def robots(self, url: URL) -> RobotsTxt:
        """Return the robots.txt that governs *url*; where there is none, one that says the same."""
        found = await self.lookup(url)
        if found is None:
            raise ValueError(f"{url!r} has no robots.txt: pass an http or https URL")
        return found.robots

    async def explain(
        self,
        url: URL,
        product_token: Tokens | None = None,
        purposes: Sequence[str] | None = None,
    ) -> Explanation:
        """Return how the verdict is reached; `access` says how the file was got."""
        asked = self._asked(product_token, purposes)
        found = await self.lookup(url)
        return self._unexplained(url, *asked) if found is None else found.explain(url, *asked)

    async def refresh(self, url: URL) -> OriginState | None:
        """Ask the origin of *url* now, whatever is known; None: it has none."""
        origin = self._origin(url)
        return None if origin is None else await self._flown(origin, RefreshMode.NOW)

    async def prefetch(
        self,
        origins: Iterable[str] | AsyncIterable[str],
        *,
        concurrency: int = 50,
        progress: Callable[[OriginState], object] | None = None,
        refresh: bool = False,
    ) -> PrefetchSummary:
        """Have the robots.txt of many origins ready, as `Client.prefetch` does."""
        counts, began = vet_prefetch(origins, concurrency), self._clock()
        expect_requests(self._transport(), concurrency)
        # Who ends makes room for the next: to wait for any of them would look at all each time.
        room = asyncio.Semaphore(concurrency)
        ahead: set[asyncio.Task[OriginState]] = set()
        failed: list[BaseException] = []
        # All have ended, or one went wrong: then the slowest of the others is not waited for.
        over = asyncio.Event()

        def tell(found: OriginState) -> None:
            """Count what is ready, and tell of it at once: the next may be a long time coming."""
            counts[str(found.state)] += 1
            if progress is not None:
                progress(found)

        def ended(flight: asyncio.Task[OriginState]) -> None:
            """Make room, and take note of what came or what went wrong."""
            ahead.discard(flight)
            room.release()
            try:
                found = flight.result()
                self._look(found.origin)  # what the store had may want to be renewed
                tell(found)
            except BaseException as error:
                failed.append(error)
            if failed or not ahead:
                over.set()

        try:
            place = -1
            async for given in each(origins):
                place += 1
                origin = self._origin(prefetch_origin(given, place))
                if origin is None:
                    counts["skipped"] += 1
                    continue
                again = refresh and not self._asked_since(origin, began)
                found = None if again else self._look(origin)
                if found is not None:
                    tell(found)
                    await asyncio.sleep(0)  # a million that are known do not hold up the loop
                    continue
                await room.acquire()
                if failed:
                    break
                # Flights go on if this is cancelled: others may wait for what they find.
                flight = self._flight(origin, RefreshMode.NOW if again else RefreshMode.DUE)
                ahead.add(flight)
                flight.add_done_callback(ended)
            while ahead and not failed:
                over.clear()
                await over.wait()
            if failed:
                raise failed[0]
        finally:
            for flight in ahead:
                flight.remove_done_callback(ended)
                flight.add_done_callback(_unheard)
        return PrefetchSummary(**counts)

    # --- Pages ----------------------------------------------------------------------------------

    async def fetch(
        self,
        url: str,
        product_token: Tokens | None = None,
        purposes: Sequence[str] | None = None,
        *,
        limit: int = MOST_OCTETS,
    ) -> FetchResult:
        """Fetch a page in its turn, if the rules allow it, as `Client.fetch` does."""
        tokens, asked = self._asked(product_token, purposes)
        name, seconds = self._desk.profile.name, self._desk.timeout
        flow = fetching(url, tokens, asked, profile=name, limit=limit, timeout=seconds)
        answer: Any = None
        while True:
            try:
                effect = flow.send(answer)
            except StopIteration as ended:
                page: FetchResult = ended.value
                return page
            if isinstance(effect, Look):
                answer = await self.lookup(effect.url)
                continue
            request = effect.request
            async with self.slot(request.url) as turn:
                response: Response | Failure | None = None
                held = await self.lookup(request.url) or effect.held
                if effect.allows(held):
                    response = await self._sent("page", request)
                if isinstance(response, Response):
                    turn.record_response(response.status, response.headers)
                answer = Sent(response, self._clock(), held)

    async def guidance(
        self,
        url: str,
        product_token: Tokens | None = None,
        purposes: Sequence[str] | None = None,
        *,
        application: str | None = None,
    ) -> Guidance:
        """Return what all carriers say about *url*, as `Client.guidance` does."""
        tokens, asked = self._asked(product_token, purposes)
        page = await self.fetch(url, tokens, asked)
        name = self._desk.profile.name
        return guidance_of(page, tokens, asked, application=application, profile=name)

    # --- Politeness -----------------------------------------------------------------------------

    async def delay(self, url: URL) -> Delay:
        """Return the seconds between two requests to the origin of *url*, and what asks for it."""
        found = await self.lookup(url)
        if found is None:
            raise no_origin(url)
        return self._delay(found)

    async def reserve(self, url: URL) -> float:
        """Take the next turn at an origin, and return when it is, as `Client.reserve` does."""
        delay, origin = await self.delay(url), self._origin(url) or ""
        return await self._run(self._turns.reserve(origin, delay.seconds))

    async def record_response(self, url: URL, status: int, headers: object = None) -> float | None:
        """Put off the next turn if an answer asks for that, as `Client.heed` does."""
        now, origin = self._clock(), self._origin(url)
        asked = pause_after(status, headers, now)
        if asked is not None and origin is not None:
            await self._run(self._turns.postpone(origin, now + asked))
        return asked

    @asynccontextmanager
    async def slot(self, url: URL) -> AsyncIterator[Slot]:
        """Wait for the next turn at the origin of *url*, and have it, as `Client.turn` does."""
        found = await self.lookup(url)
        if found is None:
            raise no_origin(url)
        delay, slots, origin = self._delay(found), self._slots_at(found), self._origin(url) or ""
        turn = Slot(origin, delay, self._desk.clock)
        leased: Iterable[int] = range(slots)
        async with self._queues.joined(origin, slots):
            try:
                taking = self._turns.take(origin, delay.seconds, turn.holder, slots)
                leased = (await self._run(taking),)
                yield turn
            finally:
                try:
                    if turn.until is not None:
                        await self._run(self._turns.postpone(origin, turn.until))
                finally:
                    await self._run(self._turns.end(origin, turn.holder, leased))

    # --- Driving --------------------------------------------------------------------------------

    def _transport(self) -> AsyncTransport:
        """Return what carries requests; opened where the event loop runs."""
        if self._carried.transport is not None:
            given: AsyncTransport = self._carried.transport
            return given
        if self._opened is None:
            self._opened = open_async_transport(self.user_agent, **self._carried.options)
        return self._opened

    async def _sent(self, kind: str, request: Request) -> Response | Failure:
        """Make a request, and tell of it."""
        began = monotonic()
        answer = await self._transport().send(request)
        if isinstance(answer, (Response, Failure)):
            event = self._meter.record(kind, request, answer, began)
            if self._on_fetch is not None:
                told = self._on_fetch(event)
                if isawaitable(told):
                    await told
        return answer

    def _look(self, origin: str) -> OriginState | None:
        """Return what memory has; start to renew what wants it."""
        found, refresh = self._desk.lookup_memory(origin)
        if refresh:
            self._flight(origin, RefreshMode.SOON)
        return found

    async def _had(self, origin: str) -> OriginState:
        """Return what memory or the store has, or the server says."""
        found = self._look(origin)
        if found is None:
            found = await self._flown(origin, RefreshMode.DUE)
            self._look(origin)  # what the store had may want to be renewed
        return found

    def _flight(self, origin: str, wanted: RefreshMode) -> asyncio.Task[OriginState]:
        """Return the task that renews an origin: of several callers' all wait for one."""
        key = origin, wanted
        flight = self._flights.get(key)
        if flight is None:
            flight = asyncio.create_task(self._run(self._desk.refresh(origin, wanted)))
            self._flights[key] = flight
            flight.add_done_callback(lambda _: self._flights.pop(key, None))
        return flight

    async def _flown(self, origin: str, wanted: RefreshMode) -> OriginState:
        # One caller that gives up does not take what the others wait for.
        return await asyncio.shield(self._flight(origin, wanted))

    async def _run(self, flow: Generator[Effect, Any, Value]) -> Value:
        """Do what a flow wants, one thing after the other."""
        answer: Any = None
        step: Callable[[Any], Effect] = flow.send
        while True:
            try:
                effect = step(answer)
            except StopIteration as ended:
                value: Value = ended.value
                return value
            try:
                step, answer = flow.send, await self._do(effect)
            except BaseException as error:
                step, answer = flow.throw, error

    def _do(self, effect: Effect) -> Awaitable[Any]:
        if isinstance(effect, Request):
            return self._sent("robots.txt", effect)
        if isinstance(effect, Wait):
            return self._sleep(effect.seconds)
        desk = self._desk
        return self._blocking.do(effect.work, desk.store.inline, desk.transaction)

    # --- The end --------------------------------------------------------------------------------

    async def aclose(self) -> None:
        """Close connections and the store, those that this client opened."""
        self._desk.close()
        flights = list(self._flights.values())
        for flight in flights:
            flight.cancel()
        await asyncio.gather(*flights, return_exceptions=True)
        if self._opened is not None:
            await self._opened.aclose()
        self._blocking.close()
        self._close_store()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


def _unheard(flight: asyncio.Task[OriginState]) -> None:
    """Let what went wrong be: nobody waits for it any more."""
    if not flight.cancelled():
        flight.exception()
