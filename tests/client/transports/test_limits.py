"""Bounds: what a stranger sends costs little memory and time, and a crawl keeps few connections."""

from __future__ import annotations

import asyncio
import gzip
import ssl
import threading
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from robotrules.access import Failure, FailureReason, Request, Response
from robotrules.client.transports.exchange import MAX_IDLE
from robotrules.client.transports.framing import MAX_HEAD
from tests.client import fault_servers
from tests.client.transports.conftest import Carrier

Make = Callable[..., Carrier]


def peak_of(work: Callable[[], object]) -> int:
    """Return the octets that Python had at most, beyond what it had before."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        work()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("limit", [0, 528_384])
def test_a_bomb_costs_what_is_read_of_it(carrier: Make, limit: int) -> None:
    """4 MB that are 4 GB: a few MB and little time (AMB-61)."""
    assert len(fault_servers.bomb()) > 4_000_000
    with fault_servers.serve(fault_servers.bombs) as site:
        one = carrier()
        one.send(Request(site.url, limit=1))
        answers: list[object] = []
        begun = time.monotonic()
        peak = peak_of(lambda: answers.append(one.send(Request(site.url, limit=limit))))
        assert time.monotonic() - begun < 2.0
        (answer,) = answers
        assert isinstance(answer, Response), answer
        assert answer.body == bytes(limit)
        assert not answer.complete
        assert peak < 3_000_000


@pytest.mark.parametrize("fault", ["huge_header", "many_headers"])
def test_a_head_of_10_mb_costs_little(carrier: Make, fault: str) -> None:
    with fault_servers.serve(getattr(fault_servers, fault)) as site:
        one = carrier()
        begun = time.monotonic()
        answers: list[object] = []
        # What the server itself builds is in this process too: 64 KiB, or 0.1 MB.
        peak = peak_of(lambda: answers.append(one.send(site.url)))
        assert time.monotonic() - begun < 2.0
        (answer,) = answers
        assert isinstance(answer, Failure)
        assert answer.reason is FailureReason.PROTOCOL
        assert peak < 3_000_000


def test_a_head_that_is_long_in_all(carrier: Make) -> None:
    """Lines and their number have no separate bound; the sum has."""
    field = "X-Long: " + "a" * 20_000
    for count in (2, 10):
        with fault_servers.serve(
            fault_servers.says(fault_servers.message(fault_servers.ROBOTS, *[field] * count))
        ) as site:
            answer = carrier().send(site.url)
            if count * 20_000 < MAX_HEAD:
                assert isinstance(answer, Response), answer
            else:
                assert isinstance(answer, Failure), answer
                assert answer.reason is FailureReason.PROTOCOL


def test_a_body_without_end_is_not_waited_for(carrier: Make) -> None:
    def endless(peer: fault_servers.Peer) -> None:
        peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(1000):
            peer.send(fault_servers.chunked(b"#" * 65536, last=False))
            if peer.site.over.is_set():
                return

    with fault_servers.serve(endless) as site:
        answer = carrier().send(Request(site.url, limit=100_000))
        assert isinstance(answer, Response)
        assert len(answer.body) == 100_000
        assert not answer.complete


def test_chunks_of_one_octet_keep_to_the_time(carrier: Make) -> None:
    """A parser's work is bounded by the time too, though octets never stop coming."""

    def crumbs(peer: fault_servers.Peer) -> None:
        peer.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(1000):
            peer.send(b"1\r\n#\r\n" * 10_000)
            if peer.site.over.is_set():
                return

    with fault_servers.serve(crumbs) as site:
        begun = time.monotonic()
        answer = carrier().send(Request(site.url, limit=10**7, timeout=0.5))
        assert time.monotonic() - begun < 2.0
        assert isinstance(answer, Failure)
        assert answer.reason is FailureReason.TIMEOUT


# --- Connections ----------------------------------------------------------------------------------


def test_a_connection_is_used_again(carrier: Make) -> None:
    with fault_servers.farm() as site:
        one = carrier()
        for _ in range(5):
            assert isinstance(one.send(site.named("one.example")), Response)
        assert site.connections == 1


def test_many_origins_do_not_accumulate_connections(carrier: Make) -> None:
    with fault_servers.farm() as site:
        one = carrier(connections=8)
        urls = [site.named(f"h{number}.example") for number in range(300)]
        answers = one.send_all(urls, at_once=30)
        assert all(isinstance(answer, Response) for answer in answers), answers[0]
        assert site.requests == 300
        # The server counts a connection a moment longer than the client does.
        assert site.most_open <= 8 + MAX_IDLE + 8
        assert fault_servers.soon(lambda: site.open <= MAX_IDLE)


def test_connections_are_the_total(carrier: Make) -> None:
    """The wait for a connection does not count towards the time limit of a request."""
    with (
        fault_servers.serve(fault_servers.never_answers) as slow,
        fault_servers.serve(fault_servers.ok) as fine,
    ):
        one = carrier(connections=2)
        wanted = [Request(slow.url, timeout=0.6)] * 2 + [Request(fine.url, timeout=0.3)] * 3
        begun = time.monotonic()
        answers = one.send_all(wanted, at_once=5)
        assert time.monotonic() - begun > 0.5
        for answer in answers[:2]:
            assert isinstance(answer, Failure)
            assert answer.reason is FailureReason.TIMEOUT
        assert all(isinstance(answer, Response) for answer in answers[2:]), answers
        assert isinstance(one.send(fine.url), Response)


def test_waiting_for_a_connection_has_an_end(carrier: Make) -> None:
    with (
        fault_servers.serve(fault_servers.never_answers) as slow,
        fault_servers.serve(fault_servers.ok) as fine,
    ):
        one = carrier(connections=1)
        wanted = [Request(slow.url, timeout=1.5), Request(fine.url, timeout=0.05)]
        _, answer = one.send_all(wanted, at_once=2)
        assert answer == Failure(FailureReason.TIMEOUT, "no free connection: raise connections=")
        assert fine.connections == 0
        assert isinstance(one.send(fine.url), Response)


@pytest.mark.parametrize("carrier", ["httpx2-async", "aiohttp"], indirect=True)
def test_the_authorities_are_not_read_on_the_event_loop(
    carrier: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their certificates are a tenth of a second in which nothing else goes on."""
    where = []
    plain = ssl.SSLContext.load_verify_locations

    def loads(self: ssl.SSLContext, *args: Any, **more: Any) -> None:
        where.append(threading.current_thread())
        plain(self, *args, **more)

    one = carrier(verify=True)
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", loads)
    monkeypatch.setattr(ssl.SSLContext, "load_default_certs", loads)
    with fault_servers.serve(fault_servers.ok) as site:
        assert isinstance(one.send(site.url), Response)
    assert threading.main_thread() not in where
    assert bool(where) == (one.kind == "httpx2-async")


def test_long_work_in_one_chunk_keeps_to_the_time(
    carrier: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("robotrules.client.transports.codings.PIECE", 16)
    body = gzip.compress(bytes(10**7))
    with fault_servers.serve(
        fault_servers.says(fault_servers.message(body, "Content-Encoding: gzip"))
    ) as site:
        begun = time.monotonic()
        answer = carrier().send(Request(site.url, limit=10**8, timeout=0.3))
        assert time.monotonic() - begun < 0.8
        assert isinstance(answer, Failure)
        assert answer.reason is FailureReason.TIMEOUT


def test_a_kept_connection_that_is_gone_is_not_a_failure(carrier: Make) -> None:
    """The server closes it on the next request: the request is repeated on a new one."""
    with fault_servers.serve(fault_servers.fickle) as site:
        one = carrier()
        for _ in range(4):
            assert isinstance(one.send(site.url), Response)
        assert 2 <= site.connections <= 4


def test_a_request_on_a_new_closed_connection_is_not_repeated(carrier: Make) -> None:
    with fault_servers.serve(fault_servers.closes_at_once) as site:
        answer = carrier().send(site.url)
        assert isinstance(answer, Failure)
        assert site.connections == 1


@pytest.mark.parametrize("carrier", ["httpx2-async", "aiohttp"], indirect=True)
def test_a_cancelled_request_leaves_nothing_behind(carrier: Make) -> None:
    one = carrier()
    assert one.runner is not None

    async def cancelled(url: str) -> None:
        task = asyncio.create_task(one.transport.send(Request(url)))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    stalls = fault_servers.never_answers
    with (
        fault_servers.serve(stalls) as plain,
        fault_servers.serve(stalls, tls=fault_servers.server_tls()) as secure,
        fault_servers.serve(stalls, reads=False, scheme="https") as silent,
        fault_servers.serve(fault_servers.drips_body) as dripping,
    ):
        for site in (plain, secure, silent, dripping):
            one.runner.run(cancelled(site.url))
    with fault_servers.serve(fault_servers.ok) as fine:
        assert isinstance(one.send(fine.url), Response)
