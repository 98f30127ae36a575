"""
AsyncClient: the polite client for an event loop.

    async with AsyncClient("ExampleBot/1.0 (+https://example.com/bot)") as client:
        await client.check("https://example.com/a")

The same flows as in `sync`, awaited: neither fetches nor slow stores block the loop. A store that
responds in microseconds is called directly, since a thread switch costs twenty times as much; other
stores are called in threads. Concurrent refreshes of one origin share one task (single flight). A
client belongs to one event loop.
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
from contextlib import suppress
from inspect import isawaitable
from time import monotonic
from types import TracebackType
from typing import Any, TypeVar

from robotrules.access import AccessProfile, Failure, Request, Response
from robotrules.cache import Store
from robotrules.client.base_client import (
    BaseClient,
    PrefetchSummary,
    expect_requests,
    make_transport_options,
    no_origin_error,
    prefetch_origin,
    vet_prefetch,
)
from robotrules.client.cache_engine import Effect, RefreshMode, Wait, closed_error
from robotrules.client.metrics import AsyncOnFetch
from robotrules.client.origin_locks import TaskOriginLocks
from robotrules.client.origin_state import OriginState
from robotrules.client.pages import (
    MAX_BYTES,
    FetchResult,
    LookUpState,
    PageResponse,
    fetch_page,
    make_guidance,
)
from robotrules.client.rate_limiter import Delay, find_retry_delay
from robotrules.client.slot_contexts import OWN_RULES, AsyncSlotContext
from robotrules.client.ssrf import AddressPolicy
from robotrules.client.store_executor import StoreExecutor
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

# Origins that check_many() fetches at a time.
MAX_CONCURRENCY = 50


class AsyncClient(BaseClient):
    """Fetches and caches robots.txt files, and checks URLs, in an event loop. See `Client`."""

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
        """Create a client; the arguments are those of `Client`."""
        self._transport_options = make_transport_options(
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
        self._own_transport: AsyncTransport | None = None
        self._sleep = sleep
        self._pauses: set[asyncio.Future[None]] = set()
        self._refreshes: dict[tuple[str, RefreshMode], asyncio.Task[OriginState]] = {}
        self._origin_locks: TaskOriginLocks = TaskOriginLocks()
        self._store_executor = StoreExecutor()

    # --- Checks ---------------------------------------------------------------------------------

    async def check(
        self,
        url: URL,
        product_token: Tokens | None = None,
        purposes: Sequence[str] | None = None,
    ) -> Verdict:
        """Return the verdict on *url*, as `Client.check` does."""
        if product_token is None and purposes is None:
            verdict = self._check_ready(url)
            if verdict is not None:
                return verdict
        crawler = self._crawler_arguments(product_token, purposes)
        state = await self.lookup(url)
        if state is None:
            return self._no_origin_verdict()
        self._store_ready(state)
        return state.check(url, *crawler)

    async def check_many(
        self,
        urls: Iterable[URL],
        product_token: Tokens | None = None,
        purposes: Sequence[str] | None = None,
    ) -> list[Verdict]:
        """Return the verdicts on URLs of any origins, in order."""
        crawler = self._crawler_arguments(product_token, purposes)
        listed, groups = self._group_by_origin(urls)
        semaphore = asyncio.Semaphore(MAX_CONCURRENCY)

        async def get_state(origin: str) -> tuple[str, OriginState]:
            """Return an origin with its state."""
            async with semaphore:
                return origin, await self._get_state(origin)

        cached = {origin: self._lookup_memory(origin) for origin in groups if origin is not None}
        states = {origin: state for origin, state in cached.items() if state is not None}
        missing = [origin for origin, state in cached.items() if state is None]
        states.update(await asyncio.gather(*map(get_state, missing)))
        return self._collect_verdicts(listed, groups, states, *crawler)

    async def lookup(self, url: URL) -> OriginState | None:
        """Return the state of the origin of *url*, fetched if expired; None: it has no origin."""
        origin = self._origin(url)
        return None if origin is None else await self._get_state(origin)

    async def robots(self, url: URL) -> RobotsTxt:
        """Return the robots.txt for *url*; if there is none, an equivalent file."""
        state = await self.lookup(url)
        if state is None:
            raise ValueError(f"{url!r} has no robots.txt: pass an http or https URL")
        return state.robots

    async def explain(
        self,
        url: URL,
        product_token: Tokens | None = None,
        purposes: Sequence[str] | None = None,
    ) -> Explanation:
        """Return how the verdict is reached; `access` is how the file was fetched."""
        crawler = self._crawler_arguments(product_token, purposes)
        state = await self.lookup(url)
        if state is None:
            return self._explain_no_origin(url, *crawler)
        return state.explain(url, *crawler)

    async def refresh(self, url: URL) -> OriginState | None:
        """Fetch the robots.txt of the origin of *url* now; None: it has no origin."""
        origin = self._origin(url)
        return None if origin is None else await self._refresh(origin, RefreshMode.NOW)

    async def prefetch(
        self,
        origins: Iterable[str] | AsyncIterable[str],
        *,
        concurrency: int = 50,
        progress: Callable[[OriginState], object] | None = None,
        refresh: bool = False,
    ) -> PrefetchSummary:
        """Fetch the robots.txt of many origins into the cache, as `Client.prefetch` does."""
        counts, began = vet_prefetch(origins, concurrency), self._clock()
        expect_requests(self._transport(), concurrency)
        # A callback releases the semaphore: `asyncio.wait` would examine all tasks each time.
        semaphore = asyncio.Semaphore(concurrency)
        pending: set[asyncio.Task[OriginState]] = set()
        errors: list[BaseException] = []
        # Set when all tasks have ended, or one failed: then the others are not awaited.
        finished = asyncio.Event()

        def report(state: OriginState) -> None:
            """Count a state and report it at once: the next one may take long."""
            counts[str(state.state)] += 1
            if progress is not None:
                progress(state)

        def on_done(task: asyncio.Task[OriginState]) -> None:
            """Release the semaphore, and report the state or keep the error."""
            pending.discard(task)
            semaphore.release()
            try:
                state = task.result()
                self._lookup_memory(state.origin)  # a stored state may need a background refresh
                report(state)
            except BaseException as error:
                errors.append(error)
            if errors or not pending:
                finished.set()

        try:
            index = -1
            async for given in _iterate(origins):
                index += 1
                origin = self._origin(prefetch_origin(given, index))
                if origin is None:
                    counts["skipped"] += 1
                    continue
                force = refresh and not self._was_fetched_since(origin, began)
                state = None if force else self._lookup_memory(origin)
                if state is not None:
                    report(state)
                    await asyncio.sleep(0)  # a million cached origins must not block the loop
                    continue
                await semaphore.acquire()
                if errors:
                    break
                # The tasks continue if this is cancelled: other callers may wait for them.
                task = self._refresh_task(origin, RefreshMode.NOW if force else RefreshMode.DUE)
                pending.add(task)
                task.add_done_callback(on_done)
            while pending and not errors:
                finished.clear()
                await finished.wait()
            if errors:
                raise errors[0]
        finally:
            for task in pending:
                task.remove_done_callback(on_done)
                task.add_done_callback(_ignore_exception)
        return PrefetchSummary(**counts)

    # --- Pages ----------------------------------------------------------------------------------

    async def fetch(
        self,
        url: str,
        product_token: Tokens | None = None,
        purposes: Sequence[str] | None = None,
        *,
        limit: int = MAX_BYTES,
    ) -> FetchResult:
        """Fetch a page in the next slot, if the rules allow it, as `Client.fetch` does."""
        tokens, purposes = self._crawler_arguments(product_token, purposes)
        name, seconds = self._cache_engine.profile.name, self._cache_engine.timeout
        flow = fetch_page(url, tokens, purposes, profile=name, limit=limit, timeout=seconds)
        answer: Any = None
        while True:
            try:
                effect = flow.send(answer)
            except StopIteration as ended:
                page: FetchResult = ended.value
                return page
            if isinstance(effect, LookUpState):
                answer = await self.lookup(effect.url)
                continue
            request = effect.request
            async with self.slot(request.url) as slot:
                response: Response | Failure | None = None
                state = await self.lookup(request.url) or effect.state
                if effect.allows(state):
                    response = await self._send("page", request)
                if isinstance(response, Response):
                    slot.record_response(response.status, response.headers)
                answer = PageResponse(response, self._clock(), state)

    async def guidance(
        self,
        url: str,
        product_token: Tokens | None = None,
        purposes: Sequence[str] | None = None,
        *,
        application: str | None = None,
    ) -> Guidance:
        """Return the guidance of all carriers for *url*, as `Client.guidance` does."""
        tokens, purposes = self._crawler_arguments(product_token, purposes)
        page = await self.fetch(url, tokens, purposes)
        name = self._cache_engine.profile.name
        return make_guidance(page, tokens, purposes, application=application, profile=name)

    # --- Rate limiting --------------------------------------------------------------------------

    async def delay(
        self,
        url: URL,
        product_token: Tokens | None = None,
        purposes: Sequence[str] | None = None,
    ) -> Delay:
        """Return the seconds between two requests to the origin of *url*, and the reason."""
        state = await self.lookup(url)
        if state is None:
            raise no_origin_error(url)
        return self.delay_for(state, product_token, purposes)

    async def reserve(
        self,
        url: URL,
        product_token: Tokens | None = None,
        purposes: Sequence[str] | None = None,
    ) -> float:
        """Reserve the next slot of an origin, and return its time, as `Client.reserve` does."""
        delay = await self.delay(url, product_token, purposes)
        origin = self._origin(url) or ""
        return await self._run(self._rate_limiter.reserve(origin, delay.seconds))

    async def record_response(self, url: URL, status: int, headers: object = None) -> float | None:
        """Postpone the next slot if a response asks for it, as `Client.record_response` does."""
        now, origin = self._clock(), self._origin(url)
        delay = find_retry_delay(status, headers, now)
        if delay is not None and origin is not None:
            await self._run(self._rate_limiter.postpone(origin, now + delay))
        return delay

    def slot(self, url: URL) -> AsyncSlotContext:
        """Wait for the next slot of the origin of *url*, and use it, as `Client.slot` does."""
        return AsyncSlotContext(self, url)

    def checked_slot(
        self,
        url: URL,
        product_token: Tokens | None = None,
        purposes: Sequence[str] | None = None,
    ) -> AsyncSlotContext:
        """Wait for the next slot if the rules allow *url*, as `Client.checked_slot` does."""
        if product_token is None and purposes is None:
            return AsyncSlotContext(self, url, OWN_RULES)
        return AsyncSlotContext(self, url, (product_token, purposes))

    # --- Driving --------------------------------------------------------------------------------

    def _transport(self) -> AsyncTransport:
        """Return the transport; one of its own is opened in the running event loop."""
        if self._transport_options.transport is not None:
            given: AsyncTransport = self._transport_options.transport
            return given
        if self._own_transport is None:
            options = self._transport_options.options
            self._own_transport = open_async_transport(self.user_agent, **options)
        return self._own_transport

    async def _send(self, kind: str, request: Request) -> Response | Failure:
        """Send a request, and report the event."""
        began = monotonic()
        answer = await self._transport().send(request)
        if isinstance(answer, (Response, Failure)):
            event = self._metrics.record(kind, request, answer, began)
            if self._on_fetch is not None:
                hook = self._on_fetch(event)
                if isawaitable(hook):
                    await hook
        return answer

    def _refresh_soon(self, origin: str) -> None:
        with suppress(RuntimeError):  # no event loop: the next lookup starts it
            asyncio.get_running_loop()
            self._refresh_task(origin, RefreshMode.SOON)

    async def _get_state(self, origin: str) -> OriginState:
        """Return the state from memory, the store or the server."""
        state = self._lookup_memory(origin)
        if state is None:
            state = await self._refresh(origin, RefreshMode.DUE)
            self._lookup_memory(origin)  # a stored state may need a background refresh
        return state

    def _refresh_task(self, origin: str, mode: RefreshMode) -> asyncio.Task[OriginState]:
        """Return the task that refreshes an origin; concurrent callers share it."""
        key = origin, mode
        task = self._refreshes.get(key)
        if task is None:
            task = asyncio.create_task(self._run_refresh(origin, mode))
            self._refreshes[key] = task
            task.add_done_callback(lambda _: self._refreshes.pop(key, None))
        return task

    async def _run_refresh(self, origin: str, mode: RefreshMode) -> OriginState:
        try:
            return await self._run(self._cache_engine.refresh(origin, mode))
        except asyncio.CancelledError:
            # `aclose()` cancels this task, and not those that wait for it.
            if self._cache_engine.closed:
                raise closed_error() from None
            raise

    async def _refresh(self, origin: str, mode: RefreshMode) -> OriginState:
        # A caller that is cancelled does not cancel the task that others wait for.
        return await asyncio.shield(self._refresh_task(origin, mode))

    async def _run(self, flow: Generator[Effect, Any, Value]) -> Value:
        """Perform the effects of a flow."""
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
            return self._send("robots.txt", effect)
        if isinstance(effect, Wait):
            is_own = self._sleep is asyncio.sleep
            return self._pause(effect.seconds) if is_own else self._sleep(effect.seconds)
        engine = self._cache_engine
        return self._store_executor.do(effect.work, engine.store.inline, engine.transaction)

    async def _pause(self, seconds: float) -> None:
        """Sleep; `aclose()` ends the sleep with an error."""
        loop = asyncio.get_running_loop()
        pause: asyncio.Future[None] = loop.create_future()
        timer = loop.call_later(seconds, _end_pause, pause)
        self._pauses.add(pause)
        try:
            await pause
        finally:
            timer.cancel()
            self._pauses.discard(pause)

    # --- Closing --------------------------------------------------------------------------------

    async def aclose(self) -> None:
        """
        Close the connections and the store that this client opened.

        Tasks that wait for a slot or a robots.txt get a RuntimeError; slots that have begun are not
        interrupted.
        """
        self._cache_engine.close()
        self._origin_locks.close()
        for pause in self._pauses:
            if not pause.done():
                pause.set_exception(closed_error())
        tasks = list(self._refreshes.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._own_transport is not None:
            await self._own_transport.aclose()
        self._store_executor.close()
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


def _end_pause(pause: asyncio.Future[None]) -> None:
    if not pause.done():
        pause.set_result(None)


def _ignore_exception(task: asyncio.Task[OriginState]) -> None:
    """Retrieve the exception of a task that no caller awaits, so that asyncio does not log it."""
    if not task.cancelled():
        task.exception()


async def _iterate(values: Iterable[str] | AsyncIterable[str]) -> AsyncIterator[str]:
    """Yield the values of an iterable of either kind."""
    if isinstance(values, AsyncIterable):
        async for value in values:
            yield value
        return
    for value in values:
        yield value
