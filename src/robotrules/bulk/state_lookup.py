"""
State lookup: the segment that decides each row of a batch, by the origin of its URL and a time.

The engine finds origins and times; what is new to a corpus is computed once and kept: the last
state of an origin, or its periods.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from threading import RLock
from typing import Any

import pyarrow.compute as pc

from robotrules import _engine
from robotrules.access import AccessProfile
from robotrules.bulk.arrow_support import pa
from robotrules.bulk.fetches import Fetches
from robotrules.bulk.segments import (
    MISSING_SEGMENT,
    NO_ORIGIN_SEGMENT,
    UNRESOLVED,
    Segments,
    add_last_segments,
)
from robotrules.bulk.timeline import MISSING_RULES, NO_ORIGIN_RULES, History
from robotrules.http.origins import origin_of

# Which fetch decides may depend on the crawler, if several crawlers fetched: answers for so many
# sets of names are kept.
_MAX_TOKEN_SETS = 16


class _LastStates:
    """The segment of each origin's last fetch, as far as it is known."""

    def __init__(self, numbers: array[int]) -> None:
        self.numbers = numbers
        self._column: Any = None

    def column(self) -> Any:
        """Return the segments by origin, as an array."""
        if self._column is None:
            octets = pa.py_buffer(self.numbers.tobytes())
            self._column = pa.Array.from_buffers(pa.uint32(), len(self.numbers), [None, octets])
        return self._column

    def set(self, origin: int, segment: int) -> None:
        """Set the segment of an origin."""
        self.numbers[origin] = segment
        self._column = None


class StateLookup:
    """Segments of rows. Safe to use from several threads."""

    def __init__(self, fetches: Fetches, access: AccessProfile, lock: RLock) -> None:
        self._fetches, self._lock = fetches, lock
        self._history = History(fetches, access)
        self.segments = Segments()
        self._known_last = add_last_segments(self.segments, fetches, access)
        self._last: OrderedDict[frozenset[str], _LastStates] = OrderedDict()
        self._timelines: OrderedDict[frozenset[str], Any] = OrderedDict()

    @property
    def depends_on_names(self) -> bool:
        """Whether several crawlers fetched, so that each has its own evidence."""
        return self._fetches.agents > 1

    def find_origins(self, urls: Any, threads: int) -> Any:
        """Return the number of each URL's origin."""
        return pa.array(self._fetches.index.find(urls, threads, origin_of))

    def find(self, origins: Any, seconds: Any, names: frozenset[str]) -> Any:
        """
        Return the segment of each row; null for a null URL.

        *seconds* are times, null where a time is not known; None: the last fetch of each origin.
        *names* are the product tokens of the crawler.
        """
        names = names if self.depends_on_names else frozenset()
        with self._lock:
            if seconds is None:
                return self._find_last(origins, names)
            return self._find_at(origins, seconds, names)

    def _find_last(self, origins: Any, names: frozenset[str]) -> Any:
        last = self._last.pop(names, None) or _LastStates(array("I", self._known_last))
        _keep(self._last, names, last)
        known, special = _set_aside(origins, len(last.numbers))
        found = last.column().take(known)
        unresolved = pc.fill_null(pc.equal(found, UNRESOLVED), False)
        if pc.any(unresolved).as_py():
            for origin in pc.unique(known.filter(unresolved)).to_pylist():
                period = self._history.last(origin, names)
                last.set(origin, self.segments.add(period))
            found = last.column().take(known)
        return _bring_back(found, special)

    def _find_at(self, origins: Any, seconds: Any, names: frozenset[str]) -> Any:
        timelines = self._timelines.pop(names, None)
        if timelines is None:
            timelines = _engine.engine.Timelines()
        _keep(self._timelines, names, timelines)
        for origin in timelines.missing(origins):
            periods = self._history.periods(origin, names)
            times = [period.start for period in periods]
            timelines.set(origin, times, [self.segments.add(period) for period in periods])
        found = pa.array(timelines.find(origins, seconds))
        # Null is a null URL, or a null time: what was in force then is not known.
        unknown = pc.and_(pc.is_null(found), pc.is_valid(origins))
        if pc.any(unknown).as_py():
            found = pc.if_else(unknown, pa.scalar(MISSING_RULES, pa.uint32()), found)
        _, special = _set_aside(found, len(self.segments))
        return _bring_back(found, special)


def _keep(kept: OrderedDict[frozenset[str], Any], names: frozenset[str], value: Any) -> None:
    kept[names] = value
    while len(kept) > _MAX_TOKEN_SETS:
        kept.popitem(last=False)


def _set_aside(numbers: Any, count: int) -> tuple[Any, Any]:
    """Return numbers below a count, null elsewhere; and where others are, or None if nowhere."""
    highest = pc.max(numbers).as_py()
    if highest is None or highest < count:
        return numbers, None
    return pc.if_else(pc.greater_equal(numbers, MISSING_RULES), None, numbers), numbers


def _bring_back(found: Any, special: Any) -> Any:
    """Return segments with those of URLs without a known origin."""
    if special is None:
        return found
    for number, segment in (
        (MISSING_RULES, MISSING_SEGMENT),
        (NO_ORIGIN_RULES, NO_ORIGIN_SEGMENT),
    ):
        mask = pc.equal(special, pa.scalar(number, pa.uint32()))
        mask = pc.fill_null(mask, False)
        found = pc.if_else(mask, pa.scalar(segment, pa.uint32()), found)
    return found
