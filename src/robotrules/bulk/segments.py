"""
Segments: periods of origins by number, in columns that whole batches are looked up in.

A segment is what a row needs to know about the state that decides it. Rows get the number of their
segment, and `Segments.take()` turns numbers into columns without a loop over rows.
"""

from __future__ import annotations

from array import array
from math import isfinite
from typing import Any

import pyarrow.compute as pc

from robotrules.access import AccessProfile, AccessState
from robotrules.bulk.arrow_support import pa
from robotrules.bulk.fetches import Fetches
from robotrules.bulk.robots_table import TIME
from robotrules.bulk.timeline import (
    ACCESS_NAMES,
    CONSTANTS,
    MISSING_ACCESS,
    MISSING_RULES,
    NO_ORIGIN_RULES,
    StatePeriod,
    StatusClasses,
)

# The first two segments: no file is known, and there is no origin.
MISSING_SEGMENT, NO_ORIGIN_SEGMENT = 0, 1
UNRESOLVED = 2**32 - 1
"""An origin whose segment has to be computed."""
_NO_ACCESS = -1
_NO_TIME = -(2**63)
_STATUSES = 1000


class Segments:
    """A table of segments that grows."""

    def __init__(self) -> None:
        self._rules = array("I", [MISSING_RULES, NO_ORIGIN_RULES])
        self._access = array("b", [MISSING_ACCESS, _NO_ACCESS])
        self._fetched_at = array("q", [_NO_TIME, _NO_TIME])
        self._in_force = array("b", [0, 0])
        self._columns: dict[str, Any] = {}

    def __len__(self) -> int:
        return len(self._rules)

    def add(self, period: StatePeriod) -> int:
        """Add a segment, and return its number."""
        self._rules.append(period.rules)
        self._access.append(period.access)
        time = period.fetched_at
        known = time is not None and isfinite(time) and abs(time) < 2**42
        self._fetched_at.append(round(time * 1_000_000) if known and time is not None else _NO_TIME)
        self._in_force.append(period.in_force)
        self._columns = {}
        return len(self._rules) - 1

    def extend(self, rules: Any, access: Any, fetched_at: Any) -> None:
        """Add segments that are in force, from arrays without nulls."""
        self._rules.frombytes(_octets(rules, pa.uint32()))
        self._access.frombytes(_octets(access, pa.int8()))
        self._fetched_at.frombytes(_octets(fetched_at, pa.int64()))
        self._in_force.extend([1] * len(rules))
        self._columns = {}

    def _column(self, name: str) -> Any:
        """Return a column as an array; it is made again after segments were added."""
        if name not in self._columns:
            if name == "rules":
                column = _wrap(self._rules, pa.uint32())
            elif name == "access":
                codes = _wrap(self._access, pa.int8())
                codes = pc.if_else(pc.equal(codes, _NO_ACCESS), None, codes)
                column = pa.DictionaryArray.from_arrays(codes, pa.array(ACCESS_NAMES))
            elif name == "fetched_at":
                ticks = _wrap(self._fetched_at, pa.int64())
                column = pc.if_else(pc.equal(ticks, _NO_TIME), None, ticks).cast(TIME)
            else:
                column = pc.equal(_wrap(self._in_force, pa.int8()), 1)
            self._columns[name] = column
        return self._columns[name]

    def take(self, name: str, numbers: Any) -> Any:
        """Return `rules`, `access`, `fetched_at` or `in_force` of segments; null stays null."""
        return self._column(name).take(numbers)


def _octets(values: Any, kind: Any) -> bytes:
    values = values.cast(kind)
    if values.offset or values.null_count:
        values = pa.concat_arrays([values])
    width = kind.bit_width // 8
    octets: bytes = values.buffers()[1].to_pybytes() if len(values) else b""
    start = values.offset * width
    return octets[start : start + len(values) * width]


def _wrap(values: array[Any], kind: Any) -> Any:
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values.tobytes())])


def add_last_segments(segments: Segments, fetches: Fetches, access: AccessProfile) -> Any:
    """
    Add the segment of each origin's last fetch; return their numbers, by origin.

    Most origins need only their last row, and all of them are computed at once. Others are
    UNRESOLVED: redirects, a 304, a failure after other fetches, and what clients recorded.
    """
    count = len(fetches.index)
    if fetches.has_records or not count:
        return array("I", [UNRESOLVED]) * count
    last = fetches.columns.take(fetches.last_rows)
    statuses, bodies = (_one(last, name) for name in ("status", "body"))
    complete, times = _one(last, "complete"), _one(last, "fetched_at")
    constants, kinds = _classify_statuses(access)
    kind = pc.fill_null(kinds.take(statuses), _FAILURE)
    constant = pc.fill_null(constants.take(statuses), CONSTANTS.index("unreachable"))
    is_file, has_body = pc.equal(kind, _FILE), pc.is_valid(bodies)
    file = pc.add(
        pc.multiply(pc.fill_null(bodies, 0).cast(pa.uint32()), pa.scalar(2, pa.uint32())),
        pc.add(pc.invert(complete).cast(pa.uint32()), pa.scalar(len(CONSTANTS), pa.uint32())),
    )
    missing = pa.scalar(MISSING_RULES, pa.uint32())
    rules = pc.if_else(is_file, pc.if_else(has_body, file, missing), constant)
    states = [
        (pc.and_(is_file, has_body), AccessState.SUCCESS),
        (pc.equal(kind, _NO_FILE), AccessState.UNAVAILABLE),
        (pc.equal(kind, _FAILURE), AccessState.UNREACHABLE),
    ]
    codes = pa.scalar(MISSING_ACCESS, pa.int8())
    for mask, state in states:
        codes = pc.if_else(mask, pa.scalar(ACCESS_NAMES.index(state), pa.int8()), codes)
    again = pc.and_(pc.equal(kind, _FAILURE), pc.greater(fetches.counts, 1))
    resolved = pc.invert(pc.or_(pc.equal(kind, _FOLLOW), again))
    first = len(segments)
    numbers = pc.add(
        pc.cumulative_sum(resolved.cast(pa.uint32())), pa.scalar(first - 1, pa.uint32())
    )
    numbers = pc.if_else(resolved, numbers, pa.scalar(UNRESOLVED, pa.uint32()))
    ticks = pc.fill_null(times.cast(pa.int64()), _NO_TIME)
    segments.extend(rules.filter(resolved), codes.filter(resolved), ticks.filter(resolved))
    result = array("I")
    result.frombytes(_octets(numbers, pa.uint32()))
    return result


_FILE, _NO_FILE, _FAILURE, _FOLLOW = range(4)


def _classify_statuses(access: AccessProfile) -> tuple[Any, Any]:
    """Return the constant and the kind of each status."""
    classes = StatusClasses(access)
    constants, kinds = [], []
    for status in range(_STATUSES):
        state = classes.classify(status)
        kind = _FOLLOW
        if state is not None:
            kind = {AccessState.SUCCESS: _FILE, AccessState.UNAVAILABLE: _NO_FILE}.get(
                state, _FAILURE
            )
        constants.append(classes.constant(status, state or AccessState.UNREACHABLE))
        kinds.append(kind)
    return pa.array(constants, pa.uint32()), pa.array(kinds, pa.int8())


def _one(table: Any, name: str) -> Any:
    column = table.column(name)
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
