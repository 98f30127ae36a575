"""
The impact of a rule change on real URLs: how many change their verdict, for which crawlers.

URLs are checked against the old and the new rules in batches. Changed URLs are counted by crawler
and by first path segment, and the first few are kept as examples. A URL counts as often as it is
given. Memory does not grow with their number: if there are very many segments, the rarest are
counted together, so the count of a listed segment is a lower bound; totals are exact.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from itertools import compress
from operator import or_
from typing import Any, NamedTuple, Protocol

from robotrules.robotstxt.ruleset import RuleSet

# Examples that are kept per crawler and direction, and their maximum length.
MOST_EXAMPLES = 3
LONGEST_EXAMPLE = 2_048
# Segments that a result lists, and that are counted separately for all crawlers together.
MOST_SEGMENTS = 100
SEGMENTS_APART = 20_000
# The bytes of a segment that are compared.
LONGEST_SEGMENT = 80
STDIN = "-"
# The format of several files, if they differ.
SEVERAL_FORMS = "several formats"

# The first path segment of a URL, with the slashes around it. It matches any input.
_SEGMENT = re.compile(rb"(?:[^/?#:]*+:)?+(?://[^/?#]*+)?+(/[^/?#]{0,%d}+/?)?" % LONGEST_SEGMENT)
ROOT = b"/"


class UrlForm(Protocol):
    """The format of a source of URLs; its text is its name."""

    @property
    def noun(self) -> str:
        """What one entry is: a URL, or a request."""


class SkippedLines(Protocol):
    """Lines without a usable URL."""

    @property
    def lines(self) -> int:
        """Their number."""

    @property
    def examples(self) -> Sequence[Any]:
        """The first few."""

    def as_dict(self) -> dict[str, Any]:
        """Return them as plain values for JSON."""


class UrlSource(Protocol):
    """Where URLs come from: a file that was read, or a list."""

    @property
    def urls(self) -> int:
        """The number of URLs read, including repeated ones."""

    @property
    def name(self) -> str:
        """Its name; `-` is stdin."""

    @property
    def form(self) -> UrlForm:
        """Its format."""

    @property
    def skipped(self) -> SkippedLines:
        """What was skipped."""

    @property
    def error(self) -> str:
        """Why it was not read completely; empty if it was."""


class Compared(NamedTuple):
    """Crawlers that obey the same rules, before and after."""

    name: str
    old: RuleSet
    new: RuleSet
    names: str = ""
    """All their names, if *name* leaves some out."""


class Segment(NamedTuple):
    """URLs that change, by their first path segment."""

    segment: str
    """`/shop/` is everything below, `/shop` the page of that name, `/` the root."""
    disallowed: int
    """Newly disallowed."""
    allowed: int
    """Newly allowed."""

    @property
    def changed(self) -> int:
        """The number of URLs that change."""
        return self.disallowed + self.allowed

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "segment": self.segment,
            "newly_disallowed": self.disallowed,
            "newly_allowed": self.allowed,
        }


class CrawlerImpact(NamedTuple):
    """The impact for crawlers that obey the same rules."""

    name: str
    disallowed: int
    """Newly disallowed."""
    allowed: int
    """Newly allowed."""
    segments: tuple[Segment, ...]
    """By first path segment, those with most changes first."""
    disallowed_examples: tuple[str, ...]
    allowed_examples: tuple[str, ...]

    @property
    def changed(self) -> int:
        """The number of URLs that change."""
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


class ImpactSource(NamedTuple):
    """A source of URLs that was read."""

    name: str
    """Its name; `-` is stdin."""
    form: UrlForm
    urls: int
    """The number of URLs read, including repeated ones."""
    skipped: SkippedLines
    error: str
    """Why it was not read completely; empty if it was."""

    @property
    def file(self) -> str | None:
        """Its name; None for stdin."""
        return None if self.name == STDIN else self.name

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "file": self.file,
            "form": str(self.form),
            "urls": self.urls,
            "skipped": self.skipped.as_dict(),
            "complete": not self.error,
            "error": self.error or None,
        }


class Impact(NamedTuple):
    """The impact on the URLs of a file, or of several."""

    sources: tuple[ImpactSource, ...]
    """Where the URLs come from; at least one."""
    urls: int
    """The number of URLs read, including repeated ones."""
    changed: int
    """The number of URLs that change for at least one crawler."""
    crawlers: tuple[CrawlerImpact, ...]

    @property
    def noun(self) -> str:
        """What is counted: requests, or URLs if not all files are logs."""
        nouns = {source.form.noun for source in self.sources}
        return nouns.pop() if len(nouns) == 1 else "URL"

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        first, several = self.sources[0], len(self.sources) > 1
        forms = list(dict.fromkeys(str(source.form) for source in self.sources))
        skipped = first.skipped.as_dict()
        if several:
            lines = sum(source.skipped.lines for source in self.sources)
            skipped = {"lines": lines, "examples": []}
        error = next((source.error for source in self.sources if source.error), None)
        return {
            "file": None if several else first.file,
            "files": [source.as_dict() for source in self.sources],
            "form": forms[0] if len(forms) == 1 else SEVERAL_FORMS,
            "counted": f"{self.noun}s",
            "urls": self.urls,
            "changed": self.changed,
            "crawlers": [one.as_dict() for one in self.crawlers],
            "skipped": skipped,
            "complete": error is None,
            "error": error,
        }


class ImpactCounter:
    """Counts changes, a batch of URLs at a time."""

    def __init__(
        self,
        compared: Sequence[Compared],
        keep: Callable[[list[bytes]], object] | None = None,
    ) -> None:
        """*keep* is called with the URLs of each batch that change."""
        self._keep = keep
        # Crawlers share rules: those that a file does not name obey the group for '*'.
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
        """Count a batch of URLs."""
        size = len(urls)
        self.urls += size
        # One rule set after another: two threads are not faster in measurements, because half of a
        # batch call passes strings. The verdicts, one byte each, are one integer, so that a single
        # operation compares a batch.
        answers = [int.from_bytes(rules.allows_many(urls), "big") for rules in self._rules]
        differ = [
            (tally, answers[tally.old], answers[tally.new])
            for tally in self._tallies
            if answers[tally.old] != answers[tally.new]
        ]
        if not differ:
            return
        touched = reduce(or_, (old ^ new for _, old, new in differ)).to_bytes(size, "big")
        # Segments are extracted once, and only for URLs that change.
        changed = list(compress(urls, touched))
        segments = first_segments(changed)
        self.changed += len(changed)
        if self._keep is not None:
            self._keep(changed)
        for tally, old, new in differ:
            for direction, moved in ((tally.disallowed, old & ~new), (tally.allowed, new & ~old)):
                if moved:
                    which = bytes(compress(moved.to_bytes(size, "big"), touched))
                    direction.add(changed, segments, which)

    def impact(self, *sources: UrlSource) -> Impact:
        """Return the result; *sources* are those of the URLs."""
        return Impact(
            tuple(
                ImpactSource(one.name, one.form, one.urls, one.skipped, one.error)
                for one in sources
            ),
            self.urls,
            self.changed,
            tuple(tally.impact() for tally in self._tallies),
        )


def first_segments(urls: Iterable[bytes]) -> list[bytes]:
    """Return the first path segment of each URL, with the slashes around it."""
    return [found[1] or ROOT for url in urls if (found := _SEGMENT.match(url))]


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
            # Drop the rarest instead of refusing new ones: common ones return quickly.
            self.segments = Counter(dict(sorted(self.segments.items(), key=_most)[: self._apart]))
        for url in compress(urls, which):
            if len(self.examples) == MOST_EXAMPLES:
                break
            if len(url) <= LONGEST_EXAMPLE and url not in self.examples:
                self.examples.append(url)


def _most(counted: tuple[bytes, int]) -> tuple[int, bytes]:
    """Order by count, then by name, so that results are deterministic."""
    return -counted[1], counted[0]


class _Tally:
    """The counters of crawlers that obey the same rules."""

    def __init__(self, name: str, old: int, new: int, apart: int) -> None:
        self.name = name
        self.old = old
        self.new = new
        self.disallowed = _Direction(apart)
        self.allowed = _Direction(apart)

    def impact(self) -> CrawlerImpact:
        """Return the result for these crawlers."""
        gone, came = self.disallowed, self.allowed
        both = sorted((gone.segments + came.segments).items(), key=_most)[:MOST_SEGMENTS]
        return CrawlerImpact(
            self.name,
            gone.total,
            came.total,
            tuple(
                Segment(show_segment(one), gone.segments[one], came.segments[one])
                for one, _ in both
            ),
            tuple(map(_text, gone.examples)),
            tuple(map(_text, came.examples)),
        )


def show_segment(segment: bytes) -> str:
    """Return a segment as text; one that was cut ends with an ellipsis."""
    cut = len(segment) > LONGEST_SEGMENT and not segment.endswith(b"/")
    return _text(segment) + ("…" if cut else "")


def _text(octets: bytes) -> str:
    return octets.decode("utf-8", "backslashreplace")
