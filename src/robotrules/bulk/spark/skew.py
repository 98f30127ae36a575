"""
Skew: origins with so many URLs that one task would do most of the work, and how they are split.

`HeavyOrigins` counts URLs by origin in each partition with bounded memory; the driver adds the
counts. An origin with a larger share of the URLs than a partition's fair share is split over
several salts: its URLs are spread over neighbouring buckets, and its robots.txt is copied to each
of them. The number of salts decides only where a row is processed, never what the answer is, so an
approximate count is good enough.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from math import ceil
from typing import Any

import pyarrow.compute as pc

from robotrules.bulk.arrow_support import pa

COUNTS = pa.schema([("origin", pa.string()), ("urls", pa.int64())])
# Distinct origins that a task counts before it drops the rarest half.
MAX_COUNTED = 200_000
# Origins that a task reports. A heavier origin than all of these is among them.
REPORTED = 2_000
# A salt carries at most this part of the fair share of a partition.
PART_OF_SHARE = 0.5


class HeavyOrigins:
    """A task that counts the URLs of the most frequent origins; for `mapInArrow`."""

    def __init__(self, origin: str) -> None:
        """Count the values of a column of origins."""
        self.origin = origin

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield one batch: origin and count, and the number of all rows with a null origin."""
        counts: Counter[str] = Counter()
        rows = 0
        for batch in batches:
            rows += batch.num_rows
            found = pc.value_counts(batch.column(self.origin).drop_null())
            values = found.field("values").to_pylist()
            counts.update(dict(zip(values, found.field("counts").to_pylist(), strict=True)))
            if len(counts) > MAX_COUNTED:
                counts = Counter(dict(counts.most_common(MAX_COUNTED // 2)))
        heavy = counts.most_common(REPORTED)
        yield pa.RecordBatch.from_arrays(
            [
                pa.array([None, *(origin for origin, _ in heavy)], pa.string()),
                pa.array([rows, *(count for _, count in heavy)], pa.int64()),
            ],
            schema=COUNTS,
        )


def choose_salts(counts: Mapping[str, int], rows: int, partitions: int) -> dict[str, int]:
    """Return the number of salts of each origin that needs more than one."""
    fair = max(rows / partitions, 1.0)
    salts = {
        origin: min(partitions, ceil(count / (fair * PART_OF_SHARE)))
        for origin, count in counts.items()
        if count > fair
    }
    return {origin: number for origin, number in salts.items() if number > 1}


def salts_column(origins: Any, salts: Mapping[str, int]) -> Any:
    """Return the number of salts for each origin of a column; 1 for most."""
    if not salts:
        return pa.repeat(pa.scalar(1, pa.int32()), len(origins))
    places = pc.index_in(origins, value_set=pa.array(list(salts), pa.string()))
    return pc.fill_null(pa.array(list(salts.values()), pa.int32()).take(places), 1)
