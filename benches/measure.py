"""
Interleaved timing of engines on a list of cases.

In a round every engine runs every measure once; the next round starts with another engine, so that
a machine that slows down affects all of them. The garbage collector is off while the clock runs.
Each engine is warmed up by one untimed pass over the cases, and a fast one is timed over several
passes, so that its data is in the processor's caches as far as it fits. A figure is the median of
its rounds, a ratio the median of the ratios within each round.

Sections: `Prepared` (everything made before the clock starts), the measures, `run_rounds`,
`collect_verdicts`. Does not know: where cases come from, how figures are shown.
"""

from __future__ import annotations

import gc
import hashlib
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from corpora import Case
from engines import REFERENCE, Engine

clock = time.perf_counter_ns

# An engine that takes longer than this for one measure is timed in SLOW_ROUNDS rounds only.
SLOW_NS = 3_000_000_000
SLOW_ROUNDS = 3
# An engine that takes longer than this is not warmed up; passes are repeated until MIN_TIMED_NS.
MAX_WARMUP_NS = 1_000_000_000
MIN_TIMED_NS = 30_000_000
# A long batch: for one in LONG_BATCH_EVERY files, its URLs and variants with a number appended.
LONG_BATCH_SIZE = 1000
LONG_BATCH_EVERY = 45
# The cases are timed in this many parts, so that a disturbance affects one part and not a round.
PARTS = 20


@dataclass(slots=True)
class Prepared:
    """One engine with the inputs of all its calls, for the cases it is timed on."""

    engine: Engine
    cases: Sequence[Case]
    bodies: list[tuple[Any, str]] = field(default_factory=list)
    firsts: list[tuple[Any, str, str]] = field(default_factory=list)
    parsed: list[tuple[Any, Sequence[str], str]] = field(default_factory=list)
    rules: list[tuple[Any, Sequence[str], str]] = field(default_factory=list)
    many: list[tuple[Any, Sequence[str], str]] = field(default_factory=list)
    long: list[tuple[Any, Sequence[str], str]] = field(default_factory=list)

    @classmethod
    def prepare(cls, engine: Engine, cases: Sequence[Case]) -> Prepared:
        """Parse every case and check one URL of each, so that lazy structures are built."""
        prepared = cls(engine, cases)
        for case in cases:
            body = engine.prepare_body(case.body)
            parsed = engine.parse(body, case.token)
            rules = engine.rules_for(parsed, case.token)
            prepared.bodies.append((body, case.token))
            prepared.firsts.append((body, case.urls[0], case.token))
            prepared.parsed.append((parsed, case.many, case.token))
            prepared.rules.append((rules, case.many, case.token))
            prepared.many.append((rules, list(case.many), case.token))
            prepared.long.append((rules, make_long_batch(case), case.token))
            engine.check(parsed, case.urls[0], case.token)
            engine.allows_each(rules, case.urls[:1], case.token)
        return prepared

    def around_median(self, count: int) -> Prepared:
        """Return the same for the *count* files around the median size."""
        by_size = sorted(range(len(self.cases)), key=lambda i: len(self.cases[i].body))
        middle = len(by_size) // 2
        return self.select(by_size[max(0, middle - count // 2) : middle + count // 2 + 1])

    def select(self, chosen: Sequence[int]) -> Prepared:
        """Return the same for some of the files, by number."""
        return Prepared(
            self.engine,
            [self.cases[i] for i in chosen],
            [self.bodies[i] for i in chosen],
            [self.firsts[i] for i in chosen],
            [self.parsed[i] for i in chosen],
            [self.rules[i] for i in chosen],
            [self.many[i] for i in chosen],
            [self.long[i] for i in chosen],
        )


def make_long_batch(case: Case) -> list[str]:
    """Return a long batch for a file; empty for most files, so that all fit into memory."""
    if int(hashlib.sha256(case.name.encode()).hexdigest(), 16) % LONG_BATCH_EVERY or not case.many:
        return []
    return make_urls(case, LONG_BATCH_SIZE)


def make_urls(case: Case, count: int) -> list[str]:
    """Return *count* URLs of a file: its URLs, then the same with a number appended."""
    passes = range(-(-count // len(case.many)))
    return [url + (str(number) if number else "") for number in passes for url in case.many][:count]


# Each measure: the list of `Prepared` to iterate over, and the call of an engine to time. `parse`
# parses every body; `first` also checks one URL of each; `check` checks URLs of parsed files by the
# engine's most prominent call, `allows` those of compiled rules by the fastest call for one URL;
# `batch` and `long` check many URLs in one call.
MEASURES = {
    "parse": ("bodies", "parse"),
    "first": ("firsts", "parse_and_check"),
    "check": ("parsed", "check_each"),
    "allows": ("rules", "allows_each"),
    "batch": ("many", "check_batch"),
    "long": ("long", "check_batch"),
}


def time_pass(prepared: Prepared, measure: str) -> int:
    """Return the nanoseconds for all files with URLs."""
    inputs, call_name = MEASURES[measure]
    calls = [item for item in getattr(prepared, inputs) if item[1]]
    call = getattr(prepared.engine, call_name)
    start = clock()
    for item in calls:
        call(*item)
    return clock() - start


def count_units(measure: str, cases: Iterable[Case]) -> int:
    """Return the number of files or URLs that a measure's time is divided by."""
    match measure:
        case "parse" | "first":
            return sum(1 for _ in cases)
        case "long":
            return sum(len(make_long_batch(case)) for case in cases)
        case _:
            return sum(len(case.many) for case in cases)


@dataclass(frozen=True, slots=True)
class Timing:
    """
    Microseconds for one file or URL, and the ratio to the reference.

    First for the median round; then with each part of the cases in its fastest round, which is less
    affected by other processes on a busy machine.
    """

    microseconds: float
    ratio: float | None
    fastest: float
    fastest_ratio: float | None


def run_rounds(
    prepared: Sequence[Prepared],
    measures: Sequence[str],
    count: int,
    progress: Callable[[str], None],
) -> dict[tuple[str, str], Timing]:
    """Time every engine on every measure that the cases have; keys are (engine, measure)."""
    measures = [measure for measure in measures if count_units(measure, prepared[0].cases)]
    taken: dict[tuple[str, str], dict[int, int]] = {}
    fastest: dict[tuple[str, str], list[int]] = {}
    numbers = range(len(prepared[0].cases))
    parts = {
        item.engine.name: [
            item.select(numbers[at::PARTS]) for at in range(min(PARTS, len(numbers)))
        ]
        for item in prepared
    }
    gc.collect()
    gc.freeze()
    try:
        for number in range(count):
            first = number % len(prepared)
            for item in (*prepared[first:], *prepared[:first]):
                for measure in measures:
                    progress(f"round {number + 1} of {count}: {item.engine.name}, {measure}")
                    key = item.engine.name, measure
                    times = taken.setdefault(key, {})
                    if number >= SLOW_ROUNDS and max(times.values()) > SLOW_NS:
                        continue
                    gc.collect()
                    gc.disable()
                    times[number], best = _time_steady(measure, parts[item.engine.name])
                    gc.enable()
                    fastest[key] = list(map(min, fastest.get(key, best), best))
    finally:
        gc.enable()
        gc.unfreeze()
    found = {}
    for (name, measure), times in taken.items():
        each = 1000 * count_units(measure, prepared[0].cases)
        least, theirs = sum(fastest[name, measure]), fastest.get((REFERENCE, measure))
        found[name, measure] = Timing(
            statistics.median(times.values()) / each,
            _ratio(taken.get((REFERENCE, measure)), times),
            least / each,
            sum(theirs) / least if theirs else None,
        )
    return found


def _time_steady(measure: str, parts: Sequence[Prepared]) -> tuple[int, list[int]]:
    """Return the nanoseconds of a warmed-up pass over all cases, and of each part's fastest."""
    best = [time_pass(part, measure) for part in parts]
    if sum(best) > MAX_WARMUP_NS:
        return sum(best), best
    total, passes = 0, 0
    while total < MIN_TIMED_NS:
        now = [time_pass(part, measure) for part in parts]
        best = list(map(min, best, now))
        total += sum(now)
        passes += 1
    return total // passes, best


def _ratio(reference: dict[int, int] | None, times: dict[int, int]) -> float | None:
    if reference is None:
        return None
    return statistics.median(reference[number] / times[number] for number in times)


@dataclass(slots=True)
class Verdicts:
    """
    The verdicts of an engine, so that failing early does not count as being fast.

    *raised* names the cases on which it raised; they are excluded for every engine.
    """

    answers: dict[tuple[str, str], bool] = field(default_factory=dict)
    raised: dict[str, str] = field(default_factory=dict)

    def count_differences(self, other: Verdicts) -> int:
        """Return the number of URLs for which both have a verdict and the verdicts differ."""
        return sum(
            other.answers[key] != answer
            for key, answer in self.answers.items()
            if key in other.answers
        )


def collect_verdicts(engine: Engine, cases: Sequence[Case]) -> Verdicts:
    """Check every URL of *cases* once, untimed."""
    verdicts = Verdicts()
    for case in cases:
        try:
            parsed = engine.parse(engine.prepare_body(case.body), case.token)
            answers = [bool(engine.check(parsed, url, case.token)) for url in case.urls]
            engine.check_batch(engine.rules_for(parsed, case.token), list(case.many), case.token)
        except (KeyboardInterrupt, SystemExit, MemoryError):
            raise
        # A panic in a Rust rival arrives as a BaseException that is not an Exception.
        except BaseException as error:
            verdicts.raised[case.name] = type(error).__name__
            continue
        verdicts.answers.update(
            ((case.name, url), answer) for url, answer in zip(case.urls, answers, strict=True)
        )
    return verdicts
