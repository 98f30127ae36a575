"""The ASGI middleware, in a FastAPI application that uvicorn serves."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from fastapi import FastAPI, Response
from fastapi.responses import PlainTextResponse, StreamingResponse

from robotrules.integrations.asgi import AsgiRobotsMiddleware
from robotrules.serving import SitePolicy
from tests.serving.loopback_servers import run_uvicorn
from tests.serving.serving_contract import (
    DISALLOW,
    MISTAKE,
    POLICY,
    SECONDS,
    SETTINGS,
    ServingContract,
    request,
)

OWN = {"X-Robots-Tag": "noarchive", "Content-Usage": "train-ai=y"}


def make_app(site: SitePolicy) -> FastAPI:
    """Return an application with the routes of the contract."""
    app = FastAPI()
    app.add_middleware(AsgiRobotsMiddleware, site=site)
    released = Event()

    async def parts() -> AsyncIterator[str]:
        yield "first"
        for _ in range(SECONDS * 100):
            if released.is_set():
                break
            await asyncio.sleep(0.01)
        yield "second"

    @app.get("/stream")
    async def stream() -> StreamingResponse:
        return StreamingResponse(parts(), media_type="text/plain")

    @app.get("/release")
    async def release() -> str:
        released.set()
        return "released"

    @app.get("/counters")
    async def counters() -> dict[str, Any]:
        return site.counters.as_dict()

    @app.get("/missing")
    async def missing() -> Response:
        return Response(status_code=404)

    @app.get("/drafts/own")
    async def own() -> Response:
        return PlainTextResponse("own", headers=OWN)

    @app.get("/widgets/own")
    async def widget() -> Response:
        return PlainTextResponse("own", headers={"X-Robots-Tag": "noindex"})

    @app.api_route("/{path:path}", methods=["GET", "HEAD"])
    async def page(path: str) -> Response:
        return PlainTextResponse("page")

    return app


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Serve the application."""
    with run_uvicorn(make_app(SitePolicy(**SETTINGS))) as port:
        yield port


class TestAsgi(ServingContract):
    """FastAPI and uvicorn."""


class Calls:
    """An ASGI application that keeps its calls, and sends a response to HTTP requests."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Keep the arguments."""
        self.calls.append((scope, receive, send))
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send(
                {"type": "http.response.body", "body": scope["path"].encode("utf-8", "replace")}
            )


async def receive() -> Any:
    """Return nothing."""


async def send(message: Any) -> None:
    """Drop a message."""


@pytest.mark.parametrize("kind", ["websocket", "lifespan", "webtransport"])
def test_other_scopes_pass_unchanged(kind: str) -> None:
    """The application gets the same objects, also for the path of the robots.txt."""
    app = Calls()
    scope = {"type": kind, "path": "/robots.txt", "headers": []}
    asyncio.run(AsgiRobotsMiddleware(app, SitePolicy(POLICY))(scope, receive, send))
    assert [[id(part) for part in call] for call in app.calls] == [
        [id(part) for part in (scope, receive, send)]
    ]


def test_lifespan_of_the_application_runs() -> None:
    """Start and shutdown reach the application."""
    seen: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while scope["type"] == "lifespan":
            message = await receive()
            seen.append(message["type"])
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                return

    with run_uvicorn(AsgiRobotsMiddleware(app, SitePolicy(POLICY)), lifespan="on"):
        pass
    assert seen == ["lifespan.startup", "lifespan.shutdown"]


def test_mounted_below_a_path() -> None:
    """The file of an origin is at its top; fields match the whole path of the URL."""
    policy = "[[tags]]\npaths = ['/sub/x']\nrules = ['noindex']\n"
    outer = FastAPI()
    outer.mount("/sub", AsgiRobotsMiddleware(Calls(), SitePolicy(policy)))
    with run_uvicorn(outer) as port:
        assert request(port, "/robots.txt").status == 404
        assert b"robots.txt" in request(port, "/sub/robots.txt").body
        assert request(port, "/sub/x").tags() == {"noindex": True}
        assert request(port, "/sub/%78?y").tags() == {"noindex": True}
        assert request(port, "/sub/sub/x").tags() == {}


def test_behind_a_proxy_that_removes_a_prefix() -> None:
    """With `--root-path`, the URL has the prefix, so its robots.txt is another server's."""
    policy = "[[tags]]\npaths = ['/api/x']\nrules = ['noindex']\n"
    app = AsgiRobotsMiddleware(Calls(), SitePolicy(policy))
    with run_uvicorn(app, root_path="/api") as port:
        assert request(port, "/x").tags() == {"noindex": True}
        assert b"Disallow" not in request(port, "/robots.txt").body


def test_a_root_path_of_one_slash() -> None:
    """It is the top of the origin."""
    policy = "[[tags]]\npaths = ['/x']\nrules = ['noindex']\n"
    app = AsgiRobotsMiddleware(Calls(), SitePolicy(policy))
    with run_uvicorn(app, root_path="/") as port:
        assert request(port, "/robots.txt").get("ETag")
        assert request(port, "/x").tags() == {"noindex": True}
    sent: list[Any] = []

    async def keep(message: Any) -> None:
        sent.append(message)

    scope: dict[str, Any] = {"type": "http", "method": "GET", "headers": [], "root_path": "/"}
    for path in ("/robots.txt", "//robots.txt"):
        scope["path"] = path
        asyncio.run(app(scope, receive, keep))
        assert b"etag" in dict(sent[-2]["headers"])


def test_error_pages_of_starlette() -> None:
    """`add_middleware` is inside of the 500 page; an application that is wrapped has the fields."""

    async def fail() -> None:
        raise RuntimeError("as the test wants it")

    site = SitePolicy("[[tags]]\npaths = ['/']\nrules = ['noindex']\n")
    inside, outside = FastAPI(), FastAPI()
    inside.add_middleware(AsgiRobotsMiddleware, site=site)
    for app in (inside, outside):
        app.get("/fail")(fail)
    wrapped = AsgiRobotsMiddleware(outside, site)
    for served, tags in ((inside, {}), (wrapped, {"noindex": True})):
        with run_uvicorn(served) as port:
            failed = request(port, "/fail")
            assert (failed.status, failed.tags()) == (500, tags)
            assert request(port, "/missing").tags() == {"noindex": True}


def test_two_slashes(port: int) -> None:
    """`//robots.txt` is another path; some WSGI servers remove a slash themselves."""
    assert request(port, "//robots.txt").body == b"page"


def test_scopes_of_other_servers() -> None:
    """Optional keys may be missing, and a path may have lone surrogates."""
    sent: list[Any] = []

    async def keep(message: Any) -> None:
        sent.append(message)

    app = AsgiRobotsMiddleware(Calls(), SitePolicy(POLICY))
    for path in ("/drafts/\ud800\udcff", "/drafts/x"):
        scope: dict[str, Any] = {"type": "http", "method": "GET", "path": path, "headers": []}
        asyncio.run(app(scope, receive, keep))
        assert (b"x-robots-tag", b"noindex") in sent[-2]["headers"]
    asyncio.run(app({**scope, "path": "/robots.txt"}, receive, keep))
    assert DISALLOW.encode() in sent[-1]["body"]


def test_messages_of_the_application_are_not_changed() -> None:
    """An application may send the same message again."""
    message = {"type": "http.response.start", "status": 200, "headers": ((b"a", b"b"),)}
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send(message)

    async def keep(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/drafts/x", "headers": []}
    wrapped = AsgiRobotsMiddleware(app, SitePolicy(POLICY))
    for _ in range(2):
        asyncio.run(wrapped(scope, receive, keep))
    assert message["headers"] == ((b"a", b"b"),)
    assert sent[0] == sent[1]
    assert (b"x-robots-tag", b"noindex") in sent[0]["headers"]


def test_a_mistake_stops_the_start(tmp_path: Path) -> None:
    """Uvicorn ends with the note."""
    (tmp_path / "policy.txt").write_text(MISTAKE)
    (tmp_path / "main.py").write_text(
        "from robotrules.integrations.asgi import AsgiRobotsMiddleware\n"
        "from robotrules.serving import SitePolicy\n"
        "app = AsgiRobotsMiddleware(None, SitePolicy('policy.txt'))\n"
    )
    command = [sys.executable, "-m", "uvicorn", "main:app", "--port", "0"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=30)
    assert ran.returncode != 0
    assert "policy.txt, line 2 ('Disalow: /x'): warning RR301 typo" in ran.stderr


def test_a_wrong_argument_says_what_to_pass() -> None:
    """A path in place of a policy is a TypeError."""
    with pytest.raises(TypeError, match=r"pass SitePolicy\('policy.toml'\)"):
        AsgiRobotsMiddleware(Calls(), "policy.toml")  # type: ignore[arg-type]
