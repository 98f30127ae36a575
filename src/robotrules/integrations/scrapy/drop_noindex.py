"""
Spider middleware: drops items of pages that ask not to be indexed.

It uses the rules in the meta of a response. If the downloader middleware is disabled, it reads the
header fields and the HTML itself.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy import Request
from scrapy.http import Response

from robotrules.integrations.scrapy.client_settings import read_names
from robotrules.integrations.scrapy.parser import ANY_CRAWLER
from robotrules.integrations.scrapy.response_rules import HTTP_SCHEMES, META_KEY, ResponseRules

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class DropNoindexMiddleware:
    """Spider middleware: drops items of pages with the tag rule `noindex`; requests pass."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        # For pages that no RobotsTxtMiddleware has checked, as with ROBOTSTXT_OBEY = False.
        self._name = read_names(crawler).token or ANY_CRAWLER
        self._without_check: WeakKeyDictionary[Response, ResponseRules] = WeakKeyDictionary()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> DropNoindexMiddleware:
        """Create it for a crawler."""
        return cls(crawler)

    def process_spider_output(
        self, response: Response, result: Iterable[Any], spider: object = None
    ) -> Iterator[Any]:
        """Yield what a callback yields, without the items of a page with `noindex`."""
        for output in result:
            if isinstance(output, Request) or not self._drops(response):
                yield output

    async def process_spider_output_async(
        self, response: Response, result: AsyncIterator[Any], spider: object = None
    ) -> AsyncIterator[Any]:
        """Yield the same for a callback that is an asynchronous generator."""
        async for output in result:
            if isinstance(output, Request) or not self._drops(response):
                yield output

    def _drops(self, response: Response) -> bool:
        rules = self._find_rules(response)
        # None means unknown: a page that was not read to its end, for example.
        if rules is None or rules.read(response).may_index is not False:
            return False
        logger.debug("Dropped an item: noindex of %s", response.url)
        if self._crawler.stats is not None:
            self._crawler.stats.inc_value("robotrules/dropped/noindex")
        return True

    def _find_rules(self, response: Response) -> ResponseRules | None:
        """Return the rules in the meta of a response; without them, those of header and HTML."""
        rules = response.meta.get(META_KEY)
        if isinstance(rules, ResponseRules):
            return rules
        if not response.url.startswith(HTTP_SCHEMES):
            return None
        rules = self._without_check.get(response)
        if rules is None:
            rules = ResponseRules(response.url, self._name, None, None, response)
            self._without_check[response] = rules
        return rules
