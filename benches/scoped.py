"""
What preferences and app directives cost for many URLs, next to `allows_many` on the same file.

All three use one matcher; this table shows what is laid over it. One file with as many path-scoped
lines of each kind as it has rules, all asked for the same URLs in one call.

Does not know: rivals. Nobody else reads these records.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from typing import Any

import table
from corpora.words import WORDS

Progress = Callable[[str], None]


def body(rules: int) -> str:
    """A file with rules, Content-Usage and App-Directives lines for some directories."""
    lines = ["User-agent: *", "Content-Usage: train-ai=n", "App-Directives: examplesearch;w=?1"]
    for number, word in enumerate(WORDS[:rules]):
        lines += [
            f"Disallow: /{word}/{number}/*.cgi",
            f"Content-Usage: /{word}/{number}/ train-ai=y",
            f"App-Directives: /{word}/{number}/ examplesearch;w=?0",
        ]
    return "\n".join(lines) + "\n"


def urls(rules: int, count: int) -> list[str]:
    """URLs in and beside those directories."""
    return [
        f"https://example.com/{WORDS[n % rules]}/{n % (2 * rules)}/page-{n}.html"
        for n in range(count)
    ]


def run(plan: dict[str, Any], report: Any, progress: Progress) -> None:
    """Print the table."""
    import robotrules

    robots = robotrules.parse(body(plan["rules"]))
    asked = urls(plan["rules"], plan["urls"])
    calls: dict[str, Callable[[list[str]], Any]] = {
        "allows_many": robots.rules_for("ExampleBot").allows_many,
        "check_many": robots.rules_for("ExampleBot").check_many,
        "preferences, at_many": robotrules.preferences_for(robots, "ExampleBot").for_urls,
        "app directives, at_many": robotrules.directives_for(robots, "examplesearch").for_urls,
    }
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(plan["rounds"]):
        for name, call in calls.items():
            progress(f"round {number + 1} of {plan['rounds']}: {name}")
            gc.collect()
            gc.disable()
            start = time.perf_counter()
            call(asked)
            taken[name].append(time.perf_counter() - start)
            gc.enable()
    least = statistics.median(taken["allows_many"])
    rows, slowest = [], 0.0
    for name, times in taken.items():
        each = statistics.median(times)
        slowest = max(slowest, each / least)
        rows.append([name, table.microseconds(each / len(asked) * 1e6), table.times(each / least)])
    report.say(
        f"## {plan['title']}",
        "",
        f"One file with {plan['rules']} lines of each kind, {len(asked):,} URLs in one call. "
        f"Medians of {plan['rounds']} rounds.",
        "",
        table.render(["call", "one URL", "of allows_many"], rows),
        "",
    )
    report.figures["scoped"] = {name: statistics.median(times) for name, times in taken.items()}
    report.bar(
        "preferences and app directives in a batch, to allows_many",
        f"at most {plan['bar']:g} times",
        f"{slowest:.2f} times",
        slowest <= plan["bar"],
    )
