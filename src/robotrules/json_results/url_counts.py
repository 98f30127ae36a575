"""
Counts of verdicts on many URLs: by crawler, by first path segment, by deciding rule, by origin.

Memory does not grow with the number of URLs: if there are very many segments, rules or origins, the
rarest are dropped, and the summary says so. The counts of crawlers are always exact. A URL counts
as often as it is given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from itertools import compress
from typing import Any, NamedTuple

from robotrules.json_results.impact import (
    MOST_SEGMENTS,
    SEGMENTS_APART,
    first_segments,
    show_segment,
)
from robotrules.octets import to_text

# Examples of each rule, their maximum length, and the URLs looked at to find one that is different.
MOST_EXAMPLES = 3
LONGEST_EXAMPLE = 2_048
MOST_LOOKED_AT = 20
# Rules and origins that a summary lists, and that are counted separately.
MOST_RULES = 200
RULES_APART = 5_000
MOST_ORIGINS = 100
ORIGINS_APART = 20_000


class BlockingRule(NamedTuple):
    """What blocks URLs: a rule, or the reason if there is none."""

    origin: str | None
    """The origin of the robots.txt; None if it is the same file for all URLs."""
    line: int | None
    text: str
    """The rule as written, or the reason."""


class UrlDecision(NamedTuple):
    """What is counted of a verdict."""

    origin: str | None
    rule: BlockingRule | None
    """None: the URL is allowed."""


class DecidedColumn(NamedTuple):
    """The decisions of one crawler on some URLs."""

    keys: Sequence[Hashable]
    """One for each URL."""
    counts: Mapping[Hashable, int]
    """How often each key occurs."""
    decisions: Mapping[Hashable, UrlDecision]
    """What the keys mean."""


class CrawlerCount(NamedTuple):
    """The URLs that one crawler may fetch, and those that it may not."""

    name: str
    allowed: int
    disallowed: int

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {"crawler": self.name, "allowed": self.allowed, "disallowed": self.disallowed}


class GroupCount(NamedTuple):
    """URLs with the same first path segment, or of the same origin."""

    name: str
    urls: int
    disallowed: tuple[int, ...]
    """For each crawler."""

    def as_dict(self, names: Sequence[str], key: str) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {key: self.name, "urls": self.urls, "disallowed": _named(names, self.disallowed)}


class RuleCount(NamedTuple):
    """The URLs that a rule blocks."""

    rule: BlockingRule
    disallowed: tuple[int, ...]
    """For each crawler."""
    examples: tuple[str, ...]

    def as_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        counts = _named(names, self.disallowed)
        return {**self.rule._asdict(), "disallowed": counts, "examples": list(self.examples)}


class UrlSummary(NamedTuple):
    """The counts of verdicts on many URLs."""

    urls: int
    crawlers: tuple[CrawlerCount, ...]
    segments: tuple[GroupCount, ...]
    """Those with most URLs first."""
    rules: tuple[RuleCount, ...]
    """Those that block most first."""
    origins: tuple[GroupCount, ...]
    """Empty if one file was used for all URLs."""
    more_segments: int
    """Segments that are not listed; a lower bound if *exact* is false."""
    more_rules: int
    more_origins: int
    exact: bool
    """Whether nothing was dropped while counting, so that listed counts are exact."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        names = [one.name for one in self.crawlers]
        return {
            "urls": self.urls,
            "crawlers": [one.as_dict() for one in self.crawlers],
            "segments": [one.as_dict(names, "segment") for one in self.segments],
            "rules": [one.as_dict(names) for one in self.rules],
            "origins": [one.as_dict(names, "origin") for one in self.origins],
            "more_segments": self.more_segments,
            "more_rules": self.more_rules,
            "more_origins": self.more_origins,
            "exact": self.exact,
        }


def _named(names: Sequence[str], counts: Sequence[int]) -> list[dict[str, Any]]:
    pairs = zip(names, counts, strict=True)
    return [{"crawler": name, "urls": count} for name, count in pairs if count]


class _Groups:
    """Counts URLs by a text: how many there are, and how many each crawler may not fetch."""

    def __init__(self, crawlers: int, apart: int) -> None:
        self.urls: Counter[Any] = Counter()
        self.disallowed: list[Counter[Any]] = [Counter() for _ in range(crawlers)]
        self.exact = True
        self._apart = apart

    def prune(self) -> None:
        """Drop the rarest, if there are too many."""
        if len(self.urls) <= 2 * self._apart:
            return
        self.exact = False
        self.urls = Counter(dict(sorted(self.urls.items(), key=_most)[: self._apart]))
        for number, counts in enumerate(self.disallowed):
            kept = {one: count for one, count in counts.items() if one in self.urls}
            self.disallowed[number] = Counter(kept)

    def listed(self, most: int) -> list[tuple[Any, int, tuple[int, ...]]]:
        """Return those with most URLs."""
        return [
            (one, count, tuple(counts[one] for counts in self.disallowed))
            for one, count in sorted(self.urls.items(), key=_most)[:most]
        ]


def _most(counted: tuple[Any, int]) -> tuple[int, Any]:
    """Order by count, then by name, so that results are deterministic."""
    return -counted[1], counted[0]


class UrlCounter:
    """Counts verdicts, a batch of URLs at a time."""

    def __init__(self, names: Sequence[str]) -> None:
        """*names* are those of the crawlers."""
        self._names = list(names)
        self._urls = 0
        self._disallowed = [0] * len(self._names)
        self._segments = _Groups(len(self._names), SEGMENTS_APART)
        self._origins = _Groups(len(self._names), ORIGINS_APART)
        self._rules: dict[BlockingRule, _RuleTally] = {}
        self._exact = True

    def add(self, urls: Sequence[bytes], columns: Sequence[DecidedColumn]) -> None:
        """Count a batch: one column for each crawler."""
        self._urls += len(urls)
        segments = first_segments(urls)
        self._segments.urls.update(segments)
        for number, column in enumerate(columns):
            blocked = {key for key in column.counts if column.decisions[key].rule is not None}
            for key, count in column.counts.items():
                origin, rule = column.decisions[key]
                if origin is not None and not number:
                    self._origins.urls[origin] += count
                if rule is not None:
                    self._disallowed[number] += count
                    if origin is not None:
                        self._origins.disallowed[number][origin] += count
                    self._add_rule(rule, number, key, count, urls, column.keys)
            if len(blocked) == len(column.counts):
                self._segments.disallowed[number].update(segments)
            elif blocked:
                which = map(blocked.__contains__, column.keys)
                self._segments.disallowed[number].update(compress(segments, which))
        self._segments.prune()
        self._origins.prune()
        self._prune_rules()

    def _add_rule(
        self,
        rule: BlockingRule,
        number: int,
        key: Hashable,
        count: int,
        urls: Sequence[bytes],
        keys: Sequence[Hashable],
    ) -> None:
        tally = self._rules.get(rule)
        if tally is None:
            tally = self._rules[rule] = _RuleTally(len(self._names))
        tally.disallowed[number] += count
        at = -1
        for _ in range(min(MOST_LOOKED_AT, count)):
            if len(tally.examples) == MOST_EXAMPLES:
                return
            at = keys.index(key, at + 1)
            if len(urls[at]) <= LONGEST_EXAMPLE and urls[at] not in tally.examples:
                tally.examples.append(urls[at])

    def _prune_rules(self) -> None:
        if len(self._rules) > 2 * RULES_APART:
            self._exact = False
            self._rules = dict(sorted(self._rules.items(), key=_rule_order)[:RULES_APART])

    def summary(self) -> UrlSummary:
        """Return the counts."""
        segments = self._segments.listed(MOST_SEGMENTS)
        origins = self._origins.listed(MOST_ORIGINS)
        rules = sorted(self._rules.items(), key=_rule_order)[:MOST_RULES]
        return UrlSummary(
            self._urls,
            tuple(
                CrawlerCount(name, self._urls - blocked, blocked)
                for name, blocked in zip(self._names, self._disallowed, strict=True)
            ),
            tuple(
                GroupCount(show_segment(one), count, blocked) for one, count, blocked in segments
            ),
            tuple(
                RuleCount(rule, tuple(tally.disallowed), tuple(map(to_text, tally.examples)))
                for rule, tally in rules
            ),
            tuple(GroupCount(*one) for one in origins),
            len(self._segments.urls) - len(segments),
            len(self._rules) - len(rules),
            len(self._origins.urls) - len(origins),
            self._exact and self._segments.exact and self._origins.exact,
        )


class _RuleTally:
    """The counters of a rule."""

    __slots__ = ("disallowed", "examples")

    def __init__(self, crawlers: int) -> None:
        self.disallowed = [0] * crawlers
        self.examples: list[bytes] = []


def _rule_order(counted: tuple[BlockingRule, _RuleTally]) -> tuple[int, str, int, str]:
    """Order by count, then by place, so that results are deterministic."""
    rule, tally = counted
    return -sum(tally.disallowed), rule.origin or "", rule.line or 0, rule.text
