"""
Client: the polite client for threads.

    with Client("ExampleBot/1.0 (+https://example.com/bot)") as client:
        client.check("https://example.com/a")

It drives the flows of `cache_engine`, `rate_limiter` and `pages` over a transport: a loop of a few
lines. One thread of a process asks for an origin, and the others wait for what it finds. Share one
client between threads; make another one in each process.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, as_completed, wait
from contextlib import contextmanager
from functools import partial
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
from robotrules.client.metrics import OnFetch
from robotrules.client.origin_state import OriginState
from robotrules.client.pages import (
    MOST_OCTETS,
    FetchResult,
    Look,
    Paced,
    Sent,
    fetching,
    guidance_of,
)
from robotrules.client.rate_limiter import Delay, Slot, pause_after
from robotrules.client.ssrf import AddressPolicy
from robotrules.client.threads import BackgroundRunner, OriginLocks, SingleFlight, together
from robotrules.client.transports import Transport, open_transport, vet_transport
from robotrules.client.transports.exchange import ExtraHeaders
from robotrules.guide import Guidance
from robotrules.profile import Profile
from robotrules.robotstxt import RobotsTxt, Tokens
from robotrules.robotstxt.ruleset import URL
from robotrules.robotstxt.verdict import Explanation, Verdict

Value = TypeVar("Value")

# Threads that renew in the background, and that check_many() asks several origins with.
BACKGROUND, TOGETHER = 4, 16


class Client(BaseClient):
    """Fetches, keeps and answers. Safe to share between threads."""

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
        Make a client that calls itself *user_agent* and obeys the rules of the name in it.

        *product_token* where the name cannot be found there; several in the order of preference.
        *profile* is for parsing and fetching, *access* for fetching alone. *store* is where files
        and evidence are kept: a path, `memory:`, `redis://…`, `postgresql://…`, or a store; by
        default SQLite in the user's cache folder. *allow_private* names hosts, addresses or
        networks that are not public and may be asked all the same. *transport* is what carries
        requests, or a client of httpx2, httpx or requests; without one, *connections* are open at
        a time at most, *proxy* is the URL of an HTTP proxy, and *headers* are sent with every
        request. *stale_while_revalidate*: what is old is used while it is fetched again, up to a day.
        *min_delay* is the least time between two turns at an origin, *connections_per_origin* how
        many may go on at a time where the site states no pace, and *timeout* how long getting a
        robots.txt may take in all. *on_fetch* is called with a `FetchEvent` after each request.
        """
        carried = carrying(
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
            vet_transport()  # before a store that lacks a library, too, names a cure of its own
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
        # A transport that was handed over is closed by who made it.
        self._opened: Transport | None = None
        if carried.transport is not None:
            self._transport: Transport = carried.transport
        else:
            try:
                self._transport = self._opened = open_transport(user_agent, **carried.options)
            except BaseException:
                self._close_store()
                raise
        self._sleep = sleep
        self._flights: SingleFlight[OriginState] = SingleFlight()
        self._queues = OriginLocks()
        self._later = BackgroundRunner(BACKGROUND)

    # --- Questions ------------------------------------------------------------------------------

    def check(
        self,
        url: URL,
        product_token: Tokens | None = None,
        purposes: Sequence[str] | None = None,
    ) -> Verdict:
        """
        Return the verdict on *url*; its robots.txt is fetched if that is due.

        *product_token* asks about another crawler than this one. A URL that is not http or https
        is disallowed, with the reason `no-origin`.
        """
        if product_token is None and purposes is None:
            verdict = self._answered(url)
            if verdict is not None:
                return verdict
        asked = self._asked(product_token, purposes)
        found = self.lookup(url)
        if found is None:
            return self._nowhere()
        self._noted(found)
        return found.check(url, *asked)

    def check_many(
        self,
        urls: Iterable[URL],
        product_token: Tokens | None = None,
        purposes: Sequence[str] | None = None,
    ) -> list[Verdict]:
        """Return the verdicts on URLs of any origins, in their order."""
        asked = self._asked(product_token, purposes)
        listed, groups = self._grouped(urls)
        origins = [origin for origin in groups if origin is not None]
        known = [(origin, self._look(origin)) for origin in origins]
        found = {origin: held for origin, held in known if held is not None}
        due = [origin for origin in origins if origin not in found]
        if len(due) == 1:
            found[due[0]] = self._had(due[0])
        elif due:
            with together(min(len(due), TOGETHER)) as pool:
                found.update(zip(due, pool.map(self._had, due), strict=True))
        return self._decided(listed, groups, found, *asked)

    def lookup(self, url: URL) -> OriginState | None:
        """Return all that is known of the origin of *url*, fetched if due; None: it has none."""
        origin = self._origin(url)
        return None if origin is None else self._had(origin)

    def robots(self, url: URL) -> RobotsTxt:
        """Return the robots.txt that governs *url*; where there is none, one that says the same."""
        found = self.lookup(url)
        if found is None:
            raise ValueError(f"{url!r} has no robots.txt: pass an http or https URL")
        return found.robots

    def explain(
        self,
        url: URL,
        product_token: Tokens | None = None,
        purposes: Sequence[str] | None = None,
    ) -> Explanation:
        """Return how the verdict is reached; `access` says how the file was got."""
        asked = self._asked(product_token, purposes)
        found = self.lookup(url)
        return self._unexplained(url, *asked) if found is None else found.explain(url, *asked)

    def refresh(self, url: URL) -> OriginState | None:
        """Ask the origin of *url* now, whatever is known; None: it has none."""
        origin = self._origin(url)
        return None if origin is None else self._flown(origin, RefreshMode.NOW)

    def prefetch(
        self,
        origins: Iterable[str],
        *,
        concurrency: int = 50,
        progress: Callable[[OriginState], object] | None = None,
        refresh: bool = False,
    ) -> PrefetchSummary:
        """
        Have the robots.txt of many origins, or of the origins of many URLs, ready.

        A host alone, such as `example.com`, is `https://example.com`. Text that is neither a URL
        nor a host is counted as skipped; a value that is not text is a `TypeError`.
        So many at once are asked, and as many are looked ahead: memory does not grow with their
        number. *progress* is called for each as it is there. *refresh*: all are asked, whatever is
        known of them.
        """
        counts, began = vet_prefetch(origins, concurrency), self._clock()
        expect_requests(self._transport, concurrency)

        def done(futures: Iterable[Future[OriginState | None]]) -> None:
            """Count what has ended, and tell of it."""
            for future in futures:
                found = future.result()
                counts["skipped" if found is None else str(found.state)] += 1
                if found is not None and progress is not None:
                    progress(found)

        with together(concurrency) as pool:
            ahead: set[Future[OriginState | None]] = set()
            for place, given in enumerate(origins):
                origin = prefetch_origin(given, place)
                again = refresh and not self._asked_since(origin, began)
                ahead.add(pool.submit(self.refresh if again else self.lookup, origin))
                if len(ahead) >= 2 * concurrency:
                    ended, ahead = wait(ahead, return_when=FIRST_COMPLETED)
                    done(ended)
            done(as_completed(ahead))
        return PrefetchSummary(**counts)

    # --- Pages ----------------------------------------------------------------------------------

    def fetch(
        self,
        url: str,
        product_token: Tokens | None = None,
        purposes: Sequence[str] | None = None,
        *,
        limit: int = MOST_OCTETS,
    ) -> FetchResult:
        """
        Fetch a page in its turn, if the rules allow it; they are asked again at each redirect.

        At most *limit* octets of the body are read. What the network does never raises.
        """
        tokens, asked = self._asked(product_token, purposes)
        name, seconds = self._desk.profile.name, self._desk.timeout
        return self._page(fetching(url, tokens, asked, profile=name, limit=limit, timeout=seconds))

    def _page(self, flow: Generator[Look | Paced, Any, FetchResult]) -> FetchResult:
        """Do what the fetching of a page wants, one thing after the other."""
        answer: Any = None
        while True:
            try:
                effect = flow.send(answer)
            except StopIteration as ended:
                page: FetchResult = ended.value
                return page
            if isinstance(effect, Look):
                answer = self.lookup(effect.url)
                continue
            request = effect.request
            with self.slot(request.url) as turn:
                response: Response | Failure | None = None
                held = self.lookup(request.url) or effect.held
                if effect.allows(held):
                    response = self._sent("page", request)
                if isinstance(response, Response):
                    turn.record_response(response.status, response.headers)
                answer = Sent(response, self._clock(), held)

    def guidance(
        self,
        url: str,
        product_token: Tokens | None = None,
        purposes: Sequence[str] | None = None,
        *,
        application: str | None = None,
    ) -> Guidance:
        """
        Return what all carriers say about *url*, after the page was fetched if that is allowed.

        Where the page redirects, the answer is about the URL it ended at.
        """
        tokens, asked = self._asked(product_token, purposes)
        page = self.fetch(url, tokens, asked)
        name = self._desk.profile.name
        return guidance_of(page, tokens, asked, application=application, profile=name)

    # --- Politeness -----------------------------------------------------------------------------

    def delay(self, url: URL) -> Delay:
        """Return the seconds between two requests to the origin of *url*, and what asks for it."""
        found = self.lookup(url)
        if found is None:
            raise no_origin(url)
        return self._delay(found)

    def reserve(self, url: URL) -> float:
        """
        Take the next turn at the origin of *url*, and return when it is, in seconds since 1970.

        For crawlers that keep a queue of their own: nothing waits, and `heed()` says what came.
        `turn()` waits, and lets one at a time through.
        """
        delay, origin = self.delay(url), self._origin(url) or ""
        return self._run(self._turns.reserve(origin, delay.seconds))

    def record_response(self, url: URL, status: int, headers: object = None) -> float | None:
        """
        Put off the next turn at the origin of *url* if an answer asks for that.

        Returns for how many seconds; None: a Retry-After, 429 or 503 it was not.
        """
        now, origin = self._clock(), self._origin(url)
        asked = pause_after(status, headers, now)
        if asked is not None and origin is not None:
            self._run(self._turns.postpone(origin, now + asked))
        return asked

    @contextmanager
    def slot(self, url: URL) -> Iterator[Slot]:
        """
        Wait for the next turn at the origin of *url*, and have it.

            with client.turn(url) as turn:
                response = session.get(url)
                turn.heed(response.status_code, response.headers)

        One thread of all processes that share the store has a turn at an origin at a time, or as
        many as `connections_per_origin` where the site states no pace; and two turns are as far
        apart as `delay(url)` says, counted from their beginnings.
        """
        found = self.lookup(url)
        if found is None:
            raise no_origin(url)
        delay, slots, origin = self._delay(found), self._slots_at(found), self._origin(url) or ""
        turn = Slot(origin, delay, self._desk.clock)
        leased: Iterable[int] = range(slots)
        with self._queues.joined(origin, slots):
            try:
                taking = self._turns.take(origin, delay.seconds, turn.holder, slots)
                leased = (self._run(taking),)
                yield turn
            finally:
                try:
                    if turn.until is not None:
                        self._run(self._turns.postpone(origin, turn.until))
                finally:
                    self._run(self._turns.end(origin, turn.holder, leased))

    # --- Driving --------------------------------------------------------------------------------

    def _look(self, origin: str) -> OriginState | None:
        """Return what memory has; start to renew what wants it."""
        found, refresh = self._desk.lookup_memory(origin)
        if refresh:
            self._later.do(origin, partial(self._flown, origin, RefreshMode.SOON))
        return found

    def _had(self, origin: str) -> OriginState:
        """Return what memory or the store has, or the server says."""
        found = self._look(origin)
        if found is None:
            found = self._flown(origin, RefreshMode.DUE)
            self._look(origin)  # what the store had may want to be renewed
        return found

    def _flown(self, origin: str, wanted: RefreshMode) -> OriginState:
        """Renew an origin; of several threads one does it for all."""
        work = partial(self._desk.refresh, origin, wanted)
        return self._flights.fly((origin, wanted), lambda: self._run(work()))

    def _run(self, flow: Generator[Effect, Any, Value]) -> Value:
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
                step, answer = flow.send, self._do(effect)
            except BaseException as error:
                step, answer = flow.throw, error

    def _sent(self, kind: str, request: Request) -> Response | Failure:
        """Make a request, and tell of it."""
        began = monotonic()
        answer = self._transport.send(request)
        if isinstance(answer, (Response, Failure)):
            event = self._meter.record(kind, request, answer, began)
            if self._on_fetch is not None:
                self._on_fetch(event)
        return answer

    def _do(self, effect: Effect) -> Any:
        if isinstance(effect, Request):
            return self._sent("robots.txt", effect)
        if isinstance(effect, Wait):
            return self._sleep(effect.seconds)
        return effect.work()

    # --- The end --------------------------------------------------------------------------------

    def close(self) -> None:
        """Close connections and the store, those that this client opened."""
        self._desk.close()
        self._later.close()
        if self._opened is not None:
            self._opened.close()
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
