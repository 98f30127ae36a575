"""
Line matching: the common lines of two versions of a file, with bounded work.

`difflib` is used while its cost is within a max_steps. Beyond it, lines that occur once in both
versions are anchors (as in a patience diff), and the parts between anchors are matched separately.
If the max_steps does not suffice for a part, lines match by position if both versions have the same
number of lines; otherwise the part is replaced as one block. Apart from sorting the anchors, this
is linear in the number of lines.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

# The maximum number of steps of difflib's inner loops for a pair of files: below half a second. Two
# files of 900 lines without repetitions never exceed it.
MAX_STATES = 4_000_000
# The cost of the search for anchors, in steps per line.
_STEPS_A_LINE = 8
# difflib ignores lines that make up more than 1 % of at least 200 lines ("autojunk").
_POPULAR_FROM, _POPULAR_SHARE = 200, 100


class BoundedMatcher(SequenceMatcher[str]):
    """A `SequenceMatcher` for lines whose work is bounded."""

    def __init__(self, old: Sequence[str], new: Sequence[str], max_steps: int = MAX_STATES) -> None:
        """*max_steps* bounds the steps of the matching."""
        self._old, self._new = old, new
        self._max_steps = max_steps
        self.steps = 0
        """An upper bound of the steps taken."""
        self._bounded: list[Match] | None = None
        super().__init__(None, old, new)

    def get_matching_blocks(self) -> list[Match]:
        """Return the blocks of equal lines, in order, and an empty one at the end."""
        if self._bounded is None:
            cost = _most_steps(self._old, self._new)
            if cost <= self._max_steps:
                self.steps = cost
                self._bounded = super().get_matching_blocks()
            else:
                self._bounded = list(self._joined())
        return self._bounded

    def _joined(self) -> Iterator[Match]:
        """Yield the blocks; two that touch are one."""
        old, new, size = 0, 0, 0
        for block in self._blocks():
            if (block.a, block.b) == (old + size, new + size):
                size += block.size
                continue
            if size:
                yield Match(old, new, size)
            old, new, size = block
        if size:
            yield Match(old, new, size)
        yield Match(len(self._old), len(self._new), 0)

    def _blocks(self) -> Iterator[Match]:
        """Yield blocks in the order of the files."""
        waiting: list[_Part | Match] = [_Part(0, len(self._old), 0, len(self._new))]
        while waiting:
            part = waiting.pop()
            if isinstance(part, Match):
                yield part
                continue
            head, middle, tail = self._trimmed(part)
            yield head
            waiting.append(tail)
            if middle.is_changed:
                waiting.extend(reversed(self._split(middle)))

    def _trimmed(self, part: _Part) -> tuple[Match, _Part, Match]:
        """Return the lines at the start that are equal, the rest, and those at the end."""
        first, last, first_new, last_new = part
        while first < last and first_new < last_new and self._old[first] == self._new[first_new]:
            first, first_new = first + 1, first_new + 1
        head = Match(part.first, part.first_new, first - part.first)
        while (
            first < last and first_new < last_new and self._old[last - 1] == self._new[last_new - 1]
        ):
            last, last_new = last - 1, last_new - 1
        return (
            head,
            _Part(first, last, first_new, last_new),
            Match(last, last_new, part.last - last),
        )

    def _split(self, part: _Part) -> list[_Part | Match]:
        """Split a part that starts and ends with changes into smaller parts and blocks."""
        first, last, first_new, last_new = part
        old, new = self._old[first:last], self._new[first_new:last_new]
        if len(old) == len(new) == 1:
            return []
        left = self._max_steps - self.steps
        cost = _STEPS_A_LINE * (len(old) + len(new))
        if cost > left:
            return list(_by_position(old, new, first, first_new))
        self.steps += cost
        work = _most_steps(old, new)
        if work <= left - cost:
            self.steps += work
            found = SequenceMatcher(None, old, new).get_matching_blocks()
            return [Match(first + at, first_new + to, size) for at, to, size in found if size]
        anchors = _anchors(old, new)
        if not anchors:
            return list(_by_position(old, new, first, first_new))
        # A part starts at its anchor, which trimming removes together with the equal lines after
        # it.
        starts = [(0, 0), *anchors, (len(old), len(new))]
        return [
            _Part(first + at, first + end, first_new + to, first_new + end_new)
            for (at, to), (end, end_new) in pairwise(starts)
        ]


class _Part(NamedTuple):
    """Lines of both files that belong together."""

    first: int
    last: int
    first_new: int
    last_new: int

    @property
    def is_changed(self) -> bool:
        """Whether both files have lines here."""
        return self.first < self.last and self.first_new < self.last_new


def _most_steps(old: Sequence[str], new: Sequence[str]) -> int:
    """
    Return an upper bound of difflib's steps for these lines.

    It searches for the longest block, then on both sides of it: at most twice per block, plus once.
    A search visits the old lines and the equal new lines.
    """
    counts = Counter(new)
    popular = len(new)
    if popular >= _POPULAR_FROM:
        popular = popular // _POPULAR_SHARE + 1
    pairs = matched = 0
    for line in old:
        count = counts.get(line, 0)
        if count:
            matched += 1
            pairs += count if count <= popular else 0
    return (len(old) + pairs) * (2 * min(matched, len(new)) + 1)


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the positions of lines that occur once in both: the longest ordered sequence."""
    once = {line for line, count in Counter(old).items() if count == 1}
    once &= {line for line, count in Counter(new).items() if count == 1}
    places = {line: at for at, line in enumerate(new) if line in once}
    # The longest increasing subsequence, by patience sorting.
    ends: list[int] = []
    piles: list[tuple[int, int]] = []
    before: dict[int, tuple[int, int] | None] = {}
    for at, line in enumerate(old):
        if line in once:
            to = places[line]
            pile = bisect_left(ends, to)
            before[to] = piles[pile - 1] if pile else None
            ends[pile : pile + 1] = [to]
            piles[pile : pile + 1] = [(at, to)]
    found: list[tuple[int, int]] = []
    anchor = piles[-1] if piles else None
    while anchor is not None:
        found.append(anchor)
        anchor = before[anchor[1]]
    return found[::-1]


def _by_position(
    old: Sequence[str], new: Sequence[str], first: int, first_new: int
) -> Iterator[Match]:
    if len(old) == len(new):
        for at, (was, now) in enumerate(zip(old, new, strict=True)):
            if was == now:
                yield Match(first + at, first_new + at, 1)
