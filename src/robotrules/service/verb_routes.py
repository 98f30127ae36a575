"""The routes of the verbs, `POST /v1/<verb>` with a JSON body, and of fixed resources."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from robotrules.service.guard import BodyReader
from robotrules.service.parts import Endpoint, ServiceContext, ServicePart
from robotrules.service.resources import resource_endpoints
from robotrules.service.verbs import JsonLines, Verb, load_verbs
from robotrules.service.work import WorkPool

__all__ = ["JsonBytes", "make_part", "read_body", "run_for"]

_JSON, _LINES = b"application/json", JsonLines.media_type.encode()


def make_part(context: ServiceContext) -> ServicePart:
    """Return the routes of all verbs and fixed resources."""
    work = context.work
    routes = {path: {"GET": endpoint} for path, endpoint in resource_endpoints().items()}
    routes |= {path: {"POST": _endpoint(work, verb)} for path, verb in load_verbs().items()}
    return ServicePart(routes, lifespan=work.opened)


def _endpoint(work: WorkPool, verb: Verb) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        """Answer with what the verb gives."""
        return await run_for(request, await read_body(request), work, verb)

    return endpoint


async def read_body(request: Request) -> bytes:
    """Return the whole body."""
    reader = request.receive
    return await (reader.read() if isinstance(reader, BodyReader) else request.body())


async def run_for(request: Request, body: bytes, work: WorkPool, verb: Verb) -> Response:
    """Run a verb for a request; the work is dropped if it waits and the client is gone."""
    if work.is_inline(verb, body):
        answer = work.run_inline(verb, body)
    else:
        running = asyncio.ensure_future(work.run(verb, body))
        leaving = asyncio.ensure_future(request.receive())
        try:
            await asyncio.wait((running, leaving), return_when=asyncio.FIRST_COMPLETED)
            if not running.done():
                raise ClientDisconnect
            answer = running.result()
        finally:
            for task in (running, leaving):
                if not task.done():
                    task.cancel()
                    with suppress(asyncio.CancelledError):
                        await task
    return JsonBytes(answer)


class JsonBytes(Response):
    """A response with encoded JSON, made in less time than a Response."""

    def __init__(self, body: bytes) -> None:
        self.status_code, self.background, self.body = 200, None, body
        self.raw_headers = [
            (b"content-length", b"%d" % len(body)),
            (b"content-type", _LINES if isinstance(body, JsonLines) else _JSON),
        ]
