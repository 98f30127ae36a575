"""
Sites of the transcripts: responses that stand on a page, served on the loopback.

A page has the whole response of a URL in a block of the kind `http url=URL`, from its status line
on, and with `from=MOMENT` one that replaces it later. A URL without one answers 404, and a host
without any has no address. The commands of a page are run by this file as a program: it hands
requests for these names to the loopback, and has a clock that stands still, at `NOW` if that is set
in the environment. All else is the program as people have it.
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
    """Answers `/https/example.com/a` with what the page has for https://example.com/a."""

    answers: ClassVar[Mapping[str, list[Answer]]] = {}

    def do_GET(self) -> None:
        _, scheme, rest = self.path.split("/", 2)
        at = float(self.headers.get(MOMENT, "0"))
        given = [one for one in self.answers.get(f"{scheme}://{rest}", ()) if one.since <= at]
        octets = given[-1].octets if given else b"HTTP/1.1 404 Not Found\n\n"
        head, _, body = octets.partition(b"\n\n")
        status, *lines = head.split(b"\n")
        lines.append(b"Content-Length: %d" % len(body))
        self.wfile.write(b"\r\n".join([status, *lines, b"Connection: close", b"", body]))

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def served(answers: Mapping[str, list[Answer]]) -> Iterator[dict[str, str]]:
    """Serve the responses of a page; yield what its commands need in their environment."""
    handler = type("Handler", (_Handler,), {"answers": answers})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        hosts = {urlsplit(url).netloc for url in answers}
        try:
            yield {PORT: str(server.server_address[1]), HOSTS: " ".join(sorted(hosts))}
        finally:
            server.shutdown()
            thread.join()


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
