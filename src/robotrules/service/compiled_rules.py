"""
Compiled rules of the latest robots.txt files: a crawler sends the same file with each request.

Parsing and compiling a file of 400 KB takes 50 times as long as checking a thousand URLs; for a
file of 60 bytes, rules and verdicts take more time than the rest of the request. An entry is for
one crawler: rules of a file for many crawlers may take many times its memory.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from robotrules.robotstxt import Tokens
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.robotstxt.tokens import CrawlerNames

__all__ = ["CompiledRuleCache", "RulesKey"]

# Compiled rules with a verdict for each rule take 40 times the memory of the file.
MOST_OCTETS = 2 * 1024 * 1024
# What an entry takes beside its file, so that many small files are bounded too.
ENTRY_OCTETS = 1024


class RulesKey(NamedTuple):
    """What rules depend on."""

    octets: bytes
    profile: str
    names: Tokens
    ignores_star: bool
    purposes: tuple[str, ...]

    @classmethod
    def of(cls, octets: bytes, profile: str, names: Tokens, purposes: tuple[str, ...]) -> RulesKey:
        """Return the key; the names of a well-known crawler differ from equal other ones."""
        ignores_star = isinstance(names, CrawlerNames) and names.ignores_star
        kind = names if isinstance(names, str) else (type(names).__name__, *names)
        return cls(octets, profile, kind, ignores_star, purposes)


class CompiledRuleCache:
    """The rules that were used last; their number and files are bounded. Safe for threads."""

    def __init__(self, most_octets: int = MOST_OCTETS) -> None:
        self._most = most_octets
        self._octets = 0
        self._lock = threading.Lock()
        self._entries: OrderedDict[RulesKey, RuleSet] = OrderedDict()

    def get(self, key: RulesKey, make: Callable[[], RuleSet]) -> RuleSet:
        """Return the rules of a key, made if they are not there."""
        size = _size(key)
        if size > self._most:
            return make()
        with self._lock:
            found = self._entries.get(key)
            if found is not None:
                self._entries.move_to_end(key)
                return found
        # Not locked: two threads may make the same rules, and one of them is kept.
        rules = make()
        with self._lock:
            if key not in self._entries:
                self._entries[key] = rules
                self._octets += size
            while self._octets > self._most:
                oldest, _ = self._entries.popitem(last=False)
                self._octets -= _size(oldest)
        return rules

    @property
    def octets(self) -> int:
        """The bytes of the files, with `ENTRY_OCTETS` for each."""
        return self._octets

    def __len__(self) -> int:
        return len(self._entries)


def _size(key: RulesKey) -> int:
    return len(key.octets) + ENTRY_OCTETS
