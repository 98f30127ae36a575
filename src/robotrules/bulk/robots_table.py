"""
Tables of robots.txt files: the tables that users have, in one normal form.

A row is one fetch of a robots.txt: its origin, status, body and time. Tables differ in the types
and names of their columns; `normalize()` returns batches with `SCHEMA`, and a `Reject` for each row
that cannot be used. Columns that are clean already are converted without a loop over their rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

import pyarrow.compute as pc

from robotrules import _engine
from robotrules.access import resolve_location
from robotrules.bulk.arrow_support import pa
from robotrules.bulk.rejects import Reject
from robotrules.errors import TableError
from robotrules.http.origins import origin_of, parse_origin, robots_url

__all__ = [
    *("SCHEMA", "TIME", "as_table", "find_column", "is_text", "is_time", "normalize"),
    "read_times",
]

TIME = pa.timestamp("us", tz="UTC")

SCHEMA = pa.schema(
    [
        ("origin", pa.string()),
        ("url", pa.string()),
        ("status", pa.int16()),
        ("body", pa.large_binary()),
        ("fetched_at", TIME),
        ("location", pa.string()),
        ("complete", pa.bool_()),
        ("source", pa.string()),
    ]
)
"""The normal form: one row a fetch. Every column may be null, except `origin` and `complete`."""

# Other names of columns; `columns=` has the rest.
_OTHER_NAMES = {"url": ("robotstxt_url",)}
_MIN_STATUS, _MAX_STATUS = 100, 999
# The years 1 to 9999, which `datetime` can hold, in seconds since 1970.
_MIN_TIME, _MAX_TIME = -62_135_596_800, 253_402_300_799
_MICROSECOND = 1_000_000
# How much of a wrong value a reject quotes.
_MAX_QUOTED = 120
_ISO_8601 = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?"
    r"(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2})?$"
)
# An absolute URL that needs no work: a host in lower case, no port, no userinfo, no fragment.
_NORMAL_LOCATION = r'^https?://[a-z0-9._-]+/[!"$-~]*$'
# Rows for one batch of the output.
_BATCH_ROWS = 65_536


def normalize(
    data: Any, *, columns: Mapping[str, str] | None = None, source: str = ""
) -> Iterator[tuple[pa.RecordBatch, list[Reject]]]:
    """
    Yield the rows of a table in the normal form, in batches, each with its rejects.

    *data* is a table, a batch, or another object with `__arrow_c_stream__` or `__arrow_c_array__`.
    It needs a column `origin` or `url` (or `robotstxt_url`) with an origin, a URL or a bare host
    (then https). `status` is a number or its text; null means no response. `body` is text or bytes;
    a body without a status has status 200. `fetched_at` is a timestamp (UTC if it has no zone), a
    date, ISO 8601 text, or seconds since 1970. `location` is the target of a redirect, `complete`
    is false if the body was truncated, and `source` names the file that the row came from.

    *columns* gives the names of other columns, such as `{"body": "content"}`. Missing columns are
    null. A row without an origin, or with a wrong status or time, is a reject.
    """
    table = as_table(data)
    names = _find_names(table.schema.names, columns or {})
    _vet_types(table.schema, names)
    return _normalize_batches(table, names, source)


def as_table(data: Any) -> pa.Table:
    """Return a table, without a copy; data that is not a table raises a TypeError."""
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return pa.table(data)
    raise TypeError(
        "a table is a pyarrow.Table or an object with __arrow_c_stream__ (Polars, DuckDB, pandas)"
        f", not {type(data).__name__}: pass pyarrow.table({{...}})"
    )


def find_column(names: list[str], wanted: str, use: str) -> int:
    """Return the position of a column; if it is missing or there are two, raise a TableError."""
    count = names.count(wanted)
    if count == 1:
        return names.index(wanted)
    listed = ", ".join(names[:30]) or "no columns"
    if count:
        raise TableError(f"{count} columns are called {wanted!r} ({use}): rename one of them")
    raise TableError(f"there is no column {wanted!r} ({use}): the table has {listed}")


def _find_names(present: list[str], columns: Mapping[str, str]) -> dict[str, str]:
    """Return the name of each column of the normal form that the table has."""
    names: dict[str, str] = {}
    for name, own in columns.items():
        if name not in SCHEMA.names:
            raise TableError(
                f"columns= has the unknown name {name!r}: use {', '.join(SCHEMA.names)}"
            )
        find_column(present, own, f"columns[{name!r}]")
        names[name] = own
    taken = set(names.values())
    for name in SCHEMA.names:
        spellings = (name, *_OTHER_NAMES.get(name, ()))
        found = [text for text in spellings if text in present and text not in taken]
        if name not in names and found:
            find_column(present, found[0], f"the column {name}")
            names[name] = found[0]
    if "origin" not in names and "url" not in names:
        listed = ", ".join(present[:30]) or "no columns"
        raise TableError(
            "a table of robots.txt files has a column 'origin' or 'url'; this one has "
            f"{listed}: rename one, or pass columns={{'origin': ...}}"
        )
    return names


def _vet_types(schema: pa.Schema, names: Mapping[str, str]) -> None:
    """Raise a TableError if a column has a type that none of its values could have."""
    kinds: dict[str, tuple[Callable[[pa.DataType], bool], str]] = {
        **dict.fromkeys(("origin", "url", "body", "location", "source"), (is_text, "text")),
        "status": (lambda kind: _is_number(kind) or is_text(kind), "a number or text"),
        "fetched_at": (is_time, "a timestamp, a date, ISO 8601 text or seconds since 1970"),
        "complete": (pa.types.is_boolean, "bool"),
    }
    for name, own in names.items():
        kind = schema.field(own).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        fits, text = kinds[name]
        if not pa.types.is_null(kind) and not fits(kind):
            raise TableError(
                f"column {own!r} has the type {kind}; {name} is {text}: cast it, or pass "
                f"columns={{{name!r}: ...}}"
            )


def is_text(kind: pa.DataType) -> bool:
    """Tell whether a column of this type has text or bytes."""
    types = pa.types
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_string_view(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_binary_view(kind)
    )


def _is_number(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def is_time(kind: pa.DataType) -> bool:
    """Tell whether a column of this type may have times."""
    is_time = pa.types.is_timestamp(kind) or pa.types.is_date(kind)
    return is_time or is_text(kind) or _is_number(kind)


# --- Batches --------------------------------------------------------------------------------------


class _Column(NamedTuple):
    """A converted column, and the rows that cannot be converted."""

    values: pa.Array
    wrong: pa.Array | None = None
    """True where a value cannot be used; None: nowhere."""
    reason: str = ""


def _normalize_batches(
    table: pa.Table, names: Mapping[str, str], source: str
) -> Iterator[tuple[pa.RecordBatch, list[Reject]]]:
    row = 0
    for batch in table.select(list(names.values())).to_batches(max_chunksize=_BATCH_ROWS):
        given = {name: batch.column(number) for number, name in enumerate(names)}
        yield _normalize_batch(given, len(batch), row, source)
        row += len(batch)


def _normalize_batch(
    given: Mapping[str, pa.Array], rows: int, first: int, source: str
) -> tuple[pa.RecordBatch, list[Reject]]:
    status = _read_status(given.get("status"), rows)
    body = _read_body(given.get("body"), rows)
    values = _join_status_and_body(status.values, body, "status" in given)
    url = _read_text(given.get("url"), rows)
    origin = _read_origins(
        _read_octets(given.get("origin"), rows), _read_octets(given.get("url"), rows)
    )
    fetched_at = _read_times(given.get("fetched_at"), rows)
    names = _read_text(given.get("source"), rows)
    if source:
        names = pc.fill_null(names, source)
    complete = _decode(given.get("complete"), pa.bool_(), rows)
    columns = [
        origin.values,
        url,
        values[0],
        values[1],
        fetched_at.values,
        _read_locations(given.get("location"), values[0], url, origin.values),
        pc.fill_null(complete, True),
        names,
    ]
    batch = pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
    wrong = {
        column.reason: (column.wrong, given.get(name))
        for name, column in (("origin", origin), ("status", status), ("fetched_at", fetched_at))
        if column.wrong is not None
    }
    if not wrong:
        return batch, []
    reasons = [""] * rows
    for reason, (mask, own) in wrong.items():
        for number in pc.indices_nonzero(mask).to_pylist():
            value = _quote(own, number) if own is not None else _quote(given.get("url"), number)
            reasons[number] = reasons[number] or reason.format(value)
    rejects = [
        Reject(names[number].as_py() or source, f"row {first + number + 1}", reason)
        for number, reason in enumerate(reasons)
        if reason
    ]
    kept = pa.array([not reason for reason in reasons], pa.bool_())
    return batch.filter(kept), rejects


def _quote(column: pa.Array | None, number: int) -> str:
    if column is None:
        return "None"
    value = column[number]
    try:
        text = repr(value.as_py())
    except (ValueError, OverflowError):  # a time that Python cannot hold, text that is not UTF-8
        text = str(value.cast(pa.int64())) if pa.types.is_temporal(value.type) else "…"
    return text if len(text) <= _MAX_QUOTED else f"{text[:_MAX_QUOTED]}…"


def _decode(column: pa.Array | None, kind: pa.DataType, rows: int) -> pa.Array:
    """Return a column with its type, dictionaries decoded; nulls if it is missing."""
    if column is None or pa.types.is_null(column.type):
        return pa.nulls(rows, kind)
    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    return column


def _read_octets(column: pa.Array | None, rows: int) -> pa.Array:
    return _decode(column, pa.large_binary(), rows).cast(pa.large_binary())


def _read_text(column: pa.Array | None, rows: int) -> pa.Array:
    """Return text as strings; bytes that are not UTF-8 are percent-encoded."""
    octets = _read_octets(column, rows)
    try:
        return octets.cast(pa.string())  # checks that it is UTF-8
    except pa.ArrowInvalid:
        values = octets.to_pylist()
        return pa.array(
            [None if value is None else _to_text(value) for value in values], pa.string()
        )


def _to_text(octets: bytes) -> str:
    text = octets.decode("utf-8", "surrogateescape")
    return re.sub("[\udc80-\udcff]", lambda found: f"%{ord(found[0]) - 0xDC00:02X}", text)


# --- Columns --------------------------------------------------------------------------------------


def _find_origins(octets: pa.Array) -> pa.Array:
    engine = _engine.engine
    if not hasattr(engine, "origins_column"):
        engine = _engine.pure
    return pa.array(engine.origins_column(octets, 1, origin_of))


def _read_origins(origin: pa.Array, url: pa.Array) -> _Column:
    """Return origins from a column of origins or, where that is null, of URLs."""
    octets = pc.coalesce(origin, url)
    origins = _find_origins(octets)
    if origins.null_count:
        origins = pc.coalesce(origins, _find_origins(_as_bare_hosts(octets)))
    # What is left is probably not an origin; the function that decides is the same everywhere.
    odd = pc.and_(pc.is_null(origins), pc.is_valid(octets))
    if pc.any(odd).as_py():
        others = [_parse_origin(value) for value in octets.filter(odd).to_pylist()]
        origins = pc.replace_with_mask(origins, odd, pa.array(others, pa.string()))
    if not origins.null_count:
        return _Column(origins)
    return _Column(origins, pc.is_null(origins), "no origin in {}: pass a URL or a host")


@lru_cache(maxsize=1024)
def _parse_origin(octets: bytes) -> str | None:
    return parse_origin(octets.decode("utf-8", "surrogateescape"))


def _as_bare_hosts(octets: pa.Array) -> pa.Array:
    """Return hosts as URLs, as `http.origins.parse_origin` reads them; null if not a bare host."""
    trimmed = pc.replace_substring_regex(
        octets, pattern=rb"^[ \t\r\n]+|[ \t\r\n]+$", replacement=b""
    )
    is_other = pc.or_(
        pc.match_substring(trimmed, "://"), pc.match_substring_regex(trimmed, r"^[^/?#]*@")
    )
    bare = pc.if_else(is_other, None, trimmed)
    scheme, joint = pa.scalar(b"https://", pa.large_binary()), pa.scalar(b"", pa.large_binary())
    return pc.binary_join_element_wise(scheme, bare, joint)


def _read_status(column: pa.Array | None, rows: int) -> _Column:
    given = _decode(column, pa.int64(), rows)
    unreadable = None
    if is_text(given.type):
        text = pc.utf8_trim_whitespace(_read_text(given, rows))
        is_number = pc.match_substring_regex(text, r"^[0-9]{1,4}$")
        unreadable = pc.and_(pc.invert(is_number), pc.not_equal(text, ""))
        given = pc.if_else(is_number, text, None).cast(pa.int64())
    elif not pa.types.is_integer(given.type):
        numbers = pc.cast(given, pa.float64(), safe=False)
        numbers = pc.if_else(pc.is_nan(numbers), None, numbers)
        unreadable = pc.not_equal(pc.floor(numbers), numbers)
        numbers = pc.max_element_wise(
            pc.min_element_wise(numbers, 9999, skip_nulls=False), -1, skip_nulls=False
        )
        given = numbers.cast(pa.int64(), safe=False)
    given = given.cast(pa.int64(), safe=False)
    is_usable = pc.and_(pc.greater_equal(given, _MIN_STATUS), pc.less_equal(given, _MAX_STATUS))
    wrong = pc.fill_null(pc.invert(is_usable), False)
    if unreadable is not None:
        wrong = pc.or_(wrong, pc.fill_null(unreadable, False))
    if not pc.any(wrong).as_py():
        return _Column(given.cast(pa.int16()))
    values = pc.if_else(wrong, None, given).cast(pa.int16())
    return _Column(values, wrong, "{} is not an HTTP status from 100 to 999")


def _read_body(column: pa.Array | None, rows: int) -> pa.Array:
    return _read_octets(column, rows)


def _join_status_and_body(
    status: pa.Array, body: pa.Array, has_status: bool
) -> tuple[pa.Array, pa.Array]:
    """
    Return both, so that a body without a status has status 200.

    In a table with a column of statuses, an empty body without a status is a failed fetch, which
    text formats cannot distinguish from null: it must not become a file that allows everything.
    """
    without_status = pc.is_null(status)
    if has_status:
        is_empty = pc.and_(without_status, pc.equal(pc.binary_length(body), 0))
        if pc.any(is_empty).as_py():
            body = pc.if_else(pc.fill_null(is_empty, False), None, body)
    is_success = pc.and_(without_status, pc.is_valid(body))
    if pc.any(is_success).as_py():
        status = pc.if_else(is_success, pa.scalar(200, pa.int16()), status)
    return status, body


def _read_locations(
    column: pa.Array | None, status: pa.Array, url: pa.Array, origin: pa.Array
) -> pa.Array:
    """Return absolute targets of redirects; null for other statuses and unusable targets."""
    location = _read_text(column, len(status))
    is_redirect = pc.and_(pc.greater_equal(status, 300), pc.less(status, 400))
    location = pc.if_else(pc.fill_null(is_redirect, False), location, None)
    is_relative = pc.invert(pc.match_substring_regex(location, _NORMAL_LOCATION))
    if not pc.any(is_relative).as_py():
        return location
    values = location.to_pylist()
    for number in pc.indices_nonzero(pc.fill_null(is_relative, False)).to_pylist():
        start = url[number].as_py() or ""
        if origin_of(start) is None:
            start = robots_url(origin[number].as_py() or "")
        values[number] = _resolve(start, values[number])
    return pa.array(values, pa.string())


def _resolve(url: str, location: str) -> str | None:
    try:
        return resolve_location(url, location)
    except ValueError:  # urllib: brackets that are not an address
        return None


def read_times(column: pa.Array) -> pa.Array:
    """Return times of any type as `TIME`; null where a value is not a time."""
    return _read_times(column, len(column)).values


def _read_times(column: pa.Array | None, rows: int) -> _Column:
    given = _decode(column, TIME, rows)
    kind = given.type
    if is_text(kind):
        return _read_time_text(_read_text(given, rows))
    if _is_number(kind):
        return _read_epoch(given)
    try:
        if pa.types.is_date(kind):
            given = given.cast(pa.timestamp("s" if pa.types.is_date32(kind) else "ms"))
        # Without a zone the time is UTC.
        times = given.cast(TIME, safe=False) if given.type.unit == "ns" else given.cast(TIME)
    except pa.ArrowInvalid:  # a time that microseconds cannot hold
        return _read_each_time(given.cast(pa.int64()).cast(pa.float64(), safe=False), given)
    ticks = times.cast(pa.int64())
    return _vet_times(times, ticks)


def _vet_times(times: pa.Array, ticks: pa.Array) -> _Column:
    """Return times within the years 1 to 9999; *ticks* are the microseconds."""
    wrong = pc.or_(
        pc.less(ticks, _MIN_TIME * _MICROSECOND), pc.greater(ticks, _MAX_TIME * _MICROSECOND)
    )
    if not pc.any(wrong).as_py():
        return _Column(times)
    wrong = pc.fill_null(wrong, False)
    return _Column(pc.if_else(wrong, None, times), wrong, _WRONG_TIME)


_WRONG_TIME = "{} is not a time: use a timestamp, ISO 8601 text or seconds since 1970"


def _read_each_time(numbers: pa.Array, given: pa.Array) -> _Column:
    """Return times of which some are far out of range, by their unit."""
    scale = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[given.type.unit]
    return _read_epoch(pc.divide(numbers, scale))


def _read_epoch(given: pa.Array) -> _Column:
    """Return times from seconds since 1970."""
    seconds = pc.cast(given, pa.float64(), safe=False)
    seconds = pc.if_else(pc.is_nan(seconds), None, seconds)
    wrong = pc.fill_null(pc.or_(pc.less(seconds, _MIN_TIME), pc.greater(seconds, _MAX_TIME)), False)
    usable = pc.if_else(wrong, None, seconds)
    if pa.types.is_integer(given.type):
        ticks = pc.multiply(pc.if_else(wrong, None, given).cast(pa.int64()), _MICROSECOND)
    else:
        ticks = pc.round(pc.multiply(usable, float(_MICROSECOND))).cast(pa.int64())
    times = ticks.cast(TIME)
    if not pc.any(wrong).as_py():
        return _Column(times)
    return _Column(times, wrong, _WRONG_TIME)


def _read_time_text(text: pa.Array) -> _Column:
    """Return times from ISO 8601 text."""
    text = pc.utf8_trim_whitespace(text)
    text = pc.if_else(pc.equal(text, ""), None, text)
    zones = pc.struct_field(pc.extract_regex(text, pattern=_ISO_8601), [0])
    if not pc.any(pc.and_(pc.is_valid(text), pc.is_null(zones))).as_py():
        # All have the usual form. Arrow reads text with and without a zone as two types.
        without = pc.equal(zones, "")
        try:
            times = pc.if_else(without, pc.binary_join_element_wise(text, "Z", ""), text).cast(TIME)
        except pa.ArrowInvalid:  # such as the month 13
            pass
        else:
            return _vet_times(times, times.cast(pa.int64()))
    known: dict[str | None, datetime | None] = {None: None}
    for value in pc.unique(text).to_pylist():
        if value is not None:
            known[value] = _parse_time(value)
    values = text.to_pylist()
    times = pa.array([known[value] for value in values], TIME)
    wrong = pc.and_(pc.is_valid(text), pc.is_null(times))
    return _Column(times, wrong, _WRONG_TIME)


def _parse_time(text: str) -> datetime | None:
    try:
        time = datetime.fromisoformat(text)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
