"""
A FastAPI site with a policy: robots.txt, tag fields, Content-Usage, a staging host and counters.

    uvicorn fastapi_site:application

As a program, it serves itself on loopback and prints what crawlers get. It needs fastapi and
uvicorn.
"""

from __future__ import annotations

import socket
import time
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread

import uvicorn
from fastapi import FastAPI

from robotrules.integrations.asgi import AsgiRobotsMiddleware
from robotrules.serving import SitePolicy

POLICY = Path(__file__).with_name("fastapi_site.toml")
CRAWLER = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)"
SHOWN = ("etag", "cache-control", "robots-tag", "x-robots-tag", "content-usage")

# A mistake in the policy raises here, before anything is served.
site = SitePolicy(POLICY, staging=["staging.localhost"])
app = FastAPI()


@app.get("/crawlers")
async def show_crawlers() -> dict[str, dict[str, int]]:
    """Return how often well-known crawlers requested what they were asked not to."""
    return site.counters.as_dict()


@app.get("/{path:path}")
async def show_page(path: str) -> str:
    """Return a page."""
    return f"The page /{path}"


# From outside, so that the pages for unhandled exceptions have the fields too.
application = AsgiRobotsMiddleware(app, site)


def show(port: int, path: str, host: str = "localhost") -> None:
    """Request a URL as a crawler, and print the response."""
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path, headers={"Host": host, "User-Agent": CRAWLER})
    response = connection.getresponse()
    print(f"GET http://{host}{path}", response.status)
    for name, value in response.getheaders():
        if name in SHOWN:
            print(f"  {name}: {value}")
    print(*(f"  | {line}" for line in response.read().decode().splitlines()), sep="\n", end="\n\n")
    connection.close()


def main() -> None:
    """Serve the site on a free port until all requests have been made."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        server = uvicorn.Server(uvicorn.Config(application, log_level="critical", ws="none"))
        thread = Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
        thread.start()
        while thread.is_alive() and not server.started:
            time.sleep(0.01)
        port = sock.getsockname()[1]
        for path in ("/robots.txt", "/", "/press/", "/drafts/plan", "/prices.pdf", "/cart/1"):
            show(port, path)
        show(port, "/", host="staging.localhost")
        show(port, "/crawlers")
        server.should_exit = True
        thread.join(10)


if __name__ == "__main__":
    main()
