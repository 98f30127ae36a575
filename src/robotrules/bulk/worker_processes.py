"""
Worker processes: tasks of a job on several cores.

Each process receives a task, writes its parts and sends their journal lines; only the main process
writes the journal. A worker whose main process has been killed ends itself.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from typing import Any

from robotrules.bulk.jobs import Job, Part, Progress, Task, Work, task_parts
from robotrules.errors import InputError, RobotrulesError

PARENT_CHECK = 0.5
PROGRESS_AFTER = 0.2


def run_tasks(
    job: Job, work: Work, tasks: list[Task], processes: int, progress: Progress | None
) -> Iterator[Part]:
    """Process tasks in several processes; yield their parts as they are finished."""
    context = multiprocessing.get_context("spawn")
    waiting = list(reversed(tasks))
    workers: dict[Any, Any] = {}
    try:
        for _ in range(processes):
            here, there = context.Pipe()
            process = context.Process(target=_serve, args=(there, job, work), daemon=True)
            process.start()
            there.close()
            workers[here] = process
            here.send(waiting.pop())
        while workers:
            for connection in wait(list(workers)):
                assert isinstance(connection, Connection)
                try:
                    kind, value = connection.recv()
                except (EOFError, OSError):
                    process = workers.pop(connection)
                    process.join()
                    raise InputError(
                        f"a worker process ended with code {process.exitcode}: repeat the command "
                        "to continue, with fewer --jobs if memory was short"
                    ) from None
                if kind == "part":
                    yield value
                elif kind == "progress" and progress is not None:
                    progress(*value)
                elif kind == "error":
                    raise value
                elif kind == "done":
                    if waiting:
                        connection.send(waiting.pop())
                    else:
                        connection.send(None)
                        workers.pop(connection).join()
                        connection.close()
    finally:
        for connection, process in workers.items():
            process.terminate()
            process.join()
            connection.close()


def _serve(connection: Connection, job: Job, work: Work) -> None:
    """Process tasks until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process ends its workers
    threading.Thread(target=_watch_parent, args=(os.getppid(),), daemon=True).start()
    meter = _Meter(connection)
    try:
        while (task := connection.recv()) is not None:
            for part in task_parts(job, work, task, meter.add):
                meter.flush()
                connection.send(("part", part))
            connection.send(("done", None))
    except RobotrulesError as error:
        connection.send(("error", error))
    except (EOFError, BrokenPipeError):
        pass


def _watch_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PARENT_CHECK)
    os._exit(1)


class _Meter:
    """Sends progress, a few times a second."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._rows = self._octets = 0
        self._sent = time.monotonic()

    def add(self, rows: int, octets: int) -> None:
        """Count rows and bytes."""
        self._rows += rows
        self._octets += octets
        if time.monotonic() - self._sent > PROGRESS_AFTER:
            self.flush()

    def flush(self) -> None:
        """Send what was counted."""
        self._connection.send(("progress", (self._rows, self._octets)))
        self._rows = self._octets = 0
        self._sent = time.monotonic()
