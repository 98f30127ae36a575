"""
Metrics: an event for each request of a client, and counters.

`FetchEvent` is passed to the hook of a client (`on_fetch=`); `Stats` is `client.stats`. One event
is one request: each redirect that is followed is another one. The module makes no requests and
writes no log.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple

from robotrules.access import Failure, FailureReason, Request, Response

OnFetch = Callable[["FetchEvent"], object]
AsyncOnFetch = Callable[["FetchEvent"], Awaitable[object] | object]


class FetchEvent(NamedTuple):
    """One request and its outcome."""

    kind: str
    """`robots.txt`, or `page` for requests of `fetch` and `guidance`."""
    url: str
    status: int | None
    """None: there was no response."""
    failure_reason: FailureReason | None
    """Why there was no response; None if there was one."""
    detail: str
    """One line about the failure."""
    octets: int
    """Size of the decoded body, as far as it was read."""
    seconds: float
    """Duration, including the wait for a connection."""
    address: str | None
    """The IP address of the server, if the transport reports it."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        values = self._asdict()
        values["failure_reason"] = str(self.failure_reason) if self.failure_reason else None
        return values


class Stats(NamedTuple):
    """Counters of the requests of a client."""

    requests: int = 0
    robots: int = 0
    """Requests for a robots.txt, including redirects."""
    pages: int = 0
    """Requests of `fetch` and `guidance`."""
    octets: int = 0
    seconds: float = 0.0
    """Sum over all requests, including concurrent ones."""
    statuses: Mapping[int, int] = {}
    """Number of responses by status."""
    failures: Mapping[str, int] = {}
    """Number of failures by reason."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            **self._asdict(),
            "statuses": {str(status): count for status, count in sorted(self.statuses.items())},
            "failures": dict(sorted(self.failures.items())),
        }


class MetricsCollector:
    """Counts requests; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kinds: Counter[str] = Counter()
        self._statuses: Counter[int] = Counter()
        self._troubles: Counter[str] = Counter()
        self._octets = 0
        self._seconds = 0.0

    def record(
        self, kind: str, request: Request, answer: Response | Failure, began: float
    ) -> FetchEvent:
        """Count a request that began at a time of `monotonic()`, and return its event."""
        seconds = monotonic() - began
        if isinstance(answer, Response):
            octets = len(answer.body)
            event = FetchEvent(
                kind, request.url, answer.status, None, "", octets, seconds, answer.address
            )
        else:
            event = FetchEvent(
                kind, request.url, None, answer.reason, answer.detail, 0, seconds, None
            )
        with self._lock:
            self._kinds[kind] += 1
            self._octets += event.octets
            self._seconds += seconds
            if event.status is not None:
                self._statuses[event.status] += 1
            if event.failure_reason is not None:
                self._troubles[str(event.failure_reason)] += 1
        return event

    def stats(self) -> Stats:
        """Return the counters as they are now."""
        with self._lock:
            return Stats(
                sum(self._kinds.values()),
                self._kinds["robots.txt"],
                self._kinds["page"],
                self._octets,
                self._seconds,
                dict(self._statuses),
                dict(self._troubles),
            )
