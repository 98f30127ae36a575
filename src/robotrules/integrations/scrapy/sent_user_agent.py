"""
The User-Agent that is sent: checks the rules for a header that other middlewares set.

`RobotsTxtMiddleware` is before all others that change a request, so it knows the header of the
request and of the settings. Packages that rotate User-Agents set theirs later. This middleware is
after them, and checks the rules for the name in their header too.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.exceptions import NotConfigured

from robotrules.integrations.scrapy.middleware import RobotsTxtMiddleware

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class SentUserAgentMiddleware:
    """Downloader middleware: has a request checked again if its User-Agent was changed."""

    def __init__(self, crawler: Crawler) -> None:
        if not crawler.settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured  # RobotsTxtMiddleware says so
        self._crawler = crawler
        self._rules: RobotsTxtMiddleware | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> SentUserAgentMiddleware:
        """Create it for a crawler."""
        return cls(crawler)

    def process_request(
        self, request: Request, spider: object = None
    ) -> Coroutine[Any, Any, None] | None:
        """Ignore a request that the rules for the name in its User-Agent disallow."""
        if self._rules is None:
            self._rules = self._crawler.get_downloader_middleware(RobotsTxtMiddleware)
            if self._rules is None:
                return None
        return self._rules.check_sent_header(request)
