"""
A real service for tests: `robotrules serve` as a process on a free port, and raw connections to it.
"""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple

from tests.cli.shell import COMMAND, process_environment

SECONDS = 60.0
QUESTION = {
    "robots": "User-agent: *\nDisallow: /a\n",
    "url": "https://example.com/a",
    "as": "ExampleBot",
}
JSON = {"Content-Type": "application/json"}


class Reply(NamedTuple):
    """A response."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """Return the JSON of the body."""
        return json.loads(self.body)


class RunningService:
    """A service and what it prints."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, log: Path) -> None:
        self.process, self.port, self._log = process, port, log

    @property
    def log(self) -> str:
        """The log so far."""
        return self._log.read_text(encoding="utf-8")

    def ask(
        self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None
    ) -> Reply:
        """Send one request with a connection of its own."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        with contextlib.closing(connection):
            data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
            connection.request(method, path, data, {**(JSON if data else {}), **(headers or {})})
            answer = connection.getresponse()
            fields = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, fields, answer.read())

    def check(self) -> Reply:
        """Ask a question that takes no time."""
        return self.ask("POST", "/v1/explain", QUESTION)

    def connect(self) -> socket.socket:
        """Open a connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS)

    def signal(self, number: int) -> None:
        """Send a signal."""
        self.process.send_signal(number)

    def wait(self) -> int:
        """Return the exit code."""
        return self.process.wait(SECONDS)


@contextlib.contextmanager
def serving(
    folder: Path, *options: str, on_process: Callable[[int], object] | None = None
) -> Iterator[RunningService]:
    """
    Run `robotrules serve`; end it with SIGTERM, or SIGKILL if it does not end.

    *on_process* is called with the id of the process, before it listens.
    """
    log = folder / "log.txt"
    store = [] if "--store" in options else ["--store", str(folder / "robots.sqlite")]
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [*COMMAND, "serve", "--port", "0", *store, *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=folder,
            env=process_environment(),
        )
    assert process.stdout is not None
    try:
        if on_process is not None:
            on_process(process.pid)
        url = process.stdout.readline().decode()
        assert url.startswith("http://"), log.read_text(encoding="utf-8")
        yield RunningService(process, int(url.rstrip("/\n").rpartition(":")[2]), log)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        process.stdout.close()


def read_all(connection: socket.socket, seconds: float = SECONDS) -> bytes:
    """Return what a connection sends until it is closed."""
    end, octets = time.monotonic() + seconds, b""
    with contextlib.suppress(ConnectionError):
        while time.monotonic() < end:
            connection.settimeout(max(0.01, end - time.monotonic()))
            chunk = connection.recv(65536)
            if not chunk:
                break
            octets += chunk
    return octets


def children(pid: int) -> list[int]:
    """Return the processes that a process started, and theirs."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for path in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in map(int, path.read_text(encoding="ascii").split()):
                found += [child, *children(child)]
    return found


def runs(pid: int) -> bool:
    """Tell whether a process runs; one that ended and was not waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2]
    except OSError:
        return False
    return state.split()[0] != "Z"


def until(condition: Any, seconds: float = SECONDS) -> bool:
    """Wait until a condition is true; tell whether it is."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


__all__ = [
    "JSON",
    "QUESTION",
    "Reply",
    "RunningService",
    "children",
    "read_all",
    "runs",
    "serving",
    "until",
]
