"""
The server over HTTP (streamable HTTP), at `/mcp`.

Who may connect is decided by the guard of `robotrules serve`, and connections have its limits.
Sessions are not kept, so any number of processes can answer one client.
"""

from __future__ import annotations

import contextlib
import logging
import math
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from robotrules.service.app import problem_response
from robotrules.service.connections import Connections, limited_protocol
from robotrules.service.guard import BodyReader, Guard, check_media_type
from robotrules.service.hangups import hangups_handled
from robotrules.service.logs import exception_text
from robotrules.service.mcp.server import make_server
from robotrules.service.metrics import Metrics
from robotrules.service.problems import Problem
from robotrules.service.settings import ServiceSettings

__all__ = ["PATH", "make_http_app", "serve_http"]

PATH = "/mcp"
# Seconds between two looks at slow connections.
SWEEP_SECONDS = 1.0

log = logging.getLogger("robotrules.service")


def make_http_app(settings: ServiceSettings, *, version: str = "") -> GuardedApp:
    """Return the ASGI application."""
    app = make_server(settings, version=version).streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=settings.limits.max_body,
        # The guard checks Host and Origin fields, and knows the settings of the service.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return GuardedApp(app, settings)


async def serve_http(
    settings: ServiceSettings,
    listener: socket.socket,
    started: Callable[[], object],
    *,
    version: str = "",
) -> None:
    """
    Serve until SIGTERM or SIGINT; *started* is called when requests are answered.

    SIGHUP reads the token file again.
    """
    connections = Connections(settings.limits, Metrics())
    app = make_http_app(settings, version=version)
    config = uvicorn.Config(
        app,
        http=limited_protocol(connections),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_keep_alive=settings.limits.idle_timeout,
        timeout_graceful_shutdown=math.ceil(settings.limits.stop_timeout),
    )
    with hangups_handled(app.reload_tokens):
        await _AgentHttpServer(config, started, connections).serve([listener])


class _AgentHttpServer(uvicorn.Server):
    """uvicorn's server: a signal is a normal end, and slow connections are closed."""

    def __init__(
        self, config: uvicorn.Config, started: Callable[[], object], connections: Connections
    ) -> None:
        super().__init__(config)
        self._on_start, self._connections = started, connections

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at SIGTERM and SIGINT; they are not raised again."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        numbers = (signal.SIGTERM, signal.SIGINT)
        before = {number: signal.signal(number, self.handle_exit) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and tell who waits for it."""
        await super().startup(sockets)
        if self.started:
            self._on_start()

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second: tell whether to stop."""
        if counter % round(10 * SWEEP_SECONDS) == 0:
            self._connections.sweep()
        return await super().on_tick(counter)


class GuardedApp:
    """Checks a request and reads its body within the limits before the protocol is spoken."""

    def __init__(self, app: ASGIApp, settings: ServiceSettings) -> None:
        self._app, self._limits = app, settings.limits
        self._guard = Guard(settings)

    def reload_tokens(self) -> None:
        """Read the token file again; keep the tokens if it cannot be read."""
        try:
            self._guard.reload_tokens()
        except (OSError, ValueError) as error:
            log.error("the tokens are kept: %s", exception_text(error))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        reader = BodyReader(scope, receive, self._limits, self._guard.bodies, streamed=False)
        try:
            check_media_type(scope["method"], self._guard.check(scope))
            body = await _read(reader)
        except Problem as problem:
            reader.release()
            await problem_response(problem, scope, reader)(scope, receive, send)
            return
        message: Message | None = {"type": "http.request", "body": body, "more_body": False}

        async def replay() -> Message:
            """Return the body, then what comes after it."""
            nonlocal message
            if message is None:
                return await receive()
            first, message = message, None
            return first

        try:
            await self._app(scope, replay, send)
        finally:
            reader.release()


async def _read(reader: BodyReader) -> bytes:
    parts: list[bytes] = []
    while True:
        message: Any = await reader()
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):  # or the client is gone
            return b"".join(parts)
