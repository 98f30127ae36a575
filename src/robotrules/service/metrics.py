"""
Metrics of the service, for Prometheus.

Labels have few values: the path is one of the service's own or `other`, the status is that of the
response. A worker that runs alone counts in memory; several workers count in files of the folder
that PROMETHEUS_MULTIPROC_DIR names, and each answers with the sum.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.multiprocess import MultiProcessCollector

from robotrules._engine import engine_name

__all__ = ["MULTIPROCESS_VARIABLE", "Metrics"]

MULTIPROCESS_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
VERSION: str = sys.modules["robotrules"].__version__
OTHER = "other"
# Single checks take less than a millisecond; heavy work up to `work_timeout`.
SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """The counters of one worker."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self._requests = Counter(
            "robotrules_requests",
            "Requests, by path and status",
            ["path", "status"],
            registry=registry,
        )
        self._seconds = Histogram(
            "robotrules_request_seconds",
            "Time from the header of a request to the end of its response",
            ["path"],
            buckets=SECONDS,
            registry=registry,
        )
        self.problems = Counter(
            "robotrules_problems", "Error answers, by kind", ["kind"], registry=registry
        )
        self.running = self._gauge("robotrules_running_requests", "Requests that are running")
        self.connections = self._gauge("robotrules_connections", "Open connections")
        self.dropped_connections = Counter(
            "robotrules_dropped_connections",
            "Connections that were closed because of a limit, by limit",
            ["limit"],
            registry=registry,
        )
        self.work_waiting = self._gauge(
            "robotrules_work_waiting", "Requests that wait for a process or a thread"
        )
        self.work_ended = Counter(
            "robotrules_work_processes_ended",
            "Processes for heavy work that ended, by reason",
            ["reason"],
            registry=registry,
        )
        self.log_lines_dropped = Counter(
            "robotrules_log_lines_dropped",
            "Log lines that were not written because the reader of the log is too slow",
            registry=registry,
        )
        version = Gauge(
            "robotrules_build_info",
            "The version and its engine; always 1",
            ["version", "engine"],
            registry=registry,
            multiprocess_mode="max",
        )
        version.labels(VERSION, engine_name()).set(1)
        # The children of labels, found with one dictionary lookup on the hot path.
        self._children: dict[tuple[str, int], tuple[Any, Any]] = {}

    def _gauge(self, name: str, words: str) -> Gauge:
        return Gauge(name, words, registry=self.registry, multiprocess_mode="livesum")

    def count(self, path: str, status: int, seconds: float) -> None:
        """Count a request; *path* is a path of the service, or empty."""
        children = self._children.get((path, status))
        if children is None:
            label = path or OTHER
            children = self._requests.labels(label, str(status)), self._seconds.labels(label)
            self._children[path, status] = children
        children[0].inc()
        children[1].observe(seconds)

    def exposition(self) -> tuple[bytes, str]:
        """Return the text for Prometheus and its media type."""
        registry = self.registry
        if os.environ.get(MULTIPROCESS_VARIABLE):
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry), CONTENT_TYPE_LATEST
