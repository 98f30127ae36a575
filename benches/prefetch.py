"""
What it takes to fetch the robots.txt of thousands of origins: speed, processor time and memory.

A server of our own on this machine answers for all of them. Each run is a process with a new SQLite
file, and has a server of its own, so that no run waits for the ports of the one before. What
robotrules costs is the difference to the library below it (`prefetch_ways.py`).

Does not know: the network. What a crawl waits for are servers far away, and none of that is here.
"""

from __future__ import annotations

import json
import os
import pickle
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import prefetch_ways
import table
from corpora import real
from prefetch_ways import WAYS

Progress = Callable[[str], None]
AGAIN_WAY, AGAIN = "AsyncClient, aiohttp", "the same, all in the store"


# --- The runs -------------------------------------------------------------------------------------


class Running:
    """A server of our own in a process of its own."""

    def __init__(self, files: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, prefetch_ways.__file__, "serve", files],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.port = self._said()

    def _said(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def asked(self) -> int:
        """How often it was asked since the last time."""
        assert self._process.stdin is not None
        print("asked?", file=self._process.stdin, flush=True)
        return int(self._said())

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.communicate("", timeout=30)


def one_run(server: Running, way: str, count: int, concurrency: int, store: str) -> dict[str, Any]:
    """Start a process that fetches from a server."""
    done = subprocess.run(
        [
            sys.executable,
            prefetch_ways.__file__,
            "fetch",
            way,
            str(count),
            server.port,
            store,
            str(concurrency),
        ],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
        timeout=600,
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer | {"asked": server.asked()}


def run(plan: dict[str, Any], report: Any, progress: Progress) -> None:
    """Print the tables."""
    progress("reading the corpus")
    cases, described = real.cases(plan["files"])
    found: dict[tuple[str, int], list[dict[str, Any]]] = {}
    few, *_, many = counts = plan["origins"]
    with tempfile.TemporaryDirectory() as folder:
        files = os.path.join(folder, "files.pickle")
        Path(files).write_bytes(pickle.dumps([case.body for case in cases]))
        for number in range(plan["rounds"]):
            for count in counts:
                for way in WAYS:
                    progress(f"round {number + 1} of {plan['rounds']}: {way}, {count:,} origins")
                    store = os.path.join(folder, f"{number}-{count}-{way}.sqlite")
                    with Running(files) as server:
                        answer = one_run(server, way, count, plan["concurrency"], store)
                        found.setdefault((way, count), []).append(answer)
                        if way != AGAIN_WAY:
                            continue
                        # What was fetched is there for the next process.
                        answer = one_run(server, way, count, plan["concurrency"], store)
                        found.setdefault((AGAIN, count), []).append(answer)
    report.say(
        f"## {plan['title']}",
        "",
        f"{many:,} origins, {plan['concurrency']} at a time, over HTTP on this machine; files as "
        f"in {described}, each with a line of its own. Medians of {plan['rounds']} rounds, a "
        "process and a server each. Processor time is the client's process alone, threads "
        "included; in brackets, how many times that of the library below. Memory is the most that "
        "was resident.",
        "",
        table.render(
            [
                "who",
                "origins/s",
                "processor time, one origin",
                *(f"memory, {count:,}" for count in counts),
                "one origin more",
                "got",
                "requests",
            ],
            [_row(way, below, found, few, many, counts) for way, below in _order()],
        ),
        "",
    )
    report.figures["prefetch"] = [
        {"way": way, "origins": count} | answer
        for (way, count), answers in found.items()
        for answer in answers
    ]
    most = max(_each(found, way, few, many) for way in WAYS if WAYS[way][0]) / 1024
    report.bar(
        f"prefetch, memory of one origin more, {few:,} to {many:,}",
        f"at most {plan['bar']:g} KiB",
        f"{most:.1f} KiB",
        most <= plan["bar"],
    )
    below, _ = WAYS[AGAIN_WAY]
    # The rounds are compared one by one: what else the machine does changes from one to the next.
    share = statistics.median(
        alone["seconds"] / ours["seconds"]
        for alone, ours in zip(found[below, many], found[AGAIN_WAY, many], strict=True)
    )
    report.bar(
        f"prefetch, {many:,} origins, {AGAIN_WAY} over SQLite to {below}",
        f">= {plan['share']:g}x",
        f"{share:.2f}x",
        share >= plan["share"],
    )
    bodies = [case.body for case in cases]
    _run_large(plan["large"], bodies, plan["concurrency"], report, progress)


def _run_large(
    plan: dict[str, Any], bodies: list[bytes], concurrency: int, report: Any, progress: Progress
) -> None:
    """Print what memory does when files are large."""
    rules = [f"Disallow: /{n:05}/page-{n * 7919 % 100_003}\n" for n in range(plan["octets"] // 30)]
    padding = ("\nUser-agent: *\n" + "".join(rules)).encode("ascii")
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        files = os.path.join(folder, "files.pickle")
        Path(files).write_bytes(pickle.dumps([body + padding for body in bodies]))
        for count in plan["origins"]:
            progress(f"large files: {count:,} origins")
            with Running(files) as server:
                store = os.path.join(folder, f"{count}.sqlite")
                answer = one_run(server, AGAIN_WAY, count, concurrency, store)
                found[count] = answer["resident at most"]
    report.say(
        f"Memory with files of {len(padding) / 1000:.0f} KB, {AGAIN_WAY}:",
        "",
        table.render(
            ["origins", "most resident"],
            [[f"{count:,}", f"{most / 2**20:.0f} MiB"] for count, most in found.items()],
        ),
        "",
    )
    report.figures["prefetch, large files"] = found
    *_, half, most = found.values()
    report.bar(
        "prefetch, large files, memory after all origins to half of them",
        f"at most {plan['bar']:g} times",
        f"{most / half:.2f} times",
        most / half <= plan["bar"],
    )


def _order() -> list[tuple[str, str]]:
    return [*((way, below) for way, (below, _) in WAYS.items()), (AGAIN, "")]


def _median(found: Any, way: str, count: int, what: str) -> float:
    return float(statistics.median(answer[what] for answer in found[way, count]))


def _each(found: Any, way: str, few: int, many: int) -> float:
    """Octets for one origin more."""
    least, most = (_median(found, way, count, "resident at most") for count in (few, many))
    return (most - least) / (many - few)


def _row(way: str, below: str, found: Any, few: int, many: int, counts: list[int]) -> list[str]:
    spent = _median(found, way, many, "processor") / many * 1000
    ratio = ""
    if below:
        ratio = f" ({table.times(spent * many / 1000 / _median(found, below, many, 'processor'))})"
    return [
        way,
        f"{many / _median(found, way, many, 'seconds'):,.0f}",
        f"{table.milliseconds(spent)}{ratio}",
        *(f"{_median(found, way, n, 'resident at most') / 2**20:.0f} MiB" for n in counts),
        table.octets(_each(found, way, few, many)),
        f"{_median(found, way, many, 'success'):,.0f}",
        f"{_median(found, way, many, 'asked'):,.0f}",
    ]
