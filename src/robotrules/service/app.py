"""
The ASGI application of the service.

    a request → its route → the guard → the endpoint → the response, with the request's id
                                                     → one line of the log, and counters

All paths are exact, so a route is found with one dictionary lookup. What the application answers
comes from its parts (`parts`).
"""

from __future__ import annotations

import asyncio
import re
import time
from contextlib import AsyncExitStack
from itertools import count
from secrets import token_hex

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from robotrules.service.connections import connection_lost
from robotrules.service.guard import BodyReader, Guard, check_media_type
from robotrules.service.logs import LogWriter, exception_text, exception_values
from robotrules.service.metrics import Metrics
from robotrules.service.parts import Endpoint, Readiness, ServiceContext, load_parts
from robotrules.service.problems import MEDIA_TYPE, PROBLEMS, Problem, stopping_problem
from robotrules.service.settings import ServiceSettings
from robotrules.service.work import WorkPool

__all__ = ["Service", "create_app"]

REQUEST_ID = b"x-request-id"
_SANE_ID = re.compile(rb"[A-Za-z0-9._:/+=-]{1,128}")
# The client left before the answer: a number that servers use in logs alone.
CLIENT_LEFT = 499
# Ids that the service makes: unique, and made in less time than random ones.
_PREFIX = token_hex(5).encode()
NO_SNIFFING = (b"x-content-type-options", b"nosniff")
CLOSE = (b"connection", b"close")
NO_STORE = (b"cache-control", b"no-store")


def create_app(settings: ServiceSettings | None = None, log: LogWriter | None = None) -> ASGIApp:
    """Return the application; None means the default settings, and no log."""
    return Service(settings or ServiceSettings(), log)


class Service:
    """The application: an ASGI callable."""

    def __init__(self, settings: ServiceSettings, log: LogWriter | None = None) -> None:
        self.settings = settings
        self._log = log
        self._access_log = log is not None and settings.access_log
        self.running = 0
        self._ids = count(1)
        self.metrics = Metrics()
        self.readiness = Readiness()
        self.work = WorkPool(settings.limits, settings.processes, self.metrics)
        context = ServiceContext(settings, self.work, self.metrics, self.readiness)
        self._parts = self.readiness.parts = load_parts(context)
        self.routes: dict[str, dict[str, Endpoint]] = {}
        for part in self._parts:
            for path, methods in part.routes.items():
                self.routes.setdefault(path, {}).update(methods)
        self._streamed = frozenset().union(*(part.streamed_paths for part in self._parts))
        open_paths = frozenset().union(*(part.open_paths for part in self._parts))
        self.guard = Guard(settings, open_paths)

    def reload_tokens(self) -> None:
        """Read the token file again; keep the tokens if it cannot be read."""
        if self.settings.token_file is None:
            return
        try:
            self.guard.reload_tokens()
        except (OSError, ValueError) as error:
            self._write("error", "tokens-kept", reason=exception_text(error))
        else:
            self._write("info", "tokens-read")

    def _write(self, level: str, event: str, **values: str) -> None:
        if self._log is not None:
            self._log.write(level, event, **values)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http":
            await self._answer(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        else:  # a WebSocket: it is closed before it opens, which is 403
            await send({"type": "websocket.close"})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        path = scope["path"]
        request_id = self._request_id(scope)
        body = BodyReader(
            scope, receive, self.settings.limits, self.guard.bodies, path in self._streamed
        )
        kind, status, begun = "", CLIENT_LEFT, False
        self.running += 1
        try:
            try:
                media_type = self.guard.check(scope)
                endpoint = self._find(scope)
                check_media_type(scope["method"], media_type)
                response = await endpoint(Request(scope, body))
                status = response.status_code
                begun = True
                _add_fields(response, request_id)
                if not body.complete and path not in self._streamed and _has_body(scope):
                    # What was not read must not be taken for the next request.
                    response.raw_headers.append(CLOSE)
                await response(scope, body, send)
            except Problem as problem:
                kind, status = problem.slug, problem.status
                if begun:
                    raise
                response = problem_response(problem, scope, body)
                _add_fields(response, request_id)
                await response(scope, receive, send)
            except ClientDisconnect:
                status = CLIENT_LEFT
            except asyncio.CancelledError:
                # The server cancels what still runs after `stop_timeout`, and waits for no more.
                lost = connection_lost(scope)
                if lost is not None and lost.is_set():
                    status = CLIENT_LEFT
                else:
                    kind = "stopping"
                    if not begun:
                        stopped = stopping_problem()
                        status = stopped.status
                        response = problem_response(stopped, scope, body)
                        response.raw_headers.append(CLOSE)
                        _add_fields(response, request_id)
                        await response(scope, receive, send)
            except Exception as error:
                kind, status = "internal-error", 500
                self._report(error, request_id)
                if begun:
                    raise
                failure = Problem(
                    "internal-error",
                    "the service failed; the log of the service says where, by the request id",
                    request_id=request_id.decode(),
                )
                response = problem_response(failure, scope, body)
                _add_fields(response, request_id)
                await response(scope, receive, send)
        finally:
            body.release()
            self.running -= 1
            self._finish(scope, started, status, kind, request_id)

    def _finish(
        self, scope: Scope, started: float, status: int, kind: str, request_id: bytes
    ) -> None:
        seconds = time.perf_counter() - started
        path = scope["path"]
        self.metrics.count(path if path in self.routes else "", status, seconds)
        if kind:
            self.metrics.problems.labels(kind).inc()
        if self._access_log and self._log is not None:
            self._log.write(
                "info" if status < 500 else "warning",
                "request",
                id=request_id.decode(),
                method=scope["method"],
                path=path[:200],
                status=status,
                seconds=round(seconds, 6),
                client=scope["client"][0] if scope["client"] else "",
                problem=kind,
            )

    def _report(self, error: Exception, request_id: bytes) -> None:
        if self._log is not None:
            self._log.write("error", "failure", id=request_id.decode(), **exception_values(error))

    def _request_id(self, scope: Scope) -> bytes:
        for name, value in scope["headers"]:
            if name == REQUEST_ID and _SANE_ID.fullmatch(value):
                found: bytes = value
                return found
        return b"%b-%x" % (_PREFIX, next(self._ids))

    def _find(self, scope: Scope) -> Endpoint:
        methods = self.routes.get(scope["path"])
        if methods is None:
            raise Problem("not-found", "see /openapi.json for the paths of this service")
        endpoint = methods.get(scope["method"])
        if endpoint is None:
            if scope["method"] == "HEAD" and "GET" in methods:
                return methods["GET"]
            allow = ", ".join([*methods, "HEAD"] if "GET" in methods else methods)
            raise Problem("method-not-allowed", f"use {allow}", headers={"Allow": allow})
        return endpoint

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        async with AsyncExitStack() as opened:
            await receive()
            try:
                for part in self._parts:
                    if part.lifespan is not None:
                        await opened.enter_async_context(part.lifespan())
            except Exception as error:
                await send({"type": "lifespan.startup.failed", "message": exception_text(error)})
                raise
            await send({"type": "lifespan.startup.complete"})
            await receive()
            self.readiness.stopping = True
        await send({"type": "lifespan.shutdown.complete"})


def _add_fields(response: Response, request_id: bytes) -> None:
    fields = response.raw_headers
    fields.append((REQUEST_ID, request_id))
    fields.append(NO_SNIFFING)
    for name, _ in fields:
        if name == b"cache-control":
            return
    fields.append(NO_STORE)


def problem_response(
    problem: Problem, scope: Scope | None = None, body: BodyReader | None = None
) -> Response:
    """Return a problem as a response; it closes the connection if the body was not read."""
    headers = dict(problem.headers)
    if PROBLEMS[problem.slug].status in (429, 503):
        headers.setdefault("Retry-After", "2")
    if body is not None and not body.complete and scope is not None and _has_body(scope):
        headers["Connection"] = "close"
    return Response(msgspec.json.encode(problem.as_dict()), problem.status, headers, MEDIA_TYPE)


def _has_body(scope: Scope) -> bool:
    return any(name in (b"content-length", b"transfer-encoding") for name, _ in scope["headers"])
