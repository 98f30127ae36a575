"""
One process of a fleet: it does what it reads, and prints what came of it.

A job is a line of JSON. The worker opens a client, says `ready`, waits for a line, lets many
threads or many tasks do the same thing at once, and prints a line of JSON. It ends with its input.
`Worker` is the side of the test.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

from robotrules.client import AsyncClient, Client, cache_engine

AGENT = "ExampleBot/1.0 (+https://example.com/bot)"
# A job that takes longer is a failure of the test.
LONGEST = 30.0


# --- In the process -------------------------------------------------------------------------------


def said(verdict: Any) -> str:
    """Return a verdict as a word."""
    return f"{verdict.allowed} {verdict.reason}"


def options(job: dict[str, Any]) -> dict[str, Any]:
    """Return what a client is made with."""
    cache_engine.LEASE_MARGIN = job.get("margin", cache_engine.LEASE_MARGIN)
    names: list[str] = ["timeout", "min_delay", "stale_while_revalidate"]
    given = {name: job[name] for name in names if name in job}
    return {"store": job["store"], "allow_private": ["127.0.0.1"], **given}


def by_threads(job: dict[str, Any], ready: Callable[[], None]) -> Counter[str]:
    """Do a job with threads that share a `Client`."""
    with Client(AGENT, **options(job)) as client:
        found: list[str] = []
        gate = Barrier(job["count"])

        def work() -> None:
            gate.wait(LONGEST)
            for url in job["urls"]:
                if job["do"] == "check":
                    found.append(said(client.check(url)))
                elif job["do"] == "fetch":
                    found.append(str(client.fetch(url).status))
                elif job["do"] == "heed":
                    with client.slot(url) as turn:
                        found.append(
                            str(turn.record_response(503, {"Retry-After": str(job["pause"])}))
                        )
                elif job["do"] == "until":
                    found.append(str(wait(url)))

        def wait(url: str) -> bool:
            end = time.monotonic() + LONGEST
            while said(client.check(url)) != job["until"] and time.monotonic() < end:
                time.sleep(0.01)
            return said(client.check(url)) == str(job["until"])

        if job.get("warm"):
            client.refresh(job["urls"][0])
        ready()
        threads = [Thread(target=work) for _ in range(job["count"])]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return Counter(found) + Counter(
            {f"trouble: {client.store_error}": bool(client.store_error)}
        )


async def by_tasks(job: dict[str, Any], ready: Callable[[], None]) -> Counter[str]:
    """Do a job with tasks that share an `AsyncClient`."""
    async with AsyncClient(AGENT, **options(job)) as client:
        found: list[str] = []

        async def work() -> None:
            for url in job["urls"]:
                if job["do"] == "check":
                    found.append(said(await client.check(url)))
                elif job["do"] == "fetch":
                    found.append(str((await client.fetch(url)).status))
                elif job["do"] == "heed":
                    async with client.slot(url) as turn:
                        found.append(
                            str(turn.record_response(503, {"Retry-After": str(job["pause"])}))
                        )
                elif job["do"] == "until":
                    found.append(str(await wait(url)))

        async def wait(url: str) -> bool:
            end = time.monotonic() + LONGEST
            while said(await client.check(url)) != job["until"] and time.monotonic() < end:
                await asyncio.sleep(0.01)
            return said(await client.check(url)) == str(job["until"])

        if job.get("warm"):
            await client.refresh(job["urls"][0])
        ready()
        await asyncio.gather(*[work() for _ in range(job["count"])])
        return Counter(found) + Counter(
            {f"trouble: {client.store_error}": bool(client.store_error)}
        )


def main() -> None:
    """Do jobs until there are none."""

    def say(word: object) -> None:
        print(json.dumps(word), flush=True)

    def ready() -> None:
        say("ready")
        sys.stdin.readline()

    for line in iter(sys.stdin.readline, ""):
        job = json.loads(line)
        if job["kind"] == "threads":
            say(by_threads(job, ready))
        else:
            say(asyncio.run(by_tasks(job, ready)))


# --- In the test ----------------------------------------------------------------------------------


class Worker:
    """A process of the fleet, as a test has it."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.client.fleet_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )

    def prepare(self, **job: Any) -> None:
        """Hand over a job, and wait until all is ready."""
        self._write(json.dumps({"kind": self.kind, **job}))
        assert self._read() == "ready"

    def go(self) -> None:
        """Let it begin."""
        self._write("go")

    def result(self) -> dict[str, int]:
        """Wait for what came of it."""
        found = self._read()
        assert isinstance(found, dict)
        return found

    def kill(self) -> None:
        """Kill it without a warning."""
        self.process.kill()
        self.close()

    def close(self) -> None:
        """Let it end."""
        try:
            self.process.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()

    def _write(self, line: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def _read(self) -> Any:
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, "the worker ended; what it said stands above"
        return json.loads(line)


if __name__ == "__main__":
    main()
