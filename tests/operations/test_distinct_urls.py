"""Distinct URLs: exact counts, order, and failures of the disk."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules.operations import distinct_urls
from robotrules.operations.distinct_urls import DistinctUrls


def counted(distinct: DistinctUrls) -> list[tuple[bytes, int]]:
    """Return all URLs with their counts."""
    return [(one.url, one.times) for batch in distinct.batches() for one in batch]


@given(st.lists(st.lists(st.binary(max_size=3))), st.integers(0, 4), st.integers(1, 5))
def test_they_are_those_of_a_counter(given: list[list[bytes]], pending: int, batch: int) -> None:
    """Whatever is merged when; any bytes are a URL; equal counts are in the order of bytes."""
    with pytest.MonkeyPatch.context() as patched, DistinctUrls() as distinct:
        patched.setattr(distinct_urls, "MOST_PENDING", pending)
        patched.setattr(distinct_urls, "BATCH", batch)
        for urls in given:
            distinct.add(urls)
        expected = Counter(url for urls in given for url in urls)
        assert counted(distinct) == sorted(expected.items(), key=lambda one: (-one[1], one[0]))


def test_batches_of_long_urls_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their bytes are limited, and so is what waits to be merged."""
    monkeypatch.setattr(distinct_urls, "BATCH_OCTETS", 1000)
    monkeypatch.setattr(distinct_urls, "MOST_PENDING_OCTETS", 5000)
    with DistinctUrls() as distinct:
        distinct.add(b"%d" % n * 300 for n in range(10, 30))
        assert not distinct._pending
        assert max(map(len, distinct.batches())) == 2


def test_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Is an OSError that says what failed."""
    with DistinctUrls() as distinct:
        distinct._database.execute("PRAGMA max_page_count=2")
        distinct.add(b"/%d" % n for n in range(1000))
        with pytest.raises(OSError, match=r"the temporary database failed .database or disk is f"):
            list(distinct.batches())
