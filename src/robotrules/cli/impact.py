"""
How far a change of rules reaches on real URLs: which of them change verdict, for which crawlers.

Every URL of a file is asked of the old and of the new rules, in batches; those with another verdict
are counted by crawler and by first path segment, and the first few are kept as examples. A URL
counts as often as it stands in the file. Memory does not grow with the file: of very many segments
the rarest are counted together, so the number of one that is listed is at least what it says; sums
are exact. It does not know which crawlers differ, nor how counts look.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import compress
from operator import or_
from typing import Any, NamedTuple

from robotrules import RuleSet
from robotrules.cli.progress import Progress
from robotrules.cli.streams import STDIN
from robotrules.cli.text import is_terminal
from robotrules.cli.url_files import UrlFile, refuse_empty, say_hint
from robotrules.cli.url_forms import Skipped, UrlFileFormat

# URLs that are kept to be shown, of each crawler and each direction, if they are not longer.
MOST_EXAMPLES = 3
LONGEST_EXAMPLE = 2_048
# Segments that an answer lists, and how many are counted apart for all crawlers together.
MOST_SEGMENTS = 100
SEGMENTS_APART = 20_000
# Octets of a segment that tell it from others.
LONGEST_SEGMENT = 80

# The first path segment of a URL as written, with the slashes around it. It matches anything.
_SEGMENT = re.compile(rb"(?:[^/?#:]*+:)?+(?://[^/?#]*+)?+(/[^/?#]{0,%d}+/?)?" % LONGEST_SEGMENT)
ROOT = b"/"


class Compared(NamedTuple):
    """Crawlers that obey the same rules, before and after."""

    name: str
    old: RuleSet
    new: RuleSet


class Segment(NamedTuple):
    """URLs that change, by their first path segment."""

    segment: str
    """`/shop/` is what lies below, `/shop` the page of that name, `/` the root."""
    disallowed: int
    """Newly disallowed."""
    allowed: int
    """Newly allowed."""

    @property
    def changed(self) -> int:
        """How many change at all."""
        return self.disallowed + self.allowed

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "segment": self.segment,
            "newly_disallowed": self.disallowed,
            "newly_allowed": self.allowed,
        }


class CrawlerReach(NamedTuple):
    """What changes for crawlers that obey the same rules."""

    name: str
    disallowed: int
    """Newly disallowed."""
    allowed: int
    """Newly allowed."""
    segments: tuple[Segment, ...]
    """By first path segment: those with most changes, and those first."""
    disallowed_examples: tuple[str, ...]
    allowed_examples: tuple[str, ...]

    @property
    def changed(self) -> int:
        """How many change at all."""
        return self.disallowed + self.allowed

    def others(self, listed: int = MOST_SEGMENTS) -> Segment:
        """Return the sums of all segments but the first *listed*."""
        shown = self.segments[:listed]
        return Segment(
            "",
            self.disallowed - sum(one.disallowed for one in shown),
            self.allowed - sum(one.allowed for one in shown),
        )

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        others = self.others()
        return {
            "crawlers": self.name,
            "newly_disallowed": self.disallowed,
            "newly_allowed": self.allowed,
            "segments": [one.as_dict() for one in self.segments],
            "other_segments": {
                "newly_disallowed": others.disallowed,
                "newly_allowed": others.allowed,
            },
            "newly_disallowed_examples": list(self.disallowed_examples),
            "newly_allowed_examples": list(self.allowed_examples),
        }


class Reach(NamedTuple):
    """What changes on the URLs of a file."""

    file: str
    """Its name; `-` is stdin."""
    form: UrlFileFormat
    urls: int
    """How many were read: each counts as often as it stands there."""
    changed: int
    """How many change for at least one crawler."""
    crawlers: tuple[CrawlerReach, ...]
    skipped: Skipped
    trouble: str
    """Why the file was not read to its end; empty: it was."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "file": None if self.file == STDIN else self.file,
            "form": str(self.form),
            "counted": f"{self.form.noun}s",
            "urls": self.urls,
            "changed": self.changed,
            "crawlers": [one.as_dict() for one in self.crawlers],
            "skipped": self.skipped.as_dict(),
            "complete": not self.trouble,
            "error": self.trouble or None,
        }


def reach_of(
    name: str, compared: Iterable[tuple[str, RuleSet, RuleSet]], *, quiet: bool = False
) -> Reach:
    """
    Count what changes on the URLs of a file, or of stdin for `-`; a bar on stderr shows progress.

    *compared* has a name and both rule sets of all crawlers to count for; *quiet* wants no bar. A
    file in which there is no URL at all, but something else, is `Trouble`.
    """
    counting = Counting([Compared(*one) for one in compared])
    with UrlFile(name) as file:
        shown = not quiet and is_terminal(sys.stderr)
        with Progress(sys.stderr if shown else None, file.size, "URL") as progress:
            for urls, octets in file.chunks():
                counting.add(urls)
                progress.add(len(urls), octets)
    if not counting.urls:
        refuse_empty(file)
    if not quiet:
        say_hint(file)
    return counting.reach(file)


# --- Counting -------------------------------------------------------------------------------------


class Counting:
    """Counts changes, a batch of URLs at a time."""

    def __init__(self, compared: Sequence[Compared]) -> None:
        # Crawlers share rules: those that a file did not name share the rules for everyone else.
        numbers: dict[RuleSet, int] = {}
        apart = max(SEGMENTS_APART // max(len(compared), 1), MOST_SEGMENTS)
        self._tallies = [
            _Tally(
                one.name,
                numbers.setdefault(one.old, len(numbers)),
                numbers.setdefault(one.new, len(numbers)),
                apart,
            )
            for one in compared
        ]
        self._rules = list(numbers)
        self.urls = 0
        self.changed = 0

    def add(self, urls: list[bytes]) -> None:
        """Ask about some URLs."""
        size = len(urls)
        self.urls += size
        # One rule set after another: two threads were measured, and are no faster than one, for
        # half of a batch call is to hand over strings. An octet an answer, all in one number:
        # that compares the answers of a batch at once.
        answers = [int.from_bytes(rules.allows_many(urls), "big") for rules in self._rules]
        differ = [
            (tally, answers[tally.old], answers[tally.new])
            for tally in self._tallies
            if answers[tally.old] != answers[tally.new]
        ]
        if not differ:
            return
        touched = reduce(or_, (old ^ new for _, old, new in differ)).to_bytes(size, "big")
        # Segments are looked at once, and only of URLs that change for somebody.
        changed = list(compress(urls, touched))
        segments = [found[1] or ROOT for url in changed if (found := _SEGMENT.match(url))]
        self.changed += len(changed)
        for tally, old, new in differ:
            for direction, moved in ((tally.disallowed, old & ~new), (tally.allowed, new & ~old)):
                if moved:
                    which = bytes(compress(moved.to_bytes(size, "big"), touched))
                    direction.add(changed, segments, which)

    def reach(self, file: UrlFile) -> Reach:
        """Return what was counted."""
        return Reach(
            file.name,
            file.form,
            self.urls,
            self.changed,
            tuple(tally.reach() for tally in self._tallies),
            file.skipped,
            file.trouble,
        )


class _Direction:
    """URLs that are newly allowed, or newly disallowed."""

    def __init__(self, apart: int) -> None:
        self.total = 0
        self.segments: Counter[bytes] = Counter()
        self.examples: list[bytes] = []
        self._apart = apart

    def add(self, urls: list[bytes], segments: list[bytes], which: bytes) -> None:
        """Count those of some URLs that have a 1 in *which*."""
        self.total += which.count(1)
        self.segments.update(compress(segments, which))
        if len(self.segments) > 2 * self._apart:
            # Rather than refuse new ones: those that are common come back at once.
            self.segments = Counter(dict(sorted(self.segments.items(), key=_most)[: self._apart]))
        for url in compress(urls, which):
            if len(self.examples) == MOST_EXAMPLES:
                break
            if len(url) <= LONGEST_EXAMPLE and url not in self.examples:
                self.examples.append(url)


def _most(counted: tuple[bytes, int]) -> tuple[int, bytes]:
    """Order by number, then by name, so that the same file has the same answer everywhere."""
    return -counted[1], counted[0]


class _Tally:
    """What is counted for crawlers that obey the same rules."""

    def __init__(self, name: str, old: int, new: int, apart: int) -> None:
        self.name = name
        self.old = old
        self.new = new
        self.disallowed = _Direction(apart)
        self.allowed = _Direction(apart)

    def reach(self) -> CrawlerReach:
        """Return what was counted for these crawlers."""
        gone, came = self.disallowed, self.allowed
        both = sorted((gone.segments + came.segments).items(), key=_most)[:MOST_SEGMENTS]
        return CrawlerReach(
            self.name,
            gone.total,
            came.total,
            tuple(Segment(_shown(one), gone.segments[one], came.segments[one]) for one, _ in both),
            tuple(map(_text, gone.examples)),
            tuple(map(_text, came.examples)),
        )


def _shown(segment: bytes) -> str:
    cut = len(segment) > LONGEST_SEGMENT and not segment.endswith(b"/")
    return _text(segment) + ("…" if cut else "")


def _text(octets: bytes) -> str:
    return octets.decode("utf-8", "backslashreplace")
