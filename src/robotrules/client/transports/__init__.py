"""
Transports: what carries a request of ours to a server, over somebody's HTTP library.

A transport makes one GET and follows nothing. It vets the addresses of a host before it connects
(`client.ssrf`), decodes the body as it streams and stops at the request's limit, and keeps to
the request's time. Whatever the network does is a `Failure` and never an exception. It does not
know what a robots.txt is.

`httpx2` carries for both clients; `aiohttp` costs an event loop less. `open_transport()` takes
the one that is installed, or goes over an HTTP client that the user has (`adapters`).
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import iscoroutinefunction
from typing import Any, Protocol

from robotrules.access import Failure, Request, Response
from robotrules.errors import MissingExtraError

__all__ = ["AsyncTransport", "Transport", "open_async_transport", "open_transport"]


class Transport(Protocol):
    """Makes requests; safe to use from several threads."""

    def send(self, request: Request) -> Response | Failure:
        """Make a GET; never raises for what the network does."""

    def close(self) -> None:
        """Close all connections."""


class AsyncTransport(Protocol):
    """Makes requests on an event loop."""

    async def send(self, request: Request) -> Response | Failure:
        """Make a GET; never raises for what the network does."""

    async def aclose(self) -> None:
        """Close all connections."""


def open_transport(user_agent: str, *, client: object = None, **options: Any) -> Transport:
    """
    Return a transport for threads: `Httpx2Transport`, whose arguments *options* are.

    Without httpx2 it raises MissingExtraError, which says how to install it. With *client*, an
    `httpx2.Client`, `httpx.Client` or `requests.Session`, it is an adapter over that one, and
    *options* are those of `adapters.HttpxAdapter`.
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

    *options* are the arguments of `Httpx2Transport`. Without both libraries it raises
    MissingExtraError. With *client*, an `aiohttp.ClientSession`, `httpx2.AsyncClient` or
    `httpx.AsyncClient`, it is an adapter over that one, and *options* are those of
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
    """Tell whether it carries requests itself; False: an adapter is needed. Others raise."""
    from robotrules.client.transports.adapters import adapter_for

    if isinstance(given, str | bytes | type) or not callable(getattr(given, "send", None)):
        if adapter_for(given) is None or isinstance(given, type):
            raise TypeError(f"transport is {given!r:.60}: {_WANTED[threads]}")
        return False
    if adapter_for(given) is not None:
        return False
    if threads and iscoroutinefunction(given.send):  # type: ignore[attr-defined]
        raise TypeError(f"transport is {given!r:.60}, for an event loop: {_WANTED[threads]}")
    if not threads and _is_for_threads(given):
        raise TypeError(f"transport is {given!r:.60}, for threads: {_WANTED[threads]}")
    return True


def _is_for_threads(transport: Any) -> bool:
    """Tell a `Transport`; a plain `send` beside an `aclose` may return what is awaited."""
    return (
        not iscoroutinefunction(transport.send)
        and callable(getattr(transport, "close", None))
        and not callable(getattr(transport, "aclose", None))
    )


def _adapter(client: object, *, threads: bool) -> Callable[..., Any]:
    from robotrules.client.transports.adapters import HttpxAdapter, RequestsAdapter, adapter_for

    found = adapter_for(client)
    if found is None or (found in (HttpxAdapter, RequestsAdapter)) is not threads:
        raise TypeError(f"{client!r:.60} does not carry requests here: {_WANTED[threads]}")
    return found


_WANTED = {
    True: "pass an httpx2.Client, httpx.Client or requests.Session, or an object with "
    "send(request) and close() (robotrules.client.Transport); leave it out for the usual one",
    False: "pass an aiohttp.ClientSession, httpx2.AsyncClient or httpx.AsyncClient, or an object "
    "with async send(request) and aclose() (robotrules.client.AsyncTransport); leave it out for "
    "the usual one",
}
