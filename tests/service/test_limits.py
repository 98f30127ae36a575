"""Limits of bodies, headers and connections, with a real server and raw connections."""

from __future__ import annotations

import json
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.service.running import QUESTION, Reply, RunningService, read_all, serving, until

LIMITS = {
    "max_body": 100_000,
    "max_bodies": 300_000,
    "max_header": 20_000,
    "header_timeout": 1,
    "body_timeout": 1,
    "send_timeout": 2,
    "max_connections": 40,
}
OPTIONS = [f"--limit={name}={value}" for name, value in LIMITS.items()]
HEAD = b"POST /v1/explain HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
BODY = json.dumps(QUESTION).encode()
WHOLE = HEAD + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY


@pytest.fixture(scope="module", params=["httptools", "h11"])
def service(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """A service with small limits, with both protocols of uvicorn."""
    folder = tmp_path_factory.mktemp("service")
    if request.param == "h11":
        # As if httptools were not installed.
        (folder / "httptools.py").write_text("raise ImportError", encoding="utf-8")
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(str(folder))
            import os

            patch.setenv("PYTHONPATH", f"{folder}:{os.environ.get('PYTHONPATH', '')}")
            with serving(folder, *OPTIONS) as running:
                yield running
        return
    with serving(folder, *OPTIONS) as running:
        yield running


def sent(service: RunningService, *parts: bytes, pause: float = 0.0) -> tuple[bytes, float]:
    """Send parts of a request; return all that comes back, and how long that took."""
    with closing(service.connect()) as connection:
        began = time.monotonic()
        for part in parts:
            try:
                connection.sendall(part)
            except ConnectionError:
                break
            time.sleep(pause)
        return read_all(connection), time.monotonic() - began


def head(answer: bytes) -> tuple[int, str]:
    """Return the status of a response, and the kind of its problem."""
    fields, _, body = answer.partition(b"\r\n\r\n")
    kind = json.loads(body)["type"].rpartition("#")[2] if b"problem+json" in fields else ""
    return int(fields.split()[1]), kind


# --- Bodies ---------------------------------------------------------------------------------------


def test_a_body_of_the_limit_and_one_byte_more(service: RunningService) -> None:
    """413 says how much is allowed, and closes the connection."""
    question = {**QUESTION, "robots": ""}
    padding = 100_000 - len(json.dumps(question))
    assert service.ask("POST", "/v1/explain", {**question, "robots": "#" * padding}).status == 200
    answer = service.ask("POST", "/v1/explain", {**question, "robots": "#" * (padding + 1)})
    assert (answer.status, answer.headers["connection"]) == (413, "close")
    assert answer.json()["detail"] == "a body may have 100,000 bytes"


def test_a_large_body_without_its_length(service: RunningService) -> None:
    """The bytes are counted as they come; the client can read the answer."""
    chunk = b"4000\r\n" + b" " * 0x4000 + b"\r\n"
    start = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    answer, _ = sent(service, start, *[chunk] * 10, b"0\r\n\r\n")
    assert head(answer) == (413, "too-large")


def test_a_length_that_lies(service: RunningService) -> None:
    """A body that is announced and does not come is waited for; a huge one is refused at once."""
    answer, seconds = sent(service, HEAD + b"Content-Length: 500\r\n\r\n{}")
    assert head(answer) == (408, "timeout")
    assert 0.8 < seconds < 5
    expect = b"Expect: 100-continue\r\nContent-Length: 99999999999\r\n\r\n"
    answer, seconds = sent(service, HEAD + expect)
    assert head(answer) == (413, "too-large")
    assert seconds < 0.8
    answer, _ = sent(service, HEAD + b"Content-Length: 99999999999999999999999999\r\n\r\n")
    assert head(answer)[0] in (400, 413)
    answer, _ = sent(service, HEAD + b"Content-Length: -1\r\n\r\n")
    assert head(answer)[0] == 400


def test_a_slow_body(service: RunningService) -> None:
    """Bytes that trickle do not extend the time."""
    start = HEAD + b"Content-Length: 500\r\n\r\n"
    answer, seconds = sent(service, start, *[b" "] * 12, pause=0.2)
    assert head(answer) == (408, "timeout")
    assert seconds < 5


def test_bodies_of_all_requests_are_limited(service: RunningService) -> None:
    """Requests whose bodies together need too much memory get 503; afterwards there is room."""
    with ExitStack() as stack:
        connections = [stack.enter_context(closing(service.connect())) for _ in range(5)]
        for connection in connections:
            connection.sendall(HEAD + b"Content-Length: 90000\r\n\r\n" + b" " * 80_000)
        answers = [head(read_all(connection)) for connection in connections]
    assert sorted(answers) == [(408, "timeout")] * 3 + [(503, "busy")] * 2
    assert service.check().status == 200


def test_a_refused_request_with_a_body_closes_the_connection(service: RunningService) -> None:
    """What was not read does not become the next request."""
    smuggled = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    start = HEAD.replace(b"localhost", b"attacker.example")
    fields = b"Content-Length: %d\r\n\r\n" % (len(smuggled) + 10)
    answer, _ = sent(service, start + fields + smuggled)
    assert head(answer) == (421, "forbidden-host")
    assert answer.count(b"HTTP/1.1") == 1
    assert b"connection: close" in answer


def test_an_answer_without_the_body_closes_the_connection(service: RunningService) -> None:
    """The rest of the body is no header: nothing follows the answer."""
    start = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500000\r\n\r\n"
    answer, _ = sent(service, start, *[b" " * 20_000] * 5, pause=0.05)
    assert head(answer)[0] == 200
    assert answer.count(b"HTTP/1.1") == 1
    assert b"connection: close" in answer
    # A body that is complete, or none, leaves it open.
    with closing(service.connect()) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" + WHOLE)
        received = b""
        while received.count(b"HTTP/1.1 200") < 2:
            received += connection.recv(65536)
    assert b"connection: close" not in received


# --- Headers --------------------------------------------------------------------------------------


def test_a_slow_header(service: RunningService) -> None:
    """Field after field does not extend the time."""
    answer, seconds = sent(service, HEAD, *[b"X: y\r\n"] * 18, pause=0.2)
    assert head(answer) == (408, "timeout")
    assert 0.8 < seconds < 6


def test_a_slow_header_after_a_request(service: RunningService) -> None:
    """The second request of a connection has the same limit."""
    with closing(service.connect()) as connection:
        connection.sendall(WHOLE)
        connection.recv(65536)
        connection.sendall(HEAD)
        assert head(read_all(connection)) == (408, "timeout")


def test_a_connection_without_a_request(service: RunningService) -> None:
    """It is closed without an answer: browsers open connections in advance."""
    answer, seconds = sent(service)
    assert answer == b""
    assert 0.8 < seconds < 4


def test_a_large_header(service: RunningService) -> None:
    """One field, many fields, a long URL."""
    many = b"".join(b"X-%d: %s\r\n" % (number, b"y" * 1000) for number in range(100))
    for start in (HEAD + b"X: " + b"y" * 100_000, HEAD + many, b"GET /" + b"a" * 100_000):
        answer, seconds = sent(service, start)
        assert head(answer)[0] in (400, 431), answer[:200]  # h11 has a limit of its own
        assert seconds < 0.9


def test_requests_one_after_the_other(service: RunningService) -> None:
    """A connection stays open between requests, and answers pipelined ones in order."""
    with closing(service.connect()) as connection:
        connection.sendall(WHOLE * 3 + HEAD + b"Connection: close\r\nContent-Length: 2\r\n\r\n{}")
        answer = read_all(connection)
    statuses = [int(part[:3]) for part in answer.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [200, 200, 200, 422]


# --- Connections ----------------------------------------------------------------------------------


def test_more_connections_than_allowed(service: RunningService) -> None:
    """All new, so none may be closed for another: 503 with Retry-After, and then there is room."""
    with ExitStack() as stack:
        connections = [stack.enter_context(closing(service.connect())) for _ in range(60)]
        answers = [read_all(connection) for connection in connections]
    refused = [answer for answer in answers if answer]
    assert len(refused) == 20
    for answer in refused:
        assert head(answer) == (503, "busy")
        assert b"retry-after: 2" in answer
    assert service.check().status == 200


def test_idle_connections_make_room(service: RunningService) -> None:
    """The oldest connection that waits for its client is closed for a new one."""
    with ExitStack() as stack:
        idle = [stack.enter_context(closing(service.connect())) for _ in range(40)]
        time.sleep(0.6)
        began = time.monotonic()
        assert service.check().status == 200
        assert time.monotonic() - began < 0.3
        idle[-1].setblocking(False)
        with pytest.raises(BlockingIOError):
            idle[-1].recv(1)
        idle[0].settimeout(0.2)
        assert idle[0].recv(1) == b""


def test_streams_do_not_keep_idle_connections_open(tmp_path: Path) -> None:
    """However many busy connections are older than the idle ones."""
    with serving(tmp_path, "--limit=max_connections=120") as service, ExitStack() as stack:
        start = (
            b"POST /v1/check/stream?as=ExampleBot HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
            b"application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n[]\n\r\n"
        )
        for _ in range(64):
            stream = stack.enter_context(closing(service.connect()))
            stream.sendall(start)
            assert stream.recv(10) == b"HTTP/1.1 2"
        for _ in range(56):
            idle = stack.enter_context(closing(service.connect()))
            idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert idle.recv(10) == b"HTTP/1.1 2"
        time.sleep(0.6)
        for _ in range(10):
            assert service.check().status == 200


@pytest.mark.slow
def test_ten_thousand_connections(tmp_path: Path) -> None:
    """Others are answered while 10,000 connections are opened and send nothing."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 10_500:
        pytest.skip("the system does not allow 10,000 open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    opened: list[socket.socket] = []
    times: list[float] = []
    answers: list[Reply] = []
    try:
        with serving(tmp_path, "--no-access-log") as service:
            for number in range(10_000):
                opened.append(service.connect())
                if number % 500 == 499:
                    began = time.monotonic()
                    answers.append(service.check())
                    times.append(time.monotonic() - began)
            # While all connections are new, none of them is closed for another one.
            assert {answer.status for answer in answers} <= {200, 503}
            assert all("retry-after" in one.headers for one in answers if one.status == 503)
            assert sorted(times)[len(times) // 2] < 0.5
            assert until(lambda: service.check().status == 200, 5)
            metrics = service.ask("GET", "/metrics").body.decode()
            line = next(s for s in metrics.splitlines() if s.startswith("robotrules_connections "))
            assert float(line.split()[1]) <= 2_000
    finally:
        for connection in opened:
            connection.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_response_that_nobody_reads(service: RunningService) -> None:
    """The connection is cut after a while."""
    with closing(socket.socket()) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", service.port))
        request = b"GET /v1/crawlers HTTP/1.1\r\nHost: localhost\r\n\r\n"
        connection.sendall(request * 400)

        def cut() -> bool:
            text = service.ask("GET", "/metrics").body.decode()
            return 'robotrules_dropped_connections_total{limit="send"}' in text

        assert until(cut, 15)
