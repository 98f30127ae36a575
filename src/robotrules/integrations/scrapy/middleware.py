"""
Downloader middleware: the rules of RFC 9309 for every request of a spider.

It replaces Scrapy's RobotsTxtMiddleware. A request is checked by the rules of its origin; redirects
and retries pass the middlewares again, so they are checked again. robots.txt files are fetched by a
client of robotrules, not by Scrapy's downloader: with an SSRF guard, and into a store that spiders
share. Delays are in `slots`, and what a page says about its use is in `response_rules`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from scrapy import Request, signals
from scrapy.exceptions import NotConfigured

from robotrules.client.metrics import FetchEvent
from robotrules.client.origin_state import OriginState
from robotrules.integrations.scrapy.addon import require_asyncio
from robotrules.integrations.scrapy.client_settings import open_client
from robotrules.integrations.scrapy.crawl_warnings import CrawlWarnings
from robotrules.integrations.scrapy.request_check import RequestCheck
from robotrules.integrations.scrapy.response_rules import HTTP_SCHEMES, META_KEY, ResponseRules
from robotrules.integrations.scrapy.slots import DownloadSlots

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class RobotsTxtMiddleware:
    """Checks requests before they are downloaded; docs/integrations/scrapy.md has its settings."""

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        if not settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured("ROBOTSTXT_OBEY is False: robots.txt is not obeyed")
        require_asyncio()
        self._stats: Any = crawler.stats
        self.client = open_client(crawler, self._count_fetch)
        self._name = str(self.client.product_token)
        warnings = CrawlWarnings()
        self._check = RequestCheck(crawler, self.client, warnings)
        self._slots = DownloadSlots(crawler, warnings)
        crawler.signals.connect(self._close, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RobotsTxtMiddleware:
        """Create it for a crawler; an invalid setting stops the crawl."""
        return cls(crawler)

    def process_request(
        self, request: Request, spider: object = None
    ) -> Coroutine[Any, Any, None] | None:
        """Ignore a request that the rules disallow; the result is awaited only for a new origin."""
        if request.meta.get("dont_obey_robotstxt") or not request.url.startswith(HTTP_SCHEMES):
            return None
        return self._with_state(request, self._admit)

    def check_sent_header(self, request: Request) -> Coroutine[Any, Any, None] | None:
        """Ignore a request that the rules for a User-Agent of another middleware disallow."""
        if not self._check.has_changed(request):
            return None
        return self._with_state(request, self._check.check_again)

    def _with_state(
        self, request: Request, check: Callable[[Request, OriginState], None]
    ) -> Coroutine[Any, Any, None] | None:
        state = self.client.cached(request.url)
        if state is None:
            return self._look_up(request, check)
        check(request, state)
        return None

    async def _look_up(
        self, request: Request, check: Callable[[Request, OriginState], None]
    ) -> None:
        state = await self.client.lookup(request.url)
        if state is None:  # a URL without a host
            self._check.refuse(request, await self.client.check(request.url))
        check(request, state)

    def _admit(self, request: Request, state: OriginState) -> None:
        self._check.check(request, state)
        self._slots.admit(request, self.client.delay_for(state).seconds)
        self._stats.inc_value("robotrules/allowed")

    def process_response(
        self, request: Request, response: Response, spider: object = None
    ) -> Response:
        """Put what the page says about its use into the meta of the request."""
        if request.url.startswith(HTTP_SCHEMES):
            checked = self._check.pop(request)
            verdict, robots, _ = checked or (None, None, None)
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
