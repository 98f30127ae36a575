"""
The crawlers that files can distinguish, each under one name.

RFC 9309 §2.2.1 selects groups by product token; draft-illyes-rep-purpose §3.2 by purpose if no
group names the token; the groups of `*` are for the rest. So the crawlers that files can
distinguish are those they name, those with a purpose they name, and one that no file names, which
represents everyone else. A well-known crawler may select groups in another way than by its name:
the registry says how. The module does not use the content of groups.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any, NamedTuple

from robotrules.profile import Role
from robotrules.registries.crawlers import KNOWN_CRAWLERS, KnownCrawler
from robotrules.robotstxt import RobotsTxt, Tokens
from robotrules.robotstxt.internals import get_document
from robotrules.robotstxt.ruleset import RuleSet
from robotrules.robotstxt.selection import choose_groups
from robotrules.robotstxt.tokens import (
    CrawlerNames,
    can_be_name,
    is_compared_whole,
    is_product_token,
)
from robotrules.robotstxt.values import Record

EVERYONE_ELSE = "*"
# Limits on the names and purposes of files; beyond them an answer is not complete. Selecting the
# groups of a name searches all user-agent lines: MAX_LOOKUPS bounds these searches in total.
MAX_NAMES, MIN_NAMES = 4_000, 200
MAX_LOOKUPS = 20_000_000
# A crawler may have several purposes, and obeys the groups of all of them (AMB-95). Up to this many
# purposes, every subset is a crawler; with more, only the sets of one and the set of all.
MAX_PURPOSES = 5

# The form of a crawler's name; a version, a space or a comma is not part of it.
_NAME = re.compile(r"[-\w.*]+")


class Crawler(NamedTuple):
    """A crawler that obeys a robots.txt."""

    product_token: str
    """As the file spells it; `*` for everyone else, which no file names."""
    purposes: tuple[str, ...] = ()
    known: KnownCrawler | None = None
    """Its entry in the registry, if groups are selected by that and not by the name alone."""

    @property
    def names(self) -> Tokens:
        """The names to select groups with."""
        return self.known.names if self.known else self.product_token

    @property
    def name(self) -> str:
        """The name for people."""
        if not self.purposes:
            return "everyone else" if self.product_token == EVERYONE_ELSE else self.product_token
        noun = "purpose" if len(self.purposes) == 1 else "purposes"
        purposes = f"{noun} {' and '.join(self.purposes)}"
        if self.product_token == EVERYONE_ELSE:
            return purposes
        return f"{self.product_token} with {purposes}"

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON."""
        return {
            "name": self.name,
            "product_token": self.product_token,
            "purposes": list(self.purposes),
            "known": self.known.short_dict() if self.known else None,
        }


def crawlers(*files: RobotsTxt) -> tuple[Crawler, ...]:
    """Return every crawler that files can distinguish; everyone else is last."""
    return tuple(dict.fromkeys([*named_crawlers(*files), Crawler(EVERYONE_ELSE)]))


def named_crawlers(*files: RobotsTxt) -> Iterator[Crawler]:
    """Yield the crawlers that files name, lazily, for callers that need only a few."""
    yield from _named(files)
    yield from _with_purposes(files)


# --- By the registry ------------------------------------------------------------------------------


def special_case_crawlers(*files: RobotsTxt) -> Iterator[Crawler]:
    """Yield the well-known crawlers that do not select groups by name alone in some file."""
    for known in KNOWN_CRAWLERS:
        if known.also or known.ignores_star:
            crawler = Crawler(known.product_token, (), known)
            if any(_selects_differently(crawler, robots) for robots in files):
                yield crawler


def _selects_differently(crawler: Crawler, robots: RobotsTxt) -> bool:
    """Return whether a well-known crawler obeys other groups than its name alone selects."""
    alone = CrawlerNames([crawler.product_token])
    by_name = choose_groups(robots, alone, crawler.purposes).indices
    return choose_groups(robots, crawler.names, crawler.purposes).indices != by_name


def as_documented(crawler: Crawler, *files: RobotsTxt) -> Crawler:
    """
    Return a crawler with its entry in the registry, if that changes how some file applies to it.

    A name that a profile does not compare whole gets its entry too.
    """
    known = KNOWN_CRAWLERS.get(crawler.product_token)
    if known is None:
        return crawler
    found = Crawler(known.product_token, crawler.purposes, known)
    whole = all(is_compared_whole(known.product_token, robots.profile) for robots in files)
    if whole and not any(_selects_differently(found, robots) for robots in files):
        return crawler
    return found


def documented_crawlers(*files: RobotsTxt) -> tuple[Crawler, ...]:
    """
    Return every crawler that files can distinguish, well-known ones as the registry has them.

    Well-known crawlers that no file names come before everyone else, unless another crawler obeys
    the same groups: YandexMobileBot, if one file has a group for Yandex and the other only `*`.
    """
    found = [as_documented(crawler, *files) for crawler in crawlers(*files)]
    no_groups = tuple(() for _ in files)
    selections = {no_groups, *(_selected_groups(crawler, files) for crawler in found)}
    names = {fold_case(crawler.product_token) for crawler in found}
    for crawler in special_case_crawlers(*files):
        selection = _selected_groups(crawler, files)
        if selection not in selections and fold_case(crawler.product_token) not in names:
            found.insert(-1, crawler)
    return tuple(dict.fromkeys(found))


def _selected_groups(crawler: Crawler, files: Iterable[RobotsTxt]) -> tuple[tuple[int, ...], ...]:
    return tuple(choose_groups(robots, crawler.names, crawler.purposes).indices for robots in files)


# --- Names of files -------------------------------------------------------------------------------


def is_complete(*files: RobotsTxt) -> bool:
    """Return whether `crawlers()` lists all crawlers: no file exceeds the limits."""
    for robots in files:
        agents = sum(1 for _ in _agents(robots))
        if agents > _most_names(agents):
            return False
    return len(_purposes(files)) <= MAX_PURPOSES


def _most_names(agents: int) -> int:
    """Return the limit on names for a file with so many user-agent lines."""
    return min(max(MAX_LOOKUPS // max(agents, 1), MIN_NAMES), MAX_NAMES)


def _named(files: Iterable[RobotsTxt]) -> Iterator[Crawler]:
    for token in _tokens(files):
        yield Crawler(token)


def _tokens(files: Iterable[RobotsTxt]) -> Iterator[str]:
    """Yield the product tokens that files name, in their first spelling, ignoring case."""
    found: set[str] = set()
    for robots in files:
        for token in _candidates(robots):
            if fold_case(token) not in found and _is_named(robots, token):
                found.add(fold_case(token))
                yield token


def _candidates(robots: RobotsTxt) -> Iterator[str]:
    """
    Yield the readings of a user-agent line: the whole value, or its leading letters.

    No crawler has a `*` at the end of its name: `Mediapartners-Google*` is read as the name
    without it (RFC 9309 §2.2.1).
    """
    seen: set[str] = set()
    agents = list(_agents(robots))
    for agent in agents[: _most_names(len(agents))]:
        for name in (agent.rstrip("*") or agent, _letters(agent)):
            if name and name not in seen:
                seen.add(name)
                yield name


def _agents(robots: RobotsTxt) -> Iterator[str]:
    """Yield the values of user-agent lines; each part of a list, if the profile reads lists."""
    for record in robots.records:
        if record.key == "user-agent" and record.role is Role.START:
            # An empty value names no crawler (AMB-24).
            if robots.profile.comma_user_agents:
                yield from filter(None, map(str.strip, _value(record).split(",")))
            elif record.value:
                yield _value(record)


def _value(record: Record) -> str:
    """Return a value as text; octets that are not UTF-8 become surrogates."""
    return record.value.decode("utf-8", "surrogateescape")


def fold_case(name: str) -> str:
    """Return a name with ASCII letters in lower case, as names are compared."""
    octets = name.encode("utf-8", "surrogateescape").lower()
    return octets.decode("utf-8", "surrogateescape")


def _letters(name: str) -> str:
    """Return the leading characters that the grammar permits in product tokens."""
    found = re.match(r"[-A-Z_a-z]*", name)
    return found[0] if found else ""


def _is_named(robots: RobotsTxt, token: str) -> bool:
    """Return whether a file has a group for a crawler of that name."""
    if token == EVERYONE_ELSE or not can_be_name(token):
        return False
    if not robots.profile.any_product_token and not is_product_token(token):
        return False
    return bool(get_document(robots).choose(token)[1])


def _purposes(files: Iterable[RobotsTxt]) -> dict[str, str]:
    found: dict[str, str] = {}
    for robots in files:
        values = [
            _value(record)
            for record in robots.records
            if record.key == "user-agent-purpose" and record.role is Role.START
        ]
        most = _most_names(len(values))
        for value in values:
            if value not in ("", EVERYONE_ELSE) and len(found) < most:
                found.setdefault(fold_case(value), value)
    return found


def _with_purposes(files: tuple[RobotsTxt, ...]) -> Iterator[Crawler]:
    purposes = sorted(_purposes(files).values(), key=str.lower)
    if not purposes:
        return
    few = len(purposes) <= MAX_PURPOSES
    sizes = range(1, len(purposes) + 1) if few else (1, len(purposes))
    sets = [chosen for size in sizes for chosen in combinations(purposes, size)]
    for chosen in sets:
        yield Crawler(EVERYONE_ELSE, chosen)
    # A crawler that one file names may be selected by its purpose in the other.
    for token in _tokens(files) if len(files) > 1 else ():
        if not all(_is_named(robots, token) for robots in files):
            for chosen in sets[:MAX_NAMES]:
                yield Crawler(token, chosen)


def displayed_crawlers(found: Iterable[Crawler]) -> tuple[Crawler, ...]:
    """
    Return those of some crawlers with the same groups that a person would name.

    Of a value and its leading letters, only the one that is a name; without the crawlers that have
    more purposes than needed.
    """
    found = tuple(found)
    names = {fold_case(crawler.product_token) for crawler in found}
    # Of `MJ12bot` and MJ the first is a name, of `Googlebot/2.1` and Googlebot the second.
    odd = {name for name in names if not _NAME.fullmatch(name) and _letters(name) in names}
    letters = {_letters(name) for name in names - odd if _letters(name) != name}
    hidden = odd | letters
    plain = [crawler for crawler in found if fold_case(crawler.product_token) not in hidden]
    simple = [crawler for crawler in plain if not crawler.purposes]
    single = [c for c in plain if len(c.purposes) == 1 and c.product_token == EVERYONE_ELSE]
    return tuple(simple + single) or tuple(plain[:1])


def rules_of(robots: RobotsTxt, crawler: Crawler) -> RuleSet:
    """Return the rules a crawler obeys; purposes count only if the profile reads them."""
    purposes = crawler.purposes if robots.profile.reads_purposes() else ()
    return robots.rules_for(crawler.names, purposes)
