"""
Crawlers: everybody who could be told apart by what files say, each under one name.

RFC 9309 §2.2.1 chooses groups by the product token; draft-illyes-rep-purpose §3.2 by purposes
where no group names it; the star's groups are for the rest. So the crawlers that some files can
tell apart are those they name, those with a purpose they name, and one that nobody names, who
stands for everyone else. A well-known crawler may choose groups otherwise than by its name: the
registry says how. It does not know what the files say to them.
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
# Names and purposes of files that are looked at; past them an answer is not complete. Which groups
# a name chooses is looked up in all user-agent lines: so many may be looked at in all.
MOST_NAMES, FEWEST_NAMES = 4_000, 200
MOST_LOOKED_AT = 20_000_000
# A crawler may have several purposes, and obeys the groups of all of them (AMB-95). Of so many
# purposes every set is a crawler of its own; of more, sets of one and of all.
MOST_PURPOSES = 5

# What a crawler may be called; a version, a space or a comma is not part of it.
_NAME = re.compile(r"[-\w.*]+")


class Crawler(NamedTuple):
    """Somebody who obeys a robots.txt."""

    product_token: str
    """As the file spells it; `*` for everyone else, whom no file names."""
    purposes: tuple[str, ...] = ()
    known: KnownCrawler | None = None
    """Its entry in the registry, where groups are chosen by that and not by the name alone."""

    @property
    def names(self) -> Tokens:
        """What to ask a file with."""
        return self.known.names if self.known else self.product_token

    @property
    def name(self) -> str:
        """What people call it."""
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
    """Return every crawler that some files can tell apart; everyone else comes last."""
    return tuple(dict.fromkeys([*named_crawlers(*files), Crawler(EVERYONE_ELSE)]))


def named_crawlers(*files: RobotsTxt) -> Iterator[Crawler]:
    """Yield the crawlers that files name, one after another: who wants few does not ask for all."""
    yield from _named(files)
    yield from _with_purposes(files)


# --- By the registry ------------------------------------------------------------------------------


def departing(*files: RobotsTxt) -> Iterator[Crawler]:
    """Yield the well-known crawlers that do not choose groups by their name alone in some file."""
    for known in KNOWN_CRAWLERS:
        if known.also or known.ignores_star:
            crawler = Crawler(known.product_token, (), known)
            if any(_departs(crawler, robots) for robots in files):
                yield crawler


def _departs(crawler: Crawler, robots: RobotsTxt) -> bool:
    """Tell whether a well-known crawler obeys other groups than its name alone chooses."""
    alone = CrawlerNames([crawler.product_token])
    by_name = choose_groups(robots, alone, crawler.purposes).indices
    return choose_groups(robots, crawler.names, crawler.purposes).indices != by_name


def as_documented(crawler: Crawler, *files: RobotsTxt) -> Crawler:
    """
    Return a crawler with its entry in the registry, if some file is read otherwise by that.

    So is a name that a profile does not compare whole: the registry knows what becomes of it.
    """
    known = KNOWN_CRAWLERS.get(crawler.product_token)
    if known is None:
        return crawler
    found = Crawler(known.product_token, crawler.purposes, known)
    whole = all(is_compared_whole(known.product_token, robots.profile) for robots in files)
    if whole and not any(_departs(found, robots) for robots in files):
        return crawler
    return found


def documented_crawlers(*files: RobotsTxt) -> tuple[Crawler, ...]:
    """
    Return every crawler that files can tell apart, well-known ones as the registry has them.

    Those that no file names come before everyone else, if none of the others obeys the same groups:
    YandexMobileBot, where one file has a group for Yandex and the other only one for `*`.
    """
    found = [as_documented(crawler, *files) for crawler in crawlers(*files)]
    nobody = tuple(() for _ in files)
    kinds = {nobody, *(_chosen(crawler, files) for crawler in found)}
    names = {folded(crawler.product_token) for crawler in found}
    for crawler in departing(*files):
        kind = _chosen(crawler, files)
        if kind not in kinds and folded(crawler.product_token) not in names:
            found.insert(-1, crawler)
    return tuple(dict.fromkeys(found))


def _chosen(crawler: Crawler, files: Iterable[RobotsTxt]) -> tuple[tuple[int, ...], ...]:
    return tuple(choose_groups(robots, crawler.names, crawler.purposes).indices for robots in files)


# --- Names of files -------------------------------------------------------------------------------


def is_complete(*files: RobotsTxt) -> bool:
    """Tell whether `crawlers()` names them all: no file names too many."""
    for robots in files:
        agents = sum(1 for _ in _agents(robots))
        if agents > _most_names(agents):
            return False
    return len(_purposes(files)) <= MOST_PURPOSES


def _most_names(agents: int) -> int:
    """Return how many names are looked at in a file with so many user-agent lines."""
    return min(max(MOST_LOOKED_AT // max(agents, 1), FEWEST_NAMES), MOST_NAMES)


def _named(files: Iterable[RobotsTxt]) -> Iterator[Crawler]:
    for token in _tokens(files):
        yield Crawler(token)


def _tokens(files: Iterable[RobotsTxt]) -> Iterator[str]:
    """Yield the product tokens that files name, as first spelled; case does not tell them apart."""
    found: set[str] = set()
    for robots in files:
        for token in _candidates(robots):
            if folded(token) not in found and _is_named(robots, token):
                found.add(folded(token))
                yield token


def _candidates(robots: RobotsTxt) -> Iterator[str]:
    """
    Yield what a user-agent line may be read as: all of it, or its leading letters.

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
    """Yield what stands in user-agent lines; of a list, where a profile knows lists, each part."""
    for record in robots.records:
        if record.key == "user-agent" and record.role is Role.START:
            # An empty value names nobody (AMB-24).
            if robots.profile.comma_user_agents:
                yield from filter(None, map(str.strip, _value(record).split(",")))
            elif record.value:
                yield _value(record)


def _value(record: Record) -> str:
    """Return a value as a crawler would be asked for by it, octets that are not UTF-8 too."""
    return record.value.decode("utf-8", "surrogateescape")


def folded(name: str) -> str:
    """Return a name without regard to case, as names are compared: that of ASCII letters only."""
    octets = name.encode("utf-8", "surrogateescape").lower()
    return octets.decode("utf-8", "surrogateescape")


def _letters(name: str) -> str:
    """Return what a name starts with that the grammar knows in product tokens."""
    found = re.match(r"[-A-Z_a-z]*", name)
    return found[0] if found else ""


def _is_named(robots: RobotsTxt, token: str) -> bool:
    """Tell whether a file has a group for a crawler of that name."""
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
                found.setdefault(folded(value), value)
    return found


def _with_purposes(files: tuple[RobotsTxt, ...]) -> Iterator[Crawler]:
    purposes = sorted(_purposes(files).values(), key=str.lower)
    if not purposes:
        return
    few = len(purposes) <= MOST_PURPOSES
    sizes = range(1, len(purposes) + 1) if few else (1, len(purposes))
    sets = [chosen for size in sizes for chosen in combinations(purposes, size)]
    for chosen in sets:
        yield Crawler(EVERYONE_ELSE, chosen)
    # Whom one file names and another does not, the other may know by its purpose.
    for token in _tokens(files) if len(files) > 1 else ():
        if not all(_is_named(robots, token) for robots in files):
            for chosen in sets[:MOST_NAMES]:
                yield Crawler(token, chosen)


def shown(found: Iterable[Crawler]) -> tuple[Crawler, ...]:
    """
    Return of crawlers that obey the same groups those that people would name.

    Of a value and its leading letters the one that is a name; and one with more purposes than
    needed goes without saying.
    """
    found = tuple(found)
    names = {folded(crawler.product_token) for crawler in found}
    # Of `MJ12bot` and MJ the first is a name, of `Googlebot/2.1` and Googlebot the second.
    odd = {name for name in names if not _NAME.fullmatch(name) and _letters(name) in names}
    letters = {_letters(name) for name in names - odd if _letters(name) != name}
    unsaid = odd | letters
    plain = [crawler for crawler in found if folded(crawler.product_token) not in unsaid]
    simple = [crawler for crawler in plain if not crawler.purposes]
    single = [c for c in plain if len(c.purposes) == 1 and c.product_token == EVERYONE_ELSE]
    return tuple(simple + single) or tuple(plain[:1])


def rules_of(robots: RobotsTxt, crawler: Crawler) -> RuleSet:
    """Return the rules a crawler obeys; purposes count only where the profile reads them."""
    purposes = crawler.purposes if robots.profile.reads_purposes() else ()
    return robots.rules_for(crawler.names, purposes)
