"""
Mutation testing of the Rust core: all mutants in one build.

    python scripts/rust_mutants.py                       every mutant
    python scripts/rust_mutants.py --sample 200          some of them
    python scripts/rust_mutants.py --only 'scan.rs:*'    those of one file

`cargo mutants --list` lists the mutants. Building each alone takes many hours, so the functions are
rewritten in a copy of the tree, `build/mutants/rust`: a body becomes a `match` on the number in the
environment variable ROBOTRULES_MUTANT, with an arm for each of its mutants and the original as the
last one (mutant schemata). `cargo check` finds mutants that do not compile; they are left out.

For each mutant the tests that reach its function run one by one, with a timeout, until one fails:
first the test that killed the last mutant there, then quick tests before slow ones. The value of a
`const` item cannot be chosen at run time: `cargo mutants` runs those, one build each.

Accepted survivors are in `.cargo/mutants.toml`, reasons in `crates/robotrules-core/mutants.md`.
Exit status: 0 if at least `--goal` percent of the mutants that compile are killed or accepted, 1 if
fewer are, 2 if they could not run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts.mutants import copy_tree

ROOT = Path(__file__).parents[1]
SCRATCH = ROOT / "build" / "mutants" / "rust"
TREE = SCRATCH / "tree"
RESULTS = SCRATCH / "results.jsonl"
PACKAGE = "robotrules-core"
TESTED = TREE / "crates" / PACKAGE
SOURCES = f"crates/{PACKAGE}/src"
GOAL = 95.0
# A test that takes this many times as long as without a mutant is taken to hang.
TIMEOUT_FACTOR, MIN_TIMEOUT = 10.0, 5.0
MAX_MEMORY = 4 << 30

SWITCH = """
mod mutants {
    use std::io::Write;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// The number of the mutant that runs; zero for the original, which prints what it reaches.
    pub fn number(function: usize) -> u32 {
        static NUMBER: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
        static REACHED: [AtomicBool; SIZE] = [const { AtomicBool::new(false) }; SIZE];
        let read = || std::env::var("ROBOTRULES_MUTANT").ok()?.parse().ok();
        let number = *NUMBER.get_or_init(|| read().unwrap_or(0));
        if number == 0 && !REACHED[function].load(Ordering::Relaxed) {
            REACHED[function].store(true, Ordering::Relaxed);
            let _ = writeln!(std::io::stderr(), "reached {function}");
        }
        number
    }
}
"""
# The tokens before the body of a function, and the brace that opens it.
BEFORE_BODY = re.compile(r'//[^\n]*|/\*.*?\*/|#\[[^\]]*\]|"(?:\\.|[^"\\])*"|(\{)', re.DOTALL)
# An inlined function would be built again wherever it is called, with all mutants.
INLINE = re.compile(r"#\[inline(\(always\))?\]")
# Values that the compiler would evaluate are evaluated at run time, by functions that are not
# `const`.
STATIC = re.compile(r"^static (\w+): (.+?) =\s+(\{.*?\n\}|[^;{]*);$", re.MULTILINE | re.DOTALL)
LAZY = r"static \1: std::sync::LazyLock<\2> = std::sync::LazyLock::new(|| \3);"
RETURNS_IMPL = re.compile(r"-> impl ([^{]*?)\s*(where[^{]*)?$")


@dataclass(frozen=True)
class Mutant:
    """A change of a source file: the offsets it replaces, and the function that contains it."""

    number: int
    name: str
    file: str
    start: int
    end: int
    replacement: str
    function: tuple[int, int] | None


@dataclass(frozen=True)
class Test:
    """A test of an executable, its time, and the functions that it reaches."""

    executable: str
    name: str
    seconds: float
    reached: frozenset[int]


@dataclass
class Writer:
    """A file that is rewritten, and the mutant of each line that belongs to one."""

    text: str
    excluded: set[int]
    written: list[str] = field(default_factory=list)
    line: int = 1
    lines: dict[int, int] = field(default_factory=dict)

    def write(self, text: str) -> None:
        """Append text."""
        self.written.append(text)
        self.line += text.count("\n")

    def rewrite(self, start: int, end: int, functions: dict[tuple[int, int], list[Mutant]]) -> None:
        """Append a part of the file with its functions rewritten, the outer ones first."""
        while inside := [span for span in functions if start <= span[0] and span[1] <= end]:
            first = min(inside, key=lambda span: (span[0], -span[1]))
            mutants = functions.pop(first)
            body = find_body(self.text, first)
            header = INLINE.sub("#[inline(never)]", self.text[first[0] : body])
            header, boxed = box_impl(header.replace("const fn ", "fn "))
            if is_static := header.startswith("static "):
                header = STATIC.sub(LAZY, f"{header};").removesuffix(");")
            self.write(STATIC.sub(LAZY, self.text[start : first[0]]))
            self.write(f"{header}{{ match crate::mutants::number({mutants[0].number}) {{")
            for mutant in mutants:
                if mutant.number not in self.excluded:
                    self.write_arm(mutant, body, first[1], boxed)
            self.write("\n_ => " + ("{ Box::new(" if boxed else ""))
            self.rewrite(body, first[1], functions)
            self.write((") }" if boxed else "") + "\n} }" + (")" if is_static else ""))
            start = first[1]
        self.write(STATIC.sub(LAZY, self.text[start:end]))

    def write_arm(self, mutant: Mutant, body: int, end: int, boxed: bool) -> None:
        """Append an arm with the body of a function as a mutant changes it."""
        changed = self.text[body : mutant.start] + mutant.replacement + self.text[mutant.end : end]
        self.write("\n")
        first = self.line
        self.write(f"{mutant.number} => " + (f"{{ Box::new({changed}) }}" if boxed else changed))
        self.lines |= dict.fromkeys(range(first, self.line + 1), mutant.number)


def find_body(text: str, function: tuple[int, int]) -> int:
    """Return the offset where the body of a function opens."""
    for token in BEFORE_BODY.finditer(text, *function):
        if token[1]:
            return token.start()
    raise SystemExit(f"function without a body: {text[slice(*function)][:80]}")


def find_static(text: str, offset: int) -> tuple[int, int] | None:
    """Return the span of the static whose value contains an offset."""
    for match in STATIC.finditer(text):
        if match.start(3) <= offset < match.end(3):
            return match.start(), match.end(3)
    return None


def box_impl(header: str) -> tuple[str, bool]:
    """Return a header that returns a box in place of `impl Trait`: each arm has its own type."""
    match = RETURNS_IMPL.search(header)
    if not match:
        return header, False
    bounds = match[1]
    if "+ '" not in bounds:
        lifetime = re.search(r"'\w+", bounds)
        bounds += f" + {lifetime[0]}" if lifetime else " + '_" if "&" in bounds else ""
    return f"{header[: match.start()]}-> Box<dyn {bounds}> {match[2] or ''}", True


def run_cargo(*arguments: str, cwd: Path = TREE) -> subprocess.CompletedProcess[str]:
    """Run cargo with lints off, which mutants would trigger."""
    flags = f"{os.environ.get('RUSTFLAGS', '')} --cap-lints=allow".strip()
    settings = {"RUSTFLAGS": flags, "CARGO_TARGET_DIR": str(SCRATCH / "target")}
    return subprocess.run(
        ["cargo", *arguments], cwd=cwd, env=os.environ | settings, capture_output=True, text=True
    )


def list_mutants(*options: str) -> list[dict[str, Any]]:
    """Return the mutants that cargo-mutants lists."""
    command = ["cargo", "mutants", "--package", PACKAGE, "--list", "--json", *options]
    listing = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    mutants: list[dict[str, Any]] = json.loads(listing)
    return mutants


def read_mutants() -> list[Mutant]:
    """Return the mutants that are not accepted, numbered from 1."""
    texts = {path: (ROOT / path).read_text("utf-8") for path in {m["file"] for m in list_mutants()}}
    starts = {
        file: [0, *(match.end() for match in re.finditer("\n", text))]
        for file, text in texts.items()
    }
    mutants = []
    for number, entry in enumerate(list_mutants(), 1):
        file = entry["file"]

        def span(span: dict[str, dict[str, int]], file: str = file) -> tuple[int, int]:
            positions = (span["start"], span["end"])
            start, end = (starts[file][at["line"] - 1] + at["column"] - 1 for at in positions)
            return start, end

        start, end = span(entry["span"])
        function = entry["function"]
        around = span(function["span"]) if function else find_static(texts[file], start)
        name = entry["name"].removeprefix(f"{SOURCES}/")
        mutants.append(Mutant(number, name, file, start, end, entry["replacement"], around))
    return mutants


def read_accepted() -> Counter[str]:
    """Return the number of accepted mutants of each file; an entry without a match is an error."""
    settings = tomllib.loads((ROOT / ".cargo" / "mutants.toml").read_text("utf-8"))
    names = {entry["name"]: Path(entry["file"]).name for entry in list_mutants("--no-config")}
    accepted: set[str] = set()
    for pattern in settings["exclude_re"]:
        matching = {name for name in names if re.search(pattern, name)}
        if not matching:
            raise SystemExit(f".cargo/mutants.toml: no mutant matches {pattern}")
        accepted |= matching
    return Counter(names[name] for name in accepted)


def write_sources(mutants: list[Mutant], excluded: set[int]) -> dict[str, dict[int, int]]:
    """Rewrite the copied sources; return the mutant of each line that belongs to one."""
    mutants_by_line: dict[str, dict[int, int]] = {}
    for file in sorted({mutant.file for mutant in mutants}):
        functions: dict[tuple[int, int], list[Mutant]] = defaultdict(list)
        for mutant in mutants:
            if mutant.file == file and mutant.function:
                functions[mutant.function].append(mutant)
        writer = Writer((ROOT / file).read_text("utf-8"), excluded)
        writer.rewrite(0, len(writer.text), functions)
        (TREE / file).write_text("".join(writer.written), "utf-8")
        mutants_by_line[file] = writer.lines
    library = (ROOT / SOURCES / "lib.rs").read_text("utf-8")
    size = str(mutants[-1].number + 1)
    (TREE / SOURCES / "lib.rs").write_text(library + SWITCH.replace("SIZE", size), "utf-8")
    return mutants_by_line


def parse_messages(output: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON parse_messages of cargo."""
    for line in output.splitlines():
        if line.startswith("{"):
            yield json.loads(line)


def find_unviable(mutants: list[Mutant]) -> set[int]:
    """Write the sources without the mutants that do not compile, and return their numbers."""
    unviable: set[int] = set()
    while True:
        mutants_by_line = write_sources(mutants, unviable)
        options = ("--package", PACKAGE, "--lib", "--profile", "gate", "--message-format=json")
        checked = run_cargo("check", *options)
        if checked.returncode == 0:
            return unviable
        failing: set[int] = set()
        for entry in parse_messages(checked.stdout):
            message = entry.get("message") or {}
            if entry["reason"] == "compiler-message" and message["level"] == "error":
                spans = sorted(message["spans"], key=lambda span: not span["is_primary"])
                numbers = [
                    mutants_by_line.get(span["file_name"], {}).get(line)
                    for span in spans
                    for line in range(span["line_start"], span["line_end"] + 1)
                ]
                failing |= set([number for number in numbers if number][:1])
        if not failing:
            raise SystemExit(f"the copy does not compile:\n{checked.stdout}{checked.stderr}"[:9000])
        print(f"{len(failing)} mutants do not compile", file=sys.stderr)
        unviable |= failing


def run_test(test: Test, number: int, timeout: float) -> str:
    """Run one test with a mutant; return the status of the mutant."""
    process = subprocess.Popen(
        [test.executable, "--exact", test.name, "--test-threads=1"],
        cwd=TESTED,
        env=os.environ | {"ROBOTRULES_MUTANT": str(number), "RUST_BACKTRACE": "0"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return "killed" if process.wait(timeout=timeout) else "survived"
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return "timeout"


def build_tests() -> list[Test]:
    """Build the tests; return each with its time without a mutant."""
    options = ("--package", PACKAGE, "--profile", "gate", "--no-run", "--message-format=json")
    built = run_cargo("test", *options)
    if built.returncode:
        raise SystemExit(f"the tests do not build:\n{built.stderr}")
    tests = []
    for executable in filter(
        None, (entry.get("executable") for entry in parse_messages(built.stdout))
    ):
        names = subprocess.run([executable, "--list"], check=True, capture_output=True, text=True)
        for name in re.findall(r"^(.+): test$", names.stdout, re.MULTILINE):
            start = time.perf_counter()
            command = [executable, "--exact", name, "--test-threads=1"]
            alone = subprocess.run(command, cwd=TESTED, capture_output=True, text=True)
            if alone.returncode:
                raise SystemExit(f"{name} fails without a mutant:\n{alone.stdout}")
            seconds = time.perf_counter() - start
            reached = re.findall(r"^reached (\d+)$", alone.stderr, re.MULTILINE)
            tests.append(Test(executable, name, seconds, frozenset(map(int, reached))))
    return sorted(tests, key=lambda test: test.seconds)


def run_together(mutants: list[Mutant], jobs: int) -> Iterator[tuple[Mutant, str, str]]:
    """Build mutants together and run the tests; yield mutant, status and killing test."""
    unviable = find_unviable(mutants)
    yield from ((mutant, "unviable", "") for mutant in mutants if mutant.number in unviable)
    tests = build_tests()
    total = sum(test.seconds for test in tests)
    print(f"{len(tests)} tests take {total:.1f} s without a mutant", file=sys.stderr)
    functions: dict[object, int] = {}
    for mutant in mutants:
        functions.setdefault((mutant.file, mutant.function), mutant.number)
    killers: dict[object, Test] = {}

    def run(mutant: Mutant) -> tuple[Mutant, str, str]:
        function = functions[mutant.file, mutant.function]
        first, second = killers.get(function), killers.get(mutant.file)
        reaching = [test for test in tests if function in test.reached]
        for test in sorted(reaching, key=lambda test: (test is not first, test is not second)):
            timeout = max(MIN_TIMEOUT, TIMEOUT_FACTOR * test.seconds)
            status = run_test(test, mutant.number, timeout)
            if status != "survived":
                killers[function] = killers[mutant.file] = test
                return mutant, status, f"{Path(test.executable).stem.split('-')[0]} {test.name}"
        return mutant, "survived", ""

    # A mutant that allocates without bound must fail before memory runs out.
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, limits[1]))
    with ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(run, mutant) for mutant in mutants if mutant.number not in unviable]
        for done in as_completed(waiting):
            yield done.result()
    resource.setrlimit(resource.RLIMIT_AS, limits)


def run_alone(mutants: list[Mutant], jobs: int) -> Iterator[tuple[Mutant, str, str]]:
    """Let cargo-mutants build and run mutants one by one."""
    patterns = [f"--re=^{re.escape(f'{SOURCES}/{mutant.name}')}$" for mutant in mutants]
    command = ["cargo", "mutants", "--package", PACKAGE, "--jobs", str(jobs), *patterns]
    command += ["--output", str(SCRATCH), "--baseline=skip", "--timeout=60", "--no-shuffle"]
    subprocess.run(command, cwd=ROOT, stdout=sys.stderr)
    by_name = {f"{SOURCES}/{mutant.name}": mutant for mutant in mutants}
    statuses = {"CaughtMutant": "killed", "MissedMutant": "survived", "Timeout": "timeout"}
    outcomes = json.loads((SCRATCH / "mutants.out" / "outcomes.json").read_text("utf-8"))
    for outcome in outcomes["outcomes"]:
        scenario = outcome["scenario"]
        # cargo-mutants runs omitted struct fields even if they are not selected.
        mutant = by_name.get(scenario["Mutant"]["name"]) if isinstance(scenario, dict) else None
        if mutant:
            yield mutant, statuses.get(outcome["summary"], "unviable"), "cargo mutants"


def print_table(statuses: dict[str, Counter[str]]) -> float:
    """Print the mutants of each file by status; return the mutation score of all."""
    columns = ("killed", "timeout", "accepted", "unviable", "survived")
    print("file           made  killed  timeout  accepted  unviable  survived    score")
    rows = [*sorted(statuses), "all"]
    statuses["all"] = sum(statuses.values(), Counter())
    score = 0.0
    for file in rows:
        count = statuses[file]
        viable = count.total() - count["unviable"]
        score = 100 * (viable - count["survived"]) / viable if viable else 0.0
        cells = "".join(f"{count[column]:>{len(column) + 2}}" for column in columns)
        print(f"{file:<13}{count.total():>6}{cells}{score:>8.1f}%")
    return score


def main(arguments: Iterable[str] | None = None) -> int:
    """Run the mutants that the command line selects."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sample", type=int, default=0, help="number of mutants; 0 for all")
    parser.add_argument("--seed", type=int, default=9309, help="seed of the sample")
    parser.add_argument("--only", metavar="GLOB", help="only mutants whose names match")
    parser.add_argument(
        "--again", action="store_true", help="only mutants that survived the last run"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="number of processes")
    parser.add_argument(
        "--goal", type=float, default=GOAL, help="mutation score to reach, in percent"
    )
    options = parser.parse_args(None if arguments is None else list(arguments))
    accepted, mutants = read_accepted(), read_mutants()
    made = len(mutants)
    if options.only:
        mutants = [mutant for mutant in mutants if fnmatch(mutant.name, options.only)]
    names = {mutant.name for mutant in mutants}
    last = map(json.loads, RESULTS.read_text("utf-8").splitlines()) if options.again else ()
    kept = [line for line in last if line["status"] != "survived" and line["mutant"] in names]
    known = {line["mutant"] for line in kept}
    mutants = [mutant for mutant in mutants if mutant.name not in known]
    if options.sample and options.sample < len(mutants):
        chosen = random.Random(options.seed).sample(mutants, options.sample)
        mutants = sorted(chosen, key=lambda mutant: mutant.number)
    if not mutants:
        print("no mutant matches", file=sys.stderr)
        return 2
    copy_tree(TREE, "Cargo.toml", "Cargo.lock", "crates")
    together = [mutant for mutant in mutants if mutant.function]
    alone = [mutant for mutant in mutants if not mutant.function]
    statuses: dict[str, Counter[str]] = defaultdict(Counter)
    survivors = []
    with RESULTS.open("w", encoding="utf-8") as results:
        for line in kept:
            print(json.dumps(line), file=results)
            statuses[line["mutant"].partition(":")[0]][line["status"]] += 1
        runs = (
            run_together(together, options.jobs),
            run_alone(alone, options.jobs) if alone else (),
        )
        for mutant, status, by in (result for run in runs for result in run):
            line = {"mutant": mutant.name, "status": status, "by": by}
            print(json.dumps(line), file=results, flush=True)
            statuses[Path(mutant.file).name][status] += 1
            if status == "survived":
                survivors.append(mutant)
    for mutant in sorted(survivors, key=lambda mutant: mutant.number):
        print(mutant.name)
    for file in statuses if len(mutants) + len(kept) < made else accepted:
        statuses[file]["accepted"] = accepted[file]
    return int(print_table(statuses) < options.goal)


if __name__ == "__main__":
    sys.exit(main())
