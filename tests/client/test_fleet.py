"""
A fleet: processes that share a store request each origin once, and share its slots.

Two processes, one with 100 threads on a `Client` and one with 100 tasks on an `AsyncClient`, share
SQLite, Redis or PostgreSQL. What counts is what reaches a real server on loopback.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import pytest

from robotrules.access import Response
from robotrules.client import Client, open_store
from tests.client import fault_servers
from tests.client.fleet_worker import AGENT, Worker
from tests.client.scripted import Server
from tests.client.stores.conftest import postgres_where, redis_where, where

__all__ = ["postgres_where", "redis_where", "where"]

DAY = 86_400.0
RULES, UNREACHABLE, DISALLOWED = "True no-match", "False unreachable", "False disallow-rule"
ETAG = 'ETag: "1"'


class Fleet(NamedTuple):
    """The two processes."""

    threads: Worker
    tasks: Worker

    def does(self, **job: object) -> dict[str, int]:
        """Let 100 threads and 100 tasks do a job at once; return what came of it, and how often."""
        job = {"count": 100, "do": "check", **job}
        for worker in self:
            worker.prepare(**job)
        for worker in self:
            worker.go()
        found: dict[str, int] = {}
        for worker in self:
            for word, times in worker.result().items():
                found[word] = found.get(word, 0) + times
        return found


@pytest.fixture(scope="module")
def fleet() -> Iterator[Fleet]:
    """Both processes, for all tests."""
    made = Fleet(Worker("threads"), Worker("tasks"))
    yield made
    for worker in made:
        worker.close()


def slowly(answer: bytes, seconds: float = 0.3) -> fault_servers.Behaviour:
    """Return a behaviour that takes its time."""

    def behave(peer: fault_servers.Peer) -> None:
        if peer.pause(seconds):
            peer.send(answer)

    return behave


def asked(site: fault_servers.Site) -> int:
    """Return how many requests have reached a server."""
    return len(site.heads)


def seeded(where: str, site: fault_servers.Site, age: float, **fields: str) -> None:
    """Put a file into a store that was fetched a while ago."""
    server = Server()
    server.answers[f"{site.url}/robots.txt"] = Response(
        200, {"ETag": '"1"', **fields}, fault_servers.ROBOTS
    )
    store = open_store(where)
    with Client(AGENT, store=store, transport=server, clock=lambda: time.time() - age) as client:
        client.check(site.url)
    store.close()


class TestOneRequest:
    """Of 200 callers that want the same file at once, in two processes, one requests it."""

    def test_cold(self, fleet: Fleet, where: str) -> None:
        with fault_servers.serve(slowly(fault_servers.message())) as site:
            found = fleet.does(store=where, urls=[f"{site.url}/page"])
            assert found == {RULES: 200}
            assert asked(site) == 1

    def test_an_origin_that_fails(self, fleet: Fleet, where: str) -> None:
        with fault_servers.serve(slowly(fault_servers.message(status="503 Later"))) as site:
            found = fleet.does(store=where, urls=[f"{site.url}/page"])
            assert found == {UNREACHABLE: 200}
            assert asked(site) == 1

    def test_an_origin_that_never_answers(self, fleet: Fleet, where: str) -> None:
        with fault_servers.serve(fault_servers.never_answers) as site:
            found = fleet.does(store=where, urls=[f"{site.url}/page"], timeout=0.7)
            assert found == {UNREACHABLE: 200}
            assert asked(site) == 1

    def test_stale(self, fleet: Fleet, where: str) -> None:
        with fault_servers.serve(
            slowly(fault_servers.message(b"", ETAG, status="304 Not Modified"))
        ) as site:
            seeded(where, site, 2 * DAY)
            found = fleet.does(store=where, urls=[f"{site.url}/private/x"])
            assert found == {DISALLOWED: 200}
            assert asked(site) == 1
            assert b'if-none-match: "1"' in site.heads[0].lower()

    def test_in_the_background(self, fleet: Fleet, where: str) -> None:
        file = fault_servers.message(b"User-agent: *\nDisallow: /page\n", ETAG)
        with fault_servers.serve(slowly(file)) as site:
            seeded(where, site, 3600, **{"Cache-Control": "max-age=600"})
            url = f"{site.url}/page"
            job = {"store": where, "urls": [url], "stale_while_revalidate": True}
            began = time.monotonic()
            # No caller waits for a background fetch; all see its result before long.
            found = fleet.does(**job, do="until", until=DISALLOWED)
            assert found == {"True": 200}
            assert time.monotonic() - began < 10
            assert asked(site) == 1

    def test_ten_origins(self, fleet: Fleet, where: str) -> None:
        with ExitStack() as stack:
            sites = [
                stack.enter_context(fault_servers.serve(slowly(fault_servers.message(), 0.05)))
                for _ in range(10)
            ]
            found = fleet.does(store=where, urls=[f"{site.url}/page" for site in sites])
            assert found == {RULES: 2000}
            assert [asked(site) for site in sites] == [1] * 10


@pytest.mark.slow
class TestKilled:
    """A process that is killed in the middle does not keep the others waiting for its lease."""

    @pytest.mark.parametrize("killed", ["threads", "tasks"])
    def test_another_process_takes_over(self, fleet: Fleet, where: str, killed: str) -> None:
        other = fleet.tasks if killed == "threads" else fleet.threads

        def behave(peer: fault_servers.Peer) -> None:
            if asked(peer.site) == 1:
                peer.pause(fault_servers.LONGEST)
            else:
                peer.send(fault_servers.message())

        with fault_servers.serve(behave) as site:
            job = {"store": where, "urls": [f"{site.url}/page"], "count": 20, "do": "check"}
            victim = Worker(killed)
            victim.prepare(**job)
            other.prepare(**job)
            victim.go()
            end = time.monotonic() + 10
            while not asked(site) and time.monotonic() < end:
                time.sleep(0.01)
            began = time.monotonic()
            other.go()
            time.sleep(0.2)
            victim.process.send_signal(signal.SIGKILL)
            victim.close()
            assert other.result() == {RULES: 20}
            # Its lease is for 35 seconds.
            assert time.monotonic() - began < 10
            assert asked(site) == 2


class FetchRecord(NamedTuple):
    """A request at a server, from its first octet to the last of the answer."""

    began: float
    ended: float


@contextmanager
def watched(slow: float) -> Iterator[tuple[fault_servers.Site, list[FetchRecord]]]:
    """Run a server that delays every third page, and records client and time of each request."""
    fetch_records: list[FetchRecord] = []
    lock = Lock()

    def behave(peer: fault_servers.Peer) -> None:
        began = time.monotonic()
        if peer.path() == "/robots.txt":
            peer.send(fault_servers.message())
            return
        if peer.path().endswith("slow"):
            peer.pause(slow)
        with lock:
            fetch_records.append(FetchRecord(began, time.monotonic()))
        peer.send(fault_servers.message(b"a page"))

    with fault_servers.serve(behave) as site:
        yield site, fetch_records


@pytest.mark.slow
class TestTurns:
    """Requests of all processes to one origin are apart, and never at the same time."""

    DELAY = 0.2

    def test_apart(self, fleet: Fleet, where: str) -> None:
        with watched(0.25) as (site, fetch_records):
            urls = [f"{site.url}/{name}" for name in ("quick", "slow", "quick/2")]
            found = fleet.does(
                store=where, urls=urls, do="fetch", count=3, warm=True, min_delay=self.DELAY
            )
            assert found == {"200": 18}
            fetch_records.sort()
            assert len(fetch_records) == 18
            for before, after in pairwise(fetch_records):
                assert after.began >= before.ended, "two at the same time"
                # From name to first octet takes a moment, and not always the same one.
                assert after.began - before.began >= self.DELAY / 2

    def test_one_process_heeds_for_all(self, fleet: Fleet, where: str) -> None:
        with watched(0) as (site, fetch_records):
            job = {"store": where, "urls": [f"{site.url}/page"], "count": 1, "min_delay": 0.0}
            fleet.tasks.prepare(**job, do="fetch")
            fleet.threads.prepare(**job, do="heed", pause=1)
            fleet.threads.go()
            assert fleet.threads.result() == {"1.0": 1}
            heeded = time.monotonic()
            fleet.tasks.go()
            assert fleet.tasks.result() == {"200": 1}
            (fetch_record,) = fetch_records
            assert 0.8 <= fetch_record.began - heeded < 3


def test_the_file_is_left_as_others_expect_it(fleet: Fleet, where: str, tmp_path: Path) -> None:
    """After all of that another process reads what they wrote, without asking."""
    with fault_servers.serve(slowly(fault_servers.message())) as site:
        fleet.does(store=where, urls=[f"{site.url}/page"])
        with Client(AGENT, store=where, transport=Server()) as client:
            assert client.check(f"{site.url}/page")
            assert not client.check(f"{site.url}/private")
            assert len(list(client.store.fetch_records(site.url))) == 1
