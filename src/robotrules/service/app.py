"""
The ASGI application of the service.

All paths are exact, so a route is found with one dictionary lookup.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from robotrules.service.problems import MEDIA_TYPE, Problem
from robotrules.service.resources import resource_endpoints
from robotrules.service.settings import ServiceSettings
from robotrules.service.verbs import JsonLines, Verb, load_verbs
from robotrules.service.work import WorkPool

__all__ = ["create_app"]

Endpoint = Callable[[Request], Awaitable[Response]]


def create_app(settings: ServiceSettings | None = None) -> ASGIApp:
    """Return the application; None means the default settings."""
    return Service(settings or ServiceSettings())


class Service:
    """The application: an ASGI callable."""

    def __init__(self, settings: ServiceSettings) -> None:
        self._settings = settings
        self._work = WorkPool(settings.limits)
        self._routes: dict[str, Mapping[str, Endpoint]] = {
            path: {"POST": self._verb_endpoint(verb)} for path, verb in load_verbs().items()
        }
        self._routes |= {path: {"GET": endpoint} for path, endpoint in resource_endpoints().items()}

    def _verb_endpoint(self, verb: Verb) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            answer = await self._work.run(verb, await request.body())
            media_type = answer.media_type if isinstance(answer, JsonLines) else "application/json"
            return Response(answer, media_type=media_type)

        return endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        if scope["type"] != "http":
            return
        try:
            response = await self._find(scope)(Request(scope, receive))
        except Problem as problem:
            response = problem_response(problem)
        await response(scope, receive, send)

    def _find(self, scope: Scope) -> Endpoint:
        methods = self._routes.get(scope["path"])
        if methods is None:
            raise Problem("not-found", "see /openapi.json for the paths of this service")
        endpoint = methods.get(scope["method"])
        if endpoint is None:
            allow = ", ".join(methods)
            raise Problem("method-not-allowed", f"use {allow}", headers={"Allow": allow})
        return endpoint

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message: Any = await receive()
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                return


def problem_response(problem: Problem) -> Response:
    """Return a problem as a response."""
    body = msgspec.json.encode(problem.as_dict())
    return Response(body, problem.status, problem.headers, MEDIA_TYPE)
