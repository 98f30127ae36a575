"""
Circuit breaker: after a failure, calls are rejected at once for some seconds instead of retried.

A crawl must not wait for a dead store at every origin. `stores.server_guard` trips a breaker after
a slow failure of a database server; the cache engine trips one for reads and one for writes of any
store. The breaker does not know what it guards.
"""

from __future__ import annotations

import time


class CircuitBreaker:
    """Rejects calls for a cooldown after it was tripped. Safe to use from several threads."""

    __slots__ = ("_open_until", "reason")

    def __init__(self) -> None:
        self._open_until = 0.0
        self.reason = ""
        """Why it was tripped last."""

    def trip(self, cooldown: float, reason: str = "") -> None:
        """Open the circuit for *cooldown* seconds."""
        self._open_until, self.reason = time.monotonic() + cooldown, reason

    def reset(self) -> None:
        """Close the circuit."""
        self._open_until = 0.0

    @property
    def remaining(self) -> float:
        """Seconds until calls are allowed again; 0 or less: the circuit is closed."""
        return self._open_until - time.monotonic()

    @property
    def is_open(self) -> bool:
        """Whether calls are rejected."""
        return time.monotonic() < self._open_until
