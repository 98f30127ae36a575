"""
A Spark standalone cluster on 127.0.0.1: one master and several workers, each a process of its own.

The processes come from the pip package of PySpark. They listen on loopback and on free ports, have
small heaps, and are stopped by their process numbers. An executor is a child of its worker; its
Python processes are children of the executor. `kill_worker()` kills all of them with SIGKILL, as a
machine that loses power would.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import robotrules

START_SECONDS = 90.0
LOOPBACK = "127.0.0.1"
# The package, and the tests: some of their tasks run on executors.
SOURCES = os.pathsep.join(
    [str(Path(robotrules.__file__).parents[1]), str(Path(__file__).parents[3])]
)


class ClusterUnavailable(Exception):
    """Why no cluster can be started here."""


class SparkCluster:
    """A master and its workers; a context manager."""

    def __init__(
        self, workers: int = 2, cores: int = 1, memory: str = "2g", pinned: bool = False
    ) -> None:
        """
        Prepare a cluster of *workers* workers with *cores* cores each.

        With *pinned*, a worker and all processes below it run on one processor of the machine, as
        on a machine that has no other.
        """
        self.size, self.cores, self.memory, self.pinned = workers, cores, memory, pinned
        self.folder = Path(tempfile.mkdtemp(prefix="robotrules-spark-"))
        self.port, self.page_port = free_port(), free_port()
        self.workers: list[subprocess.Popen[bytes]] = []
        self._master: subprocess.Popen[bytes] | None = None
        self._started = 0

    @property
    def url(self) -> str:
        """The master's address, for `--master`."""
        return f"spark://{LOOPBACK}:{self.port}"

    def __enter__(self) -> SparkCluster:
        """Start it, and wait until all workers have registered."""
        try:
            self._master = self._run(
                "master",
                "org.apache.spark.deploy.master.Master",
                *("--host", LOOPBACK, "--port", str(self.port)),
                *("--webui-port", str(self.page_port)),
            )
            self._wait(lambda: self.state()["status"] == "ALIVE")
            for _ in range(self.size):
                self.start_worker()
            self._wait(lambda: self.alive() == self.size)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it."""
        self.stop()

    def start_worker(self) -> None:
        """Start one more worker."""
        self._started += 1
        work = self.folder / f"work-{self._started}"
        self.workers.append(
            self._run(
                f"worker-{self._started}",
                "org.apache.spark.deploy.worker.Worker",
                *("--host", LOOPBACK, "--cores", str(self.cores), "--memory", self.memory),
                *("--webui-port", "0", "--work-dir", str(work)),
                self.url,
                processor=self._started - 1 if self.pinned else None,
            )
        )

    def kill_worker(self, index: int = 0) -> list[int]:
        """Kill a worker, its executors and their Python processes with SIGKILL; return who died."""
        worker = self.workers.pop(index)
        pids = [worker.pid, *descendants(worker.pid)]
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        worker.wait(10)
        return pids

    def kill_executors(self, index: int = 0) -> list[int]:
        """Kill what runs below a worker with SIGKILL; the worker starts a new executor."""
        pids = descendants(self.workers[index].pid)
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return pids

    def restore(self) -> None:
        """Start workers until there are as many as in the beginning, and wait for them."""
        while len(self.workers) < self.size:
            self.start_worker()
        self._wait(lambda: self.alive() >= self.size)

    def state(self) -> dict[str, Any]:
        """Return what the master says about itself."""
        with urllib.request.urlopen(f"http://{LOOPBACK}:{self.page_port}/json/", timeout=5) as page:
            state: dict[str, Any] = json.load(page)
        return state

    def alive(self) -> int:
        """Return the number of workers that the master counts as alive."""
        return sum(worker["state"] == "ALIVE" for worker in self.state()["workers"])

    def stop(self) -> None:
        """Stop all processes and remove the folder."""
        master = [self._master] if self._master else []
        for process in (*self.workers, *master):
            below = descendants(process.pid)
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            for pid in below:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        self.workers, self._master = [], None
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(
        self, name: str, *command: str, processor: int | None = None
    ) -> subprocess.Popen[bytes]:
        processors = sorted(os.sched_getaffinity(0))
        pin = [] if processor is None else ["taskset", "-c", str(processors[processor])]
        with (self.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                [*pin, str(spark_home() / "bin" / "spark-class"), *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env=environment(self.folder),
            )

    def _wait(self, ready: Any) -> None:
        end = time.monotonic() + START_SECONDS
        while True:
            with suppress(OSError, ValueError):
                if ready():
                    return
            dead = [p for p in (self._master, *self.workers) if p and p.poll() is not None]
            if dead or time.monotonic() > end:
                logs = [log.read_text(errors="replace") for log in self.folder.glob("*.log")]
                raise ClusterUnavailable("\n".join(log[-2000:] for log in logs))
            time.sleep(0.1)


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of Spark processes: loopback, small heaps, this Python."""
    return {
        **os.environ,
        "SPARK_HOME": str(spark_home()),
        "SPARK_LOCAL_IP": LOOPBACK,
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_LOCAL_DIRS": str(folder / "scratch"),
        "SPARK_CONF_DIR": str(folder),
        "SPARK_NO_DAEMONIZE": "1",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "PYTHONPATH": SOURCES,
    }


def session_settings(cluster: SparkCluster) -> dict[str, str]:
    """Return settings of a session on this cluster that uses loopback only."""
    return {
        "spark.master": cluster.url,
        "spark.driver.host": LOOPBACK,
        "spark.driver.bindAddress": LOOPBACK,
        "spark.driver.memory": "1g",
        "spark.executor.memory": "768m",
        "spark.executorEnv.PYTHONPATH": SOURCES,
        "spark.cores.max": "2",
        "spark.ui.showConsoleProgress": "false",
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.warehouse.dir": str(cluster.folder / "warehouse"),
        # A dead executor is noticed within seconds, and not within two minutes.
        "spark.network.timeout": "20s",
        "spark.network.timeoutInterval": "5s",
        "spark.executor.heartbeatInterval": "2s",
        "spark.task.maxFailures": "4",
    }


def spark_home() -> Path:
    """Return the folder of the pip package."""
    import pyspark

    return Path(pyspark.__file__).parent


def free_port() -> int:
    """Return a port of 127.0.0.1 that is free now."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def descendants(pid: int) -> list[int]:
    """Return the children of a process, their children, and so on."""
    return [*_descendants(pid)]


def _descendants(pid: int) -> Iterator[int]:
    for tasks in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, tasks.read_text().split()):
                yield child
                yield from _descendants(child)
