"""
Downloader middleware: the rules of RFC 9309 for every request of a spider.

It replaces Scrapy's RobotsTxtMiddleware. A request is checked by the rules of its origin; redirects
and retries pass the middlewares again, so they are checked again. robots.txt files are fetched by a
client of robotrules, not by Scrapy's downloader: with an SSRF guard, and into a store that spiders
share. Delays are in `slots`, and what a page says about its use is in `response_rules`.
"""

from __future__ import annotations

import logging
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, NoReturn
from weakref import WeakKeyDictionary

from scrapy import Request, signals
from scrapy.exceptions import IgnoreRequest, NotConfigured

from robotrules.client.metrics import FetchEvent
from robotrules.client.origin_state import OriginState
from robotrules.errors import DisallowedError
from robotrules.integrations.scrapy.addon import require_asyncio
from robotrules.integrations.scrapy.client_settings import (
    name_setting,
    open_client,
    read_client_options,
)
from robotrules.integrations.scrapy.crawl_warnings import CrawlWarnings
from robotrules.integrations.scrapy.parser import ANY_CRAWLER, token_in_header
from robotrules.integrations.scrapy.response_rules import META_KEY, ResponseRules
from robotrules.integrations.scrapy.slots import DownloadSlots
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.verdict import Verdict

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

_HTTP = ("http:", "https:")


class RequestDisallowed(DisallowedError, IgnoreRequest):
    """What an errback gets for a request that the rules disallow; it has the verdict."""


class RobotsTxtMiddleware:
    """Checks requests before they are downloaded; docs/integrations/scrapy.md has its settings."""

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        if not settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured("ROBOTSTXT_OBEY is False: robots.txt is not obeyed")
        require_asyncio()
        self._stats: Any = crawler.stats
        # With ROBOTSTXT_USER_AGENT, the header of a request does not select the rules.
        self._reads_headers = not settings["ROBOTSTXT_USER_AGENT"]
        self._warnings = CrawlWarnings()
        self._checked: WeakKeyDictionary[Request, tuple[Verdict, RobotsTxt]] = WeakKeyDictionary()
        self.client = open_client(crawler, self._count_fetch)
        self._name = str(self.client.product_token)
        self._purposes = tuple(read_client_options(settings).get("purposes", ()))
        self._slots = DownloadSlots(crawler, self._warnings)
        crawler.signals.connect(self._close, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RobotsTxtMiddleware:
        """Create it for a crawler; an invalid setting stops the crawl."""
        return cls(crawler)

    def process_request(
        self, request: Request, spider: object = None
    ) -> Coroutine[Any, Any, None] | None:
        """Ignore a request that the rules disallow; the result is awaited only for a new origin."""
        if request.meta.get("dont_obey_robotstxt") or not request.url.startswith(_HTTP):
            return None
        state = self.client.cached(request.url)
        if state is None:
            return self._look_up(request)
        self._check(request, state)
        return None

    async def _look_up(self, request: Request) -> None:
        state = await self.client.lookup(request.url)
        if state is None:  # a URL without a host
            self._refuse(request, await self.client.check(request.url))
        self._check(request, state)

    def _check(self, request: Request, state: OriginState) -> None:
        verdict = state.check(request.url, self._name, self._purposes)
        name = self._name_in(request)
        # A header without a name does not evade the rules for the crawler's own name.
        if name != self._name and (verdict.allowed or name != ANY_CRAWLER):
            verdict = state.check(request.url, name, self._purposes)
        if not verdict.allowed:
            self._refuse(request, verdict, state)
        self._slots.admit(request, self.client.delay_for(state).seconds)
        self._stats.inc_value("robotrules/allowed")
        self._checked[request] = verdict, state.robots

    def _name_in(self, request: Request) -> str:
        """Return the product token of a request: that of its User-Agent, if it has its own."""
        header = request.headers.get(b"User-Agent") if self._reads_headers else None
        if header is None:
            return self._name
        name = token_in_header(header)
        if name == ANY_CRAWLER:
            self._warnings.warn_of_header(header, request, self._name)
        return name

    def _refuse(
        self, request: Request, verdict: Verdict, state: OriginState | None = None
    ) -> NoReturn:
        detail = "" if state is None else name_setting(state.failure_detail)
        error = RequestDisallowed(request.url, verdict, detail)
        logger.debug("Forbidden by robots.txt: %s", error)
        if state is not None and detail:
            self._warnings.warn_of_unreachable(state.origin, detail)
        self._stats.inc_value("robotrules/disallowed")
        self._stats.inc_value(f"robotrules/disallowed/reason/{verdict.reason}")
        raise error

    def process_response(
        self, request: Request, response: Response, spider: object = None
    ) -> Response:
        """Put what the page says about its use into the meta of the request."""
        if request.url.startswith(_HTTP):
            verdict, robots = self._checked.pop(request, (None, None))
            rules = ResponseRules(request.url, self._name, verdict, robots, response)
            request.meta[META_KEY] = rules
        else:  # a spider may have passed on the meta of another page
            request.meta.pop(META_KEY, None)
        return response

    def _count_fetch(self, event: FetchEvent) -> None:
        self._stats.inc_value("robotrules/robotstxt/request_count")
        outcome = f"response_status_count/{event.status}"
        if event.status is None:
            outcome = f"failure_count/{event.failure_reason}"
        self._stats.inc_value(f"robotrules/robotstxt/{outcome}")

    async def _close(self) -> None:
        await self.client.aclose()
