"""
httpx: transports that follow robots.txt, for `httpx.Client` and `httpx.AsyncClient`.

    client = httpx.Client(transport=RobotsTransport("ExampleBot/1.0 (+https://example.com/bot)"))

A disallowed request raises `HttpxDisallowedError`. See docs/integrations/httpx.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from robotrules.errors import DisallowedError, MissingExtraError
from robotrules.integrations.httpx_transports import AsyncTransportWrapper, SyncTransportWrapper

try:
    import httpx
except ImportError:
    raise MissingExtraError("httpx is not installed: pip install 'robotrules[httpx]'") from None

if TYPE_CHECKING:
    from robotrules.robotstxt.verdict import Verdict

__all__ = ["AsyncRobotsTransport", "HttpxDisallowedError", "RobotsTransport"]


class HttpxDisallowedError(DisallowedError, httpx.RequestError):
    """A request that was not sent: its URL is disallowed. Not a `TransportError`: do not retry."""

    def __init__(self, url: str, verdict: Verdict, detail: str = "") -> None:
        httpx.RequestError.__init__(self, "")
        DisallowedError.__init__(self, url, verdict, detail)


class RobotsTransport(SyncTransportWrapper[httpx.Request, httpx.Response], httpx.BaseTransport):
    """Wraps a transport of `httpx.Client`: checks the rules, and waits for slots."""

    host: ClassVar[Any] = httpx
    default_transport = httpx.HTTPTransport
    disallowed_error = HttpxDisallowedError


class AsyncRobotsTransport(
    AsyncTransportWrapper[httpx.Request, httpx.Response], httpx.AsyncBaseTransport
):
    """Wraps a transport of `httpx.AsyncClient`: checks the rules, and waits for slots."""

    host: ClassVar[Any] = httpx
    default_transport = httpx.AsyncHTTPTransport
    disallowed_error = HttpxDisallowedError
