"""A local site for the examples that fetch; it counts requests."""

from __future__ import annotations

from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType

ROBOTS = """\
User-agent: *
Disallow: /private/
Crawl-delay: 0.05
Sitemap: {url}/sitemap.xml
"""
SITEMAP = "<urlset><url><loc>{url}/</loc></url><url><loc>{url}/hidden</loc></url></urlset>"
PAGES = {
    "/": '<a href="/news">News</a> <a href="/private/accounts">Accounts</a> <a href="/old">Old</a>',
    "/news": '<a href="/">Home</a> <a href="/busy">Busy</a> <a href="/gone">Gone</a>',
    "/busy": "Here I am.",
    "/hidden": "Only the sitemap leads here.",
    "/private/accounts": "Nobody who asks first comes here.",
}


class SmallSite(ThreadingHTTPServer):
    """A site at `site.url` until it is closed. `/old` redirects, `/busy` first returns 503."""

    daemon_threads = True

    def __init__(self, robots_status: int = 200) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.robots_status = robots_status
        """The status of the robots.txt."""
        self.asked: Counter[str] = Counter()
        Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def answer(self, path: str) -> tuple[int, str, dict[str, str]]:
        """Return status, body and fields."""
        self.asked[path] += 1
        if path == "/robots.txt":
            return self.robots_status, ROBOTS.format(url=self.url), {"Content-Type": "text/plain"}
        if path == "/sitemap.xml":
            return 200, SITEMAP.format(url=self.url), {"Content-Type": "application/xml"}
        if path == "/old":
            return 301, "", {"Location": "/private/accounts"}
        if path == "/busy" and self.asked[path] == 1:
            return 503, "", {"Retry-After": "1"}
        if path in PAGES:
            return 200, PAGES[path], {"Content-Type": "text/html"}
        return 404, "", {}

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: SmallSite

    def do_GET(self) -> None:
        status, body, fields = self.server.answer(self.path)
        self.send_response(status)
        for name, value in (fields | {"Content-Length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *args: object) -> None:
        """Log nothing."""


if __name__ == "__main__":
    with SmallSite() as site:
        for path in ("/robots.txt", "/sitemap.xml", "/old", "/busy", *PAGES):
            status, body, fields = site.answer(path)
            lines = [f"{name}: {value}" for name, value in fields.items()]
            print(path, status, *lines, sep="  ")
            print(body.replace(site.url, "http://127.0.0.1:PORT").rstrip(), end="\n\n")
