"""
Slots: when a crawler may send its next request to an origin, for crawlers that have
their own HTTP client.

A crawler asks for a slot before each request, waits as long as the answer says, and reports the
response. The slots of an origin are shared by all crawlers of all workers that use the same store;
a slot begins at least as long after the previous one as the robots.txt asks of its crawler. Without
the store there are no slots, unless this process is the only one: then it keeps the distance alone.
"""

from __future__ import annotations

from math import ceil
from time import time
from typing import Annotated, Any

from msgspec import Meta

from robotrules.client.rate_limiter import find_retry_delay
from robotrules.json_results.access import access_values
from robotrules.service.live.fetching import Fetching
from robotrules.service.live.questions import QuestionedCrawler, UrlText, WhoInput, vet_url
from robotrules.service.problems import Problem
from robotrules.service.schemas import RequestBody

# What an answer has of how the robots.txt was fetched, as in check.
ACCESS = ("state", "status", "failure_reason", "failure", "until")


class SlotRequest(WhoInput, kw_only=True):
    """A request for the next slot of an origin."""

    url: UrlText


class ResponseReport(RequestBody, kw_only=True):
    """A response that a crawler received in its slot."""

    url: UrlText
    status: Annotated[int, Meta(description="Its status code.", ge=100, le=599)]
    retry_after: Annotated[
        str | int | None,
        Meta(description="Its Retry-After field: seconds or a date, as received."),
    ] = None


class Slots:
    """Hands out slots."""

    def __init__(self, fetching: Fetching) -> None:
        self._fetching = fetching

    async def reserve(self, url: str, crawler: QuestionedCrawler) -> dict[str, Any]:
        """Return whether a URL is allowed and, if so, in how many seconds it may be requested."""
        vet_url(url, self._fetching)
        client = self._fetching.client(crawler.profile)
        state = await self._fetching.state(crawler.profile, url)
        verdict = state.check(url, crawler.names, crawler.purposes)
        who = crawler.names, crawler.purposes
        delay = await self._fetching.delay(crawler.profile, state, *who)
        wait = store_error = None
        if verdict.allowed:
            at, store_error = await self._fetching.reserve_slot(state.origin, delay.seconds)
            if store_error is not None:
                # The pages that this process fetches keep the distance, too.
                at = max(at, await client.reserve(url, *who))
            # Rounded up: never before the slot.
            wait = max(0.0, ceil((at - time()) * 1_000) / 1_000)
        access = access_values(state)
        return {
            "url": url,
            "allowed": verdict.allowed,
            "reason": str(verdict.reason),
            "line": verdict.line,
            "origin": state.origin,
            "product_token": crawler.choice.name,
            "wait": wait,
            "delay": delay.as_dict(),
            **{name: access[name] for name in ACCESS},
            "hint": self._fetching.hint(state),
            "store_error": store_error,
        }

    async def record(self, report: ResponseReport) -> dict[str, Any]:
        """Postpone the next slot of an origin if a response asks for it."""
        origin = vet_url(report.url, self._fetching)
        self._fetching.require()
        fields = {}
        if report.retry_after is not None:
            value = str(report.retry_after)
            if len(value) > 100 or not value.isascii() or not value.isprintable():
                raise Problem(
                    "invalid-request", "pass seconds or a date, as received", at="retry_after"
                )
            fields["Retry-After"] = value
        now = time()
        postponed, store_error = find_retry_delay(report.status, fields, now), None
        if postponed is not None:
            store_error = await self._fetching.postpone_slot(origin, now + postponed)
            if store_error is not None:
                client = self._fetching.client(self._fetching.profile)
                await client.record_response(report.url, report.status, fields)
        return {"origin": origin, "postponed": postponed, "store_error": store_error}
