"""Pages are fetched if the rules allow it, and the rules are asked again at each redirect."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from robotrules import Reason
from robotrules.access import Failure, Request, Response, Trouble
from robotrules.client.pages import MOST_OCTETS
from robotrules.guide import TagsSeen
from tests.client.scripted import Clock, Server, opened

SITE, OTHER = "https://example.com", "https://other.example"
HTML = {"Content-Type": "text/html"}
Make = Callable[..., Any]


@pytest.fixture
def server() -> Server:
    server = Server()
    server.answers[f"{SITE}/robots.txt"] = Response(
        200, {}, b"User-agent: *\nDisallow: /private\nCrawl-delay: 5\n"
    )
    server.answers[f"{SITE}/page"] = Response(
        200, HTML, b'<!doctype html><meta name="robots" content="noindex"><p>x', True, "192.0.2.1"
    )
    server.answers[f"{SITE}/moved"] = Response(301, {"Location": "/page"})
    server.answers[f"{SITE}/away"] = Response(302, {"Location": f"{OTHER}/x"})
    server.answers[f"{OTHER}/x"] = Response(200, {"X-Robots-Tag": "nofollow"}, b"x")
    return server


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["sync", "async"])
def make(request: pytest.FixtureRequest, server: Server, clock: Clock) -> Iterator[Make]:
    with ExitStack() as stack:
        yield lambda **options: stack.enter_context(opened(request.param, server, clock, **options))


def test_a_page(make: Make) -> None:
    page = make().fetch(f"{SITE}/page")
    assert (page.status, page.ok, page.hops, page.address) == (200, True, (), "192.0.2.1")
    assert page.as_dict()["access"]["state"] == "success"


def test_disallowed_is_not_fetched(make: Make, server: Server) -> None:
    page = make().fetch(f"{SITE}/private")
    assert (page.status, page.ok, page.verdict.line) == (None, False, 2)
    assert server.urls == [f"{SITE}/robots.txt"]


def test_redirects_within_turns(make: Make, clock: Clock) -> None:
    begun = clock.now
    page = make().fetch(f"{SITE}/moved")
    assert (page.url, len(page.hops)) == (f"{SITE}/page", 1)
    assert clock.now == begun + 5


def test_rules_of_the_target_count(make: Make, server: Server) -> None:
    client = make()
    assert client.fetch(f"{SITE}/away").ok
    server.answers[f"{OTHER}/robots.txt"] = Response(200, {}, b"User-agent: *\nDisallow: /\n")
    client.refresh(OTHER)
    page = client.fetch(f"{SITE}/away")
    assert (page.url, page.verdict.allowed, page.status) == (f"{OTHER}/x", False, None)
    assert server.urls.count(f"{OTHER}/x") == 1


@pytest.mark.parametrize(
    ("answer", "trouble"),
    [
        (Response(301, {"Location": f"{SITE}/odd"}), Trouble.LOOP),
        (Response(301, {}), Trouble.LOCATION),
        (Response(301, {"Location": "ftp://example.com/"}), Trouble.LOCATION),
        (Failure(Trouble.TIMEOUT, "10 s"), Trouble.TIMEOUT),
    ],
)
def test_trouble(make: Make, server: Server, answer: Any, trouble: Trouble) -> None:
    server.answers[f"{SITE}/odd"] = answer
    page = make().fetch(f"{SITE}/odd")
    assert (page.trouble, page.ok) == (trouble, False)


def test_too_many_redirects(make: Make, server: Server) -> None:
    for n in range(30):
        server.answers[f"{OTHER}/{n}"] = Response(302, {"Location": f"/{n + 1}"})
    page = make().fetch(f"{OTHER}/0")
    assert (page.trouble, len(page.hops)) == (Trouble.REDIRECTS, 11)


def test_rules_are_asked_again_when_the_turn_comes(
    make: Make, server: Server, clock: Clock
) -> None:
    client = make()
    client.fetch(f"{SITE}/page")
    client.heed(SITE, 503, {"Retry-After": "86400"})
    server.answers[f"{SITE}/robots.txt"] = Response(200, {}, b"User-agent: *\nDisallow: /")
    page = client.fetch(f"{SITE}/page")
    assert (page.verdict.allowed, page.status, page.verdict.line) == (False, None, 2)
    assert server.urls.count(f"{SITE}/page") == 1


def test_why_a_robots_txt_keeps_a_page_away(make: Make, server: Server) -> None:
    server.answers[f"{SITE}/robots.txt"] = Failure(Trouble.DNS, "no address")
    page = make().fetch(f"{SITE}/page")
    assert (page.trouble, page.detail) == (Trouble.DNS, "robots.txt: no address")


def test_no_origin(make: Make) -> None:
    assert make().fetch("mailto:x").verdict.reason is Reason.NO_ORIGIN


def test_an_overloaded_page_puts_off_the_next_turn(
    make: Make, server: Server, clock: Clock
) -> None:
    server.answers[f"{SITE}/busy"] = Response(503, {"Retry-After": "100"})
    client, begun = make(), clock.now
    client.fetch(f"{SITE}/busy")
    client.fetch(f"{SITE}/page")
    assert clock.now == begun + 100


class TestGuidance:
    """One answer over all carriers, about the page as it is now."""

    def test_read(self, make: Make) -> None:
        found = make().guidance(f"{SITE}/page")
        assert (found.may_crawl, found.may_index, found.tags) == (True, False, TagsSeen.READ)

    def test_of_where_it_ended(self, make: Make) -> None:
        found = make().guidance(f"{SITE}/away", application="app")
        assert (found.url, found.may_follow) == (f"{OTHER}/x", False)
        assert found.verdict.reason is Reason.UNAVAILABLE

    def test_not_crawled(self, make: Make) -> None:
        found = make().guidance(f"{SITE}/private")
        assert (found.may_crawl, found.may_index, found.tags) == (
            False,
            None,
            TagsSeen.NOT_CRAWLED,
        )

    def test_unreachable(self, make: Make, server: Server) -> None:
        server.answers[f"{SITE}/robots.txt"] = Response(500)
        found = make().guidance(f"{SITE}/page")
        assert found.verdict.reason is Reason.UNREACHABLE
        assert found.may_index is None

    def test_an_error_page_says_nothing(self, make: Make, server: Server) -> None:
        server.answers[f"{SITE}/gone"] = Response(410, {"X-Robots-Tag": "noindex"})
        assert make().guidance(f"{SITE}/gone").tags is TagsSeen.NOT_FETCHED

    def test_page_that_was_cut(self, make: Make, server: Server) -> None:
        """As much is fetched as is read of a page: whether more follows is known all the same."""
        style = b"<style>" + b"x" * MOST_OCTETS
        head = style + b"</style><meta name=robots content=noindex>"

        def answer(request: Request) -> Response:
            return Response(200, HTML, head[: request.limit], len(head) <= request.limit)

        server.answers[f"{SITE}/long"] = answer
        found = make().guidance(f"{SITE}/long")
        assert (found.tags, found.may_index) == (TagsSeen.PARTLY, None)
        server.answers[f"{SITE}/long"] = Response(200, HTML, head[:MOST_OCTETS])
        whole = make().guidance(f"{SITE}/long")
        assert (whole.tags, whole.may_index) == (TagsSeen.READ, True)

    def test_no_origin(self, make: Make) -> None:
        found = make().guidance("mailto:x")
        assert found.verdict.reason is Reason.NO_ORIGIN
