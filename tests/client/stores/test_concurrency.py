"""Stores that processes share: they are killed, they race, they come at the same moment."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from robotrules.cache import body_digest
from robotrules.client import open_store
from tests.client.stores.sample_records import AGENT, NOW, PLACES, number_of, numbered

ROOT = Path(__file__).parents[3]
CREW = [sys.executable, "-m", "tests.client.stores.store_processes"]


def crowd(task: str, where: str, folder: Path, count: int, times: int = 1) -> None:
    """Let several processes do a task at once, so many times."""
    done = subprocess.run(
        [*CREW, task, where, str(folder), str(count), str(times)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr


class Killer:
    """Kills one writer after the other."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        assert self._say() == "ready"

    def _say(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def kill(self, where: str, first: int, seconds: float) -> int:
        """Let a writer put numbers, and kill it; return the last number that it had put."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{where} {first} {seconds}\n")
        self._process.stdin.flush()
        words = self._say()
        assert words.lstrip("-").isdigit(), words
        return int(words)


@contextmanager
def killer() -> Iterator[Killer]:
    """A process that kills writers, and is gone afterwards."""
    with subprocess.Popen(
        [*CREW, "kill"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Killer(process)
        finally:
            process.kill()


def check(where: str, first: int, last: int) -> int:
    """
    Check what killed writers left from a number on; return the next number.

    Every stored record is complete; every record reported as put is stored; and at most one more,
    which was put while its writer was killed.
    """
    with closing(open_store(where)) as store:
        found = [number_of(fetch_record) for fetch_record in store.fetch_records(after=NOW + first)]
        assert found == list(range(first, first + len(found)))
        assert last - first < len(found) <= max(last, first - 1) - first + 2
        for number in found:
            fetch_record, body, _ = numbered(number)
            assert (
                next(store.fetch_records(fetch_record.origin, after=fetch_record.at))
                == fetch_record
            )
            assert store.body(body_digest(body)) == body
        end = first + len(found)
        for place in range(PLACES):
            newest = max(range(place, end, PLACES), default=None)
            entry = store.get(f"https://host{place}.example", AGENT)
            assert entry == (None if newest is None else numbered(newest)[2])
        return end


@pytest.mark.slow
def test_two_hundred_killed_writers(tmp_path: Path) -> None:
    """`kill -9` in the middle of writing: the file opens, is sound, and all in it is whole."""
    moments = random.Random(9)
    total = 0
    with killer() as one:
        for series in range(5):
            path = tmp_path / f"{series}.sqlite"
            number = 0
            for _ in range(40):
                # The first milliseconds are those in which the file is opened, or made.
                last = one.kill(str(path), number, moments.uniform(0.001, 0.06))
                if path.exists():
                    with closing(sqlite3.connect(path)) as db:
                        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
                number = check(str(path), number, last)
            total += number
    assert total > 500, "hardly anything was written: the kills came too early to test anything"


@pytest.mark.slow
def test_killed_prefetches(tmp_path: Path) -> None:
    """`kill -9` during group commits: all that a client reported as ready is stored in full."""
    moments, path, first, total = random.Random(9), tmp_path / "robots.sqlite", 0, 0
    for _ in range(8):
        process = subprocess.Popen(
            [*CREW, "prefetch", str(path), str(first)], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        with process:
            said = [process.stdout.readline().strip()]  # after that it has begun
            time.sleep(moments.uniform(0.0, 0.25))
            process.kill()
            said += process.stdout.read().split()
        with closing(sqlite3.connect(path)) as db:
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        with closing(open_store(path)) as store:
            for origin in said:
                entry = store.get(origin, AGENT)
                assert entry is not None, f"{origin} was lost"
                assert entry.last_success is not None
                assert entry.last_success.digest is not None
                assert store.body(entry.last_success.digest) == f"# {origin}/robots.txt\n".encode()
        first, total = first + 100_000, total + len(said)
    assert total > 100, "hardly anything was written"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["redis", "postgres"])
def test_killed_writers_of_a_fleet(request: pytest.FixtureRequest, kind: str) -> None:
    """The same with writers to a server, which goes on."""
    moments = random.Random(9)
    where, number = request.getfixturevalue(f"{kind}_where"), 0
    with killer() as one:
        for _ in range(25):
            last = one.kill(where, number, moments.uniform(0.02, 0.15))
            number = check(where, number, last)
    assert number > 50, "hardly anything was written"


@pytest.mark.slow
def test_one_holder_at_a_time(where: str, tmp_path: Path) -> None:
    """Two processes of eight threads each: whoever holds the lease is alone."""
    crowd("lease", where, tmp_path, 2)


def test_slots_of_many_processes(where: str, tmp_path: Path) -> None:
    """Each slot is given once, and none is skipped."""
    folder = tmp_path / "turns"
    folder.mkdir()
    crowd("turns", where, folder, 3)
    taken = [float(line) for path in folder.glob("[0-9]*") for line in path.read_text().split()]
    assert sorted(taken) == [NOW + n for n in range(300)]


def test_made_by_many_at_once(where: str, tmp_path: Path) -> None:
    """Eight processes make the same store at the same moment."""
    crowd("opening", where, tmp_path, 8)
    with closing(open_store(where)) as store:
        assert len(list(store.fetch_records())) == 8


@pytest.mark.slow
def test_files_made_by_many_at_once(tmp_path: Path) -> None:
    """The same with a file, again and again: there is more than one way to be in the way."""
    crowd("opening", str(tmp_path / "new#" / "robots.sqlite"), tmp_path, 6, 20)
    for attempt in range(20):
        with closing(open_store(tmp_path / f"new{attempt}" / "robots.sqlite")) as store:
            assert len(list(store.fetch_records())) == 6
