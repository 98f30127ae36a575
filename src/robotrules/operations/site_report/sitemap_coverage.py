"""
Sitemap coverage: which URLs of a site's sitemaps its robots.txt blocks, and for which crawlers.

A URL in a sitemap asks crawlers to fetch it; one that the rules block contradicts that. The main
crawlers are checked, and those that obey the same rules are reported together. Nothing is fetched.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from robotrules.analysis.crawlers import EVERYONE_ELSE
from robotrules.http.origins import origin_of
from robotrules.matrix.values import OTHERS
from robotrules.octets import visible
from robotrules.registries.crawlers import KNOWN_CRAWLERS
from robotrules.robotstxt import RobotsTxt, Tokens
from robotrules.robotstxt.ruleset import RuleSet

__all__ = ["BlockedUrls", "SitemapCount", "SitemapCoverage", "SitemapUrls", "sitemap_coverage"]

# URLs that are checked. A site with more has a report about the first ones, which says so.
MAX_URLS = 200_000
EXAMPLES = 3


class SitemapUrls(NamedTuple):
    """The URLs of one sitemap file."""

    name: str
    urls: tuple[str, ...] = ()
    problem: str = ""
    """Why it could not be read completely; empty if it could."""


class SitemapCount(NamedTuple):
    """How many URLs a sitemap file has."""

    name: str
    urls: int
    problem: str

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return self._asdict()


class BlockedUrls(NamedTuple):
    """The URLs that crawlers with the same rules may not fetch."""

    crawlers: tuple[str, ...]
    blocked: int
    examples: tuple[tuple[str, str], ...]
    """URLs, each with the rule that blocks it: `line 3: Disallow: /x`."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "crawlers": list(self.crawlers),
            "blocked": self.blocked,
            "examples": [{"url": url, "rule": rule} for url, rule in self.examples],
        }


class SitemapCoverage(NamedTuple):
    """How many URLs of sitemaps crawlers may not fetch."""

    files: tuple[SitemapCount, ...]
    checked: int
    """The number of different URLs of this host that were checked."""
    elsewhere: int
    """The number of URLs of other hosts, to which other rules apply."""
    left_out: int
    """The number of URLs beyond the limit."""
    groups: tuple[BlockedUrls, ...]
    """Crawlers with the same rules; those for which most URLs are blocked first."""

    @property
    def unread(self) -> int:
        """How many entries of *files* were not read completely."""
        return sum(bool(file.problem) for file in self.files)

    @property
    def is_known(self) -> bool:
        """Whether the count of blocked URLs says something: at least one URL was read."""
        return bool(self.checked or not self.unread)

    def blocked_for(self, names: Collection[str]) -> int:
        """Return the largest number of URLs that are blocked for one of some crawlers."""
        return max(
            (group.blocked for group in self.groups if not set(names).isdisjoint(group.crawlers)),
            default=0,
        )

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "known": self.is_known,
            "unread": self.unread,
            "files": [file.as_dict() for file in self.files],
            "checked": self.checked,
            "elsewhere": self.elsewhere,
            "left_out": self.left_out,
            "crawlers": [group.as_dict() for group in self.groups],
        }


def sitemap_coverage(
    robots: RobotsTxt, files: Sequence[SitemapUrls], origin: str | None = None
) -> SitemapCoverage:
    """
    Return which URLs of sitemaps a robots.txt blocks for the main crawlers.

    The rules apply to *origin*; if it is None, to all URLs.
    """
    own: dict[str, None] = {}
    elsewhere = left_out = 0
    for file in files:
        for url in file.urls:
            if url in own:
                continue
            if origin is not None and origin_of(url) != origin:
                elsewhere += 1
            elif len(own) >= MAX_URLS:
                left_out += 1
            else:
                own[url] = None
    urls = list(own)
    by_rules: dict[int, tuple[RuleSet, list[str]]] = {}
    for name, tokens in _main_crawlers():
        rules = robots.rules_for(tokens)
        by_rules.setdefault(id(rules), (rules, []))[1].append(name)
    groups = [_blocked(rules, names, urls) for rules, names in by_rules.values()]
    groups.sort(key=lambda group: -group.blocked)
    counts = tuple(SitemapCount(file.name, len(file.urls), file.problem) for file in files)
    found = SitemapCoverage(counts, len(urls), elsewhere, left_out, tuple(groups))
    # Without a URL, "none is blocked" would be a claim about unread sitemaps.
    return found if found.is_known else found._replace(groups=())


def _main_crawlers() -> list[tuple[str, Tokens]]:
    known: list[tuple[str, Tokens]] = [
        (crawler.product_token, crawler.names) for crawler in KNOWN_CRAWLERS if crawler.is_main
    ]
    return [*known, (OTHERS, EVERYONE_ELSE)]


def _blocked(rules: RuleSet, names: Sequence[str], urls: Sequence[str]) -> BlockedUrls:
    blocked = 0
    examples: list[tuple[str, str]] = []
    for url, allowed in zip(urls, rules.allows_many(urls), strict=True):
        if not allowed:
            blocked += 1
            if len(examples) < EXAMPLES:
                rule = rules.check(url).rule
                words = f"line {rule.line}: {rule}" if rule is not None else ""
                examples.append((visible(url), visible(words)))
    return BlockedUrls(tuple(names), blocked, tuple(examples))
