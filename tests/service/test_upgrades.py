"""
Upgrade and CONNECT: ignored or refused, and never a reason to take a body for a request.

Java's HttpClient and `curl --http2` offer HTTP/2 with the first request of a connection.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from robotrules.service.connections import _without_upgrade
from tests.service.running import QUESTION, RunningService, read_all, serving

BODY = json.dumps(QUESTION).encode()
FIELDS = b"Host: localhost\r\nContent-Type: application/json\r\n"
H2C = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAA\r\n"
SMUGGLED = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service."""
    with serving(tmp_path_factory.mktemp("service")) as running:
        yield running


def post(body: bytes = BODY, offer: bytes = H2C) -> bytes:
    """Return a request with an offer to change the protocol."""
    length = b"Content-Length: %d\r\n" % len(body)
    return b"POST /v1/explain HTTP/1.1\r\n" + offer + length + FIELDS + b"\r\n" + body


def sent(service: RunningService, *parts: bytes, seconds: float = 1.0) -> bytes:
    """Send parts of a request; return what comes back in a time, or until the end."""
    with closing(service.connect()) as connection:
        for part in parts:
            connection.sendall(part)
            time.sleep(0.05)
        connection.settimeout(seconds)
        octets = b""
        with suppress(TimeoutError):
            while chunk := connection.recv(65_536):
                octets += chunk
        return octets


def statuses(octets: bytes) -> list[bytes]:
    """Return the status codes of all responses."""
    return re.findall(rb"HTTP/1\.1 (\d{3}) ", octets)


def halves(request: bytes, at: bytes, beside: int = 0) -> tuple[bytes, bytes]:
    """Split a request."""
    place = request.index(at) + beside
    return request[:place], request[place:]


@pytest.mark.parametrize(
    "parts",
    [
        (post(),),
        halves(post(), b"\r\n\r\n", 4),
        halves(post(), b"\r\n\r\n", 3),
        halves(post(), b"\r\n\r\n", 2),
        halves(post(), b"Host:"),
        (post(offer=H2C.lower()),),
        (post(offer=b"Upgrade: h2c\r\nUpgrade: websocket\r\nConnection: upgrade\r\n"),),
    ],
    ids=["one", "two", "in-end", "before-end", "in-header", "lower", "twice"],
)
def test_an_offer_of_another_protocol_is_ignored(
    service: RunningService, parts: tuple[bytes, ...]
) -> None:
    """The body is read, and the connection can be used again."""
    with closing(service.connect()) as connection:
        for part in parts:
            connection.sendall(part)
            time.sleep(0.05)
        connection.settimeout(5)
        assert b"200 OK" in connection.recv(65_536)
        connection.sendall(SMUGGLED)
        assert statuses(read_all(connection)) == [b"200"]


@pytest.mark.parametrize(
    "parts",
    [
        halves(post(SMUGGLED), b"grade: h2c"),
        halves(post(SMUGGLED), b"Upgrade: h2c"),
        halves(post(SMUGGLED), b"h2c\r\n", 3),
        (post(SMUGGLED, H2C.replace(b"Upgrade: h", b"UPGRADE:\th")),),
        (post(SMUGGLED, b"Connection: upgrade\r\nX: a\r\nUpgrade: h2c\r\n\tb\r\n"),),
        (b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n" + SMUGGLED,),
    ],
    ids=["in-name", "before-name", "after-value", "capitals", "folded", "connect"],
)
def test_what_is_not_ignored_is_refused(service: RunningService, parts: tuple[bytes, ...]) -> None:
    """With one response; nothing after the header is a request."""
    answer = sent(service, *parts, seconds=10)
    assert statuses(answer) == [b"400"]
    assert b"connection: close" in answer


def test_the_refusal_is_a_problem(service: RunningService) -> None:
    """It says what to do."""
    answer = sent(service, *halves(post(), b"grade: h2c"), seconds=10)
    fields, _, body = answer.partition(b"\r\n\r\n")
    assert b"application/problem+json" in fields
    assert json.loads(body)["type"] == "/v1/problems#upgrade-not-supported"


def test_a_body_is_never_a_request(service: RunningService) -> None:
    """Also one that looks like a header with an upgrade."""
    body = b"X: a\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n" + SMUGGLED
    for parts in (
        (post(body),),
        halves(post(body), b"\r\n\r\n", 4),
        halves(post(body), b"\r\nX: a"),
    ):
        answer = sent(service, *parts, seconds=10 if len(parts) == 1 else 1)
        assert statuses(answer) == [b"400"]
        assert b"malformed-body" in answer


def test_no_byte_of_a_body_is_removed() -> None:
    """A robots.txt may have such a line."""
    robots = "User-agent: *\r\nUpgrade: a\r\nDisallow: /a\r\n\r\n"
    body = (
        b'{"octets":"x\r\nUpgrade: y\r\nz"}' + json.dumps({**QUESTION, "robots": robots}).encode()
    )
    head, _ = halves(post(body, b""), b"\r\n\r\n")
    for beside in range(4):
        whole = head + b"\r\n\r\n" + body
        cut = len(head) + beside
        assert _without_upgrade(whole[max(0, cut - 2) : cut], whole[cut:]) == whole[cut:]
    assert _without_upgrade(b"", post(body)) == post(body, H2C.replace(b"Upgrade: h2c\r\n", b""))


def test_a_request_before_the_refused_one_is_answered(service: RunningService) -> None:
    """Its response comes first, and then the end."""
    answer = sent(service, post(offer=b"") + post(SMUGGLED), seconds=10)
    assert statuses(answer) == [b"200"]


def test_a_websocket_is_a_plain_request(service: RunningService) -> None:
    """There is none to open."""
    offer = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    request = (
        b"GET /healthz HTTP/1.1\r\n" + offer + b"Sec-WebSocket-Key: YQ==\r\n" + FIELDS + b"\r\n"
    )
    assert statuses(sent(service, request)) == [b"200"]


def test_a_long_url_is_too_large(service: RunningService) -> None:
    """The parser cannot split it."""
    answer = sent(service, b"GET /healthz?" + b"a" * 70_000 + b" HTTP/1.1\r\n" + FIELDS + b"\r\n")
    assert statuses(answer) == [b"431"]


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_curl_that_offers_http2(service: RunningService) -> None:
    """Its body arrives."""
    url = f"http://127.0.0.1:{service.port}/v1/explain"
    command = ["curl", "-s", "--http2", "--noproxy", "*", "-H", "Content-Type: application/json"]
    ran = subprocess.run([*command, "-d", BODY.decode(), url], capture_output=True, timeout=30)
    assert json.loads(ran.stdout)["url"] == QUESTION["url"]


JAVA = """
import java.net.URI;
import java.net.http.*;

public class Ask {
    public static void main(String[] given) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(given[0]))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(given[1])).build();
        var client = HttpClient.newHttpClient();
        for (int n = 0; n < 2; n++) {
            var answer = client.send(request, HttpResponse.BodyHandlers.ofString());
            System.out.println(answer.statusCode());
        }
    }
}
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("javac") is None, reason="Java is not installed")
def test_the_client_of_java(service: RunningService, tmp_path: Path) -> None:
    """With its default settings."""
    (tmp_path / "Ask.java").write_text(JAVA, encoding="utf-8")
    url = f"http://127.0.0.1:{service.port}/v1/explain"
    command = ["java", "-Dhttp.nonProxyHosts=127.0.0.1", "Ask.java", url, BODY.decode()]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert ran.stdout.split() == ["200", "200"], ran.stderr
