"""
The clock: engines timed in turn on a list of cases, round after round.

In a round every engine does every measure once; the next round starts with another engine, so
that a machine that slows down slows all of them. The garbage collector is off while the clock
runs. An engine goes over the cases once untimed before it is timed, and a quick one is timed over
them several times: what is measured is an engine at work, not the memory of a machine that has just
done something else. A figure is the median of its rounds, a ratio the median of the ratios within
each round.

Sections: `Prepared` (what is made before the clock starts), the measures, `rounds`, `verdicts`.
Does not know: where cases come from, how figures are shown.
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

# An engine that takes longer than this for one measure is timed in FEW rounds only.
PATIENCE_NS = 3_000_000_000
FEW = 3
# One that takes longer than this is not warmed up, and one that takes less than ENOUGH_NS is timed
# over and over until that is reached.
WARM_NS = 1_000_000_000
ENOUGH_NS = 30_000_000
# A long batch: of one in SOME files, its questions and variants of them with a number behind.
LONG = 1000
SOME = 45
# The cases are timed in this many parts, so that a disturbance spoils one part and not a round.
PARTS = 20


@dataclass(slots=True)
class Prepared:
    """One engine with everything it needs made beforehand, for the cases it is timed on."""

    engine: Engine
    cases: Sequence[Case]
    bodies: list[tuple[Any, str]] = field(default_factory=list)
    firsts: list[tuple[Any, str, str]] = field(default_factory=list)
    asked: list[tuple[Any, Sequence[str], str]] = field(default_factory=list)
    held: list[tuple[Any, Sequence[str], str]] = field(default_factory=list)
    many: list[tuple[Any, Sequence[str], str]] = field(default_factory=list)
    long: list[tuple[Any, Sequence[str], str]] = field(default_factory=list)

    @classmethod
    def of(cls, engine: Engine, cases: Sequence[Case]) -> Prepared:
        """Parse every case and ask each once, so that what is built lazily is built."""
        made = cls(engine, cases)
        for case in cases:
            body = engine.body(case.body)
            parsed = engine.parse(body, case.token)
            held = engine.hold(parsed, case.token)
            made.bodies.append((body, case.token))
            made.firsts.append((body, case.urls[0], case.token))
            made.asked.append((parsed, case.many, case.token))
            made.held.append((held, case.many, case.token))
            made.many.append((held, list(case.many), case.token))
            made.long.append((held, long_batch(case), case.token))
            engine.check(parsed, case.urls[0], case.token)
            engine.allows_each(held, case.urls[:1], case.token)
        return made

    def around_median(self, count: int) -> Prepared:
        """The same for the *count* files around the median size."""
        by_size = sorted(range(len(self.cases)), key=lambda i: len(self.cases[i].body))
        middle = len(by_size) // 2
        return self.only(by_size[max(0, middle - count // 2) : middle + count // 2 + 1])

    def only(self, chosen: Sequence[int]) -> Prepared:
        """The same for some of the files, by number."""
        return Prepared(
            self.engine,
            [self.cases[i] for i in chosen],
            [self.bodies[i] for i in chosen],
            [self.firsts[i] for i in chosen],
            [self.asked[i] for i in chosen],
            [self.held[i] for i in chosen],
            [self.many[i] for i in chosen],
            [self.long[i] for i in chosen],
        )


def long_batch(case: Case) -> list[str]:
    """Up to LONG URLs of a file; none for most files, so that all fit into memory."""
    if int(hashlib.sha256(case.name.encode()).hexdigest(), 16) % SOME or not case.many:
        return []
    return variants(case, LONG)


def variants(case: Case, count: int) -> list[str]:
    """So many URLs of a file: its questions, then the same with numbers behind them."""
    turns = range(-(-count // len(case.many)))
    return [url + (str(turn) if turn else "") for turn in turns for url in case.many][:count]


# Each measure: which list of `Prepared` is gone over, and which call of an engine is timed. `parse`
# reads every body; `first` asks one question of each besides; `check` asks parsed files by the call
# that a newcomer finds first, `allows` what was kept for one product token by the fastest call for
# one URL; `batch` and `long` ask many URLs at once.
MEASURES = {
    "parse": ("bodies", "parse"),
    "first": ("firsts", "first"),
    "check": ("asked", "check_each"),
    "allows": ("held", "allows_each"),
    "batch": ("many", "batch"),
    "long": ("long", "batch"),
}


def timed(prepared: Prepared, measure: str) -> int:
    """Nanoseconds for all files that have something to ask."""
    where, call_name = MEASURES[measure]
    calls = [item for item in getattr(prepared, where) if item[1]]
    call = getattr(prepared.engine, call_name)
    start = clock()
    for item in calls:
        call(*item)
    return clock() - start


def units(measure: str, cases: Iterable[Case]) -> int:
    """How many files or questions a measure's time is divided by."""
    match measure:
        case "parse" | "first":
            return sum(1 for _ in cases)
        case "long":
            return sum(len(long_batch(case)) for case in cases)
        case _:
            return sum(len(case.many) for case in cases)


@dataclass(frozen=True, slots=True)
class Timing:
    """
    Microseconds for one file or question, and how many times faster than the reference.

    First for the median round; then with each part of the cases in its fastest round, which on a
    busy machine says more of the engine and less of its neighbours.
    """

    microseconds: float
    ratio: float | None
    fastest: float
    fastest_ratio: float | None


def rounds(
    prepared: Sequence[Prepared],
    measures: Sequence[str],
    count: int,
    progress: Callable[[str], None],
) -> dict[tuple[str, str], Timing]:
    """Time every engine on every measure that the cases have; keys are (engine, measure)."""
    measures = [measure for measure in measures if units(measure, prepared[0].cases)]
    taken: dict[tuple[str, str], dict[int, int]] = {}
    fastest: dict[tuple[str, str], list[int]] = {}
    numbers = range(len(prepared[0].cases))
    parts = {
        one.engine.name: [one.only(numbers[at::PARTS]) for at in range(min(PARTS, len(numbers)))]
        for one in prepared
    }
    gc.collect()
    gc.freeze()
    try:
        for number in range(count):
            turn = number % len(prepared)
            for one in (*prepared[turn:], *prepared[:turn]):
                for measure in measures:
                    progress(f"round {number + 1} of {count}: {one.engine.name}, {measure}")
                    key = one.engine.name, measure
                    times = taken.setdefault(key, {})
                    if number >= FEW and max(times.values()) > PATIENCE_NS:
                        continue
                    gc.collect()
                    gc.disable()
                    times[number], best = _steady(measure, parts[one.engine.name])
                    gc.enable()
                    fastest[key] = list(map(min, fastest.get(key, best), best))
    finally:
        gc.enable()
        gc.unfreeze()
    found = {}
    for (name, measure), times in taken.items():
        each = 1000 * units(measure, prepared[0].cases)
        least, theirs = sum(fastest[name, measure]), fastest.get((REFERENCE, measure))
        found[name, measure] = Timing(
            statistics.median(times.values()) / each,
            _ratio(taken.get((REFERENCE, measure)), times),
            least / each,
            sum(theirs) / least if theirs else None,
        )
    return found


def _steady(measure: str, parts: Sequence[Prepared]) -> tuple[int, list[int]]:
    """Nanoseconds for all cases, gone over before; and for each part, at its fastest."""
    best = [timed(part, measure) for part in parts]
    if sum(best) > WARM_NS:
        return sum(best), best
    total, passes = 0, 0
    while total < ENOUGH_NS:
        now = [timed(part, measure) for part in parts]
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
    What an engine answered, so that one that fails fast is not taken for one that is fast.

    *raised* names the cases on which it raised; they are left out of every engine's time.
    """

    answers: dict[tuple[str, str], bool] = field(default_factory=dict)
    raised: dict[str, str] = field(default_factory=dict)

    def differing(self, other: Verdicts) -> int:
        """How many questions both answered, and differently."""
        return sum(
            other.answers[question] != answer
            for question, answer in self.answers.items()
            if question in other.answers
        )


def verdicts(engine: Engine, cases: Sequence[Case]) -> Verdicts:
    """Ask every question of *cases* once, untimed."""
    seen = Verdicts()
    for case in cases:
        try:
            parsed = engine.parse(engine.body(case.body), case.token)
            answers = [bool(engine.check(parsed, url, case.token)) for url in case.urls]
            engine.batch(engine.hold(parsed, case.token), list(case.many), case.token)
        except (KeyboardInterrupt, SystemExit, MemoryError):
            raise
        # A panic in a Rust rival arrives as a BaseException that is not an Exception.
        except BaseException as error:
            seen.raised[case.name] = type(error).__name__
            continue
        seen.answers.update(
            ((case.name, url), answer) for url, answer in zip(case.urls, answers, strict=True)
        )
    return seen
