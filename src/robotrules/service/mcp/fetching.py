"""
Answers about live sites: whether a URL may be fetched, why, and what may be done with its page.

The client fetches robots.txt files politely, keeps them in its store, and connects to public
addresses only. A page is fetched only if the rules of its site allow that.

`may_fetch` hands out turns: how long to wait before a fetch, so that several agents with one store
keep the distance that a site asks for. The turn of a URL is remembered until it has passed, so that
asking again does not cost another one.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import robotrules
from robotrules.access import Failure, FailureReason, Request, Response
from robotrules.client.aio import AsyncClient
from robotrules.client.origin_state import OriginState
from robotrules.client.pages import make_guidance
from robotrules.client.rate_limiter import Delay, required_delay
from robotrules.client.ssrf import AddressPolicy
from robotrules.client.transports import AsyncTransport, open_async_transport
from robotrules.errors import MissingExtraError, StoreError
from robotrules.guide import guidance
from robotrules.http.origins import origin_of
from robotrules.json_results.access import access_values
from robotrules.json_results.check import verdict_values
from robotrules.robotstxt.verdict import Explanation, Reason, Verdict
from robotrules.service.mcp.arguments import (
    AskingCrawler,
    ExplainArguments,
    GuidanceArguments,
    MayFetchArguments,
    parse_crawler,
)
from robotrules.service.mcp.given import (
    explanation_result,
    guidance_result,
    header_lines,
    line_text,
)
from robotrules.service.mcp.site_text import bound
from robotrules.service.problems import Problem
from robotrules.service.settings import ServiceSettings

__all__ = ["LiveSites", "open_live_sites", "own_token"]

# Seconds: language models wait a minute for a tool, and fewer for its user.
FETCH_TIMEOUT = 15.0
PAGE_TIMEOUT = 40.0
# Seconds between two requests to an origin, where its site does not ask for more.
MIN_DELAY = 1.0
MAX_CONCURRENCY = 32
MAX_TURNS = 4_096
# How long a turn is good after its time, in seconds, if the next one does not begin before.
MAX_GRACE = 30.0

MAY_FETCH_SITE_TEXT = ("line_text", "pattern", "failure")
NO_FETCHING = (
    "this server was started with --no-fetch: pass robots, the text of the robots.txt, to explain "
    "or guidance"
)


def user_agent_of(settings: ServiceSettings) -> str:
    """Return the User-Agent that is sent."""
    return settings.user_agent or f"robotrules/{robotrules.__version__} (mcp)"


def own_token(settings: ServiceSettings) -> str:
    """Return the product token that a question is about where it names none."""
    return robotrules.product_token(user_agent_of(settings)) or "robotrules"


class LiveSites:
    """Answers questions about live sites, with one client."""

    def __init__(self, settings: ServiceSettings, client: AsyncClient | None) -> None:
        """*client* is None if nothing is fetched."""
        self._settings = settings
        self._client = client
        self._slots = asyncio.Semaphore(MAX_CONCURRENCY)
        self._turns: OrderedDict[tuple[str, str], float] = OrderedDict()

    async def may_fetch(self, arguments: MayFetchArguments) -> dict[str, Any]:
        """Return whether the rules of a site allow a fetch, why, and how long to wait."""
        crawler = self._crawler(arguments)
        state = await self._look_up(arguments.url)
        verdict = state.check(arguments.url, crawler.names, arguments.purpose)
        now = time.time()
        delay = required_delay(
            state.robots, crawler.names, arguments.purpose, now=now, min_delay=MIN_DELAY
        )
        wait = await self._turn(arguments.url, state, crawler, delay) if verdict else None
        values = {
            "allowed": verdict.allowed,
            "why": _why(verdict, state, crawler, wait),
            "wait": wait,
            "delay": delay.as_dict(),
            "line_text": line_text(state.robots.body, verdict.line),
            "url": arguments.url,
            **verdict_values(verdict, crawler.name, arguments.purpose, crawler.known_dict),
            **access_values(state),
        }
        return bound(values, MAY_FETCH_SITE_TEXT)

    async def explain(self, arguments: ExplainArguments) -> dict[str, Any]:
        """Return how the verdict on a URL is reached."""
        crawler = self._crawler(arguments)
        if arguments.profile != "default":
            raise Problem(
                "invalid-request",
                "profile needs robots: live robots.txt files are read with profile default",
                at="$.profile",
            )
        state = await self._look_up(arguments.url)
        # The rules of a large file take a while to list.
        found: Explanation = await asyncio.to_thread(
            state.explain, arguments.url, crawler.names, arguments.purpose
        )
        return explanation_result(found, crawler)

    async def guidance(self, arguments: GuidanceArguments) -> dict[str, Any]:
        """Return what may be done with a page: the given one, or the one that is fetched."""
        crawler = self._crawler(arguments)
        if arguments.headers is not None or arguments.html is not None:
            return await self._guidance_of_given_page(arguments, crawler)
        self._vet(arguments.url)
        client = self._opened()
        try:
            async with self._slots, asyncio.timeout(PAGE_TIMEOUT):
                page = await client.fetch(arguments.url, crawler.names, arguments.purpose)
        except TimeoutError:
            raise Problem(
                "took-too-long",
                f"the page was not fetched within {PAGE_TIMEOUT:g} seconds; its site may ask for a "
                "long delay (may_fetch says so). Ask later, or fetch the page yourself in your "
                "turn and pass headers and html",
            ) from None
        try:
            found = await asyncio.to_thread(
                make_guidance,
                page,
                crawler.names,
                arguments.purpose,
                application=None,
                profile="default",
            )
        except MissingExtraError as error:
            raise Problem("internal-error", str(error)) from None
        access = access_values(page.origin_state)
        access["page_failure_reason"] = str(page.failure_reason) if page.failure_reason else None
        return guidance_result(found, crawler, status=page.status, access=access)

    async def _guidance_of_given_page(
        self, arguments: GuidanceArguments, crawler: AskingCrawler
    ) -> dict[str, Any]:
        state = await self._look_up(arguments.url)
        found = await asyncio.to_thread(
            guidance,
            arguments.url,
            crawler.names,
            robots=state.robots,
            headers=header_lines(arguments.headers),
            html=arguments.html,
            purposes=arguments.purpose,
        )
        verdict = state.check(arguments.url, crawler.names, arguments.purpose)
        return guidance_result(
            found._replace(verdict=verdict), crawler, access=access_values(state)
        )

    def _crawler(self, arguments: MayFetchArguments) -> AskingCrawler:
        return parse_crawler(arguments.as_ or own_token(self._settings))

    def _opened(self) -> AsyncClient:
        if self._client is None:
            raise Problem("fetching-off", NO_FETCHING)
        return self._client

    def _vet(self, url: str) -> None:
        """Refuse URLs without an origin, and hosts that are not listed."""
        self._opened()
        origin = origin_of(url)
        if origin is None:
            raise Problem(
                "invalid-request",
                "url is not an http or https URL with a host: pass one such as "
                "https://example.com/a",
                at="$.url",
            )
        if not is_listed(origin, self._settings.fetch_hosts):
            raise Problem("host-not-allowed", NOT_LISTED)

    async def _look_up(self, url: str) -> OriginState:
        self._vet(url)
        client = self._opened()
        try:
            async with self._slots, asyncio.timeout(PAGE_TIMEOUT):
                state = await client.lookup(url)
        except TimeoutError:
            raise Problem(
                "took-too-long",
                f"the robots.txt was not fetched within {PAGE_TIMEOUT:g} seconds: ask again later, "
                "and do not fetch the URL before that",
            ) from None
        assert state is not None  # it has an origin
        return state

    async def _turn(
        self, url: str, state: OriginState, crawler: AskingCrawler, delay: Delay
    ) -> float:
        """Return the seconds until the turn of a URL; a turn that was handed out is kept."""
        now = time.time()
        key = crawler.name, url
        at = self._turns.get(key)
        if at is None or at + min(delay.seconds, MAX_GRACE) < now:
            try:
                # A store on another machine blocks.
                at = await asyncio.to_thread(
                    self._opened().store.reserve_slot, state.origin, now, delay.seconds
                )
            except StoreError:
                at = now
            self._turns[key] = at
            if len(self._turns) > MAX_TURNS:
                self._turns.popitem(last=False)
        # Rounded up: never before the turn.
        return max(0.0, math.ceil((at - time.time()) * 10) / 10)


@asynccontextmanager
async def open_live_sites(settings: ServiceSettings) -> AsyncIterator[LiveSites]:
    """Open the client of the settings; close it at the end."""
    if not settings.fetches:
        yield LiveSites(settings, None)
        return
    user_agent = user_agent_of(settings)
    transport = ListedHosts(
        open_async_transport(user_agent, addresses=AddressPolicy(settings.allow_private)),
        settings.fetch_hosts,
    )
    client = AsyncClient(
        user_agent,
        store=settings.store,
        transport=transport,
        min_delay=MIN_DELAY,
        timeout=FETCH_TIMEOUT,
    )
    try:
        async with client:
            yield LiveSites(settings, client)
    finally:
        await transport.aclose()


# --- Hosts ----------------------------------------------------------------------------------------

NOT_LISTED = "this server fetches only from the hosts of its --fetch-host options"


def is_listed(origin: str, hosts: tuple[str, ...]) -> bool:
    """Return whether an origin may be fetched from; `*.example.com` lists all names below it."""
    if not hosts:
        return True
    authority = origin.partition("://")[2]
    host = authority[1:].partition("]")[0] if authority[0] == "[" else authority.partition(":")[0]
    return any(
        host.endswith(listed[1:]) if listed.startswith("*.") else host == listed.strip("[]")
        for listed in map(str.lower, hosts)
    )


class ListedHosts:
    """A transport that sends requests to listed hosts only: a redirect may name any host."""

    def __init__(self, transport: AsyncTransport, hosts: tuple[str, ...]) -> None:
        self._transport, self._hosts = transport, hosts

    async def send(self, request: Request) -> Response | Failure:
        """Send a request, if its host is listed."""
        origin = origin_of(request.url)
        if origin is None or not is_listed(origin, self._hosts):
            return Failure(FailureReason.REFUSED, NOT_LISTED)
        return await self._transport.send(request)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._transport.aclose()


# --- Sentences ------------------------------------------------------------------------------------


def _why(verdict: Verdict, state: OriginState, crawler: AskingCrawler, wait: float | None) -> str:
    """Return the reason in a sentence or two, without text of the site."""
    robots = f"{state.origin}/robots.txt"
    if verdict.reason is Reason.UNREACHABLE:
        return (
            f"Do not fetch this URL now: {robots} could not be fetched ({_failure(state)}), and "
            "then nothing is allowed (RFC 9309 §2.3.1.4)."
        )
    reason = verdict.reason.sentence
    if verdict.line is not None:
        reason = f"line {verdict.line} of {robots} decides, because {reason}"
    elif verdict.reason is not Reason.IMPLICIT:
        reason = f"{reason} ({robots})"
    if not verdict:
        return f"The site asks {crawler.name} not to fetch this URL: {reason}. Do not fetch it."
    seconds = math.ceil(wait or 0)
    turn = f"in {seconds} second{'s' * (seconds > 1)}, not earlier" if seconds else "now"
    return f"The site lets {crawler.name} fetch this URL: {reason}. Fetch it {turn}."


def _failure(state: OriginState) -> str:
    record = state.fetch_record
    if record is None or record.failure_reason is None:
        return "no response"
    if record.failure_reason is FailureReason.STATUS:
        return f"status {record.status}"
    if record.failure_reason is FailureReason.REFUSED:
        if NOT_LISTED in record.detail:
            return NOT_LISTED
        return (
            "its address is private; the operator of this server can allow it with --allow-private"
        )
    return record.failure_reason.sentence
