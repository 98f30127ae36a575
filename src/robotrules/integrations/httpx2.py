"""
httpx2: transports that follow robots.txt, for `httpx2.Client` and `httpx2.AsyncClient`.

    client = httpx2.Client(transport=RobotsTransport("ExampleBot/1.0 (+https://example.com/bot)"))

A disallowed request raises `Httpx2DisallowedError`. See docs/integrations/httpx.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from robotrules.errors import DisallowedError, MissingExtraError
from robotrules.integrations.httpx_transports import AsyncTransportWrapper, SyncTransportWrapper

try:
    import httpx2
except ImportError:
    raise MissingExtraError("httpx2 is not installed: pip install 'robotrules[httpx2]'") from None

if TYPE_CHECKING:
    from robotrules.robotstxt.verdict import Verdict

__all__ = ["AsyncRobotsTransport", "Httpx2DisallowedError", "RobotsTransport"]


class Httpx2DisallowedError(DisallowedError, httpx2.RequestError):
    """A request that was not sent: its URL is disallowed. Not a `TransportError`: do not retry."""

    def __init__(self, url: str, verdict: Verdict, detail: str = "") -> None:
        httpx2.RequestError.__init__(self, "")
        DisallowedError.__init__(self, url, verdict, detail)


class RobotsTransport(SyncTransportWrapper[httpx2.Request, httpx2.Response], httpx2.BaseTransport):
    """Wraps a transport of `httpx2.Client`: checks the rules, and waits for slots."""

    host: ClassVar[Any] = httpx2
    default_transport = httpx2.HTTPTransport
    disallowed_error = Httpx2DisallowedError


class AsyncRobotsTransport(
    AsyncTransportWrapper[httpx2.Request, httpx2.Response], httpx2.AsyncBaseTransport
):
    """Wraps a transport of `httpx2.AsyncClient`: checks the rules, and waits for slots."""

    host: ClassVar[Any] = httpx2
    default_transport = httpx2.AsyncHTTPTransport
    disallowed_error = Httpx2DisallowedError
