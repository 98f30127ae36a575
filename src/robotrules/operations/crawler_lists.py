"""
Crawler lists of others, compared with the well-known crawlers: what is missing, additional, unlike.

    from robotrules.operations.crawler_lists import compare_list, read_crawler_list
    theirs = read_crawler_list(octets)
    compare_list(theirs, list(KNOWN_CRAWLERS)).missing

A list is JSON (names, objects with a name, the file of ai.robots.txt, or what `robotrules crawlers
--json` prints), or text: one name per line, or the user-agent lines of a robots.txt. The module
does no I/O. A list may come from anyone: its size, its names and its depth are limited.

Sections: values · reading · comparison.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from robotrules.errors import RegistryError
from robotrules.octets import visible
from robotrules.registries.crawlers import (
    CRAWLER_PURPOSES,
    KNOWN_CRAWLERS,
    LONGEST_NAME,
    KnownCrawler,
)

__all__ = [
    "CrawlerList",
    "ListComparison",
    "ListedCrawler",
    "compare_list",
    "count_crawlers",
    "read_crawler_list",
]

# Larger files are not lists of crawlers, and more names are not compared.
LARGEST_LIST = 4 << 20
MOST_LISTED = 20_000
# Characters of a description that are kept.
LONGEST_TEXT = 200
# Forms of a list.
OURS, AI_ROBOTS_TXT, JSON_NAMES, USER_AGENTS, LINES = (
    "robotrules",
    "ai.robots.txt",
    "JSON",
    "robots.txt",
    "names",
)
# Keys of JSON objects that may hold a crawler's name.
NAME_KEYS = ("product_token", "name", "user_agent", "user-agent", "bot")
# Words of ai.robots.txt for what a crawler does, as far as they say a purpose.
FUNCTIONS = (
    (re.compile(r"\btrain|\bLLM", re.IGNORECASE), "ai-training"),
    (re.compile(r"\bAI search|\bAI assistant", re.IGNORECASE), "ai-search"),
)
_USER_AGENT = re.compile(r"\s*user-agent\s*:\s*([^#]*)", re.IGNORECASE)


# --- Values ---------------------------------------------------------------------------------------


class ListedCrawler(NamedTuple):
    """A crawler in a list of others."""

    name: str
    purposes: tuple[str, ...] = ()
    """Of `CRAWLER_PURPOSES`, as far as the list says any."""
    text: str = ""
    """What the list says about its purpose, in its own words."""


class CrawlerList(NamedTuple):
    """A list of crawlers that was read."""

    form: str
    crawlers: tuple[ListedCrawler, ...]
    """Each name once, in the order of the list."""
    skipped: int = 0
    """Entries without a name that can be compared."""


class PurposeDifference(NamedTuple):
    """A well-known crawler to which a list gives another purpose."""

    crawler: KnownCrawler
    listed: ListedCrawler

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "product_token": self.crawler.product_token,
            "purposes": list(self.crawler.purposes),
            "listed_purposes": list(self.listed.purposes),
            "listed_text": self.listed.text,
        }


class ListComparison(NamedTuple):
    """How a list differs from the well-known crawlers."""

    compared: int
    """How many well-known crawlers were compared."""
    missing: tuple[KnownCrawler, ...]
    """Well-known crawlers that the list does not have."""
    additional: tuple[ListedCrawler, ...]
    """Names of the list that are not well known."""
    differing: tuple[PurposeDifference, ...]

    @property
    def same(self) -> bool:
        """Whether there is no difference."""
        return not (self.missing or self.additional or self.differing)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "compared": self.compared,
            "missing": [crawler.product_token for crawler in self.missing],
            "additional": [
                {"name": listed.name, "closest": find_closest(listed.name)}
                for listed in self.additional
            ],
            "differing": [difference.as_dict() for difference in self.differing],
        }


def find_closest(name: str) -> str | None:
    """Return the well-known crawler that a name of a list may be a misspelling of."""
    closest = KNOWN_CRAWLERS.closest(name)
    return closest.product_token if closest else None


def count_crawlers(crawlers: Sequence[KnownCrawler], of: int = 0) -> str:
    """Return how many crawlers these are, *of* so many: with controls and retired ones."""
    count = len(crawlers)
    controls = [crawler.is_control for crawler in crawlers].count(True)
    retired = [crawler.status == "retired" for crawler in crawlers].count(True)
    of_all = f" of {of:,}" if of > count else ""
    words = f"{count:,} {'crawler' if count == 1 else 'crawlers'}{of_all}"
    if controls:
        sending = count - controls
        words = (
            f"{count:,} {'name' if count == 1 else 'names'}{of_all}: {sending:,} "
            f"{'crawler that sends' if sending == 1 else 'crawlers that send'} requests, "
            f"{controls:,} {'control' if controls == 1 else 'controls'}"
        )
    return f"{words}; {retired:,} retired" if retired else words


# --- Reading --------------------------------------------------------------------------------------


def read_crawler_list(octets: bytes, name: str = "the list") -> CrawlerList:
    """
    Return the crawlers of a list; *name* is for errors.

    Raises `RegistryError` for a file that is too large, not UTF-8, or not a list of names.
    """
    if len(octets) > LARGEST_LIST:
        raise RegistryError(f"{name} has more than {LARGEST_LIST >> 20} MiB: pass a list of names")
    try:
        text = octets.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RegistryError(
            f"{name} is not UTF-8 at byte {error.start:,}: pass JSON or one name per line"
        ) from None
    if text.lstrip()[:1] in ("{", "["):
        form, entries = _read_json(text, name)
    else:
        form, entries = _read_lines(text)
    return _collect(form, entries, name)


def _collect(form: str, entries: Iterable[ListedCrawler | None], name: str) -> CrawlerList:
    found: dict[str, ListedCrawler] = {}
    skipped = 0
    for entry in entries:
        listed = entry and entry._replace(name=entry.name.strip())
        if listed is not None and listed.name == "*":
            continue  # all crawlers, and not a name
        if listed is None or not 0 < len(listed.name) <= LONGEST_NAME:
            skipped += 1
            continue
        found.setdefault(listed.name.lower(), listed)
        if len(found) > MOST_LISTED:
            raise RegistryError(
                f"{name} has more than {MOST_LISTED:,} names: pass a shorter list of crawlers"
            )
    if not found:
        raise RegistryError(
            f"{name} has no names of crawlers: pass one name per line, a robots.txt, or JSON: a "
            "list of names, robots.json of ai.robots.txt, or the output of robotrules crawlers "
            "--json"
        )
    return CrawlerList(form, tuple(found.values()), skipped)


def _read_json(text: str, name: str) -> tuple[str, Iterator[ListedCrawler | None]]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        why = str(error) if isinstance(error, json.JSONDecodeError) else "it cannot be parsed"
        raise RegistryError(
            f"{name} is not JSON: {visible(why)}; pass JSON or one name per line"
        ) from None
    if isinstance(value, list):
        return JSON_NAMES, map(_read_entry, value)
    if isinstance(value.get("crawlers"), list):
        return OURS, map(_read_entry, value["crawlers"])
    return AI_ROBOTS_TXT, (_read_function(key, entry) for key, entry in value.items())


def _read_entry(entry: object) -> ListedCrawler | None:
    """Return a crawler of a JSON list: a name, or an object that has one."""
    if isinstance(entry, str):
        return ListedCrawler(entry)
    if not isinstance(entry, Mapping):
        return None
    named = next((entry[key] for key in NAME_KEYS if isinstance(entry.get(key), str)), None)
    if named is None:
        return None
    given = entry.get("purposes")
    purposes = given if isinstance(given, list) else []
    known = tuple(one for one in CRAWLER_PURPOSES if one in purposes)
    return ListedCrawler(named, known, ", ".join(known))


def _read_function(key: str, entry: object) -> ListedCrawler:
    """Return a crawler of ai.robots.txt, with the purposes that its words say."""
    function = entry.get("function") if isinstance(entry, Mapping) else None
    if not isinstance(function, str):
        return ListedCrawler(key)
    text = function[:LONGEST_TEXT]
    purposes = tuple(purpose for pattern, purpose in FUNCTIONS if pattern.search(text))
    return ListedCrawler(key, purposes, text)


def _read_lines(text: str) -> tuple[str, Iterator[ListedCrawler | None]]:
    lines = text.splitlines()
    named = [match for line in lines if (match := _USER_AGENT.match(line))]
    if named:
        return USER_AGENTS, (ListedCrawler(match[1]) for match in named)
    plain = (line.partition("#")[0].strip() for line in lines)
    return LINES, (ListedCrawler(line) for line in plain if line)


# --- Comparison -----------------------------------------------------------------------------------


def compare_list(theirs: CrawlerList, crawlers: Sequence[KnownCrawler]) -> ListComparison:
    """
    Return how a list differs from *crawlers*, which are well known.

    Retired ones are not missed. A name of the list is additional if no well-known crawler has it.
    A purpose differs if the list says one that the well-known crawler does not have.
    """
    listed = {crawler.name.lower(): crawler for crawler in theirs.crawlers}
    named = {name: _find(name) for name in listed}
    found = {crawler.product_token for crawler in named.values() if crawler}
    missing = [
        crawler
        for crawler in crawlers
        if crawler.status == "active" and crawler.product_token not in found
    ]
    additional = [listed[name] for name, crawler in named.items() if crawler is None]
    wanted = {crawler.product_token for crawler in crawlers}
    differing = [
        PurposeDifference(crawler, listed[name])
        for name, crawler in named.items()
        if crawler and crawler.product_token in wanted
        if not set(listed[name].purposes) <= set(crawler.purposes)
    ]
    return ListComparison(len(crawlers), tuple(missing), tuple(additional), tuple(differing))


def _find(name: str) -> KnownCrawler | None:
    """Return a well-known crawler; `Sogou` stands for `Sogou web spider` in a robots.txt."""
    known = KNOWN_CRAWLERS.get(name)
    spaced = (crawler for crawler in KNOWN_CRAWLERS if " " in crawler.product_token)
    return known or next((one for one in spaced if one.written_as.lower() == name), None)
