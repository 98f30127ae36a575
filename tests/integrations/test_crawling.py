"""What integrations of HTTP clients share: the client, the User-Agent, misuse, missing hosts."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from httpx import Request

from robotrules import AsyncClient, Client, CrawlerError
from robotrules.integrations import aiohttp, httpx, httpx2, requests, urllib
from robotrules.integrations.checked_urls import vet_host, without_userinfo
from robotrules.integrations.crawling import ClientBinding
from robotrules.integrations.sending import send_in_slot
from tests.integrations.contract import USER_AGENT

DEFAULT = "python-host/1.0"
INTEGRATIONS: list[Callable[..., Any]] = [
    *(httpx.RobotsTransport, httpx.AsyncRobotsTransport),
    *(httpx2.RobotsTransport, httpx2.AsyncRobotsTransport),
    *(aiohttp.RobotsMiddleware, requests.RobotsAdapter, urllib.RobotsHandler),
]


@pytest.fixture
def binding() -> Iterator[ClientBinding[Client]]:
    """Return a binding of a client of its own."""
    made = ClientBinding(USER_AGENT, Client, {"store": "memory:"}, DEFAULT)
    with made.client:
        yield made


class TestUserAgent:
    """The User-Agent of a request (RFC 9309 §2.2.1)."""

    @pytest.mark.parametrize("sent", [None, "", DEFAULT])
    def test_default(self, binding: ClientBinding[Client], sent: str | None) -> None:
        """The default of the host, or none, is replaced."""
        assert binding.choose_user_agent(sent) == USER_AGENT

    @pytest.mark.parametrize(
        "sent", [USER_AGENT, "Mozilla/5.0 (compatible; examplebot/2)", b"ExampleBot"]
    )
    def test_kept(self, binding: ClientBinding[Client], sent: str | bytes) -> None:
        """One with the product token is kept, in any case."""
        assert binding.choose_user_agent(sent) is None

    @pytest.mark.parametrize(
        "sent",
        ["Mozilla/5.0", b"Mozilla/5.0", "python-host/2.0", "NotExampleBot/1.0", "My-ExampleBot"],
    )
    def test_another_name(self, binding: ClientBinding[Client], sent: str | bytes) -> None:
        """Another name is rejected; the message says how to fix it."""
        with pytest.raises(CrawlerError, match=r"remove the header.*begin it with 'ExampleBot'"):
            binding.choose_user_agent(sent)

    def test_variants(self) -> None:
        """Of several product tokens each one is, or extends, a name that is sent."""
        options = {"store": "memory:", "product_token": ["ExampleBot-News", "ExampleBot"]}
        with (made := ClientBinding(USER_AGENT, Client, options, DEFAULT)).client:
            assert made.choose_user_agent("ExampleBot/2.0") is None
            with pytest.raises(CrawlerError, match="ExampleBot-News and ExampleBot"):
                made.choose_user_agent("OtherBot/1.0")


class TestMisuse:
    """Errors say how to fix them, and open nothing."""

    @pytest.mark.parametrize("integration", INTEGRATIONS)
    def test_robots(self, integration: Callable[..., Any]) -> None:
        """The first argument is a User-Agent or a client."""
        with pytest.raises(TypeError, match=r"pass a User-Agent such as .* or a robotrules\."):
            integration(None)
        with pytest.raises(
            TypeError, match=r"robots is missing or empty: pass a User-Agent such as"
        ):
            integration()
        with pytest.raises(TypeError, match="user_agent is the first argument"):
            integration(user_agent=USER_AGENT)

    @pytest.mark.parametrize("integration", INTEGRATIONS)
    def test_on_disallowed(self, integration: Callable[..., Any]) -> None:
        """An unknown policy is not ignored."""
        with pytest.raises(ValueError, match="on_disallowed is 'ignore': use 'raise'"):
            integration(USER_AGENT, on_disallowed="ignore")

    @pytest.mark.parametrize("integration", INTEGRATIONS)
    def test_options_of_a_client(self, integration: Callable[..., Any]) -> None:
        """Options cannot be combined with a client: they would have no effect."""
        client, other = (
            Client(USER_AGENT, store="memory:"),
            AsyncClient(USER_AGENT, store="memory:"),
        )
        with client:
            mine = client if "Async" not in integration.__name__ else other
            mine = other if integration is aiohttp.RobotsMiddleware else mine
            with pytest.raises(TypeError, match="min_delay: cannot be combined with a client"):
                integration(mine, min_delay=2)
            twin = "Async" if mine is client else ""
            match = rf"a robotrules\.{twin}Client: .*or a robotrules\."
            if "Transport" in integration.__name__:
                match = rf"Client: use {twin}RobotsTransport for it, or pass a User-Agent"
            with pytest.raises(TypeError, match=match):
                integration(client if mine is other else other)

    @pytest.mark.parametrize("integration", INTEGRATIONS)
    def test_unknown_option(self, integration: Callable[..., Any]) -> None:
        """An option that the client does not have is named, with the closest one."""
        with pytest.raises(TypeError, match=r"unknown option 'mindelay'.* mean 'min_delay'"):
            integration(USER_AGENT, mindelay=1)
        with pytest.raises(TypeError, match=r"unknown option 'qqq'.*; use access, addresses, "):
            integration(USER_AGENT, qqq=1)

    @pytest.mark.parametrize("integration", INTEGRATIONS)
    def test_user_agent(self, integration: Callable[..., Any]) -> None:
        """The client rejects a User-Agent without a product token."""
        with pytest.raises(CrawlerError, match="no product token"):
            integration("(+https://example.com)", store="memory:")

    @pytest.mark.parametrize("integration", [*INTEGRATIONS[:4], requests.RobotsAdapter])
    @pytest.mark.parametrize("wrapped", [object(), "http://proxy.example", dict])
    def test_wrapped(self, integration: Callable[..., Any], wrapped: object) -> None:
        """What is wrapped has to send requests."""
        with pytest.raises(TypeError, match="pass an object such as"):
            integration(USER_AGENT, wrapped)

    @pytest.mark.parametrize(
        ("integration", "option", "name"),
        [
            (httpx.RobotsTransport, "verify", "HTTPTransport"),
            (httpx2.AsyncRobotsTransport, "http2", "AsyncHTTPTransport"),
            (requests.RobotsAdapter, "max_retries", "HTTPAdapter"),
        ],
    )
    def test_options_of_what_is_wrapped(
        self, integration: Callable[..., Any], option: str, name: str
    ) -> None:
        """An option of the wrapped object is for its constructor."""
        match = rf"'{option}' is an option of {name}: pass {name}\({option}=…\) as the second"
        with pytest.raises(TypeError, match=match):
            integration(USER_AGENT, **{option: 1})

    def test_respond_in_aiohttp(self) -> None:
        """A response of aiohttp cannot be constructed."""
        with pytest.raises(ValueError, match="use 'raise', or a function"):
            aiohttp.RobotsMiddleware(USER_AGENT, on_disallowed="respond")  # type: ignore[arg-type]


@pytest.mark.parametrize("host", ["httpx", "httpx2", "aiohttp", "requests"])
def test_missing_host(host: str) -> None:
    """Without its host an integration says which extra to install."""
    code = f"import sys; sys.modules[{host!r}] = None\nimport robotrules.integrations.{host}"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "MissingExtraError: " in ran.stderr
    assert f"is not installed: pip install 'robotrules[{host}]'" in ran.stderr


def test_userinfo() -> None:
    """Passwords do not get into errors; an @ of a path stays."""
    assert without_userinfo("http://u:p@a.example/x@y") == "http://a.example/x@y"
    assert without_userinfo("http://u:p@@a.example/") == "http://a.example/"
    assert without_userinfo("http://a.example/x@y") == "http://a.example/x@y"
    assert without_userinfo("http://a.example?http://x@y") == "http://a.example?http://x@y"


class TestHost:
    """The Host field, and the URL whose rules are followed (RFC 9309 §2.3)."""

    @pytest.mark.parametrize(
        "field",
        [
            None,
            "a.example",
            b"a.example",
            "A.Example",
            "a.example:443",
            "a.example.",
            "u:p@a.example",
        ],
    )
    def test_the_same_host(self, field: str | bytes | None) -> None:
        """Spellings of the URL's host, with any port, are accepted."""
        for path in ("/x", "", "?x"):
            vet_host(f"http://a.example{path}", field)

    @pytest.mark.parametrize(
        "field",
        [
            "b.example",
            "",
            "a.example/",
            "a.example, b.example",
            "a.example b",
            "a",
            "a.exampl",
            "[::1]",
            b"\xff",
        ],
    )
    @pytest.mark.parametrize("path", ["/x", "", "?x"])
    def test_another_host(self, field: str | bytes, path: str) -> None:
        """Other hosts, and what is no host, are rejected; the message says how to fix it."""
        with pytest.raises(CrawlerError, match="Request the URL of the other host, or remove"):
            vet_host(f"http://a.example{path}", field)

    def test_addresses(self) -> None:
        """The colons of an address are not those of a port."""
        vet_host("http://[::1]:80/", "[0:0::1]:8000")
        with pytest.raises(CrawlerError):
            vet_host("http://[::1]/", "[::2]")

    def test_a_password_is_not_reported(self) -> None:
        """The field may have the userinfo of the URL."""
        with pytest.raises(CrawlerError) as caught:
            vet_host("http://a.example/", "user:secret@b.example")
        assert "secret" not in str(caught.value)


def send_function(client: Client, response: Any) -> None:
    """Send a request as requests and urllib do."""
    send_in_slot(client, "http://127.0.0.1:9/", "status_code", lambda: response)


def send_transport(client: Client, response: Any) -> None:
    """Send a request as httpx does."""
    transport = SimpleNamespace(handle_request=lambda _: response)
    request = Request("GET", "http://127.0.0.1:9/", headers={"User-Agent": USER_AGENT})
    httpx.RobotsTransport(client, transport).handle_request(request)


@pytest.mark.parametrize("send", [send_function, send_transport])
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_interrupted_while_the_slot_ends(
    send: Callable[[Client, Any], None], error: type[BaseException]
) -> None:
    """A response that no caller gets is closed."""
    closed = []

    class Response:
        """An open response."""

        status_code, headers = 200, None

        def close(self) -> None:
            """Record it."""
            closed.append(True)

    class FailingClient(Client):
        """A client whose slots fail when they end, as with a store that is gone."""

        def checked_slot(self, *arguments: Any, **options: Any) -> Any:
            return self.fail(super().slot("http://127.0.0.1:9/"))

        @contextmanager
        def fail(self, context: Any) -> Iterator[Any]:
            """Fail after the slot has ended."""
            with context as slot:
                yield slot
            raise error

    with (
        FailingClient(USER_AGENT, store="memory:", min_delay=0) as client,
        pytest.raises(error),
    ):
        send(client, Response())
    assert closed == [True]
