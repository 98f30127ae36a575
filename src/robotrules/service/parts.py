"""
Parts of the service: each gives routes, and what it opens at the start and closes at the end.

A module that is a part defines `make_part(context)`. The application asks the modules in `PARTS`,
in this order; where two give the same method of the same path, the later one is used.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from robotrules.service.metrics import Metrics
from robotrules.service.settings import ServiceSettings
from robotrules.service.work import WorkPool

__all__ = [
    "PARTS",
    "Endpoint",
    "Readiness",
    "Routes",
    "ServiceContext",
    "ServicePart",
    "load_parts",
]

Endpoint = Callable[[Request], Awaitable[Response]]
Routes = Mapping[str, Mapping[str, Endpoint]]
"""Exact paths, and for each the endpoints by method."""

PARTS = ("verb_routes", "live.routes", "openapi", "health", "pages")
# A store that takes longer to answer is as good as unreachable.
READY_SECONDS = 3.0


class ServicePart(NamedTuple):
    """One part of the service."""

    routes: Routes
    open_paths: frozenset[str] = frozenset()
    """Paths that need no token and that other pages may link to."""
    streamed_paths: frozenset[str] = frozenset()
    """Paths whose bodies may be endless: `max_body` does not apply to the sum of the chunks, and
    `body_timeout` applies to each chunk. The endpoint limits the bytes that it keeps."""
    lifespan: Callable[[], AbstractAsyncContextManager[object]] | None = None
    """Opened before the first request; closed after the last one."""
    not_ready: Callable[[], Awaitable[str]] | None = None
    """Returns why the part cannot answer, such as 'the store is not reachable', or ''."""


class Readiness:
    """Whether this worker should get requests."""

    def __init__(self) -> None:
        self.stopping = False
        self.parts: list[ServicePart] = []

    async def reasons(self) -> list[str]:
        """Return why this worker should not get requests."""
        if self.stopping:
            return ["stopping"]
        asked = [_reason(part.not_ready) for part in self.parts if part.not_ready]
        return [reason for reason in await asyncio.gather(*asked) if reason]


async def _reason(not_ready: Callable[[], Awaitable[str]]) -> str:
    try:
        async with asyncio.timeout(READY_SECONDS):
            return await not_ready()
    except TimeoutError:
        return f"no answer within {READY_SECONDS:g} seconds"
    except Exception as error:  # whatever a store raises, this worker is not ready
        return type(error).__name__


class ServiceContext(NamedTuple):
    """What parts share."""

    settings: ServiceSettings
    work: WorkPool
    metrics: Metrics
    readiness: Readiness


def load_parts(context: ServiceContext) -> list[ServicePart]:
    """Return all parts of the service."""
    modules = (import_module(f"robotrules.service.{name}") for name in PARTS)
    return [module.make_part(context) for module in modules]
