"""
Names of crawlers in an expectation file: what is no name, and what nearly is a well-known one.

Whatever name is asked about, a robots.txt has an answer: with a letter wrong it is that for
everyone, and the expectation may pass for ever. A whole User-Agent header is refused; a name that
nobody knows and that is close to a known one gets a hint, for it may be meant.
"""

from __future__ import annotations

from functools import lru_cache

from robotrules.expect.report_lines import shortened
from robotrules.octets import visible
from robotrules.registries.crawlers import KNOWN_CRAWLERS, KnownCrawler
from robotrules.robotstxt import RobotsTxt
from robotrules.robotstxt.tokens import can_be_name, leading_name, product_token
from robotrules.robotstxt.verdict import GroupMatch


def wrong_name(name: str) -> str:
    """Return why a name is no product token, and the one that is meant; empty: it may be one."""
    if can_be_name(name) or not name.strip():
        return ""
    # Of two words the first is not the name, and may be the half of one.
    known = KNOWN_CRAWLERS.get(name) or KNOWN_CRAWLERS.closest(name)
    meant = known.product_token if known else product_token(name)
    if known and not can_be_name(known.product_token):
        meant = leading_name(known.product_token)  # what parsers read of it
    cure = f'write "{meant}"' if meant else 'write its product token, such as "Googlebot"'
    return f'a robots.txt has product tokens, and "{shortened(visible(name), 60)}" is none: {cure}'


def hint_name(names: tuple[str, ...], robots: RobotsTxt) -> str:
    """Return that a name is probably misspelt; empty if the robots.txt has it, too."""
    for name in names:
        known = _meant(name)
        if known is not None and robots.explain("/", name).matched_by is not GroupMatch.TOKEN:
            return (
                f"{visible(name)} is close to {known.product_token}, of {known.operator}, and the "
                "robots.txt does not name it. Is it meant?"
            )
    return ""


@lru_cache(4096)
def _meant(name: str) -> KnownCrawler | None:
    found = KNOWN_CRAWLERS.closest(name)
    # What parsers make of a name with spaces is no better.
    return None if found and " " in found.product_token else found
