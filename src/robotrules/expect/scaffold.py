"""
A first expectation file for a robots.txt: what it says today, as expectations with comments.

Each table is asked before it is written, and what does not hold is left out: the file passes, and
whoever has it changes it to what is wanted. What a stranger wrote goes in only where it prints. It
does no I/O.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from robotrules.errors import RobotrulesError
from robotrules.expect.evaluate import evaluate
from robotrules.expect.reading import read_expectations
from robotrules.extensions.sitemap import sitemaps
from robotrules.robotstxt import RobotsTxt

# A start has a few examples, and is no copy of the rules; nor may it take long to find them.
MOST = 5
BUDGET = 2_000
LONGEST = 200
HEAD = """\
# What robots.txt should say; `robotrules test` asks with every change.
# These hold today: change them to what you want, and add what matters to you.
# All keys are in docs/expectations.md.
"""


def starter(robots: RobotsTxt, profile: str | None = None) -> str:
    """Return the text of an expectation file that passes for a robots.txt."""
    head = HEAD + (f"profile = {_quoted(profile)}\n" if profile else "")
    found = [
        next((table for table in tables if _passes(head + table, robots)), "")
        for tables in _tables(robots)
    ]
    return "\n".join(filter(None, (head, *found)))


def _passes(table: str, robots: RobotsTxt) -> bool:
    try:
        asked = read_expectations(table).questions
    except RobotrulesError:
        return False  # a name or a pattern that no expectation may have
    return all(evaluate(question, robots, budget=BUDGET).passed for question in asked)


def _tables(robots: RobotsTxt) -> Iterator[tuple[str, ...]]:
    """Yield tables that may be true; of several the first that is counts."""
    word = "allowed" if robots.check("/", "*") else "disallowed"
    yield (_table("Everyone that no group names.", f'{word} = ["/"]'),)
    patterns = [rule.pattern for rule in robots.rules_for("*").rules if not rule.allow]
    for pattern in _some(patterns):
        yield (
            _table("Every URL that this matches.", f"all-disallowed = [{_quoted(pattern)}]"),
            _table("This URL; not all that begin like it.", f"disallowed = [{_quoted(pattern)}]"),
        )
    names = [
        start.value.decode("utf-8", "replace") for group in robots.groups for start in group.starts
    ]
    for name in _some([name for name in names if _is_name(name, robots)]):
        word = "allowed" if robots.check("/", name) else "disallowed"
        yield (
            _table(
                "It has a group of its own, so it does not read the one for '*'.",
                f"crawlers = [{_quoted(name)}]",
                'obeys = "own"',
                f'{word} = ["/"]',
            ),
        )
    listed = [_quoted(sitemap.url) for sitemap in sitemaps(robots) if sitemap.url.isprintable()]
    if len(listed) <= MOST:
        words = "Where the sitemaps are; none is []."
        yield (_table(words, f"sitemaps = [{', '.join(listed)}]"),)


def _is_name(name: str, robots: RobotsTxt) -> bool:
    """Tell whether a crawler can be asked about by a name; some profiles are strict."""
    try:
        robots.check("/", name)
    except RobotrulesError:
        return False
    return name != "*"


def _table(comment: str, *lines: str) -> str:
    return "\n".join((f"# {comment}", "[[expect]]", *lines, ""))


def _some(texts: Sequence[str]) -> list[str]:
    """Return a few texts that can be written as they are, each once."""
    plain = (text for text in dict.fromkeys(texts) if text and text.isprintable())
    return [text for text in plain if len(text) <= LONGEST][:MOST]


def _quoted(text: str) -> str:
    # What prints is written alike in JSON and in TOML.
    return json.dumps(text, ensure_ascii=False)
