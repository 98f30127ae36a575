"""
What a check costs that needs no network: the engine, both clients over SQLite, and what others do.

A crawler asks about URLs of some hundred origins whose files it has. Two orders: in runs, as the
links of one page come, and shuffled, as a frontier that is polite gives them out. Then what the
first question about an origin costs a new process (`cold.py`).

Does not know: who is asked, which is in `cached_ways.py`; and what fetching costs: see
`prefetch.py`.
"""

from __future__ import annotations

import asyncio
import gc
import pickle
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cold
import table
from cached_ways import CLIENT, ENGINE, SCRAPY, Loop, Threads, Way, Web, ways, web

Progress = Callable[[str], None]
# Nanoseconds: who takes less is asked over and over, who takes more is not warmed up.
ENOUGH, LONG = 30_000_000, 1_000_000_000


# --- The clock ------------------------------------------------------------------------------------


def timed(
    asked: Sequence[Way],
    orders: dict[str, list[str]],
    count: int,
    loop: asyncio.AbstractEventLoop,
    progress: Progress,
) -> dict[tuple[str, str], list[float]]:
    """(way, order) → nanoseconds for one URL, round by round."""

    def once(way: Way, prepared: Any) -> int:
        # Processor time: nothing here waits but for neighbours.
        start = time.process_time_ns()
        if way.asynchronous:
            loop.run_until_complete(way.ask(prepared))
        else:
            way.ask(prepared)
        return time.process_time_ns() - start

    taken: dict[tuple[str, str], list[float]] = {}
    for number in range(count):
        turn = number % len(asked)
        for order, urls in orders.items():
            for way in (*asked[turn:], *asked[:turn]):
                progress(f"{order}, round {number + 1} of {count}: {way.name}")
                prepared = way.prepared(urls)
                gc.collect()
                gc.disable()
                total, passes = once(way, prepared), 1
                if total < LONG:  # that was for warming up
                    total, passes = 0, 0
                    while total < ENOUGH:
                        prepared = way.prepared(urls) if way.used_up else prepared
                        total, passes = total + once(way, prepared), passes + 1
                gc.enable()
                taken.setdefault((way.name, order), []).append(total / passes / len(urls))
    return taken


# --- The tables -----------------------------------------------------------------------------------


def run(plan: dict[str, Any], report: Any, progress: Progress) -> None:
    """Print the tables."""
    progress("reading the corpus")
    known = web(plan["origins"])
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "robots.sqlite"
        report.say(f"## {plan['title']}", "")
        _run_warm(plan, known, store, report, progress)
        _run_cold(plan, known, store, report, progress)


def _run_warm(
    plan: dict[str, Any], known: Web, store: Path, report: Any, progress: Progress
) -> None:
    shuffled = list(known.urls)
    random.Random(9309).shuffle(shuffled)
    # Copied, they lie side by side in memory, in this order.
    orders = {"in runs": known.urls, "shuffled": pickle.loads(pickle.dumps(shuffled))}
    asked = ways(store, known.files, report)
    loop = asyncio.new_event_loop()
    try:
        disallowed = {}
        for way in asked:
            progress(f"verdicts: {way.name}")
            count = way.disallowed(known.urls)
            disallowed[way.name] = loop.run_until_complete(count) if way.asynchronous else count  # type: ignore[arg-type]
        taken = timed(asked, orders, plan["rounds"], loop, progress)
    finally:
        for way in asked:
            if isinstance(way, Loop):
                loop.run_until_complete(way.client.aclose())
            elif type(way) is Threads:
                way.client.close()
        loop.close()
    rows, figures = [], []
    for way in asked:
        cells = []
        for order in orders:
            times, own = taken[way.name, order], taken[ENGINE, order]
            each = statistics.median(times)
            ratio = statistics.median(a / b for a, b in zip(times, own, strict=True))
            cells += [f"{table.significant(each)} ns ({table.times(ratio)})"]
            cells += [f"{table.significant(min(times))} ns"]
            figures.append(
                {
                    "way": way.name,
                    "order": order,
                    "nanoseconds": round(each, 1),
                    "fastest": round(min(times), 1),
                    "to engine": round(ratio, 3),
                }
            )
        rows.append([way.name, *cells, f"{disallowed[way.name]:,}"])
    report.say(
        f"{known.described}, each at an origin of its own; {len(known.urls):,} URLs, one product "
        f"token. Processor time of one check, the median of {plan['rounds']} rounds and, in "
        "brackets, how many times the engine's own it is; then the fastest round.",
        "",
        table.render(
            ["who", "in runs", "fastest", "shuffled", "fastest", "disallowed"],
            rows,
        ),
        "",
    )
    report.figures["cached"] = {"checks": figures}
    client = taken[CLIENT, "shuffled"]
    over = statistics.median(
        (a - b) / 1000 for a, b in zip(client, taken[ENGINE, "shuffled"], strict=True)
    )
    most = plan["bar"]["over_engine_microseconds"]
    what = "Client.check over SQLite, shuffled, more than the engine's own"
    report.bar(what, f"at most {most:g} us", f"{over:.2f} us", over <= most)
    if (SCRAPY, "shuffled") in taken:
        times = taken[SCRAPY, "shuffled"]
        ratio = statistics.median(a / b for a, b in zip(times, client, strict=True))
        least = plan["bar"]["to_scrapy"]
        what = f"Client.check over SQLite, shuffled, to {SCRAPY}"
        report.bar(what, f">= {least:g}x", f"{ratio:.1f}x", ratio >= least)


def _run_cold(
    plan: dict[str, Any], known: Web, store: Path, report: Any, progress: Progress
) -> None:
    found = cold.rounds(store, known, plan["processes"], progress)
    rows = []
    for way, answers in found.items():
        each = [answer["seconds"] * 1e6 for answer in answers]
        opening = statistics.median(answer["opening"] * 1e3 for answer in answers)
        rows.append(
            [
                cold.WAYS[way],
                table.microseconds(statistics.median(each)),
                table.microseconds(min(each)),
                table.milliseconds(opening) if way in ("client", "store") else "-",
            ]
        )
    report.say(
        "The first question about an origin, in a process that knows none: medians and the "
        f"fastest of {plan['processes']} processes, {len(known.files)} origins each. Opening is "
        "once for a process, with imports.",
        "",
        table.render(["what is done", "one origin", "fastest", "opening"], rows),
        "",
    )
    report.figures["cached"]["first"] = found
