"""
Site rows in partitions, so that all rows of a site are together in bounded memory.

Rows are kept in memory up to a limit. Beyond it they go to temporary files, compressed, one for
each partition of the origins; each is read back alone. So the memory of a survey does not depend on
the number of rows: only the files grow, and a partition is one 64th of them. The module does not
know the columns, except `origin`.
"""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow.compute as pc

from robotrules.bulk.arrow_support import pa

PARTITIONS = 64


class SitePartitions:
    """Batches by origin; a context manager that removes its files."""

    def __init__(self, memory_limit: int) -> None:
        self._limit = memory_limit
        self._buffer: list[Any] = []
        self._buffered = 0
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._writers: dict[int, Any] = {}
        self._schema: Any = None

    def __enter__(self) -> SitePartitions:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close_writers()
        if self._folder is not None:
            self._folder.cleanup()

    @property
    def is_on_disk(self) -> bool:
        """Whether rows were written to temporary files."""
        return self._folder is not None

    def add(self, batch: Any) -> None:
        """Add rows; the order of a site's rows is kept."""
        if not len(batch):
            return
        if self._schema is None:
            self._schema = batch.schema
        elif batch.schema != self._schema:
            raise ValueError(
                "batches of facts have different crawlers: make all with the same crawlers="
            )
        self._buffer.append(batch)
        self._buffered += batch.nbytes
        if self._buffered > self._limit:
            self._spill()

    def partitions(self) -> Iterator[Any]:
        """Yield tables; all rows of an origin are in one of them, in the order they were added."""
        if self._folder is None:
            if self._buffer:
                yield pa.Table.from_batches(self._buffer)
            return
        self._spill()
        self._close_writers()
        for number in range(PARTITIONS):
            path = self._path(number)
            if path.exists():
                with pa.OSFile(str(path)) as file, pa.ipc.open_stream(file) as reader:
                    yield reader.read_all()
                path.unlink()

    def _spill(self) -> None:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="robotrules-survey-")
        # One after the other, so that each is freed before the next is copied.
        self._buffer.reverse()
        self._buffered = 0
        while self._buffer:
            batch = self._buffer.pop()
            origins = batch.column("origin").to_pylist()
            numbers = pa.array([zlib.crc32(o.encode()) % PARTITIONS for o in origins], pa.int32())
            # A stable order keeps the rows of a site in the order they came.
            order = pc.sort_indices(
                pa.table({"part": numbers, "row": pa.array(range(len(batch)))}),
                sort_keys=[("part", "ascending"), ("row", "ascending")],
            )
            ordered = batch.take(order)
            start = 0
            counts = pc.value_counts(numbers.take(order))
            for item in counts.to_pylist():
                self._write(item["values"], ordered.slice(start, item["counts"]))
                start += item["counts"]

    def _write(self, number: int, batch: Any) -> None:
        if number not in self._writers:
            options = pa.ipc.IpcWriteOptions(compression="zstd")
            self._writers[number] = pa.ipc.new_stream(
                str(self._path(number)), batch.schema, options=options
            )
        self._writers[number].write_batch(batch)

    def _path(self, number: int) -> Path:
        assert self._folder is not None
        return Path(self._folder.name) / f"{number}.arrows"

    def _close_writers(self) -> None:
        for writer in self._writers.values():
            writer.close()
        self._writers.clear()
