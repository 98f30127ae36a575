"""
Batches: time per URL by the size of the batch, over all real files, next to the reference's loop.

Table *real* iterates over all files, so each batch finds its rules and URLs outside the processor's
caches, and it has long batches for a few files only. Here the URLs of a file are made, checked a
few times in a row, and dropped, as a crawler checks the links of a page that it has just read.

Does not know: other rivals. Most parse the file again for each check.
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


def run(plan: dict[str, Any], engines: Sequence[Engine], report: Any, progress: Progress) -> None:
    """Print the table."""
    by_name = {engine.name: engine for engine in engines}
    if OURS not in by_name:
        report.say(f"## {plan['title']}", "", "(robotrules is not selected.)", "")
        return
    progress("reading the corpus")
    cases, description = real.load_cases(plan["files"])
    sizes = {OURS: plan["sizes"], REFERENCE: [plan["of"]]}
    columns = [(by_name[name], size) for name in sizes if name in by_name for size in sizes[name]]
    taken: dict[tuple[str, int], list[float]] = {}
    for number in range(plan["rounds"]):
        total: dict[tuple[str, int], int] = {}
        for index, case in enumerate(cases):
            if index % 50 == 0:
                progress(f"round {number + 1} of {plan['rounds']}: file {index} of {len(cases)}")
            for engine, size in columns:
                key = engine.name, size
                total[key] = total.get(key, 0) + time_batch(engine, case, size, plan["again"])
        for key, nanoseconds in total.items():
            taken.setdefault(key, []).append(nanoseconds / (len(cases) * key[1]))
    theirs = taken.get((REFERENCE, plan["of"]))
    rows = []
    for (name, size), times in taken.items():
        ratios = [r / t for r, t in zip(theirs, times, strict=True)] if theirs else []
        ratio = statistics.median(ratios) if ratios else None
        each = statistics.median(times) / 1000
        rows.append([name, f"{size:,}", table.format_microseconds(each), table.format_ratio(ratio)])
        if name == OURS and size == plan["of"] and ratio is not None:
            report.add_bar(
                f"allows_many of {size:,} URLs, every real file, to {REFERENCE}",
                f">= {plan['bar']}x",
                f"{ratio:.1f}x",
                ratio >= plan["bar"],
            )
    report.say(
        f"## {plan['title']}",
        "",
        f"{description}; for each, the given number of URLs in one call, derived from its URLs. "
        f"Each call, and each loop of {REFERENCE}, is the fastest of {plan['again']} after a "
        f"warm-up. Medians of {plan['rounds']} rounds.",
        "",
        table.render(["engine", "URLs per call", "one URL", f"to {REFERENCE}"], rows),
        "",
    )
    report.figures["batches"] = [
        {"engine": name, "size": size, "nanoseconds": times}
        for (name, size), times in taken.items()
    ]


def time_batch(engine: Engine, case: Case, size: int, repeats: int) -> int:
    """Return the nanoseconds of one call with *size* URLs, for a parsed and warmed-up file."""
    rules = engine.rules_for(engine.parse(engine.prepare_body(case.body), case.token), case.token)
    urls = measure.make_urls(case, size)
    engine.check_batch(rules, urls, case.token)
    gc.disable()
    fastest = min(_time_call(engine, rules, urls, case.token) for _ in range(repeats))
    gc.enable()
    return fastest


def _time_call(engine: Engine, rules: Any, urls: Sequence[str], token: str) -> int:
    start = time.perf_counter_ns()
    engine.check_batch(rules, urls, token)
    return time.perf_counter_ns() - start
