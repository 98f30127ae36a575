"""
How other clients fare while one attacks the service: slow clients, many connections, heavy work.

    python benches/service_attack.py               all attacks: about two minutes
    python benches/service_attack.py --seconds 30

During each attack a client asks single checks all the time, with a connection that it keeps and
with new ones. The bar: its p99 stays below 200 ms, or it gets 503 with Retry-After. The attacks
come from a process of their own, which shares the machine's cores with the service and this client.

Does not know: attacks that fill the network, which a service cannot answer.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import random
import time
from collections import Counter
from collections.abc import Callable, Coroutine
from http.client import HTTPConnection, HTTPException
from typing import Any, NamedTuple

from corpora import hostile
from service_process import fetch_json, memory, service

SIZE = 500 * 1024
BAR = 0.2
QUESTION = json.dumps(
    {"robots": "User-agent: *\nDisallow: /a\n", "url": "https://example.com/a", "as": "ExampleBot"}
).encode()
FIELDS = {"Content-Type": "application/json"}
HEAD = b"POST /v1/explain HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
Attack = Callable[[int], Coroutine[Any, Any, None]]


# --- Attacks --------------------------------------------------------------------------------------


async def slow(port: int, start: bytes, count: int) -> None:
    """Keep connections that send a byte in a while; open those again that are closed."""

    async def one() -> None:
        while True:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(start)
                for _ in range(100):
                    await asyncio.sleep(0.5 + random.random())
                    writer.write(b"x")
                    await writer.drain()
            await asyncio.sleep(0.2)

    await asyncio.gather(*(one() for _ in range(count)))


async def slow_bodies(port: int) -> None:
    """1,500 requests whose bodies do not end."""
    await slow(port, HEAD + b"Content-Length: 1000000\r\n\r\n{", 1_500)


async def slow_headers(port: int) -> None:
    """1,500 requests whose headers do not end."""
    await slow(port, HEAD + b"X-Slow: ", 1_500)


async def connections(port: int) -> None:
    """10,000 connections that send nothing, opened again when they are closed."""
    gate = asyncio.Semaphore(200)

    async def one() -> None:
        while True:
            with contextlib.suppress(OSError):
                async with gate:
                    reader, _ = await asyncio.open_connection("127.0.0.1", port)
                await reader.read(1000)
            await asyncio.sleep(1)

    await asyncio.gather(*(one() for _ in range(10_000)))


async def heavy(port: int, requests: list[tuple[str, bytes]]) -> None:
    """32 clients that send the requests without a pause."""

    async def one(number: int) -> None:
        while True:
            path, body = requests[number % len(requests)]
            number += 1
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                start = HEAD.replace(b"v1/explain", path.encode()) + b"Connection: close\r\n"
                writer.write(start + b"Content-Length: %d\r\n\r\n" % len(body) + body)
                status = (await reader.readline())[9:12]
                await reader.read()
                writer.close()
                # As impolite as a program that repeats a request after a moment.
                await asyncio.sleep(0.1 if status == b"503" else 0)

    await asyncio.gather(*(one(number) for number in range(32)))


async def worst_lints(port: int) -> None:
    """500 KiB files that take lint longest."""
    files = [shape(SIZE).decode("latin-1") for shape in hostile.SHAPES.values()]
    await heavy(port, [("v1/lint", json.dumps({"robots": text}).encode()) for text in files])


async def worst_diffs(port: int) -> None:
    """500 KiB files that take diff longest, and matrix and simplify where they exist."""
    files = [shape(SIZE).decode("latin-1") for shape in hostile.SHAPES.values()]
    pairs = zip(files, files[1:] + files[:1], strict=True)
    requests = [("v1/diff", json.dumps({"old": old, "new": new}).encode()) for old, new in pairs]
    requests += [("v1/simplify", json.dumps({"robots": text}).encode()) for text in files]
    await heavy(port, requests)


async def large_bodies(port: int) -> None:
    """8 MiB bodies for verbs that run in threads."""
    text = "User-agent: *\n" + "Disallow: /a/very/long/path\n" * 280_000
    body = {"robots": text, "url": "/a", "as": "ExampleBot"}
    requests = [("v1/explain", json.dumps(body).encode())]
    await heavy(port, requests)


ATTACKS: dict[str, Attack | None] = {
    "none": None,
    "slow bodies": slow_bodies,
    "slow headers": slow_headers,
    "10,000 connections": connections,
    "lint of the worst 500 KiB files": worst_lints,
    "diff and simplify of them": worst_diffs,
    "bodies of 8 MiB": large_bodies,
}


def attack(name: str, port: int) -> None:
    """Attack until this process is ended."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    found = ATTACKS[name]
    assert found is not None
    asyncio.run(found(port))


# --- The other client -----------------------------------------------------------------------------


class Outcome(NamedTuple):
    """What the other client saw."""

    times: list[float]
    statuses: Counter[str]
    impolite: int
    """503 without Retry-After, and connections that broke."""


def watch(port: int, seconds: float) -> Outcome:
    """Ask single checks for some seconds."""
    outcome = Outcome([], Counter(), 0)
    impolite = 0
    end = time.monotonic() + seconds
    kept = HTTPConnection("127.0.0.1", port, timeout=30)
    while time.monotonic() < end:
        for connection in (kept, HTTPConnection("127.0.0.1", port, timeout=30)):
            began = time.monotonic()
            try:
                connection.request("POST", "/v1/explain", QUESTION, FIELDS)
                answer = connection.getresponse()
                answer.read()
            except (OSError, HTTPException) as error:
                connection.close()
                # A kept connection may be closed between requests; then it is opened again.
                outcome.statuses[type(error).__name__] += 1
                impolite += connection is not kept
                continue
            outcome.times.append(time.monotonic() - began)
            outcome.statuses[str(answer.status)] += 1
            impolite += answer.status == 503 and not answer.headers.get("Retry-After")
            if connection is not kept:
                connection.close()
        time.sleep(0.01)
    kept.close()
    return outcome._replace(impolite=impolite)


def main() -> None:
    """Print a row for each attack."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=15, help="of each attack")
    parser.add_argument("--only", nargs="*", choices=list(ATTACKS))
    given = parser.parse_args()
    spawn = multiprocessing.get_context("spawn")
    print("| attack | requests | p50 in ms | p99 in ms | longest | statuses | impolite | MB |")
    print("|---|--:|--:|--:|--:|---|--:|--:|")
    failed = []
    for name in given.only or ATTACKS:
        with service("--no-access-log") as ours:
            port = int(ours.url.rstrip("/").rpartition(":")[2])
            fetch_json(ours.url + "healthz")
            process = None
            if ATTACKS[name] is not None:
                process = spawn.Process(target=attack, args=(name, port), daemon=True)
                process.start()
                time.sleep(4)
            outcome = watch(port, given.seconds)
            used = memory(ours.pid)
            if process is not None:
                process.kill()
                process.join()
        times = sorted(outcome.times) or [float("nan")]
        p99 = times[len(times) * 99 // 100]
        statuses = ", ".join(f"{status}: {n}" for status, n in sorted(outcome.statuses.items()))
        print(
            f"| {name} | {len(times)} | {times[len(times) // 2] * 1000:.1f} | {p99 * 1000:.1f} "
            f"| {times[-1] * 1000:.0f} | {statuses} | {outcome.impolite} | {used / 1e6:.0f} |",
            flush=True,
        )
        if not p99 < BAR or outcome.impolite:
            failed.append(name)
    print(f"\nThe bar: p99 below {BAR * 1000:.0f} ms, and nothing impolite.")
    print(f"Missed: {', '.join(failed)}" if failed else "Kept in all rows.")


if __name__ == "__main__":
    main()
