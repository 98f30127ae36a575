"""
Transports: send a request to a server, over an HTTP library.

A transport sends one GET and follows no redirects. It checks the addresses of a host before it
connects (`client.ssrf`), decodes the body as it streams, stops at the request's limit, and enforces
its timeout. Network errors are returned as a `Failure`, never raised. Transports know nothing about
robots.txt.

`httpx2` works for both clients; `aiohttp` is faster in an event loop. `open_transport()` uses the
installed library, or an HTTP client of the user (`adapters`).
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import iscoroutinefunction
from typing import Any, Protocol

from robotrules.access import Failure, Request, Response
from robotrules.errors import MissingExtraError

__all__ = ["AsyncTransport", "Transport", "open_async_transport", "open_transport"]


class Transport(Protocol):
    """Sends requests; safe to use from several threads."""

    def send(self, request: Request) -> Response | Failure:
        """Send a GET; network failures are returned, not raised."""

    def close(self) -> None:
        """Close all connections."""


class AsyncTransport(Protocol):
    """Sends requests in an event loop."""

    async def send(self, request: Request) -> Response | Failure:
        """Send a GET; network failures are returned, not raised."""

    async def aclose(self) -> None:
        """Close all connections."""


def open_transport(user_agent: str, *, client: object = None, **options: Any) -> Transport:
    """
    Return a transport for threads: `Httpx2Transport` with *options* as arguments.

    Raises MissingExtraError if httpx2 is not installed. With *client*, an
    `httpx2.Client`, `httpx.Client` or `requests.Session`, return an adapter over it, with
    the *options* of `adapters.HttpxAdapter`.
    """
    if client is not None:
        over: Transport = _adapter(client, threads=True)(user_agent, client, **options)
        return over
    from robotrules.client.transports.httpx2 import Httpx2Transport

    return Httpx2Transport(user_agent, **options)


def vet_transport() -> None:
    """Raise MissingExtraError if there is no HTTP library for threads."""
    import robotrules.client.transports.httpx2  # noqa: F401


def open_async_transport(
    user_agent: str, *, client: object = None, **options: Any
) -> AsyncTransport:
    """
    Return a transport for an event loop: over aiohttp if it is installed, else over httpx2.

    *options* are the arguments of `Httpx2Transport`. If neither is installed, it raises
    MissingExtraError. With *client*, an `aiohttp.ClientSession`, `httpx2.AsyncClient` or
    `httpx.AsyncClient`, return an adapter over it, with the *options* of
    `adapters.AiohttpAdapter`.
    """
    if client is not None:
        over: AsyncTransport = _adapter(client, threads=False)(user_agent, client, **options)
        return over
    return _async_class()(user_agent, **options)


def vet_async_transport() -> None:
    """Raise MissingExtraError if there is no HTTP library for an event loop."""
    _async_class()


def _async_class() -> Callable[..., AsyncTransport]:
    try:
        from robotrules.client.transports.aiohttp import AiohttpTransport
    except MissingExtraError:
        pass
    else:
        return AiohttpTransport
    try:
        from robotrules.client.transports.httpx2 import AsyncHttpx2Transport
    except MissingExtraError:
        raise MissingExtraError(
            "fetching needs aiohttp or httpx2, and neither is installed: "
            "pip install 'robotrules[aiohttp]', or pip install 'robotrules[http]'"
        ) from None
    return AsyncHttpx2Transport


def is_transport(given: object, *, threads: bool) -> bool:
    """Return whether it is a transport; False: it needs an adapter. Other objects raise."""
    from robotrules.client.transports.adapters import adapter_for

    if isinstance(given, str | bytes | type) or not callable(getattr(given, "send", None)):
        if adapter_for(given) is None or isinstance(given, type):
            raise TypeError(f"transport is {given!r:.60}: {_EXPECTED[threads]}")
        return False
    if adapter_for(given) is not None:
        return False
    if threads and iscoroutinefunction(given.send):  # type: ignore[attr-defined]
        raise TypeError(f"transport is {given!r:.60}, for an event loop: {_EXPECTED[threads]}")
    if not threads and _is_for_threads(given):
        raise TypeError(f"transport is {given!r:.60}, for threads: {_EXPECTED[threads]}")
    return True


def _is_for_threads(transport: Any) -> bool:
    """Return whether it is a `Transport`; with an `aclose`, a plain `send` may be awaitable."""
    return (
        not iscoroutinefunction(transport.send)
        and callable(getattr(transport, "close", None))
        and not callable(getattr(transport, "aclose", None))
    )


def _adapter(client: object, *, threads: bool) -> Callable[..., Any]:
    from robotrules.client.transports.adapters import HttpxAdapter, RequestsAdapter, adapter_for

    found = adapter_for(client)
    if found is None or (found in (HttpxAdapter, RequestsAdapter)) is not threads:
        raise TypeError(f"{client!r:.60} cannot be used as a transport here: {_EXPECTED[threads]}")
    return found


_EXPECTED = {
    True: "pass an httpx2.Client, httpx.Client or requests.Session, or an object with "
    "send(request) and close() (robotrules.client.Transport); leave it out for the usual one",
    False: "pass an aiohttp.ClientSession, httpx2.AsyncClient or httpx.AsyncClient, or an object "
    "with async send(request) and aclose() (robotrules.client.AsyncTransport); leave it out for "
    "the usual one",
}
