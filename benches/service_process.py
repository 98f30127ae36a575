"""
What the benchmarks of the service share: a service in a process of its own, wrk, and memory.

wrk is a program of the system (`apt-get install wrk`). It runs in a second process, so the client
takes no time from the interpreter that is measured; both share the machine's cores.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

__all__ = ["Load", "Service", "children", "constant", "fetch_json", "memory", "service", "wrk"]

ROBOTRULES = [sys.executable, "-c", "from robotrules.cli import main; main()", "serve"]
# uvicorn as the service runs it, with the smallest application.
CONSTANT = """
import sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
BODY = b"x" * int(sys.argv[1])
async def answer(request):
    return Response(BODY, media_type="application/json")
app = Starlette(routes=[Route("/v1/answer", answer, methods=["GET", "POST"])])
class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets)
        port = self.servers[0].sockets[0].getsockname()[1]
        print(f"http://127.0.0.1:{port}/", flush=True)
Server(uvicorn.Config(app, port=0, ws="none", lifespan="on", log_config=None, access_log=False,
    server_header=False, proxy_headers=False, backlog=2048)).run()
"""
START_SECONDS = 60.0


class Service(NamedTuple):
    """A running server."""

    url: str
    pid: int
    log: Path


@contextlib.contextmanager
def service(*options: str, **variables: str) -> Iterator[Service]:
    """Run `robotrules serve` on a free port."""
    with tempfile.TemporaryDirectory() as folder:
        command = [*ROBOTRULES, "--port", "0", *options]
        if "--store" not in options:
            command += ["--store", str(Path(folder) / "robots.sqlite")]
        with _running(command, Path(folder) / "log", variables) as running:
            yield running


@contextlib.contextmanager
def constant(size: int) -> Iterator[Service]:
    """Run a Starlette application that answers with *size* bytes."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", CONSTANT, str(size)]
        with _running(command, Path(folder) / "log", {}) as running:
            yield running


@contextlib.contextmanager
def _running(command: list[str], log: Path, variables: Mapping[str, str]) -> Iterator[Service]:
    with log.open("wb") as errors:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, env={**os.environ, **variables}
        )
    assert process.stdout is not None
    try:
        url = process.stdout.readline().decode().strip()
        if not url:
            sys.exit(f"the server did not start: {log.read_text(encoding='utf-8')}")
        yield Service(url, process.pid, log)
    finally:
        process.terminate()
        try:
            process.wait(START_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


# --- Load -----------------------------------------------------------------------------------------


class Load(NamedTuple):
    """What wrk measured."""

    per_second: float
    p50: float
    """Milliseconds, as the others."""
    p99: float
    requests: int
    errors: int
    """Responses that are not 2xx or 3xx, and failed connections, reads, writes and timeouts."""


_MS = {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60_000.0}


def wrk(
    url: str,
    seconds: float,
    *,
    connections: int = 32,
    body: bytes | None = None,
    pause: float = 0.0,
    headers: Mapping[str, str] | None = None,
) -> Load:
    """Send requests for some seconds; *pause* in milliseconds before each one limits the load."""
    program = shutil.which("wrk")
    if program is None:
        sys.exit("this benchmark needs wrk: apt-get install wrk")
    lines = []
    if body is not None:
        quoted = "".join(f"\\{octet:03}" for octet in body)
        lines += [
            'wrk.method = "POST"',
            'wrk.headers["Content-Type"] = "application/json"',
            f'wrk.body = "{quoted}"',
        ]
    lines += [f'wrk.headers["{name}"] = "{value}"' for name, value in (headers or {}).items()]
    if pause:
        # A random pause: connections do not send at the same time.
        lines.append(f"function delay() return math.random(0, {int(2 * pause)}) end")
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write("\n".join(lines))
        script.flush()
        command = [program, "-t1", f"-c{connections}", f"-d{max(1, round(seconds))}s", "--latency"]
        command += ["--timeout", "30s", "-s", script.name, url]
        ran = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=seconds + 90
        )
    return _parsed(ran.stdout)


def _parsed(text: str) -> Load:
    def percentile(name: str) -> float:
        found = re.search(rf"^\s+{name}%\s+([\d.]+)([a-z]+)$", text, re.MULTILINE)
        return float(found[1]) * _MS[found[2]] if found else float("nan")

    speed = re.search(r"Requests/sec:\s+([\d.]+)", text)
    total = re.search(r"(\d+) requests in", text)
    assert speed, text
    assert total, text
    errors = sum(int(n) for n in re.findall(r"Non-2xx or 3xx responses: (\d+)", text))
    if found := re.search(r"connect (\d+), read (\d+), write (\d+), timeout (\d+)", text):
        errors += sum(map(int, found.groups()))
    return Load(float(speed[1]), percentile("50"), percentile("99"), int(total[1]), errors)


# --- Processes ------------------------------------------------------------------------------------


def memory(pid: int) -> int:
    """Return the resident bytes of a process and of all below it."""
    total = 0
    for each in (pid, *children(pid)):
        with contextlib.suppress(OSError):
            text = Path(f"/proc/{each}/statm").read_text(encoding="ascii")
            total += int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return total


def children(pid: int) -> list[int]:
    """Return the processes below one."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for path in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in map(int, path.read_text(encoding="ascii").split()):
                found += [child, *children(child)]
    return found


def fetch_json(url: str, body: object = None) -> tuple[int, object]:
    """Send one request; return the status and the JSON."""
    import urllib.error
    import urllib.request

    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"null")


def wait_for(url: str, seconds: float = START_SECONDS) -> None:
    """Wait until a URL answers 200."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            if fetch_json(url)[0] == 200:
                return
        time.sleep(0.05)
    sys.exit(f"{url} did not answer")
