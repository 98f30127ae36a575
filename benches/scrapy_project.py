"""
A new Scrapy project, as it is and with two settings changed: what each fetches, and how fast.

`scrapy startproject` makes the project in a temporary folder. The same spiders then crawl loopback
sites twice: with Scrapy's own middleware for robots.txt, and with

    ADDONS = {"robotrules.integrations.scrapy.Addon": 0}
    ROBOTRULES_ALLOW_PRIVATE = ["127.0.0.1"]

(the second because loopback is a private address). The first table has the pages that the sites
received, by what RFC 9309 says about them; the second has pages per second of a crawl of one site,
in rounds that alternate. Each crawl is a `scrapy crawl` of its own; the time is that between the
first request that the site receives, for robots.txt, and the last.

    scrapy_project.py [--pages 2000] [--rounds 5] [--json]

Does not know: a network. Sites and spider share the machine, so the figures show the processor time
that a middleware costs, and not the time of a crawl that waits for servers.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import table

ROOT = Path(__file__).parents[1]
ALLOWED, PRIVATE = "127.0.0.1", "127.0.0.2"
SETTINGS = """
ADDONS = {"robotrules.integrations.scrapy.Addon": 0}
ROBOTRULES_ALLOW_PRIVATE = ["127.0.0.1"]
"""
SPIDERS = """
import scrapy


class Crawl(scrapy.Spider):
    name = "crawl"
    custom_settings = {"RETRY_ENABLED": False}

    def start_requests(self):
        for url in self.urls.split():
            yield scrapy.Request(url, dont_filter=True)

    async def start(self):
        for request in self.start_requests():
            yield request

    def parse(self, response):
        for link in response.css("a::attr(href)"):
            yield response.follow(link.get())
"""
# The same for both: the template of a new project has a delay of a second.
OPTIONS = {
    "DOWNLOAD_DELAY": "0",
    "CONCURRENT_REQUESTS": "16",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "16",
    "LOG_LEVEL": "WARNING",
    "TELNETCONSOLE_ENABLED": "False",
}
RULES = b"User-agent: *\nDisallow: /private\n"
Answer = tuple[int, dict[str, str], bytes]


def make_page(path: str, pages: int) -> bytes:
    """Return a page of some kilobytes that links to two further pages."""
    number = int(path.rpartition("/")[2] or 0) if path[1:].isdigit() else 0
    links = [2 * number + 1, 2 * number + 2] if path[1:].isdigit() else []
    anchors = "".join(f'<a href="/{link}">{link}</a>' for link in links if link < pages)
    text = "<p>" + "Lorem ipsum dolor sit amet. " * 100
    return f"<!doctype html><title>{path}</title>{anchors}{text}".encode()


class Site:
    """A server on loopback that answers by path and records what was requested."""

    def __init__(
        self, robots: Answer | None, address: str = ALLOWED, pages: int = 0, **moved: str
    ) -> None:
        self.robots, self.pages, self.moved = robots, pages, moved
        self.address = address
        self.port = 0
        self.requested: list[str] = []
        self.times: list[float] = []

    def url(self, path: str) -> str:
        """Return the URL of a path."""
        return f"http://{self.address}:{self.port}{path}"

    def answer(self, path: str) -> Answer | None:
        """Return status, fields and body; None: close the connection."""
        self.times.append(time.perf_counter())
        if path == "/robots.txt":
            return self.robots
        self.requested.append(path)
        if path[1:] in self.moved:
            return 302, {"Location": self.moved[path[1:]]}, b""
        return 200, {"Content-Type": "text/html"}, make_page(path, self.pages)

    async def serve(self) -> None:
        """Listen on a free port."""
        server = await asyncio.start_server(self._connect, self.address, 0, backlog=256)
        self.port = server.sockets[0].getsockname()[1]

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                answer = self.answer(head.split(b" ", 2)[1].decode("latin-1"))
                if answer is None:
                    break
                status, fields, body = answer
                fields = {**fields, "Content-Length": str(len(body))}
                lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
                writer.write(f"HTTP/1.1 {status} x\r\n{lines}\r\n".encode() + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


class Sites:
    """Sites on an event loop in a thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def add(self, *arguments: Any, **options: Any) -> Site:
        """Start a site."""
        site = Site(*arguments, **options)
        asyncio.run_coroutine_threadsafe(site.serve(), self._loop).result(10)
        return site


def make_project(folder: Path, settings: str) -> Path:
    """Return a new Scrapy project with a spider, and these lines at the end of its settings."""
    command = [sys.executable, "-m", "scrapy", "startproject", "shop", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    (folder / "shop" / "spiders" / "crawl.py").write_text(SPIDERS, encoding="utf-8")
    with (folder / "shop" / "settings.py").open("a", encoding="utf-8") as file:
        file.write(settings)
    return folder


def crawl(project: Path, urls: list[str]) -> None:
    """Run `scrapy crawl` in a project."""
    options = [part for name, value in OPTIONS.items() for part in ("-s", f"{name}={value}")]
    command = [sys.executable, "-m", "scrapy", "crawl", *options, "-a", f"urls={' '.join(urls)}"]
    with tempfile.TemporaryDirectory() as cache:
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "src"),
            "ROBOTRULES_CACHE_DIR": cache,
        }
        subprocess.run(
            [*command, "crawl"],
            check=True,
            capture_output=True,
            env=environment,
            cwd=project,
            timeout=300,
        )


def compare_fetches(projects: dict[str, Path]) -> dict[str, dict[str, list[str]]]:
    """Return the pages that each project requested, by the state of the site's robots.txt."""
    requested = {}
    for name, project in projects.items():
        sites = Sites()
        inside = sites.add(None, address=PRIVATE)
        down = sites.add((503, {}, b"<h1>Service Unavailable</h1>"))
        lost = sites.add(None)
        busy = sites.add((429, {}, b"slow down"))
        moved = sites.add((302, {"Location": inside.url("/robots.txt")}, b""))
        missing = sites.add((404, {}, b"User-agent: *\nDisallow: /\n"))
        other = sites.add((200, {}, RULES))
        shop = sites.add(
            (200, {}, RULES),
            to_down=down.url("/from-shop"),
            to_lost=lost.url("/from-shop"),
            to_inside=inside.url("/secret"),
            to_private=other.url("/private/from-shop"),
            to_open=other.url("/open"),
        )
        # Six requests at once wait for one robots.txt.
        closed = sites.add((200, {}, RULES))
        urls = [closed.url(f"/private/{number}") for number in range(6)]
        urls += [shop.url(f"/{path}") for path in (*shop.moved, "private/1", "open")]
        urls += [site.url("/page") for site in (down, lost, busy, moved, missing)]
        crawl(project, urls)
        requested[name] = {
            "robots.txt has status 503": sorted(down.requested),
            "robots.txt: connection closed": sorted(lost.requested),
            "robots.txt has status 429": busy.requested,
            "robots.txt redirects into a private network": moved.requested,
            "a private network, from a redirect": inside.requested,
            "disallowed by a rule": [path for path in (*shop.requested, *other.requested)
                                     if path.startswith("/private")],
            "disallowed by a rule, six requests at once": sorted(closed.requested),
            "allowed: no robots.txt (404)": missing.requested,
            "allowed: no rule matches": [
                path for path in (*shop.requested, *other.requested) if path == "/open"
            ],
        }  # fmt: skip
    return requested


def time_pages(projects: dict[str, Path], pages: int, rounds: int) -> dict[str, list[float]]:
    """Return pages per second of each project, one figure for each round."""
    figures: dict[str, list[float]] = {name: [] for name in projects}
    for number in range(rounds):
        names = list(projects)
        for name in names if number % 2 else reversed(names):
            site = Sites().add((200, {}, RULES), pages=pages)
            crawl(projects[name], [site.url("/0")])
            assert len(site.requested) == pages, f"{len(site.requested)} of {pages} pages"
            figures[name].append(pages / (site.times[-1] - site.times[0]))
    return figures


def describe(paths: list[str]) -> str:
    """Return requested pages as a cell of a table."""
    return ", ".join(paths) or "none"


def main() -> None:
    """Run the comparison and print its tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[1])
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        make: Callable[[str, str], Path] = lambda name, lines: make_project(  # noqa: E731
            Path(folder) / name, lines
        )
        projects = {"Scrapy": make("stock", ""), "robotrules": make("ours", SETTINGS)}
        requested = compare_fetches(projects)
        figures = time_pages(projects, options.pages, options.rounds)
    if options.json:
        print(json.dumps({"requested": requested, "pages_per_second": figures}))
        return
    stock, ours = requested["Scrapy"], requested["robotrules"]
    rows = [[case, describe(stock[case]), describe(ours[case])] for case in stock]
    print("Pages that the sites received:\n")
    print(table.render(["case", "Scrapy", "robotrules"], rows, left=True))
    if not options.rounds:
        return
    ratios = [b / a for a, b in zip(figures["Scrapy"], figures["robotrules"], strict=True)]
    print(f"\nA site of {options.pages} pages, {options.rounds} rounds, pages per second:\n")
    rows = [
        [name, f"{statistics.median(rates):.0f}", f"{max(rates):.0f}"]
        for name, rates in figures.items()
    ]
    print(table.render(["middleware", "median", "best"], rows))
    print(f"\nrobotrules / Scrapy: median of the ratios {statistics.median(ratios):.3f}")


if __name__ == "__main__":
    main()
