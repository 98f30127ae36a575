"""Adapters: what holds, and what does not, over an HTTP client that the user has."""

from __future__ import annotations

import asyncio
import gzip
import json
import ssl
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import aiohttp
import httpx
import httpx2
import pytest
import requests
import requests.adapters

from robotrules import Reason
from robotrules.access import Failure, FailureReason, Request, Response
from robotrules.client import AddressPolicy, AsyncClient, Client
from robotrules.client.ssrf import PUBLIC
from robotrules.client.transports import open_async_transport, open_transport
from robotrules.http.fields import read_fields
from tests.client import fault_servers
from tests.client.transports.conftest import AGENT
from tests.client.transports.test_responses import fields_of

Answer = Response | Failure


async def _session(**options: Any) -> aiohttp.ClientSession:
    # Not over the DNS, which aiohttp queries by itself where aiodns is installed.
    connector = aiohttp.TCPConnector(ssl=options.pop("verify"), resolver=aiohttp.ThreadedResolver())
    if hook := options.pop("hook", None):

        async def middleware(request: Any, handler: Any) -> Any:
            hook(request)
            return await handler(request)

        options["middlewares"] = (middleware,)
    return aiohttp.ClientSession(connector=connector, **options)


def _httpx(make: Callable[..., Any], is_async: bool) -> Callable[..., Any]:
    def made(**options: Any) -> Any:
        if hook := options.pop("hook", None):

            async def waits(request: Any) -> None:
                hook(request)

            options["event_hooks"] = {"request": [waits if is_async else hook]}
        return make(**options)

    return made


def _requests(**options: Any) -> requests.Session:
    class Hooked(requests.Session):
        def get_adapter(self, *args: Any, **more: Any) -> Any:
            if hook is not None:
                hook(args)
            return super().get_adapter(*args, **more)

    hook = options.pop("hook", None)
    made = Hooked()
    made.trust_env = False
    made.headers.update(options.pop("headers", {}))
    secure = options.pop("verify", True)
    if secure is not True:
        made.mount("https://", _Trusting(secure))
    return made


class _Trusting(requests.adapters.HTTPAdapter):
    """An adapter that trusts the authority of the tests."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._context = context
        super().__init__()

    def init_poolmanager(self, *args: Any, **more: Any) -> None:
        super().init_poolmanager(*args, ssl_context=self._context, **more)

    def cert_verify(self, *args: Any, **more: Any) -> None:
        """Leave it to the context."""


# What makes a client; whether it is one for threads.
LIBRARIES: dict[str, tuple[Callable[..., Any], bool]] = {
    "httpx2": (_httpx(httpx2.Client, False), True),
    "httpx": (_httpx(httpx.Client, False), True),
    "requests": (_requests, True),
    "httpx2-async": (_httpx(httpx2.AsyncClient, True), False),
    "httpx-async": (_httpx(httpx.AsyncClient, True), False),
    "aiohttp": (_session, False),
}


class Adapted:
    """A client of a library, and a transport over it."""

    def __init__(self, kind: str, options: dict[str, Any], **settings: Any) -> None:
        make, self.threads = LIBRARIES[kind]
        self.runner = asyncio.Runner()
        settings = {"addresses": fault_servers.here(), "timeout": 5.0, **settings}
        self.client = make(**{"verify": fault_servers.client_tls(), **options})
        if asyncio.iscoroutine(self.client):
            self.client = self.runner.run(self.client)
        opening = open_transport if self.threads else open_async_transport
        self.transport: Any = opening(AGENT, client=self.client, **settings)

    def send(self, request: Request | str) -> Answer:
        """Make one request."""
        wanted = Request(request) if isinstance(request, str) else request
        if self.threads:
            answer: Answer = self.transport.send(wanted)
            return answer
        found: list[Answer] = []

        async def run() -> None:
            found.append(await self.transport.send(wanted))

        self.runner.run(run())
        return found[0]

    def is_open(self) -> bool:
        """Return whether the client is open."""
        closed = getattr(self.client, "is_closed", getattr(self.client, "closed", False))
        return not closed

    def close_transport(self) -> None:
        """Close the transport, which leaves the client open."""
        self.transport.close() if self.threads else self.runner.run(self.transport.aclose())

    def close(self) -> None:
        """Close all."""
        if self.threads:
            self.client.close()
        else:
            closing = self.client.close if hasattr(self.client, "closed") else self.client.aclose
            self.runner.run(closing())
        self.runner.close()


Make = Callable[..., Adapted]


@pytest.fixture(params=list(LIBRARIES))
def adapted(request: pytest.FixtureRequest) -> Iterator[Make]:
    """A maker of adapters, of each kind."""
    made: list[Adapted] = []

    def make(options: dict[str, Any] | None = None, **settings: Any) -> Adapted:
        made.append(Adapted(request.param, options or {}, **settings))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_the_request_has_the_user_agent_and_the_fields_of_the_client(adapted: Make) -> None:
    with fault_servers.serve(fault_servers.ok) as site:
        one = adapted({"headers": {"X-Mine": "1", "User-Agent": "other"}}, headers={"From": "a@b"})
        answer = one.send(
            Request(site.named("one.example") + "/a?b=1", (("If-None-Match", '"x"'),))
        )
        assert isinstance(answer, Response), answer
        assert (answer.status, answer.body, answer.complete) == (200, fault_servers.ROBOTS, True)
        assert answer.address is None
        (head,) = site.heads
        assert head.startswith(b"GET /a?b=1 HTTP/1.1\r\n")
        fields = fields_of(head)
        assert fields["user-agent"] == [AGENT]
        assert fields["host"] == [f"one.example:{site.port}"]
        assert fields["accept-encoding"] == ["gzip, deflate, br, zstd"]
        assert (fields["x-mine"], fields["from"]) == (["1"], ["a@b"])
        assert fields["if-none-match"] == ['"x"']


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the system lead `*.example` to loopback: a client resolves by itself."""
    import socket

    plain = socket.getaddrinfo

    def found(host: Any, *args: Any, **more: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        return plain(
            fault_servers.LOOPBACK if str(name).endswith(".example") else host, *args, **more
        )

    monkeypatch.setattr(socket, "getaddrinfo", found)


def test_nothing_is_followed(adapted: Make) -> None:
    with fault_servers.serve(fault_servers.redirects) as site:
        one = adapted()
        if hasattr(one.client, "follow_redirects"):
            one.client.follow_redirects = True
        answer = one.send(site.url)
        assert isinstance(answer, Response)
        assert answer.status == 302
        assert read_fields(answer.headers).get("location") == [b"/1"]
        assert site.connections == 1


@pytest.mark.parametrize(
    "location", ["http://[::1", "/caf\xe9", "http://a:b:c/", "//", "http://\xe9/", "http://a/\x01"]
)
def test_an_invalid_location_is_passed_on(adapted: Make, location: str) -> None:
    """A library that works out where a redirect leads would raise for some of them."""
    one = adapted()
    moved = fault_servers.message(b"", f"Location: {location}", status="301 Moved Permanently")
    with fault_servers.serve(fault_servers.says(moved)) as site:
        answer = one.send(site.url)
        if isinstance(answer, Failure) and not isinstance(one.client, requests.Session):
            assert answer.reason is FailureReason.PROTOCOL, answer  # the library refuses the field
            return
        assert isinstance(answer, Response), answer
        assert answer.status == 301
        assert read_fields(answer.headers).get("location") == [location.encode("latin-1")]


def test_the_body_of_a_redirect_is_not_waited_for(adapted: Make) -> None:
    """Its content is not needed, and it may never end."""

    def endless(peer: fault_servers.Peer) -> None:
        moved = fault_servers.message(
            b"", "Location: /1", status="301 Moved Permanently", length=100_000
        )
        peer.send(moved)
        sent.append(peer.pause(fault_servers.LONGEST))

    sent: list[bool] = []
    one = adapted()
    with fault_servers.serve(endless) as site:
        answer = one.send(Request(site.url, timeout=1.0))
        assert isinstance(answer, Response), answer
        assert answer.status == 301
        assert not sent


@pytest.mark.parametrize("hooks", ["list", "function"])
def test_hooks_of_a_session_see_the_location(hooks: str) -> None:
    seen: list[str] = []

    def note(response: Any, **more: Any) -> None:
        seen.append(response.headers["Location"])

    moved = fault_servers.message(b"", "Location: /1", "Connection: close", status="302 Found")
    with fault_servers.serve(fault_servers.says(moved)) as site, requests.Session() as http:
        given: Any = [note] if hooks == "list" else note
        http.hooks["response"] = given
        one = open_transport(AGENT, client=http, addresses=fault_servers.here())
        for _ in range(2):
            answer = one.send(Request(site.url))
            assert isinstance(answer, Response), answer
            assert read_fields(answer.headers).get("location") == [b"/1"]
    assert seen == ["/1", "/1"]


def test_the_body_is_decoded_here_and_up_to_the_limit(adapted: Make) -> None:
    body = fault_servers.ROBOTS * 1000
    coded = fault_servers.message(gzip.compress(body), "Content-Encoding: gzip")
    with fault_servers.serve(fault_servers.says(coded)) as site:
        answer = adapted().send(site.url)
        assert isinstance(answer, Response), answer
        assert (answer.body, answer.complete) == (body, True)
        answer = adapted().send(Request(site.url, limit=100))
        assert isinstance(answer, Response), answer
        assert (answer.body, answer.complete) == (body[:100], False)
    with fault_servers.serve(fault_servers.bombs) as site:
        answer = adapted().send(Request(site.url, limit=1000))
        assert isinstance(answer, Response), answer
        assert answer.body == bytes(1000)


@pytest.mark.parametrize(
    ("fault", "trouble"),
    [
        ("resets_at_once", FailureReason.CUT),
        ("closes_at_once", FailureReason.CUT),
        ("short", FailureReason.CUT),
        ("chunk_cut", FailureReason.CUT),
        ("resets_mid_body", FailureReason.CUT),
        ("garbage", FailureReason.PROTOCOL),
        ("bad_length", FailureReason.PROTOCOL),
        ("unknown_coding", FailureReason.CODING),
        ("broken_coding", FailureReason.CODING),
    ],
)
def test_a_fault_is_a_failure(adapted: Make, fault: str, trouble: FailureReason) -> None:
    one = adapted()
    if fault == "bad_length" and isinstance(one.client, requests.Session):
        pytest.skip("urllib3 takes it for an answer")
    with fault_servers.serve(getattr(fault_servers, fault)) as site:
        answer = one.send(site.url)
        assert isinstance(answer, Failure), answer
        assert answer.reason is trouble, answer
        assert answer.detail.isprintable()


def test_a_407_is_the_proxys(adapted: Make) -> None:
    """A client's proxy is not known here: the status shows that one answered."""
    required = fault_servers.message(b"", status="407 Proxy Authentication Required")
    with fault_servers.serve(fault_servers.says(required)) as site:
        answer = adapted().send(site.url)
        assert isinstance(answer, Failure), answer
        assert answer.reason is FailureReason.CONNECT, answer


@pytest.mark.parametrize("fault", ["never_answers", "drips_headers", "drips_body"])
def test_a_slow_server_is_late(adapted: Make, fault: str) -> None:
    """On threads a head that drips is read to its end: the library has a time for each step."""
    one = adapted()
    if one.threads and fault == "drips_headers":
        pytest.skip("httpx and requests have no time for the whole")
    with fault_servers.serve(getattr(fault_servers, fault)) as site:
        begun = time.monotonic()
        answer = one.send(Request(site.url, timeout=0.4))
        assert time.monotonic() - begun < 2.0
        assert isinstance(answer, Failure), answer
        assert answer.reason is FailureReason.TIMEOUT, answer


@pytest.mark.parametrize("status", ["200 OK", "404 Not Found"])
def test_a_head_that_comes_late_is_late(adapted: Make, status: str) -> None:
    """Though no step of it took longer than the whole may take."""

    def late(peer: fault_servers.Peer) -> None:
        for part in fault_servers.message(b"", status=status).partition(b"\r\n"):
            peer.pause(0.25)
            peer.send(part)

    with fault_servers.serve(late) as site:
        answer = adapted().send(Request(site.url, timeout=0.4))
        assert isinstance(answer, Failure), answer
        assert answer.reason is FailureReason.TIMEOUT, answer


def test_what_keeps_a_connection_from_being(adapted: Make) -> None:
    one = adapted({"verify": True})
    with fault_servers.closed_port() as origin:
        answer = one.send(origin)
        assert isinstance(answer, Failure)
        assert answer.reason is FailureReason.CONNECT, answer
    with fault_servers.serve(fault_servers.ok, tls=fault_servers.server_tls()) as site:
        answer = one.send(site.url)
        assert isinstance(answer, Failure)
        assert answer.reason is FailureReason.TLS, answer
    with fault_servers.serve(fault_servers.ok, tls=fault_servers.server_tls()) as site:
        assert isinstance(adapted().send(site.url), Response)


# --- Private places -------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "10.0.0.1", "[::ffff:127.0.0.1]"])
@pytest.mark.parametrize("vet_names", [True, False])
def test_an_address_in_a_url_is_vetted(adapted: Make, host: str, vet_names: bool) -> None:
    with fault_servers.serve(fault_servers.ok) as site:
        answer = adapted(addresses=PUBLIC, vet_names=vet_names).send(f"http://{host}:{site.port}/")
        assert isinstance(answer, Failure)
        assert answer.reason is FailureReason.REFUSED
        assert site.connections == 0


def test_a_name_is_vetted_before_the_client_has_it(adapted: Make) -> None:
    inside = AddressPolicy(resolve=lambda host, port: ["10.0.0.1"])
    with fault_servers.serve(fault_servers.ok) as site:
        answer = adapted(addresses=inside).send(site.named("inside.example"))
        assert isinstance(answer, Failure)
        assert answer.reason is FailureReason.REFUSED
        assert site.connections == 0


def test_names_may_be_left_to_a_proxy(adapted: Make) -> None:
    def resolve(host: str, port: int) -> list[str]:
        raise AssertionError(host)

    one = adapted(addresses=AddressPolicy(resolve=resolve), vet_names=False)
    with fault_servers.serve(fault_servers.ok) as site:
        assert isinstance(one.send(site.named("far.example")), Response)
        answer = one.send(site.named("localhost"))
        assert isinstance(answer, Failure)
        assert answer.reason is FailureReason.REFUSED
        assert site.connections == 1


def test_several_threads_share_a_session() -> None:
    """The state that requests changes while it sends, cookies and connections, has locks."""

    def cookie(peer: fault_servers.Peer) -> None:
        host = fields_of(peer.head)["host"][0].partition(":")[0]
        peer.send(
            fault_servers.message(
                fault_servers.ROBOTS, f"Set-Cookie: a={host}", "Connection: close"
            )
        )

    interval = sys.getswitchinterval()
    with fault_servers.serve(cookie) as site, _requests() as http:
        one = open_transport(AGENT, client=http, addresses=fault_servers.here())
        urls = [site.named(f"h{number % 40}.example") for number in range(160)]
        sys.setswitchinterval(1e-5)
        try:
            with ThreadPoolExecutor(8) as threads:
                answers = list(threads.map(lambda url: one.send(Request(url)), urls))
        finally:
            sys.setswitchinterval(interval)
        assert [answer for answer in answers if not isinstance(answer, Response)] == []
        assert len(http.cookies) == 40
        for head in site.heads:  # each origin has its own cookie back, or none yet
            fields = fields_of(head)
            host = fields["host"][0].partition(":")[0]
            assert fields.get("cookie", [f"a={host}"]) == [f"a={host}"]


def test_a_session_over_an_old_urllib3_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import urllib3.response

    for kind in (urllib3.response.HTTPResponse, urllib3.response.BaseHTTPResponse):
        monkeypatch.delattr(kind, "read1")
    with pytest.raises(
        RuntimeError, match=r"installed urllib3 cannot read .*: pip install -U urllib3"
    ):
        open_transport(AGENT, client=requests.Session())


# --- Ownership ------------------------------------------------------------------------------------


def test_what_a_hook_raises_is_not_the_networks(adapted: Make) -> None:
    def hook(request: object) -> None:
        raise ZeroDivisionError("mine")

    one = adapted({"hook": hook})
    with (
        fault_servers.serve(fault_servers.ok) as site,
        pytest.raises(ZeroDivisionError, match="mine"),
    ):
        one.send(site.url)


@pytest.mark.parametrize("cookie", ["caf\xe9=1", "a=\xe9", "a=\x80\xff; Path=/"])
def test_a_cookie_that_a_library_cannot_send_back(adapted: Make, cookie: str) -> None:
    """The client keeps it; what its next request makes of it never raises."""
    one = adapted()
    sets = fault_servers.message(fault_servers.ROBOTS, f"Set-Cookie: {cookie}", "Connection: close")
    with fault_servers.serve(fault_servers.says(sets)) as site:
        first = one.send(site.named("one.example"))
        assert isinstance(first, Response), first
        second = one.send(site.named("one.example"))
        if isinstance(second, Failure):
            assert second.reason is FailureReason.PROTOCOL, second
            assert second.detail.isprintable()


@pytest.mark.parametrize("library", [httpx2, httpx])
def test_a_client_goes_on_after_such_a_cookie(library: Any) -> None:
    sets = fault_servers.message(fault_servers.ROBOTS, "Set-Cookie: caf\xe9=1", "Connection: close")
    with (
        fault_servers.serve(fault_servers.says(sets)) as site,
        library.Client() as http,
        Client(AGENT, store="memory:", transport=http, allow_private=["127.0.0.1"]) as client,
    ):
        assert client.check(f"{site.url}/a").allowed
        client.refresh(site.url)
        assert client.check(f"{site.url}/private").reason is Reason.DISALLOW_RULE


def _raises_here() -> None:
    raise ValueError("mine")


def _raises_in_the_standard_library() -> None:
    json.loads("{mine")


@pytest.mark.parametrize("fault", [_raises_here, _raises_in_the_standard_library])
def test_a_value_error_of_a_hook_is_raised(adapted: Make, fault: Callable[[], None]) -> None:
    one = adapted({"hook": lambda request: fault()})
    with (
        fault_servers.serve(fault_servers.ok) as site,
        pytest.raises(ValueError, match=r"mine|Expecting property"),
    ):
        one.send(site.url)


@pytest.mark.parametrize("library", [httpx2, httpx])
def test_an_answer_that_was_read_before(library: Any) -> None:
    """By an event hook, or because a mock of the network built it in full."""
    coded = gzip.compress(fault_servers.ROBOTS)

    def answer(request: Any) -> Any:
        return library.Response(200, content=coded, headers={"Content-Encoding": "gzip"})

    with library.Client(transport=library.MockTransport(answer)) as http:
        found = open_transport(AGENT, client=http, addresses=fault_servers.here()).send(
            Request("http://one.example/", limit=10)
        )
        assert isinstance(found, Response)
        assert (found.body, found.complete) == (fault_servers.ROBOTS[:10], False)

    async def run() -> Any:
        async def reads(response: Any) -> None:
            await response.aread()

        hooks = {"response": [reads]}
        with fault_servers.serve(
            fault_servers.says(fault_servers.message(coded, "Content-Encoding: gzip"))
        ) as site:
            async with library.AsyncClient(event_hooks=hooks) as http:
                one = open_async_transport(AGENT, client=http, addresses=fault_servers.here())
                return await one.send(Request(site.url))

    found = asyncio.run(run())
    assert (found.body, found.complete) == (fault_servers.ROBOTS, True)


@pytest.mark.parametrize("library", [httpx2, httpx])
def test_a_hook_that_raises_for_the_status(library: Any) -> None:
    """It is not a network failure: as one, a 404 would mean complete disallow."""
    hooks = {"response": [lambda response: response.raise_for_status()]}
    missing = fault_servers.says(fault_servers.message(b"", status="404 Not Found"))
    with fault_servers.serve(missing) as site, library.Client(event_hooks=hooks) as http:
        one = open_transport(AGENT, client=http, addresses=fault_servers.here())
        with pytest.raises(library.HTTPStatusError):
            one.send(Request(site.url))


def test_the_client_is_left_open(adapted: Make) -> None:
    one = adapted()
    one.close_transport()
    assert one.is_open()
    with fault_servers.serve(fault_servers.ok) as site:
        assert isinstance(one.send(site.url), Response)


def test_a_client_goes_over_what_it_is_handed() -> None:
    private: dict[str, Any] = {
        "store": "memory:",
        "allow_private": ["127.0.0.1"],
        "headers": {"From": "a@b"},
    }
    with fault_servers.serve(fault_servers.ok) as site:
        for kind in ("httpx2", "httpx", "requests"):
            with LIBRARIES[kind][0](headers={"X-Mine": "1"}) as http:
                with Client(AGENT, transport=http, **private) as client:
                    verdict = client.check(f"{site.url}/private")
                    assert verdict.reason is Reason.DISALLOW_RULE
                assert not getattr(http, "is_closed", False)
        with Client(AGENT, store="memory:", transport=httpx2.Client()) as client:
            assert client.check(f"{site.url}/private").reason is Reason.UNREACHABLE

        async def run() -> None:
            for kind in ("httpx2-async", "httpx-async", "aiohttp"):
                made = LIBRARIES[kind][0](headers={"X-Mine": "1"}, verify=True)
                http = await made if asyncio.iscoroutine(made) else made
                async with http, AsyncClient(AGENT, transport=http, **private) as client:
                    verdict = await client.check(f"{site.url}/private")
                    assert verdict.reason is Reason.DISALLOW_RULE
                    assert (await client.prefetch([site.url], concurrency=200)).success == 1

        asyncio.run(run())
        assert len(site.heads) == 6
        for head in site.heads:
            fields = fields_of(head)
            assert (fields["x-mine"], fields["from"]) == (["1"], ["a@b"])


def test_options_that_are_the_clients() -> None:
    with httpx2.Client() as http:
        for option in ({"proxy": "http://proxy.example"}, {"connections": 5}):
            with pytest.raises(
                ValueError, match="connections= and proxy= have no effect on your HTTP client"
            ):
                Client(AGENT, store="memory:", transport=http, **option)


def test_a_client_for_threads_is_none_for_an_event_loop() -> None:
    with httpx2.Client() as http, pytest.raises(TypeError, match=r"pass an aiohttp.ClientSession"):
        AsyncClient(AGENT, store="memory:", transport=http)
    with pytest.raises(TypeError, match=r"pass an httpx2.Client, httpx.Client"):
        Client(AGENT, store="memory:", transport=httpx2.AsyncClient())
