"""
Circuit breaker: what stores on a server share. Timeouts are short; messages hold no password.

A server that is down refuses the connection at once, which costs nothing. One that is unreachable
or stuck costs its timeout. After such a failure the circuit is open for some seconds, and every
call fails at once: a crawl continues from memory and the network instead of waiting for a dead
store. It does not know which server it guards.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from urllib.parse import quote

from robotrules.errors import StoreError

# Seconds to wait for a connection, and for an answer.
CONNECT, ANSWER = 2.0, 5.0
# A failure that took this long was a wait, and for so long nobody waits again.
SLOW, REST = 1.0, 5.0


def vet_address(url: str) -> None:
    """Raise ValueError, without a word, for an address whose password is not encoded."""
    # `redis://:12/34@host` is a server of port 12 to a parser; its name would tell the password.
    authority, *rest = re.split("[/?#]", url.partition("://")[2])
    if authority.count("@") > 1 or any("@" in part for part in rest):
        raise ValueError


class CircuitBreaker:
    """Whether a server is away, and how that is told."""

    _until = 0.0
    """Until when it is left alone, by the monotonic clock."""
    _why = ""

    def __init__(self, name: str, passwords: Iterable[str | None]) -> None:
        self._name = name
        given = [word for word in passwords if word]
        self._passwords = sorted({*given, *[quote(word, "") for word in given]}, key=len)[::-1]

    def check(self) -> None:
        """Raise StoreError while the server is left alone."""
        rest = self._until - time.monotonic()
        if rest > 0:
            raise StoreError(f"{self._why}; it is asked again in {rest:.0f} s")

    def record_failure(self, error: Exception, started: float, cure: str) -> StoreError:
        """Return the error to raise for a call that began at a moment of the monotonic clock."""
        words = " ".join(str(error).split()) or type(error).__name__
        for password in self._passwords:
            words = words.replace(password, "***")
        why = f"{self._name} cannot be used: {words[:500]}; {cure}"
        if (now := time.monotonic()) - started >= SLOW:
            self._why, self._until = why, now + REST
        return StoreError(why)

    def record_success(self) -> None:
        """Nobody need wait: the server is there."""
        self._until = 0.0
