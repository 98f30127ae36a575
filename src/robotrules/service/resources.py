"""
Resources that do not depend on a request: the known crawlers, the registries of the drafts, and the
JSON schemas of the answers.

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

from robotrules.json_results.crawlers import crawlers_values
from robotrules.json_results.schemas import load_schema, schema_names
from robotrules.registries import SHIPPED

__all__ = ["RESOURCES", "FixedResource", "resource_endpoints"]

Endpoint = Callable[[Request], Awaitable[Response]]
# Raised when a key of the JSON changes meaning or goes away.
SCHEMA_VERSION = 1
CACHING = "public, max-age=3600"
SCHEMAS = "/v1/schemas"
_SCHEMA_LIST = {
    "type": "object",
    "required": ["schemas"],
    "properties": {
        "schemas": {
            "type": "array",
            "items": {"type": "object", "required": ["name", "title", "url"]},
        }
    },
}


class FixedResource(NamedTuple):
    """A resource: `GET path`."""

    path: str
    summary: str
    """One line, for the OpenAPI document."""
    schema: str | dict[str, Any]
    """The JSON schema of its answer, or its name."""
    make: Callable[[], dict[str, Any]]


def registries_values() -> dict[str, Any]:
    """Return the registries as plain values for JSON, in the format of registry files."""
    return {"schema": SCHEMA_VERSION, **SHIPPED.as_dict()}


def schema_list_values() -> dict[str, Any]:
    """Return the names of the JSON schemas, as plain values for JSON."""
    found = ((name, load_schema(name)) for name in schema_names())
    return {
        "schemas": [
            {"name": name, "title": schema["title"], "url": f"{SCHEMAS}/{name}"}
            for name, schema in found
        ]
    }


def schema_values(name: str) -> dict[str, Any]:
    """Return a JSON schema whose `$id` is the path of the resource."""
    schema = load_schema(name)
    return {"$schema": schema.pop("$schema"), "$id": f"{SCHEMAS}/{name}", **schema}


def _schema_resource(name: str) -> FixedResource:
    summary = f"The JSON schema of the answer {name}"
    return FixedResource(
        f"{SCHEMAS}/{name}", summary, {"type": "object"}, lambda: schema_values(name)
    )


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
    FixedResource(
        SCHEMAS, "List the JSON schemas of the answers", _SCHEMA_LIST, schema_list_values
    ),
    *map(_schema_resource, schema_names()),
)


def resource_endpoints() -> dict[str, Endpoint]:
    """Return the endpoints of all resources by path."""
    return {resource.path: _endpoint(resource) for resource in RESOURCES}


def _endpoint(resource: FixedResource) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        """Return the resource, or that the client has it already."""
        body, tag = _encoded(resource.make)
        headers = {"ETag": tag, "Cache-Control": CACHING}
        if _is_current(request.headers.get("If-None-Match", ""), tag):
            return Response(status_code=304, headers=headers)
        return Response(body, headers=headers, media_type="application/json")

    return endpoint


@cache
def _encoded(make: Callable[[], dict[str, Any]]) -> tuple[bytes, str]:
    body = json.dumps(make(), ensure_ascii=False).encode()
    return body, f'"{sha256(body).hexdigest()[:32]}"'


def _is_current(field: str, tag: str) -> bool:
    """Tell whether If-None-Match names the tag; the comparison is weak (RFC 9110 §13.1.2)."""
    tags = (one.strip().removeprefix("W/") for one in field.split(","))
    return any(one in (tag, "*") for one in tags)
