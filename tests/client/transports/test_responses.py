"""Responses: the request, what is read of the answer and how far, on every transport."""

from __future__ import annotations

import gzip
import socket
import zlib
from collections.abc import Callable

import brotli  # type: ignore[import-untyped]
import pytest
from backports import zstd

from robotrules.access import Failure, Request, Response
from robotrules.client.ssrf import AddressPolicy
from robotrules.http.fields import read_fields
from tests.client import fault_servers
from tests.client.transports.conftest import AGENT, Carrier

Make = Callable[..., Carrier]


def fields_of(head: bytes) -> dict[str, list[str]]:
    """Return the fields of a request as it came."""
    fields: dict[str, list[str]] = {}
    for line in head.decode("latin-1").split("\r\n")[1:]:
        name, _, value = line.partition(": ")
        if name:
            fields.setdefault(name.lower(), []).append(value)
    return fields


def ask(make: Make, data: bytes, **options: object) -> Response:
    """Return the answer to a server that sends these octets."""
    with fault_servers.serve(fault_servers.says(data)) as site:
        answer = make().send(Request(f"{site.url}/robots.txt", **options))  # type: ignore[arg-type]
        assert isinstance(answer, Response), answer
        return answer


# --- The request ----------------------------------------------------------------------------------


def test_the_request_has_the_user_agent_and_no_more(carrier: Make) -> None:
    with fault_servers.serve(fault_servers.ok) as site:
        wanted = (("If-None-Match", '"abc"'), ("If-Modified-Since", "Sat, 1 Jan 2000"))
        carrier().send(Request(site.named("one.example") + "/robots.txt", wanted))
        (head,) = site.heads
    assert head.startswith(b"GET /robots.txt HTTP/1.1\r\n")
    fields = fields_of(head)
    fields.pop("connection", None)
    assert fields == {
        "host": [f"one.example:{site.port}"],
        "user-agent": [AGENT],
        "accept-encoding": ["gzip, deflate, br, zstd"],
        "accept": ["*/*"],
        "if-none-match": ['"abc"'],
        "if-modified-since": ["Sat, 1 Jan 2000"],
    }


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("", "/"),
        ("?q=1", "/?q=1"),
        ("/a%2Fb?x=%20&y=[1]|{2}#top", "/a%2Fb?x=%20&y=[1]|{2}"),
        ("/ü/%fc", "/%C3%BC/%fc"),
        ("/\udcfc", "/%FC"),
        ("/\ud800", "/%ED%A0%80"),
        ("/a b", "/a%20b"),
        ("//a/../b", "//a/../b"),
    ],
)
def test_the_path_goes_out_as_written(carrier: Make, written: str, sent: str) -> None:
    with fault_servers.serve(fault_servers.ok) as site:
        carrier().send(site.url + written)
        assert site.heads[0].split(b" ")[1].decode() == sent


def test_userinfo_stays_at_home(carrier: Make) -> None:
    with fault_servers.serve(fault_servers.ok) as site:
        carrier().send(site.url.replace("//", "//me:secret@"))
        assert b"uthorization" not in site.heads[0]
        assert b"secret" not in site.heads[0]


def test_a_request_chooses_its_accept_and_nothing_of_ours(carrier: Make) -> None:
    with fault_servers.serve(fault_servers.ok) as site:
        carrier().send(Request(site.url, (("Accept", "text/html"),)))
        assert fields_of(site.heads[0])["accept"] == ["text/html"]
        for name in ("User-Agent", "Host", "Accept-Encoding", "connection"):
            with pytest.raises(ValueError, match="the transport sets"):
                carrier().send(Request(site.url, ((name, "x"),)))


def test_nothing_is_followed(carrier: Make) -> None:
    with fault_servers.serve(fault_servers.redirects) as site:
        answer = carrier().send(f"{site.url}/robots.txt")
        assert isinstance(answer, Response)
        assert answer.status == 302
        assert read_fields(answer.headers).get("location") == [b"/1"]
        assert site.connections == 1


def test_no_cookie_is_kept(carrier: Make) -> None:
    with fault_servers.farm(
        lambda host, path: fault_servers.message(b"", "Set-Cookie: a=1; Path=/")
    ) as site:
        one = carrier()
        for _ in range(3):
            assert isinstance(one.send(site.named("one.example")), Response)
    with fault_servers.serve(
        fault_servers.says(fault_servers.message(b"", "Set-Cookie: a=1; Path=/"))
    ) as loud:
        two = carrier()
        for _ in range(2):
            two.send(loud.named("one.example"))
        assert all("cookie" not in fields_of(head) for head in loud.heads)


# --- What is read ---------------------------------------------------------------------------------


def test_an_answer_has_its_fields_apart_and_its_address(carrier: Make) -> None:
    data = fault_servers.message(
        fault_servers.ROBOTS, "X-Robots-Tag: noindex", "Other: \xfc", "X-Robots-Tag: a: nofollow"
    )
    answer = ask(carrier, data)
    assert answer.status == 200
    assert answer.body == fault_servers.ROBOTS
    assert answer.complete
    assert answer.address == "127.0.0.1"
    assert isinstance(answer.headers, list)
    assert (b"X-Robots-Tag", b"noindex") in answer.headers
    assert (b"Other", b"\xfc") in answer.headers
    fields = read_fields(answer.headers)
    assert fields.apart
    assert fields.get("x-robots-tag") == [b"noindex", b"a: nofollow"]


@pytest.mark.parametrize("status", ["204 No Content", "301 Moved", "404 Gone", "503 No", "999 Odd"])
def test_a_body_that_is_of_no_use_is_not_read(carrier: Make, status: str) -> None:
    """It is not waited for either: the server never sends what it announced."""

    def stalls(peer: fault_servers.Peer) -> None:
        length = () if status[:3] == "204" else ("Content-Length: 100000",)
        head = "\r\n".join([f"HTTP/1.1 {status}", *length, "", ""])
        peer.send(head.encode())
        peer.pause(fault_servers.LONGEST)

    with fault_servers.serve(stalls) as site:
        answer = carrier(timeout=3.0).send(site.url)
        assert isinstance(answer, Response), answer
        assert answer.status == int(status[:3])
        assert answer.body == b""
        assert answer.complete


@pytest.mark.parametrize(
    ("size", "limit", "complete"),
    [(100, 100, True), (101, 100, False), (0, 0, True), (1, 0, False), (300_000, 200_000, False)],
)
@pytest.mark.parametrize("coding", ["identity", "gzip", "br", "zstd", "chunked"])
def test_the_limit_counts_decoded_octets(
    carrier: Make, size: int, limit: int, complete: bool, coding: str
) -> None:
    body = bytes(index % 251 for index in range(size))
    fields = [f"Content-Encoding: {coding}"] if coding != "chunked" else []
    if coding == "chunked":
        half = size // 2
        chunks = [one for one in (body[:half], body[half:]) if one]
        data = fault_servers.message(fault_servers.chunked(*chunks), "Transfer-Encoding: chunked")
    else:
        data = fault_servers.message(ENCODERS[coding](body), *fields)
    answer = ask(carrier, data, limit=limit)
    assert answer.body == body[:limit]
    assert answer.complete is complete


def test_what_is_past_the_limit_need_not_come(carrier: Make) -> None:
    """A server that stalls after the limit, or is cut there, is not a failure (AMB-57)."""

    def stalls(peer: fault_servers.Peer) -> None:
        peer.send(fault_servers.message(b"#" * 2000, length=5000))
        peer.pause(fault_servers.LONGEST)

    for behaviour in (stalls, fault_servers.says(fault_servers.message(b"#" * 2000, length=5000))):
        with fault_servers.serve(behaviour) as site:
            answer = carrier(timeout=3.0).send(Request(site.url, limit=1000))
            assert isinstance(answer, Response), answer
            assert answer.body == b"#" * 1000
            assert not answer.complete


def test_a_body_may_end_with_its_connection(carrier: Make) -> None:
    answer = ask(carrier, b"HTTP/1.0 200 OK\r\n\r\nUser-agent: *\n")
    assert answer.body == b"User-agent: *\n"
    assert answer.complete


def test_interim_answers_are_skipped(carrier: Make) -> None:
    answer = ask(
        carrier, b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 3 + fault_servers.message()
    )
    assert (answer.status, answer.body) == (200, fault_servers.ROBOTS)


def test_a_big_field_is_taken(carrier: Make) -> None:
    """A Content-Security-Policy of 20 KiB is real."""
    answer = ask(
        carrier,
        fault_servers.message(fault_servers.ROBOTS, "Content-Security-Policy: " + "a" * 20_000),
    )
    assert answer.status == 200
    assert any(len(value) == 20_000 for _, value in answer.headers)  # type: ignore[attr-defined]


def deflated_raw(body: bytes) -> bytes:
    """Return deflate without the zlib wrapper, as some servers send it."""
    made = zlib.compressobj(wbits=-15)
    return made.compress(body) + made.flush()


ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "identity": bytes,
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}


@pytest.mark.parametrize("coding", ENCODERS)
def test_codings_come_off(carrier: Make, coding: str) -> None:
    body = fault_servers.ROBOTS * 1000
    answer = ask(
        carrier, fault_servers.message(ENCODERS[coding](body), f"Content-Encoding: {coding}")
    )
    assert answer.body == body
    # The fields are as they came.
    assert read_fields(answer.headers).get("content-encoding") == [coding.encode()]


def test_raw_deflate_and_chained_codings_come_off(carrier: Make) -> None:
    body = fault_servers.ROBOTS * 1000
    raw = fault_servers.message(deflated_raw(body), "Content-Encoding: deflate")
    assert ask(carrier, raw).body == body
    twice = fault_servers.message(
        gzip.compress(brotli.compress(body)),
        "Content-Encoding: br",
        "Content-Encoding: GZip",
    )
    assert ask(carrier, twice).body == body


def test_ipv6_is_spoken(carrier: Make) -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("no IPv6 loopback here")
    with fault_servers.serve(fault_servers.ok, host="::1") as site:
        answer = carrier(addresses=AddressPolicy(["::1"])).send(
            f"http://[::1]:{site.port}/robots.txt"
        )
        assert isinstance(answer, Response), answer
        assert answer.address == "::1"
        assert fields_of(site.heads[0])["host"] == [f"[::1]:{site.port}"]


def test_a_name_goes_to_tls_and_to_the_host_field(carrier: Make) -> None:
    """The connection goes to an address; SNI, certificate and Host are about the name."""
    asked: list[str | None] = []
    context = fault_servers.server_tls("one.example")
    context.sni_callback = lambda sock, name, _: asked.append(name)
    with fault_servers.serve(fault_servers.ok, tls=context) as site:
        answer = carrier().send(site.named("one.example"))
        context.sni_callback = None
        assert isinstance(answer, Response), answer
        assert asked == ["one.example"]
        assert fields_of(site.heads[0])["host"] == [f"one.example:{site.port}"]


def test_any_certificate_is_accepted_if_configured(carrier: Make) -> None:
    with fault_servers.serve(
        fault_servers.ok, tls=fault_servers.server_tls("other.example")
    ) as site:
        assert isinstance(carrier(verify=False).send(site.url), Response)


def test_failures_leave_the_transport_usable(carrier: Make) -> None:
    one = carrier(connections=2)
    with (
        fault_servers.serve(fault_servers.never_answers) as slow,
        fault_servers.serve(fault_servers.ok) as fine,
    ):
        late = one.send_all([Request(slow.url, timeout=0.2)] * 4, at_once=2)
        assert all(isinstance(answer, Failure) for answer in late)
        assert isinstance(one.send(fine.url), Response)
