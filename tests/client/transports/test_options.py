"""Options of transports and of clients: a proxy, fields for every request, and what is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from robotrules import Reason
from robotrules.access import Failure, FailureReason, Request, Response
from robotrules.client import AddressPolicy, AsyncClient, Client
from robotrules.client.ssrf import PUBLIC
from robotrules.client.transports import open_async_transport, open_transport
from tests.client import fault_servers
from tests.client.scripted import AsyncServer, Server
from tests.client.transports.conftest import AGENT, KINDS, Carrier
from tests.client.transports.test_responses import fields_of

Make = Callable[..., Carrier]
CLIENTS = [Client, AsyncClient]


# --- Fields ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"From": "bot@example.com", "Accept-Language": "en"},
        [("From", "bot@example.com"), ("Accept-Language", "en")],
    ],
)
def test_fields_for_every_request(carrier: Make, headers: Any) -> None:
    with fault_servers.serve(fault_servers.ok) as site:
        one = carrier(headers=headers)
        for _ in range(2):
            one.send(Request(site.url, (("If-None-Match", '"a"'),)))
        for head in site.heads:
            fields = fields_of(head)
            assert fields["from"] == ["bot@example.com"]
            assert fields["accept-language"] == ["en"]
            assert fields["accept"] == ["*/*"]
            assert fields["if-none-match"] == ['"a"']


def test_a_field_of_a_request_goes_before_that_of_the_transport(carrier: Make) -> None:
    with fault_servers.serve(fault_servers.ok) as site:
        one = carrier(headers={"accept": "text/plain", "X-A": "1"})
        one.send(site.url)
        one.send(Request(site.url, (("Accept", "text/html"), ("x-a", "2"))))
        first, second = map(fields_of, site.heads)
        assert (first["accept"], first["x-a"]) == (["text/plain"], ["1"])
        assert (second["accept"], second["x-a"]) == (["text/html"], ["2"])


WRONG_HEADERS = {
    "User-Agent": "pass it as user_agent",
    "host": "the transport sets",
    "Accept-Encoding": "the transport sets",
    "Content-Length": "the transport sets",
    "Connection": "the transport sets",
    "Transfer-Encoding": "the transport sets",
    "IF-NONE-MATCH": "the transport sets",
    "If-Modified-Since": "the transport sets",
    "Range": "the transport sets",
    "Proxy-Authorization": "the transport sets",
    "Authorization": "which every origin would receive",
    "cookie": "which every origin would receive",
    "X Y": "cannot be sent",
    "X:": "cannot be sent",
    "": "cannot be sent",
}


@pytest.mark.parametrize("make", [*KINDS.values(), *CLIENTS])
@pytest.mark.parametrize("name", WRONG_HEADERS)
def test_fields_that_are_not_added(make: Callable[..., object], name: str) -> None:
    with pytest.raises(ValueError, match=WRONG_HEADERS[name]) as raised:
        make(AGENT, headers={name: "secret"})
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("make", [*KINDS.values(), *CLIENTS])
@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({"X-A": "a\r\nX-Evil: 1"}, "cannot be sent"),
        ({"X-A": "\u20ac"}, "cannot be sent"),
        ({"X-A": 5}, "pass a mapping"),
        ([("X-A",)], "pass a mapping"),
        ("X-A: b", "pass a mapping"),
        ([b"ab"], "pass a mapping"),
    ],
)
def test_invalid_fields(make: Callable[..., object], headers: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make(AGENT, headers=headers)


# --- A proxy --------------------------------------------------------------------------------------


def test_a_proxy_carries_all_requests(carrier: Make) -> None:
    """The proxy resolves the name: our resolver is not called, and the answer has no address."""

    def resolve(host: str, port: int) -> list[str]:
        raise AssertionError(host)

    with fault_servers.serve(fault_servers.proxies) as proxy:
        one = carrier(
            proxy=proxy.url.replace("//", "//me:hush@"), addresses=AddressPolicy(resolve=resolve)
        )
        answer = one.send("http://far.example/robots.txt")
        assert isinstance(answer, Response), answer
        assert (answer.body, answer.address) == (b"# from the proxy\n", None)
        assert proxy.heads[0].startswith(b"GET http://far.example/robots.txt HTTP/1.1\r\n")
        assert b"proxy-authorization: basic" in proxy.heads[0].lower()


def test_tls_goes_through_the_proxy(carrier: Make) -> None:
    with (
        fault_servers.serve(fault_servers.proxies) as proxy,
        fault_servers.serve(fault_servers.ok, tls=fault_servers.server_tls("far.example")) as far,
    ):
        answer = carrier(proxy=proxy.url, addresses=PUBLIC).send(far.named("far.example"))
        assert isinstance(answer, Response), answer
        assert answer.body == fault_servers.ROBOTS
        assert proxy.heads[0].startswith(b"CONNECT far.example:")


PROXY_AUTHENTICATION_REQUIRED = fault_servers.message(
    b"who are you?",
    'Proxy-Authenticate: Basic realm="a"',
    status="407 Proxy Authentication Required",
)

# What a proxy would resolve or go to itself: its own machine, its own network.
NOT_THROUGH_A_PROXY = [
    *("127.0.0.1", "10.0.0.1", "169.254.169.254", "[::1]", "[::ffff:10.0.0.1]", "0.0.0.0"),
    *("localhost", "LOCALHOST.", "db.localhost", "printer.local", "metadata.google.internal"),
    *("localhost.localdomain", "nas.lan", "wiki.intranet", "db.corp", "tv.home", "a.private"),
    *("a.onion", "a.test", "A.Test.", "127.0.0.1.", "10.0.0.1."),
    *("router.home.arpa", "intranet", "\u24db\u24de\u24d2\u24d0\u24db"),
]


@pytest.mark.parametrize("host", NOT_THROUGH_A_PROXY)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_private_places_behind_a_proxy(carrier: Make, scheme: str, host: str) -> None:
    with fault_servers.serve(fault_servers.proxies) as proxy:
        answer = carrier(proxy=proxy.url, addresses=PUBLIC).send(f"{scheme}://{host}/")
        assert isinstance(answer, Failure), answer
        assert answer.reason is FailureReason.REFUSED, answer
        assert "allow_private=" in answer.detail
        assert proxy.connections == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "db.internal", "intranet"])
def test_private_places_that_are_allowed_behind_a_proxy(carrier: Make, host: str) -> None:
    allowed = AddressPolicy(["127.0.0.1", "localhost", "*.internal", "intranet"])
    with fault_servers.serve(fault_servers.proxies) as proxy:
        answer = carrier(proxy=proxy.url, addresses=allowed).send(f"http://{host}/")
        assert isinstance(answer, Response), answer
        assert proxy.connections == 1


def test_a_name_that_is_like_a_private_one_goes_through_a_proxy() -> None:
    for host in (
        "notlocalhost.example",
        "local.example",
        "internal.example",
        "arpa.example",
        "lan.example",
    ):
        assert PUBLIC.refusal_of_name(host) is None


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_wants_credentials_is_a_failed_connection(carrier: Make, scheme: str) -> None:
    """It does not describe the origin's file (RFC 9110 §15.5.8), with or without a tunnel."""
    with fault_servers.serve(fault_servers.says(PROXY_AUTHENTICATION_REQUIRED)) as proxy:
        answer = carrier(proxy=proxy.url).send(f"{scheme}://far.example/robots.txt")
        assert isinstance(answer, Failure), answer
        assert answer.reason is FailureReason.CONNECT, answer
        assert proxy.connections == 1


def test_a_407_without_a_proxy_of_ours_is_a_failed_connection(carrier: Make) -> None:
    """An intercepting proxy sends it, too."""
    with fault_servers.serve(fault_servers.says(PROXY_AUTHENTICATION_REQUIRED)) as site:
        answer = carrier().send(site.url)
        assert isinstance(answer, Failure), answer
        assert answer.reason is FailureReason.CONNECT, answer
        assert "407" in answer.detail


def test_a_proxy_that_wants_credentials_allows_nothing() -> None:
    with (
        fault_servers.serve(fault_servers.says(PROXY_AUTHENTICATION_REQUIRED)) as proxy,
        Client(AGENT, store="memory:", proxy=proxy.url) as client,
    ):
        verdict = client.check("http://far.example/secret")
        assert not verdict.allowed
        assert verdict.reason is Reason.UNREACHABLE


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1.", "[::1]", "[::1].", "10.0.0.1.", "localhost..", "a.lan.."]
)
def test_a_private_host_is_refused_by_name_however_it_ends(host: str) -> None:
    assert PUBLIC.refusal_of_name(host)
    assert (
        AddressPolicy(["127.0.0.0/8", "::1", "10.0.0.1", "localhost", "*.lan"]).refusal_of_name(
            host
        )
        is None
    )


def test_public_addresses_are_not_refused_by_name() -> None:
    for host in ("93.184.215.14", "93.184.215.14.", "[2606:2800:21f:cb07:6820:80da:af6b:8b2c]"):
        assert PUBLIC.refusal_of_name(host) is None


@pytest.mark.parametrize("make", [*KINDS.values(), *CLIENTS])
@pytest.mark.parametrize(
    "proxy",
    [
        *("", "proxy.example:3128", "socks5://127.0.0.1:1", "http://", "http://:hush@/", "ftp://a"),
        *("http://proxy.example/path", "http://proxy.example?hush", "http://proxy.example:0", 5),
        *("http://proxy.example:99999", b"http://proxy.example", "http://[::1"),
    ],
)
def test_invalid_proxies(make: Callable[..., object], proxy: Any) -> None:
    with pytest.raises(ValueError, match="proxy is not the URL of an HTTP proxy: pass") as raised:
        make(AGENT, proxy=proxy)
    assert "hush" not in str(raised.value)


@pytest.mark.parametrize("kind", CLIENTS)
def test_a_client_passes_its_options_on(kind: Callable[..., Any]) -> None:
    options: dict[str, Any] = {"store": "memory:", "headers": {"From": "a@example.com"}}
    options["connections"] = 2
    with fault_servers.serve(fault_servers.proxies) as proxy:
        options["proxy"] = proxy.url
        if kind is Client:
            with Client(AGENT, **options) as client:
                verdict = client.check("http://far.example/a")
                refused = client.check("http://127.0.0.1/a")
        else:

            async def run() -> Any:
                async with AsyncClient(AGENT, **options) as client:
                    return [
                        await client.check("http://far.example/a"),
                        await client.check("http://127.0.0.1/a"),
                    ]

            verdict, refused = asyncio.run(run())
        assert verdict.reason is Reason.NO_GROUP
        assert refused.reason is Reason.UNREACHABLE
        (head,) = proxy.heads
        assert fields_of(head)["from"] == ["a@example.com"]


# --- What has no effect, or is none ---------------------------------------------------------------


@pytest.mark.parametrize(
    "option",
    [{"connections": 5}, {"proxy": "http://proxy.example"}, {"headers": {"From": "a@example.com"}}],
)
def test_options_beside_a_transport(option: dict[str, Any]) -> None:
    server = Server()
    for kind, transport in ((Client, server), (AsyncClient, AsyncServer(server))):
        with pytest.raises(ValueError, match="connections=, proxy= and headers= have no effect"):
            kind(AGENT, store="memory:", transport=transport, **option)


@pytest.mark.parametrize("kind", CLIENTS)
@pytest.mark.parametrize("wrong", [True, False, 1, None, b"localhost"])
def test_allow_private_states_the_expected_type(kind: Callable[..., object], wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"allow_private is .*: pass the hosts, addresses or net"):
        kind(AGENT, store="memory:", allow_private=wrong)
    with pytest.raises(ValueError, match=r"allow_private is .*: pass the hosts, addresses or net"):
        AddressPolicy(wrong)


@pytest.mark.parametrize(
    "wrong", ["x", "httpx2", b"x", 5, object(), Server, {"send": 1}, lambda request: None]
)
def test_transport_states_the_expected_type(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"transport is .*: pass an httpx2.Client, httpx.Client"):
        Client(AGENT, store="memory:", transport=wrong)
    with pytest.raises(TypeError, match=r"transport is .*: pass an aiohttp.ClientSession, httpx2."):
        AsyncClient(AGENT, store="memory:", transport=wrong)


def test_a_transport_for_an_event_loop_is_none_for_threads() -> None:
    with pytest.raises(TypeError, match=r"for an event loop: pass an httpx2.Client"):
        Client(AGENT, store="memory:", transport=AsyncServer(Server()))


def test_a_transport_for_threads_is_none_for_an_event_loop() -> None:
    with pytest.raises(TypeError, match=r"for threads: pass an aiohttp.ClientSession"):
        AsyncClient(AGENT, store="memory:", transport=Server())
    with (
        open_transport(AGENT) as threads,  # type: ignore[attr-defined]
        pytest.raises(TypeError, match=r"for threads: pass an aiohttp.ClientSession"),
    ):
        AsyncClient(AGENT, store="memory:", transport=threads)


def test_send_need_not_be_an_async_function() -> None:
    """It may return what is awaited, as a decorated one does."""
    inner = AsyncServer(Server())

    class Decorated:
        def send(self, request: Request) -> Any:
            return inner.send(request)

        async def aclose(self) -> None:
            pass

    async def run() -> bool:
        async with AsyncClient(AGENT, store="memory:", transport=Decorated()) as client:
            return (await client.check("http://one.example/")).allowed

    asyncio.run(run())


def test_invalid_clients() -> None:
    with pytest.raises(
        TypeError, match=r"cannot be used as a transport here: pass an httpx2.Client"
    ):
        open_transport(AGENT, client="x")
    with pytest.raises(
        TypeError, match=r"cannot be used as a transport here: pass an aiohttp.ClientS"
    ):
        open_async_transport(AGENT, client=5)


@pytest.mark.parametrize("kind", CLIENTS)
def test_a_hook_is_a_function(kind: Callable[..., object]) -> None:
    with pytest.raises(TypeError, match="pass a function that takes a FetchEvent"):
        kind(AGENT, store="memory:", on_fetch="print")
