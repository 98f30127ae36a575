"""The WSGI middleware, in an application that the server of the standard library serves."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from threading import Event
from typing import Any
from wsgiref.validate import validator

import pytest

from robotrules.integrations.wsgi import WsgiRobotsMiddleware
from robotrules.serving import PolicyError, SitePolicy
from tests.serving.loopback_servers import run_wsgiref
from tests.serving.serving_contract import MISTAKE, SECONDS, SETTINGS, ServingContract, request

OWN = {
    "/drafts/own": [("X-Robots-Tag", "noarchive"), ("Content-Usage", "train-ai=y")],
    "/widgets/own": [("X-Robots-Tag", "noindex")],
}
TEXT = ("Content-Type", "text/plain")


def make_app(site: SitePolicy) -> Callable[..., Iterable[bytes]]:
    """Return an application with the routes of the contract."""
    released = Event()

    def parts() -> Iterator[bytes]:
        yield b"first"
        released.wait(SECONDS)
        yield b"second"

    def app(environ: Any, start_response: Any) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        status = "404 Not Found" if path == "/missing" else "200 OK"
        start_response(status, [TEXT, *OWN.get(path, [])])
        if path == "/stream":
            return parts()
        if path == "/release":
            released.set()
        if path == "/counters":
            return [json.dumps(site.counters.as_dict()).encode()]
        return [b"page" if environ["REQUEST_METHOD"] != "HEAD" else b""]

    return app


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Serve the application."""
    site = SitePolicy(**SETTINGS)
    with run_wsgiref(WsgiRobotsMiddleware(make_app(site), site)) as port:
        yield port


class TestWsgi(ServingContract):
    """The server of the standard library."""


def call(app: Any, path: str, **environ: Any) -> tuple[str, list[tuple[str, str]], Any]:
    """Call an application without a server."""
    started: list[Any] = []

    def start_response(*arguments: Any) -> Any:
        started.append(arguments)
        return lambda data: None

    given = {"REQUEST_METHOD": "GET", "PATH_INFO": path, "SCRIPT_NAME": "", **environ}
    body = app(given, start_response)
    return started[0][0], started[0][1], body


def test_the_interface_is_followed() -> None:
    """Both sides of the middleware pass the validator of the standard library."""
    site = SitePolicy(**SETTINGS)
    app = validator(WsgiRobotsMiddleware(validator(make_app(site)), site))
    with run_wsgiref(app) as port:
        for target in ("/", "/drafts/own", "/robots.txt"):
            assert request(port, target).status == 200
        etag = request(port, "/robots.txt").get("ETag") or ""
        assert request(port, "/robots.txt", If_None_Match=etag).status == 304
        assert request(port, "/drafts/x").tags() == {"noindex": True}


def test_the_iterable_is_returned_as_it_is() -> None:
    """So `close()` and `wsgi.file_wrapper` work."""
    body = iter([b"x"])

    def app(environ: Any, start_response: Any) -> Iterable[bytes]:
        start_response("200 OK", [])
        return body

    wrapped = WsgiRobotsMiddleware(app, SitePolicy(**SETTINGS))
    assert call(wrapped, "/drafts/x")[2] is body


def test_an_error_after_the_start() -> None:
    """`exc_info` reaches the server, and the error page has the fields."""
    seen: list[Any] = []

    def app(environ: Any, start_response: Any) -> Iterable[bytes]:
        start_response("500 Internal Server Error", [], ("type", "value", "traceback"))
        return []

    def start_response(*arguments: Any) -> Any:
        seen.append(arguments)

    site = SitePolicy(**SETTINGS)
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/drafts/x"}
    WsgiRobotsMiddleware(app, site)(environ, start_response)
    status, headers, exc_info = seen[0]
    assert (status[:3], exc_info) == ("500", ("type", "value", "traceback"))
    assert ("X-Robots-Tag", "noindex") in headers


def test_a_response_that_starts_late() -> None:
    """A generator calls `start_response` when it is read, and again after an exception."""
    seen: list[Any] = []

    fields = [TEXT]

    def app(environ: Any, start_response: Any) -> Iterator[bytes]:
        start_response("200 OK", fields)
        try:
            raise ValueError
        except ValueError:
            start_response("500 Internal Server Error", fields, exc_info=sys.exc_info())
        yield b"error"

    def start_response(status: str, headers: Any, exc_info: Any = None) -> Any:
        seen.append((status[:3], headers.count(("X-Robots-Tag", "noindex")), exc_info and 1))

    wrapped: Any = WsgiRobotsMiddleware(app, SitePolicy(**SETTINGS))
    body = wrapped({"REQUEST_METHOD": "GET", "PATH_INFO": "/drafts/x"}, start_response)
    assert seen == []
    assert b"".join(body) == b"error"
    assert seen == [("200", 1, None), ("500", 1, 1)]
    assert fields == [TEXT]  # the list of the application is not changed
    with run_wsgiref(wrapped) as port:
        found = request(port, "/drafts/x")
        assert (found.status, found.tags(), found.body) == (500, {"noindex": True}, b"error")


def test_mounted_below_a_path() -> None:
    """The file of an origin is at its top; fields match the whole path of the URL."""
    site = SitePolicy("[[tags]]\npaths = ['/sub/x']\nrules = ['noindex']\n")
    app = WsgiRobotsMiddleware(make_app(site), site)
    assert dict(call(app, "/x", SCRIPT_NAME="/sub")[1])["X-Robots-Tag"] == "noindex"
    assert "X-Robots-Tag" not in dict(call(app, "/x")[1])
    assert call(app, "/robots.txt", SCRIPT_NAME="/sub")[2] == [b"page"]
    assert call(app, "//robots.txt")[2] == [b"page"]
    assert call(app, "", SCRIPT_NAME="/robots.txt")[2] == [b"page"]
    assert "ETag" in dict(call(app, "/robots.txt", SCRIPT_NAME="/")[1])


def test_mistakes_stop_the_start() -> None:
    """The policy raises, and a wrong argument says what to pass."""
    with pytest.raises(PolicyError, match="warning RR301 typo"):
        SitePolicy(MISTAKE)
    with pytest.raises(TypeError, match=r"pass SitePolicy\('policy.toml'\)"):
        WsgiRobotsMiddleware(make_app(SitePolicy(**SETTINGS)), "policy.toml")  # type: ignore[arg-type]
