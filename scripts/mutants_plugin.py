"""
A pytest plug-in that runs mutants: tests are collected once, and each mutant runs in a fork.

`scripts/mutants.py` loads it with `-p` in a folder where mutmut has generated the mutants; ordinary
test runs do not load it. One fork runs every test without a mutant, to record which functions each
test calls and how long it takes. Then a fork for each mutant runs the tests that call the changed
function: first those that killed a mutant of it before, then the quickest, until one fails. The
status of each mutant is written at once, so that an interrupted run loses nothing. Servers that the
tests need are started before the forks, which share them.

A test that fails without a mutant is excluded and reported: it would kill every mutant.
"""

from __future__ import annotations

import gc
import json
import os
import pickle
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings
from mutmut.mutation.trampoline import set_mutant_under_test
from mutmut.state import state
from scripts.mutants import function_of

# Examples of a property test: each mutant runs them again.
MAX_EXAMPLES = 40
# A mutant whose tests take several times as long as without it is taken to hang.
MIN_TIMEOUT, TIMEOUT_FACTOR = 10.0, 5.0
MAX_TIMEOUT = 180.0
KILLED, SURVIVED = 1, 0


def cache_clearers() -> Iterator[Callable[[], None]]:
    """Yield `cache_clear` of every memoised function of the package, methods included."""
    for name, module in list(sys.modules.items()):
        if name != "robotrules" and not name.startswith("robotrules."):
            continue
        for value in list(vars(module).values()):
            members = list(vars(value).values()) if isinstance(value, type) else []
            for member in (value, *members):
                clear = getattr(member, "cache_clear", None)
                if callable(clear):
                    yield clear


@dataclass
class Caches:
    """The memoised functions of the package; collected again when modules were imported."""

    modules: int = 0
    clearers: list[Callable[[], None]] = field(default_factory=list)

    def clear(self) -> None:
        """Clear them: a value cached by an earlier test would bypass the mutant."""
        if len(sys.modules) != self.modules:
            self.modules, self.clearers = len(sys.modules), list(cache_clearers())
        for clear in self.clearers:
            clear()


CACHES = Caches()


@dataclass
class Baseline:
    """The tests without a mutant: times, functions called, and failures."""

    seconds: dict[int, float] = field(default_factory=dict)
    tests_by_function: dict[str, list[int]] = field(default_factory=dict)
    failed: list[int] = field(default_factory=list)


@dataclass
class Running:
    """A fork that runs a mutant."""

    mutant: str
    deadline: float
    report: BinaryIO


def passes(item: pytest.Item, following: pytest.Item | None) -> bool:
    """Run a test, with set-up and tear-down; return whether it passed or was skipped."""
    CACHES.clear()
    reports = runtestprotocol(item, log=False, nextitem=following)
    return not any(report.failed for report in reports)


def is_alarm(status: int) -> bool:
    """Return whether a process was ended by its alarm."""
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM


def silence() -> None:
    """Discard the output of a fork."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)


def measure_baseline(items: list[pytest.Item]) -> Baseline:
    """Run every test in a fork; return the time and the functions of each."""
    with tempfile.TemporaryFile() as file:
        process = os.fork()
        if process == 0:
            silence()
            set_mutant_under_test("stats")
            measured = Baseline()
            tests: dict[str, list[int]] = defaultdict(list)
            for index, item in enumerate(items):
                state()._stats.clear()
                started = time.perf_counter()
                following = items[index + 1] if index + 1 < len(items) else None
                if not passes(item, following):
                    measured.failed.append(index)
                    continue
                measured.seconds[index] = time.perf_counter() - started
                for name in state()._stats:
                    tests[name].append(index)
            measured.tests_by_function = dict(tests)
            pickle.dump(measured, file)
            file.flush()
            os._exit(0)
        os.waitpid(process, 0)
        file.seek(0)
        baseline = pickle.load(file)
    assert isinstance(baseline, Baseline)
    return baseline


def timeout_for(seconds: float) -> float:
    """Return the timeout of tests that take this many seconds without a mutant."""
    return min(max(TIMEOUT_FACTOR * seconds, MIN_TIMEOUT), MAX_TIMEOUT)


def run_mutant(
    mutant: str, items: list[pytest.Item], seconds: list[float], report: BinaryIO
) -> int:
    """Run tests in a fork until one fails, and report its id; a test that hangs ends the fork."""
    os.setsid()
    silence()
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    set_mutant_under_test(mutant)
    for index, item in enumerate(items):
        following = items[index + 1] if index + 1 < len(items) else None
        signal.setitimer(signal.ITIMER_REAL, timeout_for(seconds[index]))
        if not passes(item, following):
            report.write(item.nodeid.encode())
            report.flush()
            # Tear down session fixtures, such as a server and its folder.
            item.session._setupstate.teardown_exact(None)
            return KILLED
    return SURVIVED


class MutantRunner:
    """Runs mutants, several at a time."""

    def __init__(self, items: list[pytest.Item], baseline: Baseline, results: Path) -> None:
        """Take the tests, their baseline, and the file for the results."""
        self._items = items
        self._indexes = {item.nodeid: index for index, item in enumerate(items)}
        self._baseline = baseline
        self._results = results
        self._running: dict[int, Running] = {}
        self._killed_by: dict[str, list[int]] = defaultdict(list)

    def run(self, mutants: list[str], jobs: int) -> None:
        """Run all mutants, `jobs` at a time."""
        for mutant in mutants:
            tests = self._order_tests(mutant)
            if not tests:
                self._write(mutant, "no tests", "")
                continue
            while len(self._running) >= jobs:
                self._collect()
            self._start(mutant, tests)
        while self._running:
            self._collect()

    def _order_tests(self, mutant: str) -> list[int]:
        """Return the tests that call a mutant's function, the likeliest to kill it first."""
        name = function_of(mutant)
        likely = self._killed_by[name]
        seconds = self._baseline.seconds
        others = sorted(self._baseline.tests_by_function.get(name, ()), key=seconds.__getitem__)
        return [*likely, *(test for test in others if test not in likely)]

    def _start(self, mutant: str, tests: list[int]) -> None:
        """Fork, and run the tests there."""
        seconds = [self._baseline.seconds[test] for test in tests]
        report = tempfile.TemporaryFile()  # noqa: SIM115 (closed when the fork has ended)
        process = os.fork()
        if process == 0:
            status = KILLED
            try:
                items = [self._items[test] for test in tests]
                status = run_mutant(mutant, items, seconds, report)
            finally:
                os._exit(status)
        deadline = time.monotonic() + timeout_for(sum(seconds))
        self._running[process] = Running(mutant, deadline, report)

    def _collect(self) -> None:
        """Collect forks that have ended; end those whose deadline has passed."""
        for process, running in list(self._running.items()):
            ended, status = os.waitpid(process, os.WNOHANG)
            late = time.monotonic() > running.deadline if not ended else is_alarm(status)
            if not ended and not late:
                continue
            if late:
                with suppress(ProcessLookupError):  # also the processes that the fork started
                    os.killpg(process, signal.SIGKILL)
            if not ended:
                os.waitpid(process, 0)
            del self._running[process]
            running.report.seek(0)
            test = running.report.read().decode()
            running.report.close()
            if late:
                self._write(running.mutant, "timeout", "")
            elif os.waitstatus_to_exitcode(status) == SURVIVED:
                self._write(running.mutant, "survived", "")
            else:
                self._record_kill(running.mutant, test)
                self._write(running.mutant, "killed", test)
        time.sleep(0.002)

    def _record_kill(self, mutant: str, test: str) -> None:
        """Run this test first on the next mutant of the same function."""
        likely = self._killed_by[function_of(mutant)]
        index = self._indexes.get(test)
        if index is not None and index not in likely:
            likely.append(index)

    def _write(self, mutant: str, status: str, test: str) -> None:
        """Append the status of a mutant, and the test that killed it."""
        with self._results.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"mutant": mutant, "status": status, "test": test}) + "\n")


def pytest_collection() -> None:
    """Let tests run in forks of one process, which Hypothesis takes for two executors."""
    default = settings()
    suppressed = {*default.suppress_health_check, HealthCheck.differing_executors}
    examples = min(default.max_examples, MAX_EXAMPLES)
    settings.register_profile(
        "mutants", default, suppress_health_check=suppressed, max_examples=examples
    )
    settings.load_profile("mutants")


@contextmanager
def running_servers() -> Iterator[None]:
    """Run Redis and PostgreSQL, where they are installed, for all forks."""
    servers = import_module("tests.client.servers")
    with ExitStack() as stack:
        for make in (servers.RedisServer, servers.PostgresServer):
            with suppress(servers.Unavailable):
                server = make()
                stack.callback(server.remove)
                server.start()
                servers.RUNNING[make] = server
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Run the mutants that `MUTANTS` lists, instead of running the tests once."""
    if session.testsfailed:
        raise session.Interrupted("tests could not be collected")
    request = json.loads(Path(os.environ["MUTANTS"]).read_text(encoding="utf-8"))
    gc.collect()
    gc.freeze()
    with running_servers() if request["servers"] else nullcontext():
        baseline = measure_baseline(session.items)
        for index in baseline.failed:
            print(f"fails without a mutant: {session.items[index].nodeid}")
        print(f"{len(baseline.seconds)} tests, {sum(baseline.seconds.values()):.1f} s")
        runner = MutantRunner(session.items, baseline, Path(request["results"]))
        runner.run(request["mutants"], request["jobs"])
    return True
