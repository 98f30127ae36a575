"""When crawlers requested /robots.txt, by name and by network; the last times are kept."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable

from robotrules.operations.logs.entries import network_of

__all__ = ["RobotsFetches"]

# Times of each name, and of each name and network; and pairs of these.
MOST_TIMES, MOST_NETWORK_TIMES, MOST_NETWORKS = 200, 20, 10_000


class RobotsFetches:
    """
    Remembers successful requests for /robots.txt.

    Lines may be out of order, and logs of several servers overlap, so several times are kept: what
    was requested later than a page says nothing about the copy that was used for it.
    """

    def __init__(self) -> None:
        self._by_name: dict[str, list[float]] = {}
        self._by_network: dict[tuple[str, bytes], list[float]] = {}

    def add(self, name: str, address: bytes, at: float) -> None:
        """Remember a request under the name of a crawler."""
        _add(self._by_name.setdefault(name, []), at, MOST_TIMES)
        key = name, network_of(address)
        # The network that was seen last is the last one.
        times = self._by_network.pop(key, [])
        if len(self._by_network) >= MOST_NETWORKS:
            del self._by_network[next(iter(self._by_network))]
        self._by_network[key] = times
        _add(times, at, MOST_NETWORK_TIMES)

    def age(self, names: Iterable[str], at: float) -> float | None:
        """Return the seconds from the last request until a time; None if none was before it."""
        latest: float | None = None
        for name in names:
            times = self._by_name.get(name)
            if times:
                latest = _latest(times, at, latest)
        return None if latest is None else at - latest

    def network_age(self, names: Iterable[str], at: float, address: bytes) -> float | None:
        """Return the same, of requests from the network of an address."""
        network = network_of(address)
        latest: float | None = None
        for name in names:
            times = self._by_network.get((name, network))
            if times:
                latest = _latest(times, at, latest)
        return None if latest is None else at - latest


def _latest(times: list[float], at: float, other: float | None) -> float | None:
    """Return the last of the times that is not after a time, or another one that is later."""
    last = times[-1]
    if last > at:
        before = bisect_right(times, at)
        if not before:
            return other
        last = times[before - 1]
    return last if other is None or last > other else other


def _add(times: list[float], at: float, most: int) -> None:
    insort(times, at)
    if len(times) > most:
        del times[0]
