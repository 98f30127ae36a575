"""
Metrics: what each request of a client was and what came of it, and counters over all of them.

`FetchEvent` goes to the hook that a client was made with (`on_fetch=`); `Stats` is what
`client.stats` gives. One event is one request: a redirect that is followed is another one. It makes
no request itself, and writes no log.
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
    """One request, and what came of it."""

    kind: str
    """`robots.txt`, or `page` for what `fetch` and `guidance` ask for."""
    url: str
    status: int | None
    """None: there was no answer."""
    failure_reason: FailureReason | None
    """Why there was none; None: there was one."""
    detail: str
    """One line for people about the trouble."""
    octets: int
    """Of the decoded body, as far as it was read."""
    seconds: float
    """From the moment the transport was asked, waiting for a connection included."""
    address: str | None
    """The address that answered, where the transport tells."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        found = self._asdict()
        found["failure_reason"] = str(self.failure_reason) if self.failure_reason else None
        return found


class Stats(NamedTuple):
    """What a client has fetched so far."""

    requests: int = 0
    robots: int = 0
    """Requests for a robots.txt, redirects included."""
    pages: int = 0
    """Requests of `fetch` and `guidance`."""
    octets: int = 0
    seconds: float = 0.0
    """Of all requests together; those at the same time count each."""
    statuses: Mapping[int, int] = {}
    """Answers by status."""
    failures: Mapping[str, int] = {}
    """Failures by their trouble."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            **self._asdict(),
            "statuses": {str(status): count for status, count in sorted(self.statuses.items())},
            "failures": dict(sorted(self.failures.items())),
        }


class Meter:
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
        """Count a request that began at a moment of `monotonic()`, and return what it was."""
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
