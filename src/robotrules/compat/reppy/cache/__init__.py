"""
RobotsCache and AgentCache with the methods of reppy 0.4.14: an LRU cache of files by their URL.

Each origin is fetched by one thread at a time. The options of the fetches are validated when a
cache is made, because a cache turns failures into objects. `robotrules.Client` is the native cache:
it has stores that processes share, conditional requests and back-off.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from typing import Any

from robotrules.compat.reppy.cache.policy import (
    CachePolicyBase,
    DefaultObjectPolicy,
    ReraiseExceptionPolicy,
)
from robotrules.compat.reppy.exceptions import ReppyException
from robotrules.compat.reppy.robots import (
    Agent,
    AllowNone,
    Robots,
    make_fetch_options,
    name_of,
    vet_hook,
)
from robotrules.compat.reppy.ttl import TTLPolicyBase

logger = logging.getLogger(__name__)

# Arguments of `Robots.fetch()` that are not options of a request.
_NOT_SENT = ("max_size", "after_parse_hook")


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
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """
        Make a cache of *capacity* files.

        The other arguments are those of `Robots.fetch()`; unsupported and invalid ones raise here.
        """
        if not isinstance(capacity, int):
            raise TypeError(
                f"capacity is {capacity!r}: pass the number of files to keep, as an int"
            )
        if capacity < 1:
            raise ValueError(f"capacity is {capacity!r}: use 1 or more")
        _vet_policy("cache_policy", cache_policy, "exception")
        _vet_policy("ttl_policy", ttl_policy, "expires")
        fetched_with = {name: kwargs[name] for name in kwargs if name not in _NOT_SENT}
        make_fetch_options(args, fetched_with)
        vet_hook(kwargs.get("after_parse_hook"))
        self.capacity = capacity
        self.cache_policy = self.DEFAULT_CACHE_POLICY if cache_policy is None else cache_policy
        self.ttl_policy = self.DEFAULT_TTL_POLICY if ttl_policy is None else ttl_policy
        self.args = args
        self.kwargs = kwargs
        self._slots: OrderedDict[str, _Slot] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, url: str) -> Any:
        """
        Return the cached object for a URL, fetched if expired.

        A cached exception is raised again; so is misuse, which is not cached: see `factory()`.
        """
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
            # Without it, each raise would add a traceback to the one object.
            raise value.with_traceback(None)
        return value

    def factory(self, url: str) -> tuple[float, Any]:
        """
        Return the expiry and the object for the URL of a robots.txt, by policy if it fails.

        A failure is logged as a warning, once for each fetch: the policy's object has no reason.
        A TypeError or ValueError is misuse and is raised, unless it is about the URL or the
        network: kept as an object that disallows everything, it would go unnoticed.
        """
        try:
            return self.fetch(url)
        except Exception as error:
            is_failure = isinstance(error, (ReppyException, OSError))
            if isinstance(error, (TypeError, ValueError)) and not is_failure:
                raise
            is_ours = isinstance(error, ReppyException) and error.args
            reason = error.args[0] if is_ours else f"{url}: {error!r}"
            name = type(self.cache_policy).__name__
            logger.warning(
                "robots.txt was not read, so the cache policy %s decides: %s", name, reason
            )
            return self.cache_policy.exception(url, error)

    def fetch(self, url: str) -> tuple[float, Any]:
        """Fetch a robots.txt: return its expiry, and the object to cache."""
        raise NotImplementedError("override fetch()")

    def _fetch_robots(self, url: str) -> tuple[float, Robots]:
        robots = Robots.fetch(url, ttl_policy=self.ttl_policy, **self.kwargs)
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

    def __init__(self, agent: str | bytes, *args: Any, **kwargs: Any) -> None:
        """
        Make a cache for a crawler, given by product token or User-Agent.

        The other arguments are those of `RobotsCache`. A URL as *agent* raises here.
        """
        super().__init__(*args, **kwargs)
        name_of(agent)
        self.agent = agent

    def allowed(self, url: str) -> bool:
        """Tell whether the crawler may fetch a URL; its robots.txt is fetched if expired."""
        return bool(self.get(url).allowed(url))

    def fetch(self, url: str) -> tuple[float, Agent]:
        """Fetch a robots.txt: return its expiry, and the rules of the crawler."""
        expires, robots = self._fetch_robots(url)
        return expires, robots.agent(self.agent)


def _vet_policy(argument: str, policy: object, method: str) -> None:
    """Raise a TypeError unless *policy* has the method of a policy, or is None."""
    if policy is not None and not callable(getattr(policy, method, None)):
        raise TypeError(f"{argument} is {policy!r}: pass an object with {method}(), or None")
