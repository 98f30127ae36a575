"""
Rule cache: compiled rules of the files of a corpus, by crawler, evicted by size.

Rules have a number (`timeline.file_rules`), and a batch of URLs comes with the numbers of its rows.
`RuleCache.decide()` reads, parses and compiles the files that are new, and lets the engine decide
the batch. A batch that needs more files than the cache holds is decided in parts.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from threading import RLock
from typing import Any, NamedTuple

import pyarrow.compute as pc

from robotrules import _engine
from robotrules.access.values import DISALLOW_ALL
from robotrules.bulk.arrow_support import pa
from robotrules.bulk.bodies import BodySource
from robotrules.bulk.timeline import CONSTANTS, MISSING_RULES, file_of_rules
from robotrules.profile import PROFILES, Profile
from robotrules.robotstxt import RobotsTxt, Tokens, parse
from robotrules.robotstxt.ruleset import REASON_LABELS
from robotrules.robotstxt.tokens import CrawlerNames
from robotrules.robotstxt.verdict import Reason

MAX_CACHE_BYTES = 1024**3
# What a parsed file and its compiled rules occupy, measured on 11,892 real files: for each file,
# for each byte of a small file, and for each byte beyond that (long files are mostly other groups).
_BYTES_PER_FILE, _BYTES_PER_BYTE, _SMALL, _BYTES_BEYOND = 1_000, 3, 4_096, 0.5
# Tables of rules that are kept for other crawlers.
_MAX_TABLES = 64
_REASONS = tuple(name for name, _ in REASON_LABELS)
_MISSING_REASON = len(REASON_LABELS)
_IMPLICIT = _REASONS.index(Reason.IMPLICIT)
_NAMES = (*_REASONS, "missing")


class AskedCrawler(NamedTuple):
    """A crawler that is asked about."""

    label: str
    names: Tokens
    purposes: tuple[str, ...]

    def key(self) -> tuple[Any, ...]:
        """Return a value that is equal for crawlers that obey the same groups of every file."""
        if isinstance(self.names, str):
            return (self.names, self.purposes)
        star = self.names.ignores_star if isinstance(self.names, CrawlerNames) else None
        return (tuple(self.names), self.purposes, star)


class RuleCache:
    """Compiled rules by number and crawler."""

    def __init__(self, bodies: BodySource, profile: Profile, max_bytes: int, lock: RLock) -> None:
        self._bodies, self._max_bytes, self._lock = bodies, max_bytes, lock
        # A parser is made once for a profile that is given by name.
        named = PROFILES.get(profile.name) is profile
        self._profile: str | Profile = profile.name if named else profile
        self._tables: OrderedDict[tuple[Any, ...], Any] = OrderedDict()
        self.has_lost_files = False
        """Whether the source did not have the content of a file."""

    @property
    def size(self) -> int:
        """The bytes of compiled rules, about."""
        return sum(table.size for table in self._tables.values())

    def decide(
        self,
        crawlers: Sequence[AskedCrawler],
        missing: bool | None,
        urls: Any,
        rules: Any,
        threads: int,
    ) -> list[Any]:
        """Return a struct of `allowed`, `reason`, `line` and `rule` for each crawler."""
        with self._lock:
            tables = [self._find_table(crawler, missing) for crawler in crawlers]
            decided = self._decide(crawlers, tables, urls, rules, threads)
        has_constants = pc.any(pc.less(rules, len(CONSTANTS))).as_py()
        return [_name_constants(one, rules) if has_constants else one for one in decided]

    def _find_table(self, crawler: AskedCrawler, missing: bool | None) -> Any:
        key = (*crawler.key(), missing)
        table = self._tables.pop(key, None)
        if table is None:
            table = _engine.engine.RuleTable((*REASON_LABELS, ("missing", missing)))
        self._tables[key] = table
        while len(self._tables) > _MAX_TABLES:
            self._tables.popitem(last=False)
        return table

    def _decide(
        self,
        crawlers: Sequence[AskedCrawler],
        tables: Sequence[Any],
        urls: Any,
        rules: Any,
        threads: int,
    ) -> list[Any]:
        new = [table.missing(rules) for table in tables]
        budget = self._max_bytes // len(tables)
        if max(map(self._cost, new), default=0) > budget and len(rules) > 1:
            parts = self._split(rules, budget)
            if len(parts) > 1:
                return self._decide_parts(crawlers, tables, urls, rules, threads, parts)
        self._load(crawlers, tables, new)
        decided = [pa.array(table.decide(urls, rules, threads)) for table in tables]
        self._evict(tables)
        return decided

    def _cost(self, numbers: Iterable[int]) -> int:
        """Return the bytes that compiled rules will occupy."""
        return sum(map(self._cost_of, numbers))

    def _cost_of(self, number: int) -> int:
        if number < len(CONSTANTS):
            return 0
        size = self._bodies.size(file_of_rules(number)[0])
        beyond = max(size - _SMALL, 0)
        return _BYTES_PER_FILE + _BYTES_PER_BYTE * (size - beyond) + round(_BYTES_BEYOND * beyond)

    def _evict(self, tables: Sequence[Any]) -> None:
        """Drop rules that were not used for the longest time; those of other crawlers first."""
        excess = self.size - self._max_bytes
        for table in [*self._tables.values()]:
            if excess <= 0:
                return
            before = table.size
            table.evict(max(before - excess, 0))
            excess -= before - table.size

    # --- Batches that need more than the cache holds ------------------------------------------

    def _split(self, rules: Any, budget: int) -> list[int]:
        """Return the numbers at which parts begin, so that the files of a part fit."""
        numbers = sorted(
            number
            for number in pc.unique(rules).to_pylist()
            if number is not None and number < MISSING_RULES
        )
        starts, cost = [0], 0
        for number in numbers:
            cost += self._cost_of(number)
            if cost > budget and number > starts[-1]:
                starts.append(number)
                cost = self._cost_of(number)
        return starts

    def _decide_parts(
        self,
        crawlers: Sequence[AskedCrawler],
        tables: Sequence[Any],
        urls: Any,
        rules: Any,
        threads: int,
        starts: list[int],
    ) -> list[Any]:
        """Decide rows ordered by their rules, and put the answers back into the given order."""
        bounds = pa.array([*starts, 2**32], pa.uint64())
        wide = pc.fill_null(rules.cast(pa.uint64()), 0)
        parts: list[list[Any]] = [[] for _ in tables]
        order = []
        for start, end in pairwise(bounds):
            rows = pc.indices_nonzero(pc.and_(pc.greater_equal(wide, start), pc.less(wide, end)))
            if not len(rows):
                continue
            new = [table.missing(rules.take(rows)) for table in tables]
            self._load(crawlers, tables, new)
            part = urls.take(rows)
            for number, table in enumerate(tables):
                parts[number].append(pa.array(table.decide(part, rules.take(rows), threads)))
            self._evict(tables)
            order.append(rows)
        places = pc.sort_indices(pa.concat_arrays(order))
        return [_concat(part).take(places) for part in parts]

    # --- Files --------------------------------------------------------------------------------

    def _load(
        self, crawlers: Sequence[AskedCrawler], tables: Sequence[Any], new: Sequence[list[int]]
    ) -> None:
        """Compile rules that are new, for each crawler that needs them."""
        needed: dict[int, list[int]] = {}
        for position, numbers in enumerate(new):
            for number in numbers:
                needed.setdefault(number, []).append(position)
        by_body: dict[int, list[int]] = {}
        for number, positions in needed.items():
            if number < len(CONSTANTS):
                body = b"" if CONSTANTS[number] is Reason.UNAVAILABLE else DISALLOW_ALL
                self._compile(number, parse(body, self._profile), crawlers, tables, positions)
            else:
                by_body.setdefault(file_of_rules(number)[0], []).append(number)
        for body_number, content in self._bodies.read(sorted(by_body)):
            for number in by_body[body_number]:
                if content is None:
                    self.has_lost_files = True
                    for position in needed[number]:
                        tables[position].set(number, _MISSING_REASON, 0)
                    continue
                complete = file_of_rules(number)[1]
                robots = parse(content, self._profile, complete=complete)
                self._compile(number, robots, crawlers, tables, needed[number])

    def _compile(
        self,
        number: int,
        robots: RobotsTxt,
        crawlers: Sequence[AskedCrawler],
        tables: Sequence[Any],
        positions: Sequence[int],
    ) -> None:
        cost = self._cost_of(number)
        for position in positions:
            crawler = crawlers[position]
            rules = robots.rules_for(crawler.names, crawler.purposes)
            tables[position].set(number, rules, cost)


def _concat(parts: list[Any]) -> Any:
    """Return structs as one array; their dictionaries differ."""
    return (
        pa.chunked_array(parts).unify_dictionaries().combine_chunks()
        if len(parts) > 1
        else parts[0]
    )


def _name_constants(decided: Any, rules: Any) -> Any:
    """
    Return decisions with the reasons of origins without a file.

    Their rules are those of an equivalent file, so that `/robots.txt` is allowed as everywhere; its
    lines mean nothing.
    """
    allowed, reason, line, rule = decided.flatten()
    codes = reason.indices
    is_constant = pc.and_(
        pc.less(rules, len(CONSTANTS)), pc.not_equal(codes, pa.scalar(_IMPLICIT, pa.int8()))
    )
    is_constant = pc.fill_null(is_constant, False)
    numbers = pa.array([_REASONS.index(name) for name in CONSTANTS], pa.int8())
    constants = numbers.take(pc.if_else(is_constant, rules, pa.scalar(0, pa.uint32())))
    codes = pc.if_else(is_constant, constants, codes)
    return pa.StructArray.from_arrays(
        [
            allowed,
            pa.DictionaryArray.from_arrays(codes, reason.dictionary),
            pc.if_else(is_constant, None, line),
            pa.DictionaryArray.from_arrays(
                pc.if_else(is_constant, None, rule.indices), rule.dictionary
            ),
        ],
        names=["allowed", "reason", "line", "rule"],
    )
