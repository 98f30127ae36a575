"""
What a check costs that needs no network: the engine, both clients over SQLite, and what others do.

A crawler asks about URLs of some hundred origins whose files it has. Two orders: in runs, as the
links of one page come, and shuffled, as a frontier that is polite gives them out. Then what the
first question about an origin costs a new process, whose memory is empty and whose store is not:
each of these is measured in processes of their own.

    cached.py cold WAY FILE      one such process; prints JSON

Does not know: what fetching costs; see `prefetch.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import pickle
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.robotparser import RobotFileParser

import table
from corpora import real

Progress = Callable[[str], None]
TOKEN = "ExampleBot"
USER_AGENT = "ExampleBot/1.0 (+https://example.com/bot)"
ENGINE, CLIENT, SCRAPY = "RobotsTxt.check", "Client.check", "Scrapy's middleware"
# Nanoseconds: who takes less is asked over and over, who takes more is not warmed up.
ENOUGH, LONG = 30_000_000, 1_000_000_000


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
    fills its dictionary by its own code at the first request. Its URL parsed before is in its
    favour: a middleware before it may have done so. Nothing is logged, in its favour too.
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

    name = f"{SCRAPY}, URL parsed"
    parsed_before = False

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


# --- The clock ------------------------------------------------------------------------------------


def timed(
    asked: Sequence[Way],
    orders: dict[str, list[str]],
    count: int,
    loop: asyncio.AbstractEventLoop,
    progress: Progress,
) -> dict[tuple[str, str], list[float]]:
    """(way, order) → nanoseconds for one URL, round by round."""

    def once(way: Way, prepared: Any) -> int:
        start = time.perf_counter_ns()
        if way.asynchronous:
            loop.run_until_complete(way.ask(prepared))
        else:
            way.ask(prepared)
        return time.perf_counter_ns() - start

    taken: dict[tuple[str, str], list[float]] = {}
    for number in range(count):
        turn = number % len(asked)
        for order, urls in orders.items():
            for way in (*asked[turn:], *asked[:turn]):
                progress(f"{order}, round {number + 1} of {count}: {way.name}")
                prepared = way.prepared(urls)
                gc.collect()
                gc.disable()
                total, passes = once(way, prepared), 1
                if total < LONG:  # it was for warming up; what caches a request gets new ones
                    total, passes = 0, 0
                    while total < ENOUGH:
                        if isinstance(way, ScrapyAnew):
                            prepared = way.prepared(urls)
                        total, passes = total + once(way, prepared), passes + 1
                gc.enable()
                taken.setdefault((way.name, order), []).append(total / passes / len(urls))
    return taken


# --- The first question ---------------------------------------------------------------------------

COLD = {
    "client": "Client.check: entry and body from SQLite, parse, check",
    "store": "of it SQLite: entry and body",
    "engine": "parse and check, octets at hand",
    "protego": "Protego: parse and check, octets at hand",
}


def cold(way: str, file: str) -> dict[str, float]:
    """Ask one question of each origin in this process, which has asked none before."""
    store, firsts = pickle.loads(Path(file).read_bytes())
    start = time.perf_counter()
    call = _cold_call(way, store)
    opening = time.perf_counter() - start
    gc.collect()
    gc.disable()
    start = time.perf_counter()
    for url, digest, body in firsts:
        call(url, digest, body)
    return {"opening": opening, "seconds": (time.perf_counter() - start) / len(firsts)}


def _cold_call(way: str, store: str) -> Callable[[str, str, bytes], Any]:
    match way:
        case "client":
            from robotrules.client import Client

            check = Client(USER_AGENT, store=store, transport=Servers({})).check
            return lambda url, digest, body: check(url)
        case "store":
            from robotrules.client import open_store

            opened = open_store(store)
            return lambda url, digest, body: (
                opened.get(url[: url.index("/", 8)], TOKEN),
                opened.body(digest),
            )
        case "engine":
            import robotrules

            parse = robotrules.parse
            return lambda url, digest, body: parse(body).check(url, TOKEN)
    protego = import_module("protego").Protego.parse
    return lambda url, digest, body: protego(
        body.decode("utf-8-sig", errors="ignore")
    ).can_fetch(url, TOKEN)


def cold_rounds(
    store: Path, known: Web, count: int, progress: Progress
) -> dict[str, list[dict[str, float]]]:
    """Way → what its processes measured, one after the other."""
    from robotrules.cache import digest_of

    firsts = [
        (next(url for url in known.urls if url.startswith(f"{origin}/")), digest_of(body), body)
        for origin, body in known.files.items()
    ]
    random.Random(9309).shuffle(firsts)
    file = store.with_name("firsts.pickle")
    file.write_bytes(pickle.dumps((str(store), firsts)))
    found: dict[str, list[dict[str, float]]] = {}
    for number in range(count + 1):
        for way in COLD:
            progress(f"process {number} of {count}: {way}")
            done = subprocess.run(
                [sys.executable, __file__, "cold", way, str(file)],
                capture_output=True,
                check=False,
                text=True,
                timeout=300,
            )
            # Round 0 writes .pyc files and fills the file cache.
            if number and done.returncode == 0:
                found.setdefault(way, []).append(json.loads(done.stdout))
    return found


# --- The tables -----------------------------------------------------------------------------------


def run(plan: dict[str, Any], report: Any, progress: Progress) -> None:
    """Print the tables."""
    progress("reading the corpus")
    known = web(plan["origins"])
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "robots.sqlite"
        report.say(f"## {plan['title']}", "")
        _run_warm(plan, known, store, report, progress)
        _run_cold(plan, known, store, report, progress)


def _run_warm(
    plan: dict[str, Any], known: Web, store: Path, report: Any, progress: Progress
) -> None:
    shuffled = list(known.urls)
    random.Random(9309).shuffle(shuffled)
    # Copied, they lie side by side in memory, in this order.
    orders = {"in runs": known.urls, "shuffled": pickle.loads(pickle.dumps(shuffled))}
    asked = ways(store, known.files, report)
    loop = asyncio.new_event_loop()
    try:
        disallowed = {}
        for way in asked:
            progress(f"verdicts: {way.name}")
            count = way.disallowed(known.urls)
            disallowed[way.name] = loop.run_until_complete(count) if way.asynchronous else count  # type: ignore[arg-type]
        taken = timed(asked, orders, plan["rounds"], loop, progress)
    finally:
        for way in asked:
            if isinstance(way, Loop):
                loop.run_until_complete(way.client.aclose())
            elif type(way) is Threads:
                way.client.close()
        loop.close()
    rows, figures = [], []
    for way in asked:
        cells = []
        for order in orders:
            times, own = taken[way.name, order], taken[ENGINE, order]
            each = statistics.median(times)
            ratio = statistics.median(a / b for a, b in zip(times, own, strict=True))
            cells += [f"{table.significant(each)} ns ({table.times(ratio)})"]
            cells += [f"{table.significant(min(times))} ns"]
            figures.append(
                {
                    "way": way.name,
                    "order": order,
                    "nanoseconds": round(each, 1),
                    "fastest": round(min(times), 1),
                    "to engine": round(ratio, 3),
                }
            )
        rows.append([way.name, *cells, f"{disallowed[way.name]:,}"])
    report.say(
        f"{known.described}, each at an origin of its own; {len(known.urls):,} URLs, one product "
        f"token. Time of one check, the median of {plan['rounds']} rounds and, in brackets, how "
        "many times the engine's own it is; then the fastest round.",
        "",
        table.render(
            ["who", "in runs", "fastest", "shuffled", "fastest", "disallowed"],
            rows,
        ),
        "",
    )
    report.figures["cached"] = {"checks": figures}
    client = taken[CLIENT, "shuffled"]
    over = statistics.median(
        (a - b) / 1000 for a, b in zip(client, taken[ENGINE, "shuffled"], strict=True)
    )
    most = plan["bar"]["over_engine_microseconds"]
    what = "Client.check over SQLite, shuffled, more than the engine's own"
    report.bar(what, f"at most {most:g} us", f"{over:.2f} us", over <= most)
    if (SCRAPY, "shuffled") in taken:
        times = taken[SCRAPY, "shuffled"]
        ratio = statistics.median(a / b for a, b in zip(times, client, strict=True))
        least = plan["bar"]["to_scrapy"]
        what = f"Client.check over SQLite, shuffled, to {SCRAPY}"
        report.bar(what, f">= {least:g}x", f"{ratio:.1f}x", ratio >= least)


def _run_cold(
    plan: dict[str, Any], known: Web, store: Path, report: Any, progress: Progress
) -> None:
    found = cold_rounds(store, known, plan["processes"], progress)
    rows = []
    for way, answers in found.items():
        each = [answer["seconds"] * 1e6 for answer in answers]
        opening = statistics.median(answer["opening"] * 1e3 for answer in answers)
        rows.append(
            [
                COLD[way],
                table.microseconds(statistics.median(each)),
                table.microseconds(min(each)),
                table.milliseconds(opening) if way in ("client", "store") else "-",
            ]
        )
    report.say(
        "The first question about an origin, in a process that knows none: medians and the "
        f"fastest of {plan['processes']} processes, {len(known.files)} origins each. Opening is "
        "once for a process, with imports.",
        "",
        table.render(["what is done", "one origin", "fastest", "opening"], rows),
        "",
    )
    report.figures["cached"]["first"] = found


if __name__ == "__main__":
    print(json.dumps(cold(*sys.argv[2:])))
