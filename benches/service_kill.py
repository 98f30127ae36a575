"""
`kill -9` of a worker, again and again, while clients use a service of several workers.

    python benches/service_kill.py                 half a minute, SQLite
    python benches/service_kill.py --seconds 60 --store redis://127.0.0.1:6379/9

Clients report responses (`POST /v1/responses`: 429 with Retry-After), each about another origin,
and ask single checks. A request fails if its worker dies before the answer; the client repeats it
with a new connection. In the end, every report that was answered with 200 has to be in the store:
the next slot of its origin is later. The bar: no acknowledged report is lost.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import signal
import sys
import tempfile
import threading
import time
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from service_process import children, service

from robotrules.client.stores import open_store

QUESTION = {"robots": "User-agent: *\nDisallow: /a\n", "url": "/a", "as": "ExampleBot"}
# Longer than the benchmark: an origin that was reported has to wait until the end.
RETRY_AFTER = 3_000


class Client:
    """Sends requests, and repeats those whose connection broke."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._connection = HTTPConnection("127.0.0.1", port, timeout=30)
        self.requests = self.broken = self.broken_twice = self.refused = 0
        self.times: list[float] = []

    def ask(self, path: str, body: object) -> tuple[int, dict[str, object]]:
        """Return the status and the JSON of an answer."""
        in_a_row = 0
        while True:
            self.requests += 1
            began = time.monotonic()
            try:
                fields = {"Content-Type": "application/json"}
                self._connection.request("POST", path, json.dumps(body), fields)
                answer = self._connection.getresponse()
                text = answer.read()
            except (OSError, HTTPException):
                self._connection.close()
                self.broken += 1
                in_a_row += 1
                self.broken_twice += in_a_row == 2
                continue
            self.times.append(time.monotonic() - began)
            if answer.status == 503:
                self.refused += 1
                time.sleep(0.1)
                continue
            return answer.status, json.loads(text)


def workers_of(pid: int) -> list[int]:
    """Return the workers of the supervisor."""
    found = []
    for child in children(pid):
        try:
            command = Path(f"/proc/{child}/cmdline").read_bytes()
        except OSError:
            continue
        if b"robotrules.service.server" in command:
            found.append(child)
    return found


def main() -> None:
    """Print what happened."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--store")
    given = parser.parse_args()
    options = ["--no-access-log", "--workers", str(given.workers), "--allow-private", "127.0.0.0/8"]
    options += ["--user-agent", "ExampleBot/1.0 (+https://example.com/bot)"]
    with tempfile.TemporaryDirectory() as folder:
        where = given.store or str(Path(folder) / "robots.sqlite")
        with service(*options, "--store", where) as ours:
            port = int(ours.url.rstrip("/").rpartition(":")[2])
            acknowledged = _run(ours.pid, port, given.seconds)
        lost = _count_lost(where, acknowledged)
    print(f"acknowledged reports: {len(acknowledged):,}, of which lost: {lost}")


def _run(pid: int, port: int, seconds: float) -> list[str]:
    acknowledged: list[str] = []
    numbers = itertools.count(1)
    end = time.monotonic() + seconds
    clients = [Client(port) for _ in range(8)]

    def use(client: Client) -> None:
        while time.monotonic() < end:
            number = next(numbers)
            # Each is an origin of its own; nothing is fetched from it.
            host = f"127.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
            url = f"http://{host}/a"
            report = {"url": url, "status": 429, "retry_after": RETRY_AFTER}
            status, answer = client.ask("/v1/responses", report)
            if status == 200 and answer["postponed"]:
                acknowledged.append(url)
            else:
                sys.exit(f"a report was answered with {status}: {answer}")
            client.ask("/v1/explain", QUESTION)

    threads = [threading.Thread(target=use, args=(client,), daemon=True) for client in clients]
    for thread in threads:
        thread.start()
    killed = 0
    while time.monotonic() < end - 2:
        time.sleep(2)
        workers = workers_of(pid)
        if len(workers) > 1:
            os.kill(workers[killed % len(workers)], signal.SIGKILL)
            killed += 1
    for thread in threads:
        thread.join()
    times = sorted(time for client in clients for time in client.times)
    print(f"workers killed with SIGKILL: {killed}, running at the end: {len(workers_of(pid))}")
    print(
        f"requests: {sum(c.requests for c in clients):,}, broken: "
        f"{sum(c.broken for c in clients)}, broken twice in a row: "
        f"{sum(c.broken_twice for c in clients)}, refused with 503: "
        f"{sum(c.refused for c in clients)}; p99 {times[len(times) * 99 // 100] * 1000:.1f} ms"
    )
    return acknowledged


def _count_lost(where: str, urls: list[str]) -> int:
    """Return how many origins do not wait."""
    store, now = open_store(where), time.time()
    try:
        slots = (store.reserve_slot(url.removesuffix("/a"), now, 0.0) for url in urls)
        return sum(slot < now + RETRY_AFTER / 2 for slot in slots)
    finally:
        store.close()


if __name__ == "__main__":
    main()
