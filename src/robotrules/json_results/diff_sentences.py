"""
Sentences about a diff of two robots.txt files, for every output that people read.

A *mark* function escapes the content of files for one format or another.
"""

from __future__ import annotations

from collections.abc import Sequence

from robotrules.analysis import RecordDifference
from robotrules.json_results.crawler_names import Mark, join_some, joined
from robotrules.json_results.diff_sections import Decided, RegionChange

# The most line numbers in a sentence, and what stands for the rest of a list.
MOST_LINES = 3
CUT = "…"


def describe_urls(region_change: RegionChange, mark: Mark) -> str:
    """Return the URLs: `/private* (unchanged: /private/*)`."""
    if not region_change.patterns:
        words = "every URL"
    else:
        both = "both " if len(region_change.patterns) > 1 else ""
        words = both + " and ".join(map(mark, region_change.patterns))
    if not region_change.but:
        return words
    names = [*map(mark, region_change.but)]
    but = f"{', '.join(names)} {CUT}" if region_change.more_but else joined(names)
    return f"{words} (unchanged: {but})"


def describe_rule(decided: Decided, mark: Mark) -> str:
    """Return the deciding rule: `line 2: Disallow: /private`."""
    words = (
        f"{format_lines(decided.lines)}: {mark(decided.rule)}" if decided.rule else decided.words
    )
    if not decided.others:
        return words
    rules = "another rule" if decided.others == 1 else f"{decided.others:,} other rules"
    return f"{words}; elsewhere {rules}"


def describe_record_change(statements: RecordDifference, whom: str, mark: Mark) -> str:
    """Return the record, the crawlers and an example: `Content-Usage for X, such as at /`."""
    words = f"{statements.record} for {whom}" if whom else statements.record
    if statements.witness:
        return f"{words}, such as at {mark(statements.witness.path)}"
    if not statements.is_decided:
        return f"{words}, differs in text: whether it is equivalent is not decided"
    return words


def format_lines(lines: Sequence[int]) -> str:
    """Return `line 3`, `lines 3, 8 and 9`."""
    noun = "line" if len(lines) == 1 else "lines"
    return f"{noun} {join_some([str(line) for line in lines], MOST_LINES)}"
