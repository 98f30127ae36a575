"""
RobotsCache and AgentCache with the methods of reppy 0.4.14: an LRU cache of files by their URL.

Each origin is fetched by one thread at a time. `robotrules.Client` is the native cache: it has
stores that processes share, conditional requests and back-off.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import Any

from robotrules.compat.reppy.cache.policy import (
    CachePolicyBase,
    DefaultObjectPolicy,
    ReraiseExceptionPolicy,
)
from robotrules.compat.reppy.robots import Agent, AllowNone, Robots
from robotrules.compat.reppy.ttl import TTLPolicyBase


class _Slot:
    """One cached object, its expiry, and the lock of the thread that fetches it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.expires = 0.0
        self.value: Any = None


class _LruCache:
    """What both caches share: slots by URL of the robots.txt, and the policies."""

    DEFAULT_CACHE_POLICY: CachePolicyBase = ReraiseExceptionPolicy(ttl=600)
    DEFAULT_TTL_POLICY: TTLPolicyBase = Robots.DEFAULT_TTL_POLICY

    def __init__(
        self,
        capacity: int,
        cache_policy: CachePolicyBase | None = None,
        ttl_policy: TTLPolicyBase | None = None,
        **options: Any,
    ) -> None:
        if capacity < 1:
            raise ValueError(f"capacity is {capacity!r}: use 1 or more")
        self.capacity = capacity
        self.cache_policy = cache_policy or self.DEFAULT_CACHE_POLICY
        self.ttl_policy = ttl_policy or self.DEFAULT_TTL_POLICY
        self.options = options
        self._slots: OrderedDict[str, _Slot] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, url: str) -> Any:
        """Return the cached object for a URL, fetched if expired."""
        robots_url = Robots.robots_url(url)
        with self._lock:
            slot = self._slots.setdefault(robots_url, _Slot())
            self._slots.move_to_end(robots_url)
            while len(self._slots) > self.capacity:
                self._slots.popitem(last=False)
        with slot.lock:
            if time.time() >= slot.expires:
                slot.expires, slot.value = self.factory(robots_url)
            value = slot.value
        if isinstance(value, BaseException):
            raise value
        return value

    def factory(self, url: str) -> tuple[float, Any]:
        """Return the expiry and the object for the URL of a robots.txt, by policy if it fails."""
        try:
            return self.fetch(url)
        except Exception as error:
            return self.cache_policy.exception(url, error)

    def fetch(self, url: str) -> tuple[float, Any]:
        """Fetch a robots.txt: return its expiry, and the object to cache."""
        raise NotImplementedError("override fetch()")

    def _fetch_robots(self, url: str) -> tuple[float, Robots]:
        robots = Robots.fetch(url, ttl_policy=self.ttl_policy, **self.options)
        return robots.expires or 0.0, robots


class RobotsCache(_LruCache):
    """A cache of files. If a file cannot be fetched, everything is disallowed for ten minutes."""

    DEFAULT_CACHE_POLICY = DefaultObjectPolicy(ttl=600, factory=AllowNone)

    def allowed(self, url: str, agent: str) -> bool:
        """Tell whether a crawler may fetch a URL; its robots.txt is fetched if expired."""
        return bool(self.get(url).allowed(url, agent))

    def fetch(self, url: str) -> tuple[float, Robots]:
        """Fetch a robots.txt: return its expiry, and the file."""
        return self._fetch_robots(url)


class AgentCache(_LruCache):
    """A cache of the rules of one crawler."""

    DEFAULT_CACHE_POLICY = DefaultObjectPolicy(ttl=600, factory=lambda url: Agent().disallow("/"))

    def __init__(self, agent: str, capacity: int, *policies: Any, **options: Any) -> None:
        """Make a cache for a crawler, given by product token or User-Agent."""
        super().__init__(capacity, *policies, **options)
        self.agent = agent

    def allowed(self, url: str) -> bool:
        """Tell whether the crawler may fetch a URL; its robots.txt is fetched if expired."""
        return bool(self.get(url).allowed(url))

    def fetch(self, url: str) -> tuple[float, Agent]:
        """Fetch a robots.txt: return its expiry, and the rules of the crawler."""
        expires, robots = self._fetch_robots(url)
        return expires, robots.agent(self.agent)
