"""
A process that runs Scrapy crawls for the tests, one after another.

A reactor cannot be started twice, so one process has one reactor and takes one job for each line
of its input: `{"crawls": [...]}`, each with URLs, settings and options of the requests. It writes
one line for each job: outcomes, statistics, items and warnings of each crawl.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

from tests.integrations.loopback_site import LOOPBACK, resolve_localhost_names


def resolve_by_name(name: str) -> str:
    """Resolve names of the tests for Scrapy's resolver, which does not call getaddrinfo."""
    return LOOPBACK if name.endswith(".localhost") else _GETHOSTBYNAME(name)


_GETHOSTBYNAME = socket.gethostbyname
NAMES = resolve_localhost_names()
NAMES.__enter__()
socket.gethostbyname = resolve_by_name

import scrapy  # noqa: E402  (Twisted keeps the functions that it resolves names with)
from scrapy.crawler import CrawlerRunner  # noqa: E402
from scrapy.exceptions import CloseSpider  # noqa: E402
from scrapy.utils.reactor import install_reactor  # noqa: E402

from robotrules import DisallowedError  # noqa: E402


class JobSpider(scrapy.Spider):
    """Requests URLs in order and records what comes of them."""

    name = "job"

    def __init__(self, job: dict[str, Any], results: dict[str, Any]) -> None:
        super().__init__()
        self.job, self.results = job, results
        results |= {"outcomes": [None] * len(job["urls"]), "items": [], "pages": []}

    def start_requests(self) -> Iterator[scrapy.Request]:
        """Yield the requests, for Scrapy 2.12."""
        for index, url in enumerate(self.job["urls"]):
            callback = self.parse_async if self.job.get("asynchronous") else self.parse
            yield scrapy.Request(
                url,
                callback,
                errback=self.record_error,
                meta=dict(self.job.get("meta", {})),
                headers=self.job.get("headers"),
                cb_kwargs={"index": index},
                dont_filter=True,
                priority=-index,
            )

    async def start(self) -> AsyncIterator[scrapy.Request]:
        """Yield the requests, for later versions."""
        for request in self.start_requests():
            yield request

    def parse(self, response: Any, index: int) -> Iterator[dict[str, str]]:
        """Record a page, and yield it as an item."""
        self.results["outcomes"][index] = {"status": getattr(response, "status", None)}
        rules = response.meta.get("robotrules")
        if rules is not None:
            self.results["pages"].append({"verdict": str(rules.verdict), "index": rules.may_index})
        if self.job.get("close"):
            raise CloseSpider("test")
        yield {"url": response.url}

    async def parse_async(self, response: Any, index: int) -> AsyncIterator[dict[str, str]]:
        """Do the same as an asynchronous generator."""
        await asyncio.sleep(0)
        for item in self.parse(response, index):
            yield item

    def record_error(self, failure: Any) -> None:
        """Record why a request has no page."""
        error = failure.value
        outcome = {"error": f"{type(error).__name__}: {error}"}
        if isinstance(error, DisallowedError):
            outcome |= {"url": error.url, "detail": error.detail}
            outcome["reason"] = str(error.verdict.reason)
        self.results["outcomes"][failure.request.cb_kwargs["index"]] = outcome


class Warnings(logging.Handler):
    """Keeps warnings and errors."""

    def __init__(self, kept: list[str]) -> None:
        super().__init__(logging.WARNING)
        self.kept = kept

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line."""
        self.kept.append(f"{record.levelname}: {record.getMessage()}")


class KeepItems:
    """Keeps the items of a crawl."""

    def process_item(self, item: dict[str, str], spider: Any = None) -> dict[str, str]:
        """Keep the URL of an item."""
        ITEMS.append(item["url"])
        return item


class RotateUserAgent:
    """Sets a User-Agent after the default one, as packages do that rotate it."""

    def __init__(self, user_agent: str) -> None:
        self.user_agent = user_agent

    @classmethod
    def from_crawler(cls, crawler: Any) -> RotateUserAgent:
        """Take the header from a setting."""
        return cls(crawler.settings["ROTATED_USER_AGENT"])

    def process_request(self, request: scrapy.Request, spider: Any = None) -> None:
        """Replace the header."""
        request.headers["User-Agent"] = self.user_agent


ITEMS: list[str] = []


async def run_crawl(job: dict[str, Any]) -> dict[str, Any]:
    """Run one crawl and return its results."""
    results: dict[str, Any] = {"warnings": [], "error": None}
    handler = Warnings(results["warnings"])
    logging.getLogger().addHandler(handler)
    settings = {
        "ITEM_PIPELINES": {KeepItems: 1},
        "LOG_LEVEL": "WARNING",
        "TELNETCONSOLE_ENABLED": False,
        **job["settings"],
    }
    crawler = CrawlerRunner(settings).create_crawler(JobSpider)
    try:
        deferred = crawler.crawl(job=job, results=results)
        await deferred.asFuture(asyncio.get_running_loop())
    except Exception as error:
        results["error"] = f"{type(error).__name__}: {error}"
    finally:
        logging.getLogger().removeHandler(handler)
    stats = crawler.stats.get_stats() if crawler.stats else {}
    results["stats"] = {name: value for name, value in stats.items() if "time" not in name}
    results["items"], ITEMS[:] = list(ITEMS), []
    return results


async def run_jobs() -> None:
    """Run the jobs of the input."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        crawls = json.loads(line)["crawls"]
        results = await asyncio.gather(*map(run_crawl, crawls))
        encoded = base64.b64encode(json.dumps(results).encode()).decode()
        print(encoded, flush=True)


def main() -> None:
    """Run the reactor until the input ends."""
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    from twisted.internet import reactor as installed

    reactor: Any = installed

    def start() -> None:
        task = asyncio.get_running_loop().create_task(run_jobs())
        task.add_done_callback(lambda _: reactor.stop())

    reactor.callLater(0, start)
    reactor.run()


if __name__ == "__main__":
    main()
