"""
The server over HTTP (streamable HTTP), at `/mcp`.

The safety rules are those of `robotrules serve`: the Host field must name this server (DNS
rebinding), pages of browsers may not use it (a request with an Origin field is refused), tokens are
compared in constant time, and a body has a size and a time limit. Sessions are not kept, so any
number of processes can answer one client.
"""

from __future__ import annotations

import asyncio
import hmac
import socket
from collections.abc import Callable, Sequence
from typing import Any

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from robotrules.service.mcp.server import make_server
from robotrules.service.settings import Limits, ServiceSettings

__all__ = ["PATH", "make_http_app", "serve_http"]

PATH = "/mcp"
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
# Seconds in which running calls must end after SIGTERM.
STOP_TIMEOUT = 5


def make_http_app(settings: ServiceSettings) -> ASGIApp:
    """Return the ASGI application."""
    names = {
        *LOOPBACK_NAMES,
        *settings.allowed_hosts,
        f"[{settings.host}]" if ":" in settings.host else settings.host,
    }
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[host for name in sorted(names) for host in (name, f"{name}:*")],
        allowed_origins=[],
    )
    app = make_server(settings).streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=settings.limits.max_body,
        transport_security=security,
    )
    return RequestGuard(app, settings.tokens, settings.limits)


async def serve_http(
    settings: ServiceSettings, listener: socket.socket, started: Callable[[], object]
) -> None:
    """Serve until SIGTERM or SIGINT; *started* is called when requests are answered."""
    config = uvicorn.Config(
        make_http_app(settings),
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        limit_concurrency=settings.limits.max_connections,
        timeout_graceful_shutdown=STOP_TIMEOUT,
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve([listener]))
    while not (server.started or serving.done()):
        await asyncio.sleep(0.01)
    if server.started:
        started()
    await serving


class RequestGuard:
    """Asks for a token, and reads the body within its limits, before the protocol is spoken."""

    def __init__(self, app: ASGIApp, tokens: Sequence[str], limits: Limits) -> None:
        self._app, self._limits = app, limits
        self._tokens = [token.encode() for token in tokens]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._tokens and not self._is_authorized(scope):
            await PlainTextResponse(
                "send a token of the token file as Authorization: Bearer TOKEN",
                401,
                {"WWW-Authenticate": 'Bearer realm="robotrules"'},
            )(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._limits.body_timeout):
                body = await self._read_body(receive)
        except TimeoutError:
            await PlainTextResponse("the body was not sent in time", 408)(scope, receive, send)
            return
        if body is None:
            await PlainTextResponse(
                f"the body is larger than {self._limits.max_body:,} bytes", 413
            )(scope, receive, send)
            return
        message: Message | None = {"type": "http.request", "body": body, "more_body": False}

        async def replay() -> Message:
            nonlocal message
            if message is None:
                return await receive()
            first, message = message, None
            return first

        await self._app(scope, replay, send)

    def _is_authorized(self, scope: Scope) -> bool:
        fields: list[Any] = [value for name, value in scope["headers"] if name == b"authorization"]
        scheme, _, token = (fields[0] if fields else b"").partition(b" ")
        # All are compared: the time does not say which one is nearly right.
        matches = [hmac.compare_digest(token.strip(), known) for known in self._tokens]
        return scheme.lower() == b"bearer" and any(matches)

    async def _read_body(self, receive: Receive) -> bytes | None:
        """Return the body; None: it is too large."""
        body = bytearray()
        while True:
            message = await receive()
            body += message.get("body", b"")
            if len(body) > self._limits.max_body:
                return None
            if not message.get("more_body", False):  # or the client is gone
                return bytes(body)
