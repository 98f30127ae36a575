"""
Runs the fuzz targets for some seconds or some cases, with no dependency.

    python fuzz/run.py --seconds 60
    python fuzz/run.py --cases 5000 --seed 7 --target agree

Where a case breaks an invariant it is made smaller, written to `regressions/` and shown; the exit
status is 1. Where atheris is installed it chooses the octets, guided by coverage, unless `--cases`,
`--seed` or `--plain` ask for our own generator. It does not know the invariants: `targets/` does.
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

from fuzz import nasty
from fuzz.nasty import Case
from fuzz.targets import TARGETS
from robotrules.octets import to_octets

Check = Callable[[Case], None]
HERE = Path(__file__).resolve().parent


def failure(check: Check, case: Case) -> str | None:
    """Return what went wrong with a case, as text; None when its invariant holds."""
    try:
        check(case)
    except BaseException as error:
        # A Rust panic is a BaseException; it must not end the run unseen.
        if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError)):
            raise
        return "".join(traceback.format_exception(error, limit=-2))
    return None


def smaller(case: Case) -> Iterator[Case]:
    """Yield cases that are a little less than *case*, the much smaller ones first."""
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


def minimal(check: Check, case: Case, most: int = 3000) -> Case:
    """Return a case as small as *most* tries make it that still breaks the invariant."""
    tries = count()
    found: Case | None = case
    while found is not None and next(tries) < most:
        case = found
        found = next((less for less in smaller(case) if failure(check, less)), None)
    return case


def report(name: str, case: Case) -> Path:
    """Write the smallest form of a case that breaks a target, and say so."""
    case = minimal(TARGETS[name], case)
    text = case.dump(target=name, comment="what was wrong, and since when it is right")
    path = HERE / "regressions" / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:10]}.json"
    path.write_text(text, encoding="utf-8")
    print(f"{name}: {case}\n{failure(TARGETS[name], case)}written to {path.name}", flush=True)
    return path


def seeds() -> list[bytes]:
    """Return the files that generation starts from now and then."""
    return [path.read_bytes() for path in sorted((HERE / "seeds").iterdir())]


def run(names: Sequence[str], seed: int, cases: int | None, seconds: float | None) -> int:
    """Run targets in turn until *cases* or *seconds* are over; return how many cases broke one."""
    started, broken, done = time.monotonic(), 0, 0
    files = seeds()
    for number in count():
        if cases is not None and number >= cases:
            break
        if seconds is not None and time.monotonic() - started >= seconds:
            break
        case = nasty.case(Random(f"{seed}/{number}"), files)
        name = names[number % len(names)]
        done += 1
        if failure(TARGETS[name], case):
            report(name, case)
            broken += 1
            if broken >= 10:
                break
    took = time.monotonic() - started
    print(f"{done:,} cases in {took:.0f} s over {', '.join(names)}: {broken} broke an invariant")
    return broken


def run_atheris(names: Sequence[str], seconds: float) -> None:
    """Let atheris choose the octets; what is not the file comes from a generator they seed."""
    import atheris  # type: ignore[import-not-found, import-untyped, unused-ignore]

    files = seeds()

    def one(data: bytes) -> None:
        case = replace(nasty.case(Random(data[:8]), files), body=data[8:])
        for name in names:
            if failure(TARGETS[name], case):
                report(name, case)
                raise AssertionError(name)

    corpus = HERE / "corpus"
    corpus.mkdir(exist_ok=True)
    atheris.instrument_all()
    limit = f"-max_total_time={seconds:.0f}"
    atheris.Setup([sys.argv[0], limit, str(corpus), str(HERE / "seeds")], one)
    atheris.Fuzz()


def main() -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description="Fuzz robotrules.")
    parser.add_argument("--seconds", type=float, help="stop after this long; 60 unless told")
    parser.add_argument("--cases", type=int, help="stop after this many cases")
    parser.add_argument("--seed", type=int, help="make the same cases as last time")
    parser.add_argument("--target", action="append", choices=sorted(TARGETS))
    parser.add_argument("--plain", action="store_true", help="our generator, also beside atheris")
    options = parser.parse_args()
    names = options.target or sorted(TARGETS)
    ours = options.plain or options.cases is not None or options.seed is not None
    if not ours and find_spec("atheris"):
        run_atheris(names, options.seconds or 60)
        return 0
    seed = time.time_ns() & 0xFFFFFFFF if options.seed is None else options.seed
    if options.seconds is None and options.cases is None:
        options.seconds = 60.0
    print(f"seed {seed}", flush=True)
    return 1 if run(names, seed, options.cases, options.seconds) else 0


if __name__ == "__main__":
    sys.exit(main())
