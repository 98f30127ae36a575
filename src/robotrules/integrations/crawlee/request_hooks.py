"""
Request hooks: what happens to each request of crawlee's `HttpxHttpClient`, redirects included.

A request is checked, waits until its origin permits it, and sends the crawler's name; Retry-After
of a response postpones the next request.
"""

from __future__ import annotations

from typing import Any

from crawlee.errors import HttpClientStatusCodeError

from robotrules.client import AsyncClient
from robotrules.errors import DisallowedError
from robotrules.integrations.checked_urls import vet_host, without_userinfo
from robotrules.integrations.refusals import REFUSAL_REASON, REFUSAL_STATUS
from robotrules.robotstxt.verdict import Verdict


class CrawleeDisallowedError(DisallowedError, HttpClientStatusCodeError):
    """A request that was not sent: its URL is disallowed. crawlee does not retry this class."""

    def __init__(self, url: str, verdict: Verdict, detail: str = "") -> None:
        HttpClientStatusCodeError.__init__(self, REFUSAL_REASON, REFUSAL_STATUS)
        DisallowedError.__init__(self, url, verdict, detail)


class RequestHooks:
    """The hooks of one client of robotrules."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def on_request(self, request: Any) -> None:
        """Check a request and wait for its time; raise an error if the rules disallow it."""
        url = without_userinfo(str(request.url))
        vet_host(url, request.headers.get("Host"))
        try:
            # Only the wait for the slot: a request that fails has no hook that could end it.
            async with self._client.checked_slot(url):
                request.headers["User-Agent"] = self._client.user_agent
        except DisallowedError as error:
            raise CrawleeDisallowedError(*error.args) from None

    async def on_response(self, response: Any) -> None:
        """Record a Retry-After."""
        url = str(response.request.url)
        await self._client.record_response(url, response.status_code, response.headers)
