"""
Fetches of a corpus: which robots.txt was found at which time, in columns ordered by origin.

A fetch costs about 30 bytes beside its body. `FetchBuilder` takes batches of the normal form
(`robots_table`) or fetch records of a client, and `Fetches` has the result; both know nothing about
what a status means.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow.compute as pc

from robotrules import _engine
from robotrules.bulk.arrow_support import pa
from robotrules.bulk.bodies import BodySource, MemoryBodies, StoreBodies
from robotrules.bulk.robots_table import TIME
from robotrules.cache import FetchRecord, Store
from robotrules.client.stores.serialization import parse_record, serialize_record
from robotrules.errors import StoreError

FETCH_SCHEMA = pa.schema(
    [
        ("origin", pa.uint32()),
        ("status", pa.int16()),
        ("fetched_at", TIME),
        ("body", pa.int32()),
        ("complete", pa.bool_()),
        ("location", pa.string()),
        ("source", pa.dictionary(pa.int32(), pa.string())),
        ("record", pa.binary()),
    ]
)
"""`origin` and `body` are numbers; `record` is a client's fetch record, as stores keep it."""
# These statuses have no body, whatever was stored (RFC 9110 §15.3.5, §15.3.6).
_WITHOUT_BODY = (204, 205)


class FetchRow(NamedTuple):
    """One fetch of a robots.txt."""

    status: int | None
    time: float | None
    """Seconds since 1970; None: not known."""
    body: int | None
    complete: bool
    location: str | None
    record: FetchRecord | None


class Fetches:
    """The fetches of a corpus, ordered by the number of their origin and by time."""

    def __init__(self, table: Any, index: Any, bodies: BodySource, agents: int) -> None:
        self.columns = table.combine_chunks()
        self.index = index
        self.bodies = bodies
        self.agents = agents
        """The number of crawlers that fetched; tables do not name them, so it is 1."""
        self.has_records = bool(len(table)) and table.column("record").null_count < len(table)
        counts = pc.struct_field(pc.value_counts(_column(self.columns, "origin")), 1)
        self.counts = counts.cast(pa.uint32())
        ends = pc.cumulative_sum(counts)
        self._ends = ends
        self.last_rows = pc.subtract(ends, 1)
        """The last row of each origin."""

    def __len__(self) -> int:
        return len(self.columns)

    def column(self, name: str) -> Any:
        """Return a column as one array."""
        return _column(self.columns, name)

    def rows(self, origin: int) -> Iterator[FetchRow]:
        """Yield the fetches of an origin in chronological order; those without a time first."""
        end = self._ends[origin].as_py()
        start = end - self.counts[origin].as_py()
        part = self.columns.slice(start, end - start)
        columns = [_column(part, name).to_pylist() for name in ("status", "body", "complete")]
        ticks = _column(part, "fetched_at").cast(pa.int64()).to_pylist()
        records = _column(part, "record").to_pylist()
        locations = _column(part, "location").to_pylist()
        for row, tick in enumerate(ticks):
            status, body, complete = (column[row] for column in columns)
            record = None if records[row] is None else parse_record(records[row])
            time = None if tick is None else tick / 1_000_000
            if record is not None:
                time = record.at
            yield FetchRow(status, time, body, complete, locations[row], record)

    def find_origin(self, url: str, fallback: Any) -> int | None:
        """Return the number of a URL's origin; None if the corpus does not have it."""
        number: int = pa.array(self.index.find(pa.array([url]), 1, fallback))[0].as_py()
        return number if number < len(self.index) else None


def _column(table: Any, name: str) -> Any:
    column = table.column(name)
    if isinstance(column, pa.ChunkedArray):
        return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    return column


def _keep_files(status: Any, body: Any) -> Any:
    """Return the bodies that are robots.txt files: not those of errors and redirects."""
    is_file = pc.and_(pc.greater_equal(status, 200), pc.less(status, 300))
    # A 304 may come with the file that it confirms; it has no body of its own.
    has_copy = pc.and_(pc.equal(status, 304), pc.greater(pc.binary_length(body), 0))
    is_file = pc.fill_null(pc.or_kleene(is_file, has_copy), False)
    if not pc.all(is_file).as_py():
        body = pc.if_else(is_file, body, None)
    without = pc.is_in(status, pa.array(_WITHOUT_BODY, pa.int16()))
    if pc.any(without).as_py():
        body = pc.if_else(without, pa.scalar(b"", pa.large_binary()), body)
    return body


class FetchBuilder:
    """Collects fetches in any order."""

    def __init__(self) -> None:
        self._index = _engine.engine.OriginIndex()
        self._bodies = MemoryBodies()
        self._parts: list[Any] = []

    def add(self, batch: Any) -> None:
        """Add a batch of the normal form."""
        body = _keep_files(batch.column("status"), batch.column("body"))
        columns = [
            pa.array(self._index.add(batch.column("origin"))),
            batch.column("status"),
            batch.column("fetched_at"),
            pa.array(self._bodies.add(body), pa.int32()),
            batch.column("complete"),
            batch.column("location"),
            batch.column("source").dictionary_encode(),
            pa.nulls(len(batch), pa.binary()),
        ]
        self._parts.append(pa.RecordBatch.from_arrays(columns, schema=FETCH_SCHEMA))

    def finish(self) -> Fetches:
        """Return the fetches; the builder is used up."""
        self._bodies.freeze()
        return sort_fetches(self._parts, self._index, self._bodies, 1)


def sort_fetches(parts: list[Any], index: Any, bodies: BodySource, agents: int) -> Fetches:
    """Return fetches in the order of their origins and times."""
    table = pa.Table.from_batches(parts, FETCH_SCHEMA).unify_dictionaries()
    # A fetch without a time comes first.
    ticks = pc.fill_null(table.column("fetched_at").cast(pa.int64()), -(2**63))
    keys = pa.table({"origin": table.column("origin"), "ticks": ticks})
    sort_keys = [("origin", "ascending"), ("ticks", "ascending")]
    order = pc.sort_indices(keys, sort_keys=sort_keys)
    return Fetches(table.take(order), index, bodies, agents)


def read_store(store: Store, keep: Any) -> Fetches:
    """Return the fetch records of a store that *keep* accepts; bodies are read on demand."""
    index, bodies = _engine.engine.OriginIndex(), StoreBodies(store)
    agents: set[str] = set()
    parts, rows = [], []
    for fetch_record in store.fetch_records():
        if not keep(fetch_record):
            continue
        agents.add(fetch_record.agent)
        rows.append(_record_row(fetch_record, bodies))
        if len(rows) == 4096:
            parts.append(_make_record_batch(rows, index))
            rows = []
    parts.append(_make_record_batch(rows, index))
    return sort_fetches(parts, index, bodies, len(agents))


def _record_row(fetch_record: FetchRecord, bodies: StoreBodies) -> tuple[Any, ...]:
    number = None
    if fetch_record.digest is not None and fetch_record.may_store:
        number = bodies.add(fetch_record.digest, fetch_record.size)
    source = fetch_record.provenance.archive if fetch_record.provenance else None
    try:
        tick = round(fetch_record.at * 1_000_000)
        tick = min(max(tick, -(2**62)), 2**62)
    except (OverflowError, ValueError):
        raise StoreError(
            f"the store has a fetch of {fetch_record.origin} without a time: {fetch_record.at}"
        ) from None
    row = fetch_record.origin, fetch_record.status, tick, number, fetch_record.complete
    return *row, None, source, serialize_record(fetch_record)


def _make_record_batch(rows: list[tuple[Any, ...]], index: Any) -> Any:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(FETCH_SCHEMA)
    arrays = [pa.array(index.add(pa.array(columns[0], pa.string())))]
    for field, values in list(zip(FETCH_SCHEMA, columns, strict=True))[1:]:
        if field.name == "fetched_at":
            arrays.append(pa.array(values, pa.int64()).cast(TIME))
        else:
            arrays.append(pa.array(values, field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=FETCH_SCHEMA)
