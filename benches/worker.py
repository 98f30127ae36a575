"""
One measurement in a separate process; prints JSON objects, of which the last is the result.

    worker.py hostile ENGINE INPUT     time one engine on one hostile input
    worker.py memory ENGINE CASES      memory of the parsed cases in the file CASES

Processes are separate because a check of a hostile input may not end, and because an engine would
reuse memory that another engine has freed.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import pickle
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import engines
from corpora import Case, pathological

# Each measure is repeated for this much time, and its fastest run counts.
BUDGET_NS = 300_000_000
MAX_RUNS = 50


def time_fastest(run: Callable[[], object]) -> float:
    """Return the milliseconds of the fastest run."""
    best = None
    started = time.perf_counter_ns()
    for _ in range(MAX_RUNS):
        start = time.perf_counter_ns()
        run()
        end = time.perf_counter_ns()
        best = min(best, end - start) if best is not None else end - start
        if end - started > BUDGET_NS:
            break
    return (best or 0) / 1e6


def measure_hostile(engine: engines.Engine, name: str) -> dict[str, Any]:
    """Time parse + first check, then check alone."""
    case = pathological.find_input(name).case()
    raise_size_limit = getattr(engine, "raise_size_limit", None)
    if raise_size_limit is not None:
        raise_size_limit()
    body, url, token = engine.prepare_body(case.body), case.urls[0], case.token
    gc.disable()
    allowed = bool(engine.parse_and_check(body, url, token))
    first = time_fastest(lambda: engine.parse_and_check(body, url, token))
    # Printed now, because the rest may exceed the time limit.
    print(json.dumps({"first": first, "allowed": allowed}), flush=True)
    rules = engine.rules_for(engine.parse(body, token), token)
    check = time_fastest(lambda: engine.allows_each(rules, case.urls, token))
    return {"first": first, "check": check, "allowed": allowed}


def measure_memory(engine: engines.Engine, cases_file: str) -> dict[str, Any]:
    """
    Return the octets of resident memory for each parsed case.

    Each body is a new copy that only the parsed value can keep alive, as after a fetch.
    """
    cases: list[Case] = pickle.loads(Path(cases_file).read_bytes())
    for case in cases[:2]:
        engine.parse_and_check(engine.prepare_body(case.body), case.urls[0], case.token)
    before = read_resident()
    files = []
    for case in cases:
        body = engine.prepare_body(b"".join((case.body[:1], case.body[1:])))
        files.append(engine.parse(body, case.token))
    parsed = read_resident()
    for file, case in zip(files, cases, strict=True):
        engine.check(file, case.urls[0], case.token)
    checked = read_resident()
    count = len(cases)
    return {"parsed": (parsed - before) / count, "asked": (checked - before) / count}


def read_resident() -> int:
    """Return the resident octets after freeing unused memory."""
    gc.collect()
    # malloc_trim is a function of glibc.
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        scale = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale
    return pages * os.sysconf("SC_PAGE_SIZE")


def main(arguments: list[str]) -> int:
    """Run the measurement that the command line names."""
    measurement, name, subject = arguments
    engine = engines.find_engine(name)
    available, reason = engine.available()
    if not available:
        print(json.dumps({"error": reason}))
        return 1
    try:
        measure = {"hostile": measure_hostile, "memory": measure_memory}[measurement]
        answer = measure(engine, subject)
    except (KeyboardInterrupt, SystemExit):
        raise
    # A panic in a Rust rival arrives as a BaseException that is not an Exception.
    except BaseException as error:
        answer = {"error": f"{type(error).__name__}: {error}"[:200]}
    print(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
