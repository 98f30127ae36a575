"""
The command line as a program, with the sites of a transcript (`sites`).

It hands requests for their names to the loopback, and has a clock that is stopped, at `NOW` if
that is set in the environment, but for waits: they take no time, and the clock moves on. All else
is the program as people have it; what fetches is imported when a command opens a client, and not
before.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robotrules.access import Failure, Request, Response

START = "2026-05-01T12:00:00+00:00"
PORT, HOSTS, NOW = "TRANSCRIPT_PORT", "TRANSCRIPT_HOSTS", "NOW"
MOMENT = "Transcript-Moment"
OURS = ("localhost", "127.0.0.1")
# The total of all waits. A request that waits for its slot reads the clock again.
_WAITED = [0.0]


def seconds(moment: str) -> float:
    """Return a moment of a page in seconds since 1970; what has no zone is UTC."""
    found = datetime.fromisoformat(moment)
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _redirected(request: Request) -> Request | Failure | None:
    """Return the request of the loopback; None: it is for a host of this machine anyway."""
    from urllib.parse import urlsplit

    from robotrules.access import Failure, FailureReason

    parts = urlsplit(request.url)
    if parts.hostname in OURS:
        return None
    if parts.netloc not in os.environ[HOSTS].split():
        return Failure(FailureReason.DNS, f"{parts.hostname}: Name or service not known")
    rest = request.url.partition("://")[2]
    url = f"http://127.0.0.1:{os.environ[PORT]}/{parts.scheme}/{rest}"
    return request._replace(url=url, headers=(*request.headers, (MOMENT, str(_now()))))


def _now() -> float:
    return seconds(os.environ.get(NOW, START)) + _WAITED[0]


class _Played:
    """A transport that knows the sites of a page."""

    def __init__(self, inner: Any, outer: Any) -> None:
        self._inner, self._outer = inner, outer

    def send(self, request: Request) -> Response | Failure:
        from robotrules.access import Failure

        redirected = _redirected(request)
        if isinstance(redirected, Failure):
            return redirected
        answer: Response | Failure = (
            self._inner.send(redirected) if redirected else self._outer.send(request)
        )
        return answer

    @staticmethod
    def sleep(seconds: float) -> object:
        """Return at once, and advance the clock."""
        _WAITED[0] += seconds
        return None

    def closed_with(self, client: Any) -> None:
        """Let a client close this, like a transport that it created."""
        close = client.close

        def both() -> None:
            close()
            self._inner.close()
            self._outer.close()

        client.close = both


class _AsyncPlayed(_Played):
    """The same on an event loop."""

    async def send(self, request: Request) -> Response | Failure:  # type: ignore[override]
        from robotrules.access import Failure

        redirected = _redirected(request)
        if isinstance(redirected, Failure):
            return redirected
        sent = self._inner.send(redirected) if redirected else self._outer.send(request)
        answer: Response | Failure = await sent
        return answer

    @staticmethod
    async def sleep(seconds: float) -> object:
        """Return at once, and advance the clock."""
        _WAITED[0] += seconds
        return None

    def closed_with(self, client: Any) -> None:
        """Let a client close this, like a transport that it created."""
        aclose = client.aclose

        async def both() -> None:
            await aclose()
            await self._inner.aclose()
            await self._outer.aclose()

        client.aclose = both


def _play() -> None:
    """Let clients know the sites."""
    from robotrules.client import aio, sync
    from robotrules.client.ssrf import AddressPolicy
    from robotrules.client.transports import open_async_transport, open_transport

    loopback = AddressPolicy(allow_private=["127.0.0.1"])

    def played(real: Any, transport: Any, opened: Any) -> Any:
        def client_with_sites(user_agent: str, allow_private: Any = (), **options: Any) -> Any:
            both = (loopback, AddressPolicy(allow_private=allow_private))
            sites = transport(*(opened(user_agent, addresses=one) for one in both))
            client = real(user_agent, transport=sites, sleep=sites.sleep, **options)
            sites.closed_with(client)
            return client

        return client_with_sites

    sync.Client = played(sync.Client, _Played, open_transport)  # type: ignore[misc]
    aio.AsyncClient = played(aio.AsyncClient, _AsyncPlayed, open_async_transport)  # type: ignore[misc]


def main() -> None:
    """Be the command line."""
    from robotrules.cli import client
    from robotrules.cli import main as run

    def later(method: Any) -> Any:
        def opened(client_options: Any, profile: str) -> Any:
            _play()
            return method(client_options, profile)

        return opened

    for name in ("client", "async_client"):
        setattr(client.ClientOptions, name, later(getattr(client.ClientOptions, name)))
    client.now = _now
    run()


if __name__ == "__main__":
    main()
