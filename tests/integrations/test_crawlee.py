"""crawlee: real crawlers on loopback sites, with robotrules in the place of its RobotsTxtFile."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from crawlee import ConcurrencySettings
from crawlee._utils import robots as crawlee_robots
from crawlee.crawlers import HttpCrawler
from crawlee.http_clients import HttpxHttpClient
from crawlee.storage_clients import MemoryStorageClient

from robotrules import AsyncClient, DisallowedError
from robotrules.integrations.crawlee import RobotsTxtFile, install
from tests.integrations.contract import USER_AGENT, IntegrationContract, Outcome, client_options
from tests.integrations.loopback_site import LoopbackSite


async def crawl(urls: Sequence[str], tasks: int, page_timeout: float = 30.0, **options: Any) -> Any:
    """Crawl with an `HttpCrawler`; return the outcomes by URL."""
    outcomes: dict[str, Outcome] = {}
    async with install(USER_AGENT, **client_options(**options)) as installation:
        settings: Any = {"navigation_timeout": timedelta(seconds=page_timeout)}
        crawler = HttpCrawler(
            respect_robots_txt_file=True,
            http_client=HttpxHttpClient(event_hooks=installation.event_hooks),
            storage_client=MemoryStorageClient(),
            concurrency_settings=ConcurrencySettings(
                min_concurrency=tasks, desired_concurrency=tasks, max_concurrency=tasks
            ),
            **settings,
            request_handler_timeout=timedelta(seconds=60),
            max_request_retries=0,
            ignore_http_error_status_codes=[429],
            configure_logging=False,
        )

        async def fetched(context: Any) -> None:
            outcomes[context.request.url] = Outcome(context.http_response.status_code)

        async def skipped(url: str, reason: str) -> None:
            verdict = await installation.client.check(url)
            outcomes[url] = Outcome(None, url, verdict.reason)

        async def failed(context: Any, error: Exception) -> None:
            if isinstance(error, DisallowedError):
                outcomes[context.request.url] = Outcome.of(error)
            else:
                outcomes[context.request.url] = Outcome()

        crawler.router.default_handler(fetched)
        crawler.on_skipped_request(skipped)
        crawler.failed_request_handler(failed)
        await crawler.run(urls)
    return outcomes


@pytest.mark.filterwarnings("ignore")  # crawlee leaves tasks and files of its own
class TestCrawlee(IntegrationContract):
    """`install()` with the hooks, in an `HttpCrawler`."""

    has_details = False
    has_slots = False

    def crawl(self, urls: Sequence[str], *, tasks: int = 1, **options: Any) -> list[Outcome]:
        """Crawl, and return the outcomes in the order of the URLs."""
        outcomes = asyncio.run(crawl(urls, tasks, **options))
        return [outcomes[url] for url in urls]

    def abandon(self, slow: str, then: str, after: float) -> Outcome:
        """crawlee cancels the slow request when its own time is over."""
        outcomes = asyncio.run(crawl([slow, then], 1, page_timeout=after))
        assert outcomes[slow].status is None
        outcome: Outcome = outcomes[then]
        return outcome


class TestRobotsTxtFile:
    """The replacement for `RobotsTxtFile`, without a crawler."""

    def find(self, robots: str, **options: Any) -> Any:
        """Return a file that is found at a site."""

        async def run() -> dict[str, Any]:
            with LoopbackSite(robots) as site:
                async with install(USER_AGENT, **client_options(**options)):
                    find = crawlee_robots.RobotsTxtFile.find
                    found: Any = await find(site.url("/"), http_client=HttpxHttpClient())
                    return self.read(found, site.origin)

        return asyncio.run(run())

    def read(self, file: RobotsTxtFile, origin: str) -> dict[str, Any]:
        """Return what crawlee reads from a file."""
        return {
            "own": file.is_allowed(f"{origin}/a"),
            "star": file.is_allowed(f"{origin}/a", "Mozilla/5.0 (X11; Linux)"),
            "named": file.is_allowed(f"{origin}/a", "OtherBot/2.0"),
            "elsewhere": file.is_allowed("http://127.0.0.1:1/a"),
            "delay": file.get_crawl_delay(),
            "sitemaps": file.get_sitemaps(enqueue_strategy="all"),
        }

    def test_crawler_names(self) -> None:
        """`*` stands for the client's name; a header for the name in it, or for all crawlers."""
        robots = (
            "User-agent: ExampleBot\nDisallow: /a\nCrawl-delay: 0.5\n\n"
            "User-agent: *\nDisallow: /b\n\nUser-agent: OtherBot\nDisallow: /a\n"
            "Sitemap: https://example.com/s.xml\n"
        )
        assert self.find(robots) == {
            "own": False,
            "star": True,
            "named": False,
            "elsewhere": True,
            "delay": 1,
            "sitemaps": ["https://example.com/s.xml"],
        }

    def test_without_a_delay(self) -> None:
        """A file without a rate limit has no crawl delay."""
        assert self.find("User-agent: *\nDisallow: /x\n")["delay"] is None

    def test_an_expired_file_is_fetched_again(self) -> None:
        """After its expiry the file answers once more, and the next answer is the new one."""

        async def run() -> list[bool]:
            now = 1_800_000_000.0
            with LoopbackSite("User-agent: *\nDisallow: /a\n") as site:
                async with install(USER_AGENT, **client_options(clock=lambda: now)):
                    file = await crawlee_robots.RobotsTxtFile.find(site.url("/"), None)  # type: ignore[arg-type]
                    before = file.is_allowed(site.url("/a"))
                    site.answers["/robots.txt"] = site.answers["/robots.txt"]._replace(body=b"")
                    now += 86_400 * 2
                    stale = file.is_allowed(site.url("/a"))
                    for _ in range(100):
                        await asyncio.sleep(0.02)
                        if file.is_allowed(site.url("/a")):
                            break
                    return [before, stale, file.is_allowed(site.url("/a"))]

        assert asyncio.run(run()) == [False, False, True]

    def test_closing_restores_crawlee(self) -> None:
        """After closing, crawlee's own class finds files; a client that was passed stays open."""
        original = crawlee_robots.RobotsTxtFile.__dict__["find"]

        async def run() -> bool:
            async with AsyncClient(USER_AGENT, **client_options()) as client:
                async with install(client):
                    assert crawlee_robots.RobotsTxtFile.__dict__["find"] is not original
                with LoopbackSite() as site:
                    return bool(await client.check(site.url("/")))

        assert asyncio.run(run())
        assert crawlee_robots.RobotsTxtFile.__dict__["find"] is original

    def test_options_with_a_client(self) -> None:
        """Options beside a client would have no effect."""

        async def run() -> None:
            async with AsyncClient(USER_AGENT, store="memory:") as client:
                install(client, timeout=3)

        with pytest.raises(TypeError, match="timeout: cannot be combined with a client"):
            asyncio.run(run())

    def test_not_a_web_url(self) -> None:
        """A URL without an origin has no robots.txt."""

        async def run() -> None:
            async with install(USER_AGENT, store="memory:"):
                await crawlee_robots.RobotsTxtFile.find("ftp://127.0.0.1/", None)  # type: ignore[arg-type]

        with pytest.raises(ValueError, match="pass an http or https URL"):
            asyncio.run(run())
