"""
The robots.txt of an origin, with the methods of crawlee's `RobotsTxtFile`.

crawlee checks the rules of `*` and keeps a file for the whole crawl. Here the rules of the
crawler's name apply, and an expired file allows nothing until it is found again (RFC 9309 §2.4: 24
hours). Fetching and caching are those of `AsyncClient`.
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
        self._loop = asyncio.get_running_loop()
        self._is_current = False
        self._hold_for_a_step()

    def __bool__(self) -> bool:
        """
        Return whether the file has not expired; crawlee awaits `find()` again for a false one.

        crawlee allows a URL if the file that it has just found is false. So an answer is kept for
        one step of the event loop, and nothing expires between two expressions of crawlee.
        """
        if not self._is_current and self._find_state() is not None:
            self._hold_for_a_step()
        return self._is_current

    def _hold_for_a_step(self) -> None:
        self._is_current = True
        self._loop.call_soon(self._release)

    def _release(self) -> None:
        self._is_current = False

    def _find_state(self) -> OriginState | None:
        """Return the state of the origin; None: it has expired, and is fetched again."""
        if self._is_current:
            return self._state
        url = f"{self._state.origin}/"
        state = self._client.cached(url)
        if state is not None:
            self._state = state
        elif self._refresh is None or self._refresh.done():
            self._refresh = asyncio.ensure_future(self._client.lookup(url))
        return state

    @property
    def state(self) -> OriginState:
        """The state of the origin; after its expiry it is fetched again in the background."""
        return self._find_state() or self._state

    def is_allowed(self, url: str, user_agent: str = "*") -> bool:
        """
        Return whether a URL is allowed; crawlee's `*` stands for the name of the client.

        A file that has expired is not used: nothing of its origin is allowed until the new one has
        arrived. crawlee waits for the new one instead, because an expired file is false.

        A URL of another origin is allowed: crawlee checks it again, with the file of its origin,
        before it is requested.
        """
        if origin_of(url) != self._state.origin:
            return True
        state = self._find_state()
        return state is not None and state.check(url, self._tokens(user_agent)).allowed

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
