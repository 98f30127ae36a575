"""
Measurements in separate processes: hostile inputs, memory, import time.

Starts `worker.py` and plain interpreters, one at a time.
Does not know: what is measured; see `worker.py`.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from corpora import Case
from engines import Engine

WORKER = Path(__file__).with_name("worker.py")


def run_worker(engine: Engine, measurement: str, subject: str, limit: float) -> dict[str, Any]:
    """Return the worker's result; `{"error": …}` if it failed or did not finish."""
    try:
        done = subprocess.run(
            [sys.executable, str(WORKER), measurement, engine.name, subject],
            capture_output=True,
            check=False,
            text=True,
            timeout=limit,
            env=dict(os.environ, **engine.environment),
        )
        output, failure = done.stdout, f"exit {done.returncode}"
    except subprocess.TimeoutExpired as expired:
        # The output before a timeout is bytes, even with text=True.
        output = expired.stdout.decode() if isinstance(expired.stdout, bytes) else ""
        failure = "timeout"
    answer: dict[str, Any] = {"error": failure}
    for line in output.splitlines():
        answer = json.loads(line)
    return {"error": failure} | answer


def run_hostile(
    engines: Sequence[Engine],
    names: Sequence[str],
    limit: float,
    progress: Callable[[str], None],
) -> dict[tuple[str, str], dict[str, Any]]:
    """Return (input, engine) → the worker's result."""
    found = {}
    for number, name in enumerate(names):
        start = number % len(engines)
        for engine in (*engines[start:], *engines[:start]):
            progress(f"hostile: {name}, {engine.name}")
            found[name, engine.name] = run_worker(engine, "hostile", name, limit)
    return found


def measure_memory(
    engines: Sequence[Engine], cases: Sequence[Case], progress: Callable[[str], None]
) -> dict[str, dict[str, Any]]:
    """Return engine → octets for each parsed file."""
    with tempfile.NamedTemporaryFile(suffix=".pickle") as file:
        file.write(pickle.dumps(list(cases)))
        file.flush()
        found = {}
        for engine in engines:
            progress(f"memory: {engine.name}")
            found[engine.name] = run_worker(engine, "memory", file.name, 300.0)
    return found


def measure_imports(
    engines: Sequence[Engine], count: int, progress: Callable[[str], None]
) -> dict[str, float]:
    """Return engine → milliseconds that its import adds to a bare interpreter, the minimum."""
    statements: dict[str, tuple[str, dict[str, str]]] = {"": ("pass", {})}
    for engine in engines:
        if engine.import_statement:
            statements[engine.name] = (engine.import_statement, dict(engine.environment))
    best: dict[str, float] = {}
    names = list(statements)
    for number in range(count + 1):
        first = number % len(names)
        for name in (*names[first:], *names[:first]):
            progress(f"import: round {number} of {count}, {name or 'bare interpreter'}")
            statement, variables = statements[name]
            start = time.perf_counter()
            subprocess.run(
                [sys.executable, "-c", statement],
                check=True,
                env=dict(os.environ, **variables),
            )
            taken = (time.perf_counter() - start) * 1000
            if number:  # round 0 fills the file cache and writes .pyc files
                best[name] = min(best.get(name, taken), taken)
    bare = best.pop("")
    return {name: taken - bare for name, taken in best.items()}
