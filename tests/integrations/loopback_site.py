"""
Loopback sites: real web servers on loopback addresses, for tests of integrations.

A site answers by path, and records what was requested, when, and how many requests were in progress
at once. Names that end in `.localhost` are resolved to 127.0.0.1 by `resolve_localhost_names()`,
which a subprocess can call too.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any, NamedTuple, Self

LOOPBACK = "127.0.0.1"
# A loopback address that the tests do not list as allowed.
PRIVATE = "127.0.0.2"
# How much later than sent a busy machine notes a request: the gap after it is shorter by that.
LATENESS = 0.08
CHALLENGE = 'Digest realm="pages", nonce="abc", qop="auth"'


class Answer(NamedTuple):
    """What a site sends for a path."""

    status: int = 200
    body: bytes = b"a page"
    headers: tuple[tuple[str, str], ...] = ()
    delay: float = 0.0
    """Seconds before the response."""


class SeenRequest(NamedTuple):
    """A request that a site received."""

    path: str
    at: float
    headers: dict[str, str]
    """By name, written as `User-Agent`."""
    protocol: str = "http/1.1"


class Site:
    """The answers of a site by path; other paths are pages, and robots.txt is missing."""

    def __init__(self, robots: str | Answer | None = None) -> None:
        self.answers: dict[str, Answer] = {}
        if robots is not None:
            text = robots if isinstance(robots, Answer) else Answer(body=robots.encode())
            self.answers["/robots.txt"] = text
        self.protected: set[str] = set()
        """Paths that require digest authentication; any credentials are accepted."""
        self.seen: list[SeenRequest] = []
        self.most_at_once = 0
        self._at_once = 0
        self._lock = Lock()

    @property
    def paths(self) -> list[str]:
        """The requested paths, in order, without robots.txt."""
        return [request.path for request in self.seen if request.path != "/robots.txt"]

    @property
    def robots_requests(self) -> int:
        """How often robots.txt was requested."""
        return sum(request.path == "/robots.txt" for request in self.seen)

    def times(self, *paths: str) -> list[float]:
        """Return when these paths were requested."""
        return [request.at for request in self.seen if request.path in paths]

    def answer(self, path: str, headers: dict[str, str], protocol: str = "http/1.1") -> Answer:
        """Record a request and return its answer, after the delay."""
        answer = self.answers.get(path, Answer(404 if path == "/robots.txt" else 200))
        if path in self.protected and "Authorization" not in headers:
            answer = Answer(401, headers=(("WWW-Authenticate", CHALLENGE),))
        with self._lock:
            self.seen.append(SeenRequest(path, time.monotonic(), headers, protocol))
            if path != "/robots.txt":
                self._at_once += 1
                self.most_at_once = max(self.most_at_once, self._at_once)
        # Counted even without a delay: two requests at once must have time to meet.
        time.sleep(max(answer.delay, 0.005))
        with self._lock:
            if path != "/robots.txt":
                self._at_once -= 1
        return answer


class LoopbackSite(Site):
    """A site with its web server."""

    def __init__(self, robots: str | Answer | None = None, address: str = LOOPBACK) -> None:
        super().__init__(robots)
        self._server = self.open_server(address)
        self._server.site = self
        self.port: int = self._server.server_address[1]
        self.origin = f"http://{address}:{self.port}"
        self._thread = Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def open_server(self, address: str) -> SiteServer:
        """Open the server at a free port."""
        return SiteServer((address, 0))

    def url(self, path: str, host: str | None = None) -> str:
        """Return the URL of a path, with another name of this host if given."""
        return f"http://{host}:{self.port}{path}" if host else f"{self.origin}{path}"

    def close(self) -> None:
        """Stop the server."""
        self._server.shutdown()
        self._thread.join(5)
        self._server.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class SiteServer(ThreadingHTTPServer):
    """A web server with a thread for each connection."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    site: Site

    def __init__(self, address: tuple[str, int]) -> None:
        super().__init__(address, SiteHandler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is part of the tests."""


class SiteHandler(BaseHTTPRequestHandler):
    """Answers the requests of a connection."""

    protocol_version = "HTTP/1.1"
    server: SiteServer

    @property
    def site(self) -> Site:
        """The site of the answers."""
        return self.server.site

    def do_GET(self) -> None:
        """Answer a request."""
        headers = {name.title(): value for name, value in self.headers.items()}
        answer = self.site.answer(self.path, headers)
        self.send_response(answer.status)
        for name, value in answer.headers:
            self.send_header(name, value)
        if "content-type" not in {name.lower() for name, _ in answer.headers}:
            self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    do_HEAD = do_POST = do_GET

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@contextmanager
def resolve_localhost_names() -> Iterator[None]:
    """Resolve every name that ends in `.localhost` to 127.0.0.1, in this process."""
    resolve: Any = socket.getaddrinfo

    def getaddrinfo(host: Any, *arguments: Any, **options: Any) -> Any:
        name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
        is_ours = isinstance(name, str) and name.rstrip(".").lower().endswith(".localhost")
        return resolve(LOOPBACK if is_ours else host, *arguments, **options)

    socket.getaddrinfo = getaddrinfo
    try:
        yield
    finally:
        socket.getaddrinfo = resolve
