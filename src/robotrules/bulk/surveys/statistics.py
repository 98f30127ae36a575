"""
Statistics of a survey: confidence intervals of shares, paired differences, quantiles, frequencies.

    wilson               interval of a share (Wilson 1927), with a finite population if known
    paired_difference    interval of a change of the same sites (Bonett and Price 2012)
    mcnemar              p value of such a change (mid-p, exact up to 1,000 changed sites)
    holm                 p values adjusted for their number (Holm 1979)
    Histogram            quantiles of counts in bounded memory, to three significant digits
    FrequencyCounter     the most frequent texts in bounded memory

Wilson's interval is used because many shares of such studies are near 0 or 1, where the textbook
(Wald) interval is too narrow, has no width at all for 0 of n, and leaves 0 to 1. It always contains
the share. No function knows what is counted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import NamedTuple

# Up to this many changed sites McNemar's p value is exact; beyond, the normal approximation is
# equal to it in the first three digits.
MAX_EXACT = 1_000


class Share(NamedTuple):
    """A share with its confidence interval; None if there is nothing to divide by."""

    share: float | None
    low: float | None
    high: float | None


class PairedDifference(NamedTuple):
    """The change of a share of the same sites, with its confidence interval."""

    difference: float | None
    low: float | None
    high: float | None


def z_value(confidence: float) -> float:
    """Return the two-sided quantile of the normal distribution: 1.96 for 0.95."""
    return NormalDist().inv_cdf(0.5 + confidence / 2)


def wilson(count: int, total: int, z: float, population: int | None = None) -> Share:
    """
    Return the share of *count* in *total* with Wilson's confidence interval.

    With a finite *population*, *total* is replaced by the size of the sample from an infinite one
    that has the same variance, n(N-1)/(N-n); the interval of a complete count has no width.
    """
    if total <= 0:
        return Share(None, None, None)
    share = count / total
    n = float(total)
    if population is not None:
        if population <= total:
            return Share(share, share, share)
        n = total * (population - 1) / (population - total)
    z2 = z * z
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = z / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    # Rounding must not move the ends beyond the share, or beyond 0 and 1.
    low = 0.0 if count == 0 else max(0.0, min(centre - half, share))
    high = 1.0 if count == total else min(1.0, max(centre + half, share))
    return Share(share, low, high)


def paired_difference(started: int, stopped: int, total: int, z: float) -> PairedDifference:
    """
    Return the change of a share with the interval of Bonett and Price (2012).

    *started* sites have what is counted only afterwards, *stopped* only before, of *total* sites.
    """
    if total <= 0:
        return PairedDifference(None, None, None)
    difference = (started - stopped) / total
    more, less = (started + 1) / (total + 2), (stopped + 1) / (total + 2)
    half = z * math.sqrt(max(0.0, more + less - (more - less) ** 2) / (total + 2))
    low, high = more - less - half, more - less + half
    return PairedDifference(
        difference, max(-1.0, min(low, difference)), min(1.0, max(high, difference))
    )


def mcnemar(started: int, stopped: int) -> float | None:
    """
    Return McNemar's two-sided mid-p value: how likely such a change is if both ways are equal.

    None if no site changed.
    """
    changed = started + stopped
    if changed == 0:
        return None
    fewer = min(started, stopped)
    if changed > MAX_EXACT:
        return min(1.0, math.erfc(abs(started - stopped) / math.sqrt(2 * changed)))
    logs = [
        math.lgamma(changed + 1) - math.lgamma(k + 1) - math.lgamma(changed - k + 1)
        for k in range(fewer + 1)
    ]
    tail = math.fsum(math.exp(value - changed * math.log(2)) for value in logs)
    point = math.exp(logs[-1] - changed * math.log(2))
    return min(1.0, 2 * tail - point)


def holm(values: Sequence[float | None]) -> list[float | None]:
    """Return p values adjusted for their number (Holm's step-down method); None stays None."""
    order = sorted((value, place) for place, value in enumerate(values) if value is not None)
    adjusted: list[float | None] = [None] * len(values)
    largest = 0.0
    for rank, (value, place) in enumerate(order):
        largest = max(largest, min(1.0, value * (len(order) - rank)))
        adjusted[place] = largest
    return adjusted


class Histogram:
    """
    Counts of numbers from 0 on, from which quantiles are read.

    Numbers below 1,000 are exact if they are whole, others have three significant digits, so the
    memory is bounded for every input. The order of input does not matter.
    """

    __slots__ = ("_bins", "_largest", "_smallest", "_total", "count")

    def __init__(self) -> None:
        self._bins: Counter[float] = Counter()
        self._smallest, self._largest = math.inf, -math.inf
        # A fraction of whole numbers: sums of floats depend on their order.
        self._total = 0
        self.count = 0

    def add(self, value: float, times: int = 1) -> None:
        """Count a number; numbers that are negative or not finite are left out."""
        if not math.isfinite(value) or value < 0:
            return
        self.count += times
        self._bins[float(f"{value:.3g}")] += times
        self._total += round(value * 1_000) * times
        self._smallest, self._largest = min(self._smallest, value), max(self._largest, value)

    @property
    def smallest(self) -> float | None:
        """The smallest number, exact."""
        return self._smallest if self.count else None

    @property
    def largest(self) -> float | None:
        """The largest number, exact."""
        return self._largest if self.count else None

    @property
    def mean(self) -> float | None:
        """The arithmetic mean."""
        return self._total / 1_000 / self.count if self.count else None

    def quantile(self, part: float) -> float | None:
        """Return the smallest number that at least this part of the numbers does not exceed."""
        wanted, seen = part * self.count, 0
        for value in sorted(self._bins):
            seen += self._bins[value]
            if seen >= wanted:
                return value
        return None

    def count_between(self, low: float, high: float) -> int:
        """Return how many numbers are above *low* and not above *high*, as rounded."""
        return sum(times for value, times in self._bins.items() if low < value <= high)


class FrequencyCounter:
    """
    Counts of texts that come from files of strangers, with a limit on how many are remembered.

    Up to *limit* different texts the counts are exact. Beyond, the rarest are forgotten ("lossy
    counting"), and each count is too small by at most `max_error`.
    """

    __slots__ = ("_counts", "_limit", "max_error")

    def __init__(self, limit: int = 200_000) -> None:
        self._counts: Counter[str] = Counter()
        self._limit = limit
        self.max_error = 0

    def update(self, counts: Mapping[str, int]) -> None:
        """Add counts of texts."""
        self._counts.update(counts)
        if len(self._counts) > self._limit:
            # Keep half of them, so that this is rare.
            kept = self.most_common(self._limit // 2)
            self.max_error += self._counts[kept[-1][0]] if kept else 0
            self._counts = Counter(dict(kept))

    def __len__(self) -> int:
        return len(self._counts)

    def __getitem__(self, text: str) -> int:
        return self._counts[text]

    def most_common(self, most: int | None = None) -> list[tuple[str, int]]:
        """Return texts and counts, the most frequent first, equal ones in the order of texts."""
        return sorted(self._counts.items(), key=lambda pair: (-pair[1], pair[0]))[:most]
