"""
Mutation testing of the Python code: make small changes and check that a test fails.

    python scripts/mutants.py                           every part, a sample of 150 mutants of each
    python scripts/mutants.py tags cache --sample 400   two parts, larger samples
    python scripts/mutants.py access --sample 0         every mutant of one part
    python scripts/mutants.py tags --only 'robotrules.tags.legacy_grammar.*'

mutmut makes the mutants of Python code, and `mutants_plugin.py` runs the tests on them. Each part
is copied to `build/mutants/PART`, so that the working tree does not change. A survivor is a mutant
on which all tests of its part pass; equivalent mutants, which behave as the original, are listed in
`scripts/mutants_accepted.toml`, each with a reason, and are not run. Exit status: 0 if at least
`--goal` percent of the mutants are killed or accepted, 1 if fewer are, 2 if a part could not run.
`rust_mutants.py` does the same for the Rust core.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
SCRATCH = ROOT / "build" / "mutants"
ACCEPTED = ROOT / "scripts" / "mutants_accepted.toml"
GOAL = 95.0


@dataclass(frozen=True)
class Part:
    """A part of the package, and the tests that have to kill its mutants."""

    sources: tuple[str, ...]
    tests: tuple[str, ...]
    excluded: tuple[str, ...] = ()
    expression: str = ""
    """Selects some of the tests: the expression for `pytest -k`."""
    servers: bool = False
    """Whether the tests share servers; if so, one mutant runs at a time."""


VECTORS = "tests/conformance/test_vectors.py"
# Modules of `tags` that read documents; the others interpret tag rules.
PAGE_MODULES = ("encoding", "html", "parser_limits", "saved_responses", "tree_builders")
PARTS = {
    "robotstxt": Part(
        ("src/robotrules/robotstxt/*",),
        (
            *("tests/test_robotstxt.py", "tests/test_ruleset.py", "tests/test_verdict.py"),
            *("tests/test_values.py", "tests/test_tokens.py", "tests/test_reading.py"),
            *("tests/test_profile.py", "tests/test_errors.py", "tests/test_public.py", VECTORS),
            *("tests/test_group_structures.py", "tests/extensions/test_purpose.py"),
            *("tests/test_rule_set_cache.py", "tests/test_misuse.py"),
        ),
    ),
    "tags": Part(
        ("src/robotrules/tags/*",),
        (
            *("tests/tags", "tests/test_guide.py", "tests/property/test_tags.py", VECTORS),
            "tests/conformance/test_tag_switches.py",
        ),
        excluded=tuple(f"src/robotrules/tags/{name}.py" for name in PAGE_MODULES),
        # Only vectors about tags, and with one engine: tags do not depend on the engine.
        expression="not test_vectors or native and (carriers or field or freshness or "
        "revalidation or guidance or legacy or limit or meta or registry or snippets or tdm or "
        "vendors)",
    ),
    "http": Part(("src/robotrules/http/*",), ("tests/http",)),
    "pages": Part(
        tuple(f"src/robotrules/tags/{name}.py" for name in PAGE_MODULES),
        tuple(
            f"tests/tags/test_{name}.py"
            for name in (
                *PAGE_MODULES,
                "html_limits",
                "pages",
                "saved_response_limits",
                "snippets",
                "usage",
            )
        ),
    ),
    "access": Part(
        ("src/robotrules/access/*",),
        (
            *("tests/test_access.py", "tests/test_access_profile.py"),
            "tests/property/test_access_properties.py",
        ),
    ),
    "cache": Part(
        ("src/robotrules/cache/*",),
        (
            *("tests/test_cache.py", "tests/test_cache_fetch_records.py"),
            "tests/property/test_access_properties.py",
        ),
    ),
    # The client in parts, each with its own tests, to save time.
    "answers": Part(
        tuple(
            f"src/robotrules/client/{name}.py"
            for name in ("base_client", "origin_state", "memory_cache", "pages", "rate_limiter")
        ),
        tuple(
            f"tests/client/test_{name}.py"
            for name in (
                *("answers", "client", "connections", "memory", "messages", "metrics", "pages"),
                *("politeness", "states", "threads", "twins"),
            )
        ),
        expression="not Hammered and not test_concurrency_above "
        "and not test_connections_is_a_bound",
    ),
    "evidence": Part(
        (
            *("src/robotrules/client/evidence.py", "src/robotrules/client/historical_verdict.py"),
            "src/robotrules/client/source_filter.py",
        ),
        (
            *("tests/client/test_evidence.py", "tests/client/test_source_filter.py"),
            "tests/client/test_historical_verdict.py",
        ),
    ),
    "warc": Part(
        ("src/robotrules/client/warc/*",),
        (
            *("tests/client/test_warc.py", "tests/client/test_source_filter.py"),
            *("tests/client/test_warc_captures.py", "tests/client/test_warc_reader.py"),
            "tests/client/test_warc_writer.py",
        ),
        expression="not AnyVisit",
    ),
    # Stores on servers are the part `servers`, without tests that stop or fill a server.
    "stores": Part(
        ("src/robotrules/client/stores/*",),
        ("tests/client/stores", "tests/client/test_store_faults.py"),
        excluded=(
            *("src/robotrules/client/stores/redis*", "src/robotrules/client/stores/postgres*"),
            "src/robotrules/client/circuit_breaker.py",
        ),
        expression="not redis and not postgres and not any_bit and not test_crowds and not no_room "
        "and not test_words",
    ),
    "servers": Part(
        (
            *("src/robotrules/client/stores/redis*", "src/robotrules/client/stores/postgres*"),
            "src/robotrules/client/circuit_breaker.py",
        ),
        ("tests/client/stores",),
        expression="(redis or postgres or test_fleet or test_words) and not test_restarted "
        "and not test_stuck and not test_lazy and not test_full and not test_crowds",
        servers=True,
    ),
    "client": Part(
        tuple(
            f"src/robotrules/client/{name}.py"
            for name in (
                *(
                    "__init__",
                    "aio",
                    "cache_engine",
                    "holders",
                    "metrics",
                    "sync",
                    "tasks",
                    "threads",
                ),
            )
        ),
        tuple(
            f"tests/client/test_{name}.py"
            for name in (
                *("answers", "client", "connections", "faults", "fleet", "flow"),
                "flow_leases",
                *("group_commit", "holders", "later", "memory", "messages", "metrics"),
                *("pages", "politeness", "prefetch", "public_names", "store_faults"),
                *("threads", "twins"),
            )
        ),
        expression="not redis and not postgres and not Hammered and not no_room and not every_cell",
    ),
    "addresses": Part(
        ("src/robotrules/client/ssrf.py", "src/robotrules/client/resolvers.py"),
        tuple(f"tests/client/test_{name}.py" for name in ("addresses", "refusals", "resolvers")),
    ),
    "auditing": Part(
        ("src/robotrules/client/auditing/*",),
        tuple(
            f"tests/client/test_{name}.py"
            for name in ("audit", "audit_parts", "audit_reports", "canonical", "sitemap_files")
        ),
        expression="not it_takes_no_time",
    ),
    "fixing": Part(
        (
            *("src/robotrules/linting/fixing.py", "src/robotrules/linting/intent.py"),
            "src/robotrules/linting/edits.py",
        ),
        (
            *("tests/lint/test_fixing.py", "tests/lint/test_intent.py"),
            "tests/property/test_fix_intent.py",
        ),
    ),
}


@dataclass
class Outcome:
    """The number of mutants of a part by status, and the survivors."""

    made: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    survivors: list[tuple[str, str]] = field(default_factory=list)

    @property
    def ran(self) -> int:
        """Return the number of mutants that ran."""
        return sum(self.statuses.values())

    @property
    def score(self) -> float:
        """Return the mutation score: the percentage that was killed or accepted."""
        detected = self.statuses["killed"] + self.statuses["timeout"] + self.statuses["accepted"]
        return 100 * detected / self.ran if self.ran else 0.0


def copy_tree(target: Path, *paths: str) -> None:
    """Copy the files that git tracks, or some of them, and the compiled engine to a folder."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *paths],
        cwd=ROOT,
        check=True,
        capture_output=True,
    ).stdout.decode()
    engines = [str(path.relative_to(ROOT)) for path in ROOT.glob("src/robotrules/_engine/*.so")]
    shutil.rmtree(target, ignore_errors=True)
    for name in [*filter(None, listing.split("\0")), *engines]:
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def write_settings(target: Path, part: Part) -> None:
    """Append mutmut's settings for a part to the copied `pyproject.toml`."""
    others = sorted(path.name for path in target.iterdir() if path.name not in ("src", "tests"))
    settings = {
        "source_paths": ["src"],
        "only_mutate": list(part.sources),
        "do_not_mutate": list(part.excluded),
        "also_copy": [name for name in others if not name.startswith(".")],
        "use_git_change_detection": False,
    }
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
    with (target / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write("\n[tool.mutmut]\n" + "\n".join(lines) + "\n")


def make_environment(package: Path, **more: str) -> dict[str, str]:
    """Return the environment of a run: the path of the package, and fixed examples."""
    return os.environ | {
        "PYTHONPATH": str(package),
        "HYPOTHESIS_PROFILE": os.environ.get("HYPOTHESIS_PROFILE", "ci"),
        **more,
    }


def list_mutants(target: Path) -> list[str]:
    """Return the names of all mutants, sorted."""
    names: list[str] = []
    for path in sorted((target / "mutants" / "src").rglob("*.meta")):
        names += json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"]
    return sorted(names)


def run_mutants(target: Path, part: Part, mutants: list[str], options: argparse.Namespace) -> Path:
    """Run the tests of a part on mutants; return the file with a line for each mutant."""
    folder, results = target / "mutants", target / "results.jsonl"
    jobs = 1 if part.servers else options.jobs
    request = {
        "mutants": mutants,
        "results": str(results),
        "jobs": jobs,
        "servers": part.servers,
    }
    listing = target / "request.json"
    listing.write_text(json.dumps(request), encoding="utf-8")
    results.touch()
    command = [
        *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-s"),
        *("-p", "scripts.mutants_plugin"),
        "--tb=native",  # other styles parse the whole file, which mutants make long
        *("-m", "not slow", "-o", "tmp_path_retention_policy=none", *part.tests),
        *(("-k", part.expression) if part.expression else ()),
    ]
    # Each run has a separate root for `tmp_path`: with retention policy "none" pytest does not lock
    # its folders, so another pytest process that ends would remove them.
    with (
        (target / "pytest.log").open("ab") as log,
        tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as temporary,
    ):
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=make_environment(
                folder / "src", MUTANTS=str(listing), PYTEST_DEBUG_TEMPROOT=temporary
            ),
            stdout=log,
            stderr=log,
        )
        try:
            process.wait(timeout=options.minutes * 60 if options.minutes else None)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    return results


def make_mutants(target: Path) -> None:
    """Generate the mutants of a part without running them."""
    code = (
        "import os, mutmut.__main__ as m; os.makedirs('mutants', exist_ok=True); m.copy_src_dir();"
        "m.copy_also_copy_files(); m.setup_source_paths(); m.create_mutants(2)"
    )
    with (target / "mutmut.log").open("ab") as log:
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=target,
            env=make_environment(target / "src"),
            stdout=log,
            stderr=log,
            check=True,
        )


@lru_cache(maxsize=4)
def read_functions(path: Path) -> dict[str, list[str]]:
    """Return the lines of every function and method in a file of mutants, by name."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    return {
        node.name: lines[node.lineno - 1 : node.end_lineno]
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }


def describe_change(target: Path, mutant: str) -> str:
    """Return the change of a mutant as one line: `before -> after`."""
    module, _, name = mutant.rpartition(".")
    path = target / "mutants" / "src" / Path(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    functions, original = read_functions(path), f"{function_of(name)}__mutmut_orig"
    before = functions[original]
    after = [line.replace(f"{name}(", f"{original}(") for line in functions[name]]
    diff = list(difflib.unified_diff(before, after, n=0, lineterm=""))[2:]
    removed, added = [[line[1:].strip() for line in diff if line[0] == sign] for sign in "-+"]
    return f"{' '.join(removed)} -> {' '.join(added)}"


def function_of(mutant: str) -> str:
    """Return the function that a mutant changes: its name without the number."""
    return mutant.rpartition("__mutmut_")[0]


def find_case_change(change: str) -> str | None:
    """Return the quoted word of which a change alters the case; None if it changes more."""
    before, _, after = change.partition(" -> ")
    if before == after or before.lower() != after.lower():
        return None
    pairs = enumerate(zip(before, after, strict=True))
    first = next(index for index, pair in pairs if pair[0] != pair[1])
    start = max(before.rfind(quote, 0, first) for quote in "'\"")
    return re.split("['\"]", before[start + 1 :])[0].lower()


class Accepted:
    """The equivalent mutants: those that behave as the original does."""

    def __init__(self, path: Path) -> None:
        """Read them from a file; each has a reason."""
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        for entry in [*data.get("accepted", []), *data.get("any_case", [])]:
            if not entry.get("reason"):
                raise SystemExit(f"{path.name}: {entry.get('function')} has no reason")
        self._changes = {(entry["function"], entry["change"]) for entry in data.get("accepted", [])}
        self._any_case = [
            (entry["function"], {word.lower() for word in entry["words"]})
            for entry in data.get("any_case", [])
        ]

    def has(self, mutant: str, change: str) -> bool:
        """Return whether a mutant is accepted, by its function and its change."""
        name, word = function_of(mutant), find_case_change(change)
        return (name, change) in self._changes or any(
            word in words and fnmatch(name, functions) for functions, words in self._any_case
        )


def run_part(name: str, part: Part, options: argparse.Namespace) -> Outcome:
    """Mutate one part, run a sample, and return the outcome."""
    target = SCRATCH / name
    copy_tree(target)
    write_settings(target, part)
    make_mutants(target)
    mutants = list_mutants(target)
    if options.only:
        mutants = [mutant for mutant in mutants if fnmatch(mutant, options.only)]
    outcome = Outcome(made=len(mutants))
    if options.sample and options.sample < len(mutants):
        mutants = sorted(random.Random(options.seed).sample(mutants, options.sample))
    accepted = Accepted(ACCEPTED)
    changes = {mutant: describe_change(target, mutant) for mutant in mutants}
    selected = [mutant for mutant in mutants if not accepted.has(mutant, changes[mutant])]
    results = run_mutants(target, part, selected, options).read_text(encoding="utf-8").splitlines()
    if results or not selected:
        outcome.statuses["accepted"] = len(mutants) - len(selected)
    for line in results:
        result = json.loads(line)
        outcome.statuses[result["status"]] += 1
        if result["status"] in ("survived", "no tests"):
            outcome.survivors.append((result["mutant"], changes[result["mutant"]]))
    return outcome


def print_outcomes(outcomes: dict[str, Outcome]) -> None:
    """Print the survivors of each part, and a table."""
    for outcome in outcomes.values():
        for mutant, change in outcome.survivors:
            print(f"{mutant}\n    {change}")
    print("part         made   ran  killed  timeout  accepted  no tests  survived    score")
    for name, outcome in outcomes.items():
        count = outcome.statuses
        print(
            f"{name:<11}{outcome.made:>6}{outcome.ran:>6}{count['killed']:>8}{count['timeout']:>9}"
            f"{count['accepted']:>10}{count['no tests']:>10}{count['survived']:>10}"
            f"{outcome.score:>8.1f}%"
        )


def main(arguments: Iterable[str] | None = None) -> int:
    """Run the parts named on the command line, all by default."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument(
        "--sample", type=int, default=150, help="number of mutants of each part; 0 for all"
    )
    parser.add_argument("--seed", type=int, default=9309, help="seed of the sample")
    parser.add_argument("--only", metavar="GLOB", help="only mutants whose names match")
    parser.add_argument("--minutes", type=float, help="stop each part after this time")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="number of processes")
    parser.add_argument(
        "--goal", type=float, default=GOAL, help="mutation score to reach, in percent"
    )
    options = parser.parse_args(None if arguments is None else list(arguments))
    unknown = [name for name in options.parts if name not in PARTS]
    if unknown:
        parser.error(f"unknown part: {', '.join(unknown)}; parts are {', '.join(PARTS)}")
    outcomes = {}
    for name in options.parts or PARTS:
        print(f"{name}: generating and running mutants", file=sys.stderr)
        outcomes[name] = run_part(name, PARTS[name], options)
    print_outcomes(outcomes)
    for name in [name for name, outcome in outcomes.items() if not outcome.ran]:
        print(
            f"{name}: no mutant ran; see {SCRATCH.relative_to(ROOT)}/{name}/pytest.log",
            file=sys.stderr,
        )
    if not all(outcome.ran for outcome in outcomes.values()):
        return 2
    return int(any(outcome.score < options.goal for outcome in outcomes.values()))


if __name__ == "__main__":
    sys.exit(main())
