"""
Counters of well-known crawlers: how often each requested what it was asked not to request.

A crawler is recognised by its User-Agent header, which is a claim: anyone can send it. Nothing is
blocked, because the rules of a robots.txt are requests and not access control (RFC 9309 §1). There
is one counter for each entry of the registry, and a few paths, so memory is bounded. Counters
belong to a process: a server with several workers has several.
"""

from __future__ import annotations

from threading import Lock
from typing import NamedTuple

from robotrules.registries.crawlers import KNOWN_CRAWLERS

# Paths that are kept for each crawler, and characters of each; paths come from clients.
MOST_PATHS, LONGEST_PATH = 10, 200


class CrawlerCounts(NamedTuple):
    """The requests of one crawler."""

    robots_txt: int = 0
    """Requests of /robots.txt."""
    allowed: int = 0
    """Requests of URLs that the rules for this crawler allow."""
    disallowed: int = 0
    """Requests of URLs that the rules for this crawler disallow."""


class CrawlerCounters:
    """The requests of each well-known crawler. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts = self._zeros()
        # As keys, the latest one last.
        self._paths: dict[str, dict[str, None]] = {}

    @staticmethod
    def _zeros() -> dict[str, list[int]]:
        return {crawler.product_token: [0, 0, 0] for crawler in KNOWN_CRAWLERS}

    def count_allowed(self, product_token: str) -> None:
        """Count a request of a URL that the rules for a crawler allow."""
        with self._lock:
            self._counts[product_token][1] += 1

    def count_disallowed(self, product_token: str, path: str) -> None:
        """Count a request of a URL that the rules for a crawler disallow, and keep its path."""
        path = path[:LONGEST_PATH]
        with self._lock:
            self._counts[product_token][2] += 1
            paths = self._paths.setdefault(product_token, {})
            paths.pop(path, None)
            paths[path] = None
            if len(paths) > MOST_PATHS:
                del paths[next(iter(paths))]

    def count_robots_txt(self, product_token: str) -> None:
        """Count a request of /robots.txt."""
        with self._lock:
            self._counts[product_token][0] += 1

    def get(self, product_token: str) -> CrawlerCounts:
        """Return the requests of a crawler, by its name in the registry."""
        with self._lock:
            return CrawlerCounts(*self._counts.get(product_token, ()))

    def disallowed_paths(self, product_token: str) -> tuple[str, ...]:
        """
        Return the paths that a crawler requested although the rules disallow them, latest first.

        At most 10 different ones, each cut at 200 characters. Queries, which may have secrets, are
        left out. The paths come from clients: escape them in HTML.
        """
        with self._lock:
            return tuple(reversed(self._paths.get(product_token, {})))

    def as_dict(self) -> dict[str, dict[str, int]]:
        """Return the counts of crawlers that made a request, by name, for JSON."""
        with self._lock:
            counts = {name: tuple(three) for name, three in self._counts.items() if any(three)}
        return {name: CrawlerCounts(*three)._asdict() for name, three in counts.items()}

    def clear(self) -> None:
        """Set all counts to zero, and forget the paths."""
        with self._lock:
            self._counts = self._zeros()
            self._paths = {}
