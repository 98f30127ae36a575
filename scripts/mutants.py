"""
Mutation testing: change the code in small ways and see whether a test notices.

    python scripts/mutants.py                           every part, a sample of 150 mutants of each
    python scripts/mutants.py tags cache --sample 400   two parts, larger samples
    python scripts/mutants.py access --sample 0         every mutant of one part
    python scripts/mutants.py tags --only 'robotrules.tags.words.*'

mutmut makes the mutants of Python code, and `mutants_plugin.py` runs the tests on them. Each part
is copied to `build/mutants/PART`, so that the tree stays as it is. A survivor is a mutant that no
test of its part notices; those that behave as the original does are listed in
`scripts/mutants_accepted.toml`, each with a reason, and are not tried again. Exit status: 0 when at
least `--goal` percent of the mutants are killed or accepted, 1 when fewer are, 2 when a part could
not run. The mutants of the Rust core are those of `rust_mutants.py`.
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
    """A part of the package, and the tests that have to notice a change in it."""

    sources: tuple[str, ...]
    tests: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    chosen: str = ""
    """Which of the tests, as `pytest -k` has it."""
    servers: bool = False
    """The tests use servers, which are shared: so one mutant is tried at a time."""


VECTORS = "tests/conformance/test_vectors.py"
# Modules of tags that read documents; the others read what is said in them.
OF_PAGES = ("bounds", "encoding", "html", "media", "saved", "trees")
PARTS = {
    "robotstxt": Part(
        ("src/robotrules/robotstxt/*",),
        (
            *("tests/test_robotstxt.py", "tests/test_ruleset.py", "tests/test_verdict.py"),
            *("tests/test_values.py", "tests/test_tokens.py", "tests/test_reading.py"),
            *("tests/test_profile.py", "tests/test_errors.py", "tests/test_public.py", VECTORS),
            *("tests/test_group_structures.py", "tests/extensions/test_purpose.py"),
            *("tests/test_remembering.py", "tests/test_misuse.py"),
        ),
    ),
    "tags": Part(
        ("src/robotrules/tags/*",),
        (
            *("tests/tags", "tests/test_guide.py", "tests/property/test_tags.py", VECTORS),
            "tests/conformance/test_tag_switches.py",
        ),
        left_out=tuple(f"src/robotrules/tags/{name}.py" for name in OF_PAGES),
        # Of the vectors those about tags, with one engine: no engine knows tags.
        chosen="not test_vectors or native and (carriers or field or freshness or revalidation or "
        "guidance or legacy or limit or meta or registry or snippets or tdm or vendors)",
    ),
    "pages": Part(
        tuple(f"src/robotrules/tags/{name}.py" for name in OF_PAGES),
        tuple(
            f"tests/tags/test_{name}.py"
            for name in (*OF_PAGES, "html_limits", "pages", "saved_limits", "snippets", "usage")
        ),
    ),
    "access": Part(
        ("src/robotrules/access/*",),
        (
            *("tests/test_access.py", "tests/test_access_profile.py", "tests/test_validators.py"),
            "tests/property/test_access_laws.py",
        ),
    ),
    "cache": Part(
        ("src/robotrules/cache/*",),
        (
            *("tests/test_cache.py", "tests/test_cache_fetch_records.py"),
            "tests/property/test_access_laws.py",
        ),
    ),
    # The client in parts: each is tried by the tests that are about it, which are quicker.
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
        chosen="not Hammered and not test_concurrency_above and not test_connections_is_a_bound",
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
        chosen="not AnyVisit",
    ),
    # The stores on servers have a part of their own, without tests that stop or fill a server.
    "stores": Part(
        ("src/robotrules/client/stores/*",),
        ("tests/client/stores", "tests/client/test_store_faults.py"),
        left_out=(
            *("src/robotrules/client/stores/redis*", "src/robotrules/client/stores/postgres*"),
            "src/robotrules/client/circuit_breaker.py",
        ),
        chosen="not redis and not postgres and not any_bit and not test_crowds and not no_room "
        "and not test_words",
    ),
    "servers": Part(
        (
            *("src/robotrules/client/stores/redis*", "src/robotrules/client/stores/postgres*"),
            "src/robotrules/client/circuit_breaker.py",
        ),
        ("tests/client/stores",),
        chosen="(redis or postgres or test_fleet or test_words) and not test_restarted "
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
        chosen="not redis and not postgres and not Hammered and not no_room and not every_cell",
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
        chosen="not it_takes_no_time",
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
    """What became of the mutants of one part."""

    made: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    survivors: list[tuple[str, str]] = field(default_factory=list)

    @property
    def ran(self) -> int:
        """Return how many mutants were tried."""
        return sum(self.statuses.values())

    @property
    def noticed(self) -> float:
        """Return the share of tried mutants that were killed or accepted, in percent."""
        good = self.statuses["killed"] + self.statuses["timeout"] + self.statuses["accepted"]
        return 100 * good / self.ran if self.ran else 0.0


def copy_tree(target: Path, *paths: str) -> None:
    """Copy what git tracks, all or some of it, and the compiled engine to a scratch folder."""
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
    beside = sorted(path.name for path in target.iterdir() if path.name not in ("src", "tests"))
    settings = {
        "source_paths": ["src"],
        "only_mutate": list(part.sources),
        "do_not_mutate": list(part.left_out),
        "also_copy": [name for name in beside if not name.startswith(".")],
        "use_git_change_detection": False,
    }
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
    with (target / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write("\n[tool.mutmut]\n" + "\n".join(lines) + "\n")


def environment(package: Path, **more: str) -> dict[str, str]:
    """Return the environment of a run: where the package is, and fixed examples."""
    return os.environ | {
        "PYTHONPATH": str(package),
        "HYPOTHESIS_PROFILE": os.environ.get("HYPOTHESIS_PROFILE", "ci"),
        **more,
    }


def made_mutants(target: Path) -> list[str]:
    """Return the names of the mutants that there are."""
    found: list[str] = []
    for path in sorted((target / "mutants" / "src").rglob("*.meta")):
        found += json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"]
    return sorted(found)


def try_mutants(target: Path, part: Part, mutants: list[str], given: argparse.Namespace) -> Path:
    """Run the tests of a part on mutants; return the file with a line for each that was tried."""
    folder, results = target / "mutants", target / "results.jsonl"
    jobs = 1 if part.servers else given.jobs
    asked = {
        "mutants": mutants,
        "results": str(results),
        "jobs": jobs,
        "servers": part.servers,
    }
    listing = target / "asked.json"
    listing.write_text(json.dumps(asked), encoding="utf-8")
    results.touch()
    command = [
        *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-s"),
        *("-p", "scripts.mutants_plugin"),
        "--tb=native",  # others parse the whole file that a failure is in, and mutants make it long
        *("-m", "not slow", "-o", "tmp_path_retention_policy=none", *part.tests),
        *(("-k", part.chosen) if part.chosen else ()),
    ]
    # A run has a folder of its own for `tmp_path`: pytest does not lock those that it keeps for no
    # time, so another pytest that ends would remove them, and the tests that use one would fail.
    with (
        (target / "pytest.log").open("ab") as log,
        tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as room,
    ):
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment(folder / "src", MUTANTS=str(listing), PYTEST_DEBUG_TEMPROOT=room),
            stdout=log,
            stderr=log,
        )
        try:
            process.wait(timeout=given.minutes * 60 if given.minutes else None)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    return results


def make_mutants(target: Path) -> None:
    """Make the mutants of a part and run none of them."""
    code = (
        "import os, mutmut.__main__ as m; os.makedirs('mutants', exist_ok=True); m.copy_src_dir();"
        "m.copy_also_copy_files(); m.setup_source_paths(); m.create_mutants(2)"
    )
    with (target / "mutmut.log").open("ab") as log:
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=target,
            env=environment(target / "src"),
            stdout=log,
            stderr=log,
            check=True,
        )


@lru_cache(maxsize=4)
def functions_in(path: Path) -> dict[str, list[str]]:
    """Return the lines of every function and method that a file of mutants has, by its name."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    return {
        node.name: lines[node.lineno - 1 : node.end_lineno]
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }


def changed_lines(target: Path, mutant: str) -> str:
    """Return what a mutant changes, as one line: `was -> is`."""
    module, _, name = mutant.rpartition(".")
    path = target / "mutants" / "src" / Path(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    functions, original = functions_in(path), f"{function_of(name)}__mutmut_orig"
    was = functions[original]
    now = [line.replace(f"{name}(", f"{original}(") for line in functions[name]]
    found = list(difflib.unified_diff(was, now, n=0, lineterm=""))[2:]
    gone, new = [[line[1:].strip() for line in found if line[0] == sign] for sign in "-+"]
    return f"{' '.join(gone)} -> {' '.join(new)}"


def function_of(mutant: str) -> str:
    """Return the function that a mutant changes: its name without the number."""
    return mutant.rpartition("__mutmut_")[0]


def word_of_case(change: str) -> str | None:
    """Return the quoted word that a change writes in other case; None: it changes more."""
    was, _, now = change.partition(" -> ")
    if was == now or was.lower() != now.lower():
        return None
    at = next(place for place, pair in enumerate(zip(was, now, strict=True)) if pair[0] != pair[1])
    start = max(was.rfind(quote, 0, at) for quote in "'\"")
    return re.split("['\"]", was[start + 1 :])[0].lower()


class Accepted:
    """The mutants that behave as the original does."""

    def __init__(self, path: Path) -> None:
        """Read them from a file; each has a reason."""
        found = tomllib.loads(path.read_text(encoding="utf-8"))
        for entry in [*found.get("accepted", []), *found.get("any_case", [])]:
            if not entry.get("reason"):
                raise SystemExit(f"{path.name}: {entry.get('function')} has no reason")
        self._changes = {
            (entry["function"], entry["change"]) for entry in found.get("accepted", [])
        }
        self._any_case = [
            (entry["function"], {word.lower() for word in entry["words"]})
            for entry in found.get("any_case", [])
        ]

    def has(self, mutant: str, change: str) -> bool:
        """Tell whether a mutant is one of them: by its function, and what is changed in it."""
        name, word = function_of(mutant), word_of_case(change)
        return (name, change) in self._changes or any(
            word in words and fnmatch(name, functions) for functions, words in self._any_case
        )


def run_part(name: str, part: Part, given: argparse.Namespace) -> Outcome:
    """Mutate one part, try a sample, and return what became of it."""
    target = SCRATCH / name
    copy_tree(target)
    write_settings(target, part)
    make_mutants(target)
    mutants = made_mutants(target)
    if given.only:
        mutants = [mutant for mutant in mutants if fnmatch(mutant, given.only)]
    outcome = Outcome(made=len(mutants))
    if given.sample and given.sample < len(mutants):
        mutants = sorted(random.Random(given.seed).sample(mutants, given.sample))
    accepted, changes = Accepted(ACCEPTED), {one: changed_lines(target, one) for one in mutants}
    tried = [one for one in mutants if not accepted.has(one, changes[one])]
    results = try_mutants(target, part, tried, given).read_text(encoding="utf-8").splitlines()
    if results or not tried:
        outcome.statuses["accepted"] = len(mutants) - len(tried)
    for line in results:
        result = json.loads(line)
        outcome.statuses[result["became"]] += 1
        if result["became"] in ("survived", "no tests"):
            outcome.survivors.append((result["mutant"], changes[result["mutant"]]))
    return outcome


def print_outcomes(outcomes: dict[str, Outcome]) -> None:
    """Print the survivors of each part, and a table."""
    for outcome in outcomes.values():
        for mutant, change in outcome.survivors:
            print(f"{mutant}\n    {change}")
    print("part         made   ran  killed  timeout  accepted  no tests  survived  noticed")
    for name, outcome in outcomes.items():
        count = outcome.statuses
        print(
            f"{name:<11}{outcome.made:>6}{outcome.ran:>6}{count['killed']:>8}{count['timeout']:>9}"
            f"{count['accepted']:>10}{count['no tests']:>10}{count['survived']:>10}"
            f"{outcome.noticed:>8.1f}%"
        )


def main(arguments: Iterable[str] | None = None) -> int:
    """Run the parts that are named, all by default."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--sample", type=int, default=150, help="mutants of each part; 0: all")
    parser.add_argument("--seed", type=int, default=9309, help="which sample")
    parser.add_argument("--only", metavar="GLOB", help="mutants with such names only")
    parser.add_argument("--minutes", type=float, help="stop a part after this time")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--goal", type=float, default=GOAL, help="percent to notice")
    given = parser.parse_args(None if arguments is None else list(arguments))
    strangers = [name for name in given.parts if name not in PARTS]
    if strangers:
        parser.error(f"no such part: {', '.join(strangers)}; parts are {', '.join(PARTS)}")
    outcomes = {}
    for name in given.parts or PARTS:
        print(f"{name}: making mutants and trying them", file=sys.stderr)
        outcomes[name] = run_part(name, PARTS[name], given)
    print_outcomes(outcomes)
    for name in [name for name, outcome in outcomes.items() if not outcome.ran]:
        print(
            f"{name}: nothing ran; see {SCRATCH.relative_to(ROOT)}/{name}/pytest.log",
            file=sys.stderr,
        )
    if not all(outcome.ran for outcome in outcomes.values()):
        return 2
    return int(any(outcome.noticed < given.goal for outcome in outcomes.values()))


if __name__ == "__main__":
    sys.exit(main())
