"""Cache policies of reppy: what a cache keeps if a robots.txt could not be fetched."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


class CachePolicyBase:
    """A policy: override `exception()`."""

    def exception(self, url: str, exception: BaseException) -> tuple[float, Any]:
        """Return when the result expires, and the result."""
        raise NotImplementedError("override exception()")


class DefaultObjectPolicy(CachePolicyBase):
    """Keep the object that *factory* makes, for *ttl* seconds."""

    def __init__(self, ttl: float, factory: Callable[[str], Any]) -> None:
        """Make a policy; *factory* is called with the URL."""
        self.ttl = ttl
        self.factory = factory

    def exception(self, url: str, exception: BaseException) -> tuple[float, Any]:
        """Return when the object expires, and the object."""
        return time.time() + self.ttl, self.factory(url)


class ReraiseExceptionPolicy(CachePolicyBase):
    """Keep the exception for *ttl* seconds, and raise it again."""

    def __init__(self, ttl: float) -> None:
        """Make a policy."""
        self.ttl = ttl

    def exception(self, url: str, exception: BaseException) -> tuple[float, Any]:
        """Return when the exception expires, and the exception."""
        return time.time() + self.ttl, exception
