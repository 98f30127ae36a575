"""
The bench command: every engine on every corpus, interleaved, as tables of times and ratios.

    python benches/run.py                       everything, more than half an hour
    python benches/run.py --quick               smaller samples, a minute or two
    python benches/run.py --only real rules     some tables
    python benches/run.py --json figures.json   the same figures for a program

Sections: one function for each table, then bars, then the command line. What is measured is in
`definitions/`, how in `measure.py`, `growth.py` and `processes.py`.

Does not know: what a good figure is, beyond the bars in the definitions.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import analysis
import batches
import cached
import engines
import facts
import growth
import html_heads
import measure
import prefetch
import processes
import scoped
import table
from corpora import Case, pathological, real
from definitions import NAMES, definition
from engines import OURS
from engines.robotrules_native import RobotrulesNative
from report import Report

Progress = Callable[[str], None]


def run_real(
    plan: dict[str, Any], found: Sequence[engines.Engine], report: Report, progress: Progress
) -> None:
    """Time and verdicts on the real corpus."""
    progress("reading the corpus")
    cases, described = real.cases(plan["files"])
    seen: dict[str, measure.Verdicts] = {}
    for engine in found:
        progress(f"verdicts: {engine.name}")
        seen[engine.name] = measure.verdicts(engine, cases)
    raised = {name for verdicts in seen.values() for name in verdicts.raised}
    timed = [case for case in cases if case.name not in raised]
    report.say(
        f"## {plan['title']}",
        "",
        f"{described}. Timed on the {len(timed)} that no engine raised on: one product token for "
        f"each, {measure.units('check', timed):,} URLs one by one and in batches, "
        f"{measure.units('long', timed):,} in long batches. "
        f"Medians of {plan['rounds']} rounds; in brackets, times faster than {engines.REFERENCE}.",
        "",
    )
    names = [row["name"] for row in plan["measure"]]
    prepared = []
    for engine in found:
        progress(f"getting ready: {engine.name}")
        prepared.append(measure.Prepared.of(engine, timed))
    whole = measure.rounds(prepared, names, plan["rounds"], progress)
    middle = measure.rounds(
        [one.around_median(plan["around_median"]) for one in prepared],
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
        report.say(heading, "", _timing_table(plan, found, timings, fastest), "")
    report.say(*_verdict_lines(found, seen, cases, progress), "")
    report.figures["real"] = {
        "corpus": described,
        "whole": _timing_figures(whole),
        "median file": _timing_figures(middle),
    }
    for row in plan["measure"]:
        timing = whole.get((OURS, row["name"]))
        if "bar" in row and timing is not None and timing.ratio is not None:
            report.bar(
                f"{row['label']}, real corpus, to {engines.REFERENCE}",
                f">= {row['bar']}x",
                f"{timing.ratio:.1f}x ({timing.fastest_ratio:.1f}x at the fastest)",
                timing.ratio >= row["bar"],
            )


def _timing_table(
    plan: dict[str, Any],
    found: Sequence[engines.Engine],
    timings: dict[tuple[str, str], measure.Timing],
    fastest: bool,
) -> str:
    rows = []
    for engine in found:
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
                row.append(f"{table.microseconds(taken)} ({table.ratio(ratio)})")
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


def _verdict_lines(
    found: Sequence[engines.Engine],
    seen: dict[str, measure.Verdicts],
    cases: Sequence[Case],
    progress: Progress,
) -> list[str]:
    """What was answered, against our profile google and google/robotstxt's own answers."""
    ours = RobotrulesNative("google")
    if not ours.available()[0]:
        return ["(Verdicts are not compared: robotrules is not available.)"]
    progress("verdicts: profile google")
    google = measure.verdicts(ours, cases)
    oracle = measure.Verdicts(
        {
            (case.name, url): allowed
            for case in cases
            for url, allowed in zip(case.urls, case.oracle, strict=bool(case.oracle))
        }
    )
    rows = []
    for name, verdicts in ((ours.name, google), *((e.name, seen[e.name]) for e in found)):
        allowed = sum(verdicts.answers.values())
        rows.append(
            [
                name,
                f"{allowed:,}",
                f"{len(verdicts.answers) - allowed:,}",
                f"{verdicts.differing(google):,}",
                f"{verdicts.differing(oracle):,}" if oracle.answers else "-",
                f"{len(verdicts.raised):,}",
            ]
        )
    header = ["engine", "allowed", "disallowed", "not as ours", "not as Google", "files raised on"]
    return [
        "Verdicts, so that an engine that fails is not taken for one that is fast "
        "(ours: robotrules, profile google; Google: the answers stored with the corpus):",
        "",
        table.render(header, rows),
    ]


def run_rules(
    plan: dict[str, Any], found: Sequence[engines.Engine], report: Report, progress: Progress
) -> None:
    """Growth with the number of rules."""
    report.say(f"## {plan['title']}", "")
    sizes = plan["sizes"]
    report.figures["rules"] = []
    for shape in plan["shapes"]:
        points = growth.points(found, shape, sizes, plan["rounds"], progress)
        by_key = {(point.engine, point.rules): point for point in points}
        rows = []
        for engine in found:
            of_engine = [by_key[engine.name, size] for size in sizes]
            slower = of_engine[-1].check / of_engine[0].check
            rows.append(
                [
                    engine.name,
                    *(table.microseconds(point.check) for point in of_engine),
                    table.times(slower),
                    table.microseconds(of_engine[-1].batch),
                    *(
                        "none" if engine.reparses else table.microseconds(point.parse)
                        for point in of_engine
                    ),
                ]
            )
            if engine.name == OURS and shape == plan["bar"]["shape"]:
                report.bar(
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
    plan: dict[str, Any], found: Sequence[engines.Engine], report: Report, progress: Progress
) -> None:
    """Hostile inputs."""
    names = [hostile.name for hostile in pathological.ALL]
    answers = processes.hostile(found, names, plan["seconds"], progress)
    report.say(f"## {plan['title']}", "")
    for measured, heading in (
        ("first", "parse + first check"),
        ("check", "check of a parsed file"),
    ):
        rows = []
        for engine in found:
            cells = []
            for name in names:
                answer = answers[name, engine.name]
                if measured in answer:
                    wrong = answer["allowed"] != pathological.named(name).allowed
                    cells.append(table.milliseconds(answer[measured]) + (" *" if wrong else ""))
                elif answer.get("error") == "timeout":
                    cells.append(f"> {plan['seconds']} s")
                else:
                    cells.append("raised")
            rows.append([engine.name, *cells])
        turned = list(zip(["input", *names], *rows, strict=True))
        report.say(f"{heading.capitalize()}, fastest run; * marks a wrong verdict:", "")
        report.say(table.render(turned[0], turned[1:]), "")
    report.say(*(f"- {hostile.name}: defeats {hostile.defeats}." for hostile in pathological.ALL))
    report.say("")
    report.figures["pathological"] = [
        {"input": name, "engine": engine} | answer for (name, engine), answer in answers.items()
    ]
    inputs = plan["bar"]["inputs"]
    if all("check" in answers.get((name, OURS), {}) for name in inputs):
        most = plan["bar"]["milliseconds"]
        slowest: float = max(answers[name, OURS]["check"] for name in inputs)
        report.bar(
            f"check of {', '.join(inputs)}: the slowest",
            f"< {most:g} ms",
            f"{slowest:.3f} ms",
            slowest < most,
        )


def run_process(
    plan: dict[str, Any], found: Sequence[engines.Engine], report: Report, progress: Progress
) -> None:
    """Memory and import time."""
    cases, described = real.cases(plan["files"])
    octets = sum(len(case.body) for case in cases) / len(cases)
    held = processes.memory(found, cases, progress)
    imports = processes.import_times(found, plan["imports"], progress)
    rows = []
    for engine in found:
        answer, taken = held[engine.name], imports.get(engine.name)
        rows.append(
            [
                engine.name,
                *(table.octets(answer[k]) if k in answer else "-" for k in ("parsed", "asked")),
                "-" if taken is None else table.milliseconds(taken),
            ]
        )
    report.say(
        f"## {plan['title']}",
        "",
        f"{described}, {octets / 1024:.1f} KiB each in the mean. Growth of resident memory while "
        "all are held, for one file: parsed, and after one question to each. An engine that keeps "
        "the body is charged for it. Import: the fastest of "
        f"{plan['imports']}, less a bare interpreter.",
        "",
        table.render(["engine", "parsed", "after a check", "import"], rows),
        "",
    )
    report.figures["process"] = {"memory": held, "import milliseconds": imports}
    if OURS in imports:
        most = plan["bar"]["import_milliseconds"]
        report.bar(
            "import robotrules", f"< {most:g} ms", f"{imports[OURS]:.1f} ms", imports[OURS] < most
        )


TABLES: dict[str, Callable[[dict[str, Any], Sequence[engines.Engine], Report, Progress], None]] = {
    "real": run_real,
    "batches": batches.run,
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
    """The engines that can run here; says what each is, or why it cannot."""
    found, rows = [], []
    for engine in engines.ALL:
        if wanted and not any(word in engine.name.lower() for word in wanted):
            continue
        available, reason = engine.available()
        notes = [
            *(["reads the whole body again at each check"] if engine.reparses else []),
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
            found.append(engine)
    header = ["engine", "version", "note"]
    report.say("## Engines", "", table.render(header, rows, words=True), "")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; 0 unless nothing could be run."""
    parser = argparse.ArgumentParser(description="Times robotrules and its rivals in one run.")
    parser.add_argument("--quick", action="store_true", help="smaller samples, fewer rounds")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, metavar="TABLE")
    parser.add_argument("--engines", nargs="+", default=(), metavar="WORD", help="name holds WORD")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    options = parser.parse_args(arguments)
    terminal = sys.stderr.isatty()

    def progress(text: str) -> None:
        if terminal:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    report = Report()
    report.figures["machine"] = facts.machine()
    report.say("# robotrules bench", "")
    report.say(*(f"- {key}: {value}" for key, value in report.figures["machine"].items()), "")
    progress("looking for engines, building the Rust ones")
    found = find_engines([word.lower() for word in options.engines], report)
    if not found:
        print("no engine is here: pip install -r benches/requirements.txt", file=sys.stderr)
        return 2
    report.figures["engines"] = {engine.name: engine.version for engine in found}
    for name in NAMES:
        if name in options.only:
            TABLES[name](definition(name, options.quick), found, report, progress)
            progress("")
    if report.bars:
        rows = [
            [what, wanted, got, "met" if met else "NOT MET"]
            for what, wanted, got, met in report.bars
        ]
        report.say("## Bars", "", table.render(["what", "bar", "this run", ""], rows, words=True))
        report.figures["bars"] = [
            dict(zip(("what", "bar", "got", "met"), row, strict=True)) for row in report.bars
        ]
    if options.json:
        options.json.write_text(json.dumps(report.figures, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
