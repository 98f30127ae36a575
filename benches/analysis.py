"""
Exact analysis: time by number of rules, the effect of the state limit, and the real corpus.

Curves: `equivalent` on generated pairs that are equivalent and on pairs that differ in one rule,
with each answer compared to the expected one; `dead_rules`, `redundant_rules` and `minimise` on the
file itself. Then the study of the corpus, in `analysis_corpus.py`.

Does not know: rivals. No other library has such an analysis.
"""

from __future__ import annotations

import gc
import resource
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import analysis_corpus
import table
from corpora import pairs

Progress = Callable[[str], None]
# The analyses, in the order of the columns.
ANALYSES = {
    "equal": "equivalent, same meaning",
    "differ": "equivalent, one rule changed",
    "dead": "dead rules",
    "redundant": "redundant rules",
    "minimise": "minimise",
}


@dataclass(frozen=True, slots=True)
class Point:
    """Processor time of one analysis of one generated file, and its result."""

    shape: str
    rules: int
    asked: str
    seconds: float
    states: int
    undecided: int
    """The number of rules, or of whole analyses, that were not decided within the state limit."""


def run(plan: dict[str, Any], report: Any, progress: Progress) -> None:
    """Print the tables."""
    report.say(f"## {plan['title']}", "")
    points = []
    for shape in plan["shapes"]:
        points += measure_curve(shape, plan["sizes"], plan["rounds"], plan["patience"], progress)
        report.say(*_render_curve(shape, [p for p in points if p.shape == shape]), "")
    tangled = measure_curve("tangled", plan["tangled"], 1, plan["patience"], progress)
    report.say(*_render_tangled(tangled), "")
    report.figures["analysis"] = {"curves": [asdict(point) for point in (*points, *tangled)]}
    _add_bars(plan, points, report)
    studies = []
    for profile in plan["profiles"]:
        study = analysis_corpus.run_study(profile, plan["every"], progress)
        report.say(*analysis_corpus.render_study(study, plan["bar"]["decided_below"]), "")
        studies.append(analysis_corpus.study_figures(study))
    report.figures["analysis"]["corpus"] = studies
    first = studies[0]
    limit = plan["bar"]["decided_below"]
    below = [rule_set for rule_set in first["undecided"] if rule_set["rules"] < limit]
    report.add_bar(
        f"rule sets of real files with less than {limit} rules, undecided",
        "0",
        f"{len(below):,} of {first['rule sets']:,}",
        not below,
    )


# --- Curves ---------------------------------------------------------------------------------------


def measure_curve(
    shape: pairs.Shape, sizes: Sequence[int], rounds: int, patience: float, progress: Progress
) -> list[Point]:
    """Run all analyses at all sizes; one that took too long is not run at larger sizes."""
    points: list[Point] = []
    stopped: set[str] = set()
    for size in sizes:
        for asked, analyse in _make_analyses(size, shape):
            if asked in stopped:
                continue
            times = []
            for number in range(rounds):
                progress(f"{size:,} {shape} rules, {asked}: round {number + 1}")
                gc.collect()
                start = time.process_time()
                states, undecided = analyse()
                times.append(time.process_time() - start)
                if times[-1] > patience:
                    stopped.add(asked)
                    break
            seconds = statistics.median(times)
            points.append(Point(shape, size, asked, seconds, states, undecided))
    return points


def _make_analyses(
    size: int, shape: pairs.Shape
) -> Iterator[tuple[str, Callable[[], tuple[int, int]]]]:
    """Yield each analysis and a function that runs it and returns states and undecided rules."""
    import robotrules
    from robotrules import analysis

    written = pairs.make_rules(size, shape)
    old, same, other = (
        robotrules.parse(pairs.make_body(rules)).rules_for("ExampleBot")
        for rules in (written, pairs.rewrite(written), pairs.change_one(written))
    )

    def compare(new: Any, expected: bool) -> tuple[int, int]:
        answer = analysis.equivalent(old, new)
        if answer.equal not in (expected, None):
            raise AssertionError(f"{size} {shape} rules: {answer.equal}, expected {expected}")
        return answer.states, int(answer.equal is None)

    def analyse(function: Callable[[Any], Any]) -> tuple[int, int]:
        answer = function(old)
        return answer.states, len(answer.undecided)

    yield "equal", lambda: compare(same, True)
    yield "differ", lambda: compare(other, False)
    yield "dead", lambda: analyse(analysis.dead_rules)
    yield "redundant", lambda: analyse(analysis.redundant_rules)
    yield "minimise", lambda: analyse(analysis.minimize)


def _render_curve(shape: str, points: Sequence[Point]) -> Iterator[str]:
    yield (
        f"{shape.capitalize()} rules: processor time of one analysis, and the states explored by "
        "the first; * marks results that were not decided."
    )
    yield ""
    rows = []
    for size in dict.fromkeys(point.rules for point in points):
        by = {point.asked: point for point in points if point.rules == size}
        cells = [_render_cell(by.get(asked)) for asked in ANALYSES]
        states = f"{by['equal'].states:,}" if "equal" in by else "-"
        rows.append([f"{size:,}", *cells, states])
    yield table.render(["rules", *ANALYSES.values(), "states"], rows)


def _render_cell(point: Point | None) -> str:
    if point is None:
        return "-"
    return table.format_milliseconds(point.seconds * 1000) + (" *" if point.undecided else "")


def _render_tangled(points: Sequence[Point]) -> Iterator[str]:
    yield (
        "Tangled rules, which are hostile and reach the state limit. In brackets, the number of "
        "rules, or of analyses, that were not decided."
    )
    yield ""
    rows = []
    for size in dict.fromkeys(point.rules for point in points):
        by = {point.asked: point for point in points if point.rules == size}
        cells = [
            f"{table.format_milliseconds(by[asked].seconds * 1000)} ({by[asked].undecided:,})"
            if asked in by
            else "-"
            for asked in ANALYSES
        ]
        rows.append([f"{size:,}", *cells])
    yield table.render(["rules", *ANALYSES.values()], rows)
    # The peak of the process, with the interpreter and the files.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield ""
    yield f"Peak memory of the process: {peak / 1024:,.0f} MiB."


def _add_bars(plan: dict[str, Any], points: Sequence[Point], report: Any) -> None:
    bar = plan["bar"]
    measured = [point for point in points if point.rules == bar["rules"]]
    for shape in plan["shapes"] if measured else ():
        of_shape = [point for point in measured if point.shape == shape]
        slowest = max(of_shape, key=lambda point: point.seconds)
        decided = all(not point.undecided for point in of_shape) and len(of_shape) == len(ANALYSES)
        report.add_bar(
            f"{bar['rules']:,} {shape} rules, the slowest analysis",
            f"decided, < {bar['seconds']:g} s",
            f"{slowest.seconds:.2f} s ({ANALYSES[slowest.asked]})"
            + ("" if decided else ", not all decided"),
            decided and slowest.seconds < bar["seconds"],
        )
