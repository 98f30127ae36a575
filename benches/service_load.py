"""
What the service answers per second, beside a Starlette handler that returns a constant.

    python benches/service_load.py                 single checks, lists, latency: about a minute
    python benches/service_load.py --minutes 10    and mixed load with origins that fail

The constant has the size of the answer, and uvicorn has the settings of the service. Both servers
take turns in rounds; a ratio is the median of the rounds. Times of the processor are those of the
server process, so they do not depend on what else the machine does. Rows of verbs that fetch use
an origin on loopback, whose robots.txt is in the cache after the first request.

Does not know: what a network costs.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from service_process import Load, Service, constant, fetch_json, memory, service, wrk

ROBOTS = "User-agent: *\nDisallow: /private\nAllow: /private/x\nCrawl-delay: 0.001\n"
QUESTION = {"robots": ROBOTS, "url": "https://example.com/private/a", "as": "ExampleBot"}
URLS = [f"https://example.com/private/{number}/page?id={number}" for number in range(1_000)]
CONNECTIONS = 32
BAR = 0.6
DECISIONS_BAR = 1_000_000


class Row(NamedTuple):
    """One kind of request."""

    name: str
    path: str
    body: bytes | None


def cpu(pid: int) -> float:
    """Return the seconds of processor time that a process has used."""
    text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2]
    user, system = text.split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def measure(server: Service, row: Row, seconds: float) -> tuple[Load, float]:
    """Return the load, and the microseconds of processor time for each request."""
    before = cpu(server.pid)
    load = wrk(server.url + row.path, seconds, connections=CONNECTIONS, body=row.body)
    return load, (cpu(server.pid) - before) / max(1, load.requests) * 1e6


def singles(ours: Service, rows: list[Row], seconds: float, rounds: int) -> dict[str, float]:
    """Print a table of single checks; return the requests per second of each row."""
    speeds: dict[str, float] = {}
    print("\n| request | per second | constant | ratio | µs of CPU | constant | errors |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for row in rows:
        size = len(json.dumps(fetch_json(ours.url + row.path, _plain(row.body))[1]))
        ratios, found, plain = [], [], []
        with constant(size) as other:
            for _ in range(rounds):
                plain.append(measure(other, row._replace(path="v1/answer"), seconds))
                found.append(measure(ours, row, seconds))
                ratios.append(found[-1][0].per_second / plain[-1][0].per_second)
        speeds[row.name] = statistics.median(load.per_second for load, _ in found)
        print(
            f"| {row.name} | {speeds[row.name]:,.0f} "
            f"| {statistics.median(load.per_second for load, _ in plain):,.0f} "
            f"| {statistics.median(ratios):.0%} "
            f"| {statistics.median(used for _, used in found):.0f} "
            f"| {statistics.median(used for _, used in plain):.0f} "
            f"| {sum(load.errors for load, _ in found)} |"
        )
    print(f"\nThe bar is a ratio of {BAR:.0%}.")
    return speeds


def _plain(body: bytes | None) -> Any:
    return None if body is None else json.loads(body)


def lists(seconds: float) -> None:
    """Print decisions per second with 1,000 URLs a request, with one worker and with two."""
    print("\n| 1,000 URLs a request | requests per second | decisions per second | p99 in ms |")
    print("|---|--:|--:|--:|")
    for workers in (1, 2):
        with service("--no-access-log", "--workers", str(workers)) as ours:
            time.sleep(1)
            for fields in ("allowed", None):
                given = {"robots": ROBOTS, "as": "ExampleBot", "urls": URLS}
                if fields:
                    given["fields"] = fields
                body = json.dumps(given).encode()
                load = wrk(ours.url + "v1/check", seconds, connections=4 * workers, body=body)
                form = f"workers: {workers}, " + ("allowed only" if fields else "NDJSON lines")
                print(
                    f"| {form} | {load.per_second:,.0f} | {load.per_second * len(URLS):,.0f} "
                    f"| {load.p99:.1f} |"
                )
    print(f"\nThe bar is {DECISIONS_BAR:,} decisions per second.")


def half_load(ours: Service, row: Row, speed: float, seconds: float) -> None:
    """Print the latency at half of the speed."""
    connections = 64
    pause = connections / (speed / 2) * 1000
    load = wrk(ours.url + row.path, seconds, connections=connections, body=row.body, pause=pause)
    print(
        f"\nAt half load, {load.per_second:,.0f} of {speed:,.0f} requests per second: median "
        f"{load.p50:.2f} ms, p99 {load.p99:.2f} ms, {load.errors} errors."
    )


# --- An origin ------------------------------------------------------------------------------------

ORIGIN = """
import asyncio, sys
BODY = sys.argv[1].encode()
async def answer(reader, writer):
    try:
        while line := await reader.readline():
            path = line.split()[1] if len(line.split()) > 1 else b""
            while (await reader.readline()).strip():
                pass
            writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Type: text/plain\\r\\n"
                b"Cache-Control: max-age=%d\\r\\n" % int(sys.argv[2]) +
                b"Content-Length: %d\\r\\n\\r\\n%b" % (len(BODY), BODY))
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()
async def fail(reader, writer):
    kind = fail.number = (fail.number + 1) % 5
    try:
        await reader.readline()
        if kind == 0: writer.write(b"HTTP/1.1 503 Busy\\r\\nContent-Length: 0\\r\\n\\r\\n")
        if kind == 1: writer.write(b"no HTTP at all\\r\\n\\r\\n")
        if kind == 2: writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 100\\r\\n\\r\\nshort")
        if kind == 3: await asyncio.sleep(2)
        await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()
fail.number = 0
async def main():
    servers = [await asyncio.start_server(f, "127.0.0.1", 0) for f in (answer, fail)]
    print(*(server.sockets[0].getsockname()[1] for server in servers), flush=True)
    await asyncio.sleep(1e9)
asyncio.run(main())
"""


@contextlib.contextmanager
def origins(max_age: int = 86_400) -> Iterator[tuple[str, str]]:
    """Run an origin that works and one that fails in five ways; yield their addresses."""
    import subprocess

    process = subprocess.Popen(
        [sys.executable, "-c", ORIGIN, ROBOTS, str(max_age)], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        good, bad = process.stdout.readline().split()
        yield f"http://127.0.0.1:{int(good)}", f"http://127.0.0.1:{int(bad)}"
    finally:
        process.kill()
        process.wait()


# --- Mixed load -----------------------------------------------------------------------------------


class Connection:
    """A client that keeps its connection."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, path: str, body: bytes | None) -> tuple[int, bool]:
        """Send a request; return the status, and whether the answer says when to repeat it."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        method = "GET" if body is None else "POST"
        fields = f"{method} /{path} HTTP/1.1\r\nHost: localhost\r\n"
        if body is not None:
            fields += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        writer.write(fields.encode() + b"\r\n" + (body or b""))
        await writer.drain()
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"content-length: ")[2].split(b"\r\n")[0])
        await reader.readexactly(length)
        if b"connection: close" in head:
            self.close()
        return int(head.split()[1]), b"retry-after: " in head

    def close(self) -> None:
        """Close the connection."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def mixed(ours: Service, good: str, bad: str, live: bool, minutes: float) -> None:
    """Print how the service does under all kinds of requests at once."""
    hostile = "User-agent: *\n" + "".join(f"Disallow: /*a{n}*b{n % 7}\n" for n in range(300))
    kinds: list[tuple[int, str, str, bytes | None]] = [
        (40, "check", "v1/check", json.dumps(QUESTION).encode()),
        (10, "explain", "v1/explain", json.dumps(QUESTION).encode()),
        (4, "many", "v1/check", _many()),
        (2, "parse", "v1/parse", json.dumps({"robots": hostile}).encode()),
        (2, "lint", "v1/lint", json.dumps({"robots": hostile}).encode()),
    ]
    if live:
        kinds += [
            (40, "live", f"v1/check?url={good}/private/a&as=ExampleBot", None),
            (4, "live, failing origin", f"v1/check?url={bad}/a&as=ExampleBot", None),
            (4, "slot", "v1/slot", json.dumps({"url": f"{good}/a", "as": "ExampleBot"}).encode()),
        ]
    weights = [weight for weight, *_ in kinds]
    port = int(ours.url.rstrip("/").rpartition(":")[2])
    statuses: Counter[tuple[str, int]] = Counter()
    without_time = errors = 0
    times: list[float] = []
    samples: list[int] = []
    end = time.monotonic() + minutes * 60
    chosen = random.Random(1)

    async def client() -> None:
        nonlocal errors, without_time
        connection = Connection(port)
        while time.monotonic() < end:
            _, name, path, body = chosen.choices(kinds, weights)[0]
            began = time.monotonic()
            try:
                status, says_when = await asyncio.wait_for(connection.ask(path, body), 60)
            except (OSError, asyncio.IncompleteReadError, TimeoutError):
                errors += 1
                connection.close()
                continue
            times.append(time.monotonic() - began)
            statuses[name, status] += 1
            without_time += status == 503 and not says_when
        connection.close()

    async def sample() -> None:
        while time.monotonic() < end:
            samples.append(memory(ours.pid))
            await asyncio.sleep(min(5, minutes * 6))

    await asyncio.gather(sample(), *(client() for _ in range(24)))
    times.sort()
    print(
        f"\n## Mixed load for {minutes:g} minutes\n\n| request | status | requests |\n|---|--:|--:|"
    )
    for (name, status), number in sorted(statuses.items()):
        print(f"| {name} | {status} | {number:,} |")
    begin = statistics.median(samples[len(samples) // 10 : len(samples) // 5 + 1])
    last = statistics.median(samples[-max(1, len(samples) // 10) :])
    bad_statuses = sum(n for (_, status), n in statuses.items() if status >= 500 and status != 503)
    print(
        f"\n{len(times):,} requests, {len(times) / minutes / 60:,.0f} per second, p99 "
        f"{times[len(times) * 99 // 100] * 1000:.1f} ms. Broken connections: {errors}; server "
        f"errors: {bad_statuses}; 503 without Retry-After: {without_time}. Memory of all "
        f"processes: {begin / 1e6:.0f} MB after a tenth of the time, {last / 1e6:.0f} MB at the "
        "end."
    )


def _many() -> bytes:
    given = {"robots": ROBOTS, "as": "ExampleBot", "urls": URLS, "fields": "allowed"}
    return json.dumps(given).encode()


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=4, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=0, help="of mixed load")
    given = parser.parse_args()
    body = json.dumps(QUESTION).encode()
    rows = [Row("POST /v1/check", "v1/check", body), Row("POST /v1/explain", "v1/explain", body)]
    options = ["--no-access-log", "--allow-private", "127.0.0.1"]
    with origins() as (good, bad), service(*options) as ours:
        live = f"v1/check?url={good}/private/a&as=ExampleBot"
        status, _ = fetch_json(ours.url + live)
        if status == 200:
            rows.insert(0, Row("GET /v1/check, robots.txt in the cache", live, None))
        else:
            print(f"GET /v1/check answers {status}: no row for it")
        speeds = singles(ours, rows, given.seconds, given.rounds)
        half_load(ours, rows[0], speeds[rows[0].name], given.seconds)
    lists(given.seconds)
    if given.minutes:
        # Files that are valid for two seconds: the service fetches all the time.
        with origins(2) as (good, bad), service(*options) as ours:
            asyncio.run(mixed(ours, good, bad, status == 200, given.minutes))


if __name__ == "__main__":
    main()
