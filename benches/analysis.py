"""
Exact answers: how long proofs take as rules grow, where the budget ends them, and the real corpus.

Curves: `equivalent` on generated pairs that mean the same and that differ in one rule, whose answer
is compared with what it has to be; `dead_rules`, `redundant_rules` and `minimise` on the file
itself. Then the study of the corpus, which is in `analysis_corpus.py`.

Does not know: rivals. Nobody else answers these questions.
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
# What is asked, in the order of the columns.
ASKED = {
    "equal": "equivalent, same meaning",
    "differ": "equivalent, one rule changed",
    "dead": "dead rules",
    "redundant": "redundant rules",
    "minimise": "minimise",
}


@dataclass(frozen=True, slots=True)
class Point:
    """Processor time of one question about one generated file, and what it came to."""

    shape: str
    rules: int
    asked: str
    seconds: float
    states: int
    undecided: int
    """How many rules, or whole questions, were not decided within the budget."""


def run(plan: dict[str, Any], report: Any, progress: Progress) -> None:
    """Print the tables."""
    report.say(f"## {plan['title']}", "")
    points = []
    for shape in plan["shapes"]:
        points += curve(shape, plan["sizes"], plan["rounds"], plan["patience"], progress)
        report.say(*_curve_lines(shape, [p for p in points if p.shape == shape]), "")
    tangled = curve("tangled", plan["tangled"], 1, plan["patience"], progress)
    report.say(*_tangled_lines(tangled), "")
    report.figures["analysis"] = {"curves": [asdict(point) for point in (*points, *tangled)]}
    _bars(plan, points, report)
    studies = []
    for profile in plan["profiles"]:
        study = analysis_corpus.study(profile, plan["every"], progress)
        report.say(*analysis_corpus.lines(study, plan["bar"]["decided_below"]), "")
        studies.append(analysis_corpus.figures(study))
    report.figures["analysis"]["corpus"] = studies
    first = studies[0]
    below = [one for one in first["undecided"] if one["rules"] < plan["bar"]["decided_below"]]
    report.bar(
        f"rule sets of real files with less than {plan['bar']['decided_below']} rules, undecided",
        "0",
        f"{len(below):,} of {first['rule sets']:,}",
        not below,
    )


# --- Curves ---------------------------------------------------------------------------------------


def curve(
    shape: pairs.Shape, sizes: Sequence[int], rounds: int, patience: float, progress: Progress
) -> list[Point]:
    """All questions at all sizes; a question that took too long is not asked at a larger one."""
    found: list[Point] = []
    tired: set[str] = set()
    for size in sizes:
        for asked, ask in _questions(size, shape):
            if asked in tired:
                continue
            times = []
            for number in range(rounds):
                progress(f"{size:,} {shape} rules, {asked}: round {number + 1}")
                gc.collect()
                start = time.process_time()
                states, undecided = ask()
                times.append(time.process_time() - start)
                if times[-1] > patience:
                    tired.add(asked)
                    break
            seconds = statistics.median(times)
            found.append(Point(shape, size, asked, seconds, states, undecided))
    return found


def _questions(
    size: int, shape: pairs.Shape
) -> Iterator[tuple[str, Callable[[], tuple[int, int]]]]:
    """Yield what is asked, and a function that asks it: states, and how much was undecided."""
    import robotrules
    from robotrules import analysis

    written = pairs.rules(size, shape)
    old, same, other = (
        robotrules.parse(pairs.body(rules)).rules_for("ExampleBot")
        for rules in (written, pairs.rewritten(written), pairs.changed(written))
    )

    def compare(new: Any, expected: bool) -> tuple[int, int]:
        answer = analysis.equivalent(old, new)
        if answer.equal not in (expected, None):
            raise AssertionError(f"{size} {shape} rules: {answer.equal}, and it is {expected}")
        return answer.states, int(answer.equal is None)

    def rules(ask: Callable[[Any], Any]) -> tuple[int, int]:
        answer = ask(old)
        return answer.states, len(answer.undecided)

    yield "equal", lambda: compare(same, True)
    yield "differ", lambda: compare(other, False)
    yield "dead", lambda: rules(analysis.dead_rules)
    yield "redundant", lambda: rules(analysis.redundant_rules)
    yield "minimise", lambda: rules(analysis.minimize)


def _curve_lines(shape: str, points: Sequence[Point]) -> Iterator[str]:
    yield (
        f"{shape.capitalize()} rules: processor time of one answer, and the states seen for the "
        "first; * marks answers that were not decided."
    )
    yield ""
    rows = []
    for size in dict.fromkeys(point.rules for point in points):
        by = {point.asked: point for point in points if point.rules == size}
        cells = [_cell(by.get(asked)) for asked in ASKED]
        states = f"{by['equal'].states:,}" if "equal" in by else "-"
        rows.append([f"{size:,}", *cells, states])
    yield table.render(["rules", *ASKED.values(), "states"], rows)


def _cell(point: Point | None) -> str:
    if point is None:
        return "-"
    return table.milliseconds(point.seconds * 1000) + (" *" if point.undecided else "")


def _tangled_lines(points: Sequence[Point]) -> Iterator[str]:
    yield (
        "Tangled rules, which are hostile: where the budget ends it. In brackets, how much was "
        "not decided: of the rules, or of the one question."
    )
    yield ""
    rows = []
    for size in dict.fromkeys(point.rules for point in points):
        by = {point.asked: point for point in points if point.rules == size}
        cells = [
            f"{table.milliseconds(by[asked].seconds * 1000)} ({by[asked].undecided:,})"
            if asked in by
            else "-"
            for asked in ASKED
        ]
        rows.append([f"{size:,}", *cells])
    yield table.render(["rules", *ASKED.values()], rows)
    # The largest the process has been; the interpreter and the files are in it.
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield ""
    yield f"The process was never larger than {most / 1024:,.0f} MiB."


def _bars(plan: dict[str, Any], points: Sequence[Point], report: Any) -> None:
    bar = plan["bar"]
    at = [point for point in points if point.rules == bar["rules"]]
    for shape in plan["shapes"] if at else ():
        of_shape = [point for point in at if point.shape == shape]
        slowest = max(of_shape, key=lambda point: point.seconds)
        decided = all(not point.undecided for point in of_shape) and len(of_shape) == len(ASKED)
        report.bar(
            f"{bar['rules']:,} {shape} rules, the slowest answer",
            f"decided, < {bar['seconds']:g} s",
            f"{slowest.seconds:.2f} s ({ASKED[slowest.asked]})"
            + ("" if decided else ", not all decided"),
            decided and slowest.seconds < bar["seconds"],
        )
