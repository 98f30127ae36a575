"""
Where verbs run: off the event loop, with a time limit.

Small bodies of linear verbs (`Verb.inline`) are answered at once; larger ones in threads; very
large ones, and verbs whose time may be more than linear, in processes (`work_process`), which can
be ended. A thread waits for each process, so the pool does not depend on an event loop.

    the process needs more than `work_timeout`  it is killed and replaced; 503
    it ends by itself, or is killed             the request runs once more in another; then 503
    too many requests wait, or one too long     503
    the client leaves while its request waits   the request is dropped

Threads have no time limit: the work is linear, and its bodies have less than `LARGE` bytes. What
waits for a thread and what waits for a process is counted apart, so that one does not refuse the
other.

Sections: running a verb · the pool · one process.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import msgspec

from robotrules.service.decoding import decode_request
from robotrules.service.metrics import Metrics
from robotrules.service.problems import Problem
from robotrules.service.settings import CURRENT_LIMITS, DEFAULT_LIMITS, Limits
from robotrules.service.verbs import JsonLines, Verb

__all__ = ["WorkPool", "run_verb"]

# Reading JSON of several MiB stops all threads of an interpreter for long.
LARGE = 512 * 1024
# Threads for linear verbs; most of their time is in the native engine or in JSON.
THREADS = 2
# A new process imports the package before it answers.
START_SECONDS = 30.0
RETRY = {"Retry-After": "2"}


# --- Running a verb -------------------------------------------------------------------------------


def run_verb(verb: Verb, body: bytes, limits: Limits = DEFAULT_LIMITS) -> bytes:
    """Decode a body, run the verb, and encode its answer."""
    CURRENT_LIMITS.set(limits)
    answer = verb.run(decode_request(body, verb.request))
    return answer if isinstance(answer, bytes) else msgspec.json.encode(answer)


# --- The pool -------------------------------------------------------------------------------------


class _Waiting:
    """How many requests wait for an executor."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


class WorkPool:
    """Runs verbs for one worker of the service."""

    def __init__(self, limits: Limits, processes: int = 2, metrics: Metrics | None = None) -> None:
        self._limits = limits
        self._metrics = metrics or Metrics()
        self._count = max(1, processes)
        self._lock = threading.Lock()
        self._processes: list[_Process] = []
        self._callers: ThreadPoolExecutor | None = None
        self._threads: ThreadPoolExecutor | None = None
        self._for_process, self._for_thread = _Waiting(), _Waiting()

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Start the processes; end them afterwards."""
        callers = self._open()
        for process in self._processes:
            callers.submit(self._start, process)
        try:
            yield
        finally:
            await asyncio.to_thread(self.close)

    @property
    def pids(self) -> list[int]:
        """The processes that run."""
        return [process.pid for process in self._processes if process.pid]

    @property
    def waiting(self) -> int:
        """The requests that wait for a process or a thread."""
        return self._for_process.count + self._for_thread.count

    def is_inline(self, verb: Verb, body: bytes) -> bool:
        """Tell whether a verb is answered at once."""
        return not verb.heavy and len(body) <= verb.inline

    def run_inline(self, verb: Verb, body: bytes) -> bytes:
        """Run a verb in this thread."""
        return run_verb(verb, body, self._limits)

    async def run(self, verb: Verb, body: bytes) -> bytes:
        """Return the answer of a verb for a body; cancelling it drops work that waits."""
        if self.is_inline(verb, body):
            return self.run_inline(verb, body)
        in_process = verb.heavy or len(body) > LARGE
        job = partial(self._in_process if in_process else self.run_inline, verb, body)
        return await self._queued(job, in_process=in_process)

    async def _queued(self, job: Callable[[], bytes], *, in_process: bool) -> bytes:
        callers, waiting = self._open(), self._for_process
        if not in_process:
            assert self._threads is not None
            callers, waiting = self._threads, self._for_thread
        if waiting.count >= self._limits.max_waiting:
            raise Problem(
                "busy", "too many requests wait for their work; repeat the request", headers=RETRY
            )
        self._change_waiting(waiting, 1)
        begun = threading.Event()
        loop = asyncio.get_running_loop()
        future: Future[bytes] = callers.submit(self._begin, job, waiting, begun)
        wrapped = asyncio.wrap_future(future, loop=loop)
        try:
            done, _ = await asyncio.wait((wrapped,), timeout=self._limits.queue_timeout)
            if not done and future.cancel():
                raise Problem(
                    "busy",
                    f"the work did not begin within {self._limits.queue_timeout:g} seconds; repeat "
                    "the request",
                    headers=RETRY,
                )
            return await wrapped
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if future.cancelled() and task is not None and not task.cancelling():
                raise Problem("stopping", "the service is stopping", headers=RETRY) from None
            raise
        finally:
            future.cancel()
            if future.cancelled() and not begun.is_set():
                self._change_waiting(waiting, -1)

    def _begin(self, job: Callable[[], bytes], waiting: _Waiting, begun: threading.Event) -> bytes:
        begun.set()
        self._change_waiting(waiting, -1)
        return job()

    def _change_waiting(self, waiting: _Waiting, change: int) -> None:
        with self._lock:
            waiting.count += change
        self._metrics.work_waiting.inc(change)

    def _open(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._callers is None:
                self._callers = ThreadPoolExecutor(self._count, "work")
                self._threads = ThreadPoolExecutor(THREADS, "verbs")
                self._processes = [
                    _Process(self._limits, self._metrics) for _ in range(self._count)
                ]
            return self._callers

    def close(self) -> None:
        """End all processes, and whatever they work on."""
        with self._lock:
            callers, threads, processes = self._callers, self._threads, self._processes
            self._callers = self._threads = None
            self._processes = []
        for executor in (callers, threads):
            if executor is not None:
                executor.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.close()
        for executor in (callers, threads):
            if executor is not None:
                executor.shutdown()

    def _start(self, process: _Process) -> None:
        """Start a process before its first request, unless a request has it already."""
        with self._lock:
            if not process.reserve():
                return
        try:
            process.start()
        finally:
            process.release()

    def _in_process(self, verb: Verb, body: bytes) -> bytes:
        """Run a verb in a process that is free; there are as many as threads that call this."""
        with self._lock:
            process = next((each for each in self._processes if each.reserve()), None)
        if process is None:
            raise Problem("stopping", "the service is stopping", headers=RETRY)
        try:
            return process.run(verb.path, body)
        finally:
            process.release()


# --- One process ----------------------------------------------------------------------------------

# Lengths of the path and of the body; kind and length of the answer.
REQUEST_HEAD = struct.Struct("!HI")
ANSWER_HEAD = struct.Struct("!cI")
READY, ANSWER, LINES, PROBLEM, FAILED, NO_MEMORY = b"R", b"A", b"L", b"P", b"F", b"M"


# Without memory, a native panic that collects a backtrace may wait for itself for ever.
PROCESS_ENVIRONMENT = {"RUST_BACKTRACE": "0"}


class _Ended(Exception):
    """The process ended without an answer."""


class _Child(NamedTuple):
    """A running process and the socket to it."""

    popen: subprocess.Popen[bytes]
    pipe: socket.socket

    def end(self) -> None:
        """Kill it."""
        self.popen.kill()
        self.pipe.close()
        self.popen.wait()


class _Process:
    """A process that works on one request at a time; replaced when it ends."""

    def __init__(self, limits: Limits, metrics: Metrics) -> None:
        self._limits, self._metrics = limits, metrics
        self._child: _Child | None = None
        self._successor: _Child | None = None
        self._requests = 0
        self._busy = False
        self._closed = False
        self._lock = threading.Lock()

    @property
    def pid(self) -> int | None:
        """The process's id; None if it does not run."""
        child = self._child
        return child.popen.pid if child and child.popen.poll() is None else None

    def reserve(self) -> bool:
        """Take the process, if it is free."""
        if self._busy or self._closed:
            return False
        self._busy = True
        return True

    def release(self) -> None:
        """Let others take it."""
        self._busy = False

    def start(self) -> None:
        """Start the process before the first request."""
        if self._child is None:
            # If this fails, the first request tries again, and reports it.
            with contextlib.suppress(OSError, Problem):
                self._spawn()

    def close(self) -> None:
        """End the process for good."""
        with self._lock:
            self._closed = True
            children = self._child, self._successor
            self._child = self._successor = None
        for child in children:
            if child is not None:
                child.end()

    def run(self, path: str, body: bytes) -> bytes:
        """Return the answer to a body of the verb at *path*."""
        for _ in range(2):
            try:
                return self._call(path, body)
            except _Ended:
                self._end("died")
                if self._closed:
                    raise Problem("stopping", "the service is stopping", headers=RETRY) from None
        raise Problem(
            "work-ended",
            "the process that worked on the request ended, twice; the input may need too much "
            "memory",
            headers=RETRY,
        )

    def _call(self, path: str, body: bytes) -> bytes:
        child = self._current()
        end = time.monotonic() + self._limits.work_timeout
        name = path.encode()
        try:
            child.pipe.settimeout(self._limits.work_timeout)
            child.pipe.sendall(REQUEST_HEAD.pack(len(name), len(body)) + name + body)
            kind, answer = _receive(child.pipe, end)
        except TimeoutError:
            self._end("timeout")
            raise Problem(
                "took-too-long",
                f"the request needed more than {self._limits.work_timeout:g} seconds; pass a "
                "smaller file, or a lower limit of states",
                headers=RETRY,
            ) from None
        except OSError:
            raise _Ended from None
        self._requests += 1
        if kind == PROBLEM:
            raise Problem(**msgspec.json.decode(answer))
        if kind == NO_MEMORY:
            self._end("memory")
            raise Problem(
                "work-ended",
                f"the request needed more than {self._limits.work_memory:,} bytes of memory",
                headers=RETRY,
            )
        if kind == FAILED:
            raise RuntimeError(answer.decode())
        return JsonLines(answer) if kind == LINES else answer

    def _current(self) -> _Child:
        """Return the process to use: a new one, if there is none or it has worked enough."""
        successor = self._successor
        if successor is not None and successor.popen.poll() is not None:
            self._drop_successor()
        elif successor is not None and _has_data(successor.pipe):
            self._end("recycled", successor)
            self._requests = 0
        if self._requests >= self._limits.work_requests and self._successor is None:
            self._spawn(as_successor=True)
        child = self._child
        if child is None:
            child, self._requests = self._spawn(), 0
        if not self._requests:
            try:
                kind, _ = _receive(child.pipe, time.monotonic() + START_SECONDS)
            except OSError:
                raise _Ended from None
            assert kind == READY
            self._requests = 1
        return child

    def _spawn(self, *, as_successor: bool = False) -> _Child:
        ours, theirs = socket.socketpair()
        with theirs:
            # -P: no module of the current directory is imported.
            command = [sys.executable, "-P", "-m", "robotrules.service.work_process"]
            popen = subprocess.Popen(
                [*command, str(theirs.fileno()), msgspec.json.encode(self._limits).decode()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env={**os.environ, **PROCESS_ENVIRONMENT},
            )
        child = _Child(popen, ours)
        with self._lock:
            if not self._closed:
                if as_successor:
                    self._successor = child
                else:
                    self._child = child
                return child
        child.end()
        raise Problem("stopping", "the service is stopping", headers=RETRY)

    def _drop_successor(self) -> None:
        """Forget a successor that ended before it was used."""
        with self._lock:
            successor, self._successor = self._successor, None
        if successor is not None:
            successor.end()
            self._metrics.work_ended.labels("died").inc()

    def _end(self, reason: str, successor: _Child | None = None) -> None:
        """End the process; *successor* takes its place."""
        with self._lock:
            child, self._child = self._child, None
            if successor is not None and not self._closed:
                self._child, self._successor = successor, None
        if child is not None:
            child.end()
            self._metrics.work_ended.labels(reason).inc()


def _receive(pipe: socket.socket, end: float) -> tuple[bytes, bytes]:
    """Read one answer; raise TimeoutError, or another OSError if the process ends."""
    kind, length = ANSWER_HEAD.unpack(_read(pipe, ANSWER_HEAD.size, end))
    return kind, bytes(_read(pipe, length, end))


def _read(pipe: socket.socket, length: int, end: float) -> bytearray:
    octets = bytearray(length)
    view, done = memoryview(octets), 0
    while done < length:
        left = end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        pipe.settimeout(left)
        count = pipe.recv_into(view[done:])
        if not count:
            raise ConnectionError
        done += count
    return octets


def _has_data(pipe: socket.socket) -> bool:
    pipe.setblocking(False)
    try:
        return bool(pipe.recv(1, socket.MSG_PEEK))
    except OSError:
        return False
