"""
The robots.txt of an origin, with the methods of crawlee's `RobotsTxtFile`.

crawlee checks the rules of `*` and keeps a file for the whole crawl. Here the rules of the
crawler's name apply, and an expired file is fetched again. Fetching and caching are those of
`AsyncClient`.
"""

from __future__ import annotations

import asyncio
import time
from math import ceil
from typing import Any

from crawlee._utils import robots as crawlee_robots

from robotrules.client import AsyncClient, OriginState, required_delay
from robotrules.http.origins import origin_of
from robotrules.robotstxt import Tokens
from robotrules.robotstxt.tokens import product_token


class RobotsTxtFile(crawlee_robots.RobotsTxtFile):
    """The robots.txt of an origin, with crawlee's methods; made by `install()`."""

    def __init__(self, url: str, client: AsyncClient, state: OriginState, **options: Any) -> None:
        """*state* is what the client found at the origin of *url*."""
        records: Any = _Records(self)
        super().__init__(url, records, **options)
        self._client, self._state = client, state
        self._refresh: asyncio.Task[OriginState | None] | None = None

    @property
    def state(self) -> OriginState:
        """The state of the origin; after its expiry it is fetched again in the background."""
        state = self._client.cached(f"{self._state.origin}/")
        if state is not None:
            self._state = state
        elif self._refresh is None or self._refresh.done():
            lookup = self._client.lookup(f"{self._state.origin}/")
            self._refresh = asyncio.ensure_future(lookup)
        return self._state

    def is_allowed(self, url: str, user_agent: str = "*") -> bool:
        """
        Return whether a URL is allowed; crawlee's `*` stands for the name of the client.

        A URL of another origin is allowed: crawlee checks it again, with the file of its origin,
        before it is requested.
        """
        state = self.state
        if origin_of(url) != state.origin:
            return True
        return state.check(url, self._tokens(user_agent)).allowed

    def _tokens(self, user_agent: str) -> Tokens:
        # A header without a name, such as a browser's, gets the rules for all crawlers.
        return self._client.product_token if user_agent == "*" else product_token(user_agent) or "*"

    def get_crawl_delay(self, user_agent: str = "*") -> int | None:
        """Return the delay that Crawl-delay or Request-rate requires, in whole seconds."""
        tokens = self._tokens(user_agent)
        delay = required_delay(self.state.robots, tokens, now=time.time())
        return ceil(delay.seconds) or None


class _Records:
    """What crawlee's own methods read from a file: its sitemaps."""

    def __init__(self, file: RobotsTxtFile) -> None:
        self._file = file

    @property
    def sitemaps(self) -> list[str]:
        """The URLs of the file's Sitemap records."""
        return [sitemap.url for sitemap in self._file.state.robots.sitemaps]
