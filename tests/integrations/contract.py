"""
The contract of client integrations: what each of them does, on real sockets.

A test class of an integration subclasses `IntegrationContract` and implements `crawl()` and
`abandon()` with its host. The tests are the same for all: which pages are requested, which are not
and why, how far apart, and how often robots.txt is fetched.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import pytest

from robotrules import DisallowedError, Reason
from tests.integrations.loopback_site import (
    LATENESS,
    LOOPBACK,
    PRIVATE,
    Answer,
    LoopbackSite,
    resolve_localhost_names,
)

USER_AGENT = "ExampleBot/1.0 (+https://example.com/bot)"
ALL_BUT_PRIVATE = "User-agent: ExampleBot\nDisallow: /private\n"


class Outcome(NamedTuple):
    """What came of a request; a redirect that is followed ends in the outcome of its target."""

    status: int | None = None
    """The status of the page; None: there is none."""
    url: str = ""
    """The URL that was not requested."""
    reason: Reason | None = None
    """Why it was not; None if it was requested."""
    detail: str = ""
    """Why the robots.txt is unreachable, if the error of the host says it."""

    @classmethod
    def of(cls, error: DisallowedError) -> Outcome:
        """Return the outcome of a request that raised an error."""
        return cls(None, error.url, error.verdict.reason, error.detail)


def client_options(**options: Any) -> dict[str, Any]:
    """Return the options of a robotrules client for the tests."""
    defaults = {"store": "memory:", "min_delay": 0.0, "timeout": 5.0, "allow_private": [LOOPBACK]}
    return defaults | options


class IntegrationContract:
    """The tests; a subclass implements `crawl()` and `abandon()`."""

    # Whether the integration waits for a slot of robotrules. A host with its own queue, such as
    # Scrapy, passes delays on to it: how many requests are in progress is the host's setting.
    has_slots = True
    # Whether a disallowed URL is an error with a detail; crawlee reports URLs that it skips.
    has_details = True

    def crawl(self, urls: Sequence[str], *, tasks: int = 1, **options: Any) -> list[Outcome]:
        """
        Request *urls* through one session of the host, *tasks* at a time, and follow redirects.

        *options* are those of the robotrules client, over `client_options()`.
        """
        raise NotImplementedError

    def abandon(self, slow: str, then: str, after: float) -> Outcome:
        """Request *slow*, cancel it after some seconds, and return what comes of *then*."""
        raise NotImplementedError

    @pytest.fixture
    def sites(self) -> Iterator[ExitStack]:
        """Keep the sites of a test open, and resolve the names of loopback."""
        with ExitStack() as stack:
            stack.enter_context(resolve_localhost_names())
            yield stack

    def test_disallowed_pages_are_not_requested(self, sites: ExitStack) -> None:
        """A page that the rules disallow is not requested; others are (§2.2.2)."""
        site = sites.enter_context(LoopbackSite(ALL_BUT_PRIVATE))
        urls = [site.url("/a"), site.url("/private/x"), site.url("/b")]
        first, second, third = self.crawl(urls)
        assert (first.status, third.status) == (200, 200)
        assert second == Outcome(None, site.url("/private/x"), Reason.DISALLOW_RULE)
        assert sorted(site.paths) == ["/a", "/b"]
        assert site.robots_requests == 1

    def test_the_crawler_sends_its_name(self, sites: ExitStack) -> None:
        """Pages and robots.txt are requested under the name whose rules apply (§2.2.1)."""
        site = sites.enter_context(LoopbackSite(ALL_BUT_PRIVATE))
        self.crawl([site.url("/a")])
        agents = {request.headers.get("User-Agent") for request in site.seen}
        assert len(site.seen) == 2
        assert agents == {USER_AGENT}

    def test_404(self, sites: ExitStack) -> None:
        """Without a robots.txt everything is allowed (§2.3.1.3)."""
        site = sites.enter_context(LoopbackSite())
        assert self.crawl([site.url("/private")]) == [Outcome(200)]

    def test_503(self, sites: ExitStack) -> None:
        """If the robots.txt is unreachable, everything is disallowed (§2.3.1.4)."""
        site = sites.enter_context(LoopbackSite(Answer(503)))
        (outcome,) = self.crawl([site.url("/a")])
        assert outcome[:3] == (None, site.url("/a"), Reason.UNREACHABLE)
        if self.has_details:
            time = r"(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d UTC"
            times = f"status 503; last attempt {time}, next attempt after {time}"
            assert re.fullmatch(times, outcome.detail)
        else:
            assert outcome.detail == ""
        assert site.paths == []

    def test_timeout(self, sites: ExitStack) -> None:
        """A robots.txt that does not arrive in time is unreachable (§2.3.1.4)."""
        site = sites.enter_context(LoopbackSite(Answer(delay=1.5)))
        (outcome,) = self.crawl([site.url("/a")], timeout=0.5)
        assert outcome[:3] == (None, site.url("/a"), Reason.UNREACHABLE)
        assert site.paths == []

    def test_redirect_to_another_origin(self, sites: ExitStack) -> None:
        """The target of a redirect is checked by the rules of its origin (§2.3)."""
        site = sites.enter_context(LoopbackSite(ALL_BUT_PRIVATE))
        other = sites.enter_context(LoopbackSite("User-agent: *\nDisallow: /closed\n"))
        for path, target in (("/1", "/open"), ("/2", "/closed")):
            site.answers[path] = Answer(302, headers=(("Location", other.url(target)),))
        followed, stopped = self.crawl([site.url("/1"), site.url("/2")])
        assert followed.status == 200
        assert stopped == Outcome(None, other.url("/closed"), Reason.DISALLOW_RULE)
        assert other.paths == ["/open"]

    def test_redirect_into_a_private_address(self, sites: ExitStack) -> None:
        """A private address that is not listed is not connected to, from a page or robots.txt."""
        inside = sites.enter_context(LoopbackSite(address=PRIVATE))
        site = sites.enter_context(LoopbackSite(ALL_BUT_PRIVATE))
        site.answers["/1"] = Answer(302, headers=(("Location", inside.url("/secret")),))
        moved = Answer(302, headers=(("Location", inside.url("/robots.txt")),))
        other = sites.enter_context(LoopbackSite(moved))
        stopped, unreachable = self.crawl([site.url("/1"), other.url("/a")])
        assert stopped[:3] == (None, inside.url("/secret"), Reason.UNREACHABLE)
        assert unreachable[:3] == (None, other.url("/a"), Reason.UNREACHABLE)
        assert (inside.seen, other.paths) == ([], [])

    def test_crawl_delay(self, sites: ExitStack) -> None:
        """Requests are at least Crawl-delay apart."""
        site = sites.enter_context(LoopbackSite("User-agent: *\nCrawl-delay: 0.4\nDisallow: /x\n"))
        self.crawl([site.url("/a"), site.url("/b"), site.url("/c")])
        assert smallest_gap(site.times("/a", "/b", "/c")) >= 0.4 - LATENESS

    def test_retry_after(self, sites: ExitStack) -> None:
        """A page that asks to come back later postpones the next request to its origin."""
        site = sites.enter_context(LoopbackSite(ALL_BUT_PRIVATE))
        site.answers["/busy"] = Answer(429, headers=(("Retry-After", "1"),))
        outcomes = self.crawl([site.url("/busy"), site.url("/a")])
        assert [outcome.status for outcome in outcomes] == [429, 200]
        assert smallest_gap(site.times("/busy", "/a")) >= 1.0 - LATENESS

    def test_two_origins_on_one_host(self, sites: ExitStack) -> None:
        """Each origin has its own robots.txt (§2.3): the port is part of it."""
        site = sites.enter_context(LoopbackSite("User-agent: *\nDisallow: /a\n"))
        other = sites.enter_context(LoopbackSite("User-agent: *\nDisallow: /b\n"))
        urls = [origin.url(path) for origin in (site, other) for path in ("/a", "/b")]
        outcomes = self.crawl(urls)
        assert [outcome.status for outcome in outcomes] == [None, 200, 200, None]
        assert (site.paths, other.paths) == (["/b"], ["/a"])

    def test_international_names(self, sites: ExitStack) -> None:
        """A name with non-ASCII characters, and a path that is compared in encoded form."""
        site = sites.enter_context(LoopbackSite("User-agent: *\nDisallow: /stra%C3%9Fe\n"))
        host = "bücher.localhost"
        urls = [site.url("/straße/1", host), site.url("/weg", host)]
        disallowed, allowed = self.crawl(urls)
        assert (disallowed.status, disallowed.reason) == (None, Reason.DISALLOW_RULE)
        assert allowed.status == 200
        assert site.paths == ["/weg"]
        hosts = {request.headers.get("Host") for request in site.seen}
        assert hosts == {f"xn--bcher-kva.localhost:{site.port}"}

    def test_large_file(self, sites: ExitStack) -> None:
        """Of 600 KiB the first 500 KiB count (§2.5)."""
        padding = f"# {'x' * 97}\n" * 6144
        text = f"User-agent: *\nDisallow: /early\n{padding}Disallow: /late\n"
        assert len(text) > 600 * 1024
        site = sites.enter_context(LoopbackSite(text))
        early, late = self.crawl([site.url("/early"), site.url("/late")])
        assert (early.reason, late.status) == (Reason.DISALLOW_RULE, 200)

    def test_cancelled_request(self, sites: ExitStack) -> None:
        """A request that is cancelled ends its slot: the next one does not wait for it."""
        site = sites.enter_context(LoopbackSite(ALL_BUT_PRIVATE))
        site.answers["/slow"] = Answer(delay=3.0)
        assert self.abandon(site.url("/slow"), site.url("/a"), 0.3) == Outcome(200)
        began, ended = site.times("/slow", "/a")
        assert ended - began < 2.5

    def test_twenty_tasks(self, sites: ExitStack) -> None:
        """Twenty tasks share a session: one robots.txt, one slot, every outcome right."""
        site = sites.enter_context(LoopbackSite(ALL_BUT_PRIVATE))
        urls = [site.url(f"/private/{n}" if n % 4 == 0 else f"/{n}") for n in range(40)]
        outcomes = self.crawl(urls, tasks=20)
        expected = [None if n % 4 == 0 else 200 for n in range(40)]
        assert [outcome.status for outcome in outcomes] == expected
        assert sorted(site.paths) == sorted(f"/{n}" for n in range(40) if n % 4)
        assert site.robots_requests == 1
        if self.has_slots:
            assert site.most_at_once == 1


def smallest_gap(times: list[float]) -> float:
    assert len(times) >= 2
    return min(later - earlier for earlier, later in itertools.pairwise(times))
