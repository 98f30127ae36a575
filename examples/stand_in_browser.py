"""
A stand-in for a browser under Playwright, and a site with rules for its pages.

It has the methods and attributes of Playwright's page, route, request and response that a route
handler uses. It requests a document and what the HTML names in `src`; it runs no scripts.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import urljoin, urlsplit

_SOURCE = re.compile(rb"<(img|script|iframe)\b[^>]*?\bsrc=[\"']?([^\"'\s>]+)")
_TYPES = {b"img": "image", b"script": "script", b"iframe": "document"}


class StandInRequest:
    """A request of the page."""

    def __init__(self, url: str, resource_type: str, frame: object) -> None:
        self.url, self.resource_type, self.frame = url, resource_type, frame


class StandInResponse:
    """A response, as `route.fetch()` returns it."""

    def __init__(self, status: int, fields: list[tuple[str, str]], body: bytes) -> None:
        self.status, self._body = status, body
        self.headers = {name.lower(): value for name, value in fields}
        self.headers_array = [{"name": name, "value": value} for name, value in fields]

    async def body(self) -> bytes:
        """Return the octets."""
        return self._body


class StandInRoute:
    """A request that a handler fulfils or aborts."""

    def __init__(self, request: StandInRequest, user_agent: str) -> None:
        self.request, self._user_agent = request, user_agent
        self.response: StandInResponse | None = None
        self.aborted: str | None = None

    async def fetch(self, url: str | None = None, max_redirects: int = 20) -> StandInResponse:
        """Send the request; redirects are not followed."""
        assert max_redirects == 0, "a browser would follow redirects that are not checked"
        return await asyncio.to_thread(self._send, url or self.request.url)

    def _send(self, url: str) -> StandInResponse:
        parts = urlsplit(url)
        connection = HTTPConnection(parts.netloc, timeout=10)
        try:
            connection.request("GET", parts.path, headers={"User-Agent": self._user_agent})
            response = connection.getresponse()
            return StandInResponse(response.status, response.getheaders(), response.read())
        finally:
            connection.close()

    async def continue_(self) -> None:
        """Let the browser send the request."""
        self.response = await self.fetch(max_redirects=0)

    async def fulfill(self, response: StandInResponse) -> None:
        """Give the browser a response."""
        self.response = response

    async def abort(self, error_code: str) -> None:
        """Give the browser an error."""
        self.aborted = error_code


class StandInPage:
    """A page, which is its own context; *error* is what `goto()` raises."""

    def __init__(self, user_agent: str, error: type[Exception] = OSError) -> None:
        self._user_agent, self._error = user_agent, error
        self.context, self.main_frame = self, object()
        self._handler: Callable[[Any], Awaitable[None]]
        self._html = b""

    async def route(self, pattern: str, handler: Callable[[Any], Awaitable[None]]) -> None:
        """Call *handler* for each request."""
        self._handler = handler

    async def goto(self, url: str) -> None:
        """Request a document, and what it needs."""
        response = await self._request(url, "document", self.main_frame)
        if response is None:
            raise self._error(f"net::ERR_FAILED at {url}")
        self._html = await response.body()
        for element, source in _SOURCE.findall(self._html):
            await self._request(urljoin(url, source.decode()), _TYPES[element], object())

    async def _request(self, url: str, resource_type: str, frame: object) -> StandInResponse | None:
        route = StandInRoute(StandInRequest(url, resource_type, frame), self._user_agent)
        await self._handler(route)
        assert (route.response is None) != (route.aborted is None), "neither fulfilled nor aborted"
        return route.response

    async def content(self) -> str:
        """Return the HTML: without scripts it is the initial one."""
        return self._html.decode()


HTML = ("Content-Type", "text/html")
PAGES: dict[str, tuple[int, tuple[tuple[str, str], ...], str]] = {
    "/robots.txt": (200, (), "User-agent: *\nDisallow: /private/\n"),
    "/": (
        200,
        (HTML, ("Robots-Tag", "*;max-snippet=80")),
        '<!doctype html><meta name="robots" content="noarchive"><title>Home</title>'
        '<img src="/logo.png"><img src="/private/pixel.png">',
    ),
    "/old": (301, (("Location", "/news"),), ""),
    "/news": (200, (HTML, ("X-Robots-Tag", "noindex")), "<!doctype html><title>News</title>"),
    "/account": (302, (("Location", "/private/login"),), ""),
    "/logo.png": (200, (("Content-Type", "image/png"),), ""),
}


class PageSite(ThreadingHTTPServer):
    """The site; `asked` has the paths that were requested."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.asked: list[str] = []
        Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def __exit__(self, *error: object) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: PageSite

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        status, fields, body = PAGES.get(self.path, (404, (), ""))
        self.send_response(status)
        for name, value in (*fields, ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *args: object) -> None:
        """Log nothing."""


if __name__ == "__main__":
    for path, (status, fields, _) in PAGES.items():
        print(path, status, *(f"{name}: {value}" for name, value in fields), sep="  ")
