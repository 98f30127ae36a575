"""
Counters of well-known crawlers: how often each requested what it was asked not to request.

A crawler is recognised by its User-Agent header, which is a claim: anyone can send it. Nothing is
blocked, because the rules of a robots.txt are requests and not access control (RFC 9309 §1). There
is one counter for each entry of the registry, so memory is bounded. Counters belong to a process:
a server with several workers has several.
"""

from __future__ import annotations

from threading import Lock
from typing import NamedTuple

from robotrules.registries.crawlers import KNOWN_CRAWLERS


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

    @staticmethod
    def _zeros() -> dict[str, list[int]]:
        return {crawler.product_token: [0, 0, 0] for crawler in KNOWN_CRAWLERS}

    def count(self, product_token: str, *, allowed: bool) -> None:
        """Count a request of a URL other than /robots.txt."""
        with self._lock:
            self._counts[product_token][1 if allowed else 2] += 1

    def count_robots_txt(self, product_token: str) -> None:
        """Count a request of /robots.txt."""
        with self._lock:
            self._counts[product_token][0] += 1

    def get(self, product_token: str) -> CrawlerCounts:
        """Return the requests of a crawler, by its name in the registry."""
        with self._lock:
            return CrawlerCounts(*self._counts.get(product_token, ()))

    def as_dict(self) -> dict[str, dict[str, int]]:
        """Return the counts of crawlers that made a request, by name, for JSON."""
        with self._lock:
            counts = {name: tuple(three) for name, three in self._counts.items() if any(three)}
        return {name: CrawlerCounts(*three)._asdict() for name, three in counts.items()}

    def clear(self) -> None:
        """Set all counts to zero."""
        with self._lock:
            self._counts = self._zeros()
