"""
The replacement of crawlee's methods, and the hooks for its HTTP client.

crawlee has no setting for the class of robots.txt files, so `install()` replaces the methods that
find and load a file; all crawlers use them.
"""

from __future__ import annotations

import asyncio
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

from crawlee._utils import robots as crawlee_robots

from robotrules.client import AsyncClient
from robotrules.client.base_client import disallowed_error
from robotrules.integrations.crawlee.robots_file import RobotsTxtFile
from robotrules.integrations.crawling import ClientBinding

if TYPE_CHECKING:
    from crawlee.http_clients import HttpClient
    from crawlee.proxy_configuration import ProxyInfo


class Installation:
    """The replacement in effect; close it to restore crawlee's own methods."""

    def __init__(self, robots: str | AsyncClient, options: dict[str, Any]) -> None:
        # crawlee sends the headers of a browser, which the hooks replace: there is no default.
        self._binding = ClientBinding(robots, AsyncClient, options, "")
        self.client = self._binding.client
        """The client that fetches and caches the files."""
        original = crawlee_robots.RobotsTxtFile
        self._saved = {name: original.__dict__[name] for name in ("load", "find")}

        async def find(
            cls: type, url: str, http_client: HttpClient, proxy_info: ProxyInfo | None = None
        ) -> RobotsTxtFile:
            """Return the robots.txt of the origin of a URL."""
            state = await self.client.lookup(url)
            if state is None:
                raise ValueError(f"{url!r} has no robots.txt: pass an http or https URL")
            options = {"http_client": http_client, "proxy_info": proxy_info}
            return RobotsTxtFile(url, self.client, state, **options)

        for name in self._saved:
            setattr(original, name, classmethod(find))

    @property
    def event_hooks(self) -> dict[str, list[Any]]:
        """
        Hooks for `HttpxHttpClient(event_hooks=...)`: every request, redirects included, is checked.

        crawlee itself checks a URL before it is requested, and not the target of a redirect. The
        hooks also send the crawler's name, wait for the delay of the origin, and record
        Retry-After.
        """
        return {"request": [self._on_request], "response": [self._on_response]}

    async def _on_request(self, request: Any) -> None:
        url = str(request.url)
        verdict = await self.client.check(url)
        if not verdict.allowed:
            raise disallowed_error(self.client, url, verdict)
        request.headers["User-Agent"] = self.client.user_agent
        await asyncio.sleep(await self.client.reserve(url) - time.time())

    async def _on_response(self, response: Any) -> None:
        url = str(response.request.url)
        await self.client.record_response(url, response.status_code, response.headers)

    async def aclose(self) -> None:
        """Restore crawlee's methods, and close the client if `install()` created it."""
        for name, method in self._saved.items():
            setattr(crawlee_robots.RobotsTxtFile, name, method)
        if (client := self._binding.release()) is not None:
            await client.aclose()

    async def __aenter__(self) -> Installation:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


def install(robots: str | AsyncClient, **options: Any) -> Installation:
    """
    Let all crawlers of crawlee use robotrules; *robots* is a User-Agent or a client.

    *options* are those of `AsyncClient`. A crawler still needs `respect_robots_txt_file=True`.
    """
    return Installation(robots, options)
