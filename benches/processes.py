"""
Measurements that need a process each: hostile inputs, memory, import time.

Starts `worker.py` and plain interpreters, one after the other, never two at once.
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


def ask_worker(engine: Engine, what: str, subject: str, limit: float) -> dict[str, Any]:
    """The worker's answer; `{"error": …}` when it did not finish or failed."""
    try:
        done = subprocess.run(
            [sys.executable, str(WORKER), what, engine.name, subject],
            capture_output=True,
            check=False,
            text=True,
            timeout=limit,
            env=dict(os.environ, **engine.environment),
        )
        said, failure = done.stdout, f"exit {done.returncode}"
    except subprocess.TimeoutExpired as expired:
        # What was said before the time was over is bytes, whatever was asked for.
        said = expired.stdout.decode() if isinstance(expired.stdout, bytes) else ""
        failure = "timeout"
    answer: dict[str, Any] = {"error": failure}
    for line in said.splitlines():
        answer = json.loads(line)
    return {"error": failure} | answer


def hostile(
    engines: Sequence[Engine],
    names: Sequence[str],
    limit: float,
    progress: Callable[[str], None],
) -> dict[tuple[str, str], dict[str, Any]]:
    """(input, engine) → the worker's answer."""
    found = {}
    for turn, name in enumerate(names):
        start = turn % len(engines)
        for engine in (*engines[start:], *engines[:start]):
            progress(f"hostile: {name}, {engine.name}")
            found[name, engine.name] = ask_worker(engine, "hostile", name, limit)
    return found


def memory(
    engines: Sequence[Engine], cases: Sequence[Case], progress: Callable[[str], None]
) -> dict[str, dict[str, Any]]:
    """Engine → octets for each held file."""
    with tempfile.NamedTemporaryFile(suffix=".pickle") as file:
        file.write(pickle.dumps(list(cases)))
        file.flush()
        found = {}
        for engine in engines:
            progress(f"memory: {engine.name}")
            found[engine.name] = ask_worker(engine, "memory", file.name, 300.0)
    return found


def import_times(
    engines: Sequence[Engine], count: int, progress: Callable[[str], None]
) -> dict[str, float]:
    """Engine → milliseconds its import adds to a bare interpreter; the fastest of *count*."""
    statements: dict[str, tuple[str, dict[str, str]]] = {"": ("pass", {})}
    for engine in engines:
        if engine.import_statement:
            statements[engine.name] = (engine.import_statement, dict(engine.environment))
    best: dict[str, float] = {}
    names = list(statements)
    for number in range(count + 1):
        turn = number % len(names)
        for name in (*names[turn:], *names[:turn]):
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
