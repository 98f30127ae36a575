"""
Answers about live sites: whether a URL may be fetched, why, and what may be done with its page.

robots.txt files are fetched and kept as for the HTTP API (`service.live`). A page is fetched only
if the rules of its site allow that.

`may_fetch` hands out slots: how long to wait before a fetch, so that several agents with one store
keep the distance that a site asks for. If the server has one client, the slot of a URL is
remembered until the next one begins, so that asking again does not cost another one. Over HTTP
there are no sessions, and the one that asks again may be another agent.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from typing import Any

from robotrules.access import FailureReason
from robotrules.cache import EffectivePolicy
from robotrules.client.origin_state import OriginState
from robotrules.client.pages import FetchResult, make_guidance
from robotrules.errors import MissingExtraError
from robotrules.json_results.access import access_values
from robotrules.json_results.check import verdict_values
from robotrules.robotstxt.tokens import CrawlerNames
from robotrules.robotstxt.verdict import Reason, Verdict
from robotrules.service.live.fetching import Fetching
from robotrules.service.live.pages import Pages, uncached
from robotrules.service.live.questions import Crawlers, QuestionedCrawler, vet_url
from robotrules.service.mcp.arguments import (
    ExplainArguments,
    GuidanceArguments,
    MayFetchArguments,
)
from robotrules.service.mcp.given import (
    EXPLAIN_SITE_TEXT,
    PAGE_GUIDANCE,
    PageArguments,
    guidance_result,
    line_text,
    run_given,
)
from robotrules.service.mcp.sentences import REFUSED_ADDRESS
from robotrules.service.mcp.site_text import bound
from robotrules.service.problems import Problem
from robotrules.service.work import WorkPool

__all__ = ["MAY_FETCH_SITE_TEXT", "LiveSites"]

# Seconds: language models wait a minute for a tool, and their users less.
PAGE_TIMEOUT = 40.0
MAX_PAGES = 16
MAX_SLOTS = 4_096
# How long a slot is good after its time, in seconds, if the next one does not begin before.
MAX_GRACE = 30.0

MAY_FETCH_SITE_TEXT = ("line_text", "pattern", "failure")


class LiveSites:
    """Answers questions about live sites."""

    def __init__(self, fetching: Fetching, work: WorkPool, *, repeats_slots: bool) -> None:
        self._fetching, self._work, self._repeats_slots = fetching, work, repeats_slots
        self._crawlers = Crawlers(fetching)
        self._pages = Pages(fetching)
        self._fetched_at_once = asyncio.Semaphore(MAX_PAGES)
        # One thread at a time: each further one takes the interpreter from the event loop.
        self._reading = asyncio.Lock()
        self._slots: OrderedDict[tuple[str, str], float] = OrderedDict()

    async def may_fetch(self, arguments: MayFetchArguments) -> dict[str, Any]:
        """Return whether the rules of a site allow a fetch, why, and how long to wait."""
        crawler, state = await self._look_up(arguments)
        verdict = state.check(arguments.url, crawler.names, crawler.purposes)
        who = crawler.names, crawler.purposes
        delay = await self._fetching.delay(crawler.profile, state, *who)
        wait = None
        if verdict:
            wait = await self._slot(arguments.url, state.origin, crawler, delay.seconds)
        choice = crawler.choice
        values = {
            "allowed": verdict.allowed,
            "why": _why(verdict, state, crawler, wait),
            "wait": wait,
            "delay": delay.as_dict(),
            "line_text": line_text(state.robots.body, verdict.line),
            "url": arguments.url,
            **verdict_values(verdict, choice.name, crawler.given_purposes, choice.known_dict),
            **access_values(state),
        }
        return bound(values, MAY_FETCH_SITE_TEXT)

    async def explain(self, arguments: ExplainArguments) -> dict[str, Any]:
        """Return how the verdict on a URL is reached."""
        crawler = self._crawler(arguments, arguments.profile)
        return bound(await self._pages.explain(arguments.url, crawler), EXPLAIN_SITE_TEXT)

    async def guidance(self, arguments: GuidanceArguments) -> dict[str, Any]:
        """Return what may be done with a page: the given one, or the one that is fetched."""
        crawler, state = await self._look_up(arguments)
        if arguments.headers is None and arguments.html is None:
            return await self._guidance_of_live_page(arguments.url, crawler, state)
        verdict = state.check(arguments.url, crawler.names, crawler.purposes)
        applies = state.policy is EffectivePolicy.RULES
        record = state.entry.last_success
        page = PageArguments(
            url=arguments.url,
            as_=arguments.as_ or self._fetching.product_token,
            purpose=arguments.purpose,
            headers=arguments.headers,
            html=arguments.html,
            file=state.robots.body,
            complete=not applies or record is None or record.complete,
            reason=None if applies else str(verdict.reason),
            access=access_values(state),
        )
        return await run_given(self._work, PAGE_GUIDANCE, page)

    async def _guidance_of_live_page(
        self, url: str, crawler: QuestionedCrawler, first: OriginState
    ) -> dict[str, Any]:
        await self._fetching.require_store()
        client, names = self._fetching.client(crawler.profile), crawler.names
        # This server obeys the groups for '*', even if the crawler ignores them.
        polite = CrawlerNames(names) if isinstance(names, CrawlerNames) else names
        try:
            async with asyncio.timeout(PAGE_TIMEOUT), self._fetched_at_once:
                page = await client.fetch(url, polite, crawler.purposes)
        except TimeoutError:
            raise Problem(
                "took-too-long",
                f"the page was not fetched within {PAGE_TIMEOUT:g} seconds; its site may ask for a "
                "long delay (may_fetch says so). Ask later, or fetch the page yourself in your "
                "slot and pass headers and html",
            ) from None
        try:
            if page.origin_state is not None:
                page = page._replace(origin_state=uncached(page.origin_state))
            async with self._reading:
                found = await asyncio.to_thread(
                    make_guidance,
                    page,
                    names,
                    crawler.purposes,
                    application=None,
                    profile=crawler.profile,
                )
        except MissingExtraError as error:
            raise Problem("internal-error", str(error)) from None
        state = page.origin_state or first
        if crawler.choice.known is not None:
            verdict = state.check(page.url, names, crawler.purposes)
            found = found._replace(verdict=verdict)
        access = access_values(state)
        access["page_failure_reason"] = str(page.failure_reason) if page.failure_reason else None
        return guidance_result(
            found,
            crawler.choice,
            status=page.status,
            access=access,
            not_fetched=_describe_missing_page(page),
            is_redirected=bool(page.hops),
        )

    def _crawler(self, arguments: MayFetchArguments, profile: str = "default") -> QuestionedCrawler:
        names = [] if arguments.as_ is None else [arguments.as_]
        return self._crawlers.find(names, arguments.purpose, profile=profile)

    async def _look_up(self, arguments: MayFetchArguments) -> tuple[QuestionedCrawler, OriginState]:
        self._fetching.require()
        crawler = self._crawler(arguments)
        vet_url(arguments.url, self._fetching)
        return crawler, await self._fetching.state(crawler.profile, arguments.url)

    async def _slot(self, url: str, origin: str, crawler: QuestionedCrawler, delay: float) -> float:
        """Return the seconds until the slot of a URL."""
        key = crawler.choice.name, url
        at = self._slots.get(key) if self._repeats_slots else None
        if at is None or at + min(delay, MAX_GRACE) < time.time():
            at, why = await self._fetching.reserve_slot(origin, delay)
            if why is not None:
                # The pages that this process fetches keep the distance, too.
                client = self._fetching.client(crawler.profile)
                at = max(at, await client.reserve(url, crawler.names, crawler.purposes))
            if self._repeats_slots:
                self._slots[key] = at
                if len(self._slots) > MAX_SLOTS:
                    self._slots.popitem(last=False)
        # Rounded up: never before the slot.
        return max(0.0, math.ceil((at - time.time()) * 10) / 10)


# --- Sentences ------------------------------------------------------------------------------------


def _why(
    verdict: Verdict, state: OriginState, crawler: QuestionedCrawler, wait: float | None
) -> str:
    """Return the reason in a sentence or two, without text of the site."""
    origin, name = state.origin, crawler.choice.name
    if verdict.reason is Reason.UNREACHABLE:
        record = state.fetch_record
        if record is not None and record.failure_reason is FailureReason.REFUSED:
            return REFUSED_ADDRESS
        return (
            f"Do not fetch this URL now: the robots.txt of {origin} could not be fetched "
            f"({_failure(state)}), and then nothing is allowed (RFC 9309 §2.3.1.4). Ask again "
            f"in {_count_seconds(max(1.0, state.until - time.time()))}."
        )
    # The file may have been redirected, so it is named by the origin that it is for.
    reason = verdict.reason.sentence
    if verdict.line is not None:
        reason = f"line {verdict.line} of the robots.txt of {origin} decides, because {reason}"
    elif verdict.reason in (Reason.UNAVAILABLE, Reason.RESTRICTED):
        reason = f"{reason} at {origin}"
    elif verdict.reason is not Reason.IMPLICIT:
        reason = f"{reason} in the robots.txt of {origin}"
    if not verdict:
        return f"The site asks {name} not to fetch this URL: {reason}. Do not fetch it."
    when = f"in {_count_seconds(wait)}, not earlier" if wait else "now"
    return f"The site lets {name} fetch this URL: {reason}. Fetch it {when}."


def _failure(state: OriginState) -> str:
    record = state.fetch_record
    if record is None or record.failure_reason is None:
        return "no response"
    if record.failure_reason is FailureReason.STATUS:
        return f"status {record.status}"
    return record.failure_reason.sentence


def _count_seconds(seconds: float) -> str:
    whole = math.ceil(seconds)
    return f"{whole} second{'s' * (whole > 1)}"


def _describe_missing_page(page: FetchResult) -> str | None:
    """Return why this server has no page."""
    if page.failure_reason is FailureReason.REFUSED:
        return "the page was not fetched: this server does not connect to that address"
    if page.failure_reason is not None:
        return f"the page was not fetched: {page.failure_reason.sentence}"
    return None if page.ok else f"the page was not read: it has status {page.status}"
