"""
What a crawler may fetch and never did: of a list of URLs, or of the sections that others fetched.

A section is a folder at the top of the site, such as `/blog/`; it counts if two other crawlers got
responses from it. A list is kept in memory, with one bit for each of its URLs and each crawler.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from robotrules.operations.logs.entries import bare_host
from robotrules.operations.logs.summary import MissingUrls
from robotrules.operations.logs.tallies import shown_url
from robotrules.robotstxt import normalize_path
from robotrules.robotstxt.ruleset import RuleSet

__all__ = ["UrlCoverage"]

# URLs of a list, and their bytes; sections that are told apart, and those that count.
MOST_LISTED, MOST_LISTED_OCTETS = 500_000, 64 << 20
MOST_SECTIONS, LONGEST_SECTION = 2000, 100
BUSIEST_SECTIONS, OTHER_CRAWLERS = 50, 2
MOST_EXAMPLES = 5
BATCH = 8192


class UrlCoverage:
    """Remembers which URLs of a list, or which sections, each crawler fetched."""

    def __init__(self, urls: Iterable[bytes] | None = None, host: bytes = b"") -> None:
        """*urls* is the list; None for sections. With *host*, URLs of others are left out."""
        self.is_listed = urls is not None
        self.is_whole = True
        """False if the list has more URLs than are kept."""
        self.elsewhere = 0
        """URLs of other hosts in the list."""
        self._urls: list[bytes] = []
        self._index: dict[bytes, int] = {}
        self._bits: dict[str, bytearray] = {}
        self._sections: dict[bytes, dict[str, int]] = {}
        self._fetched: dict[str, set[bytes]] = {}
        octets = 0
        for url in urls or ():
            if host and not url.startswith(b"/") and _host(url) != host:
                self.elsewhere += 1
                continue
            path = _path(url)
            octets += len(path)
            if len(self._urls) >= MOST_LISTED or octets > MOST_LISTED_OCTETS:
                self.is_whole = False
                break
            key = _normal(path)
            if key not in self._index:
                self._index[key] = len(self._urls)
                self._urls.append(path)

    def __len__(self) -> int:
        return len(self._urls)

    def add(self, crawler: str, url: bytes, *, served: bool) -> None:
        """Remember that a crawler requested a URL."""
        path = _path(url)
        if self.is_listed:
            number = self._index.get(path)
            if number is None and not path.isalnum():
                number = self._index.get(_normal(path))
            if number is not None:
                bits = self._bits.get(crawler)
                if bits is None:
                    bits = self._bits[crawler] = bytearray(len(self._urls) // 8 + 1)
                bits[number >> 3] |= 1 << (number & 7)
            return
        end = path.find(b"/", 1, LONGEST_SECTION) + 1
        if not end or b"?" in path[:end]:
            return
        section = path[:end]
        by_crawler = self._sections.get(section)
        if by_crawler is None:
            if len(self._sections) >= MOST_SECTIONS:
                return
            by_crawler = self._sections[section] = {}
        by_crawler[crawler] = by_crawler.get(crawler, 0) + served

    def missing(self, crawler: str, rules: RuleSet | None) -> MissingUrls | None:
        """Return what a crawler may fetch and never did; None if there is nothing to compare."""
        if self.is_listed:
            return self._missing_urls(crawler, rules)
        busy = [
            (sum(by_crawler.values()), section)
            for section, by_crawler in self._sections.items()
            if sum(1 for name, count in by_crawler.items() if count and name != crawler)
            >= OTHER_CRAWLERS
        ]
        busy.sort(key=lambda one: (-one[0], one[1]))
        sections = [section for _, section in busy[:BUSIEST_SECTIONS]]
        if rules is not None:
            allowed = rules.allows_many(sections)
            sections = [one for one, yes in zip(sections, allowed, strict=True) if yes]
        if not sections:
            return None
        never = [one for one in sections if crawler not in self._sections[one]]
        return _missing(len(sections), len(never), never)

    def _missing_urls(self, crawler: str, rules: RuleSet | None) -> MissingUrls | None:
        if not self._urls:
            return None
        bits = self._bits.get(crawler, bytearray(len(self._urls) // 8 + 1))
        total = count = 0
        examples: list[bytes] = []
        for start in range(0, len(self._urls), BATCH):
            urls = self._urls[start : start + BATCH]
            allowed = [True] * len(urls) if rules is None else rules.allows_many(urls)
            for number, (url, yes) in enumerate(zip(urls, allowed, strict=True), start):
                if yes:
                    total += 1
                    if not bits[number >> 3] >> (number & 7) & 1:
                        count += 1
                        if len(examples) < MOST_EXAMPLES:
                            examples.append(url)
        return _missing(total, count, examples)


def _missing(total: int, count: int, examples: list[bytes]) -> MissingUrls:
    return MissingUrls(total, count, tuple(shown_url(one) for one in examples[:MOST_EXAMPLES]))


def _path(url: bytes) -> bytes:
    """Return path and query of a URL or path."""
    if not url.startswith(b"/"):
        start = url.find(b"/", url.find(b"://") + 3)
        url = url[start:] if start >= 0 else b"/"
    return url.partition(b"#")[0]


def _host(url: bytes) -> bytes:
    return bare_host(re.split(rb"[/?#]", url.partition(b"://")[2], maxsplit=1)[0])


def _normal(path: bytes) -> bytes:
    """Return a path in the form that rules are compared with, so that spellings agree."""
    if b"%" not in path and path.isascii():
        return path
    return normalize_path(path).encode()
