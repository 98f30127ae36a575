"""requests: the contract, and what is specific to its adapter."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import requests
from requests.adapters import HTTPAdapter
from requests.auth import HTTPDigestAuth

from robotrules import Client, CrawlerError, DisallowedError, Reason
from robotrules.integrations.requests import RequestsDisallowedError, RobotsAdapter
from tests.integrations.contract import ALL_BUT_PRIVATE, USER_AGENT, Outcome, client_options
from tests.integrations.loopback_site import LOOPBACK, Answer, LoopbackSite
from tests.integrations.session_contracts import Credentials, Fetch, ThreadSessions


@contextmanager
def opened(wrapped: Any = None, **options: Any) -> Iterator[requests.Session]:
    """Open a session with the adapter."""
    with requests.Session() as session:
        RobotsAdapter(USER_AGENT, wrapped, **client_options(**options)).mount(session)
        yield session


class TestRequests(ThreadSessions):
    """`requests.Session`."""

    timeout_error = requests.Timeout

    @contextmanager
    def session(self, credentials: Credentials | None = None, **options: Any) -> Iterator[Fetch]:
        """Open a session."""
        with opened(HTTPAdapter(pool_maxsize=20), **options) as session:
            session.auth = HTTPDigestAuth(*credentials) if credentials else None

            def fetch(url: str, timeout: float = 10.0) -> Outcome:
                try:
                    return Outcome(session.get(url, timeout=timeout).status_code)
                except requests.RequestException as error:
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

    def test_none(self, site: LoopbackSite) -> None:
        """A session without one does not send that of urllib3."""
        with opened() as session:
            session.headers["User-Agent"] = None  # type: ignore[assignment]
            session.get(site.url("/a"))
        assert [seen.headers["User-Agent"] for seen in site.seen] == [USER_AGENT] * 2

    @pytest.mark.parametrize("agent", ["my ExampleBot", b"my ExampleBot"])
    def test_kept(self, site: LoopbackSite, agent: Any) -> None:
        """One with the product token is sent as it is."""
        with opened() as session:
            session.get(site.url("/a"), headers={"User-Agent": agent})
        assert [seen.headers["User-Agent"] for seen in site.seen] == [USER_AGENT, "my ExampleBot"]

    def test_another_name(self, site: LoopbackSite) -> None:
        """Another name is rejected before anything is requested."""
        with opened() as session:
            session.headers["User-Agent"] = "Mozilla/5.0"
            with pytest.raises(CrawlerError, match="follows the rules for ExampleBot"):
                session.get(site.url("/a"))
        assert site.seen == []


class TestDisallowed:
    """What happens with a disallowed request."""

    @pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
    def test_error(self, site: LoopbackSite, method: str) -> None:
        """The error is one of the host and of robotrules, has the request, and is picklable."""
        url = site.url("/private/x").replace("http://", "http://user:secret@")
        with opened() as session, pytest.raises(requests.RequestException) as caught:
            session.request(method, url)
        error = caught.value
        assert isinstance(error, RequestsDisallowedError)
        assert error.request is not None
        assert (error.request.method, error.response) == (method, None)
        assert str(error) == f"{site.url('/private/x')}: {error.verdict}"
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), again.verdict) == (type(error), str(error), error.verdict)
        assert site.paths == []

    @pytest.mark.parametrize("stream", [False, True])
    def test_respond(self, site: LoopbackSite, stream: bool) -> None:
        """A response of status 403 has the verdict; nothing was requested."""
        with opened(on_disallowed="respond") as session:
            response: Any = session.get(site.url("/private"), stream=stream)
            assert (response.status_code, response.robotrules.reason) == (403, Reason.DISALLOW_RULE)
            assert response.text == f"{site.url('/private')}: {response.robotrules}\n"
            with pytest.raises(requests.HTTPError, match=r"Disallowed by robots\.txt"):
                response.raise_for_status()
            assert pickle.loads(pickle.dumps(response)).robotrules == response.robotrules
            response.close()
        assert site.paths == []

    def test_function(self, site: LoopbackSite) -> None:
        """A function returns the response."""

        def answer(request: requests.PreparedRequest, error: DisallowedError) -> requests.Response:
            assert isinstance(error, requests.RequestException)
            response = requests.Response()
            response.status_code, response.reason = 204, str(error.verdict.line)
            return response

        with opened(on_disallowed=answer) as session:
            response = session.get(site.url("/private"))
        assert (response.status_code, response.reason) == (204, "2")
        assert response.url == response.request.url == site.url("/private")

    def test_function_without_a_response(self, site: LoopbackSite) -> None:
        """A function that returns no response is reported, and can raise the error."""

        def answer(request: requests.PreparedRequest, error: DisallowedError) -> Any:
            raise error

        url = site.url("/private")
        match = r"returned None: return a requests\.Response, or raise"
        with (
            opened(on_disallowed=lambda request, error: None) as session,
            pytest.raises(TypeError, match=match),
        ):
            session.get(url)
        with (
            opened(on_disallowed=answer) as session,
            pytest.raises(RequestsDisallowedError) as caught,
        ):
            session.get(url)
        assert caught.value.request is not None
        assert site.paths == []


class TestCheckedUrl:
    """The URL that is checked is the one that is requested."""

    @pytest.mark.parametrize("name", ["shop.example", b"shop.example", f"{LOOPBACK}/a", ""])
    def test_another_host(self, site: LoopbackSite, name: Any) -> None:
        """A Host field that names another site is rejected before anything is requested."""
        with opened() as session:
            with pytest.raises(CrawlerError, match="rules are those of the URL's host"):
                session.get(site.url("/a"), headers={"Host": name})
            assert site.seen == []
            assert session.get(site.url("/a"), headers={"Host": f"{LOOPBACK}."}).status_code == 200

    def test_scheme_in_capitals(self, site: LoopbackSite) -> None:
        """A request that was changed after its preparation is checked too."""
        request = requests.Request("GET", site.url("/private")).prepare()
        request.url = site.url("/private").replace("http:", "HTTP:")
        with opened() as session, pytest.raises(RequestsDisallowedError):
            session.send(request)
        assert site.paths == []


class TestAdapters:
    """What is wrapped, and closing."""

    def test_mount(self, site: LoopbackSite) -> None:
        """An adapter is mounted for both schemes."""
        with requests.Session() as session:
            adapter = RobotsAdapter(USER_AGENT, store="memory:").mount(session)
            assert session.get_adapter("https://a.example/") is adapter
            assert session.get_adapter("http://a.example/") is adapter

    def test_errors_of_the_host(self) -> None:
        """An error of the wrapped adapter passes unchanged, and ends the slot."""
        with LoopbackSite() as site, opened() as session:
            session.headers["Connection"] = "close"
            assert session.get(site.url("/a")).status_code == 200
            site.close()
            for _ in range(2):
                with pytest.raises(requests.ConnectionError) as caught:
                    session.get(site.url("/a"))
                assert not isinstance(caught.value, DisallowedError)

    def test_retries_of_the_wrapped_adapter(self, site: LoopbackSite) -> None:
        """The options of an HTTPAdapter are used."""
        from urllib3.util import Retry

        site.answers["/busy"] = Answer(502)
        retries = Retry(2, status_forcelist=[502])
        with opened(HTTPAdapter(max_retries=retries)) as session:
            with pytest.raises(requests.exceptions.RetryError):
                session.get(site.url("/busy"))
            assert session.get(site.url("/a")).status_code == 200
        assert site.paths == ["/busy"] * 3 + ["/a"]

    def test_other_schemes(self) -> None:
        """Other schemes are for the wrapped adapter, unchanged."""

        class Files(HTTPAdapter):
            """Answers without a network."""

            def send(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> Any:
                """Return an empty response."""
                response = requests.Response()
                response.status_code = 200
                return response

        with opened() as session:
            session.mount("files://", RobotsAdapter(USER_AGENT, Files(), store="memory:"))
            assert session.get("files://a/b").status_code == 200

    def test_a_given_client_stays_open(self, site: LoopbackSite) -> None:
        """A client that is passed in is shared, and closed by the caller."""
        with Client(USER_AGENT, **client_options()) as robots:
            for path in ("/a", "/b"):
                with requests.Session() as session:
                    session.mount("http://", adapter := RobotsAdapter(robots))
                    assert adapter.client is robots
                    assert session.get(site.url(path)).status_code == 200
            assert robots.check(site.url("/c"))
        assert site.robots_requests == 1
