"""
How the cost of one question grows with the number of rules.

Every engine is asked the same URLs of the same generated file. How many are asked in a round is
set for each engine so that a round is long enough for the clock and short enough to repeat.

Does not know: real files; see `measure.py` for those.
"""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from corpora import Case, rules
from engines import Engine
from measure import clock

# A round of one engine at one size is about this long, and the time to get ready at most that.
ROUND_NS = 10_000_000
READY_NS = 100_000_000
MOST_QUESTIONS = 20_000


@dataclass(frozen=True, slots=True)
class Point:
    """Microseconds of one engine on one generated file; *batch* and *check* are for one URL."""

    engine: str
    shape: str
    rules: int
    parse: float
    check: float
    batch: float


def points(
    engines: Sequence[Engine],
    shape: rules.Shape,
    sizes: Sequence[int],
    count: int,
    progress: Callable[[str], None],
) -> list[Point]:
    """Every engine at every size, in *count* rounds each."""
    found: list[Point] = []
    for size in sizes:
        tasks = []
        for engine in engines:
            progress(f"{size:,} {shape} rules: {engine.name} gets ready")
            tasks.append(_Task(engine, rules.case(size, shape)))
        for number in range(count):
            turn = number % len(tasks)
            for task in (*tasks[turn:], *tasks[:turn]):
                progress(f"{size:,} {shape} rules: round {number + 1}, {task.engine.name}")
                gc.collect()
                gc.disable()
                task.round()
                gc.enable()
        found.extend(task.point(shape, size) for task in tasks)
    return found


class _Task:
    """One engine on one file, with the times taken so far."""

    def __init__(self, engine: Engine, case: Case) -> None:
        self.engine = engine
        self.case = case
        self.body = engine.body(case.body)
        self.parsed = engine.parse(self.body, case.token)
        self.held = engine.hold(self.parsed, case.token)
        self.times: dict[str, list[float]] = {"parse": [], "check": [], "batch": []}
        self.urls = self._enough_urls()
        self.parses = self._enough_parses()

    def _enough_urls(self) -> list[str]:
        """As many URLs as fill a round, once what is built lazily has been built."""
        urls, each, started = self.case.urls, 1, clock()
        for _ in range(4):
            start = clock()
            for asked, url in enumerate(urls, 1):
                self.engine.allows_each(self.held, (url,), self.case.token)
                each = max(1, (clock() - start) // asked)
                if clock() - started > READY_NS:
                    break
        wanted = max(2, min(MOST_QUESTIONS, ROUND_NS // each))
        return [urls[number % len(urls)] for number in range(wanted)]

    def _enough_parses(self) -> int:
        start = clock()
        self.engine.parse(self.body, self.case.token)
        return max(1, min(2_000, ROUND_NS // max(1, clock() - start)))

    def round(self) -> None:
        """Time the three measures once."""
        token, urls = self.case.token, self.urls
        start = clock()
        for _ in range(self.parses):
            self.engine.parse(self.body, token)
        self.times["parse"].append((clock() - start) / self.parses)
        self.engine.allows_each(self.held, urls[:100], token)
        start = clock()
        self.engine.allows_each(self.held, urls, token)
        self.times["check"].append((clock() - start) / len(urls))
        start = clock()
        self.engine.batch(self.held, urls, token)
        self.times["batch"].append((clock() - start) / len(urls))

    def point(self, shape: str, size: int) -> Point:
        """The medians."""
        parse, check, batch = (
            statistics.median(self.times[name]) / 1000 for name in ("parse", "check", "batch")
        )
        return Point(self.engine.name, shape, size, parse, check, batch)
