"""
TTL policies of reppy: how long a fetched robots.txt is valid, by the fields of its response.

A policy is asked with a `FieldsView`, which has `status_code` and `headers` as a response of
requests has them. The arithmetic is that of RFC 9111 (`robotrules.http.caching`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from robotrules.http.caching import response_freshness


class FieldsView(NamedTuple):
    """What a policy sees of a response."""

    status_code: int
    headers: Mapping[str, str]
    """The fields that matter to caching, names in lower case."""


class TTLPolicyBase:
    """A policy: override `ttl()`."""

    def ttl(self, response: FieldsView) -> float:
        """Return the seconds for which a response is valid."""
        raise NotImplementedError("override ttl()")

    def expires(self, response: FieldsView) -> float:
        """Return when a response expires, in seconds since 1970."""
        return time.time() + self.ttl(response)


class HeaderWithDefaultPolicy(TTLPolicyBase):
    """The lifetime in Cache-Control or Expires, at least *minimum*; *default* without these."""

    def __init__(self, default: float, minimum: float) -> None:
        """Make a policy; both are seconds."""
        self.default = default
        self.minimum = minimum

    def ttl(self, response: FieldsView) -> float:
        """Return the seconds for which a response is valid."""
        cache_control = response.headers.get("cache-control", "").lower()
        if any(word in cache_control for word in ("no-store", "no-cache", "must-revalidate")):
            return max(self.minimum, 0)
        fields = dict(response.headers.items())
        fresh = response_freshness(fields, received=datetime.now(UTC), shared=True)
        if fresh.lifetime is None or fresh.reason not in ("s-maxage", "max-age", "expires"):
            return self.default
        return max(self.minimum, fresh.lifetime)
