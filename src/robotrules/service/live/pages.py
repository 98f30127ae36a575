"""
Answers about one URL: its explanation, the robots.txt of its origin, and the guidance of its page.

They are larger and rarer than checks, so nothing of them is kept.
"""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from time import time
from typing import Any

from robotrules.cache import EffectivePolicy
from robotrules.client.origin_state import OriginState
from robotrules.client.pages import FetchResult, make_guidance
from robotrules.errors import MissingExtraError
from robotrules.extensions.app_directives import directives_for
from robotrules.json_results.access import access_values
from robotrules.json_results.crawlers import ignore_unread_purposes
from robotrules.json_results.guidance import GuidanceQuery, GuidanceReport
from robotrules.robotstxt import parse
from robotrules.robotstxt.tokens import CrawlerNames
from robotrules.service.live.fetching import RETRY_AFTER, Fetching
from robotrules.service.live.questions import QuestionedCrawler, parsing_profile, vet_url
from robotrules.service.problems import Problem
from robotrules.service.verbs import INLINE

# Pages that are fetched and read at a time, and long files that are explained: a page may have
# 2 MiB.
MAX_PAGES = 16
# Seconds for which a page may wait for its slot, in addition to the time limit of a fetch.
SLOT_SECONDS = 15.0


class Pages:
    """Answers about one URL."""

    def __init__(self, fetching: Fetching) -> None:
        self._fetching = fetching
        self._in_progress = 0
        # One thread at a time: each further one takes the interpreter from the event loop.
        self._reading = asyncio.Lock()

    async def explain(self, url: str, crawler: QuestionedCrawler) -> dict[str, Any]:
        """Return how the verdict on a URL is reached, as `robotrules explain --json` does."""
        vet_url(url, self._fetching)
        state = await self._fetching.state(crawler.profile, url)
        ignore_unread_purposes(crawler.given_purposes, parsing_profile(crawler.profile))
        if len(state.robots.body) <= INLINE:
            return _explanation_values(url, state, crawler)
        with self._room():
            async with self._reading:
                return await asyncio.to_thread(_explanation_values, url, state, crawler)

    async def robots(self, url: str, profile: str | None) -> dict[str, Any]:
        """Return the robots.txt of the origin of a URL, and how it was fetched."""
        vet_url(url, self._fetching)
        state = await self._fetching.state(profile or self._fetching.profile, url)
        return {**robots_values(state), "hint": self._fetching.hint(state)}

    async def guidance(
        self, url: str, crawler: QuestionedCrawler, application: str | None
    ) -> dict[str, Any]:
        """Return what all carriers say about a page, as `robotrules guidance --json` does."""
        vet_url(url, self._fetching)
        vet_application(application)
        with self._room():
            first = await self._fetching.state(crawler.profile, url)
            page = await self._fetch(url, crawler)
            async with self._reading:
                return await asyncio.to_thread(_guidance_values, page, first, crawler, application)

    @contextmanager
    def _room(self) -> Iterator[None]:
        """Count a long answer; raise a problem if there are too many."""
        if self._in_progress >= MAX_PAGES:
            raise Problem("busy", "too many pages are read: try again later", headers=RETRY_AFTER)
        self._in_progress += 1
        try:
            yield
        finally:
            self._in_progress -= 1

    async def _fetch(self, url: str, crawler: QuestionedCrawler) -> FetchResult:
        await self._fetching.require_store()
        client, names = self._fetching.client(crawler.profile), crawler.names
        # The service obeys the groups for '*', even if the crawler ignores them.
        polite = CrawlerNames(names) if isinstance(names, CrawlerNames) else names
        try:
            async with asyncio.timeout(self._fetching.timeout + SLOT_SECONDS):
                return await client.fetch(url, polite, crawler.purposes)
        except TimeoutError:
            raise Problem(
                "took-too-long",
                "the page did not arrive in time, or the slots of its origin are far apart: send "
                "the request again",
                headers=RETRY_AFTER,
            ) from None
        except RuntimeError:
            self._fetching.require()  # closed meanwhile
            raise


def _explanation_values(url: str, state: OriginState, crawler: QuestionedCrawler) -> dict[str, Any]:
    found = uncached(state).explain(url, crawler.names, crawler.given_purposes)
    return found._replace(known=crawler.choice.known).as_dict()


def uncached(state: OriginState) -> OriginState:
    """
    Return a state with a copy of its file.

    A file keeps the records that are read of it, which may take a hundred times its size.
    """
    return state._replace(robots=copy(state.robots))


def robots_values(state: OriginState) -> dict[str, Any]:
    """Return the robots.txt of an origin: as text, and as base64 if it is not UTF-8."""
    record = state.fetch_record
    applies = state.policy is EffectivePolicy.RULES
    body = state.robots.body if applies else None
    text = None if body is None else body.decode("utf-8", "replace")
    is_text = body is not None and text is not None and text.encode() == body
    return {
        "url": record.url if record else f"{state.origin}/robots.txt",
        **access_values(state),
        "age": max(0.0, round(time() - record.at, 3)) if record else None,
        "policy": str(state.policy),
        "reason": str(state.reason),
        "redirects": [hop._asdict() for hop in record.hops] if record else [],
        "bytes": record.size if record else 0,
        "complete": record.complete if record else True,
        "sha256": record.digest if record else None,
        "robots": text,
        "robots_base64": None if body is None or is_text else b64encode(body).decode(),
        "store_error": state.store_error,
    }


def vet_application(name: str | None) -> None:
    """Raise a problem if a text is not an application identifier."""
    if name is None:
        return
    try:
        directives_for(parse(b""), name)
    except ValueError:
        raise Problem(
            "invalid-request",
            "not an application identifier: pass a Token (RFC 9651 §3.3.4), such as examplesearch",
            at="app",
        ) from None


def _guidance_values(
    page: FetchResult, first: OriginState, crawler: QuestionedCrawler, application: str | None
) -> dict[str, Any]:
    """Return the guidance of a page; it may be slow, because a page is long."""
    state = page.origin_state
    if state is not None and state.origin == first.origin:
        # How the question got the file, not how the fetch of the page did: from memory.
        state = state._replace(source=first.source)
    if state is not None:
        state = uncached(state)
        page = page._replace(origin_state=state)
    who = crawler.names, crawler.purposes
    profile = parsing_profile(crawler.profile)
    try:
        found = make_guidance(page, *who, application=application, profile=profile)
    except MissingExtraError:
        found = make_guidance(page, *who, application=application, profile=profile, html=False)
    if crawler.choice.known is not None and state is not None:
        found = found._replace(verdict=state.check(page.url, *who))
    query = GuidanceQuery(
        crawler.choice,
        crawler.given_purposes,
        None,
        None,
        application,
        profile,
        state.origin if state else None,
    )
    return query.as_dict(GuidanceReport(found, profile, None, None, page))
