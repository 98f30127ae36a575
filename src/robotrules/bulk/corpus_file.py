"""
Saved corpora: a Parquet file with one row a fetch, ordered by origin.

It has the columns of the normal form (`robots_table.SCHEMA`) and a few more. A body is stored once,
in the first row that has it; other rows name that row. Opening a file reads everything but the
bodies, which are read by row group when a URL needs them. Pages have checksums, so damage is an
error and never another file.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from robotrules import _engine
from robotrules.bulk.arrow_support import pa
from robotrules.bulk.bodies import ParquetBodies
from robotrules.bulk.fetches import FETCH_SCHEMA, Fetches
from robotrules.bulk.robots_table import TIME
from robotrules.errors import TableError

FORMAT = b"robotrules.corpus"
"""The key of the file's metadata that marks a saved corpus, with the version of the format."""
_VERSION = b"1"
_AGENTS = b"robotrules.agents"
_SCHEMA = pa.schema(
    [
        ("origin", pa.string()),
        ("status", pa.int16()),
        ("fetched_at", TIME),
        ("complete", pa.bool_()),
        ("location", pa.string()),
        ("source", pa.dictionary(pa.int32(), pa.string())),
        ("record", pa.binary()),
        # The row that has the body, and its size; null if there is no body.
        ("body_row", pa.int64()),
        ("size", pa.int64()),
        # The SHA-256 of the body and the body itself, in that row only.
        ("digest", pa.binary(32)),
        ("body", pa.large_binary()),
    ]
)
# Rows and bytes of bodies in a row group: a single body is read with its row group.
_GROUP_ROWS, _GROUP_BYTES = 8_192, 2 * 1024 * 1024
_CACHED_BYTES = 32 * 1024 * 1024


def write_fetches(fetches: Fetches, path: str | os.PathLike[str]) -> None:
    """Write a corpus; the file appears under its name when it is complete."""
    whole = os.path.realpath(os.fspath(path))
    number, temporary = tempfile.mkstemp(prefix=".robotrules-", dir=os.path.dirname(whole))
    try:
        with open(number, "wb") as file:
            metadata = {FORMAT: _VERSION, _AGENTS: str(fetches.agents).encode()}
            with pq.ParquetWriter(
                file,
                _SCHEMA.with_metadata(metadata),
                compression="zstd",
                use_dictionary=["source"],
                write_page_checksum=True,
            ) as writer:
                for batch in _make_batches(fetches):
                    writer.write_batch(batch, row_group_size=_GROUP_ROWS)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, whole)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _make_batches(fetches: Fetches) -> Iterator[Any]:
    """Yield row groups of a saved corpus."""
    index = fetches.index
    names = pa.array([index.origin(number) for number in range(len(index))], pa.string())
    ranks = pc.rank(names, tiebreaker="first")
    order = pc.sort_indices(
        pa.table(
            {
                "rank": ranks.take(fetches.column("origin")),
                "row": pa.array(range(len(fetches)), pa.int64()),
            }
        ),
        sort_keys=[("rank", "ascending"), ("row", "ascending")],
    )
    body_rows: dict[int, int] = {}
    bodies = fetches.column("body").take(order).to_pylist()
    start = 0
    while start < len(order) or start == 0:
        end, size, needed = start, 0, []
        while end < len(order) and end - start < _GROUP_ROWS and size < _GROUP_BYTES:
            body = bodies[end]
            if body is not None and body not in body_rows:
                body_rows[body] = end
                needed.append(body)
                size += fetches.bodies.size(body)
            end += 1
        contents = dict(fetches.bodies.read(needed))
        lost = [body for body in needed if contents[body] is None]
        for body in lost:
            body_rows[body] = -1
        rows = fetches.columns.take(order.slice(start, end - start))
        yield _make_group(rows, start, bodies[start:end], body_rows, contents, names, fetches)
        start = end
        if not len(order):
            break


def _make_group(
    rows: Any,
    start: int,
    bodies: list[int | None],
    body_rows: dict[int, int],
    contents: dict[int, bytes | None],
    names: Any,
    fetches: Fetches,
) -> Any:
    # A body that the source has lost is saved as missing.
    known = [body if body is not None and body_rows[body] >= 0 else None for body in bodies]
    here = [
        contents[body] if body is not None and body_rows[body] == start + row else None
        for row, body in enumerate(known)
    ]
    rows = rows.combine_chunks()
    batch = rows.to_batches()[0] if len(rows) else None
    column = (
        batch.column
        if batch is not None
        else lambda name: pa.nulls(0, FETCH_SCHEMA.field(name).type)
    )
    arrays = [
        names.take(column("origin")),
        *(column(name) for name in ("status", "fetched_at", "complete", "location")),
        *(column(name) for name in ("source", "record")),
        pa.array([None if body is None else body_rows[body] for body in known], pa.int64()),
        pa.array(
            [None if body is None else fetches.bodies.size(body) for body in known], pa.int64()
        ),
        pa.array([None if body is None else sha256(body).digest() for body in here], pa.binary(32)),
        pa.array(here, pa.large_binary()),
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def read_fetches(path: str | os.PathLike[str]) -> Fetches:
    """Return the fetches of a saved corpus, without reading bodies."""
    name = os.fspath(path)
    try:
        file = pq.ParquetFile(name, page_checksum_verification=True, memory_map=False)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise TableError(
            f"{name} is not a Parquet file, or it is damaged ({error}): pass a file that "
            "Corpus.save() wrote"
        ) from None
    try:
        return _read_fetches(file, name)
    except BaseException:
        file.close()
        raise


def _read_fetches(file: Any, name: str) -> Fetches:
    metadata = file.schema_arrow.metadata or {}
    version = metadata.get(FORMAT)
    if version is None:
        raise TableError(
            f"{name} is not a saved corpus: read a table of robots.txt files with "
            "Corpus.from_table(pyarrow.parquet.read_table(path))"
        )
    if version != _VERSION or file.schema_arrow.names != _SCHEMA.names:
        raise TableError(
            f"{name} was saved by another version of robotrules (format "
            f"{version.decode('ascii', 'replace')}): save the corpus again"
        )
    try:
        table = file.read(columns=_SCHEMA.names[:-2])
    except (OSError, ValueError) as error:
        raise TableError(f"{name} is damaged ({error}): save the corpus again") from None
    index = _engine.engine.OriginIndex()
    origins = pa.array(index.add(table.column("origin")))
    # A body has the number of its place among the rows that have one.
    body_rows = table.column("body_row").combine_chunks()
    own = pc.equal(body_rows, pa.array(range(len(table)), pa.int64()))
    holders = pc.indices_nonzero(pc.fill_null(own, False)).cast(pa.int64())
    numbers = pc.index_in(body_rows, holders)
    lost = pc.and_(pc.is_valid(body_rows), pc.is_null(numbers))
    if pc.any(lost).as_py():
        raise TableError(f"{name} is damaged (a row names a body that is not there): save it again")
    bodies = ParquetBodies(
        file,
        name,
        holders,
        table.column("size").combine_chunks().take(holders),
        _CACHED_BYTES,
    )
    columns = {
        "origin": origins,
        "status": table.column("status"),
        "fetched_at": table.column("fetched_at"),
        "body": numbers.cast(pa.int32()),
        "complete": table.column("complete"),
        "location": table.column("location"),
        "source": table.column("source"),
        "record": table.column("record"),
    }
    fetches = pa.table(columns).select(FETCH_SCHEMA.names).cast(FETCH_SCHEMA)
    return Fetches(fetches.unify_dictionaries(), index, bodies, int(metadata.get(_AGENTS, b"1")))
