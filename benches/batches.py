"""
What a batch costs for each URL, by its size, over all real files; beside the reference's loop.

Table *real* goes over all files again and again, so each batch finds its rules and URLs far from
the processor, and it has long batches of a few files only. Here a file's URLs are made, asked about
a few times in a row, and forgotten: a crawler asks about the links of a page that it has just read.

Does not know: other rivals. Most read the file again at each question.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import measure
import table
from corpora import Case, real
from engines import OURS, REFERENCE, Engine

Progress = Callable[[str], None]


def run(plan: dict[str, Any], found: Sequence[Engine], report: Any, progress: Progress) -> None:
    """Print the table."""
    by_name = {engine.name: engine for engine in found}
    if OURS not in by_name:
        report.say(f"## {plan['title']}", "", "(robotrules is not among the engines.)", "")
        return
    progress("reading the corpus")
    cases, described = real.cases(plan["files"])
    asked = {OURS: plan["sizes"], REFERENCE: [plan["of"]]}
    columns = [(by_name[name], size) for name in asked if name in by_name for size in asked[name]]
    taken: dict[tuple[str, int], list[float]] = {}
    for number in range(plan["rounds"]):
        total: dict[tuple[str, int], int] = {}
        for at, case in enumerate(cases):
            if at % 50 == 0:
                progress(f"round {number + 1} of {plan['rounds']}: file {at} of {len(cases)}")
            for engine, size in columns:
                key = engine.name, size
                total[key] = total.get(key, 0) + one(engine, case, size, plan["again"])
        for key, nanoseconds in total.items():
            taken.setdefault(key, []).append(nanoseconds / (len(cases) * key[1]))
    theirs = taken.get((REFERENCE, plan["of"]))
    rows = []
    for (name, size), times in taken.items():
        ratios = [r / t for r, t in zip(theirs, times, strict=True)] if theirs else []
        ratio = statistics.median(ratios) if ratios else None
        each = statistics.median(times) / 1000
        rows.append([name, f"{size:,}", table.microseconds(each), table.ratio(ratio)])
        if name == OURS and size == plan["of"] and ratio is not None:
            report.bar(
                f"allows_many of {size:,} URLs, every real file, to {REFERENCE}",
                f">= {plan['bar']}x",
                f"{ratio:.1f}x",
                ratio >= plan["bar"],
            )
    report.say(
        f"## {plan['title']}",
        "",
        f"{described}; of each, so many URLs in one call, made of the questions it has. Each "
        f"call, and each loop of {REFERENCE}, is the fastest of {plan['again']} after a first one. "
        f"Medians of {plan['rounds']} rounds.",
        "",
        table.render(["engine", "URLs a call", "one URL", f"to {REFERENCE}"], rows),
        "",
    )
    report.figures["batches"] = [
        {"engine": name, "size": size, "nanoseconds": times}
        for (name, size), times in taken.items()
    ]


def one(engine: Engine, case: Case, size: int, again: int) -> int:
    """Nanoseconds for one call about *size* URLs of a file that is parsed and was asked before."""
    held = engine.hold(engine.parse(engine.body(case.body), case.token), case.token)
    urls = measure.variants(case, size)
    engine.batch(held, urls, case.token)
    gc.disable()
    least = min(_timed(engine, held, urls, case.token) for _ in range(again))
    gc.enable()
    return least


def _timed(engine: Engine, held: Any, urls: Sequence[str], token: str) -> int:
    start = time.perf_counter_ns()
    engine.batch(held, urls, token)
    return time.perf_counter_ns() - start
