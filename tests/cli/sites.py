"""
Sites for tests: responses, served on the loopback.

`site()` is one of them, with its own address. The others are those of the transcripts: a page has
the whole response of a URL in a block of the kind `http url=URL`, from its status line on, and with
`from=MOMENT` one that replaces it later. A URL without one answers 404, and a host without any has
no address. `transcript_program` runs the commands of such a page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import ClassVar, NamedTuple
from urllib.parse import urlsplit

from tests.cli.transcript_program import HOSTS, MOMENT, PORT

NOT_FOUND = b"HTTP/1.1 404 Not Found\n\n"


class Answer(NamedTuple):
    """A response, and since when it is given."""

    since: float
    octets: bytes


class _Handler(BaseHTTPRequestHandler):
    """Sends complete responses, and records the requests."""

    site: ClassVar[Site]

    def do_GET(self) -> None:
        self.site.asked.append(self.path)
        self.site.user_agents.append(self.headers.get("User-Agent", ""))
        octets = self.site.response(self.path, self.headers.get(MOMENT))
        head, _, body = octets.partition(b"\n\n")
        status, *lines = head.split(b"\n")
        lines.append(b"Content-Length: %d" % len(body))
        self.wfile.write(b"\r\n".join([status, *lines, b"Connection: close", b"", body]))

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


class Site:
    """A site that runs: paths with their responses, from the status line on."""

    def __init__(self, answers: Mapping[str, bytes]) -> None:
        self.answers = dict(answers)
        self.asked: list[str] = []
        self.user_agents: list[str] = []
        self.port = 0

    @property
    def origin(self) -> str:
        """Its origin, by address."""
        return f"http://127.0.0.1:{self.port}"

    def response(self, path: str, moment: str | None) -> bytes:
        """Return the response."""
        return self.answers.get(path, NOT_FOUND)


class _Sites(Site):
    """The sites of a page: `/https/example.com/a` is https://example.com/a."""

    def __init__(self, given: Mapping[str, list[Answer]]) -> None:
        super().__init__({})
        self._given = given

    def response(self, path: str, moment: str | None) -> bytes:
        """Return the response at a moment."""
        _, scheme, rest = path.split("/", 2)
        given = self._given.get(f"{scheme}://{rest}", ())
        now = [one for one in given if one.since <= float(moment or 0)]
        return now[-1].octets if now else NOT_FOUND


@contextmanager
def _running(site: Site) -> Iterator[None]:
    handler = type("Handler", (_Handler,), {"site": site})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        site.port = server.server_address[1]
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def site(answers: Mapping[str, bytes]) -> Iterator[Site]:
    """Run a site; one that is not in *answers* answers 404."""
    made = Site(answers)
    with _running(made):
        yield made


@contextmanager
def served(answers: Mapping[str, list[Answer]]) -> Iterator[dict[str, str]]:
    """Serve the responses of a page; yield what its commands need in their environment."""
    sites = _Sites(answers)
    with _running(sites):
        hosts = {urlsplit(url).netloc for url in answers}
        yield {PORT: str(sites.port), HOSTS: " ".join(sorted(hosts))}


def response(body: str | bytes = b"", *lines: str, status: str = "200 OK") -> bytes:
    """Return a whole response."""
    octets = body.encode() if isinstance(body, str) else body
    return "\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode() + octets
