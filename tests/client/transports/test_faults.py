"""
Faults: whatever the network does is a `Failure` of the right kind, in time, on every transport.

One table (AMB-57): what a server does, and what a transport makes of it. No exception comes out,
and a detail is one line for people.
"""

from __future__ import annotations

import gzip
import random
import ssl
import time
from collections.abc import Callable
from contextlib import ExitStack

import pytest

from robotrules.access import Failure, FailureReason, Request, Response
from robotrules.client.ssrf import AddressPolicy
from tests.client import fault_servers
from tests.client.transports.conftest import Carrier

Make = Callable[..., Carrier]

# Name of a behaviour in `wire` → what it is. Those that last until the deadline are below.
FAULTS = {
    "resets_at_once": FailureReason.CUT,
    "resets_mid_headers": FailureReason.CUT,
    "resets_mid_body": FailureReason.CUT,
    "closes_at_once": FailureReason.CUT,
    "closes_mid_headers": FailureReason.CUT,
    "short": FailureReason.CUT,
    "chunk_cut": FailureReason.CUT,
    "chunk_cut_within": FailureReason.CUT,
    "garbage": FailureReason.PROTOCOL,
    "ssh": FailureReason.PROTOCOL,
    "bad_status_line": FailureReason.PROTOCOL,
    "bad_length": FailureReason.PROTOCOL,
    "two_lengths": FailureReason.PROTOCOL,
    "bad_chunk": FailureReason.PROTOCOL,
    "huge_header": FailureReason.PROTOCOL,
    "many_headers": FailureReason.PROTOCOL,
    "coded_transfer": FailureReason.PROTOCOL,
    "unknown_coding": FailureReason.CODING,
    "broken_coding": FailureReason.CODING,
    "cut_coding": FailureReason.CODING,
}


def check(answer: object, trouble: FailureReason) -> None:
    """Assert that an answer is a failure of a kind, with a detail that people can read."""
    assert isinstance(answer, Failure), answer
    assert answer.reason is trouble, answer
    assert 5 < len(answer.detail) <= 300, answer
    assert answer.detail.isascii()
    assert answer.detail.isprintable()
    assert "object at 0x" not in answer.detail
    assert "_ssl.c" not in answer.detail


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("secure", [False, True], ids=["http", "https"])
def test_a_fault_is_a_failure(carrier: Make, fault: str, secure: bool) -> None:
    with fault_servers.serve(
        getattr(fault_servers, fault), tls=fault_servers.server_tls() if secure else None
    ) as site:
        begun = time.monotonic()
        answer = carrier().send(site.url)
        assert time.monotonic() - begun < 2.0
        check(answer, FAULTS[fault])
        assert site.connections == 1


@pytest.mark.parametrize("fault", ["never_answers", "drips_headers", "drips_body", "pours"])
def test_a_slow_server_is_late_as_a_whole(carrier: Make, fault: str) -> None:
    """Each octet is in time; all of them are not."""
    with fault_servers.serve(getattr(fault_servers, fault)) as site:
        begun = time.monotonic()
        answer = carrier().send(Request(site.url, timeout=0.4))
        assert 0.35 < time.monotonic() - begun < 1.4
        check(answer, FailureReason.TIMEOUT)
        assert isinstance(answer, Failure)
        assert answer.detail == "no whole answer within 0.4 s"


@pytest.mark.parametrize("fault", ["never_answers", "drips_headers", "drips_body"])
def test_a_slow_server_is_late_over_tls(carrier: Make, fault: str) -> None:
    with fault_servers.serve(getattr(fault_servers, fault), tls=fault_servers.server_tls()) as site:
        check(carrier().send(Request(site.url, timeout=0.4)), FailureReason.TIMEOUT)


def test_the_transports_own_time_goes_without_one_of_the_request(carrier: Make) -> None:
    with fault_servers.serve(fault_servers.never_answers) as site:
        begun = time.monotonic()
        check(carrier(timeout=0.3).send(site.url), FailureReason.TIMEOUT)
        assert time.monotonic() - begun < 1.0


def test_no_time_at_all_is_too_little(carrier: Make) -> None:
    with fault_servers.serve(fault_servers.ok) as site:
        check(carrier().send(Request(site.url, timeout=0.0)), FailureReason.TIMEOUT)


def test_tls_that_never_begins_is_late(carrier: Make) -> None:
    with fault_servers.serve(fault_servers.never_answers, reads=False, scheme="https") as site:
        begun = time.monotonic()
        check(carrier().send(Request(site.url, timeout=0.4)), FailureReason.TIMEOUT)
        assert time.monotonic() - begun < 1.4


def test_a_closed_port(carrier: Make) -> None:
    with fault_servers.closed_port() as origin:
        answer = carrier().send(f"{origin}/robots.txt")
        check(answer, FailureReason.CONNECT)
        assert isinstance(answer, Failure)
        assert "refused" in answer.detail


# --- TLS ------------------------------------------------------------------------------------------


def test_a_certificate_of_an_unknown_authority(carrier: Make) -> None:
    with fault_servers.serve(fault_servers.ok, tls=fault_servers.server_tls()) as site:
        answer = carrier(verify=True).send(site.url)
        check(answer, FailureReason.TLS)
        assert isinstance(answer, Failure)
        assert "certificate verify failed" in answer.detail
        assert site.heads == []


def test_a_certificate_for_another_name(carrier: Make) -> None:
    with fault_servers.serve(
        fault_servers.ok, tls=fault_servers.server_tls("other.example")
    ) as site:
        answer = carrier().send(site.named("one.example"))
        check(answer, FailureReason.TLS)
        assert isinstance(answer, Failure)
        assert "one.example" in answer.detail


@pytest.mark.parametrize("fault", ["plain_speech", "garbage", "closes_at_once", "resets_at_once"])
def test_a_port_that_does_not_speak_tls(carrier: Make, fault: str) -> None:
    with fault_servers.serve(getattr(fault_servers, fault), reads=False, scheme="https") as site:
        check(carrier().send(site.url), FailureReason.TLS)


def test_a_server_that_wants_a_certificate_from_us(carrier: Make) -> None:
    wants = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    fault_servers.authority().issue_cert(fault_servers.LOOPBACK).configure_cert(wants)
    fault_servers.authority().configure_trust(wants)
    wants.verify_mode = ssl.CERT_REQUIRED
    with fault_servers.serve(fault_servers.ok, tls=wants) as site:
        answer = carrier().send(site.url)
        assert isinstance(answer, Failure)
        # With TLS 1.3 the refusal comes after the handshake: as an alert, or as a reset.
        assert answer.reason in (FailureReason.TLS, FailureReason.CUT)


def test_tls_spoken_to_a_plain_client(carrier: Make) -> None:
    with fault_servers.serve(
        fault_servers.ok, tls=fault_servers.server_tls(), scheme="http"
    ) as site:
        answer = carrier().send(site.url)
        assert isinstance(answer, Failure)
        assert answer.reason in (FailureReason.PROTOCOL, FailureReason.CUT)


# --- Names ----------------------------------------------------------------------------------------


def test_a_name_without_address(carrier: Make) -> None:
    def nobody(host: str, port: int) -> list[str]:
        raise OSError(-2, "Name or service not known")

    answer = carrier(addresses=AddressPolicy(resolve=nobody)).send("http://gone.example/robots.txt")
    assert answer == Failure(FailureReason.DNS, "gone.example: Name or service not known")


def test_a_resolver_that_hangs_is_late(carrier: Make) -> None:
    with ExitStack() as stack:
        site = stack.enter_context(fault_servers.serve(fault_servers.ok))

        def hangs(host: str, port: int) -> list[str]:
            site.over.wait(fault_servers.LONGEST)
            return [fault_servers.LOOPBACK]

        begun = time.monotonic()
        answer = carrier(addresses=AddressPolicy(["127.0.0.1"], hangs)).send(
            Request("http://slow.example/", timeout=0.3)
        )
        assert time.monotonic() - begun < 1.0
        check(answer, FailureReason.TIMEOUT)


def test_a_dead_address_leaves_time_for_the_next(carrier: Make) -> None:
    """The first address refuses connections; the second answers."""
    both = AddressPolicy(["127.0.0.0/8"], lambda host, port: ["127.0.0.99", "127.0.0.1"])
    with fault_servers.serve(fault_servers.ok) as site:
        answer = carrier(addresses=both).send(site.named("two.example"))
        assert not isinstance(answer, Failure), answer
        assert answer.address == "127.0.0.1"


@pytest.mark.parametrize("url", ["ftp://example.com/", "/robots.txt", "http://", "http://a b/", ""])
def test_an_invalid_url_is_a_failure(carrier: Make, url: str) -> None:
    check(carrier().send(url), FailureReason.PROTOCOL)


@pytest.mark.parametrize("status", ["101 Switching Protocols", "000 Odd", "99 Odd", "2000 Odd"])
def test_a_status_that_is_none(carrier: Make, status: str) -> None:
    with fault_servers.serve(
        fault_servers.says(f"HTTP/1.1 {status}\r\nUpgrade: x\r\n\r\n".encode())
    ) as site:
        check(carrier().send(site.url), FailureReason.PROTOCOL)


def test_whatever_comes_is_an_answer_or_a_failure(carrier: Make) -> None:
    """Answers with octets changed, doubled and lost: nothing raises, nothing hangs."""
    seeds = [
        fault_servers.message(),
        fault_servers.message(
            fault_servers.chunked(b"abc", fault_servers.ROBOTS), "Transfer-Encoding: chunked"
        ),
        fault_servers.message(gzip.compress(fault_servers.ROBOTS), "Content-Encoding: gzip"),
        b"HTTP/1.1 100 Continue\r\n\r\n" + fault_servers.message(),
        fault_servers.message(b"", "Location: /x", status="302 Found"),
    ]
    chance = random.Random(9309)
    said = [b""]
    with fault_servers.serve(lambda peer: peer.send(said[0])) as site:
        one = carrier()
        for number in range(120):
            data = bytearray(seeds[number % len(seeds)])
            for _ in range(chance.randint(1, 3)):
                where = chance.randrange(len(data))
                width = chance.randint(1, 8)
                data[where : where + width] = chance.choice(
                    [
                        b"",
                        chance.randbytes(width),
                        bytes(data[where : where + 20]),
                        b"\r\n",
                        b"\x00",
                    ]
                )
                data = data or bytearray(b"H")
            said[0] = bytes(data)
            begun = time.monotonic()
            answer = one.send(Request(site.url, limit=1000))
            assert time.monotonic() - begun < 1.0, said
            if isinstance(answer, Failure):
                check(answer, answer.reason)


UNSENDABLE = ("a\r\nX-Evil: 1", "a\x00b", "ä€")


def test_a_field_that_cannot_be_sent_is_a_failure(carrier: Make) -> None:
    with fault_servers.serve(fault_servers.ok) as site:
        for value in UNSENDABLE:
            check(carrier().send(Request(site.url, (("X-Own", value),))), FailureReason.PROTOCOL)
        assert site.heads == []


def test_a_condition_that_cannot_be_sent_is_left_out(carrier: Make) -> None:
    """Validators come from servers: one with a line end in it must not cost the file."""
    with fault_servers.serve(fault_servers.ok) as site:
        one = carrier()
        for value in UNSENDABLE:
            fields = (("if-none-match", value), ("If-Modified-Since", value), ("X-Own", "b"))
            assert isinstance(one.send(Request(site.url, fields)), Response)
        assert len(site.heads) == len(UNSENDABLE)
        for head in site.heads:
            assert b"X-Own: b" in head
            assert b"X-Evil" not in head
            assert b"if-" not in head.lower()
