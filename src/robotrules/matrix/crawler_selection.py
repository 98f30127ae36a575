"""
Who is asked: well-known crawlers, those that a file names, its purposes, and everyone else.

Each is one of the crawlers that a file can tell apart, or obeys what one of them does. It does not
know what the file says to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from robotrules.analysis.crawlers import EVERYONE_ELSE, Crawler, crawlers, shown
from robotrules.matrix.values import NAMED, OTHERS, PICKED, PURPOSES, band_order
from robotrules.registries.crawlers import CRAWLER_PURPOSES, KNOWN_CRAWLERS, KnownCrawler
from robotrules.robotstxt import RobotsTxt, Tokens
from robotrules.robotstxt.selection import choose_groups
from robotrules.robotstxt.tokens import can_be_name, is_product_token, leading_name
from robotrules.robotstxt.verdict import GroupMatch
from robotrules.write.values import PLACEHOLDER

# Names that only the file knows, and purposes: more would not be one page.
MOST_NAMED = 100
MOST_PURPOSES = 20


class CrawlerRow(NamedTuple):
    """Somebody to ask about."""

    product_token: str
    purposes: tuple[str, ...]
    known: KnownCrawler | None
    band: str


class Choice(NamedTuple):
    """Whose groups somebody obeys."""

    names: Tokens
    """Under which name or names to ask."""
    because: GroupMatch
    by: str | None
    groups: tuple[int, ...]


def whom(
    robots: RobotsTxt, tokens: Sequence[str], purposes: Sequence[str], everybody: bool
) -> tuple[list[CrawlerRow], int]:
    """Return who is asked about, in the order of bands, and how many names are left out."""
    wrong = [purpose for purpose in purposes if purpose not in CRAWLER_PURPOSES]
    if wrong:
        names = ", ".join(CRAWLER_PURPOSES)
        raise ValueError(f"{wrong[0]!r} is no purpose of well-known crawlers: pass one of {names}")
    if tokens:
        return _sorted(_picked(tokens)), 0
    told_apart = crawlers(robots)
    # A group of purposes may need a name that RFC 9309 parsers read; no crawler has that one.
    nobody = (EVERYONE_ELSE, PLACEHOLDER)
    named = [one for one in shown(told_apart) if one.product_token.lower() not in nobody]
    in_file = {crawler.product_token.lower() for crawler in named}
    found = [
        CrawlerRow(known.product_token, (), known, _band(known, purposes))
        for known in KNOWN_CRAWLERS
        if _is_wanted(known, purposes, everybody, _is_in_file(known, robots, in_file))
    ]
    left_out = 0
    if not purposes:
        others = [one.product_token for one in named if not _is_known(one.product_token, robots)]
        addressed = _purposes(told_apart)
        left_out = max(len(others) - MOST_NAMED, 0) + max(len(addressed) - MOST_PURPOSES, 0)
        found += [CrawlerRow(token, (), None, NAMED) for token in others[:MOST_NAMED]]
        found += [
            CrawlerRow(EVERYONE_ELSE, (purpose,), None, PURPOSES)
            for purpose in addressed[:MOST_PURPOSES]
        ]
    found.append(CrawlerRow(EVERYONE_ELSE, (), None, OTHERS))
    return _sorted(found), left_out


def _picked(tokens: Iterable[str]) -> Iterator[CrawlerRow]:
    for token in dict.fromkeys(tokens):
        known = KNOWN_CRAWLERS.get(token)
        if token == EVERYONE_ELSE:
            yield CrawlerRow(token, (), None, OTHERS)
        elif known:
            yield CrawlerRow(known.product_token, (), known, known.purposes[0])
        else:
            yield CrawlerRow(token, (), None, PICKED)


def _is_wanted(
    known: KnownCrawler, purposes: Sequence[str], everybody: bool, is_named: bool
) -> bool:
    if purposes:
        of_purpose = not set(purposes).isdisjoint(known.purposes)
        return of_purpose and (known.status == "active" or is_named or everybody)
    return everybody or known.is_main or is_named


def _is_in_file(known: KnownCrawler, robots: RobotsTxt, in_file: set[str]) -> bool:
    """Tell whether a file has the name of a well-known crawler, as the profile reads it."""
    name = known.product_token if robots.profile.any_product_token else known.read_as
    return name.lower() in in_file


def _band(known: KnownCrawler, purposes: Sequence[str]) -> str:
    """Return the band of a crawler: of its purposes the first that was asked for."""
    return next((one for one in known.purposes if one in purposes), known.purposes[0])


def _is_known(token: str, robots: RobotsTxt) -> bool:
    """Tell whether a name of the file is that of a well-known crawler, as the profile reads it."""
    if token in KNOWN_CRAWLERS:
        return True
    if robots.profile.any_product_token:
        return False
    return any(token.lower() == known.read_as.lower() for known in KNOWN_CRAWLERS)


def _purposes(found: Iterable[Crawler]) -> list[str]:
    """Return the purposes that a file names, each once."""
    return [
        one.purposes[0]
        for one in found
        if len(one.purposes) == 1 and one.product_token == EVERYONE_ELSE
    ]


def _sorted(found: Iterable[CrawlerRow]) -> list[CrawlerRow]:
    # The main ones first, and else by name.
    def order(one: CrawlerRow) -> tuple[int, bool, str]:
        """Return where somebody stands."""
        lesser = one.known is not None and not one.known.is_main
        return band_order(one.band), lesser, one.product_token.lower()

    return sorted(found, key=order)


def _is_compared(name: str, robots: RobotsTxt) -> bool:
    """Tell whether a profile compares a name as it is; of others parsers read the beginning."""
    return is_product_token(name) or (robots.profile.any_product_token and can_be_name(name))


def chosen(robots: RobotsTxt, one: CrawlerRow, *, literal: bool = False) -> Choice:
    """
    Return whose groups somebody obeys, as `robotrules check` does.

    A well-known crawler goes by all that its operator documents: of several names the first that a
    group has, as Bing and Apple document it (AMB-30), and whether the star is for it. *literal*: by
    the name alone.
    """
    who: Tokens = EVERYONE_ELSE if one.purposes else one.product_token
    if one.known and not literal:
        who = one.known.names
    elif not _is_compared(one.product_token, robots):
        who = leading_name(one.product_token) or EVERYONE_ELSE
    choice = choose_groups(robots, who, one.purposes)
    matched = choice.matched_tokens or choice.matched_purposes
    return Choice(who, choice.matched_by, matched[0] if matched else None, choice.indices)
