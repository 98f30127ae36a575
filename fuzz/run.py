"""
Runs the fuzz targets for some seconds or some cases, without dependencies.

    python fuzz/run.py --seconds 60
    python fuzz/run.py --cases 5000 --seed 7 --target agree

A case that breaks an invariant is shrunk, written to `regressions/` and printed; the exit status is
then 1. If atheris is installed it generates the octets, guided by coverage; `--cases`, `--seed` and
`--plain` select the built-in generator. It does not define invariants: `targets/` does.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz import generator
from fuzz.generator import Case
from fuzz.targets import TARGETS
from robotrules.octets import to_octets

Check = Callable[[Case], None]
HERE = Path(__file__).resolve().parent


def find_failure(check: Check, case: Case) -> str | None:
    """Return the traceback of a case that breaks its invariant; None if the invariant holds."""
    try:
        check(case)
    except BaseException as error:
        # A Rust panic is a BaseException, and must be reported.
        if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError)):
            raise
        return "".join(traceback.format_exception(error, limit=-2))
    return None


def shrink_candidates(case: Case) -> Iterator[Case]:
    """Yield cases that are smaller than *case*, by decreasing reduction."""
    parts = case.body.splitlines(keepends=True)
    for at in range(len(parts)):
        yield replace(case, body=b"".join(parts[:at] + parts[at + 1 :]))
    size = max(1, len(case.body) // 2)
    while size:
        for at in range(0, len(case.body), size):
            yield replace(case, body=case.body[:at] + case.body[at + size :])
        size //= 2
    octets = to_octets(case.url)
    for at in range(len(octets)):
        less = octets[:at] + octets[at + 1 :]
        text = isinstance(case.url, str)
        yield replace(case, url=less.decode("utf-8", "surrogateescape") if text else less)
    for at in range(len(case.changes)):
        yield replace(case, changes=case.changes[:at] + case.changes[at + 1 :])
    if not case.complete:
        yield replace(case, complete=True)


def shrink(check: Check, case: Case, most: int = 3000) -> Case:
    """Return a smaller case that still breaks the invariant, after at most *most* rounds."""
    tries = count()
    found: Case | None = case
    while found is not None and next(tries) < most:
        case = found
        found = next((less for less in shrink_candidates(case) if find_failure(check, less)), None)
    return case


def report(name: str, case: Case) -> Path:
    """Shrink a case that breaks a target, write it to a file, and print it."""
    case = shrink(TARGETS[name], case)
    text = case.dump(target=name, comment="what was wrong, and since when it is fixed")
    path = HERE / "regressions" / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:10]}.json"
    path.write_text(text, encoding="utf-8")
    print(f"{name}: {case}\n{find_failure(TARGETS[name], case)}written to {path.name}", flush=True)
    return path


def seeds() -> list[bytes]:
    """Return the files that some cases start from."""
    return [path.read_bytes() for path in sorted((HERE / "seeds").iterdir())]


def run(names: Sequence[str], seed: int, cases: int | None, seconds: float | None) -> int:
    """Run targets in turn for *cases* or *seconds*; return the number of failing cases."""
    started, broken, done = time.monotonic(), 0, 0
    files = seeds()
    for number in count():
        if cases is not None and number >= cases:
            break
        if seconds is not None and time.monotonic() - started >= seconds:
            break
        case = generator.generate_case(Random(f"{seed}/{number}"), files)
        name = names[number % len(names)]
        done += 1
        if find_failure(TARGETS[name], case):
            report(name, case)
            broken += 1
            if broken >= 10:
                break
    took = time.monotonic() - started
    print(f"{done:,} cases in {took:.0f} s over {', '.join(names)}: {broken} broke an invariant")
    return broken


def run_atheris(names: Sequence[str], seconds: float) -> None:
    """Let atheris generate the file; its first octets seed the generator of the rest."""
    import atheris  # type: ignore[import-not-found, import-untyped, unused-ignore]

    files = seeds()

    def one(data: bytes) -> None:
        case = replace(generator.generate_case(Random(data[:8]), files), body=data[8:])
        for name in names:
            if find_failure(TARGETS[name], case):
                report(name, case)
                raise AssertionError(name)

    corpus = HERE / "corpus"
    corpus.mkdir(exist_ok=True)
    atheris.instrument_all()
    limit = f"-max_total_time={seconds:.0f}"
    atheris.Setup([sys.argv[0], limit, str(corpus), str(HERE / "seeds")], one)
    atheris.Fuzz()


def main() -> int:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description="Fuzz robotrules.")
    parser.add_argument("--seconds", type=float, help="stop after this time; default: 60")
    parser.add_argument("--cases", type=int, help="stop after this many cases")
    parser.add_argument("--seed", type=int, help="generate the cases of this seed")
    parser.add_argument("--target", action="append", choices=sorted(TARGETS))
    parser.add_argument("--plain", action="store_true", help="use the built-in generator")
    options = parser.parse_args()
    names = options.target or sorted(TARGETS)
    built_in = options.plain or options.cases is not None or options.seed is not None
    if not built_in and find_spec("atheris"):
        run_atheris(names, options.seconds or 60)
        return 0
    seed = time.time_ns() & 0xFFFFFFFF if options.seed is None else options.seed
    if options.seconds is None and options.cases is None:
        options.seconds = 60.0
    print(f"seed {seed}", flush=True)
    return 1 if run(names, seed, options.cases, options.seconds) else 0


if __name__ == "__main__":
    sys.exit(main())
