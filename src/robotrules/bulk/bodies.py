"""
Bodies of a corpus: robots.txt files by number, each different one once.

A source returns the bodies of some numbers in one call. They are in memory, in a Parquet file of
which row groups are read on demand, or in a client's store. A body is bytes; this module parses
nothing. Sources are not safe for several threads: `Corpus` calls them with its lock.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import accumulate
from typing import Any, Protocol

from robotrules.bulk.arrow_support import pa
from robotrules.cache import Store, body_digest
from robotrules.errors import StoreError, TableError


class BodySource(Protocol):
    """Where the bodies of a corpus are."""

    def __len__(self) -> int: ...

    def size(self, number: int) -> int:
        """Return the size of a body in bytes."""

    def read(self, numbers: Sequence[int]) -> Iterator[tuple[int, bytes | None]]:
        """Yield bodies, in any order; None: the content is not known."""

    def close(self) -> None:
        """Close files."""


class MemoryBodies:
    """Bodies in memory, as Arrow arrays. Bodies that are added again get the same number."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._count = 0
        self._arrays: list[Any] = []
        # The number of the first body of each array.
        self._starts: list[int] = []

    def __len__(self) -> int:
        return self._count

    def add(self, bodies: Any) -> list[int | None]:
        """Return the number of each body of a large_binary array; null stays null."""
        numbers: list[int | None] = []
        known, first, new = self._numbers, len(self._numbers), []
        view = memoryview(bodies.buffers()[2] or b"").cast("B")
        offsets = memoryview(bodies.buffers()[1] or bytes(8)).cast("q")[bodies.offset :]
        valid = bodies.is_valid().to_pylist() if bodies.null_count else None
        for row in range(len(bodies)):
            if valid is not None and not valid[row]:
                numbers.append(None)
                continue
            digest = sha256(view[offsets[row] : offsets[row + 1]]).digest()
            number = known.get(digest)
            if number is None:
                number = known[digest] = len(known)
                new.append(row)
            numbers.append(number)
        self._count = len(known)
        if new:
            self._starts.append(first)
            self._arrays.append(bodies.take(pa.array(new, pa.int64())))
        return numbers

    def freeze(self) -> None:
        """Forget the digests: nothing will be added."""
        self._numbers = {}

    def _find(self, number: int) -> Any:
        at = bisect_right(self._starts, number) - 1
        return self._arrays[at][number - self._starts[at]]

    def size(self, number: int) -> int:
        """Return the size of a body in bytes."""
        return len(self._find(number).as_buffer())

    def read(self, numbers: Sequence[int]) -> Iterator[tuple[int, bytes | None]]:
        """Yield bodies."""
        for number in numbers:
            yield number, self._find(number).as_py()

    def close(self) -> None:
        """Nothing is open."""


class StoreBodies:
    """Bodies of a client's store, by digest. A body that the store has lost is not known."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._numbers: dict[str, int] = {}
        self._digests: list[str] = []
        self._sizes: list[int] = []

    def __len__(self) -> int:
        return len(self._digests)

    def add(self, digest: str, size: int) -> int:
        """Return the number of the body with this digest."""
        number = self._numbers.get(digest)
        if number is None:
            number = self._numbers[digest] = len(self._digests)
            self._digests.append(digest)
            self._sizes.append(size)
        return number

    def size(self, number: int) -> int:
        """Return the size of a body in bytes."""
        return self._sizes[number]

    def read(self, numbers: Sequence[int]) -> Iterator[tuple[int, bytes | None]]:
        """Yield bodies."""
        for number in numbers:
            digest = self._digests[number]
            try:
                body = self._store.body(digest)
            except StoreError:
                body = None
            yield number, body if body is not None and body_digest(body) == digest else None

    def close(self) -> None:
        """The caller closes the store."""


class ParquetBodies:
    """Bodies of a saved corpus: row groups are read on demand, and the last ones are kept."""

    def __init__(self, file: Any, path: str, rows: Any, sizes: Any, max_bytes: int) -> None:
        self._file, self._path = file, path
        # Of each body: the row that has it, and its size.
        self._rows, self._sizes = rows, sizes
        metadata = file.metadata
        counts = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
        self._starts = [0, *accumulate(counts)]
        self._max_bytes = max_bytes
        self._groups: OrderedDict[int, Any] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._rows)

    def size(self, number: int) -> int:
        """Return the size of a body in bytes."""
        size: int = self._sizes[number].as_py()
        return size

    def read(self, numbers: Sequence[int]) -> Iterator[tuple[int, bytes | None]]:
        """Yield bodies; each row group is read once."""
        rows = self._rows.take(pa.array(numbers, pa.int64())).to_pylist()
        for row, number in sorted(zip(rows, numbers, strict=True)):
            group = bisect_right(self._starts, row) - 1
            yield number, self._read_group(group)[row - self._starts[group]].as_py()

    def _read_group(self, group: int) -> Any:
        bodies = self._groups.get(group)
        if bodies is not None:
            self._groups.move_to_end(group)
            return bodies
        try:
            column = self._file.read_row_group(group, columns=["body"]).column(0)
        except (OSError, ValueError) as error:  # pyarrow's errors are subclasses
            raise TableError(
                f"{self._path}: the bodies of row group {group} cannot be read ({error}): the file "
                "is damaged; save the corpus again"
            ) from None
        bodies = column.combine_chunks()
        self._groups[group] = bodies
        self._bytes += bodies.nbytes
        while self._bytes > self._max_bytes and len(self._groups) > 1:
            _, oldest = self._groups.popitem(last=False)
            self._bytes -= oldest.nbytes
        return bodies

    def close(self) -> None:
        """Close the file."""
        self._groups.clear()
        self._file.close()
