"""
Distinct URLs with the number of times that each was given, exact and in bounded memory.

An access log has a URL many times, and a set of its URLs may not fit into memory. They are counted
in a private SQLite database that has no name: it is in memory while it is small, then in a
temporary file that nobody else can open and that disappears with the process.
"""

from __future__ import annotations

import errno
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

__all__ = ["CountedUrl", "DistinctUrls"]

# URLs, and their bytes, that are counted in memory before they are merged into the database.
MOST_PENDING = 65_536
MOST_PENDING_OCTETS = 16 * 1024 * 1024
# The page cache of the database, in KiB.
CACHE_KIB = 32 * 1024
BATCH = 8_192
# URLs may have a megabyte: so many bytes end a batch.
BATCH_OCTETS = 8 * 1024 * 1024

_MERGE = (
    "INSERT INTO urls VALUES (?, ?) ON CONFLICT (url) DO UPDATE SET count = count + excluded.count"
)


class CountedUrl(NamedTuple):
    """A URL, and how often it was given."""

    url: bytes
    times: int


class DistinctUrls:
    """Counts URLs; a context manager. Raises OSError if the disk is full."""

    def __init__(self) -> None:
        self._pending: Counter[bytes] = Counter()
        self._octets = 0
        self._database = sqlite3.connect("", isolation_level=None)
        for setting in ("journal_mode=OFF", "synchronous=OFF", f"cache_size=-{CACHE_KIB}"):
            self._database.execute(f"PRAGMA {setting}")
        self._database.execute(
            "CREATE TABLE urls (url BLOB PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID"
        )

    def __enter__(self) -> DistinctUrls:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def add(self, urls: Iterable[bytes]) -> None:
        """Count some URLs."""
        some = list(urls)
        self._pending.update(some)
        self._octets += sum(map(len, some))
        if len(self._pending) > MOST_PENDING or self._octets > MOST_PENDING_OCTETS:
            self._merge()

    def _merge(self) -> None:
        # In order, so that neighbours in the database are written together.
        counted = sorted(self._pending.items())
        try:
            self._database.execute("BEGIN")
            self._database.executemany(_MERGE, counted)
            self._database.execute("COMMIT")
        except sqlite3.Error as error:
            raise OSError(errno.EIO, f"the temporary database failed ({error})") from None
        self._pending.clear()
        self._octets = 0

    def batches(self) -> Iterator[list[CountedUrl]]:
        """Yield all URLs, those that were given most often first, then in the order of bytes."""
        self._merge()
        batch: list[CountedUrl] = []
        octets = 0
        try:
            for row in self._database.execute("SELECT * FROM urls ORDER BY count DESC, url"):
                batch.append(CountedUrl(*row))
                octets += len(row[0])
                if len(batch) == BATCH or octets > BATCH_OCTETS:
                    yield batch
                    batch, octets = [], 0
        except sqlite3.Error as error:
            raise OSError(errno.EIO, f"the temporary database failed ({error})") from None
        if batch:
            yield batch
