"""
Transports: what carries a request of ours to a server, over somebody's HTTP library.

A transport makes one GET and follows nothing. It vets the addresses of a host before it connects
(`client.addresses`), decodes the body as it streams and stops at the request's limit, and keeps to
the request's time. Whatever the network does is a `Failure` and never an exception. It does not
know what a robots.txt is.

`httpx2` carries for both clients; `aiohttp` costs an event loop less. `open_transport()` takes
the one that is installed.
"""

from __future__ import annotations

from typing import Protocol

from robotrules.access import Failure, Request, Response


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
