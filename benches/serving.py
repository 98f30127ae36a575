"""
What the server side costs: applications alone and with the middleware, in one run and one process.

No socket is opened: an ASGI or WSGI application is called with the request of a browser or of a
crawler, so that the numbers have no part of a server. Both kinds take turns in short rounds; a time
is the median of its rounds. *Bare* applications only send a response, which is the least that an
application can do; FastAPI and Flask show what the overhead is beside a framework.

    python benches/serving.py                  all tables: about half a minute
    python benches/serving.py --rounds 10 --only patterns

Does not know: what a server and the network cost, which is many times more.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import statistics
import time
from collections.abc import Callable, Iterable
from typing import Any

from robotrules.integrations.asgi import AsgiRobotsMiddleware
from robotrules.integrations.wsgi import WsgiRobotsMiddleware
from robotrules.serving import SitePolicy

POLICY = """
[everyone]
keep-out = ["/cart/"]

[[tags]]
paths = ["/drafts/", "/*.pdf$"]
rules = ["noindex"]
"""
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
CRAWLER = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)"
PATTERNS = {"/section-{}/": "literal", "/*/section-{}/": "wildcard"}
NUMBERS = (1, 10, 100, 1000)
# The time of a round is long enough for the clock.
REQUESTS = 500

# Path, User-Agent and what is shown.
Request = tuple[str, str, str]
PAGES: list[Request] = [
    ("/catalogue/page/17", BROWSER, "page without fields"),
    ("/drafts/plan", BROWSER, "page with fields"),
    ("/catalogue/page/17", CRAWLER, "crawler, page without fields"),
    ("/drafts/plan", CRAWLER, "crawler, page with fields"),
]


# --- Applications ---------------------------------------------------------------------------------


async def bare_asgi(scope: Any, receive: Any, send: Any) -> None:
    """Send a page."""
    headers = [(b"content-type", b"text/plain"), (b"content-length", b"4")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"page"})


def make_fastapi() -> Any:
    """Return an application of FastAPI with one route."""
    from fastapi import FastAPI
    from fastapi.responses import PlainTextResponse

    app = FastAPI()

    @app.get("/{path:path}")
    async def page(path: str) -> PlainTextResponse:
        return PlainTextResponse("page")

    return app


def bare_wsgi(environ: Any, start_response: Any) -> Iterable[bytes]:
    """Send a page."""
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "4")])
    return [b"page"]


def make_flask() -> Any:
    """Return an application of Flask with one route."""
    from flask import Flask

    app = Flask("bench")

    @app.get("/<path:path>")
    def page(path: str) -> str:
        return "page"

    return app


# --- Requests -------------------------------------------------------------------------------------


def call_asgi(app: Any, request: Request) -> Callable[[], None]:
    """Return a function that makes a round of requests."""
    path, user_agent, _ = request
    headers = [
        (b"host", b"www.example.com"),
        (b"user-agent", user_agent.encode()),
        (b"accept", b"text/html,application/xhtml+xml"),
        (b"accept-encoding", b"gzip, deflate, br"),
        (b"cookie", b"session=0123456789abcdef"),
    ]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "https",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
    }

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        pass

    async def run() -> None:
        for _ in range(REQUESTS):
            await app(dict(scope), receive, send)

    return lambda: RUNNER.run(run())


def call_wsgi(app: Any, request: Request) -> Callable[[], None]:
    """Return a function that makes a round of requests."""
    from wsgiref.util import setup_testing_defaults

    path, user_agent, _ = request
    environ: dict[str, Any] = {
        "PATH_INFO": path,
        "HTTP_HOST": "www.example.com",
        "HTTP_USER_AGENT": user_agent,
        "HTTP_ACCEPT": "text/html,application/xhtml+xml",
        "HTTP_COOKIE": "session=0123456789abcdef",
    }
    setup_testing_defaults(environ)

    def start_response(*arguments: Any) -> Any:
        pass

    def run() -> None:
        for _ in range(REQUESTS):
            body = app(dict(environ), start_response)
            for _part in body:
                pass
            if hasattr(body, "close"):
                body.close()

    return run


# --- Timing ---------------------------------------------------------------------------------------

RUNNER = asyncio.Runner()


def time_rounds(rounds: int, *runs: Callable[[], None]) -> list[list[float]]:
    """Return seconds for a request of each function in each round; they take turns."""
    times: list[list[float]] = [[] for _ in runs]
    gc.collect()
    gc.disable()
    for number in range(-1, rounds):  # the first is not counted
        order = range(len(runs)) if number % 2 else reversed(range(len(runs)))
        for kind in order:
            began = time.perf_counter()
            runs[kind]()
            if number >= 0:
                times[kind].append((time.perf_counter() - began) / REQUESTS)
    gc.enable()
    return times


def show_middleware(rounds: int) -> None:
    """Print the overhead of the middleware."""
    print("| application | request | alone | middleware adds | overhead |")
    print("|---|---|---|---|---|")
    site = SitePolicy(POLICY)
    apps = {
        "bare ASGI": (bare_asgi, AsgiRobotsMiddleware, call_asgi),
        "FastAPI": (make_fastapi(), AsgiRobotsMiddleware, call_asgi),
        "bare WSGI": (bare_wsgi, WsgiRobotsMiddleware, call_wsgi),
        "Flask": (make_flask(), WsgiRobotsMiddleware, call_wsgi),
    }
    for name, (app, middleware, call) in apps.items():
        for request in PAGES:
            alone, wrapped = time_rounds(
                rounds, call(app, request), call(middleware(app, site), request)
            )
            extra = statistics.median(us - bare for bare, us in zip(alone, wrapped, strict=True))
            bare = statistics.median(alone)
            print(
                f"| {name} | {request[2]} | {bare * 1e6:.2f} µs | {extra * 1e6:+.2f} µs "
                f"| {extra / bare:+.0%} |",
                flush=True,
            )


def show_robots(rounds: int) -> None:
    """Print how many requests of robots.txt are answered in a second."""
    print("| interface | crawler | time | responses in a second |")
    print("|---|---|---|---|")
    site = SitePolicy(POLICY, hosts={"*.shop.example": POLICY})
    asgi, wsgi = AsgiRobotsMiddleware(bare_asgi, site), WsgiRobotsMiddleware(bare_wsgi, site)
    for user_agent in (BROWSER, CRAWLER):
        request = ("/robots.txt", user_agent, "")
        times = time_rounds(rounds, call_asgi(asgi, request), call_wsgi(wsgi, request))
        for name, found in zip(("ASGI", "WSGI"), times, strict=True):
            middle = statistics.median(found)
            known = "known" if user_agent == CRAWLER else "unknown"
            print(f"| {name} | {known} | {middle * 1e6:.2f} µs | {1 / middle:,.0f} |", flush=True)


def show_patterns(rounds: int) -> None:
    """Print how the time of the fields by path grows with patterns."""
    print("| patterns | number | start | URL that none matches | URL that the last matches |")
    print("|---|---|---|---|---|")
    for pattern, kind in PATTERNS.items():
        for number in NUMBERS:
            paths = [pattern.format(at) for at in range(number)]
            policy = f"[[tags]]\npaths = {paths}\nrules = ['noindex']\n"
            began = time.perf_counter()
            site = SitePolicy(policy)
            started = time.perf_counter() - began
            last = pattern.format(number - 1).replace("*", "a") + "x"
            assert site.response_fields(last)
            assert not site.response_fields("/catalogue/page/17")
            none, one = time_rounds(
                rounds, find_fields(site, "/catalogue/page/17"), find_fields(site, last)
            )
            print(
                f"| {kind} | {number:,} | {started * 1e3:.0f} ms "
                f"| {statistics.median(none) * 1e6:.2f} µs "
                f"| {statistics.median(one) * 1e6:.2f} µs |",
                flush=True,
            )


def find_fields(site: SitePolicy, target: str) -> Callable[[], None]:
    """Return a function that looks up the fields of a URL."""

    def run() -> None:
        for _ in range(REQUESTS):
            site.response_fields(target, "www.example.com")

    return run


TABLES = {"middleware": show_middleware, "robots": show_robots, "patterns": show_patterns}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="Overhead of the server side.")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--only", nargs="*", default=[*TABLES], choices=[*TABLES])
    given = parser.parse_args()
    with RUNNER:
        for name in given.only:
            print(f"\n{name}: {given.rounds} rounds of {REQUESTS} requests\n")
            TABLES[name](given.rounds)


if __name__ == "__main__":
    main()
