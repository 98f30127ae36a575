"""The paths of the verbs that fetch, and what is opened and closed with them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from robotrules.service.decoding import decode_request, in_body
from robotrules.service.live.checks import Checks, encode
from robotrules.service.live.fetching import Fetching
from robotrules.service.live.pages import Pages
from robotrules.service.live.questions import (
    ABOUT_URL,
    MAX_URL,
    WHO,
    CheckQueries,
    Crawlers,
    Query,
    UrlText,
    WhoInput,
)
from robotrules.service.live.slots import ResponseReport, SlotRequest, Slots
from robotrules.service.live.streams import (
    LineChecks,
    NDJSONResponse,
    StreamRoom,
    answer_lines,
    answer_urls,
)
from robotrules.service.parts import Routes, ServiceContext, ServicePart
from robotrules.service.problems import Problem
from robotrules.service.verb_routes import JsonBytes, read_body, run_for
from robotrules.service.verbs import load_verbs

JSON = "application/json"


class OriginCheckRequest(WhoInput, kw_only=True):
    """A question about one URL or several, answered from the robots.txt files of their origins."""

    url: UrlText | None = None
    urls: Annotated[
        list[Annotated[str, Meta(max_length=MAX_URL)]] | None,
        Meta(description="Several URLs; the answer has a line for each."),
    ] = None


class RobotsField(msgspec.Struct):
    """The fields that make a check one of a given file."""

    robots: msgspec.Raw = msgspec.Raw()
    robots_base64: msgspec.Raw = msgspec.Raw()


def has_robots(body: bytes) -> bool:
    """Return whether a body brings its own robots.txt, so that nothing is fetched."""
    try:
        fields = msgspec.json.decode(body, type=RobotsField)
    except RecursionError:
        raise Problem("malformed-body", "the body is nested too deeply") from None
    except msgspec.MsgspecError:
        # The verb accepts half a surrogate pair, or says what is wrong.
        return b'"robots' in body
    return bool(fields.robots or fields.robots_base64)


def make_part(context: ServiceContext) -> ServicePart:
    """Return the routes of the verbs that fetch; wrong settings raise a ValueError."""
    live = Live(context)
    return ServicePart(
        live.routes(),
        streamed_paths=frozenset(("/v1/check/stream",)),
        lifespan=live.lifespan,
        not_ready=live.fetching.not_ready,
    )


class Live:
    """The verbs that fetch, of one worker."""

    def __init__(self, context: ServiceContext) -> None:
        """Wrong settings raise a ValueError."""
        settings = context.settings
        self._limits, self._work = settings.limits, context.work
        self._check_verb = load_verbs().get("/v1/check")
        self.fetching = Fetching(settings)
        self._crawlers = Crawlers(self.fetching)
        self._queries = CheckQueries(self._crawlers)
        self._checks = Checks(self.fetching)
        self._pages = Pages(self.fetching)
        self._slots = Slots(self.fetching)
        self._room = StreamRoom()

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Open the clients, and close them at the end."""
        async with self.fetching:
            yield

    def routes(self) -> Routes:
        """Return the endpoints by path and method."""
        return {
            "/v1/check": {"GET": self.check, "POST": self.check_body},
            "/v1/check/stream": {"POST": self.check_stream},
            "/v1/explain": {"GET": self.explain},
            "/v1/guidance": {"GET": self.guidance},
            "/v1/robots": {"GET": self.robots},
            "/v1/slot": {"POST": self.slot},
            "/v1/responses": {"POST": self.responses},
        }

    # --- Endpoints ----------------------------------------------------------------------------

    async def check(self, request: Request) -> Response:
        """Answer GET /v1/check."""
        url, crawler = self._queries.read(request.scope["query_string"])
        body = self._checks.ready(url, crawler) or await self._checks.fetched(url, crawler)
        return JsonBytes(body)

    async def check_body(self, request: Request) -> Response:
        """Answer POST /v1/check: with a robots.txt as the verb does, else by fetching."""
        body = await read_body(request)
        if self._check_verb is not None and has_robots(body):
            return await run_for(request, body, self._work, self._check_verb)
        given = decode_request(body, OriginCheckRequest)
        try:
            crawler = self._crawlers.find_given(given)
            if given.url is not None and given.urls is None:
                return Response(await self._checks.answer(given.url, crawler), media_type=JSON)
        except Problem as problem:
            raise in_body(problem) from None
        if given.urls is None or given.url is not None:
            raise Problem("invalid-request", "pass either url or urls", at="$.url")
        if len(given.urls) > self._limits.max_urls:
            raise Problem(
                "too-many-urls",
                f"pass at most {self._limits.max_urls:,} URLs, or use /v1/check/stream",
                at="$.urls",
            )
        self.fetching.require()
        self._room.require()
        lines = LineChecks(self._checks, self._crawlers, Query(b"", WHO))
        return NDJSONResponse(answer_urls(given.urls, crawler, lines), self._room)

    async def check_stream(self, request: Request) -> Response:
        """Answer POST /v1/check/stream."""
        lines = LineChecks(self._checks, self._crawlers, Query(request.scope["query_string"], WHO))
        self.fetching.require()
        self._room.require()
        items = answer_lines(request.receive, lines)
        return NDJSONResponse(items, self._room)

    async def explain(self, request: Request) -> Response:
        """Answer GET /v1/explain."""
        query = Query(request.scope["query_string"], ABOUT_URL)
        return _json(await self._pages.explain(query.url(), query.crawler(self._crawlers)))

    async def guidance(self, request: Request) -> Response:
        """Answer GET /v1/guidance."""
        query = Query(request.scope["query_string"], ABOUT_URL | {"app"})
        url, crawler = query.url(), query.crawler(self._crawlers)
        return _json(await self._pages.guidance(url, crawler, query.one("app")))

    async def robots(self, request: Request) -> Response:
        """Answer GET /v1/robots."""
        query = Query(request.scope["query_string"], frozenset(("url", "profile")))
        _, profile = query.options()
        return _json(await self._pages.robots(query.url(), profile))

    async def slot(self, request: Request) -> Response:
        """Answer POST /v1/slot."""
        given = decode_request(await read_body(request), SlotRequest)
        try:
            crawler = self._crawlers.find_given(given)
            return _json(await self._slots.reserve(given.url, crawler))
        except Problem as problem:
            raise in_body(problem) from None

    async def responses(self, request: Request) -> Response:
        """Answer POST /v1/responses."""
        report = decode_request(await read_body(request), ResponseReport)
        try:
            return _json(await self._slots.record(report))
        except Problem as problem:
            raise in_body(problem) from None


def _json(values: dict[str, Any]) -> Response:
    return Response(encode(values), media_type=JSON)
