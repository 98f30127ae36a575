"""
The replacement of crawlee's methods, and the HTTP client whose requests are checked.

crawlee has no setting for the class of robots.txt files, so `install()` replaces the methods that
find and load a file; all crawlers of the process use them.
"""

from __future__ import annotations

import logging
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar

from crawlee._utils import robots as crawlee_robots
from crawlee.http_clients import HttpxHttpClient

from robotrules.client import AsyncClient
from robotrules.integrations.crawlee.request_hooks import RequestHooks
from robotrules.integrations.crawlee.robots_file import RobotsTxtFile
from robotrules.integrations.crawling import ClientBinding

if TYPE_CHECKING:
    from crawlee.http_clients import HttpClient
    from crawlee.proxy_configuration import ProxyInfo

logger = logging.getLogger(__name__)


class Installation:
    """The replacement in effect; close it to restore crawlee's own methods."""

    _active: ClassVar[Installation | None] = None

    def __init__(self, robots: str | AsyncClient, options: dict[str, Any]) -> None:
        if Installation._active is not None:
            name = Installation._active.client.user_agent
            raise RuntimeError(
                f"install() is in effect already, for {name!r}, and counts for all crawlers of the "
                "process: use that installation, or close it first by `await "
                "installation.aclose()` or by the end of its `async with`"
            )
        # crawlee sends the headers of a browser, which the hooks replace: there is no default.
        self._binding = ClientBinding(robots, AsyncClient, options, "")
        self.client: AsyncClient = self._binding.client
        """The client that fetches and caches the files."""
        self._hooks = RequestHooks(self.client)
        self._http_client: HttpxHttpClient | None = None
        self._has_warned = self._gave_hooks = False
        original = crawlee_robots.RobotsTxtFile
        self._saved = {name: original.__dict__[name] for name in ("load", "find")}

        async def find(
            cls: type,
            url: str,
            http_client: HttpClient | None = None,
            proxy_info: ProxyInfo | None = None,
        ) -> RobotsTxtFile:
            """
            Return the robots.txt of the origin of a URL.

            It replaces `load()` too: if *url* is that of another file, such as `/other.txt`, the
            result is still the robots.txt of its origin.
            """
            self._expect_hooks(http_client)
            state = await self.client.lookup(url)
            if state is None:
                raise ValueError(f"{url!r} has no robots.txt: pass an http or https URL")
            options = {"http_client": http_client, "proxy_info": proxy_info}
            return RobotsTxtFile(url, self.client, state, **options)

        for name in self._saved:
            setattr(original, name, classmethod(find))
        Installation._active = self

    @property
    def http_client(self) -> HttpxHttpClient:
        """The HTTP client to pass to a crawler: it has the `event_hooks`."""
        if self._http_client is None:
            self._http_client = HttpxHttpClient(event_hooks=self._make_hooks())
        return self._http_client

    @property
    def event_hooks(self) -> dict[str, list[Any]]:
        """
        Hooks for an `HttpxHttpClient` with other arguments than `http_client` has.

        crawlee itself checks a URL before it is requested, and not the target of a redirect. The
        hooks check every request, redirects included, send the crawler's name, wait until the
        origin permits the request, and record Retry-After.
        """
        self._gave_hooks = True
        return self._make_hooks()

    def _make_hooks(self) -> dict[str, list[Any]]:
        return {"request": [self._hooks.on_request], "response": [self._hooks.on_response]}

    def _expect_hooks(self, http_client: HttpClient | None) -> None:
        """Warn once if a crawler's HTTP client cannot have the hooks."""
        may_have_hooks = self._gave_hooks and isinstance(http_client, HttpxHttpClient)
        if http_client in (None, self._http_client) or may_have_hooks or self._has_warned:
            return
        self._has_warned = True
        logger.warning(
            "The crawler uses %s without the hooks of robotrules: targets of redirects are not "
            "checked, the User-Agent is not %r, and requests do not wait for Crawl-delay and "
            "Retry-After. Pass http_client=installation.http_client to the crawler",
            type(http_client).__name__,
            self.client.user_agent,
        )

    async def aclose(self) -> None:
        """Restore crawlee's methods, and close the client if `install()` created it."""
        if Installation._active is self:
            Installation._active = None
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

    *options* are those of `AsyncClient`. A crawler still needs `respect_robots_txt_file=True` and
    `http_client=installation.http_client`. One installation can be in effect at a time.
    """
    return Installation(robots, options)
