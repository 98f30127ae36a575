"""crawlee: real crawlers on loopback sites, with robotrules in the place of its RobotsTxtFile."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from crawlee import ConcurrencySettings
from crawlee._utils import robots as crawlee_robots
from crawlee.crawlers import HttpCrawler
from crawlee.http_clients import HttpxHttpClient, ImpitHttpClient
from crawlee.storage_clients import MemoryStorageClient
from httpx import Request

from robotrules import AsyncClient, CrawlerError, DisallowedError
from robotrules.integrations.crawlee import CrawleeDisallowedError, RobotsTxtFile, install
from tests.integrations.contract import (
    ALL_BUT_PRIVATE,
    USER_AGENT,
    IntegrationContract,
    Outcome,
    client_options,
)
from tests.integrations.loopback_site import Answer, LoopbackSite


async def crawl(
    urls: Sequence[str], tasks: int, page_timeout: float = 30.0, retries: int = 0, **options: Any
) -> Any:
    """
    Crawl with an `HttpCrawler`; return the outcomes by URL.

    crawlee's callback for a skipped URL has the reason `robots_txt` for all of them, so the reason
    in an outcome is what the client of robotrules says about the URL afterwards.
    """
    outcomes: dict[str, Outcome] = {}
    async with install(USER_AGENT, **client_options(**options)) as installation:
        settings: Any = {"navigation_timeout": timedelta(seconds=page_timeout)}
        crawler = HttpCrawler(
            respect_robots_txt_file=True,
            http_client=installation.http_client,
            storage_client=MemoryStorageClient(),
            concurrency_settings=ConcurrencySettings(
                min_concurrency=tasks, desired_concurrency=tasks, max_concurrency=tasks
            ),
            **settings,
            request_handler_timeout=timedelta(seconds=60),
            max_request_retries=retries,
            ignore_http_error_status_codes=[429],
            configure_logging=False,
        )

        async def fetched(context: Any) -> None:
            outcomes[context.request.url] = Outcome(context.http_response.status_code)

        async def skipped(url: str, reason: str) -> None:
            assert reason == "robots_txt"
            verdict = await installation.client.check(url)
            outcomes[url] = Outcome(None, url, verdict.reason)

        async def failed(context: Any, error: Exception) -> None:
            if isinstance(error, DisallowedError):
                assert isinstance(error, CrawleeDisallowedError)
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

    def test_a_disallowed_redirect_is_not_retried(self) -> None:
        """crawlee does not request the start of a disallowed redirect again."""
        with LoopbackSite(ALL_BUT_PRIVATE) as site:
            site.answers["/go"] = Answer(302, headers=(("Location", "/private"),))
            outcomes = asyncio.run(crawl([site.url("/go")], 1, retries=3))
            assert outcomes[site.url("/go")].url == site.url("/private")
            assert site.paths == ["/go"]

    def test_waiting_requests_see_retry_after(self) -> None:
        """A Retry-After postpones requests too that wait for their time already."""
        with LoopbackSite(ALL_BUT_PRIVATE) as site:
            site.answers |= dict.fromkeys(
                ("/1", "/2"), Answer(429, headers=(("Retry-After", "2"),))
            )
            asyncio.run(crawl([site.url(f"/{n}") for n in (1, 2)], 2, min_delay=0.5))
            (first,), (second,) = site.times("/1"), site.times("/2")
            assert abs(second - first) >= 1.95

    def test_requests_after_the_expiry_wait_for_the_new_file(self) -> None:
        """Without the hooks too, crawlee awaits the new file: no URL is checked by the old one."""

        async def run(site: LoopbackSite) -> list[str]:
            now, skipped = 1_800_000_000.0, []
            async with install(USER_AGENT, **client_options(clock=lambda: now)):
                crawler = HttpCrawler(
                    respect_robots_txt_file=True,
                    storage_client=MemoryStorageClient(),
                    configure_logging=False,
                )

                async def fetched(context: Any) -> None:
                    nonlocal now
                    if context.request.url == site.url("/start"):
                        now += 86_400 * 2
                        body = b"User-agent: *\nDisallow: /new\n"
                        site.answers["/robots.txt"] = Answer(body=body, delay=0.3)
                        await crawler.add_requests([site.url("/new"), site.url("/old")])

                async def skip(url: str, reason: str) -> None:
                    skipped.append(url)

                crawler.router.default_handler(fetched)
                crawler.on_skipped_request(skip)
                await crawler.run([site.url("/start")])
                return skipped

        with LoopbackSite("User-agent: *\nDisallow: /old\n") as site:
            assert asyncio.run(run(site)) == [site.url("/new")]
            assert site.paths == ["/start", "/old"]
            assert site.robots_requests == 2


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

    def test_an_expired_file_is_not_used(self) -> None:
        """After its expiry the file allows nothing until the new one has arrived."""

        async def run() -> list[bool]:
            now = 1_800_000_000.0
            with LoopbackSite("User-agent: *\nDisallow: /a\n") as site:
                async with install(USER_AGENT, **client_options(clock=lambda: now)):
                    file = await crawlee_robots.RobotsTxtFile.find(site.url("/"), None)  # type: ignore[arg-type]
                    answers = [bool(file), file.is_allowed(site.url("/a"))]
                    answers.append(file.is_allowed(site.url("/b")))
                    body = b"User-agent: *\nDisallow: /b\n"
                    site.answers["/robots.txt"] = Answer(body=body, delay=0.3)
                    await asyncio.sleep(0)
                    now += 86_400 * 2
                    assert not file
                    stale = 0
                    for _ in range(500):
                        if file.is_allowed(site.url("/a")):
                            break
                        stale += file.is_allowed(site.url("/b"))
                        await asyncio.sleep(0.01)
                    assert file
                    assert stale == 0
                    answers.append(file.is_allowed(site.url("/a")))
                    return [*answers, file.is_allowed(site.url("/b"))]

        assert asyncio.run(run()) == [True, False, True, True, False]

    def test_a_file_stays_true_for_a_step(self) -> None:
        """crawlee allows a URL if the file that it has just found is false, so it never is."""

        async def run() -> None:
            now = 1_800_000_000.0
            with LoopbackSite("User-agent: *\nDisallow: /a\n") as site:
                async with install(USER_AGENT, **client_options(clock=lambda: now)):
                    file = await crawlee_robots.RobotsTxtFile.find(site.url("/"), None)  # type: ignore[arg-type]
                    now += 86_400 * 2
                    assert file
                    assert not file.is_allowed(site.url("/a"))
                    await asyncio.sleep(0)
                    assert not file

        asyncio.run(run())

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

    def test_two_installations(self) -> None:
        """A second one is refused while the first is in effect; closing twice has no effect."""
        original = crawlee_robots.RobotsTxtFile.__dict__["find"]

        async def run() -> None:
            first = install(USER_AGENT, store="memory:")
            with pytest.raises(
                RuntimeError, match=r"close it first by `await installation\.aclose"
            ):
                install("OtherBot/1.0", store="memory:")
            await first.aclose()
            assert crawlee_robots.RobotsTxtFile.__dict__["find"] is original
            async with install(USER_AGENT, store="memory:"):
                ours = crawlee_robots.RobotsTxtFile.__dict__["find"]
                await first.aclose()
                assert crawlee_robots.RobotsTxtFile.__dict__["find"] is ours
            assert crawlee_robots.RobotsTxtFile.__dict__["find"] is original

        asyncio.run(run())

    @pytest.mark.parametrize("given", ["http_client", "event_hooks", "impit", "another", None])
    def test_a_client_without_hooks(
        self, given: str | None, caplog: pytest.LogCaptureFixture
    ) -> None:
        """A crawler whose HTTP client has no hooks is warned of once, with the fix."""

        async def run() -> None:
            async with install(USER_AGENT, **client_options()) as installation:
                client: Any = HttpxHttpClient()
                if given == "http_client":
                    client = installation.http_client
                    assert client is installation.http_client
                elif given == "event_hooks":
                    client = HttpxHttpClient(event_hooks=installation.event_hooks)
                elif given == "another":
                    assert installation.http_client
                elif given == "impit":
                    assert installation.event_hooks
                    client = ImpitHttpClient()
                with LoopbackSite() as site:
                    for _ in range(2):
                        await crawlee_robots.RobotsTxtFile.find(site.url("/"), client)

        asyncio.run(run())
        texts = [record.getMessage() for record in caplog.records if "hooks" in record.message]
        expected = 0 if given in ("http_client", "event_hooks") else 1
        assert len(texts) == expected
        assert all("Pass http_client=installation.http_client" in text for text in texts)

    @pytest.mark.parametrize(
        ("url", "headers", "error"),
        [
            ("http://ann:secret@127.0.0.1:{port}/private/x", {}, CrawleeDisallowedError),
            ("http://127.0.0.1:{port}/a", {"Host": "other.example"}, CrawlerError),
        ],
    )
    def test_the_url_that_is_checked(
        self, url: str, headers: dict[str, str], error: type[Exception]
    ) -> None:
        """Errors have no password, and the page is one of the host whose rules are checked."""

        async def run() -> str:
            with LoopbackSite(ALL_BUT_PRIVATE) as site:
                async with install(USER_AGENT, **client_options()) as installation:
                    (hook,) = installation.event_hooks["request"]
                    with pytest.raises(error) as caught:
                        await hook(Request("GET", url.format(port=site.port), headers=headers))
                    return str(caught.value)

        assert "secret" not in asyncio.run(run())

    def test_the_file_of_another_url(self) -> None:
        """`load()` returns the robots.txt of the origin, whichever file is named."""

        async def run() -> bool:
            with LoopbackSite(ALL_BUT_PRIVATE) as site:
                async with install(USER_AGENT, **client_options()):
                    load = crawlee_robots.RobotsTxtFile.load
                    file = await load(site.url("/other.txt"), None)  # type: ignore[arg-type]
                    return file.is_allowed(site.url("/private"))

        assert not asyncio.run(run())

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


def test_missing_crawlee() -> None:
    """Without crawlee, the error says what to install."""
    code = "import sys; sys.modules['crawlee'] = None; import robotrules.integrations.crawlee"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install 'robotrules[crawlee]'" in run.stderr
