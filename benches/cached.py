"""
Checks without network access: the engine, both clients over SQLite, and other libraries.

A crawler checks URLs of some hundred origins whose robots.txt it has. Two orders: in runs, as the
links of one page, and shuffled, as a polite frontier returns them. Then the first check of each
origin in a new process, whose memory is empty and whose store is not:

    cached.py CASE FILE      makes one check of each origin in FILE; prints JSON

Each cold start is a separate process, because the first check fills the caches of a process.

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
# Nanoseconds: a faster pass is repeated until MIN_TIMED_NS is reached; a slower one than
# MAX_WARMUP_NS is not warmed up.
MIN_TIMED_NS, MAX_WARMUP_NS = 30_000_000, 1_000_000_000


# --- Sites ----------------------------------------------------------------------------------------


class Sites(NamedTuple):
    """Origins with a robots.txt each, and URLs of these origins."""

    files: dict[str, bytes]
    """Origin → octets of its robots.txt."""
    urls: list[str]
    """In runs: one origin after the other."""
    description: str


def load_sites(origins: int) -> Sites:
    """Return the files of the real corpus, each at a separate origin."""
    cases, description = real.load_cases(origins)
    files, urls = {}, []
    for number, case in enumerate(cases):
        origin = f"https://www.origin-{number:05}.test"
        files[origin] = case.body
        paths = (urlsplit(url)._replace(scheme="", netloc="").geturl() for url in case.many)
        urls += [origin + (path if path[:1] == "/" else f"/{path}") for path in paths]
    return Sites(files, urls, description)


class StubTransport:
    """Returns the files of the sites without a network."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self._files = files

    def send(self, request: Any) -> Any:
        """Return the requested file."""
        from robotrules.access import Response

        body = self._files[request.url.removesuffix("/robots.txt")]
        return Response(200, [("Content-Type", "text/plain")], body)

    def close(self) -> None:
        """Do nothing."""


# --- Checkers -------------------------------------------------------------------------------------


class Checker:
    """A way to check URLs, with the loop over them as its user would write it."""

    name: str
    asynchronous = False
    # Whether the result of `prepare` can be used for one pass only.
    single_use = False

    def prepare(self, urls: Sequence[str]) -> Any:
        """Return the input of `check_all`; not timed."""
        return urls

    def check_all(self, prepared: Any) -> Any:
        """Check all URLs; this is timed."""

    def count_disallowed(self, urls: Sequence[str]) -> int:
        """Return how many URLs are disallowed; not timed."""
        raise NotImplementedError


class EngineChecker(Checker):
    """RobotsTxt.check; the RobotsTxt of each URL is looked up beforehand."""

    name = ENGINE

    def __init__(self, files: dict[str, bytes]) -> None:
        import robotrules

        self.robots = {origin: robotrules.parse(body) for origin, body in files.items()}

    def prepare(self, urls: Sequence[str]) -> Any:
        return [(self.robots[url[: url.index("/", 8)]], url) for url in urls]

    def check_all(self, prepared: Any) -> None:
        for robots, url in prepared:
            robots.check(url, TOKEN)

    def count_disallowed(self, urls: Sequence[str]) -> int:
        return sum(not robots.check(url, TOKEN) for robots, url in self.prepare(urls))


class DictChecker(Checker):
    """RobotsTxt.check and a dictionary, without a store and without expiry."""

    name = "RobotsTxt.check, dict"

    def __init__(self, engine: EngineChecker) -> None:
        self.robots = {urlsplit(origin).netloc: robots for origin, robots in engine.robots.items()}

    def check_all(self, prepared: Any) -> None:
        robots = self.robots
        for url in prepared:
            robots[urlsplit(url).netloc].check(url, TOKEN)

    def count_disallowed(self, urls: Sequence[str]) -> int:
        return sum(not self.robots[urlsplit(url).netloc].check(url, TOKEN) for url in urls)


class ClientChecker(Checker):
    """Client.check, with the SQLite store."""

    name = CLIENT

    def __init__(self, store: Path, files: dict[str, bytes]) -> None:
        from robotrules.client import Client

        self.client = Client(USER_AGENT, store=store, transport=StubTransport(files))

    def check_all(self, prepared: Any) -> None:
        check = self.client.check
        for url in prepared:
            check(url)

    def count_disallowed(self, urls: Sequence[str]) -> int:
        return sum(not self.client.check(url) for url in urls)


class ClientBatchChecker(ClientChecker):
    """Client.check_many, all URLs in one call."""

    name = "Client.check_many"

    def __init__(self, other: ClientChecker) -> None:
        self.client = other.client

    def check_all(self, prepared: Any) -> None:
        self.client.check_many(prepared)


class AsyncClientChecker(Checker):
    """AsyncClient.check, awaited one after the other."""

    name = "AsyncClient.check"
    asynchronous = True

    def __init__(self, store: Path, files: dict[str, bytes]) -> None:
        from robotrules.client import AsyncClient

        class AsyncStubTransport(StubTransport):
            async def send(self, request: Any) -> Any:
                return super().send(request)

            async def aclose(self) -> None:
                """Do nothing."""

        self.client = AsyncClient(USER_AGENT, store=store, transport=AsyncStubTransport(files))

    async def check_all(self, prepared: Any) -> None:
        check = self.client.check
        for url in prepared:
            await check(url)

    async def count_disallowed(self, urls: Sequence[str]) -> int:  # type: ignore[override]
        return sum([not await self.client.check(url) for url in urls])


class ScrapyChecker(Checker):
    """
    Scrapy's RobotsTxtMiddleware with Protego, called as Scrapy's downloader calls it.

    The middleware is the real one, of a real crawler; only the engine that would fetch is a stub.
    The middleware fills its dictionary at the first request. The URL was parsed before, which is in
    its favour: another middleware may have done so. Logging is off, which is in its favour too.
    """

    name = SCRAPY
    asynchronous = True
    parsed_before = True

    def __init__(self, files: dict[str, bytes]) -> None:
        get_crawler = import_module("scrapy.utils.test").get_crawler
        module = import_module("scrapy.downloadermiddlewares.robotstxt")
        self.crawler = get_crawler(
            settings_dict={"ROBOTSTXT_OBEY": True, "ROBOTSTXT_USER_AGENT": TOKEN}
        )
        self.crawler.engine = _ScrapyEngine(files)
        self.middleware = module.RobotsTxtMiddleware.from_crawler(self.crawler)
        self.forbidden = module.IgnoreRequest

    def prepare(self, urls: Sequence[str]) -> Any:
        request = import_module("scrapy.http").Request
        parse = import_module("scrapy.utils.httpobj").urlparse_cached
        requests = [request(url) for url in urls]
        if self.parsed_before:
            for made in requests:
                parse(made)
        return requests

    async def check_all(self, prepared: Any) -> None:
        process, forbidden = self.middleware.process_request, self.forbidden
        for request in prepared:
            with contextlib.suppress(forbidden):
                await process(request)

    async def count_disallowed(self, urls: Sequence[str]) -> int:  # type: ignore[override]
        count = 0
        for request in self.prepare(urls):
            try:
                await self.middleware.process_request(request)
            except self.forbidden:
                count += 1
        return count


class _ScrapyEngine:
    """The part of Scrapy's engine that the middleware calls to download files."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self._files = files
        self._response = import_module("scrapy.http").TextResponse

    async def download_async(self, request: Any) -> Any:
        body = self._files[request.url.removesuffix("/robots.txt")]
        return self._response(request.url, body=body)


class ScrapyNewUrlChecker(ScrapyChecker):
    """The same with a URL that was not parsed before: each request is new."""

    name = f"{SCRAPY}, new URL"
    parsed_before = False
    single_use = True

    def __init__(self, other: ScrapyChecker) -> None:
        self.middleware, self.forbidden = other.middleware, other.forbidden


class ProtegoChecker(Checker):
    """Protego and a dictionary."""

    name = "Protego, dict"

    def __init__(self, files: dict[str, bytes]) -> None:
        parse = import_module("protego").Protego.parse
        self.parsers = {
            urlsplit(origin).netloc: parse(body.decode("utf-8-sig", errors="ignore"))
            for origin, body in files.items()
        }

    def check_all(self, prepared: Any) -> None:
        parsers = self.parsers
        for url in prepared:
            parsers[urlsplit(url).netloc].can_fetch(url, TOKEN)

    def count_disallowed(self, urls: Sequence[str]) -> int:
        return sum(not self.parsers[urlsplit(url).netloc].can_fetch(url, TOKEN) for url in urls)


class UrllibChecker(Checker):
    """urllib.robotparser and a dictionary."""

    name = "urllib.robotparser, dict"

    def __init__(self, files: dict[str, bytes]) -> None:
        self.parsers: dict[str, RobotFileParser] = {}
        for origin, body in files.items():
            parser = self.parsers[urlsplit(origin).netloc] = RobotFileParser()
            parser.parse(body.decode("utf-8-sig", errors="ignore").splitlines())

    def check_all(self, prepared: Any) -> None:
        parsers = self.parsers
        for url in prepared:
            parsers[urlsplit(url).netloc].can_fetch(TOKEN, url)

    def count_disallowed(self, urls: Sequence[str]) -> int:
        return sum(not self.parsers[urlsplit(url).netloc].can_fetch(TOKEN, url) for url in urls)


def make_checkers(store: Path, files: dict[str, bytes], report: Any) -> list[Checker]:
    """Return the checkers that are installed; report the others."""
    engine, client = EngineChecker(files), ClientChecker(store, files)
    checkers: list[Checker] = [engine, DictChecker(engine), client, ClientBatchChecker(client)]
    checkers.append(AsyncClientChecker(store, files))
    try:
        scrapy = ScrapyChecker(files)
        checkers += [scrapy, ScrapyNewUrlChecker(scrapy)]
    except ImportError:
        report.say("Not installed: Scrapy.", "")
    try:
        checkers.append(ProtegoChecker(files))
    except ImportError:
        report.say("Not installed: Protego.", "")
    return [*checkers, UrllibChecker(files)]


# --- The clock ------------------------------------------------------------------------------------


def time_checkers(
    checkers: Sequence[Checker],
    orders: dict[str, list[str]],
    count: int,
    loop: asyncio.AbstractEventLoop,
    progress: Progress,
) -> dict[tuple[str, str], list[float]]:
    """Return (checker, order) → nanoseconds for one URL, round by round."""

    def time_pass(checker: Checker, prepared: Any) -> int:
        # Processor time: nothing here waits for I/O.
        start = time.process_time_ns()
        if checker.asynchronous:
            loop.run_until_complete(checker.check_all(prepared))
        else:
            checker.check_all(prepared)
        return time.process_time_ns() - start

    taken: dict[tuple[str, str], list[float]] = {}
    for number in range(count):
        first = number % len(checkers)
        for order, urls in orders.items():
            for checker in (*checkers[first:], *checkers[:first]):
                progress(f"{order}, round {number + 1} of {count}: {checker.name}")
                prepared = checker.prepare(urls)
                gc.collect()
                gc.disable()
                total, passes = time_pass(checker, prepared), 1
                if total < MAX_WARMUP_NS:  # the first pass was the warm-up
                    total, passes = 0, 0
                    while total < MIN_TIMED_NS:
                        prepared = checker.prepare(urls) if checker.single_use else prepared
                        total, passes = total + time_pass(checker, prepared), passes + 1
                gc.enable()
                taken.setdefault((checker.name, order), []).append(total / passes / len(urls))
    return taken


# --- The first check in a new process -------------------------------------------------------------

COLD_STARTS = {
    "client": "Client.check: entry and body from SQLite, parse, check",
    "store": "SQLite alone: entry and body",
    "engine": "parse and check, octets in memory",
    "protego": "Protego: parse and check, octets in memory",
}


def measure_cold_start(case: str, file: str) -> dict[str, float]:
    """Make the first check of each origin in this process."""
    store, firsts = pickle.loads(Path(file).read_bytes())
    start = time.perf_counter()
    check = _make_cold_check(case, store)
    opening = time.perf_counter() - start
    gc.collect()
    gc.disable()
    start = time.perf_counter()
    for url, digest, body in firsts:
        check(url, digest, body)
    return {"opening": opening, "seconds": (time.perf_counter() - start) / len(firsts)}


def _make_cold_check(case: str, store: str) -> Callable[[str, str, bytes], Any]:
    match case:
        case "client":
            from robotrules.client import Client

            check = Client(USER_AGENT, store=store, transport=StubTransport({})).check
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
    return lambda url, digest, body: protego(body.decode("utf-8-sig", errors="ignore")).can_fetch(
        url, TOKEN
    )


def run_cold_starts(
    store: Path, sites: Sites, count: int, progress: Progress
) -> dict[str, list[dict[str, float]]]:
    """Return case → the measurements of its processes."""
    from robotrules.cache import body_digest

    firsts = [
        (next(url for url in sites.urls if url.startswith(f"{origin}/")), body_digest(body), body)
        for origin, body in sites.files.items()
    ]
    random.Random(9309).shuffle(firsts)
    file = store.with_name("firsts.pickle")
    file.write_bytes(pickle.dumps((str(store), firsts)))
    found: dict[str, list[dict[str, float]]] = {}
    for number in range(count + 1):
        for case in COLD_STARTS:
            progress(f"process {number} of {count}: {case}")
            done = subprocess.run(
                [sys.executable, __file__, case, str(file)],
                capture_output=True,
                check=False,
                text=True,
                timeout=300,
            )
            # Round 0 writes .pyc files and fills the file cache.
            if number and done.returncode == 0:
                found.setdefault(case, []).append(json.loads(done.stdout))
    return found


# --- The tables -----------------------------------------------------------------------------------


def run(plan: dict[str, Any], report: Any, progress: Progress) -> None:
    """Print the tables."""
    progress("reading the corpus")
    sites = load_sites(plan["origins"])
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "robots.sqlite"
        report.say(f"## {plan['title']}", "")
        _run_warm(plan, sites, store, report, progress)
        _run_cold(plan, sites, store, report, progress)


def _run_warm(
    plan: dict[str, Any], sites: Sites, store: Path, report: Any, progress: Progress
) -> None:
    shuffled = list(sites.urls)
    random.Random(9309).shuffle(shuffled)
    # Copied, the URLs are contiguous in memory, in this order.
    orders = {"in runs": sites.urls, "shuffled": pickle.loads(pickle.dumps(shuffled))}
    checkers = make_checkers(store, sites.files, report)
    loop = asyncio.new_event_loop()
    try:
        disallowed = {}
        for checker in checkers:
            progress(f"verdicts: {checker.name}")
            count: Any = checker.count_disallowed(sites.urls)
            disallowed[checker.name] = (
                loop.run_until_complete(count) if checker.asynchronous else count
            )
        taken = time_checkers(checkers, orders, plan["rounds"], loop, progress)
    finally:
        for checker in checkers:
            if isinstance(checker, AsyncClientChecker):
                loop.run_until_complete(checker.client.aclose())
            elif type(checker) is ClientChecker:
                checker.client.close()
        loop.close()
    rows, figures = [], []
    for checker in checkers:
        cells = []
        for order in orders:
            times, engine = taken[checker.name, order], taken[ENGINE, order]
            each = statistics.median(times)
            ratio = statistics.median(a / b for a, b in zip(times, engine, strict=True))
            cells += [f"{table.format_number(each)} ns ({table.format_factor(ratio)})"]
            cells += [f"{table.format_number(min(times))} ns"]
            figures.append(
                {
                    "way": checker.name,
                    "order": order,
                    "nanoseconds": round(each, 1),
                    "fastest": round(min(times), 1),
                    "to engine": round(ratio, 3),
                }
            )
        rows.append([checker.name, *cells, f"{disallowed[checker.name]:,}"])
    report.say(
        f"{sites.description}, each at a separate origin; {len(sites.urls):,} URLs, one product "
        f"token. Processor time of one check, the median of {plan['rounds']} rounds and, in "
        "brackets, the ratio to the engine; then the fastest round.",
        "",
        table.render(
            ["checker", "in runs", "fastest", "shuffled", "fastest", "disallowed"],
            rows,
        ),
        "",
    )
    report.figures["cached"] = {"checks": figures}
    client = taken[CLIENT, "shuffled"]
    overhead = statistics.median(
        (a - b) / 1000 for a, b in zip(client, taken[ENGINE, "shuffled"], strict=True)
    )
    most = plan["bar"]["over_engine_microseconds"]
    what = "Client.check over SQLite, shuffled, overhead over the engine"
    report.add_bar(what, f"at most {most:g} us", f"{overhead:.2f} us", overhead <= most)
    if (SCRAPY, "shuffled") in taken:
        times = taken[SCRAPY, "shuffled"]
        ratio = statistics.median(a / b for a, b in zip(times, client, strict=True))
        least = plan["bar"]["to_scrapy"]
        what = f"Client.check over SQLite, shuffled, to {SCRAPY}"
        report.add_bar(what, f">= {least:g}x", f"{ratio:.1f}x", ratio >= least)


def _run_cold(
    plan: dict[str, Any], sites: Sites, store: Path, report: Any, progress: Progress
) -> None:
    found = run_cold_starts(store, sites, plan["processes"], progress)
    rows = []
    for case, answers in found.items():
        each = [answer["seconds"] * 1e6 for answer in answers]
        opening = statistics.median(answer["opening"] * 1e3 for answer in answers)
        rows.append(
            [
                COLD_STARTS[case],
                table.format_microseconds(statistics.median(each)),
                table.format_microseconds(min(each)),
                table.format_milliseconds(opening) if case in ("client", "store") else "-",
            ]
        )
    report.say(
        "The first check of an origin in a new process: medians and the "
        f"fastest of {plan['processes']} processes, {len(sites.files)} origins each. Opening is "
        "once for a process, with imports.",
        "",
        table.render(["steps", "one origin", "fastest", "opening"], rows),
        "",
    )
    report.figures["cached"]["first"] = found


if __name__ == "__main__":
    print(json.dumps(measure_cold_start(*sys.argv[1:])))
