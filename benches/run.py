"""
Run the benchmarks: every engine on every corpus, interleaved, as tables of times and ratios.

    python benches/run.py                       everything, more than half an hour
    python benches/run.py --quick               smaller samples, a minute or two
    python benches/run.py --only real rules     some tables
    python benches/run.py --json figures.json   the same figures for a program

Sections: one function for each table, then the command line. `definitions/` states what is
measured; `measure.py`, `growth.py` and `processes.py` measure it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import analysis
import batches
import cached
import engines
import growth
import html_heads
import measure
import prefetch
import processes
import scoped
import table
from corpora import Case, pathological, real
from definitions import NAMES, load_definition
from engines import OURS
from engines.robotrules_native import RobotrulesNative
from report import Report, describe_machine

Progress = Callable[[str], None]


def run_real(
    plan: dict[str, Any],
    selected: Sequence[engines.Engine],
    report: Report,
    progress: Progress,
) -> None:
    """Time and verdicts on the real corpus."""
    progress("reading the corpus")
    cases, description = real.load_cases(plan["files"])
    verdicts: dict[str, measure.Verdicts] = {}
    for engine in selected:
        progress(f"verdicts: {engine.name}")
        verdicts[engine.name] = measure.collect_verdicts(engine, cases)
    raised = {name for answers in verdicts.values() for name in answers.raised}
    timed = [case for case in cases if case.name not in raised]
    report.say(
        f"## {plan['title']}",
        "",
        f"{description}. Timed on the {len(timed)} that no engine raised on: one product token for "
        f"each, {measure.count_units('check', timed):,} URLs one by one and in batches, "
        f"{measure.count_units('long', timed):,} in long batches. "
        f"Medians of {plan['rounds']} rounds; in brackets, the ratio to {engines.REFERENCE}.",
        "",
    )
    names = [row["name"] for row in plan["measure"]]
    prepared = []
    for engine in selected:
        progress(f"preparing: {engine.name}")
        prepared.append(measure.Prepared.prepare(engine, timed))
    whole = measure.run_rounds(prepared, names, plan["rounds"], progress)
    middle = measure.run_rounds(
        [item.around_median(plan["around_median"]) for item in prepared],
        names,
        3 * plan["rounds"],
        progress,
    )
    around = plan["around_median"]
    for heading, timings, fastest in (
        ("The whole corpus, time for one file or one URL:", whole, False),
        ("The same, each twentieth of it in its fastest round:", whole, True),
        (f"The median file (mean of the {around} around the median size):", middle, False),
    ):
        report.say(heading, "", _render_timings(plan, selected, timings, fastest), "")
    report.say(*_render_verdicts(selected, verdicts, cases, progress), "")
    report.figures["real"] = {
        "corpus": description,
        "whole": _timing_figures(whole),
        "median file": _timing_figures(middle),
    }
    for row in plan["measure"]:
        timing = whole.get((OURS, row["name"]))
        if "bar" in row and timing is not None and timing.ratio is not None:
            report.add_bar(
                f"{row['label']}, real corpus, to {engines.REFERENCE}",
                f">= {row['bar']}x",
                f"{timing.ratio:.1f}x ({timing.fastest_ratio:.1f}x at the fastest)",
                timing.ratio >= row["bar"],
            )


def _render_timings(
    plan: dict[str, Any],
    selected: Sequence[engines.Engine],
    timings: dict[tuple[str, str], measure.Timing],
    fastest: bool,
) -> str:
    rows = []
    for engine in selected:
        row = [engine.name]
        for column in plan["measure"]:
            timing = timings.get((engine.name, column["name"]))
            if timing is None:  # few files have long batches, and a small sample may have none
                row.append("-")
            elif column["name"] == "parse" and engine.reparses:
                row.append("none")
            else:
                taken = timing.fastest if fastest else timing.microseconds
                ratio = timing.fastest_ratio if fastest else timing.ratio
                row.append(f"{table.format_microseconds(taken)} ({table.format_ratio(ratio)})")
        rows.append(row)
    return table.render(["engine", *(column["label"] for column in plan["measure"])], rows)


def _timing_figures(timings: dict[tuple[str, str], measure.Timing]) -> list[dict[str, Any]]:
    return [
        {
            "engine": engine,
            "measure": name,
            "microseconds": round(timing.microseconds, 4),
            "ratio": timing.ratio and round(timing.ratio, 3),
            "fastest microseconds": round(timing.fastest, 4),
            "fastest ratio": timing.fastest_ratio and round(timing.fastest_ratio, 3),
        }
        for (engine, name), timing in timings.items()
    ]


def _render_verdicts(
    selected: Sequence[engines.Engine],
    verdicts: dict[str, measure.Verdicts],
    cases: Sequence[Case],
    progress: Progress,
) -> list[str]:
    """Return the verdicts, compared with profile google and with those of google/robotstxt."""
    ours = RobotrulesNative("google")
    if not ours.available()[0]:
        return ["(Verdicts are not compared: robotrules is not available.)"]
    progress("verdicts: profile google")
    google = measure.collect_verdicts(ours, cases)
    oracle = measure.Verdicts(
        {
            (case.name, url): allowed
            for case in cases
            for url, allowed in zip(case.urls, case.oracle, strict=bool(case.oracle))
        }
    )
    rows = []
    for name, own in (
        (ours.name, google),
        *((e.name, verdicts[e.name]) for e in selected),
    ):
        allowed = sum(own.answers.values())
        rows.append(
            [
                name,
                f"{allowed:,}",
                f"{len(own.answers) - allowed:,}",
                f"{own.count_differences(google):,}",
                f"{own.count_differences(oracle):,}" if oracle.answers else "-",
                f"{len(own.raised):,}",
            ]
        )
    header = ["engine", "allowed", "disallowed", "not as ours", "not as Google", "exceptions"]
    return [
        "Verdicts, so that failing does not count as being fast "
        "(ours: robotrules, profile google; Google: the verdicts stored with the corpus):",
        "",
        table.render(header, rows),
    ]


def run_rules(
    plan: dict[str, Any],
    selected: Sequence[engines.Engine],
    report: Report,
    progress: Progress,
) -> None:
    """Growth with the number of rules."""
    report.say(f"## {plan['title']}", "")
    sizes = plan["sizes"]
    report.figures["rules"] = []
    for shape in plan["shapes"]:
        points = growth.measure_points(selected, shape, sizes, plan["rounds"], progress)
        by_key = {(point.engine, point.rules): point for point in points}
        rows = []
        for engine in selected:
            of_engine = [by_key[engine.name, size] for size in sizes]
            slower = of_engine[-1].check / of_engine[0].check
            rows.append(
                [
                    engine.name,
                    *(table.format_microseconds(point.check) for point in of_engine),
                    table.format_factor(slower),
                    table.format_microseconds(of_engine[-1].batch),
                    *(
                        "none" if engine.reparses else table.format_microseconds(point.parse)
                        for point in of_engine
                    ),
                ]
            )
            if engine.name == OURS and shape == plan["bar"]["shape"]:
                report.add_bar(
                    f"check, {sizes[0]} to {sizes[-1]:,} {shape} rules",
                    f"at most {plan['bar']['growth']:g} times slower",
                    f"{slower:.2f} times",
                    slower <= plan["bar"]["growth"],
                )
        header = ["engine", *(f"check, {size:,}" for size in sizes), "growth"]
        header += [f"batch, {sizes[-1]:,}", *(f"parse, {size:,}" for size in sizes)]
        report.say(f"{shape.capitalize()} rules; check and batch are for one URL:", "")
        report.say(table.render(header, rows), "")
        report.figures["rules"] += [
            {
                "engine": point.engine,
                "shape": point.shape,
                "rules": point.rules,
                "parse": round(point.parse, 3),
                "check": round(point.check, 4),
                "batch": round(point.batch, 4),
            }
            for point in points
        ]


def run_pathological(
    plan: dict[str, Any],
    selected: Sequence[engines.Engine],
    report: Report,
    progress: Progress,
) -> None:
    """Hostile inputs."""
    names = [hostile.name for hostile in pathological.ALL]
    answers = processes.run_hostile(selected, names, plan["seconds"], progress)
    report.say(f"## {plan['title']}", "")
    for measured, heading in (
        ("first", "parse + first check"),
        ("check", "check of a parsed file"),
    ):
        rows = []
        for engine in selected:
            cells = []
            for name in names:
                answer = answers[name, engine.name]
                if measured in answer:
                    wrong = answer["allowed"] != pathological.find_input(name).allowed
                    cells.append(
                        table.format_milliseconds(answer[measured]) + (" *" if wrong else "")
                    )
                elif answer.get("error") == "timeout":
                    cells.append(f"> {plan['seconds']} s")
                else:
                    cells.append("raised")
            rows.append([engine.name, *cells])
        transposed = list(zip(["input", *names], *rows, strict=True))
        report.say(f"{heading.capitalize()}, fastest run; * marks a wrong verdict:", "")
        report.say(table.render(transposed[0], transposed[1:]), "")
    report.say(*(f"- {hostile.name}: defeats {hostile.defeats}." for hostile in pathological.ALL))
    report.say("")
    report.figures["pathological"] = [
        {"input": name, "engine": engine} | answer for (name, engine), answer in answers.items()
    ]
    inputs = plan["bar"]["inputs"]
    if all("check" in answers.get((name, OURS), {}) for name in inputs):
        most = plan["bar"]["milliseconds"]
        slowest: float = max(answers[name, OURS]["check"] for name in inputs)
        report.add_bar(
            f"check of {', '.join(inputs)}: the slowest",
            f"< {most:g} ms",
            f"{slowest:.3f} ms",
            slowest < most,
        )


def run_process(
    plan: dict[str, Any],
    selected: Sequence[engines.Engine],
    report: Report,
    progress: Progress,
) -> None:
    """Memory and import time."""
    cases, description = real.load_cases(plan["files"])
    octets = sum(len(case.body) for case in cases) / len(cases)
    memory = processes.measure_memory(selected, cases, progress)
    imports = processes.measure_imports(selected, plan["imports"], progress)
    rows = []
    for engine in selected:
        answer, taken = memory[engine.name], imports.get(engine.name)
        rows.append(
            [
                engine.name,
                *(table.format_kib(answer[k]) if k in answer else "-" for k in ("parsed", "asked")),
                "-" if taken is None else table.format_milliseconds(taken),
            ]
        )
    report.say(
        f"## {plan['title']}",
        "",
        f"{description}, {octets / 1024:.1f} KiB each on average. Growth of resident memory per "
        "file while all are held: parsed, and after one check of each. The memory of an engine "
        "that keeps the body includes it. Import: the fastest of "
        f"{plan['imports']}, minus a bare interpreter.",
        "",
        table.render(["engine", "parsed", "after a check", "import"], rows),
        "",
    )
    report.figures["process"] = {"memory": memory, "import milliseconds": imports}
    if OURS in imports:
        most = plan["bar"]["import_milliseconds"]
        report.add_bar(
            "import robotrules", f"< {most:g} ms", f"{imports[OURS]:.1f} ms", imports[OURS] < most
        )


TABLES: dict[str, Callable[[dict[str, Any], Sequence[engines.Engine], Report, Progress], None]] = {
    "real": run_real,
    "batches": batches.run,
    # Imported on use: it needs pyarrow and Polars.
    "bulk": lambda *arguments: import_module("bulk").run(*arguments),
    "rules": run_rules,
    "scoped": lambda plan, _, report, progress: scoped.run(plan, report, progress),
    "html": lambda plan, _, report, progress: html_heads.run(plan, report, progress),
    "cached": lambda plan, _, report, progress: cached.run(plan, report, progress),
    "prefetch": lambda plan, _, report, progress: prefetch.run(plan, report, progress),
    "analysis": lambda plan, _, report, progress: analysis.run(plan, report, progress),
    "pathological": run_pathological,
    "process": run_process,
}


def find_engines(wanted: Sequence[str], report: Report) -> list[engines.Engine]:
    """Return the engines that can run; report each with its version, or why it cannot run."""
    selected, rows = [], []
    for engine in engines.ALL:
        if wanted and not any(word in engine.name.lower() for word in wanted):
            continue
        available, reason = engine.available()
        notes = [
            *(["parses the whole body again for each check"] if engine.reparses else []),
            *(["parsed for one product token"] if engine.binds_token else []),
            *(["has no batch call: batch is a loop"] if not engine.batches else []),
        ]
        rows.append(
            [
                engine.name,
                engine.version if available else "not available",
                "; ".join(notes) if available else reason,
            ]
        )
        if available:
            selected.append(engine)
    header = ["engine", "version", "note"]
    report.say("## Engines", "", table.render(header, rows, left=True), "")
    return selected


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the selected tables; return 2 if no engine can run, else 0."""
    parser = argparse.ArgumentParser(description="Time robotrules and its rivals in one run.")
    parser.add_argument("--quick", action="store_true", help="smaller samples, fewer rounds")
    tables = f"tables to run: {', '.join(NAMES)}"
    parser.add_argument(
        "--only", nargs="+", choices=NAMES, default=NAMES, metavar="TABLE", help=tables
    )
    parser.add_argument(
        "--engines",
        nargs="+",
        default=(),
        metavar="WORD",
        help="engines whose names contain a WORD",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE")
    options = parser.parse_args(arguments)
    terminal = sys.stderr.isatty()

    def progress(text: str) -> None:
        if terminal:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    report = Report()
    report.figures["machine"] = describe_machine()
    report.say("# robotrules bench", "")
    report.say(*(f"- {key}: {value}" for key, value in report.figures["machine"].items()), "")
    progress("looking for engines, building the Rust ones")
    selected = find_engines([word.lower() for word in options.engines], report)
    if not selected:
        print("no engine is installed: pip install -r benches/requirements.txt", file=sys.stderr)
        return 2
    report.figures["engines"] = {engine.name: engine.version for engine in selected}
    for name in NAMES:
        if name in options.only:
            TABLES[name](load_definition(name, options.quick), selected, report, progress)
            progress("")
    if report.bars:
        rows = [
            [name, required, measured, "met" if met else "NOT MET"]
            for name, required, measured, met in report.bars
        ]
        report.say("## Bars", "", table.render(["measure", "bar", "this run", ""], rows, left=True))
        report.figures["bars"] = [
            dict(zip(("what", "bar", "got", "met"), row, strict=True)) for row in report.bars
        ]
    if options.json:
        options.json.write_text(json.dumps(report.figures, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
