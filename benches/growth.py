"""
Growth of the time of one check with the number of rules.

Every engine checks the same URLs against the same generated file. The number of checks in a round
is set for each engine so that a round is long enough for the clock and short enough to repeat.

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

# The approximate length of a round of one engine at one size, and the longest warm-up.
ROUND_NS = 10_000_000
MAX_WARMUP_NS = 100_000_000
MAX_CHECKS = 20_000


@dataclass(frozen=True, slots=True)
class Point:
    """Microseconds of one engine on one generated file; *batch* and *check* are per URL."""

    engine: str
    shape: str
    rules: int
    parse: float
    check: float
    batch: float


def measure_points(
    engines: Sequence[Engine],
    shape: rules.Shape,
    sizes: Sequence[int],
    count: int,
    progress: Callable[[str], None],
) -> list[Point]:
    """Time every engine at every size, in *count* rounds each."""
    points: list[Point] = []
    for size in sizes:
        tasks = []
        for engine in engines:
            progress(f"{size:,} {shape} rules: {engine.name}, warm-up")
            tasks.append(_Task(engine, rules.make_case(size, shape)))
        for number in range(count):
            first = number % len(tasks)
            for task in (*tasks[first:], *tasks[:first]):
                progress(f"{size:,} {shape} rules: round {number + 1}, {task.engine.name}")
                gc.collect()
                gc.disable()
                task.run_round()
                gc.enable()
        points.extend(task.make_point(shape, size) for task in tasks)
    return points


class _Task:
    """One engine on one file, with its times."""

    def __init__(self, engine: Engine, case: Case) -> None:
        self.engine = engine
        self.case = case
        self.body = engine.prepare_body(case.body)
        self.parsed = engine.parse(self.body, case.token)
        self.rules = engine.rules_for(self.parsed, case.token)
        self.times: dict[str, list[float]] = {"parse": [], "check": [], "batch": []}
        self.urls = self._select_urls()
        self.parses = self._count_parses()

    def _select_urls(self) -> list[str]:
        """Return enough URLs for a round, after lazy structures have been built."""
        urls, each, started = self.case.urls, 1, clock()
        for _ in range(4):
            start = clock()
            for checked, url in enumerate(urls, 1):
                self.engine.allows_each(self.rules, (url,), self.case.token)
                each = max(1, (clock() - start) // checked)
                if clock() - started > MAX_WARMUP_NS:
                    break
        count = max(2, min(MAX_CHECKS, ROUND_NS // each))
        return [urls[number % len(urls)] for number in range(count)]

    def _count_parses(self) -> int:
        start = clock()
        self.engine.parse(self.body, self.case.token)
        return max(1, min(2_000, ROUND_NS // max(1, clock() - start)))

    def run_round(self) -> None:
        """Time the three measures once."""
        token, urls = self.case.token, self.urls
        start = clock()
        for _ in range(self.parses):
            self.engine.parse(self.body, token)
        self.times["parse"].append((clock() - start) / self.parses)
        self.engine.allows_each(self.rules, urls[:100], token)
        start = clock()
        self.engine.allows_each(self.rules, urls, token)
        self.times["check"].append((clock() - start) / len(urls))
        start = clock()
        self.engine.check_batch(self.rules, urls, token)
        self.times["batch"].append((clock() - start) / len(urls))

    def make_point(self, shape: str, size: int) -> Point:
        """Return the medians."""
        parse, check, batch = (
            statistics.median(self.times[name]) / 1000 for name in ("parse", "check", "batch")
        )
        return Point(self.engine.name, shape, size, parse, check, batch)
