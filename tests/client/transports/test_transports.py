"""Transports as objects: how they are created, shared and closed, and their errors."""

from __future__ import annotations

import asyncio
import os
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from robotrules import MissingExtraError
from robotrules.access import Failure, FailureReason, Request, Response
from robotrules.client.aio import AsyncClient
from robotrules.client.ssrf import AddressPolicy
from robotrules.client.sync import Client
from robotrules.client.transports import open_async_transport, open_transport
from robotrules.client.transports.aiohttp import AiohttpTransport
from robotrules.client.transports.dns_cache import DnsCache
from robotrules.client.transports.exchange import TransportSettings, describe_error, target_of
from robotrules.client.transports.httpx2 import AsyncHttpx2Transport, Httpx2Transport
from tests.client import fault_servers
from tests.client.transports.conftest import AGENT, KINDS, Carrier

Make = Callable[..., Carrier]


# --- Making them ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS.values())
@pytest.mark.parametrize(
    ("agent", "options", "words"),
    [
        ("", {}, "use a name and a contact URL"),
        ("  ", {}, "use a name and a contact URL"),
        ("Bot\r\nX: 1", {}, "use a name and a contact URL"),
        (None, {}, "use a name and a contact URL"),
        ("Bött/1.0", {}, "use ASCII"),
        (AGENT, {"connections": 0}, "use 1 or more"),
        (AGENT, {"connections": 2.5}, "use 1 or more"),
        (AGENT, {"timeout": 0}, "more than 0"),
        (AGENT, {"timeout": float("nan")}, "more than 0"),
        (AGENT, {"timeout": float("inf")}, "more than 0"),
    ],
)
def test_invalid_options_raise_with_the_fix(
    kind: Callable[..., object], agent: str, options: dict[str, object], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        kind(agent, **options)


def test_opening_takes_what_is_installed() -> None:
    transport = open_transport(AGENT, addresses=fault_servers.here(), timeout=1.0)
    assert isinstance(transport, Httpx2Transport)
    transport.close()
    assert isinstance(open_async_transport(AGENT, connections=5), AiohttpTransport)


def _forget(monkeypatch: pytest.MonkeyPatch, *libraries: str) -> None:
    for library in libraries:
        monkeypatch.setitem(sys.modules, library, None)
        ours = f"robotrules.client.transports.{library}"
        monkeypatch.delitem(sys.modules, ours, raising=False)
        # A package remembers its modules as attributes too.
        monkeypatch.delattr(f"robotrules.client.transports.{library}", raising=False)


def test_without_aiohttp_it_is_httpx2(monkeypatch: pytest.MonkeyPatch) -> None:
    _forget(monkeypatch, "aiohttp")
    assert isinstance(open_async_transport(AGENT), AsyncHttpx2Transport)


def test_without_httpx2_it_is_aiohttp_or_an_error_with_the_fix(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _forget(monkeypatch, "httpx2")
    assert isinstance(open_async_transport(AGENT), AiohttpTransport)
    with pytest.raises(MissingExtraError, match=r"pip install 'robotrules\[http\]'"):
        open_transport(AGENT)


def test_without_both_it_is_an_error_with_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    _forget(monkeypatch, "httpx2", "aiohttp")
    with pytest.raises(MissingExtraError, match=r"robotrules\[aiohttp\]'.*robotrules\[http\]'"):
        open_async_transport(AGENT)


def test_a_client_without_a_library_raises_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without any of the extra's libraries, what fetches is what is missed, and not a folder."""
    monkeypatch.delenv("ROBOTRULES_CACHE_DIR", raising=False)
    monkeypatch.setitem(sys.modules, "platformdirs", None)
    _forget(monkeypatch, "httpx2", "aiohttp")
    fix = r"robots\.txt files needs httpx2.*robotrules\[http\]'.*Client\(…, transport=…\)$"
    with pytest.raises(MissingExtraError, match=fix):
        Client(AGENT)
    with pytest.raises(MissingExtraError, match=r"fetching needs aiohttp or httpx2"):
        AsyncClient(AGENT)


def test_importing_opens_nothing_and_needs_no_library() -> None:
    code = (
        "import sys, threading, robotrules.client.transports\n"
        "assert threading.active_count() == 1\n"
        "for name in ('httpx2', 'httpcore2', 'aiohttp'): assert name not in sys.modules, name\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


# --- Closing them ---------------------------------------------------------------------------------


def test_they_are_context_managers() -> None:
    with fault_servers.serve(fault_servers.ok) as site:
        with Httpx2Transport(AGENT, addresses=fault_servers.here()) as transport:
            assert isinstance(transport.send(Request(site.url)), Response)

        async def both() -> None:
            for kind in (AsyncHttpx2Transport, AiohttpTransport):
                async with kind(AGENT, addresses=fault_servers.here()) as one:
                    assert isinstance(await one.send(Request(site.url)), Response)

        asyncio.run(both())


def test_a_closed_one_raises(carrier: Make) -> None:
    one = carrier()
    if one.runner is None:
        one.transport.close()
        one.transport.close()
    else:
        one.runner.run(one.transport.aclose())
        one.runner.run(one.transport.aclose())
    with pytest.raises(RuntimeError, match="closed: create another one"):
        one.send("http://one.example/")


def test_closing_closes_connections(carrier: Make) -> None:
    with fault_servers.farm() as site:
        one = carrier()
        one.send(site.named("one.example"))
        assert site.open == 1
        one.transport.close() if one.runner is None else one.runner.run(one.transport.aclose())
        assert fault_servers.soon(lambda: site.open == 0)


@pytest.mark.parametrize("kind", [AsyncHttpx2Transport, AiohttpTransport])
def test_one_event_loop_each(kind: type[AiohttpTransport]) -> None:
    transport = kind(AGENT, addresses=fault_servers.here())
    with fault_servers.serve(fault_servers.ok) as site, asyncio.Runner() as first:
        assert isinstance(first.run(transport.send(Request(site.url))), Response)
        with asyncio.Runner() as second, pytest.raises(RuntimeError, match="another event loop"):
            second.run(transport.send(Request(site.url)))
        first.run(transport.aclose())


# --- Sharing them ---------------------------------------------------------------------------------


def test_ten_threads_share_one() -> None:
    """Answers are not mixed up between callers, in any order of arrival."""

    def answers(host: str, path: str) -> bytes:
        return fault_servers.message(f"{host}{path}".encode())

    with (
        fault_servers.farm(answers) as site,
        Httpx2Transport(AGENT, addresses=fault_servers.here(), connections=5) as transport,
        ThreadPoolExecutor(10) as threads,
    ):
        urls = [f"{site.named(f'h{number % 7}.example')}/{number}" for number in range(200)]
        for url, answer in zip(urls, threads.map(transport.send, map(Request, urls)), strict=True):
            assert isinstance(answer, Response), answer
            assert answer.body == url.removeprefix("http://").encode()


FORKS = """
import os, sys
from robotrules.access import Request, Response
from robotrules.client.ssrf import AddressPolicy
from robotrules.client.transports import open_transport
transport = open_transport("ExampleBot/1.0", addresses=AddressPolicy(["127.0.0.1"]))
ask = lambda: isinstance(transport.send(Request(sys.argv[1])), Response)
assert ask()
child = os.fork()
if child == 0:
    code = 0 if ask() and ask() else 1
    transport.close()
    os._exit(code)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert ask()
transport.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_has_separate_connections() -> None:
    """The child neither uses nor closes what the parent keeps."""
    with fault_servers.farm() as site:
        subprocess.run([sys.executable, "-c", FORKS, site.url], check=True, timeout=60)
        assert site.requests == 4
        assert site.connections == 2


# --- Lookups --------------------------------------------------------------------------------------


def test_lookups_have_few_threads_and_then_none() -> None:
    gate = threading.Event()
    busy: list[str] = []

    def resolve(host: str, port: int) -> list[str]:
        busy.append(host)
        gate.wait(10)
        return ["8.8.8.8"]

    # Those of transports before linger for a second.
    before = set(threading.enumerate())
    lookups = DnsCache(AddressPolicy(resolve=resolve), most=3)
    with ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(lookups.vet, f"h{n}.example", 80, 10.0) for n in range(8)]
        assert fault_servers.soon(lambda: len(busy) == 3)
        # A caller that times out stops waiting, and its name is not looked up.
        with pytest.raises(TimeoutError):
            lookups.vet("late.example", 80, 0.05)
        gate.set()
        assert all(one.result() == ["8.8.8.8"] for one in asked)
    assert lookups.vet("8.8.4.4", 80, 1.0) == ["8.8.4.4"]
    assert "late.example" not in busy

    def ours() -> list[threading.Thread]:
        there = set(threading.enumerate()) - before
        return [one for one in there if one.name == "robotrules-lookup"]

    assert len(ours()) <= 3
    assert fault_servers.soon(lambda: not ours())
    assert lookups.vet("again.example", 80, 5.0) == ["8.8.8.8"]


def test_an_interrupted_lookup_raises() -> None:
    def resolve(host: str, port: int) -> list[str]:
        raise SystemExit

    with pytest.raises(SystemExit):
        DnsCache(AddressPolicy(resolve=resolve), 1).vet("x.example", 80, 5.0)


# --- Words ----------------------------------------------------------------------------------------


def test_where_a_url_leads() -> None:
    found = target_of("HTTPS://me:x@Example.COM:443/a?b#c")
    assert found == ("https", "example.com", 443, "example.com", "/a?b")
    assert target_of("http://[2606:4700::1]:8080") == (
        *("http", "2606:4700::1", 8080, "[2606:4700::1]:8080", "/"),
    )
    assert target_of("mailto:a@example.com") is None


def test_an_error_without_words_has_a_name() -> None:
    assert describe_error(ValueError()) == "ValueError"
    assert describe_error(OSError(111, "x")) == "Connection refused"
    error = RuntimeError()
    error.__cause__ = LookupError("behind it")
    assert describe_error(error) == "behind it"


def test_whatever_a_parser_raises_is_a_failure(
    carrier: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hostile input may trigger an error of a library that is not yet known."""

    def surprised(*_: object) -> object:
        raise ZeroDivisionError("of all things")

    one = carrier()
    with fault_servers.serve(fault_servers.ok) as site:
        monkeypatch.setattr("robotrules.client.transports.exchange.Exchange.head", surprised)
        answer = one.send(site.url)
        assert isinstance(answer, Failure)
        assert answer.reason is FailureReason.PROTOCOL
        assert "of all things" in answer.detail


@pytest.mark.parametrize(
    ("error", "trouble"),
    [
        (
            ssl.SSLError(1, "[SSL] tlsv13 alert certificate required (_ssl.c:2580)"),
            FailureReason.TLS,
        ),
        (ConnectionResetError(104, "Connection reset by peer"), FailureReason.CUT),
        (KeyError("x"), FailureReason.PROTOCOL),
    ],
)
def test_what_a_library_lets_through(error: Exception, trouble: FailureReason) -> None:
    exchange = TransportSettings(AGENT, fault_servers.here(), 1.0, 1, True, False).begin(
        Request("http://a.example")
    )
    assert not isinstance(exchange, Failure)
    found = exchange.surprise(error)
    assert found.reason is trouble
    assert found.detail.startswith("a.example: ")
    assert "_ssl.c" not in found.detail


def test_settings_are_values() -> None:
    one = TransportSettings(AGENT, fault_servers.here(), 1.0, 1, True, False)
    assert one.vet() is one
