"""
Names of crawlers in a sentence: `GPTBot, CCBot and all others`.

A *mark* function escapes the content of files for one format or another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from robotrules.analysis import Crawler
from robotrules.json_results.diff_sections import EVERYONE_ELSE

# Escapes the content of a file for output.
Mark = Callable[[str], str]


def joined(names: Sequence[str], word: str = "and") -> str:
    """Return `a`, `a and b`, `a, b and c`."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {word} {names[-1]}"


def join_some(names: Sequence[str], most: int, count: int | None = None) -> str:
    """Return the first *most* names and how many more there are; *count* is the total."""
    count = len(names) if count is None else count
    # One more name is as short as "and 1 more".
    if count <= most + 1:
        return joined(names)
    return f"{', '.join(names[:most])} and {count - most:,} more"


def format_name(crawler: Crawler, mark: Mark, alone: bool = False) -> str:
    """Return the name of a crawler; *alone*: '*' covers all crawlers."""
    if crawler == EVERYONE_ELSE:
        return "every crawler" if alone else "everyone else"
    purposes = joined([mark(purpose) for purpose in crawler.purposes])
    noun = "purpose" if len(crawler.purposes) == 1 else "purposes"
    if is_nameless(crawler):
        return f"{noun} {purposes}"
    token = mark(crawler.product_token)
    return f"{token} with {noun} {purposes}" if purposes else token


def format_names(crawlers: Sequence[Crawler], mark: Mark, most: int, alone: bool = False) -> str:
    """Return names of crawlers and how many more; '*' is always named."""
    named = [crawler for crawler in crawlers if crawler != EVERYONE_ELSE]
    everyone = EVERYONE_ELSE in crawlers
    names = [format_name(crawler, mark) for crawler in named[: most + 1]]
    if not everyone:
        return join_some(names, most, len(named))
    last = format_name(EVERYONE_ELSE, mark, alone)
    if len(named) <= most:
        return joined([*names, last])
    return f"{last} and {', '.join(names[:most])} and {len(named) - most:,} more"


def is_nameless(crawler: Crawler) -> bool:
    """Tell whether it is everyone else, or everyone with a purpose."""
    return crawler.product_token == EVERYONE_ELSE.product_token
