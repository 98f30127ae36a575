"""
Chunks: what a reader yields, a batch with its rejects and the position behind it.

A cursor is a plain value that JSON can hold. A reader that is started with it yields what follows,
in the same batches: so a run that was killed can continue, and its output is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from robotrules.bulk.rejects import Reject

Cursor = list[int]
"""A position in an input; its meaning belongs to the reader."""


class InputChunk(NamedTuple):
    """Some rows of an input."""

    batch: Any
    """A `pyarrow.RecordBatch`; it may be empty."""
    rejects: list[Reject]
    cursor: Cursor | None
    """Where the next chunk starts; None: reading cannot start there."""
    position: int
    """The bytes of the input that are read, for a progress bar."""
    numbers: Sequence[int] = ()
    """The number of each row of the batch in its file, from 1; empty: rows are not numbered."""
    noun: str = "row"
    """What the numbers count: `row` or `line`."""
