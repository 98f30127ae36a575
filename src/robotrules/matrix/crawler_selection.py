"""
The crawlers of a matrix: well-known ones, those that a file names, its purposes, and everyone else.

The module selects crawlers and their groups; it does not evaluate rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from robotrules.analysis.crawlers import EVERYONE_ELSE, Crawler, crawlers, displayed_crawlers
from robotrules.matrix.values import NAMED, OTHERS, PICKED, PURPOSES, band_order
from robotrules.registries.crawlers import CRAWLER_PURPOSES, KNOWN_CRAWLERS, KnownCrawler
from robotrules.robotstxt import RobotsTxt, Tokens
from robotrules.robotstxt.selection import choose_groups
from robotrules.robotstxt.tokens import can_be_name, is_product_token, leading_name
from robotrules.robotstxt.verdict import GroupMatch
from robotrules.write.values import PLACEHOLDER

# Names that are not well known, and purposes: more do not fit on a page.
MAX_NAMED = 100
MAX_PURPOSES = 20


class CrawlerRow(NamedTuple):
    """A crawler, or the crawlers with a purpose, to be shown in a row."""

    product_token: str
    purposes: tuple[str, ...]
    known: KnownCrawler | None
    band: str


class GroupSelection(NamedTuple):
    """The groups that a crawler obeys."""

    names: Tokens
    """The names to select groups with."""
    matched_by: GroupMatch
    by: str | None
    groups: tuple[int, ...]


def select_crawlers(
    robots: RobotsTxt, tokens: Sequence[str], purposes: Sequence[str], all_crawlers: bool
) -> tuple[list[CrawlerRow], int]:
    """Return the crawlers to show, in the order of bands, and the number of omitted names."""
    wrong = [purpose for purpose in purposes if purpose not in CRAWLER_PURPOSES]
    if wrong:
        names = ", ".join(CRAWLER_PURPOSES)
        raise ValueError(
            f"{wrong[0]!r} is not a purpose of well-known crawlers: pass one of {names}"
        )
    if tokens:
        return _sort_rows(_rows_for(tokens)), 0
    distinguished = crawlers(robots)
    # A group for purposes may need a name that RFC 9309 parsers read; it is not a crawler.
    no_name = (EVERYONE_ELSE, PLACEHOLDER)
    displayed = displayed_crawlers(distinguished)
    named = [crawler for crawler in displayed if crawler.product_token.lower() not in no_name]
    in_file = {crawler.product_token.lower() for crawler in named}
    found = [
        CrawlerRow(known.product_token, (), known, _band(known, purposes))
        for known in KNOWN_CRAWLERS
        if _is_selected(known, purposes, all_crawlers, _is_in_file(known, robots, in_file))
    ]
    left_out = 0
    if not purposes:
        others = [c.product_token for c in named if not _is_known(c.product_token, robots)]
        addressed = _purposes(distinguished)
        left_out = max(len(others) - MAX_NAMED, 0) + max(len(addressed) - MAX_PURPOSES, 0)
        found += [CrawlerRow(token, (), None, NAMED) for token in others[:MAX_NAMED]]
        found += [
            CrawlerRow(EVERYONE_ELSE, (purpose,), None, PURPOSES)
            for purpose in addressed[:MAX_PURPOSES]
        ]
    found.append(CrawlerRow(EVERYONE_ELSE, (), None, OTHERS))
    return _sort_rows(found), left_out


def _rows_for(tokens: Iterable[str]) -> Iterator[CrawlerRow]:
    for token in dict.fromkeys(tokens):
        known = KNOWN_CRAWLERS.get(token)
        if token == EVERYONE_ELSE:
            yield CrawlerRow(token, (), None, OTHERS)
        elif known:
            yield CrawlerRow(known.product_token, (), known, known.purposes[0])
        else:
            yield CrawlerRow(token, (), None, PICKED)


def _is_selected(
    known: KnownCrawler, purposes: Sequence[str], all_crawlers: bool, is_named: bool
) -> bool:
    if purposes:
        of_purpose = not set(purposes).isdisjoint(known.purposes)
        return of_purpose and (known.status == "active" or is_named or all_crawlers)
    return all_crawlers or known.is_main or is_named


def _is_in_file(known: KnownCrawler, robots: RobotsTxt, in_file: set[str]) -> bool:
    """Return whether a file has the name of a well-known crawler, as the profile reads it."""
    name = known.product_token if robots.profile.any_product_token else known.read_as
    return name.lower() in in_file


def _band(known: KnownCrawler, purposes: Sequence[str]) -> str:
    """Return the band of a crawler: the first of its purposes that was requested."""
    return next((name for name in known.purposes if name in purposes), known.purposes[0])


def _is_known(token: str, robots: RobotsTxt) -> bool:
    """Return whether a name of the file is that of a well-known crawler, as read by the profile."""
    if token in KNOWN_CRAWLERS:
        return True
    if robots.profile.any_product_token:
        return False
    return any(token.lower() == known.read_as.lower() for known in KNOWN_CRAWLERS)


def _purposes(found: Iterable[Crawler]) -> list[str]:
    """Return the purposes that a file names, each once."""
    return [
        crawler.purposes[0]
        for crawler in found
        if len(crawler.purposes) == 1 and crawler.product_token == EVERYONE_ELSE
    ]


def _sort_rows(rows: Iterable[CrawlerRow]) -> list[CrawlerRow]:
    # The main crawlers first, then by name.
    def order(row: CrawlerRow) -> tuple[int, bool, str]:
        """Return the sort key."""
        is_minor = row.known is not None and not row.known.is_main
        return band_order(row.band), is_minor, row.product_token.lower()

    return sorted(rows, key=order)


def _is_compared(name: str, robots: RobotsTxt) -> bool:
    """Return whether a profile compares a name whole; of others parsers read the beginning."""
    return is_product_token(name) or (robots.profile.any_product_token and can_be_name(name))


def select_groups(robots: RobotsTxt, row: CrawlerRow, *, literal: bool = False) -> GroupSelection:
    """
    Return the groups that a crawler obeys, as `robotrules check` does.

    A well-known crawler selects them as its operator documents: of several names the first that has
    a group, as Bing and Apple document (AMB-30), and whether it obeys `*`. With *literal*, by the
    name alone.
    """
    names: Tokens = EVERYONE_ELSE if row.purposes else row.product_token
    if row.known and not literal:
        names = row.known.names
    elif not _is_compared(row.product_token, robots):
        names = leading_name(row.product_token) or EVERYONE_ELSE
    choice = choose_groups(robots, names, row.purposes)
    matched = choice.matched_tokens or choice.matched_purposes
    by = matched[0] if matched else None
    return GroupSelection(names, choice.matched_by, by, choice.indices)
