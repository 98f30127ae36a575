"""
A pytest plug-in that tries mutants: tests are collected once, and each mutant gets a fork of that.

`scripts/mutants.py` loads it with `-p` in a folder where mutmut has made the mutants; ordinary test
runs do not know it. One fork runs every test without a mutant, to learn which functions a test
calls and how long it takes. Then a fork for each mutant runs the tests that call the changed
function: first those that noticed a mutant of it before, then the quickest, until one fails. What
became of a mutant is written at once, so that a run that is stopped loses nothing. Servers that the
tests need are started before there are forks, which share them.

A test that fails without a mutant is left out, and named: it would notice all of them.
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

# Examples of a property test: each mutant runs them anew.
MOST_EXAMPLES = 40
# A mutant that needs longer than its tests do without one, several times over, never ends.
LEAST_SECONDS, PATIENCE = 10.0, 5.0
MOST_SECONDS = 180.0
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
    """The memoised functions of the package; looked for again when there are more modules."""

    modules: int = 0
    clearers: list[Callable[[], None]] = field(default_factory=list)

    def clear(self) -> None:
        """Empty them: a value kept by an earlier test never runs the mutant."""
        if len(sys.modules) != self.modules:
            self.modules, self.clearers = len(sys.modules), list(cache_clearers())
        for clear in self.clearers:
            clear()


CACHES = Caches()


@dataclass
class Baseline:
    """What the tests do without a mutant."""

    seconds: dict[int, float] = field(default_factory=dict)
    tests_by_function: dict[str, list[int]] = field(default_factory=dict)
    failed: list[int] = field(default_factory=list)


@dataclass
class Running:
    """A fork that tries a mutant."""

    mutant: str
    until: float
    report: BinaryIO


def passes(item: pytest.Item, following: pytest.Item | None) -> bool:
    """Run a test, with set-up and tear-down, and tell whether it passed or was skipped."""
    CACHES.clear()
    reports = runtestprotocol(item, log=False, nextitem=following)
    return not any(report.failed for report in reports)


def is_alarm(status: int) -> bool:
    """Tell whether a process was ended by its alarm."""
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM


def silence() -> None:
    """Send what a fork prints to nowhere."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)


def measure_baseline(items: list[pytest.Item]) -> Baseline:
    """Run every test in a fork and return what each calls."""
    with tempfile.TemporaryFile() as file:
        process = os.fork()
        if process == 0:
            silence()
            set_mutant_under_test("stats")
            found = Baseline()
            tests: dict[str, list[int]] = defaultdict(list)
            for index, item in enumerate(items):
                state()._stats.clear()
                started = time.perf_counter()
                following = items[index + 1] if index + 1 < len(items) else None
                if not passes(item, following):
                    found.failed.append(index)
                    continue
                found.seconds[index] = time.perf_counter() - started
                for name in state()._stats:
                    tests[name].append(index)
            found.tests_by_function = dict(tests)
            pickle.dump(found, file)
            file.flush()
            os._exit(0)
        os.waitpid(process, 0)
        file.seek(0)
        baseline = pickle.load(file)
    assert isinstance(baseline, Baseline)
    return baseline


def patience(seconds: float) -> float:
    """Return how long tests may take that take so long without a mutant."""
    return min(max(PATIENCE * seconds, LEAST_SECONDS), MOST_SECONDS)


def run_mutant(
    mutant: str, items: list[pytest.Item], seconds: list[float], report: BinaryIO
) -> int:
    """Run tests until one fails, in a fork, and write which; one that hangs ends the fork."""
    os.setsid()
    silence()
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    set_mutant_under_test(mutant)
    for index, item in enumerate(items):
        following = items[index + 1] if index + 1 < len(items) else None
        signal.setitimer(signal.ITIMER_REAL, patience(seconds[index]))
        if not passes(item, following):
            report.write(item.nodeid.encode())
            report.flush()
            # What the session has started, such as a server and its folder, ends with it.
            item.session._setupstate.teardown_exact(None)
            return KILLED
    return SURVIVED


class Trial:
    """Mutants, tried some at a time."""

    def __init__(self, items: list[pytest.Item], baseline: Baseline, results: Path) -> None:
        """Take the tests, what they do, and the file that gets a line for each mutant."""
        self._items = items
        self._places = {item.nodeid: place for place, item in enumerate(items)}
        self._baseline = baseline
        self._results = results
        self._running: dict[int, Running] = {}
        self._noticed_by: dict[str, list[int]] = defaultdict(list)

    def run(self, mutants: list[str], jobs: int) -> None:
        """Try all mutants, `jobs` at a time."""
        for mutant in mutants:
            tests = self._tests_of(mutant)
            if not tests:
                self._write(mutant, "no tests", "")
                continue
            while len(self._running) >= jobs:
                self._collect()
            self._start(mutant, tests)
        while self._running:
            self._collect()

    def _tests_of(self, mutant: str) -> list[int]:
        """Return the tests that call a mutant's function, the likeliest to notice it first."""
        name = function_of(mutant)
        before = self._noticed_by[name]
        seconds = self._baseline.seconds
        others = sorted(self._baseline.tests_by_function.get(name, ()), key=seconds.__getitem__)
        return [*before, *(test for test in others if test not in before)]

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
        until = time.monotonic() + patience(sum(seconds))
        self._running[process] = Running(mutant, until, report)

    def _collect(self) -> None:
        """Wait a little for forks that have ended; end those whose time is up."""
        for process, running in list(self._running.items()):
            ended, status = os.waitpid(process, os.WNOHANG)
            late = time.monotonic() > running.until if not ended else is_alarm(status)
            if not ended and not late:
                continue
            if late:
                with suppress(ProcessLookupError):  # also what the fork has started
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
                self._remember(running.mutant, test)
                self._write(running.mutant, "killed", test)
        time.sleep(0.002)

    def _remember(self, mutant: str, test: str) -> None:
        """Try this test first on the next mutant of the same function."""
        before = self._noticed_by[function_of(mutant)]
        place = self._places.get(test)
        if place is not None and place not in before:
            before.append(place)

    def _write(self, mutant: str, became: str, test: str) -> None:
        """Append what became of a mutant, and the test that noticed it."""
        with self._results.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"mutant": mutant, "became": became, "test": test}) + "\n")


def pytest_collection() -> None:
    """Let tests run in forks of one process, which Hypothesis takes for two executors."""
    usual = settings()
    unheeded = {*usual.suppress_health_check, HealthCheck.differing_executors}
    examples = min(usual.max_examples, MOST_EXAMPLES)
    settings.register_profile(
        "mutants", usual, suppress_health_check=unheeded, max_examples=examples
    )
    settings.load_profile("mutants")


@contextmanager
def running_servers() -> Iterator[None]:
    """Run a Redis and a PostgreSQL, where they can be had, for all forks."""
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
    """Try the mutants that `MUTANTS` lists, instead of running the tests once."""
    if session.testsfailed:
        raise session.Interrupted("tests could not be collected")
    given = json.loads(Path(os.environ["MUTANTS"]).read_text(encoding="utf-8"))
    gc.collect()
    gc.freeze()
    with running_servers() if given["servers"] else nullcontext():
        baseline = measure_baseline(session.items)
        for index in baseline.failed:
            print(f"fails without a mutant: {session.items[index].nodeid}")
        print(f"{len(baseline.seconds)} tests, {sum(baseline.seconds.values()):.1f} s")
        Trial(session.items, baseline, Path(given["results"])).run(given["mutants"], given["jobs"])
    return True
