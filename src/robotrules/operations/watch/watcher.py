"""
The watcher: looks at targets through the client, records what changed, and delivers it.

Looks are as polite as the client: one request at a time for each origin, at the pace that the site
sets, conditional requests for robots.txt files, no private addresses unless they are allowed. A
page is fetched only if the rules allow it to this program. Several origins are looked at
concurrently; what each of them shows is committed as soon as it is known. A look that ends with an
error of this program or of the store changes nothing, and is repeated after the usual interval.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Sequence
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import NamedTuple

from robotrules.client.auditing.sitemap_files import MAX_BYTES as MAX_SITEMAP_BYTES
from robotrules.client.sync import Client
from robotrules.errors import StoreError
from robotrules.http.origins import authority_end, origin_of, parse_origin
from robotrules.octets import visible
from robotrules.operations.watch.comparison import AFTER, Baseline, advance
from robotrules.operations.watch.events import EventKind, WatchEvent, is_at_least, make_event
from robotrules.operations.watch.observations import (
    MAX_KEPT_URL,
    FileObservation,
    Observation,
    observe_file,
    observe_page,
    observe_sitemap,
)
from robotrules.operations.watch.outbox import DeliverySummary, Outbox
from robotrules.operations.watch.state import LostLeaseError, WatchState

MAX_TARGETS = 10_000
# Origins that are looked at at a time.
CONCURRENCY = 8
# Sitemaps of an origin that are fetched in a look.
MAX_SITEMAPS_FETCHED = 5
# The interval between two looks is changed by up to this part.
JITTER = 0.05
# Seconds between checks for a signal, and between renewals of the lease.
POLL, RENEW = 0.5, 60.0
# Seconds between deliveries during a look.
BETWEEN = 5.0


class WatchTarget(NamedTuple):
    """An origin whose robots.txt is watched, with the pages of it that are watched too."""

    origin: str
    pages: tuple[str, ...] = ()


class Look(NamedTuple):
    """What one look at a target brought; passed to the callback of a watcher."""

    target: str
    before: Baseline
    seen: Observation
    events: tuple[WatchEvent, ...]

    @property
    def is_first(self) -> bool:
        """Whether the target was never seen before."""
        return self.before.observation is None and not self.seen.failed


def parse_targets(texts: Iterable[str]) -> list[WatchTarget]:
    """
    Return the targets of a list of origins, hosts and URLs of pages, each once.

    A URL with a path is a page, also `https://example.com/`; its origin is watched too. ValueError
    for text that is none of these.
    """
    found: dict[str, dict[str, None]] = {}
    for number, given in enumerate(texts):
        text = given.strip()
        if number >= MAX_TARGETS:
            raise ValueError(f"more than {MAX_TARGETS:,} targets: use several watches")
        origin = parse_origin(text)
        if origin is None or len(text) > MAX_KEPT_URL or not text.isprintable():
            raise ValueError(
                f"{visible(text)[:200]!r} is not an origin or URL: pass one such as "
                "https://example.com or https://example.com/page"
            )
        pages = found.setdefault(origin, {})
        url = (text if "://" in text else f"https://{text}").partition("#")[0]
        rest = url[authority_end(url) :]
        if rest and rest != "/robots.txt":
            pages[origin + (rest if rest.startswith("/") else f"/{rest}")] = None
    return [WatchTarget(origin, tuple(pages)) for origin, pages in found.items()]


def make_test_event(at: float) -> WatchEvent:
    """Return an event with which channels are tested."""
    return make_event(
        EventKind.TEST,
        "info",
        "This is a test of robotrules watch: nothing changed.",
        at=at,
        origin="https://example.com",
        target="https://example.com/robots.txt",
        revision=int(at),
    )


class _Result(NamedTuple):
    """How the look at a target ended."""

    target: WatchTarget
    seen: list[Observation]
    error: Exception | None = None


class Watcher:
    """Looks at targets and delivers events."""

    def __init__(
        self,
        client: Client,
        state: WatchState,
        targets: Sequence[WatchTarget],
        outbox: Outbox,
        *,
        after: int = AFTER,
        crawlers: Sequence[str] = (),
        fetch_sitemaps: bool = False,
        min_level: str = "info",
        concurrency: int = CONCURRENCY,
        clock: Callable[[], float] = time.time,
        on_look: Callable[[Look], object] | None = None,
        on_delivery: Callable[[DeliverySummary], object] | None = None,
        on_error: Callable[[str, Exception], object] | None = None,
    ) -> None:
        """
        *state* is open, and this process has its lease.

        *on_look* is called for each target, *on_delivery* for each channel that had something to
        deliver, *on_error* for each origin of which a look ended with an exception.
        """
        self._client = client
        self._state = state
        self._targets = tuple(targets)
        self._outbox = outbox
        self._after = after
        self._crawlers = tuple(crawlers)
        self._fetch_sitemaps = fetch_sitemaps
        self._min_level = min_level
        self._concurrency = concurrency
        self._clock = clock
        self._on_look = on_look
        self._on_delivery = on_delivery
        self._on_error = on_error
        self._next: dict[str, float] = {}

    # --- Looking --------------------------------------------------------------------------------

    def look(self, targets: Sequence[WatchTarget] | None = None, stop: Event | None = None) -> int:
        """
        Look at targets, all by default, and record what changed; return the number of events.

        After *stop* is set, no further look begins, and one that is under way is left behind.
        """
        found, renewed, delivered = 0, time.monotonic(), time.monotonic()
        waiting = list(reversed(self._targets if targets is None else targets))
        results: SimpleQueue[_Result] = SimpleQueue()
        running = 0
        while (waiting or running) and not (stop is not None and stop.is_set()):
            while waiting and running < self._concurrency:
                self._start(waiting.pop(), results)
                running += 1
            try:
                result = results.get(timeout=POLL)
            except Empty:
                pass
            else:
                running -= 1
                found += self._finish(result)
            if time.monotonic() - delivered > BETWEEN:
                self.deliver(stop)  # a look at many targets takes minutes
                delivered = time.monotonic()
            if time.monotonic() - renewed > RENEW:
                self._renew()
                renewed = time.monotonic()
        return found

    def _start(self, target: WatchTarget, results: SimpleQueue[_Result]) -> None:
        """Observe a target in a thread that keeps no process from ending."""

        def work() -> None:
            """Observe, and say how it ended."""
            try:
                results.put(_Result(target, self._observe(target)))
            except Exception as error:  # one look of many
                results.put(_Result(target, [], error))

        Thread(target=work, name="robotrules-watch", daemon=True).start()

    def _finish(self, result: _Result) -> int:
        """Record what a look has seen; return the number of events."""
        error, found = result.error, 0
        if error is None:
            try:
                for seen in result.seen:
                    found += self._record(seen)
            except LostLeaseError:
                raise
            except Exception as caught:
                error = caught
        if error is not None and self._on_error is not None:
            self._on_error(result.target.origin, error)
        return found

    def _renew(self) -> None:
        """Renew the lease; a store that is busy now is asked again later."""
        try:
            self._state.renew()
        except LostLeaseError:
            raise
        except StoreError:
            pass

    def _observe(self, target: WatchTarget) -> list[Observation]:
        """Fetch a robots.txt, and what of it is watched; no robots.txt, no page."""
        state = self._client.refresh(target.origin)
        assert state is not None  # targets have origins
        file = observe_file(state)
        if file.failed:
            return [file]
        if self._fetch_sitemaps and file.has_file:
            file = self._observe_sitemaps(file)
        found: list[Observation] = [file]
        for url in target.pages:
            page = self._client.fetch(url)
            found.append(observe_page(url, page, self._clock()))
        return found

    def _observe_sitemaps(self, file: FileObservation) -> FileObservation:
        robots = file.robots()
        if robots is None:
            return file
        seen = list(file.sitemaps)
        for number, listed in enumerate(seen[:MAX_SITEMAPS_FETCHED]):
            if origin_of(listed.url) is not None:
                page = self._client.fetch(listed.url, limit=MAX_SITEMAP_BYTES)
                if page.verdict.allowed:
                    seen[number] = observe_sitemap(listed, page, robots, file.origin)
        return file._replace(sitemaps=tuple(seen))

    def _record(self, seen: Observation) -> int:
        before = self._state.baseline(seen.target)
        after, events = advance(before, seen, after=self._after, crawlers=self._crawlers)
        told = tuple(event for event in events if is_at_least(event.level, self._min_level))
        new = self._state.record(seen.target, after, told, self._outbox.keys)
        if self._on_look is not None:
            self._on_look(Look(seen.target, before, seen, told))
        return new

    # --- Running --------------------------------------------------------------------------------

    def deliver(self, stop: Event | None = None) -> list[DeliverySummary]:
        """Deliver what is due until *stop* is set, and report it to *on_delivery*."""
        summaries = self._outbox.deliver(stop)
        for summary in summaries:
            if self._on_delivery is not None:
                self._on_delivery(summary)
        return summaries

    def run(self, every: float, stop: Event) -> None:
        """
        Look at each target every so many seconds, and deliver, until *stop* is set.

        A target that was seen less than *every* seconds ago, by this process or one before, is not
        due yet: a restart makes no extra requests.
        """
        renewed = time.monotonic()
        while not stop.is_set():
            now = self._clock()
            due = [target for target in self._targets if self._due(target, every, now) <= now]
            if due:
                self.look(due, stop)
                after = self._clock()
                for target in due:
                    self._next[target.origin] = after + every * random.uniform(
                        1 - JITTER, 1 + JITTER
                    )
            self.deliver(stop)
            if time.monotonic() - renewed > RENEW:
                self._renew()
                renewed = time.monotonic()
            now = self._clock()
            times = [self._due(target, every, now) for target in self._targets]
            attempt = self._outbox.next_attempt()
            following = min([*times, *([] if attempt is None else [attempt])], default=now + RENEW)
            stop.wait(min(max(following - now, 0.05), RENEW / 2))

    def _due(self, target: WatchTarget, every: float, now: float) -> float:
        """Return when to look at a target."""
        if target.origin not in self._next:
            seen_at = self._state.baseline(f"{target.origin}/robots.txt").seen_at
            # A time in the future was stored before the clock was set back.
            self._next[target.origin] = seen_at + every if 0 < seen_at <= now else now
        return self._next[target.origin]
