"""
Resources that do not depend on a request: the known crawlers, and the registries of the drafts.

Their JSON is made once, on the first request. It changes with the version of robotrules only, so
clients may keep it and ask whether it is still current (ETag, RFC 9110 §8.8.3).
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from functools import cache
from hashlib import sha256
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from robotrules.registries import SHIPPED
from robotrules.registries.crawlers import CRAWLER_PURPOSES, KNOWN_CRAWLERS

__all__ = ["RESOURCES", "FixedResource", "resource_endpoints"]

Endpoint = Callable[[Request], Awaitable[Response]]
# Raised when a key of the JSON changes meaning or goes away.
SCHEMA_VERSION = 1
CACHING = "public, max-age=3600"


class FixedResource(NamedTuple):
    """A resource: `GET path`."""

    path: str
    summary: str
    """One line, for the OpenAPI document."""
    schema: str
    """The name of the JSON schema of its answer."""
    make: Callable[[], dict[str, Any]]


def crawlers_values() -> dict[str, Any]:
    """Return the known crawlers as plain values for JSON."""
    return {
        "schema": SCHEMA_VERSION,
        "checked": KNOWN_CRAWLERS.checked,
        "source": KNOWN_CRAWLERS.source,
        "purposes": CRAWLER_PURPOSES,
        "crawlers": [crawler.as_dict() for crawler in KNOWN_CRAWLERS],
    }


def registries_values() -> dict[str, Any]:
    """Return the registries as plain values for JSON, in the format of registry files."""
    return {"schema": SCHEMA_VERSION, **SHIPPED.as_dict()}


RESOURCES = (
    FixedResource(
        "/v1/crawlers",
        "List the known crawlers, as their operators document them",
        "crawlers",
        crawlers_values,
    ),
    FixedResource(
        "/v1/registries",
        "List the registered tag rules, purposes, applications and app directives",
        "registries",
        registries_values,
    ),
)


def resource_endpoints() -> dict[str, Endpoint]:
    """Return the endpoints of all resources by path."""
    return {resource.path: _endpoint(resource) for resource in RESOURCES}


def _endpoint(resource: FixedResource) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        """Return the resource, or that the client has it already."""
        body, tag = _encoded(resource)
        headers = {"ETag": tag, "Cache-Control": CACHING}
        if _is_current(request.headers.get("If-None-Match", ""), tag):
            return Response(status_code=304, headers=headers)
        return Response(body, headers=headers, media_type="application/json")

    return endpoint


@cache
def _encoded(resource: FixedResource) -> tuple[bytes, str]:
    body = json.dumps(resource.make(), ensure_ascii=False).encode()
    return body, f'"{sha256(body).hexdigest()[:32]}"'


def _is_current(field: str, tag: str) -> bool:
    """Tell whether If-None-Match names the tag; the comparison is weak (RFC 9110 §13.1.2)."""
    tags = (one.strip().removeprefix("W/") for one in field.split(","))
    return any(one in (tag, "*") for one in tags)
