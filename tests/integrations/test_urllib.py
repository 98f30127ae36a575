"""urllib.request: the contract, and what is specific to its handler."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import (
    HTTPDigestAuthHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    build_opener,
)

import pytest

from robotrules import Client, CrawlerError, DisallowedError, Reason
from robotrules.integrations.urllib import RobotsHandler, UrllibDisallowedError, UrllibRefusal
from tests.integrations.contract import ALL_BUT_PRIVATE, USER_AGENT, Outcome, client_options
from tests.integrations.loopback_site import Answer, LoopbackSite
from tests.integrations.session_contracts import Credentials, Fetch, ThreadSessions


@contextmanager
def opened(*handlers: Any, **options: Any) -> Iterator[OpenerDirector]:
    """Make an opener with the handler."""
    with RobotsHandler(USER_AGENT, **client_options(**options)) as robots:
        yield build_opener(robots, *handlers)


class TestUrllib(ThreadSessions):
    """An opener of `urllib.request`."""

    timeout_error = TimeoutError

    @contextmanager
    def session(self, credentials: Credentials | None = None, **options: Any) -> Iterator[Fetch]:
        """Make an opener."""
        passwords: Any = SimpleNamespace(
            add_password=None, find_user_password=lambda realm, url: credentials or (None, None)
        )
        with opened(HTTPDigestAuthHandler(passwords), **options) as opener:

            def fetch(url: str, timeout: float = 10.0) -> Outcome:
                try:
                    with opener.open(url, timeout=timeout) as response:
                        return Outcome(response.status)
                except HTTPError as error:
                    with error:
                        return Outcome(error.code)
                except URLError as error:
                    if not isinstance(error, DisallowedError):
                        raise
                    return Outcome.of(error)

            yield fetch


@pytest.fixture
def site() -> Iterator[LoopbackSite]:
    """Serve a site."""
    with LoopbackSite(ALL_BUT_PRIVATE) as served:
        yield served


class TestUserAgent:
    """The User-Agent of requests."""

    def test_redirects(self, site: LoopbackSite) -> None:
        """It is sent at every hop."""
        site.answers["/1"] = Answer(302, headers=(("Location", "/2"),))
        with opened() as opener, opener.open(site.url("/1")):
            pass
        assert [seen.headers["User-Agent"] for seen in site.seen] == [USER_AGENT] * 3

    @pytest.mark.parametrize("in_request", [False, True])
    def test_kept(self, site: LoopbackSite, in_request: bool) -> None:
        """One with the product token is sent as it is."""
        request = Request(site.url("/a"))
        with opened() as opener:
            if in_request:
                request.add_header("User-Agent", "my ExampleBot")
            else:
                opener.addheaders = [("User-Agent", "my ExampleBot")]
            opener.open(request).close()
        assert [seen.headers["User-Agent"] for seen in site.seen] == [USER_AGENT, "my ExampleBot"]

    def test_another_name(self, site: LoopbackSite) -> None:
        """Another name is rejected before anything is requested."""
        request = Request(site.url("/a"), headers={"User-Agent": "Mozilla/5.0"})
        with opened() as opener, pytest.raises(CrawlerError, match="rules for ExampleBot"):
            opener.open(request)
        assert site.seen == []


class TestDisallowed:
    """What happens with a disallowed request."""

    @pytest.mark.parametrize("data", [None, b"x=1"])
    def test_error(self, site: LoopbackSite, data: bytes | None) -> None:
        """The error is one of the host and of robotrules, and picklable."""
        with opened() as opener, pytest.raises(URLError) as caught:
            opener.open(site.url("/private/x"), data)
        error = caught.value
        assert isinstance(error, UrllibDisallowedError)
        assert error.reason == str(error.verdict)
        assert str(error) == f"{site.url('/private/x')}: {error.verdict}"
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), again.verdict) == (type(error), str(error), error.verdict)
        assert again.reason == error.reason
        assert site.paths == []

    def test_respond(self, site: LoopbackSite) -> None:
        """An opener makes an HTTPError of the response with status 403."""
        match = r"403: Disallowed by robots\.txt"
        with (
            opened(on_disallowed="respond") as opener,
            pytest.raises(HTTPError, match=match) as caught,
        ):
            opener.open(site.url("/private"))
        with caught.value as error:
            verdict = error.robotrules
            assert verdict.reason is Reason.DISALLOW_RULE
            assert error.read().decode() == f"{site.url('/private')}: {verdict}\n"
        assert site.paths == []

    def test_function(self, site: LoopbackSite) -> None:
        """A function returns the response."""

        def answer(request: Request, error: DisallowedError) -> UrllibRefusal:
            assert isinstance(error, URLError)
            refusal = UrllibRefusal(error)
            refusal.code = 204
            return refusal

        with opened(on_disallowed=answer) as opener, opener.open(site.url("/private")) as response:
            assert response.status == 204

    def test_function_without_a_response(self, site: LoopbackSite) -> None:
        """None is reported, because the opener would send the request; the error can be raised."""

        def answer(request: Request, error: DisallowedError) -> Any:
            raise error

        match = r"returned None: return a urllib\.response\.addinfourl, or raise"
        with opened(on_disallowed=lambda request, error: None) as opener:
            for method in ("GET", "POST"):
                with pytest.raises(TypeError, match=match):
                    opener.open(Request(site.url("/private"), method=method))
        with opened(on_disallowed=answer) as opener, pytest.raises(UrllibDisallowedError):
            opener.open(site.url("/private"))
        assert site.paths == []

    def test_another_host(self, site: LoopbackSite) -> None:
        """A Host field that names another site is rejected before anything is requested."""
        with opened() as opener:
            for add in (Request.add_header, Request.add_unredirected_header):
                request = Request(site.url("/a"))
                add(request, "host", "shop.example")
                with pytest.raises(CrawlerError, match="rules are those of the URL's host"):
                    opener.open(request)
        assert site.seen == []


class TestOpeners:
    """Other handlers, and closing."""

    def test_proxies(self, site: LoopbackSite) -> None:
        """Through a proxy the rules are those of the URL, and not of the proxy."""
        with LoopbackSite() as proxy:
            handler = ProxyHandler({"http": proxy.origin})
            with opened(handler) as opener:
                opener.open(site.url("/a")).close()
                with pytest.raises(UrllibDisallowedError):
                    opener.open(site.url("/private"))
        assert (proxy.paths, site.paths) == ([site.url("/a")], [])

    def test_errors_of_the_host(self) -> None:
        """An error of the host passes unchanged, and ends the slot."""
        with LoopbackSite() as site, opened() as opener:
            opener.open(site.url("/a")).close()
            site.close()
            for _ in range(2):
                with pytest.raises(URLError) as caught:
                    opener.open(site.url("/a"))
                assert not isinstance(caught.value, DisallowedError)

    def test_other_schemes(self, tmp_path: Path) -> None:
        """Files and data are for the handlers of the host."""
        (tmp_path / "a.txt").write_text("a file")
        with opened() as opener:
            for url, body in (((tmp_path / "a.txt").as_uri(), b"a file"), ("data:,x", b"x")):
                with opener.open(url) as response:
                    assert response.read() == body

    def test_no_handler_follows(self, site: LoopbackSite) -> None:
        """Without a handler that connects, the opener returns None, as it does by itself."""
        opener = OpenerDirector()
        with RobotsHandler(USER_AGENT, **client_options()) as robots:
            opener.add_handler(robots)
            assert opener.open(site.url("/a")) is None

    def test_a_given_client_stays_open(self, site: LoopbackSite) -> None:
        """A client that is passed in is shared, and closed by the caller."""
        with Client(USER_AGENT, **client_options()) as robots:
            for path in ("/a", "/b"):
                with RobotsHandler(robots) as handler:
                    assert handler.client is robots
                    build_opener(handler).open(site.url(path)).close()
            assert robots.check(site.url("/c"))
        assert site.robots_requests == 1
