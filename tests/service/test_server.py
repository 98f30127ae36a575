"""The server process: where it listens, signals, several workers, and what is left of them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.service.running import JSON, QUESTION, children, read_all, runs, serving, until

TOKEN, OTHER_TOKEN = "a-token-of-the-tests", "another-token-of-tests"
# Seconds of work; see test_work.
SLOW = json.dumps({"robots": "User-agent: *\n" + "Disallow: /a/very/long/path\n" * 18_000}).encode()
HEAD = b"POST /v1/lint HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
SLOW_REQUEST = HEAD + b"Content-Length: %d\r\n\r\n" % len(SLOW) + SLOW


def workers_of(pid: int) -> list[int]:
    """Return the workers of a supervisor; a process may end while it is looked at."""
    found = []
    for child in children(pid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if b"robotrules.service.server" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(child)
    return found


def ready(pid: int, count: int) -> bool:
    """Tell whether so many workers have started their processes."""
    workers = workers_of(pid)
    return len(workers) == count and all(children(worker) for worker in workers)


def test_sigterm_finishes_running_requests(tmp_path: Path) -> None:
    """The running request is answered, new ones are not accepted, and nothing is left."""
    with serving(tmp_path) as service, closing(service.connect()) as connection:
        service.check()
        connection.sendall(SLOW_REQUEST)
        time.sleep(0.3)
        processes = children(service.process.pid)
        assert processes
        service.signal(signal.SIGTERM)
        answer = read_all(connection)
        assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
        assert b"connection: close" in answer
        assert service.wait() == 0
        assert until(lambda: not any(map(runs, processes)), 5)
        with pytest.raises(ConnectionRefusedError):
            service.connect()


def test_sigterm_ends_within_a_bound(tmp_path: Path) -> None:
    """A request that takes longer than `stop_timeout` is cancelled."""
    limits = ["--limit=stop_timeout=1", "--limit=work_timeout=60"]
    with serving(tmp_path, *limits) as service, closing(service.connect()) as connection:
        service.check()
        connection.sendall(SLOW_REQUEST)
        time.sleep(0.3)
        began = time.monotonic()
        service.signal(signal.SIGTERM)
        assert service.wait() == 0
        assert time.monotonic() - began < 3


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_it_without_an_error(tmp_path: Path, number: int) -> None:
    """An idle connection does not delay the end."""
    with serving(tmp_path) as service, closing(service.connect()):
        began = time.monotonic()
        service.signal(number)
        assert service.wait() == 0
        assert time.monotonic() - began < 3
        assert "Traceback" not in service.log


def test_readiness_ends_before_the_service(tmp_path: Path) -> None:
    """A load balancer that asks /readyz has time to notice; a second signal does not wait."""
    with serving(tmp_path, "--limit=unready_seconds=60") as service:
        assert service.ask("GET", "/readyz").status == 200
        service.signal(signal.SIGTERM)
        assert until(lambda: service.ask("GET", "/readyz").status == 503, 5)
        assert service.ask("GET", "/readyz").json()["reasons"] == ["stopping"]
        assert service.ask("GET", "/healthz").status == 200
        assert service.check().status == 200
        service.signal(signal.SIGTERM)
        assert service.wait() == 0


@pytest.mark.parametrize("workers", [1, 2])
def test_sighup_reads_the_tokens_again(tmp_path: Path, workers: int) -> None:
    """New tokens count at once; a file that cannot be used changes nothing; none is shown."""
    path = tmp_path / "tokens"
    path.write_text(f"{TOKEN}\n", encoding="utf-8")
    path.chmod(0o600)
    options = ["--token-file", str(path), "--workers", str(workers)]

    def statuses() -> list[int]:
        """Ask several times: each connection may reach another worker."""
        return [
            service.ask("POST", "/v1/explain", QUESTION, {"Authorization": f"Bearer {each}"}).status
            for each in (TOKEN, OTHER_TOKEN)
            for _ in range(6)
        ]

    with serving(tmp_path, *options) as service:
        assert until(lambda: workers == 1 or ready(service.process.pid, workers))
        assert statuses() == [200] * 6 + [401] * 6
        path.write_text(f"{OTHER_TOKEN}\n", encoding="utf-8")
        service.signal(signal.SIGHUP)
        # The supervisor reads them too, for workers that it starts later.
        readers = 1 if workers == 1 else workers + 1
        assert until(lambda: service.log.count("tokens-read") == readers, 20)
        assert statuses() == [401] * 6 + [200] * 6
        path.write_text("short\n", encoding="utf-8")
        service.signal(signal.SIGHUP)
        assert until(lambda: service.log.count("tokens-kept") == readers, 20)
        assert statuses() == [401] * 6 + [200] * 6
        for pid in (service.process.pid, *children(service.process.pid)):
            shown = Path(f"/proc/{pid}/cmdline").read_bytes()
            shown += Path(f"/proc/{pid}/environ").read_bytes()
            assert TOKEN.encode() not in shown
            assert OTHER_TOKEN.encode() not in shown
        assert TOKEN not in service.log
        assert OTHER_TOKEN not in service.log


def test_a_new_worker_has_the_tokens_of_the_last_sighup(tmp_path: Path) -> None:
    """A token that was removed stays removed when a worker is replaced."""
    path = tmp_path / "tokens"
    path.touch(0o600)
    path.write_text(f"{TOKEN}\n", encoding="utf-8")

    def statuses(token: str) -> set[int]:
        """Ask several times: each connection may reach another worker."""
        fields = {"Authorization": f"Bearer {token}"}
        asked = range(12)
        return {service.ask("POST", "/v1/explain", QUESTION, fields).status for _ in asked}

    with serving(tmp_path, "--token-file", str(path), "--workers", "2") as service:
        pid = service.process.pid
        assert until(lambda: ready(pid, 2))
        path.write_text(f"{OTHER_TOKEN}\n", encoding="utf-8")
        service.signal(signal.SIGHUP)
        assert until(lambda: service.log.count("tokens-read") == 3, 20)
        # A file that cannot be used leaves the last tokens, also for workers that start later.
        path.write_text("short\n", encoding="utf-8")
        service.signal(signal.SIGHUP)
        assert until(lambda: service.log.count("tokens-kept") == 3, 20)
        for worker in workers_of(pid):
            os.kill(worker, signal.SIGKILL)
            assert until(lambda gone=worker: gone not in workers_of(pid) and ready(pid, 2))
        assert statuses(TOKEN) == {401}
        assert statuses(OTHER_TOKEN) == {200}


@pytest.mark.parametrize("workers", [1, 2])
def test_sighup_waits_for_the_start(tmp_path: Path, workers: int) -> None:
    """It ends no process that is starting, and the tokens are read again."""
    path = tmp_path / "tokens"
    path.touch(0o600)
    path.write_text(f"{TOKEN}\n", encoding="utf-8")
    options = ["--token-file", str(path), "--workers", str(workers)]

    def hang_up(pid: int) -> None:
        """Send it from the moment when it can be blocked."""
        assert until(lambda: hangups_blocked(pid))
        path.write_text(f"{OTHER_TOKEN}\n", encoding="utf-8")
        while "start " not in service_log.read_text(encoding="utf-8"):
            os.kill(pid, signal.SIGHUP)
            time.sleep(0.02)

    service_log = tmp_path / "log.txt"
    with serving(tmp_path, *options, on_process=hang_up) as service:
        assert until(lambda: workers == 1 or ready(service.process.pid, workers))
        assert "worker-end" not in service.log
        fields = {"Authorization": f"Bearer {OTHER_TOKEN}"}
        for _ in range(6):
            assert service.ask("POST", "/v1/explain", QUESTION, fields).status == 200


def hangups_blocked(pid: int) -> bool:
    """Tell whether SIGHUP waits in the main thread of a process."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    blocked = next(line for line in lines if line.startswith("SigBlk:")).split()[1]
    return bool(int(blocked, 16) & 1 << (signal.SIGHUP - 1))


# --- Several workers ------------------------------------------------------------------------------


def test_a_killed_worker_is_replaced(tmp_path: Path) -> None:
    """Others answer in the meantime; its processes end with it."""
    with serving(tmp_path, "--workers", "2") as service:
        pid = service.process.pid
        assert until(lambda: ready(pid, 2))
        killed, other = workers_of(pid)
        orphans = children(killed)
        os.kill(killed, signal.SIGKILL)
        assert until(lambda: not any(map(runs, orphans)), 5)
        statuses = [service.check().status for _ in range(20)]
        assert statuses == [200] * 20
        assert until(lambda: ready(pid, 2))
        assert killed not in workers_of(pid)
        assert other in workers_of(pid)
        assert "worker-end" in service.log
        service.signal(signal.SIGTERM)
        assert service.wait() == 0


def test_workers_end_with_a_killed_supervisor(tmp_path: Path) -> None:
    """Nothing is left: no worker, no process of a worker, and the port is free."""
    with serving(tmp_path, "--workers", "2") as service:
        assert until(lambda: ready(service.process.pid, 2))
        everything = children(service.process.pid)
        assert len(everything) == 6
        service.process.kill()
        service.wait()
        assert until(lambda: not any(map(runs, everything)), 10)
        with pytest.raises(ConnectionRefusedError):
            service.connect()


@pytest.mark.slow
def test_a_worker_that_hangs_is_seen(tmp_path: Path) -> None:
    """A stopped worker gives no sign of life; the other one answers."""
    with serving(tmp_path, "--workers", "2") as service:
        pid = service.process.pid
        assert until(lambda: ready(pid, 2))
        stopped, _ = workers_of(pid)
        os.kill(stopped, signal.SIGSTOP)
        assert until(lambda: stopped not in workers_of(pid), 90)
        assert until(lambda: ready(pid, 2))


def test_workers_count_together(tmp_path: Path) -> None:
    """Each worker answers with the sum of all."""
    with serving(tmp_path, "--workers", "2") as service:
        assert until(lambda: ready(service.process.pid, 2))
        threads = [threading.Thread(target=service.check) for _ in range(30)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        line = 'robotrules_requests_total{path="/v1/explain",status="200"} 30.0'
        for _ in range(6):
            assert line in service.ask("GET", "/metrics").body.decode()


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    """It is an error at the start, in one line."""
    from tests.cli.shell import robotrules

    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ran = robotrules("serve", "--port", str(port))
    assert ran.code == 2
    assert ran.err == (
        f"robotrules serve: cannot listen on 127.0.0.1 port {port}: Address already in use; pass "
        "another --host or --port\n"
    )


def test_a_client_that_leaves_stops_waiting_work(tmp_path: Path) -> None:
    """The request is not run any more, and the log says that the client left."""
    options = ["--processes", "1", "--limit=queue_timeout=30", "--limit=work_timeout=30"]
    with serving(tmp_path, *options) as service, closing(service.connect()) as first:
        service.check()
        first.sendall(SLOW_REQUEST)
        time.sleep(0.3)
        second = service.connect()
        second.sendall(SLOW_REQUEST)

        def waiting() -> str:
            lines = service.ask("GET", "/metrics").body.decode().splitlines()
            return next(s for s in lines if s.startswith("robotrules_work_waiting ")).split()[1]

        assert until(lambda: waiting() == "1.0", 5)
        second.close()
        assert until(lambda: waiting() == "0.0", 5)
        assert until(lambda: "status=499" in service.log, 5)


def test_ipv6(tmp_path: Path) -> None:
    """The loopback address of IPv6, where the system has it."""
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        pytest.skip("this machine has no IPv6")
    with (
        serving(tmp_path, "--host", "::1") as service,
        socket.create_connection(("::1", service.port), 10) as connection,
    ):
        connection.sendall(b"GET /v1/crawlers HTTP/1.0\r\nHost: [::1]\r\n\r\n")
        assert read_all(connection).startswith(b"HTTP/1.1 200")


def test_an_answer_has_the_id_of_its_request(tmp_path: Path) -> None:
    """The client's id if it is a sane one; the same in the log."""
    with serving(tmp_path) as service:
        given = service.ask("POST", "/v1/explain", QUESTION, {"X-Request-ID": "job-17:a.b"})
        assert given.headers["x-request-id"] == "job-17:a.b"
        assert until(lambda: "id=job-17:a.b" in service.log, 5)
        for bad in ("a b", "x" * 200, "<script>", ""):
            made = service.ask("POST", "/v1/explain", QUESTION, {"X-Request-ID": bad})
            assert made.headers["x-request-id"] not in ("", bad)
        assert made.headers["x-content-type-options"] == "nosniff"
        assert made.headers["cache-control"] == "no-store"
        assert "server" not in made.headers
        assert JSON["Content-Type"] == made.headers["content-type"]


# --- What a stop does to requests -----------------------------------------------------------------


def request_head(path: str, fields: str = "") -> bytes:
    """Return the header of a request."""
    method = "POST" if fields else "GET"
    return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n".encode()


def test_a_request_that_a_stop_cancels_gets_a_problem(tmp_path: Path) -> None:
    """503 with the id of the request, in the log too; a client that left is 499."""
    options = ["--limit=stop_timeout=1", "--allow-private", "127.0.0.1"]
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        question = request_head(f"/v1/check?url={url}&as=ExampleBot")
        with serving(tmp_path, *options) as service, closing(service.connect()) as connection:
            connection.sendall(question)
            with closing(service.connect()) as leaving:
                leaving.sendall(question)
                time.sleep(0.3)
            service.signal(signal.SIGTERM)
            answer = read_all(connection)
            assert service.wait() == 0
            fields, _, body = answer.partition(b"\r\n\r\n")
            assert fields.startswith(b"HTTP/1.1 503 ")
            assert b"\r\nretry-after: 1\r\n" in fields
            assert b"\r\nx-request-id: " in fields
            assert json.loads(body)["type"] == "/v1/problems#stopping"
            log = service.log
            assert [log.count(f"status={status}") for status in (499, 500, 503)] == [1, 0, 1]
            assert "problem=stopping" in log


@pytest.mark.parametrize("answered", [0, 2])
def test_a_stream_that_a_stop_cuts_has_a_last_line(tmp_path: Path, answered: int) -> None:
    """Its end is complete HTTP, so the client reads the line."""
    options = ["--limit=stop_timeout=1", "--limit=body_timeout=60", "--allow-private", "127.0.0.1"]
    fields = "Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n"
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hanging = {"url": f"http://127.0.0.1:{silent.getsockname()[1]}/"}
        lines = [{"url": "no URL"}] * answered + [hanging]
        body = "".join(json.dumps(line) + "\n" for line in lines).encode()
        with serving(tmp_path, *options) as service, closing(service.connect()) as connection:
            connection.sendall(request_head("/v1/check/stream?as=ExampleBot", fields))
            connection.sendall(b"%x\r\n%b\r\n" % (len(body), body))
            time.sleep(0.5)
            service.signal(signal.SIGTERM)
            answer = read_all(connection)
            assert service.wait() == 0
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.endswith(b"\r\n0\r\n\r\n")
    found = [json.loads(line) for line in answer.split(b"\r\n") if line.startswith(b"{")]
    assert [found[-1]["type"], found[-1]["line"]] == ["/v1/problems#stopping", None]
    assert "allowed" not in found[-1]


@pytest.mark.parametrize("workers", [1, 2])
def test_no_connection_is_reset_by_a_stop(tmp_path: Path, workers: int) -> None:
    """A new connection is answered or refused, whenever it is made."""
    outcomes: list[str] = []

    def ask() -> None:
        """Send requests with connections of their own until one is refused."""
        while True:
            try:
                with closing(service.connect()) as connection:
                    connection.sendall(request_head("/healthz", ""))
                    connection.settimeout(10)
                    outcomes.append(connection.recv(15).decode())
            except ConnectionRefusedError:
                return
            except OSError as error:
                outcomes.append(repr(error))

    with serving(tmp_path, "--workers", str(workers)) as service:
        assert until(lambda: workers == 1 or ready(service.process.pid, workers))
        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(0.3)
        service.signal(signal.SIGTERM)
        for thread in threads:
            thread.join(20)
        assert service.wait() == 0
    assert set(outcomes) == {"HTTP/1.1 200 OK"}


def test_a_connection_without_a_request_gets_a_moment(tmp_path: Path) -> None:
    """Its request may be on the way when the service stops."""
    with serving(tmp_path) as service, closing(service.connect()) as connection:
        time.sleep(0.3)
        service.signal(signal.SIGTERM)
        time.sleep(0.3)
        connection.sendall(request_head("/healthz"))
        answer = read_all(connection)
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert b"connection: close" in answer
        assert service.wait() == 0
