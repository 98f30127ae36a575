"""
Sites for tests: responses, served on the loopback.

`site()` is one of them, asked by its address. The others are those of the transcripts: a page has
the whole response of a URL in a block of the kind `http url=URL`, from its status line on, and with
`from=MOMENT` one that replaces it later. A URL without one answers 404, and a host without any has
no address. The commands of a page are run by this file as a program: it hands requests for these
names to the loopback, and has a clock that stands still, at `NOW` if that is set in the
environment. All else is the program as people have it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar, NamedTuple
from urllib.parse import urlsplit

from robotrules.access import Failure, Request, Response, Trouble

START = "2026-05-01T12:00:00+00:00"
PORT, HOSTS, NOW = "TRANSCRIPT_PORT", "TRANSCRIPT_HOSTS", "NOW"
MOMENT = "Transcript-Moment"
OURS = ("localhost", "127.0.0.1")
NOT_FOUND = b"HTTP/1.1 404 Not Found\n\n"


class Answer(NamedTuple):
    """A response, and since when it is given."""

    since: float
    octets: bytes


def seconds(moment: str) -> float:
    """Return a moment of a page in seconds since 1970; what has no zone is UTC."""
    found = datetime.fromisoformat(moment)
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


# --- The server -----------------------------------------------------------------------------------


class _Handler(BaseHTTPRequestHandler):
    """Answers with a whole response, and notes what was asked."""

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
        """Say nothing."""


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
        """Return what is answered."""
        return self.answers.get(path, NOT_FOUND)


class _Sites(Site):
    """The sites of a page: `/https/example.com/a` is https://example.com/a."""

    def __init__(self, given: Mapping[str, list[Answer]]) -> None:
        super().__init__({})
        self._given = given

    def response(self, path: str, moment: str | None) -> bytes:
        """Return what is answered at a moment."""
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


# --- The program ----------------------------------------------------------------------------------


def _redirected(request: Request) -> Request | Failure | None:
    """Return the request of the loopback; None: it is for a host of this machine anyway."""
    parts = urlsplit(request.url)
    if parts.hostname in OURS:
        return None
    if parts.netloc not in os.environ[HOSTS].split():
        return Failure(Trouble.DNS, f"{parts.hostname}: Name or service not known")
    rest = request.url.partition("://")[2]
    url = f"http://127.0.0.1:{os.environ[PORT]}/{parts.scheme}/{rest}"
    return request._replace(url=url, headers=(*request.headers, (MOMENT, str(_now()))))


def _now() -> float:
    return seconds(os.environ.get(NOW, START))


class _Played:
    """A transport that knows the sites of a page."""

    def __init__(self, inner: Any, outer: Any) -> None:
        self._inner, self._outer = inner, outer

    def send(self, request: Request) -> Response | Failure:
        redirected = _redirected(request)
        if isinstance(redirected, Failure):
            return redirected
        answer: Response | Failure = (
            self._inner.send(redirected) if redirected else self._outer.send(request)
        )
        return answer

    @staticmethod
    def sleep(seconds: float) -> object:
        """Wait for nothing."""

    def closed_with(self, client: Any) -> None:
        """Let a client close this, as it closes a transport of its own."""
        close = client.close

        def both() -> None:
            close()
            self._inner.close()
            self._outer.close()

        client.close = both


class _AsyncPlayed(_Played):
    """The same on an event loop."""

    async def send(self, request: Request) -> Response | Failure:  # type: ignore[override]
        redirected = _redirected(request)
        if isinstance(redirected, Failure):
            return redirected
        sent = self._inner.send(redirected) if redirected else self._outer.send(request)
        answer: Response | Failure = await sent
        return answer

    @staticmethod
    async def sleep(seconds: float) -> object:
        """Wait for nothing."""

    def closed_with(self, client: Any) -> None:
        """Let a client close this, as it closes a transport of its own."""
        aclose = client.aclose

        async def both() -> None:
            await aclose()
            await self._inner.aclose()
            await self._outer.aclose()

        client.aclose = both


def main() -> None:
    """Be the command line, with the sites of a page."""
    from robotrules.cli import client as cli_client
    from robotrules.cli import main as run
    from robotrules.client import aio, sync
    from robotrules.client.addresses import Addresses
    from robotrules.client.transports import open_async_transport, open_transport

    loopback = Addresses(allow_private=["127.0.0.1"])

    def played(real: Any, transport: Any, opened: Any) -> Any:
        def client_with_sites(user_agent: str, allow_private: Any = (), **options: Any) -> Any:
            both = (loopback, Addresses(allow_private=allow_private))
            sites = transport(*(opened(user_agent, addresses=one) for one in both))
            # Time stands still, so there is nothing to wait for.
            client = real(user_agent, transport=sites, sleep=sites.sleep, **options)
            sites.closed_with(client)
            return client

        return client_with_sites

    sync.Client = played(sync.Client, _Played, open_transport)  # type: ignore[misc]
    aio.AsyncClient = played(aio.AsyncClient, _AsyncPlayed, open_async_transport)  # type: ignore[misc]
    cli_client.now = _now
    run()


if __name__ == "__main__":
    main()
