"""
The contract for sessions of HTTP clients: threads share a session, or tasks do.

A subclass opens a session of its host with an integration; a fetch through it follows redirects and
returns an outcome.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, AbstractContextManager, ExitStack
from typing import Any

import pytest

from tests.integrations.contract import (
    IntegrationContract,
    Outcome,
    client_options,
    smallest_gap,
)
from tests.integrations.loopback_site import LATENESS, LoopbackSite

Fetch = Callable[..., Outcome]
AsyncFetch = Callable[[str], Awaitable[Outcome]]
Credentials = tuple[str, str]


class SessionContract(IntegrationContract):
    """What sessions of both kinds do."""

    def test_authentication_steps(self, sites: ExitStack) -> None:
        """Each request of a digest authentication is checked and waits for its slot."""
        site = sites.enter_context(LoopbackSite("User-agent: *\nCrawl-delay: 0.4\nDisallow: /x\n"))
        site.protected.add("/a")
        assert self.crawl([site.url("/a")], credentials=("ann", "secret")) == [Outcome(200)]
        assert site.paths == ["/a", "/a"]
        assert smallest_gap(site.times("/a")) >= 0.4 - LATENESS


class ThreadSessions(SessionContract):
    """A session that threads share."""

    timeout_error: type[Exception]

    def session(
        self, credentials: Credentials | None = None, **options: Any
    ) -> AbstractContextManager[Fetch]:
        """Open a session, with digest authentication; its fetch takes a URL and a timeout."""
        raise NotImplementedError

    def crawl(self, urls: Sequence[str], *, tasks: int = 1, **options: Any) -> list[Outcome]:
        """Fetch in threads."""
        with (
            self.session(**client_options(**options)) as fetch,
            ThreadPoolExecutor(tasks) as pool,
        ):
            return list(pool.map(fetch, urls))

    def abandon(self, slow: str, then: str, after: float) -> Outcome:
        """Give up by a timeout of the host."""
        with self.session(**client_options()) as fetch:
            with pytest.raises(self.timeout_error):
                fetch(slow, timeout=after)
            return fetch(then)


class TaskSessions(SessionContract):
    """A session that tasks share."""

    def session(
        self, credentials: Credentials | None = None, **options: Any
    ) -> AbstractAsyncContextManager[AsyncFetch]:
        """Open a session, with digest authentication; its fetch takes a URL."""
        raise NotImplementedError

    def crawl(self, urls: Sequence[str], *, tasks: int = 1, **options: Any) -> list[Outcome]:
        """Fetch in tasks."""

        async def run() -> list[Outcome]:
            limit = asyncio.Semaphore(tasks)
            async with self.session(**client_options(**options)) as fetch:

                async def fetch_limited(url: str) -> Outcome:
                    async with limit:
                        return await fetch(url)

                return list(await asyncio.gather(*map(fetch_limited, urls)))

        return asyncio.run(run())

    def abandon(self, slow: str, then: str, after: float) -> Outcome:
        """Cancel the task."""

        async def run() -> Outcome:
            async with self.session(**client_options()) as fetch:
                task = asyncio.ensure_future(fetch(slow))
                await asyncio.sleep(after)
                task.cancel()
                outcome = await fetch(then)
                await asyncio.gather(task, return_exceptions=True)
                assert task.cancelled()
                return outcome

        return asyncio.run(run())
