"""
What the operator asks: is it alive, is it ready, its counters; and what its problems mean.

    /healthz      the worker answers
    /readyz       it can do its work: it is not stopping, and every part is ready
    /metrics      counters for Prometheus
    /v1/problems  the kinds of problems
"""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from robotrules.service.parts import ServiceContext, ServicePart
from robotrules.service.problems import PROBLEMS

__all__ = ["make_part"]

JSON = "application/json"
# Probes of an orchestrator send the address of a container as Host; these answers say nothing else.
PROBES = frozenset(("/healthz", "/readyz"))


def make_part(context: ServiceContext) -> ServicePart:
    """Return the routes."""

    async def healthz(request: Request) -> Response:
        """Answer."""
        return Response(b'{"status":"ok"}', media_type=JSON)

    async def readyz(request: Request) -> Response:
        """Say whether this worker should get requests."""
        reasons = await context.readiness.reasons()
        answer = {"status": "not ready" if reasons else "ready", "reasons": reasons}
        return Response(msgspec.json.encode(answer), 503 if reasons else 200, media_type=JSON)

    async def metrics(request: Request) -> Response:
        """Return the counters."""
        text, media_type = context.metrics.exposition()
        return Response(text, media_type=media_type)

    problems = msgspec.json.encode(
        {
            "problems": [
                {"type": f"/v1/problems#{slug}", "title": kind.title, "status": kind.status}
                for slug, kind in PROBLEMS.items()
            ]
        }
    )

    async def descriptions(request: Request) -> Response:
        """Return the kinds of problems."""
        return Response(problems, media_type=JSON)

    return ServicePart(
        {
            "/healthz": {"GET": healthz},
            "/readyz": {"GET": readyz},
            "/metrics": {"GET": metrics},
            "/v1/problems": {"GET": descriptions},
        },
        open_paths=frozenset((*PROBES, "/v1/problems")),
    )
