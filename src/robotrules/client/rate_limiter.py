"""
Rate limiter: when the next request to an origin may be made, and how many at once.

Crawl-delay and Request-rate of the robots.txt, Retry-After of recent responses and the crawler's
own minimum delay are combined into one interval between two requests to an origin. `RateLimiter`
throttles requests: it assigns slots at that interval, shared by all processes that use the same
store. Rate limits never change a verdict (AMB-118). The limiter does not wait itself; the driver of
the flow does.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from datetime import UTC, datetime
from math import inf
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple

from robotrules.cache import parse_retry_after
from robotrules.client.cache_engine import MIN_POLL, CacheEngine, Effect, Wait, closed_error
from robotrules.client.lease_holders import new_holder
from robotrules.errors import StoreError
from robotrules.extensions.crawl_delay import CrawlDelay, crawl_delay
from robotrules.extensions.request_rate import RequestRate, request_rates
from robotrules.http.fields import read_fields
from robotrules.robotstxt import RobotsTxt, Tokens

# No request waits longer than a day for a slot: a larger Crawl-delay means "do not crawl", which a
# site can express with Disallow.
MAX_DELAY = 86_400.0
# The delay after a 429 or 503 without Retry-After.
DEFAULT_RETRY_AFTER = 60.0
# Lifetime of the lease of a slot: a longer request shares the origin with the next one.
SLOT_TTL = 60.0
# Maximum interval of polling for a slot that another process holds.
MAX_SLOT_POLL = 0.1
# How long one process may use the slots of an origin without a pause. Then it waits for one such
# interval, so that a process that polls gets a slot: at most a twentieth of the time is lost.
MAX_BUSY = 20 * MAX_SLOT_POLL
# Maximum time to sleep before the store is asked again: a Retry-After may have been recorded.
MAX_WAIT = 60.0
# Origins whose slots are tracked in memory, for when the store is unavailable.
MAX_REMEMBERED_SLOTS = 65_536


class Delay(NamedTuple):
    """The seconds between two requests to an origin, and the reason."""

    seconds: float
    reason: str
    """`crawl-delay`, `request-rate` or `min-delay`."""
    line: int | None = None
    """The line of the record that requires it."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return self._asdict()


def required_delay(
    robots: RobotsTxt,
    product_token: Tokens,
    purposes: Sequence[str] = (),
    *,
    now: float,
    min_delay: float = 0.0,
) -> Delay:
    """Return the longest delay that a robots.txt or *min_delay* requires at a time."""
    return longest_delay(read_rate_limits(robots, product_token, purposes), now, min_delay)


# The rate limits of a file for one crawler: Crawl-delay, and Request-rates, some for part of a day.
RateLimits = tuple[CrawlDelay | None, tuple[RequestRate, ...]]
NO_RATE_LIMITS: RateLimits = (None, ())
# Returns the seconds between two slots that are required now; None: do not begin a slot.
Interval = Callable[[], float | None]


def read_rate_limits(
    robots: RobotsTxt, product_token: Tokens, purposes: Sequence[str] = ()
) -> RateLimits:
    """Return the rate limits of a robots.txt for a crawler, at any time of the day."""
    return (
        crawl_delay(robots, product_token, purposes),
        request_rates(robots, product_token, purposes),
    )


def may_limit_rates(robots: RobotsTxt) -> bool:
    """Return whether a file may have a Crawl-delay or a Request-rate, in little time."""
    body = robots.body.lower()
    return b"-delay" in body or b"-rate" in body


def compact_limits(limits: RateLimits) -> RateLimits:
    """Return the limits with only what delays depend on: of each time window, the slowest rate."""
    delay, rates = limits
    if delay is not None:
        delay = delay._replace(record=delay.record._replace(value=b""), records=())
    slowest: dict[object, RequestRate] = {}
    for rate in rates:
        known = slowest.get(rate.window)
        if known is None or rate.seconds > known.seconds:
            slowest[rate.window] = rate._replace(record=rate.record._replace(value=b""))
    return delay, tuple(slowest.values())


def is_rate_limited(limits: RateLimits) -> bool:
    """Return whether a file limits the rate of a crawler, at any time of the day."""
    delay, rates = limits
    return (delay is not None and delay.seconds > 0) or bool(rates)


def longest_delay(limits: RateLimits, now: float, min_delay: float) -> Delay:
    """
    Return the longest delay that is required at a time.

    Of equal ones, the reason is the site's: it is what a reader has to know.
    """
    delay, rates = limits
    delays = []
    if delay is not None and delay.seconds > 0:
        delays.append(Delay(delay.seconds, "crawl-delay", delay.line))
    at = datetime.fromtimestamp(now, UTC)
    delays += [Delay(rate.seconds, "request-rate", rate.line) for rate in rates if rate.applies(at)]
    delays.append(Delay(min_delay, "min-delay"))
    longest = max(delays, key=lambda delay: delay.seconds)
    return longest._replace(seconds=min(longest.seconds, MAX_DELAY))


class RateLimiter:
    """
    Throttles requests to origins with slots from the store, or from memory if it is unavailable.

    A slot counts when it begins: a caller that stops waiting has used none. While a caller waits,
    the store is polled, so that a Retry-After recorded by another process is honoured.
    """

    def __init__(self, engine: CacheEngine) -> None:
        self._cache_engine = engine
        self._lock = Lock()
        self._next_slot: dict[str, float] = {}
        self._ended_at: dict[str, float] = {}
        # When the process began to use an origin's slots without a pause.
        self._busy_since: dict[str, float] = {}

    def reserve(self, origin: str, interval: float) -> Generator[Effect, Any, float]:
        """Reserve the next slot of an origin; return its time in seconds since 1970."""
        engine = self._cache_engine
        at: float | None = yield from engine.call_store(
            engine.store.reserve_slot, origin, engine.clock(), interval
        )
        return self._reserve_in_memory(origin, interval) if at is None else at

    def begin_now(self, origin: str, now: float, interval: float) -> bool:
        """
        Begin a slot if that needs neither a lease nor a wait; False: use `take()`.

        No other process uses an exclusive store, and within the process the origin locks limit the
        concurrent slots, so no lease is necessary.
        """
        engine = self._cache_engine
        if not engine.exclusive or engine.closed or engine.store_error is not None:
            return False
        try:
            return engine.store.begin_slot(origin, now, interval) <= now
        except StoreError:  # closed meanwhile: `take()` says so
            return False

    def take(
        self, origin: str, interval: Interval, holder: str, slots: int = 1
    ) -> Generator[Effect, Any, int | None]:
        """
        Wait until a slot may begin and fewer than *slots* are in use, and begin it.

        *interval* is called before each attempt, because rules may change during the wait. Returns
        the index of the slot, for `end()`; None: *interval* returned None, and no slot began.
        """
        engine, pause = self._cache_engine, MIN_POLL
        if self._is_monopolizing(origin):
            # Fairness: other processes may have waited longer, and poll at this interval.
            yield Wait(MAX_SLOT_POLL)
        while True:
            if engine.closed:
                raise closed_error()
            seconds = interval()
            if seconds is None:
                return None
            slot = yield from self._lease_slot(origin, holder, slots)
            if slot is None:
                yield Wait(pause)
                pause = min(2 * pause, MAX_SLOT_POLL)
                continue
            now = engine.clock()
            at: float | None = yield from engine.call_store(
                engine.store.begin_slot, origin, now, seconds
            )
            at = self._begin_in_memory(origin, seconds, now) if at is None else at
            if at <= now:
                return slot
            yield from self._release_slot(origin, holder, slot)
            yield Wait(min(at - now, MAX_WAIT))

    def _is_monopolizing(self, origin: str) -> bool:
        """Return whether this process has used an origin for long without a pause."""
        if self._cache_engine.exclusive:
            return False
        now = monotonic()
        if now - self._ended_at.pop(origin, -inf) >= MAX_SLOT_POLL:
            self._busy_since[origin] = now
            return False
        if now - self._busy_since.get(origin, -inf) < MAX_BUSY:
            return False
        self._busy_since[origin] = now  # the caller waits, so the time begins anew
        return True

    def _lease_slot(
        self, origin: str, holder: str, slots: int
    ) -> Generator[Effect, Any, int | None]:
        """Lease one of the slots; None: all are in use."""
        engine = self._cache_engine
        for slot in range(slots):
            key = _lease_key(origin, slot)
            leased = yield from engine.lease(key, holder, SLOT_TTL)
            if leased is not False:  # None: the store is unavailable
                return slot
        return None

    def end(
        self, origin: str, holder: str, slots: Iterable[int] = (0,)
    ) -> Generator[Effect, Any, None]:
        """End a slot; *slots* are the indices that the holder may have leased."""
        if not self._cache_engine.exclusive:
            with self._lock:
                if len(self._ended_at) > MAX_REMEMBERED_SLOTS:
                    self._ended_at.clear()
                    self._busy_since.clear()
                self._ended_at[origin] = monotonic()
        for slot in slots:
            yield from self._release_slot(origin, holder, slot)

    def _release_slot(self, origin: str, holder: str, slot: int) -> Generator[Effect, Any, None]:
        release = self._cache_engine.store.release
        yield from self._cache_engine.call_store(release, _lease_key(origin, slot), holder)

    def postpone(self, origin: str, until: float) -> Generator[Effect, Any, None]:
        """Allow no slot before a time."""
        with self._lock:
            self._remember(origin, max(self._next_slot.get(origin, 0.0), until))
        yield from self._cache_engine.call_store(
            self._cache_engine.store.postpone_slot, origin, until
        )

    def _reserve_in_memory(self, origin: str, interval: float) -> float:
        with self._lock:
            at = max(self._cache_engine.clock(), self._next_slot.get(origin, 0.0))
            self._remember(origin, at + interval)
        return at

    def _begin_in_memory(self, origin: str, interval: float, now: float) -> float:
        with self._lock:
            ready = self._next_slot.get(origin, 0.0)
            if ready > now:
                return ready
            self._remember(origin, now + interval)
        return now

    def _remember(self, origin: str, at: float) -> None:
        if len(self._next_slot) > MAX_REMEMBERED_SLOTS:
            now = self._cache_engine.clock()
            upcoming = {name: time for name, time in self._next_slot.items() if time > now}
            self._next_slot = upcoming
        self._next_slot[origin] = at


def _lease_key(origin: str, slot: int) -> str:
    # Keys are stored: processes of other versions share them, so "turn" stays.
    return f"turn {origin} {slot}" if slot else f"turn {origin}"


def find_retry_delay(status: int, headers: object, now: float) -> float | None:
    """
    Return the seconds for which a response asks not to be contacted; None: it does not.

    Retry-After applies to redirects and errors (RFC 9110 §10.2.3); 429 and 503 without one mean a
    minute.
    """
    retry_after = parse_retry_after(read_fields(headers), now) if status >= 300 else None
    if retry_after is None and status in (429, 503):
        return DEFAULT_RETRY_AFTER
    return retry_after


class Slot:
    """A slot of an origin: fetch, then record the response."""

    __slots__ = ("_clock", "_holder", "delay", "origin", "until")

    def __init__(self, origin: str, delay: Delay, clock: Callable[[], float]) -> None:
        self.origin = origin
        self.delay = delay
        self._holder = ""
        self.until: float | None = None
        """Allow no slot before this time, because of a recorded response; None: no restriction."""
        self._clock = clock

    @property
    def holder(self) -> str:
        """The name that holds the lease of this slot."""
        if not self._holder:
            self._holder = new_holder()
        return self._holder

    def record_response(self, status: int, headers: object = None) -> float | None:
        """
        Record a response: 429, 503 and Retry-After postpone the next slot.

        Returns by how many seconds; None if the response does not ask for it.
        """
        if status < 300:  # most responses: Retry-After has no meaning there
            return None
        now = self._clock()
        delay = find_retry_delay(status, headers, now)
        if delay is None:
            return None
        self.until = max(self.until or 0.0, now + delay)
        return delay
