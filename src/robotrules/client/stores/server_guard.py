"""
Error handling of the stores on a server: timeouts, redacted messages, and a circuit breaker.

A server that is down refuses the connection at once, which costs nothing. A server that is
unreachable or hangs costs its timeout: after such a slow failure the circuit breaker opens, every
call fails at once for some seconds, and a crawl continues from memory and the network. Passwords
are redacted in all messages.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from urllib.parse import quote

from robotrules.client.circuit_breaker import CircuitBreaker
from robotrules.errors import StoreError

# Timeouts in seconds for opening a connection and for a response.
CONNECT_TIMEOUT, RESPONSE_TIMEOUT = 2.0, 5.0
# A failure that took at least this long trips the breaker, for this long.
SLOW_FAILURE, COOLDOWN = 1.0, 5.0


def vet_address(url: str) -> None:
    """Raise ValueError, without a message, for an address whose password is not percent-encoded."""
    # `redis://:12/34@host` parses as a server on port 12, and its name would reveal the password.
    authority, *rest = re.split("[/?#]", url.partition("://")[2])
    if authority.count("@") > 1 or any("@" in part for part in rest):
        raise ValueError


class ServerGuard:
    """The circuit breaker of one database server, and the redacted errors of its failures."""

    def __init__(self, name: str, passwords: Iterable[str | None]) -> None:
        self._name = name
        given = [password for password in passwords if password]
        encoded = [quote(password, "") for password in given]
        self._secrets = sorted({*given, *encoded}, key=len, reverse=True)
        self._breaker = CircuitBreaker()

    def check(self) -> None:
        """Raise StoreError while the circuit is open."""
        remaining = self._breaker.remaining
        if remaining > 0:
            raise StoreError(f"{self._breaker.reason}; next attempt in {remaining:.0f} s")

    def record_failure(self, error: Exception, started: float, fix: str) -> StoreError:
        """Return the error to raise for a call that started at a time of the monotonic clock."""
        message = f"{self._name} is unavailable: {self._redact(error)[:500]}; {fix}"
        if time.monotonic() - started >= SLOW_FAILURE:
            self._breaker.trip(COOLDOWN, message)
        return StoreError(message)

    def record_success(self) -> None:
        """Close the circuit: the server responds."""
        self._breaker.reset()

    def _redact(self, error: Exception) -> str:
        """Return the message of an error on one line, with passwords redacted."""
        text = " ".join(str(error).split()) or type(error).__name__
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text
