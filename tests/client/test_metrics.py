"""Metrics: one event for each request, counters over all, and the fields of a page as a mapping."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from time import monotonic

import pytest

from robotrules.access import Failure, FailureReason, Request, Response
from robotrules.client import Client, FetchEvent, Stats
from robotrules.client.metrics import MetricsCollector
from robotrules.http.fields import Headers, read_fields
from tests.client.scripted import Clock, Server, opened

AGENT = "ExampleBot/1.0 (+https://example.com/bot)"
ORIGIN = "https://example.com"
ROBOTS = f"{ORIGIN}/robots.txt"
KINDS = ["sync", "async"]


@pytest.fixture
def server() -> Server:
    """A site with a robots.txt behind a redirect, a page, and one that fails."""
    made = Server()
    made.answers = {
        ROBOTS: Response(301, {"Location": "/rules"}),
        f"{ORIGIN}/rules": Response(200, {}, b"User-agent: *\nDisallow: /x\n", address="192.0.2.1"),
        f"{ORIGIN}/a": Response(200, {}, b"12345"),
        f"{ORIGIN}/b": Failure(FailureReason.TIMEOUT, "no whole answer within 30 s"),
    }
    return made


@pytest.mark.parametrize("kind", KINDS)
def test_each_request_is_reported(kind: str, server: Server) -> None:
    events: list[FetchEvent] = []
    with opened(kind, server, Clock(), on_fetch=events.append) as client:
        assert client.stats == Stats()
        for path in ("/a", "/b", "/x", "/a"):
            client.fetch(ORIGIN + path)
        client.check(f"{ORIGIN}/c")
        stats = client.stats
    assert [(one.kind, one.url.removeprefix(ORIGIN), one.status) for one in events] == [
        ("robots.txt", "/robots.txt", 301),
        ("robots.txt", "/rules", 200),
        ("page", "/a", 200),
        ("page", "/b", None),
        ("page", "/a", 200),
    ]
    assert events[1].octets == 27
    assert events[1].address == "192.0.2.1"
    assert (events[3].failure_reason, events[3].detail) == (
        FailureReason.TIMEOUT,
        "no whole answer within 30 s",
    )
    assert all(event.seconds >= 0 for event in events)
    assert (stats.requests, stats.robots, stats.pages, stats.octets) == (5, 2, 3, 37)
    assert stats.statuses == {301: 1, 200: 3}
    assert stats.failures == {"timeout": 1}
    assert stats.seconds == pytest.approx(sum(event.seconds for event in events))
    assert json.loads(json.dumps(stats.as_dict()))["statuses"] == {"200": 3, "301": 1}
    assert json.loads(json.dumps(events[3].as_dict()))["failure_reason"] == "timeout"


def test_a_hook_of_an_event_loop_is_awaited(server: Server) -> None:
    events: list[str] = []

    async def hook(event: FetchEvent) -> None:
        await asyncio.sleep(0)
        events.append(event.url)

    with opened("async", server, Clock(), on_fetch=hook) as client:
        client.check(f"{ORIGIN}/a")
    assert events == [ROBOTS, f"{ORIGIN}/rules"]


@pytest.mark.parametrize("kind", KINDS)
def test_errors_of_a_hook_reach_the_caller(kind: str, server: Server) -> None:
    """The lease is released: the next check sends a request again."""
    calls: list[FetchEvent] = []

    def hook(event: FetchEvent) -> None:
        calls.append(event)
        if len(calls) == 1:
            raise ZeroDivisionError("mine")

    with opened(kind, server, Clock(), on_fetch=hook) as client:
        with pytest.raises(ZeroDivisionError, match="mine"):
            client.check(f"{ORIGIN}/a")
        assert client.check(f"{ORIGIN}/a").allowed
        assert client.stats.requests == 3


def test_threads_count_together() -> None:
    meter = MetricsCollector()

    def count(number: int) -> None:
        meter.record("page", Request("https://e.example/"), Response(200, {}, b"ab"), monotonic())

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(count, range(2000)))
    assert meter.stats()[:4] == (2000, 0, 2000, 4000)


def test_a_transport_that_returns_nothing_raises() -> None:
    """It is not counted, and the error states what a transport returns."""

    class Odd:
        def send(self, request: Request) -> None:
            """Return nothing."""

    with Client(AGENT, store="memory:", transport=Odd()) as client:
        with pytest.raises(TypeError, match="a transport must return Response or Failure"):
            client.check(ORIGIN)
        assert client.stats == Stats()


# --- The fields of a page -------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_has_its_fields_as_a_mapping(kind: str) -> None:
    server = Server()
    lines = [("Content-Type", "text/html"), ("X-Robots-Tag", "noindex"), ("x-robots-tag", "a: b")]
    server.answers[f"{ORIGIN}/a"] = Response(200, lines, b"")
    with opened(kind, server, Clock()) as client:
        page = client.fetch(f"{ORIGIN}/a")
        missing = client.fetch("mailto:a@example.com")
    headers = page.headers
    assert headers["content-type"] == headers["Content-Type"] == "text/html"
    assert headers["X-Robots-Tag"] == "noindex, a: b"
    assert headers.get_list("x-robots-TAG") == ["noindex", "a: b"]
    assert headers.get("Nothing") is None
    assert "CONTENT-TYPE" in headers
    assert 5 not in headers
    assert list(headers) == ["content-type", "x-robots-tag"]
    assert len(headers) == 2
    assert dict(headers) == {"content-type": "text/html", "x-robots-tag": "noindex, a: b"}
    with pytest.raises(KeyError, match="Nothing"):
        headers["Nothing"]
    assert dict(missing.headers) == {}


def test_fields_keep_their_lines_and_octets() -> None:
    """What reads fields takes them as they came, and not as they look joined."""
    fields = read_fields(
        [(b"X-Robots-Tag", b"noindex"), (b"X-Robots-Tag", b"a: b"), (b"X", b"\xfc")]
    )
    headers = Headers(fields)
    assert headers["x"] == "\xfc"
    assert headers.multi_items() == [
        ("x-robots-tag", "noindex"),
        ("x-robots-tag", "a: b"),
        ("x", "\xfc"),
    ]
    assert read_fields(headers) == fields
    assert repr(headers).startswith("Headers([('x-robots-tag', 'noindex')")


def test_events_as_json() -> None:
    """Every key; a failure is a word."""
    meter = MetricsCollector()
    request = Request("https://example.com/robots.txt")
    event = meter.record("page", request, Failure(FailureReason.DNS, "no address"), monotonic())
    values = event.as_dict()
    assert 0 <= values.pop("seconds") < 5
    assert values == {
        "kind": "page",
        "url": request.url,
        "status": None,
        "failure_reason": "dns",
        "detail": "no address",
        "octets": 0,
        "address": None,
    }
    assert type(values["failure_reason"]) is str
    event = meter.record("robots.txt", request, Response(200, {}, b"abc", True, "x"), monotonic())
    assert event.as_dict() | {"seconds": 0} == {
        "kind": "robots.txt",
        "url": request.url,
        "status": 200,
        "failure_reason": None,
        "detail": "",
        "octets": 3,
        "seconds": 0,
        "address": "x",
    }
    stats = meter.stats()
    assert (stats.requests, stats.robots, stats.pages, stats.octets) == (2, 1, 1, 3)
    assert (stats.statuses, stats.failures) == ({200: 1}, {"dns": 1})
    assert 0 <= stats.seconds < 5
    again = meter.record("page", request, Failure(FailureReason.DNS, ""), monotonic() - 100)
    assert 100 <= again.seconds < 105
    meter.record("page", request, Response(200), monotonic())
    meter.record("page", request, Response(104), monotonic())
    meter.record("page", request, Failure(FailureReason.CONNECT, ""), monotonic())
    counted = meter.stats().as_dict()
    assert list(counted) == [*Stats._fields]
    assert (counted["statuses"], counted["failures"]) == (
        {"104": 1, "200": 2},
        {"connect": 1, "dns": 2},
    )
    assert [*counted["statuses"], *counted["failures"]] == ["104", "200", "connect", "dns"]
