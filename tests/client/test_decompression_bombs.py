"""
Hostile servers: their answers cost a client little memory, and no more than its time limit.

Each client runs in a separate process, so that its peak memory can be measured: it checks an
ordinary server first, then all others, and reports memory and duration after each.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from robotrules.client import AsyncClient, Client
from robotrules.client.transports.aiohttp import AiohttpTransport
from robotrules.client.transports.httpx2 import AsyncHttpx2Transport
from tests.client import fault_servers
from tests.client.scripted import Driven

AGENT = "ExampleBot/1.0 (+https://example.com/bot)"
SECONDS = 1.5
# What all of them together may cost beyond what the decent server did. The parser's part of it is
# a file of 500 KiB, and what it makes of that.
MEGABYTES = 24


# --- The servers ----------------------------------------------------------------------------------


def _huge_file(peer: fault_servers.Peer) -> None:
    """Send a robots.txt of 50 MB, of rules that are all different."""
    peer.send(fault_servers.message(b"User-agent: *\n", length=50_000_000))
    for n in range(0, 2_500_000, 2_500):
        try:
            peer.sock.sendall(b"".join(b"Disallow: /%08d\n" % m for m in range(n, n + 2_500)))
        except OSError:
            return


def _endless_file(peer: fault_servers.Peer) -> None:
    """Send a robots.txt without an end, as fast as it is read."""
    peer.send(b"HTTP/1.1 200 OK\r\n\r\n")
    while not peer.site.over.is_set():
        try:
            peer.sock.sendall(b"#" * 65_536)
        except OSError:
            return


def _long_location(length: int) -> fault_servers.Behaviour:
    """Return a server that sends on to a URL of so many octets, and answers there."""

    def behave(peer: fault_servers.Peer) -> None:
        if peer.path() != "/robots.txt":
            peer.send(fault_servers.message())
            return
        start = f"{peer.site.url}/"
        where = start + "a" * (length - len(start))
        peer.send(fault_servers.message(b"", f"Location: {where}", status="301 Moved"))

    return behave


def _long_line(peer: fault_servers.Peer) -> None:
    """Send a robots.txt of one line, of 4 MB."""
    peer.send(fault_servers.message(b"User-agent: *\nDisallow: /" + b"a*" * 2_000_000))


HARM: dict[str, tuple[fault_servers.Behaviour, str]] = {
    "a decent one": (fault_servers.ok, "True no-match"),
    "gzip of 4 GB": (fault_servers.bombs, "True no-group"),
    "file of 50 MB": (_huge_file, "True no-match"),
    "file without an end": (_endless_file, "True no-group"),
    "line of 4 MB": (_long_line, "True no-rules"),
    "field of 10 MB": (fault_servers.huge_header, "False unreachable"),
    "100,000 fields": (fault_servers.many_headers, "False unreachable"),
    "Location of 8 KiB": (_long_location(8 * 1024), "True no-match"),
    "Location of more": (_long_location(8 * 1024 + 1), "False unreachable"),
    "Location of 30 KB": (_long_location(30_000), "False unreachable"),
    "10,000 hops": (fault_servers.redirects, "True unavailable"),
    "interim answers without end": (fault_servers.pours, "False unreachable"),
    "nothing": (fault_servers.never_answers, "False unreachable"),
}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize("kind", ["threads", "httpx2", "aiohttp"])
def test_what_harm_costs(kind: str) -> None:
    """Every answer is as RFC 9309 has it, in time, and the process hardly grows."""
    with ExitStack() as stack:
        sites = {
            name: stack.enter_context(fault_servers.serve(behaviour))
            for name, (behaviour, _) in HARM.items()
        }
        job = json.dumps([kind, [site.url for site in sites.values()]])
        ran = subprocess.run(
            [sys.executable, "-m", "tests.client.test_decompression_bombs", job],
            capture_output=True,
            text=True,
            timeout=60,
            cwd=Path(__file__).parents[2],
        )
        assert (ran.returncode, ran.stderr) == (0, "")
        found = dict(zip(HARM, json.loads(ran.stdout), strict=True))
        assert {name: said for name, (said, _, _) in found.items()} == {
            name: said for name, (_, said) in HARM.items()
        }
        first = found["a decent one"][1]
        grown = {name: round(most - first, 1) for name, (_, most, _) in found.items()}
        assert max(grown.values()) < MEGABYTES, grown
        late = {name: round(took, 2) for name, (_, _, took) in found.items()}
        # A moment more than the deadline: to parse what came, on a machine that does other things.
        assert max(late.values()) < SECONDS + 1.5, late
        assert len(sites["10,000 hops"].heads) == 6


# --- In the other process -------------------------------------------------------------------------


def _measured(check: Callable[[str], Any], urls: list[str]) -> list[tuple[str, float, float]]:
    """Check each URL; return the answers, the peak memory so far in MB, and the seconds."""
    found = []
    for url in urls:
        began = time.monotonic()
        verdict = check(f"{url}/page")
        took = time.monotonic() - began
        found.append((f"{verdict.allowed} {verdict.reason}", _most(), took))
    return found


def _most() -> float:
    """Return the most memory that this process has had, in MB."""
    # Not `ru_maxrss`: on Linux that begins with what the process had that started this one.
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise AssertionError("no VmHWM")


def main(kind: str, urls: list[str]) -> None:
    """Check all servers, and print the cost."""
    if kind == "threads":
        with Client(
            AGENT, store="memory:", addresses=fault_servers.here(), timeout=SECONDS
        ) as client:
            print(json.dumps(_measured(client.check, urls)))
        return
    made: Callable[..., Any] = AiohttpTransport if kind == "aiohttp" else AsyncHttpx2Transport
    with asyncio.Runner() as runner:
        transport = made(AGENT, addresses=fault_servers.here())
        client_ = AsyncClient(AGENT, store="memory:", transport=transport, timeout=SECONDS)
        print(json.dumps(_measured(Driven(client_, runner).check, urls)))
        runner.run(client_.aclose())
        runner.run(transport.aclose())


if __name__ == "__main__":
    main(*json.loads(sys.argv[1]))
