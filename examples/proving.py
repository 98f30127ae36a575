"""Proving: what a robots.txt said at four moments, and the same from an archive of it."""

import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import robotrules
from robotrules.access import Failure, FailureReason, Request, Response
from robotrules.cache import Store
from robotrules.client import open_store
from robotrules.client.evidence import Evidence
from robotrules.client.warc import export_warc, import_warc

URL = "https://shop.example/prices"
OPEN = Response(200, {"ETag": '"1"'}, b"User-agent: *\nDisallow: /private\n")
CLOSED = Response(200, {}, b"User-agent: *\nDisallow: /private\nDisallow: /prices\n")
DOWN = Failure(FailureReason.TIMEOUT, "nothing in 30 s")


class Site:
    """A site whose robots.txt changes, in place of the network."""

    def __init__(self) -> None:
        self.day = 0
        week = (OPEN, Response(304), CLOSED, DOWN, OPEN, Response(404))
        self.answers: dict[int, Response | Failure] = dict(enumerate(week, start=1))

    def send(self, request: Request) -> Response | Failure:
        return self.answers[self.day]

    def close(self) -> None:
        pass


def may(day: int, hour: int = 0) -> datetime:
    return datetime(2026, 5, day, hour, tzinfo=UTC)


def crawl(store: Store) -> None:
    """Ask about one page, once a day at noon, for six days."""
    site = Site()

    def clock() -> float:
        return may(site.day, 12).timestamp()

    agent = "ExampleBot/1.0 (+https://example.com/bot)"
    with robotrules.Client(agent, store=store, transport=site, clock=clock) as client:
        for day in range(1, 7):
            site.day = day
            client.check(URL)


def answers(store: Store) -> Iterator[str]:
    """What did the rules say, and how is that known?"""
    evidence = Evidence(store)
    for moment in (may(3, 9), may(3, 18), may(4, 12), may(6, 18), may(20), may(1)):
        yield f"{evidence.at(URL, moment, 'ExampleBot')}\n"


with tempfile.TemporaryDirectory() as folder:
    store = open_store(Path(folder) / "robots.sqlite")
    crawl(store)
    told = list(answers(store))
    print("\n".join(told))
    for period in Evidence(store).periods(URL):
        first = datetime.fromtimestamp(period.first.at, UTC)
        print(f"{first:%d %B}: {period.first.state}, seen {period.fetches} times")

    archive = Path(folder) / "evidence.warc.gz"
    print(f"{export_warc(store, archive)} visits written")
    store.close()
    elsewhere = open_store("memory:")
    done = import_warc(elsewhere, archive)
    print(f"{done.added} visits imported")
    same = [one.partition("\n")[0] for one in answers(elsewhere)]
    print(f"the same answers: {same == [one.partition(chr(10))[0] for one in told]}")
    print(Evidence(elsewhere).at(URL, may(3, 18), "ExampleBot").notes[-1].code)
