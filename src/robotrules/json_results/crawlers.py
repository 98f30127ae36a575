"""
The crawler that a question is about, and the list of well-known ones, for commands and the service.

A single product token is looked up in the registry of well-known crawlers. Errors are exceptions of
the library; callers say in their own words how to fix them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from robotrules.errors import PurposeWarning
from robotrules.profile import PROFILES
from robotrules.registries.crawlers import CRAWLER_PURPOSES, KNOWN_CRAWLERS, KnownCrawler
from robotrules.robotstxt import Tokens
from robotrules.robotstxt.tokens import vet_name

__all__ = [
    "CrawlerChoice",
    "choose_crawler",
    "crawlers_values",
    "find_known",
    "ignore_unread_purposes",
    "single_or_many",
]


# Increased when a key of `crawlers_values` changes its meaning or is removed.
SCHEMA_VERSION = 1


def crawlers_values(crawlers: Iterable[KnownCrawler] = KNOWN_CRAWLERS) -> dict[str, Any]:
    """Return well-known crawlers, by default all, with source and date of the list, for JSON."""
    return {
        "schema": SCHEMA_VERSION,
        "checked": KNOWN_CRAWLERS.checked,
        "source": KNOWN_CRAWLERS.source,
        "purposes": CRAWLER_PURPOSES,
        "crawlers": [crawler.as_dict() for crawler in crawlers],
    }


class CrawlerChoice(NamedTuple):
    """The crawler that a question is about."""

    names: Tokens
    """Its product tokens: one, several, or those of a well-known crawler."""
    name: str
    """Its display name, also used in JSON."""
    known: KnownCrawler | None = None
    """Its registry entry, if groups are selected by it."""

    @property
    def known_dict(self) -> dict[str, Any] | None:
        """The registry entry as plain values for JSON."""
        return self.known.short_dict() if self.known else None


def choose_crawler(tokens: Sequence[str], profile: str, *, literal: bool) -> CrawlerChoice:
    """
    Return the crawler, looked up in the registry of well-known crawlers unless *literal*.

    Only a single token is looked up; several tokens are used in their order. ProductTokenError if a
    profile does not accept one (AMB-22).
    """
    known = find_known(tokens, literal=literal)
    if known is not None:
        return CrawlerChoice(known.names, known.product_token, known)
    for token in tokens:
        vet_name(token, PROFILES[profile])
    tokens = tuple(tokens)
    return CrawlerChoice(single_or_many(tokens), ", ".join(tokens))


def find_known(tokens: Sequence[str], *, literal: bool) -> KnownCrawler | None:
    """Return the registry entry of a single token; None if there is none, or if *literal*."""
    return KNOWN_CRAWLERS.get(tokens[0]) if len(tokens) == 1 and not literal else None


def single_or_many(tokens: tuple[str, ...]) -> str | tuple[str, ...]:
    """Return a single product token as a string, as the library's results then name it."""
    return tokens[0] if len(tokens) == 1 else tokens


def ignore_unread_purposes(purposes: Sequence[str], profile: str) -> bool:
    """
    Tell whether a profile ignores these purposes.

    If so, `PurposeWarning` is turned off, because callers say it in their own words.
    """
    if not purposes or PROFILES[profile].reads_purposes():
        return False
    warnings.filterwarnings("ignore", category=PurposeWarning)
    return True
