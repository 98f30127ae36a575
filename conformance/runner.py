"""
Run the vectors through a harness: `python conformance/runner.py -- <command…>`.

Starts the command, sends it every vector over the protocol of `README.md`, judges the answers, and
prints a table. A smoke test comes first, to distinguish a broken harness from a wrong
implementation. Time per vector is limited; a harness that hangs is ended (only the process that
this runner started, with its children) and started again for the next vector.

Exit status: 0 if all results are as expected, 1 if not, 2 for wrong usage or a harness that does
not work. The implementation may be in any language.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import suite

PROTOCOL = 1
TIMEOUT = 10.0
TIMED_OUT = "no answer within"
# Marks a known difference that is a timeout, on slow machines.
SLOW = "slow"
SMOKE_TESTS = (("", True), ("User-agent: *\nDisallow: /\n", False))


class HarnessError(Exception):
    """The harness does not implement the protocol, or does not run."""


class NoReplyError(Exception):
    """The harness did not answer in time, or ended before it answered."""


class Connection:
    """A running harness: a process, and the lines that it writes."""

    def __init__(self, command: Sequence[str], seconds: float) -> None:
        self.seconds = seconds
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,
            )
        except OSError as error:
            raise HarnessError(f"cannot start {' '.join(command)}: {error}") from error
        self.expired = False
        self.lines: queue.Queue[str] = queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with contextlib.suppress(ValueError, OSError):
            for line in self.process.stdout:
                self.lines.put(line)
        self.lines.put("")

    def request(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Send one message and return its reply; a timeout ends the harness."""
        watchdog = threading.Timer(self.seconds, self._expire)
        watchdog.start()
        try:
            line = self._exchange(json.dumps(message) + "\n")
        finally:
            watchdog.cancel()
        if not line and self.expired:
            raise NoReplyError(f"{TIMED_OUT} {self.seconds:g} seconds")
        if not line:
            raise NoReplyError("the harness ended without an answer")
        try:
            reply = json.loads(line)
        except ValueError:
            raise HarnessError(
                f"the harness wrote a line that is not JSON: {line[:80]!r}"
            ) from None
        if not isinstance(reply, dict):
            raise HarnessError(f"the harness wrote a line that is not an object: {line[:80]!r}")
        return reply

    def _expire(self) -> None:
        self.expired = True
        self.kill()

    def _exchange(self, line: str) -> str:
        """Write one line and return the next line read; empty if the harness has ended."""
        assert self.process.stdin is not None
        try:
            # A harness that does not read blocks this write until the watchdog breaks the pipe.
            self.process.stdin.write(line)
            self.process.stdin.flush()
            return self.lines.get(timeout=self.seconds + 1)
        except (OSError, queue.Empty):
            return ""

    def stop(self) -> None:
        """Send `stop` to the harness, and end it if it does not stop."""
        with contextlib.suppress(OSError, ValueError, subprocess.TimeoutExpired):
            assert self.process.stdin is not None
            self.process.stdin.write('{"cmd": "stop"}\n')
            self.process.stdin.close()
            self.process.wait(timeout=2)
        self.close()

    def close(self) -> None:
        """End the harness and close the pipes to it."""
        self.kill()
        self.reader.join(timeout=2)
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()

    def kill(self) -> None:
        """End the process that this connection started, and its children."""
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                if hasattr(os, "killpg"):
                    os.killpg(self.process.pid, signal.SIGKILL)
                else:
                    self.process.kill()
        self.process.wait()


@dataclass(frozen=True, slots=True)
class Report:
    """The implementation, and the result of each vector."""

    implementation: Mapping[str, str]
    results: tuple[suite.Result, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the report for JSON."""
        return {
            "protocol": PROTOCOL,
            "implementation": dict(self.implementation),
            "counts": suite.count_results(self.results),
            "results": [asdict(result) for result in self.results],
        }


class Runner:
    """Runs vectors through a harness, and restarts it if it does not reply."""

    def __init__(self, command: Sequence[str], seconds: float = TIMEOUT) -> None:
        self.command = command
        self.seconds = seconds
        self.implementation: Mapping[str, str] = {}
        self.profiles: dict[str, bool] = {}
        self.connection = self._connect()

    def _connect(self) -> Connection:
        connection = Connection(self.command, self.seconds)
        try:
            reply = connection.request({"cmd": "start", "version": PROTOCOL})
            names = reply.get("implementation")
            if reply.get("version") != PROTOCOL or not isinstance(names, dict):
                raise HarnessError(f"the answer to start was {reply}")
            self.implementation = names
            for profile in suite.PROFILES:
                reply = connection.request({"cmd": "profile", "profile": profile})
                self.profiles[profile] = reply.get("supported") is True
        except NoReplyError as error:
            connection.close()
            raise HarnessError(f"no start: {error}") from error
        except HarnessError:
            connection.close()
            raise
        return connection

    def run_smoke_tests(self) -> None:
        """Run checks that every implementation passes; raise `HarnessError` if one fails."""
        for body, allowed in SMOKE_TESTS:
            check = {"url": "/x", "product_token": "a", "allowed": allowed}
            fields = {"id": "smoke/test", "requirement": [], "robotstxt": body, "checks": [check]}
            result = self.run_vector(suite.Vector(Path("smoke"), fields), 0)
            if result.kind != "passed":
                raise HarnessError(f"smoke test {result.kind}: {'; '.join(result.details)}")

    def run_vector(self, vector: suite.Vector, number: int) -> suite.Result:
        """Send one vector and judge the answer."""
        if not self.profiles[vector.profile]:
            reason = f"profile {vector.profile} is not supported"
            return suite.Result(vector.id, "skipped", (reason,))
        message = {"cmd": "run", "seq": number, "vector": suite.make_question(vector)}
        try:
            reply = self.connection.request(message)
        except NoReplyError as error:
            self.connection.close()
            self.connection = self._connect()
            return suite.Result(vector.id, "errored", (str(error),))
        if reply.get("seq") != number:
            raise HarnessError(
                f"{vector.id}: the answer is not to this question: {str(reply)[:200]}"
            )
        return suite.judge(vector, reply.get("answer", reply))

    def run(self, vectors: Sequence[suite.Vector]) -> Report:
        """Run the smoke test, then every vector, and stop the harness."""
        try:
            self.run_smoke_tests()
            numbered = enumerate(vectors, start=1)
            results = tuple(self.run_vector(vector, number) for number, vector in numbered)
        finally:
            self.connection.stop()
        return Report(self.implementation, results)


def read_known(path: Path) -> dict[str, bool]:
    """
    Return the ids of a known-differences file, and whether each may also pass.

    One per line, `#` begins a comment. An id with the word `slow` exceeds the timeout on some
    machines only.
    """
    lines = (line.split("#")[0].split() for line in path.read_text(encoding="utf-8").splitlines())
    return {words[0]: words[1:] == [SLOW] for words in lines if words}


def write_known(path: Path, report: Report) -> None:
    """Write the ids that failed or errored to *path*, for comparison with the next run."""
    wrong = [
        f"{result.id} {SLOW}" if TIMED_OUT in "".join(result.details) else result.id
        for result in report.results
        if result.kind in ("failed", "errored")
    ]
    names = report.implementation
    head = f"# Made with {names['name']} {names['version']}: vectors it answers differently.\n"
    path.write_text(head + "".join(f"{name}\n" for name in wrong), encoding="utf-8")


def find_unexpected(results: Sequence[suite.Result], known: Mapping[str, bool]) -> list[str]:
    """Return a sentence for each result that differs from *known*; see `read_known`."""
    kinds = {result.id: result for result in results}
    unexpected = []
    for result in results:
        if result.kind in ("failed", "errored") and result.id not in known:
            unexpected.append(f"{result.id} {result.kind}: {'; '.join(result.details)}")
    for name, may_pass in known.items():
        if name not in kinds:
            unexpected.append(f"{name} is a known difference but not a vector: remove it")
        elif kinds[name].kind in ("passed", "skipped") and not may_pass:
            unexpected.append(f"{name} is a known difference but {kinds[name].kind}: remove it")
    return unexpected


def render_table(vectors: Sequence[suite.Vector], results: Sequence[suite.Result]) -> str:
    """Return the results by topic."""
    topics: dict[str, list[suite.Result]] = {}
    for vector, result in zip(vectors, results, strict=True):
        parts = vector.path.parts
        nested = parts[0] in ("profiles", "extensions")
        topic = "/".join(parts[:2]) if nested else parts[0]
        topics.setdefault(topic, []).append(result)
    rows = [["topic", "passed", "failed", "errored", "skipped"]]
    for topic, topic_results in topics.items():
        counts = suite.count_results(topic_results)
        rows.append([topic, *(str(number) for number in counts.values())])
    width = max(len(row[0]) for row in rows)
    return "\n".join(
        f"{row[0]:<{width}}" + "".join(f"{cell:>9}" for cell in row[1:]) for row in rows
    )


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the command line; the harness command follows `--`."""
    parser = argparse.ArgumentParser(prog="runner.py", description="Run vectors on a harness.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write a report to FILE")
    parser.add_argument(
        "--known-differences", type=Path, metavar="FILE", help="ids that are expected to fail"
    )
    parser.add_argument(
        "--write-known-differences", type=Path, metavar="FILE", help="write the ids that fail"
    )
    parser.add_argument("--only", default="", metavar="PREFIX", help="only ids with this prefix")
    parser.add_argument("--seconds", type=float, default=TIMEOUT, help="timeout of each vector")
    parser.add_argument("command", nargs="+", help="the harness command, after --")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    """Run the suite and print the results."""
    options = parse_arguments(arguments)
    vectors = [vector for vector in suite.load() if vector.id.startswith(options.only)]
    known = read_known(options.known_differences) if options.known_differences else {}
    known = {name: slow for name, slow in known.items() if name.startswith(options.only)}
    try:
        report = Runner(options.command, options.seconds).run(vectors)
    except HarnessError as error:
        print(f"the harness does not work: {error}", file=sys.stderr)
        return 2
    if options.json:
        options.json.write_text(json.dumps(report.as_dict(), indent=1) + "\n", encoding="utf-8")
    if options.write_known_differences:
        write_known(options.write_known_differences, report)
        known = read_known(options.write_known_differences)
    print(" ".join(str(value) for value in report.implementation.values()))
    print(render_table(vectors, report.results))
    unexpected = find_unexpected(report.results, known)
    for sentence in unexpected:
        print(sentence)
    counts = suite.count_results(report.results)
    wrong = counts["failed"] + counts["errored"]
    if known:
        print(f"{len(known)} known differences, {len(unexpected)} unexpected results")
    print(f"{counts['passed']} passed, {wrong} failed, {counts['skipped']} skipped")
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
