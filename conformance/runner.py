"""
Run the vectors through a harness: `python conformance/runner.py -- <command…>`.

Starts the command, asks it every vector over the protocol of `README.md`, judges the answers
itself, and prints a table. A smoke test comes first, so that a broken harness is told from a
wrong implementation. Time per vector is bounded; a harness that hangs is ended (only the process
this runner started, with its children) and started again for the next vector.

Exit status: 0 all as expected, 1 not, 2 wrong usage or a harness that does not work. It does not
know what language an implementation is in, nor anything about robots.txt.
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
SECONDS = 10.0
SMOKE = (("", True), ("User-agent: *\nDisallow: /\n", False))


class Broken(Exception):
    """The harness does not speak the protocol, or does not run."""


class Silent(Exception):
    """The harness gave no answer in time, or ended before it answered."""


class Connection:
    """One running harness: a process, and the lines it writes."""

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
            raise Broken(f"cannot start {' '.join(command)}: {error}") from error
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

    def ask(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Send one message and return its reply; a late one ends the harness."""
        watchdog = threading.Timer(self.seconds, self._expire)
        watchdog.start()
        try:
            line = self._exchange(json.dumps(message) + "\n")
        finally:
            watchdog.cancel()
        if not line and self.expired:
            raise Silent(f"no answer within {self.seconds:g} seconds")
        if not line:
            raise Silent("the harness ended without an answer")
        try:
            reply = json.loads(line)
        except ValueError:
            raise Broken(f"the harness wrote a line that is not JSON: {line[:80]!r}") from None
        if not isinstance(reply, dict):
            raise Broken(f"the harness wrote a line that is not an object: {line[:80]!r}")
        return reply

    def _expire(self) -> None:
        self.expired = True
        self.kill()

    def _exchange(self, line: str) -> str:
        """Write one line and return the next one read; nothing if the harness is gone."""
        assert self.process.stdin is not None
        try:
            # A harness that does not read blocks this write; the watchdog breaks the pipe.
            self.process.stdin.write(line)
            self.process.stdin.flush()
            return self.lines.get(timeout=self.seconds + 1)
        except (OSError, queue.Empty):
            return ""

    def stop(self) -> None:
        """Ask the harness to stop, and see to it."""
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
        """End the process this connection started, and its children."""
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                if hasattr(os, "killpg"):
                    os.killpg(self.process.pid, signal.SIGKILL)
                else:
                    self.process.kill()
        self.process.wait()


@dataclass(frozen=True, slots=True)
class Report:
    """What a run found out: about whom, and vector by vector."""

    implementation: Mapping[str, str]
    results: tuple[suite.Result, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON-able values."""
        return {
            "protocol": PROTOCOL,
            "implementation": dict(self.implementation),
            "counts": suite.count(self.results),
            "results": [asdict(result) for result in self.results],
        }


class Runner:
    """Asks one harness about many vectors, starting it anew where it falls silent."""

    def __init__(self, command: Sequence[str], seconds: float = SECONDS) -> None:
        self.command = command
        self.seconds = seconds
        self.implementation: Mapping[str, str] = {}
        self.profiles: dict[str, bool] = {}
        self.connection = self._connect()

    def _connect(self) -> Connection:
        connection = Connection(self.command, self.seconds)
        try:
            reply = connection.ask({"cmd": "start", "version": PROTOCOL})
            names = reply.get("implementation")
            if reply.get("version") != PROTOCOL or not isinstance(names, dict):
                raise Broken(f"the answer to start was {reply}")
            self.implementation = names
            for profile in suite.PROFILES:
                reply = connection.ask({"cmd": "profile", "profile": profile})
                self.profiles[profile] = reply.get("supported") is True
        except Silent as error:
            connection.close()
            raise Broken(f"no start: {error}") from error
        except Broken:
            connection.close()
            raise
        return connection

    def smoke(self) -> None:
        """Ask what no implementation gets wrong; raise `Broken` if this one does."""
        for body, allowed in SMOKE:
            check = {"url": "/x", "product_token": "a", "allowed": allowed}
            fields = {"id": "smoke/test", "requirement": [], "robotstxt": body, "checks": [check]}
            result = self.ask(suite.Vector(Path("smoke"), fields), 0)
            if result.kind != "passed":
                raise Broken(f"smoke test {result.kind}: {'; '.join(result.details)}")

    def ask(self, vector: suite.Vector, number: int) -> suite.Result:
        """Ask one vector and judge the answer."""
        if not self.profiles[vector.profile]:
            reason = f"profile {vector.profile} is not supported"
            return suite.Result(vector.id, "skipped", (reason,))
        message = {"cmd": "run", "seq": number, "vector": suite.question(vector)}
        try:
            reply = self.connection.ask(message)
        except Silent as error:
            self.connection.close()
            self.connection = self._connect()
            return suite.Result(vector.id, "errored", (str(error),))
        if reply.get("seq") != number:
            raise Broken(f"{vector.id}: the answer is not to this question: {str(reply)[:200]}")
        return suite.judge(vector, reply.get("answer", reply))

    def run(self, vectors: Sequence[suite.Vector]) -> Report:
        """Run the smoke test, then every vector, and stop the harness."""
        try:
            self.smoke()
            results = tuple(self.ask(one, number) for number, one in enumerate(vectors, start=1))
        finally:
            self.connection.stop()
        return Report(self.implementation, results)


def read_known(path: Path) -> list[str]:
    """Return the ids of a known-differences file: one a line, `#` begins a comment."""
    lines = (line.split("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line]


def write_known(path: Path, report: Report) -> None:
    """Write what failed or errored to *path*, so that the next run can tell what changed."""
    wrong = [result.id for result in report.results if result.kind in ("failed", "errored")]
    names = report.implementation
    head = f"# Made with {names['name']} {names['version']}: vectors it answers differently.\n"
    path.write_text(head + "".join(f"{name}\n" for name in wrong), encoding="utf-8")


def surprises(results: Sequence[suite.Result], known: Sequence[str]) -> list[str]:
    """Return, a sentence each, where the results are not what *known* says."""
    kinds = {result.id: result for result in results}
    found = []
    for result in results:
        if result.kind in ("failed", "errored") and result.id not in known:
            found.append(f"{result.id} {result.kind}: {'; '.join(result.details)}")
    for name in known:
        if name not in kinds:
            found.append(f"{name} is a known difference but not a vector: strike it")
        elif kinds[name].kind in ("passed", "skipped"):
            found.append(f"{name} is a known difference but {kinds[name].kind}: strike it")
    return found


def table(vectors: Sequence[suite.Vector], results: Sequence[suite.Result]) -> str:
    """Return the results by topic, for a person."""
    topics: dict[str, list[suite.Result]] = {}
    for vector, result in zip(vectors, results, strict=True):
        parts = vector.path.parts
        nested = parts[0] in ("profiles", "extensions")
        topic = "/".join(parts[:2]) if nested else parts[0]
        topics.setdefault(topic, []).append(result)
    rows = [["topic", "passed", "failed", "errored", "skipped"]]
    for topic, found in topics.items():
        rows.append([topic, *(str(number) for number in suite.count(found).values())])
    width = max(len(row[0]) for row in rows)
    return "\n".join(
        f"{row[0]:<{width}}" + "".join(f"{cell:>9}" for cell in row[1:]) for row in rows
    )


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line; what follows `--` is the harness command."""
    parser = argparse.ArgumentParser(prog="runner.py", description="Run the vectors.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report there")
    parser.add_argument("--known-differences", type=Path, metavar="FILE")
    parser.add_argument("--write-known-differences", type=Path, metavar="FILE")
    parser.add_argument("--only", default="", metavar="PREFIX", help="ids that begin so")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each vector")
    parser.add_argument("command", nargs="+", help="the harness, after --")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    """Run the suite and print what came of it."""
    options = parse_arguments(arguments)
    vectors = [vector for vector in suite.load() if vector.id.startswith(options.only)]
    known = read_known(options.known_differences) if options.known_differences else []
    known = [name for name in known if name.startswith(options.only)]
    try:
        report = Runner(options.command, options.seconds).run(vectors)
    except Broken as error:
        print(f"the harness does not work: {error}", file=sys.stderr)
        return 2
    if options.json:
        options.json.write_text(json.dumps(report.as_dict(), indent=1) + "\n", encoding="utf-8")
    if options.write_known_differences:
        write_known(options.write_known_differences, report)
        known = read_known(options.write_known_differences)
    print(" ".join(str(value) for value in report.implementation.values()))
    print(table(vectors, report.results))
    found = surprises(report.results, known)
    for sentence in found:
        print(sentence)
    counts = suite.count(report.results)
    wrong = counts["failed"] + counts["errored"]
    if known:
        print(f"{len(known)} known differences, {len(found)} surprises")
    print(f"{counts['passed']} passed, {wrong} failed, {counts['skipped']} skipped")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
