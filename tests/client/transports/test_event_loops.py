"""Transports in uvloop, the event loop that servers such as uvicorn use where it is installed."""

from __future__ import annotations

import sys

import pytest

from robotrules.access import Failure, Request, Response
from robotrules.client.ssrf import AddressPolicy
from robotrules.client.transports import AsyncTransport
from robotrules.client.transports.aiohttp import AiohttpTransport
from robotrules.client.transports.httpx2 import AsyncHttpx2Transport
from tests.client import fault_servers
from tests.integrations.loopback_site import LoopbackSite

AGENT = "ExampleBot/1.0"


@pytest.mark.skipif(sys.platform == "win32", reason="uvloop does not run on Windows")
@pytest.mark.parametrize("transport", [AiohttpTransport, AsyncHttpx2Transport])
def test_requests_in_uvloop(transport: type[AiohttpTransport | AsyncHttpx2Transport]) -> None:
    """Responses, reused connections, and connections that are reset."""
    uvloop = pytest.importorskip("uvloop")

    async def main() -> tuple[list[Response | Failure], Response | Failure]:
        opened: AsyncTransport = transport(AGENT, addresses=AddressPolicy(["127.0.0.1"]))
        try:
            found = [await opened.send(Request(site.url("/robots.txt"))) for _ in range(3)]
            return found, await opened.send(Request(f"{broken.url}/robots.txt", timeout=5.0))
        finally:
            await opened.aclose()

    with (
        LoopbackSite("User-agent: *\n") as site,
        fault_servers.serve(lambda peer: peer.reset()) as broken,
    ):
        found, failed = uvloop.run(main())
    for answer in found:
        assert isinstance(answer, Response)
        assert (answer.status, answer.body) == (200, b"User-agent: *\n")
        assert answer.address == "127.0.0.1"
    assert isinstance(failed, Failure)
