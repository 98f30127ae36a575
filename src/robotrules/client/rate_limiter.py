"""
Rate limiter: when the next request to an origin may be made, and how many at once.

Crawl-delay and Request-rate of the robots.txt, Retry-After of the last answers and the crawler's
own least delay become one number: the seconds between two requests to an origin. `RateLimiter`
makes slots of them, which all processes that share a store take one after the other. None of it
touches a verdict (AMB-118). It does not wait: who drives the flow does.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from datetime import UTC, datetime
from math import inf
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple

from robotrules.cache import parse_retry_after
from robotrules.client.cache_engine import FIRST_LOOK, CacheEngine, Effect, Wait
from robotrules.client.holders import new_holder
from robotrules.extensions.crawl_delay import CrawlDelay, crawl_delay
from robotrules.extensions.request_rate import RequestRate, request_rates
from robotrules.http.fields import read_fields
from robotrules.robotstxt import RobotsTxt, Tokens

# Nobody waits longer than a day for a turn: a larger Crawl-delay is a wish not to be crawled, which
# its site can say with Disallow.
LONGEST_DELAY = 86_400.0
# Without a Retry-After, what 429 and 503 are taken to ask for.
USUAL_PAUSE = 60.0
# How long a turn is held at most: who needs longer shares the origin with the next.
TURN_SECONDS = 60.0
# How often somebody who waits for another's turn to end looks again, at least.
LAST_TURN_LOOK = 0.1
# And how long somebody waits for a moment before he asks again whether it is still that moment.
LONGEST_WAIT = 60.0
# Origins whose turns are remembered here, for when the store cannot.
REMEMBERED_TURNS = 65_536


class Delay(NamedTuple):
    """The seconds between two requests to an origin, and what asks for them."""

    seconds: float
    reason: str
    """`crawl-delay`, `request-rate` or `min-delay`."""
    line: int | None = None
    """The line of the record that asks."""

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
    """Return the politest of what a robots.txt asks for at a moment and *min_delay*."""
    return delay_at(pace_of(robots, product_token, purposes), now, min_delay)


# What a file asks of one crawler: a delay, and rates that may be for a part of the day.
Pace = tuple[CrawlDelay | None, tuple[RequestRate, ...]]


def pace_of(robots: RobotsTxt, product_token: Tokens, purposes: Sequence[str] = ()) -> Pace:
    """Return what a robots.txt asks of a crawler, at any time of the day."""
    return (
        crawl_delay(robots, product_token, purposes),
        request_rates(robots, product_token, purposes),
    )


def states_pace(pace: Pace) -> bool:
    """Tell whether a file asks a crawler to go slowly, now or at another time of the day."""
    delay, rates = pace
    return (delay is not None and delay.seconds > 0) or bool(rates)


def delay_at(pace: Pace, now: float, min_delay: float) -> Delay:
    """Return the politest of what is asked for at a moment."""
    delay, rates = pace
    asked = [Delay(min_delay, "min-delay")]
    if delay is not None:
        asked.append(Delay(delay.seconds, "crawl-delay", delay.line))
    at = datetime.fromtimestamp(now, UTC)
    asked += [Delay(rate.seconds, "request-rate", rate.line) for rate in rates if rate.applies(at)]
    longest = max(asked, key=lambda one: one.seconds)
    return longest._replace(seconds=min(longest.seconds, LONGEST_DELAY))


class RateLimiter:
    """
    Turns at origins, taken through the store; through memory while it cannot answer.

    A turn counts when it begins: who gives up waiting has taken nothing. While one waits, the store
    is looked at again from time to time, so that a Retry-After somebody else got is heeded.
    """

    def __init__(self, desk: CacheEngine) -> None:
        self._desk = desk
        self._lock = Lock()
        self._next: dict[str, float] = {}
        self._ended: dict[str, float] = {}

    def reserve(self, origin: str, interval: float) -> Generator[Effect, Any, float]:
        """Take the next turn at an origin; return when it is, in seconds since 1970."""
        desk = self._desk
        at: float | None = yield from desk.call_store(
            desk.store.reserve_slot, origin, desk.clock(), interval
        )
        return self._reserved(origin, interval) if at is None else at

    def take(
        self, origin: str, interval: float, holder: str, slots: int = 1
    ) -> Generator[Effect, Any, int]:
        """
        Wait until a turn may begin at an origin and fewer than *slots* others go on, and begin it.

        Returns which of the slots it has, for `end()`.
        """
        desk, pause = self._desk, FIRST_LOOK
        if monotonic() - self._ended.pop(origin, -inf) < LAST_TURN_LOOK:
            # Others may have waited longer, and look from time to time: let them.
            yield Wait(LAST_TURN_LOOK)
        while True:
            slot = yield from self._leased(origin, holder, slots)
            if slot is None:
                yield Wait(pause)
                pause = min(2 * pause, LAST_TURN_LOOK)
                continue
            now = desk.clock()
            at: float | None = yield from desk.call_store(
                desk.store.begin_slot, origin, now, interval
            )
            at = self._begun(origin, interval) if at is None else at
            if at <= now:
                return slot
            yield from self._let_go(origin, holder, slot)
            yield Wait(min(at - now, LONGEST_WAIT))

    def _leased(self, origin: str, holder: str, slots: int) -> Generator[Effect, Any, int | None]:
        """Lease one of the slots; None: others have them all."""
        desk = self._desk
        for slot in range(slots):
            key = _key(origin, slot)
            leased = yield from desk.lease(key, holder, TURN_SECONDS)
            if leased is not False:  # None: the store cannot say
                return slot
        return None

    def end(
        self, origin: str, holder: str, slots: Iterable[int] = (0,)
    ) -> Generator[Effect, Any, None]:
        """Let the next one have its turn; *slots* are those that the holder may have."""
        if not self._desk.alone:
            with self._lock:
                if len(self._ended) > REMEMBERED_TURNS:
                    self._ended.clear()
                self._ended[origin] = monotonic()
        for slot in slots:
            yield from self._let_go(origin, holder, slot)

    def _let_go(self, origin: str, holder: str, slot: int) -> Generator[Effect, Any, None]:
        yield from self._desk.call_store(self._desk.store.release, _key(origin, slot), holder)

    def postpone(self, origin: str, until: float) -> Generator[Effect, Any, None]:
        """Let there be no turn before a moment."""
        with self._lock:
            self._remember(origin, max(self._next.get(origin, 0.0), until))
        yield from self._desk.call_store(self._desk.store.postpone_slot, origin, until)

    def _reserved(self, origin: str, interval: float) -> float:
        with self._lock:
            at = max(self._desk.clock(), self._next.get(origin, 0.0))
            self._remember(origin, at + interval)
        return at

    def _begun(self, origin: str, interval: float) -> float:
        with self._lock:
            now, ready = self._desk.clock(), self._next.get(origin, 0.0)
            if ready > now:
                return ready
            self._remember(origin, now + interval)
        return now

    def _remember(self, origin: str, at: float) -> None:
        if len(self._next) > REMEMBERED_TURNS:
            now = self._desk.clock()
            self._next = {one: then for one, then in self._next.items() if then > now}
        self._next[origin] = at


def _key(origin: str, slot: int) -> str:
    return f"turn {origin} {slot}" if slot else f"turn {origin}"


def pause_after(status: int, headers: object, now: float) -> float | None:
    """
    Return the seconds for which an answer asks to be left alone; None: it does not.

    Retry-After counts with a redirect or an error (RFC 9110 §10.2.3); 429 and 503 without one ask
    for a minute.
    """
    asked = parse_retry_after(read_fields(headers), now) if status >= 300 else None
    return USUAL_PAUSE if asked is None and status in (429, 503) else asked


class Slot:
    """One turn at an origin: fetch, then tell it what the answer was."""

    def __init__(self, origin: str, delay: Delay, clock: Callable[[], float]) -> None:
        self.origin = origin
        self.delay = delay
        self.holder = new_holder()
        self.until: float | None = None
        """No turn before this, because of what was heeded; None: nothing was."""
        self._clock = clock

    def record_response(self, status: int, headers: object = None) -> float | None:
        """
        Take note of an answer: 429, 503 and a Retry-After put off the next turn.

        Returns for how many seconds; None: there is nothing to heed.
        """
        now = self._clock()
        asked = pause_after(status, headers, now)
        if asked is None:
            return None
        self.until = max(self.until or 0.0, now + asked)
        return asked
