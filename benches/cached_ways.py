"""
Who is asked about URLs of origins that are known: the engine, both clients, and others.

Each way holds its own loop over the URLs, written as its user would write it. What it needs is made
before: `cached.py` has the clock.

Does not know: clocks, tables.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.robotparser import RobotFileParser

from corpora import real

TOKEN = "ExampleBot"
USER_AGENT = "ExampleBot/1.0 (+https://example.com/bot)"
ENGINE, CLIENT, SCRAPY = "RobotsTxt.check", "Client.check", "Scrapy's middleware"


# --- What is asked --------------------------------------------------------------------------------


class Web(NamedTuple):
    """Some origins with a file each, and URLs of theirs."""

    files: dict[str, bytes]
    """Origin → octets of its robots.txt."""
    urls: list[str]
    """In runs: one origin after the other."""
    described: str


def web(origins: int) -> Web:
    """The files of the real corpus, each at an origin of its own."""
    cases, described = real.cases(origins)
    files, urls = {}, []
    for number, case in enumerate(cases):
        origin = f"https://www.origin-{number:05}.test"
        files[origin] = case.body
        paths = (urlsplit(url)._replace(scheme="", netloc="").geturl() for url in case.many)
        urls += [origin + (path if path[:1] == "/" else f"/{path}") for path in paths]
    return Web(files, urls, described)


class Servers:
    """Answers for the origins of a web: a transport without a network."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self._files = files

    def send(self, request: Any) -> Any:
        """Give the file that is asked for."""
        from robotrules.access import Response

        body = self._files[request.url.removesuffix("/robots.txt")]
        return Response(200, [("Content-Type", "text/plain")], body)

    def close(self) -> None:
        """There is nothing to close."""


# --- Who is asked ---------------------------------------------------------------------------------


class Way:
    """One way to know what the rules say about a URL."""

    name: str
    asynchronous = False
    # Whether what `prepared` gives is good for one pass only.
    used_up = False

    def prepared(self, urls: Sequence[str]) -> Any:
        """What `ask` takes; made before the clock starts."""
        return urls

    def ask(self, prepared: Any) -> Any:
        """Ask about all; what is timed."""

    def disallowed(self, urls: Sequence[str]) -> int:
        """How many of these are disallowed; not timed."""
        raise NotImplementedError


class Parsed(Way):
    """The engine's own: the RobotsTxt of each URL is at hand."""

    name = ENGINE

    def __init__(self, files: dict[str, bytes]) -> None:
        import robotrules

        self.robots = {origin: robotrules.parse(body) for origin, body in files.items()}

    def prepared(self, urls: Sequence[str]) -> Any:
        return [(self.robots[url[: url.index("/", 8)]], url) for url in urls]

    def ask(self, prepared: Any) -> None:
        for robots, url in prepared:
            robots.check(url, TOKEN)

    def disallowed(self, urls: Sequence[str]) -> int:
        return sum(not robots.check(url, TOKEN) for robots, url in self.prepared(urls))


class ParsedByNetloc(Way):
    """The same from a dictionary, as one would write it: no store, no lifetime."""

    name = "RobotsTxt.check, dict"

    def __init__(self, parsed: Parsed) -> None:
        self.robots = {urlsplit(origin).netloc: one for origin, one in parsed.robots.items()}

    def ask(self, prepared: Any) -> None:
        robots = self.robots
        for url in prepared:
            robots[urlsplit(url).netloc].check(url, TOKEN)

    def disallowed(self, urls: Sequence[str]) -> int:
        return sum(not self.robots[urlsplit(url).netloc].check(url, TOKEN) for url in urls)


class Threads(Way):
    """Client.check, with the SQLite store."""

    name = CLIENT

    def __init__(self, store: Path, files: dict[str, bytes]) -> None:
        from robotrules.client import Client

        self.client = Client(USER_AGENT, store=store, transport=Servers(files))

    def ask(self, prepared: Any) -> None:
        check = self.client.check
        for url in prepared:
            check(url)

    def disallowed(self, urls: Sequence[str]) -> int:
        return sum(not self.client.check(url) for url in urls)


class Batch(Threads):
    """Client.check_many, all at once."""

    name = "Client.check_many"

    def __init__(self, other: Threads) -> None:
        self.client = other.client

    def ask(self, prepared: Any) -> None:
        self.client.check_many(prepared)


class Loop(Way):
    """AsyncClient.check, awaited one after the other."""

    name = "AsyncClient.check"
    asynchronous = True

    def __init__(self, store: Path, files: dict[str, bytes]) -> None:
        from robotrules.client import AsyncClient

        class AsyncServers(Servers):
            async def send(self, request: Any) -> Any:
                return super().send(request)

            async def aclose(self) -> None:
                """There is nothing to close."""

        self.client = AsyncClient(USER_AGENT, store=store, transport=AsyncServers(files))

    async def ask(self, prepared: Any) -> None:
        check = self.client.check
        for url in prepared:
            await check(url)

    async def disallowed(self, urls: Sequence[str]) -> int:  # type: ignore[override]
        return sum([not await self.client.check(url) for url in urls])


class Scrapy(Way):
    """
    Scrapy's RobotsTxtMiddleware with Protego, asked as its downloader asks it.

    The middleware is the real one, of a real crawler; only the engine that would fetch is ours. It
    fills its dictionary by its own code at the first request. The URL was parsed before, which is
    in its favour: another middleware may have done so. Nothing is logged, in its favour too.
    """

    name = SCRAPY
    asynchronous = True
    parsed_before = True

    def __init__(self, files: dict[str, bytes]) -> None:
        make = import_module("scrapy.utils.test").get_crawler
        found = import_module("scrapy.downloadermiddlewares.robotstxt")
        self.crawler = make(settings_dict={"ROBOTSTXT_OBEY": True, "ROBOTSTXT_USER_AGENT": TOKEN})
        self.crawler.engine = _ScrapyEngine(files)
        self.middleware = found.RobotsTxtMiddleware.from_crawler(self.crawler)
        self.forbidden = found.IgnoreRequest

    def prepared(self, urls: Sequence[str]) -> Any:
        request = import_module("scrapy.http").Request
        parse = import_module("scrapy.utils.httpobj").urlparse_cached
        made = [request(url) for url in urls]
        if self.parsed_before:
            for one in made:
                parse(one)
        return made

    async def ask(self, prepared: Any) -> None:
        process, forbidden = self.middleware.process_request, self.forbidden
        for request in prepared:
            with contextlib.suppress(forbidden):
                await process(request)

    async def disallowed(self, urls: Sequence[str]) -> int:  # type: ignore[override]
        count = 0
        for request in self.prepared(urls):
            try:
                await self.middleware.process_request(request)
            except self.forbidden:
                count += 1
        return count


class _ScrapyEngine:
    """The part of Scrapy's engine that its middleware asks for files."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self._files = files
        self._response = import_module("scrapy.http").TextResponse

    async def download_async(self, request: Any) -> Any:
        body = self._files[request.url.removesuffix("/robots.txt")]
        return self._response(request.url, body=body)


class ScrapyAnew(Scrapy):
    """The same, where nothing parsed the URL before: each request is a new one."""

    name = f"{SCRAPY}, new URL"
    parsed_before = False
    used_up = True

    def __init__(self, other: Scrapy) -> None:
        self.middleware, self.forbidden = other.middleware, other.forbidden


class ProtegoByNetloc(Way):
    """Protego and a dictionary, as one would write it."""

    name = "Protego, dict"

    def __init__(self, files: dict[str, bytes]) -> None:
        parse = import_module("protego").Protego.parse
        self.parsers = {
            urlsplit(origin).netloc: parse(body.decode("utf-8-sig", errors="ignore"))
            for origin, body in files.items()
        }

    def ask(self, prepared: Any) -> None:
        parsers = self.parsers
        for url in prepared:
            parsers[urlsplit(url).netloc].can_fetch(url, TOKEN)

    def disallowed(self, urls: Sequence[str]) -> int:
        return sum(not self.parsers[urlsplit(url).netloc].can_fetch(url, TOKEN) for url in urls)


class UrllibByNetloc(Way):
    """urllib.robotparser and a dictionary."""

    name = "urllib.robotparser, dict"

    def __init__(self, files: dict[str, bytes]) -> None:
        self.parsers: dict[str, RobotFileParser] = {}
        for origin, body in files.items():
            parser = self.parsers[urlsplit(origin).netloc] = RobotFileParser()
            parser.parse(body.decode("utf-8-sig", errors="ignore").splitlines())

    def ask(self, prepared: Any) -> None:
        parsers = self.parsers
        for url in prepared:
            parsers[urlsplit(url).netloc].can_fetch(TOKEN, url)

    def disallowed(self, urls: Sequence[str]) -> int:
        return sum(not self.parsers[urlsplit(url).netloc].can_fetch(TOKEN, url) for url in urls)


def ways(store: Path, files: dict[str, bytes], report: Any) -> list[Way]:
    """Who can be asked here; says who cannot."""
    parsed, threads = Parsed(files), Threads(store, files)
    found: list[Way] = [parsed, ParsedByNetloc(parsed), threads, Batch(threads), Loop(store, files)]
    try:
        scrapy = Scrapy(files)
        found += [scrapy, ScrapyAnew(scrapy)]
    except ImportError:
        report.say("Not installed here: Scrapy.", "")
    try:
        found.append(ProtegoByNetloc(files))
    except ImportError:
        report.say("Not installed here: Protego.", "")
    return [*found, UrllibByNetloc(files)]
