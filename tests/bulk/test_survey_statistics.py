"""Statistics of surveys: intervals with known values, exact tests, bounded counters."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotrules.bulk.surveys.statistics import (
    FrequencyCounter,
    Histogram,
    holm,
    mcnemar,
    paired_difference,
    wilson,
    z_value,
)

Z = z_value(0.95)


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [
        # Newcombe (1998), table I, method 3: 81/263, 15/148, 0/20, 1/29.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (10, 100, 0.0552, 0.1744),
        (20, 20, 0.8389, 1.0000),
    ],
)
def test_wilson_has_published_values(count: int, total: int, low: float, high: float) -> None:
    """The intervals are those of Newcombe's comparison of methods."""
    found = wilson(count, total, Z)
    assert found.share == count / total
    assert (round(found.low or 0, 4), round(found.high or 0, 4)) == (low, high)


def test_wilson_of_nothing_is_none() -> None:
    """Without sites there is no share."""
    assert wilson(0, 0, Z) == (None, None, None)


def test_a_finite_population_narrows_the_interval() -> None:
    """Half of a population gives an interval as of twice as many sites; all of it gives none."""
    free, half = wilson(10, 100, Z), wilson(10, 100, Z, population=199)
    assert half == pytest.approx(wilson(20, 200, Z), abs=1e-12)
    assert free.low is not None
    assert half.low is not None
    assert free.low < half.low < 0.1
    assert wilson(10, 100, Z, population=100) == (0.1, 0.1, 0.1)
    assert wilson(10, 100, Z, population=50) == (0.1, 0.1, 0.1)
    assert wilson(10, 100, Z, population=10**9) == pytest.approx(free, abs=1e-6)


@given(st.integers(1, 10**9), st.floats(0, 1), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_wilson_contains_the_share(total: int, part: float, confidence: float) -> None:
    """0 ≤ low ≤ share ≤ high ≤ 1, and the interval has a width."""
    found = wilson(round(total * part), total, z_value(confidence))
    assert found.share is not None
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low <= found.share <= found.high <= 1
    assert found.low < found.high


def test_mcnemar_mid_p() -> None:
    """Exact values: 2·(tail) − point of the binomial distribution with probability 1/2."""
    assert mcnemar(0, 0) is None
    assert mcnemar(5, 5) == pytest.approx(1.0)
    # 1 of 10: tail (1 + 10)/1024, point 10/1024.
    assert mcnemar(9, 1) == pytest.approx((2 * 11 - 10) / 1024)
    assert mcnemar(1, 9) == mcnemar(9, 1)
    # Near the limit the approximation continues the exact values.
    exact, approximate = mcnemar(540, 460), mcnemar(541, 461)
    assert exact == pytest.approx(approximate or 0, rel=0.02)


def test_paired_difference_of_bonett_and_price() -> None:
    """Their formula by hand: 12 started, 4 stopped, of 100."""
    found = paired_difference(12, 4, 100, Z)
    more, less = 13 / 102, 5 / 102
    half = Z * math.sqrt((more + less - (more - less) ** 2) / 102)
    assert found == pytest.approx((0.08, more - less - half, more - less + half))
    assert paired_difference(0, 0, 0, Z) == (None, None, None)


@given(st.integers(0, 500), st.integers(0, 500), st.integers(0, 500))
def test_a_paired_difference_is_in_its_interval(started: int, stopped: int, same: int) -> None:
    """-1 ≤ low ≤ difference ≤ high ≤ 1."""
    total = started + stopped + same
    if total:
        difference, low, high = paired_difference(started, stopped, total, Z)
        assert difference is not None
        assert low is not None
        assert high is not None
        assert -1 <= low <= difference <= high <= 1


def test_holm() -> None:
    """The example of the method: smallest times n, next times n − 1, never decreasing."""
    assert holm([0.01, None, 0.04, 0.03]) == pytest.approx([0.03, None, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_histogram() -> None:
    """Quantiles are exact below 1,000, and to three digits above; the mean is exact."""
    histogram = Histogram()
    for value in range(1, 101):
        histogram.add(value)
    assert [histogram.quantile(part) for part in (0.1, 0.5, 0.99)] == [10, 50, 99]
    assert (histogram.mean, histogram.smallest, histogram.largest) == (50.5, 1, 100)
    histogram.add(123_456, 1_000)
    assert histogram.quantile(0.5) == 123_000
    assert histogram.largest == 123_456
    for bad in (-1.0, math.nan, math.inf):
        histogram.add(bad)
    assert histogram.count == 1_100
    assert histogram.count_between(9, 10) == 1
    empty = Histogram()
    assert (empty.quantile(0.5), empty.mean, empty.smallest, empty.largest) == (None,) * 4


def test_a_frequency_counter_is_bounded() -> None:
    """Beyond the limit rare texts are forgotten, and the error of counts is known."""
    counter = FrequencyCounter(limit=100)
    for number in range(1_000):
        counter.update({"often": 1, f"rare-{number:04}": 1})
    assert len(counter) <= 101
    assert counter["often"] == 1_000
    assert counter.most_common(1) == [("often", 1_000)]
    assert 0 < counter.max_error < 30
    exact = FrequencyCounter()
    exact.update({"b": 2, "a": 2, "c": 3})
    assert exact.most_common() == [("c", 3), ("a", 2), ("b", 2)]
    assert exact.max_error == 0
