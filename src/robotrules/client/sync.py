"""
Client: the polite client for threads.

    with Client("ExampleBot/1.0 (+https://example.com/bot)") as client:
        client.check("https://example.com/a")

It drives the flows of `cache_engine`, `rate_limiter` and `pages` over a transport. Concurrent
refreshes of one origin are merged (single flight): one thread fetches, and the others wait for its
result. Share one client between threads; create another one in each process.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, as_completed, wait
from functools import partial
from threading import Event
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
from robotrules.client.metrics import OnFetch
from robotrules.client.origin_locks import OriginLocks
from robotrules.client.origin_state import OriginState
from robotrules.client.pages import (
    MAX_BYTES,
    FetchResult,
    LookUpState,
    PageResponse,
    fetch_page,
    make_guidance,
)
from robotrules.client.pages import Effect as PageEffect
from robotrules.client.rate_limiter import Delay, find_retry_delay
from robotrules.client.slot_contexts import OWN_RULES, SlotContext
from robotrules.client.ssrf import AddressPolicy
from robotrules.client.threads import BackgroundRunner, SingleFlight, thread_pool
from robotrules.client.transports import Transport, open_transport, vet_transport
from robotrules.client.transports.exchange import ExtraHeaders
from robotrules.guide import Guidance
from robotrules.profile import Profile
from robotrules.robotstxt import RobotsTxt, Tokens
from robotrules.robotstxt.ruleset import URL
from robotrules.robotstxt.verdict import Explanation, Verdict

Value = TypeVar("Value")

# Threads for background refreshes, and for the origins of check_many().
BACKGROUND_THREADS, MAX_CONCURRENCY = 4, 16


class Client(BaseClient):
    """Fetches and caches robots.txt files, and checks URLs. Safe to share between threads."""

    def __init__(
        self,
        user_agent: str,
        *,
        product_token: Tokens | None = None,
        purposes: Sequence[str] = (),
        profile: str | Profile = "default",
        access: str | AccessProfile | None = None,
        store: Store | str | os.PathLike[str] | None = None,
        transport: Transport | object | None = None,
        addresses: AddressPolicy | None = None,
        allow_private: Iterable[str] = (),
        connections: int | None = None,
        proxy: str | None = None,
        headers: ExtraHeaders = (),
        stale_while_revalidate: bool = False,
        min_delay: float = 1.0,
        connections_per_origin: int = 1,
        on_fetch: OnFetch | None = None,
        timeout: float = 30.0,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        """
        Create a client that sends *user_agent* and follows the rules for the name in it.

        *product_token*: the name, if it cannot be derived from *user_agent*; several in order of
        preference. *profile* applies to parsing and fetching, *access* to fetching only. *store*
        holds files and evidence: a path, `memory:`, `redis://…`, `postgresql://…`, or a store; by
        default SQLite in the user's cache folder. *allow_private* lists hosts, addresses or
        networks that are not public but may be contacted. *transport* sends requests, or is a
        client of httpx2, httpx or requests; without one, *connections* is the maximum number of
        open connections, *proxy* the URL of an HTTP proxy, and *headers* are sent with every
        request. *stale_while_revalidate*: an expired file is used while it is fetched again, up to
        a day. *min_delay* is the minimum interval between two slots of an origin,
        *connections_per_origin* the number of concurrent slots if the site sets no rate limit, and
        *timeout* the total time for fetching a robots.txt. *on_fetch* is called with a
        `FetchEvent` after each request.
        """
        options = make_transport_options(
            user_agent,
            transport,
            threads=True,
            addresses=addresses,
            allow_private=allow_private,
            connections=connections,
            proxy=proxy,
            headers=headers,
        )
        if transport is None:
            vet_transport()  # first: the error of a store without its library names another fix
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
        # A transport that was passed in is closed by the caller.
        self._own_transport: Transport | None = None
        if options.transport is not None:
            self._transport: Transport = options.transport
        else:
            try:
                self._transport = self._own_transport = open_transport(
                    user_agent, **options.options
                )
            except BaseException:
                self._close_store()
                raise
        self._sleep = sleep
        self._closing = Event()
        self._single_flight: SingleFlight[OriginState] = SingleFlight()
        self._origin_locks: OriginLocks = OriginLocks()
        self._background = BackgroundRunner(BACKGROUND_THREADS)

    # --- Checks ---------------------------------------------------------------------------------

    def check(
        self,
        url: URL,
        product_token: Tokens | None = None,
        purposes: Sequence[str] | None = None,
    ) -> Verdict:
        """
        Return the verdict on *url*; its robots.txt is fetched if it has expired.

        *product_token* checks the rules for another crawler. A URL that is not http or https is
        disallowed, with the reason `no-origin`.
        """
        if product_token is None and purposes is None:
            verdict = self._check_ready(url)
            if verdict is not None:
                return verdict
        crawler = self._crawler_arguments(product_token, purposes)
        state = self.lookup(url)
        if state is None:
            return self._no_origin_verdict()
        self._store_ready(state)
        return state.check(url, *crawler)

    def check_many(
        self,
        urls: Iterable[URL],
        product_token: Tokens | None = None,
        purposes: Sequence[str] | None = None,
    ) -> list[Verdict]:
        """Return the verdicts on URLs of any origins, in order."""
        crawler = self._crawler_arguments(product_token, purposes)
        listed, groups = self._group_by_origin(urls)
        origins = [origin for origin in groups if origin is not None]
        cached = [(origin, self._lookup_memory(origin)) for origin in origins]
        states = {origin: state for origin, state in cached if state is not None}
        missing = [origin for origin in origins if origin not in states]
        if len(missing) == 1:
            states[missing[0]] = self._get_state(missing[0])
        elif missing:
            with thread_pool(min(len(missing), MAX_CONCURRENCY)) as pool:
                states.update(zip(missing, pool.map(self._get_state, missing), strict=True))
        return self._collect_verdicts(listed, groups, states, *crawler)

    def lookup(self, url: URL) -> OriginState | None:
        """Return the state of the origin of *url*, fetched if expired; None: it has no origin."""
        origin = self._origin(url)
        return None if origin is None else self._get_state(origin)

    def robots(self, url: URL) -> RobotsTxt:
        """Return the robots.txt for *url*; if there is none, an equivalent file."""
        state = self.lookup(url)
        if state is None:
            raise ValueError(f"{url!r} has no robots.txt: pass an http or https URL")
        return state.robots

    def explain(
        self,
        url: URL,
        product_token: Tokens | None = None,
        purposes: Sequence[str] | None = None,
    ) -> Explanation:
        """Return how the verdict is reached; `access` is how the file was fetched."""
        crawler = self._crawler_arguments(product_token, purposes)
        state = self.lookup(url)
        if state is None:
            return self._explain_no_origin(url, *crawler)
        return state.explain(url, *crawler)

    def refresh(self, url: URL) -> OriginState | None:
        """Fetch the robots.txt of the origin of *url* now; None: it has no origin."""
        origin = self._origin(url)
        return None if origin is None else self._refresh(origin, RefreshMode.NOW)

    def prefetch(
        self,
        origins: Iterable[str],
        *,
        concurrency: int = 50,
        progress: Callable[[OriginState], object] | None = None,
        refresh: bool = False,
    ) -> PrefetchSummary:
        """
        Fetch the robots.txt of many origins, or of the origins of many URLs, into the cache.

        A bare host, such as `example.com`, means `https://example.com`. Text that is neither a URL
        nor a host is counted as skipped; a value that is not text raises `TypeError`.
        *concurrency* origins are fetched at a time, and as many are read ahead: memory use does not
        grow with their number. *progress* is called with each state. *refresh*: fetch all of them,
        including fresh ones.
        """
        counts, began = vet_prefetch(origins, concurrency), self._clock()
        expect_requests(self._transport, concurrency)

        def report(futures: Iterable[Future[OriginState | None]]) -> None:
            """Count finished origins, and report progress."""
            for future in futures:
                state = future.result()
                counts["skipped" if state is None else str(state.state)] += 1
                if state is not None and progress is not None:
                    progress(state)

        with thread_pool(concurrency) as pool:
            pending: set[Future[OriginState | None]] = set()
            for index, given in enumerate(origins):
                origin = prefetch_origin(given, index)
                force = refresh and not self._was_fetched_since(origin, began)
                pending.add(pool.submit(self.refresh if force else self.lookup, origin))
                if len(pending) >= 2 * concurrency:
                    finished, pending = wait(pending, return_when=FIRST_COMPLETED)
                    report(finished)
            report(as_completed(pending))
        return PrefetchSummary(**counts)

    # --- Pages ----------------------------------------------------------------------------------

    def fetch(
        self,
        url: str,
        product_token: Tokens | None = None,
        purposes: Sequence[str] | None = None,
        *,
        limit: int = MAX_BYTES,
    ) -> FetchResult:
        """
        Fetch a page in the next slot, if the rules allow it; they are checked at each redirect.

        At most *limit* bytes of the body are read. Network failures are returned as values.
        """
        tokens, purposes = self._crawler_arguments(product_token, purposes)
        name, seconds = self._cache_engine.profile.name, self._cache_engine.timeout
        flow = fetch_page(url, tokens, purposes, profile=name, limit=limit, timeout=seconds)
        return self._run_page(flow)

    def _run_page(self, flow: Generator[PageEffect, Any, FetchResult]) -> FetchResult:
        """Perform the effects of a page flow."""
        answer: Any = None
        while True:
            try:
                effect = flow.send(answer)
            except StopIteration as ended:
                page: FetchResult = ended.value
                return page
            if isinstance(effect, LookUpState):
                answer = self.lookup(effect.url)
                continue
            request = effect.request
            with self.slot(request.url) as slot:
                response: Response | Failure | None = None
                state = self.lookup(request.url) or effect.state
                if effect.allows(state):
                    response = self._send("page", request)
                if isinstance(response, Response):
                    slot.record_response(response.status, response.headers)
                answer = PageResponse(response, self._clock(), state)

    def guidance(
        self,
        url: str,
        product_token: Tokens | None = None,
        purposes: Sequence[str] | None = None,
        *,
        application: str | None = None,
    ) -> Guidance:
        """
        Return the guidance of all carriers for *url*, after fetching the page if that is allowed.

        If the page redirects, the guidance is about the final URL.
        """
        tokens, purposes = self._crawler_arguments(product_token, purposes)
        page = self.fetch(url, tokens, purposes)
        name = self._cache_engine.profile.name
        return make_guidance(page, tokens, purposes, application=application, profile=name)

    # --- Rate limiting --------------------------------------------------------------------------

    def delay(
        self,
        url: URL,
        product_token: Tokens | None = None,
        purposes: Sequence[str] | None = None,
    ) -> Delay:
        """Return the seconds between two requests to the origin of *url*, and the reason."""
        state = self.lookup(url)
        if state is None:
            raise no_origin_error(url)
        return self.delay_for(state, product_token, purposes)

    def reserve(
        self,
        url: URL,
        product_token: Tokens | None = None,
        purposes: Sequence[str] | None = None,
    ) -> float:
        """
        Reserve the next slot of the origin of *url*, and return its time in seconds since 1970.

        For crawlers with their own queue: this does not wait; pass the response to
        `record_response()`. `slot()` waits, and lets one request through at a time. All crawlers
        share the slots of an origin; the interval since the previous slot is that of this crawler.
        """
        delay = self.delay(url, product_token, purposes)
        origin = self._origin(url) or ""
        return self._run(self._rate_limiter.reserve(origin, delay.seconds))

    def record_response(self, url: URL, status: int, headers: object = None) -> float | None:
        """
        Postpone the next slot of the origin of *url* if a response asks for it.

        Returns by how many seconds; None: the response has no Retry-After, 429 or 503.
        """
        now, origin = self._clock(), self._origin(url)
        delay = find_retry_delay(status, headers, now)
        if delay is not None and origin is not None:
            self._run(self._rate_limiter.postpone(origin, now + delay))
        return delay

    def slot(self, url: URL) -> SlotContext:
        """
        Wait for the next slot of the origin of *url*, and use it.

            with client.slot(url) as slot:
                response = session.get(url)
                slot.record_response(response.status_code, response.headers)

        Of all threads and processes that share the store, one has a slot of an origin at a time,
        or `connections_per_origin` if the site sets no rate limit. Slots begin at least
        `delay(url)` apart.
        """
        return SlotContext(self, url)

    def checked_slot(
        self,
        url: URL,
        product_token: Tokens | None = None,
        purposes: Sequence[str] | None = None,
    ) -> SlotContext:
        """
        Wait for the next slot of the origin of *url* if the rules allow it, and use it.

        Raises `DisallowedError` with the verdict otherwise, before the slot begins. The wait may be
        long, so the rules are checked before and after it.
        """
        if product_token is None and purposes is None:
            return SlotContext(self, url, OWN_RULES)
        return SlotContext(self, url, (product_token, purposes))

    # --- Driving --------------------------------------------------------------------------------

    def _refresh_soon(self, origin: str) -> None:
        self._background.submit(origin, partial(self._refresh, origin, RefreshMode.SOON))

    def _get_state(self, origin: str) -> OriginState:
        """Return the state from memory, the store or the server."""
        state = self._lookup_memory(origin)
        if state is None:
            state = self._refresh(origin, RefreshMode.DUE)
            self._lookup_memory(origin)  # a stored state may need a background refresh
        return state

    def _refresh(self, origin: str, mode: RefreshMode) -> OriginState:
        """Refresh an origin; concurrent calls of several threads are merged."""
        refresh = partial(self._cache_engine.refresh, origin, mode)
        return self._single_flight.do((origin, mode), lambda: self._run(refresh()))

    def _run(self, flow: Generator[Effect, Any, Value]) -> Value:
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
                step, answer = flow.send, self._do(effect)
            except BaseException as error:
                step, answer = flow.throw, error

    def _send(self, kind: str, request: Request) -> Response | Failure:
        """Send a request, and report the event."""
        began = monotonic()
        answer = self._transport.send(request)
        if isinstance(answer, (Response, Failure)):
            event = self._metrics.record(kind, request, answer, began)
            if self._on_fetch is not None:
                self._on_fetch(event)
        return answer

    def _do(self, effect: Effect) -> Any:
        if isinstance(effect, Request):
            return self._send("robots.txt", effect)
        if isinstance(effect, Wait):
            return self._pause(effect.seconds)
        return effect.work()

    def _pause(self, seconds: float) -> None:
        """Sleep; `close()` ends the sleep with an error."""
        if self._sleep is not time.sleep:
            self._sleep(seconds)
        elif self._closing.wait(seconds):
            raise closed_error()

    # --- Closing --------------------------------------------------------------------------------

    def close(self) -> None:
        """
        Close the connections and the store that this client opened.

        Threads that wait for a slot get a RuntimeError; slots that have begun are not interrupted.
        """
        self._cache_engine.close()
        self._closing.set()
        self._origin_locks.close()
        self._background.close()
        if self._own_transport is not None:
            self._own_transport.close()
        self._close_store()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
