"""
The check of a request: by the rules for the crawler's name and for the name in its User-Agent.

A request is checked once before other middlewares change it, and again before it is sent if they
changed its User-Agent. All names that it was checked for must be allowed.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn
from weakref import WeakKeyDictionary

from scrapy import Request
from scrapy.exceptions import IgnoreRequest

from robotrules.client.aio import AsyncClient
from robotrules.client.origin_state import OriginState
from robotrules.errors import DisallowedError
from robotrules.integrations.scrapy.crawl_warnings import CrawlWarnings
from robotrules.integrations.scrapy.parser import ANY_CRAWLER, token_in_header
from robotrules.integrations.scrapy.setting_values import name_setting, read_client_options
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.verdict import Verdict

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class RequestDisallowed(DisallowedError, IgnoreRequest):
    """What an errback gets for a request that the rules disallow; it has the verdict."""


class CheckedRequest(NamedTuple):
    """What a request was allowed by."""

    verdict: Verdict
    robots: RobotsTxt
    name: str
    """The product token in its User-Agent."""


class RequestCheck:
    """Checks the requests of a crawler by the states of their origins."""

    def __init__(self, crawler: Crawler, client: AsyncClient, warnings: CrawlWarnings) -> None:
        # With ROBOTSTXT_USER_AGENT, the header of a request does not select the rules.
        self._reads_headers = not crawler.settings["ROBOTSTXT_USER_AGENT"]
        self._stats: Any = crawler.stats
        self._warnings = warnings
        self._name = str(client.product_token)
        self._purposes = tuple(read_client_options(crawler.settings).get("purposes", ()))
        self._checked: WeakKeyDictionary[Request, CheckedRequest] = WeakKeyDictionary()

    def check(self, request: Request, state: OriginState) -> None:
        """Raise `RequestDisallowed` unless the rules allow a request to its name."""
        verdict = state.check(request.url, self._name, self._purposes)
        name = self._find_name(request)
        # A header without a name does not evade the rules for the crawler's own name.
        if name != self._name and (verdict.allowed or name != ANY_CRAWLER):
            verdict = state.check(request.url, name, self._purposes)
        if not verdict.allowed:
            self.refuse(request, verdict, state)
        self._checked[request] = CheckedRequest(verdict, state.robots, name)

    def has_changed(self, request: Request) -> bool:
        """Return whether a checked request has a User-Agent with another name now."""
        checked = self._checked.get(request)
        return checked is not None and self._find_name(request) != checked.name

    def check_again(self, request: Request, state: OriginState) -> None:
        """Check a request whose User-Agent was changed, for the name in it."""
        name = self._find_name(request)
        # As in `check()`, which may have read a header of another crawler.
        names = (self._name, name) if name == ANY_CRAWLER else (name,)
        for each in names:
            verdict = state.check(request.url, each, self._purposes)
            if not verdict.allowed:
                self._stats.inc_value("robotrules/allowed", -1)
                self.refuse(request, verdict, state)

    def pop(self, request: Request) -> CheckedRequest | None:
        """Return what a request was allowed by, and forget it; None: it was exempt."""
        return self._checked.pop(request, None)

    def _find_name(self, request: Request) -> str:
        """Return the product token of a request: that of its User-Agent, if it has its own."""
        header = request.headers.get(b"User-Agent") if self._reads_headers else None
        if header is None:
            return self._name
        name = token_in_header(header)
        if name == ANY_CRAWLER:
            self._warnings.warn_of_header(header, request, self._name)
        return name

    def refuse(
        self, request: Request, verdict: Verdict, state: OriginState | None = None
    ) -> NoReturn:
        """Count and log a disallowed request, and raise the error that its errback gets."""
        detail = "" if state is None else name_setting(state.failure_detail)
        error = RequestDisallowed(request.url, verdict, detail)
        logger.debug("Forbidden by robots.txt: %s", error)
        if state is not None and detail:
            self._warnings.warn_of_unreachable(state.origin, detail)
        self._stats.inc_value("robotrules/disallowed")
        self._stats.inc_value(f"robotrules/disallowed/reason/{verdict.reason}")
        raise error
