"""What does not depend on a request: the OpenAPI document, and the lists of crawlers and registries."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from robotrules.service.openapi import openapi_document
from robotrules.service.parts import Part, ServiceContext
from robotrules.service.resources import resource_endpoints

__all__ = ["make_part"]


def make_part(context: ServiceContext) -> Part:
    """Return the routes."""
    resources = {path: {"GET": endpoint} for path, endpoint in resource_endpoints().items()}
    return Part({"/openapi.json": {"GET": _openapi}, **resources})


async def _openapi(request: Request) -> Response:
    return Response(_encoded(), media_type="application/json")


@cache
def _encoded() -> bytes:
    return msgspec.json.encode(openapi_document(version("robotrules")))
