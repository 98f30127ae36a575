"""
Download slots: delays of a site in the queue that Scrapy has for it.

A slot has an interval between two requests, from DOWNLOAD_DELAY, DOWNLOAD_SLOTS and AutoThrottle.
`DownloadSlots` makes it longer and never shorter, and postpones a slot for a Retry-After. It uses
only attributes that the slots of Scrapy 2.12 to 2.19 have. A site that asks for more time than
ROBOTRULES_MAX_DELAY is not crawled: requests that wait for it would occupy the whole downloader.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import scrapy
from scrapy import Request, signals
from scrapy.exceptions import IgnoreRequest
from scrapy.utils.httpobj import urlparse_cached

from robotrules.client.rate_limiter import find_retry_delay
from robotrules.integrations.scrapy.crawl_warnings import CrawlWarnings
from robotrules.integrations.scrapy.setting_values import read_seconds

logger = logging.getLogger(__name__)

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

# The clock of `slot.lastseen`.
_CLOCK = time.monotonic if scrapy.version_info >= (2, 16) else time.time
# The downloader looks at the time of the last request only if there is an interval.
_SHORTEST_INTERVAL = 1e-6


class DownloadSlots:
    """The slots of one crawler."""

    def __init__(self, crawler: Crawler, warnings: CrawlWarnings) -> None:
        self._crawler = crawler
        self._warnings = warnings
        self._stats: Any = crawler.stats
        self._max_delay = read_seconds(crawler.settings, "ROBOTRULES_MAX_DELAY", 300.0)
        self._delays: WeakKeyDictionary[Request, float] = WeakKeyDictionary()
        # Nothing to look up in the slots before the first delay and the first Retry-After.
        self._has_delays = self._has_postponed = False
        # Sent before a slot looks for its next request. AutoThrottle is connected earlier, so the
        # interval that it has just shortened is lengthened again.
        crawler.signals.connect(self._read_response, signals.response_downloaded)

    def admit(self, request: Request, delay: float) -> None:
        """Send a request with this interval to its slot; if that takes too long, ignore it."""
        slot = self._find(request) if self._has_postponed else None
        wait = delay if slot is None else max(delay, slot.lastseen - _CLOCK())
        if wait > self._max_delay:
            raise self._ignore(request, wait)
        if delay > 0:
            self._delays[request] = delay
            if not self._has_delays:  # a signal costs time for every request
                self._has_delays = True
                reached = signals.request_reached_downloader
                self._crawler.signals.connect(self._lengthen_interval, reached)

    def _find(self, request: Request) -> Any:
        """Return the slot of a request; None: it has none yet, or the downloader has no slots."""
        downloader = getattr(self._crawler.engine, "downloader", None)
        slots = getattr(downloader, "slots", None)
        return slots.get(downloader.get_slot_key(request)) if downloader and slots else None

    def _lengthen_interval(self, request: Request) -> None:
        delay = self._delays.get(request)
        slot = None if delay is None else self._find(request)
        if delay is not None and slot is not None:
            _lengthen(slot, delay)
            self._stats.max_value("robotrules/max_delay", delay)

    def _read_response(self, request: Request, response: Response) -> None:
        if self._has_delays:
            self._lengthen_interval(request)
        if b"Retry-After" not in response.headers:
            return
        wait = find_retry_delay(response.status, response.headers, time.time())
        slot = self._find(request)
        if wait is None or slot is None:
            return
        self._stats.inc_value("robotrules/retry_after")
        self._has_postponed = True
        _lengthen(slot, _SHORTEST_INTERVAL)
        slot.lastseen = max(slot.lastseen, _CLOCK() + wait)
        if wait > self._max_delay:
            waiting = list(slot.queue)
            slot.queue.clear()
            for waiting_request, deferred in waiting:
                deferred.errback(self._ignore(waiting_request, wait))

    def _ignore(self, request: Request, wait: float) -> IgnoreRequest:
        self._stats.inc_value("robotrules/dropped/delay")
        why = f"the site asks to wait {wait:.0f} s, more than ROBOTRULES_MAX_DELAY"
        logger.debug("Ignored: %s: %s", request, why)
        self._warnings.warn_of_delay(urlparse_cached(request).netloc, why)
        return IgnoreRequest(why)


def _lengthen(slot: Any, seconds: float) -> None:
    """Let at least *seconds* pass between two requests."""
    # DOWNLOAD_DELAY_JITTER (RANDOMIZE_DOWNLOAD_DELAY before 2.19) shortens it, by half by default.
    has_jitter = hasattr(slot, "jitter")
    jitter = slot.jitter if has_jitter else 0.5 if slot.randomize_delay else 0.0
    if slot.delay * (1 - jitter) < seconds:
        setattr(slot, "jitter" if has_jitter else "randomize_delay", 0)
        slot.delay = max(slot.delay, seconds)
