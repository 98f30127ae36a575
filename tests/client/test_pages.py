"""Pages are fetched if the rules allow it, and the rules are checked again at each redirect."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from robotrules import Reason
from robotrules.access import Failure, FailureReason, Request, Response
from robotrules.client import pages
from robotrules.client.pages import (
    MAX_BYTES,
    FetchResult,
    LookUpState,
    PageResponse,
    SendInSlot,
    fetch_page,
    make_guidance,
)
from robotrules.guide import TagsSeen, guidance
from robotrules.http.fields import read_fields
from robotrules.registries import SHIPPED
from robotrules.robotstxt import parse
from tests.client.histories import file
from tests.client.scripted import Clock, Server
from tests.client.test_origin_state import having

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


def test_a_page(make: Make) -> None:
    page = make().fetch(f"{SITE}/page")
    assert (page.status, page.ok, page.hops, page.address) == (200, True, (), "192.0.2.1")
    assert page.as_dict()["access"]["state"] == "success"


def test_disallowed_is_not_fetched(make: Make, server: Server) -> None:
    page = make().fetch(f"{SITE}/private")
    assert (page.status, page.ok, page.verdict.line) == (None, False, 2)
    assert server.urls == [f"{SITE}/robots.txt"]


def test_redirects_within_slots(make: Make, clock: Clock) -> None:
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
    assert [hop.url for hop in page.hops] == [f"{SITE}/away"]
    assert server.urls.count(f"{OTHER}/x") == 1


@pytest.mark.parametrize(
    ("answer", "trouble"),
    [
        (Response(301, {"Location": f"{SITE}/odd"}), FailureReason.LOOP),
        (Response(301, {}), FailureReason.LOCATION),
        (Response(301, {"Location": "ftp://example.com/"}), FailureReason.LOCATION),
        (Failure(FailureReason.TIMEOUT, "10 s"), FailureReason.TIMEOUT),
    ],
)
def test_failures(make: Make, server: Server, answer: Any, trouble: FailureReason) -> None:
    server.answers[f"{SITE}/odd"] = answer
    page = make().fetch(f"{SITE}/odd")
    assert (page.failure_reason, page.ok) == (trouble, False)
    assert page.detail == ("10 s" if trouble is FailureReason.TIMEOUT else trouble.sentence)


def test_too_many_redirects(make: Make, server: Server) -> None:
    for n in range(30):
        server.answers[f"{OTHER}/{n}"] = Response(302, {"Location": f"/{n + 1}"})
    page = make().fetch(f"{OTHER}/0")
    assert (page.failure_reason, len(page.hops)) == (FailureReason.REDIRECTS, 11)


def test_rules_are_checked_again_when_the_slot_begins(
    make: Make, server: Server, clock: Clock
) -> None:
    client = make()
    client.fetch(f"{SITE}/page")
    client.record_response(SITE, 503, {"Retry-After": "86400"})
    server.answers[f"{SITE}/robots.txt"] = Response(200, {}, b"User-agent: *\nDisallow: /")
    page = client.fetch(f"{SITE}/page")
    assert (page.verdict.allowed, page.status, page.verdict.line) == (False, None, 2)
    assert server.urls.count(f"{SITE}/page") == 1


def test_why_a_robots_txt_keeps_a_page_away(make: Make, server: Server) -> None:
    server.answers[f"{SITE}/robots.txt"] = Failure(FailureReason.DNS, "no address")
    page = make().fetch(f"{SITE}/page")
    assert (page.failure_reason, page.detail) == (FailureReason.DNS, "robots.txt: no address")


def test_a_copy_that_keeps_a_page_away(make: Make, server: Server, clock: Clock) -> None:
    """Where an old copy decides, a rule of it is the reason, and not that it is old."""
    client = make(profile="stale")
    client.check(SITE)
    clock.now += 86_401
    server.answers[f"{SITE}/robots.txt"] = Failure(FailureReason.DNS, "no address")
    page = client.fetch(f"{SITE}/private")
    assert (page.verdict.reason, page.failure_reason, page.detail) == (
        Reason.DISALLOW_RULE,
        None,
        "",
    )


def test_no_origin(make: Make) -> None:
    page = make().fetch("mailto:x")
    assert (page.verdict.allowed, page.verdict.reason) == (False, Reason.NO_ORIGIN)
    assert (page.url, page.origin_state, page.hops) == ("mailto:x", None, ())


def test_rules_that_change_while_a_request_waits() -> None:
    """The page is not requested; its redirects so far are reported."""
    before = having(file("/x"))._replace(robots=parse(b"User-agent: *\nDisallow: /x\n"))
    after = before._replace(robots=parse(b"User-agent-purpose: P\nDisallow: /b\n"))
    url = f"{SITE}/a"
    flow = fetch_page(url, "ExampleBot", ["P"], profile="default", limit=9, timeout=5.0)
    assert flow.send(None) == LookUpState(url)
    paced = flow.send(before)
    assert isinstance(paced, SendInSlot)
    assert (paced.request, paced.state) == (Request(url, (), 9, 5.0), before)
    assert (paced.allows(before), paced.allows(after)) == (True, True)
    moved = Response(301, {"Location": "/b"})
    assert flow.send(PageResponse(moved, 1.0, before)) == LookUpState(f"{SITE}/b")
    paced = flow.send(before)
    assert isinstance(paced, SendInSlot)
    assert (paced.allows(before), paced.allows(after)) == (True, False)
    with pytest.raises(StopIteration) as ended:
        flow.send(PageResponse(None, 2.0, after))
    page = ended.value.value
    assert (page.url, page.verdict.allowed, page.origin_state) == (f"{SITE}/b", False, after)
    assert [hop.url for hop in page.hops] == [url]


@pytest.mark.parametrize(("status", "html"), [(200, True), (200, False), (404, True), (404, False)])
def test_what_guidance_is_made_of(status: int, html: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of an answer, if it is one; of an error page nothing."""
    given: dict[str, Any] = {}

    def making(*args: Any, **options: Any) -> Any:
        given.update(options, args=args)
        return guidance(*args, **options)

    monkeypatch.setattr(pages, "guidance", making)
    found = having(file("/x"))
    verdict = found.check(f"{SITE}/a", "ExampleBot")
    fields = read_fields({"X-Robots-Tag": "noindex"})
    page = FetchResult(f"{SITE}/a", verdict, found, status, fields, b"<p>", at=100.5)
    registries = SHIPPED
    made = make_guidance(
        *(page, "ExampleBot", ["P"]),
        application="search",
        profile="google",
        registries=registries,
        html=html,
    )
    is_page = status == 200
    assert made.verdict is verdict
    assert given == {
        "args": (f"{SITE}/a", "ExampleBot"),
        "robots": found.robots,
        "headers": fields if is_page else None,
        "html": b"<p>" if is_page and html else None,
        "complete": html or not is_page,
        "purposes": ["P"],
        "application": "search",
        "profile": "google",
        "received": datetime.fromtimestamp(100.5, UTC) if is_page else None,
        "registries": registries,
    }


def test_an_overloaded_page_postpones_the_next_slot(
    make: Make, server: Server, clock: Clock
) -> None:
    server.answers[f"{SITE}/busy"] = Response(503, {"Retry-After": "100"})
    client, begun = make(), clock.now
    client.fetch(f"{SITE}/busy")
    client.fetch(f"{SITE}/page")
    assert clock.now == begun + 100


class TestToTheValue:
    """Every part of the result, and of the request."""

    def test_json(self, make: Make) -> None:
        page = make().fetch(f"{SITE}/moved")
        values = page.as_dict()
        assert values.pop("access")["origin"] == SITE
        assert values.pop("verdict")["allowed"] is True
        assert values == {
            "url": f"{SITE}/page",
            "status": 200,
            "fields": [{"name": "content-type", "value": "text/html"}],
            "octets": len(page.body),
            "complete": True,
            "hops": [{"url": f"{SITE}/moved", "status": 301, "location": "/page"}],
            "failure_reason": None,
            "detail": "",
            "address": "192.0.2.1",
        }

    def test_json_of_a_failure(self, make: Make, server: Server) -> None:
        server.answers[f"{SITE}/odd"] = Failure(FailureReason.TIMEOUT, "10 s")
        values = make().fetch(f"{SITE}/odd").as_dict()
        assert (values["failure_reason"], values["detail"], values["status"]) == (
            "timeout",
            "10 s",
            None,
        )
        assert make().fetch("mailto:x").as_dict()["access"] is None

    def test_the_request(self, make: Make, server: Server) -> None:
        """The limit of the call, and the seconds of the client."""
        client = make(timeout=7.0)
        client.fetch(f"{SITE}/page", limit=99)
        client.fetch(f"{SITE}/page")
        *_, first, second = server.asked
        assert (first.limit, first.timeout) == (99, 7.0)
        assert (second.limit, second.timeout) == (2 * 1024 * 1024, 7.0)

    def test_when_it_came(self, make: Make, clock: Clock) -> None:
        client, begun = make(), clock.now
        assert client.fetch(f"{SITE}/page").at == begun
        assert client.fetch(f"{SITE}/page").at == begun + 5
        assert client.fetch(f"{SITE}/private").at == 0.0

    @pytest.mark.parametrize("profile", ["default", "strict"])
    def test_no_origin_has_a_profile(self, make: Make, profile: str) -> None:
        assert make(profile=profile).fetch("mailto:x").verdict.profile == profile

    def test_a_longer_loop(self, make: Make, server: Server) -> None:
        """A redirect to any page requested before ends it, and all hops are reported."""
        for here, there in (("a", "b"), ("b", "c"), ("c", "b")):
            server.answers[f"{OTHER}/{here}"] = Response(302, {"Location": f"/{there}"})
        page = make().fetch(f"{OTHER}/a")
        assert (page.failure_reason, page.url) == (FailureReason.LOOP, f"{OTHER}/c")
        assert [(hop.url, hop.location) for hop in page.hops] == [
            *((f"{OTHER}/a", "/b"), (f"{OTHER}/b", "/c"), (f"{OTHER}/c", "/b")),
        ]

    def test_purposes(self, make: Make, server: Server) -> None:
        """They count for the requests, and for the verdict on them."""
        server.answers[f"{SITE}/robots.txt"] = Response(
            200,
            {},
            b"User-agent-purpose: EXAMPLE-1\nAllow: /page\nDisallow: /\n\n"
            b"User-agent: *\nDisallow: /page\n",
        )
        client = make()
        asked = {"product_token": "OtherBot", "purposes": ["EXAMPLE-1"]}
        page = client.fetch(f"{SITE}/page", **asked)
        assert (page.status, page.verdict.allowed, page.verdict.line) == (200, True, 2)
        page = client.fetch(f"{SITE}/other", **asked)
        assert (page.status, page.verdict.allowed, page.verdict.line) == (None, False, 3)
        page = client.fetch(f"{SITE}/page", product_token="OtherBot")
        assert (page.status, page.verdict.line) == (None, 6)


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

    def test_an_error_page_is_not_evaluated(self, make: Make, server: Server) -> None:
        server.answers[f"{SITE}/gone"] = Response(410, {"X-Robots-Tag": "noindex"})
        assert make().guidance(f"{SITE}/gone").tags is TagsSeen.NOT_FETCHED

    def test_page_that_was_cut(self, make: Make, server: Server) -> None:
        """As much is fetched as is read of a page: whether more follows is known all the same."""
        style = b"<style>" + b"x" * MAX_BYTES
        head = style + b"</style><meta name=robots content=noindex>"

        def answer(request: Request) -> Response:
            return Response(200, HTML, head[: request.limit], len(head) <= request.limit)

        server.answers[f"{SITE}/long"] = answer
        found = make().guidance(f"{SITE}/long")
        assert (found.tags, found.may_index) == (TagsSeen.PARTLY, None)
        server.answers[f"{SITE}/long"] = Response(200, HTML, head[:MAX_BYTES])
        whole = make().guidance(f"{SITE}/long")
        assert (whole.tags, whole.may_index) == (TagsSeen.READ, True)

    def test_no_origin(self, make: Make) -> None:
        found = make().guidance("mailto:x")
        assert found.verdict.reason is Reason.NO_ORIGIN
