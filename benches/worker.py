"""
One measurement in a process of its own; prints JSON objects, of which the last one counts.

    worker.py hostile ENGINE INPUT     time one engine on one hostile input
    worker.py memory ENGINE CASES      what it costs to hold the parsed cases in the file CASES

Own processes, because a hostile input may never end, and because memory that another engine has
freed is memory this one would not be seen to take.
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

# Each measure is repeated until this much time is used, and its fastest run counts.
BUDGET_NS = 300_000_000
MOST_RUNS = 50


def fastest(run: Callable[[], object]) -> float:
    """Milliseconds of the fastest run."""
    best = None
    started = time.perf_counter_ns()
    for _ in range(MOST_RUNS):
        start = time.perf_counter_ns()
        run()
        end = time.perf_counter_ns()
        best = min(best, end - start) if best is not None else end - start
        if end - started > BUDGET_NS:
            break
    return (best or 0) / 1e6


def hostile(engine: engines.Engine, name: str) -> dict[str, Any]:
    """Time parse + first check, then check alone."""
    case = pathological.named(name).case()
    lift = getattr(engine, "read_every_octet", None)
    if lift is not None:
        lift()
    body, url, token = engine.body(case.body), case.urls[0], case.token
    gc.disable()
    allowed = bool(engine.first(body, url, token))
    first = fastest(lambda: engine.first(body, url, token))
    # Said now: what follows may take longer than the time that is left.
    print(json.dumps({"first": first, "allowed": allowed}), flush=True)
    held = engine.hold(engine.parse(body, token), token)
    check = fastest(lambda: engine.allows_each(held, case.urls, token))
    return {"first": first, "check": check, "allowed": allowed}


def memory(engine: engines.Engine, cases_file: str) -> dict[str, Any]:
    """
    Octets of resident memory taken by holding every parsed case.

    Each body is a fresh copy that only the parsed value can keep alive, as after a fetch.
    """
    cases: list[Case] = pickle.loads(Path(cases_file).read_bytes())
    for case in cases[:2]:
        engine.first(engine.body(case.body), case.urls[0], case.token)
    before = resident()
    kept = []
    for case in cases:
        body = engine.body(b"".join((case.body[:1], case.body[1:])))
        kept.append(engine.parse(body, case.token))
    parsed = resident()
    for one, case in zip(kept, cases, strict=True):
        engine.check(one, case.urls[0], case.token)
    asked = resident()
    files = len(cases)
    return {"parsed": (parsed - before) / files, "asked": (asked - before) / files}


def resident() -> int:
    """Resident octets after giving back what can be given back."""
    gc.collect()
    # Where the C library is not glibc there is nothing to trim with.
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        scale = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale
    return pages * os.sysconf("SC_PAGE_SIZE")


def main(arguments: list[str]) -> int:
    """Do what the command line says."""
    what, name, subject = arguments
    engine = engines.named(name)
    found, reason = engine.available()
    if not found:
        print(json.dumps({"error": reason}))
        return 1
    try:
        answer = {"hostile": hostile, "memory": memory}[what](engine, subject)
    except (KeyboardInterrupt, SystemExit):
        raise
    # A panic in a Rust rival arrives as a BaseException that is not an Exception.
    except BaseException as error:
        answer = {"error": f"{type(error).__name__}: {error}"[:200]}
    print(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
