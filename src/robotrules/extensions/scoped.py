"""
Statements scoped by a path: which of them count for a URL.

Content-Usage and App-Directives have the same form, `[path] statement`, and the same rule: the
longest matching path pattern counts, matched as allow and disallow are. The one matcher decides
(`RuleSet`); what a tie means is the reader's business. It does not know what a statement says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.ruleset import URL, RuleSet
from robotrules.robotstxt.values import Record

T = TypeVar("T")


class Scoped(NamedTuple):
    """The value of a record, cut in two."""

    path: bytes | None
    """The path pattern; None: the statement covers every path."""
    statement: bytes
    start: int
    """Where the statement starts in the file."""


def split(record: Record) -> Scoped:
    """
    Cut the value of a record into path and statement (draft-ietf-aipref-attach-05 §3.2).

    Only a leading `/` starts a path, which ends at the first space or tab (AMB-103, AMB-112).
    """
    value = record.value
    if not value.startswith(b"/"):
        return Scoped(None, value, record.start)
    length = next((at for at, octet in enumerate(value) if octet in b" \t"), len(value))
    rest = value[length:].lstrip(b" \t")
    return Scoped(value[:length], rest, record.end - len(rest))


def is_usable(path: bytes, robots: RobotsTxt) -> bool:
    """Tell whether a path pattern can match: profiles differ on odd octets (AMB-05, AMB-06)."""
    if path.startswith(b"/") and path.isascii() and path.decode().isprintable():
        return True
    return bool(RuleSet.from_patterns([path], robots.profile, robots._engine)._matcher.usable())


class ScopedSet(Generic[T]):
    """Statements with their path patterns, ready to be asked. Immutable."""

    __slots__ = ("_anywhere", "_by_number", "_matcher", "_statements")

    def __init__(self, entries: Sequence[tuple[bytes | None, T]], robots: RobotsTxt) -> None:
        self._anywhere = tuple(statement for path, statement in entries if path is None)
        # A path that cannot match must not stand for one that can and is compared alike.
        scoped = [
            (path, statement)
            for path, statement in entries
            if path is not None and is_usable(path, robots)
        ]
        engine, profile = robots._engine, robots.profile
        if profile.index_page:  # about Allow, and about no other record (AMB-47)
            profile = profile.replace(index_page=False)
        self._statements: list[list[tuple[int, T]]] = []
        # Paths that are compared alike are one path (AMB-105): one pattern, several statements.
        positions: dict[str, int] = {}
        patterns: list[bytes] = []
        made = RuleSet.from_patterns([path for path, _ in scoped], profile, engine)
        for order, ((path, statement), rule) in enumerate(zip(scoped, made.rules, strict=True)):
            if rule.form not in positions:
                positions[rule.form] = len(patterns)
                patterns.append(path)
                self._statements.append([])
            self._statements[positions[rule.form]].append((order, statement))
        self._matcher = RuleSet.from_patterns(patterns, profile, engine)
        # What the engine answers for a batch, where that says all. Two patterns of as many octets
        # can both match one path only if one of them has a wildcard.
        rules = self._matcher.rules
        alike = Counter(rule.octets for rule in rules)
        wild = {rule.octets for rule in rules if "*" in rule.form}
        self._by_number: dict[int, tuple[T, ...]] = {-1: self._anywhere}
        for at, rule in enumerate(rules):
            if alike[rule.octets] == 1 or rule.octets not in wild:
                self._by_number[at << 2 | 1] = self._together([at])

    def at(self, url: URL) -> tuple[T, ...]:
        """
        Return the statements of the longest pattern that matches *url*, in the order of the file.

        Patterns that tie count together. Statements without a path count where no pattern matches.
        """
        tied = self._matcher.best(url)
        if not tied:
            return self._anywhere
        return self._together(tied)

    def _together(self, tied: Sequence[int]) -> tuple[T, ...]:
        """Return the statements of some patterns in the order of the file."""
        found = [pair for at in tied for pair in self._statements[at]]
        return tuple(statement for _, statement in sorted(found, key=lambda pair: pair[0]))

    def at_many(self, urls: Iterable[URL]) -> list[tuple[T, ...]]:
        """Return the same for many URLs, with one crossing into the engine for most of them."""
        if isinstance(urls, (str, bytes)):
            raise TypeError("many URLs are a list or another iterable, not one: pass [url]")
        urls = list(urls)
        known = self._by_number
        # A number that is not known is a possible tie, or `/robots.txt`, which the engine does not
        # match with rules.
        return [
            known[number] if number in known else self.at(url)
            for number, url in zip(self._matcher._matcher.decide_many(urls), urls, strict=True)
        ]

    def __len__(self) -> int:
        return len(self._anywhere) + sum(map(len, self._statements))
